"""Small graphs, written by the tests that ask them, each behind a gateway of its own."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pyoxigraph

from gateway.answers.models import Subgraph
from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.endpoint import RequestSettings
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.telemetry.tally import Clock
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import ProbeResponse, TextRows, TimeoutPolicy, Transport
from gateway.transport.inprocess import InProcess

X = "https://example.org/x/"
PREFIXES = {
    "x": X,
    "y": "https://example.org/y/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
}
ROOM = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)

HEADER = "".join(f"@prefix {name}: <{namespace}> .\n" for name, namespace in PREFIXES.items())

Hook = Callable[[str], Awaitable[None]]


def engine(turtle: str) -> pyoxigraph.Store:
    """Return an engine that holds a graph; its prefixes are `PREFIXES`."""
    store = pyoxigraph.Store()
    store.load((HEADER + turtle).encode(), pyoxigraph.RdfFormat.TURTLE)
    return store


def over(
    graph: str | pyoxigraph.Store | Transport, profile: Profile | None = None, *, clock: Clock = time.monotonic
) -> Gateway:
    """Open a gateway over a graph in Turtle, an engine that holds one, or a transport to one."""
    settings = profile or Profile(size=ROOM)
    if isinstance(graph, str):
        graph = engine(graph)
    transport = InProcess(graph, max_bytes=1 << 24) if isinstance(graph, pyoxigraph.Store) else graph
    return Gateway(SparqlStore(transport, settings), settings, PrefixMap(PREFIXES), clock)


class Watched:
    """A transport that calls a hook with each query before it is sent; the hook may raise, or wait."""

    def __init__(self, store: pyoxigraph.Store, hook: Hook) -> None:
        self._inner = InProcess(store, max_bytes=1 << 24)
        self.hook = hook

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query."""
        await self.hook(query)
        return await self._inner.select(query, deadline, spend)

    async def select_texts(self, query: str, keeps: Callable[[str], bool], deadline: Deadline, /) -> TextRows:
        """Run a query whose answer may have any length."""
        await self.hook(query)
        return await self._inner.select_texts(query, keeps, deadline)

    async def close(self) -> None:
        """Let go of nothing."""
        await self._inner.close()


class WatchedElsewhere(Watched):
    """The same for an engine that somebody else runs, and that shows nothing of itself."""

    def __init__(self, store: pyoxigraph.Store, hook: Hook, requests: RequestSettings | None = None) -> None:
        super().__init__(store, hook)
        self.timeout_policy = TimeoutPolicy()
        self.flow = FlowControl(requests or RequestSettings())

    path = "/sparql"

    async def look(self, accept: str, deadline: Deadline, parameters: str = "", path: str = "") -> ProbeResponse:
        """Show nothing of itself."""
        del accept, deadline, parameters, path
        return ProbeResponse(200, {}, "")


def ids(answer: Subgraph) -> list[str]:
    """Return the IDs of an answer's nodes in order."""
    return [node.id for node in answer.nodes]


def triples(answer: Subgraph) -> list[tuple[str, str, str]]:
    """Return an answer's edges in order."""
    return [(edge.subject, edge.predicate, edge.object) for edge in answer.edges]


def metadata(answer: Subgraph) -> dict[str, dict[str, Any] | None]:
    """Return the metadata of an answer's nodes by ID, None for a stub."""
    return {node.id: node.metadata for node in answer.nodes}
