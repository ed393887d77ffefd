/** Colours of types, and of light and dark. */

/** Okabe and Ito's colours and others beside them, which people with colour blindness can tell apart. */
const PALETTE = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#b8860b",
  "#56b4e9",
  "#7a5195",
  "#8c564b",
  "#2f9e9e",
  "#999999",
] as const;

/** What is no type: the gateway says these words. */
const NO_TYPES: ReadonlySet<string> = new Set(["untyped", "unknown"]);
export const NO_TYPE_COLOR = "#6f7782";

const given = new Map<string, string>();

/** The colour of a type: in the order in which types are first seen, so that it stays. */
export function colorOf(type: string): string {
  if (NO_TYPES.has(type)) return NO_TYPE_COLOR;
  const color = given.get(type) ?? PALETTE[Math.min(given.size, PALETTE.length - 1)]!;
  given.set(type, color);
  return color;
}

export interface Theme {
  back: string;
  text: string;
  edge: string;
  strongEdge: string;
  path: string;
  warning: string;
}

export const LIGHT: Theme = { back: "#ffffff", text: "#1b1f24", edge: "#8c949e", strongEdge: "#4f5761", path: "#b3261e", warning: "#b3261e" };
export const DARK: Theme = { back: "#14171a", text: "#e8eaed", edge: "#6a727c", strongEdge: "#b4bcc6", path: "#ff8a80", warning: "#ff8a80" };
