"""What an error of the driver or of the database means to a call.

Texts of the database are never passed on: they may hold data of the graph, and addresses.
"""

from __future__ import annotations

from typing import Final

from neo4j._exceptions import BoltError
from neo4j.exceptions import ConnectionAcquisitionTimeoutError, DriverError, Neo4jError

from gateway.errors import BrokenAnswer, EndpointFault, Fault, GaveUp, NetworkFault, QueryRefused, Throttled
from gateway.graph.deadline import Deadline, deadline_passed

_ASK_OPERATOR = "Tell the operator of this gateway."
_LATER = "Try again later."

_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"

_KNOWN: tuple[tuple[str, type[Fault], str, str], ...] = (
    (
        "Neo.ClientError.Security.AuthenticationRateLimit",
        EndpointFault,
        "The database was given a wrong password too often, and refuses this gateway for a time.",
        _ASK_OPERATOR,
    ),
    (
        "Neo.ClientError.Security",
        EndpointFault,
        "The database refused the user or the password of this gateway.",
        _ASK_OPERATOR,
    ),
    ("Neo.ClientError.Database", EndpointFault, "There is no database of that name at the server.", _ASK_OPERATOR),
    (
        "Neo.ClientError.Statement.AccessMode",
        QueryRefused,
        "The database refused a statement that would write; this gateway only reads.",
        "",
    ),
    (_TIMED_OUT, GaveUp, "The database cancelled the query.", "Ask for fewer seeds or hops."),
    ("Neo.ClientError.Transaction", GaveUp, "The database cancelled the query.", "Ask for fewer seeds or hops."),
    ("Neo.ClientError", QueryRefused, "The database refused a query of this gateway.", _ASK_OPERATOR),
    ("Neo.TransientError.General.DatabaseUnavailable", NetworkFault, "The database is starting or stopping.", _LATER),
    ("Neo.TransientError.Database", NetworkFault, "The database is starting or stopping.", _LATER),
    (
        "Neo.TransientError.General",
        GaveUp,
        "The database has too little memory for this query.",
        "Ask for fewer seeds or hops.",
    ),
    ("Neo.TransientError.Request", Throttled, "The database has too many requests.", _LATER),
    ("Neo.TransientError", BrokenAnswer, "The database broke the query off.", "Try again."),
)
"""Faults by the beginning of the code (Neo4j's status codes); the first that fits counts."""

_UNREADABLE: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BoltError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What the driver raises where a message of the server is damaged: it reads markers, sizes and texts without a check.

An unknown marker, or a text that is not UTF-8, is a `ValueError`, a list where a map should be an `AttributeError` or
a `TypeError`, a list in a thousand others a `RecursionError`, and a message of an unknown kind a `BoltError`, which is
no `DriverError`.
"""

RAISED: Final = (OSError, DriverError, Neo4jError, *_UNREADABLE)
"""What the driver raises."""


def fault_of(error: Exception, deadline: Deadline) -> Fault:
    """Return the fault that an error of a query means.

    Args:
        error: One of `RAISED`.
        deadline: Of the query.
    """
    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    # The operating system, too, ends connections by a TimeoutError, which may come long before.
    if deadline.is_over and (isinstance(error, TimeoutError) or code.startswith(_TIMED_OUT)):
        return deadline_passed()
    return _fault_of_server(code) if isinstance(error, Neo4jError) else _fault_of_driver(error)


def _fault_of_server(code: str) -> Fault:
    for beginning, kind, wrong, next_step in _KNOWN:
        if code.startswith(beginning):
            return kind(f"{wrong} ({beginning})", next_step=next_step)
    return EndpointFault("The database failed to answer.", next_step=_ASK_OPERATOR)


def _fault_of_driver(error: Exception) -> Fault:
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return Throttled("The database has no free connection for this gateway.", next_step=_LATER)
    if isinstance(error, (DriverError, OSError)):
        return NetworkFault("The database could not be reached, or the connection broke.", next_step=_LATER)
    if isinstance(error, UnicodeEncodeError):
        return QueryRefused("The database takes no such text in a query.", next_step="Ask without it.")
    return BrokenAnswer("The database sent a message that cannot be read.", next_step="Try again.")
