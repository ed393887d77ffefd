"""Rows of a question that an engine in this process answers whole, sorted here, page by page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from operator import itemgetter

from gateway.graph.call import Call
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import Iri
from gateway.transport.base import TextRow

_entity_of = itemgetter(0)


class SortedRows:
    """The rows of the question that was asked last, in the order of the entities with which they begin.

    Args:
        page: Rows of a page, to which those are added that follow about the same entity.
    """

    def __init__(self, *, page: int = 20_000) -> None:
        self._page = page
        self._question: object = None
        self._rows: list[TextRow] = []

    async def ask(self, question: object, rows: Callable[[], Awaitable[Sequence[TextRow]]], call: Call) -> int:
        """Ask a question unless it was the last one, and return how many rows it has.

        Args:
            question: What tells it from other questions.
            rows: Asks it.
            call: The call.

        Raises:
            Fault: It could not be asked.
        """
        if question != self._question:
            self.forget()
            found = await rows()
            self._rows = await in_thread(
                call, lambda _: sorted(found, key=_entity_of), unless=len(found) <= FEW_FOR_A_THREAD
            )
            self._question = question
        return len(self._rows)

    @property
    def entities(self) -> int:
        """How many entities the rows are about."""
        return sum(1 for _ in groupby(self._rows, key=_entity_of))

    def page(self, after: Iri) -> tuple[Sequence[TextRow], bool]:
        """Return the rows of the entities that come after one, all rows of each; and whether others follow.

        Behind the last page they are forgotten.
        """
        rows = self._rows
        start = bisect_right(rows, after, key=_entity_of)
        end = start + self._page
        if end < len(rows):
            end = bisect_right(rows, rows[end - 1][0], lo=end - 1, key=_entity_of)
        if end < len(rows):
            return rows[start:end], True
        self.forget()
        return rows[start:], False

    def forget(self) -> None:
        """Forget the question, and the rows, which take memory."""
        self._question, self._rows = None, []
