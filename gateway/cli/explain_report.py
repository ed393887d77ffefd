"""Prints the cost of a call: counts, times, and each query as it was sent."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import RenderableType
from rich.text import Text

from gateway.cli.layout import STRONG, TYPE, KeyValues, Unwrapped
from gateway.cli.render import WARNING
from gateway.cli.screen import Screen
from gateway.cli.text import clean, counted
from gateway.escaping import printable
from gateway.telemetry.record import Record, Sent


def print_explained(screen: Screen, record: Record) -> None:
    """Print the record of a call below its answer."""
    screen.show()
    screen.show(_summary(record))
    for place, sent in enumerate(record.sent, 1):
        screen.show()
        screen.show(_title(place, sent))
        # Wrapping would break IRIs. The text can be sent again, because SPARQL reads these escapes.
        screen.show(Unwrapped(Text("\n".join(map(printable, sent.sparql.split("\n"))))))


def _summary(record: Record) -> RenderableType:
    queries = "1 query" if record.queries == 1 else f"{record.queries:,} queries"
    asked = [
        queries,
        *([f"{record.retries:,} of them sent again"] if record.retries else []),
        counted(record.rows, "row"),
        counted(record.bytes, "byte"),
        *([f"{record.overflows:,} too long for one query"] if record.overflows else []),
        *([f"asked in parts {counted(record.splits, 'time')}"] if record.splits else []),
    ]
    stages = {name: value for name, value in asdict(record.ms).items() if value and name not in {"total", "waiting"}}
    rows = [
        ("Asked", " · ".join(asked)),
        ("Cache", f"{record.cache_hits:,} found · {record.cache_misses:,} not found"),
        ("Time", f"{record.ms.total:,} ms, of which {record.ms.waiting:,} waiting for the graph"),
        ("Stages", " · ".join(f"{name} {value:,}" for name, value in stages.items())),
        ("Ended", ", ".join([record.outcome, *record.causes, *([record.error] if record.error else [])])),
    ]
    return KeyValues([(title, [text]) for title, text in rows])


def _title(place: int, sent: Sent) -> Text:
    size = f"{counted(sent.rows, 'row')}, {counted(sent.bytes, 'byte')}, {sent.ms:,} ms"
    title = Text.assemble((f"{place}. {clean(sent.template)}", STRONG), "  ", (size, TYPE))
    return title.append(f"  {sent.fault}", style=WARNING) if sent.fault else title
