/** The address of the page, which tells the view: it is written after each change, and restored by the same calls. */

import { signal } from "@preact/signals";
import type { Subgraph } from "./answers";
import { callFor } from "./asked";
import { several } from "./picture";
import type { Session } from "./session";
import { MOST_CALLS, MOST_HUBS, type Restored, readView, writeView } from "./view_state";

export class Address {
  /** What is wrong with the address, as long as it is; the address stays as it is then. */
  readonly note = signal("");
  /** What restores an address now; what belongs to an earlier one is dropped. */
  private restoring: AbortController | undefined;
  /** Whether the picture is another than the address tells, because calls of it were not made, or not yet. */
  private isPart = false;

  /** `keepsUrl`: whether the address of the page tells the view. */
  constructor(
    private readonly session: Session,
    private readonly keepsUrl: boolean,
  ) {}

  /** Make no further calls. */
  stop(): void {
    this.restoring?.abort();
  }

  /** Tell what is shown from now on. */
  forget(): void {
    this.stop();
    this.restoring = undefined;
    this.isPart = false;
    this.note.value = "";
  }

  /** Try again, after a token was given. */
  reconnect(): void {
    if (this.isPart) void this.restore(location.hash);
  }

  /** Show again what an address tells, by the same calls. */
  async restore(hash: string): Promise<void> {
    if (hash === "" || hash === "#") return;
    this.stop();
    const controller = new AbortController();
    this.restoring = controller;
    this.isPart = false;
    const view: Restored | undefined = readView(hash);
    if (!view) {
      this.note.value = "This address tells no view that can be read.";
      return;
    }
    this.isPart = true;
    this.note.value = "";
    const { session } = this;
    if (view.language !== session.language.value) {
      session.forgetRecords();
      session.language.value = view.language;
      if (session.schema.value) void session.readSchema();
    }
    session.steps.value = [];
    session.hidden.value = { types: new Set(view.hiddenTypes), predicates: new Set(view.hiddenPredicates), removed: new Set(view.removed) };
    session.opened.value = new Set(view.opened);
    session.pinned.value = new Map(view.pinned.map(([id, x, y]) => [id, { x, y }]));
    session.table.value = view.table;
    session.hubs.value = view.hubs;
    if (view.table) session.lastCall.value = callFor(view.table);
    const { calls, refused = 0, hubsRefused = 0 } = view;
    const [total, why] = [calls.length + refused, new Set<string>()];
    let made = 0;
    for (const call of calls) {
      const answer = await session.ask(call, { signal: controller.signal });
      if (this.restoring !== controller) return;
      if (answer) {
        made += 1;
        session.steps.value = [...session.steps.value, { call, answer: answer as unknown as Subgraph }];
        if (call.tool === "intersect_subgraphs") await session.readNames();
        if (this.restoring !== controller) return;
      } else if (this.isStopped(controller, why)) break;
    }
    if (refused) why.add(`A page makes ${MOST_CALLS} at most, of bfs_query and intersect_subgraphs.`);
    if (!controller.signal.aborted) await session.readNames(view.hubs);
    if (this.restoring !== controller) return;
    // What no record tells of may be no node of the graph.
    session.hubs.value = view.hubs.filter((id) => session.named.value.has(id) || session.described.value.has(id));
    const lost = hubsRefused + view.hubs.length - session.hubs.value.length;
    const lacks = [
      ...(made < total ? [`${total - made} of ${several(total, "call")} of this address could not be made: ${[...why].join(" ")}`] : []),
      ...(lost ? [`${lost} of ${several(hubsRefused + view.hubs.length, "hub")} of this address could not be drawn: a page draws ${MOST_HUBS} at most, and what it can read alone.`] : []),
    ];
    this.isPart = lacks.length > 0;
    if (this.isPart) this.note.value = `${lacks.join(" ")} The address stays as it is until Clear.`;
    if (controller.signal.aborted) return;
    if (view.edges.length) session.selectEdges(view.edges);
    else session.select(view.selected);
    const [only, another] = view.selected;
    if (only !== undefined && another === undefined) await session.readRecord(only, true);
  }

  /** Tell the view that is shown now. */
  write(): void {
    if (!this.keepsUrl || this.isPart) return;
    const { steps, hidden, opened, pinned, table, hubs, language } = this.session.view;
    const address = writeView({
      calls: steps.map((step) => step.call),
      selected: [...this.session.selected.value],
      hiddenTypes: [...hidden.types],
      hiddenPredicates: [...hidden.predicates],
      removed: [...hidden.removed],
      opened: [...opened],
      pinned: [...pinned].map(([id, { x, y }]) => [id, Math.round(x), Math.round(y)] as [string, number, number]),
      hubs: [...hubs],
      language,
      edges: [...this.session.edges.value],
      ...(table ? { table } : {}),
    });
    if (address !== undefined) history.replaceState(null, "", address);
    this.note.value = address === undefined ? "This view is too large for an address: the address is that of an earlier one." : "";
  }

  /** Note why a call of an address was not made; return whether the others are not made either. */
  private isStopped({ signal: { aborted } }: AbortController, why: Set<string>): boolean {
    if (aborted) why.add("Cancelled.");
    else if (this.session.wantsToken.value) why.add("The gateway wants a token.");
    else why.add(this.session.problem.value || "The gateway sent no answer.");
    return aborted || this.session.wantsToken.value;
  }
}
