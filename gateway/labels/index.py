"""The label index: finds entities by names that are similar to a text, filtered by type."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import counted
from gateway.graph.deadline import Deadline
from gateway.graph.values import Hits, Iri, SearchTerms
from gateway.labels.index_search import IndexSearch
from gateway.labels.sqlite_worker import SqliteWorker, attach
from gateway.labels.tables import FORMAT, is_index, write_index
from gateway.labels.word_forms import LONGEST_NAME

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

    def close(self) -> None:
        """Close the index."""
        self._worker.close()


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
    long = longest is not None and longest[0] > LONGEST_NAME
    return IndexInfo(facts.get("date", ""), names, entities, facts.get("missing") == "0", untyped == 0, long)
