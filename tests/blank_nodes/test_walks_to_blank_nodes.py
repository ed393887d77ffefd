"""Blank nodes of an engine without keys are nodes: walks lead to them, and digests tell them apart."""

import asyncio
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from gateway.errors import GatewayError
from gateway.settings.endpoint import EngineName
from gateway.settings.vocabulary import NodeSettings
from gateway.sparql.blank.anchors import key_of
from gateway.sparql.blank.contents import Content
from gateway.sparql.blank.graphs import BlankGraph
from gateway.sparql.table import IriTerm
from gateway.tools.gateway import Gateway
from tests.blank_nodes.graphs import KIND_COUNT, DrawnGraph, drawn
from tests.blank_nodes.graphs import KINDS as KINDS_OF_GRAPHS
from tests.blank_nodes.judge import Judge, room
from tests.blank_nodes.oracle import expected_of
from tests.blank_nodes.served_graphs import DRAWN
from tests.blank_nodes.small_endpoint import renaming, served
from tests.columns import Column
from tests.examples import examples, some
from tests.harness.report import Report, Verdict
from tests.servers.engines import ColumnName

ENGINES: Final[Sequence[EngineName]] = ("unknown", "blazegraph", "qlever")
"""Without keys."""

GRAPH: Final = """
    x:aspirin a x:Drug ; rdfs:label 'aspirin' ; x:interaction [ x:severity 'major' ; x:with x:warfarin ;
        x:dose [ x:value 5 ; x:unit x:mg ] ] , [ x:severity 'minor' ; x:with x:heparin ] .
    x:week x:days ( x:monday [ x:length 'short' ] x:sunday ) .
    [] x:about x:aspirin ; x:note 'seen' .
    x:warfarin a x:Drug . x:heparin a x:Drug .
"""

KINDS: Final = (
    *("nests", "chain", "cycles", "siblings", "relations", "documents"),
    *("lists", "nodes_in_lists", "shared", "graphs", "heads", "containers", "broken", "in_themselves", "axioms"),
)

_QUESTIONS: Final = 8
"""About each graph."""

_LABEL: Final = re.compile(r"r[0-9]+x[0-9]+")
"""A label that the small endpoint gives."""


async def asked(gateway: Gateway, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict((await gateway.call(tool, arguments, shape="reference")).as_json())


async def ids_around(gateway: Gateway, seed: str, hops: int) -> list[str]:
    answer = await asked(gateway, "bfs_query", seeds=[seed], max_hops=hops)
    return sorted(node["id"] for node in answer["nodes"] if node["id"].startswith("_:"))


@pytest.mark.anyio
@pytest.mark.parametrize("engine", ENGINES)
async def test_a_hop_leads_to_blank_nodes_and_from_them(engine: EngineName) -> None:
    async with served(GRAPH, engine=engine, renames=True) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:aspirin"], max_hops=2)
        assert (answer["complete"], answer["levels"]) == (True, [1, 3, 3])
        back = await asked(gateway, "bfs_query", seeds=["x:mg"], max_hops=3)
        assert {"x:aspirin", "x:warfarin"} <= {node["id"] for node in back["nodes"]}
        assert back["complete"]


@pytest.mark.anyio
async def test_an_id_means_the_same_node_in_another_process() -> None:
    async with served(GRAPH, engine="unknown", renames=True) as (gateway, _):
        ids = await ids_around(gateway, "x:aspirin", 2)
        told = [await asked(gateway, "describe_entity", id=one) for one in ids]
    assert len(ids) == 4
    assert _LABEL.search(json.dumps(told)) is None
    async with served(GRAPH, engine="unknown", renames=True) as (gateway, _):
        assert [await asked(gateway, "describe_entity", id=one) for one in ids] == told
        assert all(one["complete"] for one in told)


@pytest.mark.anyio
async def test_a_changed_node_is_missing_and_others_stay() -> None:
    async with served(GRAPH, engine="unknown", renames=True) as (gateway, _):
        ids = await ids_around(gateway, "x:aspirin", 1)
    async with served(GRAPH.replace("'minor'", "'small'"), engine="unknown", renames=True) as (gateway, _):
        now = await ids_around(gateway, "x:aspirin", 1)
        gone = sorted(set(ids) - set(now))
        answer = await asked(gateway, "bfs_query", seeds=ids, max_hops=1)
    assert len(gone) == 1
    assert answer["missing_seeds"] == gone


@pytest.mark.anyio
async def test_a_walk_that_an_engine_with_keys_never_gave_is_missing() -> None:
    async with served(GRAPH, engine="unknown", renames=True) as (gateway, _):
        ids = await ids_around(gateway, "x:aspirin", 1)
    async with served(GRAPH) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:aspirin", *ids], max_hops=1)
    assert sorted(answer["missing_seeds"]) == ids


@pytest.mark.anyio
@pytest.mark.parametrize("steps", [4, 17, 60])
async def test_a_walk_longer_than_any_that_was_given_is_missing(steps: int) -> None:
    node = f"_:x:aspirin{'!x:interaction' * steps}~abcdefghij"
    async with served(GRAPH, engine="unknown", renames=True) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:aspirin", node], max_hops=1)
    assert answer["missing_seeds"] == [node]


@pytest.mark.anyio
async def test_members_of_a_list_come_with_their_positions() -> None:
    async with served(GRAPH, engine="unknown", renames=True) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:week"], max_hops=1)
    positions = {edge["object"][:2]: edge["metadata"]["position"] for edge in answer["edges"]}
    assert answer["complete"]
    assert len(answer["edges"]) == 3
    assert positions["_:"] == 2


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("query", "types", "count"),
    [("", ["x:Drug"], 3), ("dose", [], 1), ("", ["(x:unit)"], 1), ("", ["x:Dose"], 1), ("mg", ["(x:unit)"], 1)],
)
async def test_searches_find_blank_nodes_by_name_and_type(query: str, types: list[str], count: int) -> None:
    turtle = """x:a x:p [ a x:Drug ; x:of [ a x:Dose ; rdfs:label 'dose' ] ] . x:c a x:Drug ; rdfs:label 'c' .
        [] a x:Drug ; x:unit [ rdfs:label 'mg' ] ; x:about x:c ."""
    async with served(turtle, engine="unknown", renames=True) as (gateway, _):
        await gateway.wait_until_ready()
        answer = await asked(gateway, "search_entities", query=query, node_types=types)
    assert answer["complete"]
    assert len(answer["result"]) == count


@pytest.mark.anyio
async def test_a_search_that_misses_blank_nodes_is_not_complete() -> None:
    twins = "x:a x:p [ a x:Drug ; x:q [ x:v 1 ] ] , [ a x:Drug ; x:q [ x:v 1 ] ] . x:c a x:Drug ."
    lonely = "x:c a x:Drug . [] a x:Drug ; x:v 1 ; x:w [ x:v 2 ] ."
    for turtle in (twins, lonely):
        async with served(turtle, engine="unknown", renames=True) as (gateway, _):
            await gateway.wait_until_ready()
            answer = await asked(gateway, "search_entities", query="", node_types=["x:Drug"])
        assert [hit["id"] for hit in answer["result"]] == ["x:c"]
        assert not answer["complete"]


_TWINS: Final = "x:a x:p [ x:v 1 ; x:q x:b ] , [ x:v 1 ; x:q x:b ] , [ x:v 2 ; x:q x:b ] ."


@pytest.mark.anyio
async def test_nodes_that_say_the_same_of_the_same_nodes_are_numbered() -> None:
    async with served(_TWINS, engine="unknown", renames=True) as (gateway, _):
        first, second, _ = twins = sorted(await ids_around(gateway, "x:a", 1), key=lambda one: "." not in one[-5:])
        assert (first.endswith(".1-2"), second) == (True, first.replace(".1-2", ".2-2"))
        around = [await asked(gateway, "bfs_query", seeds=[seed], max_hops=2) for seed in ("x:a", "x:b")]
        assert [(one["complete"], one["edge_count"]) for one in around] == [(True, 6), (True, 6)]
        assert await ids_around(gateway, first, 2) == sorted(twins)
    async with served(_TWINS, engine="unknown", renames=True) as (gateway, _):
        assert (await asked(gateway, "describe_entity", id=second))["complete"]
    for other in ("[ x:v 1 ; x:q x:b ] ,", ""):
        turtle = _TWINS.replace("[ x:v 1 ; x:q x:b ] ,", other, 1).replace("x:p", f"x:p {other} {other}")
        async with served(turtle, engine="unknown", renames=True) as (gateway, _):
            answer = await asked(gateway, "bfs_query", seeds=["x:a", first], max_hops=1)
        assert answer["missing_seeds"] == [first]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("turtle", "unread", "edges"),
    [
        ("x:a x:p [ x:q [ x:v 1 ] ] , [ x:q [ x:v 1 ] ] , [ x:v 2 ] .", 2, 1),
        ("x:a x:p [ x:q [ x:q [ x:q [ x:v 1 ] ] ] ] , [ x:q [ x:q [ x:q [ x:v 2 ] ] ] ] .", 2, 0),
        ("x:a x:p _:m , _:n . _:m x:q _:n . _:n x:q _:m .", 2, 0),
    ],
    ids=["equal further away", "other further away", "of each other"],
)
async def test_nodes_that_say_the_same_of_different_nodes_are_counted_and_not_shown(
    turtle: str, unread: int, edges: int
) -> None:
    async with served(turtle, engine="unknown", renames=True) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:a"], max_hops=1)
    assert (answer["complete"], answer["blank_node_edges"], answer["edge_count"]) == (False, unread, edges)


_EQUAL: Final = "x:a x:p _:m , _:n . _:m x:v 1 ; x:q x:b . _:n x:v 1 ; x:q x:b . "

_ANNOTATIONS: Final = {
    "both": "x:r rdf:reifies <<( x:a x:p _:m )>> ; x:y 9 . x:s rdf:reifies <<( x:a x:p _:n )>> ; x:y 5 .",
    "one": "x:r rdf:reifies <<( x:a x:p _:m )>> ; x:y 9 .",
    "by blank nodes": "[] rdf:reifies <<( x:a x:p _:m )>> ; x:y 9 . [] rdf:reifies <<( _:m x:q x:b )>> ; x:y 5 .",
    "annotated": "_:m x:q x:b {| x:y 1 |} . _:n x:q x:b {| x:y 2 |} .",
}


@pytest.mark.anyio
@pytest.mark.parametrize("engine", ["unknown", "graphdb", "blazegraph"])
@pytest.mark.parametrize("annotations", _ANNOTATIONS.values(), ids=_ANNOTATIONS)
async def test_equal_nodes_that_annotations_may_tell_apart_are_unread(annotations: str, engine: EngineName) -> None:
    async with served(_EQUAL, engine=engine, renames=True) as (gateway, _):
        numbered = await ids_around(gateway, "x:a", 1)
    assert [one[-4:] for one in numbered] == [".1-2", ".2-2"]
    async with served(_EQUAL + annotations, engine=engine, renames=True) as (gateway, _):
        answers = [await asked(gateway, "bfs_query", seeds=[seed], max_hops=1) for seed in ("x:a", "x:b")]
        again = await asked(gateway, "bfs_query", seeds=["x:a", *numbered], max_hops=1)
    found = [(one["complete"], one["blank_node_edges"], one["edge_count"]) for one in answers]
    assert found == [(False, 2, 0)] * 2
    assert (again["complete"], again.get("missing_seeds")) == (False, None)


@pytest.mark.anyio
async def test_numbered_nodes_that_nothing_tells_apart_any_more_are_unread_and_not_missing() -> None:
    ends = "x:a x:p _:m , _:n . "
    same = ends + "_:m x:q _:e . _:n x:q _:e . _:e x:v 1 ."
    equal = ends + "_:m x:q _:e . _:n x:q _:f . _:z x:q _:e , _:f . _:e x:v 1 . _:f x:v 1 ."
    async with served(same, engine="unknown", renames=True) as (gateway, _):
        numbered = await ids_around(gateway, "x:a", 1)
    assert [one[-4:] for one in numbered] == [".1-2", ".2-2"]
    async with served(equal, engine="unknown", renames=True) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:a", *numbered], max_hops=1)
    assert (answer["complete"], answer.get("missing_seeds")) == (False, None)


class CountedContents(dict[str, Content]):
    """What blank nodes say, with how often one was looked up."""

    count = 0

    def __getitem__(self, label: str) -> Content:
        self.count += 1
        return super().__getitem__(label)

    def get(self, label: str, default: Any = None) -> Any:
        """Return what a blank node says."""
        self.count += 1
        return super().get(label, default)


@pytest.mark.parametrize("count", [10, 300])
def test_each_of_many_equal_nodes_is_looked_at_a_few_times(count: int) -> None:
    says, said = (("http://e.org/q", IriTerm("http://e.org/b")),), (("http://e.org/p", IriTerm("http://e.org/a")),)
    nodes = CountedContents((f"b{number:03}", Content(says, said, says, said)) for number in range(count))
    graph = BlankGraph(nodes, ["http://e.org/a"], ["+", "-"], (), has_expressions=False, has_annotations=False)
    told = [graph.alone(label) for label in sorted(nodes)]
    assert len({one.digest for one in told if one is not None}) == count
    assert nodes.count <= 20 * count


@pytest.mark.anyio
async def test_each_of_many_nodes_that_are_asked_for_is_compared_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    count, compared = 60, 0

    def counted(*given: Any) -> str:
        nonlocal compared
        compared += 1
        return key_of(*given)

    monkeypatch.setattr("gateway.sparql.blank.walks.key_of", counted)
    turtle = f"x:a x:p {' , '.join(['[ x:v 1 ]'] * count)} ."
    async with served(turtle, engine="unknown", renames=True) as (gateway, _):
        answer = await asked(gateway, "bfs_query", seeds=["x:a"], max_hops=2)
    assert (answer["complete"], answer["edge_count"]) == (True, count)
    assert compared <= 20 * count


def facts(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in {"snapshot", "warnings", "degraded"}}


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["bfs_query", "describe_entity"])
@pytest.mark.parametrize("is_one", [True, False])
async def test_an_answer_says_what_could_not_be_read_whichever_query_fails(tool: str, *, is_one: bool) -> None:
    arguments = {"seeds": ["x:aspirin"], "max_hops": 2} if tool == "bfs_query" else {"id": "x:aspirin"}
    sent, failing = 0, range(0)

    def refuses(query: str) -> bool:
        nonlocal sent
        sent += 1
        return sent in failing and "VALUES?a{" in query

    async def answer() -> dict[str, Any]:
        nonlocal sent
        async with served(GRAPH, engine="unknown", renames=True, refuses=refuses) as (gateway, _):
            await gateway.wait_until_ready()
            sent = 0
            try:
                return await asked(gateway, tool, **arguments)
            except GatewayError:
                return {"complete": False}

    whole, count = await answer(), sent
    assert whole["complete"]
    for first in some(range(1, count + 1), f"{tool} {is_one}"):
        failing = range(first, first + 1 if is_one else count * 10)
        found = await answer()
        is_told = not found["complete"] or "degraded" in found or '"more": true' in json.dumps(found)
        assert is_told or facts(found) == facts(whole)


@pytest.mark.anyio
async def test_a_description_without_a_list_that_could_not_be_read_has_all_else_and_says_so() -> None:
    members = " ".join(f"x:m{number}" for number in range(12))
    async with served(f"x:a x:p ( {members} ) ; x:says 'a' .", engine="unknown", renames=True) as (gateway, _):
        await gateway.wait_until_ready()
        one = await asked(gateway, "describe_entity", id="x:a")
        several = await asked(gateway, "describe_entities", ids=["x:a", "x:m1"])
    assert one["x:says"] == "a"
    assert one["blank_node_edges"] == 1
    assert one["degraded"] == {"metadata_failed": 1}
    assert several["result"][0]["metadata"]["x:says"] == "a"


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_container_that_one_call_could_not_read_is_not_shown_by_its_triples_in_the_next() -> None:
    graph = drawn(list(KINDS_OF_GRAPHS).index("containers") + 14 * KIND_COUNT)
    async with served(graph.as_ntriples(), engine="unknown", renames=True) as (gateway, _):
        await gateway.wait_until_ready()
        members = [one for one in await ids_around(gateway, "<https://example.org/n3>", 2) if "rdf:first" in one]
        answers = [await asked(gateway, "bfs_query", seeds=[one], max_hops=1) for one in members]
    said = [node["metadata"] for one in answers for node in one["nodes"] if node["entity_type"] == "rdf:Alt"]
    assert all(one["complete"] for one in answers)
    assert said
    assert all("rdfs:member" in one and "rdf:_1" not in one for one in said)


def graphs() -> list[DrawnGraph]:
    return [graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind in KINDS]


def wrong(report: Report) -> list[Any]:
    """Return the answers that are wrong and say that they are complete."""
    found = [one for one in report.findings if one["verdict"] not in {"marked", "untrue"}]
    return [one for one in found if one["question"] != "hop by hop"]


async def judge(gateway: Gateway, graph: DrawnGraph, report: Report, questions: int) -> None:
    await gateway.wait_until_ready()
    asking = Judge(gateway, expected_of(graph.triples), report, graph.kind)
    await asking.learn()
    await asking.ask(random.Random(graph.kind), questions)  # noqa: S311 - not for security


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_no_complete_answer_differs_from_that_of_the_oracle(kind: str) -> None:
    graph, report = next(graph for graph in graphs() if graph.kind == kind), Report()
    async with served(graph.as_ntriples(), engine="unknown", renames=True) as (gateway, _):
        await judge(gateway, graph, report, examples(_QUESTIONS))
    assert wrong(report) == []
    assert report.verdicts


AT_SERVERS: Final = ("nests", "relations", "siblings", "lists", "shared", "documents")
"""Graphs that a server under load answers about within the time of a call."""


@pytest.mark.server
@pytest.mark.parametrize("engine", ["blazegraph", "fuseki"])
def test_no_complete_answer_of_an_engine_is_wrong(engine: Any, small_graphs: Callable[[ColumnName], Column]) -> None:
    column, report = small_graphs(engine), Report()
    profile = room().model_copy(update={"nodes": NodeSettings(blank="on")})

    async def through_proxy(graph: DrawnGraph) -> None:
        async with renaming(column.url(graph.kind)) as proxy:
            await directly(column.open(graph.kind, profile, through=proxy), graph)

    async def directly(gateway: Gateway, graph: DrawnGraph) -> None:
        async with gateway:
            await judge(gateway, graph, report, _QUESTIONS)

    for graph in map(DRAWN.__getitem__, AT_SERVERS):
        asyncio.run(through_proxy(graph) if engine == "fuseki" else directly(column.open(graph.kind, profile), graph))
    assert wrong(report) == []
    assert report.count(Verdict.RIGHT) > len(AT_SERVERS)
