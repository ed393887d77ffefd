"""A partial index: the names read so far, and how far the reading is. A page is stored whole or not at all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.graph.name_reader import EntityTypes, NamesPage
from gateway.graph.values import Iri
from gateway.labels.sqlite_worker import attach
from gateway.labels.tables import FORMAT, PARTIAL_TABLES, is_partial_index


@dataclass(frozen=True, slots=True)
class PredicateProgress:
    """How far the names of one predicate are read.

    Attributes:
        predicate: The predicate.
        after: The last entity that was read; empty if none was.
        done: Whether the last page was read.
        expected: The number of entities with a name by it, as the graph counts them.
        entities: The number of entities that were read.
    """

    predicate: Iri
    after: Iri
    done: bool
    expected: int
    entities: int


def open_partial(database: sqlite3.Connection, path: Path | None, source: str, restart: bool) -> None:
    """Attach a partial index; empty it if it is of another source or format.

    Args:
        database: The connection.
        path: Its file; None for a temporary database.
        source: Identifies the graph and the predicates.
        restart: Whether to empty it in any case.

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


def begin(database: sqlite3.Connection, expected: Sequence[tuple[Iri, int]]) -> None:
    """Store which predicates to read, and how many entities each has; leave predicates that are there already."""
    with _transaction(database):
        database.executemany(
            "INSERT OR IGNORE INTO partial.reading (predicate, place, expected) VALUES (?, ?, ?)",
            [(predicate, place, count) for place, (predicate, count) in enumerate(expected)],
        )


def readings(database: sqlite3.Connection) -> list[PredicateProgress]:
    """Return how far each predicate is read."""
    rows = database.execute(
        "SELECT predicate, after, done, expected, entities FROM partial.reading ORDER BY place"
    ).fetchall()
    return [
        PredicateProgress(predicate, after, bool(done), expected, entities)
        for predicate, after, done, expected, entities in rows
    ]


def new_entities(database: sqlite3.Connection, entities: Sequence[Iri]) -> list[Iri]:
    """Return the entities that are not in the partial index yet."""
    rows = database.execute(
        "SELECT iri FROM partial.entity WHERE iri IN (SELECT value FROM json_each(?))", (json.dumps(entities),)
    )
    known = {iri for (iri,) in rows}
    return [entity for entity in entities if entity not in known]


def add(database: sqlite3.Connection, predicate: Iri, page: NamesPage, types: EntityTypes) -> None:
    """Add a page and the types of its new entities, and store how far the predicate is read."""
    entities = list(dict.fromkeys(name.iri for name in page.names))
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
            [(name.text, name.is_synonym, name.language, name.iri) for name in page.names],
        )
        database.execute(
            "UPDATE partial.reading SET after = ?, done = ?, entities = entities + ?, missing = missing + ? "
            "WHERE predicate = ?",
            (page.after or "", page.after is None, len(entities), page.missing, predicate),
        )


def missing(database: sqlite3.Connection) -> int:
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
