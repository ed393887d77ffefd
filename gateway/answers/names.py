"""Names on a page: of nodes, of types and of predicates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

from gateway.answers.page import Degraded, Header, PageEdge, PageNode
from gateway.answers.shape import Shape
from gateway.answers.values import Amount, Array, EdgeMetadata, EdgeSurvey, Id, Nested, PageValue, Properties
from gateway.arguments import TraversalArguments
from gateway.errors import BudgetSpent, DeadlinePassed, InputError
from gateway.expand_compact import INCOMING
from gateway.graph.call import Call, together
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts
from gateway.members.sides import split_steps
from gateway.schema.view import LONGEST_LABEL, SchemaView
from gateway.settings.profile import Profile
from gateway.terms.names import cut, fold
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.topology import Topology

Spared = Mapping[str, tuple[Iri, str]]
"""Warnings that a name was taken for an ID, each with the node and the name beside which it is needless."""

_NO_FACTS: Mapping[Iri, NodeFacts] = {}


@dataclass(slots=True)
class MentionedIds:
    """The IDs that an answer mentions.

    Attributes:
        predicates: IDs of predicates.
        nodes: IDs of nodes and types.
        named: The names that stand beside some of these already.
    """

    predicates: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    named: dict[str, str] = field(default_factory=dict)

    @property
    def unnamed(self) -> set[str]:
        """The IDs without a name beside them."""
        return (self.predicates | self.nodes) - self.named.keys()

    @classmethod
    def in_page(cls, header: Header, nodes: Sequence[PageNode], edges: Iterable[PageEdge]) -> Self:
        """Return those of a page of a traversal."""
        mentioned = cls(
            set(_predicates_in(header.summary.predicates)),
            {*header.seeds.ids, *header.summary.types, *chain.from_iterable(gap.ids for gap in header.gaps)},
        )
        on_page = {node.id for node in nodes}
        mentioned.add_nodes(nodes)
        for followed in header.only_predicates or ():
            names = [followed] if isinstance(followed, str) else followed
            mentioned.predicates.update(_predicates_in(names))
        for edge in edges:
            mentioned.predicates.add(edge.predicate)
            # The other end of an edge may be on an earlier page.
            mentioned.nodes.update({edge.subject, edge.object} - on_page)
            if edge.metadata is not None:
                mentioned._add_evidence(edge.metadata)
        return mentioned

    @classmethod
    def in_nodes(cls, nodes: Iterable[PageNode]) -> Self:
        """Return those of some nodes."""
        mentioned = cls()
        mentioned.add_nodes(nodes)
        return mentioned

    def add_nodes(self, nodes: Iterable[PageNode]) -> None:
        """Add the IDs that nodes mention; those that have a name need no other."""
        for node in nodes:
            self.nodes.add(node.entity_type)
            for path in node.paths:
                self.nodes.update(path[::2])
                self.predicates.update(step.removeprefix("^") for step in path[1::2])
            name = node.name
            if (metadata := node.metadata) is not None:
                self._add_values(metadata.types)
                self._add_values(metadata.source_documents)
                self._add_properties(metadata.properties)
                if metadata.beyond is not None:
                    self._add_properties(metadata.beyond.properties)
                name = name or metadata.name
            if name:
                self.named[node.id] = name
            if node.survey is not None:
                self._add_survey(node.survey)

    def _add_survey(self, survey: EdgeSurvey) -> None:
        for row in survey.rows:
            self.predicates.add(row.predicate)
            self.nodes.update(row.neighbours)
        self.named.update((id_, survey.names[id_]) for id_ in survey.mentioned if id_ in survey.names)

    def _add_evidence(self, metadata: EdgeMetadata) -> None:
        for assertion in (*metadata.assertions, *([metadata.combined] if metadata.combined else [])):
            self._add_values(assertion.source_documents)
            self._add_properties(assertion.properties)

    def _add_properties(self, properties: Properties) -> None:
        self.predicates.update(key.removeprefix(INCOMING) for key in properties)
        for values in properties.values():
            self._add_values(values)

    def _add_values(self, values: Iterable[PageValue]) -> None:
        for value in values:
            match value:
                case Id():
                    self.nodes.add(value)
                case Amount():
                    self.nodes.add(value.unit)
                case Nested():
                    # The node stands there with what it says, so its name need not.
                    self._add_properties(value.properties)
                case Array():
                    self._add_values(value.members)
                case _:
                    pass


def _predicates_in(followed: Iterable[str]) -> Iterator[str]:
    """Yield the IDs of predicates that are followed, those in walks too."""
    for text in followed:
        yield text.removeprefix("^")
        if "/" in text:
            yield from (step.name for step in split_steps(text) or ())


@dataclass(frozen=True, slots=True)
class Labels:
    """Names by ID, in the order of IDs without coined prefixes, and the IDs whose name could not be fetched."""

    by_id: Mapping[str, str] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()

    @property
    def are_any(self) -> bool:
        """Whether there are any of either."""
        return bool(self.by_id or self.failed)

    def of(self, mentioned: MentionedIds) -> dict[str, str]:
        """Return the names of the IDs that are mentioned, in order."""
        unnamed = mentioned.unnamed
        return {name_id: name for name_id, name in self.by_id.items() if name_id in unnamed}

    def degraded(self, mentioned: MentionedIds) -> Degraded:
        """Return how many names of the IDs that are mentioned could not be fetched, if there are such."""
        missing = len(self.failed & mentioned.unnamed)
        return {"labels_failed": missing} if missing else {}


class Labeller:
    """Finds names.

    Attributes:
        is_wanted: Whether the profile says that IDs are opaque: whatever an answer mentions has a name then.
    """

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self.is_wanted = profile.names.on_stubs
        self._prefixes = prefixes

    async def named(self, topology: Topology, known: SchemaView, call: Call) -> tuple[Mapping[Iri, str], int]:
        """Return the labels of a topology's types and predicates that the schema does not have, and how many failed."""
        if not self.is_wanted:
            return {}, 0
        fetched = await self._fetched(topology.predicates, topology.types, known, call)
        failed = sum(not fact.mark.whole for fact in fetched.values())
        return {iri: fact.name for iri, fact in fetched.items() if fact.name}, failed

    async def names(self, ids: Iterable[str], known: SchemaView, call: Call) -> Labels:
        """Return the names of nodes, whether IDs are opaque or not."""
        nodes = {self._prefixes.expand(name): name for name in ids}
        fetched = await self._fetched((), nodes, known, call)
        return Labels(
            {nodes[iri]: cut(fact.name, LONGEST_LABEL) for iri, fact in fetched.items() if fact.name},
            frozenset(nodes[iri] for iri, fact in fetched.items() if not fact.mark.whole),
        )

    async def labels(
        self, mentioned: MentionedIds, known: SchemaView, call: Call, facts: Mapping[Iri, NodeFacts] = _NO_FACTS
    ) -> Labels:
        """Return the names of what is mentioned; what neither the schema nor the facts read before have is fetched."""
        if not self.is_wanted:
            return Labels()
        predicates: dict[Iri, str] = {}
        for name in mentioned.predicates:
            # A walk of several predicates is no ID.
            with suppress(InputError):
                predicates |= {self._prefixes.expand(name): name} if ":" in name else {}
        # What has its name beside it may have to be named all the same, once that node is cut off the page.
        unnamed = mentioned.nodes - mentioned.named.keys()
        nodes = {self._prefixes.expand(name): name for name in unnamed if ":" in name}
        ids = predicates | nodes
        read = {iri: facts[iri] for iri in nodes if iri in facts and facts[iri].mark.whole}
        fetched = read | await self._fetched(predicates, nodes.keys() - read.keys(), known, call)
        found = {iri: label for iri, label in known.labels.items() if iri in ids}
        found |= {iri: fact.name for iri, fact in fetched.items() if fact.name}
        names = mentioned.named | {ids[iri]: name for iri, name in found.items()}
        order = sorted(names, key=lambda name_id: self._prefixes.declared_form(self._prefixes.expand(name_id)))
        return Labels(
            {name_id: cut(names[name_id], LONGEST_LABEL) for name_id in order},
            frozenset(ids[iri] for iri, fact in fetched.items() if not fact.mark.whole),
        )

    async def facts_ahead(
        self, mentioned: MentionedIds, known: SchemaView, call: Call, facts: Mapping[Iri, NodeFacts]
    ) -> Mapping[Iri, NodeFacts]:
        """Return facts with those of nodes that `labels` would fetch of what is mentioned so far."""
        unnamed = mentioned.nodes - mentioned.named.keys()
        nodes = {self._prefixes.expand(name) for name in unnamed if ":" in name}
        return {**facts, **await self._fetched((), nodes - facts.keys(), known, call)}

    async def _fetched(
        self, predicates: Iterable[Iri], nodes: Iterable[Iri], known: SchemaView, call: Call
    ) -> dict[Iri, NodeFacts]:
        """Ask the graph for the names of predicates and nodes that the schema does not have."""
        # The schema has them in the languages of the profile.
        labels = {} if call.language else known.labels
        unknown, others = (sorted(iri for iri in ids if iri not in labels) for ids in (predicates, nodes))
        with call.tally.stage("facts"):
            if not unknown:
                return {**await self._store.nodes(others, call, names=True)} if others else {}
            async with together() as tasks:
                naming = tasks.create_task(self._store.predicates(unknown, call))
                facts = await self._store.nodes(others, call, names=True) if others else {}
        return {**naming.result(), **facts}


_PART_OF_STUBS = 3
"""Of a page without metadata, stubs without their names take one part in so many, or less."""

_PART_OF_BUDGET = 4
"""Names that are read ahead may use one part in so many of what a call may still spend."""

_REQUESTS_A_BATCH = 2
_ROWS_A_NODE = 4
"""What is left for types at least: more than they mostly need, because answers with too many rows are split."""


class PageNames:
    """The names of nodes on one page, each asked for once.

    Attributes:
        are_wanted: Whether the page shows names beside nodes without metadata.
        known: What was read, by node; one that has no name, or whose name failed, is among them.
    """

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        arguments: TraversalArguments,
        shape: Shape,
        limit: int,
        call: Call,
    ) -> None:
        self.are_wanted = profile.names.on_stubs or (shape.names_stubs and not arguments.topology_only)
        self.known: dict[Iri, NodeFacts] = {}
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._arguments = arguments
        self._shape = shape
        self._limit = limit
        self._call = call

    async def read_ahead(self, nodes: Sequence[Iri]) -> None:
        """Read names of nodes that the page will probably show, while types are on their way.

        Nothing is read where filters may leave other nodes, where metadata may have the names, or where types may need
        what the call may still spend.

        Args:
            nodes: All nodes, in order.
        """
        if self.are_wanted and not self._arguments.removes_nodes and (shown := self._probably_shown(nodes)):
            requests, rows = self._call.requests // _PART_OF_BUDGET, self._call.rows // _PART_OF_BUDGET
            batches = math.ceil(len(nodes) / self._profile.limits.facts_batch)
            if not requests or self._call.requests - requests <= _REQUESTS_A_BATCH * batches:
                return
            if self._call.rows - rows <= _ROWS_A_NODE * len(nodes):
                return
            with self._call.part(requests=requests, rows=rows) as part, part.tally.stage("facts"):
                found = await self._store.nodes(shown, part, names=True)
            # There may be more left to spend when the page is made.
            self.known |= {node: facts for node, facts in found.items() if not _is_spent(facts)}

    def _probably_shown(self, nodes: Sequence[Iri]) -> Sequence[Iri]:
        """Return the nodes on the page without metadata; none where there may be room for metadata."""
        arguments = self._arguments
        room = self._limit // _PART_OF_STUBS
        end = len(nodes) if arguments.limit is None else min(arguments.offset + arguments.limit, len(nodes))
        for place in range(arguments.offset, end):
            room -= self._shape.measure(PageNode(nodes[place], self._prefixes.declared_form(nodes[place]), ""))
            if room < 0:
                return nodes[arguments.offset : place]
        return nodes[arguments.offset : end] if arguments.topology_only else ()

    async def add_to(self, stubs: Sequence[PageNode], topology: Topology) -> None:
        """Add the names of stubs that have none yet, unless the topology has the names of all nodes."""
        unnamed = [] if topology.has_names else [stub for stub in stubs if stub.name is None]
        if unknown := [stub.iri for stub in unnamed if stub.iri not in self.known]:
            with self._call.tally.stage("facts"):
                self.known |= await self._store.nodes(unknown, self._call, names=True)
        for stub in unnamed:
            facts = self.known[stub.iri]
            stub.failed = stub.failed or not facts.mark.whole
            stub.name, stub.size = shown_name(facts), None


def shown_name(facts: NodeFacts) -> str | None:
    """Return the name of a node as stubs show it; None where it has none."""
    return cut(facts.name, LONGEST_LABEL) or None


def _is_spent(facts: NodeFacts) -> bool:
    return isinstance(facts.mark.fault, BudgetSpent | DeadlinePassed)


def needed(warnings: Iterable[str], spared: Spared, nodes: Iterable[PageNode]) -> list[str]:
    """Return the warnings without those that nodes make needless: they show the ID with the very name."""
    names = {node.iri: node.name if node.metadata is None else node.metadata.name for node in nodes if node.row is None}
    needless = {told for told, (iri, text) in spared.items() if fold(names.get(iri) or "") == fold(text)}
    return [warning for warning in warnings if warning not in needless]
