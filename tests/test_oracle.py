"""The oracle against answers that were computed without it, and against graphs small enough to reason out."""

import functools
import gzip
from collections import Counter
from pathlib import Path
from typing import Final, cast

import pytest
from rdflib import Graph

from tests.oracle import (
    DEFAULT_RULE,
    OWL,
    RDFS,
    SCHEMA_TERM_CLASSES,
    EdgeRule,
    OracleGraph,
    Triple,
    bfs,
    degree,
    entity_type,
    intersect,
)
from tests.shared_data import shared_data

EX: Final = "http://example.org/"
PREFIXES: Final = """
    @prefix : <http://example.org/> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix schema: <http://schema.org/> .
    @prefix schemas: <https://schema.org/> .
"""


def graph(turtle: str, rule: EdgeRule = DEFAULT_RULE) -> OracleGraph:
    parsed = Graph().parse(data=PREFIXES + turtle, format="ox-turtle")
    return OracleGraph((cast("Triple", triple) for triple in parsed), rule)


def ex(names: str) -> list[str]:
    return [EX + name for name in names.split()]


def edges(*lines: str) -> set[tuple[str, ...]]:
    return {tuple(ex(line)) for line in lines}


# --- small graphs, reasoned out ---


def test_edges_are_followed_in_both_directions() -> None:
    # a -> b <- c -> d: from a, b is one hop away, c two, d three, whatever the arrows say.
    line = graph(":a :p :b . :c :p :b . :c :p :d .")
    found = bfs(line, ex("a"), 3)
    assert found.distance == dict(zip(ex("a b c d"), (0, 1, 2, 3), strict=True))
    assert found.levels == [1, 1, 1, 1]
    assert bfs(line, ex("a"), 2).distance.keys() == set(ex("a b c"))


def test_the_edges_of_a_traversal_touch_an_expanded_node() -> None:
    # One hop from a corner of a triangle: the opposite side touches no expanded node. At two hops it does.
    triangle = graph(":a :p :b . :a :p :c . :b :p :c .")
    assert bfs(triangle, ex("a"), 1).edges == edges("a p b", "a p c")
    assert bfs(triangle, ex("a"), 2).edges == edges("a p b", "a p c", "b p c")


def test_the_edges_of_an_intersection_are_all_edges_among_its_nodes() -> None:
    # c and d are next to both a and b; the edge c-d touches neither a nor b, and belongs all the same.
    square = graph(":a :p :c, :d . :b :p :c, :d . :c :p :d . :d :p :e .")
    found = intersect(square, ex("a b"), 1)
    assert found.nodes == set(ex("c d"))
    assert found.edges == edges("c p d")


def test_a_seed_is_in_the_intersection_where_it_is_near_enough_to_the_others() -> None:
    # a-b-c: at one hop only b is near both ends; at two hops each end is near the other.
    line = graph(":a :p :b . :b :p :c .")
    assert intersect(line, ex("a c"), 1).nodes == set(ex("b"))
    assert intersect(line, ex("a c"), 2).nodes == set(ex("a b c"))
    assert intersect(line, ex("a b"), 1).nodes == set(ex("a b"))
    assert intersect(line, ex("a b c"), 1).nodes == set(ex("b"))


def test_seeds_that_share_nothing_have_an_empty_intersection_and_none_is_missing() -> None:
    found = intersect(graph(":a :p :b . :c :p :d ."), ex("a c"), 5)
    assert not found.nodes
    assert not found.edges
    assert not found.missing


def test_several_seeds_are_searched_from_at_once() -> None:
    # a-b-c-d-e with seeds a and e: c is two hops from either, and nothing is farther.
    line = graph(":a :p :b . :b :p :c . :c :p :d . :d :p :e .")
    found = bfs(line, ex("a e a"), 5)
    assert found.levels == [2, 2, 1]
    assert found.distance[EX + "c"] == 2
    assert len(found.edges) == 4


def test_a_self_loop_is_one_edge_and_parallel_edges_are_several() -> None:
    # a: the loop once, two predicates to b, one back: four edges. b: three of these.
    dense = graph(":a :p :a . :a :p :b . :a :q :b . :b :p :a . :a :p :b .")
    assert degree(dense, EX + "a") == 4
    assert degree(dense, EX + "b") == 3
    assert bfs(dense, ex("b"), 1).levels == [1, 1]
    assert bfs(dense, ex("b"), 1).edges == edges("a p b", "a q b", "b p a")
    assert intersect(dense, ex("a b"), 1).edges == dense.edges


def test_types_names_and_literals_are_no_edges() -> None:
    # Every one of these would join a to b (or both to one class) if it counted.
    everything = graph("""
        :a a :C . :b a :C .
        :a rdfs:label :b ; rdfs:comment :b ; skos:prefLabel :b ; skos:altLabel :b ; skos:definition :b ;
           schema:name :b ; schemas:name :b ; schema:description :b ; schemas:description :b ; :p "b" .
    """)
    assert everything.edges == set()
    assert bfs(everything, ex("a"), 5).distance == {EX + "a": 0}
    assert bfs(everything, ex("a"), 5).levels == [1]


def test_subclass_same_as_and_see_also_are_edges() -> None:
    # Three edges in a row, and skos:broader is no exception either.
    row = graph(":a rdfs:subClassOf :b . :b owl:sameAs :c . :c rdfs:seeAlso :d . :d skos:broader :e .")
    assert bfs(row, ex("a"), 4).levels == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("statement", [":s", "_:s"])
def test_classic_statements_are_evidence(statement: str) -> None:
    # Neither the source of the statement, nor what points to it, joins anything; the edge itself stands.
    reified = graph(f"""
        :a :p :b .
        {statement} a rdf:Statement ; rdf:subject :a ; rdf:predicate :p ; rdf:object :b ; :source :paper .
        :c :supports {statement} .
    """)
    assert reified.edges == edges("a p b")
    assert bfs(reified, ex("a paper c"), 5).distance == {**dict.fromkeys(ex("a paper c"), 0), EX + "b": 1}
    assert bfs(reified, ex("a paper c"), 5).blank_node_edges == 0


@pytest.mark.parametrize("reifier", [":r", "_:r"])
def test_reifiers_are_evidence(reifier: str) -> None:
    annotated = graph(f":a :p :b ~ {reifier} {{| :source :paper |}} . :c :supports {reifier} .")
    assert annotated.edges == edges("a p b")
    assert bfs(annotated, ex("a paper c"), 5).blank_node_edges == 0
    assert {EX + "paper", EX + "c"} <= annotated.nodes
    assert (EX + "r" in annotated.nodes) == (reifier == ":r")


def test_without_the_evidence_rule_a_statement_is_a_node_like_others() -> None:
    # Only the four predicates of reification are still excluded.
    named = ":s rdf:subject :a ; rdf:predicate :p ; rdf:object :b ; :source :paper ."
    assert graph(named).edges == set()
    assert graph(named, EdgeRule(evidence=False)).edges == edges("s source paper")
    assert graph(":s rdf:reifies :a .", EdgeRule(evidence=False)).edges == set()


def test_what_occurs_in_triple_terms_or_as_a_predicate_only_does_not_exist() -> None:
    # << >> reifies without asserting: x, q and y are in the triple term alone.
    quoted = graph("<< :x :q :y ~ :r >> :source :paper . :a :p :b . :a a :C .")
    assert quoted.nodes >= set(ex("r paper a b C"))
    assert quoted.nodes.isdisjoint(ex("x q y p source"))
    assert bfs(quoted, ex("x a y x"), 1).missing == ex("x y")
    assert bfs(quoted, ex("r C"), 5).levels == [2]


def test_missing_seeds_leave_the_others_of_a_traversal_and_empty_an_intersection() -> None:
    pair = graph(":a :p :b .")
    found = bfs(pair, ex("nowhere a"), 1)
    assert (found.missing, found.levels) == (ex("nowhere"), [1, 1])
    none = intersect(pair, ex("a nowhere b"), 1)
    assert not none.nodes
    assert not none.edges
    assert none.missing == ex("nowhere")
    assert bfs(pair, ex("nowhere"), 1).distance == {}


def test_blank_nodes_are_counted_at_expanded_nodes_and_never_crossed() -> None:
    # a: out to _:x by two predicates, in from _:y; not its blank type, not its blank label. b is reached
    # through blank nodes only, so not at all; it has one such triple of its own.
    blank = graph("""
        :a :p _:x ; :q _:x ; a _:t ; rdfs:label _:l ; :p :c .
        _:y :p :a . _:y :p _:z . _:x :p :b . :c :p _:c, _:d .
    """)
    assert blank.blank_node_edges_of(EX + "a") == 3
    assert blank.blank_node_edges_of(EX + "b") == 1
    assert blank.edges == edges("a p c")
    # At one hop c is not expanded: its two are not left out of anything.
    assert bfs(blank, ex("a"), 1).blank_node_edges == 3
    assert bfs(blank, ex("a"), 2).blank_node_edges == 5
    assert bfs(blank, ex("a b"), 2).blank_node_edges == 6
    assert EX + "b" not in bfs(blank, ex("a"), 5).distance


def test_a_hub_is_returned_but_not_expanded() -> None:
    # h has four edges. From a with at most three, b and c stay out of sight, and the hub's own blank
    # triple is not counted; as a seed, h is expanded.
    star = graph(":a :p :h . :h :p :b, :c, :d, _:x . :d :p :e .")
    found = bfs(star, ex("a"), 3, max_degree=3)
    assert found.hubs == set(ex("h"))
    assert (found.levels, found.blank_node_edges) == ([1, 1], 0)
    assert bfs(star, ex("a"), 3, max_degree=4).levels == [1, 1, 3, 1]
    assert bfs(star, ex("a h"), 1, max_degree=3).levels == [2, 3]
    # At distance max_hops nothing is expanded anyway.
    assert bfs(star, ex("a"), 1, max_degree=3).hubs == set()


def test_an_intersection_keeps_the_hub_rule_and_expands_every_seed() -> None:
    # a and b meet in h only; not expanded, h is still near both. As a third seed it is expanded from
    # every side, so that all three are within two hops of each other.
    star = graph(":a :p :h . :b :p :h . :h :p :c, :d .")
    assert intersect(star, ex("a b"), 2, max_degree=3).nodes == set(ex("h"))
    assert intersect(star, ex("a b"), 2).nodes == set(ex("a b c d h"))
    assert intersect(star, ex("a b h"), 2, max_degree=3).nodes == set(ex("a b c d h"))


def test_the_rarest_type_is_the_entity_type_then_the_first() -> None:
    # :Many has three instances, :Few two, :Also two; the blank instance of :Few counts for nothing.
    typed = graph("""
        :a a :Many, :Few, :Also . :b a :Many, :Few . :c a :Many, :Also . _:x a :Few .
        :d a owl:Thing, owl:NamedIndividual, rdfs:Resource . :e a owl:Thing, :Many .
        :f a rdfs:Class, owl:Class . :g a owl:Class, :Many . :h :p :a .
    """)
    assert entity_type(typed, EX + "a") == EX + "Also"
    assert entity_type(typed, EX + "b") == EX + "Few"
    assert entity_type(typed, EX + "a", ex("Nothing Many Few")) == EX + "Many"
    # :d is the one instance of two of its three; as IRIs the one of 2000 comes first, as CURIEs owl does.
    assert entity_type(typed, EX + "d") == RDFS + "Resource"
    curies = {RDFS + "Resource": "rdfs:Resource", OWL + "NamedIndividual": "owl:NamedIndividual"}
    assert entity_type(typed, EX + "d", id_of=lambda iri: curies.get(iri, iri)) == OWL + "NamedIndividual"
    assert entity_type(typed, EX + "e") == EX + "Many"
    assert entity_type(typed, EX + "f") == OWL + "Class"
    assert entity_type(typed, EX + "g") == EX + "Many"
    assert entity_type(typed, EX + "h") is None
    assert typed.types[EX + "a"] == set(ex("Many Few Also"))


def test_an_allow_list_counts_its_namespaces_and_no_types() -> None:
    # The list says nothing of rdfs:label, so in its namespace even an excepted name counts.
    rule = EdgeRule(
        type_predicates=frozenset(ex("p/isa")),
        allowed_namespaces=(EX + "p/", "http://www.w3.org/2000/01/rdf-schema#"),
    )
    listed = graph(
        """
        :a <http://example.org/p/x> :b ; <http://example.org/p/isa> :C ; :q :d ; a :D ; rdfs:label :l .
    """,
        rule,
    )
    assert {o for _, _, o in listed.edges} == set(ex("b l"))
    assert listed.types == {EX + "a": set(ex("C"))}


def test_files_are_read_as_one_graph_but_their_blank_nodes_stay_apart(tmp_path: Path) -> None:
    # The same label in both: :a has a blank triple, and :r is no reifier's neighbour for the other file.
    (tmp_path / "one.ttl").write_text(PREFIXES + ":a :p _:x . :a :p :b .", encoding="utf-8")
    with gzip.open(tmp_path / "two.nt.gz", "wt", encoding="utf-8") as file:
        file.write(f'_:x <http://www.w3.org/1999/02/22-rdf-syntax-ns#subject> <{EX}b> .\n<{EX}é> <{EX}p> "é" .\n')
        file.write(f"<{EX}b> <{EX}p> <{EX}c> .\n" * 2)
    both = OracleGraph.from_files([tmp_path / "one.ttl", tmp_path / "two.nt.gz"])
    assert both.nodes == set(ex("a b c é"))
    assert both.edges == edges("a p b", "b p c")
    assert both.blank_node_edges_of(EX + "a") == 1


# --- medlit ---

MEDLIT: Final = "https://example.org/medlit/"
DESMOPRESSIN: Final = "http://purl.bioontology.org/ontology/RXNORM/3251"
CUSHING_SYNDROME: Final = "http://id.nlm.nih.gov/mesh/D003480"
medlit_files = pytest.mark.parametrize("name", ["medlit.ttl.gz", "medlit-rdf11.ttl.gz"])


@functools.cache
def read(path: Path) -> OracleGraph:
    return OracleGraph.from_files([path])


def type_counts(of: OracleGraph) -> Counter[str]:
    """Count the nodes of each entity type, schema terms and untyped nodes left out."""
    chosen = (entity_type(of, node) for node in of.nodes)
    return Counter(one for one in chosen if one is not None and one not in SCHEMA_TERM_CLASSES)


@pytest.mark.data
@medlit_files
def test_medlit_has_its_known_size(name: str) -> None:
    medlit = read(shared_data(name))
    counts = type_counts(medlit)
    assert len(medlit.edges) == 2_184
    assert len({p for _, p, _ in medlit.edges}) == 16
    assert (counts.total(), len(counts)) == (1_900, 19)
    assert (counts[MEDLIT + "disease"], counts[MEDLIT + "paper"], counts[MEDLIT + "author"]) == (119, 958, 285)


@pytest.mark.data
@medlit_files
@pytest.mark.parametrize(
    ("seeds", "max_hops", "nodes", "edge_count"),
    [
        ([DESMOPRESSIN], 1, 6, 6),
        ([DESMOPRESSIN], 2, 84, 99),
        ([DESMOPRESSIN], 3, 258, 309),
        ([CUSHING_SYNDROME], 1, 33, 32),
        ([CUSHING_SYNDROME], 2, 112, 132),
        ([CUSHING_SYNDROME], 3, 266, 325),
        ([DESMOPRESSIN, CUSHING_SYNDROME], 1, 35, 37),
    ],
)
def test_medlit_traversals_have_their_known_size(
    name: str, seeds: list[str], max_hops: int, nodes: int, edge_count: int
) -> None:
    found = bfs(read(shared_data(name)), seeds, max_hops)
    assert (len(found.distance), len(found.edges)) == (nodes, edge_count)
    assert sum(found.levels) == nodes
    assert (found.missing, found.blank_node_edges) == ([], 0)


@pytest.mark.data
@medlit_files
def test_two_hops_from_desmopressin_have_the_levels_of_the_contract(name: str) -> None:
    assert bfs(read(shared_data(name)), [DESMOPRESSIN], 2).levels == [1, 5, 78]


@pytest.mark.data
@medlit_files
def test_medlit_intersections_are_the_known_ones(name: str) -> None:
    medlit = read(shared_data(name))
    near = intersect(medlit, [DESMOPRESSIN, CUSHING_SYNDROME], 1)
    assert near.nodes == {
        DESMOPRESSIN,
        CUSHING_SYNDROME,
        MEDLIT + "paper/PMC11128938",
        "http://dbpedia.org/resource/Cushing's_disease",
    }
    assert len(near.edges) == 5
    far = intersect(medlit, [DESMOPRESSIN, CUSHING_SYNDROME], 2)
    assert (len(far.nodes), len(far.edges)) == (70, 97)


# --- movies ---

MOVIES: Final = "https://example.org/movies/"
movie_files = pytest.mark.parametrize("name", ["movies.ttl.gz", "movies-rdf11.ttl.gz"])
FELLOWS: Final = (
    "Bill_Pullman Dave_Chappelle Greg_Kinnear Nathan_Lane Parker_Posey Rita_Wilson Rosie_O%27Donnell"
    " Steve_Zahn Victor_Garber"
)


@pytest.mark.data
@movie_files
def test_movies_have_their_known_size(name: str) -> None:
    movies = read(shared_data(name))
    counts = type_counts(movies)
    assert (counts.total(), len(counts)) == (171, 2)
    assert (len(movies.edges), len({p for _, p, _ in movies.edges})) == (253, 6)


@pytest.mark.data
@movie_files
def test_movie_intersections_are_the_known_ones(name: str) -> None:
    movies = read(shared_data(name))
    seeds = [MOVIES + "person/Tom_Hanks", MOVIES + "person/Meg_Ryan"]
    near = intersect(movies, seeds, 1)
    assert near.nodes == {
        MOVIES + "movie/" + film for film in ("Joe_Versus_the_Volcano", "Sleepless_in_Seattle", "You%27ve_Got_Mail")
    }
    assert near.edges == set()
    far = intersect(movies, seeds, 2)
    assert (len(far.nodes), len(far.edges)) == (16, 18)
    acted = {s for s, p, _ in far.edges if p == MOVIES + "actedIn"}
    assert acted - set(seeds) == {MOVIES + "person/" + fellow for fellow in FELLOWS.split()}


# --- the Wikidata shaped ones ---

WD: Final = "http://www.wikidata.org/entity/"
WDT: Final = "http://www.wikidata.org/prop/direct/"
WIKIDATA: Final = EdgeRule(type_predicates=frozenset({WDT + "P31"}), allowed_namespaces=(WDT,))
wd50k_files = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.large) for name in ("wd50k.nt.gz", "wd50k-rdf12.ttl.gz")]
)


@functools.cache
def read_wikidata(path: Path) -> OracleGraph:
    return OracleGraph.from_files([path], WIKIDATA)


def wd(names: str) -> list[str]:
    return [WD + name for name in names.split()]


@pytest.mark.data
@pytest.mark.large
def test_codex_has_its_known_size_and_hubs() -> None:
    codex = read_wikidata(shared_data("codex-m.nt.gz"))
    ends = Counter(end for s, _, o in codex.edges for end in {s, o})
    assert (len(ends), len(codex.edges)) == (17_050, 206_205)
    assert (len({p for _, p, _ in codex.edges}), len(codex.instances)) == (51, 1_505)
    assert ends.most_common(4) == list(zip(wd("Q30 Q36180 Q1860 Q33999"), (6_911, 4_930, 4_467, 4_163), strict=True))
    assert degree(codex, WD + "Q30") == 6_911
    # With P31 among the edges "human" is the greatest hub: no more than its edges and its instances.
    assert degree(codex, WD + "Q5") + codex.instances[WD + "Q5"] == 13_223


@pytest.mark.data
@wd50k_files
def test_wd50k_has_its_known_size(name: str) -> None:
    wd50k = read_wikidata(shared_data(name))
    assert len(wd50k.edges) == 222_289
    assert len({end for s, _, o in wd50k.edges for end in (s, o)}) == 41_104
    assert (len({p for _, p, _ in wd50k.edges}), len(wd50k.instances)) == (486, 838)
    assert sum(degree(wd50k, node) > 100 for node in wd50k.nodes) == 375


@pytest.mark.data
@wd50k_files
@pytest.mark.parametrize(
    ("seed", "out", "into", "sizes"),
    [
        ("Q83338", 80, 11, [(78, 91), (6_298, 14_777), (29_077, 149_864)]),
        ("Q35", 145, 134, [(185, 279), (10_081, 22_823), (34_652, 175_789)]),
        ("Q104791", 54, 3, [(47, 57), (4_762, 13_231), (21_869, 109_700)]),
        ("Q1025401", 2, 0, [(2, 2), (130, 153), (2_091, 3_892)]),
    ],
)
def test_wd50k_traversals_have_their_known_size(
    name: str, seed: str, out: int, into: int, sizes: list[tuple[int, int]]
) -> None:
    wd50k = read_wikidata(shared_data(name))
    touching = wd50k.edges_of(WD + seed)
    assert sum(s == WD + seed for s, _, _ in touching) == out
    assert sum(o == WD + seed for _, _, o in touching) == into
    found = [bfs(wd50k, [WD + seed], hops) for hops in (1, 2, 3)]
    assert [(len(one.distance), len(one.edges)) for one in found] == sizes


@pytest.mark.data
@wd50k_files
@pytest.mark.parametrize(
    ("seed", "nodes", "edge_count", "hubs"),
    [("Q83338", 1_012, 1_538, 16), ("Q35", 1_363, 4_015, 80), ("Q104791", 499, 787, 19), ("Q1025401", 2, 2, 1)],
)
def test_wd50k_traversals_have_their_known_size_under_the_hub_rule(
    name: str, seed: str, nodes: int, edge_count: int, hubs: int
) -> None:
    found = bfs(read_wikidata(shared_data(name)), [WD + seed], 2, max_degree=100)
    assert (len(found.distance), len(found.edges), len(found.hubs)) == (nodes, edge_count, hubs)


@pytest.mark.data
@wd50k_files
def test_the_hubs_next_to_robin_williams_are_the_known_ones(name: str) -> None:
    wd50k = read_wikidata(shared_data(name))
    known = {
        "Q62": 200,
        "Q1297": 273,
        "Q1860": 4_017,
        "Q28389": 1_158,
        "Q103916": 543,
        "Q106291": 559,
        "Q123737": 115,
        "Q183387": 165,
        "Q215518": 189,
        "Q245068": 178,
        "Q518675": 287,
        "Q1011547": 141,
        "Q2259451": 1_022,
        "Q2405480": 970,
        "Q3282637": 1_221,
        "Q6581097": 2_259,
    }
    found = bfs(wd50k, wd("Q83338"), 2, max_degree=100)
    assert {hub: degree(wd50k, hub) for hub in found.hubs} == {WD + hub: of for hub, of in known.items()}


@pytest.mark.data
@wd50k_files
def test_scarborough_has_two_edges_to_one_hub(name: str) -> None:
    wd50k = read_wikidata(shared_data(name))
    scarborough, toronto = wd("Q1025401 Q172")
    assert set(wd50k.edges_of(scarborough)) == {
        (scarborough, WDT + "P131", toronto),
        (scarborough, WDT + "P361", toronto),
    }
    assert bfs(wd50k, [scarborough], 2, max_degree=100).hubs == {toronto}
    assert degree(wd50k, toronto) == 153


@pytest.mark.data
@wd50k_files
def test_wd50k_types_have_their_known_counts_and_the_rarest_is_chosen(name: str) -> None:
    wd50k = read_wikidata(shared_data(name))
    counts = {"Q5": 3_298, "Q7275": 8, "Q20181813": 10, "Q3624078": 51, "Q6256": 108, "Q515": 210}
    assert {one: wd50k.instances[WD + one] for one in counts} == counts
    assert wd50k.types[WD + "Q35"] == set(wd("Q7275 Q20181813 Q3624078 Q6256"))
    assert entity_type(wd50k, WD + "Q35") == WD + "Q7275"
    assert entity_type(wd50k, WD + "Q35", wd("Q6256")) == WD + "Q6256"
    assert entity_type(wd50k, WD + "Q83338") == WD + "Q5"
    assert entity_type(wd50k, WD + "Q1025401") == WD + "Q515"
    assert entity_type(wd50k, WD + "Q104791") is None


@pytest.mark.data
@wd50k_files
@pytest.mark.parametrize("seed", ["Q6256", "Q12206942"])
def test_wd50k_items_without_edges_exist(name: str, seed: str) -> None:
    found = bfs(read_wikidata(shared_data(name)), [WD + seed], 5)
    assert found.distance == {WD + seed: 0}
    assert found.levels == [1]
    assert not found.edges
    assert not found.missing


@pytest.mark.data
@wd50k_files
def test_wd50k_intersections_are_the_known_ones(name: str) -> None:
    wd50k = read_wikidata(shared_data(name))
    near = intersect(wd50k, wd("Q35 Q7085"), 1)
    assert near.nodes == set(wd("Q30 Q34 Q35 Q1748 Q7085 Q9035 Q186285"))
    assert len(near.edges) == 20
    far = intersect(wd50k, wd("Q35 Q7085"), 2)
    assert (len(far.nodes), len(far.edges)) == (5_976, 37_394)
    assert far.nodes >= set(wd("Q16 Q17 Q20 Q21 Q27 Q28 Q29 Q31 Q33 Q36 Q37 Q39"))


@pytest.mark.data
@pytest.mark.large
def test_both_files_of_wd50k_have_the_same_edges_and_types() -> None:
    one, other = (read_wikidata(shared_data(name)) for name in ("wd50k.nt.gz", "wd50k-rdf12.ttl.gz"))
    assert one.edges == other.edges
    assert one.types == other.types
