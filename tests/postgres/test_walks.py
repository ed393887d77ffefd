"""Walks and conditions over tables, against a naive computation over the same rows."""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from fractions import Fraction

import pytest

from gateway.graph.walks import NAMES, Condition, Selection, Step
from gateway.postgres.store import PostgresStore
from gateway.settings.databases import PostgresSettings
from gateway.terms.comparable import Number
from gateway.terms.literals import Literal
from tests.databases.checked_walks import call, check_ends, check_limits, check_selected, check_values
from tests.databases.drawn_values import PROFILE, VOCABULARY, DrawnGraph, drawn_graph
from tests.postgres.database import Database

pytestmark = [pytest.mark.anyio, pytest.mark.server]

_SEEDS = ("2026 walks", "2026 more walks")

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
async def _store(database: Database, graph: DrawnGraph, seed: str) -> AsyncIterator[PostgresStore]:
    name = seed.replace(" ", "_")
    database.make_database(name, _rows(graph))
    store = PostgresStore(database.address_of(name), PostgresSettings(), PROFILE, {})
    try:
        yield store
    finally:
        await store.close()


@pytest.mark.parametrize("seed", _SEEDS)
async def test_walks_end_where_they_do_in_the_triples_of_the_tables(database: Database, seed: str) -> None:
    graph = drawn_graph(seed)
    async with _store(database, graph, seed) as store:
        await check_ends(store, graph, "postgresql", seed)


@pytest.mark.parametrize("seed", _SEEDS)
async def test_every_node_from_which_a_walk_leads_to_some_nodes_is_selected(database: Database, seed: str) -> None:
    graph = drawn_graph(seed)
    async with _store(database, graph, seed) as store:
        await check_selected(store, graph, "postgresql", seed)


@pytest.mark.parametrize("seed", _SEEDS)
async def test_every_node_with_a_value_that_fulfils_a_condition_is_selected(database: Database, seed: str) -> None:
    graph = drawn_graph(seed)
    async with _store(database, graph, seed) as store:
        await check_values(store, graph, "postgresql", seed)


async def test_within_a_small_budget_nothing_is_wrong_and_whole(database: Database) -> None:
    seed = _SEEDS[0]
    graph = drawn_graph(seed)
    async with _store(database, graph, seed) as store:
        await check_limits(store, graph, "postgresql", seed)


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
        ends = await store.ends([one, two, four], (price,), call())
        behind = await store.ends([one, two], (following, price), call())
        before = await store.ends([one], (replace(following, is_inverse=True), NAMES[0]), call())
        some = {
            number: await store.select(Selection((f"{VOCABULARY}Thing",), (Condition(walk, "=", number),)), call())
            for number, walk in ((Number(Fraction(7)), (price,)), (Number(Fraction(9)), (following, price)))
        }
        untyped = await store.select(Selection(()), call())
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
