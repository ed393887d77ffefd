"""Reads what `describe_schema` tells of values and of the shapes of types, within the budget of the call that asks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from gateway.errors import EdgesCapped, Fault
from gateway.graph.call import Call, together
from gateway.graph.shapes import Instance, ReadShape, TypeShape, ValuePredicates, shape_of
from gateway.graph.store import GraphStore
from gateway.graph.values import EdgeSelection, Iri, Neighbourhood, NodeFacts, Term
from gateway.schema.types import Subclasses
from gateway.schema.view import SchemaView, TermLookup
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

_TIME_FOR_VALUES = 0.2
"""The share of the time for the first look at the schema that the predicates of literals may take beside it, which
every first look at a graph pays; where a call names one, and would fail without them, it may be all."""

_AGAIN_SECONDS = 60.0
"""After which they are asked for again where they could not be read."""

_INSTANCES = 600
_MOST_INSTANCES = 200
_FEWEST_INSTANCES = 20
"""Instances of all types together that are looked at in a small graph, of one type at most, and at least; in a larger
one half as many, because each takes longer there."""

_SMALL = 500_000
"""Triples of a small graph."""

_OUTGOING = 200
_INCOMING = 50
"""Edges of one instance that are looked at: hubs have many incoming ones."""

_ENDS = 2_000
"""Nodes at the other ends of edges whose types are read."""

_FEWEST_ENDS = 3
"""Such nodes of one predicate at least."""

_SHAPES = 200
"""Shapes that are stored."""

_LANGUAGES = 8
"""Languages in which names of the predicates of literals are stored."""


@dataclass(frozen=True, slots=True)
class Values:
    """The predicates of literals.

    Attributes:
        found: The predicates.
        labels: Their names in the language of the call that asks, where IDs are opaque.
    """

    found: ValuePredicates
    labels: Mapping[Iri, str]


@dataclass(frozen=True, slots=True)
class ValueTerms:
    """What the predicates of literals are called.

    Attributes:
        by_name: The predicates that are known, by every name.
        are_all: Whether there are no others.
        with_lists: Those of which some values are lists, whose members may be nodes.
        of_content: Those of which all values are content of class expressions, or lists of nodes.
        fault: Why they could not be read, or their names; None if they were.
    """

    by_name: TermLookup
    are_all: bool = False
    with_lists: frozenset[Iri] = frozenset()
    of_content: frozenset[Iri] = frozenset()
    fault: Fault | None = None


class ShapeReader:
    """Reads values and shapes, and stores them for as long as the schema that was read with them."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._types = profile.edges.types
        self._seconds = profile.limits.schema_seconds
        self._are_opaque = profile.names.on_stubs
        self._prefixes = prefixes
        self._subclasses = Subclasses(store, prefixes)
        self._reading = asyncio.Lock()
        self._read_at: float | None = None
        self._values: ValuePredicates | None = None
        # By the language that a call asks for, as everything here that has names.
        self._value_labels: LRUCache[str, Mapping[Iri, str]] = LRUCache(_LANGUAGES)
        self._value_terms: LRUCache[str, TermLookup] = LRUCache(_LANGUAGES)
        self._shapes: LRUCache[tuple[str, Iri], ReadShape] = LRUCache(_SHAPES)
        self._failed_until = 0.0
        self._fault: Fault | None = None

    def forget(self) -> None:
        """Read everything again."""
        self._values = None
        self._failed_until = 0.0
        self._value_labels.clear()
        self._value_terms.clear()
        self._shapes.clear()

    def known_values(self, view: SchemaView) -> Values | None:
        """Return the predicates of literals if they were read, with their names in the profile's languages."""
        self._keep_for(view)
        return None if self._values is None else Values(self._values, self._value_labels.get("", {}))

    async def values(self, view: SchemaView, call: Call) -> Values | None:
        """Return the predicates of literals; None where they or their names could not be read in time."""
        found = await self._found(view, call, _TIME_FOR_VALUES * self._seconds)
        if found is None:
            return None
        try:
            with call.within(_TIME_FOR_VALUES * self._seconds):
                return Values(found, await self._labels_of_values(found, call))
        except Fault:
            return None

    async def value_terms(self, view: SchemaView, call: Call, *, only_known: bool = False) -> ValueTerms:
        """Return the predicates of literals, as far as they are known or can be read, by every name."""
        self._keep_for(view)
        found = self._values if only_known else await self._found(view, call, self._seconds, are_named=True)
        if found is None:
            return ValueTerms(TermLookup("predicate", (), self._prefixes, comprehensive=False), fault=self._fault)
        by_name, fault = self._value_terms.get(call.language), None
        if by_name is None:
            by_name, fault = await self._by_name(found, call)
            if fault is None and found is self._values:
                self._value_terms[call.language] = by_name
        with_lists = frozenset(one.iri for one in found.predicates if one.tally.has_lists)
        of_content = frozenset(one.iri for one in found.predicates if one.tally.is_content)
        return ValueTerms(by_name, found.counted, with_lists, of_content, fault)

    async def named_values(self, view: SchemaView, call: Call) -> Sequence[Term]:
        """Return the predicates of literals that were read, with their labels and aliases as far as there is time."""
        self._keep_for(view)
        if self._values is None:
            return ()
        with call.within(_TIME_FOR_VALUES * self._seconds):
            return (await self.value_terms(view, call)).by_name.terms

    async def _found(
        self, view: SchemaView, call: Call, seconds: float, *, are_named: bool = False
    ) -> ValuePredicates | None:
        # Whoever waits here is told what the other call reads.
        async with self._reading:
            self._keep_for(view)
            clock = call.deadline.clock
            if self._values is None and (are_named or clock() >= self._failed_until):
                try:
                    with call.within(seconds):
                        self._values = await self._store.value_predicates(view.schema, call)
                    self._fault = None
                except Fault as fault:
                    self._fault = fault
                    self._failed_until = clock() + _AGAIN_SECONDS
            return self._values

    async def _by_name(self, found: ValuePredicates, call: Call) -> tuple[TermLookup, Fault | None]:
        """Return predicates by every name, with why not all names could be read.

        A call that asks for a language may use the names in the profile's languages too, as of predicates of edges.
        """
        iris = [one.iri for one in found.predicates]
        terms: list[Term] = []
        fault: Fault | None = None
        for language in dict.fromkeys([call.language, ""]):
            with call.in_language(language):
                facts = await self._store.predicates(iris, call) if iris else {}
            terms += [Term(iri, None, facts[iri].name, facts[iri].aliases) for iri in iris]
            fault = fault or next((fact.mark.fault for fact in facts.values() if fact.mark.fault is not None), None)
        return TermLookup("predicate", terms, self._prefixes, comprehensive=found.counted), fault

    async def _labels_of_values(self, found: ValuePredicates, call: Call) -> Mapping[Iri, str]:
        labels = self._value_labels.get(call.language)
        if labels is None:
            labels, are_all = await self._labels([one.iri for one in found.predicates], call)
            if are_all and found is self._values:
                self._value_labels[call.language] = labels
        return labels

    async def shapes(self, types: Sequence[Iri], view: SchemaView, call: Call) -> tuple[list[ReadShape], list[str]]:
        """Return the shapes of some types, with warnings about those that could not be read."""
        self._keep_for(view)
        warnings: list[str] = []
        language = self._language_of_shapes(call)
        new = [iri for iri in types if (language, iri) not in self._shapes]
        if new:
            try:
                with call.reserving(requests=0.0, time=0.2):
                    warnings += await self._read(new, view, call)
            except Fault as fault:
                warnings.append(shapes_unread(fault.wrong))
        return [self._shapes[language, iri] for iri in types if (language, iri) in self._shapes], warnings

    def _language_of_shapes(self, call: Call) -> str:
        """Return the language of the names in shapes, which have some only where IDs are opaque."""
        return call.language if self._are_opaque else ""

    def _keep_for(self, view: SchemaView) -> None:
        if view.schema.basis.read_at != self._read_at:
            self.forget()
            self._read_at = view.schema.basis.read_at

    async def _read(self, types: Sequence[Iri], view: SchemaView, call: Call) -> list[str]:
        """Read the shapes of some types.

        Raises:
            Fault: The graph could not be asked.
        """
        most = min(_MOST_INSTANCES, _INSTANCES // len(types))
        if not view.schema.exact or (view.schema.basis.triples or 0) > _SMALL:
            most //= 2
        most = max(_FEWEST_INSTANCES, most)
        async with together() as tasks:
            listing = [tasks.create_task(self._listed(iri, most, view, call)) for iri in types]
        listed = [task.result() for task in listing]
        instances = await self._instances(list(dict.fromkeys(node for one in listed for node in one.nodes)), call)
        shapes = []
        for iri, one in zip(types, listed, strict=True):
            read = [instances[node] for node in one.nodes if node in instances]
            shapes.append(shape_of(iri, one.subclasses, one.total, read, frozenset(self._types)))
        facts = await self._ends(shapes, call)
        labels, _ = await self._labels([predicate for shape in shapes for predicate, _ in shape.predicates], call)
        language = self._language_of_shapes(call)
        for shape in shapes:
            if shape.read or shape.total == 0:
                self._shapes[language, shape.iri] = ReadShape(shape, facts, labels)
        unread = [shape.iri for shape in shapes if (language, shape.iri) not in self._shapes]
        warnings = [warning for one in listed for warning in one.warnings]
        return [*warnings, *([shapes_unread(self._prefixes.listed(unread))] if unread else [])]

    async def _listed(self, iri: Iri, most: int, view: SchemaView, call: Call) -> _Listed:
        """Return some instances of a type, or all."""
        widened, warnings = await self._subclasses.widened("node_types", {iri}, call)
        subclasses = sorted(widened - {iri})
        if view.comprehensive:
            # What has no instances of its own need not be asked for.
            subclasses = [subclass for subclass in subclasses if not view.types.unlisted([subclass])]
        hits = await self._store.of_types([iri, *subclasses], call, at_most=most)
        nodes = sorted({hit.iri for hit in hits.hits})
        counts = {term.iri: term.count for term in view.schema.types} if view.schema.exact else {}
        total = len(nodes) if not hits.truncated else None if subclasses else counts.get(iri)
        return _Listed(nodes, total, tuple(subclasses), warnings)

    async def _instances(self, nodes: Sequence[Iri], call: Call) -> dict[Iri, Instance]:
        """Return what each node has, without those that could not be read."""
        async with together() as tasks:
            describing = tasks.create_task(self._store.node_metadata(nodes, call, blank_nodes=True, precise=False))
            leaving = tasks.create_task(
                self._store.edges(nodes, call, selection=EdgeSelection(None, ()), per_id=_OUTGOING)
            )
            arriving = tasks.create_task(
                self._store.edges(nodes, call, selection=EdgeSelection((), None), per_id=_INCOMING)
            )
        described, outgoing, incoming = describing.result(), leaving.result(), arriving.result()
        found = {}
        for node in nodes:
            description, out, into = described[node], outgoing[node], incoming[node]
            if description.mark.whole and _is_usable(out) and _is_usable(into):
                found[node] = Instance(
                    node,
                    description.properties,
                    out.edges,
                    into.edges,
                    (out.mark.whole and not description.left_out, into.mark.whole),
                )
        return found

    async def _ends(self, shapes: Sequence[TypeShape], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the types, and where IDs are opaque the names, of nodes at the other ends, of each predicate some."""
        lists = [tally.ends for shape in shapes for tally in shape.predicates.values() if tally.ends]
        every = dict.fromkeys(node for ends in lists for node in ends)
        if len(every) > _ENDS:
            most = max(_FEWEST_ENDS, _ENDS // len(lists))
            every = dict.fromkeys(node for ends in lists for node in sorted(ends)[:most])
        return await self._store.nodes(list(every), call, names=self._are_opaque) if every else {}

    async def _labels(self, predicates: Sequence[Iri], call: Call) -> tuple[Mapping[Iri, str], bool]:
        """Return the names of predicates where IDs are opaque, and whether these are all."""
        distinct = list(dict.fromkeys(predicates))
        if not self._are_opaque or not distinct:
            return {}, True
        facts = await self._store.predicates(distinct, call)
        names = {iri: fact.name for iri, fact in facts.items() if fact.name}
        return names, all(fact.mark.whole for fact in facts.values())


@dataclass(frozen=True, slots=True)
class _Listed:
    """Instances of a type: how many there are where that is known, and its subclasses, whose instances are theirs."""

    nodes: Sequence[Iri]
    total: int | None
    subclasses: tuple[Iri, ...]
    warnings: Sequence[str]


def _is_usable(neighbourhood: Neighbourhood) -> bool:
    return neighbourhood.mark.whole or isinstance(neighbourhood.mark.fault, EdgesCapped)


# --- sentences that a model reads ---


def shapes_unread(what: str) -> str:
    """Return a warning: the shapes of some types could not be read."""
    return f"node_types: not all shapes could be read: {what.rstrip('.')}. Ask again for fewer types."
