"""Names and types of nodes: by which predicates, found out from the values, and read by how short a query."""

import json
from collections.abc import Callable, Iterator, Mapping

import pytest

from gateway.api import open_gateway
from gateway.errors import GaveUp
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.store import NamesPage
from gateway.graph.values import SearchTerms
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, RoleSettings
from gateway.sparql.nodes import NamePredicates
from gateway.sparql.sorted_rows import SortedRows
from gateway.sparql.store import SparqlStore
from gateway.sparql.table import UnexpectedRows
from gateway.terms.iri import LOCAL_NAME, NAME_PREDICATES, RDF_TYPE, RDFS, SYNONYM_PREDICATES
from gateway.tools.gateway import Gateway
from gateway.transport.base import TextRows
from gateway.transport.inprocess import InProcess
from tests.columns import Column
from tests.servers.engines import Asked, ColumnName
from tests.small import ROOM, Watched, X, engine, over

pytestmark = pytest.mark.anyio

GRAPH = "x:a rdfs:label 'code 7' ; x:title 'Insulin' ; skos:altLabel 'the hormone' ."


def call() -> Call:
    return Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)


def test_a_predicate_is_a_name_or_a_synonym_and_never_both() -> None:
    name_predicates = NamePredicates(RoleSettings(name=(f"{X}n", f"{X}n"), synonym=(f"{X}s", f"{X}n")))
    assert (name_predicates.names, name_predicates.synonyms) == ((f"{X}n",), (f"{X}s",))
    name_predicates.use([f"{X}s"])
    assert (name_predicates.names, name_predicates.synonyms) == ((f"{X}s",), (f"{X}n",))
    assert name_predicates.all == (f"{X}s", f"{X}n")


def test_who_listens_is_called_when_other_predicates_are_in_force_and_only_then() -> None:
    name_predicates = NamePredicates(RoleSettings(name=(f"{X}n",), synonym=(f"{X}s",)))
    called: list[tuple[str, ...]] = []
    name_predicates.on_change(lambda: called.append(name_predicates.names))
    name_predicates.use([f"{X}n", f"{X}n"])
    assert called == []
    name_predicates.use([f"{X}t", f"{X}n"])
    assert called == [(f"{X}t", f"{X}n")]


@pytest.mark.anyio
async def test_other_names_are_in_force_from_the_next_question_on() -> None:
    store = SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), Profile())
    node = f"{X}a"
    terms = SearchTerms("insulin", ("insulin",))
    assert (await store.nodes([node], call(), names=True))[node].name == "code 7"
    assert (await store.search(terms, (), call())).hits == ()
    store.name_predicates.use([f"{X}title"])
    assert (await store.nodes([node], call(), names=True))[node].name == "Insulin"
    assert [hit.text for hit in (await store.search(terms, (), call())).hits] == ["Insulin"]
    await store.close()


async def test_all_names_of_a_loaded_graph_are_read_by_one_query_of_any_length() -> None:
    graph = "\n".join(f"x:n{number:02} rdfs:label 'Node {number}' ." for number in range(50))
    profile = Profile(limits=LimitSettings(query_rows=10))
    names = SparqlStore(InProcess(engine(graph), max_bytes=1 << 10), profile).name_reader()
    asking = call()
    page = await names.page(f"{RDFS}label", "", asking)
    assert [name.iri for name in page.names] == [f"{X}n{number:02}" for number in range(50)]
    assert (page.after, asking.sent) == (None, 1)


async def test_reading_goes_on_behind_an_entity_and_with_all_names_of_each() -> None:
    asked: list[str] = []

    async def ask(after: str) -> TextRows:
        asked.append(after)
        return TextRows(
            [(entity, f"{entity} {number}") for entity in "abc" if entity > after for number in range(3)], 9
        )

    sorted_rows = SortedRows(page=2)
    assert await sorted_rows.count("names", ask) == 9
    pages, after, goes_on = list[str](), "", True
    while goes_on:
        page, goes_on = await sorted_rows.page("names", after, ask)
        pages.append(" ".join(text for _, text in page))
        after = page[-1][0]
    assert pages == ["a 0 a 1 a 2", "b 0 b 1 b 2", "c 0 c 1 c 2"]
    assert asked == [""]
    # What was given is not kept, and another run goes on where this one would have.
    assert await sorted_rows.page("names", "a", ask) == ([("b", f"b {number}") for number in range(3)], True)
    assert await sorted_rows.page("names", "ab", ask) == ([("b", f"b {number}") for number in range(3)], True)
    assert await sorted_rows.page("other names", "b", ask) == ([("c", f"c {number}") for number in range(3)], False)
    assert asked == ["", "a", "ab", "b"]


@pytest.mark.parametrize("predicate", [f"{RDFS}label", LOCAL_NAME])
async def test_names_that_take_more_memory_than_they_may_are_read_in_parts(predicate: str) -> None:
    statement = "rdfs:label 'Node'" if predicate != LOCAL_NAME else "x:weight 1"
    turtle = "\n".join(f"x:n{number:03} {statement} , {number} ." for number in range(500))
    names = SparqlStore(InProcess(engine(turtle), max_bytes=1 << 24, max_text_bytes=20_000), Profile()).name_reader()
    assert await names.counts([predicate], call) == [500]
    found: list[str] = []
    asking = call()
    after: str | None = ""
    while after is not None:
        page = await names.page(predicate, after, asking)
        found += dict.fromkeys(name.iri for name in page.names)
        after = page.after
    assert found == [f"{X}n{number:03}" for number in range(500)]
    assert 3 < asking.sent < 50


async def test_no_evidence_is_looked_for_in_a_loaded_graph_that_has_none() -> None:
    for statement, conditions in (("", 0), ("x:s rdf:subject x:a ; rdf:predicate x:p ; rdf:object x:b .", 1)):
        queries: list[str] = []

        async def hook(query: str, asked: list[str] = queries) -> None:
            asked.append(query)

        store = SparqlStore(Watched(engine(f"x:a x:p x:b . {statement}"), hook), Profile())
        await store.schema(call())
        edges = next(query for query in queries if '"blank", "node") AS ?kind' in query)
        assert edges.count("NOT EXISTS") == conditions
        await store.close()


async def test_nodes_without_a_name_are_not_listed_where_none_was_counted() -> None:
    names = SparqlStore(InProcess(engine("x:a rdfs:label 'a' ."), max_bytes=1 << 24), Profile()).name_reader()
    asking = call()
    assert await names.counts([LOCAL_NAME], lambda: asking) == [0]
    counted = asking.sent
    assert await names.page(LOCAL_NAME, "", asking) == NamesPage((), None)
    assert asking.sent == counted


async def test_in_this_process_nothing_is_asked_of_predicates_that_no_triple_has() -> None:
    graph = engine("x:a rdfs:label 'a' ; skos:prefLabel [] .")
    names = SparqlStore(InProcess(graph, max_bytes=1 << 24), Profile()).name_reader()
    counts = dict(zip(names.predicates, await names.counts(names.predicates, call), strict=True))
    assert {predicate: count for predicate, count in counts.items() if count} == {f"{RDFS}label": 1}
    asking = call()
    pages = [await names.page(predicate, "", asking) for predicate in names.predicates if not counts[predicate]]
    assert not any(page.names or page.after for page in pages)
    # What is asked of: a predicate of labels that are no literals.
    assert (len(pages) > 10, asking.sent) == (True, 1)


TYPED_GRAPH = """
x:several a x:Two, x:One, "a text", [], <http://e.org/.well-known/genid/1> ; rdfs:label "a name" .
x:odd a "a text", 7, [ rdfs:label "inside" ] .
x:one a x:One ; x:kind x:Other .
x:none x:p x:one .
"""
TYPED_NODES = [f"{X}{name}" for name in ("several", "odd", "one", "none", "absent")]


@pytest.mark.parametrize("types", [(RDF_TYPE,), (f"{X}kind",), (RDF_TYPE, f"{X}kind"), ()])
async def test_types_are_the_same_with_and_without_names(types: tuple[str, ...]) -> None:
    store = SparqlStore(InProcess(engine(TYPED_GRAPH), max_bytes=1 << 24), Profile(edges=EdgeSettings(types=types)))
    alone, named = (
        await store.nodes(TYPED_NODES, call(), names=False),
        await store.nodes(TYPED_NODES, call(), names=True),
    )
    assert {node: facts.types for node, facts in alone.items()} == {node: facts.types for node, facts in named.items()}
    assert {facts.name for facts in alone.values()} == {""}
    await store.close()


async def test_types_that_are_not_iris_of_entities_are_left_out() -> None:
    store = SparqlStore(InProcess(engine(TYPED_GRAPH), max_bytes=1 << 24), Profile())
    facts = await store.nodes(TYPED_NODES, call(), names=False)
    assert [facts[node].types for node in TYPED_NODES] == [(f"{X}One", f"{X}Two"), (), (f"{X}One",), (), ()]
    await store.close()


class Answering:
    """A transport that answers every query by one row."""

    def __init__(self, row: Mapping[str, tuple[str, str]]) -> None:
        self._row = {name: {"type": kind, "value": value} for name, (kind, value) in row.items()}

    async def select(self, _query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer."""
        return json.dumps({"head": {"vars": ["n", "v"]}, "results": {"bindings": [self._row]}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


@pytest.mark.parametrize(
    "row",
    [
        {"n": ("uri", f"{X}another"), "v": ("uri", f"{X}One")},
        {"n": ("uri", TYPED_NODES[0]), "v": ("literal", "a text")},
        {"n": ("uri", TYPED_NODES[0])},
    ],
    ids=["about another node", "a type that is a text", "no type"],
)
async def test_a_row_that_is_not_what_was_asked_for_is_a_fault(row: Mapping[str, tuple[str, str]]) -> None:
    facts = await SparqlStore(Answering(row), Profile()).nodes(TYPED_NODES, call(), names=False)
    assert {type(facts[node].mark.fault) for node in TYPED_NODES} == {UnexpectedRows}


BOOKS = "\n".join(
    f"""x:book{number} a x:Book ; x:fullTitle 'The {word} of the sea' ; x:isbn '978-{number:05}' ; x:shelf 'fiction' ;
    x:blurb '{"A long story about a whale and a man, told at length by the only one who came home. " * 3}' ;
    x:pages {number} ; x:site 'https://example.org/{number}' ; x:by x:author{number % 4} ."""
    for number, word in enumerate(["sound", "colour", "end", "voice", "edge", "light", "song", "floor"])
) + "\n".join(
    f"x:author{number} a x:Author ; x:fullTitle 'Writer {word}' ; x:shelf 'fiction' ."
    for number, word in enumerate(["Alpha", "Beta", "Gamma", "Delta"])
)


async def test_a_predicate_of_the_graphs_own_that_carries_names_is_found_reported_and_used() -> None:
    async with over(BOOKS) as gateway:
        schema = await gateway.describe_schema()
        found = await gateway.search_entities("voice of the sea")
        entity = await gateway.describe_entity("x:book3")
    assert schema.names == ["x:fullTitle"]
    assert "x:fullTitle" in schema.next_steps
    assert [hit.id for hit in found.result] == ["x:book3"]
    assert found.result[0].name == "The voice of the sea"
    assert (entity.model_extra or {})["name"] == "The voice of the sea"


async def test_stubs_are_named_by_it_too() -> None:
    profile = Profile.model_validate({"size": ROOM, "names": {"on_stubs": True}})
    async with over(BOOKS, profile) as gateway:
        answer = await gateway.bfs_query(["x:book3"], 1, topology_only=True)
    assert {node.id: node.name for node in answer.nodes} == {
        "x:book3": "The voice of the sea",
        "x:author3": "Writer Delta",
    }


async def test_a_title_beside_a_label_is_a_further_name() -> None:
    labelled = "\n".join(f"x:n{number} rdfs:label 'Node {number}' ; x:title 'T{number}' ." for number in range(10))
    async with over(labelled) as gateway:
        assert (await gateway.describe_schema()).names == ["rdfs:label", "x:title"]
        entity = await gateway.describe_entity("x:n3")
    said = entity.model_extra or {}
    assert (said["name"], said["synonyms"]) == ("Node 3", ["T3"])


async def test_labels_of_the_classes_alone_do_not_hide_what_names_the_nodes() -> None:
    classes = "x:Book a owl:Class ; rdfs:label 'Book' . x:Author a owl:Class ; rdfs:label 'Author' ."
    async with over(BOOKS + classes) as gateway:
        schema = await gateway.describe_schema()
        book, of_class = await gateway.describe_entity("x:book3"), await gateway.describe_entity("x:Book")
    # A node that has a usual name is called by it.
    assert schema.names == ["rdfs:label", "x:fullTitle"]
    assert (book.model_extra or {})["name"] == "The voice of the sea"
    assert (of_class.model_extra or {})["name"] == "Book"


async def test_the_profile_pins_it() -> None:
    profile = Profile(size=ROOM, roles=RoleSettings(name=("https://example.org/x/isbn",)))
    async with over(BOOKS, profile) as gateway:
        schema = await gateway.describe_schema()
        found = await gateway.search_entities("00003")
    assert schema.names == ["x:isbn"]
    assert [hit.id for hit in found.result] == ["x:book3"]


async def test_values_that_are_no_names_make_no_predicate_a_name() -> None:
    turtle = "\n".join(
        f"x:n{number} x:status 'open' ; x:code '{number:04}' ; x:mail 'a{number}@example.org' ; x:p x:n0 ."
        for number in range(20)
    )
    async with over(turtle) as gateway:
        schema = await gateway.describe_schema()
        found = await gateway.search_entities("anything")
    assert schema.names == []
    assert "No predicate of this graph was found to carry names" in schema.next_steps
    assert found.result == []
    assert found.next_steps


async def test_a_graph_without_any_literal_reads_well_all_the_same() -> None:
    async with over("x:a a x:T ; x:p x:b .") as gateway:
        schema = await gateway.describe_schema()
        answer = await gateway.bfs_query(["x:a"], 1)
    assert (schema.names, schema.comprehensive) == ([], True)
    assert [node.id for node in answer.nodes] == ["x:a", "x:b"]


async def test_what_names_nodes_is_found_in_a_sample_of_a_large_graph() -> None:
    profile = Profile(size=ROOM, orientation=OrientationSettings(glance_triples=10, enumeration_seconds=0))
    async with over(BOOKS, profile) as gateway:
        assert (await gateway.describe_schema()).names == ["x:fullTitle"]


async def test_types_of_hubs_and_types_that_flood_are_reported() -> None:
    turtle = "x:France a x:Country . x:a a x:Club . " + "\n".join(
        f"x:n{number} a x:Person ; x:citizen x:France ; x:in x:a{number % 2} ." for number in range(150)
    )
    async with over(turtle) as gateway:
        steps = (await gateway.describe_schema()).next_steps
    assert "Nodes of x:Country can be hubs" in steps
    assert "max_degree=100" in steps
    assert "99 % of the typed nodes are x:Person" in steps


async def test_a_name_is_in_doubt_where_the_graph_could_not_be_asked_which_predicate_carries_names() -> None:
    async def hook(query: str) -> None:
        if "DISTINCT ?s" in query:
            raise GaveUp("Too long.")

    async with over(Watched(engine(BOOKS + "x:Book rdfs:label 'Book' ."), hook)) as gateway:
        schema = await gateway.describe_schema()
        book = await gateway.describe_entity("x:book3")
        books = await gateway.describe_entities(["x:book3"])
        found = await gateway.search_entities("voice")
        around = await gateway.bfs_query(["x:book3"], 1)
        common = await gateway.intersect_subgraphs(["x:book3", "x:author3"], 1)
        bare = await gateway.bfs_query(["x:book3"], 1, topology_only=True)
    assert schema.names is None
    assert (book.complete, books.complete, found.complete) == (False, False, False)
    # What a traversal is complete about are nodes and edges.
    assert (around.complete, bare.complete, bare.warnings) == (True, True, None)
    for warnings in (book.warnings, books.warnings, found.warnings, around.warnings, common.warnings):
        assert any("Which predicates carry names here could not be found out" in text for text in warnings or ())


def test_no_predicate_is_a_name_and_a_synonym() -> None:
    assert not set(NAME_PREDICATES) & set(SYNONYM_PREDICATES)


NODES = 9_000
"""Virtuoso sends types and labels first, so that its triples from the 27,000th on are those of the sort key."""


def _graph(names: str) -> str:
    return "\n".join(
        f"""<{X}n{number}> <{RDF_TYPE}> <{X}T> .
<{X}n{number}> <{names}> "Person number {number}" .
<{X}n{number}> <{X}knows> <{X}n{number * 7 % NODES}> .
<{X}n{number}> <{X}tutorial/{"name" if names == f"{RDFS}label" else "key"}> "{"abcdefghij"[number % 10]}" ."""
        for number in range(NODES)
    )


def graphs_by_predicate() -> Iterator[tuple[str, str]]:
    """Yield a graph of labels and one of names by a predicate of its own."""
    yield "labels.nt", _graph(f"{RDFS}label")
    yield "own.nt", _graph(f"{X}fullName")


@pytest.fixture
def virtuoso(small_graphs: Callable[[ColumnName], Column]) -> Column:
    return small_graphs("virtuoso")


def _opened(asked: Asked, *, sampled: bool) -> Gateway:
    orientation = (
        OrientationSettings(glance_triples=100, enumeration_seconds=0)
        if sampled
        else OrientationSettings(patience_seconds=60)
    )
    profile = Profile(endpoint=EndpointSettings(graphs=asked.graphs), orientation=orientation)
    return open_gateway(endpoint=asked.endpoint, profile=profile)


@pytest.mark.server
@pytest.mark.parametrize("sampled", [False, True])
async def test_a_sort_key_that_the_engine_sends_alone_is_no_name_where_every_node_has_a_label(
    virtuoso: Column, *, sampled: bool
) -> None:
    async with _opened(virtuoso.asked("labels"), sampled=sampled) as gateway:
        schema = await gateway.describe_schema()
        entity = await gateway.describe_entity(f"{X}n5")
    assert [*map(gateway.prefixes.expand, schema.names or ())] == [f"{RDFS}label"]
    assert (entity.model_extra or {})["name"] == "Person number 5"
    shown = {gateway.prefixes.expand(key): value for key, value in (entity.model_extra or {}).items() if ":" in key}
    assert shown[f"{X}tutorial/name"] == "f"


@pytest.mark.server
@pytest.mark.parametrize("sampled", [False, True])
async def test_a_name_predicate_of_the_graphs_own_is_found_behind_predicates_without_literals(
    virtuoso: Column, *, sampled: bool
) -> None:
    async with _opened(virtuoso.asked("own"), sampled=sampled) as gateway:
        schema = await gateway.describe_schema()
    assert [*map(gateway.prefixes.expand, schema.names or ())] == [f"{X}fullName"]
