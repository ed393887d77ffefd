import { useState } from "preact/hooks";
import type { Session } from "./session";
import { TypeDot } from "./type_dot";

/** Rows of a list before the rest is folded. */
const MOST_ROWS = 8;

/** Types and relations of the picture: with their counts, to hide, or to follow from the selected node. */
export function Filters({ session }: { session: Session }) {
  const { typeCounts, predicateCounts } = session.picture.value;
  const { nodes, edges } = session.shown.value;
  const selected = session.selected.value;
  return (
    <aside class="filters" id="filters" aria-label="Types and relations">
      {session.hidden.value.removed.size ? (
        <p>
          {session.hidden.value.removed.size.toLocaleString("en")} removed{" "}
          <button type="button" class="small" onClick={() => session.bringBack()}>
            Bring back
          </button>
        </p>
      ) : null}
      <Choices session={session} which="types" title="Types" all={typeCounts} shown={counts([...nodes.values()].map(({ type }) => type))} />
      <Choices
        session={session}
        which="predicates"
        title="Relations"
        all={predicateCounts}
        shown={counts([...edges.values()].map(({ predicate }) => predicate))}
        {...(selected.length && session.canTraverse
          ? { follow: (predicate: string) => void session.traverse({ seeds: [...selected], max_hops: 2, only_predicates: [predicate] }) }
          : {})}
      />
    </aside>
  );
}

interface Props {
  session: Session;
  which: "types" | "predicates";
  title: string;
  /** How many the picture has of each. */
  all: ReadonlyMap<string, number>;
  /** How many of them are shown. */
  shown: ReadonlyMap<string, number>;
  follow?: (name: string) => void;
}

function Choices({ session, which, title, all, shown, follow }: Props) {
  const [isWhole, setWhole] = useState(false);
  const hidden = session.hidden.value[which];
  const names = [...all.keys()];
  const listed = isWhole ? names : names.slice(0, MOST_ROWS);
  if (!names.length) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {names.length > 1 ? (
        <div class="choices">
          <button type="button" class="small" disabled={!names.some((name) => hidden.has(name))} onClick={() => session.hide(which, [])} aria-label={`Show all ${title.toLowerCase()}`}>
            all
          </button>
          <button type="button" class="small" disabled={names.every((name) => hidden.has(name))} onClick={() => session.hide(which, names)} aria-label={`Show no ${title.toLowerCase()}`}>
            none
          </button>
        </div>
      ) : null}
      <ul>
        {listed.map((name) => (
          <li key={name}>
            <label title={name}>
              <input type="checkbox" checked={!hidden.has(name)} onChange={() => session.toggle(which, name)} />
              {which === "types" ? <TypeDot session={session} type={name} /> : null}
              <span class="text">{session.spoken(name)}</span>
              <span class="count">{countText(shown.get(name) ?? 0, all.get(name) ?? 0)}</span>
            </label>
            {names.length > 1 ? (
              <button
                type="button"
                class="small"
                aria-label={`Show ${session.spoken(name)} only`}
                onClick={() => session.hide(which, names.filter((other) => other !== name))}
              >
                only
              </button>
            ) : null}
            {follow ? (
              <button
                type="button"
                class="small"
                title={`Two hops from what is selected, over ${session.spoken(name)} alone`}
                aria-label={`Follow ${session.spoken(name)}`}
                onClick={() => follow(name)}
              >
                follow
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {names.length > MOST_ROWS ? (
        <button type="button" class="link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `${names.length - MOST_ROWS} more`}
        </button>
      ) : null}
    </section>
  );
}

/** "5", or "2 of 5" where filters leave some out. */
function countText(shown: number, all: number): string {
  return shown === all ? all.toLocaleString("en") : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
}

function counts(values: readonly string[]): Map<string, number> {
  const counted = new Map<string, number>();
  for (const value of values) counted.set(value, (counted.get(value) ?? 0) + 1);
  return counted;
}
