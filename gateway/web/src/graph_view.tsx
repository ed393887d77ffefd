import { useEffect, useRef, useState } from "preact/hooks";
import { Canvas } from "./canvas";
import type { Step } from "./steps";
import { DARK, LIGHT } from "./colors";
import { HubMenu } from "./hub_menu";
import { isHosted } from "./hosted";
import { Menu } from "./menu";
import { several } from "./picture";
import { csvOf, pngOf, save, svgOf } from "./downloads";
import type { Session } from "./session";
import { Start } from "./start";

/** The canvas; what it shows is told in words beside it. */
export function GraphView({ session, isHidden = false }: { session: Session; isHidden?: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<Canvas | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const isDark = useDark();
  const picture = session.picture.value;
  const shown = session.shown.value;
  const look = {
    selected: session.selected.value,
    edges: session.edges.value,
    opened: session.opened.value,
    labels: session.labels.value,
    marks: session.marks.value,
    pinned: session.pinned.value,
    theme: isDark ? DARK : LIGHT,
  };
  useEffect(() => {
    try {
      canvas.current = new Canvas(element.current!, {
        onClick: (id, isFurther) => (isFurther ? session.toggleSelected(id) : void session.expand(id)),
        onDoubleClick: (id) => void session.describe(id),
        onBackground: () => session.select([]),
        onPile: (key) => session.toggleOpened(key),
        onBadge: (id) => void session.showMenu(id),
        onEdges: (keys) => session.selectEdges(keys),
        onFrame: (ids) => session.select([...new Set([...session.selected.value, ...ids])]),
        onPin: (id, place) => session.pin(id, place),
      });
    } catch {
      setProblem("This browser draws no WebGL here: the list of nodes below shows the same.");
    }
  }, [session]);
  useEffect(() => canvas.current?.show(shown, look), [shown, look.selected, look.edges, look.opened, look.labels, look.marks, look.pinned, look.theme]);
  useEffect(() => {
    if (!isHidden) canvas.current?.awake();
  }, [isHidden]);
  const [only] = look.selected;
  return (
    <div class="graph" hidden={isHidden}>
      <div
        class="canvas"
        ref={element}
        data-testid="canvas"
        tabIndex={0}
        role="application"
        aria-label="Picture. Arrow keys go from node to node, with Shift they select several. Enter shows the neighbours of a node. Plus and minus zoom, 0 shows all."
        onKeyDown={(event) => pressed(event, session, canvas.current)}
      />
      {problem ? <p class="lack">{problem}</p> : null}
      {!picture.nodes.size && !session.running.value.some(({ text }) => text.startsWith("Reading what is around")) ? <Start session={session} /> : null}
      <HubMenu session={session} canvas={canvas.current} />
      <div class="graph-buttons">
        <button type="button" onClick={() => canvas.current?.fit()}>
          Fit
        </button>
        <button type="button" class="go-to" disabled={only === undefined} onClick={() => only !== undefined && canvas.current?.goTo(only)}>
          Go to selected
        </button>
        {shown.nodes.size && !isHosted() ? (
          <Menu
            title="Save as"
            items={["svg", "png", "csv"].map((key) => ({ key, text: key.toUpperCase() }))}
            choose={(format) => {
              if (canvas.current) saveAs(format, canvas.current, session).catch((error: unknown) => setProblem(String(error)));
            }}
          />
        ) : null}
        {shown.nodes.size && !isHosted() && (picture.incomplete || picture.unread) ? (
          <span class="lack" data-testid="part">
            A file has what is shown: not complete
          </span>
        ) : shown.nodes.size && !isHosted() && session.outermost.value > 1 ? (
          <span class="quiet" data-testid="part">
            A file lacks edges, see above
          </span>
        ) : null}
        {picture.next ? (
          <button type="button" onClick={() => void session.showMore()}>
            Show more
          </button>
        ) : null}
      </div>
      <details class="list folds">
        <summary>List of the {several(shown.nodes.size, "node")}</summary>
        <ul>
          {[...shown.nodes.values()].map((node) => (
              <li key={node.id}>
                <input
                  type="checkbox"
                  aria-label={`Select ${session.titleOf(node)}`}
                  checked={look.selected.includes(node.id)}
                  onChange={() => session.toggleSelected(node.id)}
                />
                <button type="button" class="link" onClick={() => void session.describe(node.id)}>
                  {session.titleOf(node)}
                </button>{" "}
                <span class="quiet">
                  {session.spoken(node.type)}
                  {node.isHub ? ", a hub" : ""}
                </span>
              </li>
            ))}
        </ul>
      </details>
    </div>
  );
}

const STEPS: Readonly<Record<string, Step>> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

/** What keys do in the picture. */
function pressed(event: KeyboardEvent, session: Session, canvas: Canvas | undefined): void {
  if (!canvas || event.ctrlKey || event.metaKey || event.altKey) return;
  const [last, step] = [session.selected.value.at(-1), STEPS[event.key]];
  if (step) {
    const next = canvas.next(last, step);
    if (next !== undefined) session.select(event.shiftKey ? [...session.selected.value.filter((id) => id !== next), next] : [next]);
  } else if (event.key === "Enter" && last !== undefined) void session.expand(last);
  else if (event.key === "+" || event.key === "-") canvas.zoom(event.key === "+");
  else if (event.key === "0") canvas.fit();
  else return;
  event.preventDefault();
}

/** Save the picture as it is drawn, or what is shown as a table. */
async function saveAs(format: string, canvas: Canvas, session: Session): Promise<void> {
  if (format === "csv") {
    save("graph.csv", new Blob([csvOf(session.shown.value, (id) => session.spoken(id))], { type: "text/csv" }));
    return;
  }
  const scene = canvas.scene();
  const svg = svgOf(scene);
  if (format === "svg") save("graph.svg", new Blob([svg], { type: "image/svg+xml" }));
  if (format === "png") save("graph.png", await pngOf(svg, scene));
}

/** Whether the page is dark: as its root says, else as the system wants. */
function useDark(): boolean {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const isDark = (): boolean => {
    const said = document.documentElement.dataset["theme"];
    return said === undefined ? query.matches : said === "dark";
  };
  const [dark, setDark] = useState(isDark());
  useEffect(() => {
    const update = (): void => setDark(isDark());
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    query.addEventListener("change", update);
    return () => {
      observer.disconnect();
      query.removeEventListener("change", update);
    };
  }, []);
  return dark;
}
