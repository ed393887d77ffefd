/** The address of a view: the calls that made it, what is selected, hidden, removed and opened. */

import { type Asked, readAsked, writeAsked } from "./asked";
import type { Call, ToolName } from "./tools";

export interface Restored {
  calls: Call[];
  selected: string[];
  hiddenTypes: string[];
  hiddenPredicates: string[];
  /** Nodes that somebody took out of the picture. */
  removed: string[];
  /** Piles that are open. */
  opened: string[];
  /** Nodes that stay where somebody put them, with their places. */
  pinned: [string, number, number][];
  /** Hubs that stand in the picture. */
  hubs: string[];
  /** In which texts are read first; empty: in that of the graph. */
  language: string;
  /** Keys of the edges whose evidence is shown. */
  edges: string[];
  /** What a table asks that stands in the place of the picture. */
  table?: Asked | undefined;
  /** How many of its calls this page does not make. */
  refused?: number;
  /** How many of its hubs this page does not draw. */
  hubsRefused?: number;
}

/** More are not restored: an address comes from anywhere, and each call costs the endpoint. */
export const MOST_CALLS = 50;
/** A hub costs the reading of a name. */
export const MOST_HUBS = 50;
const LONGEST_HASH = 100_000;
/** A tag of a language, as the tools take it. */
const LANGUAGE = /^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,7}$/;
const TOOLS: ReadonlySet<string> = new Set<ToolName>(["bfs_query", "intersect_subgraphs"]);

/** Return the address of a view; undefined if it could not be read again as it is. */
export function writeView(view: Restored): string | undefined {
  if (!view.calls.length && !view.selected.length && !view.table && !view.hubs.length && !view.language) return "#";
  const { calls, selected, hiddenTypes, hiddenPredicates, removed, opened, pinned, table, hubs, language, edges } = view;
  const further = [table ? writeAsked(table) : null, hubs.length ? hubs : null, language || null, edges.length ? edges : null];
  while (further.length && further.at(-1) === null) further.pop();
  const parts = [calls.map((call) => [call.tool, call.arguments]), selected, hiddenTypes, hiddenPredicates, removed, opened, pinned, ...further];
  const text = encodeURIComponent(JSON.stringify(parts));
  return text.length > LONGEST_HASH || calls.length > MOST_CALLS || hubs.length > MOST_HUBS ? undefined : `#${text}`;
}

/** Return the view of an address; undefined if it tells none that can be shown. */
export function readView(hash: string): Restored | undefined {
  const text = hash.replace(/^#/, "");
  if (text === "" || text.length > LONGEST_HASH) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(decodeURIComponent(text));
  } catch {
    return undefined;
  }
  if (!Array.isArray(read)) return undefined;
  const [calls, selected, hiddenTypes, hiddenPredicates, removed, opened, pinned, asked, hubs, language, edges] = read as unknown[];
  if (!Array.isArray(calls)) return undefined;
  const table = readAsked(asked);
  const kept = calls.filter(isCall).slice(0, MOST_CALLS);
  const drawn = texts(hubs).slice(0, MOST_HUBS);
  const hubsRefused = Array.isArray(hubs) ? hubs.length - drawn.length : 0;
  return {
    ...(kept.length < calls.length ? { refused: calls.length - kept.length } : {}),
    ...(hubsRefused ? { hubsRefused } : {}),
    calls: kept.map(([tool, given]) => ({ tool, arguments: given })),
    selected: texts(selected),
    hiddenTypes: texts(hiddenTypes),
    hiddenPredicates: texts(hiddenPredicates),
    removed: texts(removed),
    opened: texts(opened),
    hubs: drawn,
    language: typeof language === "string" && LANGUAGE.test(language) ? language : "",
    edges: texts(edges),
    pinned: Array.isArray(pinned) ? pinned.filter(isPlace) : [],
    ...(table ? { table } : {}),
  };
}

function isCall(value: unknown): value is [ToolName, Call["arguments"]] {
  return (
    Array.isArray(value) && TOOLS.has(String(value[0])) && typeof value[1] === "object" && value[1] !== null && !Array.isArray(value[1])
  );
}

function isPlace(value: unknown): value is [string, number, number] {
  return Array.isArray(value) && value.length === 3 && typeof value[0] === "string" && Number.isFinite(value[1]) && Number.isFinite(value[2]);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
