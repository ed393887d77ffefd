"""What the databases themselves count and sum: why figures come from rows there (docs/values.md, "Who computes")."""

import math
from collections.abc import Iterator
from typing import Final

import asyncpg
import neo4j
import pytest
from neo4j.exceptions import ClientError

from gateway.neo4j.connection import Address
from tests.neo4j.conftest import address, files  # noqa: F401 - fixtures
from tests.postgres.conftest import database  # noqa: F401 - a fixture
from tests.postgres.database import Database
from tests.servers.neo4j import PASSWORD, USER

pytestmark = pytest.mark.server

LARGEST: Final = 2**63 - 1
SHORT_S: Final = 0.3

ENDLESS: Final = "FROM generate_series(1, 1000000) AS a, generate_series(1, 1000000) AS b"


@pytest.fixture(scope="module")
def session(address: Address) -> Iterator[neo4j.Session]:  # noqa: F811 - the fixture
    with neo4j.GraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver, driver.session() as session:
        yield session


@pytest.mark.parametrize("figure", ["count(*)", "sum(a)"])
def test_postgresql_counts_and_sums_all_within_its_time_or_sends_an_error(database: Database, figure: str) -> None:  # noqa: F811
    with pytest.raises(asyncpg.QueryCanceledError):
        database.execute(f"SET statement_timeout = '{SHORT_S}s'; SELECT {figure} {ENDLESS}")


@pytest.mark.parametrize("figure", ["count(*)", "sum(a)"])
def test_neo4j_counts_and_sums_all_within_its_time_or_sends_an_error(session: neo4j.Session, figure: str) -> None:
    query = f"UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN {figure}"
    with pytest.raises(ClientError, match="TransactionTimedOut"), session.begin_transaction(timeout=SHORT_S) as work:
        work.run(query).values()


def summed(database: Database, *texts: str) -> object:  # noqa: F811 - a parameter
    return database.rows(f"SELECT sum(x::numeric)::text FROM unnest(array{[*texts]}) AS x")[0][0]  # noqa: S608 - texts of this file


def test_sums_of_postgresql_are_exact_over_numbers_and_an_error_over_text(database: Database) -> None:  # noqa: F811
    assert summed(database, str(LARGEST), str(LARGEST), "0.1", "0.20") == f"{2 * LARGEST}.30"
    with pytest.raises(asyncpg.InvalidTextRepresentationError):
        summed(database, "1", "2", "x")


def test_postgresql_takes_texts_for_numbers_that_are_none_in_rdf(database: Database) -> None:  # noqa: F811
    assert summed(database, " 1 ", "0x10", "1_000") == "1017"


def sum_and_average(session: neo4j.Session, *values: object) -> tuple[object, object]:
    total, average = session.run("UNWIND $x AS x RETURN sum(x), avg(x)", x=values).single(strict=True)
    return total, average


def test_sums_of_neo4j_are_rounded_in_silence(session: neo4j.Session) -> None:
    assert sum_and_average(session, LARGEST, 1) == (float(2**63), float(2**62))
    assert sum_and_average(session, 2**53 + 1, 1.0) == (float(2**53), float(2**52))
    assert sum_and_average(session, 0.1, 0.2, 0.3) != (0.6, 0.2)
    assert sum_and_average(session, 1e308, 1e308, -1e308)[0] == math.inf


def test_neo4j_takes_1_and_1_0_for_one_value_and_orders_a_date_below_a_number(session: neo4j.Session) -> None:
    query = "UNWIND [1, 1.0, date('2020-01-01')] AS x RETURN count(DISTINCT x), toString(min(x)), toString(max(x))"
    assert session.run(query).single(strict=True).values() == [2, "2020-01-01", "1"]
