"""What a run showed: measurements, and the lines of the acceptance with target and result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

Verdict = Literal["met", "missed", "not measured", "told"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the acceptance.

    Attributes:
        number: Its number in the issue, with a letter where it has several parts.
        what: What was measured, and where.
        unit: Of target and result.
        target: The bound; None where the figure is only to be told.
        result: What came out; None where it could not be measured.
        at_least: Whether the bound is a lower one.
        note: Why it could not be measured, or how it was.
    """

    number: str
    what: str
    unit: str
    target: float | None
    result: float | None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the target was met."""
        if self.result is None:
            return "not measured"
        if self.target is None:
            return "told"
        met = self.result >= self.target if self.at_least else self.result <= self.target
        return "met" if met else "missed"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One contender on one question at one place.

    Attributes:
        question: What was asked.
        engine: Who was asked.
        delay_ms: What every request took longer.
        contender: Who asked.
        seconds: The median time.
        ratio: That over the gateway's, both at the engine.
        requests: Requests sent; None where they were not counted.
        rows: Rows that came.
        bytes: Bytes that came, unpacked.
        cpu_us_per_row: CPU time of the contender's process for a row, in microseconds.
        runs: How often it ran.
    """

    question: str
    engine: str
    delay_ms: int
    contender: str
    seconds: float
    ratio: float
    requests: int | None = None
    rows: int | None = None
    bytes: int | None = None
    cpu_us_per_row: float | None = None
    runs: int = 0


@dataclass(slots=True)
class Report:
    """Everything that a run showed."""

    lines: list[Line] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)

    @property
    def json(self) -> dict[str, Any]:
        """The report as JSON writes it."""
        return {
            "lines": [{**asdict(line), "verdict": line.verdict} for line in self.lines],
            "measurements": [asdict(measurement) for measurement in self.measurements],
        }


def show(report: Report, console: Console) -> None:
    """Print the report as two tables."""
    if report.measurements:
        console.print(_measurements(report.measurements))
    console.print(_lines(sorted(report.lines, key=lambda line: line.number)))


def _measurements(measurements: Iterable[Measurement]) -> Table:
    table = Table(title="Side by side: medians; ratio 1 is this gateway at the engine")
    for name in ("question", "engine", "delay", "contender"):
        table.add_column(name, overflow="fold")
    for name in ("ratio", "ms", "requests", "rows", "MB", "µs CPU a row", "runs"):
        table.add_column(name, justify="right")
    before = ""
    for one in measurements:
        place = f"{one.question} {one.engine} {one.delay_ms}"
        if before and place != before:
            table.add_section()
        shown = ("", "", "") if place == before else (one.question, one.engine, f"+{one.delay_ms} ms")
        before = place
        table.add_row(
            *shown,
            one.contender,
            f"{one.ratio:.3g}",
            f"{one.seconds * 1000:,.0f}",
            _number(one.requests),
            _number(one.rows),
            "" if one.bytes is None else f"{one.bytes / 1e6:.2f}",
            "" if one.cpu_us_per_row is None else f"{one.cpu_us_per_row:.1f}",
            str(one.runs),
        )
    return table


def _lines(lines: Sequence[Line]) -> Table:
    table = Table(title="Acceptance")
    table.add_column("line")
    table.add_column("what", overflow="fold")
    table.add_column("target", justify="right")
    table.add_column("result", justify="right")
    table.add_column("")
    for line in lines:
        bound = "" if line.target is None else f"{'≥' if line.at_least else '≤'} {line.target:g} {line.unit}"
        result = "" if line.result is None else f"{line.result:.3g} {line.unit}"
        what = f"{line.what} ({line.note})" if line.note else line.what
        table.add_row(line.number, what, bound.strip(), result.strip(), line.verdict)
    return table


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
