import { useEffect, useState } from "preact/hooks";
import { CallText } from "./call_text";
import { Filters } from "./filters";
import { GraphView } from "./graph_view";
import { foldOne } from "./menu";
import { NodeTable } from "./node_table";
import { Record } from "./record";
import { RowsTable } from "./rows_table";
import { SearchBox } from "./search_box";
import type { Session } from "./session";
import { Status } from "./status";
import { TokenForm } from "./token_form";

type Panel = "filters" | "record" | "call";

/** Where the page is narrow, each folds into a button. */
const PANELS: readonly (readonly [Panel, string])[] = [
  ["filters", "Types and relations"],
  ["record", "Record"],
  ["call", "Call"],
];

interface Props {
  session: Session;
  onToken?: (token: string) => void;
}

export function App({ session, onToken }: Props) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = writesText(event.target);
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !isTyping) {
        event.preventDefault();
        if (event.shiftKey) session.redo();
        else session.undo();
      } else if (event.key === "/" && !isTyping) {
        event.preventDefault();
        document.getElementById("search")?.focus();
      } else if (event.key === "Delete" && !isTyping) session.remove(session.selected.value);
      else if (event.key === "Escape" && !isTyping && !foldOne()) session.select([]);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [session]);
  const [open, setOpen] = useState<Panel | undefined>(undefined);
  // A panel that is asked for by a click in the picture opens.
  const only = session.selected.value[0] ?? session.edges.value[0];
  useEffect(() => setOpen((before) => (only === undefined ? before : "record")), [only]);
  const table = session.table.value;
  return (
    <>
      <header>
        <h1>Graph explorer</h1>
        <SearchBox session={session} />
        <div class="buttons">
          <button type="button" onClick={() => session.undo()} disabled={!session.past.value.length} title="Ctrl+Z">
            Undo
          </button>
          <button type="button" onClick={() => session.redo()} disabled={!session.future.value.length} title="Ctrl+Shift+Z">
            Redo
          </button>
          <button type="button" onClick={() => session.clear()} disabled={!session.steps.value.length && !session.hubs.value.length && !table}>
            Clear
          </button>
          {session.canTraverse ? (
            <button type="button" aria-pressed={table !== undefined} onClick={() => (table ? session.showTable(undefined) : session.openTable())} disabled={!table && !session.steps.value.length && !session.schema.value}>
              Table
            </button>
          ) : null}
        </div>
      </header>
      {session.wantsToken.value && onToken ? <TokenForm onToken={onToken} /> : null}
      <main data-open={open ?? "none"}>
        <Filters session={session} />
        <section class="middle" aria-label="Graph">
          <Status session={session} />
          {table ? <NodeTable session={session} asked={table} /> : null}
          <GraphView session={session} isHidden={table !== undefined} />
          {table ? null : <RowsTable session={session} />}
          <CallText session={session} />
        </section>
        <div class="panels">
          {PANELS.map(([panel, title]) => (
            <button key={panel} type="button" aria-expanded={open === panel} aria-controls={panel} onClick={() => setOpen(open === panel ? undefined : panel)}>
              {title}
            </button>
          ))}
        </div>
        <Record session={session} />
      </main>
    </>
  );
}

/** Whether keys write a text where the focus is; there, undo takes back letters, and nothing where there are none. */
function writesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLInputElement)) return target instanceof HTMLTextAreaElement;
  return target.type === "password" || (target.type === "text" && target.value !== "");
}
