"""Which predicate names nodes, where it is none of the usual ones: found from the values themselves."""

import pytest

from gateway.errors import GaveUp
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from gateway.terms.iri import NAME_PREDICATES, SYNONYM_PREDICATES
from tests.small import ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

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


async def test_a_title_that_few_nodes_have_names_nothing_where_others_have_labels() -> None:
    labelled = "\n".join(f"x:n{number} rdfs:label 'Node {number}' ; x:title 'T{number}' ." for number in range(10))
    async with over(labelled) as gateway:
        assert (await gateway.describe_schema()).names == ["rdfs:label"]


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
