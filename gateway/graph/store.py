"""The port: what the engine asks of a graph (docs/architecture.md, "The port and its marks")."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from gateway.errors import QueryRefused
from gateway.graph.call import Call, Deadline
from gateway.graph.counts import EdgeCounts
from gateway.graph.shapes import ValuePredicates
from gateway.graph.values import (
    ALL_EDGES,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    EdgeSelection,
    Evidence,
    Existence,
    HitKind,
    Hits,
    Identities,
    Iri,
    NamelessNodes,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
    SearchTerms,
)
from gateway.graph.walks import Aggregate, Aggregated, Ends, Selected, Selection, Walk

OnAnswers = Callable[[Mapping[Iri, Neighbourhood]], None]
"""Receives a part of an answer."""

OnProgress = Callable[[int, int], Awaitable[None]]
"""Receives how many entities were read, and of how many."""

PortMethod = TypeVar("PortMethod", bound=Callable[..., Any])


class GraphStore(Protocol):
    """A graph that is read in batches.

    A per-ID answer has an entry for each ID of the batch, with a mark that says whether the entry is whole. A fault
    that concerns some IDs is in their marks: it is never raised, and never reads as an absence.
    """

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming.

        Args:
            ids: The nodes.
            call: The call that asks.
            selection: Which edges of each node are asked for, as seen from that node. The answer is about these alone:
                its mark, and its count of triples with blank nodes too.
            per_id: Edges of one node at most; None for all. A node that has more is marked as cut: its edges are any of
                them, and its triples with blank nodes are not counted.
            on_answers: Receives the parts of the answer that arrive after the last query was sent, before the whole
                answer is returned. The caller can use the idle connections for other queries.
        """
        ...

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Return the number of edges of each node, or of those selected, counted up to `at_most` and one more."""
        ...

    def has_degrees_at_hand(self) -> bool:
        """Return whether to count the edges of some nodes costs next to nothing: nobody else's endpoint is asked."""
        ...

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Return how many edges each node has by predicate and direction, with the first and last neighbour.

        For hubs: the edges are counted where they are, and not read.
        """
        ...

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        ...

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set.

        Args:
            ids: The nodes.
            inside: The set.
            call: The call that asks.
            predicates: Predicates of the edges asked for; None for all.
        """
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
        """Return the name and the synonyms of each predicate: its own, or those of the entity that it is mapped to."""
        ...

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class, by the subclass predicates of the profile."""
        ...

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return the IRIs by which other graphs may know each node, by the identity predicates of the profile."""
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
            precise: Whether to include the precisions of dates and the units of quantities, if the graph has any. Where
                they are not asked for, they may come all the same.
        """
        ...

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        ...

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Return where a walk ends that begins at each node.

        Its steps may be any predicates. No inner node states evidence; one may be a blank node. Its ends are nodes and
        literals.

        Args:
            ids: The nodes.
            walk: The walk.
            call: The call that asks.
            ways: Whether the ways to each end are counted.
        """
        ...

    async def select(self, selection: Selection, call: Call) -> Selected:
        """Return the nodes of some types that fulfil conditions, and perhaps others of these types.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def aggregates(self, asked: Sequence[Aggregate], call: Call) -> Mapping[Aggregate, Aggregated]:
        """Return what the engine computes over nodes of some types, where its answer proves that it is right."""
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

    async def value_predicates(self, schema: Schema, call: Call) -> ValuePredicates:
        """Return the predicates of literals, with how many nodes have each and some values; of a large graph, a sample.

        Args:
            schema: The schema of the graph, as far as it is known.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def of_types(self, types: Sequence[Iri], call: Call, *, at_most: int | None = None) -> Hits:
        """Return the entities of some types; of very many, any, and the result is truncated.

        The names in the hits are empty.

        Args:
            types: The types.
            call: The call that asks.
            at_most: Entities that are wanted; None for as many as a search reads.

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

    async def nameless(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name and no synonym; None if that could not be found out.

        Args:
            schema: The schema of the graph, as far as it is known.
            call: The call that asks.
        """
        ...

    async def has_blank_nodes(self, types: Sequence[Iri], call: Call, *, named: bool) -> bool:
        """Return whether there are blank nodes, among those that are no nodes, which a search could miss.

        Args:
            types: Only those with one of these types; empty for any, then `named`.
            call: The call that asks.
            named: Whether only those with a name are meant.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def leading_to_nodes(self, predicates: Sequence[Iri], call: Call) -> Collection[Iri]:
        """Return those of some predicates that may lead to nodes.

        Args:
            predicates: Predicates that the schema does not have.
            call: The call that asks.

        Raises:
            Fault: The graph could not be asked.
        """
        ...

    async def may_have_lists(self, walk: Walk, call: Call) -> bool:
        """Return whether a walk may lead to lists that say the order of their members (`gateway.terms.iri.ORDER`).

        Args:
            walk: The walk.
            call: The call that asks.
        """
        ...

    async def may_have_expressions(self, call: Call) -> bool:
        """Return whether edges may be what class expressions say, so that evidence says whether they hold.

        Args:
            call: The call that asks.
        """
        ...

    def name_reader(self) -> NameReader | None:
        """Return the reader of all names; None if the store cannot list them: no index can be built."""
        ...

    async def check_reachable(self, deadline: Deadline) -> None:
        """Ask a graph that is elsewhere something harmless, unless it answered a moment ago.

        No call pays for it. Without a fault the graph can be asked; one in this process always can.

        Raises:
            Fault: The graph could not be asked.
        """
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


@dataclass(frozen=True, slots=True)
class Name:
    """One name of one entity.

    Attributes:
        iri: The entity.
        text: The name.
        is_synonym: Whether it is a synonym.
        language: Its language tag in lower case; empty where it has none.
        kind: What of the entity it is.
        is_whole: Whether a search has to have all of it, because a part of it says nothing.
    """

    iri: Iri
    text: str
    is_synonym: bool
    language: str = ""
    kind: HitKind = "name"
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class NamesPage:
    """Names of one predicate: all names of each entity that is on the page.

    Attributes:
        names: The names.
        after: Where the next page begins, in words of the reader; None: there is no next page.
        missing: Names of entities on the page that are known to be there and did not come.
    """

    names: tuple[Name, ...]
    after: str | None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class EntityTypes:
    """The types of some entities.

    Attributes:
        types: The types of each.
        unknown: Entities whose types the endpoint cannot be asked for.
    """

    types: dict[Iri, tuple[Iri, ...]]
    unknown: frozenset[Iri]

    @classmethod
    def of(cls, facts: Mapping[Iri, NodeFacts]) -> EntityTypes:
        """Return the types of entities by what was read of these.

        Raises:
            Fault: Those of an entity that the endpoint can be asked for could not be read.
        """
        unknown = set()
        for entity, fact in facts.items():
            if isinstance(fact.mark.fault, QueryRefused):
                unknown.add(entity)
            elif fact.mark.fault is not None:
                raise fact.mark.fault
        return cls({entity: fact.types for entity, fact in facts.items()}, frozenset(unknown))


class NameReader(Protocol):
    """Lists the names of a graph. Every coroutine raises a `Fault` if the graph could not be asked."""

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates of names and of synonyms; they may change while the graph is in use."""
        ...

    async def find_predicates(self, call: Call) -> None:
        """Detect which predicates name nodes; a schema that is read does the same."""
        ...

    def use_predicates(self, schema: Schema) -> None:
        """Use what an earlier run found out about the names of the same graph."""
        ...

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever the predicates change: facts that were read before contain the old names."""
        ...

    async def counts(self, predicates: Sequence[Iri], allowance: Callable[[], Call]) -> Sequence[int]:
        """Return how many entities have a name by each of some predicates; each query has an allowance of its own."""
        ...

    async def page(self, predicate: Iri, after: str, call: Call) -> NamesPage:
        """Return the page of names that begins where another page said; the first page if `after` is empty."""
        ...

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        ...


class _Delegated:
    """The method of the store below, looked up each time: it costs no frame, and a subclass may define its own."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, store: DelegatingStore | None, _: type[DelegatingStore]) -> object:
        return self if store is None else getattr(store._inner, self._name)  # noqa: SLF001 - the two are one


def _delegated(method: PortMethod) -> PortMethod:
    """Return a method of the port that the store below answers."""
    return cast("PortMethod", _Delegated(method.__name__))


class DelegatingStore:
    """All methods of `gateway.graph.store.GraphStore`, answered by another store."""

    def __init__(self, inner: GraphStore) -> None:
        self._inner = inner

    edges = _delegated(GraphStore.edges)
    degrees = _delegated(GraphStore.degrees)
    has_degrees_at_hand = _delegated(GraphStore.has_degrees_at_hand)
    edge_counts = _delegated(GraphStore.edge_counts)
    reach = _delegated(GraphStore.reach)
    edges_among = _delegated(GraphStore.edges_among)
    existing = _delegated(GraphStore.existing)
    subjects = _delegated(GraphStore.subjects)
    nodes = _delegated(GraphStore.nodes)
    predicates = _delegated(GraphStore.predicates)
    narrower = _delegated(GraphStore.narrower)
    identities = _delegated(GraphStore.identities)
    mentions = _delegated(GraphStore.mentions)
    node_metadata = _delegated(GraphStore.node_metadata)
    edge_metadata = _delegated(GraphStore.edge_metadata)
    ends = _delegated(GraphStore.ends)
    select = _delegated(GraphStore.select)
    aggregates = _delegated(GraphStore.aggregates)
    quick_schema = _delegated(GraphStore.quick_schema)
    schema = _delegated(GraphStore.schema)
    search = _delegated(GraphStore.search)
    value_predicates = _delegated(GraphStore.value_predicates)
    of_types = _delegated(GraphStore.of_types)
    named = _delegated(GraphStore.named)
    nameless = _delegated(GraphStore.nameless)
    has_blank_nodes = _delegated(GraphStore.has_blank_nodes)
    leading_to_nodes = _delegated(GraphStore.leading_to_nodes)
    may_have_lists = _delegated(GraphStore.may_have_lists)
    may_have_expressions = _delegated(GraphStore.may_have_expressions)
    name_reader = _delegated(GraphStore.name_reader)
    check_reachable = _delegated(GraphStore.check_reachable)
    prepare = _delegated(GraphStore.prepare)
    prepared = _delegated(GraphStore.prepared)
    forget = _delegated(GraphStore.forget)
    close = _delegated(GraphStore.close)
