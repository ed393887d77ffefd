/** What a table asks about a set of nodes: its columns, conditions, order and groups (docs/values.md). */

import type { Json } from "./answers";
import type { Call, ToolName } from "./tools";

export interface Asked {
  /** Which nodes it is about: a call without what a table asks. */
  tool: ToolName;
  of: Json;
  values: readonly string[];
  where: readonly string[];
  sort?: string;
  group?: string;
}

/** Rows that one call asks for; the gateway sends fewer where they are long. */
export const ROWS_ASKED = 100;

/** Hits that one search by name asks for. */
export const HITS_ASKED = 12;

const OF_TABLES: ReadonlySet<string> = new Set(["values", "where", "sort_by", "group_by", "compute", "edges", "show", "via", "limit", "offset", "edge_offset", "snapshot", "topology_only"]);

/** Ask about all nodes of a type. */
export function ofType(type: string): Asked {
  return { tool: "search_entities", of: { node_types: [type] }, values: [], where: [] };
}

/** Ask about the nodes that a call found. */
export function ofCall({ tool, arguments: given }: Call): Asked {
  const where = Array.isArray(given["where"]) ? given["where"].map(String) : [];
  return { tool, of: Object.fromEntries(Object.entries(given).filter(([name]) => !OF_TABLES.has(name))), values: [], where };
}

/** Return the call for the rows, or the groups, behind so many. */
export function callFor({ tool, of, values, where, sort, group }: Asked, offset = 0): Call {
  const rows = { ...(values.length ? { values: [...values] } : group === undefined ? { values: ["type"] } : {}), ...(sort === undefined ? {} : { sort_by: sort }) };
  return {
    tool,
    arguments: {
      ...of,
      ...(where.length ? { where: [...where] } : {}),
      ...(group === undefined ? rows : { group_by: group }),
      ...(tool === "search_entities" ? {} : { edges: false }),
      limit: ROWS_ASKED,
      ...(offset ? { offset } : {}),
    },
  };
}

/** Return how a predicate, `^` before it where its edges come in, is written as a walk. */
export function walkOf(predicate: string): string {
  const [mark, id] = predicate.startsWith("^") ? ["^", predicate.slice(1)] : ["", predicate];
  return mark + (id.includes("/") && !id.startsWith("<") ? `<${id}>` : id);
}

/** Return the predicate of a walk of one step, as IDs are written. */
export function predicateOf(walk: string): string {
  return walk.replace(/^(\^?)<(.*)>$/, "$1$2");
}

export const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "contains", "starts", "exists", "missing"] as const;
export type Operator = (typeof OPERATORS)[number];

/** Return a condition; a text stands in quotes, so that nothing in it is an operator. */
export function condition(walk: string, operator: Operator, value: string): string {
  if (!wantsValue(operator)) return `${walk} ${operator}`;
  const text = value.trim();
  if (/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text) || /^-?\d{4,}-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?)?$/.test(text)) return `${walk} ${operator} ${text}`;
  const quote = ['"', "'"].find((mark) => !text.includes(mark)) ?? "";
  return `${walk} ${operator} ${quote}${text}${quote}`;
}

export const wantsValue = (operator: Operator): boolean => operator !== "exists" && operator !== "missing";

/** The order behind another: ascending, descending, none. */
export function nextSort(walk: string, sort: string | undefined): string | undefined {
  if (sort === walk) return `-${walk}`;
  return sort === `-${walk}` ? undefined : walk;
}

/** Return what an address says a table asks; undefined where it says nothing that a table would. */
export function readAsked(value: unknown): Asked | undefined {
  if (!Array.isArray(value)) return undefined;
  const [tool, of, values, where, sort, group] = value as unknown[];
  if (tool !== "search_entities" && tool !== "bfs_query" && tool !== "intersect_subgraphs") return undefined;
  if (typeof of !== "object" || of === null || Array.isArray(of)) return undefined;
  return {
    tool,
    of: of as Json,
    values: texts(values),
    where: texts(where),
    ...(typeof sort === "string" ? { sort } : {}),
    ...(typeof group === "string" ? { group } : {}),
  };
}

/** Return what an address keeps of a table. */
export function writeAsked({ tool, of, values, where, sort, group }: Asked): unknown[] {
  return [tool, of, values, where, sort ?? null, group ?? null];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
