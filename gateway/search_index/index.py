"""An index of names: its tables, what is in it, and the `GraphStore` that answers searches from it.

A partial index holds names as they were read, and how far the reading is: an interrupted run resumes there. An index is
written whole. Its names are numbered by length, because SQLite returns the lowest numbers first: a search that takes
only some of many matches takes the shortest names, which are the nearest to the text.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

from gateway.errors import Fault, counted
from gateway.graph.call import Call, Deadline
from gateway.graph.store import DelegatingStore, GraphStore, Name, OnProgress
from gateway.graph.values import Hit, HitKind, Hits, Iri, SearchTerms
from gateway.search_index.index_search import (
    CODE,
    LOCAL_NAME,
    LONGEST_NAME,
    LONGEST_WORD,
    WHOLE_KINDS,
    WHOLE_LOCAL_NAME,
    IndexSearch,
    deletion_keys,
    index_words,
    joined_key,
    sorted_key,
    whole_key,
)
from gateway.search_index.sqlite_worker import ClosedError, SqliteWorker, attach
from gateway.terms.names import fold_accents
from gateway.terms.transliteration import latin_words

FORMAT = "5"
"""Of the tables and of `gateway.search_index.index_search`: an index of another format is not used.

The columns `squashed` and `bag` hold `joined_key` and `sorted_key`, the table `slip` holds `deletion_keys`. The
tables `latin` and `latin_slip` hold `latin_words` of names that have other letters, and their `deletion_keys`.
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
CREATE TABLE built.latin (word TEXT, name INTEGER, PRIMARY KEY (word, name)) WITHOUT ROWID;
CREATE TABLE built.latin_slip (variant INTEGER, word TEXT, PRIMARY KEY (variant, word)) WITHOUT ROWID;
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

NameRow = tuple[int, str]
"""The number of a name, and the name."""


_KIND_NUMBERS: Mapping[tuple[HitKind, bool], int] = {
    ("name", False): 0,
    ("code", True): CODE,
    ("id", False): LOCAL_NAME,
    ("id", True): WHOLE_LOCAL_NAME,
}


def kind_number(name: Name) -> int:
    """Return how the index says what of its entity a name is."""
    return 1 if name.is_synonym else _KIND_NUMBERS[name.kind, name.is_whole]


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
    _write_names(database, check)
    _write_words(database, check)
    _write_latin_words(database, check)
    for statement in filter(str.strip, _KEYS.split(";")):
        check()
        database.execute(statement)
    database.execute("COMMIT")


def _write_names(database: sqlite3.Connection, check: Callable[[], None]) -> None:
    """Write all names, the shortest first."""
    number = 0
    database.execute("CREATE TABLE temp.spelt (word TEXT, name INTEGER)")
    rows = database.execute(
        "SELECT entity, text, is_synonym, language, "
        "(SELECT group_concat('t' || kind, ' ') FROM partial.entity_kind AS its WHERE its.entity = text.entity) "
        "FROM partial.text AS text ORDER BY length(text), text, entity"
    )
    for chunk in _chunks(rows):
        check()
        names, tokens, spelt = [], [], []
        for entity, text, is_synonym, language, kinds in chunk:
            number += 1
            words = index_words(text)
            if is_synonym in WHOLE_KINDS:
                names.append((number, entity, text, is_synonym, language, whole_key(words), ""))
                continue
            names.append((number, entity, text, is_synonym, language, joined_key(words), sorted_key(words)))
            tokens.append((number, " ".join(dict.fromkeys(words)), kinds or ""))
            spelt += [(word, number) for word in set(latin_words(text[:LONGEST_NAME]))]
        database.executemany("INSERT INTO built.name VALUES (?, ?, ?, ?, ?, ?, ?)", names)
        database.executemany("INSERT INTO built.named (rowid, words, types) VALUES (?, ?, ?)", tokens)
        database.executemany("INSERT INTO temp.spelt VALUES (?, ?)", spelt)


def _write_words(database: sqlite3.Connection, check: Callable[[], None]) -> None:
    """Write the words of all names, the most frequent first, with their deletion keys."""
    # SQLite has the words counted, and sorts them on a disk: of a large graph they would fill the memory.
    database.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('built', 'named', 'col')")
    words = enumerate(
        database.execute("SELECT term, doc FROM temp.vocabulary WHERE col = 'words' ORDER BY doc DESC, term"), 1
    )
    while rows := list(islice(words, _WORDS_AT_ONCE)):
        check()
        chunk = [(number, word) for number, (word, _) in rows]
        database.executemany(
            "INSERT INTO built.word VALUES (?, ?, ?)", [(number, word, count) for number, (word, count) in rows]
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
    database.execute("DROP TABLE temp.vocabulary")


def _write_latin_words(database: sqlite3.Connection, check: Callable[[], None]) -> None:
    """Write the words of names of other scripts in Latin letters, with their deletion keys."""
    check()
    database.execute("INSERT INTO built.latin SELECT word, name FROM temp.spelt ORDER BY word, name")
    database.execute("DROP TABLE temp.spelt")
    words = database.execute("SELECT DISTINCT word FROM built.latin ORDER BY word")
    while rows := list(islice(words, _WORDS_AT_ONCE)):
        check()
        short = (word for (word,) in rows if 1 < len(word) <= LONGEST_WORD)
        keys = sorted((variant, word) for word in short for variant in deletion_keys(word))
        database.executemany("INSERT INTO built.latin_slip VALUES (?, ?)", keys)


def _chunks(rows: Iterator[TextRow]) -> Iterator[list[TextRow]]:
    while chunk := list(islice(rows, _AT_ONCE)):
        yield chunk


OPENING_SECONDS = 10.0
"""Time for opening an index, which counts its names; without it, a broken file could block for ever."""

_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Facts about an index.

    Attributes:
        date: The day it was built; empty for that of a loaded graph, which does not change.
        names: The number of names.
        entities: The number of entities.
        whole: Whether it has all names of the graph.
        typed: Whether it has the types of all entities.
        long: Whether only the first characters of some names are searched.
    """

    date: str
    names: int
    entities: int
    whole: bool
    typed: bool
    long: bool

    def __str__(self) -> str:
        dated = f" of {self.date}" if self.date else ""
        entities = counted(self.entities, "entity")
        unfinished = "" if self.whole else ", which are not all"
        return f"the local label index{dated}: {counted(self.names, 'name')} of {entities}{unfinished}"


class WrongFormatError(Exception):
    """The file is not an index of this version."""


class LabelIndex:
    """An index that is open for searches.

    Attributes:
        info: Facts about it.
    """

    def __init__(self, worker: SqliteWorker, info: IndexInfo) -> None:
        self.info = info
        self._worker = worker

    @classmethod
    async def open(cls, path: Path, deadline: Deadline) -> LabelIndex:
        """Open the index in a file.

        Raises:
            DeadlinePassed: No time is left.
            sqlite3.Error: The file is not a database, or is broken.
            WrongFormatError: The file is not an index of this version.
        """
        worker = SqliteWorker()
        try:
            return cls(worker, await worker.run(_read, path, deadline=deadline))
        except BaseException:
            worker.close()
            raise

    async def find(self, terms: SearchTerms, types: Sequence[Iri], at_most: int, deadline: Deadline) -> Hits:
        """Find at most so many names of entities in each step, of those with one of the types if there are any.

        Raises:
            DeadlinePassed: No time is left.
            ClosedError: The index was closed.
            sqlite3.Error: The index is broken.
        """
        found = await self._worker.run(IndexSearch.of, terms, types, at_most, not self.info.date, deadline=deadline)
        is_partial = not self.info.whole or bool(types and not self.info.typed)
        # An endpoint may have got new names since that day.
        exhaustive = not (self.info.date or is_partial or found.shortened or self.info.long)
        return Hits(
            found.hits,
            found.cut or is_partial,
            f"{self.info}; {found.how}",
            exhaustive,
            found.absent if exhaustive else (),
        )

    async def count(self, deadline: Deadline | None = None) -> int:
        """Return how many names and synonyms there are, without codes and local names; see `find`."""
        return await self._worker.run(_count_of_names, deadline=deadline)

    async def names(self, after: int, at_most: int) -> list[NameRow]:
        """Return the first names and synonyms behind one, by their numbers; see `find`."""
        return await self._worker.run(_names_after, after, at_most)

    async def numbers_of(self, types: Sequence[Iri], deadline: Deadline) -> list[int]:
        """Return the numbers of the names of entities that have one of some types, sorted; see `find`."""
        return await self._worker.run(_numbers_of_types, types, deadline=deadline)

    async def hits_of(self, numbers: Sequence[int], deadline: Deadline) -> Mapping[int, Hit]:
        """Return names by their numbers; see `find`."""
        return await self._worker.run(_hits_of, numbers, deadline=deadline)

    def close(self) -> None:
        """Close the index."""
        self._worker.close()


_OF_NAMES = "FROM built.name WHERE is_synonym IN (0, 1)"
_OF_NAMES_AND_TYPES = """
SELECT id FROM built.name WHERE is_synonym IN (0, 1) AND node IN (
    SELECT its.node FROM built.node_type AS its JOIN built.type ON type.id = its.type
    WHERE type.iri IN (SELECT value FROM json_each(?))
) ORDER BY id
"""


def _count_of_names(database: sqlite3.Connection) -> int:
    ((count,),) = database.execute(f"SELECT count(*) {_OF_NAMES}")
    return int(count)


def _names_after(database: sqlite3.Connection, after: int, at_most: int) -> list[NameRow]:
    rows = database.execute(f"SELECT id, text {_OF_NAMES} AND id > ? ORDER BY id LIMIT ?", (after, at_most))
    return rows.fetchall()


def _numbers_of_types(database: sqlite3.Connection, types: Sequence[Iri]) -> list[int]:
    rows = database.execute(_OF_NAMES_AND_TYPES, (json.dumps(types),))
    return [number for (number,) in rows]


def _hits_of(database: sqlite3.Connection, numbers: Sequence[int]) -> Mapping[int, Hit]:
    rows = database.execute(
        "SELECT name.id, node.iri, name.text, name.is_synonym, name.language FROM built.name JOIN built.node "
        "ON node.id = name.node WHERE name.id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return {number: Hit(iri, text, kind == 1, "name", language) for number, iri, text, kind, language in rows}


async def build_index(worker: SqliteWorker, *, date: str, missing: int, path: Path | None = None) -> LabelIndex:
    """Build the index from the partial index of a worker, and detach the partial index.

    The date is that of a stored index, and empty for a loaded graph. Without a path, the index is a temporary database.

    Raises:
        ClosedError: The worker was closed.
        sqlite3.Error: The index cannot be written.
    """
    facts = {"format": FORMAT, "date": date, "missing": str(missing)}
    return LabelIndex(worker, await worker.run(_write, facts, path, worker.check_open))


def _write(
    database: sqlite3.Connection, facts: Mapping[str, str], path: Path | None, check: Callable[[], None]
) -> IndexInfo:
    attach(database, "built", path, writable=True)
    # No journal: nobody reads it before it is whole, and one that is not completed is removed.
    database.execute("PRAGMA built.journal_mode = OFF")
    try:
        write_index(database, check)
        database.executemany("INSERT INTO built.facts VALUES (?, ?)", facts.items())
    except sqlite3.Error:
        # The partial index stays attached: the caller may try another path.
        if database.in_transaction:
            database.execute("ROLLBACK")
        database.execute("DETACH DATABASE built")
        raise
    database.execute("DETACH DATABASE partial")
    return _info(database)


def _read(database: sqlite3.Connection, path: Path) -> IndexInfo:
    attach(database, "built", path, writable=False)
    database.execute("PRAGMA query_only = ON")
    if not is_index(database):
        raise WrongFormatError
    info = _info(database)
    ((pages,),), ((size,),) = database.execute("PRAGMA built.page_count"), database.execute("PRAGMA built.page_size")
    # SQLite's own check reads the whole file; other damage is found by the search that reads it.
    if pages * size != path.stat().st_size:
        raise sqlite3.DatabaseError("its end is missing")
    return info


def _info(database: sqlite3.Connection) -> IndexInfo:
    facts = dict(database.execute("SELECT key, substr(value, 1, 20) FROM built.facts LIMIT 10"))
    if facts.get("format") != FORMAT or not _DATE.fullmatch(facts.get("date", "")):
        raise WrongFormatError
    ((names,),) = database.execute("SELECT count(*) FROM built.name")
    ((entities,),) = database.execute("SELECT count(*) FROM built.node")
    ((untyped,),) = database.execute("SELECT count(*) FROM built.node WHERE NOT kinds_known")
    # Names are numbered by their length.
    longest = database.execute("SELECT length(text) FROM built.name ORDER BY id DESC LIMIT 1").fetchone()
    if longest == (None,):
        # The file is damaged.
        raise WrongFormatError
    long = longest is not None and longest[0] > LONGEST_NAME
    return IndexInfo(facts.get("date", ""), names, entities, facts.get("missing") == "0", untyped == 0, long)


_log = logging.getLogger(__name__)

_CANDIDATES = 1_000
"""Names that the index returns for ranking; the nearest are among them."""

_ATTEMPTS = 3
"""Indexes that one search tries, if one was replaced or broke."""

_PENDING = (
    "The index of all names is not ready yet, so only names with these words were compared. Ask again in a minute: the "
    "index also finds plurals, typos and words in another order."
)


class LabelIndexSource(Protocol):
    """Provides the label index of one graph."""

    @property
    def is_pending(self) -> bool:
        """Whether there is no index yet, but will be: a later search may find more."""
        ...

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index; None if there is none, or none yet."""
        ...

    def start(self) -> None:
        """Start to build the index in the background, if this process builds it."""
        ...

    async def built(self, on_progress: OnProgress) -> None:
        """Wait until the index is built, if this process builds it; call a function after each page of names."""
        ...

    def discard(self, index: LabelIndex) -> None:
        """Never return that index again, because it is broken."""
        ...

    async def close(self) -> None:
        """Close the index, and stop building."""
        ...


class MeaningSource(Protocol):
    """Compares the names of an index by their meaning."""

    def start(self, labels: LabelIndexSource) -> None:
        """Start to make what that needs, in the background, as soon as there is an index."""
        ...

    async def added(
        self, hits: Hits, index: LabelIndex | None, terms: SearchTerms, types: Sequence[Iri], call: Call
    ) -> Hits:
        """Return hits with the names that are near by their meaning, or with the reason why there are none."""
        ...

    async def close(self) -> None:
        """Stop what is being made."""
        ...


def _has_exact(hits: Hits, text: str) -> bool:
    wanted = fold_accents(text)
    return any(fold_accents(hit.text) == wanted for hit in hits.hits)


class IndexedStore(DelegatingStore):
    """A graph store with a label index; see `gateway.graph.store.GraphStore` for what each method promises."""

    def __init__(self, inner: GraphStore, labels: LabelIndexSource, meaning: MeaningSource | None = None) -> None:
        super().__init__(inner)
        self._labels = labels
        self._meaning = meaning

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names; where no name is the text, also by what names mean, if that is compared."""
        hits = await self._spelt(terms, types, call)
        # Of an index that is not ready yet the hits say so, and no search waits for it twice.
        if self._meaning is None or not terms.words or _has_exact(hits, terms.text) or self._labels.is_pending:
            return hits
        return await self._meaning.added(hits, await self._labels.index(call.deadline), terms, types, call)

    async def _spelt(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by the index; by the store below if there is none, or it finds nothing and may be outdated."""
        hits = await self._indexed(terms, types, call)
        if hits is not None and hits.exhaustive:
            return hits
        if hits is not None and hits.hits:
            return await self._with_new_names(hits, terms, types, call)
        is_pending = hits is None and self._labels.is_pending
        found = await self._inner.search(terms, types, call)
        if not is_pending:
            return found
        return replace(found, exhaustive=False, warnings=(*found.warnings, _PENDING))

    async def _indexed(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits | None:
        """Search the index; None if there is none."""
        for _ in range(_ATTEMPTS):
            index = await self._labels.index(call.deadline)
            if index is None:
                return None
            try:
                return await index.find(terms, types, _CANDIDATES, call.deadline)
            except ClosedError:
                _log.debug("a search found its label index closed, because another one replaced it")
            except sqlite3.Error as error:
                _log.warning("the label index is not used any more, because it is broken: %s", error)
                self._labels.discard(index)
        return None

    async def _with_new_names(self, hits: Hits, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Add entities that have got exactly this name since the index was built, if the index lacks the name."""
        wanted = terms.text.strip().casefold()
        if any(hit.text.casefold() == wanted for hit in hits.hits):
            return hits
        try:
            new = await self._inner.named(terms.text, types, call)
        except Fault as fault:
            _log.info("names that are newer than the label index could not be looked up: %s", fault)
            return hits
        known = dict.fromkeys((*hits.hits, *new.hits))
        return replace(hits, hits=tuple(known), how=f"{hits.how}; {new.how}")

    def prepare(self) -> None:
        """Start to build the index, and whatever the store below prepares."""
        self._labels.start()
        if self._meaning is not None:
            self._meaning.start(self._labels)
        super().prepare()

    async def prepared(self, on_progress: OnProgress) -> None:
        """Wait until the index is built, and the store below is prepared."""
        await self._labels.built(on_progress)
        if self._meaning is not None:
            self._meaning.start(self._labels)
        await super().prepared(on_progress)

    async def close(self) -> None:
        """Close the index and the store below."""
        if self._meaning is not None:
            await self._meaning.close()
        await self._labels.close()
        await super().close()
