"""What is known about the schema of a graph, fetched once and looked up by everyone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.engine.types import UNKNOWN, UNTYPED, TypeChooser
from gateway.engine.vocabulary import Vocabulary
from gateway.errors import BudgetSpent, DeadlinePassed, Fault
from gateway.graph.budget import Budget, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Schema
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

_log = logging.getLogger(__name__)

_REQUESTS = 50
_LABEL = 200
"""Characters of a label that an answer shows."""

_RETRY_SECONDS = 60.0
"""A schema that could not be read is not asked for again before; every call would wait for it."""


@dataclass(frozen=True, slots=True)
class Known:
    """A schema and what is derived from it.

    Attributes:
        schema: The types and predicates.
        chooser: Chooses one type per node.
        types: The types by every name.
        predicates: The predicates by every name.
        labels: Labels by IRI.
        fault: Why the schema could not be read, or None.
        read: When it was read, on the clock.
        until: When it is to be read again, on the clock.
    """

    schema: Schema
    chooser: TypeChooser
    types: Vocabulary
    predicates: Vocabulary
    labels: dict[Iri, str]
    fault: Fault | None
    read: float
    until: float


class SchemaBook:
    """Keeps the schema."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._known: Known | None = None
        self._reading = asyncio.Lock()

    async def known(self, budget: Budget, *, doubted: bool = False, wanted: bool = False) -> Known:
        """Return the schema, read at most once for the time the profile gives it.

        Args:
            budget: The call's budget.
            doubted: Whether a caller names what is not in it: the graph may have changed, so it is read again,
                though not more than once a minute.
            wanted: Whether the caller asks for nothing else, so that a fault of before is no answer.

        It is read on an allowance of its own, so that a large graph does not use up the caller's; a schema that
        cannot be read is empty and says why, and that is not kept for long.
        """
        clock = budget.deadline.clock
        with budget.tally.stage("schema"):
            with budget.tally.waiting():
                await self._reading.acquire()
            try:
                if self._known is None or self._is_stale(self._known, clock(), doubted=doubted, wanted=wanted):
                    self._known = await self._read(budget)
            finally:
                self._reading.release()
            return self._known

    @staticmethod
    def _is_stale(known: Known, now: float, *, doubted: bool, wanted: bool) -> bool:
        # A graph that is too large to enumerate in time will be so again at once; another fault may have passed.
        passing = known.fault is not None and not isinstance(known.fault, DeadlinePassed | BudgetSpent)
        return now > known.until or (doubted and now - known.read > _RETRY_SECONDS) or (wanted and passing)

    async def _read(self, budget: Budget) -> Known:
        limits = self._profile.limits
        clock = budget.deadline.clock
        seconds = min(limits.schema_seconds, budget.deadline.seconds_left)
        allowance = Budget(Deadline.after(seconds, clock), _REQUESTS, limits.rows, limits.nodes, tally=budget.tally)
        failed: Fault | None = None
        try:
            schema = await self._store.schema(allowance)
            lasts = limits.schema_hours * 3600.0 if schema.labelled else _RETRY_SECONDS
        except Fault as fault:
            _log.warning("the schema could not be read: %s", fault)
            failed, schema = fault, Schema(reason=fault.wrong)
            lasts = _RETRY_SECONDS
        # Without all labels, a name that matches nothing may be a label.
        comprehensive = schema.exact and schema.labelled
        return Known(
            schema,
            TypeChooser(schema, self._profile.types.preferred, self._prefixes),
            Vocabulary("type", schema.types, self._prefixes, comprehensive=comprehensive, words=(UNTYPED, UNKNOWN)),
            Vocabulary("predicate", schema.predicates, self._prefixes, comprehensive=comprehensive),
            {term.iri: term.label for term in (*schema.types, *schema.predicates) if term.label},
            failed,
            clock(),
            clock() + lasts,
        )


def labels_of(known: Known, prefixes: PrefixMap, iris: Sequence[Iri]) -> dict[str, str]:
    """Return the labels of some types and predicates by canonical ID, sorted."""
    return dict(sorted((prefixes.shorten(iri), known.labels[iri][:_LABEL]) for iri in set(iris) if iri in known.labels))
