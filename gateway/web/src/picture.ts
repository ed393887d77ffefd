/** What the canvas shows: the union of the answers to the calls so far. */

import { type Edge, type Entity, type Incomplete, type Json, type Node, type Subgraph, edgesOf, idAndName, nameOf } from "./answers";
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
  };
}

/** "1 node", "3 nodes". */
export const several = (count: number, noun: string): string => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** What a step of the gateway's size limit left out (docs/errors.md, "degraded"). */
const LEFT_OUT: Readonly<Record<string, (count: number) => string>> = {
  nodes_as_stubs: (count) => `the metadata of ${several(count, "node")}`,
  edges_bare: (count) => `the evidence of ${several(count, "edge")}`,
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
