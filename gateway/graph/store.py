"""The port itself: the batched primitives that the engine is built on (design, "The port")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from gateway.graph.call import Call
from gateway.graph.name_reader import NameReader
from gateway.graph.values import (
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    Evidence,
    Existence,
    Hits,
    Iri,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
    SearchTerms,
)

OnAnswers = Callable[[Mapping[Iri, Neighbourhood]], None]
"""Receives a part of an answer."""


class GraphStore(Protocol):
    """A graph, asked in batches.

    Every per-ID answer has an entry for each ID that was asked and says in its mark whether it is whole. A fault
    that concerns some IDs is in their marks; it is never raised, and it is never an absence.
    """

    async def edges(
        self, ids: Sequence[Iri], call: Call, *, per_id: int | None = None, on_answers: OnAnswers | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming.

        Args:
            ids: The nodes.
            call: The call that asks.
            per_id: Edges of one node at most; a node that has more is marked as cut, its edges are any of them, and
                its triples with blank nodes are not counted. All edges where not given.
            on_answers: Receives the parts of the answer that arrive after the last query was sent, before the whole
                answer is returned. The caller can use the idle connections for other queries.
        """
        ...

    async def degrees(self, ids: Sequence[Iri], at_most: int, call: Call) -> Mapping[Iri, Degree]:
        """Count the edges of each node, up to a bound: a node that has more is said to have at least one more."""
        ...

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        ...

    async def edges_among(self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set."""
        ...

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes are subject or object of a triple."""
        ...

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes are subject of a triple: those that something is said about."""
        ...

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description where those are asked for."""
        ...

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate: its own, or that of the entity that the profile says it stands for."""
        ...

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class, by the predicates that the profile names for it."""
        ...

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return only what says how often each node is mentioned."""
        ...

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return what is known about each node beside its edges.

        Args:
            ids: The nodes.
            call: The call that asks.
            blank_nodes: Whether the content of blank nodes is wanted.
            precise: Whether the precisions of dates and the units of quantities are wanted, where the graph has some.
        """
        ...

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        ...

    async def quick_schema(self, call: Call) -> Schema:
        """Return the types and edge predicates that a short reading finds; all of them if the graph is small.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def schema(self, call: Call) -> Schema:
        """Return the types and edge predicates of the graph by reading every triple, as far as the profile allows.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def search(self, sought: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names and synonyms.

        Names that have every word are looked for, and where there are none, names that have some. A graph may be too
        large for comparing every name; the answer then says so, and proves nothing about what it does not have.

        Args:
            sought: What is looked for.
            types: Only entities with one of these types; empty for all.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities that have a name or synonym which is this text, in one case or another.

        Args:
            text: The name.
            types: Only entities with one of these types; empty for all.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    def name_reader(self) -> NameReader | None:
        """Return the reader of all names; None if the store cannot list them, so that no index can be made."""
        ...

    def prepare(self) -> None:
        """Begin to make ready, in the background, what the first calls would otherwise wait for."""
        ...

    def forget(self) -> None:
        """Forget what was remembered of the graph's content; what was learnt about the endpoint stays."""
        ...

    async def close(self) -> None:
        """Let go of connections and threads."""
        ...
