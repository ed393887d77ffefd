"""Folds lists and containers: their members become edges of the owner with a position, or an array of its values.

docs/contract.md, "Blank nodes and lists". A list that cannot be folded stays as the nodes that it is made of.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from gateway.files.ntriples import TRIPLE_TERM, Terms, is_blank, is_node, literal, node
from gateway.graph.values import Iri
from gateway.terms.iri import ARRAY, ORDER, RDF, RDF_FIRST, RDF_NIL, RDF_REIFIES, RDF_REST, RDF_TYPE, RDFS_MEMBER

_FIRST, _REST, _NIL, _TYPE = node(RDF_FIRST), node(RDF_REST), node(RDF_NIL), node(RDF_TYPE)
_MEMBER, _REIFIES = node(RDFS_MEMBER), node(RDF_REIFIES)
_TYPES = frozenset(node(f"{RDF}{name}") for name in ("List", "Seq", "Bag", "Alt"))
_NUMBERED = f"<{RDF}_"

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?', re.DOTALL)
"""A literal with its language or datatype; its escapes are those of JSON."""

MOST_ORDERED = 20
"""Members whose order a description shows."""

_MOST_SHARED = 10_000
"""Edges that the members of one list may be, from all its owners together; with more, the list is a node."""

_DEEPEST = 16
"""Lists in each other; what is deeper is a node."""

_DIGITS = 9
"""Of the number of a member of a container."""

_REMEMBERED = 1 << 12
"""Predicates of which it is remembered whether they are parts of lists."""

Array: TypeAlias = "list[tuple[int, str | Array | ExpressionValue]]"
"""The members of a list with their numbers, each as N-Triples write it, a list as an array."""

ExpressionValue: TypeAlias = "Mapping[str, Sequence[str | Array | ExpressionValue]]"
"""What a class expression says, by predicate."""


class ArrayValue(NamedTuple):
    """A list as one value of its owner."""

    owner: str
    predicate: str
    array: Array
    datatype: str = ARRAY

    def literal(self, renamed: Callable[[str], str]) -> str:
        """Return the value as N-Triples write it, with other names for blank nodes."""
        return literal(self.text(renamed), self.datatype)

    def text(self, renamed: Callable[[str], str]) -> str:
        """Return the lexical form of the value, with other names for blank nodes."""
        return json.dumps(_as_json(self.array, renamed), ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Folded:
    """Triples in which lists are folded.

    Attributes:
        triples: The triples, those from owners to members that are nodes among them.
        positions: The positions of the members of lists, by the triple that leads to the member and by the list.
        arrays: The lists that have members which are no nodes.
        broken: How many lists are shown as the nodes that they are made of, because they are malformed.
    """

    triples: list[Terms] = field(default_factory=list)
    positions: dict[Terms, dict[str, list[str]]] = field(default_factory=dict)
    arrays: list[ArrayValue] = field(default_factory=list)
    broken: int = 0


@lru_cache(_REMEMBERED)
def is_list_part(predicate: Iri) -> bool:
    """Return whether a predicate is one of the cells of a list, or leads from a container to a member."""
    return _is_part(node(predicate))


def fold_lists(triples: list[Terms], kept: Collection[str], *, is_part: bool = False) -> Folded:
    """Fold all lists and containers.

    Args:
        triples: All triples of a graph in which a blank node or a part of a list is, each once.
        kept: Blank nodes that stay as they are, and whose lists do.
        is_part: Whether something is hidden of the graph: then a cell may have lost its member, and is no member.
    """
    has_parts = any(map(_is_part, {predicate for _, predicate, _ in triples}))
    if not has_parts and all(value != _NIL for _, _, value in triples):
        return Folded(triples)
    return _Folder(triples, kept, is_part=is_part).folded()


@dataclass(slots=True)
class _Cell:
    """What a node says that is a cell of a list, or a container.

    Attributes:
        first: The objects of `rdf:first`.
        rest: The objects of `rdf:rest`.
        numbered: The members of a container with their numbers.
        says_more: Whether it says anything else.
        owners: How many triples lead to it, but those of cells before it.
        before: How many cells are before it.
    """

    first: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    numbered: list[tuple[int, str]] = field(default_factory=list)
    says_more: bool = False
    owners: int = 0
    before: int = 0


@dataclass(frozen=True, slots=True)
class _Members:
    """The members of a list or container with their numbers, and its cells, the head first."""

    places: Sequence[tuple[int, str]]
    cells: Sequence[str]


class _Folder:
    def __init__(self, triples: Sequence[Terms], kept: Collection[str], *, is_part: bool) -> None:
        self._triples = triples
        self._kept = kept
        self._is_part = is_part
        self._cells = _cells_of(triples, kept)
        self._seen: set[str] = set()
        self._members = {name: self._read(name) for name, cell in self._cells.items() if not cell.before}
        below = {
            head: [name for _, name in members.places if self._members.get(name) is not None]
            for head, members in self._members.items()
            if members is not None
        }
        above: defaultdict[str, list[str]] = defaultdict(list)
        for head, inner in below.items():
            for name in inner:
                above[name].append(head)
        for head in _in_loops(below, above):
            self._members[head] = None
        self._nodes = self._that_are_nodes(below, above)
        self._tails = {name for members in self._members.values() if members is not None for name in members.cells[1:]}
        self._found = Folded()

    def folded(self) -> Folded:
        found = self._found
        found.broken = sum(members is None for members in self._members.values())
        # A loop has no beginning.
        found.broken += not self._seen.issuperset(self._cells)
        for triple in self._triples:
            subject = triple[0]
            if subject in self._tails:
                continue
            if self._members.get(subject) is None:
                self._add(triple)
            elif subject in self._nodes:
                self._add_of_list(triple)
        return found

    def _read(self, head: str) -> _Members | None:
        """Return the members of a list or container, None where it is malformed; note its cells."""
        cell = self._cells[head]
        self._seen.add(head)
        if cell.numbered:
            # Two members may have one number, and a label means nothing.
            places = sorted(cell.numbered, key=lambda place: (place[0], "" if is_blank(place[1]) else place[1]))
            return None if cell.first or cell.rest else _Members(places, [head])
        members: list[str] = []
        names: dict[str, None] = {}
        name = head
        while name != _NIL:
            at = self._cells.get(name)
            if at is None or name in names or len(at.rest) != 1 or at.numbered:
                break
            if len(at.first) != 1 and not (self._is_part and not at.first):
                break
            # What a cell says beside its member, or who owns it, would be lost with it.
            if name != head and (at.says_more or at.owners or at.before > 1 or not is_blank(name)):
                break
            members += at.first
            names[name] = None
            name = at.rest[0]
        self._seen.update(names)
        if name != _NIL:
            self._seen.add(name)
            return None
        return _Members(list(enumerate(members, 1)), list(names))

    def _that_are_nodes(self, below: Mapping[str, Sequence[str]], above: Mapping[str, Sequence[str]]) -> set[str]:
        """Return the lists that are nodes, and not only values of their owners."""
        read = [head for head, members in self._members.items() if members is not None]
        # A list in several lists would be written in each, and lists in those again: that may be any number of times.
        around = {head: [name for name in above.get(head, ()) if self._members[name] is not None] for head in read}
        nodes = {head for head in read if self._is_node(head) or len(around[head]) > 1}
        level = [head for head in read if head in nodes or not around[head]]
        depth = 0
        while level:
            if depth % _DEEPEST == _DEEPEST - 1:
                nodes.update(level)
            depth += 1
            level = [name for head in level for name in below[head] if name in around and name not in nodes]
        return nodes

    def _is_node(self, head: str) -> bool:
        cell, members = self._cells[head], self._members[head]
        is_shared = cell.owners > 1 and members is not None and cell.owners * len(members.places) > _MOST_SHARED
        return not is_blank(head) or cell.says_more or not cell.owners or is_shared

    def _is_value(self, name: str) -> bool:
        return self._members.get(name) is not None and name not in self._nodes

    def _add_of_list(self, triple: Terms) -> None:
        """Add what a list says that is a node: its first member stands for all."""
        subject, predicate, value = triple
        if not _is_part(predicate):
            self._add(triple)
        elif predicate == _REST or _number_of(predicate, value) == min(self._cells[subject].numbered, default=None):
            self._add_members(subject, _MEMBER, subject)

    def _add(self, triple: Terms) -> None:
        """Add a triple, or what stands in its place where its object is a list."""
        subject, predicate, value = triple
        if value == _NIL and predicate != _REST and subject not in self._kept:
            self._found.arrays.append(ArrayValue(subject, predicate, []))
        elif self._is_value(value):
            self._add_members(subject, predicate, value)
        elif predicate == _REIFIES and (stated := TRIPLE_TERM.fullmatch(value)) and self._is_value(stated[3]):
            # What is said of a list is said of the edge to each of its members.
            for _, member in _flat(self._array(stated[3]), ""):
                if member is not None and is_node(member):
                    self._found.triples.append((subject, predicate, f"<<( {stated[1]} {stated[2]} {member} )>>"))
        else:
            self._found.triples.append(triple)

    def _add_members(self, owner: str, predicate: str, head: str) -> None:
        array = self._array(head)
        has_nodes_only = bool(array)
        for place, member in _flat(array, ""):
            if member is None or not is_node(member):
                has_nodes_only = False
            else:
                edge = (owner, predicate, member)
                if edge not in self._found.positions:
                    self._found.triples.append(edge)
                self._found.positions.setdefault(edge, {}).setdefault(head, []).append(place)
        kept = (array[:MOST_ORDERED], ORDER) if has_nodes_only else (array, ARRAY)
        self._found.arrays.append(ArrayValue(owner, predicate, *kept))

    def _array(self, head: str) -> Array:
        members = self._members[head]
        return [] if members is None else [(number, self._item(member)) for number, member in members.places]

    def _item(self, member: str) -> str | Array:
        if member == _NIL:
            return []
        return self._array(member) if self._is_value(member) else member


def _in_loops(below: Mapping[str, Sequence[str]], above: Mapping[str, Sequence[str]]) -> Collection[str]:
    """Return the lists that are in themselves, as a member or in another list, by the lists in and around each."""
    # Take away what has no list in it, until nothing has; then what is in no list that is left, until all are.
    left = _without_ends(below, above)
    return _without_ends({head: [name for name in above.get(head, ()) if name in left] for head in left}, below)


def _without_ends(leading: Mapping[str, Sequence[str]], back: Mapping[str, Sequence[str]]) -> Collection[str]:
    """Return the names from which one can go on for ever, by where each leads; `back` has where one comes from."""
    ways = {name: len(targets) for name, targets in leading.items()}
    ends = [name for name, count in ways.items() if not count]
    while ends:
        end = ends.pop()
        del ways[end]
        for name in back.get(end, ()):
            if name in ways:
                ways[name] -= 1
                if not ways[name]:
                    ends.append(name)
    return ways


def _cells_of(triples: Iterable[Terms], kept: Collection[str]) -> dict[str, _Cell]:
    cells: defaultdict[str, _Cell] = defaultdict(_Cell)
    for subject, predicate, value in triples:
        if subject in kept or subject == _NIL or not _is_part(predicate):
            continue
        cell = cells[subject]
        if predicate == _FIRST:
            cell.first.append(value)
        elif predicate == _REST:
            cell.rest.append(value)
        else:
            cell.numbered.append(_number_of(predicate, value))
    for subject, predicate, value in triples:
        if subject in cells and not (_is_part(predicate) or (predicate == _TYPE and value in _TYPES)):
            cells[subject].says_more = True
        if value in cells:
            cells[value].before += predicate == _REST
            cells[value].owners += predicate != _REST
    return dict(cells)


def _is_part(predicate: str) -> bool:
    """Return whether a predicate is one of the cells of a list, or leads from a container to a member."""
    if not predicate.startswith(_NUMBERED):
        return predicate in {_FIRST, _REST}
    number = predicate[len(_NUMBERED) : -1]
    return number.isdecimal() and number.isascii() and len(number) <= _DIGITS


def _number_of(predicate: str, member: str) -> tuple[int, str]:
    return (int(predicate[len(_NUMBERED) : -1]) if predicate.startswith(_NUMBERED) else 0), member


def _flat(array: Array, above: str) -> Iterator[tuple[str, str | None]]:
    """Yield each member with its position, and None for a list in the list, before its members."""
    for number, item in array:
        place = f"{above}{number}"
        if isinstance(item, str):
            yield place, item
        else:
            yield place, None
            yield from _flat(item if isinstance(item, list) else [], f"{place}.")


def _as_json(item: str | Array | ExpressionValue, renamed: Callable[[str], str]) -> object:
    """Return a member, or a list of members, as JSON-LD 1.1 has values (section 4.2.4)."""
    if isinstance(item, list):
        return [_as_json(each, renamed) for _, each in item]
    if not isinstance(item, str):
        return {predicate[1:-1]: [_as_json(each, renamed) for each in each_of] for predicate, each_of in item.items()}
    if is_node(item):
        named = renamed(item)
        # An expression has no ID.
        return {} if is_blank(named) else {"@id": named[1:-1]}
    found = _LITERAL.fullmatch(item)
    if found is None:
        return item
    text, language, datatype = found.groups()
    value = json.loads(f'"{text}"', strict=False)
    if language:
        return {"@value": value, "@language": language}
    return {"@value": value, "@type": datatype} if datatype else value
