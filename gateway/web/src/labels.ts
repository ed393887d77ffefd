/** Where labels stand: none over another, over a node or outside the frame. */

import RBush from "rbush";
import type { Point } from "./placement";

export interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** A text that wants a place; those first in a list are placed first. */
export interface Wanted {
  key: string;
  lines: readonly string[];
  width: number;
  height: number;
  /** Centres of the boxes that it can have, the best first. */
  spots: readonly Point[];
  /** Whether it stands over nodes, where nothing else is free, rather than not at all. */
  isNeeded: boolean;
}

export interface Placed {
  key: string;
  lines: readonly string[];
  x: number;
  y: number;
  box: Box;
}

/** Between two labels. */
const GAP = 2;

/** Return where labels stand; those that find no place are left out. */
export function placedLabels(wanted: readonly Wanted[], nodes: readonly Box[], frame: Box): Placed[] {
  const discs = new RBush<Box>().load([...nodes]);
  const taken = new RBush<Box>();
  const placed: Placed[] = [];
  for (const each of wanted) {
    const boxes = each.spots.map((spot) => [spot, boxAt(spot, each)] as const).filter(([, box]) => isInside(box, frame));
    const free = boxes.filter(([, box]) => !taken.collides(box));
    const found = free.find(([, box]) => !discs.collides(box)) ?? (each.isNeeded ? free[0] : undefined);
    if (!found) continue;
    const [{ x, y }, box] = found;
    taken.insert(box);
    placed.push({ key: each.key, lines: each.lines, x, y, box });
  }
  return placed;
}

/** Where the label of a node can stand: around it, and for a needed one further away too. */
export function spotsAround(center: Point, radius: number, width: number, height: number, isNeeded: boolean): Point[] {
  const spots: Point[] = [];
  for (const away of isNeeded ? [3, 14, 30, 50, 75, 105] : [3]) {
    const [across, down] = [radius + away + width / 2 + 2, radius + away + height / 2];
    const [slantX, slantY] = [(radius + away) * 0.85 + width / 2, (radius + away) * 0.85 + height / 2];
    for (const [x, y] of [[0, down], [0, -down], [across, 0], [-across, 0], [slantX, slantY], [-slantX, slantY], [slantX, -slantY], [-slantX, -slantY]] as const) {
      spots.push({ x: center.x + x, y: center.y + y });
    }
  }
  return spots;
}

/** How much wider than others a line may be that is one word. */
const LONG_WORD = 1.4;

/** Where the first word ends, if it is not much too wide. */
function wordEnd(rest: readonly string[], length: number, widest: number, widthOf: (text: string) => number): number {
  const end = rest.indexOf(" ") < 0 ? rest.length : rest.indexOf(" ");
  return end < 60 && widthOf(rest.slice(0, end).join("")) <= widest ? end : length;
}

/** Break a text into lines that are no wider than wanted; what does not fit ends in an ellipsis. */
export function wrapped(text: string, widest: number, mostLines: number, widthOf: (text: string) => number): string[] {
  const lines: string[] = [];
  let rest = [...text];
  while (rest.length && lines.length < mostLines) {
    let length = fitting(rest, widest, widthOf);
    const isLast = lines.length === mostLines - 1;
    if (length < rest.length) {
      if (isLast) {
        length = fitting(rest, widest - widthOf("…"), widthOf);
        lines.push(`${rest.slice(0, length).join("").trimEnd()}…`);
        return lines;
      }
      const blank = rest.slice(0, length + 1).lastIndexOf(" ");
      if (blank > 0) length = blank;
      else length = wordEnd(rest, length, widest * LONG_WORD, widthOf);
    }
    lines.push(rest.slice(0, length).join("").trim());
    rest = [...rest.slice(length).join("").trimStart()];
  }
  return lines;
}

/** How many characters fit, and one at least. */
function fitting(characters: readonly string[], widest: number, widthOf: (text: string) => number): number {
  let [low, high] = [1, Math.min(characters.length, 400)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(characters.slice(0, middle).join("")) <= widest) low = middle;
    else high = middle - 1;
  }
  return low;
}

function boxAt({ x, y }: Point, { width, height }: Wanted): Box {
  return { minX: x - width / 2 - GAP, minY: y - height / 2 - GAP, maxX: x + width / 2 + GAP, maxY: y + height / 2 + GAP };
}

function isInside(box: Box, frame: Box): boolean {
  return box.minX >= frame.minX && box.minY >= frame.minY && box.maxX <= frame.maxX && box.maxY <= frame.maxY;
}
