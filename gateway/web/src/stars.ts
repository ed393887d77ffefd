/** Neighbours around a centre stand in sectors by relation; many of one relation are a pile. */

import { comparePlaces, placesOf } from "./evidence";
import type { PictureNode } from "./picture";
import type { Point } from "./placement";
import type { Shown } from "./shown";

export interface Relation {
  predicate: string;
  isIncoming: boolean;
}

export interface Sector {
  /** The key of its pile too. */
  key: string;
  /** The relations of each of its neighbours to the centre: nearly always one. */
  relations: readonly Relation[];
  /** All neighbours by these relations, those in the pile included. */
  count: number;
  /** Who stands in it. */
  members: string[];
  /** Who is in its pile. */
  folded: string[];
  /** Where its middle is, seen from the centre. */
  angle: number;
}

export interface Star {
  center: string;
  /** How far its innermost members are from the centre. */
  inner: number;
  /** How far its outermost members are from the centre. */
  radius: number;
  /** Where members and piles stand, seen from the centre. */
  offsets: ReadonlyMap<string, Point>;
  sectors: readonly Sector[];
}

/** Neighbours from which a node is a centre. */
const LEAST_MEMBERS = 6;

/** Of more by one relation the rest is a pile. */
export const MOST_OF_ONE = 12;

/** A picture of more nodes has no sectors. */
export const MOST_NODES = 600;

/** Between two members on one ring. */
const APART = 46;
const LEAST_RADIUS = 120;
const RING = 62;

/** What is in no list stands behind what is in one. */
const LAST = [Number.MAX_SAFE_INTEGER];

interface Link extends Relation {
  other: string;
  /** Where it is in a list, first. */
  place?: readonly number[];
}

/** The first place of each neighbour in lists of the centre. */
function placesIn(links: readonly Link[]): Map<string, readonly number[]> {
  const places = new Map<string, readonly number[]>();
  for (const { other, place } of links) {
    const before = places.get(other);
    if (place && (!before || comparePlaces(place, before) < 0)) places.set(other, place);
  }
  return places;
}

/** Return the stars of what is shown. `opened`: piles that are open; `kept`: nodes that are in no pile. */
export function starsOf(shown: Shown, opened: ReadonlySet<string>, kept: ReadonlySet<string>): Star[] {
  // Piles make a picture small that is not.
  if (shown.nodes.size > MOST_NODES) return [];
  const links = linksOf(shown);
  const others = new Map([...links].map(([id, of]) => [id, new Set(of.map(({ other }) => other))]));
  const leaves = (id: string): number => [...others.get(id)!].filter((other) => others.get(other)!.size === 1).length;
  const isCenter = (node: PictureNode): boolean =>
    others.get(node.id)!.size >= LEAST_MEMBERS && (node.isSeed || leaves(node.id) >= LEAST_MEMBERS);
  const centers = new Set([...shown.nodes.values()].filter(isCenter).map(({ id }) => id));
  const stars: Star[] = [];
  for (const center of centers) {
    const members = [...others.get(center)!].filter((id) => !centers.has(id) && [...others.get(id)!].filter((other) => centers.has(other)).length === 1);
    if (members.length >= LEAST_MEMBERS) stars.push(starOf(center, members, links.get(center)!, placesIn(links.get(center)!), (id) => others.get(id)!.size === 1 && !kept.has(id) && isWhole(shown.nodes.get(id)!), opened));
  }
  return stars;
}

/** What lacks edges is seen to: it stands in no pile. */
function isWhole({ lacks, isHub }: PictureNode): boolean {
  return !lacks.length && !isHub;
}

/** The key of a sector; IDs contain no white space. */
function sectorKey(center: string, relations: readonly Relation[]): string {
  return `${center}\n${relations.map(({ predicate, isIncoming }) => `${isIncoming ? "^" : ""}${predicate}`).join(" ")}`;
}

function starOf(center: string, members: readonly string[], links: readonly Link[], places: ReadonlyMap<string, readonly number[]>, canFold: (id: string) => boolean, opened: ReadonlySet<string>): Star {
  const relationsOf = new Map<string, Map<string, Relation>>(members.map((id) => [id, new Map()]));
  for (const { other, predicate, isIncoming } of links) relationsOf.get(other)?.set(sectorKey("", [{ predicate, isIncoming }]), { predicate, isIncoming });
  const sectors = new Map<string, Sector>();
  for (const [id, by] of relationsOf) {
    const relations = [...by].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, relation]) => relation);
    const key = sectorKey(center, relations);
    if (!sectors.has(key)) sectors.set(key, { key, relations, count: 0, members: [], folded: [], angle: 0 });
    sectors.get(key)!.members.push(id);
  }
  // Members of a list stand in its order, the first of which a pile leaves out last.
  for (const { members: seated } of sectors.values()) {
    if (seated.some((id) => places.has(id))) seated.sort((one, other) => comparePlaces(places.get(one) ?? LAST, places.get(other) ?? LAST));
  }
  const ordered = [...sectors.values()].sort((one, other) => other.members.length - one.members.length || (one.key < other.key ? -1 : 1));
  return seatedIn(center, ordered.map((sector) => folded(sector, canFold, opened)));
}

function folded(sector: Sector, canFold: (id: string) => boolean, opened: ReadonlySet<string>): Sector {
  const { key, members } = sector;
  const count = members.length;
  const away = count > MOST_OF_ONE && !opened.has(key) ? members.filter(canFold).slice(-(count - MOST_OF_ONE)) : [];
  // A pile of one takes as much room as the one.
  if (away.length < 2) return { ...sector, count };
  const gone = new Set(away);
  return { ...sector, count, members: members.filter((id) => !gone.has(id)), folded: away };
}

function seatedIn(center: string, sectors: readonly Sector[]): Star {
  const seats = sectors.map((sector) => [...sector.members, ...(sector.folded.length ? [sector.key] : [])]);
  const total = seats.reduce((sum, each) => sum + each.length, 0);
  const rings = total <= 12 ? 1 : total <= 28 ? 2 : total <= 60 ? 3 : Math.ceil(total / 20);
  const gap = sectors.length > 1 ? 0.9 : 0;
  const turn = (2 * Math.PI) / (total + gap * sectors.length);
  const inner = Math.max(LEAST_RADIUS, ((total + gap * sectors.length) * APART) / (2 * Math.PI * rings));
  const offsets = new Map<string, Point>();
  let [angle, number] = [-Math.PI / 2, 0];
  const placed = sectors.map((sector, place) => {
    const begins = angle;
    for (const id of seats[place]!) {
      const radius = inner + RING * (number % rings);
      const at = angle + turn / 2;
      offsets.set(id, { x: radius * Math.cos(at), y: radius * Math.sin(at) });
      angle += turn;
      number += 1;
    }
    const middle = (begins + angle) / 2;
    angle += gap * turn;
    return { ...sector, angle: middle };
  });
  return { center, inner, radius: inner + RING * (rings - 1), offsets, sectors: placed };
}

function linksOf({ nodes, edges }: Shown): Map<string, Link[]> {
  const links = new Map<string, Link[]>([...nodes.keys()].map((id) => [id, []]));
  for (const edge of edges.values()) {
    const { subject, predicate, object } = edge;
    if (subject === object) continue;
    const [place] = placesOf(edge).sort(comparePlaces);
    links.get(subject)!.push({ other: object, predicate, isIncoming: false, ...(place ? { place } : {}) });
    links.get(object)!.push({ other: subject, predicate, isIncoming: true });
  }
  return links;
}
