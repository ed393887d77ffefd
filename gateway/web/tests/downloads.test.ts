import { expect, it } from "vitest";
import { pictureOf } from "../src/picture";
import { csvOf } from "../src/downloads";

function csv(name: string, metadata?: Record<string, unknown>): string {
  const nodes = [{ id: "x:a", name }, { id: "x:b" }];
  const edges = metadata ? [{ subject: "x:a", predicate: "x:p", object: "x:b", metadata }] : [];
  const answer = { nodes, edges, node_count: 2, edge_count: edges.length, complete: true };
  return csvOf(pictureOf([{ call: { tool: "bfs_query", arguments: {} }, answer }]), (id) => id);
}

it("a row of CSV says how its edge holds", () => {
  const [head, row] = csv("A", { assertions: [{ negated: true }, { restriction: "some" }] }).split("\r\n");
  expect(head!.split(",").at(-1)).toBe("said");
  expect(row).toBe("x:a,A,unknown,x:p,x:p,x:b,x:b,unknown,DENIED by 1 of 2 (some)");
});

it.each([
  ["=1", "'=1"],
  [" =1", "' =1"],
  ["x;=1+1;y", '"x;\'=1+1;y"'],
  ["x\t@f", '"x\t\'@f"'],
  ["\t=1", '"\'\t\'=1"'],
  ["a-b; c", '"a-b; c"'],
])("no spreadsheet runs the name %j", (name, cell) => {
  expect(csv(name).split("\r\n")[1]).toBe(`x:a,${cell},unknown,,,,,,`);
});
