/** What is said of an edge: how class expressions say it, its place in a list, who denies it. */

import type { Edge, Json } from "./answers";

/** How an edge holds, in a few words, but for its denial: how class expressions say it, and the place in a list. */
export function qualifierOf({ metadata }: Edge): string {
  const ways = assertionsOf(metadata).map((each) => [wayOf(each), ...listed(each["position"]).map((place) => `no. ${String(place)}`)].filter(Boolean).join(", "));
  const said = [...new Set(ways)].filter(Boolean);
  return [...said.slice(0, MOST_QUALIFIERS), ...(said.length > MOST_QUALIFIERS ? ["…"] : [])].join("; ");
}

const MOST_QUALIFIERS = 3;

/** Return whether sources deny an edge, and how class expressions say it, as the gateway's `how_said` does. */
export function howSaid(metadata: Json | undefined): string {
  const ways = [...new Set(assertionsOf(metadata).map(wayOf))].filter(Boolean);
  return [denialOf(metadata), ways.length ? `(${ways.join("; ")})` : ""].filter(Boolean).join(" ");
}

/** Whether all sources deny an edge, or how many of them do; empty where none does. */
export function denialOf(metadata: Json | undefined): string {
  const assertions = assertionsOf(metadata);
  const denying = assertions.filter((each) => "negated" in each).length;
  if (isDenied(metadata)) return "DENIED";
  return denying ? `DENIED by ${denying} of ${assertions.length}` : "";
}

/** Whether nothing but a denial is said of an edge. */
export function isDenied(metadata: Json | undefined): boolean {
  return "negated" in (metadata ?? {}) || assertionsOf(metadata).every((each) => "negated" in each);
}

export function assertionsOf(metadata: Json | undefined): Json[] {
  const { assertions = [] } = (metadata ?? {}) as { assertions?: Json[] };
  return assertions.length ? assertions : [metadata ?? {}];
}

function wayOf({ restriction, closed, ["one of"]: number }: Json): string {
  return [...listed(restriction).map(String), closed === true ? "closed" : "", number ? `one of ${String(number)}` : ""].filter(Boolean).join(", ");
}

function listed(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** What the words of an assertion mean (docs/contract.md, "Class expressions" and "Blank nodes and lists"). */
const QUANTIFIERS: readonly (readonly [RegExp, (number: string) => string])[] = [
  [/^some$/, () => "at least one such"],
  [/^only$/, () => "no others; whether there is one is left open"],
  [/^value$/, () => "this one"],
  [/^min (\d+)$/, (number) => `${number} such or more`],
  [/^max (\d+)$/, (number) => `${number} such at most; whether there is one is left open`],
  [/^exactly (\d+)$/, (number) => `${number} such, no more and no fewer`],
  [/^min (\d+) of all$/, (number) => `${number} or more in all, not of this alone`],
  [/^max (\d+) of all$/, (number) => `${number} at most in all, not of this alone`],
  [/^exactly (\d+) of all$/, (number) => `${number} in all, not of this alone`],
];

/** A row of what is said: the key that the gateway has for it, its title, and what it says, with what that means. */
export interface Said {
  key: string;
  title: string;
  value: unknown;
  meaning?: string;
}

/** Return what an assertion says, in rows: how the edge holds first, under words for people. */
export function saidIn(assertion: Json, spoken: (key: string) => string): Said[] {
  const { restriction, closed, ["one of"]: number, of, stated, position, negated, ...others } = assertion;
  const rows: Said[] = [];
  const add = (key: string, title: string, value: unknown, meaning = ""): void => {
    rows.push({ key, title, value, ...(meaning ? { meaning } : {}) });
  };
  if (negated !== undefined) add("negated", "denied", negated === true ? "yes" : negated, "its source says that this is not so");
  for (const each of listed(restriction)) add("restriction", "quantifier", each, meaningOf(String(each)));
  // A graph may have predicates of the same names: what is not as the gateway writes it is shown as it is.
  if (closed !== undefined) add("closed", "closed", closed === true ? "yes" : closed, closed === true ? "by this relation there are no others" : "");
  if (number !== undefined) add("one of", "one of", number, typeof number === "number" ? "alternatives; which of them holds is left open" : "");
  if (of !== undefined) add("of", "of", of, of === "equivalentClass" ? "part of a definition" : "");
  if (stated !== undefined) add("stated", "stated", stated === true ? "yes" : stated, stated === true ? "the graph says this itself too, or it is certain otherwise" : "");
  if (position !== undefined) add("position", "position", listed(position).map(String).join(", "));
  for (const [key, value] of Object.entries(others)) add(key, spoken(key), value);
  return rows;
}

function meaningOf(restriction: string): string {
  for (const [words, meaning] of QUANTIFIERS) {
    const found = words.exec(restriction);
    if (found) return meaning(found[1] ?? "");
  }
  return "";
}

/** The places of an edge in lists, each as the numbers of a path into them; empty where it is in none. */
export function placesOf({ metadata }: Edge): number[][] {
  const said = assertionsOf(metadata).flatMap(({ position }) => listed(position).map((place) => String(place)));
  return said.filter((place) => /^\d+(\.\d+)*$/.test(place)).map((place) => place.split(".").map(Number));
}

/** Order two places in lists. */
export function comparePlaces(one: readonly number[], other: readonly number[]): number {
  for (const [place, number] of one.entries()) {
    const difference = number - (other[place] ?? -1);
    if (difference) return difference;
  }
  return one.length - other.length;
}
