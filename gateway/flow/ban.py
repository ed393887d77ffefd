"""A ban for a time, as the Wikidata query service puts on a client that goes on asking after 429.

Its words: "You have been banned until 2026-11-22T10:00:00Z, please respect throttling and retry-after headers."
(wikimedia/wikidata-query-rdf, ``ThrottlingFilter.formattedBanMessage``; an instant of Java's ``ISO_INSTANT``).
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from gateway.errors import Banned

_UNTIL = re.compile(rb"banned until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z")
DAY = 86_400.0
"""A ban lasts a day at most, as that service's do, and so does one whose end cannot be read."""


def seconds_of_ban(text: bytes, now: datetime) -> float:
    """Return how long a ban lasts, in seconds, a day at most.

    Args:
        text: The body of the answer that announces it.
        now: The time of that answer, by the server's clock where it has one.
    """
    found = _UNTIL.search(text)
    if found is None:
        return DAY
    try:
        until = datetime.fromisoformat(found[1].decode()).replace(tzinfo=UTC)
    except ValueError:
        return DAY
    # The fraction that was cut off is less than this.
    return min(DAY, max(0.0, (until - now).total_seconds()) + 1.0)


def banned(seconds: float) -> Banned:
    """Return the error that says that nothing is sent for so long."""
    left = math.ceil(seconds)
    return Banned(
        f"The endpoint has banned this gateway because it asked too much; nothing is sent to it for {left} s.",
        next_step=f"Whoever runs this gateway should have it ask less at once. Call again in {left} s.",
        retry_after=seconds,
    )
