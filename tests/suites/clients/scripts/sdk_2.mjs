import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { IS_URL, TARGET, ask } from "./asked.mjs";

const transport = IS_URL
  ? new StreamableHTTPClientTransport(new URL(TARGET[0]))
  : new StdioClientTransport({ command: TARGET[0], args: TARGET.slice(1) });
await ask(new Client({ name: "clients", version: "1.0.0" }), transport);
