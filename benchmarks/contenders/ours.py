"""This gateway: at the engine, and from there to what a model reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

from mcp import Client

from benchmarks.contenders.base import Size
from benchmarks.questions import Question
from benchmarks.recording import RecordingTransport
from gateway.answers.compact import COMPACT
from gateway.answers.names import PageNames
from gateway.answers.size import max_bytes
from gateway.arguments import BfsQuery
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.server.app import build
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.stores.endpoints import connect, store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.traversal.builder import TopologyBuilder
from gateway.traversal.expander import HubRule
from gateway.traversal.topology import Topology


@dataclass
class Ours:
    """One endpoint behind this gateway, wired as `open_gateway` wires it.

    Attributes:
        profile: The profile in force.
        wire: What passes between gateway and endpoint.
    """

    profile: Profile
    wire: RecordingTransport
    _store: GraphStore
    _prefixes: PrefixMap = field(init=False)

    def __post_init__(self) -> None:
        """Make the prefixes, which remember short forms of IRIs as long as the gateway is open."""
        self._prefixes = PrefixMap(self.profile.prefixes)

    @classmethod
    def at(cls, url: str, profile: str, graphs: Sequence[str] = ()) -> Self:
        """Open an endpoint under a built-in profile.

        Args:
            url: The endpoint.
            profile: The profile's name.
            graphs: The named graphs that are asked; the endpoint's own default where none are given.
        """
        settings = load_profile(profile)
        if graphs:
            endpoint = settings.endpoint.model_copy(update={"graphs": tuple(graphs)})
            settings = settings.model_copy(update={"endpoint": endpoint})
        wire = RecordingTransport(connect(url, settings))
        return cls(settings, wire, store_over(wire, settings))

    def forget(self) -> None:
        """Forget what was read of the graph; what was learnt about the endpoint stays."""
        self._store.forget()

    async def topology(self, question: Question, *, for_page: bool = False) -> Topology:
        """Answer at the engine: before filters, pages, presentation and MCP.

        Args:
            question: What is asked.
            for_page: Whether the names that the first page of a traversal shows are read too, as for the tool.
        """
        profile = self.profile
        topology_builder = TopologyBuilder(self._store, self._prefixes, profile)
        rule = HubRule.of(profile.hubs, None, None)
        limits = profile.limits
        call = Call(Deadline.after(limits.deadline_seconds), limits.requests, limits.rows, limits.nodes)
        if for_page:
            arguments = BfsQuery(seeds=list(question.seeds), max_hops=question.hops, topology_only=True)
            limit = max_bytes(profile.size, None, explain=False)
            names = PageNames(self._store, profile, self._prefixes, arguments, COMPACT, limit, call)
            return await topology_builder.neighbourhood(
                question.seeds, question.hops, rule, call, on_order=names.read_ahead
            )
        if question.kind == "traversal":
            return await topology_builder.neighbourhood(question.seeds, question.hops, rule, call)
        return await topology_builder.intersection(question.seeds, question.hops, rule, call, via=False)

    def gateway(self) -> Gateway:
        """Return a gateway that has answered nothing yet; what its store remembers is shared."""
        return Gateway(self._store, self.profile, self._prefixes)

    async def close(self) -> None:
        """Close the connections."""
        await self._store.close()


def size_of(topology: Topology) -> Size:
    """Return how large an answer at the engine is."""
    return Size(len(topology.nodes), len(topology.edges))


@asynccontextmanager
async def connected(gateway: Gateway) -> AsyncIterator[Client]:
    """Connect a client of the protocol to a gateway, within this process."""
    async with Client(await build(gateway)) as client:
        yield client
