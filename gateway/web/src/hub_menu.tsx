import { useEffect, useRef } from "preact/hooks";
import { idAndName } from "./answers";
import type { Canvas } from "./canvas";
import { plain, spoken } from "./names";
import type { Session } from "./session";

const WIDEST_PIXELS = 260;

/** The relations of a hub, beside it: each is drawn when somebody chooses it. */
export function HubMenu({ session, canvas }: { session: Session; canvas: Canvas | undefined }) {
  const id = session.menu.value;
  const element = useRef<HTMLDivElement>(null);
  const entity = id === undefined ? undefined : session.described.value.get(id);
  useEffect(() => {
    if (id === undefined || !entity) return;
    element.current?.querySelector("button")?.focus();
    let frame = 0;
    // The hub may still be on its way to its place.
    const follow = (): void => {
      const [own, around, at] = [element.current, element.current?.parentElement, canvas?.placeOf(id)];
      if (own && around && at) {
        own.style.left = `${Math.max(4, Math.min(at.x + 14, around.clientWidth - own.offsetWidth - 4))}px`;
        own.style.top = `${Math.max(4, Math.min(at.y + 20, around.clientHeight - own.offsetHeight - 4))}px`;
      }
      frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  }, [id, entity, canvas]);
  if (id === undefined || !entity) return null;
  const labels = { ...session.labels.value, ...entity.labels };
  const close = (): void => {
    session.menu.value = undefined;
  };
  return (
    <div
      class="hub-menu"
      data-testid="hub-menu"
      role="dialog"
      aria-label={`Relations of ${plain(entity.name ?? id)}`}
      ref={element}
      style={{ maxWidth: `${WIDEST_PIXELS}px` }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <ul>
        {Object.entries(entity.edges ?? {}).map(([key, [count]]) => {
          const isIncoming = key.startsWith("^");
          const [predicate, name] = idAndName(isIncoming ? key.slice(1) : key);
          return (
            <li key={key}>
              <button type="button" class="link" title={predicate} onClick={() => void session.expand(id, predicate, isIncoming ? "incoming" : "outgoing")}>
                {isIncoming ? "← " : "→ "}
                {name === undefined ? spoken(predicate, labels) : plain(name)}
              </button>{" "}
              <span class="count">{count.toLocaleString("en")}</span>
            </li>
          );
        })}
      </ul>
      {entity.edge_rows_total === undefined ? null : <p class="quiet">{entity.edge_rows_total} relations in all.</p>}
      {entity.complete ? null : <p class="lack">There may be more.</p>}
      <button type="button" class="small" onClick={close}>
        Close
      </button>
    </div>
  );
}
