import { several } from "./picture";
import { Omitted } from "./omitted";
import type { Session } from "./session";

/** What is shown and what is not, in words. */
export function Status({ session }: { session: Session }) {
  const picture = session.picture.value;
  const { next, unread, incomplete } = picture;
  const count = session.steps.value.length;
  const lacking = [...picture.nodes.values()].filter((node) => node.lacks.length).length;
  const selected = session.selected.value;
  return (
    <div class="status" role="status" aria-live="polite">
      <p class="unseen" data-testid="done">
        {session.told.value}
      </p>
      <p class="unseen" data-testid="selected">
        {selected.length > 1 ? `${selected.length} nodes are selected, last ${session.describing(selected.at(-1)!)}` : selected.map((id) => session.describing(id)).join("")}
      </p>
      {session.problem.value ? (
        <p class="lack" role="alert" data-testid="problem">
          {session.problem.value}
        </p>
      ) : null}
      {session.address.note.value ? (
        <p class="lack" role="alert" data-testid="address">
          {session.address.note.value}
        </p>
      ) : null}
      {session.note.value ? <p data-testid="note">{session.note.value}</p> : null}
      <p data-testid="shown" hidden={session.table.value !== undefined}>
        {several(picture.nodes.size, "node")} and {several(picture.edges.size, "edge")}
        {next ? `; ${next.step === session.steps.value.at(-1) ? "the last" : "an earlier"} answer has ${several(next.step.answer.node_count, "node")} in all` : ""}
        {unread > 1 ? `; ${unread} answers have more pages` : ""}
        {incomplete ? `; ${count > 1 ? `${incomplete} of ${count} answers ` : ""}not complete` : ""}
        {session.shown.value.nodes.size < picture.nodes.size ? `; shown: ${several(session.shown.value.nodes.size, "node")}` : ""}
      </p>
      {session.running.value.length ? (
        <p class="running" data-testid="running">
          <progress aria-label="Working" /> {session.running.value.at(-1)!.text}{" "}
          <button type="button" class="small" onClick={() => session.cancel()}>
            Cancel
          </button>
        </p>
      ) : null}
      {lacking ? (
        <p class="lack" data-testid="lacking">
          {lacking === 1 ? "1 node lacks edges: it has a red ring" : `${lacking.toLocaleString("en")} nodes lack edges: they have red rings`}, and why is in the record.
        </p>
      ) : null}
      {session.outermost.value > 1 ? (
        <p class="quiet" data-testid="outermost">
          Not asked for: further edges between two of the {several(session.outermost.value, "node")} that were not expanded{session.canTraverse ? "; a click on one shows its edges" : ""}.
        </p>
      ) : null}
      <Omitted session={session} />
      {picture.lacks.map((lack) => (
        <p class="lack" key={lack}>
          {lack}
        </p>
      ))}
      {picture.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  );
}
