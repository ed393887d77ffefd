import { describe, expect, it } from "vitest";
import { MOST_CALLS, MOST_HUBS, readView, writeView } from "../src/view_state";

const VIEW = {
  calls: [{ tool: "bfs_query", arguments: { seeds: ["x:ü #%&\"'<"], max_hops: 1 } } as const],
  selected: ["x:a"],
  hiddenTypes: ["x:T"],
  hiddenPredicates: ["x:p"],
  removed: ["x:b"],
  opened: ["x:a\n^x:p"],
  pinned: [["x:a", -10, 20]] as [string, number, number][],
  hubs: ["x:hub"],
  language: "pt-br",
  edges: ["x:a\nx:p\nx:b"],
};

describe("the address of a view", () => {
  it("comes back as it was", () => {
    expect(readView(writeView({ ...VIEW, calls: [...VIEW.calls] })!)).toEqual(VIEW);
  });
  it("comes back with hubs beside a table, and without", () => {
    const table = { tool: "search_entities", of: { node_types: ["x:T"] }, values: [], where: [] } as const;
    expect(readView(writeView({ ...VIEW, calls: [], table })!)).toEqual({ ...VIEW, calls: [], table });
    expect(readView(writeView({ ...VIEW, calls: [], hubs: [] })!)).toEqual({ ...VIEW, calls: [], hubs: [] });
    expect(writeView({ ...VIEW, calls: [], hubs: [], language: "", edges: [] })!).not.toContain("null");
    expect(readView(`#${encodeURIComponent('[[],[],[],[],[],[],[],null,null,"<b>"]')}`)).toMatchObject({ language: "" });
  });
  it.each(["", "#", "#%", "#{}", "#[]", "#null", "#[1]", `#${"x".repeat(200_000)}`])("is nothing if it is %.20s", (hash) => {
    expect(readView(hash)).toBeUndefined();
  });
  it("is not written if it could not be read again", () => {
    expect(writeView({ ...VIEW, calls: Array.from({ length: MOST_CALLS + 1 }, () => VIEW.calls[0]!) })).toBeUndefined();
    expect(writeView({ ...VIEW, calls: [], hubs: Array.from({ length: MOST_HUBS + 1 }, (_, place) => `x:${place}`) })).toBeUndefined();
    expect(writeView({ ...VIEW, calls: [], selected: ["x".repeat(200_000)] })).toBeUndefined();
  });
  it("calls no other tools, and not without end", () => {
    const calls = Array.from({ length: MOST_CALLS + 5 }, () => ["bfs_query", {}]);
    const hash = `#${encodeURIComponent(JSON.stringify([[["delete_all", {}], ["bfs_query", []], 1, ...calls], [1], "x", null]))}`;
    expect(readView(hash)).toEqual({
      refused: 8,
      calls: Array.from({ length: MOST_CALLS }, () => ({ tool: "bfs_query", arguments: {} })),
      selected: [],
      hiddenTypes: [],
      hiddenPredicates: [],
      removed: [],
      opened: [],
      pinned: [],
      hubs: [],
      language: "",
      edges: [],
    });
  });
  it("says how many hubs it leaves out", () => {
    const hubs = Array.from({ length: MOST_HUBS + 3 }, (_, place) => `x:${place}`);
    const hash = `#${encodeURIComponent(JSON.stringify([[], [], [], [], [], [], [], null, [...hubs, 7]]))}`;
    expect(readView(hash)).toMatchObject({ hubs: hubs.slice(0, MOST_HUBS), hubsRefused: 4 });
  });
});
