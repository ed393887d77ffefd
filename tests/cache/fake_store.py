"""A graph store that records what it is asked, and answers when and as the test says."""

import asyncio
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.errors import EdgesCapped, Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.counts import EdgeCount, EdgeCounts
from gateway.graph.shapes import NO_VALUES, ValuePredicates
from gateway.graph.store import NameReader, OnAnswers, OnProgress
from gateway.graph.values import (
    ALL_EDGES,
    Assertion,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    EdgeSelection,
    Evidence,
    Existence,
    Hit,
    Hits,
    Identities,
    Iri,
    Mark,
    NamelessNodes,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
    SearchTerms,
)
from gateway.graph.walks import Aggregate, Aggregated, Ends, Selected, Selection, Totals, Walk
from gateway.terms.literals import Literal

WHOLE = Mark()


def call(seconds: float = 60.0, clock: Callable[[], float] = lambda: 0.0) -> Call:
    """Return an allowance with so much time; no time passes by itself."""
    return Call(Deadline.after(seconds, clock), 1_000, 1_000_000, 1_000_000)


def capped(most: int) -> Mark:
    """Return the mark of a node that shows so many edges and has more."""
    return Mark(EdgesCapped("More."), at_least=most + 1)


def _steered(selection: EdgeSelection) -> tuple[EdgeSelection, ...]:
    """Return what a selection adds to the name of a question."""
    return () if selection.is_all else (selection,)


@dataclass(eq=False)
class Fetch:
    """One question that reached the store.

    Attributes:
        number: The first is 0; it stands in every answer.
        name: The primitive and its parameters.
        keys: What it is about.
        call: The call that asks.
        marks: The marks of answers that are not whole, by key.
        ended: "answered", "cancelled" or "raised", once it has.
    """

    number: int
    name: tuple[Hashable, ...]
    keys: tuple[Any, ...]
    call: Call
    marks: dict[Hashable, Mark] = field(default_factory=dict)
    ended: str = ""
    _go: asyncio.Event = field(default_factory=asyncio.Event)
    _error: Exception | None = None

    def answer(self, marks: Mapping[Hashable, Mark] | None = None) -> None:
        """Let it be answered, under marks where that is not whole."""
        self.marks.update(marks or {})
        self._go.set()

    def fail(self, error: Exception) -> None:
        """Let it raise."""
        self._error = error
        self._go.set()

    async def _until_answered(self) -> None:
        try:
            await self._go.wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        if self._error is not None:
            self.ended = "raised"
            raise self._error
        self.ended = "answered"


class FakeStore:
    """A graph store in which every node has one edge, to a node that is named after the question.

    Attributes:
        fetches: Everything it was asked.
        waits: Whether a question waits until the test answers it.
        marks: Marks of the answers that are given at once, by key.
    """

    def __init__(self, *, waits: bool = False) -> None:
        self.fetches: list[Fetch] = []
        self.waits = waits
        self.marks: dict[Hashable, Mark] = {}
        self.fault: Fault | None = None
        self.schema_version = "1"
        self.forgotten = 0

    @property
    def asked(self) -> list[tuple[tuple[Hashable, ...], tuple[Any, ...]]]:
        """Everything it was asked, as names and keys."""
        return [(fetch.name, fetch.keys) for fetch in self.fetches]

    @property
    def under_way(self) -> list[Fetch]:
        """The questions that have not ended."""
        return [fetch for fetch in self.fetches if not fetch.ended]

    async def _ask(self, name: tuple[Hashable, ...], keys: Sequence[Any], call: Call) -> Fetch:
        fetch = Fetch(len(self.fetches), name, tuple(keys), call)
        self.fetches.append(fetch)
        if not self.waits:
            fetch.answer(self.marks)
        if self.fault is not None:
            fetch.fail(self.fault)
        await fetch._until_answered()  # noqa: SLF001 - the two are one
        return fetch

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,  # noqa: ARG002 - part of the port
    ) -> Mapping[Iri, Neighbourhood]:
        """Return one edge of each node, or as many as it may show."""
        fetch = await self._ask(("edges", per_id, *_steered(selection)), ids, call)
        return {node: self._neighbourhood(node, fetch, per_id) for node in ids}

    @staticmethod
    def _neighbourhood(node: Iri, fetch: Fetch, per_id: int | None) -> Neighbourhood:
        mark = fetch.marks.get(node, WHOLE)
        count = per_id if per_id is not None and isinstance(mark.fault, EdgesCapped) else int(mark.answered)
        edges = tuple(Edge(node, "urn:p", f"urn:seen:{fetch.number}:{place}") for place in range(count))
        return Neighbourhood(edges, 0, mark)

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count one edge for each node."""
        fetch = await self._ask(("degrees", at_most, *_steered(selection)), ids, call)
        return {node: Degree(1, mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node: one of a predicate that is named after the question."""
        fetch = await self._ask(("edge_counts",), ids, call)
        count = EdgeCount(f"urn:seen:{fetch.number}", incoming=False, count=1)
        return {node: EdgeCounts((count,), mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Reach one node from each."""
        fetch = await self._ask(("reach", hops), ids, call)
        return {node: Reach({node: 0, f"urn:seen:{fetch.number}": 1}, fetch.marks.get(node, WHOLE)) for node in ids}

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return no edge for any node."""
        name = ("edges_among", inside) if predicates is None else ("edges_among", inside, predicates)
        fetch = await self._ask(name, ids, call)
        return {node: Neighbourhood(mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Say that every node exists."""
        fetch = await self._ask(("existing",), ids, call)
        return {node: Existence(exists=True, mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Give every node another IRI."""
        fetch = await self._ask(("identities",), ids, call)
        return {node: Identities((f"urn:other:{fetch.number}",), fetch.marks.get(node, WHOLE)) for node in ids}

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Say that something is said about every node."""
        fetch = await self._ask(("subjects",), ids, call)
        return {node: Existence(exists=True, mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Give every node a type."""
        fetch = await self._ask(("nodes", names, descriptions), ids, call)
        return {node: NodeFacts((f"urn:type:{fetch.number}",), mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Give every predicate a name."""
        fetch = await self._ask(("predicates",), ids, call)
        return {iri: NodeFacts(name=f"name {fetch.number}", mark=fetch.marks.get(iri, WHOLE)) for iri in ids}

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Give every class a subclass."""
        fetch = await self._ask(("narrower",), ids, call)
        return {node: DirectSubclasses((f"urn:sub:{fetch.number}",), fetch.marks.get(node, WHOLE)) for node in ids}

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return a number for each node."""
        fetch = await self._ask(("mentions",), ids, call)
        return {node: self._description(node, fetch) for node in ids}

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return a number for each node."""
        fetch = await self._ask(("node_metadata", blank_nodes, precise), ids, call)
        return {node: self._description(node, fetch) for node in ids}

    @staticmethod
    def _description(node: Iri, fetch: Fetch) -> Description:
        return Description({"urn:p": (Literal(str(fetch.number)),)}, fetch.marks.get(node, WHOLE))

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return one assertion for each edge."""
        fetch = await self._ask(("edge_metadata",), edges, call)
        assertion = Assertion({"urn:p": (Literal(str(fetch.number)),)})
        return {edge: Evidence((assertion,), fetch.marks.get(edge, WHOLE)) for edge in edges}

    async def quick_schema(self, call: Call) -> Schema:
        """Return an empty schema."""
        return await self.schema(call)

    async def schema(self, call: Call) -> Schema:
        """Return an empty schema."""
        await self._ask(("schema",), (), call)
        return Schema(exact=True, version=self.schema_version)

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find one node."""
        fetch = await self._ask(("search", tuple(types)), terms.words, call)
        return Hits((Hit(f"urn:seen:{fetch.number}", terms.text, is_synonym=False),), truncated=False, how="fake")

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Lead from each node to one literal."""
        fetch = await self._ask(("ends", walk, ways), ids, call)
        return {node: Ends((Literal(f"{node} {fetch.number}"),), mark=fetch.marks.get(node, WHOLE)) for node in ids}

    async def select(self, selection: Selection, call: Call) -> Selected:
        """Select one node."""
        fetch = await self._ask(("select", selection), (), call)
        return Selected((f"urn:seen:{fetch.number}",))

    async def aggregates(self, asked: Sequence[Aggregate], call: Call) -> Mapping[Aggregate, Aggregated]:
        """Count the questions so far."""
        fetch = await self._ask(("aggregates",), asked, call)
        return {one: Aggregated({None: Totals(fetch.number)}, fetch.marks.get(one, WHOLE)) for one in asked}

    async def value_predicates(self, schema: Schema, call: Call) -> ValuePredicates:
        """Know none."""
        await self._ask(("value_predicates", schema), (), call)
        return NO_VALUES

    async def of_types(self, types: Sequence[Iri], call: Call, *, at_most: int | None = None) -> Hits:
        """List one node."""
        fetch = await self._ask(("of_types", *(() if at_most is None else (at_most,))), types, call)
        return Hits((Hit(f"urn:seen:{fetch.number}", "", is_synonym=False),), truncated=False, how="fake")

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find one node."""
        fetch = await self._ask(("named", tuple(types)), (text,), call)
        return Hits((Hit(f"urn:seen:{fetch.number}", text, is_synonym=False),), truncated=False, how="fake")

    async def nameless(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Know nothing of them."""
        await self._ask(("nameless", schema), (), call)
        return None

    async def has_blank_nodes(self, types: Sequence[Iri], call: Call, *, named: bool) -> bool:
        """Have none."""
        await self._ask(("has_blank_nodes", named), types, call)
        return False

    def has_degrees_at_hand(self) -> bool:
        """Return that nothing is counted unless it is asked for."""
        return False

    async def may_have_expressions(self, _call: Call) -> bool:
        """Return that there are none."""
        return False

    async def leading_to_nodes(self, predicates: Sequence[Iri], _call: Call) -> Collection[Iri]:
        """Return that any may."""
        return predicates

    async def may_have_lists(self, _walk: Walk, _call: Call) -> bool:
        """Have none."""
        return False

    def name_reader(self) -> NameReader | None:
        """Return none: it lists no names."""
        return None

    async def check_reachable(self, deadline: Deadline) -> None:
        """Be there."""

    def prepare(self) -> None:
        """Prepare nothing."""

    async def prepared(self, on_progress: OnProgress) -> None:
        """Wait for nothing."""

    def forget(self) -> None:
        """Count it."""
        self.forgotten += 1

    async def close(self) -> None:
        """Close nothing."""
