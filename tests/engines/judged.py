"""What the answers of an engine are worth: counts, JSON, beside those of another run, and as the table in docs/."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from tests.drawn.questions import Question
from tests.engines.catalogue import Engine
from tests.generated_docs import as_table
from tests.harness.report import Verdict


class Worth(StrEnum):
    """What an answer is worth to whoever asked."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    REFUSED = "refused"
    WRONG = "wrong"


_WORTH: Final[Mapping[Verdict, Worth]] = {
    Verdict.RIGHT: Worth.COMPLETE,
    Verdict.MARKED: Worth.PARTIAL,
    Verdict.ERROR: Worth.REFUSED,
    Verdict.WRONG: Worth.WRONG,
    Verdict.UNTRUE: Worth.WRONG,
    Verdict.CRASHED: Worth.WRONG,
}

_SHOWN: Final = 10
"""Wrong answers that are shown of one engine; a report has all of them."""


class Part(StrEnum):
    """Which questions: drawn ones, those about odd IRIs, and drawn ones of which answers are cut."""

    DRAWN = "drawn"
    ODD = "odd IRIs"
    CUT = "cut"


@dataclass(frozen=True)
class Judged:
    """An answer.

    Attributes:
        part: Among which questions the question is.
        question: The question.
        verdict: What it is worth.
        detail: Why.
        cuts: How many of the answers that it was made of were cut.
    """

    part: Part
    question: Question
    verdict: Verdict
    detail: str
    cuts: int = 0

    @property
    def worth(self) -> Worth:
        """What it is worth to whoever asked."""
        return _WORTH[self.verdict]

    def as_json(self) -> dict[str, Any]:
        """Return it for a report."""
        return {
            "part": self.part.value,
            "question": self.question.as_json(),
            "worth": self.worth.value,
            "verdict": self.verdict.value,
            "detail": self.detail[:1_000],
            "cuts": self.cuts,
        }


@dataclass
class EngineReport:
    """What the answers of one engine are worth.

    Attributes:
        engine: Its name.
        recognised: What the gateway took it for.
        answers: All answers.
        not_run: Why it was not asked; empty where it was.
        seconds: How long it took.
    """

    engine: str
    recognised: str = ""
    answers: list[Judged] = field(default_factory=list)
    not_run: str = ""
    seconds: float = 0.0

    def counts(self, part: Part) -> Counter[Worth]:
        """Return how many answers are worth what."""
        return Counter(answer.worth for answer in self.answers if answer.part is part)

    @property
    def wrong(self) -> list[Judged]:
        """The answers that nobody may get."""
        return [answer for answer in self.answers if answer.worth is Worth.WRONG]

    def as_json(self) -> dict[str, Any]:
        """Return it for a report."""
        return {
            "engine": self.engine,
            "recognised": self.recognised,
            "not_run": self.not_run,
            "seconds": round(self.seconds, 1),
            "answers": [answer.as_json() for answer in self.answers],
        }

    def as_text(self) -> str:
        """Return a line for each part, and for each wrong answer one."""
        if self.not_run:
            return f"{self.engine:16} NOT RUN: {self.not_run}\n"
        lines = [f"{self.engine:16} {part:9} {shown(self.counts(part))}" for part in Part if self.counts(part)]
        lines += [f"{'':16} WRONG ({one.verdict}, {one.part}): {one.detail[:200]}" for one in self.wrong[:_SHOWN]]
        lines.append(f"{'':16} {sum(one.cuts for one in self.answers)} cuts, {self.seconds:.0f} s")
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class Engines:
    """What the answers of all engines are worth.

    Attributes:
        questions: How many were drawn for each.
        seed: What they were drawn from.
        reports: What each engine did.
        dispensable: The engines that need not run.
        before: The report of another run of the same questions, to compare with.
    """

    questions: int
    seed: int
    reports: Sequence[EngineReport]
    dispensable: Sequence[str] = ()
    before: Mapping[str, Any] | None = None

    @property
    def passed(self) -> bool:
        """Whether no answer was wrong, and all engines ran that have to."""
        return not any(one.wrong or (one.not_run and one.engine not in self.dispensable) for one in self.reports)

    def as_text(self) -> str:
        """Return the lines of all engines, and what the comparison shows."""
        lines = fallen(self.reports, self.before) if self.before else ()
        return "".join([*(one.as_text() for one in self.reports), *(f"{line}\n" for line in lines)])

    def as_json(self) -> dict[str, Any]:
        """Return all answers."""
        engines = [one.as_json() for one in self.reports]
        return {"questions": self.questions, "seed": self.seed, "engines": engines}


def shown(counts: Mapping[Worth, int]) -> str:
    """Return counts in the order of the table's legend."""
    return " / ".join(str(counts.get(worth, 0)) for worth in Worth)


def fallen(reports: Sequence[EngineReport], before: Mapping[str, Any]) -> Iterator[str]:
    """Yield, by engine and part, how many answers are complete beside another run, and which no longer are.

    Args:
        reports: This run.
        before: The report of the other run, of the same questions.
    """
    others = {one["engine"]: one for one in before["engines"]}
    for report in reports:
        if report.engine not in others or report.not_run:
            continue
        then = {_key(one): one for one in others[report.engine]["answers"]}
        for part in Part:
            now = [one for one in map(Judged.as_json, report.answers) if one["part"] == part and _key(one) in then]
            complete = [one for one in now if one["worth"] == Worth.COMPLETE]
            was = [one for one in now if then[_key(one)]["worth"] == Worth.COMPLETE]
            yield f"{report.engine:16} {part:9} complete: {len(complete)}, before: {len(was)}, of {len(now)}"
            for one in was:
                if one["worth"] != Worth.COMPLETE:
                    yield f"{'':16} now {one['worth']}: {one['detail'][:200]}: {one['question']}"


def _key(answer: Mapping[str, Any]) -> str:
    # A report that was read has lists where this one has tuples, and may be older than some of what a question has.
    return f"{answer['part']} {Question.of_json(answer['question'])}"


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


def table_rows(engines: Sequence[Engine], reports: Sequence[EngineReport]) -> list[tuple[str, ...]]:
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


def write_table(page: Path, engines: Sequence[Engine], run: Engines) -> None:
    """Write the table between its markers, and above it what was asked.

    Args:
        page: The page.
        engines: All engines, in the order of the table.
        run: What each did.

    Raises:
        ValueError: The page has no such markers.
    """
    text = page.read_text(encoding="utf-8")
    asked = (
        f"`make engines QUESTIONS={run.questions} SEED={run.seed}`: "
        "complete / partial / refused / wrong, where wrong is wrong and complete, or untrue.\n\n"
    )
    table = asked + as_table(_HEADER, table_rows(engines, run.reports))
    written, places = _MARKED.subn(lambda marks: f"{marks[1]}{table}{marks[2]}", text)
    if places != 1:
        raise ValueError(f"{page} has {places} places for the table")
    page.write_text(written, encoding="utf-8")


def named(page: Path) -> list[str]:
    """Return the engines that the table of a page names."""
    found = _MARKED.search(page.read_text(encoding="utf-8"))
    return re.findall(r"^\| `([^`]+)` \|", found[0], re.MULTILINE) if found else []


def _cells(engine: Engine, report: EngineReport) -> tuple[str, ...]:
    if report.not_run or not report.answers:
        return ("not run", "", "", "")
    counted = {part: report.counts(part) for part in Part}
    cells = [shown(counted[part]) if counted[part] else "-" for part in (Part.DRAWN, Part.ODD, Part.CUT)]
    return (report.recognised + (f", with {engine.settings}" if engine.settings else ""), *cells)
