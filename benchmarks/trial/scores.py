"""What a trial showed: F1 against the known answers, and what was read on the way."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.trial.questions import Question

_ENTITY = "http://www.wikidata.org/entity/"


@dataclass(slots=True)
class Cost:
    """What answering a question took.

    Attributes:
        calls: Calls of tools, or queries.
        characters: Characters of their answers, errors included.
        listed: Characters of the longest `tools/list`, which a client may read again and again; not among `characters`.
        tokens: Tokens of what `characters` counts; 0 where nobody counted.
        failed: Calls that were answered by an error.
        by_tool: Calls by tool.
    """

    calls: int = 0
    characters: int = 0
    listed: int = 0
    tokens: int = 0
    failed: int = 0
    by_tool: dict[str, int] = field(default_factory=lambda: defaultdict(int))


@dataclass(frozen=True, slots=True)
class Score:
    """One question as it was answered.

    Attributes:
        question: The question.
        given: The answers that were given, as IRIs or text.
        f1: The harmonic mean of precision and recall; 0 to 1.
        cost: What it took.
    """

    question: Question
    given: frozenset[str]
    f1: float
    cost: Cost


def f1(gold: frozenset[str], given: frozenset[str]) -> float:
    """Return the harmonic mean of precision and recall; 0 where nothing right was given."""
    return 2 * len(gold & given) / (len(gold) + len(given)) if gold or given else 1.0


def iri(answer: str) -> str:
    """Return an answer as the known ones are written: `wd:Q42`, `Q42` and `<IRI>` are all the IRI."""
    text = answer.strip().removeprefix("<").removesuffix(">").removeprefix("wd:")
    return f"{_ENTITY}{text}" if text[:1] == "Q" and text[1:].isdecimal() else text


def costs(calls: Iterable[Mapping[str, Any]], arm: str, tokens: Callable[[str], int] | None) -> Mapping[int, Cost]:
    """Return what each question took in one arm.

    Args:
        calls: The entries that `benchmarks.trial.recorder` wrote.
        arm: "tools" or "sparql".
        tokens: Counts the tokens of a text.
    """
    found: dict[int, Cost] = defaultdict(Cost)
    for call in calls:
        if call["arm"] != arm:
            continue
        cost = found[call["number"]]
        if call["what"] == "tools/list":
            cost.listed = max(cost.listed, len(call["text"]))
            continue
        cost.calls += 1
        cost.by_tool[call["what"]] += 1
        cost.characters += len(call["text"])
        cost.failed += call["failed"]
        cost.tokens += tokens(call["text"]) if tokens else 0
    return found


def scores(
    questions: Sequence[Question], answers: Mapping[int, Sequence[str]], costs: Mapping[int, Cost]
) -> Sequence[Score]:
    """Return the scores of the questions; one without an answer has no answers."""
    return [
        Score(question, given, f1(question.gold, given), costs.get(question.number, Cost()))
        for question in questions
        for given in [frozenset(map(iri, answers.get(question.number, ())))]
    ]


def read_answers(folder: Path, arm: str) -> Mapping[int, Sequence[str]]:
    """Return the answers of an arm, from all files `ARM-answers*.json`: `{"7": ["wd:Q42"], ...}`.

    Raises:
        ValueError: A file is no such JSON, or two files answer one question.
    """
    found: dict[int, Sequence[str]] = {}
    for file in sorted(folder.glob(f"{arm}-answers*.json")):
        for number, given in json.loads(file.read_text(encoding="utf-8")).items():
            if int(number) in found:
                raise ValueError(f"{file.name}: question {number} is answered twice")
            found[int(number)] = [str(each) for each in given]
    return found


def summary(scored: Sequence[Score]) -> Mapping[str, float]:
    """Return the figures of one arm: sums, and means over its questions."""
    by_tool: dict[str, int] = defaultdict(int)
    for score in scored:
        for tool, calls in score.cost.by_tool.items():
            by_tool[tool] += calls
    return {
        "questions": len(scored),
        "F1": round(fmean(score.f1 for score in scored), 3),
        "exactly right": sum(score.f1 == 1 for score in scored),
        "calls": sum(score.cost.calls for score in scored),
        "calls a question": round(sum(score.cost.calls for score in scored) / len(scored), 2),
        "characters": sum(score.cost.characters for score in scored),
        "characters a question": round(sum(score.cost.characters for score in scored) / len(scored)),
        "tokens": sum(score.cost.tokens for score in scored),
        "errors": sum(score.cost.failed for score in scored),
        "listed at most": max(score.cost.listed for score in scored),
        **{f"calls of {tool}": calls for tool, calls in sorted(by_tool.items())},
    }
