import { describe, expect, it } from "vitest";
import { type Asked, callFor, condition, nextSort, ofCall, ofType, readAsked, walkOf, writeAsked } from "../src/asked";

describe("a condition", () => {
  it("has numbers and dates as they are, and texts in quotes", () => {
    expect(condition("x:a", "<", " 1980 ")).toBe("x:a < 1980");
    expect(condition("x:a", ">=", "1990-05-01")).toBe("x:a >= 1990-05-01");
    expect(condition("x:a", "=", "a < b")).toBe('x:a = "a < b"');
    expect(condition("x:a", "=", 'the "b"')).toBe(`x:a = 'the "b"'`);
    expect(condition("x:a", "missing", "dropped")).toBe("x:a missing");
  });
  it("names a predicate whose ID has a slash in angle brackets", () => {
    expect(walkOf("^http://e.org/p")).toBe("^<http://e.org/p>");
    expect(walkOf("^x:p")).toBe("^x:p");
  });
});

describe("what a table asks", () => {
  const asked: Asked = { ...ofType("x:T"), values: ["x:a"], where: ["x:a > 1"], sort: "-x:a" };
  it("is a call, and groups are asked for in the place of rows", () => {
    expect(callFor(asked, 100).arguments).toEqual({ node_types: ["x:T"], where: ["x:a > 1"], values: ["x:a"], sort_by: "-x:a", limit: 100, offset: 100 });
    expect(callFor({ ...asked, group: "type" }).arguments).toEqual({ node_types: ["x:T"], where: ["x:a > 1"], group_by: "type", limit: 100 });
  });
  it("of an answer has its steering and conditions, not its pages", () => {
    const call = { tool: "bfs_query", arguments: { seeds: ["x:a"], max_hops: 1, limit: 300, offset: 300, snapshot: "s", where: ["x:a > 1"] } } as const;
    expect(callFor(ofCall({ ...call, arguments: { ...call.arguments, where: [...call.arguments.where] } })).arguments).toEqual({ seeds: ["x:a"], max_hops: 1, where: ["x:a > 1"], values: ["type"], edges: false, limit: 100 });
  });
  it("is in the address, and what is none there is refused", () => {
    expect(readAsked(JSON.parse(JSON.stringify(writeAsked(asked))))).toEqual(asked);
    expect(readAsked(["describe_schema", {}])).toBeUndefined();
    expect(readAsked(["bfs_query", []])).toBeUndefined();
  });
  it("is ordered upwards, downwards, and not", () => {
    expect([undefined, "a", "-a", "b"].map((sort) => nextSort("a", sort))).toEqual(["a", "-a", undefined, "a"]);
  });
});
