"""Finds blank nodes that walks lead to: the nodes with an IRI near them first, and then what is around these.

The labels of the answer that has what is looked for mean nothing in the one that has the IDs. So they are counted, and
all were found if as many have an ID.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.sparql.blank.contents import Content
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Table, UnexpectedRows, literal
from gateway.sparql.table import term as any_term
from gateway.sparql.template import Parameter
from gateway.terms.iri import REACHED_BY

_ANCHORS: Final = 500
"""Nodes with an IRI around which blank nodes are read for one search."""

_MOST: Final = 20_000
"""Rows of one answer."""


@dataclass(frozen=True, slots=True)
class Near:
    """Blank nodes that a search found.

    Attributes:
        contents: What they say, by what stands for them.
        is_whole: Whether these are all.
    """

    contents: Mapping[Iri, Content]
    is_whole: bool


class AnchorSearch:
    """Finds blank nodes by walks.

    Args:
        client: Sends the queries.
        reader: Reads blank nodes.
        types: Predicates of types.
    """

    def __init__(self, client: SparqlClient, reader: AnchoredReader, types: Sequence[Iri]) -> None:
        self._client = client
        self._reader = reader
        self._types = types

    async def of_types(self, types: Sequence[Iri], given: Mapping[str, Parameter], call: Call) -> Near:
        """Return blank nodes of some types.

        Args:
            types: The types, those too that are the predicates that lead to a node.
            given: The same as the template has them.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        wanted = frozenset(types)

        def is_wanted(content: Content) -> bool:
            own = {end.value for p, end in content.says if p in self._types and isinstance(end, IriTerm)}
            leading = (f"{REACHED_BY}{predicate}" for predicate, _ in content.said)
            return not wanted.isdisjoint(own or leading)

        return await self._found("blank_nodes/anchors_of_types", given, is_wanted, call)

    async def named(self, predicates: Collection[Iri], call: Call) -> Near:
        """Return blank nodes with a name.

        Raises:
            Fault: The graph could not be asked.
        """

        def is_named(content: Content) -> bool:
            return any(p in predicates and isinstance(end, LiteralTerm) for p, end in content.says)

        return await self._found("blank_nodes/anchors_of_names", {"predicates": list(predicates)}, is_named, call)

    async def _found(
        self, template: str, given: Mapping[str, Parameter], is_wanted: Callable[[Content], bool], call: Call
    ) -> Near:
        asked = {"no_anchors": self._types, **given}
        rows, is_cut = (await self._client.rows(template, call, asked, at_most=_MOST)).part()
        labels, anchors = _anchors_of(rows)
        contents, are_all = await self._reader.around(anchors[:_ANCHORS], call)
        found = {key: content for key, content in contents.items() if is_wanted(content)}
        is_whole = not is_cut and are_all and len(anchors) <= _ANCHORS and len(found) == labels
        return Near(found, is_whole)


def _anchors_of(rows: Table) -> tuple[int, Sequence[Iri]]:
    """Return how many blank nodes there are, and the nodes with an IRI from which walks lead to them."""
    near: dict[str, dict[str, list[Iri]]] = {}
    for node, end, kind in zip(any_term("n")(rows), any_term("v")(rows), literal("kind")(rows), strict=True):
        if not isinstance(node, BlankTerm):
            raise UnexpectedRows
        kinds = near.setdefault(node.value, {})
        if isinstance(end, IriTerm):
            kinds.setdefault(kind.value, []).append(end.value)
    anchors: dict[Iri, None] = {}
    for kinds in near.values():
        nearest = next((kinds[kind] for kind in ("in", "further", "third", "out", "across") if kind in kinds), [])
        if nearest:
            anchors[min(nearest)] = None
    return len(near), sorted(anchors)
