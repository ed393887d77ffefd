import { colorOf } from "./colors";
import type { Session } from "./session";

/** Types and predicates of the picture: with their counts, to hide, or to follow from the selected node. */
export function Filters({ session }: { session: Session }) {
  const { typeCounts, predicateCounts, labels } = session.picture.value;
  const selected = session.selected.value;
  return (
    <aside class="filters" aria-label="Types and predicates">
      <h2>Types</h2>
      {!typeCounts.size ? <p class="quiet">{session.schema.value?.graph_description ?? "Nothing is shown yet."}</p> : null}
      <ul>
        {[...typeCounts].map(([type, count]) => (
          <li key={type}>
            <label>
              <input
                type="checkbox"
                checked={!session.hiddenTypes.value.has(type)}
                onChange={() => session.toggle("types", type)}
              />
              <span class="dot" style={{ background: colorOf(type) }} aria-hidden="true" />
              <span class="text">{labels[type] ?? type}</span>
              <span class="count">{count.toLocaleString("en")}</span>
            </label>
          </li>
        ))}
      </ul>
      <h2>Predicates</h2>
      <ul>
        {[...predicateCounts].map(([predicate, count]) => (
          <li key={predicate}>
            <label>
              <input
                type="checkbox"
                checked={!session.hiddenPredicates.value.has(predicate)}
                onChange={() => session.toggle("predicates", predicate)}
              />
              <span class="text">{labels[predicate] ?? predicate}</span>
              <span class="count">{count.toLocaleString("en")}</span>
            </label>
            {selected.length && session.canTraverse ? (
              <button
                type="button"
                class="small"
                title={`Two hops from what is selected, over ${predicate} alone`}
                onClick={() => void session.traverse({ seeds: [...selected], max_hops: 2, only_predicates: [predicate] })}
              >
                follow
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </aside>
  );
}
