"""The rows of one answer, by column: a reader takes the columns that it needs, each as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from operator import attrgetter, itemgetter
from typing import Any, cast

from gateway.graph.values import Iri
from gateway.sparql.results.terms import IriTerm, Term

_IRIS = frozenset[type]({IriTerm})

_text_of = attrgetter("value")


class Table:
    """Rows of terms.

    Args:
        length: How many rows there are.
        terms: The bound term of each row, by variable; None where a row binds nothing.
        iris: The same for variables that are bound to nothing but IRIs: the text of each.
    """

    __slots__ = ("_iris", "_length", "_terms")

    def __init__(
        self,
        length: int,
        terms: Mapping[str, Sequence[Term | None]],
        iris: Mapping[str, Sequence[Iri | None]] | None = None,
    ) -> None:
        self._length = length
        self._terms = terms
        self._iris = {**(iris or {})}

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._length

    def terms(self, variable: str) -> Sequence[Term | None]:
        """Return the term of each row; None where it binds none."""
        if (terms := self._terms.get(variable)) is not None:
            return terms
        if (iris := self._iris.get(variable)) is not None:
            return [iri if iri is None else IriTerm(iri) for iri in iris]
        return [None] * self._length

    def iris(self, variable: str) -> Sequence[Iri] | None:
        """Return the IRI of each row; None where a row binds none, or another term."""
        if (iris := self._iris.get(variable)) is not None:
            return None if None in iris else cast("Sequence[Iri]", iris)
        terms = self._terms.get(variable)
        if terms is None:
            return None if self._length else ()
        if not _IRIS.issuperset(map(type, terms)):
            return None
        self._iris[variable] = texts = [*map(_text_of, terms)]
        return texts

    def first(self, count: int) -> Table:
        """Return the first rows."""
        return self._of(min(count, self._length), itemgetter(slice(count)))

    def at(self, positions: Sequence[int]) -> Table:
        """Return the rows at some positions, in their order."""
        return self._of(len(positions), lambda column: [column[position] for position in positions])

    def where(self, wanted: Sequence[bool]) -> Table:
        """Return the rows of which it is said that they are wanted."""
        return self._of(sum(wanted), lambda column: [*compress(column, wanted)])

    def _of(self, length: int, part: Callable[[Sequence[Any]], Sequence[Any]]) -> Table:
        return Table(length, _of_each(self._terms, part), _of_each(self._iris, part))


def _of_each(
    columns: Mapping[str, Sequence[Any]], part: Callable[[Sequence[Any]], Sequence[Any]]
) -> Mapping[str, Sequence[Any]]:
    return {variable: part(column) for variable, column in columns.items()}


EMPTY = Table(0, {})
"""No rows."""
