"""What a traversal follows: predicates by direction, for each hop, and walks in the place of predicates.

docs/contract.md, "Steering".

Another search than breadth-first: a node is expanded at each step where a walk arrives at it, seen before or not.

An edge may stand for a walk, from where it begins to where it ends. What searches and presents edges knows predicates
alone. So a walk has an IRI of the gateway's own, from which it can be read back, and a store in front of the others
answers questions about such a predicate by where the walk ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from gateway import messages
from gateway.arguments import Direction
from gateway.errors import EdgesCapped
from gateway.graph.call import Call, Deadline, together
from gateway.graph.store import DelegatingStore, GraphStore, OnAnswers
from gateway.graph.values import (
    ALL_EDGES,
    Degree,
    Edge,
    EdgeSelection,
    Evidence,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    other_end,
)
from gateway.graph.walks import Ends, Step, Walk
from gateway.terms.iri import is_walk, walk_steps
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.breadth_first import Exploration, Reading, joined, settle_seeds
from gateway.traversal.expander import NodeExpander
from gateway.traversal.topology import Topology


@dataclass(frozen=True, slots=True)
class PredicateChoice:
    """One predicate of `only_predicates`.

    Attributes:
        predicate: The predicate, or what stands for a walk of several.
        is_inverse: Whether it was written `^p`: its incoming edges only.
    """

    predicate: Iri
    is_inverse: bool = False

    @property
    def is_directed(self) -> bool:
        """Whether it is followed in one direction, whatever the question says."""
        return self.is_inverse or is_walk(self.predicate)


@dataclass(frozen=True, slots=True)
class Steering:
    """What a question says about the edges to follow.

    Attributes:
        lists: The predicates: one list for all hops and seeds, or one a hop, or one a seed; an empty list is any.
        direction: The direction of predicates that are not written `^p`, as seen from the node that is expanded.
        is_listed: Whether there is one list a hop or seed.
    """

    lists: tuple[tuple[PredicateChoice, ...], ...] = ((),)
    direction: Direction = "both"
    is_listed: bool = False

    @property
    def is_off(self) -> bool:
        """Whether every edge is followed in both directions."""
        return self.direction == "both" and not self.is_listed and not self.lists[0]

    @property
    def selections(self) -> tuple[EdgeSelection, ...]:
        """What each list selects."""
        return tuple(self._selection(followed) for followed in self.lists)

    @property
    def selection(self) -> EdgeSelection:
        """What the one list selects that holds everywhere."""
        return self.selections[0]

    @property
    def is_symmetric(self) -> bool:
        """Whether an edge that is followed from one end is followed from the other end too."""
        return len(self.lists) == 1 and self.selection.outgoing == self.selection.incoming

    @property
    def predicates(self) -> tuple[Iri, ...] | None:
        """All predicates that are named, sorted; None if some list is any."""
        if not all(self.lists):
            return None
        return tuple(sorted({one.predicate for followed in self.lists for one in followed}))

    def _selection(self, followed: Sequence[PredicateChoice]) -> EdgeSelection:
        either, out, into = self.direction == "both", self.direction == "out", self.direction == "in"
        if not followed:
            return EdgeSelection(() if into else None, () if out else None)
        outgoing = {one.predicate for one in followed if not one.is_inverse and (one.is_directed or either or out)}
        incoming = {one.predicate for one in followed if one.is_inverse or (not one.is_directed and (either or into))}
        return EdgeSelection(tuple(sorted(outgoing)), tuple(sorted(incoming)))


UNSTEERED = Steering()


def reverse(selection: EdgeSelection) -> EdgeSelection | None:
    """Return what the other direction would select that a selection does not; None if that is nothing."""
    turned = EdgeSelection(
        _without(selection.incoming, selection.outgoing), _without(selection.outgoing, selection.incoming)
    )
    return None if turned == EdgeSelection((), ()) else turned


def _without(predicates: tuple[Iri, ...] | None, others: tuple[Iri, ...] | None) -> tuple[Iri, ...] | None:
    """Return the predicates that are not among others, where None is every predicate."""
    if others is None:
        return ()
    # Who asks for a walk has said in which direction each of its steps goes.
    return None if predicates is None else tuple(one for one in predicates if one not in others and not is_walk(one))


class WalkSearch:
    """All walks from the seeds that follow one selection of edges after the other."""

    def __init__(
        self,
        store: GraphStore,
        seeds: Sequence[Iri],
        selections: Sequence[EdgeSelection],
        expander: NodeExpander,
        call: Call,
    ) -> None:
        self._store = store
        self._seeds = seeds
        self._selections = selections
        self._expander = expander
        self._call = call
        self._read: dict[EdgeSelection, dict[Iri, Neighbourhood]] = {}

    async def run(self, on_answers: OnAnswers | None = None) -> Exploration:
        """Return the nodes and edges on walks through all steps; a node's distance is that of its first arrival.

        Args:
            on_answers: Receives parts of the last step, see `GraphStore.edges`.

        Raises:
            Fault: Nothing could be learnt about any seed.
        """
        found = Exploration([dict.fromkeys(self._seeds, 0)], gaps=self._expander.gaps)
        (distance,) = found.distances
        layers = [list(self._seeds)]
        last = len(self._selections)
        for step, selection in enumerate(self._selections, 1):
            if step > 1 and self._is_over_budget(layers[-1], distance, found):
                break
            near = {}
            if step > 1:
                before = self._read[self._selections[step - 2]]
                near = {node: before[node] for node in layers[-2] if node in before}
            await self._expand(layers[-1], selection, near, on_answers if step == last else None)
            if step == 1:
                found.known = dict(self._read[selection])
                await settle_seeds(found, self._store, self._call)
                layers[0] = list(distance)
            layers.append(list(dict.fromkeys(other for _, other in self._steps(layers[-1], selection))))
            for node in layers[-1]:
                distance.setdefault(node, 0 if node in found.unsure else step)
            await self._call.progress(step, last + 1, messages.hop_done(step, last, len(distance)))
        edges = self._through(layers) if len(layers) > last else set()
        found.known = self._known(edges)
        shown = {end for edge in edges for end in (edge.subject, edge.object)}
        kept = {node: steps for node, steps in distance.items() if node in shown or not steps}
        found.partial = len(distance) - len(kept)
        found.distances = [kept]
        return found

    async def _expand(
        self,
        layer: Sequence[Iri],
        selection: EdgeSelection,
        near: Mapping[Iri, Neighbourhood],
        on_answers: OnAnswers | None,
    ) -> None:
        read = self._read.setdefault(selection, {})
        unread = [node for node in layer if node not in read]
        if unread:
            read.update(await self._expander.expand(unread, selection, on_answers, read_before=near))

    def _steps(self, layer: Sequence[Iri], selection: EdgeSelection) -> list[tuple[Edge, Iri]]:
        """Return the edges that a step follows from the nodes of a layer, with the nodes where they end."""
        read = self._read[selection]
        return [(edge, other_end(node, edge)) for node in layer if node in read for edge in read[node].edges]

    def _through(self, layers: Sequence[Sequence[Iri]]) -> set[Edge]:
        """Return the edges that lie on a walk through all steps."""
        edges: set[Edge] = set()
        goals = set(layers[-1])
        for layer, selection in zip(reversed(layers[:-1]), reversed(self._selections), strict=True):
            starts: set[Iri] = set()
            for node in layer:
                on_the_way = [edge for edge, other in self._steps([node], selection) if other in goals]
                edges.update(on_the_way)
                if on_the_way:
                    starts.add(node)
            goals = starts
        return edges

    def _known(self, edges: set[Edge]) -> dict[Iri, Neighbourhood]:
        """Return what was read of each node, with those of its edges only that are shown."""
        readings: dict[Iri, list[Reading]] = {}
        for selection, read in self._read.items():
            for node, one in read.items():
                shown = Neighbourhood(
                    tuple(edge for edge in one.edges if edge in edges), one.blank_edges, one.mark, one.left_out
                )
                readings.setdefault(node, []).append((selection, shown))
        return {node: joined(each) for node, each in readings.items()}

    def _is_over_budget(self, layer: Sequence[Iri], distance: Mapping[Iri, int], found: Exploration) -> bool:
        if not layer or len(distance) <= self._call.nodes:
            return False
        found.gaps.add("budget", layer, messages.nodes_used_up(self._call.nodes))
        return True


def nodes_on_the_way(
    topology: Topology, steering: Steering, goals: Iterable[Iri], prefixes: PrefixMap, deadline: Deadline
) -> set[Iri]:
    """Return the nodes on one shortest path from the nearest seed to each of some nodes, along edges that are shown.

    Of several shortest paths it is the one whose nodes come first by ID without coined prefixes, counted from the end.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    before = _steps_back(topology, steering, prefixes, deadline)
    found: set[Iri] = set()
    for goal in deadline.checking(goals):
        # A walk may come by a node twice, or back to a seed; its first arrival is the way to it.
        step = next((step for step, steps in enumerate(before, 1) if goal in steps), 0) if topology.nodes[goal] else 0
        node = goal
        for steps in reversed(before[:step]):
            node = steps[node]
            found.add(node)
    return found


def last_nodes(topology: Topology, steering: Steering, deadline: Deadline) -> frozenset[Iri]:
    """Return the nodes where walks end that follow one list of predicates a hop.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    return frozenset(_layers(topology, steering, deadline)[-1])


def nodes_leading_to(
    topology: Topology, steering: Steering, goals: frozenset[Iri], deadline: Deadline
) -> frozenset[Iri]:
    """Return some ends of walks that follow one list a hop, and all nodes on walks to them.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    layers = _layers(topology, steering, deadline)
    touching = _touching(topology, deadline)
    wanted = goals.intersection(layers[-1])
    leading = set(wanted)
    for layer, selection in zip(reversed(layers[:-1]), reversed(steering.selections), strict=True):
        wanted = frozenset(
            node
            for node in deadline.checking(layer)
            if any(other_end(node, edge) in wanted and selection.selects(node, edge) for edge in touching[node])
        )
        leading |= wanted
    return frozenset(leading)


def _layers(topology: Topology, steering: Steering, deadline: Deadline) -> Sequence[Collection[Iri]]:
    """Return the seeds, and for each hop the nodes where it arrives."""
    touching = _touching(topology, deadline)
    layers: list[Collection[Iri]] = [[node for node, distance in topology.nodes.items() if not distance]]
    for selection in steering.selections:
        arrived: dict[Iri, None] = {}
        for node in deadline.checking(layers[-1]):
            arrived |= {other_end(node, edge): None for edge in touching[node] if selection.selects(node, edge)}
        layers.append(arrived)
    return layers


def _touching(topology: Topology, deadline: Deadline) -> Mapping[Iri, Sequence[Edge]]:
    """Return the edges that touch each node."""
    touching: dict[Iri, list[Edge]] = defaultdict(list)
    for edge in deadline.checking(topology.edges):
        for end in {edge.subject, edge.object}:
            touching[end].append(edge)
    return touching


def _steps_back(
    topology: Topology, steering: Steering, prefixes: PrefixMap, deadline: Deadline
) -> Sequence[dict[Iri, Iri]]:
    """Return, for each hop, the nodes where it arrives, each with the first node by ID from which it does."""
    touching = _touching(topology, deadline)
    farthest = max(topology.nodes.values(), default=0)
    selections = steering.selections if steering.is_listed else tuple(repeat(steering.selection, farthest))
    layer: Iterable[Iri] = [node for node, distance in topology.nodes.items() if not distance]
    before: list[dict[Iri, Iri]] = []
    for hop, selection in enumerate(selections, 1):
        arrived: dict[Iri, Iri] = {}
        for node in deadline.checking(sorted(layer, key=prefixes.declared_form)):
            for edge in touching[node]:
                other = other_end(node, edge)
                is_farther = steering.is_listed or topology.nodes[other] == hop
                if is_farther and selection.selects(node, edge):
                    arrived.setdefault(other, node)
        before.append(arrived)
        layer = arrived
    return before


def walk_of(iri: Iri) -> Walk:
    """Return the walk for which an IRI stands."""
    return tuple(Step((predicate,), is_inverse) for predicate, is_inverse in walk_steps(iri))


def turned(walk: Walk) -> Walk:
    """Return the walk from the end of another one to its beginning."""
    return tuple(Step(step.predicates, not step.is_inverse) for step in reversed(walk))


class WalkEdges(DelegatingStore):
    """A graph whose predicates may be walks; see `gateway.graph.store.GraphStore` for what each method promises."""

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, those among them that stand for walks."""
        outgoing, incoming = _walks(selection.outgoing), _walks(selection.incoming)
        if not (outgoing or incoming):
            return await self._inner.edges(ids, call, selection=selection, per_id=per_id, on_answers=on_answers)
        others = EdgeSelection(_without_walks(selection.outgoing), _without_walks(selection.incoming))
        async with together() as tasks:
            walks = tasks.create_task(self._along(ids, outgoing, incoming, call))
            found = (
                {node: Neighbourhood() for node in ids}
                if others == EdgeSelection((), ())
                else await self._inner.edges(ids, call, selection=others, per_id=per_id)
            )
        whole = {node: joined([(others, found[node]), *walks.result()[node]]) for node in found}
        return whole if per_id is None else {node: _capped(one, per_id) for node, one in whole.items()}

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Return the number of edges of each node; walks are read to be counted."""
        if not (_walks(selection.outgoing) or _walks(selection.incoming)):
            return await self._inner.degrees(ids, at_most, call, selection=selection)
        around = await self.edges(ids, call, selection=selection)
        return {
            node: Degree(min(len(one.edges), at_most + 1), len(one.edges) <= at_most and one.mark.whole, _counted(one))
            for node, one in around.items()
        }

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges from each node into a set; walks lead from seeds alone, and not among what they reach."""
        rest = predicates if predicates is None else _without_walks(predicates)
        if rest == () and predicates:
            return {node: Neighbourhood() for node in ids}
        return await self._inner.edges_among(ids, inside, call, predicates=rest)

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge; about one that stands for a walk there are none."""
        stated = [edge for edge in edges if not is_walk(edge.predicate)]
        found = await self._inner.edge_metadata(stated, call) if stated else {}
        return {edge: found.get(edge, _NO_EVIDENCE) for edge in edges}

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate; a walk has none."""
        named = [iri for iri in ids if not is_walk(iri)]
        found = await self._inner.predicates(named, call) if named else {}
        return {iri: found.get(iri, _NO_FACTS) for iri in ids}

    async def _along(
        self, ids: Sequence[Iri], outgoing: Collection[Iri], incoming: Collection[Iri], call: Call
    ) -> Mapping[Iri, Sequence[Reading]]:
        """Return the edges that stand for walks, by each of the walks."""
        directed = [(iri, walk_of(iri), False) for iri in outgoing] + [
            (iri, turned(walk_of(iri)), True) for iri in incoming
        ]
        async with together() as tasks:
            readings = [
                (iri, is_in, tasks.create_task(self._inner.ends(ids, walk, call))) for iri, walk, is_in in directed
            ]
        found: dict[Iri, list[Reading]] = {node: [] for node in ids}
        for iri, is_in, reading in readings:
            selection = EdgeSelection((), (iri,)) if is_in else EdgeSelection((iri,), ())
            for node, ends in reading.result().items():
                found[node].append((selection, _edges_of(node, iri, ends, is_in=is_in)))
        return found


_NO_EVIDENCE = Evidence()
_NO_FACTS = NodeFacts()


def _edges_of(node: Iri, walk: Iri, ends: Ends, *, is_in: bool) -> Neighbourhood:
    nodes = [end for end in ends.ends if isinstance(end, str)]
    edges = tuple(Edge(end, walk, node) if is_in else Edge(node, walk, end) for end in nodes)
    return Neighbourhood(edges, ends.blank, ends.mark)


def _capped(one: Neighbourhood, per_id: int) -> Neighbourhood:
    """Return any so many edges of a node."""
    if len(one.edges) <= per_id:
        return one
    return replace(
        one,
        edges=one.edges[:per_id],
        mark=Mark(EdgesCapped("A node has more edges than are shown."), at_least=len(one.edges)),
    )


def _counted(one: Neighbourhood) -> Mark:
    """Return the mark of a count: one that is known in part is a lower bound."""
    return Mark() if one.mark.answered else one.mark


def _walks(predicates: Iterable[Iri] | None) -> list[Iri]:
    return [iri for iri in predicates or () if is_walk(iri)]


def _without_walks(predicates: Iterable[Iri] | None) -> tuple[Iri, ...] | None:
    return None if predicates is None else tuple(iri for iri in predicates if not is_walk(iri))
