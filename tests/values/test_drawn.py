"""Drawn questions about values, asked of a store: none is answered wrongly; `make values` asks 400 on each."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.settings.endpoint import EngineName
from gateway.settings.vocabulary import TypeSettings
from tests.blank_nodes.small_endpoint import served
from tests.harness.report import BAD, Report, Verdict
from tests.harness.stores import STORES, StoreName
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.values.graphs import KINDS, PREFIXES, DrawnGraph, drawn, drawn_ontology
from tests.values.questions import Question, about_axioms, draw
from tests.values.run import ask, ask_all, ask_through_faults, asked, report_without_faults
from tests.values.stores import Store, held_in_process, holding
from tests.values.terms import SUBCLASS, written
from tests.values.walks import Graph

GRAPHS = [drawn(number) for number in range(len(KINDS))]
HERE = 10
"""Questions about each graph in process."""

AT_A_SERVER = 20
AT_SERVERS = [pytest.param(name, marks=pytest.mark.server) for name in STORES if name not in {"files", "in-process"}]


@pytest.mark.slow
@pytest.mark.anyio
async def test_no_answer_in_process_is_wrong(tmp_path: Path) -> None:
    report = report_without_faults()
    with holding("files", tmp_path, GRAPHS) as store:
        await ask_all(store, GRAPHS, 43, HERE, report)
    assert report.passed, report.findings


@pytest.mark.parametrize("name", AT_SERVERS)
def test_no_answer_over_a_server_is_wrong(name: StoreName, tmp_path: Path) -> None:
    # Values, and blank nodes and lists with everything else.
    graphs, report = [drawn(number) for number in (4, 5)], report_without_faults()
    try:
        with holding(name, tmp_path, graphs) as store:
            asyncio.run(ask_all(store, graphs, 43, AT_A_SERVER // len(graphs), report))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.passed, report.findings


ONTOLOGIES = [drawn_ontology(number) for number in range(3)]


async def _ask_about_axioms(store: Store, report: Report) -> None:
    for graph in ONTOLOGIES:
        dice = random.Random(graph.number)  # noqa: S311 - not for security
        await ask(store, graph, about_axioms(graph, dice), report)


@pytest.mark.slow
@pytest.mark.anyio
async def test_no_answer_about_axioms_of_files_is_wrong_or_in_doubt(tmp_path: Path) -> None:
    report = Report(BAD)
    with holding("files", tmp_path, ONTOLOGIES) as store:
        await _ask_about_axioms(store, report)
    assert report.passed, report.findings
    assert report.count(Verdict.RIGHT) == report.verdicts.total() > 100


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("engine", ["oxigraph", "blazegraph"])
async def test_no_answer_about_axioms_at_an_endpoint_of_this_process_is_wrong(engine: EngineName) -> None:
    report, graph = Report(BAD), ONTOLOGIES[0]
    held = Graph(held_in_process(graph), PREFIXES)
    async with served(written(graph.triples), engine=engine, prefixes=PREFIXES) as (gateway, _):
        for question in about_axioms(graph, random.Random(7)):  # noqa: S311 - not for security
            report.add(engine, question["tool"], question, await asked(gateway, held, question))
    assert report.passed, report.findings
    # By walks, most of what expressions say is not read.
    assert engine != "oxigraph" or report.count(Verdict.RIGHT) > report.verdicts.total() / 2


@pytest.mark.server
def test_no_answer_about_axioms_at_oxigraph_is_wrong(tmp_path: Path) -> None:
    report = Report(BAD)
    try:
        with holding("oxigraph", tmp_path, ONTOLOGIES) as store:
            asyncio.run(_ask_about_axioms(store, report))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.passed, report.findings
    assert report.count(Verdict.RIGHT) > report.verdicts.total() / 2


@pytest.mark.server
@pytest.mark.parametrize(
    "asked",
    [
        # Its value is a member of a list of a text and a number.
        {"node_types": ["ex:Product"], "where": ["ex:tag = 3"]},
        # What blank nodes without a type stand under is no node.
        {"node_types": ["untyped"], "values": ["name"]},
    ],
)
def test_lists_and_blank_nodes_of_tables_are_those_of_the_graph(asked: Question, tmp_path: Path) -> None:
    graph, report = drawn(10), Report()
    try:
        with holding("postgres", tmp_path, [graph]) as store:
            asyncio.run(ask(store, graph, [{"tool": "search_entities", **asked}], report))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.count(Verdict.RIGHT) == report.verdicts.total() == 1, report.findings


@pytest.mark.server
def test_no_answer_through_the_fault_proxy_is_wrong(tmp_path: Path) -> None:
    report = Report(BAD)
    try:
        with holding("oxigraph", tmp_path, GRAPHS) as store:
            asyncio.run(ask_through_faults(store, GRAPHS, 43, HERE, report))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert report.injected
    assert report.passed, report.findings


_OF_SETS = ("tool", "seeds", "node_types", "max_hops", "k", "only_predicates", "direction")


def _without_conditions(question: Question, graph: Graph) -> Question | None:
    """Return what a question asks about its set, None where that has walks of several steps."""
    plain: dict[str, Any] = {name: question[name] for name in _OF_SETS if name in question}
    entries = [one if isinstance(one, list) else [one] for one in plain.get("only_predicates", ())]
    if any(len(graph.walk(entry)) > 1 for of_place in entries for entry in of_place):
        return None
    if "untyped" in plain.get("node_types", ()):
        return None
    return plain | ({"limit": 100} if plain["tool"] == "search_entities" else {})


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("graph", GRAPHS, ids=KINDS)
async def test_sets_without_conditions_are_those_that_the_tools_know(graph: DrawnGraph, tmp_path: Path) -> None:
    with holding("files", tmp_path, [graph]) as store:
        held = Graph(store.held(graph), PREFIXES)
        drawn = draw(graph, random.Random(graph.number), 40)  # noqa: S311 - not for security
        plain = [one for question in drawn if (one := _without_conditions(question, held)) is not None]
        profile = store.profile.model_copy(update={"types": TypeSettings(subclass_of=(SUBCLASS,))})
        report = Report()
        await ask(replace(store, profile=profile), graph, plain, report)
    assert report.findings == []
    assert report.count(Verdict.RIGHT) == report.verdicts.total() == len(plain) > 10
