"""Calls while a database fails: none is answered wrongly, or with a part that is called complete."""

import pytest

from gateway.neo4j.connection import Address
from tests.databases.faulted import check
from tests.neo4j.faulted import calls_while_failing

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_no_faulted_call_is_answered_wrongly(address: Address) -> None:
    check(await calls_while_failing(address, 96, 2026), 96)
