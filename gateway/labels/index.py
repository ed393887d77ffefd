"""The label index: finds the entities whose names are near to a text, types inside the search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.graph.deadline import Deadline
from gateway.graph.values import Hits, Iri, SearchTerms
from gateway.labels.index_search import IndexSearch
from gateway.labels.sqlite_worker import SqliteWorker, attach
from gateway.labels.tables import FORMAT, is_index, write_index
from gateway.labels.word_forms import LONGEST_NAME

OPENING_SECONDS = 10.0
"""Time for opening an index, which counts its names; a broken one could take for ever."""

_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class About:
    """What an index says of itself.

    Attributes:
        date: The day it was made; empty for one that is made of a loaded graph, which never grows old.
        names: Names in it.
        entities: Entities that have them.
        whole: Whether these are all names of the graph.
        typed: Whether the types of all entities are known.
        long: Whether there are names of which only the first characters are searched.
    """

    date: str
    names: int
    entities: int
    whole: bool
    typed: bool
    long: bool

    def __str__(self) -> str:
        dated = f" of {self.date}" if self.date else ""
        unfinished = "" if self.whole else ", which are not all"
        return f"the local label index{dated}: {self.names:,} names of {self.entities:,} entities{unfinished}"


class WrongFormatError(Exception):
    """A file is an index of another version of this program, or none."""


class LabelIndex:
    """An index that can be searched.

    Attributes:
        about: What it says of itself.
    """

    def __init__(self, worker: SqliteWorker, about: About) -> None:
        self.about = about
        self._worker = worker

    @classmethod
    async def opened(cls, path: Path, deadline: Deadline) -> LabelIndex:
        """Open the index in a file.

        Raises:
            DeadlinePassed: That takes longer than is allowed.
            sqlite3.Error: The file is no database, or a broken one.
            WrongFormatError: It is no index as this version makes them.
        """
        worker = SqliteWorker()
        try:
            return cls(worker, await worker.run_until(deadline, _read, path))
        except BaseException:
            worker.close()
            raise

    async def find(self, terms: SearchTerms, types: Sequence[Iri], at_most: int, deadline: Deadline) -> Hits:
        """Find entities by their names.

        Args:
            terms: What is looked for.
            types: Only entities with one of these types; empty for all.
            at_most: Hits at most.
            deadline: When the answer is wanted.

        Raises:
            DeadlinePassed: No time is left.
            ClosedError: The index was closed.
            sqlite3.Error: The index is broken.
        """
        found = await self._worker.run_until(deadline, _find, terms, types, at_most, not self.about.date)
        unfinished = not self.about.whole or bool(types and not self.about.typed)
        return Hits(
            found.hits,
            found.cut or unfinished,
            f"{self.about}; {found.how}",
            # A graph that is not in this process may have got another name since.
            exhaustive=not (self.about.date or unfinished or found.shortened or self.about.long),
        )

    def close(self) -> None:
        """Let go of the index."""
        self._worker.close()


async def make_index(worker: SqliteWorker, *, date: str, missing: int, path: Path | None = None) -> LabelIndex:
    """Make the index of the draft at a desk, which lets go of the draft.

    Args:
        worker: Where the draft is.
        date: The day that the index is of; empty for one of a loaded graph.
        missing: How many names or entities are known to be missing.
        path: The index's file, which must not be there; a temporary database where not given.

    Raises:
        ClosedError: The desk was closed.
        sqlite3.Error: It cannot be written.
    """
    facts = {"format": FORMAT, "date": date, "missing": str(missing)}
    return LabelIndex(worker, await worker.run(_write, facts, path, worker.go_on))


def _write(
    database: sqlite3.Connection, facts: Mapping[str, str], path: Path | None, go_on: Callable[[], None]
) -> About:
    attach(database, "made", path, writable=True)
    # Nobody reads it before it is whole, and one that did not become whole is thrown away.
    database.execute("PRAGMA made.journal_mode = OFF")
    try:
        write_index(database, go_on)
        database.executemany("INSERT INTO made.facts VALUES (?, ?)", facts.items())
    except sqlite3.Error:
        # The draft stays, so that another place may be tried.
        if database.in_transaction:
            database.execute("ROLLBACK")
        database.execute("DETACH DATABASE made")
        raise
    database.execute("DETACH DATABASE draft")
    return _about(database)


def _find(
    database: sqlite3.Connection, terms: SearchTerms, types: Sequence[Iri], at_most: int, thorough: bool
) -> IndexSearch:
    return IndexSearch.of(database, terms, types, at_most, thorough=thorough)


def _read(database: sqlite3.Connection, path: Path) -> About:
    attach(database, "made", path, writable=False)
    database.execute("PRAGMA query_only = ON")
    if not is_index(database):
        raise WrongFormatError
    about = _about(database)
    ((pages,),), ((size,),) = database.execute("PRAGMA made.page_count"), database.execute("PRAGMA made.page_size")
    # SQLite's own check reads the whole file. What else is wrong with it is found by the search that comes upon it.
    if pages * size != path.stat().st_size:
        raise sqlite3.DatabaseError("its end is missing")
    return about


def _about(database: sqlite3.Connection) -> About:
    facts = dict(database.execute("SELECT key, substr(value, 1, 20) FROM made.facts LIMIT 10"))
    if facts.get("format") != FORMAT or not _DATE.fullmatch(facts.get("date", "")):
        raise WrongFormatError
    ((names,),) = database.execute("SELECT count(*) FROM made.name")
    ((entities,),) = database.execute("SELECT count(*) FROM made.node")
    ((untyped,),) = database.execute("SELECT count(*) FROM made.node WHERE NOT kinds_known")
    # Names are numbered by their length.
    longest = database.execute("SELECT length(text) FROM made.name ORDER BY id DESC LIMIT 1").fetchone()
    long = longest is not None and longest[0] > LONGEST_NAME
    return About(facts.get("date", ""), names, entities, facts.get("missing") == "0", untyped == 0, long)
