import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Json } from "../src/answers";
import { Session } from "../src/session";
import { type Call, type Tools, ToolError } from "../src/tools";

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

describe("an address", () => {
  const address = (...seeds: string[]): string => `#${encodeURIComponent(JSON.stringify([seeds.map((seed) => ["bfs_query", { seeds: [seed] }]), []]))}`;
  const seedOf = ({ arguments: given }: Call): string => (given["seeds"] as string[])[0]!;

  it("of which a call fails says so, and stays as it is, until the page is cleared", async () => {
    const session = new Session(
      tools((call) => {
        if (seedOf(call) === "x:gone") throw new ToolError("x:gone is unknown.");
        return subgraph(seedOf(call));
      }),
      true,
    );
    await session.address.restore(address("x:gone", "x:a"));
    expect(session.address.note.value).toContain("1 of 2 calls of this address could not be made: x:gone is unknown.");
    expect([...session.picture.value.nodes.keys()]).toEqual(["x:a"]);
    session.select(["x:a"]);
    expect(written).toEqual([]);
    session.clear();
    expect([written.at(-1), session.address.note.value]).toEqual(["#", ""]);
  });
  it("of which hubs cannot be drawn says so, and draws none that the graph may not have", async () => {
    const session = new Session(
      tools(() => ({ result: [{ id: "x:hub", entity_type: "x:T", name: "Hub", complete: true }], complete: true, not_found: ["x:gone"] })),
      true,
    );
    const withHubs = (...hubs: string[]): string => `#${encodeURIComponent(JSON.stringify([[], [], [], [], [], [], [], null, hubs]))}`;
    await session.address.restore(withHubs("x:hub", "x:gone"));
    expect([...session.picture.value.nodes.keys()]).toEqual(["x:hub"]);
    expect(session.address.note.value).toContain("1 of 2 hubs of this address could not be drawn");
    expect(written).toEqual([]);
    await session.address.restore(withHubs("x:hub"));
    expect(session.address.note.value).toBe("");
    expect(written.at(-1)).toContain("x:hub");
    await session.address.restore(withHubs(...Array.from({ length: 60 }, () => "x:hub")));
    expect(session.address.note.value).toContain("10 of 60 hubs");
  });
  it("that is restored while another is under way is shown alone", async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const session = new Session(
      tools(async (call) => {
        if (seedOf(call) === "x:slow") await gate;
        return subgraph(seedOf(call));
      }),
      true,
    );
    const first = session.address.restore(address("x:slow", "x:a"));
    await session.address.restore(address("x:b"));
    release();
    await first;
    expect([...session.picture.value.nodes.keys()]).toEqual(["x:b"]);
    expect(session.address.note.value).toBe("");
  });
  it("that is cancelled makes no further calls, and says how many it lacks", async () => {
    const asked: string[] = [];
    const session: Session = new Session(
      tools((call) => {
        asked.push(seedOf(call));
        session.cancel();
        return subgraph(seedOf(call));
      }),
      true,
    );
    await session.address.restore(address("x:a", "x:b"));
    expect(asked).toEqual(["x:a"]);
    expect(session.address.note.value).toContain("2 of 2 calls of this address could not be made: Cancelled.");
    expect(written).toEqual([]);
  });
  it("that tells no view is said to", async () => {
    const session = new Session(tools(() => ({})), true);
    await session.address.restore("#nothing");
    expect(session.address.note.value).not.toBe("");
  });
  it("is not written for a view that could not be read again", async () => {
    const session = new Session(tools((call) => subgraph(seedOf(call))), true);
    await session.traverse({ seeds: ["x:a"] });
    const before = written.length;
    session.select(["x".repeat(200_000)]);
    expect(written).toHaveLength(before);
    expect(session.address.note.value).toContain("too large");
    session.select([]);
    expect(session.address.note.value).toBe("");
  });
});

it("the first answer that came from elsewhere has nothing before it to go back to", () => {
  const session = new Session(tools(() => ({})), false);
  session.receive({ tool: "bfs_query", arguments: {} }, subgraph("x:a"));
  expect([session.steps.value.length, session.past.value.length]).toEqual([1, 0]);
  session.receive({ tool: "bfs_query", arguments: {} }, subgraph("x:b"));
  expect(session.past.value).toHaveLength(1);
});
