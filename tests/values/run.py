"""Asks drawn questions of a gateway, and counts what the answers are worth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.answers.models import CompactAnswer
from gateway.errors import GatewayError
from gateway.tools.gateway import Gateway
from tests.values.answers import Json, next_page, told
from tests.values.judge import BAD, Verdict, judge
from tests.values.oracle import answer
from tests.values.questions import Question
from tests.values.walks import Graph


@dataclass
class Report:
    """What the answers of one store are worth.

    Attributes:
        store: The store.
        verdicts: How many answers have each verdict.
        findings: Each answer that is wrong, untrue or a crash, and each question that was refused.
    """

    store: str
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    findings: list[dict[str, Any]] = field(default_factory=list)

    def add(self, graph: str, question: Question, verdict: Verdict, detail: str) -> None:
        """Count an answer."""
        self.verdicts[verdict] += 1
        if verdict in BAD or verdict is Verdict.REFUSED:
            found = {"store": self.store, "graph": graph, "verdict": verdict.value}
            self.findings.append({**found, "detail": detail, "question": question})

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong, and at most a tenth is refused or incomplete."""
        lacking = self.verdicts[Verdict.REFUSED] + self.verdicts[Verdict.RIGHT_INCOMPLETE]
        return self.has_nothing_bad and lacking * 10 <= self.verdicts.total()

    @property
    def has_nothing_bad(self) -> bool:
        """Whether no answer is wrong, untrue or a crash."""
        return not any(self.verdicts[verdict] for verdict in BAD)

    def as_text(self) -> str:
        """Return a line."""
        counts = ", ".join(f"{self.verdicts[one]} {one}" for one in Verdict if self.verdicts[one])
        return f"{self.store:12} {self.verdicts.total()} questions: {counts}\n"


async def ask(gateway: Gateway, name: str, graph: Graph, questions: Sequence[Question], report: Report) -> None:
    """Ask questions about one graph and judge the answers.

    Args:
        gateway: Over the graph.
        name: Of the graph, for the report.
        graph: What the store holds.
        questions: The questions.
        report: Counts the answers.
    """
    for question in questions:
        report.add(name, question, *await asked(gateway, graph, question))


async def asked(gateway: Gateway, graph: Graph, question: Question) -> tuple[Verdict, str]:
    """Ask a question, read all pages of the answer, or the first where a limit was given, and judge them."""
    try:
        pages = await _pages(gateway, question)
    except GatewayError as error:
        return Verdict.REFUSED, f"{type(error).__name__}: {error.wrong}"
    except Exception as error:  # noqa: BLE001 - an exception that is no error of the gateway's is a finding
        return Verdict.CRASHED, repr(error)
    expand = gateway.prefixes.expand
    return judge(question, answer(graph, question), told(pages, expand), expand)


async def _pages(gateway: Gateway, question: Question) -> list[Json]:
    tool, arguments = question["tool"], {name: value for name, value in question.items() if name != "tool"}
    pages = [_written(await gateway.call(tool, arguments, shape="compact"))]
    while "limit" not in question and (further := next_page(pages[-1])) is not None:
        pages.append(_written(await gateway.call(tool, {**arguments, **further}, shape="compact")))
    return pages


def _written(given: Any) -> Json:
    if isinstance(given, CompactAnswer):
        return given.written
    written: Json = given.as_json()
    return written
