/** A host of MCP Apps over the official bridge: what the browser test drives in the place of a chat. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

/** The policy that hosts give an App which asks for nothing (SEP-1865, "Content Security Policy"). */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; connect-src 'none'";

const APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

interface Ask {
  tool: string;
  arguments: Record<string, unknown>;
}

async function start(): Promise<void> {
  const client = new Client({ name: "harness", version: "1" }, { capabilities: { extensions: APPS } });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  const { tools } = await client.listTools();
  const ask = JSON.parse(decodeURIComponent(location.hash.slice(1))) as Ask;
  const tool = tools.find(({ name }) => name === ask.tool)!;
  const { resourceUri } = (tool._meta as { ui: { resourceUri: string } }).ui;
  const { contents } = await client.readResource({ uri: resourceUri });
  const page = (contents[0] as { text: string }).text;
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.width = "900";
  frame.height = "600";
  document.body.append(frame);
  const bridge = new AppBridge(null, { name: "harness", version: "1" }, { serverTools: {} }, {
    hostContext: { theme: "light", toolInfo: { tool } },
  });
  const calls: string[] = [];
  bridge.oncalltool = async (params) => {
    calls.push(params.name);
    document.body.dataset["calls"] = calls.join(" ");
    return (await client.callTool(params)) as never;
  };
  bridge.onsizechange = ({ height }) => {
    document.body.dataset["height"] = String(height);
  };
  bridge.oninitialized = async () => {
    bridge.sendToolInput({ arguments: ask.arguments });
    bridge.sendToolResult((await client.callTool({ name: ask.tool, arguments: ask.arguments })) as never);
    document.body.dataset["answered"] = "";
  };
  addEventListener("theme", () => bridge.setHostContext({ theme: "dark", toolInfo: { tool } }));
  await bridge.connect(new PostMessageTransport(frame.contentWindow!, frame.contentWindow!));
  frame.srcdoc = page.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
}

void start();
