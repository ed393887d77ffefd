"""Calls while a database fails: none is answered wrongly, or with a part that is called complete."""

from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from gateway.neo4j.connection import Address
from tests.columns import Column
from tests.databases.cut_answers import CALLS, DAMAGES, HASTY, cut_answers, damaged_answers
from tests.databases.faulted import check
from tests.neo4j.database import Neo4jColumn, address_at
from tests.neo4j.faulted import calls_while_failing
from tests.neo4j.proxy import BoltMessages, running_proxy

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.server,
    # Where the time of a call ends while the driver connects, it leaves the socket to be closed by the interpreter
    # (neo4j 6.4, `AsyncBoltSocketBase._connect_secure` closes it for an `Exception`, which a cancellation is not).
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


async def test_no_faulted_call_is_answered_wrongly(address: Address) -> None:
    check(await calls_while_failing(address, 96, 2026), 96)


async def test_no_answer_is_believed_of_which_rows_were_left_out(address: Address, engine: Column) -> None:
    assert isinstance(engine, Neo4jColumn)
    async with running_proxy(urlsplit(address.url).port or 0, BoltMessages) as proxy:
        column = replace(engine, address=address_at(proxy.port))
        report = await cut_answers(lambda: column.open("random"), proxy, "2026 cuts")
    assert report.calls == CALLS
    assert report.told > CALLS // 4
    assert report.believed == []


async def test_no_damaged_message_is_believed_or_an_internal_error(address: Address, engine: Column) -> None:
    assert isinstance(engine, Neo4jColumn)
    async with running_proxy(urlsplit(address.url).port or 0, BoltMessages) as proxy:
        column = replace(engine, address=address_at(proxy.port))
        report = await damaged_answers(lambda: column.open("random", HASTY), proxy, BoltMessages, "2026 damages")
    assert report.calls == DAMAGES
    # Most are asked again, and answered.
    assert report.told > 0
    assert report.believed == []
    assert report.crashed == []
