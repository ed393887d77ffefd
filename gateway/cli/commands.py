"""The commands of the program: those of the tools, and the others, each with what it takes and the request it means."""

from __future__ import annotations

from typing import Annotated

import typer

import gateway.cli.tool_commands  # noqa: F401 - its commands come first in the help
from gateway.cli.options import Contact, Endpoint, FileLimits, Graphs, Prefixes, ProfileName, Store, Verbose, given
from gateway.cli.program import PROGRAM, app, example
from gateway.cli.requests import CheckCommand, CommonOptions, DemoCommand, IndexCommand, Request, ServeCommand
from gateway.errors import ConfigurationError

__all__ = ["PROGRAM", "app"]

_LAST_PORT = 65_535


@app.command(epilog=example(f"{PROGRAM} serve --graph medical.ttl", f"{PROGRAM} serve --http --port 8001"))
def serve(
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve at http://127.0.0.1:8000/mcp instead.", show_default=False)
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="PORT", help="For --http: 8000 unless given; 0: any free port.", show_default=False
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="HOST",
            callback=given,
            help="For --http: 127.0.0.1 unless given; only loopback is served.",
            show_default=False,
        ),
    ] = None,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    prefix: Prefixes = None,
    verbose: Verbose = 0,
) -> Request:
    """Offer the graph to a language model, over MCP.

    The six BFS-QL tools are served over standard input and output, to the program that starts this, or with --http
    to programs on this machine.
    """
    if not http and (port is not None or host is not None):
        raise ConfigurationError("--port and --host are nothing without --http.")
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise ConfigurationError(f"--port {port} is no port.", valid=f"A port is 0 to {_LAST_PORT}.")
    common = CommonOptions(
        graph,
        endpoint,
        profile,
        prefix,
        as_json=False,
        verbose=verbose,
        store=store,
        contact=contact,
        file_limits=file_limit,
    )
    return ServeCommand(common, (host or "127.0.0.1", 8000 if port is None else port) if http else None)


@app.command(epilog=example(f"{PROGRAM} check http://127.0.0.1:3030/ds/sparql", f"{PROGRAM} check --graph films.ttl"))
def check(
    url: Annotated[str | None, typer.Argument(metavar="URL", hidden=True, show_default=False, callback=given)] = None,
    *,
    graph: Graphs = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    store: Store = None,
    file_limit: FileLimits = None,
    profile: ProfileName = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print what was found as one JSON object, on one line.", show_default=False),
    ] = False,
    verbose: Verbose = 0,
) -> Request:
    """Find out what an endpoint can do, and compare its answers with another client's.

    URL is a SPARQL query endpoint; without one, the profile's, a file or the demo graph. A few dozen harmless queries
    are sent, to this endpoint only. Exit status: 0, or 1 where the clients are answered differently, or 2 for an error.
    """
    if url is not None and endpoint is not None:
        raise ConfigurationError("The endpoint is given twice.", valid="Give the URL alone.")
    return CheckCommand(
        CommonOptions(
            graph, url or endpoint, profile, None, json, verbose, store=store, contact=contact, file_limits=file_limit
        )
    )


@app.command(epilog=example(f"{PROGRAM} index -e http://127.0.0.1:3030/ds/sparql", f"{PROGRAM} index -p films.toml"))
def index(
    *,
    endpoint: Endpoint = None,
    contact: Contact = None,
    profile: ProfileName = None,
    store: Store = None,
    verbose: Verbose = 0,
) -> Request:
    """Read all names of an endpoint, so that searches need not ask it.

    The names are kept in a label index that finds them in spite of slips. It may take long; interrupted, it goes on
    where it was when it is called again. Graphs in files need no call: their index is made by itself.
    """
    return IndexCommand(
        CommonOptions(None, endpoint, profile, None, as_json=False, verbose=verbose, store=store, contact=contact),
        afresh=False,
    )


@app.command(epilog=example(f"{PROGRAM} refresh -e http://127.0.0.1:3030/ds/sparql"))
def refresh(
    *,
    endpoint: Endpoint = None,
    contact: Contact = None,
    profile: ProfileName = None,
    store: Store = None,
    verbose: Verbose = 0,
) -> Request:
    """Make anew what is kept of an endpoint: its label index and its schema.

    What is old serves until the new is whole.
    """
    return IndexCommand(
        CommonOptions(None, endpoint, profile, None, as_json=False, verbose=verbose, store=store, contact=contact),
        afresh=True,
    )


@app.command(epilog=example(f"{PROGRAM} demo"))
def demo(*, verbose: Verbose = 0) -> Request:
    """Play a model's whole session on the demo graph: six tools over MCP.

    A server is started over standard input and output, and a scripted client puts the questions that a model would.
    """
    return DemoCommand(verbose)
