"""The options of the command `sparql` beside those of every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from gateway.cli.completion import one_of
from gateway.cli.options import only

FORMATS = ("csv", "tsv", "json", "turtle", "ntriples")


@dataclass(frozen=True, slots=True)
class SparqlOptions:
    """How a query is asked, and its answer printed."""

    export_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            callback=only(FORMATS, f"it must be one of {', '.join(FORMATS)}."),
            autocompletion=one_of(FORMATS),
            help="csv, tsv or json, and of CONSTRUCT and DESCRIBE turtle or ntriples. Default: a table or Turtle at a "
            "terminal, else tsv or turtle.",
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            help="Print the first N rows or triples. Default: 100 at a terminal, else all.",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.1,
            max=86_400,
            help="Time for the query, without that for opening files. Default: the profile's, 30.",
        ),
    ] = None
    allow_service: Annotated[
        bool,
        typer.Option("--allow-service", help="Let the query ask other endpoints (SERVICE).", show_default=False),
    ] = False
