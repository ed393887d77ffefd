/** What the canvas shows: the union of the answers to the calls so far. */

import { type Edge, type Entity, type Incomplete, type Json, type Node, type Subgraph, edgesOf, idAndName, nameOf } from "./answers";
import { localName } from "./names";
import type { Call } from "./tools";

export interface Step {
  call: Call;
  answer: Subgraph;
}

export interface PictureNode {
  id: string;
  name: string;
  type: string;
  types: readonly string[];
  metadata: Json;
  /** What is missing around it, in words. */
  lacks: readonly string[];
  isHub: boolean;
  /** How many edges it has, at least; where its record is known. */
  edges?: number;
  isSeed: boolean;
}

export interface PictureEdge extends Edge {
  key: string;
  onPath: boolean;
}

export interface Picture {
  nodes: ReadonlyMap<string, PictureNode>;
  edges: ReadonlyMap<string, PictureEdge>;
  labels: Readonly<Record<string, string>>;
  /** What is missing and concerns no node in particular, in words. */
  lacks: readonly string[];
  warnings: readonly string[];
  typeCounts: ReadonlyMap<string, number>;
  predicateCounts: ReadonlyMap<string, number>;
  /** The last step whose next page no later step asked for, and the call for it. */
  next: { step: Step; call: Call } | undefined;
  /** How many steps have a next page that was not asked for. */
  unread: number;
  /** How many answers are not complete. */
  incomplete: number;
  /** Long texts that answers left out of the evidence, by predicate; which edges they are of is not told. */
  omitted: ReadonlyMap<string, number>;
  /** Whether some answer leaves out evidence of its edges, for any reason. */
  lacksEvidence: boolean;
  /** Nodes of which no call asked for all edges: there may be further edges between two of them. */
  outermost: ReadonlySet<string>;
}

const NEW_LINE = "\n";

/** The key of an edge; IDs contain no white space. */
export function edgeKey(edge: Edge): string {
  return [edge.subject, edge.predicate, edge.object].join(NEW_LINE);
}

const HUB_CAUSES = new Set(["hub_not_expanded"]);

/** Return the picture of some steps, with the selected nodes that were described. */
export function pictureOf(
  steps: readonly Step[],
  described: ReadonlyMap<string, Entity> = new Map(),
  selected: readonly string[] = [],
  kept: readonly string[] = [],
): Picture {
  const nodes = new Map<string, PictureNode>();
  const edges = new Map<string, PictureEdge>();
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  const lacks: string[] = [];
  const warnings: string[] = [];
  const seeds = new Set(steps.flatMap(({ call }) => (call.arguments["seeds"] ?? []) as string[]));
  const lacking = new Map<string, Set<string>>();
  const hubs = new Set<string>();
  const onPath = new Set<string>();
  for (const { call, answer } of steps) {
    Object.assign(labels, answer.labels);
    warnings.push(...(answer.warnings ?? []));
    for (const node of [...answer.nodes, ...inRows(call, answer)]) nodes.set(node.id, merged(nodes.get(node.id), node, seeds.has(node.id)));
    for (const edge of answer.edges) {
      const key = edgeKey(edge);
      edges.set(key, { ...edges.get(key), ...edge, key, onPath: false });
    }
    for (const path of answer.nodes.flatMap((node) => node.via ?? [])) {
      for (const key of keysOnPath(path)) {
        onPath.add(key);
        // A path leads over nodes that are no result, and to the seeds.
        const [subject, predicate, object] = key.split(NEW_LINE) as [string, string, string];
        for (const id of [subject, object]) if (!nodes.has(id)) nodes.set(id, merged(undefined, onlyNamed(id, answer), seeds.has(id)));
        if (!edges.has(key)) edges.set(key, { subject, predicate, object, key, onPath: true });
      }
    }
    for (const cause of answer.incomplete ?? []) note(cause, lacking, hubs, lacks);
    lacks.push(...lacksOf(answer));
  }
  for (const record of described.values()) {
    const { id } = record;
    const node = nodes.get(id);
    if (node ? (node.name === id && record.name) || node.type === UNKNOWN : selected.includes(id) || kept.includes(id)) nodes.set(id, merged(node, record, seeds.has(id)));
  }
  for (const [id, reasons] of lacking) {
    const node = nodes.get(id);
    if (node) nodes.set(id, { ...node, lacks: [...reasons], isHub: hubs.has(id) });
  }
  // A hub stands there though no edge of it was asked for.
  for (const id of kept) {
    const node = nodes.get(id) ?? merged(undefined, { id }, seeds.has(id));
    const record = described.get(id);
    nodes.set(id, { ...node, isHub: true, ...(record?.edges ? { edges: edgesOf(record) } : {}) });
  }
  const further = furtherPages(steps);
  // An edge to a node of another page is drawn when that page is there.
  for (const [key, edge] of edges) {
    if (!nodes.has(edge.subject) || !nodes.has(edge.object)) edges.delete(key);
    else if (onPath.has(key)) edges.set(key, { ...edge, onPath: true });
  }
  return {
    nodes,
    edges,
    labels,
    lacks: [...new Set(lacks)],
    warnings: [...new Set(warnings)],
    typeCounts: counted([...nodes.values()].map((node) => node.type)),
    predicateCounts: counted([...edges.values()].map((edge) => edge.predicate)),
    next: further.at(-1),
    unread: further.length,
    incomplete: steps.filter(({ answer }) => !answer.complete).length,
    omitted: omittedBy(steps),
    lacksEvidence: steps.some(({ call, answer }) => !answer.complete || answer.degraded || answer.omitted_texts || call.arguments["topology_only"]),
    outermost: outermostOf(steps, nodes),
  };
}

/** "1 node", "3 nodes". */
export const several = (count: number, noun: string): string => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** What a step of the gateway's size limit left out (docs/errors.md, "degraded"). */
const LEFT_OUT: Readonly<Record<string, (count: number) => string>> = {
  nodes_as_stubs: (count) => `the metadata of ${several(count, "node")}`,
  edges_bare: (count) => `the evidence of ${several(count, "edge")}`,
  quotes_left_out: (count) => `${several(count, "quote")} of the evidence`,
};

/** What else an answer says that it does not show, in words. */
function lacksOf(answer: Subgraph): string[] {
  const lacks: string[] = [];
  if (answer.missing_seeds?.length) lacks.push(`Not in this graph: ${answer.missing_seeds.join(", ")}`);
  if (answer.result_changed) lacks.push("The graph has changed between two pages: undo them and ask again.");
  if (answer.blank_node_edges) lacks.push(`Not drawn: ${several(answer.blank_node_edges, "triple")} with a blank node, which has no ID.`);
  const removed = Object.entries(answer.removed ?? {}).map(([filter, count]) => `${count} by ${filter}`);
  const degraded = Object.entries(answer.degraded ?? {}).map(([step, count]) => LEFT_OUT[step]?.(count) ?? `${step.replaceAll("_", " ")} (${count})`);
  if (degraded.length) lacks.push(`Left out for size: ${degraded.join(", ")}. A node's record has more.`);
  if (removed.length) lacks.push(`Nodes left out: ${removed.join(", ")}`);
  return lacks;
}

function omittedBy(steps: readonly Step[]): Map<string, number> {
  const omitted = new Map<string, number>();
  for (const { answer } of steps) {
    for (const [predicate, count] of Object.entries(answer.omitted_texts ?? {})) omitted.set(predicate, (omitted.get(predicate) ?? 0) + count);
  }
  return omitted;
}

/** Arguments of a traversal that leave out no edge of a node that is expanded. */
const NOT_STEERING: ReadonlySet<string> = new Set(["seeds", "max_hops", "limit", "offset", "edge_offset", "snapshot", "language", "show", "max_tokens", "graph", "predicates", "topology_only", "k", "via"]);

/** The nodes that no traversal expanded in all directions: an edge between two of them is there only where some call asked for it. */
function outermostOf(steps: readonly Step[], nodes: ReadonlyMap<string, PictureNode>): Set<string> {
  const expanded = new Set<string>();
  const pages = new Map<string, { seeds: string[]; hops: number; edges: Edge[] }>();
  // An intersection has all edges among its nodes.
  const sets = new Map<string, Set<string>>();
  for (const { call, answer } of steps) {
    if (!Object.keys(call.arguments).every((name) => NOT_STEERING.has(name))) continue;
    if (call.tool === "intersect_subgraphs") {
      const key = JSON.stringify([call.arguments["seeds"], call.arguments["k"]]);
      sets.set(key, new Set([...(sets.get(key) ?? []), ...answer.nodes.map(({ id }) => id)]));
    }
    if (call.tool !== "bfs_query") continue;
    const { seeds = [], max_hops: hops } = call.arguments as { seeds?: string[]; max_hops?: number };
    // Without the number of hops it is not known what was expanded but for the seeds.
    const key = JSON.stringify([seeds, hops]);
    if (!pages.has(key)) pages.set(key, { seeds, hops: hops ?? 1, edges: [] });
    pages.get(key)!.edges.push(...answer.edges);
  }
  for (const { seeds, hops, edges } of pages.values()) {
    const reached = new Set(seeds.map((seed) => seedIn(nodes, seed)));
    for (let hop = 1; hop < hops; hop += 1) {
      const next = edges.flatMap(({ subject, object }) => (reached.has(subject) ? [object] : reached.has(object) ? [subject] : []));
      for (const id of next) reached.add(id);
    }
    for (const id of reached) expanded.add(id);
  }
  const outermost = new Set([...nodes.keys()].filter((id) => !expanded.has(id)));
  return [...sets.values()].some((set) => [...outermost].every((id) => set.has(id))) ? new Set() : outermost;
}

/** The ID of a seed that is given by its IRI or its name, where one node alone can be meant. */
function seedIn(nodes: ReadonlyMap<string, PictureNode>, seed: string): string {
  if (nodes.has(seed)) return seed;
  const iri = seed.replace(/^<|>$/g, "");
  const meant = [...nodes.values()].filter(({ id, name }) => name === seed || (iri.includes("://") && localName(id) === localName(iri)));
  return meant.length === 1 ? meant[0]!.id : seed;
}

/** What stands for the type of a node that an answer does not tell. */
const UNKNOWN = "unknown";

/** The nodes that stand in rows, with their values, and those at the other ends of their edges; rows tell no types. */
function inRows(call: Call, answer: Subgraph): Node[] {
  if (!answer.rows) return [];
  const columns = answer.columns ?? [];
  const ends = answer.edges.flatMap(({ subject, object }) => [subject, object]);
  const nodes = new Map<string, Node>(ends.map((id) => [id, { id }]));
  // Names alone do not tell which nodes they are of.
  if (call.arguments["show"] !== "name") {
    for (const [first, ...cells] of answer.rows) {
      const [id, name] = idAndName(String(first));
      const values = columns.map((column, place) => [column, cells[place]] as const).filter(([, cell]) => cell !== null);
      nodes.set(id, { id, ...(name === undefined ? {} : { name }), metadata: Object.fromEntries(values) });
    }
  }
  return [...nodes.values()];
}

/** A node of which an answer tells no more than its name, if that. */
function onlyNamed(id: string, { labels = {} }: Subgraph): Node {
  return Object.hasOwn(labels, id) ? { id, name: labels[id]! } : { id };
}

function merged(before: PictureNode | undefined, node: Node, isSeed: boolean): PictureNode {
  const metadata = { ...before?.metadata, ...node.metadata };
  const name = nameOf(node);
  const type = node.entity_type ?? before?.type ?? UNKNOWN;
  return {
    id: node.id,
    name: name === node.id && before ? before.name : name,
    type,
    types: node.types ?? (metadata["types"] as string[] | undefined) ?? [type],
    metadata,
    lacks: before?.lacks ?? [],
    isHub: before?.isHub ?? false,
    isSeed,
  };
}

function note(cause: Incomplete, lacking: Map<string, Set<string>>, hubs: Set<string>, general: string[]): void {
  const text = cause.detail ?? cause.cause;
  for (const id of cause.ids ?? []) {
    if (!lacking.has(id)) lacking.set(id, new Set());
    lacking.get(id)!.add(aboutOne(text, id));
    if (HUB_CAUSES.has(cause.cause)) hubs.add(id);
  }
  if ((cause.count ?? 0) > (cause.ids ?? []).length || !cause.ids?.length) general.push(text);
}

/** What a text that counts the edges of several nodes says of one: "more than 100 edges: A has 141, B has 543". */
function aboutOne(text: string, id: string): string {
  const [cause, each] = text.split(/: (.*)/s);
  const own = each?.split(", ").find((part) => part.startsWith(`${id} has `));
  return own === undefined ? text : `${cause}: it has ${own.slice(`${id} has `.length)}`;
}

/** The edges of a path: node, predicate, node, ..., with `^` before a predicate whose edge leads against the step. */
function keysOnPath(path: readonly string[]): string[] {
  const keys: string[] = [];
  for (let place = 0; place + 2 < path.length; place += 2) {
    const [from, step, to] = [path[place]!, path[place + 1]!, path[place + 2]!];
    const isIncoming = step.startsWith("^");
    keys.push((isIncoming ? [to, step.slice(1), from] : [from, step, to]).join(NEW_LINE));
  }
  return keys;
}

/** The steps whose next page no later step asked for, with the call for it. */
function furtherPages(steps: readonly Step[]): { step: Step; call: Call }[] {
  return steps.flatMap((step, place) => {
    const call = nextPage(step);
    if (!call) return [];
    const asked = identityOf(call);
    return steps.slice(place + 1).some((later) => identityOf(later.call) === asked) ? [] : [{ step, call }];
  });
}

/** What a call asks for; a snapshot only tells what was there when it was first asked. */
function identityOf({ tool, arguments: { snapshot: _, ...given } }: Call): string {
  return JSON.stringify([tool, Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1))]);
}

function nextPage(step: Step): Call | undefined {
  if (step.answer.next_offset === undefined) return undefined;
  const { next_offset: offset, next_edge: edge_offset, snapshot } = step.answer;
  const further = { offset, ...(edge_offset === undefined ? {} : { edge_offset }), ...(snapshot === undefined ? {} : { snapshot }) };
  const { edge_offset: _, ...given } = step.call.arguments;
  return { tool: step.call.tool, arguments: { ...given, ...further } };
}

function counted(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1)));
}

/** Nodes that are named in words. */
const MOST_SAID = 5;

/** What an intersection found, in words. */
export function nearOf({ call, answer }: Step, titleOf: (id: string) => string): string {
  const { k, seeds = [] } = call.arguments as { k?: number; seeds?: string[] };
  const around = `within ${several(k ?? 2, "hop")} of all of them`;
  const ids = answer.nodes.filter((node) => node.metadata?.["on_the_way"] !== true && !(node as { on_the_way?: boolean }).on_the_way).map(({ id }) => id);
  if (!ids.length) return `Nothing ${answer.complete ? "" : "was found "}${around}${answer.complete ? "" : "; not complete: there may be something"}.`;
  const total = Math.max(answer.node_count ?? 0, ids.length);
  const named = ids.slice(0, MOST_SAID).map((id) => titleOf(id) + (seeds.includes(id) ? " (itself selected)" : ""));
  const others = total - named.length;
  return `${several(total, "node")} ${total === 1 ? "is" : "are"} ${around}: ${named.join(", ")}${others > 0 ? `, and ${others.toLocaleString("en")} more` : ""}${answer.complete ? "" : "; not complete: there may be others"}.`;
}
