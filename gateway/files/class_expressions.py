"""Class expressions of OWL as triples hold them, their keys, and the predicates by which nodes lead to them.

docs/contract.md, "Class expressions". What they mean is in OWL 2: Mapping to RDF Graphs, and Direct Semantics.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from gateway.files.ntriples import Terms, is_blank, is_node, node
from gateway.graph.values import EdgeSelection, Iri
from gateway.terms.iri import OWL, RDF, RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, RDFS, SUBCLASS_OF, XSD

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


Step: TypeAlias = tuple[str, bool]
"""A predicate, and whether it is followed against its direction."""


class UnreadError(Exception):
    """An expression fits no rule."""


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
        self._keys: dict[str, str] = {}

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

    def key(self, term: str) -> str:
        """Return a text that is the same for expressions of the same structure, which statements about axioms copy."""
        to_do = [term]
        while to_do:
            one = to_do[-1]
            values = [] if one in self._keys else [value for all_of in self.said(one).values() for value in all_of]
            # What is in itself keeps its own name there.
            self._keys.setdefault(one, one)
            if new := [value for value in values if is_blank(value) and value not in self._keys]:
                to_do += new
                continue
            to_do.pop()
            if self._keys[one] == one and (said := self.said(one)):
                lines = sorted(
                    f"{by} {self._keys.get(value, value)}" for by, all_of in said.items() for value in all_of
                )
                self._keys[one] = sha256("\n".join(lines).encode()).hexdigest()
        return self._keys[term]

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
        return self.of_set(predicate, value, depth + 1, term)

    def of_set(self, predicate: str, value: str, depth: int = 0, term: str = "") -> Expression:
        """Return the expression that one of `SETS` says; `term` is the blank node that has it, empty for an IRI.

        Raises:
            UnreadError: It fits no rule, or is a data range, which no IRI can be here.
        """
        if predicate == COMPLEMENT:
            return Expression("not", parts=(self.expression(value, depth),))
        members = self.members(value) if predicate in SETS else []
        if not members:
            raise UnreadError
        if predicate == ONE_OF:
            if all(map(is_node, members)):
                return Expression("enumeration", parts=tuple(Expression("class", member) for member in members))
            if not term:
                raise UnreadError
            return Expression("data", term)
        parts = tuple(self.expression(member, depth) for member in members)
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


READ_OUTWARDS: Final = frozenset(term[1:-1] for term in (SUBCLASS, EQUIVALENT, DOMAIN, RANGE, *SETS))
"""Predicates by which a node leads to an expression that says something of it."""

READ_INWARDS: Final = frozenset(
    [f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass")]
    + [COMPLEMENT[1:-1], EQUIVALENT[1:-1], RDF_FIRST]
)
"""Predicates by which an expression leads to a node."""


def beside_expressions(selection: EdgeSelection) -> EdgeSelection:
    """Return a selection with the predicates between nodes and the expressions that may say an edge of it.

    A restriction says an edge of a predicate that no triple beside the node has.
    """
    return EdgeSelection(
        _with_further(READ_OUTWARDS, selection.outgoing), _with_further(READ_INWARDS, selection.incoming)
    )


def _with_further(further: frozenset[Iri], predicates: tuple[Iri, ...] | None) -> tuple[Iri, ...] | None:
    return tuple(sorted(further.union(predicates))) if predicates else predicates
