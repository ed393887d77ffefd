"""What a transport is: one SPARQL round trip, in a format of answers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, runtime_checkable

from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.endpoint import Unit

Format = Literal["json", "tsv", "ntriples", "turtle"]

ACCEPT: Mapping[Format, str] = {
    "json": "application/sparql-results+json",
    "tsv": "text/tab-separated-values",
    "ntriples": "application/n-triples",
    "turtle": "text/turtle",
}
"""The content type that is asked for (SPARQL 1.1 Protocol, 2.1.6)."""

ANY_JSON = "application/json"
"""What JSON is asked for as where SPARQL JSON is not known by its own name (docs/notes/endpoints.md, "Formats")."""

BELIEVED: Mapping[Format, frozenset[str]] = {
    "json": frozenset({ACCEPT["json"], ANY_JSON}),
    "tsv": frozenset({ACCEPT["tsv"]}),
    "ntriples": frozenset({ACCEPT["ntriples"]}),
    "turtle": frozenset({ACCEPT["turtle"]}),
}
"""The content types that an answer may have."""


IN_PROCESS_AT_ONCE: Final = 3
"""Queries that run at once on a graph in this process: long calls have two, for two cores, and leave one to short ones.

The engine lets go of the GIL while it works.
"""


@dataclass(frozen=True, slots=True)
class TimeoutPolicy:
    """How the time left is sent beside a query, and how a query is cancelled.

    Attributes:
        timeout_parameter: The form parameter that carries the time left; none where empty.
        timeout_header: The header that carries it; none where empty.
        timeout_unit: The unit of both.
        cancel_by_id: Whether a query that is given up is cancelled by its ID: an engine that goes on with a query
            whose client has left (Blazegraph) knows no other way.
    """

    timeout_parameter: str = ""
    timeout_header: str = ""
    timeout_unit: Unit = "seconds"
    cancel_by_id: bool = False

    @property
    def sends_time(self) -> bool:
        """Whether the time left is sent."""
        return bool(self.timeout_parameter or self.timeout_header)

    def fields(self, deadline: Deadline) -> Iterator[tuple[str, str]]:
        """Return the form parameters that carry the time left."""
        if self.timeout_parameter:
            yield self.timeout_parameter, self._left(deadline)

    def headers(self, deadline: Deadline) -> dict[str, str]:
        """Return the headers that carry the time left."""
        return {self.timeout_header: self._left(deadline)} if self.timeout_header else {}

    def _left(self, deadline: Deadline) -> str:
        left = deadline.seconds_left * (1000 if self.timeout_unit == "milliseconds" else 1)
        return str(max(1, math.ceil(left)))


class Transport(Protocol):
    """A way to a SPARQL engine."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a SELECT query and return the body of its SPARQL JSON answer, not yet parsed.

        Cancelling the call stops the query as far as the engine allows.

        Args:
            query: Rendered query text.
            deadline: When the answer must be there.
            spend: Called before a further request is sent for the same query.

        Raises:
            QueryRefused: The engine will not run this query.
            EndpointFault: The engine answered with something that is no whole answer.
            NetworkFault: No answer came.
            DeadlinePassed: The time is up.
            BudgetSpent: The call pays for no further request.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


TextRow = tuple[str, ...]
"""The text of each term of a row, and behind that of a literal its language, or nothing."""


@dataclass(frozen=True, slots=True)
class TextRows:
    """Rows of an answer in the order of their first texts, all rows of a text or none.

    Attributes:
        rows: The rows.
        total: How many there are in the answer.
        are_more: Whether those that come last were left out, since rows may take so much memory only.
    """

    rows: list[TextRow]
    total: int
    are_more: bool = False


@runtime_checkable
class WithTexts(Transport, Protocol):
    """A way to an engine that can give an answer of any length as texts, which take less memory than its terms."""

    async def select_texts(self, query: str, keeps: Callable[[str], bool], deadline: Deadline, /) -> TextRows:
        """Run a SELECT query and return its rows; without those in which a term is neither an IRI nor a literal.

        Args:
            query: Rendered query text.
            keeps: Whether the rows that begin with a text are wanted; called in another thread.
            deadline: When the answer must be there.

        Raises:
            QueryRefused: The engine will not run this query.
            EndpointFault: The engine failed.
            DeadlinePassed: The time is up.
        """
        ...


@dataclass(frozen=True, slots=True)
class ProbeResponse:
    """The response to a request that is no query; a model never reads it.

    Attributes:
        status: The HTTP status.
        headers: The headers, by names in lower case.
        text: The first and last few KB of the body.
    """

    status: int
    headers: Mapping[str, str]
    text: str


@runtime_checkable
class Remote(Transport, Protocol):
    """A way to an engine that somebody else runs, and about which something may be learnt.

    Attributes:
        timeout_policy: How it gets the time left.
    """

    timeout_policy: TimeoutPolicy

    @property
    def flow(self) -> FlowControl:
        """Its flow control."""
        ...

    @property
    def path(self) -> str:
        """The path of its URL; it may hold a secret, so it goes nowhere but into `look`."""
        ...

    async def look(self, accept: str, deadline: Deadline, parameters: str = "", path: str = "") -> ProbeResponse:
        """Ask for the endpoint itself, without a query: a service description, or an error of its own.

        Args:
            accept: The content types wanted.
            deadline: When something must be there.
            parameters: What is put after the URL, such as ``cmd=stats``.
            path: The path of another resource of the same server, which is asked for in its place.

        Raises:
            Fault: Nothing came, whatever its status.
        """
        ...


@runtime_checkable
class InFormats(Transport, Protocol):
    """A way to an engine that can be asked for answers in a format."""

    async def select_in(self, wanted: Format, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a SELECT query and return the body of its answer in a format; see `Transport.select`.

        Raises:
            WrongFormat: The engine answered in another format, or has none of this kind.
        """
        ...


@runtime_checkable
class WithBindings(Transport, Protocol):
    """A way to an engine that takes terms for the variables of a query beside it, as RDF4J does."""

    async def select_bound(
        self, bindings: Mapping[str, str], query: str, deadline: Deadline, spend: Spend = unpaid, /
    ) -> bytes:
        """Run a SELECT query with blank nodes bound to some of its variables; see `Transport.select`.

        Args:
            bindings: The label of each blank node by variable.
            query: Rendered query text.
            deadline: When the answer must be there.
            spend: Called before a further request is sent for the same query.
        """
        ...


@runtime_checkable
class Beside(Transport, Protocol):
    """A way to an engine on which a query need not wait for others."""

    async def select_beside(self, query: str, deadline: Deadline) -> bytes:
        """Run a SELECT query beside those that are under way, however many may be; see `Transport.select`.

        It is for a query that finds out whether the others can be answered: behind them it would wait as they do.
        """
        ...


@runtime_checkable
class InWays(Transport, Protocol):
    """A way to an engine to which a query can be sent as a form, or as the body of a POST."""

    def send_by(self, way: Literal["post", "direct"]) -> bool:
        """Send queries in a way from now on; return whether that is a change. What the profile says stays."""
        ...


@runtime_checkable
class OverGraphs(Transport, Protocol):
    """A way to an engine whose named graphs may be looked into."""

    def over_all_graphs(self) -> Transport:
        """Return a transport to the same engine that names no graphs; it is closed with this one."""
        ...


class RepeatedNameError(ValueError):
    """An object has one name twice (RFC 8259, 4: what a reader makes of that is unpredictable)."""


def loads(text: bytes) -> Any:
    """Return what a JSON text in UTF-8 says.

    Raises:
        RepeatedNameError: An object has one name twice.
        ValueError: It is no JSON, or not in UTF-8.
        RecursionError: It is nested beyond reason.
    """
    return _decoder.decode(text.decode("utf-8-sig"))


def _each_once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise RepeatedNameError("a name occurs twice in one object")
    return content


_decoder = json.JSONDecoder(object_pairs_hook=_each_once)
