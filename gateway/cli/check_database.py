"""Checks a database that holds a graph, and prints the report."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text

from gateway.checking.database_report import DatabaseReport
from gateway.cli.claim_table import claim_table
from gateway.cli.graph_source import GraphSource
from gateway.cli.layout import STRONG, Unwrapped
from gateway.cli.render import sections, warned
from gateway.cli.screen import Screen
from gateway.cli.standard_streams import clean, print_line
from gateway.escaping import json_text
from gateway.settings.graph_identity import database_prefixes
from gateway.settings.neo4j_url import is_neo4j_url
from gateway.stores.extras import installed

_TITLES: Mapping[str, str] = {
    "labels": "Labels",
    "ids": "IDs",
    "ids_read_as": "IDs read as",
    "replica": "Replica",
    "time_limit": "Time-out",
    "trigrams": "Trigrams",
    "nodes": "Nodes",
    "nodes_rows": "  rows",
    "edges": "Edges",
    "edges_rows": "  rows",
    "predicates_read_as": "Predicates read as",
    "evidence": "Evidence",
    "evidence_rows": "  rows",
    "index_outgoing": "Index of outgoing edges",
    "index_incoming": "Index of incoming edges",
    "index_nodes": "Index of nodes",
    "index_types": "Index of types",
    "index_names": "Index of names",
    "index_parts": "Index of parts of names",
    "index_evidence": "Index of evidence",
}


def check_database(source: GraphSource, *, as_json: bool) -> int:
    """Check the selected database, print the report, and return the exit status.

    Raises:
        ConfigurationError: An option is wrong, or what the profile names is not there.
        Fault: The database cannot be reached.
    """
    report = asyncio.run(_report(source))
    if as_json:
        print_line(json_text(report.as_json()))
    else:
        Screen().show(_rendered(report))
    return 0


async def _report(source: GraphSource) -> DatabaseReport:
    if is_neo4j_url(source.url):
        return await _neo4j_report(source)
    with installed("postgres"):
        from gateway.checking.postgres_check import PostgresCheck  # noqa: PLC0415 - an extra
        from gateway.postgres.address import address_of  # noqa: PLC0415
    profile = source.profile
    return await PostgresCheck(address_of(source.url, profile.endpoint), profile.postgres, _prefixes(source)).report()


async def _neo4j_report(source: GraphSource) -> DatabaseReport:
    with installed("neo4j"):
        from gateway.checking.neo4j_check import Neo4jCheck  # noqa: PLC0415 - an extra
        from gateway.neo4j.address import address_of  # noqa: PLC0415
    profile = source.profile
    return await Neo4jCheck(address_of(source.url, profile.endpoint), profile.neo4j, _prefixes(source)).report()


def _prefixes(source: GraphSource) -> Mapping[str, str]:
    return database_prefixes(source.url, source.profile, source.prefixes)


def _rendered(report: DatabaseReport) -> RenderableType:
    """Return a report as a person reads it."""
    statements: list[RenderableType] = []
    if report.statements:
        # Not wrapped, however long: the lines are there to be copied.
        lines = Unwrapped(Text("\n".join(map(_clean_lines, report.statements))))
        statements = [Text("Someone who may change the schema can make what is missing:", STRONG), Text(), lines]
    return sections(
        [Text.assemble("Checked ", (clean(report.place), STRONG), ": it holds a graph in ", report.made_of, ".")],
        [claim_table({**_TITLES, "version": report.system}, report.claims)],
        [*map(warned, report.warnings)],
        statements,
    )


def _clean_lines(text: str) -> str:
    """Return a text with control characters escaped, except its line breaks."""
    return "\n".join(map(clean, text.split("\n")))
