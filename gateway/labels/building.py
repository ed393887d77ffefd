"""Reading all names of a graph into a draft, page by page, and making the index of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import EndpointFault
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.graph.name_reader import NameReader
from gateway.graph.values import Iri
from gateway.labels import partial_index
from gateway.labels.partial_index import PredicateProgress
from gateway.labels.sqlite_worker import SqliteWorker
from gateway.settings.profile import Profile

Allowance = Callable[[], Call]
"""Gives what one page may spend: a build as a whole may take hours, and no page may hang."""

OnProgress = Callable[[int, int], Awaitable[None]]
"""Told how many entities are read, and of how many."""


_REQUESTS = 10_000
_ROWS = 10_000_000
_MORE = 1_000
"""Entities that a graph may have got, while it is read, beyond twice those that it had."""


async def no_progress(_: int, __: int) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class _Progress:
    """How far a reading is, in entities; one with names by several predicates counts for each."""

    told: OnProgress
    read: int
    total: int

    async def add(self, entities: int) -> None:
        self.read += entities
        await self.told(self.read, max(self.read, self.total))


def allowance_of(profile: Profile, seconds: float | None = None) -> Allowance:
    """Return what a page may spend under a profile: as many rows as it takes.

    Args:
        profile: The profile.
        seconds: Time for a page; that of a call where not given.
    """
    limits = profile.limits
    allowed = limits.deadline_seconds if seconds is None else seconds
    return lambda: Call(Deadline.after(allowed), _REQUESTS, _ROWS, limits.nodes)


async def read_names(
    names: NameReader,
    worker: SqliteWorker,
    allowance: Allowance,
    *,
    about: str = "",
    path: Path | None = None,
    afresh: bool = False,
    told: OnProgress = no_progress,
) -> int:
    """Read all names into a draft at a desk; go on where a draft of the same was left.

    Args:
        names: Reads the graph.
        worker: Where the draft is attached.
        allowance: What each page may spend.
        about: What the draft is of.
        path: The draft's file; a temporary database where not given.
        afresh: Whether to begin with nothing, also where there is a draft of the same.
        told: Told after each page.

    Returns:
        How many names or entities are missing; 0: the draft is whole.

    Raises:
        Fault: The graph could not be asked; what was read is kept.
        sqlite3.Error: The draft is broken, or another process works on it.
    """
    predicates = names.predicates
    await worker.run(partial_index.open_partial, path, f"{about} {' '.join(predicates)}", afresh)
    if not await worker.run(partial_index.readings):
        counts = [(predicate, await names.count(predicate, allowance())) for predicate in predicates]
        await worker.run(partial_index.begin, counts)
    readings = await worker.run(partial_index.readings)
    read, total = (sum(getattr(reading, count) for reading in readings) for count in ("entities", "expected"))
    progress = _Progress(told, read, total)
    await progress.add(0)
    for reading in readings:
        if not reading.done:
            await _read(names, worker, allowance, reading, progress)
    return await worker.run(partial_index.missing)


async def _read(
    names: NameReader, worker: SqliteWorker, allowance: Allowance, reading: PredicateProgress, progress: _Progress
) -> None:
    """Read the pages of one predicate that are not read yet."""
    after: Iri | None = reading.after
    seen = reading.entities
    while after is not None:
        call = allowance()
        page = await names.page(reading.predicate, after, call)
        entities = list(dict.fromkeys(name.iri for name in page.names))
        seen += len(entities)
        if seen > 2 * reading.expected + _MORE:
            raise EndpointFault("The pages of names do not come to an end.")
        new = await worker.run(partial_index.unknown, entities)
        await worker.run(partial_index.add, reading.predicate, page, await names.types(new, call))
        await progress.add(len(entities))
        after = page.after
