"""What a test about the random graphs needs of an engine: seeds as it was given them, right answers, and a gateway."""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from gateway.answers.models import BfsResult, IntersectionResult
from gateway.errors import InputError
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.oracle import OracleGraph, read_triples
from tests.random_graphs import IntersectionQuestion, Question

Asked = TypeVar("Asked", Question, IntersectionQuestion)
Answered = TypeVar("Answered")


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


@dataclass(frozen=True)
class Session:
    """A gateway over the random graphs, on an event loop that lasts for all examples of a test."""

    runner: asyncio.Runner
    gateway: Gateway
    corpus: Corpus

    @property
    def is_here(self) -> bool:
        """Whether the engine runs in this process."""
        return self.corpus.column.is_here

    def traversal(self, question: Question, **further: Any) -> BfsResult | None:
        """Ask for a neighbourhood; None where it is refused, with advice, because no seed exists."""
        return self._asked(lambda: self.gateway.bfs_query(question.seeds, question.max_hops, **further))

    def intersection(self, question: IntersectionQuestion, **further: Any) -> IntersectionResult | None:
        """Ask for an intersection; None where it is refused, with advice, because no seed exists."""
        return self._asked(lambda: self.gateway.intersect_subgraphs(question.seeds, question.k, **further))

    def _asked(self, ask: Callable[[], Coroutine[Any, Any, Answered]]) -> Answered | None:
        self.gateway.forget_snapshots()
        try:
            return self.runner.run(ask())
        except InputError as error:
            if "None of the seeds exists" in error.wrong and "search_entities" in error.next_step:
                return None
            raise


@contextmanager
def session_over(column: Column, gateway: Gateway) -> Iterator[Session]:
    """Ask a gateway over the random graphs of an engine, and close it."""
    with asyncio.Runner() as runner:
        yield Session(runner, gateway, Corpus(column))
        runner.run(gateway.close())
