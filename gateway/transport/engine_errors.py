"""The marks by which engines show what went wrong: in an error's text, or after a part of an answer.

Sources: docs/notes/endpoints.md, "Errors after status 200" and "Statuses"; docs/notes/blazegraph.md, "HTTP".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TAIL = 1 << 14
"""Bytes at the end of a body in which a mark may stand: a Java trace of some 100 lines follows Blazegraph's."""

_GAVE_UP = (
    b"Query cancelled due to timeout",  # Fuseki, after rows
    b"Query timed out",  # Fuseki, before the first row
    b"The SPARQL operation has been cancelled",  # Oxigraph, always with status 200
    b"!!!!>># An error has occurred",  # QLever, after rows
    b"Operation timed out",  # QLever
    b"Tried to allocate",  # QLever, its memory limit
    b"TimeoutException",  # Blazegraph: Java's, and its own QueryTimeoutException
    b"Query deadline is expired",  # Blazegraph
    b"exceeded query timeout",  # Stardog, with status 500
    b"Query evaluation took too long",  # RDF4J, and what is built on it, with status 503
    b"TimeLimitExceededException",  # Neptune, with status 500, and after rows
    b"MemoryLimitExceededException",  # Neptune, with status 500
    b"OutOfMemoryError",  # any Java engine
    b"S1TAT",  # Virtuoso, its anytime limit
    b"S1T00",  # Virtuoso
    b"SR171",  # Virtuoso
    b"estimated execution time",  # Virtuoso, which refuses what it guesses to be slow
)
_TOO_LONG = (
    b"Too many arguments",  # Virtuoso, more than about 4,096 terms
    b"SP031",  # Virtuoso, the SQL that it makes of a query is too long
    b"SR353",  # Virtuoso, a sorted page that ends beyond its row cap
    b"headers size must fit",  # Oxigraph, a long GET
    b"QueryTooLargeException",  # Neptune
    b"QueryLimitException",  # Neptune, also about the size of a query
)
_THROTTLING = (
    b'"ThrottlingException"',  # Neptune, with status 500: too many requests
    b'"QueryLimitExceededException"',  # Neptune, with status 500: too many queries at once
)
_DEADLOCKED = (
    b"SR172",  # Virtuoso, with status 200 and no row: two queries waited for each other
    b"Transaction deadlocked",
)
_NO_SERVICE = (
    b"No endpoint for request",  # Fuseki, with status 400: the URL is a dataset's, which has its services beside it
    b"No operation for request",
)
_QLEVER_EXCEPTION = re.compile(rb'"exception"\s*:')


def gave_up(text: bytes) -> bool:
    """Tell whether an engine says that it ran into its own limit of time or memory."""
    return _any(_GAVE_UP, text)


def gave_up_at_the_end(body: bytes) -> bool:
    """Tell whether a body that is no whole answer ends in such a mark."""
    return gave_up(body[-_TAIL:])


def no_service(text: bytes) -> bool:
    """Tell whether a server says that it answers queries under another URL than this one."""
    return text.lstrip().startswith(_NO_SERVICE)


def too_long(text: bytes) -> bool:
    """Tell whether an engine says that a query is too long, or has too many terms."""
    return _any(_TOO_LONG, text)


def deadlocked(text: bytes) -> bool:
    """Tell whether an engine says that it dropped a query because two of them waited for each other."""
    return _any(_DEADLOCKED, text)


def throttling(text: bytes) -> bool:
    """Tell whether an engine says, with a status that does not, that it wants fewer requests."""
    return _any(_THROTTLING, text)


def overloaded(text: bytes) -> bool:
    """Tell whether a server says that it has too much to do."""
    return b"overloaded" in text


def banned(text: bytes) -> bool:
    """Tell whether a server says that it shuts this client out for a time (the Wikidata query service does)."""
    return b"You have been banned" in text


def is_qlever_exception(text: bytes) -> bool:
    """Tell whether this is the JSON that QLever sends when it gave up on a query."""
    return text.lstrip().startswith(b"{") and _QLEVER_EXCEPTION.search(text) is not None


def _any(marks: Iterable[bytes], text: bytes) -> bool:
    return any(mark in text for mark in marks)
