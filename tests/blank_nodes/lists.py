"""Lists and containers of a graph, folded for the oracle; see `oracle.py`."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from rdflib import BNode, Literal, URIRef

from tests.oracle import RDF, RDF_TYPE, RDFS

# A triple term is a tuple, as in `tests/oracle.py`.
Term: TypeAlias = "URIRef | BNode | Literal | tuple[Term, Term, Term]"
Triple: TypeAlias = tuple[Term, URIRef, Term]
Node: TypeAlias = URIRef | BNode
Array: TypeAlias = "tuple[Term | Array, ...]"

FIRST: Final = URIRef(RDF + "first")
REST: Final = URIRef(RDF + "rest")
NIL: Final = URIRef(RDF + "nil")
TYPE: Final = URIRef(RDF_TYPE)
MEMBER: Final = URIRef(RDFS + "member")

_NUMBERED: Final = RDF + "_"
_LIST_TYPES: Final = frozenset(URIRef(RDF + name) for name in ("List", "Seq", "Bag", "Alt"))


@dataclass(slots=True)
class _Cell:
    """What a node says as a cell of a list, or as a container."""

    first: list[Term] = field(default_factory=list)
    rest: list[Term] = field(default_factory=list)
    numbered: list[tuple[int, Term]] = field(default_factory=list)
    says_more: bool = False
    cells_before: int = 0
    owners: int = 0


class Folding:
    """Triples in which lists and containers are folded.

    Attributes:
        triples: The triples, those from owners to members among them, each with the positions of the member.
        arrays: Lists with members that are no nodes, by owner and predicate.
        broken: How many lists stay as the nodes that they are made of.
    """

    def __init__(self, triples: Sequence[Triple], kept: set[object]) -> None:
        self.triples: dict[Triple, set[str]] = {}
        self.arrays: defaultdict[tuple[Node, str], list[Array]] = defaultdict(list)
        self._kept = kept
        self._cells = _cells_of(triples, kept)
        # Positions and members of each list that can be folded.
        self._members: dict[Term, list[tuple[int, Term]]] = {}
        further: dict[Term, set[Term]] = {}
        for head, cell in self._cells.items():
            read = None if cell.cells_before else self._read(head)
            if read is not None:
                self._members[head], further[head] = read
        for looped in self._in_themselves():
            del self._members[looped]
        self.broken = sum(not cell.cells_before and head not in self._members for head, cell in self._cells.items())
        folded = {name for head in self._members for name in further[head]}
        for s, p, o in triples:
            if s in folded:
                continue
            if s not in self._members or (not self._is_value(s) and _number(p) is None):
                self._add(s, p, o)
        for head in self._members:
            if not self._is_value(head):
                self._add_members(cast("Node", head), MEMBER, head)

    def subjects_and_objects(self) -> Iterator[Triple]:
        """Yield the triples, and one for each owner of an array."""
        yield from self.triples
        yield from ((owner, URIRef(predicate), Literal("")) for owner, predicate in self.arrays)

    def _read(self, head: Term) -> tuple[list[tuple[int, Term]], set[Term]] | None:
        """Return the members of a list or container with their positions, and its further cells; None if broken."""
        cell = self._cells[head]
        if cell.numbered:
            return None if cell.first or cell.rest else (sorted(cell.numbered, key=lambda each: each[0]), set())
        members: list[tuple[int, Term]] = []
        names: list[Term] = []
        name = head
        while name != NIL:
            at = self._cells.get(name)
            if at is None or name in names or len(at.first) != 1 or len(at.rest) != 1 or at.numbered:
                return None
            # A further cell that anything else speaks of cannot be folded without a loss.
            if names and (at.says_more or at.owners or at.cells_before > 1 or not isinstance(name, BNode)):
                return None
            names.append(name)
            members.append((len(names), at.first[0]))
            name = at.rest[0]
        return members, set(names[1:])

    def _is_value(self, name: Term) -> bool:
        """Return whether a list is a value of its owners only, and no node."""
        return (
            isinstance(name, BNode)
            and name in self._members
            and not self._cells[name].says_more
            and bool(self._cells[name].owners)
        )

    def _in_themselves(self) -> set[Term]:
        """Return the lists that are their own members, directly or in others."""
        inside = {head: {each for _, each in read if self._is_value(each)} for head, read in self._members.items()}
        found = set()
        for head, members in inside.items():
            reached: set[Term] = set()
            new = set(members)
            while new:
                reached |= new
                new = {each for other in new for each in inside[other]} - reached
            if head in reached:
                found.add(head)
        return found

    def _add(self, s: Term, p: URIRef, o: Term) -> None:
        if o == NIL and p != REST and s not in self._kept:
            self.arrays[cast("Node", s), str(p)].append(())
        elif self._is_value(o):
            self._add_members(cast("Node", s), p, o)
        else:
            self.triples.setdefault((s, p, o), set())

    def _add_members(self, owner: Node, predicate: URIRef, head: Term) -> None:
        for place, member in self._flat(head, ""):
            if isinstance(member, Node):
                self.triples.setdefault((owner, predicate, member), set()).add(place)
        members = [member for _, member in self._members[head]]
        if not all(isinstance(member, Node) and member != NIL and not self._is_value(member) for member in members):
            self.arrays[owner, str(predicate)].append(self._array(head))

    def _flat(self, head: Term, above: str) -> Iterator[tuple[str, Term]]:
        for number, member in self._members[head]:
            if self._is_value(member):
                yield from self._flat(member, f"{above}{number}.")
            elif member != NIL:
                yield f"{above}{number}", member

    def _array(self, head: Term) -> Array:
        return tuple(
            () if member == NIL else self._array(member) if self._is_value(member) else member
            for _, member in self._members[head]
        )


def _cells_of(triples: Sequence[Triple], kept: set[object]) -> dict[Term, _Cell]:
    cells: defaultdict[Term, _Cell] = defaultdict(_Cell)
    for s, p, o in triples:
        number = _number(p)
        if number is None or s in kept:
            continue
        cell = cells[s]
        if p == FIRST:
            cell.first.append(o)
        elif p == REST:
            cell.rest.append(o)
        else:
            cell.numbered.append((number, o))
    for s, p, o in triples:
        if s in cells and _number(p) is None and not (p == TYPE and o in _LIST_TYPES):
            cells[s].says_more = True
        if o in cells and p == REST:
            cells[o].cells_before += 1
        elif o in cells:
            cells[o].owners += 1
    return dict(cells)


def _number(predicate: URIRef) -> int | None:
    """Return the number of a predicate to a member of a container, 0 for those of cells, None for all others."""
    if predicate in {FIRST, REST}:
        return 0
    text = predicate.removeprefix(_NUMBERED)
    is_number = text != predicate and text.isascii() and text.isdecimal() and not text.startswith("0")
    return int(text) if is_number else None
