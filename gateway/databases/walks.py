"""Where walks end that begin at nodes of a database, and where those begin that end at some nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gateway.databases.client import DatabaseClient, DatabaseReader, Remembered
from gateway.databases.edges import EdgeReader
from gateway.databases.nodes import NodeContent, NodeReader
from gateway.databases.search import TypedNodeReader, no_id
from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import in_thread
from gateway.graph.values import WHOLE, BlankNode, Edge, EdgeSelection, Iri, Mark, Neighbourhood, Properties, Resource
from gateway.graph.walks import Ends, Step, Walk, expressions_in, in_lists
from gateway.terms.iri import ARRAY, ORDER, is_skolem, not_sendable
from gateway.terms.literals import Literal


@dataclass(frozen=True, slots=True)
class NestedValue:
    """A nested value of a node.

    Attributes:
        content: It.
        number: Which value of its predicate it is: two that are equal are two blank nodes.
        predicate: The predicate that leads to it.
        owner: The place whose value it is.
    """

    content: BlankNode = field(compare=False)
    number: int
    predicate: Iri
    owner: Place


Place = Iri | NestedValue

Reached = Place | Literal


@dataclass(frozen=True, slots=True)
class Places:
    """Where a step leads from one place, or a walk from one node.

    Attributes:
        found: The places, and literals where it is the last step, with the number of ways to each.
        mark: Whether these are all.
    """

    found: Mapping[Reached, int]
    mark: Mark = WHOLE


def values_of(owner: Place, properties: Properties, predicates: tuple[Iri, ...]) -> Iterator[Reached]:
    """Yield where some predicates lead from a place by its properties.

    Args:
        owner: The place.
        properties: Its properties.
        predicates: The predicates.
    """
    for predicate in predicates:
        for number, value in enumerate(properties.get(predicate, ())):
            match value:
                case Literal():
                    yield value
                case Resource(iri):
                    yield iri
                case BlankNode():
                    yield NestedValue(value, number, predicate, owner)


def mentions_of(owner: Place, properties: Properties, step: Step) -> Iterator[tuple[Iri, Place]]:
    """Yield each node that properties of a place lead to by a predicate of a step, with the place whose value it is.

    Args:
        owner: The place.
        properties: Its properties, whose nested values are looked at, too.
        step: The step.
    """
    for predicate, values in properties.items():
        for number, value in enumerate(values):
            if isinstance(value, BlankNode):
                nested = NestedValue(value, number, predicate, owner)
                yield from mentions_of(nested, value.properties, step)
            elif isinstance(value, Resource) and predicate in step.predicates:
                yield value.iri, owner


def owner_of(place: NestedValue, step: Step) -> Iterator[Place]:
    """Yield the place whose value a nested value is, if a predicate of a step leads from there to it."""
    if place.predicate in step.predicates:
        yield place.owner


_FEW = 4_000
"""Places that are looked at in some milliseconds."""

_NOWHERE = Places({})


class WalkReader(DatabaseReader):
    """Follows walks through one graph."""

    def __init__(self, client: DatabaseClient, *, edges: EdgeReader, nodes: NodeReader, typed: TypedNodeReader) -> None:
        super().__init__(client)
        self._types = frozenset(client.profile.edges.types)
        self._edges = edges
        self._nodes = nodes
        self._typed = typed
        self._object_keys: Remembered[frozenset[Iri] | None] = Remembered(
            client.profile.cache.ttl_seconds, client.clock
        )

    def forget(self) -> None:
        """Look up again, with the next question, which properties have objects."""
        self._object_keys.forget()

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Return where a walk ends; see `GraphStore.ends`."""
        reached = await self._reached(ids, walk, call, with_members=ways)
        return {node: _ends_of(places) for node, places in reached.items()}

    async def origins(self, ids: Sequence[Iri], walk: Walk, call: Call) -> Mapping[Iri, Ends]:
        """Return the nodes at which a walk begins that ends at each node."""
        steps = [replace(step, is_inverse=not step.is_inverse) for step in reversed(walk)]
        return {node: _ends_of(places) for node, places in (await self._reached(ids, steps, call)).items()}

    async def _reached(
        self, ids: Sequence[Iri], steps: Sequence[Step], call: Call, *, with_members: bool = False
    ) -> Mapping[Iri, Places]:
        """Return the places to which steps lead, with the members of lists in the place of lists where asked."""
        reached = {node: Places({node: 1}) for node in ids}
        for step in steps:
            places = list({place: None for one in reached.values() for place in one.found})
            try:
                led = await self._led(places, step, call)
                if with_members:
                    led = {place: _with_members(one) for place, one in led.items()}
                few = sum(len(led[place].found) for one in reached.values() for place in one.found) <= _FEW
                reached = await in_thread(call, partial(_joined, reached, led), unless=few)
            except Fault as fault:
                return {node: Places({}, Mark(fault)) for node in reached}
        return reached

    async def _led(self, places: Sequence[Reached], step: Step, call: Call) -> Mapping[Reached, Places]:
        nodes = [place for place in places if isinstance(place, str)]
        led = await (self._into if step.is_inverse else self._out)(nodes, step, call)
        nested: dict[Reached, Places] = {
            place: _from_nested(place, step) for place in places if isinstance(place, NestedValue)
        }
        return {**dict.fromkeys(places, _NOWHERE), **led, **nested}

    async def _out(self, nodes: Sequence[Iri], step: Step, call: Call) -> Mapping[Reached, Places]:
        predicates = () if isinstance(step.predicates, str) else step.predicates
        found = _Found(nodes)
        if predicates:
            selection = EdgeSelection(outgoing=tuple(sorted(predicates)), incoming=())
            found.add_edges(await self._edges.around(nodes, call, selection=selection), lambda edge: edge.object)
        contents = await self._nodes.contents(nodes, call)
        for node, content in contents.items():
            found.add(node, _values(node, content, step), content.mark)
            if self._leads_to_types(step):
                found.add(node, content.types, content.types_mark)
        return found.places()

    async def _into(self, nodes: Sequence[Iri], step: Step, call: Call) -> Mapping[Reached, Places]:
        predicates = () if isinstance(step.predicates, str) else step.predicates
        found = _Found(nodes)
        if predicates:
            selection = EdgeSelection(outgoing=(), incoming=tuple(sorted(predicates)))
            around = await self._edges.around(nodes, call, selection=selection)
            found.add_edges(around, lambda edge: edge.subject)
            if await self.have_objects(predicates, call):
                await self._add_mentions(found, nodes, step, call)
        if self._leads_to_types(step):
            for node in nodes:
                try:
                    found.add(node, *await self._typed.of_types([node], call))
                except Fault as fault:
                    found.add(node, (), Mark(fault))
        return found.places()

    async def _add_mentions(self, found: _Found, nodes: Sequence[Iri], step: Step, call: Call) -> None:
        """Add the places whose properties lead to some nodes."""
        rows = (await self._client.rows("mentioning", call, self._ids.texts_of(nodes))).whole()
        owners = list(dict.fromkeys(self._ids.iri(node) for (node,) in rows))
        wanted = frozenset(nodes)
        for owner, content in (await self._nodes.contents(owners, call)).items():
            if not content.mark.whole:
                for node in nodes:
                    found.add(node, (), content.mark)
            for target, place in mentions_of(owner, content.properties, step):
                if target in wanted:
                    found.add(target, [place])

    def _leads_to_types(self, step: Step) -> bool:
        return step.predicates == "type" or not self._types.isdisjoint(step.predicates)

    async def have_objects(self, predicates: Iterable[Iri], call: Call) -> bool:
        """Return whether properties of some predicates may have objects.

        Raises:
            Fault: It could not be found out.
        """
        keys = await self._object_keys.found(partial(self._looked_up, call))
        return keys is None or not keys.isdisjoint(predicates)

    async def _looked_up(self, call: Call) -> frozenset[Iri] | None:
        """Return the predicates whose values may be objects; None for any."""
        rows = (await self._client.rows("object_keys", call)).whole()
        return None if any(key is None for (key,) in rows) else frozenset(self._terms.iri(key) for (key,) in rows)


class _Found:
    """Where a step leads from each of some nodes, as it becomes known."""

    def __init__(self, nodes: Sequence[Iri]) -> None:
        self._places: dict[Iri, dict[Reached, int]] = {node: {} for node in nodes}
        self._marks: dict[Iri, list[Mark]] = {node: [] for node in nodes}

    def add(self, node: Iri, places: Iterable[Reached], mark: Mark = WHOLE) -> None:
        """Add places to which a step leads from a node, of which some may be missing."""
        self._places[node].update(dict.fromkeys(places, 1))
        if not mark.whole:
            self._marks[node].append(mark)

    def add_edges(self, around: Mapping[Iri, Neighbourhood], other: Callable[[Edge], Iri]) -> None:
        """Add the other ends of edges."""
        for node, one in around.items():
            self.add(node, map(other, one.edges), one.mark)
            if one.left_out:
                self.add(node, (), Mark(no_id(), len(one.edges)))

    def places(self) -> Mapping[Reached, Places]:
        """Return all, those of each node with one mark."""
        return {node: Places(places, _mark(self._marks[node], len(places))) for node, places in self._places.items()}


def _mark(marks: Sequence[Mark], count: int) -> Mark:
    """Return the first of some marks; with what was found, it says that there is an answer."""
    if not marks:
        return WHOLE
    return Mark(marks[0].fault, count if count or marks[0].answered else None)


def _values(node: Iri, content: NodeContent, step: Step) -> Iterable[Reached]:
    """Return where a step leads by the properties of a node."""
    if step.predicates == "name":
        return content.names
    if step.predicates == "any":
        every = [value for values in content.properties.values() for value in values if isinstance(value, Literal)]
        return [*every, *content.names]
    if step.predicates == "type":
        # These have a mark of their own.
        return ()
    return values_of(node, content.properties, step.predicates)


def _from_nested(place: NestedValue, step: Step) -> Places:
    """Return where a step leads from a nested value."""
    if isinstance(step.predicates, str):
        return _NOWHERE
    if step.is_inverse:
        return Places(dict.fromkeys(owner_of(place, step), 1))
    found = dict.fromkeys(values_of(place, place.content.properties, step.predicates), 1)
    is_cut = place.content.cut
    return Places(found, Mark(QueryRefused("A nested value is deeper than is read."), len(found)) if is_cut else WHOLE)


def _with_members(places: Places) -> Places:
    lists = [place for place in places.found if isinstance(place, Literal) and place.datatype in {ARRAY, ORDER}]
    if not lists:
        return places
    nested: dict[Reached, int] = {place: 1 for place in places.found if isinstance(place, NestedValue)}
    # A class expression in a list is a blank node by itself.
    for one in lists:
        nested |= {NestedValue(BlankNode({}), at, ARRAY, one.value): 1 for at in range(expressions_in([one]))}
    ends = in_lists(place for place in places.found if not isinstance(place, NestedValue))
    return replace(places, found={**nested, **dict.fromkeys(ends, 1)})


def _joined(reached: Mapping[Iri, Places], led: Mapping[Reached, Places], deadline: Deadline) -> dict[Iri, Places]:
    """Return where walks stand after a step, by where it leads from each place."""
    joined: dict[Iri, Places] = {}
    for node, before in deadline.checking(reached.items(), at_once=10):
        after = Counter[Reached]()
        marks = [] if before.mark.whole else [before.mark]
        for place, ways in deadline.checking(before.found.items()):
            one = led[place]
            for end, count in one.found.items():
                after[end] += ways * count
            if not one.mark.whole:
                marks.append(one.mark)
        joined[node] = Places(after, _mark(marks, len(after)))
    return joined


def _ends_of(places: Places) -> Ends:
    """Return the places where a walk ends as the port has them."""
    ends = [place for place in places.found if not isinstance(place, NestedValue)]
    blank = len(places.found) - len(ends)
    content = sum(isinstance(place, NestedValue) and place.predicate == ARRAY for place in places.found)
    ways = {end: places.found[end] for end in ends if places.found[end] > 1}
    bad = {iri for iri in not_sendable(end for end in ends if isinstance(end, str)) if not is_skolem(iri)}
    if not bad:
        return Ends(tuple(ends), blank, places.mark, ways, content)
    sendable = tuple(end for end in ends if end not in bad)
    return Ends(sendable, blank, places.mark if not places.mark.whole else Mark(no_id(), len(sendable)), ways, content)
