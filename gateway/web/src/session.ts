/** What the page knows and shows now. */

import { type ReadonlySignal, type Signal, batch, computed, signal } from "@preact/signals";
import { type Entity, type Hits, type Json, type Schema, type Subgraph, edgesOf } from "./answers";
import { type Asked, HITS_ASKED, callFor, ofCall, ofType } from "./asked";
import { isBlank, titleOf } from "./blanks";
import { saying } from "./calls";
import { Address } from "./address";
import { type Mark, marksOf } from "./colors";
import { Listings } from "./listings";
import { type Picture, type PictureNode, type Step, nearOf, pictureOf, several } from "./picture";
import type { Point } from "./placement";
import { type Hidden, type Shown, shownOf } from "./shown";
import { type Call, NotAuthorized, type Tools, ToolError } from "./tools";
import { plain, spoken } from "./names";

/** A node with more edges than this is expanded only by a relation that somebody chose. */
export const HUB_EDGES = 150;

/** Nodes of a page; the gateway shows fewer if the answer is full. */
const PAGE_NODES = 300;

/** What undo takes back. */
export interface View {
  steps: readonly Step[];
  hidden: Hidden;
  opened: ReadonlySet<string>;
  pinned: ReadonlyMap<string, Point>;
  table: Asked | undefined;
  hubs: readonly string[];
  /** In which names and texts are read first; empty: in that of the graph. */
  language: string;
}

const NOTHING_HIDDEN: Hidden = { types: new Set(), predicates: new Set(), removed: new Set() };

/** Views that undo can bring back. */
const MOST_UNDONE = 100;

/** Hops up to which it is tried what is near several nodes. */
const MOST_HOPS = 4;

/** Nodes on paths whose names are read. */
const MOST_NAMED = 50;

/** A call that is under way. */
interface Running {
  text: string;
  controller: AbortController;
}

export class Session {
  readonly steps = signal<readonly Step[]>([]);
  readonly selected = signal<readonly string[]>([]);
  readonly hidden = signal<Hidden>(NOTHING_HIDDEN);
  /** Keys of the edges whose evidence is shown. */
  readonly edges = signal<readonly string[]>([]);
  /** Piles that are open. */
  readonly opened = signal<ReadonlySet<string>>(new Set());
  /** Nodes that stay where somebody put them. */
  readonly pinned = signal<ReadonlyMap<string, Point>>(new Map());
  /** Hubs that stand in the picture, of which somebody chooses the relations. */
  readonly hubs = signal<readonly string[]>([]);
  /** The hub whose relations are listed beside it. */
  readonly menu = signal<string | undefined>(undefined);
  readonly language = signal("");
  readonly past = signal<readonly View[]>([]);
  readonly future = signal<readonly View[]>([]);
  readonly described = signal<ReadonlyMap<string, Entity>>(new Map());
  /** Records without edges, which tell names and types. */
  readonly named = signal<ReadonlyMap<string, Entity>>(new Map());
  readonly schema = signal<Schema | undefined>(undefined);
  readonly listings = new Listings(this);
  /** What the table asks that stands in the place of the picture. */
  readonly table = signal<Asked | undefined>(undefined);
  readonly running = signal<readonly Running[]>([]);
  readonly problem = signal("");
  readonly note = signal("");
  /** What a screen reader says of what was just done. */
  readonly told = signal("");
  readonly address: Address;
  readonly wantsToken = signal(false);
  readonly lastCall = signal<Call | undefined>(undefined);
  readonly picture: ReadonlySignal<Picture> = computed(() =>
    pictureOf(this.steps.value, new Map([...this.named.value, ...this.described.value]), this.selected.value, this.hubs.value),
  );
  readonly shown: ReadonlySignal<Shown> = computed(() => shownOf(this.picture.value, this.hidden.value, new Set(this.selected.value)));
  /** What the last answer found near several nodes, in words; undefined where something else was asked last. */
  readonly near: ReadonlySignal<string | undefined> = computed(() => {
    const step = this.steps.value.at(-1);
    return step?.call.tool === "intersect_subgraphs" ? nearOf(step, (id) => (this.picture.value.nodes.has(id) ? this.titleOf(this.picture.value.nodes.get(id)!) : this.spoken(id))) : undefined;
  });
  /** How many nodes are shown of which no call asked for all edges. */
  readonly outermost: ReadonlySignal<number> = computed(() => [...this.picture.value.outermost].filter((id) => this.shown.value.nodes.has(id)).length);
  /** What the graph calls types, predicates and nodes. */
  readonly labels: ReadonlySignal<Readonly<Record<string, string>>> = computed(() =>
    Object.assign(Object.create(null) as Record<string, string>, this.schema.value?.labels, this.picture.value.labels),
  );

  /** How types are drawn. */
  readonly marks: ReadonlySignal<ReadonlyMap<string, Mark>> = computed(() =>
    marksOf(this.schema.value?.entity_types ?? [], this.picture.value.typeCounts.keys()),
  );
  /** What the graph is, with names in the place of IDs. */
  readonly description: ReadonlySignal<string> = computed(() => {
    const { graph_description: text = "", entity_types: types = [] } = this.schema.value ?? {};
    return text.replace(/[^\s,]*[^\s,.]/g, (word) => (types.includes(word) ? this.spoken(word) : word));
  });
  /** Of several graphs, which one it is. */
  readonly graphName = new URLSearchParams(location.search).get("graph") ?? "This graph";

  /** `keepsUrl`: whether the address of the page tells the view. */
  constructor(
    private tools: Tools,
    keepsUrl: boolean,
  ) {
    this.address = new Address(this, keepsUrl);
  }

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

  /** What a node of the picture is called. */
  titleOf(node: PictureNode): string {
    return node.name === node.id && !isBlank(node.id) ? plain(node.id) : titleOf(node, this.labels.value);
  }

  /** What a type or a predicate is called. */
  spoken(id: string): string {
    return spoken(id, this.labels.value);
  }

  /** Use another way to the gateway, after a token was given. */
  reconnect(tools: Tools): void {
    this.tools = tools;
    this.wantsToken.value = false;
    this.problem.value = "";
    this.address.reconnect();
  }

  async readSchema(): Promise<void> {
    const answer = await this.ask({ tool: "describe_schema", arguments: {} }, { quietly: true, text: "Reading what the graph has" });
    if (!answer) return;
    const schema = answer as unknown as Schema;
    // The gateway sends no list that is empty.
    this.schema.value = { ...schema, entity_types: schema.entity_types ?? [], predicates: schema.predicates ?? [], counts: schema.counts ?? {} };
    const types = this.schema.value.entity_types;
    if (!this.steps.value.length) await this.listings.first(types);
  }

  /** Give up what is under way. */
  cancel(): void {
    this.address.stop();
    for (const { controller } of this.running.value) controller.abort();
    this.note.value = "Cancelled: what was there before is shown.";
  }

  async search(query: string, signal: AbortSignal, offset = 0): Promise<Hits | undefined> {
    const call: Call = { tool: "search_entities", arguments: { query, limit: HITS_ASKED, ...(offset ? { offset } : {}) } };
    return (await this.ask(call, { signal, quietly: true })) as Hits | undefined;
  }

  /** Begin a picture with one node and its neighbourhood. */
  async start(id: string): Promise<void> {
    this.selected.value = [id];
    const { removed } = this.hidden.value;
    if (removed.has(id)) this.change({ hidden: { ...this.hidden.value, removed: new Set([...removed].filter((other) => other !== id)) } });
    await this.expand(id);
    this.remember();
  }

  /** Select a node, and read its record. */
  async describe(id: string): Promise<Entity | undefined> {
    this.edges.value = [];
    this.selected.value = [id];
    this.remember();
    return this.readRecord(id);
  }

  /** Read the record of a node that is selected. `quietly`: the call that made the view stays below it. */
  async readRecord(id: string, quietly = false): Promise<Entity | undefined> {
    const known = this.described.value.get(id);
    if (known) return known;
    const entity = (await this.ask({ tool: "describe_entity", arguments: { id } }, { quietly })) as Entity | undefined;
    if (!entity) return undefined;
    this.described.value = new Map([...this.described.value, [entity.id, entity]]);
    // The gateway may write the ID in another form than who asked.
    if (entity.id !== id && this.selected.value.includes(id)) {
      this.selected.value = [...new Set(this.selected.value.map((each) => (each === id ? entity.id : each)))];
      this.remember();
    }
    return entity;
  }

  /** Add the edges of a node; a hub is only described, so that somebody can choose among its relations. */
  async expand(id: string, relation?: string, direction?: "outgoing" | "incoming"): Promise<void> {
    const entity = await this.describe(id);
    if (!entity || !this.canTraverse) return;
    const edges = edgesOf(entity);
    if (relation === undefined && edges > HUB_EDGES) {
      if (!this.hubs.value.includes(entity.id)) this.change({ hubs: [...this.hubs.value, entity.id], table: undefined });
      this.menu.value = entity.id;
      this.note.value = `This node has ${edges.toLocaleString("en")} edges or more. Choose a relation beside it.`;
      return;
    }
    const steering = relation === undefined ? {} : { only_predicates: [relation], direction: direction ?? "both" };
    await this.traverse({ seeds: [entity.id], max_hops: 1, ...steering, limit: PAGE_NODES });
  }

  /** List the relations of a hub beside it. */
  async showMenu(id: string): Promise<void> {
    const entity = await this.describe(id);
    if (entity) this.menu.value = entity.id;
  }

  async traverse(given: Json): Promise<void> {
    await this.add({ tool: "bfs_query", arguments: given });
  }

  /** Show what connects nodes, within as few hops as there is something, with a shortest path from each node to each of them. */
  async intersect(ids: readonly string[]): Promise<void> {
    for (let k = 1; k <= MOST_HOPS; k += 1) {
      const call = this.inLanguage({ tool: "intersect_subgraphs", arguments: { seeds: [...ids], k, via: true, limit: PAGE_NODES } });
      const answer = (await this.ask(call)) as unknown as Subgraph | undefined;
      if (!answer) return;
      if (answer.nodes.length || k === MOST_HOPS || !answer.complete) {
        this.change({ steps: [...this.steps.value, { call, answer }], table: undefined });
        await this.readNames();
        this.note.value = this.near.value ?? "";
        return;
      }
    }
  }

  async showMore(): Promise<void> {
    const next = this.picture.value.next;
    if (next) await this.add(next.call);
  }

  /** Take back what changed the view last. */
  undo(): void {
    this.turn(this.past, this.future);
    this.told.value = `Undone: ${several(this.past.value.length, "step")} left to undo`;
  }

  /** Make again what was taken back last. */
  redo(): void {
    this.turn(this.future, this.past);
    this.told.value = `Done again: ${several(this.future.value.length, "step")} left to redo`;
  }

  clear(): void {
    this.address.forget();
    this.change({ steps: [], opened: new Set(), hidden: NOTHING_HIDDEN, pinned: new Map(), table: undefined, hubs: [], language: "" });
    this.select([]);
  }

  /** Show the evidence of edges in the place of a record. */
  selectEdges(keys: readonly string[]): void {
    this.select([]);
    this.edges.value = keys;
    this.remember();
  }

  select(ids: readonly string[]): void {
    this.menu.value = undefined;
    this.edges.value = [];
    this.selected.value = ids;
    this.remember();
  }

  /** Hide or show types or predicates. */
  hide(which: "types" | "predicates", names: Iterable<string>): void {
    this.change({ hidden: { ...this.hidden.value, [which]: new Set(names) } });
  }

  toggle(which: "types" | "predicates", name: string): void {
    const after = new Set(this.hidden.value[which]);
    if (!after.delete(name)) after.add(name);
    this.hide(which, after);
  }

  /** What a screen reader says of a node. */
  describing(id: string): string {
    const { nodes, edges } = this.shown.value;
    const node = nodes.get(id);
    if (!node) return "";
    const own = [...edges.values()].filter(({ subject, object }) => subject === id || object === id);
    return [this.titleOf(node), this.spoken(node.type), several(own.length, "edge"), ...node.lacks].join(", ");
  }

  /** Select a node beside others, or no longer. */
  toggleSelected(id: string): void {
    const selected = this.selected.value;
    this.select(selected.includes(id) ? selected.filter((other) => other !== id) : [...selected, id]);
  }

  /** Take nodes out of the picture. */
  remove(ids: readonly string[]): void {
    if (!ids.length) return;
    this.change({ hidden: { ...this.hidden.value, removed: new Set([...this.hidden.value.removed, ...ids]) } });
    this.select([]);
  }

  /** Take all nodes but some out of the picture. */
  keepOnly(ids: readonly string[]): void {
    const others = [...this.shown.value.nodes.keys()].filter((id) => !ids.includes(id));
    this.change({ hidden: { ...this.hidden.value, removed: new Set([...this.hidden.value.removed, ...others]) } });
  }

  /** Show all nodes that were taken out. */
  bringBack(): void {
    this.change({ hidden: { ...this.hidden.value, removed: new Set() } });
  }

  /** Leave a node where it is. */
  pin(id: string, place: Point): void {
    this.change({ pinned: new Map([...this.pinned.value, [id, place]]) });
  }

  unpin(id: string): void {
    this.change({ pinned: new Map([...this.pinned.value].filter(([other]) => other !== id)) });
  }

  /** Show a table in the place of the picture, or the picture again. */
  showTable(table: Asked | undefined): void {
    this.change({ table });
  }

  /** Show a table of the last answer, else of the most frequent type. */
  openTable(): void {
    const [last, type] = [this.steps.value.at(-1)?.call, this.schema.value?.entity_types[0]];
    if (last) this.showTable(ofCall(last));
    else if (type !== undefined) this.showTable(ofType(type));
  }

  /** Show those that a pile, or a blank node, holds, or fold them again. */
  toggleOpened(key: string): void {
    const opened = new Set(this.opened.value);
    if (!opened.delete(key)) opened.add(key);
    this.change({ opened });
  }

  /** Read all that is shown again in another language; where a call fails or is cancelled, nothing changes. */
  async speak(language: string): Promise<void> {
    const [before, steps] = [this.steps.value, [] as Step[]];
    for (const step of before) {
      const { language: _, ...given } = step.call.arguments;
      const call = { tool: step.call.tool, arguments: language ? { ...given, language } : given };
      const answer = await this.ask(call);
      if (!answer) return;
      steps.push({ call, answer: answer as unknown as Subgraph });
    }
    if (this.steps.value === before) this.change({ steps, language });
    else this.note.value = "Something else was asked meanwhile: the language is as it was.";
  }

  /** A call that asks for the language of the page. */
  private inLanguage(call: Call): Call {
    const language = this.language.value;
    return language && !("language" in call.arguments) ? { tool: call.tool, arguments: { ...call.arguments, language } } : call;
  }

  /** Show an answer that came from elsewhere: the host of an App called the tool, or a file has it. */
  receive(call: Call, answer: Json): void {
    if (Array.isArray(answer["nodes"])) {
      const steps = [...this.steps.value, { call, answer: answer as unknown as Subgraph }];
      // There is nothing before the first to go back to.
      if (this.steps.value.length || this.past.value.length) this.change({ steps });
      else this.show({ ...this.view, steps });
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

  private async add(asked: Call): Promise<void> {
    this.note.value = "";
    const call = this.inLanguage(asked);
    const answer = await this.ask(call);
    if (!answer) return;
    this.change({ steps: [...this.steps.value, { call, answer: answer as unknown as Subgraph }], table: undefined });
    if (call.tool === "intersect_subgraphs") await this.readNames();
  }

  /** Read the names and types of nodes on paths, of which an intersection tells the ID alone. */
  async readNames(hubs: readonly string[] = []): Promise<void> {
    const nameless = [...this.picture.value.nodes.values()].filter((node) => node.type === "unknown" && !this.named.value.has(node.id));
    const ids = [...new Set([...hubs, ...nameless.map(({ id }) => id)])].slice(0, MOST_NAMED);
    if (!ids.length || !this.canTraverse) return;
    const answer = await this.ask({ tool: "describe_entities", arguments: { ids } }, { quietly: true, text: "Reading names" });
    const records = ((answer?.["result"] ?? []) as Entity[]).filter(({ id }) => typeof id === "string");
    this.named.value = new Map([...this.named.value, ...records.map((record) => [record.id, record] as const)]);
  }

  /** What undo takes back, as it is now. */
  get view(): View {
    return { steps: this.steps.value, hidden: this.hidden.value, opened: this.opened.value, pinned: this.pinned.value, table: this.table.value, hubs: this.hubs.value, language: this.language.value };
  }

  private change(after: Partial<View>): void {
    this.past.value = [...this.past.value, this.view].slice(-MOST_UNDONE);
    this.future.value = [];
    this.show({ ...this.view, ...after });
  }

  private turn(from: Signal<readonly View[]>, to: Signal<readonly View[]>): void {
    const view = from.value.at(-1);
    if (!view) return;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, this.view];
    this.selected.value = this.selected.value.filter((id) => pictureOf(view.steps, new Map(), [], view.hubs).nodes.has(id));
    this.show(view);
  }

  private show(view: View): void {
    const isTranslated = view.language !== this.language.value;
    batch(() => {
      this.language.value = view.language;
      this.steps.value = view.steps;
      this.hidden.value = view.hidden;
      this.opened.value = view.opened;
      this.pinned.value = view.pinned;
      this.table.value = view.table;
      this.hubs.value = view.hubs;
      this.menu.value = undefined;
      if (isTranslated) this.forgetRecords();
      this.lastCall.value = view.table ? this.inLanguage(callFor(view.table)) : view.steps.at(-1)?.call;
      this.problem.value = "";
      this.note.value = "";
    });
    this.remember();
    if (isTranslated) void this.readAgain();
  }

  /** Records are in one language. */
  forgetRecords(): void {
    this.described.value = new Map();
    this.named.value = new Map();
  }

  /** Read what no step has, after the language has changed. */
  private async readAgain(): Promise<void> {
    this.listings.shown.value = undefined;
    await Promise.all([this.readSchema(), this.readNames(this.hubs.value), ...this.selected.value.slice(0, 1).map((id) => this.readRecord(id, true))]);
  }

  private remember(): void {
    this.address.write();
  }

  /** Call a tool; what is wrong is shown. */
  async ask(asked: Call, { signal, quietly = false, text = saying(asked, (id) => this.picture.value.nodes.get(id)?.name ?? this.described.value.get(id)?.name ?? spoken(id)) }: { signal?: AbortSignal; quietly?: boolean; text?: string } = {}): Promise<Json | undefined> {
    const call = this.inLanguage(asked);
    const controller = new AbortController();
    signal?.addEventListener("abort", () => controller.abort());
    const running: Running = { text, controller };
    this.running.value = [...this.running.value, running];
    if (!quietly) {
      this.problem.value = "";
      this.note.value = "";
      this.lastCall.value = call;
    }
    try {
      const answer = await this.tools.call(call, controller.signal);
      return controller.signal.aborted ? undefined : answer;
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      if (error instanceof NotAuthorized) this.wantsToken.value = true;
      else this.problem.value = error instanceof ToolError ? error.message : String(error);
      return undefined;
    } finally {
      this.running.value = this.running.value.filter((each) => each !== running);
    }
  }
}
