import { useState } from "preact/hooks";
import { type Reader, written } from "./calls";
import type { Session } from "./session";

const READERS: readonly Reader[] = ["model", "python", "command line"];

/** The call that made the view, to copy. */
export function CallText({ session }: { session: Session }) {
  const [reader, setReader] = useState<Reader>("model");
  const call = session.lastCall.value;
  if (!call) return null;
  const text = written(call, reader);
  return (
    <div class="call">
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
      <button type="button" class="small" onClick={() => void navigator.clipboard?.writeText(text)}>
        Copy
      </button>
    </div>
  );
}
