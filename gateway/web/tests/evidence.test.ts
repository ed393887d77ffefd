import { describe, expect, it } from "vitest";
import { comparePlaces, placesOf, qualifierOf, saidIn } from "../src/evidence";

const AB = { subject: "x:a", predicate: "x:p", object: "x:b" };

describe("how an edge holds", () => {
  it.each([
    [undefined, ""],
    [{ confidence: 1 }, ""],
    [{ restriction: "min 2" }, "min 2"],
    [{ position: [1, 3] }, "no. 1, no. 3"],
    [{ restriction: "only", closed: true, "one of": 2 }, "only, closed, one of 2"],
    [{ negated: true, restriction: "not some" }, "not some"],
    [{ assertions: [{ restriction: "some" }, { restriction: "only" }, { restriction: "some" }] }, "some; only"],
    [{ assertions: ["some", "only", "min 2", "max 3"].map((restriction) => ({ restriction })).concat([{ negated: true } as never]) }, "some; only; min 2; …"],
  ])("is, of %j, %s", (metadata, words) => {
    expect(qualifierOf({ ...AB, ...(metadata ? { metadata } : {}) })).toBe(words);
  });
  it("is told in rows with what the words mean, and nothing is made up of words that are not the gateway's", () => {
    const rows = (assertion: Record<string, unknown>) => saidIn(assertion, (key) => key.toUpperCase()).map(({ title, value, meaning }) => [title, value, meaning ?? ""].join("|"));
    expect(rows({ "x:when": 1, restriction: "max 2 of all" })).toEqual(["quantifier|max 2 of all|2 at most in all, not of this alone", "X:WHEN|1|"]);
    expect(rows({ restriction: "some/only", position: "2.1" })).toEqual(["quantifier|some/only|", "position|2.1|"]);
    expect(rows({ closed: "Mondays", "one of": "us", of: "x" })).toEqual(["closed|Mondays|", "one of|us|", "of|x|"]);
  });
});

describe("places in lists", () => {
  it("are those of all assertions, and words are none", () => {
    expect(placesOf({ ...AB, metadata: { assertions: [{ position: [1, "2.10"] }, { position: 3 }, { position: "left" }] } })).toEqual([[1], [2, 10], [3]]);
    expect(placesOf(AB)).toEqual([]);
  });
  it("are ordered as numbers, level by level", () => {
    const places = [[2, 10], [10], [2], [2, 9], [1]];
    expect(places.sort(comparePlaces)).toEqual([[1], [2], [2, 9], [2, 10], [10]]);
  });
});
