/** How the page calls the six tools: over MCP to the gateway, or through the host of an MCP App. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Json } from "./answers";
import { expand } from "./expansion";

export type ToolName =
  | "describe_schema"
  | "search_entities"
  | "bfs_query"
  | "describe_entity"
  | "describe_entities"
  | "intersect_subgraphs";

export interface Call {
  tool: ToolName;
  arguments: Json;
}

/** What the gateway says about a call that it could not answer; it tells what to do next. */
export class ToolError extends Error {}

/** The gateway wants a token, or a better one. */
export class NotAuthorized extends Error {}

export interface Tools {
  /** Whether there is a graph to go on in; a file has its own answer alone. */
  readonly canTraverse: boolean;
  /** Return the answer of a tool in the reference shape. */
  call(call: Call, signal?: AbortSignal): Promise<Json>;
}

interface Result {
  isError?: boolean | undefined;
  structuredContent?: unknown;
  content?: readonly { type: string; text?: string }[];
}

/** Return the answer in the result of a tool call. */
export function answerIn(result: Result): Json {
  const text = result.content?.find((part) => part.type === "text")?.text;
  if (result.isError) throw new ToolError(text ?? "The gateway could not answer, and did not say why.");
  const answer = result.structuredContent ?? (text === undefined ? undefined : JSON.parse(text));
  if (typeof answer !== "object" || answer === null) throw new ToolError("The gateway sent no answer.");
  return expand(answer as Json);
}

/** Return the arguments of a call, by which each node says its type: the page draws it. */
export function withTypes({ tool, arguments: given }: Call): Json {
  return tool === "bfs_query" || tool === "intersect_subgraphs" ? { show: "types", ...given } : given;
}

/** Calls the tools of the gateway that serves the page. */
export class HttpTools implements Tools {
  readonly canTraverse = true;
  private client: Promise<Client> | undefined;

  constructor(
    private readonly url: URL,
    private readonly token?: string,
  ) {}

  async call(call: Call, signal?: AbortSignal): Promise<Json> {
    try {
      const client = await (this.client ??= this.connected());
      const result = await client.callTool({ name: call.tool, arguments: withTypes(call) }, { timeout: 120_000, ...(signal ? { signal } : {}) });
      return answerIn(result as Result);
    } catch (error) {
      if (error instanceof ToolError || signal?.aborted) throw error;
      // The next call connects again: the gateway may have been started anew.
      this.client = undefined;
      if (/\b401\b|unauthori[sz]ed/i.test(String(error))) throw new NotAuthorized("The gateway wants a token.");
      throw new ToolError(`The gateway cannot be reached (${error instanceof Error ? error.message : String(error)}). Is it still running?`);
    }
  }

  private async connected(): Promise<Client> {
    const client = new Client({ name: "bfsql-explorer", version: "1" });
    const headers: Record<string, string> = this.token ? { authorization: `Bearer ${this.token}` } : {};
    await client.connect(new StreamableHTTPClientTransport(this.url, { requestInit: { headers } }));
    return client;
  }
}
