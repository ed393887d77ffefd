"""Walks and conditions over each database, against a naive computation over the same rows or nodes."""

import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product

import neo4j
import pytest

from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.walks import ANY_LITERAL, NAMES, Condition, Nodes, Selection, Step, Walk
from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.postgres.store import PostgresStore
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j, PostgresSettings
from gateway.terms.comparable import Number
from gateway.terms.literals import Literal
from tests.databases.drawn_values import (
    PROFILE,
    TYPES,
    VOCABULARY,
    DrawnGraph,
    Triples,
    Way,
    difference,
    drawn_condition,
    drawn_graph,
    drawn_walks,
    holds,
)
from tests.neo4j.database import address_at
from tests.postgres.database import Database
from tests.servers.neo4j import PASSWORD, USER, running_neo4j
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

_SEEDS = ("2026 walks", "2026 more walks")

_WALKS = 50


def _call(*, rows: int = 1_000_000, requests: int = 100_000, seconds: float = 120) -> Call:
    """Return a call with these limits."""
    return Call(Deadline.after(seconds), requests, rows, 1_000_000)


async def _check_ends(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if a walk ends elsewhere than in the triples of the graph."""
    triples = Triples.of(graph, way)
    ids = [*graph.ids, "urn:n:absent", *(f"{VOCABULARY}{name}" for name in TYPES)]
    wrong = []
    for walk in drawn_walks(triples, seed, _WALKS):
        found = await store.ends(ids, walk, _call())
        assert list(found) == ids
        wrong += [(node, walk, what) for node in ids if (what := difference(found[node], triples.ends(node, walk)))]
    assert wrong == []


async def _check_selected(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if a node that is wanted is not selected, or one of other types is."""
    triples = Triples.of(graph, way)
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    for types in _types():
        typed = triples.typed(types)
        found = await store.select(Selection(types), _call())
        assert (found.mark.whole, len(found.nodes), {*found.nodes}) == (True, len(typed), typed)
        for walk in drawn_walks(triples, f"{seed} {types}", _WALKS // 2)[2:]:
            ends = [end for node in typed for end in triples.ends(node, walk)[0] if isinstance(end, str)]
            targets = frozenset([*draw.sample(sorted(ends) or graph.ids, 1), draw.choice(graph.ids)])
            wanted = {node for node in typed if targets & triples.ends(node, walk)[0]}
            found = await store.select(Selection(types, (Condition(walk, "=", Nodes(targets)),)), _call())
            assert found.mark.whole, (types, walk)
            assert wanted <= {*found.nodes} <= typed, (types, walk, targets)


async def _check_values(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if a node is not selected that fulfils a condition on values, or nothing is ever left out."""
    triples = Triples.of(graph, way)
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    left_out = 0
    keys = ("price", "born", "note", "seeAlso")
    single: list[Walk] = [NAMES, ANY_LITERAL, *((Step((f"{VOCABULARY}{key}",)),) for key in keys)]
    walks = [*single * 20, *(walk for walk in drawn_walks(triples, seed, _WALKS) if not walk[-1].is_inverse)]
    for number, walk in enumerate(walks):
        types = _types()[number % 3]
        typed = triples.typed(types)
        ends = [end for node in sorted(typed) for end in triples.ends(node, walk)[0]]
        conditions = tuple(drawn_condition(draw, walk, ends) for _ in range(1 + (draw.random() < 0.2)))
        found = await store.select(Selection(types, conditions), _call())
        wanted = {node for node in typed if all(holds(one, triples.ends(node, walk)[0]) for one in conditions)}
        assert found.mark.whole
        assert wanted <= {*found.nodes} <= typed, (conditions, wanted - {*found.nodes})
        left_out += len(typed) - len(found.nodes)
    assert left_out > len(walks)


async def _check_limits(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if an answer within a small budget is wrong and says that it is whole."""
    triples = Triples.of(graph, way)
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    are_whole = set()
    limits = [{"rows": rows} for rows in (1, 5, 20, 60, 200)] + [{"requests": requests} for requests in (0, 1, 2, 3, 5)]
    walks = drawn_walks(triples, seed, 8)[4:]
    for limit, walk in product(limits, walks):
        for node, found in (await store.ends(graph.ids, walk, _call(**limit))).items():
            ends, blank = triples.ends(node, walk)
            are_whole.add(found.mark.whole)
            assert {*found.ends} <= ends
            assert not found.mark.whole or ({*found.ends}, found.blank) == (ends, blank), (limit, node, walk)
        for types in _types():
            typed = triples.typed(types)
            ends = {end for node in typed for end in triples.ends(node, walk)[0]}
            condition = drawn_condition(draw, walk, sorted(ends, key=repr))
            try:
                selected = await store.select(Selection(types, (condition,)), _call(**limit))
            except Fault:
                continue
            wanted = {node for node in typed if holds(condition, triples.ends(node, walk)[0])}
            are_whole.add(selected.mark.whole)
            assert {*selected.nodes} <= typed
            assert not selected.mark.whole or wanted <= {*selected.nodes}, (limit, types, condition)
    assert are_whole == {True, False}


def _types() -> Sequence[tuple[str, ...]]:
    thing, odd, place = (f"{VOCABULARY}{name.replace(' ', '%20')}" for name in TYPES)
    return ((), (thing,), (odd, place))


# The databases


_TABLES = """
CREATE TABLE entity (entity_id text PRIMARY KEY, entity_type text, name text, synonyms jsonb, properties jsonb);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
CREATE INDEX ON relationship (subject_id);
CREATE INDEX ON relationship (object_id);
"""


def _rows(graph: DrawnGraph) -> str:
    """Return statements that make the tables of a graph."""

    def text(value: object) -> str:
        return "E'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def node(values: Iterable[object]) -> str:
        return "(" + ", ".join("null" if value is None else text(value) for value in values) + ")"

    nodes = []
    for one in graph.nodes:
        content = {**one.plain, **one.json, **({"@type": list(one.types[1:])} if one.types[1:] else {})}
        first = one.types[0] if one.types else None
        nodes.append(node((one.id, first, one.name or None, json.dumps(one.synonyms), json.dumps(content))))
    edges = ", ".join(map(node, graph.edges))
    rows = f"INSERT INTO entity VALUES {', '.join(nodes)}; INSERT INTO relationship VALUES {edges};"  # noqa: S608 - ours
    return _TABLES + rows


@asynccontextmanager
async def _tables(database: Database, graph: DrawnGraph, seed: str) -> AsyncIterator[GraphStore]:
    """Write a graph, and give a store over it."""
    name = seed.replace(" ", "_")
    database.make_database(name, _rows(graph))
    store = PostgresStore(database.address_of(name), PostgresSettings(), PROFILE, {})
    try:
        yield store
    finally:
        await store.close()


_LABEL = "drawn"

_OF_DRAWN = Neo4jSettings(nodes=NodesInNeo4j(labels=(_LABEL,), no_types=(_LABEL,), names=("name",), properties="json"))


@pytest.fixture(scope="module")
def own_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A database of this module's own."""
    try:
        with running_neo4j(tmp_path_factory.mktemp("walks") / "home") as server:
            address = address_at(server.port)
            with neo4j.GraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver:
                driver.execute_query("CREATE CONSTRAINT FOR (n:drawn) REQUIRE n.id IS UNIQUE")
            yield address
    except ServerUnavailable as error:
        skip_or_fail(error)


@asynccontextmanager
async def _nodes(address: Address, graph: DrawnGraph, _: str) -> AsyncIterator[GraphStore]:
    """Write a graph, give a store over it, and delete the graph after the block."""
    nodes = [
        {
            "labels": [_LABEL, *one.types],
            "properties": {
                "id": one.id,
                "name": one.name or None,
                "synonyms": [*one.synonyms],
                **one.plain,
                "json": json.dumps(one.json),
            },
        }
        for one in graph.nodes
    ]
    edges = [{"s": subject, "p": predicate, "o": target} for subject, predicate, target in graph.edges]
    with neo4j.GraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query("UNWIND $rows AS row CREATE (n:$(row.labels)) SET n += row.properties", rows=nodes)
        driver.execute_query(
            "UNWIND $rows AS row MATCH (s:drawn {id: row.s}), (o:drawn {id: row.o}) CREATE (s)-[:$(row.p)]->(o)",
            rows=edges,
        )
        store = Neo4jStore(address, _OF_DRAWN, PROFILE, {})
        try:
            yield store
        finally:
            await store.close()
            driver.execute_query("MATCH (n:drawn) DETACH DELETE n")


@dataclass(frozen=True, slots=True)
class _Walked:
    """A database that graphs are written into."""

    way: Way
    written: Callable[[DrawnGraph, str], AbstractAsyncContextManager[GraphStore]]


@pytest.fixture(
    params=[("postgresql", _tables, "database"), ("neo4j", _nodes, "own_address")], ids=["postgresql", "neo4j"]
)
def walked(request: pytest.FixtureRequest) -> _Walked:
    """Run the test on each database."""
    way, written, server = request.param
    return _Walked(way, partial(written, request.getfixturevalue(server)))


@pytest.mark.parametrize("seed", _SEEDS)
async def test_walks_end_where_they_do_in_the_triples_of_the_graph(walked: _Walked, seed: str) -> None:
    graph = drawn_graph(seed)
    async with walked.written(graph, seed) as store:
        await _check_ends(store, graph, walked.way, seed)


@pytest.mark.parametrize("seed", _SEEDS)
async def test_every_node_from_which_a_walk_leads_to_some_nodes_is_selected(walked: _Walked, seed: str) -> None:
    graph = drawn_graph(seed)
    async with walked.written(graph, seed) as store:
        await _check_selected(store, graph, walked.way, seed)


@pytest.mark.parametrize("seed", _SEEDS)
async def test_every_node_with_a_value_that_fulfils_a_condition_is_selected(walked: _Walked, seed: str) -> None:
    graph = drawn_graph(seed)
    async with walked.written(graph, seed) as store:
        await _check_values(store, graph, walked.way, seed)


async def test_within_a_small_budget_nothing_is_wrong_and_whole(walked: _Walked) -> None:
    seed = _SEEDS[0]
    graph = drawn_graph(seed)
    async with walked.written(graph, seed) as store:
        await _check_limits(store, graph, walked.way, seed)


_IN_SEVERAL_WAYS = """
INSERT INTO entity VALUES
  ('urn:n:1', 'Thing', 'one', null, '{"links": {"@id": "<urn:n:2>"}, "detail": {"of": "ex:two"}}'),
  ('<urn:n:1>', null, null, null, '{"price": 7}'),
  ('ex:two', null, 'two', null, '{"price": [8, "9"]}'),
  ('urn:x:two', 'Thing', null, '["zwei"]', null),
  ('urn:n:3', null, null, null, '[]'),
  ('urn:n:4', 'Thing', null, null, '"no object"');
INSERT INTO relationship VALUES ('ex:two', 'next', '<urn:n:1>'), ('urn:n:1', 'next', 'urn:x:two');
"""


async def test_rows_that_write_one_node_in_several_ways_are_one_node(database: Database) -> None:
    name = "in_several_ways"
    database.make_database(name, _TABLES + _IN_SEVERAL_WAYS)
    store = PostgresStore(database.address_of(name), PostgresSettings(), PROFILE, {"ex": "urn:x:"})
    price, following = Step((f"{VOCABULARY}price",)), Step((f"{VOCABULARY}next",))
    one, two, four = "urn:n:1", "urn:x:two", "urn:n:4"
    try:
        ends = await store.ends([one, two, four], (price,), _call())
        behind = await store.ends([one, two], (following, price), _call())
        before = await store.ends([one], (replace(following, is_inverse=True), NAMES[0]), _call())
        some = {
            number: await store.select(Selection((f"{VOCABULARY}Thing",), (Condition(walk, "=", number),)), _call())
            for number, walk in ((Number(Fraction(7)), (price,)), (Number(Fraction(9)), (following, price)))
        }
        untyped = await store.select(Selection(()), _call())
    finally:
        await store.close()
    assert [sorted(end.value for end in ends[node].ends if isinstance(end, Literal)) for node in (one, two)] == [
        ["7"],
        ["8", "9"],
    ]
    assert not ends[four].mark.whole
    assert ends[four].ends == ()
    assert [len(behind[node].ends) for node in (one, two)] == [2, 1]
    assert {end.value for end in before[one].ends if isinstance(end, Literal)} == {"two", "zwei"}
    assert [sorted(one.nodes) for one in some.values()] == [[one, four], [one]]
    assert sorted(untyped.nodes) == ["urn:n:3"]
