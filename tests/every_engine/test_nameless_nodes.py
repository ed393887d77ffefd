"""Nodes without a name: how many there are, counted or in a sample, and what a search without hits says of them."""

import re

import pyoxigraph
import pytest

from gateway import messages
from gateway.answers.models import SearchResult
from gateway.errors import EndpointFault
from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.settings.endpoint import EndpointSettings, QuotaSettings, RequestSettings
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.terms.iri import NAME_PREDICATES, SYNONYM_PREDICATES
from tests.columns import Column
from tests.graphs import read
from tests.oracle import OracleGraph
from tests.searches import how
from tests.small import ROOM, Watched, WatchedElsewhere, engine, over

pytestmark = pytest.mark.anyio

UNHEARD = "qxzzyv"
GRAPH = """
x:a rdfs:label 'Alpha' ; x:p x:b, x:c . x:b skos:altLabel 'Beta' ; x:p x:c . x:c x:note 'no name' ; x:p [ x:p x:d ] .
x:e a x:T ; rdfs:label x:a . x:f rdfs:label 'alone' .
"""
"""Of the ends of edges x:a, x:b and x:c, only x:c has no name; x:d hangs on a blank node, and x:e has no edge."""

DO = "Find such a node by what it is connected to: intersect_subgraphs, or bfs_query."
TRY = f"No name has the word '{UNHEARD}'. {messages.NOTHING_NEAR}"
SAMPLED = OrientationSettings(glance_triples=3, enumeration_seconds=0)


async def searched(graph: str, query: str = UNHEARD, profile: Profile | None = None) -> SearchResult:
    """Search a small graph."""
    async with over(graph, profile) as gateway:
        return await gateway.search_entities(query)


async def test_an_empty_answer_says_how_many_nodes_have_no_name_and_is_not_complete() -> None:
    answer = await searched(GRAPH)
    assert answer.as_json() == {
        "result": [],
        "complete": False,
        "next_steps": f"{TRY} 1 of the 3 nodes with edges has no name.",
    }


async def test_what_to_do_about_nodes_without_a_name_stands_once_in_the_schema() -> None:
    async with over(GRAPH) as gateway:
        assert f"1 of the 3 nodes with edges has no name. {DO}" in (await gateway.describe_schema()).next_steps
        several = await gateway.search_entities(queries=[UNHEARD, "alpha", f"{UNHEARD} alpha"])
    assert [one.complete for one in several.queries or ()] == [False, True, False]
    assert several.complete is False
    assert (several.next_steps or "").count("has no name.") == 1
    async with over("x:a rdfs:label 'Alpha' ; x:p x:b . x:b rdfs:label 'Beta' .") as gateway:
        assert DO not in (await gateway.describe_schema()).next_steps


async def test_guesses_do_not_hide_that_nodes_have_no_name() -> None:
    answer = await searched(GRAPH, "alpha unheard")
    assert [hit.id for hit in answer.guesses or ()] == ["x:a"]
    assert not answer.complete
    assert answer.next_steps is not None
    assert answer.next_steps.startswith("No name has the word 'unheard'. No name fits; guesses")
    assert answer.next_steps.endswith("1 of the 3 nodes with edges has no name.")


async def test_a_hit_says_nothing_of_other_nodes() -> None:
    answer = await searched(GRAPH, "alpha")
    assert (answer.complete, answer.next_steps) == (True, None)


async def test_an_empty_answer_is_complete_where_every_node_has_a_name() -> None:
    answer = await searched("x:a rdfs:label 'Alpha' ; x:p x:b . x:b rdfs:label 'Beta' ; a x:T .")
    assert (answer.result, answer.complete, answer.next_steps) == ([], True, TRY)


async def test_an_empty_answer_of_an_unnamed_type_says_so_too() -> None:
    async with over(f"{GRAPH} x:a a x:T .") as gateway:
        answer = await gateway.search_entities(UNHEARD, ["x:T"])
    assert not answer.complete
    assert "has no name" in (answer.next_steps or "")


async def test_the_nodes_are_counted_once_and_again_after_everything_was_forgotten() -> None:
    counted = 0

    async def hook(query: str) -> None:
        nonlocal counted
        counted += "AS ?named" in query

    async with over(Watched(engine(GRAPH), hook)) as gateway:
        await gateway.search_entities("alpha")
        assert counted == 0
        for _ in range(3):
            await gateway.search_entities(UNHEARD)
        assert counted == 1
        gateway.forget()
        await gateway.search_entities(UNHEARD)
    assert counted == 2


async def test_a_graph_in_this_process_is_counted_although_its_schema_was_not_read() -> None:
    profile = Profile(size=ROOM, orientation=SAMPLED)
    answer = await searched(GRAPH, profile=profile)
    assert "1 of 3 nodes with edges in a sample has no name" in (answer.next_steps or "")
    assert (await searched(GRAPH.replace("x:note", "rdfs:label"), profile=profile)).complete


LARGE = 11_000
"""Nodes of a circle that has too many triples for counting all nodes without need."""


def circle(nodes: int, rest: str = "") -> str:
    """Return a graph of named nodes in a circle, and what else is in it."""
    return rest + "".join(f"x:n{n} x:p x:n{(n + 1) % nodes} ; rdfs:label 'N {n}' . " for n in range(nodes))


@pytest.mark.parametrize(
    ("rest", "is_counted", "said"),
    [
        ("x:n1 x:q x:unnamed .", False, "1 of 13 nodes with edges in a sample has no name"),
        ("", True, None),
        ("x:n9000 x:p x:unnamed .", True, "1 of the 11,001 nodes with edges has no name"),
        # The statement has no name, and is no node.
        ("[] x:q 1 . x:statement rdf:subject x:n1 ; x:p x:n2 ; x:q x:n3 . x:n4 x:q x:n5 .", True, None),
    ],
)
async def test_all_nodes_of_a_large_graph_are_counted_only_where_each_of_some_has_a_name(
    rest: str, is_counted: bool, said: str | None
) -> None:
    counted = False

    async def hook(query: str) -> None:
        nonlocal counted
        counted = counted or "AS ?named" in query

    async with over(Watched(engine(circle(LARGE, rest)), hook)) as gateway:
        answer = await gateway.search_entities(UNHEARD)
    assert (counted, answer.complete) == (is_counted, said is None)
    assert (said or TRY) in (answer.next_steps or "")


async def test_of_a_large_graph_elsewhere_some_nodes_are_looked_at() -> None:
    turtle = "".join(f"x:n{n} x:p x:m{n} ; rdfs:label 'N {n}' . " for n in range(50))

    async def nothing(_: str) -> None:
        pass

    profile = Profile(size=ROOM, orientation=SAMPLED)
    async with over(WatchedElsewhere(engine(turtle), nothing), profile) as gateway:
        answer = await gateway.search_entities(UNHEARD)
    assert "10 of 20 nodes with edges in a sample have no name" in (answer.next_steps or "")
    assert not answer.complete


@pytest.mark.parametrize("named", [True, False])
async def test_a_sample_without_nameless_nodes_proves_nothing(named: bool) -> None:
    turtle = circle(50) if named else "x:a x:note 1, 2, 3, 4, 5 ."

    async def nothing(_: str) -> None:
        pass

    profile = Profile(size=ROOM, orientation=SAMPLED)
    async with over(WatchedElsewhere(engine(turtle), nothing), profile) as gateway:
        answer = await gateway.search_entities(UNHEARD)
    assert "Nodes may have no name." in (answer.next_steps or "")
    assert not answer.complete


async def test_nodes_that_cannot_be_counted_may_have_no_name_and_the_search_still_answers() -> None:
    asked = 0

    async def hook(query: str) -> None:
        nonlocal asked
        if "AS ?named" in query:
            asked += 1
            raise EndpointFault("Down.")

    async with over(Watched(engine(GRAPH), hook)) as gateway:
        answers = [await gateway.search_entities(UNHEARD) for _ in range(4)]
    assert asked == 2
    assert all("Nodes may have no name." in (answer.next_steps or "") for answer in answers)
    assert not any(answer.complete for answer in answers)


async def test_a_quota_is_not_spent_on_nodes_without_a_name() -> None:
    sent: list[str] = []

    async def hook(query: str) -> None:
        sent.append(query)

    quota = QuotaSettings(query_seconds_per_minute=60, query_seconds_burst=120)
    transport = WatchedElsewhere(engine(GRAPH), hook)
    transport.flow = FlowControl(RequestSettings(), Quota(quota))
    async with over(transport) as gateway:
        await gateway.describe_schema()
        asked = len(sent)
        answer = await gateway.search_entities(UNHEARD)
    assert len(sent) > asked
    assert not any("AS ?named" in query or "SELECT ?s ?o WHERE" in query for query in sent[asked:])
    assert "Nodes may have no name." in (answer.next_steps or "")


async def test_an_empty_answer_that_may_have_missed_names_says_how_it_was_searched() -> None:
    profile = Profile(size=ROOM, endpoint=EndpointSettings(trusted=False))
    answer = await searched(GRAPH, profile=profile)
    assert how(answer).startswith("names and synonyms")


@pytest.mark.parametrize("graph", ["medical", "films", "wikidata-slice", "singletons", "associations", "random"])
async def test_every_engine_counts_the_nodes_without_a_name(engine: Column, graph: str) -> None:
    async with engine.open(graph, Profile(size=ROOM)) as gateway:
        schema = await gateway.describe_schema()
        answer = await gateway.search_entities(UNHEARD)
        names = {*NAME_PREDICATES, *SYNONYM_PREDICATES, *map(gateway.prefixes.expand, schema.names or ())}
    (file,) = engine.files[graph]
    edges = OracleGraph.from_files([file]).edges
    nodes = {end for edge in edges for end in (edge[0], edge[2])}
    named = {
        quad.subject.value
        for quad in read(file)
        if isinstance(quad.object, pyoxigraph.Literal)
        and isinstance(quad.subject, pyoxigraph.NamedNode)
        and quad.predicate.value in names
    }
    assert nodes
    if nodes <= named:
        assert (answer.complete, answer.next_steps) == (True, TRY)
        return
    match = re.search(r"([\d,]+) of the ([\d,]+) nodes with edges (?:has|have) no name", answer.next_steps or "")
    assert match is not None
    assert [int(number.replace(",", "")) for number in match.groups()] == [len(nodes - named), len(nodes)]
    assert not answer.complete
