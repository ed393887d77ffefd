"""The command `check`: checks an endpoint, a graph or a database, and prints the report."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from gateway.check.check import check_endpoint, check_graph
from gateway.check.databases import DatabaseReport
from gateway.check.report import Claim, Comparison, Report, SettingCheck, TemplateCheck
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.render import WARNING, sections, warned
from gateway.cli.screen import STRONG, ProgressBar, Screen, Unwrapped
from gateway.cli.streams import DIFFERENT, clean, line, print_line
from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.settings.profile import policy_of
from gateway.settings.storage import database_prefixes
from gateway.settings.urls import is_database_url, is_neo4j_url
from gateway.sparql.engines import TRAITS
from gateway.stores.endpoints import connect, installed
from gateway.stores.loaded import load
from gateway.terms.prefixes import merge
from gateway.transport.base import Transport

_FAINT = "dim"
_VALUE_CELLS = 24
"""Minimum width of a value."""


def claim_table(titles: Mapping[str, str], claims: Mapping[str, Claim]) -> Table:
    """Return claims as rows: title, value, evidence.

    Args:
        titles: What each claim is called, by name.
        claims: The claims by name.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(style=STRONG, no_wrap=True)
    table.add_column(overflow="fold", min_width=_VALUE_CELLS)
    table.add_column(overflow="fold", style=_FAINT)
    for name, claim in claims.items():
        table.add_row(titles[name], _value(name, claim), Text(line(claim.why)))
    return table


def _value(name: str, claim: Claim) -> Text:
    at_least = "at least " if claim.at_least else ""
    match claim.value:
        case None:
            return Text("not determined", WARNING)
        case bool(value):
            return Text("yes" if value else "no")
        case int(value) if name == "row_cap":
            return Text(f"none up to {value:,} rows" if claim.at_least else f"{value:,} rows")
        case int(value):
            return Text(f"{at_least}{value:,}{' s' if name == 'time_limit' else ''}")
        case value if name == "engine":
            return Text(next((traits.name for engine, traits in TRAITS.items() if engine == value), clean(value)))
        case value:
            return Text(clean(value))


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
    "blank_nodes": "Blank nodes",
    "index_outgoing": "Index of outgoing edges",
    "index_incoming": "Index of incoming edges",
    "index_nodes": "Index of nodes",
    "index_types": "Index of types",
    "names": "Properties of names",
    "index_names": "Index of names",
    "index_parts": "Index of parts of names",
    "index_evidence": "Index of evidence",
}


def check_database(source: GraphSource, *, as_json: bool, quiet: bool) -> int:
    """Check the selected database, print the report, and return the exit status.

    Raises:
        ConfigurationError: An option is wrong, or what the profile names is not there.
        Fault: The database cannot be reached.
    """
    with ProgressBar(f"Checking {source.name}", quiet=quiet):
        report = asyncio.run(_report(source))
    if as_json:
        print_line(json_text(report.as_json()))
    else:
        Screen().show(_rendered(report))
    return 0


async def _report(source: GraphSource) -> DatabaseReport:
    url, profile = source.url, source.profile
    prefixes = database_prefixes(url, profile, source.prefixes)
    if is_neo4j_url(url):
        with installed("neo4j"):
            from gateway.check.neo4j_check import Neo4jCheck  # noqa: PLC0415 - an extra
            from gateway.neo4j import connection as neo4j  # noqa: PLC0415
        return await Neo4jCheck(neo4j.address_of(url, profile.endpoint), profile.neo4j, prefixes).report()
    with installed("postgres"):
        from gateway.check.databases import PostgresCheck  # noqa: PLC0415 - an extra
        from gateway.postgres import connection as postgres  # noqa: PLC0415
    return await PostgresCheck(postgres.address_of(url, profile.endpoint), profile.postgres, prefixes).report()


def _rendered(report: DatabaseReport) -> RenderableType:
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
    return "\n".join(map(clean, text.split("\n")))


_KEPT = (
    "For a week, this endpoint is asked as it was found, wherever the profile says nothing else, but for `graphs`: "
    "which graphs to ask only the profile says."
)
_HOLDS: Mapping[bool | None, Text] = {
    True: Text("yes"),
    False: Text("no", f"{STRONG} red"),
    None: Text("not determined", WARNING),
}
"""What is shown for a setting that holds, or does not."""

_ENDPOINT_TITLES: Mapping[str, str] = {
    "engine": "Engine",
    "version": "Version",
    "post": "POST",
    "get": "GET",
    "row_cap": "Row cap",
    "sentinel": "Sentinel",
    "format": "Format",
    "time_limit": "Time-out",
    "deadline": "Time left",
    "lateral": "LATERAL",
    "rdf_1_2": "RDF 1.2",
    "text_search": "Text search",
    "named_graphs": "Named graphs",
    "union_default_graph": "Default is union",
    "triples": "Triples",
    "blank_nodes": "Blank nodes",
    "names": "Names",
}


def check(options: CommonOptions) -> int:
    """Check the selected endpoint or graph, print the report, and return the exit status.

    Raises:
        ConfigurationError: An option is wrong.
        Fault: The endpoint cannot be reached, or it is not a SPARQL endpoint.
    """
    source = GraphSource(options)
    if is_database_url(source.url):
        return check_database(source, as_json=options.as_json, quiet=options.quiet)
    report = _checked(source, options)
    is_kept = report.found is not None and report.found.keep(source.url, source.profile, options.store_folder)
    if options.as_json:
        print_line(json_text({**report.as_json(), "kept": is_kept}))
    else:
        Screen().show(rendered(report, is_kept=is_kept))
    return 0 if report.agrees and report.holds else DIFFERENT


def _checked(source: GraphSource, options: CommonOptions) -> Report:
    if source.url and policy_of(source.profile) is not None:
        raise ConfigurationError(
            "check asks for the whole graph, and the profile hides a part of it ([hidden]).",
            next_step="Check the endpoint with a profile that hides nothing.",
        )
    with ProgressBar(f"Checking {source.name}", quiet=options.quiet) as bar:
        if source.url:
            http = connect(source.url, source.profile)
            return asyncio.run(_closing(http, check_endpoint(http, source.profile)))
        transport, declared = load(options.graph, source.profile, bar.show_load, source.parsed_files)
        prefixes, _ = merge([("the profile", source.profile.prefixes), *declared])
        bar.show_next(f"Checking {source.name}")
        return asyncio.run(_closing(transport, check_graph(transport, source.name, source.profile, prefixes)))


async def _closing(transport: Transport, report: Awaitable[Report]) -> Report:
    try:
        return await report
    finally:
        await transport.close()


def rendered(report: Report, *, is_kept: bool = False) -> RenderableType:
    """Return a report as a person reads it, and whether what it found is kept."""
    settings: list[RenderableType] = []
    if report.settings:
        # Not wrapped, however long: the lines are there to be copied.
        settings = [Text("For the profile:", STRONG), Text(), Unwrapped(Text(report.settings.rstrip()))]
    kept = [Text(_KEPT, _FAINT)] if is_kept and report.found is not None and not report.found.is_empty else []
    return sections(
        [Text.assemble("Checked ", (clean(report.place), STRONG), ": it answers SPARQL queries.")],
        [claim_table(_ENDPOINT_TITLES, report.claims.by_name())],
        _profile(report.profile),
        [*map(_compared, report.comparisons)],
        _templates(report.templates),
        [*map(warned, report.warnings)],
        kept,
        settings,
    )


def _profile(checks: Sequence[SettingCheck]) -> list[RenderableType]:
    """Return what holds of the profile as a table, if it says anything of its endpoint."""
    if not checks:
        return []
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("Setting", style=STRONG, overflow="fold")
    table.add_column("The profile says", overflow="fold")
    table.add_column("Holds", no_wrap=True)
    table.add_column("Evidence", style=_FAINT, overflow="fold")
    for check in checks:
        table.add_row(check.setting, Text(clean(check.stated)), _HOLDS[check.holds], Text(line(check.why)))
    return [table]


def _templates(found: TemplateCheck) -> list[RenderableType]:
    if not found.answered and not found.refused:
        return []
    lines: list[RenderableType] = [Text.assemble(("= ", "green"), f"{found.answered} kinds of queries were answered")]
    for sign, of_which, style in (("≠", found.refused, f"{STRONG} red"), ("?", found.not_run, WARNING)):
        what = "refused" if of_which is found.refused else "not known"
        lines += [
            Text.assemble((f"{sign} ", style), f"query {name}: {what}: {line(why)}") for name, why in of_which.items()
        ]
    lines += [Text.assemble(("≠ ", f"{STRONG} red"), line(doubt)) for doubt in found.doubts]
    if found.helps:
        lines.append(Text(f"With {found.helps}, all of these were answered, without evidence."))
    return lines


def _compared(comparison: Comparison) -> RenderableType:
    about = line(comparison.about)
    if comparison.not_compared:
        return Text.assemble(("? ", WARNING), f"{about}: not compared, because {line(comparison.not_compared)}")
    if not comparison.differences:
        return Text.assemble(("= ", "green"), f"{about}: {comparison.ours:,}, the same as SPARQLWrapper")
    lines = "".join(f"\n    {line(difference)}" for difference in comparison.differences)
    return Text.assemble(
        ("≠ ", f"{STRONG} red"),
        f"{about}: this gateway has {comparison.ours:,}, SPARQLWrapper {comparison.theirs:,}",
        (lines, "red"),
    )
