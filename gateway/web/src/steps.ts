/** Which node is next, for who goes through the picture by keys. */

import type { Point } from "./placement";

export type Step = "left" | "right" | "up" | "down";

/** Return which of some places is next from another in a direction: ahead rather than aside, and near; undefined where none is ahead. */
export function nextOf(from: Point, step: Step, places: Iterable<readonly [string, Point]>): string | undefined {
  let [found, least]: [string | undefined, number] = [undefined, Infinity];
  for (const [id, { x, y }] of places) {
    const [right, down] = [x - from.x, y - from.y];
    const [ahead, aside] = step === "left" ? [-right, down] : step === "right" ? [right, down] : step === "up" ? [-down, right] : [down, right];
    // What stands more aside than ahead lies in another direction.
    if (ahead <= 0 || Math.abs(aside) > 1.5 * ahead) continue;
    const away = ahead + 2 * Math.abs(aside);
    if (away < least) [found, least] = [id, away];
  }
  return found;
}
