import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Json } from "../src/answers";
import { Session } from "../src/session";
import { type Call, type Tools } from "../src/tools";

const written: string[] = [];

/** Tools that answer what a test says. */
function tools(answer: (call: Call) => Json | Promise<Json>): Tools {
  return { canTraverse: true, call: async (call) => answer(call) };
}

const subgraph = (...ids: string[]): Json => ({ nodes: ids.map((id) => ({ id, entity_type: "x:T" })), edges: [], node_count: ids.length, edge_count: 0, complete: true });

beforeEach(() => {
  written.length = 0;
  vi.stubGlobal("location", { search: "" });
  vi.stubGlobal("history", { replaceState: (_state: unknown, _title: string, url: string) => written.push(decodeURIComponent(url)) });
});

describe("a node that is asked for by another form of its ID", () => {
  it("is selected, stored and expanded below the ID of its record", async () => {
    const asked: Call[] = [];
    const session = new Session(
      tools((call) => {
        asked.push(call);
        return call.tool === "describe_entity" ? { id: "x:a", entity_type: "x:T", name: "A", complete: true } : subgraph("x:a");
      }),
      true,
    );
    await session.start("http://e.org/a");
    expect(session.selected.value).toEqual(["x:a"]);
    expect([...session.described.value.keys()]).toEqual(["x:a"]);
    expect(asked.at(-1)!.arguments["seeds"]).toEqual(["x:a"]);
    expect([...session.picture.value.nodes.keys()]).toEqual(["x:a"]);
    expect(written.at(-1)).toContain('["x:a"]');
  });
});
