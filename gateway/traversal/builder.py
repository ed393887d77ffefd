"""Builds the topology of a question from what the store answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from types import MappingProxyType
from typing import Self

from gateway import messages
from gateway.errors import BudgetSpent, DeadlinePassed, Fault, quoted
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import WHOLE, Degree, EdgeSelection, Iri, Neighbourhood, NodeFacts
from gateway.settings.profile import PartlyRead, Profile, doubt_of
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.breadth_first import BreadthFirstSearch, Exploration
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.expander import HubRule, NodeExpander
from gateway.traversal.gaps import Cause, GapCollector
from gateway.traversal.intersections import IntersectionSearch, PathReader
from gateway.traversal.steering import UNSTEERED, Steering, WalkSearch, reverse
from gateway.traversal.topology import (
    OnNodes,
    Path,
    Topology,
    in_order,
    paths_to_seeds,
)

_REQUESTS_FOR_FACTS = 0.35
"""Share of a call's requests that expansion leaves for types and metadata: nodes without a type are little use."""

_TIME_FOR_FACTS = 0.2
"""Share of a call's time that it leaves for them."""

FEW_SEEDS = 4
"""Seeds up to which an intersection asks for each one's set of nodes by itself."""

_COUNTED_OTHER_WAY = 1_000
"""Edges in the other direction that are counted at most, for a warning."""

_EXPLAINED = 500
"""Nodes of an intersection from which paths to the seeds are found unasked; no page shows more."""

_EXPLAINED_BY_READING = 100
"""The same, where the edges that the paths follow have to be read."""

_SHOWN = 5
"""Missing seeds that an error names."""

_NAMED_WITH_TYPES = 200
"""Nodes of the largest traversal that has the names of all of them read with their types."""

_NOTHING: Mapping[Iri, tuple[EdgeSelection, Degree]] = {}

_Ordered = tuple[Mapping[Iri, int], EdgeTable]
"""Nodes with their distance, and edges."""

OnOrder = Callable[[Sequence[Iri]], Awaitable[None]]
"""Uses the nodes of a topology, in order, before their types have come."""


async def _no_use(_: Sequence[Iri]) -> None:
    """Do nothing."""


class TopologyBuilder:
    """Builds topologies: reads the graph and puts nodes and edges in order."""

    def __init__(self, store: GraphStore, prefixes: PrefixMap, profile: Profile) -> None:
        self._store = store
        self._prefixes = prefixes
        self._facts_batch = profile.limits.facts_batch
        self._names_on_stubs = profile.names.on_stubs
        self._doubt = doubt_of(profile)
        self._is_read_in_part = isinstance(profile.files, PartlyRead)
        # A blank node is an unknown value there, and read as one.
        self._is_wikibase = profile.values.wikibase
        self._other_graph = profile.endpoint.other_graph

    async def read_ahead(
        self, seeds: Sequence[Iri], rule: HubRule, call: Call, steering: Steering
    ) -> Mapping[Iri, Neighbourhood]:
        """Return what the first hop of a search reads of the seeds; nothing where that needs degrees first."""
        if rule.max_edges is not None:
            return {}
        with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS), contextlib.suppress(Fault):
            return await self._store.edges(seeds, call, selection=steering.selections[0])
        return {}

    def begins_with_edges(
        self, seeds: Sequence[Iri], k: int, rule: HubRule, steering: Steering, *, via: bool | None
    ) -> bool:
        """Return whether an intersection begins with the edges of all its seeds, the same of each."""
        return steering.is_off and (bool(via) or not self._reaches(seeds, k, rule))

    async def neighbourhood(
        self,
        seeds: Sequence[Iri],
        max_hops: int,
        rule: HubRule,
        call: Call,
        steering: Steering = UNSTEERED,
        *,
        read_ahead: Mapping[Iri, Neighbourhood] = MappingProxyType({}),
        on_order: OnOrder = _no_use,
    ) -> Topology:
        """Return the union of the seeds' neighbourhoods; its edges touch an expanded node.

        With one list of predicates a hop, it has the nodes and edges on walks through all hops.

        Args:
            seeds: The seeds.
            max_hops: The largest distance from a seed.
            rule: What is done with hubs.
            call: The call that asks.
            steering: Which edges are followed.
            read_ahead: What `read_ahead` returned for some of the seeds.
            on_order: Is called with the nodes in order, while their types are on their way.

        Raises:
            InputError: No seed exists.
            Fault: Nothing could be learnt about any seed.
        """
        async with FactsPrefetch(lambda nodes: self._facts(nodes, call), self._facts_batch) as ahead:
            expander, selections = NodeExpander(self._store, rule, call, seeds, read_ahead), steering.selections
            search = (
                WalkSearch(self._store, seeds, selections, expander, call)
                if steering.is_listed
                else BreadthFirstSearch(self._store, [seeds], max_hops, expander, call, selections[0])
            )
            with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS):
                found = await search.run(ahead.add)
                if self._other_graph:
                    await self._add_other_graph(found, call)
            self._settle(found, seeds)
            distance = found.distances[0]
            async with together() as tasks:
                has_names = self._reads_names(distance)
                reading = self._facts(distance, call, names=True) if has_names else ahead.facts(distance)
                facts = tasks.create_task(reading)
                other_way = tasks.create_task(self._other_way({selections[0]: found.alone}, call))
                begin = _in(tasks, _no_use if has_names else on_order)
                ordered = await self._ordered(seeds, distance, found, call, begin)
        topology = await self._put_together(seeds, ordered, found, facts.result(), other_way.result(), call)
        return replace(topology, has_names=has_names)

    async def intersection(
        self,
        seeds: Sequence[Iri],
        k: int,
        rule: HubRule,
        call: Call,
        *,
        via: bool | None = False,
        steering: Steering = UNSTEERED,
        read_ahead: Mapping[Iri, Neighbourhood] = MappingProxyType({}),
        on_order: OnOrder = _no_use,
    ) -> Topology:
        """Return the nodes within k hops of every seed, and all edges among them.

        With a seed missing there are none, and that is the whole answer.

        Args:
            seeds: The seeds.
            k: Distance from every seed.
            rule: What is done with hubs.
            call: The call that asks.
            via: Whether to find a path from each node to each seed; None: from the first nodes, as far as is cheap.
            steering: Which edges are followed.
            read_ahead: As in `neighbourhood`.
            on_order: As in `neighbourhood`.

        Raises:
            InputError: No seed exists.
            Fault: Nothing could be learnt about some seed, or about any.
        """
        found = await self._reach(seeds, k, rule, call) if steering.is_off and not via else None
        if found is None:
            expander = NodeExpander(self._store, rule, call, seeds, read_ahead)
            with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS):
                found = await IntersectionSearch(self._store, seeds, k, steering, expander, call).run()
                if self._other_graph:
                    await self._add_other_graph(found, call)
            self._settle(found, seeds)
        for seed in found.unsure:
            if (fault := found.known[seed].mark.fault) is not None:
                raise fault
        if found.missing:
            gaps = found.gaps if self._other_graph else GapCollector()
            none = EdgeTable.of((), (), call.call_deadline)
            return self._topology(seeds, ({}, none), Exploration([], missing=found.missing, gaps=gaps), {})
        is_small = sum(map(len, found.distances)) <= FEW_FOR_A_THREAD
        farthest = await in_thread(call, lambda end: _farthest(found.distances, end), unless=is_small)
        common = frozenset(farthest)
        alone = {part.selection: part.alone for part in found.parts}
        async with together() as tasks:
            has_names = self._reads_names(common)
            # The page names the seeds too, though they need not be among its nodes.
            asked = {*common, *seeds} if has_names and common else common
            facts = tasks.create_task(self._facts(asked, call, names=has_names))
            other_way = tasks.create_task(self._other_way(alone, call))
            among = await self._edges_among(common, found, steering, call)
            begin = _in(tasks, _no_use if has_names else on_order)
            ordered = await self._ordered(seeds, farthest, found, call, begin, among)
        paths: Mapping[Iri, tuple[Path, ...]] = {}
        nodes = list(ordered[0])
        if via or (via is None and found.known):
            explained = nodes if via else nodes[:_EXPLAINED]
            is_small = found.edges_read * len(seeds) <= FEW_FOR_A_THREAD
            paths = await in_thread(call, lambda end: paths_to_seeds(explained, found, end), unless=is_small)
        elif via is None:
            with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS):
                paths = await PathReader(self._store, call).paths(nodes[:_EXPLAINED_BY_READING], found.distances)
        known = {node: one for node, one in facts.result().items() if node in common} if has_names else facts.result()
        topology = await self._put_together(seeds, ordered, found, known, other_way.result(), call)
        return replace(topology, paths=paths, via=via, has_names=has_names)

    async def _reach(self, seeds: Sequence[Iri], k: int, rule: HubRule, call: Call) -> Exploration | None:
        """Return the sets of nodes alone, which are far smaller than their edges; None where that would not do.

        Hubs and split graphs need the edges; one hop brings them at once; many seeds share a frontier better.
        """
        if not self._reaches(seeds, k, rule):
            return None
        with call.reserving(requests=_REQUESTS_FOR_FACTS, time=_TIME_FOR_FACTS):
            reaches = await self._store.reach(seeds, k, call)
            if not all(reach.mark.whole for reach in reaches.values()):
                return None
            alone = [seed for seed in seeds if len(reaches[seed].distances) == 1]
            existing = await self._store.existing(alone, call) if alone else {}
        if not all(existence.mark.whole for existence in existing.values()):
            return None
        missing = [seed for seed in alone if not existing[seed].exists]
        self._require_a_seed(seeds, missing)
        return Exploration([dict(reaches[seed].distances) for seed in seeds], missing=missing)

    def _reaches(self, seeds: Sequence[Iri], k: int, rule: HubRule) -> bool:
        return rule.is_off and k > 1 and len(seeds) <= FEW_SEEDS and not self._other_graph

    def _settle(self, found: Exploration, seeds: Sequence[Iri]) -> None:
        found.gaps.add_left_out(found.known)
        if found.missing:
            found.missing.sort(key=seeds.index)
            self._require_a_seed(seeds, found.missing)

    async def _other_way(
        self, alone: Mapping[EdgeSelection, Sequence[Iri]], call: Call
    ) -> Mapping[Iri, tuple[EdgeSelection, Degree]]:
        """Return, for seeds without an edge that is followed, how many edges there are in the other direction."""
        found: dict[Iri, tuple[EdgeSelection, Degree]] = {}
        for selection, seeds in alone.items():
            if seeds and (other := reverse(selection)) is not None:
                degrees = await self._store.degrees(seeds, _COUNTED_OTHER_WAY, call, selection=other)
                found |= {seed: (other, degree) for seed, degree in degrees.items() if degree.count}
        return found

    async def _add_other_graph(self, found: Exploration, call: Call) -> None:
        """Add a gap for the expanded nodes about which this part of a split graph says nothing."""
        without_statements = [
            node
            for node, neighbourhood in found.known.items()
            if neighbourhood.mark.whole
            and node not in found.missing
            and not any(edge.subject == node for edge in neighbourhood.edges)
        ]
        subjects = await self._store.subjects(without_statements, call) if without_statements else {}
        detail = messages.elsewhere(self._other_graph)
        found.gaps.add("other_graph", found.missing, detail)
        for node, existence in subjects.items():
            if existence.mark.fault is not None:
                found.gaps.add_mark(node, existence.mark)
            elif not existence.exists:
                found.gaps.add("other_graph", [node], detail)

    def _require_a_seed(self, seeds: Sequence[Iri], missing: Sequence[Iri]) -> None:
        distinct = list(dict.fromkeys(seeds))
        if len(missing) == len(distinct):
            shown = [quoted(self._prefixes.shorten(seed)) for seed in distinct[:_SHOWN]]
            hint = self._prefixes.undeclared(missing)
            raise messages.no_seed_exists(shown, hint, self._other_graph, self._doubt)

    async def _edges_among(
        self, common: frozenset[Iri], found: Exploration, steering: Steering, call: Call
    ) -> Sequence[Neighbourhood]:
        """Return the edges between two nodes of an intersection, as far as the search has not read them."""
        read = found.known.keys() - found.unexpanded if steering.is_symmetric else set[Iri]()
        unread = [node for node in common if node not in read]
        if not unread:
            return ()
        answers = await self._store.edges_among(unread, common, call, predicates=steering.predicates)
        found.gaps.add_marks((node, neighbourhood.mark) for node, neighbourhood in answers.items())
        found.gaps.add_left_out(answers)
        return [*answers.values()]

    def _reads_names(self, nodes: Collection[Iri]) -> bool:
        """Return whether the names of all nodes are read with their types.

        The names of many, in all languages, may be a hundred times as many rows as their types, and a page shows those
        of few.
        """
        return self._names_on_stubs and len(nodes) <= _NAMED_WITH_TYPES

    async def _facts(self, nodes: Collection[Iri], call: Call, *, names: bool = False) -> Mapping[Iri, NodeFacts]:
        if not nodes:
            return {}
        with call.tally.stage("facts"):
            return await self._store.nodes(list(nodes), call, names=names)

    async def _ordered(
        self,
        seeds: Sequence[Iri],
        distance: Mapping[Iri, int],
        found: Exploration,
        call: Call,
        on_nodes: OnNodes,
        among: Sequence[Neighbourhood] | None = None,
    ) -> _Ordered:
        """Return nodes and edges in order; a thread makes what pages need too, while facts are on their way."""
        edges = found.edges_read + sum(len(neighbourhood.edges) for neighbourhood in among or ())
        return await in_thread(
            call,
            lambda end: in_order(seeds, distance, found, self._prefixes, end, among, on_nodes),
            unless=len(distance) + edges <= FEW_FOR_A_THREAD,
        )

    async def _put_together(
        self,
        seeds: Sequence[Iri],
        ordered: _Ordered,
        found: Exploration,
        facts: Mapping[Iri, NodeFacts],
        other_way: Mapping[Iri, tuple[EdgeSelection, Degree]],
        call: Call,
    ) -> Topology:
        is_small = len(facts) + len(found.known) <= FEW_FOR_A_THREAD
        return await in_thread(call, lambda _: self._topology(seeds, ordered, found, facts, other_way), unless=is_small)

    def _topology(
        self,
        seeds: Sequence[Iri],
        ordered: _Ordered,
        found: Exploration,
        facts: Mapping[Iri, NodeFacts],
        other_way: Mapping[Iri, tuple[EdgeSelection, Degree]] = _NOTHING,
    ) -> Topology:
        for node in [node for node, known in facts.items() if known.mark is not WHOLE or known.left_out]:
            if (fault := facts[node].mark.fault) is not None:
                found.gaps.add("types_failed", [node], fault.wrong)
            elif not facts[node].are_types_known:
                found.gaps.add("types_failed", [node], messages.TYPES_LEFT_OUT)
        if not self._is_wikibase:
            found.gaps.add_blank_nodes(found.known)
        if self._doubt:
            cause: Cause = "files_in_part" if self._is_read_in_part else "server_truncated"
            found.gaps.add(cause, found.known or seeds, messages.may_have_more_edges(self._doubt))
        nodes, edges = ordered
        return Topology(
            tuple(seed for seed in dict.fromkeys(seeds) if seed in nodes),
            nodes,
            edges,
            facts,
            tuple(found.missing),
            found.gaps.entries,
            found.blank_edges,
            partial=found.partial,
            other_way=other_way,
        )


def _farthest(distances: Sequence[Mapping[Iri, int]], deadline: Deadline) -> Mapping[Iri, int]:
    """Return the nodes that are near every source, each with its distance from the farthest."""
    common = frozenset.intersection(*map(frozenset, distances))
    return {node: max(distance[node] for distance in distances) for node in deadline.checking(common)}


def _in(tasks: asyncio.TaskGroup, on_order: OnOrder) -> OnNodes:
    """Return what starts a task of a group that uses the nodes in order; any thread may call it."""
    loop = asyncio.get_running_loop()
    order: asyncio.Future[Sequence[Iri]] = loop.create_future()

    async def use() -> None:
        await on_order(await order)

    def know(nodes: Sequence[Iri]) -> None:
        # The group may have failed meanwhile.
        if not order.done():
            order.set_result(nodes)

    tasks.create_task(use())
    return lambda nodes: loop.call_soon_threadsafe(know, nodes)


class FactsPrefetch:
    """Fetches types of nodes in batches while answers about edges are still on their way; no node twice without need.

    A far endpoint answers the last hop in several parts. Waiting for all of them before the first question about types
    would leave the connections idle that have answered already.
    """

    def __init__(self, ask: Callable[[Sequence[Iri]], Awaitable[Mapping[Iri, NodeFacts]]], enough: int) -> None:
        self._ask = ask
        self._enough = enough
        self._waiting: dict[Iri, None] = {}
        self._sent: set[Iri] = set()
        self._asked: list[asyncio.Task[Mapping[Iri, NodeFacts]]] = []
        self._is_over = False

    def add(self, part: Mapping[Iri, Neighbourhood]) -> None:
        """Add the nodes in a part of an answer; ask about them once there are enough."""
        for neighbourhood in part.values():
            self._waiting |= dict.fromkeys(filterfalse(self._sent.__contains__, neighbourhood.ends))
        if len(self._waiting) >= self._enough:
            self._send(list(self._waiting))
            self._waiting = {}

    def _send(self, nodes: Sequence[Iri]) -> None:
        # Edges that another call awaits still come after this call was cancelled.
        if self._is_over:
            return
        self._sent.update(nodes)
        self._asked.append(asyncio.ensure_future(self._ask(nodes)))

    async def facts(self, nodes: Collection[Iri]) -> Mapping[Iri, NodeFacts]:
        """Return the facts of some nodes: what was asked for ahead, and the rest."""
        slices = Slices()
        rest = [node async for node in slices.over(nodes) if node not in self._sent]
        if rest:
            self._send(rest)
        found: dict[Iri, NodeFacts] = {}
        for answers in await asyncio.gather(*self._asked):
            found |= answers
            await slices.end_one()
        # What was asked ahead could spend no more than expansion may; now there is what was reserved for facts.
        again = [
            node
            async for node in slices.over(nodes)
            if isinstance(found[node].mark.fault, BudgetSpent | DeadlinePassed)
        ]
        if again:
            found |= await self._ask(again)
        return {node: found[node] async for node in slices.over(nodes)}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Give up what is still being asked, and ask nothing more."""
        self._is_over = True
        for task in self._asked:
            task.cancel()
        if self._asked:
            await asyncio.wait(self._asked)
