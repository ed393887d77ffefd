"""What one answer says of blank nodes that hang together, and the walks and digests by which they are told apart.

The labels of an answer mean nothing outside of it, so whatever is said of a blank node here was read in one answer.
What that lacks is collected, so that another answer can have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gateway.files.lists import is_list_part
from gateway.graph.values import Iri
from gateway.sparql.blank.anchors import AnchoredWalk, Step, directions_of
from gateway.sparql.blank.contents import TO_OBJECT, Content, is_all_different
from gateway.sparql.blank.keys import TRIPLE, end_as_text, hash_of, written
from gateway.sparql.blank.rule import Triple, blank_ends
from gateway.sparql.table import BlankTerm, IriTerm, Term
from gateway.terms.iri import (
    EXPRESSION_PREDICATES,
    HAS_VALUE,
    INTO_EXPRESSIONS,
    RDF_NIL,
    RDF_REST,
    RDF_TYPE,
    TO_ALL_DIFFERENT,
    is_sendable,
)

_STEPS: Final = 3
"""Steps of a walk, but for those along the cells of a list."""

_LONGEST: Final = 9
"""Triples of a walk."""

_WALKS: Final = 500
"""Walks to one node that are looked at."""

_CELLS: Final = 4
"""Cells of a list that are asked for at once."""

_LEVELS: Final = 2
"""Levels of blank nodes below one in its digest."""

_MOST: Final = 5_000
"""Blank nodes around one answer that are told apart."""


@dataclass(frozen=True, slots=True)
class Told:
    """What tells a blank node from others.

    Attributes:
        walk: The walk to it.
        digest: The digest of what it says, and what those on the walk say.
    """

    walk: AnchoredWalk
    digest: str


@dataclass(slots=True)
class Lacking:
    """What an answer lacks.

    Attributes:
        labels: The blank nodes of which it has not what is said.
        walks: The walks of which it has not all ends.
        count: How often something was missed.
    """

    labels: dict[str, None] = field(default_factory=dict)
    walks: dict[AnchoredWalk, None] = field(default_factory=dict)
    count: int = 0

    def add_label(self, label: str) -> None:
        """Note a blank node."""
        self.labels[label] = None
        self.count += 1

    def add_walk(self, walk: AnchoredWalk) -> None:
        """Note a walk."""
        self.walks[walk] = None
        self.count += 1


class BlankGraph:
    """Blank nodes around some nodes with an IRI.

    Args:
        nodes: What each blank node says, by label; with labels in the place of keys.
        starts: The nodes with an IRI from which all walks of some directions were read.
        directions: The directions.
        types: Predicates whose objects are types, which lead to no blank node.
        has_expressions: Whether some of the blank nodes may be parts of class expressions.
        has_annotations: Whether triple terms, which are not read, may say something of some of the blank nodes.
    """

    def __init__(
        self,
        nodes: Mapping[str, Content],
        starts: Iterable[Iri],
        directions: Iterable[str],
        types: Iterable[Iri],
        *,
        has_expressions: bool,
        has_annotations: bool,
    ) -> None:
        self.nodes = nodes
        self.lacking = Lacking()
        self._starts = frozenset(starts)
        self._directions = frozenset(directions)
        self._types = frozenset((*types, RDF_TYPE))
        self._has_expressions = has_expressions
        self._has_annotations = has_annotations
        self._told: dict[str, Told | None] = {}
        self._groups: dict[AnchoredWalk, Mapping[Told | None, Sequence[str]] | None] = {}
        self._alone: dict[str, Told | None] = {}
        self._contents: dict[tuple[str, int], bytes] = {}
        self._expanded: set[str] = set()
        self._beside: defaultdict[Iri, dict[tuple[Step, str], None]] = defaultdict(dict)
        self._leading: dict[str, AnchoredWalk] = {}
        for label, one in nodes.items():
            for triples, is_inverse in ((one.said, False), (one.says, True)):
                for predicate, end in triples:
                    if isinstance(end, IriTerm) and end.value in self._starts:
                        step = (predicate, is_inverse)
                        self._beside[end.value][step, label] = None
                        self._leading[label] = AnchoredWalk(end.value, (step,))

    def beside(self, start: Iri) -> Sequence[tuple[Step, str]]:
        """Return the blank nodes beside one with an IRI, with the step to each."""
        return list(self._beside.get(start, ()))

    def ends(self, walk: AnchoredWalk) -> Sequence[str]:
        """Return the blank nodes to which a walk leads."""
        first, *others = walk.steps
        ends = dict.fromkeys(label for step, label in self._beside.get(walk.anchor, ()) if step == first)
        for step in others:
            ends = dict.fromkeys(other for label in ends for over, other in self._steps(label) if over == step)
        return list(ends)

    def alone(self, label: str) -> Told | None:
        """Return what tells a blank node from all others; None where nothing does, or that is not known.

        Those that say the very same of the very same nodes, and of which the same is said, are numbered: whichever
        has a number, the graph is the same.
        """
        if label not in self._alone:
            before = self.lacking.count
            told = self.told(label)
            group = [label] if told is None else self._group_of(label, told)
            if self.lacking.count != before:
                return None
            self._alone |= self._numbered(group, told)
        return self._alone[label]

    def _group_of(self, label: str, told: Told) -> Sequence[str]:
        """Return the blank nodes that are told by the same; note if the answer has not all of them."""
        walk = self._walk_to_all(label, told)
        if walk is None:
            self.lacking.add_walk(told.walk)
            return ()
        if walk not in self._groups:
            before = self.lacking.count
            groups: defaultdict[Told | None, list[str]] = defaultdict(list)
            for end in self.ends(walk):
                groups[self.told(end)].append(end)
            self._groups[walk] = groups if self.lacking.count == before else None
        known = self._groups[walk]
        if known is None:
            # What is lacking was noted when the group was looked at first.
            self.lacking.count += 1
            return ()
        # A server that is written to may give an answer in which the walk back from a node leads elsewhere.
        return list(dict.fromkeys((label, *known.get(told, ()))))

    def _numbered(self, group: Sequence[str], told: Told | None) -> Mapping[str, Told | None]:
        """Return what tells each of a group from all others; None where they may differ further away."""
        if told is None or len(group) == 1:
            return dict.fromkeys(group, told)
        first, *others = (self.nodes[label] for label in group)
        said = _as_sets(first)
        if self._has_annotations or _has_triple_term(first) or any(_as_sets(other) != said for other in others):
            return dict.fromkeys(group)
        # A group of another size is another one, as in files.
        return {
            label: replace(told, digest=f"{told.digest}.{number}-{len(group)}")
            for number, label in enumerate(sorted(group), start=1)
        }

    def told(self, label: str) -> Told | None:
        """Return the walk to a blank node and its digest; None where there is none, or that is not known."""
        if label not in self._told:
            before = self.lacking.count
            found = self._walks_to(label, is_forward=True)
            if not found and self.lacking.count == before:
                found = self._walks_to(label, is_forward=False)
            digests = [self._digest(inner, label) for _, inner in found] if self._is_within_reach(label) else []
            if self.lacking.count != before:
                return None
            self._told[label] = Told(found[0][0], min(digests)) if digests else None
        return self._told[label]

    def expand(self, label: str) -> None:
        """Look at all that says what a blank node at the end of an edge is: those of one list, or one expression."""
        waiting = [label]
        while waiting and len(self._expanded) < _MOST:
            one = waiting.pop()
            if one in self._expanded:
                continue
            self._expanded.add(one)
            if self.is_part(one):
                # No ID is needed of it, and so no walk: all of it comes in one answer.
                self._read(one)
            else:
                self.alone(one)
            waiting += self._parts(one)

    def is_part(self, label: str) -> bool:
        """Return whether a blank node is a part of a class expression by what is read, whatever else may be read."""
        if not self._has_expressions:
            return False
        seen, waiting = {label}, [label]
        while waiting:
            said = self.nodes.get(waiting.pop())
            if said is None:
                continue
            if _is_expression(said):
                return True
            # Cells are parts of what has the list.
            if not any(is_list_part(predicate) for predicate, _ in said.says):
                return False
            owners = blank_ends(said.said, _TO_LISTS)
            waiting += (owner for owner in owners if owner not in seen)
            seen.update(owners)
        return False

    def _parts(self, label: str) -> Iterator[str]:
        said = self.nodes.get(label)
        if said is None:
            return
        is_cell = self._is_cell(label)
        is_expression = self._has_expressions and _is_expression(said)
        for predicate, end in said.says:
            # The object of a triple about which something is stated may be an expression.
            is_copy = self._has_expressions and predicate in TO_OBJECT
            if isinstance(end, BlankTerm) and (
                is_list_part(predicate) or is_expression or is_copy or self._is_cell(end.value)
            ):
                yield end.value
        for predicate, end in said.said:
            if isinstance(end, BlankTerm) and (
                is_cell or is_list_part(predicate) or (self._has_expressions and predicate != HAS_VALUE)
            ):
                yield end.value

    def _is_cell(self, label: str) -> bool:
        said = self.nodes.get(label)
        return said is not None and any(is_list_part(predicate) for predicate, _ in said.says)

    def around(self, label: str) -> Sequence[str]:
        """Return the blank nodes beside one."""
        return list(dict.fromkeys(end for _, end in self._steps(label)))

    def directions_to(self, label: str) -> Sequence[str]:
        """Return the directions by which a blank node can be read that was not; none where it is too far."""
        seen: set[str] = set()
        level: dict[str, str] = {}
        for steps in self._beside.values():
            level.update((end, directions_of((step,))) for step, end in steps)
        while level:
            if label in level:
                return [level[label]]
            seen.update(level)
            following: dict[str, str] = {}
            for one, directions in level.items():
                for step, other in self._steps(one):
                    if other == label:
                        # The cells of a list hang on each other, so more of them are read at once.
                        sign = directions_of((step,))
                        most = _CELLS if step[0] == RDF_REST else 1
                        longer = (directions + sign * number for number in range(1, most + 1))
                        return [each for each in longer if len(each) <= _LONGEST]
                    if other in self.nodes and other not in seen and len(directions) < _LONGEST:
                        following.setdefault(other, directions + directions_of((step,)))
            level = following
        return []

    def _steps(self, label: str) -> Iterator[tuple[Step, str]]:
        said = self.nodes.get(label)
        if said is None:
            return
        for predicate, end in said.says:
            if isinstance(end, BlankTerm):
                yield (predicate, False), end.value
        for predicate, end in said.said:
            if isinstance(end, BlankTerm):
                yield (predicate, True), end.value

    def _walk_to_all(self, label: str, told: Told) -> AnchoredWalk | None:
        """Return a walk to all blank nodes that may be told by the same; None where the answer has not all of them."""
        if told.walk.anchor in self._starts and told.walk.directions in self._directions:
            return told.walk
        # What says the same as a node is beside the same nodes with an IRI.
        return self._leading.get(label)

    def _walks_to(self, label: str, *, is_forward: bool) -> list[tuple[AnchoredWalk, tuple[str, ...]]]:
        """Return the shortest walks to a blank node from the first anchor, with the blank nodes on each before it."""
        level: list[tuple[str, tuple[Step, ...], tuple[str, ...]]] = [(label, (), ())]
        for _ in range(_LONGEST):
            found: list[tuple[AnchoredWalk, tuple[str, ...]]] = []
            following: list[tuple[str, tuple[Step, ...], tuple[str, ...]]] = []
            before = self.lacking.count
            for node, steps, inner in level:
                for (predicate, is_inverse), end in self._leading_to(node, is_forward=is_forward):
                    walk = ((predicate, is_inverse), *steps)
                    if _weight(walk) > _STEPS:
                        continue
                    if isinstance(end, BlankTerm) and end.value not in (node, *inner):
                        following.append((end.value, walk, (node, *inner)))
                    elif isinstance(end, IriTerm) and self._is_anchor(end.value, predicate, is_inverse=is_inverse):
                        found.append((AnchoredWalk(end.value, walk), (node, *inner)[:-1]))
            if self.lacking.count != before:
                return []
            if found:
                first = min(walk for walk, _ in found)
                return [one for one in found if one[0] == first]
            if not following or len(following) > _WALKS:
                return []
            level = following
        return []

    def _leading_to(self, label: str, *, is_forward: bool) -> Iterator[tuple[Step, Term]]:
        """Yield the last step of each walk to a blank node, and where that begins."""
        said = self._read(label)
        if said is None:
            return
        for predicate, end in said.said:
            yield (predicate, False), end
        for predicate, end in () if is_forward else said.says:
            yield (predicate, True), end

    def _is_anchor(self, node: Iri, predicate: Iri, *, is_inverse: bool) -> bool:
        is_of_all = node == RDF_NIL or (is_inverse and predicate in self._types)
        return not is_of_all and is_sendable(node) and is_sendable(predicate)

    def _read(self, label: str) -> Content | None:
        said = self.nodes.get(label)
        if said is None:
            self.lacking.add_label(label)
        return said

    def _is_within_reach(self, label: str) -> bool:
        """Return whether a node is no list, or one whose cells can all be read: they are what it says."""
        for _ in range(_LONGEST):
            said = self._read(label)
            rest = None if said is None else _rest_of(said)
            if rest is None:
                return True
            label = rest
        return False

    def _digest(self, inner: Sequence[str], label: str) -> str:
        parts = [*(self._content(one, 0) for one in inner), self._content(label, _LEVELS)]
        for _ in range(_LONGEST):
            said = self._read(label)
            rest = None if said is None else _rest_of(said)
            if rest is None:
                break
            label = rest
            parts.append(self._content(label, _LEVELS))
        return written(hash_of(b"".join(parts)))

    def _content(self, label: str, levels: int) -> bytes:
        """Return the digest of what a blank node says, with some levels of those below it."""
        known = self._contents.get((label, levels))
        if known is not None:
            return known
        said = self._read(label)
        if said is None:
            return b""
        before = self.lacking.count
        lines: list[bytes] = []
        for predicate, end in said.says:
            text = f">{predicate} {end_as_text(end)}".encode()
            if isinstance(end, BlankTerm) and levels:
                text += self._content(end.value, levels - 1)
            lines.append(text)
        lines += (f"<{predicate} {end_as_text(end)}".encode() for predicate, end in said.said)
        digest = hash_of(b"\n".join(sorted(lines)))
        if self.lacking.count == before:
            self._contents[label, levels] = digest
        return digest


_TO_LISTS: Final = TO_ALL_DIFFERENT | {RDF_REST}
"""Predicates from what has a cell, and is no part of an expression by that."""


def _is_expression(said: Content) -> bool:
    return (
        any(predicate in EXPRESSION_PREDICATES for predicate, _ in said.says)
        or any(predicate in INTO_EXPRESSIONS for predicate, _ in said.said)
        or is_all_different(said.says)
    )


def _as_sets(said: Content) -> tuple[frozenset[Triple], ...]:
    return frozenset(said.says), frozenset(said.said), frozenset(said.outgoing), frozenset(said.incoming)


def _has_triple_term(said: Content) -> bool:
    """Return whether a blank node says something of triples, of which one stands for any here."""
    return any(end == TRIPLE for _, end in (*said.says, *said.said))


def _rest_of(said: Content) -> str | None:
    """Return the cell behind one; None where there is none, or several."""
    rest = blank_ends(said.says, {RDF_REST})
    return rest[0] if len(rest) == 1 else None


def is_within_reach(walk: AnchoredWalk) -> bool:
    """Return whether a walk is no longer than those by which blank nodes have IDs."""
    return len(walk.steps) <= _LONGEST and _weight(walk.steps) <= _STEPS


def _weight(steps: Iterable[Step]) -> int:
    """Return how long a walk is: the cells of a list are no steps of it."""
    return sum(step != (RDF_REST, False) for step in steps)
