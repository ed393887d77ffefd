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
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, cast

import pyoxigraph
from typing_extensions import Buffer

from gateway.files.lists import Folded, fold_lists
from gateway.files.ntriples import MAY_BE_ASIDE, TripleLine, is_blank, labels_in, literal, node, with_names
from gateway.terms.iri import BLANK_NODE, EVIDENCE_MARKERS, OWL, POSITION, RDF_REIFIES, RDF_TYPE, REACHED_BY, XSD

_CHUNK = 1 << 18
"""Bytes read at once."""

_SHACL = "http://www.w3.org/ns/shacl#"
_TYPE = node(RDF_TYPE)
_EVIDENCE = frozenset(map(node, EVIDENCE_MARKERS))

_EXPRESSIONS = frozenset(
    node(f"{OWL}{name}")
    for name in (
        *("onProperty", "onProperties", "intersectionOf", "unionOf", "complementOf", "oneOf"),
        *("onDatatype", "datatypeComplementOf", "inverseOf"),
    )
)
"""Predicates by which a blank node is a class expression, a data range or the inverse of a property."""

_INTO_EXPRESSIONS = frozenset(
    [node(f"{OWL}{name}") for name in ("intersectionOf", "unionOf", "oneOf", "disjointUnionOf", "hasKey")]
    + [node(f"{OWL}propertyChainAxiom"), node(f"{_SHACL}path")]
)
"""Predicates to a blank node that is a part of an expression, or a path, whatever has them."""

_VALUE = node(f"{OWL}hasValue")
"""From an expression to an individual."""


class BlankNodes:
    """The triples of a graph that have blank nodes or lists, set aside while the others are loaded."""

    def __init__(self) -> None:
        # Each once: what a document says twice is one triple.
        self._lines: dict[bytes, None] = {}

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._lines)

    @property
    def lines(self) -> list[bytes]:
        """What was set aside, as it was."""
        return list(self._lines)

    def without(self, triples: BinaryIO) -> BinaryIO:
        """Return a stream of the other N-Triples of a stream; what has blank nodes or lists is set aside."""
        return io.BufferedReader(_Others(triples, self._lines), _CHUNK)

    def add(self, quads: Iterable[pyoxigraph.Quad]) -> Iterator[pyoxigraph.Quad]:
        """Set triples aside that have blank nodes or lists, and yield the others."""
        for quad in quads:
            line = f"{quad.triple} .\n".encode()
            if MAY_BE_ASIDE.search(line):
                self._lines[line] = None
            else:
                yield quad

    def renamed(self) -> tuple[Iterator[bytes], int]:
        """Return what was set aside as N-Triples, with IRIs for blank nodes, and how many lists are malformed."""
        triples = _in_stored_form([TripleLine.of(line.decode()[:-1]) for line in self._lines])
        kept = _kept(triples)
        folded = fold_lists(triples, kept)
        return _written(folded, kept), folded.broken


class _Others(io.RawIOBase):
    """The lines of a stream without those that are set aside."""

    def __init__(self, triples: BinaryIO, aside: dict[bytes, None]) -> None:
        super().__init__()
        self._triples = triples
        self._aside = aside
        self._begun = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        while not self._ready:
            chunk = self._triples.read(_CHUNK)
            content = self._begun + chunk
            end = content.rfind(b"\n") + 1 if chunk else len(content)
            self._begun = content[end:]
            self._ready = memoryview(self._others(content[:end]))
            if not chunk:
                break
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _others(self, content: bytes) -> bytes:
        if MAY_BE_ASIDE.search(content) is None:
            return content
        others = []
        for line in content.splitlines(keepends=True):
            if MAY_BE_ASIDE.search(line):
                self._aside[line] = None
            else:
                others.append(line)
        return b"".join(others)


def load_lines(lines: Iterable[bytes], engine: pyoxigraph.Store) -> None:
    """Load N-Triples into a store.

    Raises:
        OSError: The store cannot be written.
    """
    source = io.BufferedReader(_Lines(lines), _CHUNK)
    engine.bulk_load(cast("BinaryIO", source), pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)


class _Lines(io.RawIOBase):
    """Lines as a stream."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        super().__init__()
        self._lines = iter(lines)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        if not self._ready:
            self._ready = memoryview(next(self._lines, b""))
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _in_stored_form(triples: Sequence[TripleLine]) -> list[TripleLine]:
    """Return triples with their literals as the store writes them, which has `1` for `01`: IDs rest on what it says."""
    typed = list({triple.object for triple in triples if triple.object.endswith(">") and triple.object[0] == '"'})
    if not typed:
        return list(triples)
    store = pyoxigraph.Store()
    number, says = "urn:x-bfsql:number:", "<urn:x-bfsql:says>"
    load_lines((f"<{number}{at}> {says} {term} .\n".encode() for at, term in enumerate(typed)), store)
    stored = {
        typed[int(quad.subject.value.removeprefix(number))]: str(quad.object)
        for quad in store
        if isinstance(quad.subject, pyoxigraph.NamedNode)
    }
    return list(dict.fromkeys(triple._replace(object=stored.get(triple.object, triple.object)) for triple in triples))


def _kept(triples: Sequence[TripleLine]) -> frozenset[str]:
    """Return the blank nodes that are no nodes of the graph: evidence, and what belongs to class expressions."""
    evidence: set[str] = set()
    found: dict[str, None] = {}
    below: dict[str, list[str]] = defaultdict(list)
    for subject, predicate, value in triples:
        is_restriction = predicate == _TYPE and value == node(f"{OWL}Restriction")
        if is_blank(subject) and predicate in _EVIDENCE:
            evidence.add(subject)
        elif is_blank(subject) and (predicate in _EXPRESSIONS or is_restriction):
            found[subject] = None
        if is_blank(value):
            if predicate in _INTO_EXPRESSIONS:
                found[value] = None
            if is_blank(subject) and predicate != _VALUE:
                below[subject].append(value)
    to_follow = list(found)
    while to_follow:
        new = [each for each in below[to_follow.pop()] if each not in found]
        found.update(dict.fromkeys(new))
        to_follow += new
    return frozenset(evidence.union(found))


def _written(folded: Folded, kept: frozenset[str]) -> Iterator[bytes]:
    """Yield lines with IRIs for blank nodes, types for those without one, and the positions of members of lists."""
    iris = {label: node(f"{BLANK_NODE}{digest}") for label, digest in ids_of(folded, kept).items()}

    def renamed(label: str) -> str:
        return iris.get(label, label)

    def line(triple: TripleLine) -> bytes:
        return TripleLine(renamed(triple.subject), triple.predicate, with_names(triple.object, renamed)).line.encode()

    typed = {triple.subject for triple in folded.triples if triple.predicate == _TYPE}
    reached: dict[TripleLine, None] = {}
    for triple in folded.triples:
        yield line(triple)
        if triple.object in iris and triple.object not in typed:
            by = node(f"{REACHED_BY}{triple.predicate[1:-1]}")
            reached[TripleLine(triple.object, _TYPE, by)] = None
    yield from map(line, reached)
    for array in folded.arrays:
        yield line(array.triple(renamed))
    for number, (edge, positions) in enumerate(folded.positions.items()):
        reifier = f"_:bfsqlPosition{number}"
        yield line(TripleLine(reifier, node(RDF_REIFIES), f"<<( {' '.join(edge)} )>>"))
        for position in positions:
            is_number = position.isdecimal()
            text = literal(position, f"{XSD}{'integer' if is_number else 'string'}")
            yield line(TripleLine(reifier, node(POSITION), text if is_number else text.partition("^^")[0]))


_LEVELS = 4
"""How far the digest of a node looks beyond its own triples."""

_DIGITS = 10
"""Characters of an ID: 50 bits."""

_MODULUS = 1 << 128


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
    texts = Counter(_text(digest) for digest in (*alone.values(), *groups))

    def text_of(digest: bytes) -> str:
        text = _text(digest)
        return text if texts[text] == 1 else _whole_text(digest)

    named = {at: text_of(digest) for at, digest in alone.items()}
    for digest, ordered in contents.numbered(groups, alone):
        text = text_of(digest)
        named.update((at, f"{text}.{number}-{len(ordered)}") for number, at in enumerate(ordered, 1))
    return {contents.labels[at]: text for at, text in named.items()}


class _Contents:
    """What blank nodes say, as digests.

    Attributes:
        labels: The labels of the nodes, in the order of the documents.
    """

    def __init__(self, folded: Folded) -> None:
        self._at: dict[str, int] = {}
        self._own: list[int] = []
        self._links: list[list[tuple[bytes, int]]] = []
        for triple in folded.triples:
            position = ",".join(sorted(folded.positions[triple])) if triple in folded.positions else ""
            self._add(triple, f"{triple.predicate} {position}")
        for array in folded.arrays:
            self._add(array.triple(lambda _: "_:"), array.predicate)
        self.labels = list(self._at)
        self._levels: list[dict[int, bytes]] = [{}]

    def _add(self, triple: TripleLine, said: str) -> None:
        subject, _, value = triple
        if is_blank(subject) and is_blank(value):
            self._link(subject, value, _hashed(f">{said}"))
            self._link(value, subject, _hashed(f"<{said}"))
        elif is_blank(subject):
            for label in labels_in(value):
                self._index(label)
            self._say(subject, f">{said} {with_names(value, lambda _: '_:')}")
        elif is_blank(value):
            self._say(value, f"<{said} {subject}")
        else:
            for label in labels_in(value):
                self._index(label)

    def _index(self, label: str) -> int:
        at = self._at.setdefault(label, len(self._at))
        if at == len(self._own):
            self._own.append(0)
            self._links.append([])
        return at

    def _say(self, label: str, content: str) -> None:
        at = self._index(label)
        self._own[at] = (self._own[at] + int.from_bytes(_hashed(content))) % _MODULUS

    def _link(self, label: str, other: str, said: bytes) -> None:
        self._links[self._index(label)].append((said, self._index(other)))

    def has_links(self, nodes: Iterable[int]) -> bool:
        """Return whether any of some nodes has a blank neighbour."""
        return any(self._links[at] for at in nodes)

    def digest(self, at: int, level: int) -> bytes:
        """Return the digest of a node's own triples, and of so many levels of its blank neighbours."""
        while len(self._levels) <= level:
            self._levels.append({})
        known = self._levels[level].get(at)
        if known is None:
            content = self._own[at].to_bytes(16)
            if level:
                below = (_hashed(said + self.digest(other, level - 1)) for said, other in self._links[at])
                content += (sum(map(int.from_bytes, below)) % _MODULUS).to_bytes(16)
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
                    int.from_bytes(_hashed(said + names[other])) for said, other in self._links[at] if other in names
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
                        marks[other] += int.from_bytes(_hashed(said + names[at]))
                        heapq.heappush(heap, (-marks[other], other))
            yield digest, ordered


def _hashed(content: str | bytes) -> bytes:
    return hashlib.blake2b(content.encode() if isinstance(content, str) else content, digest_size=16).digest()


def _text(digest: bytes) -> str:
    return _whole_text(digest)[:_DIGITS]


def _whole_text(digest: bytes) -> str:
    return base64.b32encode(digest).decode().lower().rstrip("=")
