"""The random graphs: the same in every run, and as varied as they are meant to be."""

import functools
import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyoxigraph
import pytest
from hypothesis import Phase, find, given, settings
from rdflib import BNode, Literal, URIRef

from tests.graphs import FIXTURES, asserted, fixture
from tests.oracle import OWL, RDF, RDF_TYPE, RDFS, OracleGraph, bfs, degree, entity_type, intersect
from tests.random_graphs import (
    BASE,
    CLASSES,
    CONFIDENCE,
    MENTIONS,
    SOURCE,
    TRAP_PREDICATES,
    IntersectionQuestion,
    Question,
    RandomGraph,
    corpus,
    corpus_triples,
    intersections,
    questions,
    write_corpus,
)

# Of the file. It changes only when the corpus is changed on purpose.
DIGEST: Final = "d5c3111abd1896e97cebae8172736bdc587b25a96766a7e17ceef84e7b80be6a"


@functools.cache
def everything() -> OracleGraph:
    return OracleGraph(corpus_triples())


def farthest(node: str) -> int:
    return max(bfs(everything(), [node], 40).distance.values())


def reached(node: str) -> int:
    return len(bfs(everything(), [node], 40).distance)


def own_edges(graph: RandomGraph) -> set[tuple[str, str, str]]:
    return {edge for node in graph.nodes for edge in everything().edges_of(node)}


def has(graph: RandomGraph, *, s: type = object, p: str | None = None, o: type = object) -> bool:
    return any(isinstance(a, s) and p in {None, str(b)} and isinstance(c, o) for a, b, c in graph.triples)


# --- the corpus as a whole ---


def test_the_corpus_is_the_same_in_every_run(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus.nt")
    assert hashlib.sha256((tmp_path / "corpus.nt").read_bytes()).hexdigest() == DIGEST


@pytest.mark.parametrize("rdf_format", [pyoxigraph.RdfFormat.N_TRIPLES, pyoxigraph.RdfFormat.TURTLE])
def test_the_file_says_what_the_triples_say(tmp_path: Path, rdf_format: pyoxigraph.RdfFormat) -> None:
    write_corpus(tmp_path / "corpus.nt")
    parsed = list(pyoxigraph.parse(path=tmp_path / "corpus.nt", format=rdf_format))
    assert len(parsed) == len(corpus_triples())
    assert len(set(parsed)) == len(set(corpus_triples()))
    texts = {(o.value, o.language) for _, _, o, _ in parsed if isinstance(o, pyoxigraph.Literal)}
    written = {
        (str(o), o.language.lower() if o.language else None) for _, _, o in corpus_triples() if isinstance(o, Literal)
    }
    assert {(text, tag.lower() if tag else None) for text, tag in texts} == written


def test_the_oracle_reads_the_file_as_it_reads_the_triples(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus.nt")
    from_file = OracleGraph.from_files([tmp_path / "corpus.nt"])
    assert from_file.nodes == everything().nodes
    assert from_file.edges == everything().edges
    assert from_file.types == everything().types
    blank = [(from_file.blank_node_edges_of(at), everything().blank_node_edges_of(at)) for at in from_file.nodes]
    assert all(one == other for one, other in blank)


def test_without_triple_terms_the_edges_stay_and_the_reifiers_go(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus.nt", triple_terms=False)
    assert "<<(" not in (tmp_path / "corpus.nt").read_text(encoding="utf-8")
    plain = OracleGraph(corpus_triples(triple_terms=False))
    assert plain.edges == everything().edges
    assert plain.types == everything().types
    assert all(plain.blank_node_edges_of(node) == everything().blank_node_edges_of(node) for node in everything().nodes)
    gone = everything().nodes - plain.nodes
    assert gone <= {name for graph in corpus() for name in graph.evidence}


def test_there_are_two_hundred_graphs_of_one_to_thirty_nodes() -> None:
    sizes = Counter(len(graph.nodes) for graph in corpus())
    assert sizes.total() == 200
    assert set(sizes) == set(range(1, 31))
    assert [graph.namespace for graph in corpus()] == [f"{BASE}{number:03d}/" for number in range(200)]


def test_no_edge_leaves_its_graph_and_none_is_between_the_shared_terms() -> None:
    assert sum(len(own_edges(graph)) for graph in corpus()) == len(everything().edges)
    for graph in corpus():
        ends = {end for s, _, o in own_edges(graph) for end in (s, o)}
        assert ends <= set(graph.nodes)
        assert all(node.startswith(graph.namespace) for node in (*graph.nodes, *graph.evidence, *graph.ghosts))


def test_blank_nodes_belong_to_one_graph() -> None:
    owners = Counter(
        label
        for graph in corpus()
        for label in {term for s, _, o in graph.triples for term in (s, o) if isinstance(term, BNode)}
    )
    assert set(owners.values()) == {1}


def test_nodes_and_evidence_exist_and_ghosts_do_not() -> None:
    for graph in corpus():
        assert len(set(graph.nodes)) == len(graph.nodes)
        assert {*graph.nodes, *graph.evidence} <= everything().nodes
        assert everything().nodes.isdisjoint(graph.ghosts)
        assert everything().nodes.isdisjoint([graph.namespace + "missing"])
        assert all(degree(everything(), node) == 0 for node in graph.evidence)


# --- its variety: each of these is true of so many graphs at least ---


def one_node(graph: RandomGraph) -> bool:
    return len(graph.nodes) == 1


def sparse(graph: RandomGraph) -> bool:
    return len(graph.nodes) >= 10 and 0 < len(own_edges(graph)) <= len(graph.nodes)


def dense(graph: RandomGraph) -> bool:
    return len(graph.nodes) >= 10 and len(own_edges(graph)) >= 5 * len(graph.nodes)


def several_components(graph: RandomGraph) -> bool:
    with_edges = [node for node in graph.nodes if degree(everything(), node)]
    return bool(with_edges) and 1 < reached(with_edges[0]) < len(with_edges)


def without_edges(graph: RandomGraph) -> bool:
    return not own_edges(graph)


def literals_only(graph: RandomGraph) -> bool:
    ends = {str(end) for s, _, o in graph.triples for end in (s, o) if not isinstance(o, Literal)}
    return len(graph.nodes) > 1 and any(node not in ends for node in graph.nodes)


def self_loop(graph: RandomGraph) -> bool:
    return any(s == o for s, _, o in own_edges(graph))


def parallel_edges(graph: RandomGraph) -> bool:
    return max(Counter((s, o) for s, _, o in own_edges(graph)).values(), default=0) > 1


def edges_both_ways(graph: RandomGraph) -> bool:
    pairs = {(s, o) for s, _, o in own_edges(graph) if s != o}
    return any((o, s) in pairs for s, o in pairs)


def cycle_of_three_or_more(graph: RandomGraph) -> bool:
    # More pairs joined than a forest has: nodes minus components.
    pairs = {frozenset((s, o)) for s, _, o in own_edges(graph) if s != o}
    parts = {frozenset(bfs(everything(), [node], 40).distance) for node in graph.nodes}
    return len(pairs) > len(graph.nodes) - len(parts)


def hub(graph: RandomGraph) -> bool:
    return any(degree(everything(), node) >= 15 for node in graph.nodes) and len(own_edges(graph)) < 60


def more_than_five_hops_across(graph: RandomGraph) -> bool:
    return any(farthest(node) > 5 for node in graph.nodes)


def untyped_throughout(graph: RandomGraph) -> bool:
    return not any(node in everything().types for node in graph.nodes)


def several_types(graph: RandomGraph) -> bool:
    return any(len(everything().types.get(node, ())) > 1 for node in graph.nodes)


def generic_types_only(graph: RandomGraph) -> bool:
    chosen = {entity_type(everything(), node) for node in graph.nodes}
    return bool(chosen & {OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource"})


def shared_class(graph: RandomGraph) -> bool:
    return any(everything().types.get(node, frozenset()) & {*CLASSES} for node in graph.nodes)


def class_with_edges_and_instances(graph: RandomGraph) -> bool:
    return any(
        RDFS + "Class" in everything().types.get(node, ())
        and degree(everything(), node)
        and everything().instances[node]
        for node in graph.nodes
    )


def blank_subject_of_an_edge_like_triple(graph: RandomGraph) -> bool:
    return any(
        isinstance(s, BNode) and isinstance(o, URIRef) and everything().blank_node_edges_of(str(o))
        for s, _, o in graph.triples
    )


def blank_object_of_an_edge_like_triple(graph: RandomGraph) -> bool:
    return any(
        isinstance(s, URIRef) and isinstance(o, BNode) and everything().blank_node_edges_of(str(s))
        for s, _, o in graph.triples
    )


def blank_to_blank(graph: RandomGraph) -> bool:
    return has(graph, s=BNode, o=BNode)


def blank_class(graph: RandomGraph) -> bool:
    return has(graph, s=URIRef, p=RDF_TYPE, o=BNode)


def labels_in_several_languages(graph: RandomGraph) -> bool:
    tags = {o.language for _, p, o in graph.triples if isinstance(o, Literal) and str(p) == RDFS + "label"}
    return {"en", "de"} <= tags


def mentions(graph: RandomGraph) -> bool:
    return has(graph, p=MENTIONS, o=Literal)


def subclass_edge(graph: RandomGraph) -> bool:
    return any(p == RDFS + "subClassOf" for _, p, _ in own_edges(graph))


def same_as_edge(graph: RandomGraph) -> bool:
    return any(p == OWL + "sameAs" for _, p, _ in own_edges(graph))


def excepted_predicate_with_an_iri(graph: RandomGraph) -> bool:
    return any(str(p) in TRAP_PREDICATES and isinstance(o, URIRef) for _, p, o in graph.triples)


def node_used_as_a_predicate(graph: RandomGraph) -> bool:
    return any(p in graph.nodes for _, p, _ in own_edges(graph))


def blank_statement(graph: RandomGraph) -> bool:
    return has(graph, s=BNode, p=RDF + "subject")


def named_statement(graph: RandomGraph) -> bool:
    return has(graph, s=URIRef, p=RDF + "subject")


def blank_reifier(graph: RandomGraph) -> bool:
    return has(graph, s=BNode, p=RDF + "reifies", o=tuple)


def named_reifier(graph: RandomGraph) -> bool:
    return has(graph, s=URIRef, p=RDF + "reifies", o=tuple)


def several_reifiers_of_one_edge(graph: RandomGraph) -> bool:
    reified = Counter(o for _, p, o in set(graph.triples) if str(p) == RDF + "reifies")
    return max(reified.values(), default=0) > 1


def reified_but_not_said(graph: RandomGraph) -> bool:
    return any(isinstance(o, tuple) and o not in graph.triples for _, _, o in graph.triples)


def confidence(graph: RandomGraph) -> bool:
    return has(graph, p=CONFIDENCE, o=Literal)


def source_as_literal(graph: RandomGraph) -> bool:
    return has(graph, p=SOURCE, o=Literal)


def source_as_iri(graph: RandomGraph) -> bool:
    return has(graph, p=SOURCE, o=URIRef)


def triple_written_twice(graph: RandomGraph) -> bool:
    return len(set(graph.triples)) < len(graph.triples)


@pytest.mark.parametrize(
    ("shape", "at_least"),
    [
        (one_node, 5),
        (sparse, 30),
        (dense, 5),
        (several_components, 20),
        (without_edges, 5),
        (literals_only, 20),
        (self_loop, 20),
        (parallel_edges, 20),
        (edges_both_ways, 20),
        (cycle_of_three_or_more, 20),
        (hub, 10),
        (more_than_five_hops_across, 20),
        (untyped_throughout, 20),
        (several_types, 50),
        (generic_types_only, 10),
        (shared_class, 50),
        (class_with_edges_and_instances, 10),
        (blank_subject_of_an_edge_like_triple, 20),
        (blank_object_of_an_edge_like_triple, 20),
        (blank_to_blank, 10),
        (blank_class, 20),
        (labels_in_several_languages, 50),
        (mentions, 50),
        (subclass_edge, 50),
        (same_as_edge, 50),
        (excepted_predicate_with_an_iri, 30),
        (node_used_as_a_predicate, 10),
        (blank_statement, 20),
        (named_statement, 20),
        (blank_reifier, 30),
        (named_reifier, 30),
        (several_reifiers_of_one_edge, 20),
        (reified_but_not_said, 10),
        (confidence, 50),
        (source_as_literal, 30),
        (source_as_iri, 30),
        (triple_written_twice, 50),
    ],
)
def test_every_shape_occurs(shape: Callable[[RandomGraph], bool], at_least: int) -> None:
    assert sum(map(shape, corpus())) >= at_least


def test_awkward_iris_occur_among_the_nodes() -> None:
    names = {node.removeprefix(graph.namespace) for graph in corpus() for node in graph.nodes}
    for part in ("%", "'", "(", ")", "/", "#", "?", "&", ":", "@", ","):
        assert any(part in name for name in names), part
    assert any(name.endswith(".") for name in names)
    assert any(max(map(ord, name)) > 0xFFFF for name in names)
    # Two nodes that only a normalising or decoding store would take for one.
    assert len({unicodedata.normalize("NFC", name) for name in names}) < len(names)
    assert {"a%2Fb", "a%2fb", "a/b"} <= names


# --- the questions ---


GENERATE: Final = settings(phases=[Phase.generate], database=None, deadline=None, max_examples=2_000)


def is_missing(seed: str) -> bool:
    return seed not in everything().nodes


@settings(deadline=None, database=None)
@given(questions())
def test_a_question_has_seeds_that_exist_and_a_missing_one_at_most(question: Question) -> None:
    missing = [seed for seed in question.seeds if is_missing(seed)]
    assert len(missing) <= 1
    assert 1 <= len(question.seeds) - len(missing) <= 4
    assert 1 <= question.max_hops <= 5
    found = bfs(everything(), question.seeds, question.max_hops)
    assert found.missing == missing
    assert set(found.distance) <= {*question.graph.nodes, *question.graph.evidence}
    assert found.edges <= own_edges(question.graph)


@settings(deadline=None, database=None)
@given(intersections())
def test_an_intersection_has_two_to_four_seeds_all_different_or_all_one(question: IntersectionQuestion) -> None:
    assert 2 <= len(question.seeds) <= 4
    assert len(set(question.seeds)) in {len(question.seeds), 1}
    assert 1 <= question.k <= 5
    found = intersect(everything(), question.seeds, question.k)
    assert found.missing == [seed for seed in question.seeds if is_missing(seed)]
    # Within k of each seed alone: the definition, said the other way round.
    near = [bfs(everything(), [seed], question.k).distance.keys() for seed in question.seeds]
    assert found.nodes == set.intersection(*map(set, near))


@pytest.mark.parametrize(
    "kind",
    [
        lambda one: any(map(is_missing, one.seeds)),
        lambda one: len(one.seeds) == 4 and not any(map(is_missing, one.seeds)),
        lambda one: len(set(one.seeds)) < len(one.seeds),
        lambda one: any(seed in one.graph.evidence for seed in one.seeds),
    ],
    ids=["missing", "four", "duplicate", "evidence"],
)
def test_every_kind_of_question_is_drawn(kind: Callable[[Question], bool]) -> None:
    find(questions(), kind, settings=GENERATE)


@pytest.mark.parametrize(
    "kind",
    [
        lambda one: any(map(is_missing, one.seeds)),
        lambda one: len(set(one.seeds)) == 1,
        lambda one: len(intersect(everything(), one.seeds, one.k).nodes) > 5,
    ],
    ids=["missing", "one-seed", "several-nodes"],
)
def test_every_kind_of_intersection_is_drawn(kind: Callable[[IntersectionQuestion], bool]) -> None:
    find(intersections(), kind, settings=GENERATE)


def test_what_engines_of_rdf_1_1_are_given_is_the_same_in_each_run() -> None:
    # Else every run would load all graphs again.
    for name in FIXTURES:
        assert [*asserted(fixture(name))] == [*asserted(fixture(name))]
