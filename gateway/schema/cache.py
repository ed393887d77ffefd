"""The schema of a graph: read in the background, stored between runs, shared by all calls, and changed with time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from gateway.errors import BudgetSpent, DeadlinePassed, EndpointFault, Fault
from gateway.graph.call import Call, deadline_passed
from gateway.graph.computing import Slices
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts, Schema, Term
from gateway.schema.schedule import ReadingAllowances, SchemaAge, Waiters
from gateway.schema.states import Action, Enumeration, Event, Lists, Reading, State, next_state
from gateway.schema.view import SchemaView
from gateway.settings.profile import Profile, doubt_of
from gateway.telemetry.tally import Clock, Tally
from gateway.terms.prefixes import PrefixMap

_log = logging.getLogger(__name__)

_KEPT = 0.5
"""The share of its budget that a call keeps when it reads labels that are missing."""

_DEFECT = "The gateway failed to read the schema in a way it should not; the details are in its log."


class SchemaStorage(Protocol):
    """Stores a schema between runs."""

    def load(self) -> Schema | None:
        """Return the schema that an earlier run stored, or None."""
        ...

    def save(self, schema: Schema) -> None:
        """Store a schema in place of the one before."""
        ...

    def age(self, schema: Schema) -> float:
        """Return how many seconds ago a schema was read."""
        ...


class SchemaCache:
    """Reads the schema, first quickly and then in full, and shares it while calls go on.

    `states.py` decides what an event leads to; this class finds out which event happened, and does what follows.

    Attributes:
        latest: The schema as it is now; None before anything was read.
    """

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        clock: Clock,
        storage: SchemaStorage | None = None,
    ) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._clock = clock
        self._storage = storage
        self._allowances = ReadingAllowances(profile, clock)
        self._age = SchemaAge(profile, clock)
        self._waiters = Waiters(profile, clock)
        self._state = State(enumeration=_enumeration(profile, self._allowances))
        self.latest: SchemaView | None = None
        self._loaded: SchemaView | None = None
        self._loaded_at: float | None = None
        self._reading: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_reading(self) -> bool:
        """Whether the graph is being read at this moment."""
        return self._state.reading is not Reading.IDLE

    @property
    def is_known(self) -> bool:
        """Whether the schema was read as far as it can be: a graph that is too large for that is as ready as others."""
        return self.latest is not None and not _may_pass(self.latest.fault)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have a function called, in the event loop, whenever the schema changes."""
        self._listeners.append(listener)

    def start(self) -> None:
        """Read the schema in the background, in full if the profile allows, unless it is there or being read."""
        self._ask(Event.STARTED, Tally("schema", self._clock))

    def retry(self, *, at_once: bool) -> None:
        """Read a schema again that could not be read, in the background.

        Args:
            at_once: Whether the cause has passed; otherwise it is read again once that is due.
        """
        if self.latest is not None and not self.is_known and (at_once or self._age.is_expired):
            self._ask(Event.DUE, Tally("schema", self._clock))
            self._ask(Event.STARTED, Tally("schema", self._clock))

    async def view(
        self, call: Call, *, unknown_term: bool = False, in_full: bool = False, may_be_old: bool = False
    ) -> SchemaView:
        """Return the schema.

        A reading has a budget of its own, because a large graph would use up the caller's. The caller waits for the
        first lists, and for the rest no longer than the profile's patience. A large graph is read in full only
        for a caller that asks for its schema, for a server (`start`), or where the profile says for how long. A schema
        that cannot be read is empty and says why, and is soon read again.

        Args:
            call: The call that asks.
            unknown_term: Whether a caller names a term that the schema lacks: the graph may have changed, so it is
                read again, but at most once a minute. Names of its terms that could not be read are read at once.
            in_full: Whether the caller asks for the schema itself; then an earlier fault is no answer.
            may_be_old: Whether the lists of an earlier run are good enough while they are being checked.
        """
        with call.tally.stage("schema"):
            if in_full:
                self._ask(Event.ENUMERATION_REQUESTED, call.tally)
            is_due = self._is_due(unknown_term=unknown_term, in_full=in_full)
            self._ask(Event.DUE if is_due else Event.NEEDED, call.tally)
            if self._reading is not None and not (may_be_old and self._has_loaded):
                await self._waiters.wait(self._reading, call, lambda: self._state.is_abandonable)
            if unknown_term and self.latest is not None and not self.latest.schema.labelled:
                await self._read_labels(self.latest, call)
        if (latest := self.latest) is not None:
            await latest.prepare(call)
            return latest
        fault = deadline_passed()
        return self._view_of(_unread(fault), fault)

    @property
    def _has_loaded(self) -> bool:
        """Whether the lists are those of an earlier run."""
        return self._loaded is not None and self.latest is self._loaded

    async def _read_labels(self, unlabelled: SchemaView, call: Call) -> None:
        """Read the labels that a reading of the schema could not read; the caller pays for it."""
        schema = unlabelled.schema
        types = [term.iri for term in schema.types if not term.label]
        predicates = [term.iri for term in schema.predicates if not term.label]
        facts: dict[Iri, NodeFacts] = {}
        # Those of the schema are for calls in every language.
        with call.reserving(requests=_KEPT, time=_KEPT), call.in_language(""):
            if types or predicates:
                facts |= await self._store.predicates([*types, *predicates], call)
        await Slices().begin()
        if self.latest is unlabelled:
            # It was not read again meanwhile.
            self._publish(_with_labels(schema, facts), unlabelled.fault)

    async def observe(self, types: Iterable[Iri], predicates: Iterable[Iri]) -> None:
        """Compare the schema with the types and predicates of an answer.

        An unlisted term shows that the graph has changed since it was enumerated: the lists are not complete any more
        and are read again. A schema that is a sample gains the term.
        """
        latest = self.latest
        if latest is None:
            return
        new_types, new_predicates = latest.unlisted(types, predicates)
        if not new_types and not new_predicates:
            return
        await Slices().begin()
        if self.latest is not latest:
            # It was read again meanwhile, and a later answer is compared with that.
            return
        schema, reason = latest.schema, latest.schema.reason
        action = self._advance(Event.DISPROVED if latest.comprehensive else Event.TERM_FOUND)
        if action is Action.NONE:
            return
        if action is Action.ADD_TERMS_AND_RETRACT:
            one = self._prefixes.in_prose((new_types or new_predicates)[0])
            reason = f"a traversal met {one}, which was not there when the lists were made"
            _log.warning("the schema is not complete any more: %s", reason)
        self._publish(_with_found(schema, new_types, new_predicates, reason))
        if not self._age.is_recent:
            self._ask(Event.RECHECK_DUE, Tally("schema", self._clock))

    async def wait_until_read(self) -> None:
        """Wait until no reading is under way."""
        if self._reading is not None:
            await asyncio.wait({self._reading})

    async def close(self) -> None:
        """Stop reading."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def _advance(self, event: Event) -> Action:
        self._state, action = next_state(self._state, event)
        return action

    def _ask(self, event: Event, tally: Tally) -> None:
        """Begin to read if the event is a reason for it."""
        action = self._advance(event)
        if action not in {Action.LOAD_AND_READ, Action.READ}:
            return
        self._reading = asyncio.create_task(self._read(tally))
        self._reading.add_done_callback(self._ended)
        if action is Action.LOAD_AND_READ:
            self._load()
        self._waiters.reading_began(has_lists=self._state.lists not in {Lists.EMPTY, Lists.UNREADABLE})

    def _is_due(self, *, unknown_term: bool, in_full: bool) -> bool:
        if self.latest is None:
            return False
        is_doubtful = unknown_term and not self._age.is_recent
        return self._age.is_expired or is_doubtful or (in_full and _may_pass(self.latest.fault))

    def _load(self) -> None:
        stored = None if self._storage is None else self._storage.load()
        if stored is None:
            return
        was_enumerated = "enumerated" in stored.basis.methods
        self._advance(Event.LOADED_ENUMERATION if was_enumerated else Event.LOADED_SAMPLE)
        self._age.note_loading()
        self._loaded_at = stored.basis.read_at
        if stored.names is not None and (reader := self._store.name_reader()) is not None:
            reader.use_predicates(stored)
        self._publish(_loaded(stored))
        self._loaded = self.latest

    async def _read(self, tally: Tally) -> None:
        """Read the schema, quickly and then in full, and publish the result of each."""
        enumerates = self._state.enumerates
        try:
            schema = await self._store.quick_schema(self._allowances.quick(tally))
        except (DeadlinePassed, BudgetSpent) as fault:
            # A graph that is too slow or too large for the quick reading may still be enumerated.
            self._failed(fault)
        except Fault as fault:
            self._failed(fault)
            return
        else:
            await Slices().begin()
            if schema.exact:
                self._finished(schema)
                return
            self._sampled(schema, enumerates=enumerates)
        if enumerates:
            self._advance(Event.ENUMERATION_BEGAN)
            try:
                schema = await self._store.schema(self._allowances.enumeration())
                await Slices().begin()
                self._finished(schema)
            except Fault as fault:
                self._failed(fault)

    def _ended(self, reading: asyncio.Task[None]) -> None:
        self._reading = None
        self._advance(Event.ENDED)
        if not reading.cancelled() and (error := reading.exception()) is not None:
            _log.error("the schema could not be read, which is a defect of this gateway", exc_info=error)
            # As after a fault, the next call does not begin another reading.
            self._failed(EndpointFault(_DEFECT, next_step="Tell the operator of this gateway."))

    def _sampled(self, sample: Schema, *, enumerates: bool) -> None:
        if self._age.is_expired and self._advance(Event.EXPIRED) is Action.RETRACT:
            self._publish(_expired(self._schema))
        action = self._advance(Event.PREVIEWED if enumerates else Event.READ_PART)
        if action is Action.ADOPT:
            self._adopt(sample)
        elif sample.names is not None:
            self._publish(_with_names_of(sample, self._schema))

    def _finished(self, schema: Schema) -> None:
        if schema.exact and not self._profile.endpoint.trusted:
            schema = replace(schema, exact=False, reason=doubt_of(self._profile))
        self._advance(Event.READ_ALL if schema.exact else Event.READ_PART)
        self._adopt(schema)

    def _failed(self, fault: Fault) -> None:
        _log.warning("the schema could not be read: %s", fault)
        match self._advance(Event.REREAD_FAILED if self._age.is_expired else Event.FAILED):
            case Action.REPORT_FAULT:
                self._age.note_failure()
                self._publish(_unread(fault), fault)
            case Action.REPORT_AGE:
                self._age.note_failure()
                self._publish(_not_read_again(self._schema, fault))
            case Action.REPORT_SAMPLE:
                self._publish(_not_enumerated(self._schema, fault))
            case _:
                pass

    def _adopt(self, schema: Schema) -> None:
        """Store and publish a schema that was read."""
        if self.latest is not None and not schema.exact:
            schema = _with_terms_of(schema, self.latest.schema)
        if self._storage is not None:
            self._storage.save(schema)
        self._age.note_reading(schema, ago=self._seconds_since_reading(schema))
        self._loaded_at = None
        self._publish(schema)

    def _seconds_since_reading(self, schema: Schema) -> float | None:
        """Return how long ago a schema was read that is that of an earlier run; None for one that this run read."""
        read_at = schema.basis.read_at
        if self._storage is None or read_at is None or read_at != self._loaded_at:
            return None
        return max(0.0, self._storage.age(schema))

    @property
    def _schema(self) -> Schema:
        assert self.latest is not None  # noqa: S101 - in every state but EMPTY there is one
        return self.latest.schema

    def _publish(self, schema: Schema, fault: Fault | None = None) -> None:
        before, self.latest = self.latest, self._view_of(schema, fault)
        self._waiters.lists_changed()
        if before is None or (before.schema, before.comprehensive) != (schema, self.latest.comprehensive):
            for listener in self._listeners:
                listener()

    def _view_of(self, schema: Schema, fault: Fault | None) -> SchemaView:
        # The operator vouches for triples that were not read, not for lists that were cut.
        vouched = self._profile.orientation.vouched and self._state.can_be_vouched_for and not schema.is_cut
        return SchemaView.of(
            schema,
            self._profile.types,
            self._prefixes,
            lists_all=self._state.claims_all or vouched,
            has_types=bool(self._profile.edges.types),
            fault=fault,
        )


def _may_pass(fault: Fault | None) -> bool:
    """Return whether a fault may have passed: a graph that is too large to be read in time is still too large."""
    return not isinstance(fault, DeadlinePassed | BudgetSpent | None)


def _enumeration(profile: Profile, allowances: ReadingAllowances) -> Enumeration:
    """Return whether a large graph is enumerated; by default only once somebody needs the whole schema."""
    if not allowances.has_enumeration:
        return Enumeration.FORBIDDEN
    is_requested = profile.orientation.enumeration_seconds is not None
    return Enumeration.REQUESTED if is_requested else Enumeration.UNREQUESTED


_MOST_FOUND = 5_000
"""A list grows up to this length by terms that only traversals have found."""


def _loaded(stored: Schema) -> Schema:
    """Return the schema that an earlier run stored, until this run has read its own.

    It says of no predicates that they are all those of names: until they were looked for again, there may be others.
    """
    return replace(stored, exact=False, names=None, reason=f"they are those of {_date(stored)}, and are being checked")


def _unread(fault: Fault) -> Schema:
    """Return the schema of a graph that was never read."""
    return Schema(reason=fault.wrong)


def _expired(schema: Schema) -> Schema:
    """Return a complete schema that has expired and is being read again."""
    return replace(schema, exact=False, reason=f"they are those of {_date(schema)}, and are being read again")


def _not_read_again(schema: Schema, fault: Fault) -> Schema:
    """Return a schema that has expired and could not be read again."""
    return replace(schema, exact=False, reason=f"it is old, and could not be read again: {fault.wrong}")


def _not_enumerated(schema: Schema, fault: Fault) -> Schema:
    """Return a schema that is no enumeration, with the reason why there is none."""
    return replace(schema, reason=f"{schema.reason}; reading the graph in full failed: {fault.wrong}")


def _with_labels(schema: Schema, facts: Mapping[Iri, NodeFacts]) -> Schema:
    def named(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(
            replace(term, label=facts[term.iri].name, aliases=facts[term.iri].aliases)
            if not term.label and term.iri in facts
            else term
            for term in terms
        )

    labelled = all(fact.mark.whole for fact in facts.values())
    return replace(schema, types=named(schema.types), predicates=named(schema.predicates), labelled=labelled)


def _with_found(schema: Schema, types: Sequence[Iri], predicates: Sequence[Iri], reason: str) -> Schema:
    """Return a schema with terms that a traversal found, and the reason why it is not complete."""
    return replace(
        schema,
        types=_with_terms(schema.types, types),
        predicates=_with_terms(schema.predicates, predicates),
        exact=False,
        reason=reason,
        basis=replace(schema.basis, methods=tuple(dict.fromkeys((*schema.basis.methods, "met")))),
    )


def _with_terms_of(sample: Schema, before: Schema) -> Schema:
    """Return a sample with the terms that an earlier schema had, because the graph may well have them still."""
    found = replace(
        sample,
        types=_with_uncounted(sample.types, before.types),
        predicates=_with_uncounted(sample.predicates, before.predicates),
        hubs=sample.hubs or before.hubs,
        annotations=sample.annotations or before.annotations,
        superclasses={**before.superclasses, **sample.superclasses},
    )
    return found if sample.names is not None else _with_names_of(before, found)


def _with_names_of(one: Schema, other: Schema) -> Schema:
    """Return a schema with what another one says about names."""
    return replace(
        other,
        names=one.names,
        synonyms=one.synonyms,
        codes=one.codes,
        languages=one.languages,
        descriptions=one.descriptions,
        name_parts=one.name_parts,
    )


def _with_uncounted(terms: tuple[Term, ...], before: tuple[Term, ...]) -> tuple[Term, ...]:
    listed = {term.iri for term in terms}
    return (*terms, *(replace(term, count=None) for term in before if term.iri not in listed))


def _with_terms(terms: tuple[Term, ...], found: Sequence[Iri]) -> tuple[Term, ...]:
    return (*terms, *(Term(iri, None) for iri in found[: max(0, _MOST_FOUND - len(terms))]))


def _date(schema: Schema) -> str:
    read_at = schema.basis.read_at
    return "an earlier run" if read_at is None else f"{datetime.fromtimestamp(read_at, UTC):%Y-%m-%d}"
