import { describe, expect, it } from "vitest";
import type { Json } from "../src/answers";
import { expand } from "../src/expansion";
import { localForm } from "../src/names";
import { howSaid } from "../src/evidence";
import written from "./examples.json";

interface Example {
  what: string;
  compact: Json;
  reference: Json;
}

/** What a function of Python makes of one argument. */
interface Said {
  what: "local_form" | "how_said";
  given: unknown;
  said: string;
}

const all = written as unknown as (Example | Said)[];
const examples = all.filter((each): each is Example => "compact" in each);

describe("a compact answer is expanded as Python's expand does it", () => {
  it("has examples of all six tools", () => {
    expect(new Set(examples.map(({ what }) => what.split(" ")[0])).size).toBe(6);
  });
  for (const { what, compact, reference } of examples) {
    it(what, () => expect(expand(compact)).toEqual(reference));
  }
});

describe("the page says it as Python does", () => {
  for (const { what, given, said } of all.filter((each): each is Said => "said" in each)) {
    it(`${what} of ${JSON.stringify(given)}`, () => expect(what === "local_form" ? localForm(given as string) : howSaid(given as Json)).toBe(said));
  }
});

it("what is found by its meaning has the rows of hits", () => {
  expect(expand({ result: [], by_meaning: [["x:a A", "x:T"]], complete: true })["by_meaning"]).toEqual([{ id: "x:a", name: "A", entity_type: "x:T" }]);
});
