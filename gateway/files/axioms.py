"""What an axiom with a class expression says: edges, content, or nothing (docs/contract.md, "Class expressions")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gateway.files.class_expressions import (
    DOMAIN,
    EQUIVALENT,
    ONE_OF,
    RANGE,
    SUBCLASS,
    TYPE,
    Expression,
    Kind,
    Step,
    UnreadError,
)
from gateway.terms.iri import TEXT_PREDICATES

_MOST = 100_000
"""Steps in which one axiom is read; parts that several share may make any number of them."""


_NOT = " not"
"""Behind the word of a restriction to what is not of a class."""


class _ContentError(Exception):
    """A part of an expression is content of a description, and no edge."""


@dataclass(frozen=True, slots=True)
class Said:
    """One edge that an axiom says, with how it says it.

    Attributes:
        subject: The term at its beginning.
        path: Its predicates: one, or two where expressions are in each other.
        object: The term at its end.
        words: How each property of the path is restricted.
        of: The axiom, where it is a definition.
        one_of: Of how many alternatives it is one; 0 where it is certain.
        denied: Whether the expression denies it.
        closed: Whether nothing else stands at such an edge.
    """

    subject: str
    path: tuple[Step, ...]
    object: str
    words: tuple[str, ...] = ()
    of: str = ""
    one_of: int = 0
    denied: bool = False
    closed: bool = False


@dataclass(slots=True)
class Meaning:
    """What one axiom says.

    Attributes:
        edges: The edges.
        bounds: Cardinalities without a class: the property, how it is restricted, and the blank node that says it.
        values: Restrictions that link no two nodes, such as those of data properties: the property, and the blank node.
        is_content: Whether it says anything that is no edge.
    """

    edges: list[Said] = field(default_factory=list)
    bounds: list[tuple[Step, str, str]] = field(default_factory=list)
    values: list[tuple[str, str]] = field(default_factory=list)
    is_content: bool = False


def meaning(subject: str, predicate: str, expression: Expression) -> Meaning:
    """Return what an axiom says: `subject` is below, equivalent to, of, or has as domain or range, an expression.

    Raises:
        UnreadError: It has more parts than are read.
    """
    of = "equivalentClass" if predicate == EQUIVALENT else ""
    found = _Axiom(subject, SUBCLASS if of else predicate, of)
    found.read(expression)
    return found.meaning


def _links_none(restriction: Expression) -> bool:
    """Return whether a restriction says something, and of one node alone."""
    return restriction.words != "min 0" and (not restriction.parts or restriction.parts[0].kind == "data")


def _contrary(part: Expression) -> Expression | None:
    """Return what the complement of a part says without one, where that says an edge, or denies another one."""
    match part:
        case Expression(kind="not"):
            return part.parts[0]
        case Expression(kind="restriction", word="only", parts=[filler]) if filler.kind != "data":
            return replace(part, word="some", parts=(Expression("not", parts=(filler,)),))
        case Expression(kind="restriction", word="max") | Expression(kind="restriction", word="exactly", number=0):
            return replace(part, word="min", number=part.number + 1)
        case Expression(kind="restriction", word="min", number=number) if number:
            return replace(part, word="max", number=number - 1)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in an axiom an expression stands.

    Attributes:
        path: The properties that lead there.
        words: How each is restricted.
        denied: Whether it is denied there.
        one_of: Of how many alternatives it is one.
        splits: Whether it may be an intersection, and a complement: each part then holds by itself.
    """

    path: tuple[Step, ...] = ()
    words: tuple[str, ...] = ()
    denied: bool = False
    one_of: int = 0
    splits: bool = True


class _Axiom:
    """Collects what one axiom says."""

    def __init__(self, subject: str, base: str, of: str) -> None:
        self._subject = subject
        self._base = base
        self._of = of
        # What a domain or range says is said of other nodes than the property.
        self._start = _Place(((base, False),)) if base in {DOMAIN, RANGE} else _Place()
        self.meaning = Meaning()
        self._steps = 0

    def read(self, expression: Expression) -> None:
        parts = self._flat(expression, "and")
        for part in parts:
            try:
                self._read_part(part, is_whole=not parts[1:])
            except _ContentError:
                self.meaning.is_content = True
        if self._of and not (self.meaning.edges or self.meaning.bounds or self.meaning.values):
            # What holds of everything says something where it defines a class.
            self.meaning.is_content = True

    def _read_part(self, part: Expression, *, is_whole: bool) -> None:
        if part.step[0][1:-1] in TEXT_PREDICATES and _links_none(part):
            raise _ContentError
        if part.kind == "restriction" and not part.parts and part.word != "self" and not self._start.path:
            # A cardinality without a class; `min 0` says nothing.
            if part.words != "min 0":
                self.meaning.bounds.append((part.step, part.words, part.term))
        elif part.kind == "restriction" and not self._start.path and not part.step[1] and _links_none(part):
            self.meaning.values.append((part.step[0], part.term))
        elif self._of and is_whole and part.kind == "enumeration":
            for member in part.parts:
                self._add(Said(self._subject, ((ONE_OF, False),), member.term, of=self._of))
        elif self._of and is_whole and part.kind == "or":
            self._read_equivalent_union(self._flat(part, "or"))
        else:
            self._walk(part, self._start)

    def _read_equivalent_union(self, parts: Sequence[Expression]) -> None:
        """Read that a class is a union: its parts are below it, and it is below one of those without a name."""
        is_content = False
        for part in parts:
            if part.kind == "class":
                self._add(Said(part.term, ((SUBCLASS, False),), self._subject, of=self._of))
                continue
            try:
                self._walk(part, replace(self._start, one_of=len(parts)))
            except _ContentError:
                is_content = True
        if is_content:
            raise _ContentError

    def _walk(self, part: Expression, place: _Place) -> None:
        self._count(1)
        is_denied_itself = place.denied and (not place.words or place.words[-1].endswith(_NOT))
        contrary = _contrary(part) if is_denied_itself else None
        if contrary is not None:
            words = tuple(word.removesuffix(_NOT) for word in place.words)
            part, place = contrary, replace(place, denied=False, words=words)
        match part.kind:
            case "class":
                self._end(part.term, place)
            case "and" if place.denied and len(place.path) <= len(self._start.path):
                # Not both: one of them is not.
                self._walk_each(self._flat(part, "and"), self._alternative(place, len(self._flat(part, "and"))))
            case "and" if not place.denied and place.splits:
                self._walk_each(self._flat(part, "and"), place)
            case "or" if place.denied:
                self._walk_each(self._flat(part, "or"), place)
            case "or":
                self._walk_each(self._flat(part, "or"), self._alternative(place, len(self._flat(part, "or"))))
            case "enumeration" if place.path and not place.denied:
                self._walk_each(part.parts, self._alternative(place, len(part.parts)) if part.parts[1:] else place)
            case "not" if not place.denied and place.splits:
                words = (*place.words[:-1], place.words[-1] + _NOT) if place.words else ()
                self._walk(part.parts[0], replace(place, denied=True, words=words))
            case "restriction":
                self._restriction(part, place)
            case _:
                raise _ContentError

    def _walk_each(self, parts: Sequence[Expression], place: _Place) -> None:
        is_content = False
        for part in parts:
            try:
                self._walk(part, place)
            except _ContentError:
                is_content = True
        if is_content:
            raise _ContentError

    def _alternative(self, place: _Place, count: int) -> _Place:
        if place.one_of or not (place.words == ("only",) or {"some", "min 1"}.issuperset(place.words)):
            # Alternatives within alternatives have no number that says how many there are; and two of A or B may be
            # one of each.
            raise _ContentError
        return replace(place, one_of=count)

    def _restriction(self, part: Expression, place: _Place) -> None:
        if part.words == "min 0" and not place.denied:
            if place.one_of or any(word != "only" for word in place.words):
                # It holds of everything, but what is around it does not.
                raise _ContentError
            return
        if len(place.path) > 1 or not part.parts or part.parts[0].kind == "data":
            raise _ContentError
        if place.one_of and part.word == "only":
            # `only (A or B)` is another thing than `only A` or `only B`, and is what "one of" beside "only" says.
            raise _ContentError
        if place.denied and place.words and not place.words[-1].endswith(_NOT):
            # What stands in an expression that is denied is not denied by itself.
            raise _ContentError
        none = part.words in {"max 0", "exactly 0"}
        filler = part.parts[0]
        if place.denied and part.word not in {"some", "value"}:
            # It denies no edge by itself: see `_contrary`.
            raise _ContentError
        if (place.denied or none) and filler.kind not in {"class", "or"}:
            raise _ContentError
        # `some not` says something else than `not some`.
        before = tuple(word.removesuffix(_NOT) for word in place.words) if place.denied else place.words
        words = f"not {part.words}" if place.denied else part.words
        # At most one of both says nothing of each.
        splits = part.word in {"some", "only", "min"} and not (place.denied or none)
        inner = _Place((*place.path, part.step), (*before, words), place.denied or none, place.one_of, splits=splits)
        self._walk(filler, inner)

    def _end(self, term: str, place: _Place) -> None:
        if self._base == TYPE and not place.path and (place.denied or place.one_of):
            # A type is no edge, and has no evidence that would say that it is not certain.
            raise _ContentError
        path = place.path or ((self._base, False),)
        if place.words[-1:] == ("only not",) and not place.one_of:
            # Only what is not of a class is that none is of it.
            place = replace(place, words=(*place.words[:-1], "max 0"))
        self._add(Said(self._subject, path, term, place.words, self._of, place.one_of, place.denied))

    def _add(self, said: Said) -> None:
        self.meaning.edges.append(said)

    def _flat(self, expression: Expression, kind: Kind) -> list[Expression]:
        """Return the parts of an expression, and of its parts, that are all intersections, or all unions."""
        found: list[Expression] = []
        left = [expression]
        while left:
            self._count(1)
            one = left.pop()
            if one.kind == kind:
                left += reversed(one.parts)
            else:
                found.append(one)
        return found

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST:
            raise UnreadError
