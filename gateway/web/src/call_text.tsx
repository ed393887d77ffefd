import { useState } from "preact/hooks";
import { type Reader, written } from "./calls";
import type { Session } from "./session";

const READERS: readonly Reader[] = ["model", "python", "command line"];

/** What selects the graph in a command, where the server of the page says it. */
const GRAPH_OPTIONS = document.querySelector<HTMLMetaElement>("meta[name=graph-options]")?.content;

/** The call that made the view, to copy. */
export function CallText({ session }: { session: Session }) {
  const [reader, setReader] = useState<Reader>("model");
  const call = session.lastCall.value;
  if (!call) return <div class="call" id="call" hidden />;
  const text = written(call, reader, GRAPH_OPTIONS ?? "");
  return (
    <div class="call" id="call">
      <label>
        Call for a{" "}
        <select value={reader} onChange={(event) => setReader(event.currentTarget.value as Reader)}>
          {READERS.map((each) => (
            <option key={each} value={each}>
              {each === "python" ? "Python program" : each}
            </option>
          ))}
        </select>
      </label>
      <code data-testid="call" tabIndex={0}>
        {text}
      </code>
      {reader === "command line" && GRAPH_OPTIONS === undefined ? <span class="quiet">and --graph or --endpoint of {session.graphName === "This graph" ? "this graph" : session.graphName}</span> : null}
      <button type="button" class="small" onClick={() => void navigator.clipboard?.writeText(text)}>
        Copy
      </button>
    </div>
  );
}
