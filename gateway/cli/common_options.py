"""The options that several commands take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer


def not_empty(value: str | None) -> str | None:
    """Return a value unchanged: an unset shell variable must not select the demo graph.

    Raises:
        BadParameter: The value is empty.
    """
    if value is not None and not value.strip():
        raise typer.BadParameter("it is empty; leave the option out, or give a value.")
    return value


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options that several commands take, as given; those that a command does not take have their defaults."""

    graph: Annotated[
        list[str] | None,
        typer.Option(
            "--graph",
            "-g",
            metavar="FILE",
            help="RDF file to load, also .gz; several become one graph. Without it and --endpoint: the profile's "
            "endpoint, else the demo graph.",
        ),
    ] = None
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            "-e",
            callback=not_empty,
            metavar="URL",
            help="SPARQL query endpoint to ask, instead of files; wins over the profile's.",
        ),
    ] = None
    contact: Annotated[
        str | None,
        typer.Option(
            "--contact",
            callback=not_empty,
            metavar="ADDRESS",
            help="An e-mail address or a URL of yours, for the endpoint; Wikimedia demands it. Also: BFSQL_CONTACT.",
        ),
    ] = None
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            callback=not_empty,
            metavar="DIR",
            help="Folder of what is kept between runs: parsed files, label indexes and schemas."
            " Without it, those of endpoints are in the user's cache directory.",
        ),
    ] = None
    file_limits: Annotated[
        list[str] | None,
        typer.Option(
            "--file-limit",
            metavar="NAME=NUMBER",
            help="What parsing a file may take: memory_megabytes, cpu_seconds (for each 100 MB), or growth (times the "
            "file's size). Repeatable.",
        ),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            "-p",
            metavar="NAME|FILE",
            help="How to read the graph: local (the default), fuseki, wikidata, wikidata-scholarly, wikidata-qlever, "
            "wikidata-local, dbpedia, uniprot, or a TOML file.",
        ),
    ] = None
    prefix: Annotated[
        list[str] | None,
        typer.Option(
            "--prefix",
            metavar="NAME=IRI",
            help="A short name for a namespace in IDs; repeatable.",
        ),
    ] = None
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print exactly the JSON that a model gets, on one line."),
    ] = False
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say what the answer cost, and show the SPARQL that was sent."),
    ] = False
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            help="Log to standard error: -v what is done, -vv everything.",
        ),
    ] = 0
