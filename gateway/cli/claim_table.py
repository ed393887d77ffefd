"""The claims of a check, as a table for a person."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from gateway.checking.report import Claim
from gateway.cli.layout import STRONG
from gateway.cli.render import WARNING
from gateway.cli.standard_streams import clean, line
from gateway.sparql.engines.traits import TRAITS

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
