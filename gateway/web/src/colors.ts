/** Colours of types, and of light and dark. */

/** Colours that remain apart for people with each kind of colour blindness, on white and on black. */
export const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#bdabf4", "#56d00d", "#894c41", "#9871f3", "#efa2ad", "#c580c1", "#7805f0"] as const;

/** What is no type: the gateway says these words. */
const NO_TYPES: ReadonlySet<string> = new Set(["untyped", "unknown"]);
export const NO_TYPE_COLOR = "#6f7782";

/** How nodes of a type are drawn: a disc or a ring of a colour. */
export interface Mark {
  color: string;
  isRing: boolean;
}

const NO_TYPE: Mark = { color: NO_TYPE_COLOR, isRing: false };
const PLACES = 2 * PALETTE.length;

/**
 * Return the marks of types: the same in every session over a graph, whatever is seen first.
 *
 * Twenty differ. A type has the place that follows from its ID, or the next that is free; `known`, those of the schema, choose first.
 */
export function marksOf(known: readonly string[], others: Iterable<string>): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  const taken = new Set<number>();
  const further = [...others].filter((type) => !known.includes(type)).sort();
  for (const type of [...known, ...further]) {
    if (NO_TYPES.has(type) || marks.has(type)) continue;
    let place = hash(type) % PLACES;
    // Discs first: they are easier to see.
    if (taken.size < PALETTE.length) place %= PALETTE.length;
    const circle = taken.size < PALETTE.length ? PALETTE.length : PLACES;
    for (let tries = 0; tries < circle && taken.has(place); tries += 1) place = (place + 1) % circle;
    taken.add(place);
    marks.set(type, { color: PALETTE[place % PALETTE.length]!, isRing: place >= PALETTE.length });
  }
  return marks;
}

export function markOf(marks: ReadonlyMap<string, Mark>, type: string): Mark {
  return marks.get(type) ?? NO_TYPE;
}

/** A number that follows from a text. */
export function hash(text: string): number {
  let value = 2166136261;
  for (let place = 0; place < text.length; place += 1) value = Math.imul(value ^ text.charCodeAt(place), 16777619) >>> 0;
  return value;
}

export interface Theme {
  back: string;
  text: string;
  edge: string;
  faintEdge: string;
  strongEdge: string;
  path: string;
  warning: string;
}

export const LIGHT: Theme = { back: "#ffffff", text: "#1b1f24", edge: "#8c949e", faintEdge: "#d5d9de", strongEdge: "#4f5761", path: "#0b57d0", warning: "#b3261e" };
export const DARK: Theme = { back: "#14171a", text: "#e8eaed", edge: "#6a727c", faintEdge: "#343a41", strongEdge: "#b4bcc6", path: "#7cacf8", warning: "#ff8a80" };
