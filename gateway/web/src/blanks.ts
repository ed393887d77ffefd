/** Blank nodes: what they are called, and what they hold is folded into them. */

import type { Json } from "./answers";
import { plain, spoken } from "./names";
import type { PictureNode } from "./picture";
import type { Shown } from "./shown";

/** Values in the name of a blank node, and characters of it. */
const MOST_VALUES = 2;
const LONGEST = 60;

/** Keys of a blank node's content that the gateway has for itself. */
const OWN_KEYS: ReadonlySet<string> = new Set(["_", "beyond", "more", "types", "name", "rdf:type", "other_languages", "unknown", "no_value", "evidence"]);

export const isBlank = (id: string): boolean => id.startsWith("_:");

/** Return what a node is called: a blank node without a name by what it says, else by its type. */
export function titleOf({ id, name, type, metadata }: Pick<PictureNode, "id" | "name" | "type" | "metadata">, labels: Readonly<Record<string, string>>): string {
  if (name !== id) return plain(name);
  if (!isBlank(id)) return plain(spoken(id));
  return contentOf(metadata) || spoken(type, labels).replace(/^\((.*)\)$/, "$1") || id;
}

/** Return the first values that a blank node says of itself. `named`: what an ID is called. */
export function contentOf(said: Json, named = (text: string): string => text): string {
  const values = Object.entries(said).filter(([key]) => !OWN_KEYS.has(key)).flatMap(([, value]) => (Array.isArray(value) ? value : [value]));
  const texts = values.filter((value) => ["string", "number", "boolean"].includes(typeof value)).slice(0, MOST_VALUES).map((value) => plain(named(String(value)).slice(0, 4 * LONGEST)));
  const text = texts.filter(Boolean).join(", ");
  return text.length > LONGEST ? `${[...text].slice(0, LONGEST).join("")}…` : text;
}

/** What is drawn of what is shown, and how many nodes each blank node holds: folded into it, or beside it. */
export interface Folded {
  shown: Shown;
  held: ReadonlyMap<string, number>;
}

/**
 * Fold into blank nodes what they alone lead to.
 *
 * `opened`: blank nodes that are not folded; `kept`: nodes that are not folded into others.
 */
export function foldedIn(shown: Shown, opened: ReadonlySet<string>, kept: ReadonlySet<string>): Folded {
  const held = new Map<string, number>();
  const blanks = [...shown.nodes.keys()].filter(isBlank);
  if (!blanks.length) return { shown, held };
  const [leads, beside] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  const onPath = new Set<string>();
  const add = (to: Map<string, Set<string>>, id: string, other: string): void => void (to.get(id) ?? to.set(id, new Set()).get(id)!).add(other);
  for (const { subject, object, onPath: isOnPath } of shown.edges.values()) {
    if (isOnPath) onPath.add(subject).add(object);
    if (subject === object) continue;
    add(leads, subject, object);
    add(beside, subject, object);
    add(beside, object, subject);
  }
  const canFold = (id: string): boolean => {
    const { lacks, isHub, isSeed } = shown.nodes.get(id)!;
    return !kept.has(id) && !onPath.has(id) && !lacks.length && !isHub && !isSeed;
  };
  /** What one node alone leads to: others that have no neighbour but it, and blank nodes all of whose other neighbours are theirs alone. */
  const ofOne = (id: string, way: ReadonlySet<string>): string[] =>
    [...(leads.get(id) ?? [])].flatMap((other) => {
      if (way.has(other) || !canFold(other)) return [];
      if (beside.get(other)!.size === 1) return [other];
      if (!isBlank(other)) return [];
      const own = ofOne(other, new Set([...way, other]));
      return [...beside.get(other)!].every((each) => each === id || own.includes(each)) ? [other, ...own] : [];
    });
  const away = new Set<string>();
  for (const id of blanks) {
    const own = ofOne(id, new Set([id]));
    if (!own.length) continue;
    held.set(id, own.length);
    if (!opened.has(id)) for (const other of own) away.add(other);
  }
  if (!away.size) return { shown, held };
  const nodes = new Map([...shown.nodes].filter(([id]) => !away.has(id)));
  const edges = new Map([...shown.edges].filter(([, { subject, object }]) => nodes.has(subject) && nodes.has(object)));
  return { shown: { nodes, edges }, held };
}
