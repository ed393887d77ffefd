"""Leaves out of a graph in this process what a policy hides (docs/policy.md, "What is hidden of a file").

Whatever has a hidden term in it is left out; and what states something about a triple that is left out, or is only a
part of it, is a hidden term itself. When no more terms are found, the rest is copied: queries run over a graph that
never had the hidden triples, so no answer, count or error can depend on them.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pyoxigraph

from gateway.files.blank_nodes import BlankNodes
from gateway.settings.hidden import Policy
from gateway.terms.iri import BIOLINK, OBAN, OWL, PROV, RDF, RDF_REST, SINGLETON_PROPERTY_OF, STATING, is_skolem

_log = logging.getLogger(__name__)

_Term: TypeAlias = pyoxigraph.NamedNode | pyoxigraph.BlankNode
"""A term that can be hidden."""

_WIKIBASE = "http://wikiba.se/ontology#"


def _nodes(*iris: str) -> frozenset[pyoxigraph.NamedNode]:
    return frozenset(map(pyoxigraph.NamedNode, iris))


_STATES = _nodes(*STATING)

_PROPERTY_LINKS = _nodes(
    *(f"{_WIKIBASE}{name}" for name in ("claim", "directClaim", "directClaimNormalized", "novalue")),
    *(
        f"{_WIKIBASE}{name}{form}"
        for name in ("statement", "qualifier", "reference")
        for form in ("Value", "ValueNormalized")
    ),
    *(f"{_WIKIBASE}{name}" for name in ("statementProperty", "qualifier", "reference")),
)
"""From a property of a Wikibase to its predicates: all of them are hidden, or none."""

_PART_LINKS = tuple(
    pyoxigraph.NamedNode(f"{_WIKIBASE}{name}")
    for name in (
        "claim",
        "statementValue",
        "statementValueNormalized",
        "qualifierValue",
        "qualifierValueNormalized",
        "referenceValue",
        "referenceValueNormalized",
    )
)
"""From a property to predicates whose objects are parts of their subjects: statements and value nodes."""

_STATEMENT_PROPERTY = pyoxigraph.NamedNode(f"{_WIKIBASE}statementProperty")
_OF_PARTS = tuple(
    pyoxigraph.NamedNode(f"{_WIKIBASE}{name}") for name in ("rank", "timeValue", "quantityAmount", "geoLatitude")
)
"""Predicates that only statements and value nodes have, for those that no declared predicate leads to."""

_MAIN_VALUE = "/statement/"
"""In each predicate from a statement to its value: the names are fixed, also where a graph declares none of them."""

_REST, _FIRST_MEMBER = pyoxigraph.NamedNode(RDF_REST), pyoxigraph.NamedNode(f"{RDF}_1")
_NO_VALUE = pyoxigraph.NamedNode(f"{_WIKIBASE}novalue")
_RANK = pyoxigraph.NamedNode(f"{_WIKIBASE}rank")
_WAS_DERIVED_FROM = pyoxigraph.NamedNode(f"{PROV}wasDerivedFrom")
_SINGLETON_PROPERTY_OF = pyoxigraph.NamedNode(SINGLETON_PROPERTY_OF)
_PREDICATES_OF = tuple(
    pyoxigraph.NamedNode(iri)
    for iri in (
        f"{RDF}predicate",
        f"{OBAN}association_has_predicate",
        f"{OBAN}association_has_object_property",
        f"{BIOLINK}predicate",
        f"{OWL}annotatedProperty",
    )
)
"""From what states something about a triple to the triple's predicate."""


def visible_part(whole: pyoxigraph.Store, policy: Policy) -> pyoxigraph.Store:
    """Return a new store in memory with what a policy leaves of a graph."""
    part = pyoxigraph.Store()
    copy_visible(whole, policy, [part])
    return part


def copy_visible(
    whole: pyoxigraph.Store, policy: Policy, into: Sequence[pyoxigraph.Store], aside: BlankNodes | None = None
) -> None:
    """Copy what a policy leaves of a graph into empty stores; what has blank nodes or lists is only set aside.

    Raises:
        OSError: A store could not be written; one in memory always can.
    """
    hidden = HiddenTriples(whole, policy).found()
    for store in into:
        visible = (quad for quad in whole if quad not in hidden)
        store.bulk_extend(visible if aside is None else aside.add(visible))


class HiddenTriples:
    """Finds the triples of a graph that a policy hides."""

    def __init__(self, whole: pyoxigraph.Store, policy: Policy) -> None:
        self._whole = whole
        self._policy = policy
        self._types = _nodes(*policy.types)
        self._class_links = _nodes(*policy.type_predicates, *policy.subclass_predicates)
        self._terms: set[_Term] = set()
        self._to_follow: list[_Term] = []
        self._hidden: set[pyoxigraph.Quad] = set()
        self._described: dict[pyoxigraph.NamedNode, bool] = {}
        self._within: defaultdict[_Term, list[pyoxigraph.Quad]] = defaultdict(list)

    def found(self) -> set[pyoxigraph.Quad]:
        """Return the hidden triples."""
        given = _nodes(*self._policy.types, *self._policy.predicates, *self._policy.graphs)
        without_literals = self._without_literals()
        self._warn_of_absent()
        for quad in self._whole:
            self._note_inner_terms(quad, given)
            if _states_literal(quad, without_literals) or self._states_list(quad, without_literals):
                self._leave_out(quad)
        for node in given:
            self._hide(node)
        while self._to_follow:
            self._follow(self._to_follow.pop())
        return self._hidden

    def _follow(self, term: _Term) -> None:
        """Leave out the triples that have a hidden term in them."""
        for quad in self._with_term(term):
            if quad.predicate in self._class_links and quad.object == term and self._hides_members(term):
                self._hide(quad.subject)
            self._leave_out(quad)

    def _hides_members(self, term: _Term) -> bool:
        """Return whether what has a hidden type is hidden: not what only has no value of a hidden property."""
        return term in self._types or not self._has(None, _NO_VALUE, term)

    def _warn_of_absent(self) -> None:
        """Tell the operator of what hides nothing, which a wrong letter makes of an IRI."""
        policy = self._policy
        for node in _nodes(*policy.types, *policy.predicates, *policy.literals):
            if not any(True for _ in self._with_term(node)):
                _log.warning("what shall be hidden does not occur in the graph: %s", node)

    def _without_literals(self) -> frozenset[pyoxigraph.NamedNode]:
        """Return the predicates whose literals are hidden; a property of a Wikibase among them is hidden whole."""
        nodes = set(_nodes(*self._policy.literals))
        for node in list(nodes):
            nodes.update(
                quad.subject
                for quad in self._whole.quads_for_pattern(None, _SINGLETON_PROPERTY_OF, node)
                if isinstance(quad.subject, pyoxigraph.NamedNode)
            )
            if any(quad.predicate in _PROPERTY_LINKS for quad in self._whole.quads_for_pattern(None, None, node)):
                self._hide(node)
        for node in nodes:
            for predicate in _PREDICATES_OF:
                for quad in self._whole.quads_for_pattern(None, predicate, node):
                    self._hide_if_of_literal(quad.subject)
        return frozenset(nodes)

    def _hide_if_of_literal(self, node: _Term | pyoxigraph.Triple) -> None:
        """Hide what states something about a triple whose object is a literal."""
        for quad in self._whole.quads_for_pattern(node, None, None):
            if quad.predicate in _STATES and isinstance(quad.object, pyoxigraph.Literal):
                self._hide(node)

    def _note_inner_terms(self, quad: pyoxigraph.Quad, given: frozenset[pyoxigraph.NamedNode]) -> None:
        """Note the terms that no index has: those inside an object."""
        if isinstance(quad.object, pyoxigraph.Triple):
            for term in _terms_of(quad.object):
                self._within[term].append(quad)
        elif isinstance(quad.object, pyoxigraph.Literal):
            datatype = quad.object.datatype
            if datatype in given or self._may_be_hidden(datatype):
                self._within[datatype].append(quad)

    def _may_be_hidden(self, datatype: pyoxigraph.NamedNode) -> bool:
        """Return whether a datatype that the policy does not name may be hidden: with what the graph says of it."""
        if not datatype.value.startswith(("http://www.w3.org/2001/XMLSchema#", RDF)):
            return True
        # Those of RDF itself have many literals, and few graphs say anything of them.
        if datatype not in self._described:
            self._described[datatype] = any(True for _ in self._whole.quads_for_pattern(datatype, None, None))
        return self._described[datatype]

    def _with_term(self, term: _Term) -> Iterator[pyoxigraph.Quad]:
        yield from self._whole.quads_for_pattern(term, None, None)
        if isinstance(term, pyoxigraph.NamedNode):
            yield from self._whole.quads_for_pattern(None, term, None)
        yield from self._whole.quads_for_pattern(None, None, term)
        yield from self._within.get(term, ())

    def _hide(self, term: object) -> None:
        if isinstance(term, pyoxigraph.NamedNode | pyoxigraph.BlankNode) and term not in self._terms:
            self._terms.add(term)
            self._to_follow.append(term)

    def _leave_out(self, quad: pyoxigraph.Quad) -> None:
        """Leave a triple out, and hide what states something about it or is a part of it."""
        if quad in self._hidden:
            return
        self._hidden.add(quad)
        subject, predicate, value = quad.subject, quad.predicate, quad.object
        if predicate in _STATES:
            self._hide(subject)
        if predicate in _PROPERTY_LINKS:
            self._hide(subject)
            self._hide(value)
        if self._has(predicate, _SINGLETON_PROPERTY_OF, None):
            self._hide(predicate)
        if self._has(None, _STATEMENT_PROPERTY, predicate) or (
            _MAIN_VALUE in predicate.value and self._has(subject, _RANK, None)
        ):
            self._hide(subject)
        if self._is_part(quad):
            self._hide(value)

    def _states_list(self, quad: pyoxigraph.Quad, predicates: frozenset[pyoxigraph.NamedNode]) -> bool:
        """Return whether a triple has one of some predicates and a list, whose literals would be values of it."""
        value = quad.object
        if quad.predicate not in predicates or not isinstance(value, pyoxigraph.BlankNode):
            return False
        return self._has(value, _REST, None) or self._has(value, _FIRST_MEMBER, None)

    def _is_part(self, quad: pyoxigraph.Quad) -> bool:
        """Return whether the object of a triple is a part of its subject, and nothing by itself."""
        value = quad.object
        if isinstance(value, pyoxigraph.BlankNode):
            return True
        if not isinstance(value, pyoxigraph.NamedNode):
            return False
        if is_skolem(value.value) or any(self._has(value, predicate, None) for predicate in _OF_PARTS):
            return True
        if quad.predicate == _WAS_DERIVED_FROM:
            return self._has(quad.subject, _RANK, None)
        return any(self._has(None, link, quad.predicate) for link in _PART_LINKS)

    def _has(
        self,
        subject: _Term | pyoxigraph.Triple | None,
        predicate: pyoxigraph.NamedNode,
        value: _Term | None,
    ) -> bool:
        return any(True for _ in self._whole.quads_for_pattern(subject, predicate, value))


def _terms_of(triple: pyoxigraph.Triple) -> Iterator[_Term]:
    for term in triple:
        if isinstance(term, pyoxigraph.Triple):
            yield from _terms_of(term)
        elif isinstance(term, pyoxigraph.Literal):
            yield term.datatype
        else:
            yield term


def _states_literal(quad: pyoxigraph.Quad | pyoxigraph.Triple, predicates: frozenset[pyoxigraph.NamedNode]) -> bool:
    """Return whether a triple, or one in it, has one of some predicates and a literal."""
    if isinstance(quad.object, pyoxigraph.Triple):
        return _states_literal(quad.object, predicates)
    return isinstance(quad.object, pyoxigraph.Literal) and quad.predicate in predicates
