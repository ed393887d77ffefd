"""Calls while a database fails: none is answered wrongly, or with a part that is called complete."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.databases.cut_answers import CALLS, DAMAGES, HASTY, cut_answers, damaged_answers
from tests.databases.faulted import check
from tests.neo4j.proxy import PostgresMessages, Proxy, running_proxy
from tests.postgres.database import Database, PostgresColumn
from tests.postgres.faulted import calls_while_failing

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_no_faulted_call_is_answered_wrongly(database: Database) -> None:
    check(await calls_while_failing(database, 96, 2026), 96)


@asynccontextmanager
async def behind_a_proxy(
    database: Database, engine: Column, profile: Profile | None = None
) -> AsyncIterator[tuple[Proxy, Callable[[], Gateway]]]:
    """Give a proxy, and what opens a gateway over the random graphs through it."""
    assert isinstance(engine, PostgresColumn)
    # Loaded without the proxy.
    await engine.open("random").close()
    async with running_proxy(database.server.port, PostgresMessages) as proxy:
        behind = Database(replace(database.server, port=proxy.port), database.schemas)
        column = replace(engine, database=behind)
        yield proxy, lambda: column.open("random", profile)


async def test_no_answer_is_believed_of_which_rows_were_left_out(database: Database, engine: Column) -> None:
    async with behind_a_proxy(database, engine) as (proxy, opened):
        report = await cut_answers(opened, proxy, "2026 cuts")
    assert report.calls == CALLS
    assert report.told > CALLS // 4
    assert report.believed == []


async def test_an_answer_is_believed_of_which_the_number_of_rows_was_changed_too(
    database: Database, engine: Column
) -> None:
    # docs/limits.md says so; and whoever compares the answers sees it.
    async with behind_a_proxy(database, engine) as (proxy, opened):
        proxy.edited = PostgresMessages.with_number
        report = await cut_answers(opened, proxy, "2026 cuts", 12)
    assert report.believed != []


async def test_no_damaged_message_is_believed_or_an_internal_error(database: Database, engine: Column) -> None:
    async with behind_a_proxy(database, engine, HASTY) as (proxy, opened):
        report = await damaged_answers(opened, proxy, PostgresMessages, "2026 damages")
    assert report.calls == DAMAGES
    # Most are asked again, and answered.
    assert report.told > 0
    assert report.believed == []
    assert report.crashed == []
