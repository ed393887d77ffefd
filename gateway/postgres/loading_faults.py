"""What an error of the database means while a graph is loaded."""

from __future__ import annotations

from typing import Final

import asyncpg

from gateway.errors import ConfigurationError, EndpointFault, GatewayError
from gateway.graph.deadline import Deadline
from gateway.postgres.faults import fault_of

_KNOWN: Final = {
    "42P07": (
        ConfigurationError,
        "The database has tables of these names already.",
        "A graph is loaded into new tables, or with --replace in place of those that are there.",
        "Name other tables in the section [postgres] of the profile, or give --replace.",
    ),
    "3F000": (
        ConfigurationError,
        "The database has no such schema.",
        "The schema that the profile names before a table must be there.",
        "Make it: CREATE SCHEMA.",
    ),
    "42501": (
        ConfigurationError,
        "The user may not make tables there.",
        "A load needs a user with the right CREATE on the schema, and with --replace the owner of the tables.",
        "Give that user with --user; serve the graph as one who may only read.",
    ),
    "25006": (
        ConfigurationError,
        "The database takes no changes.",
        "It is a read replica, or its default_transaction_read_only is on.",
        "Give the URL of the primary.",
    ),
    "2BP01": (
        ConfigurationError,
        "The tables cannot be replaced, because views or other objects depend on them.",
        "A load into other tables needs no replacement.",
        "Name other tables in the section [postgres] of the profile.",
    ),
    "55P03": (
        EndpointFault,
        "The tables are in use, so they could not be replaced in time.",
        "They can be when no query reads them.",
        "Try again, or load into other tables.",
    ),
    "54000": (
        EndpointFault,
        "An ID or a name is too long for an index.",
        "PostgreSQL indexes about 2,700 bytes of one row.",
        "Shorten or leave out the long names and IRIs of the graph.",
    ),
    "53100": (
        EndpointFault,
        "The disk of the database is full.",
        "Tables and indexes take a few times the size of the graph as N-Triples.",
        "Make room, and load again.",
    ),
}
"""The kind and the parts of an error by SQLSTATE (PostgreSQL's documentation, appendix A)."""

_NUL: Final = frozenset({"22021", "22P05"})
"""SQLSTATEs of a text that a column cannot hold."""


def loading_fault_of(error: Exception, deadline: Deadline) -> GatewayError:
    """Return the error of the command that an error of the database means.

    Args:
        error: An `OSError`, or an error of asyncpg.
        deadline: Of the load.
    """
    state = getattr(error, "sqlstate", None)
    if state in _NUL:
        return EndpointFault(
            "A text of the graph has a character that PostgreSQL cannot hold, such as U+0000.",
            valid="All other characters of Unicode can be in a text.",
            next_step="Correct the graph.",
        )
    if isinstance(error, asyncpg.PostgresError) and state in _KNOWN:
        kind, wrong, valid, next_step = _KNOWN[state]
        return kind(f"{wrong} (SQLSTATE {state})", valid=valid, next_step=next_step)
    return fault_of(error, deadline)
