"""Calls while a database fails: none is answered wrongly, or with a part that is called complete."""

import pytest

from tests.databases.faulted import check
from tests.postgres.database import Database
from tests.postgres.faulted import calls_while_failing

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_no_faulted_call_is_answered_wrongly(database: Database) -> None:
    check(await calls_while_failing(database, 96, 2026), 96)
