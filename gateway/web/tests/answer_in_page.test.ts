/** The answer inside a page that was saved, which has no gateway. */
import { expect, test } from "vitest";
import type { Hits, Subgraph } from "../src/answers";
import { FileTools } from "../src/answer_in_page";

const nodes = ["José", "Łódź", "Joseph"].map((name, at) => ({ id: `x:${at}`, entity_type: "", metadata: { name } }));
const answer = { nodes, edges: [], complete: true } as unknown as Subgraph;
const tools = new FileTools({ call: { tool: "bfs_query", arguments: {} }, answer, iris: {} });

async function found(query: string): Promise<unknown[]> {
  const hits = (await tools.call({ tool: "search_entities", arguments: { query, limit: 10 } })) as unknown as Hits;
  return hits.result.map(({ name }) => name);
}

test("a name is found without the marks on its letters, as the gateway finds it", async () => {
  expect(await found("jose")).toEqual(["José", "Joseph"]);
  expect(await found("JOSÉ")).toEqual(["José", "Joseph"]);
});
