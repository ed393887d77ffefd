"""Rows of a question to an engine in this process, in the order of the entities with which they begin, page by page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from gateway.graph.values import Iri
from gateway.transport.base import TextRow, TextRows

_entity_of = itemgetter(0)

Ask = Callable[[Iri], Awaitable[TextRows]]
"""Asks for the rows of the entities that come after one."""


@dataclass(slots=True)
class _Read:
    """Rows that were read and not yet given.

    Attributes:
        question: The question.
        after: The entity after which they come.
        found: The rows, and how many there were in all.
    """

    question: object
    after: Iri
    found: TextRows


class SortedRows:
    """The rows of the question that was asked last.

    Args:
        page: Rows of a page, to which those are added that follow about the same entity.
    """

    def __init__(self, *, page: int = 20_000) -> None:
        self._page = page
        self._read: _Read | None = None

    async def count(self, question: object, ask: Ask) -> int:
        """Return how many rows a question has.

        Args:
            question: What tells it from other questions.
            ask: Asks it.

        Raises:
            Fault: It could not be asked.
        """
        return (await self._from(question, "", ask)).found.total

    async def page(self, question: object, after: Iri, ask: Ask) -> tuple[Sequence[TextRow], bool]:
        """Return the rows of the entities that come after one, all rows of each; and whether others follow.

        They are given once: rows take memory, and to let go of all at once would take long.

        Raises:
            Fault: The question could not be asked.
        """
        read = await self._from(question, after, ask)
        rows = read.found.rows
        end = min(self._page, len(rows))
        if 0 < end < len(rows):
            end = bisect_right(rows, rows[end - 1][0], lo=end - 1, key=_entity_of)
        page = rows[:end]
        del rows[:end]
        if rows:
            read.after = page[-1][0]
            return page, True
        self._read = None
        return page, read.found.are_more

    async def _from(self, question: object, after: Iri, ask: Ask) -> _Read:
        read = self._read
        if read is None or (read.question, read.after) != (question, after):
            self._read = None
            read = self._read = _Read(question, after, await ask(after))
        return read
