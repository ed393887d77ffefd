import { expect, it } from "vitest";
import { nextOf } from "../src/steps";

const places = [
  ["near", { x: 10, y: 1 }],
  ["far", { x: 30, y: 0 }],
  ["aside", { x: 6, y: 8 }],
  ["below", { x: 0, y: 20 }],
  ["own", { x: 0, y: 0 }],
] as const;

it("the next node is ahead, near, and not the node itself", () => {
  expect(["right", "down", "left", "up"].map((step) => nextOf({ x: 0, y: 0 }, step as never, places))).toEqual(["near", "aside", undefined, undefined]);
  expect(nextOf({ x: 10, y: 1 }, "right", places)).toBe("far");
});
