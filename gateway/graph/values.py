"""The values that cross the port. Nodes and predicates are whole IRIs; the engine shortens them for answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, starmap
from operator import attrgetter
from typing import Literal as Literal_
from typing import Protocol

import msgspec

from gateway.errors import Fault
from gateway.terms.literals import Literal

Iri = str


Triple = tuple[Iri, Iri, Iri]
"""Subject, predicate and object of an edge."""


class Edge(msgspec.Struct, frozen=True, order=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A distinct triple between two IRIs whose predicate the profile counts.

    The garbage collector never looks at one: they are most of what large answers leave in memory, and hold texts only.
    """

    subject: Iri
    predicate: Iri
    object: Iri

    @property
    def triple(self) -> Triple:
        """Its subject, predicate and object."""
        return self.subject, self.predicate, self.object


def all_terms(edges: Iterable[Edge]) -> Iterator[Iri]:
    """Return subject, predicate and object of each edge, one after the other."""
    return chain.from_iterable(map(_terms_of, edges))


_subject_of, _object_of = attrgetter("subject"), attrgetter("object")
_terms_of = attrgetter("subject", "predicate", "object")


def ends_of(edges: Sequence[Edge]) -> Iterator[Iri]:
    """Return the subjects of edges, then their objects."""
    return chain(map(_subject_of, edges), map(_object_of, edges))


def edges_of(subjects: Iterable[Iri], predicates: Iterable[Iri], objects: Iterable[Iri]) -> Iterable[Edge]:
    """Return the edges of which these are the terms."""
    return starmap(Edge, zip(subjects, predicates, objects, strict=True))


@dataclass(frozen=True, slots=True)
class EdgeSelection:
    """Which edges of a node are asked for, by direction as seen from the node.

    A self loop is both outgoing and incoming: it is selected where either direction selects its predicate.

    Attributes:
        outgoing: Predicates of outgoing edges, sorted; None for all, empty for none.
        incoming: The same for incoming edges.
    """

    outgoing: tuple[Iri, ...] | None = None
    incoming: tuple[Iri, ...] | None = None

    @property
    def is_all(self) -> bool:
        """Whether every edge is selected."""
        return self.outgoing is None and self.incoming is None

    def overlaps(self, other: EdgeSelection) -> bool:
        """Return whether some edge of a node may be in both selections."""
        return _have_common(self.outgoing, other.outgoing) or _have_common(self.incoming, other.incoming)

    def selects(self, node: Iri, edge: Edge) -> bool:
        """Return whether an edge that touches a node is selected, as seen from this node."""
        if edge.subject == node and (self.outgoing is None or edge.predicate in self.outgoing):
            return True
        return edge.object == node and (self.incoming is None or edge.predicate in self.incoming)

    def selected(self, node: Iri, edges: Iterable[Edge]) -> tuple[Edge, ...]:
        """Return those of some edges that touch a node which are selected, as seen from this node."""
        outgoing = None if self.outgoing is None else frozenset(self.outgoing)
        incoming = None if self.incoming is None else frozenset(self.incoming)
        return tuple(
            edge
            for edge in edges
            if (edge.subject == node and (outgoing is None or edge.predicate in outgoing))
            or (edge.object == node and (incoming is None or edge.predicate in incoming))
        )


def _have_common(some: tuple[Iri, ...] | None, others: tuple[Iri, ...] | None) -> bool:
    """Return whether two lists of predicates, each of which may be that of all, have a predicate in common."""
    if some is None or others is None:
        return some != () and others != ()
    return not frozenset(some).isdisjoint(others)


ALL_EDGES = EdgeSelection()


def other_end(node: Iri, edge: Edge) -> Iri:
    """Return the end of an edge that is not the node; the node itself for a self loop."""
    return edge.object if edge.subject == node else edge.subject


@dataclass(frozen=True, slots=True)
class Mark:
    """Whether an answer about one ID is whole.

    Attributes:
        fault: Why there is no answer, or only a part; None if the answer is whole.
        at_least: For an answer that was cut: how many rows there are at least.
    """

    fault: Fault | None = None
    at_least: int | None = None

    def __post_init__(self) -> None:
        """Drop the traceback of the fault: a stored mark lives long, and frames hold the answers that were read."""
        if self.fault is not None:
            self.fault.__traceback__ = self.fault.__context__ = self.fault.__cause__ = None

    @property
    def whole(self) -> bool:
        """Whether nothing is missing."""
        return self.fault is None

    @property
    def answered(self) -> bool:
        """Whether there is an answer, whole or cut."""
        return self.fault is None or self.at_least is not None


WHOLE = Mark()


class Marked(Protocol):
    """An answer about one ID, with its mark."""

    @property
    def mark(self) -> Mark:
        """Whether it is whole."""
        ...


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The edges of one node, in both directions.

    Attributes:
        edges: Distinct edges.
        blank_edges: Triples left out because their other end is a blank node, which has no ID.
        mark: Whether these are all edges.
        left_out: Hashes of the edges left out because one of their terms is not an IRI, or is too long for an ID.
    """

    edges: tuple[Edge, ...] = ()
    blank_edges: int = 0
    mark: Mark = WHOLE
    left_out: frozenset[int] = frozenset()

    @property
    def ends(self) -> Mapping[Iri, None]:
        """The distinct subjects and objects of its edges, in their order."""
        return dict.fromkeys(ends_of(self.edges))


@dataclass(frozen=True, slots=True)
class Degree:
    """The number of edges of a node, counted up to a bound.

    Attributes:
        count: Distinct edges in both directions; a self loop counts once.
        exact: Whether the count is exact; otherwise it is a lower bound.
        mark: Whether the edges could be counted.
    """

    count: int = 0
    exact: bool = True
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class Reach:
    """The nodes within some hops of one node.

    Attributes:
        distances: The distance of each node; that of the node itself is 0.
        mark: Whether these are all such nodes.
    """

    distances: Mapping[Iri, int] = field(default_factory=dict)
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The types, name and description of a node.

    Attributes:
        types: Entity types, sorted; empty if the node has none.
        name: The display name; empty if there is none or it was not requested.
        mark: Whether the types could be fetched.
        description: The description; empty if there is none or it was not requested.
        left_out: The number of types left out because they are not IRIs, or too long for IDs.
        is_described: Whether the description could be read, if it was requested.
        is_deprecated: Whether the node is deprecated, if the description was requested.
        aliases: Its synonyms, sorted, if it was asked about as a predicate or a type of the schema.
    """

    types: tuple[Iri, ...] = ()
    name: str = ""
    mark: Mark = WHOLE
    description: str = ""
    left_out: int = 0
    is_described: bool = True
    is_deprecated: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def are_types_known(self) -> bool:
        """Whether some types are known, or it is known that there are none."""
        return self.mark.whole and bool(self.types or not self.left_out)


@dataclass(frozen=True, slots=True)
class BlankNode:
    """A blank node as a value: its content.

    Attributes:
        properties: Values by predicate.
        cut: Whether deeper content is left out.
        iri: Its IRI, where it is a node; or empty.
        failed: Whether some of its content could not be read; then it is cut too.
    """

    properties: Mapping[Iri, tuple[Value, ...]]
    cut: bool = False
    iri: Iri = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """An IRI as a value."""

    iri: Iri


@dataclass(frozen=True, slots=True)
class NoValue:
    """The statement that there is no value, or an unknown one (Wikibase).

    Attributes:
        unknown: True for "some value", which exists and is unknown; False for "no value".
    """

    unknown: bool


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Attributes:
        amount: The number.
        unit: The entity that is the unit.
    """

    amount: Literal
    unit: Iri


Value = Literal | Resource | BlankNode | NoValue | Quantity
Properties = Mapping[Iri, tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class DirectSubclasses:
    """The direct subclasses of one class.

    Attributes:
        classes: Their IRIs, sorted.
        mark: Whether these are all subclasses.
    """

    classes: tuple[Iri, ...] = ()
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class Description:
    """The properties of one node that are not edges.

    Attributes:
        properties: Values by predicate.
        mark: Whether they could be fetched.
        left_out: The number of predicates and values left out because they are not IRIs, or too long for IDs.
        refined: Whether the precisions of dates and the units of quantities could be read, if the graph has any.
    """

    properties: Properties = field(default_factory=dict)
    mark: Mark = WHOLE
    left_out: int = 0
    refined: bool = True

    @property
    def value_count(self) -> int:
        """How many values there are, those inside blank nodes not counted."""
        return sum(map(len, self.properties.values()))


@dataclass(frozen=True, slots=True)
class Assertion:
    """One statement of an edge.

    Attributes:
        properties: Values by predicate.
        sources: The documents that state it, if no predicate names them: the named graph in which it stands.
    """

    properties: Properties = field(default_factory=dict)
    sources: tuple[Iri, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The statements about one edge.

    Attributes:
        assertions: One for each statement; identical ones are not merged.
        mark: Whether they could be fetched.
        left_out: The number of predicates, values and sources left out because they are not IRIs, or too long for IDs.
        refined: Whether the precisions of dates and the units of quantities could be read, if the graph has any.
    """

    assertions: tuple[Assertion, ...] = ()
    mark: Mark = WHOLE
    left_out: int = 0
    refined: bool = True


@dataclass(frozen=True, slots=True)
class Existence:
    """Whether a node is subject or object of a triple; `exists` means nothing if the mark is not whole."""

    exists: bool = False
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class Identities:
    """The IRIs by which other graphs may know a node, beside its own.

    Attributes:
        others: The IRIs, sorted.
        mark: Whether all could be read.
    """

    others: tuple[Iri, ...] = ()
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class NamelessNodes:
    """How many nodes have no name, so that no search finds them.

    Attributes:
        count: Nodes without a name.
        of: Nodes that were looked at.
        exact: Whether these are all nodes; otherwise they are a sample.
    """

    count: int
    of: int
    exact: bool


SchemaMethod = Literal_["enumerated", "published", "declared", "sampled", "met"]
"""How terms of a schema became known: every triple was read; the publisher lists them (VoID); the graph declares them;
a part of the triples was read; a traversal met them."""


@dataclass(frozen=True, slots=True)
class Term:
    """A type or predicate of the schema.

    Attributes:
        iri: Its IRI.
        count: How many nodes have the type, or how many edges the predicate has; None if unknown.
        label: Its label; empty if there is none.
        aliases: Its synonyms, sorted.
    """

    iri: Iri
    count: int | None
    label: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Basis:
    """How a schema was read.

    Attributes:
        methods: How its terms became known.
        read_at: When it was read, in seconds since the epoch; None if it was never read.
        sampled: Triples read in samples; 0 if there was no sample.
        triples: Triples of the whole graph; None if unknown.
    """

    methods: tuple[SchemaMethod, ...] = ()
    read_at: float | None = None
    sampled: int = 0
    triples: int | None = None


@dataclass(frozen=True, slots=True)
class BlankCounts:
    """What is not counted in a schema, because blank nodes of the graph are no nodes.

    Attributes:
        types: Blank nodes by type.
        predicates: Triples that would be edges, by predicate.
        are_named: Whether some blank nodes have a name.
        are_all: Whether all blank nodes were looked at. If not, there may be others, with any type and name.
    """

    types: Mapping[Iri, int] = field(default_factory=dict)
    predicates: Mapping[Iri, int] = field(default_factory=dict)
    are_named: bool = False
    are_all: bool = False

    def __bool__(self) -> bool:
        return bool(self.types or self.predicates)

    @property
    def edges(self) -> int:
        """How many triples would be edges."""
        return sum(self.predicates.values())


@dataclass(frozen=True, slots=True)
class BlankShare:
    """How much of a graph is about blank nodes that are nodes.

    Attributes:
        edges: Edges that have one at an end.
        of: All edges that were looked at.
        types: Their types, the most frequent first.
    """

    edges: int
    of: int
    types: tuple[Iri, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """The types and edge predicates of a graph, by frequency, the most frequent first, then by IRI.

    Attributes:
        types: All entity types found.
        predicates: All edge predicates found.
        exact: Whether every triple was read.
        labelled: Whether all labels of types and predicates, and of a database all superclasses, could be fetched. If
            not, the schema is read again soon.
        reason: Why it is not exact.
        version: A hash of types, predicates, counts and superclasses.
        basis: How it was read.
        names: The predicates that name nodes in this graph, the best first; None if they could not be detected.
        synonyms: The predicates of further names that were detected, beside those of the profile.
        codes: The predicates of notations, codes and identifiers that were detected.
        languages: The languages of texts in a sample of the graph, the commonest first.
        descriptions: The walks to descriptions one step away that the graph has.
        name_parts: The predicates of given and family names that it has.
        hubs: The types of nodes with very many edges, the largest first.
        annotations: Predicates of what is stated about edges, the most frequent first, as far as they were read.
        left_out: The number of types and predicates left out because they are not IRIs, or too long for IDs; the schema
            is not exact then.
        is_cut: Whether terms are known to be missing: a list was cut or could not be read, or terms are left out. A
            schema from samples is not cut for that reason alone.
        superclasses: The direct superclasses of types and of their superclasses, as far as they were read.
        blank: What is not counted, because it is about blank nodes that are no nodes, as far as that is known.
        blank_share: How much is about those that are nodes; None where there are none, or that was not counted.
    """

    types: tuple[Term, ...] = ()
    predicates: tuple[Term, ...] = ()
    exact: bool = False
    labelled: bool = True
    reason: str = ""
    version: str = ""
    basis: Basis = Basis()
    names: tuple[Iri, ...] | None = None
    synonyms: tuple[Iri, ...] = ()
    codes: tuple[Iri, ...] = ()
    languages: tuple[str, ...] = ()
    descriptions: tuple[Iri, ...] = ()
    name_parts: tuple[Iri, ...] = ()
    hubs: tuple[Iri, ...] = ()
    annotations: tuple[Iri, ...] = ()
    left_out: int = 0
    is_cut: bool = False
    superclasses: Mapping[Iri, tuple[Iri, ...]] = field(default_factory=dict)
    blank: BlankCounts = BlankCounts()
    blank_share: BlankShare | None = None


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """The text that a search looks for, and its words.

    Attributes:
        text: The name or part of a name, as the caller wrote it.
        words: Its first words in lower case, of letters, digits and combining marks only, as indexes are asked for
            them. Empty if the text has symbols only; the search then looks for that text as a whole name.
    """

    text: str
    words: tuple[str, ...]


HitKind = Literal_["name", "code", "id"]
"""What of an entity a search found: a name or a synonym, a code such as a notation, or its local name."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One name that a search found, with its entity.

    Attributes:
        iri: The entity.
        text: The name or synonym that matched, or the code or local name.
        is_synonym: Whether that is a synonym.
        kind: What of the entity it is.
        language: The tag of its language; empty where it has none, or that is not known.
    """

    iri: Iri
    text: str
    is_synonym: bool
    kind: HitKind = "name"
    language: str = ""


@dataclass(frozen=True, slots=True)
class MeantHit:
    """A name whose meaning is near to a text.

    Attributes:
        hit: The name, with its entity.
        score: How near it is: the cosine of two vectors.
    """

    hit: Hit
    score: float


@dataclass(frozen=True, slots=True)
class HitDetails:
    """The name and description of a found entity, from the index or API that found it.

    Attributes:
        name: Its display name; empty if the source gives none.
        description: Its description; empty if the source gives none.
    """

    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Hits:
    """The result of a search.

    Attributes:
        hits: The names that match, in no particular order.
        truncated: Whether more names match than were read.
        how: How the search was done, as a phrase.
        exhaustive: Whether every name was compared; then a name that is not found is not in the graph.
        absent: Words of the text that no name has, without case and accents; known only if every name was compared, and
            looked for only if no name that was found has all words.
        warnings: What the caller can do to find more.
        fault: Why a part of the search failed; a later search may succeed.
        weights: How important each entity is, from the index or API that found it; None if it does not say, and the
            caller must ask the graph.
        details: Names and descriptions from the index or API that found the entities. It vouches for these entities:
            one that the graph does not know stays in the answer.
        local_names: Whether the local names of nodes without a name were compared too.
        meant: Names whose meaning is near to the text, the nearest first, one of each entity; they say nothing about
            whether a name fits.
        not_meant: Why names were not compared by their meaning although they should be; empty if they were.
    """

    hits: tuple[Hit, ...]
    truncated: bool
    how: str
    exhaustive: bool = True
    absent: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fault: Fault | None = None
    weights: Mapping[Iri, float] | None = None
    details: Mapping[Iri, HitDetails] = field(default_factory=dict)
    local_names: bool = True
    meant: tuple[MeantHit, ...] = ()
    not_meant: str = ""
