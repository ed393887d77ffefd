import { describe, expect, it } from "vitest";
import { type Wanted, placedLabels, spotsAround, wrapped } from "../src/labels";

const FRAME = { minX: 0, minY: 0, maxX: 400, maxY: 400 };
const widthOf = (text: string): number => [...text].length * 10;

function wanted(key: string, x: number, y: number, isNeeded = false): Wanted {
  return { key, lines: [key], width: 60, height: 12, spots: spotsAround({ x, y }, 5, 60, 12, isNeeded), isNeeded };
}

describe("labels", () => {
  it("never lie over each other or outside the frame, however crowded nodes are", () => {
    const all = Array.from({ length: 300 }, (_, place) => wanted(`n${place}`, (place * 37) % 400, (place * 61) % 400));
    const placed = placedLabels(all, [], FRAME);
    expect(placed.length).toBeGreaterThan(40);
    for (const [number, { box: one }] of placed.entries()) {
      expect(one.minX >= 0 && one.minY >= 0 && one.maxX <= 400 && one.maxY <= 400).toBe(true);
      for (const { box: other } of placed.slice(number + 1)) {
        expect(one.maxX < other.minX || other.maxX < one.minX || one.maxY < other.minY || other.maxY < one.minY).toBe(true);
      }
    }
  });
  it("stand further away, or over nodes, rather than not at all where they are needed", () => {
    const seeds = Array.from({ length: 12 }, (_, place) => wanted(`s${place}`, 200, 200, true));
    expect(placedLabels(seeds, [{ minX: 0, minY: 0, maxX: 400, maxY: 400 }], FRAME)).toHaveLength(12);
    expect(placedLabels([wanted("n", 200, 200)], [{ minX: 0, minY: 0, maxX: 400, maxY: 400 }], FRAME)).toEqual([]);
  });
  it("break at blanks, keep a word that is a little too long, and end in an ellipsis", () => {
    expect(wrapped("one two three", 80, 3, widthOf)).toEqual(["one two", "three"]);
    expect(wrapped("abcdefghij xy", 80, 3, widthOf)).toEqual(["abcdefghij", "xy"]);
    expect(wrapped("x".repeat(100), 80, 2, widthOf)).toEqual(["x".repeat(8), `${"x".repeat(7)}…`]);
    expect(wrapped("", 80, 2, widthOf)).toEqual([]);
  });
});
