"""Lists of an endpoint whose cells are blank nodes, folded into edges with positions as those of files are.

A list is read whole, with the lists in it and around it, and folded by the same code as in files. One that is more than
the value of its owners stays unread: its edges are counted, and the answer is not complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import Fault
from gateway.files.lists import ArrayValue, fold_lists
from gateway.files.ntriples import Terms, literal, node
from gateway.graph.call import Call, Requester
from gateway.graph.values import WHOLE, Assertion, Iri, Mark
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.blank_contents import Content, ContentReader, Kind
from gateway.sparql.blank_keys import bindings_of, by_key, is_key, is_statable, parameters_of
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Table, Term, UnexpectedRows
from gateway.terms.iri import POSITION, RDF, RDF_FIRST, RDF_NIL, RDF_REST, XSD
from gateway.terms.literals import Literal

_BATCH: Final = 100
"""Cells in one query."""

_MOST: Final = 5_000
"""Cells of lists that hang together; Fuseki's stack breaks over one of 10,000."""

_ROUNDS: Final = 6
"""Lists in each other that are followed."""

_FRESH_SECONDS: Final = 300.0
"""How long it is believed that a graph has no lists."""

_NUMBERED: Final = f"{RDF}_"


@dataclass(frozen=True, slots=True)
class ListEdge:
    """An edge to a member of a list.

    Attributes:
        subject: The owner: an IRI, or a key.
        predicate: The predicate.
        object: The member: an IRI, or a key.
        positions: The positions of the member, for each list apart.
    """

    subject: Iri
    predicate: Iri
    object: Iri
    positions: tuple[tuple[str, ...], ...]

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """Its positions as evidence."""
        return tuple(Assertion({POSITION: tuple(map(_position, places))}) for places in self.positions)


def _position(place: str) -> Literal:
    return Literal(place, f"{XSD}integer" if place.isdecimal() else "", "")


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists that hang together.

    Attributes:
        edges: What they are for each owner and member, by either.
        values: The values that they are for each owner and predicate.
        ends: The keys of the blank nodes that own them or are in them.
    """

    edges: Mapping[Iri, Sequence[ListEdge]]
    values: Mapping[tuple[Iri, Iri], Sequence[Value]]
    ends: Sequence[Iri]


@dataclass(frozen=True, slots=True)
class Value:
    """A list as one value; blank nodes in it are still keys.

    Attributes:
        array: The list.
    """

    array: ArrayValue

    def literal(self, ids: Mapping[Iri, Iri]) -> Literal:
        """Return the value with the IDs of blank nodes in it."""

        def renamed(label: str) -> str:
            known = ids.get(label.removeprefix("_:"))
            return label if known is None else node(known)

        return Literal(self.array.text(renamed), self.array.datatype, "")


@dataclass(slots=True)
class _Read:
    """What one call has read: the lists of each cell; None where they are unread."""

    lists: dict[Iri, Lists | None] = field(default_factory=dict)
    are_there: bool | None = None


class ListReader:
    """Reads lists by the keys of their cells.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        contents: Reads the cells.
    """

    def __init__(self, client: SparqlClient, rule: EdgeRule, contents: ContentReader) -> None:
        self._client = client
        self._contents = contents
        # A rule that names predicates may allow one to a list and not those to its members.
        self._may_fold = not (rule.allowed or rule.namespaces or rule.objects)
        self._none_until = -inf
        self._of_calls: WeakKeyDictionary[Requester, _Read] = WeakKeyDictionary()

    async def are_there(self, call: Call) -> bool:
        """Return whether the graph may have lists that are folded."""
        if not self._may_fold:
            return False
        known = self._of(call)
        if known.are_there is None:
            now = self._client.flow.clock()
            if now < self._none_until:
                known.are_there = False
                return False
            given = {"predicates": [RDF_REST, RDF_FIRST], "empty": [RDF_NIL]}
            try:
                rows, _ = (await self._client.rows("blank_nodes/lists", call, given, at_most=1)).part()
            except Fault:
                return True
            known.are_there = bool(len(rows))
            if not known.are_there:
                self._none_until = now + _FRESH_SECONDS
        return known.are_there

    async def of(self, keys: Iterable[Iri], call: Call) -> Mapping[Iri, Lists | None]:
        """Return the lists of some cells, with those of others that the call has read."""
        known = self._of(call).lists
        wanted = [key for key in dict.fromkeys(keys) if key not in known]
        if wanted and self._may_fold:
            for lists, cells in await self._read(wanted, call):
                known |= dict.fromkeys(cells, lists)
        known |= {key: None for key in wanted if key not in known}
        return known

    def _of(self, call: Call) -> _Read:
        return self._of_calls.setdefault(call.requester, _Read())

    async def _read(self, keys: Sequence[Iri], call: Call) -> Sequence[tuple[Lists | None, Sequence[Iri]]]:
        """Return lists with their cells: all that hang together with some cells."""
        found: dict[Iri, Content] = {}
        frontier = list(keys)
        unread: set[Iri] = set()
        for _ in range(_ROUNDS):
            if not frontier or len(found) > _MOST:
                break
            cells = await self._cells(frontier, call)
            unread |= {key for key, one in cells.items() if not one.mark.whole}
            level = list(dict.fromkeys([*frontier, *(cell for one in cells.values() for cell in one.cells)]))
            await self._contents.ids(level, call)
            known = self._contents.contents(call)
            found |= {key: known[key] for key in level}
            beside = dict.fromkeys(end for key in level for end in _lists_beside(known[key]) if end not in found)
            await self._contents.ids(beside, call)
            known = self._contents.contents(call)
            kinds = {key: self._contents.kind(key, call) for key in beside}
            unread |= {key for key in level if any(kinds.get(end) is Kind.UNREAD for end in _lists_beside(known[key]))}
            frontier = [key for key, kind in kinds.items() if kind is Kind.LIST]
        # What hangs on a list and was not read, or could not be, may be a part of it.
        unread |= {key for key, content in found.items() if not set(frontier).isdisjoint(_lists_beside(content))}
        return [
            (None if unread.intersection(group) or len(group) > _MOST else self._folded(group, found, call), group)
            for group in _together(found)
        ]

    async def _cells(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, _Cells]:
        way = self._contents.way
        query = BatchedQuery[Iri, _Cells](
            self._client,
            _TEMPLATES[way],
            _BATCH,
            lambda batch: parameters_of(way, batch),
            _read_cells,
            bindings=lambda batch: bindings_of(way, batch),
        )
        return await query.run(filter(is_statable, keys), call)

    def _folded(self, cells: Sequence[Iri], contents: Mapping[Iri, Content], call: Call) -> Lists | None:
        """Return lists as edges and values; None where they are more, or not all of them is known."""
        if any(self._contents.kind(cell, call) is not Kind.LIST for cell in cells):
            return None
        if any(predicate.startswith(_NUMBERED) for cell in cells for predicate, _ in contents[cell].says):
            return None
        folded = fold_lists(_triples_of(cells, contents), frozenset())
        labels, own = frozenset(map(_label, cells)), frozenset(cells)
        if folded.broken or any(not labels.isdisjoint(triple) for triple in folded.triples):
            return None
        # What the rule of the profile leaves out of the cells is no edge of the lists.
        owners = {(_term(end), node(predicate)) for cell in cells for predicate, end in contents[cell].incoming}
        members = {_term(end) for cell in cells for _, end in contents[cell].outgoing}
        edges: defaultdict[Iri, dict[ListEdge, None]] = defaultdict(dict)
        for (owner, predicate, member), places in folded.positions.items():
            if (owner, predicate) in owners and member in members:
                positions = tuple(tuple(places[head]) for head in sorted(places))
                edge = ListEdge(_name(owner), predicate[1:-1], _name(member), positions)
                edges[edge.subject][edge] = edges[edge.object][edge] = None
        values: defaultdict[tuple[Iri, Iri], list[Value]] = defaultdict(list)
        for array in folded.arrays:
            values[_name(array.owner), array.predicate[1:-1]].append(Value(array))
        ends = dict.fromkeys(filter(is_key, edges))
        # Members of which there is no edge are a part of the value.
        ends |= {end.value: None for cell in cells for _, end in contents[cell].says if isinstance(end, BlankTerm)}
        others = [end for end in ends if end not in own]
        return Lists({end: list(some) for end, some in edges.items()}, dict(values), others)


def _triples_of(cells: Sequence[Iri], contents: Mapping[Iri, Content]) -> list[Terms]:
    """Return what cells say and what is said of them, each triple once."""
    triples: dict[Terms, None] = {}
    for cell in cells:
        for predicate, end in contents[cell].says:
            triples[_label(cell), node(predicate), _term(end)] = None
        for predicate, end in contents[cell].said:
            triples[_term(end), node(predicate), _label(cell)] = None
    return list(triples)


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a list, as far as the mark says."""

    cells: tuple[Iri, ...] = ()
    mark: Mark = WHOLE


_TEMPLATES = {
    "iris": "blank_nodes/cells",
    "labels": "blank_nodes/cells_by_label",
    "fields": "blank_nodes/cells_by_field",
}


def _read_cells(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Cells]:
    found: dict[Iri, dict[Iri, None]] = {key: {key: None} for key in batch}
    for cell, other in zip(by_key(rows, "n"), by_key(rows, "v"), strict=True):
        if not isinstance(cell, BlankTerm) or not isinstance(other, BlankTerm):
            raise UnexpectedRows
        found[cell.value][other.value] = None
    return {key: _Cells(tuple(cells), mark) for key, cells in found.items()}


def _lists_beside(content: Content) -> Iterable[Iri]:
    """Return the keys of blank nodes beside a cell that may be cells too: its members, and what it is a member of."""
    return [
        end.value
        for predicate, end in (*content.says, *content.said)
        if isinstance(end, BlankTerm) and _is_part(predicate)
    ]


def _is_part(predicate: Iri) -> bool:
    return predicate in {RDF_FIRST, RDF_REST} or predicate.startswith(_NUMBERED)


def _together(contents: Mapping[Iri, Content]) -> Sequence[Sequence[Iri]]:
    """Return cells in groups of those that hang together."""
    left = dict.fromkeys(contents)
    groups = []
    while left:
        key, _ = left.popitem()
        group, frontier = [key], [key]
        while frontier:
            for end in _lists_beside(contents[frontier.pop()]):
                if end in left:
                    del left[end]
                    group.append(end)
                    frontier.append(end)
        groups.append(group)
    return groups


def _label(key: Iri) -> str:
    return f"_:{key}"


def _term(end: Term) -> str:
    """Return a term as N-Triples write it, with its key for the label of a blank node."""
    match end:
        case IriTerm():
            return node(end.value)
        case BlankTerm():
            return _label(end.value)
        case LiteralTerm(language=str(language)):
            return f"{literal(end.value, '').removesuffix('^^<>')}@{language}" if language else _plain(end)
        case LiteralTerm():
            return _plain(end)
        case _:
            return node(POSITION)


def _plain(end: LiteralTerm) -> str:
    text = literal(end.value, end.datatype or f"{XSD}string")
    return text.removesuffix(f"^^<{XSD}string>")


def _name(term: str) -> Iri:
    """Return the IRI, or the key, of a term."""
    return term[2:] if term.startswith("_:") else term[1:-1]
