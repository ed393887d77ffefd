import { several } from "./picture";
import type { Session } from "./session";

/** Long quotes that the answers left out of the evidence, and how to read them. */
export function Omitted({ session }: { session: Session }) {
  const { omitted } = session.picture.value;
  const count = [...omitted.values()].reduce((sum, each) => sum + each, 0);
  if (!count) return null;
  const named = omitted.size > 1 ? ` (${[...omitted].map(([predicate, each]) => `${session.spoken(predicate)} ${each.toLocaleString("en")}`).join(", ")})` : "";
  return (
    <div class="lack" data-testid="omitted">
      {several(count, "quote")} omitted from the evidence of the edges in the picture{named}, as too long; an answer does not say of which edges.{" "}
      {session.canTraverse ? (
        <details class="how">
          <summary>How to see them</summary>
          Start the gateway with a profile (--profile FILE.toml) that has <code>[size]</code> and <code>evidence_text_characters = 10000</code>: longer texts alone are left out then. The record of a source document may have its text too.
        </details>
      ) : null}
    </div>
  );
}
