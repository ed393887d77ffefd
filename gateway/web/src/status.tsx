import type { Session } from "./session";

/** What is shown and what is not, in words. */
export function Status({ session }: { session: Session }) {
  const picture = session.picture.value;
  const last = session.steps.value.at(-1)?.answer;
  const lacking = [...picture.nodes.values()].filter((node) => node.lacks.length).length;
  return (
    <div class="status" role="status" aria-live="polite">
      {session.problem.value ? (
        <p class="lack" role="alert" data-testid="problem">
          {session.problem.value}
        </p>
      ) : null}
      {session.note.value ? <p data-testid="note">{session.note.value}</p> : null}
      <p data-testid="shown">
        {picture.nodes.size.toLocaleString("en")} nodes and {picture.edges.size.toLocaleString("en")} edges
        {last && picture.next ? `; the last answer has ${last.node_count.toLocaleString("en")} nodes in all` : ""}
        {last && !last.complete ? "; not complete" : ""}
        {session.shown.value.nodes.size < picture.nodes.size ? `; ${session.shown.value.nodes.size.toLocaleString("en")} nodes are shown` : ""}
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
