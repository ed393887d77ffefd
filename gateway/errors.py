"""What can go wrong, by who can act on it.

    GatewayError
    ├── InputError            the caller of a tool: an argument is wrong
    ├── ConfigurationError    the operator: a profile, a graph file, a port, an option
    ├── UsageError            the program: it calls the gateway where or when it cannot answer
    └── Fault                 asking the graph failed
        ├── QueryRefused      the query: the engine will not run it, so a retry is of no use
        │   └── QueryTooLong  it is too long or has too many IRIs: a smaller one may succeed
        ├── EndpointFault     the endpoint or the database: it answered, but not with a whole answer
        │   ├── AnswerCut        it says that it sent only a part
        │   ├── GaveUp           it reached its own time or memory limit: a smaller query may succeed
        │   ├── BrokenAnswer     the answer broke off, or a server in between failed: a retry may succeed
        │   ├── WrongFormat      it is not in the format that was asked for: it is asked for in another one
        │   ├── Throttled        it wants fewer requests: a later one may succeed
        │   ├── Banned           it refuses this gateway for a time: nothing is sent until then
        │   ├── NoQueryEndpoint  the configured URL is a page or a dataset, and not the query endpoint
        │   └── Resting          it failed so often that nothing is sent to it for a time
        ├── NetworkFault      the network: no answer came
        ├── EdgesCapped       the rule: `max_edges_per_node` shows only some edges of a node
        ├── QuotaSpent        the quota: what the endpoint grants this gateway is used up for a time
        ├── DeadlinePassed    the budget: the time of this call is used up
        └── BudgetSpent       the budget: the requests, rows or nodes of this call are used up

Every text follows one shape: what was wrong, what is valid, what to do next. It never carries a credential, a
header, an address inside the operator's network or a traceback: a language model reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from gateway.escaping import printable

OtherWay = Literal["direct", "get"]
"""How a query is sent where a form is not taken: as the body of a POST, or in the URL."""

QUOTE_LIMIT = 80
"""Characters of a caller's own value that an error repeats."""


def quoted(value: object) -> str:
    """Return a caller's value as an error may repeat it: on one line, quoted and escaped, cut to `QUOTE_LIMIT`."""
    try:
        text = printable(repr(value))
    except (ValueError, RecursionError):
        # Python writes no number of more than 4,300 digits, and no list that is nested without end.
        return "a value that is too large to be shown"
    return text if len(text) <= QUOTE_LIMIT else f"{text[: QUOTE_LIMIT - 1]}… ({len(text)} characters)"


def counted(count: int, noun: str) -> str:
    """Return `1 node`, `1,200 nodes`, `2 entities`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


ENDPOINT = "the endpoint"
"""What errors call a server, inside a sentence, where nothing else is said."""


def as_beginning(words: str) -> str:
    """Return words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


class GatewayError(Exception):
    """The base of every error this gateway raises on purpose.

    Attributes:
        wrong: What was wrong, as a sentence.
        valid: What would be valid, or an empty string.
        next_step: What to do next, or an empty string.
    """

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "") -> None:
        super().__init__(" ".join(part for part in (wrong, valid, next_step) if part))
        self.wrong = wrong
        self.valid = valid
        self.next_step = next_step


class InputError(GatewayError):
    """An argument of a tool is wrong."""


class UnknownTermError(InputError):
    """One item of an argument means nothing that the graph has, or nothing that can be meant there."""


class UnresolvedNameError(InputError):
    """A text may be the name of several entities, or of one that could not be compared."""


class AllWrongError(InputError):
    """None of several texts means an entity.

    Attributes:
        errors: What is wrong with each text.
    """

    def __init__(
        self, wrong: str, *, valid: str = "", next_step: str = "", errors: Mapping[str, InputError] | None = None
    ) -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.errors: Mapping[str, InputError] = errors or {}


class WrongCallError(InputError, TypeError):
    """A call in Python has an argument that it does not take, lacks one, or has one twice."""


class ConfigurationError(GatewayError):
    """The operator's profile, graph file, option or port is wrong."""


class UsageError(GatewayError):
    """A program calls the gateway after it was closed, after a fork, or where the call would wait for itself."""


class NotAwaitedError(UsageError, AttributeError, TypeError):
    """A program takes a call that it did not await for the answer."""


class Fault(GatewayError):
    """Asking the graph failed.

    Attributes:
        cause: The name under which `incomplete` lists what this fault left out (docs/contract.md, "Completeness").
        again: Whether the same query may succeed when it is sent once more.
        smaller: Whether a query about fewer IDs may succeed.
    """

    cause = "endpoint_failed"
    again = False
    smaller = False


class QueryRefused(Fault):
    """The engine understood the request and will not run this query.

    Attributes:
        first_line: The first line of what it wrote, for the caller to show; empty where that cannot be shown.
    """

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "", first_line: str = "") -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.first_line = first_line


class QueryTooLong(QueryRefused):
    """The engine will not run a query of this length, or with so many IRIs."""

    smaller = True


class EndpointFault(Fault):
    """The endpoint or the database answered, but not with a whole answer that can be read."""


class AnswerCut(EndpointFault):
    """The endpoint says that it sent only a part of the answer.

    Attributes:
        row_cap: The rows that it sends at most, as it says; None where it does not.
    """

    cause = "server_truncated"
    smaller = True

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "", row_cap: int | None = None) -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.row_cap = row_cap


class ServerFailed(EndpointFault):
    """The endpoint answered a query with an error of its own that its text does not explain.

    Attributes:
        first_line: The first line of what it wrote; empty where that cannot be shown.
    """

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "", first_line: str = "") -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.first_line = first_line


class GaveUp(EndpointFault):
    """The endpoint reached its own limit of time or memory."""

    smaller = True


class BrokenAnswer(EndpointFault):
    """The answer broke off, or a server on the way failed."""

    again = True
    smaller = True


class WrongFormat(EndpointFault):
    """The answer is not in the format that was asked for; in another one it may be had."""


class Throttled(EndpointFault):
    """The endpoint wants fewer requests.

    Attributes:
        retry_after: Seconds to wait, as the endpoint says; None where it does not.
    """

    again = True

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "", retry_after: float | None = None) -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.retry_after = retry_after


class _Paused(Fault):
    """A fault after which nothing is sent for a time.

    Attributes:
        retry_after: Seconds until then.
    """

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "", retry_after: float = 0.0) -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.retry_after = retry_after


class Banned(_Paused, EndpointFault):
    """The endpoint refuses this gateway for a time, because it sent too many requests."""


class NoQueryEndpoint(EndpointFault):
    """The configured URL is not a SPARQL query endpoint.

    Attributes:
        other_ways: Where it refused a form, the other ways of sending the query that may succeed, in order.
    """

    def __init__(
        self, wrong: str, *, valid: str = "", next_step: str = "", other_ways: tuple[OtherWay, ...] = ()
    ) -> None:
        super().__init__(wrong, valid=valid, next_step=next_step)
        self.other_ways = other_ways


class Resting(EndpointFault):
    """The endpoint failed so often in a row that nothing is sent to it for a time."""


class NetworkFault(Fault):
    """No answer came: refused, reset, unknown host, or the connection broke."""

    again = True


class EdgesCapped(Fault):
    """A node has more edges than the operator or the caller wants to see."""

    cause = "edges_capped"


class QuotaSpent(_Paused):
    """What the endpoint grants one client is used up for longer than this call may wait; nothing was sent."""

    cause = "budget"


class DeadlinePassed(Fault):
    """The time of this call, or of this query, is used up."""

    cause = "deadline"


class BudgetSpent(Fault):
    """The requests, rows or nodes of this call are used up."""

    cause = "budget"
