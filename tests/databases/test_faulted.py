"""Calls while a database fails: none is answered wrongly, or with a part that is called complete; and their judge."""

from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway.api import open_gateway
from tests.databases.faulted import Report, calls_to_neo4j, calls_to_postgres, check, count_call
from tests.databases.stopped import calls_while_stopping
from tests.neo4j.database import UNCLOSED
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.anyio

NODES = 61


async def reports_on(folder: Path, links: list[tuple[int, int]]) -> Report:
    """Make a call about node 10 of a graph with some links."""
    file = folder / "chain.nt"
    file.write_text("".join(f"<urn:n:{one}> <urn:next> <urn:n:{other}> .\n" for one, other in links), encoding="utf-8")
    report = Report()
    async with open_gateway(file) as gateway:
        await count_call(gateway, 10, "cut", report)
    return report


@pytest.mark.parametrize(
    ("links", "is_wrong"),
    [
        ([(at, at + 1) for at in range(NODES - 1)], False),
        ([(at, at + 1) for at in range(NODES - 1) if at != 11], True),
        ([(at, at + 1) for at in range(NODES - 1)] + [(10, 20)], True),
    ],
    ids=["whole", "a link is missing", "a link too many"],
)
async def test_a_chain_that_differs_is_a_wrong_answer(
    tmp_path: Path, links: list[tuple[int, int]], is_wrong: bool
) -> None:
    report = await reports_on(tmp_path, links)
    assert report.outcomes == {("cut", "complete"): 1}
    assert len(report.wrong) == is_wrong


@pytest.fixture(
    params=[(calls_to_postgres, "database"), pytest.param((calls_to_neo4j, "address"), marks=UNCLOSED)],
    ids=["postgresql", "neo4j"],
)
def calls_while_failing(request: pytest.FixtureRequest) -> Callable[[int, int], Coroutine[Any, Any, Report]]:
    """What makes so many calls to a database that fails, drawn by a seed."""
    make_calls, server = request.param
    return partial(make_calls, request.getfixturevalue(server))


@pytest.mark.server
async def test_no_faulted_call_is_answered_wrongly(
    calls_while_failing: Callable[[int, int], Coroutine[Any, Any, Report]],
) -> None:
    check(await calls_while_failing(96, 2026), 96)


@pytest.mark.server
async def test_calls_while_a_server_is_stopped_and_restarted_are_not_wrong_and_lose_no_connection() -> None:
    try:
        report = await calls_while_stopping("postgres", 150, 2026)
    except ServerUnavailable as error:
        skip_or_fail(error)
    # Seconds are for `make stopped`, on a machine that does nothing else.
    assert report.findings == []
    assert report.outcomes.total() >= 150
    assert report.events["stops"] > 0
    assert report.events["restarts"] > 0
    # Each time, it had answered since the last time.
    assert all(report.answered)
    assert len(report.answered) == report.events.total()
