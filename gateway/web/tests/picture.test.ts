import { describe, expect, it } from "vitest";
import type { Subgraph } from "../src/answers";
import { nearOf, pictureOf } from "../src/picture";
import type { Call } from "../src/tools";

const call = (given: Call["arguments"]): Call => ({ tool: "bfs_query", arguments: given });

function answer(given: Partial<Subgraph>): Subgraph {
  return { nodes: [], edges: [], node_count: 0, edge_count: 0, complete: true, ...given };
}

const A = { id: "x:a", entity_type: "x:T", name: "A" };
const B = { id: "x:b", entity_type: "x:U" };
const AB = { subject: "x:a", predicate: "x:p", object: "x:b" };

describe("a picture", () => {
  it("is the union of its answers, each node and edge once", () => {
    const picture = pictureOf([
      { call: call({ seeds: ["x:a"] }), answer: answer({ nodes: [A, B], edges: [AB] }) },
      { call: call({ seeds: ["x:b"] }), answer: answer({ nodes: [B, { id: "x:a", entity_type: "x:T" }], edges: [AB] }) },
    ]);
    expect([...picture.nodes.values()].map(({ id, name, isSeed }) => [id, name, isSeed])).toEqual([
      ["x:a", "A", true],
      ["x:b", "x:b", true],
    ]);
    expect(picture.edges.size).toBe(1);
    expect([...picture.typeCounts]).toEqual([["x:T", 1], ["x:U", 1]]);
  });
  it("draws an edge to a node of a later page when that page is there", () => {
    const first = { call: call({ seeds: ["x:a"] }), answer: answer({ nodes: [A], edges: [AB], next_offset: 1, snapshot: "s" }) };
    expect(pictureOf([first]).edges.size).toBe(0);
    expect(pictureOf([first]).next?.call.arguments).toEqual({ seeds: ["x:a"], offset: 1, snapshot: "s" });
    expect(pictureOf([first, { call: call({ seeds: ["x:a"], offset: 1 }), answer: answer({ nodes: [B] }) }]).edges.size).toBe(1);
  });
  it("knows the pages still to come of an earlier answer, until a later step has them", () => {
    const first = { call: call({ seeds: ["x:a"], limit: 1 }), answer: answer({ nodes: [A], next_offset: 1, snapshot: "s", complete: false }) };
    const other = { call: call({ seeds: ["x:b"] }), answer: answer({ nodes: [B] }) };
    const picture = pictureOf([first, other]);
    expect([picture.next?.step, picture.unread, picture.incomplete]).toEqual([first, 1, 1]);
    const second = { call: call({ limit: 1, seeds: ["x:a"], snapshot: "t", offset: 1 }), answer: answer({ nodes: [B] }) };
    expect(pictureOf([first, other, second])).toMatchObject({ next: undefined, unread: 0 });
  });
  it("says what is missing at the node that it concerns, and what concerns none in general", () => {
    const incomplete = [
      { cause: "hub_not_expanded", count: 1, ids: ["x:b"], detail: "has 900 edges" },
      { cause: "deadline", detail: "the time was used up" },
    ];
    const picture = pictureOf([{ call: call({}), answer: answer({ nodes: [A, B], complete: false, incomplete }) }]);
    expect(picture.nodes.get("x:b")).toMatchObject({ isHub: true, lacks: ["has 900 edges"] });
    expect(picture.nodes.get("x:a")).toMatchObject({ isHub: false, lacks: [] });
    expect(picture.lacks).toEqual(["the time was used up"]);
  });
  it("says which seeds are absent, what a filter took, and that pages do not fit together", () => {
    const said = {
      missing_seeds: ["x:z"],
      blank_node_edges: 2,
      removed: { min_mentions: 4 },
      degraded: { edges_bare: 3 },
      result_changed: true,
    };
    expect(pictureOf([{ call: call({}), answer: answer({ nodes: [A], ...said }) }]).lacks).toEqual([
      "Not in this graph: x:z",
      "The graph has changed between two pages: undo them and ask again.",
      "Not drawn: 2 triples with a blank node, which has no ID.",
      "Left out for size: the evidence of 3 edges. A node's record has more.",
      "Nodes left out: 4 by min_mentions",
    ]);
  });
  it("counts one of a kind as one", () => {
    const said = { blank_node_edges: 1, degraded: { nodes_as_stubs: 1, edges_bare: 1 } };
    expect(pictureOf([{ call: call({}), answer: answer({ nodes: [A], ...said }) }]).lacks).toEqual([
      "Not drawn: 1 triple with a blank node, which has no ID.",
      "Left out for size: the metadata of 1 node, the evidence of 1 edge. A node's record has more.",
    ]);
  });
  it("marks the edges of paths, in either direction", () => {
    const path = [["x:b", "^x:p", "x:a"]];
    const picture = pictureOf([{ call: call({}), answer: answer({ nodes: [A, { ...B, via: path }], edges: [AB] }) }]);
    expect([...picture.edges.values()].map(({ onPath }) => onPath)).toEqual([true]);
  });
  it("has the selected node that was only described, as a hub is", () => {
    const record = { id: "x:h", entity_type: "x:T", iri: "http://e.org/h", name: "H", complete: true };
    expect(pictureOf([], new Map([["x:h", record]]), ["x:h"]).nodes.get("x:h")).toMatchObject({ name: "H", type: "x:T" });
    expect(pictureOf([], new Map([["x:h", record]]), []).nodes.size).toBe(0);
  });
  it("has what was described below the ID of its record, whatever it was asked by", () => {
    const record = { id: "x:h", entity_type: "x:T", name: "H", complete: true };
    const picture = pictureOf([{ call: call({}), answer: answer({ nodes: [{ id: "x:h" }] }) }], new Map([["<http://e.org/h>", record]]), ["<http://e.org/h>"]);
    expect([...picture.nodes].map(([key, { id, name }]) => [key, id, name])).toEqual([["x:h", "x:h", "H"]]);
  });
  it("has the nodes that stand in rows, with their values, and the other ends of their edges", () => {
    const rows = answer({ edges: [AB], columns: ["x:v", "x:w"], rows: [["x:b B b", [1, 2], null]] });
    const picture = pictureOf([
      { call: call({ seeds: ["x:a"] }), answer: answer({ nodes: [A] }) },
      { call: call({ seeds: ["x:a"], values: ["x:v", "x:w"] }), answer: rows },
    ]);
    expect(picture.nodes.get("x:b")).toMatchObject({ name: "B b", type: "unknown", metadata: { "x:v": [1, 2] } });
    expect(picture.nodes.get("x:a")).toMatchObject({ name: "A", type: "x:T", isSeed: true });
    expect(picture.edges.size).toBe(1);
  });
  it("takes no name in a row for an ID", () => {
    const rows = answer({ columns: [], rows: [["B b"]] });
    expect(pictureOf([{ call: call({ seeds: ["x:a"], show: "name" }), answer: rows }]).nodes.size).toBe(0);
  });
});


describe("what no call asked for", () => {
  const nodes = ["x:a", "x:b", "x:c"].map((id) => ({ id, entity_type: "x:T" }));
  const edges = [AB, { subject: "x:b", predicate: "x:p", object: "x:c" }];
  const outermost = (...calls: Call[]): string[] => [...pictureOf(calls.map((each) => ({ call: each, answer: answer({ nodes, edges }) }))).outermost];
  it("is edges between nodes that were not expanded", () => {
    expect(outermost(call({ seeds: ["x:a"], max_hops: 1 }))).toEqual(["x:b", "x:c"]);
    expect(outermost(call({ seeds: ["x:a"], max_hops: 2 }))).toEqual(["x:c"]);
    expect(outermost(call({ seeds: ["http://e.org/a"], max_hops: 1 }))).toEqual(["x:b", "x:c"]);
    expect(outermost(call({ seeds: ["x:a"], max_hops: 1 }), call({ seeds: ["x:b"], max_hops: 1 }))).toEqual(["x:c"]);
    expect(outermost(call({ seeds: ["x:a"], max_hops: 1, only_predicates: ["x:p"] }))).toEqual(["x:a", "x:b", "x:c"]);
  });
  it("is nothing among the nodes of an intersection", () => {
    expect(outermost({ tool: "intersect_subgraphs", arguments: { seeds: ["x:d", "x:e"], k: 1, via: true } })).toEqual([]);
  });
  it("has the quotes that were left out, after which the graph may say more of an edge", () => {
    const picture = pictureOf([{ call: call({ seeds: ["x:a"] }), answer: answer({ nodes, edges, omitted_texts: { "x:quote": 5 } }) }]);
    expect([[...picture.omitted], picture.lacksEvidence]).toEqual([[["x:quote", 5]], true]);
    expect(pictureOf([{ call: call({ seeds: ["x:a"] }), answer: answer({ nodes, edges }) }]).lacksEvidence).toBe(false);
  });
});

describe("what is near several nodes", () => {
  const near = (given: Partial<Subgraph>): string => nearOf({ call: { tool: "intersect_subgraphs", arguments: { seeds: ["x:a", "x:d"], k: 1 } }, answer: answer(given) }, (id) => id.toUpperCase());
  it("is said in words", () => {
    expect(near({ nodes: [A, B], node_count: 8 })).toBe("8 nodes are within 1 hop of all of them: X:A (itself selected), X:B, and 6 more.");
    expect(near({})).toBe("Nothing within 1 hop of all of them.");
    expect(near({ complete: false })).toBe("Nothing was found within 1 hop of all of them; not complete: there may be something.");
  });
});
