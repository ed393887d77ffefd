"""What is known about the schema of a graph: read in the background, looked up by everyone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from gateway.engine.schema.view import SchemaView, with_all_of, with_met
from gateway.errors import BudgetSpent, DeadlinePassed, EndpointFault, Fault
from gateway.graph.call import Call
from gateway.graph.deadline import Clock, Deadline, deadline_passed
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Schema
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Tally
from gateway.terms.prefixes import PrefixMap

_log = logging.getLogger(__name__)

_REQUESTS = 50
_ENUMERATION_SECONDS = 600.0
"""Time for reading a graph in full where the profile does not say."""

_ENUMERATION_REQUESTS = 5_000
_RETRY_SECONDS = 60.0
"""A schema that could not be read is not asked for again before; every call would wait for it."""

_LONGEST_RETRY_SECONDS = 3600.0
"""What failed in part is not read again before: the next reading may fail there too."""

_DEFECT = "The gateway failed to read the schema in a way it should not; the details are in its log."


class SchemaStorage(Protocol):
    """Keeps a schema between runs."""

    def load(self) -> Schema | None:
        """Return what an earlier run knew; None where there is nothing."""
        ...

    def save(self, schema: Schema) -> None:
        """Keep a schema in place of the one before."""
        ...


class SchemaCache:
    """Keeps the schema, and has it read: first in a quick look, then in full, while calls go on.

    Args:
        store: The graph.
        profile: How long the reading may take, and how long a call waits for it.
        prefixes: Short forms of IRIs.
        clock: The clock of all deadlines.
        storage: Keeps the schema between runs, where it is to be kept.
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
        self._known: SchemaView | None = None
        self._reading: asyncio.Task[None] | None = None
        self._patient_until = 0.0
        self._something = asyncio.Event()
        self._waiting = 0
        self._is_wanted = False
        self._is_outdated = False
        self._is_disproved = False
        # Whoever asks one question and goes is no reason for having every triple read.
        self._wants_all = profile.orientation.enumeration_seconds is not None
        self._has_tried_all = False
        self._failures = 0
        self._listeners: list[Callable[[], None]] = []

    @property
    def latest(self) -> SchemaView | None:
        """What is known now; None before anything was read."""
        return self._known

    @property
    def is_reading(self) -> bool:
        """Whether the graph is being read at this moment."""
        return self._reading is not None

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have a function called, in the event loop, whenever something else is known."""
        self._listeners.append(listener)

    def start(self) -> None:
        """Have the schema read in the background, in full if the profile allows, unless it is known or being read."""
        self._wants_all = True
        if self._known is None:
            self._begin(Tally("schema", self._clock))
        # Whoever gives up waiting does not stop what was to go on without them.
        self._is_wanted = True

    async def view(self, call: Call, *, unknown_term: bool = False, in_full: bool = False) -> SchemaView:
        """Return the schema.

        It is read on an allowance of its own, so that a large graph does not use up the caller's. The caller waits
        for the first reading, and for the rest no longer than the profile's patience. A large graph is read in full
        only for a caller that asks for its schema, for a server (`start`), or where the profile says for how long. A
        schema that cannot be read is empty and says why, and is soon read again.

        Args:
            call: The call that asks.
            unknown_term: Whether a caller names what is not in it: the graph may have changed, so it is read again,
                though not more than once a minute.
            in_full: Whether the caller asks for nothing else, so that a fault of before is no answer.
        """
        self._wants_all = self._wants_all or in_full
        with call.tally.stage("schema"):
            if self._is_to_be_read(unknown_term=unknown_term, in_full=in_full):
                self._begin(call.tally)
            if self._reading is not None:
                await self._wait(self._reading, call)
        if self._known is not None:
            return self._known
        fault = deadline_passed()
        return self._derived(Schema(reason=fault.wrong), fault, read=0.0, until=0.0)

    def observe(self, types: Iterable[Iri], predicates: Iterable[Iri]) -> None:
        """Learn what the nodes and edges of an answer have.

        A term that is not listed shows that the graph has changed since it was enumerated, so that the lists are
        complete no more and are read again; in a schema that is a sample, it is one more that is known.
        """
        known = self._known
        if known is None or known.fault is not None:
            return
        new_types, new_predicates = known.unlisted(types, predicates)
        if not new_types and not new_predicates:
            return
        schema = known.schema
        reason = schema.reason
        if known.comprehensive:
            one = self._prefixes.in_prose((new_types or new_predicates)[0])
            reason = f"a traversal met {one}, which was not there when the lists were made"
            _log.warning("the schema is not complete any more: %s", reason)
            self._is_disproved = True
        more = replace(
            schema,
            types=with_met(schema.types, new_types),
            predicates=with_met(schema.predicates, new_predicates),
            exact=False,
            reason=reason,
            basis=replace(schema.basis, methods=tuple(dict.fromkeys((*schema.basis.methods, "met")))),
        )
        self._publish(self._derived(more, None, read=known.read, until=known.until))
        self._is_outdated = self._is_outdated or schema.exact
        if self._is_outdated and self._clock() - known.read > _RETRY_SECONDS:
            self._begin(Tally("schema", self._clock))

    async def wait_until_read(self) -> None:
        """Wait until the reading that is under way has ended, one way or the other."""
        if self._reading is not None:
            await asyncio.wait({self._reading})

    async def close(self) -> None:
        """Stop reading."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def _is_to_be_read(self, *, unknown_term: bool, in_full: bool) -> bool:
        known, now = self._known, self._clock()
        if known is None:
            return True
        # A graph that is too large to enumerate in time will be so again at once; another fault may have passed.
        if self._goes_on and not self._has_tried_all and not known.schema.exact and known.fault is None:
            return True
        passing = known.fault is not None and not isinstance(known.fault, DeadlinePassed | BudgetSpent)
        return now > known.until or (unknown_term and now - known.read > _RETRY_SECONDS) or (in_full and passing)

    def _begin(self, tally: Tally) -> None:
        """Begin to read, unless that is under way; until it is read, what an earlier run knew is known."""
        if self._reading is None:
            if self._known is None and self._storage is not None and (kept := self._storage.load()) is not None:
                # A list that was once complete tells more than a sample, though nobody knows whether it still is.
                self._is_outdated = "enumerated" in kept.basis.methods
                reason = f"they are those of {_date(kept)}, and are being checked"
                # The store below looks for names by the predicates that this run has found, not by those of that one.
                old = replace(kept, exact=False, names=None, reason=reason)
                self._publish(self._derived(old, None, read=self._clock(), until=self._clock() + _RETRY_SECONDS))
            self._patient_until = self._clock() + self._profile.orientation.patience_seconds
            if self._known is not None and self._known.fault is not None:
                self._something = asyncio.Event()
            self._reading = asyncio.create_task(self._read(tally))
            self._reading.add_done_callback(self._ended)

    def _ended(self, reading: asyncio.Task[None]) -> None:
        self._reading, self._is_wanted = None, False
        if not reading.cancelled() and (error := reading.exception()) is not None:
            _log.error("the schema could not be read, which is a defect of this gateway", exc_info=error)
            # As after a fault, not every call begins anew.
            self._could_not_read(EndpointFault(_DEFECT, next_step="Tell whoever runs this gateway."))

    async def _wait(self, reading: asyncio.Task[None], call: Call) -> None:
        """Wait until enough is known: something at all, and all of it where that comes soon."""
        left = min(call.deadline.seconds_left, self._profile.limits.schema_seconds)
        something = asyncio.ensure_future(self._something.wait())
        self._waiting += 1
        with call.tally.waiting():
            try:
                await asyncio.wait({reading, something}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                patience = min(call.deadline.seconds_left, self._patient_until - self._clock())
                if patience > 0:
                    await asyncio.wait({reading}, timeout=patience)
            except asyncio.CancelledError:
                if self._waiting == 1 and not self._is_wanted:
                    reading.cancel()
                    # The caller's record is written when this has ended, so it tells what became of the query.
                    await asyncio.wait({reading})
                raise
            finally:
                self._waiting -= 1
                something.cancel()

    async def _read(self, tally: Tally) -> None:
        """Read the schema, and make known what is known at each step."""
        limits, goes_on = self._profile.limits, self._goes_on
        try:
            seen = await self._store.quick_schema(self._allowance(limits.schema_seconds, _REQUESTS, tally))
        except (DeadlinePassed, BudgetSpent) as fault:
            # It is slow, or large beyond measure; what a call cannot wait for may still be read behind its back.
            self._could_not_read(fault)
        except Fault as fault:
            self._could_not_read(fault)
            return
        else:
            if not seen.exact:
                self._doubt_what_is_old()
            listed = self._known is not None and (self._known.schema.exact or self._is_outdated)
            # A list that was once complete is better than a sample only until it has been made anew.
            if seen.exact or not (listed and goes_on):
                self._publish_read(seen)
            elif self._known is not None and seen.names is not None:
                known = self._known
                named = replace(known.schema, names=seen.names)
                self._publish(self._derived(named, known.fault, read=known.read, until=known.until))
            if seen.exact:
                return
        if not goes_on:
            return
        self._is_wanted = True
        try:
            further = Tally("schema", self._clock)
            self._has_tried_all = True
            allowance = self._allowance(self._seconds, _ENUMERATION_REQUESTS, further)
            self._publish_read(await self._store.schema(allowance))
        except Fault as fault:
            self._could_not_read(fault)

    def _doubt_what_is_old(self) -> None:
        """Believe a complete list no longer than the profile says, however long it takes to make the next one."""
        known = self._known
        if known is not None and known.schema.exact and self._clock() > known.until:
            self._is_outdated = True
            reason = f"they are those of {_date(known.schema)}, and are being read again"
            old = replace(known.schema, exact=False, reason=reason)
            self._publish(self._derived(old, None, read=known.read, until=known.until))

    @property
    def _seconds(self) -> float:
        """Time for reading the graph in full."""
        seconds = self._profile.orientation.enumeration_seconds
        return _ENUMERATION_SECONDS if seconds is None else seconds

    @property
    def _goes_on(self) -> bool:
        """Whether a graph that is too large for the quick reading is read in full."""
        is_larger = self._profile.limits.scan_rows > self._profile.orientation.glance_triples
        return self._wants_all and self._seconds > 0 and is_larger

    def _allowance(self, seconds: float, requests: int, tally: Tally) -> Call:
        limits = self._profile.limits
        return Call(Deadline.after(seconds, self._clock), requests, limits.rows, limits.nodes, tally=tally)

    def _could_not_read(self, fault: Fault) -> None:
        _log.warning("the schema could not be read: %s", fault)
        known, now = self._known, self._clock()
        if known is None or known.fault is not None:
            unread = Schema(reason=fault.wrong)
            self._publish(self._derived(unread, fault, read=now, until=now + self._next_try()))
        elif now > known.until:
            # What was read long ago is still the best there is, but nobody knows whether it is all.
            old = replace(known.schema, exact=False, reason=f"it is old, and could not be read again: {fault.wrong}")
            self._publish(self._derived(old, None, read=now, until=now + self._next_try()))
        elif not known.schema.exact:
            sample = replace(
                known.schema, reason=f"{known.schema.reason}; reading the graph in full failed: {fault.wrong}"
            )
            self._publish(self._derived(sample, None, read=known.read, until=known.until))

    def _next_try(self) -> float:
        """Return the seconds until the schema is read again after a failure.

        Where an endpoint counts what it is asked, each of these is taken from what calls need.
        """
        self._failures += 1
        counted = self._profile.endpoint.has_quota
        return (
            min(_LONGEST_RETRY_SECONDS, _RETRY_SECONDS * 2 ** min(self._failures - 1, 10))
            if counted
            else _RETRY_SECONDS
        )

    def _publish_read(self, schema: Schema) -> None:
        self._failures = 0
        now = self._clock()
        if schema.exact and not self._profile.endpoint.trusted:
            schema = replace(schema, exact=False, reason="the endpoint may have cut its answers without a sign")
        self._is_outdated = self._is_outdated and not schema.exact
        self._is_disproved = self._is_disproved and not schema.exact
        if self._known is not None and not schema.exact:
            schema = with_all_of(schema, self._known.schema)
        if self._storage is not None:
            self._storage.save(schema)
        lasts = self._profile.limits.schema_hours * 3600.0 if schema.labelled else _RETRY_SECONDS
        if schema.names is None:
            lasts = min(lasts, _LONGEST_RETRY_SECONDS)
        self._publish(self._derived(schema, None, read=now, until=now + lasts))

    def _derived(self, schema: Schema, fault: Fault | None, *, read: float, until: float) -> SchemaView:
        # The operator's word is about triples that were not read; it ends where terms are known to be missing.
        vouched = self._profile.orientation.vouched and fault is None and not self._is_disproved and not schema.is_cut
        comprehensive = schema.exact or vouched
        return SchemaView.of(
            schema,
            self._profile.types.preferred,
            self._prefixes,
            comprehensive=comprehensive,
            has_types=bool(self._profile.edges.types),
            fault=fault,
            read=read,
            until=until,
        )

    def _publish(self, known: SchemaView) -> None:
        before, self._known = self._known, known
        self._something.set()
        if before is None or (before.schema, before.comprehensive) != (known.schema, known.comprehensive):
            for listener in self._listeners:
                listener()


def _date(schema: Schema) -> str:
    read_at = schema.basis.read_at
    return "an earlier run" if read_at is None else f"{datetime.fromtimestamp(read_at, UTC):%Y-%m-%d}"
