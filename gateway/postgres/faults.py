"""What an error of asyncpg or of the database means to a call.

Texts of the database are never passed on: they may hold data of the graph, and addresses.
"""

from __future__ import annotations

from typing import Final

import asyncpg
from asyncpg.pgproto import pgproto

from gateway.errors import BrokenAnswer, EndpointFault, Fault, GaveUp, NetworkFault, QueryRefused, Throttled
from gateway.graph.deadline import Deadline, deadline_passed

_ASK_OPERATOR = "Tell the operator of this gateway."

_KNOWN: tuple[tuple[tuple[str, ...], type[Fault], str, str], ...] = (
    (("28",), EndpointFault, "The database refused the user or the password of this gateway.", _ASK_OPERATOR),
    (("3D000",), EndpointFault, "There is no database of that name at the server.", _ASK_OPERATOR),
    (("42501",), EndpointFault, "The user of this gateway may not read a table of the graph.", _ASK_OPERATOR),
    (
        ("42P01", "42703", "3F000"),
        EndpointFault,
        "A table or column of the graph is not there any more.",
        _ASK_OPERATOR,
    ),
    (("25006",), QueryRefused, "The database refused a statement that would write; this gateway only reads.", ""),
    (("53300",), Throttled, "The database has no free connection for this gateway.", "Try again later."),
    (("57P03",), NetworkFault, "The database is starting or stopping.", "Try again later."),
    (("57P", "08"), NetworkFault, "The database closed the connection.", "Try again later."),
    (
        ("53", "54"),
        GaveUp,
        "The database has too little memory for this query.",
        "Ask for fewer seeds or hops.",
    ),
    (("57014",), GaveUp, "The database cancelled the query.", "Ask for fewer seeds or hops."),
    (("40",), BrokenAnswer, "The database broke the query off, in favour of another one.", "Try again."),
    (("22", "42"), QueryRefused, "The database refused a query of this gateway.", _ASK_OPERATOR),
)
"""Faults by the beginning of the SQLSTATE (PostgreSQL's documentation, appendix A); the first that fits counts."""

_UNREADABLE: Final = (
    pgproto.BufferError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    LookupError,
    MemoryError,
    SystemError,
    TypeError,
    ValueError,
)
"""What asyncpg raises where a message of the server is damaged: it reads lengths, types and texts without a check.

A length below zero is a `SystemError` of CPython, one of gigabytes a `MemoryError`, a text that is not UTF-8 a
`ValueError`, and a message that is missing an `AttributeError` of None.
"""

RAISED: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, *_UNREADABLE)
"""What asyncpg raises."""


def fault_of(error: Exception, deadline: Deadline) -> Fault:
    """Return the fault that an error of a query means.

    Args:
        error: One of `RAISED`.
        deadline: Of the query.
    """
    # A connection has a time-out of its own, which may come long before.
    if deadline.is_over and isinstance(error, (TimeoutError, asyncpg.QueryCanceledError)):
        return deadline_passed()
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        for beginnings, kind, wrong, next_step in _KNOWN:
            if state.startswith(beginnings):
                return kind(f"{wrong} (SQLSTATE {state})", next_step=next_step)
        return EndpointFault(f"The database failed to answer. (SQLSTATE {state})", next_step=_ASK_OPERATOR)
    if isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError):
        return QueryRefused("The database takes no such text in a query.", next_step="Ask without it.")
    if isinstance(error, (asyncpg.ProtocolError, *_UNREADABLE)):
        return BrokenAnswer("The database sent a message that cannot be read.", next_step="Try again.")
    return NetworkFault("The database could not be reached, or the connection broke.", next_step="Try again later.")
