"""Six BFS-QL tools over any RDF graph, in Python; `docs/python.md` describes it in full.

    import bfsql_gateway

    with bfsql_gateway.open_gateway("medical.ttl") as graph:
        answer = graph.bfs_query(["drug:metformin"], max_hops=1)

With `async with`, the calls of the same object are awaited.
"""

from importlib.metadata import PackageNotFoundError, version

from bfsql_gateway import errors
from gateway import PROGRAM, expand
from gateway.answers.models import (
    BfsResult,
    CompactAnswer,
    Edge,
    EntitiesResult,
    Entity,
    FullNode,
    IntersectionResult,
    Node,
    SchemaResult,
    SearchHit,
    SearchResult,
    ToolAnswer,
)
from gateway.api import Profile, Record, link_graphs, load_profile, open_gateway, open_graphs
from gateway.arguments import SearchOptions, TraversalOptions
from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode
from gateway.python.async_gateway import AsyncGateway
from gateway.python.sync_gateway import SyncGateway

__all__ = [
    "AsyncGateway",
    "BfsResult",
    "CompactAnswer",
    "Edge",
    "EntitiesResult",
    "Entity",
    "FullNode",
    "IntersectionResult",
    "Node",
    "Profile",
    "Record",
    "SchemaResult",
    "SearchHit",
    "SearchOptions",
    "SearchResult",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "SyncGateway",
    "ToolAnswer",
    "TraversalOptions",
    "__version__",
    "errors",
    "expand",
    "link_graphs",
    "load_profile",
    "open_gateway",
    "open_graphs",
]

try:
    __version__ = version(PROGRAM)
except PackageNotFoundError:
    # A clone that nobody installed.
    __version__ = "0"
