"""A literal is compared and shown by what `STR()` gives, where an engine writes it in another way in its results.

Virtuoso keeps booleans as `true` and `false`; in its results they are 1 and 0, and doubles have six digits. RDF4J keeps
and writes all literals as they were given.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.tools.gateway import Gateway
from tests.harness.report import Report, Verdict
from tests.harness.stores import StoreName
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.values.graphs import EX, DrawnGraph
from tests.values.run import ask
from tests.values.stores import Store, holding
from tests.values.terms import RDF, TYPE, Triple, typed

pytestmark = [
    pytest.mark.server,
    pytest.mark.anyio,
    pytest.mark.parametrize("name", ["virtuoso", "rdf4j"]),
]

BOOLEANS: Final[Mapping[str, Any]] = {"true": True, "false": False, "1": True, "0": False}
DOUBLES: Final[Mapping[str, Any]] = {"49.99999999999999": 49.99999999999999, "50.00000000000001": 50.00000000000001}
TOO_LARGE: Final[Mapping[str, Any]] = {"1e400": "INF"}

CLOSE: Final = 49.99999999999999
NOT_FIFTY: Final = typed(str(CLOSE), "double")


@contextmanager
def held(name: StoreName, folder: Path, graph: DrawnGraph) -> Iterator[Store]:
    """Start a store with one graph, and stop it again."""
    try:
        with holding(name, folder, [graph]) as store:
            yield store
    except ServerUnavailable as error:
        skip_or_fail(error)


async def test_any_literal_is_compared_and_shown_by_its_text(name: StoreName, tmp_path: Path) -> None:
    shown = {**BOOLEANS, **DOUBLES, **TOO_LARGE}
    things = {f"{EX}thing{number}": text for number, text in enumerate(shown)}
    triples: list[Triple] = [(thing, TYPE, f"{EX}Thing") for thing in things]
    triples += [
        (thing, f"{EX}note", typed(text, "boolean" if text in BOOLEANS else "double")) for thing, text in things.items()
    ]
    conditions = [
        *("any starts 0", "any starts 1", "any starts t", "any contains als", "any = true", "any = 0"),
        *("any contains 49.9", f"any = {CLOSE}", "any < 50", "any > 50", "any = 50", "any >= INF"),
    ]
    graph, report = DrawnGraph(0, "written", triples), Report()
    with held(name, tmp_path, graph) as store:
        questions = [
            {"tool": "search_entities", "node_types": ["ex:Thing"], "where": [condition], "values": ["ex:note"]}
            for condition in conditions
        ]
        await ask(store, graph, questions, report)
        async with store.open(graph) as gateway:
            described = await gateway.describe_entities([*things])
    assert report.count(Verdict.RIGHT) == report.verdicts.total() == len(conditions), report.findings
    assert [one.metadata["ex:note"] for one in described.result] == [*shown.values()]


async def test_values_of_blank_nodes_and_statements_are_shown_by_their_text(name: StoreName, tmp_path: Path) -> None:
    thing, other, statement = f"{EX}thing", f"{EX}other", f"{EX}statement"
    graph = DrawnGraph(
        0,
        "written",
        [
            *((thing, f"{EX}size", "_:size"), ("_:size", f"{EX}width", NOT_FIFTY), ("_:size", f"{EX}inner", "_:inner")),
            ("_:inner", f"{EX}width", NOT_FIFTY),
            (thing, f"{EX}near", other),
            *((statement, TYPE, f"{RDF}Statement"), (statement, f"{EX}score", NOT_FIFTY)),
            *((statement, f"{RDF}subject", thing), (statement, f"{RDF}predicate", f"{EX}near")),
            (statement, f"{RDF}object", other),
        ],
    )
    with held(name, tmp_path, graph) as store:
        async with store.open(graph) as gateway:
            size, score = await _shown(gateway, thing)
    assert size == {"ex:width": CLOSE, "ex:inner": {"ex:width": CLOSE}}
    assert score == CLOSE


async def test_values_of_the_schema_are_shown_by_their_text(name: StoreName, tmp_path: Path) -> None:
    things = [f"{EX}thing{number}" for number in range(2)]
    triples: list[Triple] = [(thing, TYPE, f"{EX}Thing") for thing in things]
    triples += [(thing, f"{EX}width", typed(text, "double")) for thing, text in zip(things, DOUBLES, strict=True)]
    graph = DrawnGraph(0, "written", triples)
    with held(name, tmp_path, graph) as store:
        async with store.open(graph) as gateway:
            await gateway.wait_for_schema()
            schema = (await gateway.describe_schema()).as_json()
    assert all(text in str(schema["values"]["ex:width"]) for text in DOUBLES)


async def _shown(gateway: Gateway, thing: str) -> tuple[Any, Any]:
    """Return how the blank node of a thing is shown, and the score of its edge."""
    described = await gateway.describe_entities([thing])
    around = await gateway.bfs_query([thing], 1)
    (edge,) = around.edges
    assert edge.metadata is not None
    return described.result[0].metadata["ex:size"], edge.metadata["ex:score"]
