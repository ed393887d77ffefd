/** The answers of the six tools in the reference shape, as far as the page reads them (docs/tools.md). */

export type Json = Record<string, unknown>;

export interface Node {
  id: string;
  /** Absent where the answer does not tell it. */
  entity_type?: string;
  name?: string;
  types?: string[];
  via?: string[][];
  metadata?: Json;
}

export interface Edge {
  subject: string;
  predicate: string;
  object: string;
  metadata?: Json;
}

export interface Incomplete {
  cause: string;
  count?: number;
  ids?: string[];
  detail?: string;
}

export interface Subgraph {
  nodes: Node[];
  edges: Edge[];
  node_count: number;
  edge_count: number;
  complete: boolean;
  incomplete?: Incomplete[];
  warnings?: string[];
  missing_seeds?: string[];
  blank_node_edges?: number;
  removed?: Record<string, number>;
  degraded?: Record<string, number>;
  /** Long texts that were left out of the evidence, by predicate. */
  omitted_texts?: Record<string, number>;
  labels?: Record<string, string>;
  /** What the cells of rows are, behind what stands for a node. */
  columns?: string[];
  rows?: unknown[][];
  next_offset?: number;
  next_edge?: number;
  snapshot?: string;
  result_changed?: boolean;
}

/** The count of a relation's edges (or "at least n"), and some nodes at their other ends. */
export type Relation = [number | string, ...string[]];

export interface Entity extends Json {
  id: string;
  entity_type: string;
  /** A blank node has none. */
  iri?: string;
  name?: string;
  edges?: Record<string, Relation>;
  edge_rows_total?: number;
  edges_failed?: string;
  complete: boolean;
  labels?: Record<string, string>;
}

export interface Hit {
  id: string;
  entity_type: string;
  name?: string;
  match?: string;
  /** How many edges it has; `>=1000`: at least. */
  edges?: number | string;
  matched?: string;
  description?: string;
}

export interface Hits {
  result: Hit[];
  guesses?: Hit[];
  /** What no name fits, but whose name means nearly the same. */
  by_meaning?: Hit[];
  complete: boolean;
  found?: number | string;
  next_offset?: number;
  /** What stands for each entity, where conditions were given. */
  rows?: unknown[][];
  next_steps?: string;
  warnings?: string[];
}

export interface Schema {
  graph_description?: string;
  comprehensive: boolean;
  complete: boolean;
  entity_types: string[];
  predicates: string[];
  entity_types_total?: number;
  predicates_total?: number;
  counts: Record<string, number>;
  warnings?: string[];
  labels?: Record<string, string>;
}

/** The name of a node; its ID where it has none. */
export function nameOf(node: Node): string {
  const name = node.name ?? node.metadata?.["name"];
  return typeof name === "string" && name !== "" ? name : node.id;
}

/** The ID with which a text of an answer begins, and the name behind it. */
export function idAndName(text: string): [string, string | undefined] {
  const blank = text.indexOf(" ");
  return blank < 0 ? [text, undefined] : [text.slice(0, blank), text.slice(blank + 1)];
}

/** How many edges a record counts, at least. */
export function edgesOf(entity: Entity | undefined): number {
  return Object.values(entity?.edges ?? {})
    .map(([count]) => (typeof count === "number" ? count : Number(/\d[\d,]*/.exec(count)?.[0].replaceAll(",", "") ?? 0)))
    .reduce((sum, count) => sum + count, 0);
}
