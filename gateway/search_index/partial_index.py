"""Reads all names of a graph into a partial index, page by page. A page is stored whole or not at all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import EndpointFault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import EntityTypes, NameReader, NamesPage, OnProgress
from gateway.graph.values import Iri
from gateway.search_index.index import FORMAT, PARTIAL_TABLES, is_partial_index, kind_number
from gateway.search_index.sqlite_worker import SqliteWorker, attach
from gateway.settings.profile import Profile

Allowance = Callable[[], Call]
"""Returns a new `Call` for one page: a build may take hours, but no page may hang."""

_REQUESTS = 10_000
_ROWS = 10_000_000
"""Requests and rows of one page, more than any needs: its time is the bound."""

_MORE = 1_000
"""Entities by which a growing graph may exceed twice its count, before its pages are called endless."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """How far the names of one predicate are read: after which entity, and how many of the expected entities."""

    predicate: Iri
    after: Iri
    done: bool
    expected: int
    entities: int


async def no_progress(_: int, __: int) -> None:
    """Report nothing."""


def allowance_of(profile: Profile, seconds: float | None = None) -> Allowance:
    """Return the allowance of a page: its time in seconds is by default that of a call, its rows are not limited."""
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
    """Read all names into a partial index, by default a temporary one; resume one of the same source.

    Returns:
        How many names or entities are missing; 0 if the partial index is complete.

    Raises:
        Fault: The graph could not be asked; the pages read so far are stored.
        sqlite3.Error: The partial index is broken, or another process uses it.
    """
    predicates = names.predicates
    await worker.run(open_partial, path, f"{source} {' '.join(predicates)}", restart)
    if not await worker.run(_readings):
        counts = await names.counts(predicates, allowance)
        await worker.run(_begin, list(zip(predicates, counts, strict=True)))
    readings = await worker.run(_readings)
    # An entity with names by several predicates counts once for each.
    read, total = sum(reading.entities for reading in readings), sum(reading.expected for reading in readings)

    async def report(entities: int) -> None:
        nonlocal read
        read += entities
        await on_progress(read, max(read, total))

    await report(0)
    for reading in readings:
        if not reading.done:
            await _read_predicate(names, worker, allowance, reading, report)
    return await worker.run(_missing)


async def _read_predicate(
    names: NameReader,
    worker: SqliteWorker,
    allowance: Allowance,
    reading: _Reading,
    report: Callable[[int], Awaitable[None]],
) -> None:
    """Read the pages of one predicate that were not read yet, and report how many entities each has."""
    after: Iri | None = reading.after
    count = reading.entities
    while after is not None:
        call = allowance()
        page = await names.page(reading.predicate, after, call)
        entities = list(dict.fromkeys(name.iri for name in page.names))
        count += len(entities)
        if count > 2 * reading.expected + _MORE:
            raise EndpointFault("The pages of names do not come to an end.")
        new = await worker.run(_new_entities, entities) if entities else []
        await worker.run(_add, reading.predicate, page, entities, await names.types(new, call))
        await report(len(entities))
        after = page.after


def open_partial(database: sqlite3.Connection, path: Path | None, source: str, restart: bool) -> None:
    """Attach a partial index, by default in a temporary database; empty it if it is of another source or format.

    Raises:
        sqlite3.Error: The file is no database, or another process works on it.
    """
    attach(database, "partial", path, writable=True)
    if path is not None:
        # SQLite holds this lock until the connection is closed, or the process dies: no other process writes here.
        database.execute("PRAGMA partial.locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        database.execute("COMMIT")
    if not is_partial_index(database) and database.execute("SELECT 1 FROM partial.sqlite_master LIMIT 1").fetchall():
        raise sqlite3.DatabaseError("it is no partial index of this version")
    key = f"{FORMAT} {source}"
    if not restart and _source(database) == key:
        return
    for kind, name in database.execute("SELECT type, name FROM partial.sqlite_master").fetchall():
        if kind == "table":
            database.execute(f"DROP TABLE partial.{name}")
    with _transaction(database):
        for statement in filter(str.strip, PARTIAL_TABLES.split(";")):
            database.execute(statement)
        database.execute("INSERT INTO partial.about VALUES ('about', ?)", (key,))


def _source(database: sqlite3.Connection) -> str:
    try:
        rows = database.execute("SELECT value FROM partial.about WHERE key = 'about'").fetchall()
    except sqlite3.OperationalError:
        # A new file has no such table yet.
        return ""
    return str(rows[0][0]) if rows else ""


def _begin(database: sqlite3.Connection, expected: Sequence[tuple[Iri, int]]) -> None:
    """Store which predicates to read, and how many entities each has; leave predicates that are there already."""
    with _transaction(database):
        database.executemany(
            "INSERT OR IGNORE INTO partial.reading (predicate, place, expected) VALUES (?, ?, ?)",
            [(predicate, place, count) for place, (predicate, count) in enumerate(expected)],
        )


def _readings(database: sqlite3.Connection) -> list[_Reading]:
    rows = database.execute("SELECT predicate, after, done, expected, entities FROM partial.reading ORDER BY place")
    return [_Reading(*row) for row in rows.fetchall()]


def _new_entities(database: sqlite3.Connection, entities: Sequence[Iri]) -> list[Iri]:
    rows = database.execute(
        "SELECT iri FROM partial.entity WHERE iri IN (SELECT value FROM json_each(?))", (json.dumps(entities),)
    )
    known = {iri for (iri,) in rows}
    return [entity for entity in entities if entity not in known]


def _add(
    database: sqlite3.Connection, predicate: Iri, page: NamesPage, entities: Sequence[Iri], types: EntityTypes
) -> None:
    """Add a page with its entities and the types of the new ones, and store how far the predicate is read."""
    with _transaction(database):
        database.executemany(
            "INSERT OR IGNORE INTO partial.entity (iri, kinds_known) VALUES (?, ?)",
            [(iri, iri not in types.unknown) for iri in entities],
        )
        different = dict.fromkeys(kind for kinds in types.types.values() for kind in kinds)
        database.executemany("INSERT OR IGNORE INTO partial.kind (iri) VALUES (?)", [(kind,) for kind in different])
        database.executemany(
            "INSERT OR IGNORE INTO partial.entity_kind SELECT entity.id, kind.id FROM partial.entity, partial.kind "
            "WHERE entity.iri = ? AND kind.iri = ?",
            [(iri, kind) for iri, kinds in types.types.items() for kind in kinds],
        )
        database.executemany(
            "INSERT OR IGNORE INTO partial.text SELECT id, ?, ?, ? FROM partial.entity WHERE iri = ?",
            [(name.text, kind_number(name), name.language, name.iri) for name in page.names],
        )
        database.execute(
            "UPDATE partial.reading SET after = ?, done = ?, entities = entities + ?, missing = missing + ? "
            "WHERE predicate = ?",
            (page.after or "", page.after is None, len(entities), page.missing, predicate),
        )


def _missing(database: sqlite3.Connection) -> int:
    """Return by how many names or entities the partial index and the graph are known to differ.

    Pages skip entities if an engine orders IRIs differently than it compares them, or if the graph changes.
    """
    ((count,),) = database.execute("SELECT total(abs(expected - entities) + missing + NOT done) FROM partial.reading")
    return int(count)


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")
