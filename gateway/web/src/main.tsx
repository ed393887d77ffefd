import { render } from "preact";
import { App } from "./app";
import { type Embedded, FileTools, embedded } from "./answer_in_page";
import { HostTools } from "./host";
import { isHosted } from "./hosted";
import { Session } from "./session";
import "./style.css";
import { HttpTools } from "./tools";

/** The gateway's own address, or that of one of its graphs: `/?graph=NAME`. */
function endpoint(): URL {
  const graph = new URLSearchParams(location.search).get("graph");
  return new URL(graph === null ? "/mcp" : `/mcp/${encodeURIComponent(graph)}`, location.href);
}

function show(session: Session, onToken?: (token: string) => void): void {
  render(<App session={session} {...(onToken ? { onToken } : {})} />, document.getElementById("app")!);
}

function startAlone(): void {
  const session = new Session(new HttpTools(endpoint()), true);
  show(session, (token) => session.reconnect(new HttpTools(endpoint(), token)));
  // An address tells the language of the schema.
  void session.address.restore(location.hash);
  void session.readSchema();
  addEventListener("hashchange", () => void session.address.restore(location.hash));
}

function startHosted(): void {
  const tools = new HostTools();
  const session = new Session(tools, false);
  document.documentElement.dataset["hosted"] = "";
  show(session);
  tools.connect(session).catch((error: unknown) => {
    session.problem.value = `The chat did not answer: ${String(error)}`;
  });
}

/** Show the answer inside this page, alone in a file or inside a notebook. */
function startInFile(file: Embedded): void {
  const session = new Session(new FileTools(file), false);
  if (isHosted()) document.documentElement.dataset["hosted"] = "";
  show(session);
  session.receive(file.call, { ...file.answer });
}

const file = embedded();
if (file) startInFile(file);
else if (isHosted()) startHosted();
else startAlone();
