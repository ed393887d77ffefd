"""The table of engines in the documentation, which a run writes."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.engines.engine import Engine
from tests.engines.judged import EngineReport, Part, shown
from tests.generated_docs import as_table

_MARKED: Final = re.compile(r"(<!-- engines -->\n).*?(<!-- end of engines -->\n)", re.DOTALL)
_HEADER: Final = (
    "engine",
    "version",
    "recognised as",
    "drawn",
    "odd IRIs",
    "a quarter of the answers cut",
    "bound to loopback by",
)


def rows(engines: Sequence[Engine], reports: Sequence[EngineReport]) -> list[tuple[str, ...]]:
    """Return a row for each engine, one that was not run included."""
    by_name = {report.engine: report for report in reports}
    return [
        (
            f"`{engine.name}`",
            engine.version,
            *_cells(engine, by_name.get(engine.name, EngineReport(engine.name))),
            engine.bound,
        )
        for engine in engines
    ]


def write(page: Path, engines: Sequence[Engine], reports: Sequence[EngineReport], run: Mapping[str, int]) -> None:
    """Write the table between its markers, and above it what was asked.

    Args:
        page: The page.
        engines: All engines, in the order of the table.
        reports: What each did.
        run: The numbers of questions and the seed.

    Raises:
        ValueError: The page has no such markers.
    """
    text = page.read_text(encoding="utf-8")
    asked = (
        f"`make engines QUESTIONS={run['questions']} SEED={run['seed']}`: "
        "complete / partial / refused / wrong, where wrong is wrong and complete, or untrue.\n\n"
    )
    table = asked + as_table(_HEADER, rows(engines, reports))
    written, places = _MARKED.subn(lambda marks: f"{marks[1]}{table}{marks[2]}", text)
    if places != 1:
        raise ValueError(f"{page} has {places} places for the table")
    page.write_text(written, encoding="utf-8")


def names(page: Path) -> list[str]:
    """Return the engines that the table of a page names."""
    found = _MARKED.search(page.read_text(encoding="utf-8"))
    return re.findall(r"^\| `([^`]+)` \|", found[0], re.MULTILINE) if found else []


def _cells(engine: Engine, report: EngineReport) -> tuple[str, ...]:
    if report.not_run or not report.answers:
        return ("not run", "", "", "")
    counted = {part: report.counts(part) for part in Part}
    cells = [shown(counted[part]) if counted[part] else "-" for part in (Part.DRAWN, Part.ODD, Part.CUT)]
    return (report.recognised + (f", with {engine.settings}" if engine.settings else ""), *cells)
