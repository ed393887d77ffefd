"""Asks a gateway of any checkout: a process of its own, so that two commits answer in one run.

`python -P driver.py URL [NAMED_GRAPH]`, with the checkout as the working directory and first in PYTHONPATH, reads one
question a line from standard input (JSON: `kind`, `seeds`, `hops`) and answers each with a line of figures. It uses
nothing of the gateway but what commits have had since cc07bd0.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gateway
from gateway.api import open_gateway
from gateway.graph.call import Call, Deadline
from gateway.settings.limits import LimitSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.traversal.breadth_first import BreadthFirstSearch
from gateway.traversal.builder import TopologyBuilder
from gateway.traversal.expander import HubRule, NodeExpander

try:
    from gateway.stores.endpoints import connect, store_over
except ModuleNotFoundError:
    # Older commits have these functions elsewhere.
    from gateway.api import connect, store_over  # type: ignore[attr-defined,no-redef]

_PROFILE = "wikidata-local"
_LIMITS = LimitSettings(deadline_seconds=120, requests=1_000, query_rows=9_000)
"""Of a search for edges; below the row cap of 10,000 that Debian's Virtuoso has."""

Figures = Mapping[str, Any]


def digest(edges: Iterable[Sequence[str]]) -> str:
    """Return a hash of a set of edges."""
    return hashlib.sha256("\n".join(sorted(map(" ".join, edges))).encode()).hexdigest()


class Driver:
    """One endpoint behind the gateway of the checkout.

    Args:
        url: The endpoint.
        graphs: The named graphs that are asked; none for the endpoint's default graph.
    """

    def __init__(self, url: str, graphs: Sequence[str]) -> None:
        profile = load_profile(_PROFILE)
        if graphs:
            endpoint = profile.endpoint.model_copy(update={"graphs": tuple(graphs)})
            profile = profile.model_copy(update={"endpoint": endpoint})
        searching: Profile = profile.model_copy(update={"limits": _LIMITS})
        self._profile = profile
        self._prefixes = PrefixMap(profile.prefixes)
        self._gateway: Gateway = open_gateway(endpoint=url, profile=profile)
        self._cached = store_over(connect(url, profile), profile)
        self._store = SparqlStore(connect(url, searching), searching)

    async def answer(self, question: Mapping[str, Any]) -> Figures:
        """Answer a question from cold caches, and say how long it took."""
        self._gateway.forget()
        self._cached.forget()
        gc.collect()
        ask: Callable[[Mapping[str, Any]], Awaitable[Figures]]
        ask = {"answer": self._whole_answer, "topology": self._topology, "edges": self._edges}[question["kind"]]
        cpu, began = time.process_time(), time.perf_counter()
        figures = await ask(question)
        return {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu, **figures}

    async def _whole_answer(self, question: Mapping[str, Any]) -> Figures:
        """Ask the tool for nodes with their types, and edges."""
        arguments = {"seeds": question["seeds"], "max_hops": question["hops"], "topology_only": True}
        found = (await self._gateway.call("bfs_query", arguments)).as_json()
        return {
            "nodes": found["node_count"],
            "edges": found["edge_count"],
            "complete": bool(found.get("complete", not found.get("incomplete"))),
        }

    async def _topology(self, question: Mapping[str, Any]) -> Figures:
        """Answer at the engine: before filters, pages and presentation."""
        limits = self._profile.limits
        call = Call(Deadline.after(limits.deadline_seconds), limits.requests, limits.rows, limits.nodes)
        builder = TopologyBuilder(self._cached, self._prefixes, self._profile)
        rule = HubRule.of(self._profile.hubs, None, None)
        found = await builder.neighbourhood(question["seeds"], question["hops"], rule, call)
        return {"nodes": len(found.nodes), "edges": len(found.edges), "complete": found.complete}

    async def _edges(self, question: Mapping[str, Any]) -> Figures:
        """Search for edges alone, as a tool call does before it asks for types."""
        call = Call(Deadline.after(_LIMITS.deadline_seconds), _LIMITS.requests, _LIMITS.rows, _LIMITS.nodes)
        seeds = question["seeds"]
        expander = NodeExpander(self._store, HubRule(), call, seeds)
        found = await BreadthFirstSearch(self._store, [seeds], question["hops"], expander, call).run()
        edges = {(edge.subject, edge.predicate, edge.object) for edge in found.edges}
        (distance,) = found.distances
        complete = not found.gaps.entries and not found.missing
        return {"nodes": len(distance), "edges": len(edges), "complete": complete, "digest": digest(edges)}

    async def close(self) -> None:
        """Close the connections."""
        await self._gateway.close()
        await self._cached.close()
        await self._store.close()


async def _serve(url: str, graphs: Sequence[str]) -> None:
    driver = Driver(url, graphs)
    try:
        while line := await asyncio.to_thread(sys.stdin.readline):
            sys.stdout.write(json.dumps(await driver.answer(json.loads(line))) + "\n")
            sys.stdout.flush()
    finally:
        await driver.close()


def main() -> None:
    """Answer questions until standard input ends."""
    if not Path(gateway.__file__).is_relative_to(Path.cwd()):
        sys.exit(f"the gateway is {gateway.__file__}, and not that of {Path.cwd()}")
    url, *graphs = sys.argv[1:]
    asyncio.run(_serve(url, graphs))


if __name__ == "__main__":
    main()
