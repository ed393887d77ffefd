"""How a check looks at a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from gateway.checking.claims import Claim, Comparison, Report
from gateway.cli.layout import STRONG, Whole
from gateway.cli.render import WARNING, sections, warned
from gateway.cli.text import clean, line
from gateway.sparql.engines.traits import TRAITS

_FAINT = "dim"
_VALUE_CELLS = 24
_TITLES: Mapping[str, str] = {
    "engine": "Engine",
    "version": "Version",
    "post": "POST",
    "get": "GET",
    "row_cap": "Row cap",
    "time_limit": "Time-out",
    "deadline": "Time left",
    "lateral": "LATERAL",
    "rdf_1_2": "RDF 1.2",
    "text_search": "Text search",
    "named_graphs": "Named graphs",
    "union_default_graph": "Default is union",
    "triples": "Triples",
}


def report(answer: Report) -> RenderableType:
    """Show what a check found out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=STRONG, no_wrap=True)
    table.add_column(overflow="fold", min_width=_VALUE_CELLS)
    table.add_column(overflow="fold", style=_FAINT)
    for name, claim in answer.claims.by_name().items():
        table.add_row(_TITLES[name], _value(name, claim), Text(line(claim.why)))
    settings: list[RenderableType] = []
    if answer.settings:
        # Whole lines, however long: they are there to be copied.
        settings = [Text("For the profile:", STRONG), Text(), Whole(Text(answer.settings.rstrip()))]
    return sections(
        [Text.assemble((clean(answer.place), STRONG), " answers SPARQL queries.")],
        [table],
        [*map(_compared, answer.comparisons)],
        [*map(warned, answer.warnings)],
        settings,
    )


def _value(name: str, claim: Claim) -> Text:
    if claim.value is None:
        return Text("not determined", WARNING)
    return Text(clean(_words(name, claim)))


def _words(name: str, claim: Claim) -> str:
    value = claim.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return _number(name, value, at_least=claim.at_least)
    if name == "engine":
        return next((traits.name for engine, traits in TRAITS.items() if engine == value), str(value))
    return str(value)


def _number(name: str, value: int, *, at_least: bool) -> str:
    if name == "row_cap":
        return f"none up to {value:,} rows" if at_least else f"{value:,} rows"
    if name == "time_limit":
        return f"{value:,} s"
    return f"at least {value:,}" if at_least else f"{value:,}"


def _compared(comparison: Comparison) -> RenderableType:
    about = line(comparison.about)
    if comparison.not_compared:
        return Text.assemble(("? ", WARNING), f"{about}: not compared, {line(comparison.not_compared)}")
    if not comparison.differences:
        return Text.assemble(("= ", "green"), f"{about}: {comparison.ours:,}, SPARQLWrapper has the same")
    lines = "".join(f"\n    {line(difference)}" for difference in comparison.differences)
    return Text.assemble(
        ("≠ ", f"{STRONG} red"),
        f"{about}: this gateway has {comparison.ours:,}, SPARQLWrapper {comparison.theirs:,}",
        (lines, "red"),
    )
