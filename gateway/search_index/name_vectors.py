"""Finds the names of an index by their meaning: makes their vectors in the background, and compares."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.errors import ConfigurationError, DeadlinePassed, Fault, GatewayError
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import in_thread
from gateway.graph.values import Hits, Iri, MeantHit, SearchTerms
from gateway.meaning.embedder import Embedded, Embedder
from gateway.search_index.index import LabelIndex, LabelIndexSource
from gateway.search_index.partial_index import no_progress
from gateway.search_index.sqlite_worker import ClosedError

# A plain install has no numpy.
if TYPE_CHECKING:
    import numpy as np

    from gateway.meaning.embedder import Matrix
    from gateway.search_index.vectors import NameVectors

_log = logging.getLogger(__name__)

MOST_NAMES = 200_000
"""Names whose vectors are made; they are compared one by one, which takes 20 ms."""

_MOST_BYTES = 1 << 30
"""Memory for vectors."""

_PAGE = 5_000
"""Names that are read of the index at once."""

_SECONDS = 60.0
"""Time for the vectors of one portion of names; no call waits for it."""

_PATIENCE = 2.0
"""Seconds that a search waits at most while vectors are made; those of some thousand names by a local model."""

_SHARE = 0.5
"""The share of its time that a search may spend on what names mean."""

_AGAIN_SECONDS = 60.0
"""Time from the end of a build to the next one, where it failed or the model is another one now."""

_NAMES_COMPARED = 200
"""The nearest names: an entity may have several."""

_MOST_ENTITIES = 20

_PROBE = "name"
"""A text whose vector tells how many numbers one has."""

_OPENING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Failed:
    """Why there are no vectors, and whether a later attempt may succeed."""

    why: str
    may_pass: bool = False


class _OtherModelError(Fault):
    """The embedder uses another model now than for the names."""


@dataclass(slots=True)
class _Begun:
    """Vectors that are being made, of which the first are done: after a fault the next attempt goes on there."""

    key: str
    vectors: Matrix
    done: int = 0


class NameVectorsSource:
    """Compares names by their meaning; see `gateway.search_index.index.MeaningSource`.

    Args:
        embedder: What makes the vectors.
        least: The least cosine of a name that is near.
        folder: A folder that belongs to exactly this graph, to store the vectors in; it need not exist.
        most: Names whose vectors are made.
    """

    def __init__(
        self,
        embedder: Embedder,
        least: float,
        folder: Path | None = None,
        *,
        most: int = MOST_NAMES,
        patience: float = _PATIENCE,
        again_seconds: float = _AGAIN_SECONDS,
    ) -> None:
        self._embedder = embedder
        self._least = least
        self._folder = folder
        self._most = most
        self._index: LabelIndex | None = None
        self._building: asyncio.Task[NameVectors | _Failed] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._patience = patience
        self._again_seconds = again_seconds
        self._again_at = 0.0
        self._is_outdated = False
        self._begun: _Begun | None = None
        self._made = (0, 0)

    @property
    def embedder(self) -> Embedder:
        """What makes the vectors."""
        return self._embedder

    def start(self, labels: LabelIndexSource) -> None:
        """Start to make the vectors as soon as there is an index."""
        if self._starting is None:
            self._starting = asyncio.create_task(self._built_after(labels), name="vectors of names")

    async def ready(self) -> None:
        """Wait until the vectors that were started are made, or could not be; no call waits for them so long."""
        if self._starting is not None:
            await asyncio.wait([self._starting])

    async def _built_after(self, labels: LabelIndexSource) -> None:
        await labels.built(no_progress)
        index = await labels.index(Deadline.after(_OPENING_SECONDS))
        if index is not None:
            await self.built_of(index)

    async def built_of(self, index: LabelIndex) -> None:
        """Wait until the vectors of an index are made, or could not be."""
        await asyncio.wait([self._current(index)])

    async def added(
        self, hits: Hits, index: LabelIndex | None, terms: SearchTerms, types: Sequence[Iri], call: Call
    ) -> Hits:
        """Return hits with the names that are near by their meaning, or with the reason why there are none."""
        if index is None:
            return replace(hits, not_meant=not_compared("there is no index of names"))
        try:
            with call.tally.waiting():
                built = await self._built_of(index, call.deadline)
            if built is None:
                return replace(hits, not_meant=vectors_pending(*self._made))
            if isinstance(built, _Failed):
                return replace(hits, not_meant=built.why)
            return replace(hits, meant=await self._near(built, index, terms.text, types, call))
        except (Fault, ClosedError, sqlite3.Error) as error:
            return replace(hits, not_meant=not_compared(_reason(error)))

    async def close(self) -> None:
        """Stop what is being made, and close the embedder."""
        tasks = [task for task in (self._starting, self._building) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._embedder.close()

    async def _built_of(self, index: LabelIndex, deadline: Deadline) -> NameVectors | _Failed | None:
        """Return the vectors of an index, or why there are none; None if they are being made."""
        building = self._current(index)
        if not building.done():
            await asyncio.wait([building], timeout=min(self._patience, deadline.seconds_left * _SHARE))
        return _outcome(building) if building.done() else None

    def _current(self, index: LabelIndex) -> asyncio.Task[NameVectors | _Failed]:
        """Return the task that makes the vectors of an index; start it if there is none, or it may be tried again."""
        building, now = self._building, asyncio.get_running_loop().time()
        if building is not None:
            made = _outcome(building) if building.done() else None
            is_due = self._is_outdated or (isinstance(made, _Failed) and made.may_pass)
            if index is self._index and not (is_due and building.done() and now >= self._again_at):
                return building
            building.cancel()
        self._index, self._again_at, self._is_outdated = index, now + self._again_seconds, False
        self._building = asyncio.create_task(self._build(index), name="vectors of an index")
        self._building.add_done_callback(self._ended)
        return self._building

    def _renew(self, built: NameVectors, index: LabelIndex) -> None:
        """Make the vectors of an index anew, as soon as that may be, because another model is used now."""
        building = self._building
        # Another search may have seen it before this one, and the vectors be made anew already.
        if index is self._index and building is not None and building.done() and _outcome(building) is built:
            self._is_outdated = True
            self._current(index)

    def _ended(self, building: asyncio.Task[NameVectors | _Failed]) -> None:
        """Note when the next attempt may begin, and what was not foreseen."""
        if building is self._building:
            self._again_at = asyncio.get_running_loop().time() + self._again_seconds
        if not building.cancelled() and (error := building.exception()) is not None:
            _log.error("the vectors of names are not made", exc_info=error)

    async def _near(
        self, built: NameVectors, index: LabelIndex, text: str, types: Sequence[Iri], call: Call
    ) -> tuple[MeantHit, ...]:
        deadline = call.deadline.within(min(self._embedder.seconds, call.deadline.seconds_left * _SHARE))
        asked = await self._embedder.embed([text], deadline)
        try:
            _check_same(asked, built)
        except _OtherModelError:
            self._renew(built, index)
            raise
        among = await index.numbers_of(types, deadline) if types else None
        compare = partial(built.nearest, asked.vectors[0], self._least, _NAMES_COMPARED, among)
        near = await in_thread(call, lambda _: compare())
        hits = await index.hits_of([number for number, _ in near], deadline)
        best: dict[Iri, MeantHit] = {}
        for number, score in near:
            if (hit := hits.get(number)) is not None:
                best.setdefault(hit.iri, MeantHit(hit, score))
        return tuple(best.values())[:_MOST_ENTITIES]

    async def _build(self, index: LabelIndex) -> NameVectors | _Failed:
        try:
            return await self._made_of(index)
        except (Fault, ConfigurationError) as error:
            _log.warning("names are not found by their meaning: %s", error)
            return _Failed(not_compared(_reason(error)), may_pass=True)
        except (ClosedError, sqlite3.Error) as error:
            _log.info("the vectors of names are not made: %s", error)
            return _Failed(not_compared("the index of names was closed"), may_pass=True)
        except OSError as error:
            _log.warning("names are not found by their meaning: %s", error)
            return _Failed(not_compared("a file of the embedder or of the vectors cannot be read"), may_pass=True)
        except MemoryError:
            return _Failed(not_compared("their vectors do not fit into memory"))

    async def _made_of(self, index: LabelIndex) -> NameVectors | _Failed:
        import numpy as np  # noqa: PLC0415 - an extra

        from gateway.search_index.vectors import load  # noqa: PLC0415

        count = await index.count()
        if count > self._most:
            return _Failed(too_many_names(count, self._most))
        probe = await self._embedder.embed([_PROBE], Deadline.after(_SECONDS))
        dimensions = probe.vectors.shape[1]
        if count * dimensions * 4 > _MOST_BYTES:
            return _Failed(too_many_names(count, _MOST_BYTES // dimensions // 4))
        numbers, texts, digest = await _names_of(index, count)
        key = hashlib.sha256(f"{digest} {probe.model} {dimensions}".encode()).hexdigest()
        file = None if self._folder is None else self._folder / f"names-{key[:16]}.vectors"
        known = np.asarray(numbers, np.int64)
        stored = None if file is None else await asyncio.to_thread(load, file, key, known, probe.model, dimensions)
        if stored is not None:
            return stored
        megabytes = count * dimensions * 4 >> 20
        _log.info(
            "%d names become vectors of %d numbers by %s: %d MB", count, dimensions, self._embedder.name, megabytes
        )
        begun = self._begun
        if begun is None or begun.key != key:
            begun = self._begun = _Begun(key, np.zeros((len(texts), dimensions), np.float32))
        await self._fill(begun, texts, probe)
        made, self._begun = _named(known, begun.vectors, probe.model), None
        if file is not None:
            await _keep(file, key, made)
        return made

    async def _fill(self, begun: _Begun, texts: Sequence[str], probe: Embedded) -> None:
        """Make the vectors that are not made yet, some at a time; equal texts stand together, and are asked once."""
        self._made = (begun.done, len(texts))
        for first in range(begun.done, len(texts), self._embedder.at_once):
            some = texts[first : first + self._embedder.at_once]
            different = {text: row for row, text in enumerate(dict.fromkeys(some))}
            embedded = await self._embedder.embed(list(different), Deadline.after(_SECONDS))
            _check_same(embedded, probe)
            begun.done = first + len(some)
            begun.vectors[first : begun.done] = embedded.vectors[[different[text] for text in some]]
            self._made = (begun.done, len(texts))


def _outcome(building: asyncio.Task[NameVectors | _Failed]) -> NameVectors | _Failed:
    """Return what a task that has ended brought; no search fails because it did."""
    if building.cancelled() or building.exception() is not None:
        return _Failed(not_compared("their vectors could not be made"), may_pass=True)
    return building.result()


async def _names_of(index: LabelIndex, count: int) -> tuple[list[int], list[str], str]:
    """Return the numbers of all names, the names, and a digest of both."""
    numbers: list[int] = []
    texts: list[str] = []
    digest = hashlib.sha256()
    while len(numbers) < count:
        page = await index.names(numbers[-1] if numbers else 0, _PAGE)
        if not page:
            break
        for number, text in page:
            numbers.append(number)
            texts.append(text)
            digest.update(f"{number} {text}\0".encode(errors="surrogatepass"))
    return numbers, texts, digest.hexdigest()


def _named(numbers: np.ndarray, vectors: Matrix, model: str) -> NameVectors:
    from gateway.search_index.vectors import NameVectors  # noqa: PLC0415 - with an extra

    return NameVectors(numbers, vectors, model)


async def _keep(file: Path, key: str, made: NameVectors) -> None:
    from gateway.search_index.vectors import store  # noqa: PLC0415 - with an extra

    try:
        await asyncio.to_thread(store, file, key, made)
    except (OSError, ConfigurationError) as error:
        _log.warning("the vectors of names cannot be stored in %s: %s", file.parent, error)


def _check_same(embedded: Embedded, other: Embedded | NameVectors) -> None:
    """Raise where vectors cannot be compared."""
    found, expected = embedded.vectors.shape[1], other.vectors.shape[1]
    if found != expected:
        raise _OtherModelError(
            f"The embedder answered with vectors of {found} numbers, and those of the names have {expected}."
        )
    if embedded.model != other.model:
        raise _OtherModelError("The embedder uses another model now than for the names.")


def _reason(error: Exception) -> str:
    if isinstance(error, DeadlinePassed):
        return "the embedder did not answer in time"
    return error.wrong.rstrip(".") if isinstance(error, GatewayError) else "the index of names was closed"


# --- sentences that a model reads ---


def not_compared(why: str) -> str:
    """Return the warning of a search in which names were compared by their spelling alone."""
    return f"Names were compared by spelling alone, not by meaning: {why[:1].lower()}{why[1:]}."


def vectors_pending(made: int, names: int) -> str:
    """Return the warning of a search before the vectors of the names are made."""
    so_far = f" ({made:,} of {names:,} names)" if names else ""
    return (
        f"Names were compared by spelling alone: what they mean is still being computed{so_far}. Ask again in a minute."
    )


def too_many_names(names: int, most: int) -> str:
    """Return the warning of a search in a graph with too many names."""
    return not_compared(f"this graph has {names:,} names, and at most {most:,} are compared so")
