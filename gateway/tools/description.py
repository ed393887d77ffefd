"""Descriptions of entities, and surveys of what can be followed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

from gateway import messages
from gateway.answers.crossing import Crosser
from gateway.answers.entity_sizes import page_of_entities
from gateway.answers.folded_blank_nodes import BlankContents, have_failed
from gateway.answers.metadata import MetadataBuilder
from gateway.answers.names import Labeller, Labels, MentionedIds, needed
from gateway.answers.page import Degraded, EntitiesPage, EntityPage, IdList, Instances, PageNode, first_languages
from gateway.answers.presenter import TIME_FOR_PRESENTATION
from gateway.answers.shape import Shape
from gateway.answers.size import above_ceiling, max_bytes
from gateway.answers.values import ALL_SHOWN, EdgeSurvey, SurveyRow, orders_of
from gateway.arguments import DescribeEntities, DescribeEntity
from gateway.errors import (
    BudgetSpent,
    EdgesCapped,
    EndpointFault,
    Fault,
    InputError,
    Resting,
    UnresolvedNameError,
    quoted,
)
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.counts import EdgeCounts
from gateway.graph.store import GraphStore
from gateway.graph.values import (
    BlankNode,
    Description,
    Existence,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Properties,
)
from gateway.members.expression_notes import edges_that_may_not_hold, may_have_expressions
from gateway.schema.cache import SchemaCache
from gateway.schema.view import SchemaView, names_in_doubt
from gateway.settings.profile import Profile, asks_together, doubt_of
from gateway.settings.vocabulary import EdgeSettings
from gateway.terms.iri import NEOSEMANTICS_BLANK
from gateway.terms.prefixes import PrefixMap
from gateway.tools.local_names import nearest_by_name
from gateway.tools.readers import IdReader
from gateway.traversal.gaps import cause_of
from gateway.traversal.redirects import Redirects

EDGES_READ = 300
"""Edges of an entity that are read; those of an entity with more are counted by the endpoint."""

ROWS = 30
FEW_ROWS = 10
"""Rows of one entity, and of one of many."""

WITH_EXAMPLES = 10
"""Entities in one call whose rows show neighbours, at most."""

NAMES_READ = 100
"""Neighbours in one call whose names are read to find some with a name, if the first of each row are no more.

The names of a node come in all languages, so each takes a hundred rows of some graphs.
"""

_TIME_FOR_HUBS = 0.25
"""Share of the time of a call in which the edges of hubs must be counted."""


EdgesRead = Mapping[Iri, Neighbourhood] | Fault
"""The edges of nodes, or why they could not be read."""


class Surveyor:
    """Counts the edges of entities for one graph.

    Args:
        store: The graph.
        profile: The settings of the endpoint and its graph.
        prefixes: The prefixes of IDs.
        edges_read: Edges of one entity that are read at most.
    """

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, edges_read: int = EDGES_READ) -> None:
        self._store = store
        self._seconds_for_hubs = profile.limits.deadline_seconds * _TIME_FOR_HUBS
        self._trusted = profile.endpoint.trusted
        self._prefixes = prefixes
        self._edges_read = edges_read
        self._names_at_once = min(profile.limits.facts_batch, NAMES_READ)

    async def edges(self, nodes: Sequence[Iri], call: Call) -> EdgesRead:
        """Return the edges that `survey` counts, or the fault by which they could not be read."""
        try:
            return await self._store.edges(nodes, call, per_id=self._edges_read)
        except Fault as fault:
            return fault

    async def survey(
        self,
        nodes: Sequence[Iri],
        call: Call,
        orders: Mapping[Iri, Mapping[Iri, Sequence[Iri]]] = MappingProxyType({}),
        read: EdgesRead | None = None,
    ) -> Mapping[Iri, EdgeSurvey]:
        """Return what could be followed from each node. No fault is raised: it is the node's `failed`.

        Args:
            nodes: The nodes.
            call: The call that asks.
            orders: The first members of lists in their order, by node and predicate.
            read: What `edges` returned for these and perhaps other nodes; None to ask now.
        """
        slices = Slices()
        counts = await self._counts(nodes, read if read is not None else await self.edges(nodes, call), call)
        few = len(nodes) > WITH_EXAMPLES
        await slices.end_one()
        first = [min(len(row.neighbours), ALL_SHOWN) for node in nodes for row in counts[node].counts[:ROWS]]
        # One query asks for names in any case. With more neighbours in it, more of those that are shown have one.
        room = max(0, self._names_at_once - sum(first))
        surveys = {}
        for node in call.call_deadline.checking(nodes, at_once=1):
            surveys[node] = self._survey(counts[node], orders.get(node, {}), room, few=few)
            room -= sum(max(0, len(row.neighbours) - ALL_SHOWN) for row in surveys[node].rows)
        return surveys

    async def _counts(self, nodes: Sequence[Iri], read: EdgesRead, call: Call) -> Mapping[Iri, EdgeCounts]:
        """Return the counts of each node; those of a hub that could not be counted are lower bounds."""
        if isinstance(read, Fault):
            return dict.fromkeys(nodes, EdgeCounts(mark=Mark(read)))
        counts = {node: EdgeCounts.of(node, read[node]) for node in call.call_deadline.checking(nodes, at_once=1)}
        hubs = [node for node in nodes if isinstance(read[node].mark.fault, EdgesCapped)]
        if hubs:
            for hub, counted in (await self._hub_counts(hubs, call)).items():
                mark = counted.mark
                if mark.whole and not counted.covers(counts[hub]):
                    mark = Mark(EndpointFault("The edges that were counted are fewer than those that were read."))
                # Some edges are known in any case, and one that is known can be followed.
                counts[hub] = counted if mark.whole else replace(counts[hub], mark=mark)
        return counts

    async def _hub_counts(self, hubs: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        with call.within(self._seconds_for_hubs):
            try:
                return await self._store.edge_counts(hubs, call)
            except Fault as fault:
                return dict.fromkeys(hubs, EdgeCounts(mark=Mark(fault)))

    def _survey(self, counts: EdgeCounts, orders: Mapping[Iri, Sequence[Iri]], room: int, *, few: bool) -> EdgeSurvey:
        """Return a survey whose rows have all neighbours from which the shown ones are chosen.

        Args:
            counts: The counts of edges.
            orders: The first members of lists in their order, by predicate.
            room: How many neighbours there may be, beyond the first of each row.
            few: Whether rows are few, and have no neighbours.
        """
        shorten, rows = self._prefixes.shorten, []
        for one in counts.counts[: FEW_ROWS if few else ROWS]:
            order = [] if one.incoming or few else [*orders.get(one.predicate, ())]
            if order:
                first = frozenset(order)
                order += [node for node in one.neighbours if node not in first][:ALL_SHOWN]
            looked_at = () if few else order or one.neighbours[: ALL_SHOWN + room]
            room -= max(0, len(looked_at) - ALL_SHOWN)
            neighbours = tuple(map(shorten, looked_at))
            rows.append(SurveyRow(shorten(one.predicate), one.incoming, one.count, neighbours, ordered=bool(order)))
        fault = counts.mark.fault
        return EdgeSurvey(
            rows,
            len(counts.counts),
            counts.blank_edges,
            is_exact=fault is None and self._trusted,
            failed=None if fault is None else cause_of(fault),
            ids_left_out=counts.left_out,
        )


_REQUESTS_FOR_NAMES = 0.1
"""Share of the requests that are left which the survey of edges leaves for the reading of names."""

_CONTENTS = 25
"""Blank nodes of one predicate whose content a description shows."""

_EXISTS = Existence(exists=True)

_Found = Mapping[Iri, PageNode | Fault | None]

_AHEAD = 4
"""Edges that are asked for with types and properties may spend one part in so many of what a call may."""

_ReadOfNodes = tuple[Mapping[Iri, NodeFacts], Mapping[Iri, Description], Mapping[Iri, Existence], EdgesRead | None]
"""Types, properties, whether the nodes without either exist, and edges where these were read too."""


@dataclass(slots=True)
class _Notes:
    """What a reader should know about some entities.

    Attributes:
        warnings: In words.
        is_whole: Whether they say all that there is, as far as that does not depend on each: another part of a split
            graph, or another graph of the server, may say more; names, precisions and units may be missing; or there
            are edges to blank nodes that the answer does not show, or not whole.
    """

    warnings: list[str]
    is_whole: bool = True


class EntityDescriber:
    """Answers `describe_entity` and `describe_entities` for one graph.

    Args:
        store: The graph.
        profile: The settings of the endpoint and its graph.
        prefixes: The prefixes of IDs.
        schema_cache: The schema of the graph.
        id_reader: Reads IDs and names.
        lists_wrong: Whether texts that mean no entity are listed, and not only told in a warning.
    """

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        id_reader: IdReader,
        *,
        lists_wrong: bool = False,
    ) -> None:
        self._store = store
        self._id_reader = id_reader
        self._lists_wrong = lists_wrong
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._metadata_builder = MetadataBuilder(profile, prefixes)
        self._redirects = Redirects(store, profile, prefixes)
        self._labeller = Labeller(store, profile, prefixes)
        self._surveyor = Surveyor(store, profile, prefixes)
        self._crosser = Crosser(store, profile, prefixes)

    async def one(self, arguments: DescribeEntity, shape: Shape, call: Call) -> EntityPage:
        """Return one entity, flat.

        Raises:
            InputError: It is not in the graph; the text names the nearest IDs where search finds some.
            Fault: It could not be looked up.
        """
        read = await self._id_reader.read("id", [arguments.id], call)
        (iri,) = read.iris
        found, notes = await self._look_up([iri], call)
        notes.warnings += read.warnings(self._prefixes)
        spared = read.spared(self._prefixes) if shape.names_stubs else {}
        entity = found[iri]
        if isinstance(entity, Fault):
            raise entity
        if entity is None:
            raise await self._not_found(arguments.id, iri, call)
        limit = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        warnings = [*notes.warnings, *above_ceiling(self._profile.size, arguments.max_tokens)]
        is_complete = self._is_complete(notes, [entity])
        labels = await self._labels([entity], call)

        def write(shown: Sequence[PageNode], _: Sequence[PageNode], degraded: Degraded) -> EntityPage:
            mentioned = MentionedIds.in_nodes(shown)
            return EntityPage(
                shown[0],
                complete=is_complete,
                warnings=needed(warnings, spared, shown),
                degraded={**degraded, **_left_out(shown), **labels.degraded(mentioned)},
                labels=labels.of(mentioned),
                coined=self._prefixes.coined_in_answer,
            )

        return page_of_entities([entity], write, limit, labels, shape, call.call_deadline)

    async def several(self, arguments: DescribeEntities, shape: Shape, call: Call) -> EntitiesPage:
        """Return several entities in the order asked; what is not found or failed is listed apart.

        Raises:
            Fault: None could be looked up.
        """
        read = await self._id_reader.read("ids", arguments.ids, call, leaves_out=True)
        found, notes = await self._look_up(read.distinct, call)
        notes.warnings += read.warnings(self._prefixes)
        spared = read.spared(self._prefixes) if shape.names_stubs else {}
        faults = [fault for fault in found.values() if isinstance(fault, Fault)]
        if len(faults) == len(found):
            raise faults[0]
        shorten = self._prefixes.shorten
        absent = [iri for iri, entity in found.items() if entity is None]
        not_found = [shorten(iri) for iri in absent]
        failed = [shorten(iri) for iri, entity in found.items() if isinstance(entity, Fault)]
        if self._lists_wrong:
            for text, error in read.wrong:
                (failed if isinstance(error, UnresolvedNameError) else not_found).append(text)
        entities = [entity for entity in found.values() if isinstance(entity, PageNode)]
        limit = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        hint = self._prefixes.undeclared(absent)
        above = above_ceiling(self._profile.size, arguments.max_tokens)
        warnings = [*notes.warnings, *([hint] if hint else []), *above]
        is_complete = not failed and self._is_complete(notes, entities)
        labels = await self._labels(entities, call)

        def write(shown: Sequence[PageNode], others: Sequence[PageNode], degraded: Degraded) -> EntitiesPage:
            mentioned = MentionedIds.in_nodes(shown)
            return EntitiesPage(
                shown,
                complete=is_complete,
                not_found=IdList(list(not_found)),
                failed=IdList(list(failed)),
                remaining=IdList([entity.id for entity in others]),
                warnings=needed(warnings, spared, shown),
                degraded={**degraded, **_left_out(shown), **labels.degraded(mentioned)},
                labels=labels.of(mentioned),
                coined=self._prefixes.coined_in_answer,
            )

        return page_of_entities(entities, write, limit, labels, shape, call.call_deadline)

    def _is_complete(self, notes: _Notes, entities: Sequence[PageNode]) -> bool:
        """Return whether the graph asked said all that there is about the entities that were found."""
        left_out = any(entity.ids_left_out for entity in entities)
        failed = any(entity.failed or (entity.survey is not None and entity.survey.failed) for entity in entities)
        return notes.is_whole and not (left_out or failed) and self._profile.endpoint.trusted

    async def _labels(self, entities: Sequence[PageNode], call: Call) -> Labels:
        """Return the names of what entities mention; those in the surveys are put beside their IDs."""
        surveys = [entity.survey for entity in entities if entity.survey is not None]
        with call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION):
            known = await self._schema_cache.view(call)
            if self._labeller.is_wanted:
                labels = await self._labeller.labels(MentionedIds.in_nodes(entities), known, call)
                names = labels.by_id
            else:
                neighbours = {node for survey in surveys for row in survey.rows for node in row.neighbours}
                found = await self._labeller.names(neighbours, known, call)
                labels, names = Labels(failed=found.failed), found.by_id
        for survey in surveys:
            survey.name(names)
        return labels

    async def _surveys(
        self,
        iris: Sequence[Iri],
        described: Mapping[Iri, Description],
        notes: _Notes,
        read: EdgesRead | None,
        call: Call,
    ) -> Mapping[Iri, EdgeSurvey]:
        """Return what could be followed from entities."""
        orders = {iri: orders_of(described[iri].properties) for iri in iris}
        with call.reserving(requests=_REQUESTS_FOR_NAMES, time=TIME_FOR_PRESENTATION), call.tally.stage("expansion"):
            # What was asked ahead could spend only a part.
            read = None if isinstance(read, BudgetSpent) else read
            if isinstance(read, Mapping):
                spent = [iri for iri in iris if isinstance(read[iri].mark.fault, BudgetSpent)]
                again = await self._surveyor.edges(spent, call) if spent else {}
                read = read if isinstance(again, Fault) else {**read, **again}
            surveys = await self._surveyor.survey(iris, call, orders, read)
        if uncounted := [iri for iri in iris if surveys[iri].failed]:
            notes.warnings.append(messages.edges_uncounted(self._prefixes.listed(uncounted)))
        return surveys

    async def _read(self, iris: Sequence[Iri], call: Call) -> _ReadOfNodes:
        """Return what nodes are; where several queries run at once, their edges come with that."""
        if not asks_together(self._profile):
            with call.tally.stage("facts"):
                facts = await self._store.nodes(iris, call, names=False)
            described = await self._described(iris, call)
            return facts, described, await self._existing(iris, facts, described, None, call), None
        with call.part(requests=call.requests // _AHEAD, rows=call.rows // _AHEAD) as part:
            async with together() as tasks:
                reading = tasks.create_task(self._surveyor.edges(iris, part))
                describing = tasks.create_task(self._described(iris, call))
                with call.tally.stage("facts"):
                    facts = await self._store.nodes(iris, call, names=False)
                described = await describing
                read = reading.result() if reading.done() else None
                existing = await self._existing(iris, facts, described, read, call)
                if not any(existing.get(iri, _EXISTS).exists for iri in iris):
                    reading.cancel()
        return facts, described, existing, None if reading.cancelled() else reading.result()

    async def _described(self, iris: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        with call.tally.stage("metadata"):
            return await self._store.node_metadata(iris, call, blank_nodes=True)

    async def _existing(
        self,
        iris: Sequence[Iri],
        facts: Mapping[Iri, NodeFacts],
        described: Mapping[Iri, Description],
        read: EdgesRead | None,
        call: Call,
    ) -> Mapping[Iri, Existence]:
        """Return whether those nodes exist of which neither a type nor a property is known; one with an edge does."""
        silent = [iri for iri in iris if not facts[iri].types and not described[iri].properties]
        around = read if isinstance(read, Mapping) else {}
        linked = [iri for iri in silent if iri in around and (around[iri].edges or around[iri].blank_edges)]
        others = [iri for iri in silent if iri not in linked]
        with call.tally.stage("facts"):
            found = await self._store.existing(others, call) if others else {}
        return {**found, **dict.fromkeys(linked, _EXISTS)}

    async def _look_up(self, iris: Sequence[Iri], call: Call) -> tuple[_Found, _Notes]:
        """Return for each IRI its entity, None where it does not exist, or the fault; and what to note."""
        with call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION):
            known = await self._schema_cache.view(call)
            facts, described, existing, read = await self._read(iris, call)
            with call.tally.stage("facts"):
                notes = await self._notes(existing, described, call)
        if names_in_doubt(known, self._profile):
            notes.is_whole = False
            notes.warnings.append(messages.NAME_KEYS_UNKNOWN)
        found: dict[Iri, PageNode | Fault | None] = {}
        for iri in iris:
            marks = (described[iri].mark, facts[iri].mark, existing.get(iri, _EXISTS).mark)
            # What expressions say may be known in part; of too many rows, any part would look like all.
            faults = [mark.fault for mark in marks if mark.fault and (mark.fault.smaller or not mark.answered)]
            # Why an endpoint is left alone says more than that it is.
            found[iri] = min(faults, key=lambda fault: isinstance(fault, Resting), default=None)
        there = [iri for iri in iris if found[iri] is None and existing.get(iri, _EXISTS).exists]
        async with together() as tasks:
            crossing = tasks.create_task(self._crosser.cross(there, call))
            surveys = await self._surveys(there, described, notes, read, call)
        crossings = crossing.result()
        notes.warnings += crossings.warnings
        notes.is_whole = notes.is_whole and not crossings.in_doubt
        contents = await self._contents(surveys, call)
        if await may_have_expressions(self._store, known, call):
            notes.warnings += await edges_that_may_not_hold(self._store, self._prefixes, there, EDGES_READ, call)
        # In a Wikibase a blank node is an unknown value, and read as one.
        beside_blank_nodes = [
            iri
            for iri in there
            if not self._profile.values.wikibase
            and surveys[iri].blank_edges > _whole_blank_nodes(described[iri].properties, self._profile.edges)
        ]
        if made := [iri for iri in there if iri.startswith(NEOSEMANTICS_BLANK)]:
            notes.warnings.append(messages.made_of_blank_nodes(self._prefixes.listed(made)))
        if beside_blank_nodes:
            notes.is_whole = False
            notes.warnings.append(messages.blank_nodes_beside(self._prefixes.listed(beside_blank_nodes)))

        builder = self._metadata_builder.for_call(call, known.schema)

        def entities(deadline: Deadline) -> None:
            for iri in deadline.checking(there, at_once=1):
                properties = self._with_contents(described[iri].properties, surveys[iri], contents)
                description = replace(described[iri], properties=properties)
                entity = self._entity(iri, facts[iri], description, surveys[iri], known, builder)
                entity.also_in = crossings.also_in.get(iri, {})
                found[iri] = entity

        said = sum(described[iri].value_count + len(facts[iri].types) for iri in there)
        await in_thread(call, entities, unless=said <= FEW_FOR_A_THREAD)
        if failed := [iri for iri, entity in found.items() if isinstance(entity, PageNode) and entity.failed]:
            notes.warnings.append(messages.metadata_failed(self._prefixes.listed(failed)))
        return found, notes

    async def _contents(self, surveys: Mapping[Iri, EdgeSurvey], call: Call) -> Mapping[Iri, BlankNode]:
        """Return what the blank nodes say that entities lead to, and are nodes."""
        rows = chain.from_iterable(survey.rows for survey in surveys.values())
        blank = [self._prefixes.expand(node) for row in rows for node in _blank_ends(row)]
        if not blank:
            return {}
        with call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION), call.tally.stage("metadata"):
            return await BlankContents(self._store, frozenset(surveys)).read(blank, call)

    def _with_contents(
        self, properties: Properties, survey: EdgeSurvey, contents: Mapping[Iri, BlankNode]
    ) -> Properties:
        """Return properties with the content of blank nodes, which are then no examples in the survey."""
        if not contents:
            return properties
        merged = dict(properties)
        rows = []
        for row in survey.rows:
            shown = {node: contents.get(self._prefixes.expand(node)) for node in _blank_ends(row)}
            said = [content for content in shown.values() if content is not None]
            if said:
                predicate = self._prefixes.expand(row.predicate)
                merged[predicate] = (*merged.get(predicate, ()), *said)
            others = tuple(node for node in row.neighbours if shown.get(node) is None)
            rows.append(row if row.ordered else replace(row, neighbours=others))
        survey.rows = rows
        return merged

    async def _notes(
        self, existing: Mapping[Iri, Existence], described: Mapping[Iri, Description], call: Call
    ) -> _Notes:
        """Return what to note about merged nodes, and those about which another part of a split graph may say more.

        `existing` has the nodes about which this part says nothing.
        """
        advice = (self._redirects.advice(iri, description.properties) for iri, description in described.items())
        notes = _Notes([text for text in advice if text])
        listed = self._prefixes.listed
        if not self._profile.endpoint.trusted:
            notes.warnings.append(messages.values_may_be_missing(doubt_of(self._profile)))
        if unrefined := [iri for iri, description in described.items() if not description.refined]:
            notes.is_whole = False
            notes.warnings.append(messages.unrefined(listed(unrefined)))
        where = self._profile.endpoint.other_graph
        silent = [iri for iri, existence in existing.items() if existence.exists]
        if silent and where:
            subjects = await self._store.subjects(silent, call)
            unsure = [iri for iri, existence in subjects.items() if existence.mark.fault is not None]
            unstated = [iri for iri in silent if iri not in unsure and not subjects[iri].exists]
            notes.is_whole = notes.is_whole and not (unsure or unstated)
            if unstated:
                notes.warnings.append(messages.nothing_said(listed(unstated), where))
            if unsure:
                notes.warnings.append(messages.unsure_whether_said(listed(unsure)))
        absent = [iri for iri, existence in existing.items() if existence.mark.whole and not existence.exists]
        if absent and where:
            notes.is_whole = False
            notes.warnings.append(messages.not_here(listed(absent), where))
        return notes

    def _entity(
        self,
        iri: Iri,
        facts: NodeFacts,
        description: Description,
        survey: EdgeSurvey,
        known: SchemaView,
        builder: MetadataBuilder,
    ) -> PageNode:
        types = known.chooser.all_of(facts)
        metadata = builder.node(description.properties, types, known.schema)
        return PageNode(
            iri,
            self._prefixes.shorten(iri),
            known.chooser.shown(facts),
            metadata=replace(metadata, other_languages=first_languages(metadata.other_languages)),
            ids_left_out=facts.left_out + description.left_out + survey.ids_left_out,
            failed=not (facts.mark.whole and description.mark.whole) or have_failed(description.properties),
            survey=survey,
            instances=Instances(known.instances[iri]) if iri in known.instances else None,
        )

    async def _not_found(self, asked: str, iri: Iri, call: Call) -> InputError:
        nearest = await nearest_by_name(iri, self._prefixes, self._store, call)
        endpoint = self._profile.endpoint
        return messages.no_such_entity(
            quoted(asked), self._prefixes.undeclared([iri]), nearest, endpoint.other_graph, doubt_of(self._profile)
        )


def _blank_ends(row: SurveyRow) -> Sequence[str]:
    """Return the first blank nodes at the ends of outgoing edges."""
    return [] if row.incoming else [node for node in row.neighbours if node.startswith("_:")][:_CONTENTS]


def _whole_blank_nodes(properties: Properties, edges: EdgeSettings) -> int:
    """Return how many blank nodes are at the ends of what would be edges, all of whose content is there."""
    ends = chain.from_iterable(values for predicate, values in properties.items() if edges.allows(predicate))
    return sum(isinstance(value, BlankNode) and _is_whole(value) for value in ends)


def _is_whole(node: BlankNode) -> bool:
    inner = (value for values in node.properties.values() for value in values if isinstance(value, BlankNode))
    return not node.cut and all(map(_is_whole, inner))


def _left_out(entities: Sequence[PageNode]) -> Degraded:
    """Return how many IDs no caller could send back, and of how many entities not all could be read."""
    steps: Degraded = {
        "ids_left_out": sum(entity.ids_left_out for entity in entities),
        "metadata_failed": sum(entity.failed for entity in entities),
    }
    return {step: count for step, count in steps.items() if count}
