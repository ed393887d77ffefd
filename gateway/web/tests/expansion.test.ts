import { describe, expect, it } from "vitest";
import type { Json } from "../src/answers";
import { expand } from "../src/expansion";
import written from "./examples.json";

interface Example {
  what: string;
  compact: Json;
  reference: Json;
}

const examples = written as unknown as Example[];

describe("a compact answer is expanded as Python's expand does it", () => {
  it("has examples of all six tools", () => {
    expect(new Set(examples.map(({ what }) => what.split(" ")[0])).size).toBe(6);
  });
  for (const { what, compact, reference } of examples) {
    it(what, () => expect(expand(compact)).toEqual(reference));
  }
});
