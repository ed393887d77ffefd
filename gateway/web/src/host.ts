/** The page inside a chat: an MCP App, which calls the tools through its host. */

import { App, PostMessageTransport, applyDocumentTheme } from "@modelcontextprotocol/ext-apps";
import type { Json } from "./answers";
import type { Session } from "./session";
import { type Call, ToolError, type ToolName, type Tools, answerIn, withTypes } from "./tools";

export class HostTools implements Tools {
  readonly canTraverse = true;
  private readonly app = new App({ name: "bfsql-explorer", version: "1" }, {});
  /** Of several graphs, the one that the model asked about. */
  private graph: Json = {};

  async call(call: Call, signal?: AbortSignal): Promise<Json> {
    try {
      return answerIn(await this.app.callServerTool({ name: call.tool, arguments: { ...this.graph, ...withTypes(call) } }, signal ? { signal } : undefined));
    } catch (error) {
      if (error instanceof ToolError || signal?.aborted) throw error;
      throw new ToolError(`The chat could not call the gateway: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Show in a session what the host sends: the call of the model and its answer, and how the chat looks. */
  async connect(session: Session): Promise<void> {
    let given: Json = {};
    this.app.ontoolinput = (input) => {
      const { graph, ...others } = (input.arguments ?? {}) as Json;
      given = others;
      this.graph = graph === undefined ? {} : { graph };
    };
    this.app.ontoolresult = (result) => {
      try {
        const answer = answerIn(result);
        const call: Call = { tool: this.toolFor(answer), arguments: given };
        session.receive(call, answer);
        // What a model reads counts the types of long lists; the picture wants each.
        if (session.lacksTypes(call)) void this.call(call).then((whole) => session.replace(call, whole), () => undefined);
      } catch (error) {
        session.problem.value = error instanceof Error ? error.message : String(error);
      }
    };
    this.app.onhostcontextchanged = (context) => {
      if (context.theme) applyDocumentTheme(context.theme);
    };
    await this.app.connect(new PostMessageTransport(window.parent, window.parent));
    const theme = this.app.getHostContext()?.theme;
    if (theme) applyDocumentTheme(theme);
  }

  private toolFor(answer: Json): ToolName {
    const said = this.app.getHostContext()?.toolInfo?.tool.name;
    if (said === "bfs_query" || said === "intersect_subgraphs" || said === "describe_entity") return said;
    return Array.isArray(answer["nodes"]) ? "bfs_query" : "describe_entity";
  }
}
