"""The options that commands share."""

from __future__ import annotations

from typing import Annotated

import typer


def given(value: str | None) -> str | None:
    """Refuse a text that is empty: a variable of the shell that is not set must not mean the demo graph.

    Raises:
        BadParameter: It is empty.
    """
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty; leave the option out, or give a value.")
    return value


Graphs = Annotated[
    list[str] | None,
    typer.Option(
        "--graph",
        "-g",
        metavar="FILE",
        help="RDF file to load, also .gz; several become one graph. Without it and --endpoint: the profile's endpoint, "
        "else the demo graph.",
        show_default=False,
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        "-e",
        callback=given,
        metavar="URL",
        help="SPARQL query endpoint to ask, instead of files; wins over the profile's.",
        show_default=False,
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        callback=given,
        metavar="DIR",
        help="Folder of what is kept between runs: parsed files, label indexes and schemas."
        " Without it, those of endpoints are in the user's cache directory.",
        show_default=False,
    ),
]
FileLimits = Annotated[
    list[str] | None,
    typer.Option(
        "--file-limit",
        metavar="NAME=NUMBER",
        help="What parsing a file may take: memory_megabytes, cpu_seconds (for each 100 MB), or growth (times the "
        "file's size). Repeatable.",
        show_default=False,
    ),
]
Contact = Annotated[
    str | None,
    typer.Option(
        "--contact",
        callback=given,
        metavar="ADDRESS",
        help="An e-mail address or a URL of yours, for the endpoint; Wikimedia demands it. Also: BFSQL_CONTACT.",
        show_default=False,
    ),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME|FILE",
        help="How to read the graph: local (the default), fuseki, wikidata, wikidata-scholarly, wikidata-qlever, "
        "wikidata-local, dbpedia, uniprot, or a TOML file.",
        show_default=False,
    ),
]
Prefixes = Annotated[
    list[str] | None,
    typer.Option(
        "--prefix",
        metavar="NAME=IRI",
        help="A short name for a namespace in IDs; repeatable.",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print exactly the JSON that a model gets, on one line.", show_default=False),
]
Explain = Annotated[
    bool,
    typer.Option("--explain", help="Say what the answer cost, and show the SPARQL that was sent.", show_default=False),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        help="Log to standard error: -v what is done, -vv everything.",
        show_default=False,
    ),
]
NodeTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--node-type",
        metavar="TYPE",
        help="Details only for nodes of this type; the others stay, bare. Repeatable.",
        show_default=False,
    ),
]
Predicates = Annotated[
    list[str] | None,
    typer.Option(
        "--predicate",
        metavar="NAME",
        help="Evidence only for edges of this predicate; the others stay, bare. Repeatable.",
        show_default=False,
    ),
]
TopologyOnly = Annotated[
    bool,
    typer.Option(
        "--topology-only",
        help="Only IDs, types and edges.",
        show_default=False,
    ),
]
ExcludedTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude-node-type",
        metavar="TYPE",
        help="Remove nodes of this type and their edges. Repeatable.",
        show_default=False,
    ),
]
MinMentions = Annotated[
    int,
    typer.Option(
        "--min-mentions",
        metavar="N",
        help="Remove nodes that are mentioned less often.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", help="Nodes on one page at most.", show_default=False),
]
Offset = Annotated[
    int,
    typer.Option("--offset", metavar="N", help="Skip the first N nodes."),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        help="Size of the answer at most; a token is 4 bytes. Without it: the profile's.",
        show_default=False,
    ),
]
MaxDegree = Annotated[
    int | None,
    typer.Option(
        "--max-degree",
        metavar="N",
        help="Do not go on from nodes with more edges, seeds apart: keeps hubs out.",
        show_default=False,
    ),
]
MaxEdges = Annotated[
    int | None,
    typer.Option(
        "--max-edges-per-node",
        metavar="N",
        help="Edges that one node shows at most.",
        show_default=False,
    ),
]
Snapshot = Annotated[
    str | None,
    typer.Option(
        "--snapshot",
        metavar="HASH",
        help="The answer that a page belongs to, as the page before tells it.",
        show_default=False,
    ),
]
