"""Filters: what they mean, and what they leave of a topology (docs/contract.md, "Traversal")."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway import messages
from gateway.answers.metadata import MetadataBuilder
from gateway.answers.names import Labeller, PageNames, Spared
from gateway.answers.shape import Shape
from gateway.arguments import BfsQuery, IntersectSubgraphs, TraversalArguments
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, computed_once, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts
from gateway.members.figures import NOT_SHOWN, Grouped, Grouping
from gateway.members.ordering import Ordered
from gateway.members.reading import (
    NOTHING_ASKED,
    ORDER_UNSURE,
    MemberQuestion,
    MemberReader,
    about_values,
    each_alone,
    no_nodes,
)
from gateway.schema.types import UNKNOWN, UNTYPED, Subclasses, TypeChooser
from gateway.schema.view import SchemaView, names_in_doubt
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.gaps import Gap, GapCollector
from gateway.traversal.steering import Steering, last_nodes, nodes_leading_to, nodes_on_the_way
from gateway.traversal.topology import Topology, levels_of

_KEEPS_WAYS = frozenset({"only_node_types", "where"})
"""Filters that leave a node which leads to one that is wanted."""

_NONE_MET: Mapping[Iri, str] = {}


@dataclass(frozen=True, slots=True)
class Filters:
    """The filter arguments of one call, resolved.

    Attributes:
        node_types: Types whose nodes come in full; None for all.
        predicates: Predicates whose edges come in full; None for all.
        excluded: Types whose nodes are removed.
        only: Types whose nodes stay; None for all.
        warnings: What a reader should know about the names used.
        has_details: Whether nodes come in full where no types are named for it: not where predicates were chosen, since
            who asks for one relation asks who stands in it.
        are_types_whole: Whether all types are known that are meant: every subclass and label could be read.
    """

    node_types: frozenset[str] | None
    predicates: frozenset[str] | None
    excluded: frozenset[str]
    only: frozenset[str] | None
    warnings: tuple[str, ...]
    has_details: bool = True
    are_types_whole: bool = True

    def details_node(self, chooser: TypeChooser, facts: NodeFacts) -> bool:
        """Return whether a node comes in full."""
        return (
            self.has_details if self.node_types is None else not self.node_types.isdisjoint(chooser.filterable(facts))
        )

    def details_edge(self, predicate: Iri) -> bool:
        """Return whether an edge with this predicate comes in full."""
        return self.predicates is None or predicate in self.predicates


NO_FILTERS = Filters(None, None, frozenset(), None, ())


def resolve(
    arguments: TraversalArguments,
    known: SchemaView,
    types: Mapping[Iri, str] = _NONE_MET,
    predicates: Mapping[Iri, str] = _NONE_MET,
    *,
    leaves_out: bool = True,
) -> Filters:
    """Resolve the names that the filter arguments use.

    Args:
        arguments: The arguments.
        known: The schema.
        types: Types of a topology, which count as known, each with its label if the schema does not have it.
        predicates: Predicates of a topology, likewise.
        leaves_out: Whether a type of `node_types` that matches nothing is left out, if another one matches.

    Raises:
        InputError: A name matches nothing, and the schema is comprehensive.
    """
    warnings: list[str] = []

    def chosen(
        argument: str, names: Sequence[str] | None, *, of_types: bool, leaves_out: bool = False
    ) -> frozenset[str] | None:
        if names is None:
            return None
        vocabulary, seen = (known.types, types) if of_types else (known.predicates, predicates)
        choice = vocabulary.choose(argument, names, seen, leaves_out=leaves_out)
        warnings.extend(choice.warnings)
        return choice.iris

    if not arguments.names_terms:
        return NO_FILTERS
    node_types = chosen("node_types", arguments.node_types, of_types=True, leaves_out=leaves_out)
    wanted = chosen("predicates", arguments.predicates, of_types=False)
    excluded = chosen("exclude_node_types", arguments.exclude_node_types, of_types=True)
    only = chosen("only_node_types", arguments.only_node_types, of_types=True)
    return Filters(node_types, wanted, excluded or frozenset(), only, tuple(warnings))


@dataclass(frozen=True, slots=True)
class Question:
    """What a call asks of a traversal, with its names resolved, and how it wants the answer.

    Attributes:
        arguments: The arguments.
        seeds: The seeds, merged ones replaced.
        steering: Which edges are followed.
        known: The schema by which the names of filters were resolved before the traversal.
        filters: What they mean by it.
        warnings: What a reader should know about how it was traversed.
        shape: The shape of the answer.
        limit: Bytes that the answer may have.
        names: The names of nodes on the page, as far as they have been read.
        call: The call.
        less: Bytes that a page may have where not all fits into the limit; None where as many as the answer.
        spared: The warnings that are needless on a page that shows what they say.
    """

    arguments: TraversalArguments
    seeds: Sequence[Iri]
    steering: Steering
    known: SchemaView
    filters: Filters
    warnings: Sequence[str]
    shape: Shape
    limit: int
    names: PageNames
    call: Call
    members: MemberQuestion = NOTHING_ASKED
    less: int | None = None
    spared: Spared = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Members:
    """The nodes that were asked about: by their values, or in rows.

    Attributes:
        nodes: Those that are left, in order.
        seeds_left_out: How many seeds of an intersection would be among them.
        order: By what they are ordered; None for that of the traversal.
        grouped: The groups in their place; None where none were asked for.
    """

    nodes: Sequence[Iri]
    seeds_left_out: int = 0
    order: Ordered | None = None
    grouped: Grouped | None = None


@dataclass(frozen=True)
class FilteredTopology:
    """What filters leave of a topology.

    Attributes:
        whole: The topology before the filters.
        known: The schema.
        filters: The filters.
        nodes: The nodes that are left, in order.
        edges: The edges between them, in order.
        levels: How many of them there are by distance.
        warnings: What a reader should know about the filters.
        removed: How many nodes each filter removed, and how many are on no walk through all hops.
        undecided: On how many nodes each filter could not decide.
        on_the_way: Nodes that are left only because they lead from a seed to one of `only_node_types`.
        members: The nodes that were asked about; None where they are not told apart.
        gaps: What could not be decided about them.
    """

    whole: Topology
    known: SchemaView
    filters: Filters
    nodes: Sequence[Iri]
    edges: EdgeTable
    levels: Sequence[int]
    warnings: list[str]
    removed: dict[str, int]
    undecided: dict[str, int]
    on_the_way: frozenset[Iri] = frozenset()
    members: Members | None = None
    gaps: Sequence[Gap] = ()

    @property
    def in_rows(self) -> Sequence[Iri]:
        """The members that stand in rows, which are the last of the nodes."""
        return () if self.members is None else self.members.nodes

    @computed_once
    def content(self) -> str:
        """A hash of what is left, which may depend on values that are fetched again for each page."""
        if self.members is None and len(self.nodes) == len(self.whole.nodes):
            return self.whole.content
        return hashlib.sha256("\n".join([self.whole.content, *self.nodes]).encode()).hexdigest()[:12]


class TopologyFilter:
    """Applies the filters of a call to a topology."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, labeller: Labeller) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._labeller = labeller
        self._subclasses = Subclasses(store, prefixes)
        self._metadata_builder = MetadataBuilder(profile, prefixes)
        self._members = MemberReader(store)

    async def filtered(self, question: Question, topology: Topology, known: SchemaView) -> FilteredTopology:
        """Remove the nodes that `exclude_node_types`, `only_node_types` and `min_mentions` remove, but no seed.

        Args:
            question: The question.
            topology: What was found.
            known: The schema as it is now.

        Raises:
            InputError: A filter names what the graph does not have.
            DeadlinePassed: The time was not enough.
        """
        filters, unread = question.filters, 0
        if question.arguments.names_terms:
            filters, unread = await self._for_topology(question, topology, known)
        left = await self._applied(filters, question, topology, known)
        if unread:
            left.warnings.append(messages.labels_unread(unread))
        return left

    async def _for_topology(self, question: Question, topology: Topology, known: SchemaView) -> tuple[Filters, int]:
        """Return what filters mean where this topology was met, and how many labels of its terms could not be read."""
        filters, call = question.filters, question.call
        labels, unread = await self._labeller.named(topology, known, call)
        unlisted = known.types.unlisted(topology.types) or known.predicates.unlisted(topology.predicates)
        # What was resolved before the traversal holds, unless something was met that the schema lacked.
        if labels or unlisted or known is not question.known:
            types, predicates = (
                {iri: labels.get(iri, "") for iri in terms} for terms in (topology.types, topology.predicates)
            )
            filters = replace(resolve(question.arguments, known, types, predicates), has_details=filters.has_details)
        filters = await self._with_subclasses(filters, call)
        return (replace(filters, are_types_whole=False) if unread else filters), unread

    async def _with_subclasses(self, filters: Filters, call: Call) -> Filters:
        """Return filters that mean the subclasses of their types too, where the profile says so."""
        warnings = list(filters.warnings)

        async def widened(argument: str, types: frozenset[str] | None) -> frozenset[str] | None:
            if types is None:
                return None
            found, more = await self._subclasses.widened(argument, types, call)
            warnings.extend(more)
            return found

        node_types = await widened("node_types", filters.node_types)
        already = len(warnings)
        excluded = await widened("exclude_node_types", filters.excluded)
        only = await widened("only_node_types", filters.only)
        return replace(
            filters,
            node_types=node_types,
            excluded=excluded or frozenset(),
            only=only,
            warnings=tuple(warnings),
            are_types_whole=len(warnings) == already,
        )

    async def _applied(
        self, filters: Filters, question: Question, topology: Topology, known: SchemaView
    ) -> FilteredTopology:
        min_mentions, call = question.arguments.min_mentions, question.call
        deadline = call.call_deadline
        warnings = list(filters.warnings)
        removed: dict[Iri, str] = {}
        unsure: dict[str, set[Iri]] = {}
        if filters.excluded or filters.only is not None:
            removed, unsure = self._by_type(filters, topology, known, deadline)
        if min_mentions > 1:
            few, unsure["min_mentions"] = await self._rarely_mentioned(topology, min_mentions, call)
            for node in few:
                removed.setdefault(node, "min_mentions")
        for seed in topology.seeds:
            # Who asks for nodes of a type does not ask for the seed to go.
            name = removed.pop(seed, "only_node_types")
            if name != "only_node_types":
                warnings.append(messages.seed_stays(name, self._prefixes.in_prose(seed)))
        members, gaps = None, GapCollector()
        for doubt in question.members.doubts:
            gaps.add("endpoint_failed", topology.seeds, doubt)
        if question.members.is_of_members:
            members = await self._of_values(question, topology, removed, gaps, warnings)
        on_the_way = self._on_the_way(question, topology, removed, filters, members)
        if on_the_way:
            names = "only_node_types" if filters.only is not None else "where"
            warnings.append(messages.on_the_way(len(on_the_way), names))
        nodes, edges, levels = await self._left(question, topology, removed, members)
        undecided = {name: len(doubtful - removed.keys() - {*topology.seeds}) for name, doubtful in unsure.items()}
        undecided = {name: count for name, count in undecided.items() if count}
        warnings += [messages.undecided(name, count) for name, count in undecided.items()]
        if members is not None and (grouping := question.members.grouping) is not None:
            is_doubtful = question.members.reads_names and names_in_doubt(known, self._profile)
            is_whole = not (topology.gaps or gaps.entries or undecided or is_doubtful)
            members = await self._grouped(members, grouping, question, gaps, warnings, is_whole)
        counts = Counter(removed.values())
        counts["partial_paths"] = topology.partial
        return FilteredTopology(
            topology,
            known,
            filters,
            nodes,
            edges,
            levels,
            warnings,
            {name: count for name, count in sorted(counts.items()) if count},
            undecided,
            on_the_way,
            members,
            gaps.entries,
        )

    async def _left(
        self, question: Question, topology: Topology, removed: Collection[Iri], members: Members | None
    ) -> tuple[Sequence[Iri], EdgeTable, Sequence[int]]:
        """Return the nodes that are left, those that stand in rows last, with their edges, and how many by distance."""
        call, edges = question.call, topology.edges
        if removed:
            is_small = len(topology.nodes) + len(topology.edges) <= FEW_FOR_A_THREAD
            edges = await in_thread(call, lambda end: topology.edges.without(removed, end), unless=is_small)
        if members is not None and question.members.is_in_rows:
            in_rows = frozenset(members.nodes)
            order = [node for node in edges.nodes[: edges.node_count] if node not in in_rows] + [*members.nodes]
            edges = edges.reordered(order, call.call_deadline)
        elif not removed:
            return topology.order, edges, topology.levels
        nodes = edges.nodes[: edges.node_count]
        return nodes, edges, levels_of(topology.nodes[node] for node in nodes)

    def _on_the_way(
        self,
        question: Question,
        topology: Topology,
        removed: dict[Iri, str],
        filters: Filters,
        members: Members | None,
    ) -> frozenset[Iri]:
        """Return the removed nodes that stay because they lead to others, and take them out of what is removed."""
        has_conditions = members is not None and bool(question.members.conditions)
        if question.arguments.tool != BfsQuery.tool or (filters.only is None and not has_conditions):
            return frozenset()
        deadline = question.call.call_deadline
        if has_conditions and members is not None and question.steering.is_listed:
            leading = nodes_leading_to(topology, question.steering, frozenset(members.nodes), deadline)
            for node in topology.nodes:
                if node in leading and removed.get(node) in _KEEPS_WAYS:
                    del removed[node]
                elif node not in leading and topology.nodes[node]:
                    removed.setdefault(node, "where")
            return frozenset()
        shown = [node for node in topology.nodes if node not in removed]
        ways = nodes_on_the_way(topology, question.steering, shown, self._prefixes, deadline)
        on_the_way = frozenset(node for node in ways if removed.get(node) in _KEEPS_WAYS)
        for node in on_the_way:
            del removed[node]
        return on_the_way

    async def _of_values(
        self,
        question: Question,
        topology: Topology,
        removed: dict[Iri, str],
        gaps: GapCollector,
        warnings: list[str],
    ) -> Members:
        """Return the members for which all conditions hold, in order, and remove the others."""
        asked, call = question.members, question.call
        found = [node for node in members_of(question, topology) if node not in removed]
        chosen = await self._members.chosen(found, asked.conditions, call)
        seeds = topology.seeds if question.arguments.tool == IntersectSubgraphs.tool else ()
        left_out = await self._members.chosen(seeds, asked.conditions, call)
        gaps.add_marks({**left_out.unsure, **chosen.unsure}.items())
        kept = frozenset(chosen.nodes)
        for node in found:
            if node not in kept and topology.nodes[node]:
                removed.setdefault(node, "where")
        warnings.extend(about_values(asked.written, chosen))
        nodes = [node for node in found if node in kept]
        if not nodes:
            warnings += asked.if_none
            if absent := await self._members.absent(asked.conditions, call):
                warnings.append(no_nodes(self._prefixes.listed(absent), len(absent)))
        if len(asked.conditions) > 1 and not nodes and found:
            warnings.append(each_alone(asked.written, [(count, not chosen.unsure) for count in chosen.alone]))
        order = None
        if asked.order is not None:
            order = await self._members.ordered(nodes, asked.order, asked.languages, call)
            gaps.add("endpoint_failed", order.unsure, ORDER_UNSURE)
            warnings.extend(order.warnings)
            nodes = list(order.nodes)
        return Members(nodes, len(left_out.nodes), order)

    async def _grouped(
        self,
        members: Members,
        grouping: Grouping,
        question: Question,
        gaps: GapCollector,
        warnings: list[str],
        is_whole: bool,
    ) -> Members:
        """Return members with their groups, which there are only where no member is missing and no value."""
        grouped = Grouped()
        if is_whole:
            languages = question.members.languages
            grouped = await self._members.grouped(members.nodes, grouping, languages, question.call)
            if not grouped.mark.whole:
                gaps.add_marks([(members.nodes[0], grouped.mark)])
            warnings.extend(grouped.warnings)
        is_shown = is_whole and grouped.mark.whole
        if not is_shown:
            warnings.append(NOT_SHOWN)
        return replace(members, grouped=grouped if is_shown else None)

    def _by_type(
        self, filters: Filters, topology: Topology, known: SchemaView, deadline: Deadline
    ) -> tuple[dict[Iri, str], dict[str, set[Iri]]]:
        """Return the nodes that the filters of types remove, and by filter the nodes on which it cannot decide."""
        removed: dict[Iri, str] = {}
        unsure: dict[str, set[Iri]] = {}
        excluded, only = filters.excluded, filters.only
        if excluded:
            unsure["exclude_node_types"] = set()
        if only is not None:
            unsure["only_node_types"] = set()
        for node in deadline.checking(topology.nodes):
            types = known.chooser.filterable(topology.facts[node])
            # What has no type is of no type that could not be read.
            is_sure = types != (UNKNOWN,) and (filters.are_types_whole or types == (UNTYPED,))
            if not excluded.isdisjoint(types):
                removed[node] = "exclude_node_types"
                continue
            if excluded and not is_sure:
                unsure["exclude_node_types"].add(node)
            if only is not None and only.isdisjoint(types):
                if is_sure:
                    removed[node] = "only_node_types"
                else:
                    unsure["only_node_types"].add(node)
        return removed, unsure

    async def _rarely_mentioned(self, topology: Topology, least: int, call: Call) -> tuple[list[Iri], set[Iri]]:
        """Return the nodes that are mentioned too rarely, and those that could not be looked up."""
        if not topology.nodes:
            return [], set()
        with call.tally.stage("metadata"):
            described = await self._store.mentions(list(topology.nodes), call)
        few = []
        for node, description in call.call_deadline.checking(described.items()):
            mentions = self._metadata_builder.mentions(description.properties)
            # Where only a part was read, there may be a higher number.
            if description.mark.whole and mentions is not None and mentions < least:
                few.append(node)
        return few, {node for node, description in described.items() if not description.mark.whole}


def members_of(question: Question, topology: Topology) -> Sequence[Iri]:
    """Return the nodes that conditions, columns and an order are about, in the order of the traversal.

    With one list a hop they are the ends of the last one; otherwise all nodes but the seeds.
    """
    given = question.arguments.only_predicates or ()
    if question.arguments.tool == BfsQuery.tool and any(isinstance(entry, list) for entry in given):
        ends = last_nodes(topology, question.steering, question.call.call_deadline)
        return [node for node in topology.nodes if node in ends]
    seeds = frozenset(topology.seeds)
    return [node for node in topology.nodes if node not in seeds]
