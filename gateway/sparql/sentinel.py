"""The last row that proves that all rows before it came, and what answers taught about it.

Its value is a digest of the query. So it also shows an answer to another query, which a confused cache hands out, and
it is the same in every request for one query, because endpoints and proxies cache by the text of a query.

Each template has a ladder: the way that is known of the engine, or that the standard promises (sorted); the other way
to ask for a last row; and a count of the same rows. It steps down where the last row was not last in the answers to
different queries, and tries again after a while: one odd answer says nothing about an engine.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from enum import Enum, auto
from functools import cache
from hashlib import blake2b
from typing import Final, Literal

from gateway.errors import BrokenAnswer
from gateway.settings.endpoint import Sentinel
from gateway.sparql import markup
from gateway.sparql.table import LiteralTerm, Table
from gateway.telemetry.tally import Clock
from gateway.terms import render

END = "end"
"""The variable that only the sentinel binds."""

_DIGEST_BYTES = 8
"""Bytes of the digest: two queries of one endpoint share it with a probability that can be neglected."""

_PROLOGUE = re.compile(r"(?:PREFIX .*\n)*")
"""What stands before a query and cannot stand before a sub-select."""


class Place(Enum):
    """Where the sentinel is in an answer."""

    LAST = auto()
    MISSING = auto()
    ELSEWHERE = auto()


def marker(query: str) -> str:
    """Return the value of the sentinel of a query."""
    return f"{END} {blake2b(query.encode(), digest_size=_DIGEST_BYTES).hexdigest()}"


def apart(query: str) -> tuple[str, str]:
    """Return the declarations of prefixes that a rendered query begins with, and the rest."""
    match = _PROLOGUE.match(query)
    prologue = match[0] if match else ""
    return prologue, query[len(prologue) :]


def around(part: str, query: str, variables: Sequence[str], rows: int, *, is_sorted: bool = False) -> str:
    """Return a query around another one, which marks its answer.

    Args:
        part: The template of such a query.
        query: The other query, rendered.
        variables: What it projects.
        rows: The rows that it has at most.
        is_sorted: Whether the engine has to sort, because it may evaluate the branches of a UNION in any order.
    """
    prologue, body = apart(query)
    slots = {
        "variables": " ".join(f"?{name}" for name in variables),
        "query": body.rstrip(),
        "marker": render.string(marker(query)),
        "most": render.integer(rows + 1),
    }
    return prologue + "".join(markup.write(_parts(part), slots, lambda _: [""] * is_sorted))


@cache
def _parts(part: str) -> Sequence[markup.Part]:
    return markup.read(part)


def without_sentinel(rows: Table, asked_marker: str) -> tuple[Table, Place]:
    """Return the rows of the query itself, and where the sentinel was.

    A sentinel that is `ELSEWHERE` proves nothing: there are several, or rows come behind it. What else its row binds is
    not looked at: an engine may bind variables of the query in it.

    Args:
        rows: The rows of a query that asks for the sentinel.
        asked_marker: The value of its sentinel.

    Raises:
        BrokenAnswer: It is the answer to another query.
    """
    ends = rows.terms(END)
    others = ends.count(None)
    if others == len(rows):
        return rows, Place.MISSING
    if any(not isinstance(end, LiteralTerm) or end.value != asked_marker for end in ends if end is not None):
        raise BrokenAnswer("The endpoint sent the answer to another query.", next_step="Try again later.")
    if others == len(rows) - 1 and ends[-1] is not None:
        return rows.first(others), Place.LAST
    return rows.where([end is None for end in ends]), Place.ELSEWHERE


_log = logging.getLogger(__name__)

Proof = Sentinel | Literal["counted"]
"""A last row that a UNION puts there, or a UNION that is sorted; a count of the same rows; or nothing."""

_LADDERS: Final[dict[Sentinel, tuple[Proof, ...]]] = {
    "sorted": ("sorted", "united", "counted"),
    "united": ("united", "sorted", "counted"),
    "none": (),
}

_QUERIES = 2
"""Different queries whose last row was not last, before a template steps down."""

_SECONDS = 900.0
"""How long a template does without a proof that failed."""


class EndProofs:
    """What answers of one endpoint have taught about the proofs of their ends.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._proven: set[Proof] = set()
        self._failed: defaultdict[tuple[str, Proof], set[str]] = defaultdict(set)
        self._given_up: dict[tuple[str, Proof], float] = {}

    def of(self, template: str, first: Sentinel, tested: Collection[Proof] = ()) -> Proof:
        """Return by what the end of an answer is to be proven next; `none` where nothing is left.

        Args:
            template: The name of the template.
            first: What is tried first at the engine.
            tested: What has failed for this query.
        """
        left = (one for one in _LADDERS[first] if one not in tested and not self._is_given_up(template, one))
        return next(left, "none")

    def _is_given_up(self, template: str, proof: Proof) -> bool:
        return self._given_up.get((template, proof), self._clock()) > self._clock()

    def is_proven(self, proof: Proof) -> bool:
        """Return whether an answer with rows had this proof: only then a last row alone means that there are none."""
        return proof in self._proven

    def held(self, template: str, proof: Proof) -> None:
        """Note that the last row of an answer with rows was ours."""
        self._proven.add(proof)
        self._failed.pop((template, proof), None)

    def failed(self, template: str, proof: Proof, query: str) -> None:
        """Note that a proof did not hold for a query, after it was asked twice."""
        queries = self._failed[template, proof]
        queries.add(query)
        if len(queries) < _QUERIES:
            return
        del self._failed[template, proof]
        self._given_up[template, proof] = self._clock() + _SECONDS
        _log.warning(
            "the end of answers to %s is not proven by `%s` at this endpoint: answers to %d queries did not have the "
            "row that proves it at their end; for %d s they are proven otherwise, or told as not complete",
            template,
            proof,
            _QUERIES,
            _SECONDS,
        )
