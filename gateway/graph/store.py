"""The port: the batched primitives that the engine calls (docs/architecture.md, "The port and its marks")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from gateway.graph.call import Call
from gateway.graph.name_reader import NameReader, OnProgress
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
    """A graph that is read in batches.

    A per-ID answer has an entry for each ID of the batch, with a mark that says whether the entry is whole. A fault
    that concerns some IDs is in their marks: it is never raised, and never reads as an absence.
    """

    async def edges(
        self, ids: Sequence[Iri], call: Call, *, per_id: int | None = None, on_answers: OnAnswers | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming.

        Args:
            ids: The nodes.
            call: The call that asks.
            per_id: Edges of one node at most; None for all. A node that has more is marked as cut: its edges are any of
                them, and its triples with blank nodes are not counted.
            on_answers: Receives the parts of the answer that arrive after the last query was sent, before the whole
                answer is returned. The caller can use the idle connections for other queries.
        """
        ...

    async def degrees(self, ids: Sequence[Iri], at_most: int, call: Call) -> Mapping[Iri, Degree]:
        """Return the number of edges of each node, counted up to `at_most` and one more."""
        ...

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        ...

    async def edges_among(self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set."""
        ...

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Return which nodes are subject or object of a triple."""
        ...

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Return which nodes are subject of a triple."""
        ...

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description on request."""
        ...

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate: its own, or that of the entity that the profile maps it to."""
        ...

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class, by the subclass predicates of the profile."""
        ...

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return the properties of each node that count its mentions, and no others."""
        ...

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return the properties of each node that are not edges.

        Args:
            ids: The nodes.
            call: The call that asks.
            blank_nodes: Whether to include the content of blank nodes.
            precise: Whether to include the precisions of dates and the units of quantities, if the graph has any.
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

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names and synonyms.

        The search looks for names with every word; if there are none, for names with some of the words. If the graph is
        too large to compare every name, the result is not exhaustive.

        Args:
            terms: The text to look for.
            types: Only entities with one of these types; empty for all.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities with a name or synonym that equals a text, in any case.

        Args:
            text: The name.
            types: Only entities with one of these types; empty for all.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    def name_reader(self) -> NameReader | None:
        """Return the reader of all names; None if the store cannot list them: no index can be built."""
        ...

    def prepare(self) -> None:
        """Start background work that the first calls would otherwise wait for."""
        ...

    async def prepared(self, on_progress: OnProgress) -> None:
        """Wait until the background work is done; start it if `prepare` did not.

        Args:
            on_progress: Called after each page of names that is read.
        """
        ...

    def forget(self) -> None:
        """Forget the content of the graph; facts about the endpoint stay."""
        ...

    async def close(self) -> None:
        """Close connections and stop threads."""
        ...
