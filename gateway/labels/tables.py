"""The tables of a label index and of a partial index, and how an index is built from a partial one.

A partial index holds names as they were read, and how far the reading is: an interrupted run resumes there. An index is
written whole. Its names are numbered by length, because SQLite returns the lowest numbers first: a search that takes
only some of many matches takes the shortest names, which are the nearest to the text.
"""

from __future__ import annotations

import functools
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from typing import Literal

from gateway.labels.word_forms import LONGEST_WORD, deletion_keys, index_words, joined_key, sorted_key

FORMAT = "3"
"""Of the tables and of `gateway.labels.word_forms`: an index of another format is not used.

The columns `squashed` and `bag` hold `joined_key` and `sorted_key`, the table `slip` holds `deletion_keys`.
"""

PARTIAL_TABLES = """
CREATE TABLE partial.about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE partial.entity (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE, kinds_known INTEGER NOT NULL);
CREATE TABLE partial.kind (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE);
CREATE TABLE partial.entity_kind (entity INTEGER, kind INTEGER, PRIMARY KEY (entity, kind)) WITHOUT ROWID;
CREATE TABLE partial.text (
    entity INTEGER, text TEXT, is_synonym INTEGER, language TEXT,
    PRIMARY KEY (entity, text, is_synonym, language)
) WITHOUT ROWID;
CREATE TABLE partial.reading (
    predicate TEXT PRIMARY KEY, place INTEGER NOT NULL, after TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0,
    expected INTEGER NOT NULL DEFAULT 0, entities INTEGER NOT NULL DEFAULT 0, missing INTEGER NOT NULL DEFAULT 0
);
"""

_INDEX_TABLES = """
CREATE TABLE built.facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE built.node (id INTEGER PRIMARY KEY, iri TEXT NOT NULL, kinds_known INTEGER NOT NULL);
CREATE TABLE built.type (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE);
CREATE TABLE built.node_type (node INTEGER, type INTEGER, PRIMARY KEY (node, type)) WITHOUT ROWID;
CREATE TABLE built.name (
    id INTEGER PRIMARY KEY, node INTEGER NOT NULL, text TEXT NOT NULL, is_synonym INTEGER NOT NULL,
    language TEXT NOT NULL, squashed TEXT NOT NULL, bag TEXT NOT NULL
);
CREATE TABLE built.word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, names INTEGER NOT NULL);
CREATE TABLE built.slip (variant INTEGER, word INTEGER, PRIMARY KEY (variant, word)) WITHOUT ROWID;
CREATE VIRTUAL TABLE built.named USING fts5(
    words, types, content='', detail='column', columnsize=0, tokenize='ascii', prefix='3'
);
CREATE VIRTUAL TABLE built.inside USING fts5(word, content='', columnsize=0, tokenize='trigram');
"""
_COPIES = """
INSERT INTO built.node SELECT id, iri, kinds_known FROM partial.entity;
INSERT INTO built.type SELECT id, iri FROM partial.kind;
INSERT INTO built.node_type SELECT entity, kind FROM partial.entity_kind;
"""
_KEYS = """
CREATE INDEX built.name_squashed ON name (squashed);
CREATE INDEX built.name_bag ON name (bag);
"""

_MOST_ENTRIES = 100
"""Entries of a database that are read; ours have fewer."""

_AT_ONCE = 2_000
_WORDS_AT_ONCE = 20_000
"""Rows and words that are written between two looks at whether the build was stopped."""

Entry = tuple[str, str, str, str | None]
"""An entry of a database: type, name, table and SQL text."""

TextRow = tuple[int, str, int, str, str | None]


def is_index(database: sqlite3.Connection) -> bool:
    """Return whether the database `built` is exactly an index: no other table, no view, no trigger."""
    return _entries(database, "built") == _expected("built")


def is_partial_index(database: sqlite3.Connection) -> bool:
    """Return whether the database `partial` is exactly a partial index."""
    return _entries(database, "partial") == _expected("partial")


@functools.cache
def _expected(name: Literal["built", "partial"]) -> frozenset[Entry]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"ATTACH DATABASE ':memory:' AS {name}")
        database.executescript(PARTIAL_TABLES if name == "partial" else _INDEX_TABLES + _KEYS)
        return _entries(database, name)


def _entries(database: sqlite3.Connection, name: str) -> frozenset[Entry]:
    # With the SQL text, because a default, a check or a generated column could differ.
    return frozenset(
        database.execute(f"SELECT type, name, tbl_name, sql FROM {name}.sqlite_master LIMIT {_MOST_ENTRIES}")  # noqa: S608 - a constant
    )


def write_index(database: sqlite3.Connection, check: Callable[[], None]) -> None:
    """Write the database `built` from the database `partial`; `check` is called between steps, and raises to stop."""
    database.executescript(_INDEX_TABLES)
    database.execute("BEGIN")
    for statement in filter(str.strip, _COPIES.split(";")):
        check()
        database.execute(statement)
    words = _write_names(database, check)
    _write_words(database, words, check)
    for statement in filter(str.strip, _KEYS.split(";")):
        check()
        database.execute(statement)
    database.execute("COMMIT")


def _write_names(database: sqlite3.Connection, check: Callable[[], None]) -> Counter[str]:
    """Write all names, the shortest first; return in how many names each word is."""
    counts: Counter[str] = Counter()
    number = 0
    rows = database.execute(
        "SELECT entity, text, is_synonym, language, "
        "(SELECT group_concat('t' || kind, ' ') FROM partial.entity_kind AS its WHERE its.entity = text.entity) "
        "FROM partial.text AS text ORDER BY length(text), text, entity"
    )
    for chunk in _chunks(rows):
        check()
        names, tokens = [], []
        for entity, text, is_synonym, language, kinds in chunk:
            number += 1
            words = index_words(text)
            different = dict.fromkeys(words)
            counts.update(different.keys())
            names.append((number, entity, text, is_synonym, language, joined_key(words), sorted_key(words)))
            tokens.append((number, " ".join(different), kinds or ""))
        database.executemany("INSERT INTO built.name VALUES (?, ?, ?, ?, ?, ?, ?)", names)
        database.executemany("INSERT INTO built.named (rowid, words, types) VALUES (?, ?, ?)", tokens)
    return counts


def _write_words(database: sqlite3.Connection, counts: Counter[str], check: Callable[[], None]) -> None:
    """Write the words of all names, the most frequent first, with their deletion keys."""
    words = list(enumerate(sorted(counts, key=lambda word: (-counts[word], word)), 1))
    for start in range(0, len(words), _WORDS_AT_ONCE):
        check()
        chunk = words[start : start + _WORDS_AT_ONCE]
        database.executemany(
            "INSERT INTO built.word VALUES (?, ?, ?)", [(number, word, counts[word]) for number, word in chunk]
        )
        database.executemany("INSERT INTO built.inside (rowid, word) VALUES (?, ?)", chunk)
        database.executemany(
            "INSERT INTO built.slip VALUES (?, ?)",
            # SQLite writes a sorted tree several times as fast.
            sorted(
                (variant, number)
                for number, word in chunk
                if 1 < len(word) <= LONGEST_WORD
                for variant in deletion_keys(word)
            ),
        )


def _chunks(rows: Iterator[TextRow]) -> Iterator[list[TextRow]]:
    while chunk := list(islice(rows, _AT_ONCE)):
        yield chunk
