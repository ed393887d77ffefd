import { describe, expect, it } from "vitest";
import { written } from "../src/calls";

const CALL = {
  tool: "bfs_query",
  arguments: { seeds: ["drug:metformin", "x:it's"], max_hops: 2, only_predicates: ["m:TREATS"], topology_only: true },
} as const;

describe("a call is written for", () => {
  it("a model, as tool and JSON", () => {
    expect(written({ tool: "describe_schema", arguments: {} }, "model")).toBe("describe_schema {}");
  });
  it("a Python program", () => {
    expect(written({ ...CALL, arguments: { ...CALL.arguments } }, "python")).toBe(
      `await graph.bfs_query(seeds=["drug:metformin", "x:it's"], max_hops=2, only_predicates=["m:TREATS"], topology_only=True)`,
    );
  });
  it("a shell, quoted", () => {
    expect(written({ ...CALL, arguments: { ...CALL.arguments } }, "command line")).toBe(
      `bfsql-gateway bfs drug:metformin 'x:it'"'"'s' --hops 2 --only-predicate m:TREATS --topology-only`,
    );
  });
  it("a shell, with conditions and columns each by themselves and without edges", () => {
    const asked = { where: ["x:v < 5", "name starts A"], values: ["x:v", "x:w"], edges: false, topology_only: false };
    expect(written({ tool: "bfs_query", arguments: { seeds: ["x:a"], max_hops: 1, ...asked } }, "command line")).toBe(
      "bfsql-gateway bfs x:a --hops 1 --where 'x:v < 5' --where 'name starts A' --value x:v --value x:w --no-edges",
    );
  });
});
