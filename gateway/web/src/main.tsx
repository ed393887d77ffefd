import { render } from "preact";
import { App } from "./app";
import { Session } from "./session";
import "./style.css";
import { HttpTools } from "./tools";

/** The gateway's own address, or that of one of its graphs: `/?graph=NAME`. */
function endpoint(): URL {
  const graph = new URLSearchParams(location.search).get("graph");
  return new URL(graph === null ? "/mcp" : `/mcp/${encodeURIComponent(graph)}`, location.href);
}

const session = new Session(new HttpTools(endpoint()), true);
render(
  <App session={session} onToken={(token) => session.reconnect(new HttpTools(endpoint(), token))} />,
  document.getElementById("app")!,
);
void session.readSchema();
void session.restore(location.hash);
addEventListener("hashchange", () => void session.restore(location.hash));
