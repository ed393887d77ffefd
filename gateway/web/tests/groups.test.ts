import { describe, expect, it } from "vitest";
import { conditionFor } from "../src/groups";

describe("the condition of a group", () => {
  it("is one of a text in quotes, without its language", () => {
    expect(conditionFor("x:p", "red", "text")).toBe('x:p = "red"');
    expect(conditionFor("x:p", "red@en", "language text")).toBe('x:p = "red"');
    expect(conditionFor("x:p", "red@en", "text")).toBe('x:p = "red@en"');
    expect(conditionFor("x:p", 'a "b"', "text")).toBe("x:p = 'a \"b\"'");
    expect(conditionFor("x:p", "12", "text")).toBe('x:p = "12"');
  });
  it("means a date as a date and as a text where it may be either", () => {
    expect(conditionFor("x:p", "2016-01-01", "date, text")).toBe('x:p in 2016-01-01, "2016-01-01"');
    expect(conditionFor("x:p", "2016-01-01", "text")).toBe('x:p = "2016-01-01"');
  });
  it("is one of a node where the walk leads to nodes, or to what looks like one", () => {
    expect(conditionFor("x:p", "x:a The name", undefined)).toBe("x:p = x:a");
    expect(conditionFor("x:p", "x:a The name", "disease, protein, …")).toBe("x:p = x:a");
    expect(conditionFor("x:p", "x:a", "text")).toBe('x:p = "x:a"');
    expect(conditionFor("x:p", "<http://e.org/a> A", "")).toBe("x:p = <http://e.org/a>");
  });
  it("is none of what is cut, too long or a blank node, and another where there is no value", () => {
    expect(conditionFor("x:p", "a long…", "text")).toBeUndefined();
    expect(conditionFor("x:p", "a".repeat(1000), "text")).toBeUndefined();
    expect(conditionFor("x:p", "_:abc", undefined)).toBeUndefined();
    expect(conditionFor("x:p", null, "text")).toBe("x:p missing");
    expect(conditionFor("x:p", 3, "number")).toBe("x:p = 3");
  });
});
