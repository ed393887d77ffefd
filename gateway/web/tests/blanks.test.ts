import { describe, expect, it } from "vitest";
import { contentOf, foldedIn, titleOf } from "../src/blanks";
import { pictureOf } from "../src/picture";
import { starsOf } from "../src/stars";

const NONE: ReadonlySet<string> = new Set();

function picture(...edges: [string, string][]) {
  const ids = new Set(edges.flat());
  const answer = {
    nodes: [...ids].map((id) => ({ id })),
    edges: edges.map(([subject, object]) => ({ subject, predicate: "x:p", object })),
    node_count: ids.size,
    edge_count: edges.length,
    complete: true,
  };
  return pictureOf([{ call: { tool: "bfs_query", arguments: { seeds: ["x:a"] } }, answer }]);
}

const drawn = (given: ReturnType<typeof picture>, opened = NONE, kept = NONE): string[] => [...foldedIn(given, opened, kept).shown.nodes.keys()].sort();

describe("a blank node", () => {
  it("holds what it alone leads to, blank nodes with theirs too, until it is unfolded", () => {
    const given = picture(["x:a", "_:1"], ["_:1", "x:b"], ["_:1", "_:2"], ["_:2", "x:c"]);
    expect(drawn(given)).toEqual(["_:1", "x:a"]);
    expect([...foldedIn(given, NONE, NONE).held]).toEqual([["_:1", 3], ["_:2", 1]]);
    expect(drawn(given, new Set(["_:1"]))).toEqual(["_:1", "_:2", "x:a", "x:b"]);
    expect(drawn(given, new Set(["_:1", "_:2"]))).toHaveLength(5);
    expect(given.nodes.size).toBe(5);
  });
  it("holds nothing that leads elsewhere, is asked for, is selected, or lies behind such", () => {
    expect(drawn(picture(["x:a", "_:1"], ["_:1", "x:b"], ["x:c", "x:b"]))).toHaveLength(4);
    expect(drawn(picture(["x:z", "_:1"], ["_:1", "x:a"]))).toHaveLength(3);
    expect(drawn(picture(["x:a", "_:1"], ["_:1", "x:b"]), NONE, new Set(["x:b"]))).toHaveLength(3);
    expect(drawn(picture(["x:a", "_:1"], ["_:1", "_:2"], ["_:2", "x:b"], ["x:b", "x:c"]))).toHaveLength(5);
  });
  it("of a circle is drawn", () => {
    expect(drawn(picture(["x:a", "_:1"], ["_:1", "_:2"], ["_:2", "_:1"]))).toEqual(["_:1", "x:a"]);
    expect(drawn(picture(["x:a", "_:1"], ["_:1", "_:2"], ["_:2", "_:3"], ["_:3", "_:1"]))).toHaveLength(4);
  });
  it("is called by what it says, else by its type", () => {
    expect(contentOf({ _: "_:1", "rdf:type": ":T", ":b": ["Main 1", 2, true], ":c": { _: "_:2" } })).toBe("Main 1, 2");
    expect(titleOf({ id: "_:1", name: "_:1", type: "(x:hasAddress)", metadata: {} }, {})).toBe("has address");
    expect(titleOf({ id: "_:1", name: "Home", type: "x:T", metadata: { ":b": 1 } }, {})).toBe("Home");
    expect(contentOf({ ":b": "\u202e<b>" + "x".repeat(100_000) }).length).toBeLessThan(70);
  });
});

it("members of a list stand in its order, and its first are in no pile", () => {
  const members = Array.from({ length: 30 }, (_, place) => `x:m${place}`).reverse();
  const edges = members.map((object) => ({ subject: "x:a", predicate: "x:p", object, metadata: { position: Number(object.slice(3)) + 1 } }));
  const answer = { nodes: ["x:a", ...members].map((id) => ({ id })), edges, node_count: 31, edge_count: 30, complete: true };
  const [star] = starsOf(pictureOf([{ call: { tool: "bfs_query", arguments: { seeds: ["x:a"] } }, answer }]), NONE, NONE);
  expect(star!.sectors[0]!.members).toEqual(Array.from({ length: 12 }, (_, place) => `x:m${place}`));
});
