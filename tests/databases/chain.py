"""A chain of 61 nodes in a database, and what is right about it."""

from gateway.engine.gateway import Gateway

_NODES = 61


async def around(gateway: Gateway, node: int) -> tuple[bool, set[str]]:
    """Return whether the answer about two hops around a node is complete, and its nodes."""
    gateway.forget_snapshots()
    answer = await gateway.bfs_query([f"urn:n:{node}"], 2, topology_only=True)
    return answer.complete, {found.id for found in answer.nodes}


def near(node: int) -> set[str]:
    """Return the nodes that are at most two hops from a node."""
    return {f"urn:n:{other}" for other in range(node - 2, node + 3) if 0 <= other < _NODES}
