import { describe, expect, it } from "vitest";
import { pictureOf } from "../src/picture";
import { MOST_OF_ONE, starsOf } from "../src/stars";

const NONE: ReadonlySet<string> = new Set();

function around(center: string, relations: Record<string, number>, others: readonly [string, string][] = []) {
  const edges = Object.entries(relations).flatMap(([predicate, count]) =>
    Array.from({ length: count }, (_, place) => ({ subject: center, predicate, object: `${center}${predicate}${place}` })),
  );
  edges.push(...others.map(([subject, object]) => ({ subject, predicate: "x:other", object })));
  const ids = new Set(edges.flatMap(({ subject, object }) => [subject, object]));
  const answer = { nodes: [...ids].map((id) => ({ id })), edges, node_count: ids.size, edge_count: edges.length, complete: true };
  return pictureOf([{ call: { tool: "bfs_query", arguments: { seeds: [center] } }, answer }]);
}

describe("the star of a centre", () => {
  it("has a sector for each relation, the largest first, and its members stand beside each other", () => {
    const [star] = starsOf(around("x:c", { "x:p": 3, "x:q": 5 }), NONE, NONE);
    expect(star!.sectors.map(({ relations, count, members }) => [relations[0]!.predicate, count, members.length])).toEqual([["x:q", 5, 5], ["x:p", 3, 3]]);
    const angles = star!.sectors.map(({ members }) => members.map((id) => Math.atan2(star!.offsets.get(id)!.y, star!.offsets.get(id)!.x)));
    for (const [place, { angle }] of star!.sectors.entries()) {
      const turns = angles[place]!.map((each) => Math.abs(Math.atan2(Math.sin(each - angle), Math.cos(each - angle))));
      expect(Math.max(...turns)).toBeLessThan(Math.PI * (place === 0 ? 0.65 : 0.4));
    }
  });
  it("folds what is beyond twelve of one relation, until the pile is opened", () => {
    const picture = around("x:c", { "x:p": 30, "x:q": 12 });
    const [star] = starsOf(picture, NONE, NONE);
    const [many, few] = star!.sectors;
    expect([many!.members.length, many!.folded.length, many!.count]).toEqual([MOST_OF_ONE, 18, 30]);
    expect(few!.folded).toEqual([]);
    expect(star!.offsets.has(many!.key)).toBe(true);
    expect(starsOf(picture, new Set([many!.key]), NONE)[0]!.sectors[0]!.folded).toEqual([]);
  });
  it("folds no node that leads elsewhere or is selected", () => {
    const picture = around("x:c", { "x:p": 20 }, [["x:cx:p19", "x:z"]]);
    const folded = starsOf(picture, NONE, new Set(["x:cx:p18"])).flatMap(({ sectors }) => sectors.flatMap((sector) => sector.folded));
    expect(folded).toHaveLength(8);
    expect(folded).not.toContain("x:cx:p19");
    expect(folded).not.toContain("x:cx:p18");
  });
  it("folds no node that lacks edges or is a hub", () => {
    const picture = around("x:c", { "x:p": 20 });
    const lacks = new Map([["x:cx:p18", { lacks: ["time"] }], ["x:cx:p19", { isHub: true }]]);
    const nodes = new Map([...picture.nodes].map(([id, node]) => [id, { ...node, ...lacks.get(id) }]));
    const folded = starsOf({ ...picture, nodes }, NONE, NONE).flatMap(({ sectors }) => sectors.flatMap((sector) => sector.folded));
    expect(folded).toHaveLength(8);
    expect(folded).not.toContain("x:cx:p18");
    expect(folded).not.toContain("x:cx:p19");
  });
  it("has a sector of its own for those by several relations, and draws them once", () => {
    const both = [0, 1].map((place) => ["x:c", `x:cx:p${place}`] as [string, string]);
    const [star] = starsOf(around("x:c", { "x:p": 6 }, both), NONE, NONE);
    expect(star!.sectors.map(({ relations, count }) => [relations.map(({ predicate }) => predicate), count])).toEqual([
      [["x:p"], 4],
      [["x:other", "x:p"], 2],
    ]);
  });
  it("is none of few neighbours", () => {
    expect(starsOf(around("x:c", { "x:p": 5 }), NONE, NONE)).toEqual([]);
  });
});
