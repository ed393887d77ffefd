import { useEffect, useRef } from "preact/hooks";
import type { Hit } from "./answers";
import { plain } from "./names";
import type { Session } from "./session";
import { TypeDot } from "./type_dot";

/** Types and relations that are listed. */
const MOST_LISTED = 20;

/** What stands in the place of an empty picture: what the graph has, and where to begin. */
export function Start({ session }: { session: Session }) {
  // Who chose an entity by the keyboard goes on in the picture.
  const hasFocus = useRef(false);
  useEffect(
    () => () => {
      if (hasFocus.current) document.querySelector<HTMLElement>(".canvas")?.focus();
    },
    [],
  );
  const schema = session.schema.value;
  const listing = session.listings.shown.value;
  if (!schema) return <p class="empty">Search for a name to begin.</p>;
  const count = (id: string): string => schema.counts[id]?.toLocaleString("en") ?? "";
  return (
    <div
      class="start"
      data-testid="start"
      tabIndex={0}
      role="region"
      aria-label="What this graph has"
      onFocusIn={() => {
        hasFocus.current = true;
      }}
      onFocusOut={(event) => {
        // What is removed loses the focus to nothing.
        if (event.relatedTarget) hasFocus.current = false;
      }}
    >
      <h2>{session.graphName}</h2>
      <p>{session.description.value}</p>
      <section aria-live="polite">
        <h3>{listing?.title ?? "Begin with"}</h3>
        <ul class="tiles">
          {listing?.hits.map((hit) => <Tile key={hit.id} hit={hit} session={session} />)}
        </ul>
        {listing && !listing.hits.length ? <p class="quiet">There are none.</p> : null}
        {listing?.more ? <p class="quiet">{listing.more}</p> : null}
        {!listing ? <p class="quiet">Search for a name, or choose a type.</p> : null}
      </section>
      <h3>Types</h3>
      <ul class="tiles">
        {schema.entity_types.slice(0, MOST_LISTED).map((type) => (
          <li key={type}>
            <button type="button" title={type} onClick={() => void session.listings.ofType(type)}>
              <TypeDot session={session} type={type} /> {session.spoken(type)} <span class="count">{count(type)}</span>
            </button>
          </li>
        ))}
      </ul>
      {rest(schema.entity_types.length, schema.entity_types_total)}
      <h3>Relations</h3>
      <ul class="tiles">
        {schema.predicates.slice(0, MOST_LISTED).map((predicate) => (
          <li key={predicate}>
            <button type="button" title={predicate} onClick={() => void session.listings.ofRelation(predicate)}>
              {session.spoken(predicate)} <span class="count">{count(predicate)}</span>
            </button>
          </li>
        ))}
      </ul>
      {rest(schema.predicates.length, schema.predicates_total)}
      {!schema.comprehensive && !schema.warnings?.length ? <p class="lack">There may be more types and relations than these.</p> : null}
      {schema.warnings?.map((warning) => (
        <p class={schema.comprehensive ? "quiet" : ""} key={warning}>
          {plain(warning)}
        </p>
      ))}
    </div>
  );
}

function rest(listed: number, total: number | undefined) {
  const more = Math.max(listed, total ?? 0) - Math.min(listed, MOST_LISTED);
  return more > 0 ? <p class="quiet">and {more.toLocaleString("en")} more</p> : null;
}

function Tile({ hit, session }: { hit: Hit; session: Session }) {
  return (
    <li>
      <button type="button" title={hit.id} onClick={() => void session.start(hit.id)}>
        {hit.entity_type ? <TypeDot session={session} type={hit.entity_type} /> : null} {hit.name ?? session.spoken(hit.id)}
      </button>
    </li>
  );
}
