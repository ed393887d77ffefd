/** Which edge is at a point: the lines are too thin to be met. */

import type { Point } from "./placement";

/** Pixels from the middle of an edge within which it is met. */
const REACH = 5;

/** Straight parts of a curve. */
const PARTS = 12;

export interface Line {
  key: string;
  from: Point;
  to: Point;
  /** As `@sigma/edge-curve` has it; 0: straight. */
  curvature: number;
}

/** Return the key of the line that is next to a point; undefined where none is near. */
export function lineAt(at: Point, lines: Iterable<Line>): string | undefined {
  let [found, least]: [string | undefined, number] = [undefined, REACH];
  for (const line of lines) {
    const distance = distanceTo(at, line);
    if (distance <= least) [found, least] = [line.key, distance];
  }
  return found;
}

function distanceTo(at: Point, { from, to, curvature }: Line): number {
  if (!curvature) return toPart(at, from, to);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const control = { x: (from.x + to.x) / 2 + curvature * dy, y: (from.y + to.y) / 2 - curvature * dx };
  const points = Array.from({ length: PARTS + 1 }, (_, place) => {
    const t = place / PARTS;
    const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    return { x: a * from.x + b * control.x + c * to.x, y: a * from.y + b * control.y + c * to.y };
  });
  return Math.min(...points.slice(1).map((point, place) => toPart(at, points[place]!, point)));
}

function toPart(at: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const share = Math.max(0, Math.min(1, ((at.x - from.x) * dx + (at.y - from.y) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(at.x - from.x - share * dx, at.y - from.y - share * dy);
}
