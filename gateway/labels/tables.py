"""The tables of the index and of a draft of one, and how the one is made of the other.

A draft holds names as they were read, and how far that is; it can be left and gone on with. The index is written
whole. Its names are numbered by their length: SQLite finds the lowest numbers first, so that a search that takes some
of very many matches takes the shortest, which are the nearest to what was sought.
"""

from __future__ import annotations

import functools
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from typing import Literal

from gateway.labels.word_forms import LONGEST_WORD, bag, slips, squashed, words_of

FORMAT = "2"
"""Of the tables and of `gateway.labels.word_forms`: another one makes an index worthless."""

DRAFT = """
CREATE TABLE draft.about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE draft.entity (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE, kinds_known INTEGER NOT NULL);
CREATE TABLE draft.kind (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE);
CREATE TABLE draft.entity_kind (entity INTEGER, kind INTEGER, PRIMARY KEY (entity, kind)) WITHOUT ROWID;
CREATE TABLE draft.text (
    entity INTEGER, text TEXT, is_synonym INTEGER, language TEXT,
    PRIMARY KEY (entity, text, is_synonym, language)
) WITHOUT ROWID;
CREATE TABLE draft.reading (
    predicate TEXT PRIMARY KEY, place INTEGER NOT NULL, after TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0,
    expected INTEGER NOT NULL DEFAULT 0, entities INTEGER NOT NULL DEFAULT 0, missing INTEGER NOT NULL DEFAULT 0
);
"""

_INDEX = """
CREATE TABLE made.facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE made.node (id INTEGER PRIMARY KEY, iri TEXT NOT NULL, kinds_known INTEGER NOT NULL);
CREATE TABLE made.type (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE);
CREATE TABLE made.node_type (node INTEGER, type INTEGER, PRIMARY KEY (node, type)) WITHOUT ROWID;
CREATE TABLE made.name (
    id INTEGER PRIMARY KEY, node INTEGER NOT NULL, text TEXT NOT NULL, is_synonym INTEGER NOT NULL,
    language TEXT NOT NULL, squashed TEXT NOT NULL, bag TEXT NOT NULL
);
CREATE TABLE made.word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, names INTEGER NOT NULL);
CREATE TABLE made.slip (variant INTEGER, word INTEGER, PRIMARY KEY (variant, word)) WITHOUT ROWID;
CREATE VIRTUAL TABLE made.named USING fts5(
    words, types, content='', detail='column', columnsize=0, tokenize='ascii', prefix='3'
);
CREATE VIRTUAL TABLE made.inside USING fts5(word, content='', columnsize=0, tokenize='trigram');
"""
_COPIES = """
INSERT INTO made.node SELECT id, iri, kinds_known FROM draft.entity;
INSERT INTO made.type SELECT id, iri FROM draft.kind;
INSERT INTO made.node_type SELECT entity, kind FROM draft.entity_kind;
"""
_KEYS = """
CREATE INDEX made.name_squashed ON name (squashed);
CREATE INDEX made.name_bag ON name (bag);
"""

_MOST_ENTRIES = 100
"""Of a database's schema that are looked at; ours have fewer."""

_AT_ONCE = 2_000
_WORDS_AT_ONCE = 20_000

Entry = tuple[str, str, str, str | None]
"""Of a database's schema: type, name, table and text."""

TextRow = tuple[int, str, int, str, str | None]


def is_index(database: sqlite3.Connection) -> bool:
    """Return whether the schema `made` is exactly that of an index: no other table, no view, no trigger."""
    return _schema(database, "made") == _ours("made")


def is_draft(database: sqlite3.Connection) -> bool:
    """Return whether the schema `draft` is exactly that of a draft."""
    return _schema(database, "draft") == _ours("draft")


@functools.cache
def _ours(schema: Literal["made", "draft"]) -> frozenset[Entry]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"ATTACH DATABASE ':memory:' AS {schema}")
        database.executescript(DRAFT if schema == "draft" else _INDEX + _KEYS)
        return _schema(database, schema)


def _schema(database: sqlite3.Connection, schema: str) -> frozenset[Entry]:
    # The text of each table, so that no default, check or generated column is another.
    return frozenset(
        database.execute(f"SELECT type, name, tbl_name, sql FROM {schema}.sqlite_master LIMIT {_MOST_ENTRIES}")  # noqa: S608 - ours
    )


def write_index(database: sqlite3.Connection, go_on: Callable[[], None]) -> None:
    """Make the index in the schema `made` out of the draft in the schema `draft`.

    Args:
        database: Has both attached.
        go_on: Called now and then; raises to stop.
    """
    database.executescript(_INDEX)
    database.execute("BEGIN")
    for statement in filter(str.strip, _COPIES.split(";")):
        go_on()
        database.execute(statement)
    words = _write_names(database, go_on)
    _write_words(database, words, go_on)
    for statement in filter(str.strip, _KEYS.split(";")):
        go_on()
        database.execute(statement)
    database.execute("COMMIT")


def _write_names(database: sqlite3.Connection, go_on: Callable[[], None]) -> Counter[str]:
    """Write all names, the shortest first; return their words, and in how many names each is."""
    counts: Counter[str] = Counter()
    number = 0
    rows = database.execute(
        "SELECT entity, text, is_synonym, language, "
        "(SELECT group_concat('t' || kind, ' ') FROM draft.entity_kind AS its WHERE its.entity = text.entity) "
        "FROM draft.text AS text ORDER BY length(text), text, entity"
    )
    for chunk in _chunks(rows):
        go_on()
        names, tokens = [], []
        for entity, text, is_synonym, language, kinds in chunk:
            number += 1
            words = words_of(text)
            different = dict.fromkeys(words)
            counts.update(different.keys())
            names.append((number, entity, text, is_synonym, language, squashed(words), bag(words)))
            tokens.append((number, " ".join(different), kinds or ""))
        database.executemany("INSERT INTO made.name VALUES (?, ?, ?, ?, ?, ?, ?)", names)
        database.executemany("INSERT INTO made.named (rowid, words, types) VALUES (?, ?, ?)", tokens)
    return counts


def _write_words(database: sqlite3.Connection, counts: Counter[str], go_on: Callable[[], None]) -> None:
    """Write the words of all names, those in most names first, with what slips make of them."""
    words = list(enumerate(sorted(counts, key=lambda word: (-counts[word], word)), 1))
    for start in range(0, len(words), _WORDS_AT_ONCE):
        go_on()
        chunk = words[start : start + _WORDS_AT_ONCE]
        database.executemany(
            "INSERT INTO made.word VALUES (?, ?, ?)", [(number, word, counts[word]) for number, word in chunk]
        )
        database.executemany("INSERT INTO made.inside (rowid, word) VALUES (?, ?)", chunk)
        database.executemany(
            "INSERT INTO made.slip VALUES (?, ?)",
            # In their order: a tree that is written so is written several times as fast.
            sorted(
                (variant, number) for number, word in chunk if 1 < len(word) <= LONGEST_WORD for variant in slips(word)
            ),
        )


def _chunks(rows: Iterator[TextRow]) -> Iterator[list[TextRow]]:
    while chunk := list(islice(rows, _AT_ONCE)):
        yield chunk
