"""IDs, names, types and predicates that try to become a part of a statement stay values, in every question.

`HOSTILE_NAMES=10000` tries more.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import asyncpg
import neo4j
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.databases.terms import IriMapping
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Edge, EdgeSelection
from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.postgres.store import PostgresStore
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j, PostgresSettings
from gateway.settings.limits import CacheSettings
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Tally
from tests.examples import examples
from tests.postgres.database import Database
from tests.servers.neo4j import PASSWORD, USER

pytestmark = pytest.mark.server

_TOGETHER: Final = 10
_EXAMPLES: Final = examples(int(os.environ.get("HOSTILE_NAMES", "300"))) // _TOGETHER

_FRAGMENTS: Final = st.sampled_from(
    [
        *(
            "'",
            '"',
            "''",
            "\\",
            "\\'",
            "$$",
            "$1",
            "$2::text",
            "%s",
            "%(x)s",
            "{nodes}",
            "{{",
            "{}",
            ";",
            "--",
            "/*",
            "*/",
        ),
        *("'; DROP TABLE entity; --", "' OR '1'='1", "\\'; SELECT pg_sleep(9); --", '"; DROP TABLE entity; --'),
        *("%", "_", "*", ".*", "(", "[", "^$", "\\m", "\n", "\t", "\r", "\x01", "\x7f", "\u200b", "\u202e", "\ufffd"),
        *(
            "http://",
            "urn:x:",
            "MeSH:",
            "merged",
            "NULL",
            "null",
            "true",
            "0",
            " ",
            "é",
            "字",
            "😀",
            "İ",
            "ß",
            "x" * 100,  # five of them are an IRI that can be sent
        ),
    ]
)
_CHARACTERS: Final = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
_NAME: Final = st.lists(st.one_of(_FRAGMENTS, _CHARACTERS), min_size=1, max_size=5).map("".join).filter(bool)

_NAMES: Final = st.lists(_NAME, min_size=_TOGETHER, max_size=_TOGETHER, unique=True)
"""The names of one ring."""

_often = settings(
    max_examples=max(_EXAMPLES, 1),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
"""How often a test draws."""


@dataclass(repr=False)
class _World:
    """A database that each example fills, and the statements that were sent.

    Attributes:
        runner: The event loop that lasts for all examples.
        fill: Writes a ring of nodes, each with its text as ID, type, name, and predicate of its outgoing edge.
        store: Reads it.
        statements: The texts that were sent, by query.
    """

    runner: asyncio.Runner
    fill: Callable[[list[str]], Awaitable[object]]
    store: GraphStore
    statements: dict[str, set[str]] = field(default_factory=dict)
    ids: IriMapping = field(default_factory=lambda: IriMapping(PostgresSettings().base, {}))
    terms: IriMapping = field(default_factory=lambda: IriMapping(PostgresSettings().vocabulary, {}))

    def check(self, names: list[str]) -> None:
        """Fail if an answer about a ring is wrong, or a query has another text than before."""
        self.runner.run(_asked(self, names))
        # One text for each query, whatever the names: they are parameters.
        assert {query: len(texts) for query, texts in self.statements.items()} == dict.fromkeys(self.statements, 1)

    def call(self) -> Call:
        """Return a call that keeps what is sent for it."""
        tally = Tally()
        tally.with_queries = True
        return Call(Deadline.after(60), 1_000, 100_000, 100_000, tally=tally)

    def note(self, call: Call) -> None:
        """Keep the texts that were sent for a call."""
        for sent in call.tally.answered(complete=True).sent:
            self.statements.setdefault(sent.template, set()).add(sent.sparql)


async def _asked(world: _World, names: list[str]) -> None:
    """Ask every question whose parameters are texts of a caller, and compare each answer."""
    await world.fill(names)
    store, call = world.store, world.call()
    nodes = [world.ids.iri(name) for name in names]
    types = [world.terms.iri(name) for name in names]
    edges = [Edge(*edge) for edge in zip(nodes, types, [*nodes[1:], nodes[0]], strict=True)]
    around = await store.edges(nodes, call)
    by_predicate = EdgeSelection(outgoing=(types[0],), incoming=())
    chosen = await store.edges(nodes, call, selection=by_predicate)
    degrees = await store.degrees(nodes, 10, call)
    facts = await store.nodes(nodes, call, names=True)
    for place, node in enumerate(nodes):
        assert set(around[node].edges) == {edges[place], edges[place - 1]}
        assert set(chosen[node].edges) == ({edges[0]} if place == 0 else set())
        assert degrees[node].count == len({edges[place], edges[place - 1]})
        assert tuple(facts[node].types) == (types[place],)
    existing = await store.existing([*nodes, world.ids.iri("'absent")], call)
    assert [existing[node].exists for node in nodes] == [True] * len(nodes)
    found = await store.of_types([types[0]], call)
    assert {hit.iri for hit in found.hits} == {nodes[0]}
    named = await store.named(names[0], (), call)
    # The text of a search is read as a person types it: blanks count once.
    is_typed = names[0].isascii() and names[0].isprintable() and names[0] == " ".join(names[0].split())
    assert not is_typed or nodes[0] in {hit.iri for hit in named.hits}
    world.note(call)


_TABLES: Final = """
CREATE TABLE entity (entity_id text PRIMARY KEY, entity_type text, name text);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
"""


@contextmanager
def _rows(request: pytest.FixtureRequest, runner: asyncio.Runner) -> Iterator[_World]:
    database: Database = request.getfixturevalue("database")
    database.make_database("hostile", _TABLES)
    address = database.address_of("hostile")
    connection = runner.run(asyncpg.connect(**address.arguments))

    async def fill(names: list[str]) -> None:
        await connection.execute("TRUNCATE entity, relationship")
        await connection.executemany("INSERT INTO entity VALUES ($1, $1, $1)", [(name,) for name in names])
        rows = [(name, name, other) for name, other in zip(names, [*names[1:], names[0]], strict=True)]
        await connection.executemany("INSERT INTO relationship VALUES ($1, $2, $3)", rows)

    store = PostgresStore(address, PostgresSettings(), Profile(cache=CacheSettings(megabytes=0)), {})
    yield _World(runner, fill, store)
    runner.run(store.close())
    runner.run(connection.close())


_FILL: Final = """
MATCH (old:Hostile) DETACH DELETE old
WITH count(*) AS deleted
UNWIND range(0, size($names) - 1) AS i
CREATE (n:Hostile:$($names[i]) {id: $names[i], name: $names[i]})
WITH collect(n) AS nodes
UNWIND range(0, size($names) - 1) AS i
WITH nodes, i, nodes[i] AS n, nodes[(i + 1) % size($names)] AS o
CREATE (n)-[:$($names[i])]->(o)
"""


@contextmanager
def _nodes(request: pytest.FixtureRequest, runner: asyncio.Runner) -> Iterator[_World]:
    address: Address = request.getfixturevalue("address")
    driver = neo4j.AsyncGraphDatabase.driver(address.url, auth=(USER, PASSWORD))

    async def fill(names: list[str]) -> None:
        await driver.execute_query(_FILL, names=names)

    how = Neo4jSettings(nodes=NodesInNeo4j(labels=("Hostile",), no_types=("Hostile",)))
    store = Neo4jStore(address, how, Profile(cache=CacheSettings(megabytes=0)), {})
    yield _World(runner, fill, store)
    runner.run(store.close())
    runner.run(driver.execute_query("MATCH (n:Hostile) DETACH DELETE n"))
    runner.run(driver.close())


@pytest.fixture(scope="module", params=[_rows, _nodes], ids=["postgresql", "neo4j"])
def world(request: pytest.FixtureRequest) -> Iterator[_World]:
    with asyncio.Runner() as runner, request.param(request, runner) as world:
        yield world


@_often
@given(names=_NAMES)
def test_hostile_texts_are_answered_right_by_statements_of_one_shape(world: _World, names: list[str]) -> None:
    world.check(names)
