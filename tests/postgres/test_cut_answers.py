"""What a database makes hard to see: nothing that is left out may look as if it were not there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge, SearchTerms
from gateway.postgres.store import PostgresStore
from gateway.postgres.tables import tables_of
from gateway.settings.databases import PostgresSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.terms.literals import Literal
from gateway.terms.names import words_of
from tests.postgres.database import Database

pytestmark = [pytest.mark.anyio, pytest.mark.server]

EX, MESH = "http://example.org/", "http://id.nlm.nih.gov/mesh/"
PREFIXES = {"MeSH": MESH}
MARKED = ["हिन्दी", "قَلب", "Zoë", "Zoe\u1dc4", "กำลัง", "שָׁלוֹם", "தமிழ்"]

COLUMNS = {"entity": ["entity_id"], "relationship": ["subject_id", "predicate", "object_id"]}
TABLES = """
CREATE TABLE entity (entity_id text, entity_type text, name text, synonyms jsonb, properties jsonb, source text);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
"""


@asynccontextmanager
async def store(database: Database, name: str, sql: str, **limits: Any) -> AsyncIterator[PostgresStore]:
    """Give a store over tables with some rows."""
    database.make_database(name, TABLES + sql)
    profile = Profile(limits=LimitSettings(**limits))
    opened = PostgresStore(database.address_of(name), PostgresSettings(), profile, PREFIXES)
    try:
        yield opened
    finally:
        await opened.close()


def call() -> Call:
    return Call(Deadline.after(60), 1_000, 1_000_000, 1_000_000)


@pytest.mark.parametrize("namespace", ["MeSH:", MESH, "x ", EX])
async def test_every_name_is_on_one_page_however_ids_are_written(database: Database, namespace: str) -> None:
    sql = "INSERT INTO entity SELECT '@D' || n, 'T', 'name ' || n FROM generate_series(1, 95) AS n"
    name = f"names{len(namespace)}{namespace[0]}"
    async with store(database, name, sql.replace("@", namespace), query_rows=10) as opened:
        reader = opened.name_reader()
        predicate, found, after = reader.predicates[0], [], ""
        for _ in range(20):
            page = await reader.page(predicate, after, call())
            found += [one.text for one in page.names]
            if page.after is None:
                break
            after = page.after
    assert sorted(found) == sorted(f"name {number}" for number in range(1, 96))


@pytest.mark.parametrize("name", MARKED)
async def test_a_name_with_any_marks_is_found_by_itself(database: Database, name: str) -> None:
    sql = "INSERT INTO entity SELECT text, 'T', text FROM unnest(string_to_array('@', ',')) AS text"
    async with store(database, "marks", sql.replace("@", ",".join(MARKED))) as opened:
        hits = await opened.search(SearchTerms(name, tuple(words_of(name))), (), call())
    assert name in [hit.text for hit in hits.hits]


async def test_synonyms_and_columns_that_are_too_large_are_no_absence(database: Database) -> None:
    sql = """
    INSERT INTO entity VALUES ('a', 'T', 'A', to_jsonb(repeat('s', 300000)), null, 'x');
    INSERT INTO entity VALUES ('b', 'T', 'B', null, null, repeat('c', 300000));
    INSERT INTO entity VALUES ('c', 'T', 'C', to_jsonb(repeat('s', 100000)), to_jsonb('{}'::json), repeat('c', 200000));
    INSERT INTO entity VALUES ('d', 'T', 'D', to_jsonb(repeat('s', 100000)), to_jsonb('{}'::json), repeat('c', 100000));
    """
    async with store(database, "large", sql) as opened:
        iris = [f"{PostgresSettings().base}{one}" for one in "abcd"]
        found = await opened.node_metadata(iris, call(), blank_nodes=True)
        facts = await opened.nodes(iris, call(), names=True)
    assert [found[iri].mark.whole for iri in iris] == [False, False, False, True]
    assert [facts[iri].name for iri in iris] == ["A", "B", "C", "D"]
    assert all(facts[iri].mark.whole for iri in iris)
    assert set(found[iris[3]].properties) >= {f"{PostgresSettings().vocabulary}source"}


async def test_statements_that_are_too_large_are_no_absence(database: Database) -> None:
    sql = """
    ALTER TABLE relationship ADD COLUMN id int, ADD COLUMN properties json, ADD COLUMN confidence text;
    CREATE TABLE evidence (relationship_id int, paper_id text, metadata_ json);
    INSERT INTO relationship VALUES
      ('a', 'p', 'b', 1, json_build_object('x', repeat('x', 40000)), repeat('y', 40000)),
      ('a', 'p', 'c', 2, '{"x": "y"}', 'z'), ('a', 'p', 'd', 3, null, null);
    INSERT INTO evidence VALUES
      (2, 'PMC1', null), (3, repeat('z', 40000), json_build_object('x', repeat('x', 40000)));
    """
    ids, terms = PostgresSettings().base, PostgresSettings().vocabulary
    edges = [Edge(f"{ids}a", f"{terms}p", f"{ids}{one}") for one in "bcd"]
    async with store(database, "large_statements", sql) as opened:
        asking = call()
        found = await opened.edge_metadata(edges, asking)
    assert [found[edge].mark.whole for edge in edges] == [False, True, False]
    # What is too large stays at the server.
    assert asking.tally.answered(complete=True).bytes < 2_000
    assert [len(found[edge].assertions) for edge in edges] == [0, 2, 0]


async def test_a_long_name_is_listed_by_its_beginning(database: Database) -> None:
    sql = "INSERT INTO entity VALUES ('a', 'T', repeat('n', 10000), to_jsonb(repeat('s', 10000)));"
    async with store(database, "long_names", sql) as opened:
        reader = opened.name_reader()
        pages = [await reader.page(predicate, "", call()) for predicate in reader.predicates]
    assert [[one.text for one in page.names] for page in pages] == [["n" * 4_000], ["s" * 4_000]]


async def test_more_nodes_than_a_query_may_return_are_asked_for_in_parts(database: Database) -> None:
    sql = """
    INSERT INTO entity SELECT 'n' || n, 'T', 'N' FROM generate_series(1, 40) AS n;
    INSERT INTO relationship SELECT 'n' || n, 'p', 'm' || n FROM generate_series(1, 40) AS n;
    """
    async with store(database, "small", sql, query_rows=10) as opened:
        iris = [f"{PostgresSettings().base}n{number}" for number in range(1, 41)]
        existing = await opened.existing(iris, call())
        degrees = await opened.degrees(iris, 5, call())
    assert all(existing[iri].exists for iri in iris)
    assert [degrees[iri].count for iri in iris] == [1] * 40


async def test_a_table_that_has_an_edge_many_times_does_not_hide_the_others_under_a_bound(database: Database) -> None:
    sql = """
    INSERT INTO relationship SELECT 'a', 'p', 'b' FROM generate_series(1, 30);
    INSERT INTO relationship SELECT 'a', 'p', 'c' || n FROM generate_series(1, 30) AS n;
    """
    async with store(database, "key_twice", sql) as opened:
        node = f"{PostgresSettings().base}a"
        found = (await opened.edges([node], call(), per_id=10))[node]
    assert len(found.edges) <= 10
    assert not found.mark.whole


LATER = """
CREATE TABLE evidence (relationship_id int, metadata_ jsonb);
INSERT INTO evidence VALUES (1, '{"paper_id": "PMC1"}');
"""


@pytest.mark.parametrize("told_by", ["time", "forget", "schema"])
async def test_a_table_of_evidence_that_is_made_later_is_read(database: Database, told_by: str) -> None:
    name = f"later_{told_by}"
    sql = "ALTER TABLE relationship ADD COLUMN id int; INSERT INTO relationship VALUES ('a', 'p', 'b', 1);"
    database.make_database(name, TABLES + sql)
    now = 0.0
    opened = PostgresStore(database.address_of(name), PostgresSettings(), Profile(), {}, clock=lambda: now)
    ids, terms = PostgresSettings().base, PostgresSettings().vocabulary
    edge = Edge(f"{ids}a", f"{terms}p", f"{ids}b")
    try:
        assert (await opened.edge_metadata([edge], call()))[edge].assertions == ()
        database.execute(LATER, name)
        if told_by == "time":
            now = Profile().cache.ttl_seconds
        elif told_by == "forget":
            opened.forget()
        else:
            await opened.schema(call())
        found = (await opened.edge_metadata([edge], call()))[edge]
    finally:
        await opened.close()
    assert [one.properties for one in found.assertions] == [{f"{terms}paper_id": (Literal("PMC1"),)}]


def test_a_column_that_takes_different_texts_for_equal_is_refused() -> None:
    # The server of the tests is built without such collations.
    found = {name: dict.fromkeys(columns, "text") for name, columns in COLUMNS.items()}
    assert tables_of(PostgresSettings(), found).edges
    found["relationship"]["object_id"] = "text of a nondeterministic collation"
    with pytest.raises(ConfigurationError, match="nondeterministic"):
        tables_of(PostgresSettings(), found)


def test_a_key_of_evidence_that_is_equal_to_other_keys_is_refused() -> None:
    found = {name: dict.fromkeys(columns, "text") for name, columns in COLUMNS.items()}
    found["relationship"]["id"] = "uuid"
    found["evidence"] = {"relationship_id": "uuid"}
    assert tables_of(PostgresSettings(), found).evidence
    found["evidence"]["relationship_id"] = "text of a nondeterministic collation"
    with pytest.raises(ConfigurationError, match="nondeterministic"):
        tables_of(PostgresSettings(), found)
