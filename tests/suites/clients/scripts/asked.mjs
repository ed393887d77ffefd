// What every client asks, and what it prints: run with a URL, or with the command of a server over stdio.
export const CALL = { name: "bfs_query", arguments: { seeds: ["drug:warfarin"], max_hops: 1 } };
export const TARGET = process.argv.slice(2);
export const IS_URL = TARGET[0].startsWith("http");

export async function ask(client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  const { structuredContent: answer } = await client.callTool(CALL);
  console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), nodes: answer.node_count, complete: answer.complete }));
  await client.close();
}
