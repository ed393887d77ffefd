"""Names one step away: the nodes that vocabularies put between a node and its name.

A walk has an IRI of its own (`gateway.terms.iri.walk_iri`), under which its values stand among those of predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.terms.iri import RDF, RDFS, SKOS, is_walk, walk_iri, walk_steps

_SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
_ONTOLEX = "http://www.w3.org/ns/lemon/ontolex#"
_BIBFRAME = "http://id.loc.gov/ontologies/bibframe/"
_CIDOC_CRM = ("http://www.cidoc-crm.org/cidoc-crm/", "http://erlangen-crm.org/current/")

_EXPRESS, _EXPRESS_BEFORE = "https://w3id.org/express#", "http://purl.org/voc/express#"
_IFC = (
    ("https://standards.buildingsmart.org/IFC/DEV/IFC4/ADD2/OWL#", _EXPRESS),
    ("https://standards.buildingsmart.org/IFC/DEV/IFC2x3/TC1/OWL#", _EXPRESS),
    ("http://www.buildingsmart-tech.org/ifcOWL/IFC4_ADD1#", _EXPRESS_BEFORE),
    ("http://www.buildingsmart-tech.org/ifcOWL/IFC2X3_TC1#", _EXPRESS_BEFORE),
)
"""The versions of ifcOWL, each with the namespace of its texts."""

NO_CLASS = "urn:bfs-ql:none"
"""A class that no node has."""

Row = tuple[str, str, str, str, str]
"""A walk as queries are given it: its IRI, both predicates, and the classes that the node between must and must not
have."""


@dataclass(frozen=True, slots=True)
class NameWalk:
    """A walk of two predicates to names.

    Attributes:
        first: The predicate to the node between.
        last: The predicate from there to the name.
        only: A class that the node between must have; empty for any.
        but: A class that it must not have; empty for none.
        is_further: Whether another walk has the same predicates, to names that are shown before these.
    """

    first: str
    last: str
    only: str = ""
    but: str = ""
    is_further: bool = False

    @property
    def iri(self) -> str:
        """The IRI that stands for the walk, which of two with the same predicates one alone has."""
        steps = [(self.first, False), (self.last, False)]
        return walk_iri([*steps, (self.but, True)] if self.is_further else steps)

    @property
    def row(self) -> Row:
        """The walk as queries are given it."""
        return (self.iri, self.first, self.last, self.only or NO_CLASS, self.but or NO_CLASS)


NAME_WALKS = (
    NameWalk(f"{_SKOSXL}prefLabel", f"{_SKOSXL}literalForm"),
    NameWalk(f"{_ONTOLEX}canonicalForm", f"{_ONTOLEX}writtenRep"),
    NameWalk(f"{_BIBFRAME}title", f"{_BIBFRAME}mainTitle", only=f"{_BIBFRAME}Title"),
    *(
        NameWalk(f"{crm}{first}", last, but=f"{crm}E42_Identifier")
        for crm in _CIDOC_CRM
        for first in ("P102_has_title", "P1_is_identified_by")
        for last in (f"{crm}P190_has_symbolic_content", f"{RDFS}label", f"{crm}P3_has_note")
    ),
    *(NameWalk(f"{ifc}name_IfcRoot", f"{express}hasString") for ifc, express in _IFC),
)
"""The walks to display names, the strongest first."""

SYNONYM_WALKS = (
    NameWalk(f"{_SKOSXL}altLabel", f"{_SKOSXL}literalForm"),
    NameWalk(f"{_SKOSXL}hiddenLabel", f"{_SKOSXL}literalForm"),
    NameWalk(f"{_ONTOLEX}otherForm", f"{_ONTOLEX}writtenRep"),
    NameWalk(f"{_BIBFRAME}title", f"{_BIBFRAME}mainTitle", but=f"{_BIBFRAME}Title", is_further=True),
)
"""The walks to further names."""

DESCRIPTION_WALKS = (NameWalk(f"{SKOS}definition", f"{RDF}value"),)
"""The walks to descriptions."""

_BY_IRI: Mapping[str, NameWalk] = {walk.iri: walk for walk in (*SYNONYM_WALKS, *NAME_WALKS, *DESCRIPTION_WALKS)}


def plain(predicates: Iterable[str]) -> list[str]:
    """Return those of some predicates of names that are no walks."""
    return [predicate for predicate in predicates if not is_walk(predicate)]


def rows_of(predicates: Iterable[str]) -> list[Row]:
    """Return those of some predicates of names that are walks, as queries are given them."""
    return [_walk_of(predicate).row for predicate in predicates if is_walk(predicate)]


def _walk_of(iri: str) -> NameWalk:
    if iri in _BY_IRI:
        return _BY_IRI[iri]
    (first, _), (last, _) = walk_steps(iri)
    return NameWalk(first, last)


def last_predicates(predicates: Iterable[str]) -> frozenset[str]:
    """Return the predicates from the nodes between to the names, of those that are walks."""
    return frozenset(_walk_of(predicate).last for predicate in predicates if is_walk(predicate))


def possible(walks: Sequence[NameWalk], known: frozenset[str]) -> list[str]:
    """Return the IRIs of the walks both of whose predicates are known; of all where none is known."""
    return [walk.iri for walk in walks if not known or {walk.first, walk.last} <= known]
