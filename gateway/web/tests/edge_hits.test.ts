import { describe, expect, it } from "vitest";
import { lineAt } from "../src/edge_hits";

const line = { key: "a", from: { x: 0, y: 0 }, to: { x: 100, y: 0 }, curvature: 0 };

describe("an edge", () => {
  it("is met within four pixels on both sides, and no further", () => {
    for (const y of [-4, 0, 4]) expect(lineAt({ x: 50, y }, [line])).toBe("a");
    for (const y of [-6, 6]) expect(lineAt({ x: 50, y }, [line])).toBeUndefined();
    expect(lineAt({ x: 110, y: 0 }, [line])).toBeUndefined();
  });
  it("is met where it is drawn if it is curved, and the nearest of two is met", () => {
    const curved = { ...line, key: "b", curvature: 0.4 };
    expect(lineAt({ x: 50, y: -20 }, [curved])).toBe("b");
    expect(lineAt({ x: 50, y: 20 }, [curved])).toBeUndefined();
    expect(lineAt({ x: 50, y: 1 }, [{ ...line, key: "c", from: { x: 0, y: 4 }, to: { x: 100, y: 4 } }, line])).toBe("a");
  });
});
