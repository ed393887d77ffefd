"""Blank nodes of endpoints are nodes where the engine can be asked for them again, as the oracle has them."""

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pytest
from rdflib import BNode

from gateway.api import Gateway, open_gateway
from gateway.settings.vocabulary import NodeSettings
from tests.blank_nodes.graphs import DrawnGraph
from tests.blank_nodes.judge import Judge, room
from tests.blank_nodes.oracle import expected_of
from tests.blank_nodes.served_graphs import CASES, DRAWN, EXPRESSIONS, SHAPES, as_ntriples
from tests.blank_nodes.small_endpoint import renaming
from tests.columns import Column, column_of
from tests.harness.report import Report, Verdict
from tests.servers.engines import Asked, ColumnName
from tests.servers.fuseki import FusekiServer, running_fuseki_in_memory
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.server

Engine = Literal["fuseki", "oxigraph", "virtuoso", "rdf4j"]
"""Those that have keys of blank nodes."""

SmallGraphs = Callable[[ColumnName], Column]

_QUESTIONS: Final = 8
"""About each graph."""


async def asked(gateway: Gateway, graph: DrawnGraph, report: Report) -> None:
    async with gateway:
        await gateway.wait_until_ready()
        judge = Judge(gateway, expected_of(graph.triples), report, graph.kind)
        await judge.learn()
        await judge.ask(random.Random(graph.kind), _QUESTIONS)  # noqa: S311 - not for security


def opened(column: Column, name: str) -> Gateway:
    return column.open(name, room().model_copy(update={"nodes": NodeSettings(blank="on")}))


@pytest.mark.parametrize("engine", get_args(Engine))
def test_answers_through_blank_nodes_of_an_endpoint_are_those_of_the_oracle(
    engine: Engine, small_graphs: SmallGraphs
) -> None:
    column, report = small_graphs(engine), Report()
    for name, graph in DRAWN.items():
        asyncio.run(asked(opened(column, name), graph, report))
    assert report.findings == []
    # Not all members of lists in lists are looked for by the predicate that leads to them.
    marked = {tool for (_, tool, verdict), count in report.verdicts.items() if verdict is Verdict.MARKED and count}
    assert marked <= {"search_entities"}


_IN_MEMORY: Final = ("nests", "relations", "lists", "containers")


def test_answers_of_a_fuseki_in_memory_are_those_of_the_oracle_and_no_id_holds_after_a_restart(tmp_path: Path) -> None:
    graphs, report = {name: DRAWN[name] for name in _IN_MEMORY}, Report()
    files = {name: [tmp_path / f"{name}.nt"] for name in graphs}
    for name, graph in graphs.items():
        files[name][0].write_text(graph.as_ntriples(), encoding="utf-8")

    def column(fuseki: FusekiServer) -> Column:
        return column_of("fuseki", files, lambda some: {name: Asked(fuseki.endpoint(name)) for name in some})

    try:
        with running_fuseki_in_memory(files, workdir=tmp_path) as fuseki:
            for name, graph in graphs.items():
                asyncio.run(asked(opened(column(fuseki), name), graph, report))
            ids, complete = asyncio.run(ids_near(opened(column(fuseki), "nests"), graphs["nests"]))
            assert ids
            assert complete
        with running_fuseki_in_memory(files, workdir=tmp_path) as fuseki:
            again, _ = asyncio.run(ids_near(opened(column(fuseki), "nests"), graphs["nests"]))
            old = sorted(ids)[:8]
            gone = asyncio.run(missing(opened(column(fuseki), "nests"), [*sorted(again)[:1], *old]))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.findings == []
    assert sorted(gone) == old


@pytest.mark.parametrize("engine", [*get_args(Engine), "blazegraph"])
def test_class_expressions_of_an_endpoint_are_those_of_the_oracle(
    engine: ColumnName, small_graphs: SmallGraphs
) -> None:
    column, report = small_graphs(engine), Report()
    for name, graph in EXPRESSIONS.items():
        asyncio.run(asked(opened(column, name), graph, report))
    assert report.findings == []
    assert report.count(Verdict.RIGHT) > len(EXPRESSIONS)


@pytest.mark.parametrize("engine", get_args(Engine))
def test_paths_of_shapes_of_an_endpoint_are_those_of_the_oracle(engine: Engine, small_graphs: SmallGraphs) -> None:
    column, report = small_graphs(engine), Report()
    for name, graph in SHAPES.items():
        asyncio.run(asked(opened(column, name), graph, report))
    assert report.findings == []
    assert report.count(Verdict.RIGHT) > len(SHAPES)


async def ids_near(gateway: Gateway, graph: DrawnGraph) -> tuple[frozenset[str], bool]:
    """Return the IDs of the blank nodes near the IRIs of a graph, and whether all of them are still there."""
    async with gateway:
        seeds = sorted(f"<{node}>" for node in expected_of(graph.triples).nodes if not isinstance(node, BNode))
        answer = await gateway.bfs_subgraph(seeds[:20], 3)
        return frozenset(node.id for node in answer.nodes if node.id.startswith("_:")), answer.complete


async def missing(gateway: Gateway, seeds: Sequence[str]) -> Sequence[str]:
    async with gateway:
        answer = (await gateway.call("bfs_query", {"seeds": list(seeds), "max_hops": 1}, shape="reference")).as_json()
        return list(answer.get("missing_seeds", []))


@pytest.mark.parametrize("engine", get_args(Engine))
def test_an_id_means_the_same_node_in_another_process_and_one_of_other_content_means_none(
    engine: Engine, small_graphs: SmallGraphs
) -> None:
    column = small_graphs(engine)
    ids, _ = asyncio.run(ids_near(opened(column, "nests"), DRAWN["nests"]))
    some = sorted(ids)[:8]
    assert len(some) == 8
    assert asyncio.run(missing(opened(column, "nests"), some)) == []
    changed = [f"{node[:-4]}aaaa" for node in some]
    assert sorted(asyncio.run(missing(opened(column, "nests"), [some[0], *changed]))) == sorted(changed)


def test_blank_nodes_that_nothing_tells_apart_make_an_answer_not_complete(small_graphs: SmallGraphs) -> None:
    _, complete = asyncio.run(ids_near(opened(small_graphs("blazegraph"), "siblings"), DRAWN["siblings"]))
    assert not complete


async def described(gateway: Gateway, node: str) -> dict[str, Any]:
    async with gateway:
        return dict((await gateway.call("describe_entity", {"id": node}, shape="reference")).as_json())


@pytest.mark.parametrize("engine", get_args(Engine))
def test_the_first_description_of_a_process_has_a_list_in_its_order(engine: Engine, small_graphs: SmallGraphs) -> None:
    told = asyncio.run(described(opened(small_graphs(engine), "week"), "<http://e.org/week>"))
    assert told["complete"]
    assert "http://e.org/days" not in told
    assert told["edges"]["http://e.org/days"][1:] == [f"http://e.org/{day}" for day in ("mon", "tue", "wed")]


_FOAF: Final = "http://xmlns.com/foaf/0.1/"
_EARL: Final = "http://www.w3.org/ns/earl#"

_OF_CASES: Final[Sequence[tuple[str, str, dict[str, Any]]]] = [
    ("case-types", "search_entities", {"node_types": [f"{_FOAF}Person"]}),
    ("case-types", "search_entities", {"node_types": [f"{_EARL}Assertion"]}),
    (
        "case-types",
        "bfs_query",
        {"seeds": ["<http://e.org/ann>"], "max_hops": 1, "only_predicates": [f"{_EARL}subject"]},
    ),
    ("case-name", "search_entities", {"query": "FLORES-200"}),
    ("case-name", "search_entities", {"node_types": ["https://schema.org/Dataset"]}),
    ("case-relation", "intersect_subgraphs", {"seeds": ["aspirin", "warfarin"], "k": 5}),
    ("case-relation", "bfs_query", {"seeds": ["aspirin"], "max_hops": 5}),
    ("case-relation", "describe_entity", {"id": "warfarin"}),
    ("case-list", "describe_entity", {"id": "<http://e.org/week>"}),
    ("case-list", "bfs_query", {"seeds": ["<http://e.org/week>"], "max_hops": 1}),
    ("case-list", "describe_entity", {"id": "<http://e.org/thu>"}),
]

_ID: Final = re.compile(r"_:[^'\" ]+")


async def facts_of_cases(gateways: Callable[[str], Gateway]) -> list[tuple[bool, list[str]]]:
    """Return whether each answer is complete, and its parts without the IDs of blank nodes."""
    told = []
    for name, tool, arguments in _OF_CASES:
        async with gateways(name) as gateway:
            await gateway.wait_until_ready()
            answer = (await gateway.call(tool, arguments, shape="reference")).as_json()
        rows = [*answer.get("edges", ()), *answer.get("nodes", ())] if tool != "describe_entity" else [answer["edges"]]
        rows += [(hit["entity_type"], hit.get("name"), hit["match"]) for hit in answer.get("result", ())]
        told.append((answer["complete"], sorted(_ID.sub("_:", str(row)) for row in rows)))
    return told


@pytest.mark.parametrize("engine", ["fuseki", "in memory", "oxigraph", "virtuoso", "rdf4j", "blazegraph", "renamed"])
def test_what_is_asked_about_blank_nodes_and_lists_is_answered_as_in_a_file(
    engine: ColumnName | Literal["renamed", "in memory"], small_graphs: SmallGraphs, tmp_path: Path
) -> None:
    def of_file(name: str) -> Gateway:
        path = tmp_path / f"{name}.nt"
        path.write_text(as_ntriples(CASES[name]), encoding="utf-8")
        # Whole IRIs, as those of the endpoint are.
        size = room().size.model_copy(update={"coined_prefixes": False})
        return open_gateway(path, profile=room().model_copy(update={"size": size}))

    expected = asyncio.run(facts_of_cases(of_file))
    if engine == "in memory":
        assert_same_facts(asyncio.run(facts_of_fuseki_in_memory(tmp_path)), expected)
        return
    column = small_graphs("fuseki" if engine == "renamed" else engine)

    async def at_endpoint() -> list[tuple[bool, list[str]]]:
        if engine != "renamed":
            return await facts_of_cases(lambda name: opened(column, name))
        async with AsyncExitStack() as proxies:
            profile = room().model_copy(update={"nodes": NodeSettings(blank="on")})
            urls = {name: await proxies.enter_async_context(renaming(column.url(name))) for name in CASES}
            return await facts_of_cases(lambda name: column.open(name, profile, through=urls[name]))

    assert_same_facts(asyncio.run(at_endpoint()), expected)


async def facts_of_fuseki_in_memory(folder: Path) -> list[tuple[bool, list[str]]]:
    files = {name: [folder / f"{name}.nt"] for name in CASES}
    try:
        with running_fuseki_in_memory(files, workdir=folder) as fuseki:
            column = column_of("fuseki", files, lambda some: {name: Asked(fuseki.endpoint(name)) for name in some})
            return await facts_of_cases(lambda name: opened(column, name))
    except ServerUnavailable as error:
        skip_or_fail(error)


def assert_same_facts(found: list[tuple[bool, list[str]]], expected: list[tuple[bool, list[str]]]) -> None:
    answers = zip(_OF_CASES, found, expected, strict=True)
    assert [(question, one, other) for question, one, other in answers if one != other] == []
