"""The right answers, computed slowly and obviously: the oracle the gateway is judged by.

Written from the specification alone, without a query language and without a line of the gateway.
Everything goes by whole IRIs as plain strings; nothing here knows a CURIE, a page or a batch.
"""

import gzip
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import IO, Final, TypeAlias, cast

import pyoxigraph
from rdflib import BNode, Literal, URIRef

# A triple term (RDF 1.2) is a tuple, as rdflib's `ox-turtle` parser gives it.
Term: TypeAlias = "URIRef | BNode | Literal | tuple[Term, Term, Term]"
Triple: TypeAlias = tuple[Term, Term, Term]
Edge: TypeAlias = tuple[str, str, str]

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
SCHEMA: Final = ("http://schema.org/", "https://schema.org/")

RDF_TYPE: Final = RDF + "type"
SINGLETON: Final = RDF + "singletonPropertyOf"

OBAN: Final = "http://purl.org/oban/association_has_"
BIOLINK: Final = "https://w3id.org/biolink/vocab/"
# What an association calls the subject, the predicate and the object of its triple.
ASSOCIATION: Final = (
    {OBAN + "subject", BIOLINK + "subject"},
    {OBAN + "predicate", OBAN + "object_property", BIOLINK + "predicate"},
    {OBAN + "object", BIOLINK + "object"},
)

# "Every predicate except" these (contract, Edge).
EXCEPTED: Final = frozenset(
    {
        RDF_TYPE,
        RDFS + "label",
        RDFS + "comment",
        SKOS + "prefLabel",
        SKOS + "altLabel",
        SKOS + "definition",
        *(schema + name for schema in SCHEMA for name in ("name", "description")),
        RDF + "subject",
        RDF + "predicate",
        RDF + "object",
        RDF + "reifies",
    }
)

# Types only "where nothing else is there" (contract, entity_type).
GENERIC_TYPES: Final = frozenset({OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource"})

# docs/contract.md, "Entity types": what terms of a vocabulary are, in the order in which they are shown; what else
# says of what kind they are comes after.
KINDS_OF_SCHEMA_TERMS: Final = (
    OWL + "Class",
    *(RDFS + name for name in ("Class", "Datatype")),
    *(OWL + name for name in ("ObjectProperty", "DatatypeProperty", "AnnotationProperty", "OntologyProperty")),
    RDF + "Property",
    *(OWL + name for name in ("Ontology", "DataRange")),
    RDFS + "ContainerMembershipProperty",
)
SCHEMA_TERM_CLASSES: Final = frozenset(
    {
        *KINDS_OF_SCHEMA_TERMS,
        *(OWL + name for name in ("DeprecatedClass", "DeprecatedProperty", "FunctionalProperty")),
        *(OWL + name for name in ("InverseFunctionalProperty", "TransitiveProperty", "SymmetricProperty")),
        *(OWL + name for name in ("AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty")),
    }
)

# What only states something, or is a part of an expression, is no entity.
NO_TYPES: Final = frozenset(
    OWL + name
    for name in ("AllDifferent", "AllDisjointClasses", "AllDisjointProperties", "Annotation", "Axiom", "Restriction")
)


@dataclass(frozen=True)
class EdgeRule:
    """What counts as an edge.

    Attributes:
        type_predicates: They say what a node is, and are never edges.
        excepted: Predicates that are no edges; not asked where there is an allow-list.
        allowed_namespaces: The allow-list; when not empty, only predicates that begin with one of
            these, minus the type predicates, are edges.
        evidence: Whether the triples of evidence nodes are excluded from the edges.
    """

    type_predicates: frozenset[str] = frozenset({RDF_TYPE})
    excepted: frozenset[str] = EXCEPTED
    allowed_namespaces: tuple[str, ...] = ()
    evidence: bool = True

    def counts(self, predicate: str) -> bool:
        """Tell whether a triple with this predicate may be an edge."""
        if predicate in self.type_predicates:
            return False
        if self.allowed_namespaces:
            return predicate.startswith(self.allowed_namespaces)
        return predicate not in self.excepted


DEFAULT_RULE: Final = EdgeRule()


class OracleGraph:
    """A graph as docs/contract.md sees it.

    Attributes:
        rule: What counted as an edge.
        nodes: Every IRI that is subject or object of a triple: what exists. IRIs that occur only
            inside triple terms or as predicates are not among them.
        edges: The distinct edges.
        types: The types of every node that has some, schema-term classes included.
        instances: How many IRIs have each type.
    """

    def __init__(self, triples: Iterable[Triple], rule: EdgeRule = DEFAULT_RULE) -> None:
        everything = list(triples)
        singletons = {str(s) for s, p, _ in everything if str(p) == SINGLETON} if rule.evidence else set()
        evidence = _evidence_nodes(everything) if rule.evidence else set()

        nodes: set[str] = set()
        edges: set[Edge] = set()
        types: defaultdict[str, set[str]] = defaultdict(set)
        blank: defaultdict[str, set[Triple]] = defaultdict(set)
        for s, p, o in everything:
            predicate = str(p)
            for end in (s, o):
                if isinstance(end, URIRef):
                    nodes.add(str(end))
            if isinstance(s, URIRef) and isinstance(o, URIRef) and predicate in rule.type_predicates:
                types[str(s)].add(str(o))
            if not rule.counts(predicate) or predicate in singletons or s in evidence or o in evidence:
                continue
            if isinstance(s, URIRef) and isinstance(o, URIRef):
                edges.add((str(s), predicate, str(o)))
            elif isinstance(s, URIRef) and isinstance(o, BNode):
                blank[str(s)].add((s, p, o))
            elif isinstance(s, BNode) and isinstance(o, URIRef):
                blank[str(o)].add((s, p, o))

        touching: defaultdict[str, set[Edge]] = defaultdict(set)
        for edge in edges:
            touching[edge[0]].add(edge)
            touching[edge[2]].add(edge)

        self.rule = rule
        self.nodes = frozenset(nodes)
        self.edges = frozenset(edges)
        self.types = {node: frozenset(of_node) for node, of_node in types.items()}
        self.instances = Counter(one for of_node in self.types.values() for one in of_node)
        self._touching = dict(touching)
        self._blank = dict(blank)

    @classmethod
    def from_files(cls, paths: Sequence[Path], rule: EdgeRule = DEFAULT_RULE) -> "OracleGraph":
        """Read `.ttl` and `.nt` files, gzipped or not, as one graph.

        Args:
            paths: The files.
            rule: What counts as an edge.

        Returns:
            The union of the files; blank nodes of two files stay apart.
        """
        return cls((triple for path in paths for triple in read_triples(path)), rule)

    def edges_of(self, iri: str) -> Collection[Edge]:
        """Give the distinct edges that touch a node, in and out."""
        return self._touching.get(iri, frozenset())

    def blank_triples_of(self, iri: str) -> Collection[Triple]:
        """Give the distinct triples that would be edges of a node but for a blank node at the other end."""
        return self._blank.get(iri, frozenset())

    def blank_node_edges_of(self, iri: str) -> int:
        """Count the distinct triples that would be edges of a node but for a blank node at the other end."""
        return len(self._blank.get(iri, ()))


@dataclass(frozen=True)
class Traversal:
    """What a breadth-first search finds.

    Attributes:
        distance: The nodes, each with its distance from the nearest seed.
        edges: The edges that touch an expanded node.
        missing: The seeds that do not exist, in the order given, each once.
        levels: How many nodes there are at distance 0, 1, ...; it ends with the farthest node.
        blank_node_edges: Triples of expanded nodes that are no edges for a blank end alone.
        hubs: Nodes at distance < max_hops that the hub rule left unexpanded.
    """

    distance: dict[str, int]
    edges: frozenset[Edge]
    missing: list[str]
    levels: list[int]
    blank_node_edges: int
    hubs: frozenset[str]


@dataclass(frozen=True)
class Intersection:
    """What lies within k hops of every seed.

    Attributes:
        nodes: The nodes, the seeds included where they qualify.
        edges: All edges with both ends among the nodes.
        missing: The seeds that do not exist; with any, there are no nodes.
    """

    nodes: frozenset[str]
    edges: frozenset[Edge]
    missing: list[str]


@dataclass(frozen=True)
class Steering:
    """Which edges are followed.

    Attributes:
        lists: Predicates, `^` before those of incoming edges only; one list for all hops and seeds, or one a hop, or
            one a seed. An empty list is any predicate.
        direction: `both`, `out` or `in`, as seen from the node that is expanded.
        listed: Whether there is one list a hop or a seed.
    """

    lists: tuple[tuple[str, ...], ...] = ((),)
    direction: str = "both"
    listed: bool = False

    def of(self, place: int) -> "Followed":
        """Return what is followed at a hop, or from a seed."""
        return Followed(self.lists[place if self.listed else 0], self.direction)


@dataclass(frozen=True)
class Followed:
    """What one list of predicates follows."""

    names: tuple[str, ...]
    direction: str

    def steps(self, graph: OracleGraph, node: str) -> list[tuple[Edge, str]]:
        """Return the edges that are followed from a node, each with the node where it leads."""
        found = []
        for edge in graph.edges_of(node):
            out = edge[0] == node and self._follows(edge[1], "out")
            into = edge[2] == node and self._follows(edge[1], "in")
            if out or into:
                found.append((edge, edge[2] if edge[0] == node else edge[0]))
        return found

    def _follows(self, predicate: str, way: str) -> bool:
        if way == "in" and "^" + predicate in self.names:
            return True
        return self.direction in {"both", way} and (not self.names or predicate in self.names)


@dataclass(frozen=True)
class Steered:
    """What a steered breadth-first search finds: as `Traversal`.

    Attributes:
        distance: The nodes, each with the fewest steps of an admitted walk to it.
        edges: The edges that were followed; with a list a hop, those on a walk through all hops.
        partial: Nodes where admitted walks arrive, none of which goes on through all hops.
        hubs: Nodes that the hub rule left unexpanded.
    """

    distance: dict[str, int]
    edges: frozenset[Edge]
    partial: frozenset[str]
    hubs: frozenset[str]


def steered_bfs(
    graph: OracleGraph, seeds: Sequence[str], max_hops: int, steering: Steering, max_degree: int | None = None
) -> Steered:
    """Search along the edges that a question follows; see `bfs`. All seeds exist."""
    if steering.listed:
        return _walks(graph, seeds, max_hops, steering, max_degree)
    distance, edges, hubs = dict.fromkeys(seeds, 0), set(), set()
    for hop in range(max_hops):
        for node in [node for node, at in distance.items() if at == hop]:
            steps = steering.of(hop).steps(graph, node)
            if max_degree is not None and node not in seeds and len(steps) > max_degree:
                hubs.add(node)
                continue
            for edge, other in steps:
                edges.add(edge)
                distance.setdefault(other, hop + 1)
    return Steered(distance, frozenset(edges), frozenset(), frozenset(hubs))


def _walks(
    graph: OracleGraph, seeds: Sequence[str], max_hops: int, steering: Steering, max_degree: int | None
) -> Steered:
    """Follow every walk, one by one."""
    distance, hubs = dict.fromkeys(seeds, 0), set()
    # A walk is the edges so far, and where it is; two that are in the same place go on alike.
    followed: list[set[tuple[str, Edge, str]]] = []
    places = set(seeds)
    for hop in range(max_hops):
        steps: set[tuple[str, Edge, str]] = set()
        for node in places:
            here = steering.of(hop).steps(graph, node)
            if max_degree is not None and node not in seeds and len(here) > max_degree:
                hubs.add(node)
                continue
            steps |= {(node, edge, other) for edge, other in here}
        followed.append(steps)
        places = {other for _, _, other in steps}
        for node in places:
            distance.setdefault(node, hop + 1)
    edges: set[Edge] = set()
    goals = places
    for steps in reversed(followed):
        through = {step for step in steps if step[2] in goals}
        edges |= {edge for _, edge, _ in through}
        goals = {node for node, _, _ in through}
    shown = set(seeds) | {end for edge in edges for end in (edge[0], edge[2])}
    kept = {node: at for node, at in distance.items() if node in shown}
    return Steered(kept, frozenset(edges), frozenset(distance) - shown, frozenset(hubs))


def steered_intersect(
    graph: OracleGraph, seeds: Sequence[str], k: int, steering: Steering, max_degree: int | None = None
) -> Intersection:
    """Find the nodes within k steered hops of every seed, and the edges among them of any predicate listed."""
    near = []
    for place, seed in enumerate(seeds):
        mine = Steering((steering.lists[place if steering.listed else 0],), steering.direction)
        near.append(_steered_near(graph, seed, k, mine, max_degree, frozenset(seeds)))
    nodes = frozenset(set.intersection(*near))
    listed = {name.removeprefix("^") for names in steering.lists for name in names}
    every = not all(steering.lists)
    edges = frozenset(
        edge for edge in graph.edges if edge[0] in nodes and edge[2] in nodes and (every or edge[1] in listed)
    )
    return Intersection(nodes, edges, [])


def _steered_near(
    graph: OracleGraph, seed: str, k: int, steering: Steering, max_degree: int | None, exempt: frozenset[str]
) -> set[str]:
    near, frontier = {seed}, {seed}
    for _ in range(k):
        found = set()
        for node in frontier:
            steps = steering.of(0).steps(graph, node)
            if max_degree is None or node in exempt or len(steps) <= max_degree:
                found |= {other for _, other in steps}
        frontier = found - near
        near |= frontier
    return near


def bfs(graph: OracleGraph, seeds: Sequence[str], max_hops: int, max_degree: int | None = None) -> Traversal:
    """Search breadth first, along edges in both directions.

    Args:
        graph: Where to search.
        seeds: Whole IRIs; duplicates count once.
        max_hops: How far to go; a node at a distance below it is expanded.
        max_degree: Nodes of a higher degree are not expanded, seeds excepted.

    Returns:
        The union of the seeds' neighbourhoods.
    """
    present, missing = _sort_out(graph, seeds)
    found = _search(graph, present, max_hops, max_degree, exempt=frozenset(present))
    return replace(found, missing=missing)


def intersect(graph: OracleGraph, seeds: Sequence[str], k: int, max_degree: int | None = None) -> Intersection:
    """Find the nodes within k hops of every seed, and all edges among them.

    Args:
        graph: Where to search.
        seeds: Whole IRIs; duplicates count once.
        k: The radius.
        max_degree: The hub rule, as for `bfs`; a seed is expanded in every seed's neighbourhood.

    Returns:
        The intersection of the neighbourhoods; empty when a seed is missing.
    """
    present, missing = _sort_out(graph, seeds)
    if missing:
        return Intersection(frozenset(), frozenset(), missing)
    exempt = frozenset(present)
    near = [set(_search(graph, [seed], k, max_degree, exempt=exempt).distance) for seed in present]
    nodes = frozenset(set.intersection(*near))
    edges = frozenset(edge for edge in graph.edges if edge[0] in nodes and edge[2] in nodes)
    return Intersection(nodes, edges, missing)


def degree(graph: OracleGraph, iri: str) -> int:
    """Count the distinct edges of a node, in and out, a self loop once."""
    return len(graph.edges_of(iri))


def entity_type(
    graph: OracleGraph, iri: str, preferred: Sequence[str] = (), id_of: Callable[[str], str] = str
) -> str | None:
    """Choose the one type of a node.

    Args:
        graph: Where the node is; the rarity of a type is counted over the whole of it.
        iri: The node.
        preferred: Types that go before all others, the first one first.
        id_of: How an IRI is written in answers; the last of the tie-breaks goes by the code points
            of that, which for CURIEs is another order than that of the IRIs.

    Returns:
        The type's IRI, or nothing for an untyped node.
    """
    candidates = graph.types.get(iri, frozenset()) - NO_TYPES
    candidates = (candidates - GENERIC_TYPES) or candidates
    for one in preferred:
        if one in candidates:
            return one
    return min(candidates, key=lambda one: (_place_of_kind(one), graph.instances[one], id_of(one)), default=None)


def _place_of_kind(iri: str) -> int:
    """Return where a type of schema terms stands behind all others."""
    if iri not in SCHEMA_TERM_CLASSES:
        return 0
    return KINDS_OF_SCHEMA_TERMS.index(iri) + 1 if iri in KINDS_OF_SCHEMA_TERMS else len(KINDS_OF_SCHEMA_TERMS) + 1


def read_triples(path: Path) -> Iterator[Triple]:
    """Read one file, in Turtle or N-Triples, gzipped or not.

    Args:
        path: The file; its name says what it is.

    Yields:
        The triples, with rdflib's terms; blank nodes are named after the file.
    """
    formats = {".ttl": pyoxigraph.RdfFormat.TURTLE, ".nt": pyoxigraph.RdfFormat.N_TRIPLES}
    gzipped = path.suffix == ".gz"
    rdf_format = formats[(path.with_suffix("") if gzipped else path).suffix]
    with gzip.open(path) if gzipped else path.open("rb") as opened:
        known: dict[str, URIRef] = {}
        for quad in pyoxigraph.parse(cast("IO[bytes]", opened), rdf_format):
            yield (
                as_rdflib(quad.subject, f"{path} ", known),
                as_rdflib(quad.predicate, f"{path} ", known),
                as_rdflib(quad.object, f"{path} ", known),
            )


def as_rdflib(term: object, scope: str, known: dict[str, URIRef]) -> Term:
    """Return a term of Oxigraph as one of rdflib, blank nodes with their scope before their label."""
    match term:
        case pyoxigraph.NamedNode():
            value = term.value
            if value not in known:
                known[value] = URIRef(value)
            return known[value]
        case pyoxigraph.BlankNode():
            return BNode(f"{scope}{term.value}")
        case pyoxigraph.Literal():
            if term.language:
                return Literal(term.value, lang=term.language)
            return Literal(term.value, datatype=URIRef(term.datatype.value), normalize=False)
        case pyoxigraph.Triple():
            return (
                as_rdflib(term.subject, scope, known),
                as_rdflib(term.predicate, scope, known),
                as_rdflib(term.object, scope, known),
            )
        case _:
            raise TypeError(f"not an RDF term: {term!r}")


def _evidence_nodes(triples: Sequence[Triple]) -> set[Term]:
    """Find the nodes whose triples are evidence.

    Statements, reifiers and singleton properties are, whatever they state. An association is where the
    graph asserts the triple that it names; else it is the only thing that connects its two ends.
    """
    marks = {RDF + "subject", RDF + "reifies", SINGLETON}
    found: set[Term] = {s for s, p, _ in triples if str(p) in marks}
    named: defaultdict[Term, tuple[set[Term], set[Term], set[Term]]] = defaultdict(lambda: (set(), set(), set()))
    for s, p, o in triples:
        for place, names in enumerate(ASSOCIATION):
            if str(p) in names:
                named[s][place].add(o)
    asserted = set(triples) if named else set()
    for node, parts in named.items():
        if any(triple in asserted for triple in product(*parts)):
            found.add(node)
    return found


def _sort_out(graph: OracleGraph, seeds: Sequence[str]) -> tuple[list[str], list[str]]:
    distinct = list(dict.fromkeys(seeds))
    present = [seed for seed in distinct if seed in graph.nodes]
    missing = [seed for seed in distinct if seed not in graph.nodes]
    return present, missing


def _search(
    graph: OracleGraph,
    present: Sequence[str],
    max_hops: int,
    max_degree: int | None,
    *,
    exempt: frozenset[str],
) -> Traversal:
    distance = dict.fromkeys(present, 0)
    edges: set[Edge] = set()
    hubs: set[str] = set()
    blank_node_edges = 0
    for hop in range(max_hops):
        for node in [node for node, at in distance.items() if at == hop]:
            if max_degree is not None and node not in exempt and degree(graph, node) > max_degree:
                hubs.add(node)
                continue
            blank_node_edges += graph.blank_node_edges_of(node)
            for edge in graph.edges_of(node):
                edges.add(edge)
                for end in (edge[0], edge[2]):
                    distance.setdefault(end, hop + 1)
    counted = Counter(distance.values())
    levels = [counted[at] for at in sorted(counted)]
    return Traversal(distance, frozenset(edges), [], levels, blank_node_edges, frozenset(hubs))


# What could be followed from a node.

Kind = tuple[str, bool]
"""A predicate, and whether its edges come in."""


def edge_counts(graph: OracleGraph, node: str) -> Counter[Kind]:
    """Count the edges of a node by predicate and direction; a self loop goes both ways."""
    kinds: Counter[Kind] = Counter()
    for subject, predicate, target in graph.edges_of(node):
        kinds[predicate, False] += subject == node
        kinds[predicate, True] += target == node
    return +kinds


def in_order(kinds: Counter[Kind]) -> Sequence[Kind]:
    """Return the kinds of edges, the most frequent first, then by predicate, outgoing ones first."""
    return sorted(kinds, key=lambda kind: (-kinds[kind], kind))


def neighbours(graph: OracleGraph, node: str, kind: Kind) -> set[str]:
    """Return the nodes at the other ends of the edges of a kind."""
    predicate, incoming = kind
    return {
        subject if incoming else target
        for subject, used, target in graph.edges_of(node)
        if used == predicate and (target if incoming else subject) == node
    }


Rows = Mapping[str, Sequence[int | str]]
"""The rows of an answer."""


def counts_shown(rows: Rows, expand: Callable[[str], str] = str) -> tuple[dict[Kind, int], bool]:
    """Return the counts that an answer shows, and whether they are exact."""
    counts = {}
    exact = True
    for key, (count, *_) in rows.items():
        predicate = key.removeprefix("^").partition(" ")[0]
        exact = exact and isinstance(count, int)
        counts[expand(predicate), key.startswith("^")] = int(str(count).removeprefix("at least "))
    return counts, exact


def are_wrong(
    rows: Rows, right: Mapping[Kind, int], *, total: int | None, failed: object, expand: Callable[[str], str] = str
) -> bool:
    """Return whether rows are not right: a count too high, or, where nothing failed, one that is too low or missing."""
    shown, exact = counts_shown(rows, expand)
    if any(count > right.get(kind, 0) or (not failed and count < right[kind]) for kind, count in shown.items()):
        return True
    return not failed and (not exact or (total or len(shown)) != len(right))
