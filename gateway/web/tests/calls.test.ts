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
      `bfsql-gateway bfs drug:metformin 'x:it'"'"'s' --hops 2 --only-predicates m:TREATS --topology-only`,
    );
  });
});
