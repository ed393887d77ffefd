"""The questions of a trial, drawn by seed, and the answers that hold on the graph."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.shared_data import FOLDER

FILE: Final = FOLDER / "questions-dev.json"
GRAPH: Final = FOLDER / "wd50k.nt.gz"


@dataclass(frozen=True, slots=True)
class Question:
    """A question whose answers are known.

    Attributes:
        number: Its place in the draw, from 1.
        name: The set it is from, and its ID there.
        text: The question.
        gold: The answers on this graph: IRIs, and literals for a few questions. Never shown to whoever answers.
    """

    number: int
    name: str
    text: str
    gold: frozenset[str]


def draw(count: int, seed: int, file: Path = FILE) -> Sequence[Question]:
    """Return some of the questions; the same ones for the same seed.

    Args:
        count: How many.
        seed: Which.
        file: The file of all questions.

    Raises:
        OSError: The file cannot be read.
        ValueError: It has fewer questions.
    """
    entries = json.loads(file.read_text(encoding="utf-8"))
    if count > len(entries):
        raise ValueError(f"{file.name} has {len(entries)} questions, so {count} cannot be drawn")
    drawn = random.Random(seed).sample(entries, count)  # noqa: S311 - a sample is no secret
    return [
        Question(number, f"{entry['set']} {entry['id']}", entry["question"], frozenset(entry["answers"]))
        for number, entry in enumerate(drawn, start=1)
    ]
