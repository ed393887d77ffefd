import { useEffect } from "preact/hooks";
import { CallText } from "./call_text";
import { Filters } from "./filters";
import { GraphView } from "./graph_view";
import { Record } from "./record";
import { RowsTable } from "./rows_table";
import { SearchBox } from "./search_box";
import type { Session } from "./session";
import { Status } from "./status";
import { TokenForm } from "./token_form";

interface Props {
  session: Session;
  onToken?: (token: string) => void;
}

export function App({ session, onToken }: Props) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement;
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isTyping) {
        event.preventDefault();
        session.undo();
      } else if (event.key === "/" && !isTyping) {
        event.preventDefault();
        document.getElementById("search")?.focus();
      } else if (event.key === "Escape" && !isTyping) session.select([]);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [session]);
  return (
    <>
      <header>
        <h1>Graph explorer</h1>
        <SearchBox session={session} />
        <div class="buttons">
          <button type="button" onClick={() => session.undo()} disabled={!session.steps.value.length} title="Ctrl+Z">
            Undo
          </button>
          <button type="button" onClick={() => session.clear()} disabled={!session.steps.value.length}>
            Clear
          </button>
        </div>
      </header>
      {session.wantsToken.value && onToken ? <TokenForm onToken={onToken} /> : null}
      <main>
        <Filters session={session} />
        <section class="middle" aria-label="Graph">
          <Status session={session} />
          <GraphView session={session} />
          <RowsTable session={session} />
          <CallText session={session} />
        </section>
        <Record session={session} />
      </main>
    </>
  );
}
