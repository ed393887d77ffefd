"""What a test about the random graphs needs of an engine: seeds as it was given them, and the right answers."""

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tests.columns import Column
from tests.oracle import OracleGraph, read_triples
from tests.random_graphs import IntersectionQuestion, Question

Asked = TypeVar("Asked", Question, IntersectionQuestion)


@dataclass(frozen=True)
class Corpus:
    """The random graphs as one engine holds them."""

    column: Column

    @property
    def oracle(self) -> OracleGraph:
        """The right answers, over the file that the engine was given."""
        return _oracle(*self.column.files["random"])

    def as_stored(self, question: Asked) -> Asked:
        """Return a question with its seeds as the engine was given them."""
        # Two that the engine takes for one are one seed, which an intersection has twice.
        seeds = tuple(dict.fromkeys(map(self.column.as_stored, question.seeds)))
        if isinstance(question, IntersectionQuestion):
            seeds = seeds if len(seeds) > 1 else seeds * 2
        return replace(question, seeds=seeds)


@functools.cache
def _oracle(file: Path) -> OracleGraph:
    return OracleGraph(read_triples(file))
