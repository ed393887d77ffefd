import { describe, expect, it } from "vitest";
import { plain, spoken } from "../src/names";

describe("the name of a term", () => {
  it.each([
    ["m:ASSOCIATED_WITH", "associated with"],
    ["imdb_z3o:actedIn", "acted in"],
    [":Film", "Film"],
    ["m:SideEffect", "Side effect"],
    ["x:hasDNASequence", "has DNA sequence"],
    ["wdt:P166", "P166"],
    ["http://e.org/a#born%20in", "born in"],
    ["m:DNA", "DNA"],
    ["<http://e.org/>", "e.org"],
    ["%", "%"],
    [":", ":"],
    ["(owl:complementOf/:hasTopping)", "(complement of/has topping)"],
    ["(^ex:partOf)", "(^part of)"],
    ["ex:a/^<http://e.org/b>", "a/^b"],
    ["()", "()"],
  ])("of %s is %s", (id, name) => {
    expect(spoken(id)).toBe(name);
  });
  it("is what the graph calls it", () => {
    expect(spoken("wdt:P166", { "wdt:P166": "award received" })).toBe("award received");
    expect(spoken("x:constructor", {})).toBe("constructor");
  });
  it("of a path has the names of its steps", () => {
    expect(spoken("(owl:complementOf/wdt:P166)", { "wdt:P166": "award received" })).toBe("(complement of/award received)");
  });
  it("turns no text around and hides none", () => {
    expect(plain("a\u202Egnp.exe\u0000b\n c")).toBe("a gnp.exe b c");
    expect(plain("a\uFFFE\uFFFFb\u061C\u00AD\u180E\uFFF9c\u{E0041}\uD800d \u{1F600}")).toBe("a b c d \u{1F600}");
  });
});
