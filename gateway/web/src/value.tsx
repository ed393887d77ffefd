import { contentOf, isBlank } from "./blanks";
import { plain, spoken } from "./names";
import type { Session } from "./session";

/** Values, and levels of values in each other, that are drawn. */
const MOST_VALUES = 50;
const DEEPEST = 6;

interface Props {
  value: unknown;
  session: Session;
  labels?: Readonly<Record<string, string>>;
  depth?: number;
  /** Whether texts are no IDs, whatever they look like. */
  isText?: boolean;
}

/**
 * A value as text; an ID with a name leads to its record, and a web address tells the other side nothing of this page.
 *
 * What a blank node says is rows that unfold, and a list within values is a list.
 */
export function Value({ value, session, labels = session.labels.value, depth = 0, isText = false }: Props) {
  const deeper = { session, labels, depth: depth + 1 };
  if (depth > DEEPEST) return <>{JSON.stringify(value)}</>;
  if (Array.isArray(value)) {
    return (
      <>
        {value.slice(0, MOST_VALUES).map((each, place) => (
          <div key={place}>{Array.isArray(each) ? <List members={each} {...deeper} /> : <Value value={each} {...deeper} isText={isText} />}</div>
        ))}
        {value.length > MOST_VALUES ? <div class="quiet">and {(value.length - MOST_VALUES).toLocaleString("en")} more</div> : null}
      </>
    );
  }
  if (typeof value === "object" && value !== null) return <Content said={value as Record<string, unknown>} {...deeper} />;
  const text = String(value);
  const name = typeof value === "string" && !isText ? session.nameOf(text) : undefined;
  if (name !== undefined) {
    return (
      <button type="button" class="link" title={text} onClick={() => void session.describe(text)}>
        {plain(name)}
      </button>
    );
  }
  if (typeof value === "string" && /^https?:\/\/\S+$/.test(value)) {
    return (
      <a href={value} target="_blank" rel="noopener noreferrer">
        {value}
      </a>
    );
  }
  return <>{text}</>;
}

function List({ members, ...others }: Omit<Props, "value"> & { members: readonly unknown[] }) {
  if (!members.length) return <span class="quiet">an empty list</span>;
  const deeper = { ...others, depth: (others.depth ?? 0) + 1 };
  if (deeper.depth > DEEPEST) return <>{JSON.stringify(members)}</>;
  return (
    <ol class="list-members">
      {members.slice(0, MOST_VALUES).map((each, place) => (
        <li key={place}>
          <span class="count">{place + 1}</span> {Array.isArray(each) ? <List members={each} {...deeper} /> : <Value value={each} {...others} />}
        </li>
      ))}
      {members.length > MOST_VALUES ? <li class="quiet">and {(members.length - MOST_VALUES).toLocaleString("en")} more</li> : null}
    </ol>
  );
}

/** What a blank node says, or another value that has parts. */
function Content({ said, session, labels, depth }: Omit<Props, "value"> & { said: Record<string, unknown> }) {
  const { _: id, more, ...rows } = said;
  const entries = Object.entries(rows);
  const known = labels ?? {};
  const isNode = typeof id === "string" && isBlank(id);
  return (
    <details class="content">
      <summary>{contentOf(rows, (text) => session.nameOf(text) ?? text) || (entries.length ? entries.map(([key]) => spoken(key, known)).slice(0, 3).join(", ") : isNode ? "a blank node" : "nothing")}</summary>
      <dl>
        {entries.slice(0, MOST_VALUES).map(([key, value]) => (
          <div key={key}>
            <dt title={key}>{spoken(key, known)}</dt>
            <dd>
              {key === "rdf:type" ? [value].flat().map((type) => spoken(String(type), known)).join(", ") : <Value value={value} session={session} labels={known} depth={depth ?? 0} />}
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > MOST_VALUES ? <p class="quiet">and {(entries.length - MOST_VALUES).toLocaleString("en")} more</p> : null}
      {more === true ? <p class="quiet">It says more than is shown here.</p> : null}
      {isNode && session.canTraverse ? (
        <button type="button" class="link" title={id} onClick={() => void session.describe(id)}>
          Its record
        </button>
      ) : null}
    </details>
  );
}
