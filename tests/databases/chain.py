"""A chain of 61 nodes in a database, and what is right about it."""

import asyncio
from collections.abc import Iterable

from gateway.errors import Fault
from gateway.tools.gateway import Gateway
from tests.servers.process import Running

_NODES = 61

STOPPED_SECONDS = 2
"""The time of a call to a server that has stopped."""

_HANGS = 20
"""Seconds after which such a call counts as hanging."""

_MANY = 12
"""Calls at once: more than there are connections."""


async def around(gateway: Gateway, node: int) -> tuple[bool, set[str]]:
    """Return whether the answer about two hops around a node is complete, and its nodes."""
    gateway.forget_snapshots()
    answer = await gateway.bfs_query([f"urn:n:{node}"], 2, topology_only=True)
    return answer.complete, {found.id for found in answer.nodes}


def near(node: int) -> set[str]:
    """Return the nodes that are at most two hops from a node."""
    return {f"urn:n:{other}" for other in range(node - 2, node + 3) if 0 <= other < _NODES}


async def outcomes(gateway: Gateway, nodes: Iterable[int]) -> set[str]:
    """Return how calls end that are made at once; a wrong answer fails the test."""
    return {*await asyncio.gather(*(outcome(gateway, node) for node in nodes))}


async def outcome(gateway: Gateway, node: int) -> str:
    """Return how a call ends; a wrong answer fails the test."""
    try:
        complete, nodes = await around(gateway, node)
    except Fault:
        return "error"
    assert nodes <= near(node)
    assert nodes == near(node) or not complete
    return "complete" if complete else "incomplete"


async def check_stopped(gateway: Gateway, server: Running) -> None:
    """Check that calls end in their time while a server is stopped, and are answered when it goes on.

    Args:
        gateway: A gateway whose calls have `STOPPED_SECONDS`.
        server: The server.
    """
    # A server that has just started is slow.
    async with asyncio.timeout(120):
        while await outcomes(gateway, range(_MANY)) != {"complete"}:
            pass
    with server.stopped():
        async with asyncio.timeout(_HANGS):
            assert "complete" not in await outcomes(gateway, range(_MANY))
        asking = [asyncio.create_task(outcome(gateway, node)) for node in range(_MANY)]
        await asyncio.sleep(0)
        for task in asking:
            task.cancel()
        async with asyncio.timeout(_HANGS):
            await asyncio.wait(asking)
    async with asyncio.timeout(120):
        await gateway.check_reachable(20)
        while await outcomes(gateway, range(_MANY)) != {"complete"}:
            pass
