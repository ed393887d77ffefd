import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { IS_URL, TARGET, ask } from "./asked.mjs";

const transport = IS_URL
  ? new StreamableHTTPClientTransport(new URL(TARGET[0]))
  : new StdioClientTransport({ command: TARGET[0], args: TARGET.slice(1) });
await ask(new Client({ name: "clients", version: "1.0.0" }), transport);
