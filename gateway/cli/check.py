"""The command `check`: checks an endpoint or a graph, and prints the report."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from gateway.checking.check import check_endpoint, check_graph
from gateway.checking.report import Comparison, Report, SettingCheck
from gateway.cli.check_database import check_database
from gateway.cli.claim_table import claim_table
from gateway.cli.graph_source import GraphSource
from gateway.cli.layout import STRONG, Unwrapped
from gateway.cli.options import CommonOptions
from gateway.cli.render import WARNING, sections, warned
from gateway.cli.screen import ProgressBar, Screen
from gateway.cli.standard_streams import DIFFERENT, clean, line, print_line
from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.settings.database_url import is_database_url
from gateway.settings.profile import policy_of
from gateway.stores.endpoints import connect
from gateway.stores.loaded import load
from gateway.transport.base import Transport

_FAINT = "dim"
_HOLDS: Mapping[bool | None, Text] = {
    True: Text("yes"),
    False: Text("no", f"{STRONG} red"),
    None: Text("not determined", WARNING),
}
"""What is shown for a setting that holds, or does not."""

_TITLES: Mapping[str, str] = {
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
}


def check(options: CommonOptions) -> int:
    """Check the selected endpoint or graph, print the report, and return the exit status.

    Raises:
        ConfigurationError: An option is wrong.
        Fault: The endpoint cannot be reached, or it is not a SPARQL endpoint.
    """
    source = GraphSource(options)
    if is_database_url(source.url):
        return check_database(source, as_json=options.as_json)
    report = _checked(source, options)
    if options.as_json:
        print_line(json_text(report.as_json()))
    else:
        Screen().show(rendered(report))
    return 0 if report.agrees and report.holds else DIFFERENT


def _checked(source: GraphSource, options: CommonOptions) -> Report:
    if source.url and policy_of(source.profile) is not None:
        raise ConfigurationError(
            "check asks for the whole graph, and the profile hides a part of it ([hidden]).",
            next_step="Check the endpoint with a profile that hides nothing.",
        )
    if source.url:
        http = connect(source.url, source.profile)
        return asyncio.run(_closing(http, check_endpoint(http, source.profile)))
    with ProgressBar(quiet=options.as_json or options.quiet) as bar:
        transport, _ = load(options.graph, source.profile, bar.show_load, source.parsed_files)
    return asyncio.run(_closing(transport, check_graph(transport, source.name, source.profile)))


async def _closing(transport: Transport, report: Awaitable[Report]) -> Report:
    try:
        return await report
    finally:
        await transport.close()


def rendered(report: Report) -> RenderableType:
    """Return a report as a person reads it."""
    settings: list[RenderableType] = []
    if report.settings:
        # Not wrapped, however long: the lines are there to be copied.
        settings = [Text("For the profile:", STRONG), Text(), Unwrapped(Text(report.settings.rstrip()))]
    return sections(
        [Text.assemble("Checked ", (clean(report.place), STRONG), ": it answers SPARQL queries.")],
        [claim_table(_TITLES, report.claims.by_name())],
        _profile(report.profile),
        [*map(_compared, report.comparisons)],
        [*map(warned, report.warnings)],
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
