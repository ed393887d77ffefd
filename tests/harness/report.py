"""What answers are worth, and what the answers of a run are worth together."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from tests.faults.catalogue import TOLD

_SHOWN: Final = 20
"""Findings that are printed; a file has all of them."""

_LONGEST: Final = 3_000
"""Characters of a finding that are printed."""


class Verdict(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    """It says that it is whole, hubs aside that the question kept out, and equals what is right."""

    MARKED = "marked"
    """It says that it is not whole, and all that it tells is true."""

    ERROR = "error"
    """The graph could not be asked, and that is what it says."""

    WRONG = "wrong"
    """It says that it is whole, or that something does not exist, and that is not so."""

    UNTRUE = "untrue"
    """It says that it is not whole, and yet tells what is not so; or what it says beside the graph is not so."""

    CRASHED = "crashed"
    """Something was raised that is no error of the gateway's."""


BAD: Final = frozenset({Verdict.WRONG, Verdict.UNTRUE, Verdict.CRASHED})
"""Verdicts that no answer may get, whatever happens to an endpoint."""

Judgement = tuple[Verdict, str]
"""What an answer is worth, and how it differs or what it lacks."""


@dataclass
class Report:
    """What the answers of a run are worth.

    Attributes:
        bad: The verdicts of which there should be none.
        lacking: The largest share of the answers of an engine that may be errors or incomplete.
        verdicts: How many answers have each verdict, by engine or store and by tool.
        findings: Each answer that is neither right nor incomplete, with its question.
        injected: How often each fault happened, where there were some.
    """

    bad: frozenset[Verdict] = BAD | {Verdict.ERROR}
    lacking: float = 1.0
    verdicts: Counter[tuple[str, str, Verdict]] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)
    injected: Counter[str] = field(default_factory=Counter)

    def add(self, engine: str, tool: str, question: Any, judgement: Judgement, **further: str) -> None:
        """Count an answer.

        Args:
            engine: Which engine or store was asked.
            tool: The tool.
            question: The question, for whoever reads a finding.
            judgement: What the answer is worth.
            further: What else a reader needs, such as the graph.
        """
        verdict, detail = judgement
        self.verdicts[engine, tool, verdict] += 1
        if verdict not in {Verdict.RIGHT, Verdict.MARKED}:
            found = {"engine": engine, **further, "verdict": verdict.value, "detail": detail, "question": question}
            self.findings.append(found)

    def count(self, *verdicts: Verdict, engine: str = "") -> int:
        """Return how many answers have some verdict, of all engines or of one."""
        return sum(n for (of, _, verdict), n in self.verdicts.items() if verdict in verdicts and engine in {"", of})

    @property
    def passed(self) -> bool:
        """Whether nothing is bad, and no engine left too much open."""
        return not self.count(*self.bad) and all(
            self.count(Verdict.MARKED, Verdict.ERROR, engine=engine)
            <= self.lacking * self.count(*Verdict, engine=engine)
            for engine in {engine for engine, _, _ in self.verdicts}
        )

    def as_text(self) -> str:
        """Return a line for each tool, and the first findings."""
        return "".join(f"{line}\n" for line in (*self._lines(), *map(_written, self.findings[:_SHOWN])))

    def as_json(self) -> Sequence[dict[str, Any]]:
        """Return all findings."""
        return self.findings

    def _lines(self) -> Iterator[str]:
        for engine, tool in sorted({(engine, tool) for engine, tool, _ in self.verdicts}):
            counts = {verdict: self.verdicts[engine, tool, verdict] for verdict in Verdict}
            yield f"{engine:12} {tool:20} " + ", ".join(f"{verdict} {n}" for verdict, n in counts.items() if n)
        if self.injected:
            rarest = min(self.injected[fault.name] for fault in TOLD)
            yield f"{self.injected.total()} faults, each at least {rarest} times"
        complete = self.count(Verdict.RIGHT) / max(1, self.verdicts.total())
        yield f"{self.verdicts.total()} answers, {complete:.1%} right and complete, {len(self.findings)} findings"


def _written(finding: dict[str, Any]) -> str:
    return json.dumps(finding, ensure_ascii=False)[:_LONGEST]
