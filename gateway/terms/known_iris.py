"""The IRIs of vocabularies that have a meaning for every graph (docs/contract.md, "Nodes and edges")."""

from __future__ import annotations

from gateway.terms.iri import is_skolem

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
DCT = "http://purl.org/dc/terms/"
DC = "http://purl.org/dc/elements/1.1/"
FOAF = "http://xmlns.com/foaf/0.1/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
PROV = "http://www.w3.org/ns/prov#"
OBAN = "http://purl.org/oban/"
BIOLINK = "https://w3id.org/biolink/vocab/"
NANOPUB = "http://www.nanopub.org/nschema#"
SCHEMA = ("http://schema.org/", "https://schema.org/")
"""Both forms occur in graphs, and they are different IRIs."""

RDF_TYPE = f"{RDF}type"
SUBCLASS_OF = f"{RDFS}subClassOf"
RDF_REIFIES = f"{RDF}reifies"
RDF_SUBJECT = f"{RDF}subject"
RDF_PREDICATE = f"{RDF}predicate"
RDF_OBJECT = f"{RDF}object"

REIFICATION = (RDF_REIFIES, RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT)
"""The predicates from an evidence node to its triple (RDF 1.2 Concepts; RDF Schema 5.3)."""

EVIDENCE_MARKERS = (RDF_REIFIES, RDF_SUBJECT)
"""Predicates that only an evidence node has; its triples are not edges (docs/contract.md, "Nodes and edges")."""

SINGLETON_PROPERTY_OF = f"{RDF}singletonPropertyOf"
"""From a singleton property to its general property (Nguyen, Bodenreider, Sheth, WWW 2014)."""

OBAN_SUBJECT = f"{OBAN}association_has_subject"
BIOLINK_SUBJECT = f"{BIOLINK}subject"
"""From an association to its subject. An association is evidence of its triple if the graph asserts that too."""

WAS_DERIVED_FROM = f"{PROV}wasDerivedFrom"
HAS_ASSERTION = f"{NANOPUB}hasAssertion"

GENERIC_TYPES = frozenset({f"{OWL}Thing", f"{OWL}NamedIndividual", f"{RDFS}Resource"})
"""Types without information: an `entity_type` only of a node that has no other."""

SCHEMA_TERM_CLASSES = frozenset(
    [f"{RDF}{name}" for name in ("Property",)]
    + [f"{RDFS}{name}" for name in ("Class", "Datatype", "ContainerMembershipProperty")]
    + [f"{OWL}{name}" for name in (
        "AllDifferent", "AnnotationProperty", "AsymmetricProperty", "Axiom", "Class", "DataRange", "DatatypeProperty",
        "DeprecatedClass", "DeprecatedProperty", "FunctionalProperty", "InverseFunctionalProperty",
        "IrreflexiveProperty", "ObjectProperty", "Ontology", "OntologyProperty", "ReflexiveProperty", "Restriction",
        "SymmetricProperty", "TransitiveProperty",
    )]
)  # fmt: skip
"""Classes of schema terms, which are not entity types (docs/contract.md, "Entity types")."""


def is_entity_type(iri: str) -> bool:
    """Return whether a class is a type of entities: it is neither a class of schema terms nor a blank node."""
    return iri not in SCHEMA_TERM_CLASSES and not is_skolem(iri)


_LABELS = (
    f"{RDFS}label",
    f"{SKOS}prefLabel",
    *(f"{namespace}name" for namespace in SCHEMA),
)
_ALTERNATIVE_LABELS = (f"{SKOS}altLabel",)

NAME_PREDICATES = (*_LABELS, f"{FOAF}name", f"{DCT}title", f"{DC}title")
SYNONYM_PREDICATES = (
    *_ALTERNATIVE_LABELS,
    *(f"{namespace}alternateName" for namespace in SCHEMA),
    f"{FOAF}nick",
    f"{DCT}alternative",
    f"{OBO_IN_OWL}hasExactSynonym",
)
DESCRIPTION_PREDICATES = (
    f"{RDFS}comment",
    f"{SKOS}definition",
    *(f"{namespace}description" for namespace in SCHEMA),
)
"""The default roles of predicates, the strongest first."""

STATING = (
    *REIFICATION,
    SINGLETON_PROPERTY_OF,
    *(f"{OBAN}association_has_{part}" for part in ("subject", "predicate", "object_property", "object")),
    *(f"{BIOLINK}{part}" for part in ("subject", "predicate", "object")),
    *(f"{OWL}annotated{part}" for part in ("Source", "Property", "Target")),
)
"""From what states something about a triple to the triple, or to one of its terms."""

NO_EDGES = (*_LABELS, *_ALTERNATIVE_LABELS, *DESCRIPTION_PREDICATES, *REIFICATION)
"""The predicates that are not edges by default; the profile adds the type predicate.

Listed in docs/profiles.md, "edges: which triples are edges". Other predicates of names are edges where their object is
a node.
"""
