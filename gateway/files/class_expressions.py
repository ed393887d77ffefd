"""Class expressions of OWL as triples hold them, and what is made of each axiom: edges, content, or nothing.

docs/contract.md, "Class expressions". What they mean is in OWL 2: Mapping to RDF Graphs, and Direct Semantics.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from gateway.files.ntriples import Terms, is_blank, is_node, node
from gateway.terms.iri import OWL, RDF, RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, RDFS, SUBCLASS_OF, TEXT_PREDICATES, XSD

SUBCLASS, TYPE = node(SUBCLASS_OF), node(RDF_TYPE)
DOMAIN, RANGE = node(f"{RDFS}domain"), node(f"{RDFS}range")
EQUIVALENT: Final = node(f"{OWL}equivalentClass")
ONE_OF: Final = node(f"{OWL}oneOf")
UNION, _INTERSECTION = node(f"{OWL}unionOf"), node(f"{OWL}intersectionOf")
COMPLEMENT, _INVERSE = node(f"{OWL}complementOf"), node(f"{OWL}inverseOf")
ON_PROPERTY, _VALUE, _SELF = (node(f"{OWL}{name}") for name in ("onProperty", "hasValue", "hasSelf"))
_SOME, _ONLY = node(f"{OWL}someValuesFrom"), node(f"{OWL}allValuesFrom")
_FIRST, _REST, _NIL = node(RDF_FIRST), node(RDF_REST), node(RDF_NIL)
_ON_CLASS, _ON_DATA = node(f"{OWL}onClass"), node(f"{OWL}onDataRange")
_CARDINALITIES = {
    node(f"{OWL}{name}"): (word, is_qualified)
    for name, word, is_qualified in (
        ("minCardinality", "min", False),
        ("maxCardinality", "max", False),
        ("cardinality", "exactly", False),
        ("minQualifiedCardinality", "min", True),
        ("maxQualifiedCardinality", "max", True),
        ("qualifiedCardinality", "exactly", True),
    )
}
_NUMBER = re.compile(r'"([0-9]{1,9})"(?:\^\^<[^>]*>)?')

SAYING_NOTHING: Final = frozenset(
    [node(f"{OWL}{name}") for name in ("Class", "Restriction", "DataRange", "ObjectProperty")]
    + [node(f"{RDFS}{name}") for name in ("Class", "Datatype")]
    + [node(f"{RDF}List")]
)
"""Types of parts of expressions, which follow from the rest."""

_DATA = frozenset(map(node, (f"{OWL}onDatatype", f"{OWL}withRestrictions", f"{OWL}datatypeComplementOf")))
_DATATYPES = frozenset(
    [node(f"{RDFS}Literal"), node(f"{OWL}real"), node(f"{OWL}rational")]
    + [node(f"{RDF}{name}") for name in ("langString", "dirLangString", "PlainLiteral", "XMLLiteral", "HTML", "JSON")]
)

_DEEPEST = 50
"""Expressions in each other that are read."""

_MOST = 100_000
"""Steps in which one axiom is read; parts that several share may make any number of them."""

Step: TypeAlias = tuple[str, bool]
"""A predicate, and whether it is followed against its direction."""


_NOT = " not"
"""Behind the word of a restriction to what is not of a class."""


class UnreadError(Exception):
    """An expression fits no rule."""


class _ContentError(Exception):
    """A part of an expression is content of a description, and no edge."""


Kind: TypeAlias = Literal["class", "data", "and", "or", "not", "enumeration", "restriction"]


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A class expression, or a data range.

    Attributes:
        kind: What it is.
        term: Of a class or an individual: its term. Of what a blank node says: that.
        parts: Of an intersection, union, complement or enumeration: its parts; of a restriction its filler, if any.
        word: Of a restriction: `some`, `only`, `value`, `self`, `min`, `max` or `exactly`.
        number: Of a cardinality: the number.
        step: Of a restriction: its property.
    """

    kind: Kind
    term: str = ""
    parts: tuple[Expression, ...] = ()
    word: str = ""
    number: int = 0
    step: Step = ("", False)

    @property
    def words(self) -> str:
        """How a restriction restricts."""
        return f"{self.word} {self.number}" if self.word in {"min", "max", "exactly"} else self.word


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


class Reader:
    """Reads expressions from triples.

    Args:
        triples: Triples with blank nodes.
    """

    def __init__(self, triples: Iterable[Terms]) -> None:
        self.about: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for subject, predicate, value in triples:
            if is_blank(subject):
                self.about[subject][predicate].append(value)
        self._read: dict[str, Expression | None] = {}

    def expression(self, term: str, depth: int = 0) -> Expression:
        """Return what a term means where a class is meant.

        Raises:
            UnreadError: It fits no rule.
        """
        if not is_blank(term):
            if not is_node(term):
                raise UnreadError
            is_data = term in _DATATYPES or term.startswith(f"<{XSD}")
            return Expression("data" if is_data else "class", term)
        if depth > _DEEPEST:
            raise UnreadError
        if term not in self._read:
            # What is in itself has no meaning.
            self._read[term] = None
            self._read[term] = self._of_blank(term, depth)
        found = self._read[term]
        if found is None:
            raise UnreadError
        return found

    def members(self, head: str) -> list[str]:
        """Return the members of a list.

        Raises:
            UnreadError: It is malformed.
        """
        found: list[str] = []
        seen: set[str] = set()
        while head != _NIL:
            said = self.said(head)
            if head in seen or said.keys() != {_FIRST, _REST} or any(len(values) != 1 for values in said.values()):
                raise UnreadError
            seen.add(head)
            found += said[_FIRST]
            head = said[_REST][0]
        return found

    def below(self, term: str, of: str = "") -> Iterator[str]:
        """Yield the blank nodes of which an expression or a list is made, itself first.

        Individuals are no parts: an enumeration is made of the cells of its list. `of` is the predicate of the list.
        """
        found = {term: None}
        to_follow = [(term, of == ONE_OF)]
        while to_follow:
            part, is_enumeration = to_follow.pop()
            for predicate, values in self.about.get(part, {}).items():
                if predicate == _VALUE or (is_enumeration and predicate == _FIRST):
                    continue
                new = [value for value in values if is_blank(value) and value not in found and value in self.about]
                found.update(dict.fromkeys(new))
                to_follow += [(value, is_enumeration or predicate == ONE_OF) for value in new]
        return iter(found)

    def said(self, term: str) -> dict[str, list[str]]:
        """Return what a part of an expression says, without types that follow from it."""
        said = {}
        for predicate, values in self.about.get(term, {}).items():
            left = [value for value in values if predicate != TYPE or value not in SAYING_NOTHING]
            if left:
                said[predicate] = left
        return said

    def _of_blank(self, term: str, depth: int) -> Expression:
        said = self.said(term)
        if any(len(values) != 1 for values in said.values()):
            raise UnreadError
        one = {predicate: values[0] for predicate, values in said.items()}
        if _DATA & one.keys() and one.keys() <= _DATA:
            return Expression("data", term)
        if ON_PROPERTY in one:
            return replace(self._restriction(one, depth), term=term)
        if len(one) != 1:
            raise UnreadError
        ((predicate, value),) = one.items()
        if predicate == COMPLEMENT:
            return Expression("not", parts=(self.expression(value, depth + 1),))
        members = self.members(value) if predicate in {UNION, _INTERSECTION, ONE_OF} else []
        if not members:
            raise UnreadError
        if predicate == ONE_OF:
            if not all(map(is_node, members)):
                return Expression("data", term)
            return Expression("enumeration", parts=tuple(Expression("class", member) for member in members))
        parts = tuple(self.expression(member, depth + 1) for member in members)
        return Expression("or" if predicate == UNION else "and", term, parts)

    def _restriction(self, one: Mapping[str, str], depth: int) -> Expression:
        step = self._property(one[ON_PROPERTY])
        rest = {predicate: value for predicate, value in one.items() if predicate != ON_PROPERTY}
        filler = rest.pop(_ON_CLASS, None) or rest.pop(_ON_DATA, None)
        if len(rest) != 1:
            raise UnreadError
        ((predicate, value),) = rest.items()
        if predicate in _CARDINALITIES:
            word, is_qualified = _CARDINALITIES[predicate]
            number = _NUMBER.fullmatch(value)
            if number is None or is_qualified != (filler is not None):
                raise UnreadError
            parts = () if filler is None else (self.expression(filler, depth + 1),)
            return Expression("restriction", parts=parts, word=word, number=int(number[1]), step=step)
        if filler is not None:
            raise UnreadError
        if predicate == _VALUE:
            individual = Expression("class" if is_node(value) else "data", value)
            return Expression("restriction", parts=(individual,), word="value", step=step)
        if predicate == _SELF:
            return Expression("restriction", word="self", step=step)
        if predicate in {_SOME, _ONLY}:
            parts = (self.expression(value, depth + 1),)
            return Expression("restriction", parts=parts, word="some" if predicate == _SOME else "only", step=step)
        raise UnreadError

    def _property(self, term: str) -> Step:
        if not is_blank(term):
            if not is_node(term):
                raise UnreadError
            return term, False
        said = self.said(term)
        inverse = said.get(_INVERSE, [])
        if said.keys() != {_INVERSE} or len(inverse) != 1 or is_blank(inverse[0]) or not is_node(inverse[0]):
            raise UnreadError
        return inverse[0], True


def is_expression(said: Mapping[str, Sequence[str]]) -> bool:
    """Return whether what a blank node says makes it a class expression."""
    return not said.keys().isdisjoint(_OF_EXPRESSIONS)


_OF_EXPRESSIONS = frozenset({ON_PROPERTY, UNION, _INTERSECTION, COMPLEMENT, ONE_OF}) | _DATA
SETS: Final = frozenset({UNION, _INTERSECTION, ONE_OF, COMPLEMENT})
"""Predicates by which a class with an IRI is defined without `owl:equivalentClass`."""


def of_class(predicate: str, value: str, reader: Reader) -> Expression:
    """Return the expression of a class that has one of `SETS` itself.

    Raises:
        UnreadError: It fits no rule.
    """
    if predicate == COMPLEMENT:
        return Expression("not", parts=(reader.expression(value),))
    members = reader.members(value)
    if not members or (predicate == ONE_OF and not all(map(is_node, members))):
        raise UnreadError
    if predicate == ONE_OF:
        return Expression("enumeration", parts=tuple(Expression("class", member) for member in members))
    return Expression("or" if predicate == UNION else "and", parts=tuple(map(reader.expression, members)))


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
        if place.denied and (none or (filler.kind != "class" and part.word not in {"some", "min"})):
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
