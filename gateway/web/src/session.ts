/** What the page knows and shows now. */

import { type ReadonlySignal, computed, signal } from "@preact/signals";
import type { Entity, Hits, Json, Schema, Subgraph } from "./answers";
import { type Picture, type Step, pictureOf } from "./picture";
import { type Call, NotAuthorized, type Tools, ToolError } from "./tools";
import { type Restored, readView, writeView } from "./view_state";

/** A node with more edges than this is expanded only by a relation that somebody chose. */
export const HUB_EDGES = 150;

/** Nodes of a page; the gateway shows fewer if the answer is full. */
const PAGE_NODES = 300;

export class Session {
  readonly steps = signal<readonly Step[]>([]);
  readonly selected = signal<readonly string[]>([]);
  readonly hiddenTypes = signal<ReadonlySet<string>>(new Set());
  readonly hiddenPredicates = signal<ReadonlySet<string>>(new Set());
  readonly described = signal<ReadonlyMap<string, Entity>>(new Map());
  readonly schema = signal<Schema | undefined>(undefined);
  readonly busy = signal(0);
  readonly problem = signal("");
  readonly note = signal("");
  readonly wantsToken = signal(false);
  readonly lastCall = signal<Call | undefined>(undefined);
  readonly picture: ReadonlySignal<Picture> = computed(() =>
    pictureOf(this.steps.value, this.described.value, this.selected.value),
  );

  /** `keepsUrl`: whether the address of the page tells the view. */
  constructor(
    private tools: Tools,
    private readonly keepsUrl: boolean,
  ) {}

  /** Whether nodes can be expanded. */
  get canTraverse(): boolean {
    return this.tools.canTraverse;
  }

  /** Return the name of a node, if this text is the ID of one that can be described. */
  nameOf(text: string): string | undefined {
    const { nodes, labels } = this.picture.value;
    const node = nodes.get(text);
    if (node) return node.name;
    return this.canTraverse && Object.hasOwn(labels, text) ? labels[text] : undefined;
  }

  /** Use another way to the gateway, after a token was given. */
  reconnect(tools: Tools): void {
    this.tools = tools;
    this.wantsToken.value = false;
    this.problem.value = "";
  }

  async readSchema(): Promise<void> {
    const answer = await this.ask({ tool: "describe_schema", arguments: {} }, { quietly: true });
    if (answer) this.schema.value = answer as unknown as Schema;
  }

  async search(query: string, signal: AbortSignal): Promise<Hits | undefined> {
    const call: Call = { tool: "search_entities", arguments: { query, limit: 12 } };
    return (await this.ask(call, { signal, quietly: true })) as Hits | undefined;
  }

  /** Begin a picture with one node and its neighbourhood. */
  async start(id: string): Promise<void> {
    this.selected.value = [id];
    await this.expand(id);
    this.remember();
  }

  /** Select a node, and read its record. */
  async describe(id: string): Promise<Entity | undefined> {
    this.selected.value = [id];
    this.remember();
    const known = this.described.value.get(id);
    if (known) return known;
    const entity = (await this.ask({ tool: "describe_entity", arguments: { id } })) as Entity | undefined;
    if (entity) this.described.value = new Map([...this.described.value, [id, entity]]);
    return entity;
  }

  /** Add the edges of a node; a hub is only described, so that somebody can choose among its relations. */
  async expand(id: string, relation?: string, direction?: "outgoing" | "incoming"): Promise<void> {
    const entity = await this.describe(id);
    if ((!entity && this.problem.value) || !this.canTraverse) return;
    const edges = edgesOf(entity);
    if (relation === undefined && edges > HUB_EDGES) {
      this.note.value = `This node has ${edges.toLocaleString("en")} edges or more. Choose a relation in its record.`;
      return;
    }
    const steering = relation === undefined ? {} : { only_predicates: [relation], direction: direction ?? "both" };
    await this.traverse({ seeds: [id], max_hops: 1, ...steering, limit: PAGE_NODES });
  }

  async traverse(given: Json): Promise<void> {
    await this.add({ tool: "bfs_query", arguments: given });
  }

  /** Show what connects nodes, with a shortest path from each node to each of them. */
  async intersect(ids: readonly string[], hops = 2): Promise<void> {
    await this.add({ tool: "intersect_subgraphs", arguments: { seeds: [...ids], k: hops, via: true, limit: PAGE_NODES } });
  }

  async showMore(): Promise<void> {
    const next = this.picture.value.next;
    if (next) await this.add(next);
  }

  /** Take the last step back. */
  undo(): void {
    this.steps.value = this.steps.value.slice(0, -1);
    this.lastCall.value = this.steps.value.at(-1)?.call;
    this.selected.value = this.selected.value.filter((id) => this.picture.value.nodes.has(id));
    this.problem.value = "";
    this.note.value = "";
    this.remember();
  }

  clear(): void {
    this.steps.value = [];
    this.selected.value = [];
    this.problem.value = "";
    this.note.value = "";
    this.remember();
  }

  select(ids: readonly string[]): void {
    this.selected.value = ids;
    this.remember();
  }

  toggle(hidden: "types" | "predicates", name: string): void {
    const which = hidden === "types" ? this.hiddenTypes : this.hiddenPredicates;
    const after = new Set(which.value);
    if (!after.delete(name)) after.add(name);
    which.value = after;
    this.remember();
  }

  /** Show an answer that came from elsewhere: the host of an App called the tool, or a file has it. */
  receive(call: Call, answer: Json): void {
    if (Array.isArray(answer["nodes"])) {
      this.steps.value = [...this.steps.value, { call, answer: answer as unknown as Subgraph }];
    } else if (typeof answer["id"] === "string") {
      const entity = answer as Entity;
      this.described.value = new Map([...this.described.value, [entity.id, entity]]);
      this.selected.value = [entity.id];
    }
    this.lastCall.value = call;
  }

  /** Whether some nodes in the answer to a call do not say their type. */
  lacksTypes(call: Call): boolean {
    return this.steps.value.some((step) => step.call === call && step.answer.nodes.some((node) => node.entity_type === undefined));
  }

  /** Show another answer to a call, which says more. */
  replace(call: Call, answer: Json): void {
    this.steps.value = this.steps.value.map((step) => (step.call === call ? { call, answer: answer as unknown as Subgraph } : step));
  }

  /** Show again what an address tells, by the same calls. */
  async restore(hash: string): Promise<void> {
    const view: Restored | undefined = readView(hash);
    if (!view) return;
    this.steps.value = [];
    this.hiddenTypes.value = new Set(view.hiddenTypes);
    this.hiddenPredicates.value = new Set(view.hiddenPredicates);
    for (const call of view.calls) await this.add(call, { remember: false });
    const [only] = view.selected;
    if (view.selected.length === 1 && only !== undefined) await this.describe(only);
    else this.select(view.selected);
  }

  private async add(call: Call, { remember = true } = {}): Promise<void> {
    this.note.value = "";
    const answer = await this.ask(call);
    if (!answer) return;
    this.steps.value = [...this.steps.value, { call, answer: answer as unknown as Subgraph }];
    if (remember) this.remember();
  }

  private remember(): void {
    if (!this.keepsUrl) return;
    const view = {
      calls: this.steps.value.map((step) => step.call),
      selected: [...this.selected.value],
      hiddenTypes: [...this.hiddenTypes.value],
      hiddenPredicates: [...this.hiddenPredicates.value],
    };
    history.replaceState(null, "", writeView(view));
  }

  private async ask(call: Call, { signal, quietly = false }: { signal?: AbortSignal; quietly?: boolean } = {}): Promise<Json | undefined> {
    this.busy.value += 1;
    if (!quietly) {
      this.problem.value = "";
      this.lastCall.value = call;
    }
    try {
      return await this.tools.call(call, signal);
    } catch (error) {
      if (signal?.aborted) return undefined;
      if (error instanceof NotAuthorized) this.wantsToken.value = true;
      else this.problem.value = error instanceof ToolError ? error.message : String(error);
      return undefined;
    } finally {
      this.busy.value -= 1;
    }
  }
}

/** How many edges a record counts, at least. */
export function edgesOf(entity: Entity | undefined): number {
  return Object.values(entity?.edges ?? {})
    .map(([count]) => (typeof count === "number" ? count : Number(/\d[\d,]*/.exec(count)?.[0].replaceAll(",", "") ?? 0)))
    .reduce((sum, count) => sum + count, 0);
}
