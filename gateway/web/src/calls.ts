/** A call, written so that a model, a Python program or a shell can make it again. */

import type { Json } from "./answers";
import type { Call } from "./tools";

export type Reader = "model" | "python" | "command line";

const COMMANDS = {
  describe_schema: "schema",
  search_entities: "search",
  bfs_query: "bfs",
  describe_entity: "describe",
  describe_entities: "describe",
  intersect_subgraphs: "intersect",
} as const;

/** The arguments that a command takes without an option in front. */
const POSITIONAL = new Set(["seeds", "query", "id", "ids"]);

/** The arguments that are true unless a command is told otherwise. */
const SWITCHED_OFF = new Set(["edges", "via"]);

const OPTIONS: Record<string, string> = { max_hops: "hops" };

/** `graph`: the options that select the graph, as a shell reads them. */
export function written(call: Call, reader: Reader, graph = ""): string {
  if (reader === "model") return `${call.tool} ${JSON.stringify(call.arguments)}`;
  if (reader === "python") return `await graph.${call.tool}(${pythonArguments(call.arguments)})`;
  return ["bfsql-gateway", COMMANDS[call.tool], ...words(call.arguments), ...(graph ? [graph] : [])].join(" ");
}

/** What a call does, for the person who waits for it. */
export function saying({ tool, arguments: given }: Call, nameOf: (id: string) => string): string {
  const ids = (given["seeds"] ?? (given["id"] === undefined ? [] : [given["id"]])) as string[];
  const who = ids.slice(0, 3).map(nameOf).join(", ") + (ids.length > 3 ? " and others" : "");
  if (tool === "search_entities") return `Searching for ${String(given["query"])}`;
  if (tool === "intersect_subgraphs") return `Looking within ${String(given["k"])} hops of ${who}`;
  return tool === "bfs_query" ? `Reading what is around ${who}` : `Reading ${who}`;
}

function pythonArguments(given: Json): string {
  return Object.entries(given)
    .map(([name, value]) => `${name}=${python(value)}`)
    .join(", ");
}

function python(value: unknown): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  // Python reads the escapes of JSON.
  return JSON.stringify(value);
}

function words(given: Json): string[] {
  const first = Object.entries(given).filter(([name]) => POSITIONAL.has(name));
  const others = Object.entries(given).filter(([name]) => !POSITIONAL.has(name));
  return [
    ...first.flatMap(([, value]) => (Array.isArray(value) ? value : [value]).map((each) => quoted(String(each)))),
    ...others.flatMap(([name, value]) => {
      // An option that is given once for each entry of a list is in the singular.
      const named = OPTIONS[name] ?? (Array.isArray(value) ? name.replace(/s$/, "") : name);
      const option = `--${named.replaceAll("_", "-")}`;
      if (value === true) return [option];
      if (value === false) return SWITCHED_OFF.has(name) ? [`--no-${named}`] : [];
      const values = Array.isArray(value) && !value.some(Array.isArray) ? value : [value];
      return values.map((each) => `${option} ${quoted(typeof each === "object" ? JSON.stringify(each) : String(each))}`);
    }),
  ];
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
