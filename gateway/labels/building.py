"""Reading all names of a graph into a partial index, page by page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import EndpointFault
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.graph.name_reader import NameReader, OnProgress
from gateway.graph.values import Iri
from gateway.labels import partial_index
from gateway.labels.partial_index import PredicateProgress
from gateway.labels.sqlite_worker import SqliteWorker
from gateway.settings.profile import Profile

Allowance = Callable[[], Call]
"""Returns a new `Call` for one page: a build may take hours, but no page may hang."""


_REQUESTS = 10_000
_ROWS = 10_000_000
"""Requests and rows of one page, more than any needs: its time is the bound."""

_MORE = 1_000
"""Entities by which a growing graph may exceed twice its count, before its pages are called endless."""


async def no_progress(_: int, __: int) -> None:
    """Report nothing."""


@dataclass(slots=True)
class _Progress:
    """How far a build is, in entities; an entity with names by several predicates counts once for each."""

    on_progress: OnProgress
    read: int
    total: int

    async def add(self, entities: int) -> None:
        self.read += entities
        await self.on_progress(self.read, max(self.read, self.total))


def allowance_of(profile: Profile, seconds: float | None = None) -> Allowance:
    """Return the allowance of a page under a profile; its rows are not limited.

    Args:
        profile: The profile.
        seconds: Time for a page; by default that of a call.
    """
    limits = profile.limits
    allowed = limits.deadline_seconds if seconds is None else seconds
    return lambda: Call(Deadline.after(allowed), _REQUESTS, _ROWS, limits.nodes)


async def read_names(
    names: NameReader,
    worker: SqliteWorker,
    allowance: Allowance,
    *,
    source: str = "",
    path: Path | None = None,
    restart: bool = False,
    on_progress: OnProgress = no_progress,
) -> int:
    """Read all names into a partial index; resume one of the same source.

    Args:
        names: Lists the names of the graph.
        worker: The worker to which the partial index is attached.
        allowance: What each page may spend.
        source: Identifies the graph.
        path: The file of the partial index; None for a temporary database.
        restart: Whether to empty the partial index first.
        on_progress: Called after each page.

    Returns:
        How many names or entities are missing; 0 if the partial index is complete.

    Raises:
        Fault: The graph could not be asked; the pages read so far are stored.
        sqlite3.Error: The partial index is broken, or another process uses it.
    """
    predicates = names.predicates
    await worker.run(partial_index.open_partial, path, f"{source} {' '.join(predicates)}", restart)
    if not await worker.run(partial_index.readings):
        counts = [(predicate, await names.count(predicate, allowance())) for predicate in predicates]
        await worker.run(partial_index.begin, counts)
    readings = await worker.run(partial_index.readings)
    progress = _Progress(
        on_progress, sum(reading.entities for reading in readings), sum(reading.expected for reading in readings)
    )
    await progress.add(0)
    for reading in readings:
        if not reading.done:
            await _read_predicate(names, worker, allowance, reading, progress)
    return await worker.run(partial_index.missing)


async def _read_predicate(
    names: NameReader, worker: SqliteWorker, allowance: Allowance, reading: PredicateProgress, progress: _Progress
) -> None:
    """Read the pages of one predicate that were not read yet."""
    after: Iri | None = reading.after
    count = reading.entities
    while after is not None:
        call = allowance()
        page = await names.page(reading.predicate, after, call)
        entities = list(dict.fromkeys(name.iri for name in page.names))
        count += len(entities)
        if count > 2 * reading.expected + _MORE:
            raise EndpointFault("The pages of names do not come to an end.")
        new = await worker.run(partial_index.new_entities, entities)
        await worker.run(partial_index.add, reading.predicate, page, await names.types(new, call))
        await progress.add(len(entities))
        after = page.after
