"""A draft of an index: names as they were read, and how far that is. Every page is kept whole or not at all."""

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
from gateway.labels.tables import DRAFT, FORMAT, is_draft


@dataclass(frozen=True, slots=True)
class PredicateProgress:
    """How far one predicate is read.

    Attributes:
        predicate: The predicate.
        after: The last entity that was read; empty: none.
        done: Whether its last page was read.
        expected: How many entities have a name by it, as the graph says.
        entities: How many were read.
    """

    predicate: Iri
    after: Iri
    done: bool
    expected: int
    entities: int


def open_partial(database: sqlite3.Connection, path: Path | None, about: str, afresh: bool) -> None:
    """Attach a draft, or begin one.

    Args:
        database: To which it is attached.
        path: Its file; a temporary database where not given.
        about: What it is a draft of; one of something else, or of another format, is not gone on with.
        afresh: Whether no draft is gone on with.

    Raises:
        sqlite3.Error: The file is no database, or another process works on it.
    """
    attach(database, "draft", path, writable=True)
    if path is not None:
        # Held until the desk is closed: no other process writes here, and a crash lets go of it.
        database.execute("PRAGMA draft.locking_mode = EXCLUSIVE")
        database.execute("BEGIN EXCLUSIVE")
        database.execute("COMMIT")
    if not is_draft(database) and database.execute("SELECT 1 FROM draft.sqlite_master LIMIT 1").fetchall():
        raise sqlite3.DatabaseError("it is no draft of this version")
    key = f"{FORMAT} {about}"
    if not afresh and _known(database) == key:
        return
    for kind, name in database.execute("SELECT type, name FROM draft.sqlite_master").fetchall():
        if kind == "table":
            database.execute(f"DROP TABLE draft.{name}")
    with _transaction(database):
        for statement in filter(str.strip, DRAFT.split(";")):
            database.execute(statement)
        database.execute("INSERT INTO draft.about VALUES ('about', ?)", (key,))


def _known(database: sqlite3.Connection) -> str:
    try:
        rows = database.execute("SELECT value FROM draft.about WHERE key = 'about'").fetchall()
    except sqlite3.OperationalError:
        # It has no such table: it was begun just now.
        return ""
    return str(rows[0][0]) if rows else ""


def begin(database: sqlite3.Connection, expected: Sequence[tuple[Iri, int]]) -> None:
    """Note which predicates are to be read, and how many entities each has; those that were begun stay as they are."""
    with _transaction(database):
        database.executemany(
            "INSERT OR IGNORE INTO draft.reading (predicate, place, expected) VALUES (?, ?, ?)",
            [(predicate, place, count) for place, (predicate, count) in enumerate(expected)],
        )


def readings(database: sqlite3.Connection) -> list[PredicateProgress]:
    """Return how far each predicate is read."""
    rows = database.execute(
        "SELECT predicate, after, done, expected, entities FROM draft.reading ORDER BY place"
    ).fetchall()
    return [
        PredicateProgress(predicate, after, bool(done), expected, entities)
        for predicate, after, done, expected, entities in rows
    ]


def unknown(database: sqlite3.Connection, entities: Sequence[Iri]) -> list[Iri]:
    """Return those entities that the draft does not have."""
    rows = database.execute(
        "SELECT iri FROM draft.entity WHERE iri IN (SELECT value FROM json_each(?))", (json.dumps(entities),)
    )
    known = {iri for (iri,) in rows}
    return [entity for entity in entities if entity not in known]


def add(database: sqlite3.Connection, predicate: Iri, page: NamesPage, kinds: EntityTypes) -> None:
    """Add a page, and note how far the predicate is read now."""
    entities = list(dict.fromkeys(name.iri for name in page.names))
    with _transaction(database):
        database.executemany(
            "INSERT OR IGNORE INTO draft.entity (iri, kinds_known) VALUES (?, ?)",
            [(iri, iri not in kinds.unknown) for iri in entities],
        )
        different = dict.fromkeys(kind for types in kinds.types.values() for kind in types)
        database.executemany("INSERT OR IGNORE INTO draft.kind (iri) VALUES (?)", [(kind,) for kind in different])
        database.executemany(
            "INSERT OR IGNORE INTO draft.entity_kind SELECT entity.id, kind.id FROM draft.entity, draft.kind "
            "WHERE entity.iri = ? AND kind.iri = ?",
            [(iri, kind) for iri, types in kinds.types.items() for kind in types],
        )
        database.executemany(
            "INSERT OR IGNORE INTO draft.text SELECT id, ?, ?, ? FROM draft.entity WHERE iri = ?",
            [(name.text, name.is_synonym, name.language, name.iri) for name in page.names],
        )
        database.execute(
            "UPDATE draft.reading SET after = ?, done = ?, entities = entities + ?, missing = missing + ? "
            "WHERE predicate = ?",
            (page.after or "", page.after is None, len(entities), page.missing, predicate),
        )


def missing(database: sqlite3.Connection) -> int:
    """Return how many names or entities are known to be in the graph and not in the draft, or the other way round.

    Pages of an engine whose order is not its comparison skip entities, and so do pages of a graph that changes.
    """
    ((count,),) = database.execute("SELECT total(abs(expected - entities) + missing + NOT done) FROM draft.reading")
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
