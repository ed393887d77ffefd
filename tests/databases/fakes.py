"""A database whose answers a test writes down."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from gateway.databases.client import DatabaseClient, Row
from gateway.databases.store import DatabaseStore
from gateway.databases.terms import IriMapping
from gateway.graph.call import Call, Deadline
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile

Answers = Callable[[str, Sequence[Any]], Sequence[Row]]
"""Returns the rows of a query, by its name and its parameters."""

IDS, TERMS = "urn:x-bfsql:id:", "urn:x-bfsql:term:"


class FakePool:
    """Connections to a database that answers at once."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def fetch(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        """Return the rows that the test has for a query."""
        deadline.check()
        return self._answers(query, arguments)

    async def close(self) -> None:
        """Close nothing."""


class FakeClient(DatabaseClient):
    """Sends the names of queries in their place."""

    async def query(self, name: str, call: Call) -> str:  # noqa: ARG002 - nothing is looked up
        """Return the name."""
        return name

    def forget(self) -> None:
        """Forget nothing."""


def client(
    answers: Answers, *, profile: Profile | None = None, prefixes: dict[str, str] | None = None
) -> DatabaseClient:
    """Return a client of a database that gives these answers."""
    ids, terms = (IriMapping(base, prefixes or {}) for base in (IDS, TERMS))
    profile = profile or load_profile("bfsql-postgres")
    return FakeClient(FakePool(answers), profile, ids, terms, alive="alive", clock=time.monotonic)


def store(answers: Answers, *, profile: Profile | None = None, prefixes: dict[str, str] | None = None) -> DatabaseStore:
    """Return a store over a database that gives these answers; a rule for edges has three parameters."""
    return DatabaseStore(
        client(answers, profile=profile, prefixes=prefixes),
        parameters=lambda rule: (rule.excepted, rule.allowed, rule.objects),
        expression=str,
        wall_clock=time.time,
    )


def call() -> Call:
    """Return a call with time and rows enough."""
    return Call(Deadline.after(60), 1_000, 1_000_000, 1_000_000)
