"""Calls while a database fails: none is answered wrongly, or with a part that is called complete."""

import pytest

from gateway.neo4j.connection import Address
from tests.databases.faulted import check
from tests.neo4j.faulted import calls_while_failing

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.server,
    # Where the time of a call ends while the driver connects, it leaves the socket to be closed by the interpreter
    # (neo4j 6.4, `AsyncBoltSocketBase._connect_secure` closes it for an `Exception`, which a cancellation is not).
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


async def test_no_faulted_call_is_answered_wrongly(address: Address) -> None:
    check(await calls_while_failing(address, 96, 2026), 96)
