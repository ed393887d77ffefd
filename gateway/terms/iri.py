"""IRIs: their grammar, and those that the gateway knows by name.

The grammar is the one of SPARQL's IRIREF with a scheme in front (SPARQL 1.1 section 19.8, RFC 3987): what passes
here cannot end a ``<...>`` in a query. It is wider than some engines' own: those refuse ``%zz`` or private-use
characters, and then the endpoint decides (docs/notes/embedded-engines.md, "Terms").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice
from urllib.parse import quote, unquote

LEGAL_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\\x7f-\x9f\ud800-\udfff\ufffe\uffff]*")
"""What a query can contain: no character of it ends `<...>`."""

_PLAIN = r"[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
_PLAIN_IRI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:{_PLAIN})*(?::[0-9]*)?(?:/(?:{_PLAIN}|[:@/])*)?|(?!//)(?:{_PLAIN}|[:@/])*)"
    rf"(?:\?(?:{_PLAIN}|[:@/?])*)?(?:#(?:{_PLAIN}|[:@/?])*)?"
)
"""An IRI of RFC 3986 in which each percent sign begins an escape, without IPv6 hosts in brackets."""

_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:[/?#]|$)")

_ORDINARY = re.compile(r"https?://[^/A-Z]+(?:/|$)|urn:[a-z]")
"""The beginning of almost all IRIs; engines rewrite none of these, unless a segment starts with a dot."""

_ORDINARY_LINES = re.compile(r"(?:(?:https?://[^/A-Z\n]++(?:/.*+)?|urn:[a-z].*+)\n)*+")
"""Texts that begin like `_ORDINARY`, one a line; what was matched is not looked at again."""

_WITH_HOST = re.compile(r"https?://[^/A-Z]+/")

_LEGAL = bytes(sorted({*range(0x21, 0x7F)} - {*b'<>"{}|^`\\'}))
"""The ASCII characters of an IRI."""

_AT_ONCE = 5_000
"""IRIs that one expression looks at, during which no other thread runs: a millisecond."""

_HIERARCHICAL = frozenset({"http", "https", "ftp", "ws", "wss"})
"""Schemes whose IRIs have an authority."""

_LOCAL_NAME = re.compile(r"[#/:]([^#/:]+)[#/]?$")


MAX_IRI = 998
"""Characters of an IRI in an answer; as `<IRI>` it is an argument of 1,000 characters."""

_SKOLEM = "/.well-known/genid/"
"""In the path of every IRI that replaces a blank node."""


def is_blank_node(iri: str) -> bool:
    """Return whether an IRI stands for a blank node of a graph in this process, or of one that `load` has written."""
    return iri.startswith(BLANK_NODE)


def is_own(iri: str) -> bool:
    """Return whether an IRI is one that the gateway made, so that no answer shows it."""
    return iri.startswith((BLANK_NODE, REACHED_BY, WALK, PATH)) or iri in OWN_KEYS


def is_shown(iri: str) -> bool:
    """Return whether answers can show an IRI as an ID that a caller can send back."""
    return is_sendable(iri) and (not iri.startswith(OWN) or is_blank_node(iri))


def is_reached_by(iri: str) -> bool:
    """Return whether a type is that of blank nodes without one: the predicate that leads to them."""
    return iri.startswith(REACHED_BY)


WalkStep = tuple[str, bool]
"""A predicate, and whether it is followed against its direction."""

_INVERSE = "!"
_THEN = "/"
"""What the IRI of a walk has before and between the IRIs of its predicates, which are percent-encoded."""


def walk_iri(steps: Iterable[WalkStep]) -> str:
    """Return the IRI that stands for a walk."""
    return WALK + _THEN.join(_INVERSE * is_inverse + quote(predicate, safe="") for predicate, is_inverse in steps)


def is_walk(iri: str) -> bool:
    """Return whether an IRI stands for a walk."""
    return iri.startswith(WALK)


def walk_steps(iri: str) -> list[WalkStep]:
    """Return the steps of the walk for which an IRI stands."""
    steps = iri[len(WALK) :].split(_THEN)
    return [(unquote(step.removeprefix(_INVERSE)), step.startswith(_INVERSE)) for step in steps]


def path_iri(steps: Iterable[WalkStep]) -> str:
    """Return the predicate of the edges of class expressions that stand for such a path."""
    return PATH + walk_iri(steps)[len(WALK) :]


def is_path(iri: str) -> bool:
    """Return whether a predicate is that of edges of class expressions which no triple of the graph could have."""
    return iri.startswith(PATH)


def path_steps(iri: str) -> list[WalkStep]:
    """Return the steps of the path for which a predicate stands."""
    return walk_steps(WALK + iri[len(PATH) :])


def is_denied(iri: str) -> bool:
    """Return whether a predicate is that of edges which class expressions deny."""
    return is_path(iri) and any(step == COMPLEMENT_OF for step, _ in path_steps(iri))


def is_skolem(iri: str) -> bool:
    """Return whether an IRI stands for a blank node (RDF 1.1 Concepts 3.5), as unknown values of Wikibase do."""
    return _SKOLEM in iri


def is_iri(text: str) -> bool:
    """Return whether the whole text is an absolute IRI that a query can contain."""
    return LEGAL_IRI.fullmatch(text) is not None


def is_sendable(text: str) -> bool:
    """Return whether a caller can send an IRI back as an ID: it is legal, and not too long."""
    return len(text) <= MAX_IRI and is_iri(text)


def not_sendable(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts that are not sendable."""
    is_legal = LEGAL_IRI.fullmatch
    distinct = set(texts)
    if max(map(len, distinct), default=0) <= MAX_IRI and are_ordinary(distinct):
        return frozenset()
    return frozenset(text for text in distinct if len(text) > MAX_IRI or is_legal(text) is None)


def are_ordinary(texts: Iterable[str]) -> bool:
    """Return whether all texts are legal IRIs which no engine reads as others, and are written as almost all IRIs are.

    It takes a tenth of the time of asking `is_iri` and `may_be_rewritten` about each. Where it is false, each may still
    be both.
    """
    iterator = iter(texts)
    while some := list(islice(iterator, _AT_ONCE)):
        lines = "\n".join([*some, ""])
        # What remains shows other characters, and a line end within a text, which would read as two.
        if not lines.isascii() or lines.encode().translate(None, _LEGAL) != b"\n" * len(some):
            return False
        if "/." in lines:
            return False
        # Mostly all have the host of the first, and counting takes a tenth of the time of matching.
        start = _WITH_HOST.match(some[0])
        is_alike = start is not None and lines.count(f"\n{start[0]}") + 1 == len(some)
        if not is_alike and _ORDINARY_LINES.fullmatch(lines) is None:
            return False
    return True


def is_plain_iri(text: str) -> bool:
    """Return whether every engine accepts this IRI unchanged.

    It is ASCII, every percent sign is an escape, and it is in the form that RFC 3986 section 6.2.2 calls normal.
    """
    return _PLAIN_IRI.fullmatch(text) is not None and not may_be_rewritten(text)


def may_be_rewritten(text: str) -> bool:
    """Return whether an engine may read this IRI in a query as another one.

    Fuseki resolves IRIs in queries, but not all that it loads: dot segments, ``http:x`` without an authority, and
    ``file:`` paths; an IRI that it then does not find may exist. Blazegraph sorts terms by a Unicode collation, so an
    IRI and its composed form (`composed`) are the same term.
    """
    if text.isascii() and "/." not in text and _ORDINARY.match(text):
        return False
    if composed(text) != text:
        return True
    scheme, _, rest = text.partition(":")
    authority = rest[2:].partition("/")[0] if rest.startswith("//") else ""
    return (
        _DOT_SEGMENT.search(rest) is not None
        or scheme != scheme.lower()
        or authority != authority.lower()
        or scheme == "file"
        or (scheme in _HIERARCHICAL and not authority)
    )


def composed(text: str) -> str:
    """Return an IRI in the composed form of Unicode (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def local_name(iri: str) -> str:
    """Return the part after the last ``#``, ``/`` or ``:``, or the whole IRI if that is empty."""
    found = _LOCAL_NAME.search(iri)
    return found.group(1) if found else iri


OWN = "urn:x-bfsql-blank:"
"""Begins the IRIs that the gateway makes itself; no answer shows them as they are."""

NEOSEMANTICS_BLANK = "bnode://"
"""Begins the IDs of nodes in Neo4j that neosemantics made of blank nodes, which last until the next load."""

BLANK_NODE = f"{OWN}node:"
"""Begins the IRI that a store of this process has in the place of a blank node; answers write `_:` (decision 0050)."""

REACHED_BY = f"{OWN}reached-by:"
"""Begins the type of an untyped blank node: the predicate that leads to it follows; answers write `(predicate)`."""

WALK = f"{OWN}walk:"
"""Begins the IRI that stands for a walk of several predicates, see `walk_iri`; answers write `p/^q`."""

PATH = f"{OWN}path:"
"""Begins the predicate of edges of class expressions for an inverse property, or several, see `path_iri`; answers
write `(^p)` and `(p/q)`."""

LOCAL_NAME = f"{OWN}local-name"
"""Stands among predicates of names for the given and family name of a node as one, or else for its local name."""

POSITION = f"{OWN}position"
"""The predicate of the place of a member in its list; answers write `position`."""

RESTRICTED = f"{OWN}restriction"
"""How a class expression restricts the property of its edge; answers write `restriction`."""

OF = f"{OWN}of"
"""The axiom of the edge of a class expression, where it is a definition; answers write `of`."""

CLOSED = f"{OWN}closed"
"""Whether nothing else stands at the edges of a property; answers write `closed`."""

ONE_OF = f"{OWN}one-of"
"""Of how many alternatives the edge of a class expression is one; answers write `one of`."""

NEGATED = f"{OWN}negated"
"""Whether a class expression denies its edge; answers write `negated`."""

STATED = f"{OWN}stated"
"""Whether the graph has the triple of an edge beside an expression that says less of it; answers write `stated`."""

OWN_KEYS = {
    POSITION: "position",
    RESTRICTED: "restriction",
    OF: "of",
    CLOSED: "closed",
    ONE_OF: "one of",
    STATED: "stated",
}
"""How answers write the predicates of evidence that the gateway made."""

ARRAY = f"{OWN}array"
"""The datatype of a list that has members which are no nodes: JSON, each member as a value object of JSON-LD.

A list with one member that is another object is a class expression as content, by its predicates."""

ORDER = f"{OWN}order"
"""The same of a list of nodes, of its first members only; no answer shows it, but in the order of others.

Its members are class expressions where these are edges of other predicates: there they have no value to show."""

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
DCT = "http://purl.org/dc/terms/"
DC = "http://purl.org/dc/elements/1.1/"
FOAF = "http://xmlns.com/foaf/0.1/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
OBO = "http://purl.obolibrary.org/obo/"
QUDT = "http://qudt.org/schema/qudt/"
VCARD = "http://www.w3.org/2006/vcard/ns#"
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
RDF_FIRST = f"{RDF}first"
RDF_REST = f"{RDF}rest"
CELLS = (RDF_FIRST, RDF_REST, f"{RDF}_")
"""How the predicates of the cells of lists begin, and those from containers to their members."""

RDF_NIL = f"{RDF}nil"
RDFS_MEMBER = f"{RDFS}member"

REIFICATION = (RDF_REIFIES, RDF_SUBJECT, RDF_PREDICATE, RDF_OBJECT)
"""The predicates from an evidence node to its triple (RDF 1.2 Concepts; RDF Schema 5.3)."""

EVIDENCE_MARKERS = (RDF_REIFIES, RDF_SUBJECT)
"""Predicates that only an evidence node has; its triples are not edges (docs/contract.md, "Nodes and edges")."""

SHACL = "http://www.w3.org/ns/shacl#"
SHACL_PATH = f"{SHACL}path"
"""From a shape to its path: a predicate, or a list or blank node that says several."""

EXPRESSION_PREDICATES = frozenset(
    f"{OWL}{name}"
    for name in (
        *("onProperty", "onProperties", "intersectionOf", "unionOf", "complementOf", "oneOf"),
        *("onDatatype", "datatypeComplementOf", "inverseOf"),
    )
)
"""Predicates by which a blank node is a class expression, a data range or the inverse of a property."""

COMPLEMENT_OF = f"{OWL}complementOf"
"""From an expression to the class that it denies; a step of the predicate of an edge that is denied."""

INTERSECTION = f"{OWL}intersectionOf"
"""From an expression to its parts, each of which holds."""

INTO_EXPRESSIONS = frozenset(
    [f"{OWL}{name}" for name in ("intersectionOf", "unionOf", "oneOf", "disjointUnionOf", "hasKey")]
    + [f"{OWL}propertyChainAxiom", SHACL_PATH]
)
"""Predicates to a blank node that is a part of an expression, or a path, whatever has them."""

RESTRICTION = f"{OWL}Restriction"

ALL_DIFFERENT = {
    f"{OWL}AllDisjointClasses": f"{OWL}disjointWith",
    f"{OWL}AllDisjointProperties": f"{OWL}propertyDisjointWith",
    f"{OWL}AllDifferent": f"{OWL}differentFrom",
}
"""Types of blank nodes that say of all members of a list that they are different or disjoint, each with the predicate
between two of them."""

TO_ALL_DIFFERENT = frozenset(f"{OWL}{name}" for name in ("members", "distinctMembers"))
"""Predicates from such a blank node to its list."""

ON_PROPERTY = f"{OWL}onProperty"

HAS_VALUE = f"{OWL}hasValue"
"""From an expression to an individual."""

IMPORTS = f"{OWL}imports"
VERSION_IRI = f"{OWL}versionIRI"
DEPRECATED = f"{OWL}deprecated"

ANNOTATED = tuple(f"{OWL}annotated{part}" for part in ("Source", "Property", "Target"))
"""From an annotation of an axiom to the terms of its triple (OWL 2: Mapping to RDF Graphs, 2.2)."""

SINGLETON_PROPERTY_OF = f"{RDF}singletonPropertyOf"
"""From a singleton property to its general property (Nguyen, Bodenreider, Sheth, WWW 2014)."""

OBAN_SUBJECT = f"{OBAN}association_has_subject"
BIOLINK_SUBJECT = f"{BIOLINK}subject"
"""From an association to its subject. An association is evidence of its triple if the graph asserts that too."""

WAS_DERIVED_FROM = f"{PROV}wasDerivedFrom"
HAS_ASSERTION = f"{NANOPUB}hasAssertion"

GENERIC_TYPES = frozenset({f"{OWL}Thing", f"{OWL}NamedIndividual", f"{RDFS}Resource"})
"""Types without information: an `entity_type` only of a node that has no other."""

KINDS_OF_SCHEMA_TERMS = (
    f"{OWL}Class",
    f"{RDFS}Class",
    f"{RDFS}Datatype",
    f"{OWL}ObjectProperty",
    f"{OWL}DatatypeProperty",
    f"{OWL}AnnotationProperty",
    f"{OWL}OntologyProperty",
    f"{RDF}Property",
    f"{OWL}Ontology",
    f"{OWL}DataRange",
    f"{RDFS}ContainerMembershipProperty",
)
"""What terms of a vocabulary are; of several, the first is the type that a node shows."""

SCHEMA_TERM_CLASSES = frozenset(
    [*KINDS_OF_SCHEMA_TERMS, f"{OWL}DeprecatedClass", f"{OWL}DeprecatedProperty"]
    + [
        f"{OWL}{name}Property"
        for name in (
            *("Asymmetric", "Functional", "InverseFunctional", "Irreflexive", "Reflexive", "Symmetric", "Transitive"),
        )
    ]
)
"""Types of terms of a vocabulary, which stand behind all others (docs/contract.md, "Entity types")."""

NO_TYPES = frozenset(
    f"{OWL}{name}"
    for name in ("AllDifferent", "AllDisjointClasses", "AllDisjointProperties", "Axiom", "Annotation", "Restriction")
)
"""Types of what states something, or is a part of an expression, and is no entity."""


def is_entity_type(iri: str) -> bool:
    """Return whether a class is a type of entities: no blank node, and not what only states something."""
    return iri not in NO_TYPES and not is_skolem(iri)


_LABELS = (
    f"{RDFS}label",
    f"{SKOS}prefLabel",
    *(f"{namespace}name" for namespace in SCHEMA),
)
_ALTERNATIVE_LABELS = (f"{SKOS}altLabel",)

NAME_PREDICATES = (*_LABELS, f"{FOAF}name", f"{DCT}title", f"{DC}title", f"{VCARD}fn")
SYNONYM_PREDICATES = (
    *_ALTERNATIVE_LABELS,
    *(f"{namespace}alternateName" for namespace in SCHEMA),
    f"{FOAF}nick",
    f"{DCT}alternative",
    *(f"{OBO_IN_OWL}has{kind}Synonym" for kind in ("Exact", "Related", "Broad", "Narrow")),
)
_DESCRIPTIONS = (
    f"{RDFS}comment",
    f"{SKOS}definition",
    *(f"{namespace}description" for namespace in SCHEMA),
)
DESCRIPTION_PREDICATES = (
    *_DESCRIPTIONS,
    f"{DCT}description",
    f"{OBO}IAO_0000115",
    f"{QUDT}plainTextDescription",
)
"""The default roles of predicates, the strongest first."""

TEXT_PREDICATES = frozenset((*NAME_PREDICATES, *SYNONYM_PREDICATES, *DESCRIPTION_PREDICATES))
"""Predicates of what is read as text, which content of expressions is not."""

STATING = (
    *REIFICATION,
    SINGLETON_PROPERTY_OF,
    *(f"{OBAN}association_has_{part}" for part in ("subject", "predicate", "object_property", "object")),
    *(f"{BIOLINK}{part}" for part in ("subject", "predicate", "object")),
    *ANNOTATED,
)
"""From what states something about a triple to the triple, or to one of its terms."""

NO_EDGES = (*_LABELS, *_ALTERNATIVE_LABELS, *_DESCRIPTIONS, *REIFICATION)
"""The predicates that are not edges by default; the profile adds the type predicate.

Listed in docs/profiles.md, "edges: which triples are edges". Other predicates of names are edges where their object is
a node.
"""
