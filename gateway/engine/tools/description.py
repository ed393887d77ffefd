"""Everything known about an entity beside its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.engine.answers import EntitiesResult, Entity
from gateway.engine.arguments import DescribeEntities, DescribeEntity
from gateway.engine.presentation.labels import Labeller, Labels, MentionedIds
from gateway.engine.presentation.metadata import MetadataWriter
from gateway.engine.presentation.presenter import TIME_FOR_PRESENTATION, max_bytes
from gateway.engine.presentation.size import shorteners, size_of
from gateway.engine.schema.cache import SchemaCache
from gateway.engine.schema.view import SchemaView, names_in_doubt
from gateway.engine.tools.search_ranking import ranked
from gateway.engine.traversal.gaps import UNTRUSTED
from gateway.engine.traversal.redirects import Redirects
from gateway.errors import Fault, InputError, quoted
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Description, Existence, Iri, NodeFacts, SearchTerms
from gateway.settings.profile import Profile
from gateway.terms.iri import is_sendable, local_name
from gateway.terms.prefixes import PrefixMap
from gateway.terms.words import words_of

_NEAREST = 3
_NOT_TRUSTED = f"This {UNTRUSTED}, so values may be missing, and what is not found may exist."
_NAMES_UNKNOWN = (
    "Which predicates carry names here could not be found out yet, so a name may stand under another key; ask again."
)
_MARGIN = 200
"""Bytes for what is only known at the end: that values were shortened, or that `max_tokens` was."""

Json = dict[str, Any]


@dataclass(slots=True)
class _Notes:
    """What a reader should know about some records.

    Attributes:
        warnings: In words.
        elsewhere: Nodes of which another part of a split graph knows more, or may.
        names_in_doubt: Whether it is not known which predicates carry names.
        left_out: By node, how many types and values are left out because no caller could send their IDs back.
        unrefined: Nodes whose precisions of dates and units of quantities could not be read.
    """

    warnings: list[str]
    elsewhere: set[Iri] = field(default_factory=set)
    names_in_doubt: bool = False
    left_out: dict[Iri, int] = field(default_factory=dict)
    unrefined: list[Iri] = field(default_factory=list)

    @property
    def all_read(self) -> bool:
        """Whether the graph asked said all that there is."""
        return not (self.elsewhere or self.unrefined or self.names_in_doubt or any(self.left_out.values()))

    def with_left_out(self, degraded: Json, shown: Sequence[Json]) -> Json:
        """Return what was left out of the records that are shown: for size, and because it is no ID."""
        left_out = sum(self.left_out.get(record["iri"], 0) for record in shown)
        return {**degraded, "ids_left_out": left_out} if left_out else degraded


class EntityDescriber:
    """Answers `describe_entity` and `describe_entities` for one graph."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._writer = MetadataWriter(profile, prefixes)
        self._redirects = Redirects(store, profile, prefixes)
        self._labeller = Labeller(store, profile, prefixes)

    async def one(self, arguments: DescribeEntity, call: Call) -> Entity:
        """Return one entity, flat.

        Raises:
            InputError: It is not in the graph; the text names the nearest IDs where search finds some.
            Fault: It could not be looked up.
        """
        (iri,) = expanded("id", [arguments.id], self._prefixes)
        found, notes = await self._look_up([iri], call)
        if isinstance(found[iri], Fault):
            raise found[iri]
        if found[iri] is None:
            raise await self._not_found(arguments.id, iri, call)
        record: Json = found[iri]
        limit, warnings = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        labels = await self._labels([record], call)
        (fitting,), degraded = _shortened(
            [record], limit - size_of(notes.warnings) - _MARGIN, labels, call.call_deadline
        )
        told = {
            "complete": notes.all_read and self._profile.endpoint.trusted,
            "warnings": [*notes.warnings, *warnings] or None,
            **_labelled([fitting], labels, notes.with_left_out(degraded, [fitting])),
        }
        return Entity.model_validate({**_flat(fitting), **told})

    async def several(self, arguments: DescribeEntities, call: Call) -> EntitiesResult:
        """Return several entities in the order asked; what is not found or failed is told apart.

        Raises:
            Fault: None could be looked up.
        """
        found, notes = await self._look_up(expanded("ids", arguments.ids, self._prefixes), call)
        faults = [fault for fault in found.values() if isinstance(fault, Fault)]
        if len(faults) == len(found):
            raise faults[0]
        shorten = self._prefixes.shorten
        told: Json = {
            "not_found": [shorten(iri) for iri, record in found.items() if record is None],
            "failed": [shorten(iri) for iri, record in found.items() if isinstance(record, Fault)] or None,
        }
        if hint := self._prefixes.undeclared(iri for iri, record in found.items() if record is None):
            notes.warnings.append(hint)
        records = [record for record in found.values() if isinstance(record, dict)]
        limit, warnings = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        warnings = [*notes.warnings, *warnings]
        room = limit - size_of(told) - size_of(warnings) - _MARGIN
        labels = await self._labels(records, call)
        fitting, degraded = _shortened(records, room, labels, call.call_deadline)
        count = _how_many(fitting, room, [record["id"] for record in records], labels, call.call_deadline)
        return EntitiesResult.model_validate(
            {
                **told,
                "complete": not told["failed"] and notes.all_read and self._profile.endpoint.trusted,
                "result": fitting[:count],
                "warnings": warnings or None,
                **_labelled(fitting[:count], labels, notes.with_left_out(degraded, fitting[:count])),
                "remaining_ids": [record["id"] for record in records[count:]] or None,
            }
        )

    async def _labels(self, records: Sequence[Json], call: Call) -> Labels:
        with call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION):
            return await self._labeller.labels(_mentioned(records), await self._schema_cache.view(call), call)

    async def _look_up(self, iris: Sequence[Iri], call: Call) -> tuple[dict[Iri, Any], _Notes]:
        """Return for each IRI its record, None where it does not exist, or the fault that hid it; and what to note."""
        with call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION):
            known, facts, described, existing, notes = await self._read(iris, call)
        found: dict[Iri, Any] = {}
        for iri in call.call_deadline.checking(iris, at_once=1):
            there = existing.get(iri)
            marks = [described[iri].mark, facts[iri].mark, *([there.mark] if there else [])]
            fault = next((mark.fault for mark in marks if mark.fault is not None), None)
            if fault is not None:
                found[iri] = fault
            elif there is not None and not there.exists:
                found[iri] = None
            else:
                notes.left_out[iri] = facts[iri].left_out + described[iri].left_out
                found[iri] = self._record(iri, facts[iri], described[iri], known)
        return found, notes

    async def _read(
        self, iris: Sequence[Iri], call: Call
    ) -> tuple[SchemaView, Mapping[Iri, NodeFacts], Mapping[Iri, Description], Mapping[Iri, Existence], _Notes]:
        """Return the schema, and what the graph says about each IRI; existence of those about which it says nothing."""
        known = await self._schema_cache.view(call)
        with call.tally.stage("facts"):
            facts = await self._store.nodes(iris, call, names=False)
        with call.tally.stage("metadata"):
            described = await self._store.node_metadata(iris, call, blank_nodes=True)
        silent = [iri for iri in iris if not facts[iri].types and not described[iri].properties]
        with call.tally.stage("facts"):
            existing = await self._store.existing(silent, call) if silent else {}
            notes = await self._notes([iri for iri in silent if existing[iri].exists], described, call)
            self._note_absent([iri for iri in silent if existing[iri].mark.whole and not existing[iri].exists], notes)
        if names_in_doubt(known, self._profile):
            notes.names_in_doubt = True
            notes.warnings.append(_NAMES_UNKNOWN)
        return known, facts, described, existing, notes

    async def _notes(self, silent: Sequence[Iri], described: Mapping[Iri, Description], call: Call) -> _Notes:
        """Return what to note about nodes that went elsewhere, or of which another part of a split graph knows more."""
        advice = (self._redirects.advice(iri, description.properties) for iri, description in described.items())
        notes = _Notes([text for text in advice if text])
        if not self._profile.endpoint.trusted:
            notes.warnings.append(_NOT_TRUSTED)
        notes.unrefined = [iri for iri, description in described.items() if not description.refined]
        if notes.unrefined:
            notes.warnings.append(
                "The precision of dates and the units of quantities could not be read of "
                f"{self._prefixes.listed(notes.unrefined)}: a first of January may be a year only. Ask again."
            )
        if silent and (where := self._profile.endpoint.other_graph):
            subjects = await self._store.subjects(silent, call)
            unsure = [iri for iri, existence in subjects.items() if existence.mark.fault is not None]
            absent = [iri for iri in silent if iri not in unsure and not subjects[iri].exists]
            notes.elsewhere.update(unsure, absent)
            if absent:
                notes.warnings.append(
                    f"Nothing is said here about {self._prefixes.listed(absent)}; it may be in {where}."
                )
            if unsure:
                notes.warnings.append(
                    f"Whether anything is said here about {self._prefixes.listed(unsure)} could not be found out; "
                    "ask again."
                )
        return notes

    def _note_absent(self, absent: Sequence[Iri], notes: _Notes) -> None:
        """Note nodes that this part of a split graph does not even mention."""
        if absent and (where := self._profile.endpoint.other_graph):
            notes.elsewhere.update(absent)
            notes.warnings.append(f"{self._prefixes.listed(absent)} is not in this graph; it may be in {where}.")

    def _record(self, iri: Iri, facts: NodeFacts, description: Description, known: SchemaView) -> Json:
        return {
            "id": self._prefixes.shorten(iri),
            "entity_type": known.chooser.shown(facts),
            "iri": iri,
            "metadata": self._writer.node(
                description.properties, known.chooser.all_of(facts), known.schema.names or ()
            ),
        }

    async def _not_found(self, asked: str, iri: Iri, call: Call) -> InputError:
        words = words_of(local_name(iri))
        nearest: list[str] = []
        if words:
            try:
                with call.tally.stage("search"):
                    hits = await self._store.search(SearchTerms(local_name(iri), tuple(words)), (), call)
            except Fault:
                # The entity is absent whatever the search would have said.
                hits = None
            if hits is not None:
                # An API of names may know the very entity that the graph has not.
                others = [hit for hit in hits.hits if hit.iri != iri and is_sendable(hit.iri)]
                best = [one.hit for one in ranked(others, " ".join(words), words)[:_NEAREST]]
                nearest = [f"{self._prefixes.in_prose(hit.iri)} ({quoted(hit.text)})" for hit in best]
        where = self._profile.endpoint.other_graph
        doubt = "" if self._profile.endpoint.trusted else f" But this {UNTRUSTED}, so it may exist."
        return InputError(
            f"There is no entity {quoted(asked)} in this graph{f'; it may be in {where}' if where else ''}.{doubt}",
            valid=" ".join(
                filter(
                    None,
                    [
                        self._prefixes.undeclared([iri]),
                        f"Nearest by name: {', '.join(nearest)}." if nearest else "",
                    ],
                )
            ),
            next_step="Call search_entities with a name to find its ID.",
        )


def expanded(argument: str, ids: Sequence[str], prefixes: PrefixMap) -> list[Iri]:
    """Return the IRIs that the IDs of an argument mean, duplicates folded.

    Raises:
        InputError: One is no ID; the text says which.
    """
    iris: dict[Iri, None] = {}
    for position, text in enumerate(ids):
        try:
            iris[prefixes.expand(text)] = None
        except InputError as error:
            place = f"[{position}]" if argument.endswith("s") else ""
            raise InputError(
                f"{argument}{place}: {error.wrong}", valid=error.valid, next_step=error.next_step
            ) from error
    return list(iris)


def _flat(record: Json) -> Json:
    """Put the metadata beside the node's own keys, which it never has."""
    return {**{key: value for key, value in record.items() if key != "metadata"}, **record["metadata"]}


def _mentioned(records: Sequence[Json]) -> MentionedIds:
    mentioned = MentionedIds()
    mentioned.add_records(records)
    return mentioned


def _size(records: Sequence[Json], labels: Labels) -> int:
    """Return the bytes that records take, with the names of what they mention."""
    return sum(map(size_of, records)) + size_of(labels.of(_mentioned(records)))


def _labelled(records: Sequence[Json], labels: Labels, degraded: Json) -> Json:
    """Return the names of what records mention, and what was left out or could not be had."""
    mentioned = _mentioned(records)
    return {"labels": labels.of(mentioned) or None, "degraded": labels.degraded(mentioned, degraded) or None}


def _shortened(records: Sequence[Json], limit: int, labels: Labels, deadline: Deadline) -> tuple[list[Json], Json]:
    """Shorten long values, harder and harder, until the records fit; then leave out the last values of those too long.

    Raises:
        DeadlinePassed: The time was not enough.

    Returns:
        The records, and what was left out, with counts. They may together still be longer than the limit, each by
        itself is not.
    """
    fitting = list(records)
    degraded: Json = {}
    for shorter in shorteners():
        if _size(fitting, labels) <= limit:
            break
        fitting = [
            {**record, "metadata": shorter(record["metadata"])} for record in deadline.checking(records, at_once=1)
        ]
        if shorter.shortened:
            degraded["values_shortened"] = shorter.shortened
    left_out = sum(_cut_properties(record, limit, labels) for record in deadline.checking(fitting, at_once=1))
    if left_out:
        degraded["properties_left_out"] = left_out
    return fitting, degraded


def _cut_properties(record: Json, limit: int, labels: Labels) -> int:
    """Leave out the last properties of a record that alone is too long, and return how many."""
    left_out = 0
    while (excess := _size([record], labels) - limit) > 0 and record["metadata"]:
        while excess > 0 and record["metadata"]:
            key, value = record["metadata"].popitem()
            excess -= size_of({key: value}) - 2
            left_out += 1
    return left_out


def _how_many(records: Sequence[Json], limit: int, ids: Sequence[str], labels: Labels, deadline: Deadline) -> int:
    """Return how many records fit together with the IDs of the others; at least one."""
    used, named = 0, 0
    left = sum(map(size_of, ids))
    mentioned = MentionedIds()
    described = deadline.checking(zip(records, ids, strict=True), at_once=1)
    for count, (record, short) in enumerate(described):
        left -= size_of(short)
        used += size_of(record)
        mentioned.add_records([record])
        named = size_of(labels.of(mentioned)) if labels.by_id else 0
        if used + named + left > limit and count:
            return count
    return len(records)
