"""Gives the blank nodes of a graph IRIs of the gateway's own, made from what the nodes say (decision 0050).

While a graph loads, its triples with blank nodes or lists are set aside. What is set aside is small in most graphs; it
is read as text, its lists are folded, and it is loaded behind the rest with an IRI in the place of each blank node.
Blank nodes that stand for something else, class expressions and evidence, stay what they are.
"""

from __future__ import annotations

import base64
import hashlib
import heapq
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import BinaryIO, TypeAlias

import pyoxigraph

from gateway.files.expression_edges import Expressions, fold_expressions
from gateway.files.lists import Folded, fold_lists
from gateway.files.ntriples import (
    Terms,
    is_aside,
    is_blank,
    labels_in,
    literal,
    may_be_aside,
    node,
    terms_of,
    with_names,
    without_own,
)
from gateway.files.parser_streams import PieceReader
from gateway.terms.iri import (
    BLANK_NODE,
    EVIDENCE_MARKERS,
    EXPRESSION_PREDICATES,
    HAS_VALUE,
    INTO_EXPRESSIONS,
    MAX_IRI,
    OWL,
    OWN,
    POSITION,
    RDF,
    RDF_REIFIES,
    RDF_TYPE,
    REACHED_BY,
    REIFICATION,
    RESTRICTION,
    XSD,
)

BlankTypes: TypeAlias = "tuple[str, ...] | None"
"""The predicates that give nodes their types; None where blank nodes are no nodes."""

BY_RDF_TYPE: BlankTypes = (RDF_TYPE,)

_CHUNK = 1 << 18
"""Bytes read at once."""

_TYPE, _REIFIES, _POSITION = node(RDF_TYPE), node(RDF_REIFIES), node(POSITION)
_EVIDENCE = frozenset(map(node, EVIDENCE_MARKERS))

_STATEMENTS = {
    node(f"{OWL}annotated{part}"): node(f"{RDF}{name}")
    for part, name in (("Source", "subject"), ("Property", "predicate"), ("Target", "object"))
}
"""Predicates of an annotation of OWL 2 (Mapping to RDF Graphs, 2.2), and those of a statement that mean the same."""

_EXPRESSIONS = frozenset(map(node, EXPRESSION_PREDICATES))
_INTO_EXPRESSIONS = frozenset(map(node, INTO_EXPRESSIONS))
_RESTRICTION, _VALUE = node(RESTRICTION), node(HAS_VALUE)


class BlankNodes:
    """The triples of a graph that have blank nodes or lists, set aside while the others are loaded.

    Args:
        types: The predicates that give nodes their types.
        is_part: Whether something is hidden of the graph.
    """

    def __init__(self, types: Sequence[str], *, is_part: bool) -> None:
        self._types = tuple(map(node, types))
        self._is_part = is_part
        # Each once: what a document says twice is one triple.
        self._lines: dict[bytes, None] = {}

    def __bool__(self) -> bool:
        return bool(self._lines)

    @property
    def lines(self) -> bytes:
        """What was set aside, as it was."""
        return b"".join(self._lines)

    def without(self, triples: BinaryIO) -> BinaryIO:
        """Return a stream of the other N-Triples of a stream; what has blank nodes or lists is set aside."""
        return io.BufferedReader(_Others(triples, self._lines), _CHUNK)

    def add(self, quads: Iterable[pyoxigraph.Quad]) -> Iterator[pyoxigraph.Quad]:
        """Set triples aside that have blank nodes or lists, and yield the others."""
        for quad in quads:
            line = f"{quad.triple} .\n".encode()
            if is_aside(line):
                self._lines[line] = None
            else:
                yield quad

    def renamed(self, others: pyoxigraph.Store) -> Renamed:
        """Return what was set aside with IRIs for blank nodes; `others` has the triples that were not."""
        aside = _with_statements(_in_stored_form(terms_of(without_own(b"".join(self._lines)))))
        expressions = fold_expressions(aside, others)
        kept = _kept(expressions.triples)
        folded = fold_lists(expressions.triples, kept, is_part=self._is_part)
        folded.arrays += expressions.arrays
        lines = "".join(_written(folded, expressions.stated, kept, self._types)).encode()
        return Renamed(lines, folded.broken, expressions)


@dataclass(frozen=True, slots=True)
class Renamed:
    """What was set aside, as it is loaded.

    Attributes:
        lines: N-Triples.
        broken: How many lists are malformed.
        expressions: What became of class expressions.
    """

    lines: bytes
    broken: int
    expressions: Expressions


class _Others(PieceReader):
    """The lines of a stream without those that are set aside."""

    def __init__(self, triples: BinaryIO, aside: dict[bytes, None]) -> None:
        super().__init__()
        self._triples = triples
        self._aside = aside
        self._begun = b""

    def _piece(self) -> bytes:
        while True:
            chunk = self._triples.read(_CHUNK)
            content = self._begun + chunk
            end = content.rfind(b"\n") + 1 if chunk else len(content)
            self._begun = content[end:]
            others = self._others(content[:end])
            if others or not chunk:
                return others

    def _others(self, content: bytes) -> bytes:
        if not may_be_aside(content):
            return content
        others = []
        for line in content.splitlines(keepends=True):
            if is_aside(line):
                self._aside[line] = None
            else:
                others.append(line)
        return b"".join(others)


def load_lines(lines: bytes, engine: pyoxigraph.Store) -> None:
    """Load N-Triples into a store.

    Raises:
        OSError: The store cannot be written.
    """
    engine.bulk_load(lines, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)


_AS_STORED = re.compile(
    rf'"(?:0|-?[1-9][0-9]{{0,17}})"\^\^<{re.escape(XSD)}integer>|"[^"]*"\^\^<(?!{re.escape(XSD)})[^>]*>'
)
"""Literals that are as a store writes them, whatever they are: ordinary integers, and those of foreign datatypes."""


def _in_stored_form(triples: list[Terms]) -> list[Terms]:
    """Return triples with their literals as the store writes them, which has `1` for `01`: IDs rest on what it says."""
    typed = [
        term
        for term in {value for _, _, value in triples if value[-1] == ">" and value[0] == '"'}
        if _AS_STORED.fullmatch(term) is None
    ]
    if not typed:
        return triples
    store = pyoxigraph.Store()
    number, says = f"{OWN}number:", f"<{OWN}says>"
    load_lines("".join(f"<{number}{at}> {says} {term} .\n" for at, term in enumerate(typed)).encode(), store)
    stored = {
        typed[int(quad.subject.value.removeprefix(number))]: str(quad.object)
        for quad in store
        if isinstance(quad.subject, pyoxigraph.NamedNode)
    }
    changed = {given: kept for given, kept in stored.items() if given != kept}
    if not changed:
        return triples
    stored_form = changed.get
    return list(dict.fromkeys((subject, predicate, stored_form(value, value)) for subject, predicate, value in triples))


def _with_statements(triples: list[Terms]) -> list[Terms]:
    """Return triples in which axioms of OWL are statements about their triples, as `rdf:Statement` is."""
    if _STATEMENTS.keys().isdisjoint({predicate for _, predicate, _ in triples}):
        return triples
    return [
        (subject, _STATEMENTS.get(predicate, predicate) if subject[0] == "_" else predicate, value)
        for subject, predicate, value in triples
    ]


def _kept(triples: Sequence[Terms]) -> frozenset[str]:
    """Return the blank nodes that are no nodes of the graph: evidence, and what belongs to class expressions."""
    evidence: set[str] = set()
    found: dict[str, None] = {}
    below: dict[str, list[str]] = defaultdict(list)
    for subject, predicate, value in triples:
        if subject[0] == "_":
            if predicate in _EVIDENCE:
                evidence.add(subject)
            elif predicate in _EXPRESSIONS or (predicate == _TYPE and value == _RESTRICTION):
                found[subject] = None
        if value[0] == "_":
            if predicate in _INTO_EXPRESSIONS:
                found[value] = None
            if subject[0] == "_" and predicate != _VALUE:
                below[subject].append(value)
    to_follow = list(found)
    while to_follow:
        new = [each for each in below[to_follow.pop()] if each not in found]
        found.update(dict.fromkeys(new))
        to_follow += new
    return frozenset(evidence.union(found))


def _written(
    folded: Folded,
    stated: Iterable[tuple[Terms, Sequence[tuple[str, str]]]],
    kept: frozenset[str],
    types: Sequence[str],
) -> Iterator[str]:
    """Yield lines with IRIs for blank nodes, types for those without one, and what is stated about edges."""
    iris = {label: node(f"{BLANK_NODE}{digest}") for label, digest in ids_of(folded, kept).items()}
    iri_of = iris.get

    def renamed(label: str) -> str:
        return iri_of(label, label)

    typed = {subject for subject, predicate, value in folded.triples if predicate in types and value[0] == "<"}
    reached: dict[tuple[str, str], None] = {}
    for subject, predicate, value in folded.triples:
        if value[0] == "_":
            if value in iris and value not in typed and _gives_type(predicate):
                reached[value, predicate] = None
            yield f"{iri_of(subject, subject)} {predicate} {iri_of(value, value)} .\n"
        else:
            # Only a triple term has labels in it.
            written = with_names(value, renamed) if value[1] == "<" else value
            yield f"{iri_of(subject, subject)} {predicate} {written} .\n"
    for label, predicate in reached if types else ():
        yield f"{iris[label]} {types[0]} <{REACHED_BY}{predicate[1:-1]}> .\n"
    for array in folded.arrays:
        yield f"{renamed(array.owner)} {array.predicate} {array.literal(renamed)} .\n"
    of_lists = ((edge, positions) for edge, lists in folded.positions.items() for positions in lists.values())
    for number, (edge, positions) in enumerate(of_lists):
        reifier = f"_:bfsqlPosition{number}"
        subject, predicate, value = edge
        yield f"{reifier} {_REIFIES} <<( {renamed(subject)} {predicate} {renamed(value)} )>> .\n"
        for position in positions:
            text = literal(position, f"{XSD}integer") if position.isdecimal() else f'"{position}"'
            yield f"{reifier} {_POSITION} {text} .\n"
    yield from _statements_of(stated, renamed)


def _gives_type(predicate: str) -> bool:
    """Return whether a node that has no type has one by what leads to it with a predicate."""
    return len(predicate) <= _LONGEST and predicate[1:-1] not in REIFICATION


def _statements_of(
    stated: Iterable[tuple[Terms, Sequence[tuple[str, str]]]], renamed: Callable[[str], str]
) -> Iterator[str]:
    for number, (edge, says) in enumerate(stated):
        reifier = f"_:bfsqlExpression{number}"
        subject, predicate, value = edge
        yield f"{reifier} {_REIFIES} <<( {renamed(subject)} {predicate} {renamed(value)} )>> .\n"
        for said, term in says:
            yield f"{reifier} {said} {with_names(term, renamed)} .\n"


_LEVELS = 4
"""How far the digest of a node looks beyond its own triples."""

_LONGEST = MAX_IRI - len(REACHED_BY)
"""Characters of a predicate that can be a type."""

_BYTES = 15
"""Of a digest: 24 characters."""


def ids_of(folded: Folded, kept: frozenset[str]) -> dict[str, str]:
    """Return the ID of each blank node but those kept, the same for the same content.

    It is the digest of the node's own triples where no other node has the same, else with as many levels of its blank
    neighbours as tell it apart. Nodes that none tells apart are numbered.
    """
    contents = _Contents(folded)
    alone: dict[int, bytes] = {}
    others = [at for at, label in enumerate(contents.labels) if label not in kept]
    groups: dict[bytes, list[int]] = {}
    for level in range(_LEVELS + 1):
        equal: dict[bytes, list[int]] = defaultdict(list)
        for at in others:
            equal[contents.digest(at, level)].append(at)
        others = []
        for digest, members in equal.items():
            if len(members) == 1:
                alone[members[0]] = digest
            elif level == _LEVELS or not contents.has_links(members):
                groups[digest] = members
            else:
                others += members
    texts = {digest: _beginning(digest) for digest in (*alone.values(), *groups)}
    counts = Counter(texts.values())

    def text_of(digest: bytes) -> str:
        text = texts[digest]
        return text if counts[text] == 1 else base64.b32encode(digest).decode().lower()

    named = {at: text_of(digest) for at, digest in alone.items()}
    for digest, ordered in contents.numbered(groups, alone):
        text = text_of(digest)
        named.update((at, f"{text}.{number}-{len(ordered)}") for number, at in enumerate(ordered, 1))
    return {contents.labels[at]: text for at, text in named.items()}


_PAIRS = list(map("".join, product("abcdefghijklmnopqrstuvwxyz234567", repeat=2)))
"""What ten bits are in base 32."""


def _beginning(digest: bytes) -> str:
    """Return the ID that a digest begins with, 50 bits in base 32: Python would write all of it, and slowly."""
    bits = int.from_bytes(digest[:7], "big") >> 6
    pairs, ten = _PAIRS, 0x3FF
    first = f"{pairs[bits >> 40]}{pairs[bits >> 30 & ten]}{pairs[bits >> 20 & ten]}"
    return f"{first}{pairs[bits >> 10 & ten]}{pairs[bits & ten]}"


class _Contents:
    """What blank nodes say, as digests.

    Attributes:
        labels: The labels of the nodes, in the order of the documents.
    """

    def __init__(self, folded: Folded) -> None:
        self._at: dict[str, int] = {}
        self._own: list[list[str]] = []
        self._links: list[list[tuple[str, int]]] = []
        stated = _stated(folded.triples)
        positions = folded.positions
        for triple in folded.triples:
            subject, said, value = triple
            if said == _REIFIES and subject in stated:
                # What is stated about an edge of a node is content of the node.
                content = f"{with_names(value, _unnamed)} {' '.join(stated[subject])}"
                for label in labels_in(value):
                    self._own[self._index(label)].append(content)
                continue
            if positions and triple in positions:
                said = " ".join([said, *sorted(",".join(places) for places in positions[triple].values())])
            if value[0] != "_":
                if subject[0] == "_":
                    content = with_names(value, _unnamed) if value[1] == "<" else value
                    self._own[self._index(subject)].append(f">{said} {content}")
            elif subject[0] != "_":
                self._own[self._index(value)].append(f"<{said} {subject}")
            else:
                one, other = self._index(subject), self._index(value)
                self._links[one].append((f">{said}", other))
                self._links[other].append((f"<{said}", one))
        for array in folded.arrays:
            if is_blank(array.owner):
                self._own[self._index(array.owner)].append(f">{array.predicate} {array.literal(_unnamed)}")
        self.labels = list(self._at)
        self._levels: list[dict[int, bytes]] = [{}]

    def _index(self, label: str) -> int:
        at = self._at.get(label)
        if at is None:
            at = self._at[label] = len(self._own)
            self._own.append([])
            self._links.append([])
        return at

    def has_links(self, nodes: Iterable[int]) -> bool:
        """Return whether any of some nodes has a blank neighbour."""
        return any(self._links[at] for at in nodes)

    def digest(self, at: int, level: int) -> bytes:
        """Return the digest of a node's own triples, and of so many levels of its blank neighbours."""
        while len(self._levels) <= level:
            self._levels.append({})
        known = self._levels[level].get(at)
        if known is None:
            if level:
                below = (_hashed(said.encode() + self.digest(other, level - 1)) for said, other in self._links[at])
                content = b"".join([self.digest(at, 0), *sorted(below)])
            else:
                content = "\n".join(sorted(self._own[at])).encode()
            known = self._levels[level][at] = _hashed(content)
        return known

    def numbered(
        self, groups: Mapping[bytes, Sequence[int]], alone: Mapping[int, bytes]
    ) -> Iterator[tuple[bytes, Sequence[int]]]:
        """Yield groups of nodes that no digest tells apart, each in an order that rests on nodes ordered before.

        Nodes that these do not tell apart either are in the order of the documents.
        """
        names = dict(alone)
        for digest in sorted(groups):
            # What is known of each: its neighbours that have a name already.
            marks = {
                at: sum(
                    int.from_bytes(_hashed(said.encode() + names[other]))
                    for said, other in self._links[at]
                    if other in names
                )
                for at in groups[digest]
            }
            heap = [(-mark, at) for at, mark in marks.items()]
            heapq.heapify(heap)
            ordered: list[int] = []
            while heap:
                mark, at = heapq.heappop(heap)
                if marks.get(at) != -mark:
                    continue
                del marks[at]
                ordered.append(at)
                names[at] = digest + len(ordered).to_bytes(8)
                for said, other in self._links[at]:
                    if other in marks:
                        marks[other] += _number(said, names[at])
                        heapq.heappush(heap, (-marks[other], other))
            yield digest, ordered


def _stated(triples: Iterable[Terms]) -> Mapping[str, Sequence[str]]:
    """Return what each reifier says beside its triple and its blank nodes, sorted."""
    stated: dict[str, list[str]] = {subject: [] for subject, predicate, _ in triples if predicate == _REIFIES}
    for subject, predicate, value in triples if stated else ():
        if subject in stated and predicate != _REIFIES and value[0] != "_":
            stated[subject].append(f"{predicate} {value}")
    return {subject: sorted(said) for subject, said in stated.items()}


def _unnamed(_: str) -> str:
    return "_:"


def _number(said: str, name: bytes) -> int:
    return int.from_bytes(_hashed(said.encode() + name))


def _hashed(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_BYTES).digest()
