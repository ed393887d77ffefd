"""What a response that is no whole answer means; a fault is classified here, once.

Sources: docs/notes/endpoints.md, "Errors after status 200" and "Statuses"; docs/notes/blazegraph.md, "HTTP". One status
means different things: 429 is a time-out on QLever and a rate limit elsewhere, 500 is nearly everything on Virtuoso and
Blazegraph. The text of an error is read for the marks of engines, and never repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from gateway.errors import (
    ENDPOINT,
    AnswerCut,
    BrokenAnswer,
    EndpointFault,
    Fault,
    GaveUp,
    NoQueryEndpoint,
    OtherWay,
    QueryRefused,
    QueryTooLong,
    ServerFailed,
    Throttled,
    WrongFormat,
)
from gateway.flow.quota import banned
from gateway.flow.quota_state import DAY
from gateway.transport import engine_errors
from gateway.transport.base import BELIEVED, Format

LATER = "Ask for fewer seeds or hops, or try again later."


def check_url(server: str) -> str:
    """Return what to do where the URL of a server may be wrong."""
    return f"The operator of this gateway should check {server}'s URL."


OPERATOR = check_url(ENDPOINT)
_UNANSWERED = (
    "The operator of this gateway should run `bfsql-gateway check`, which names what the endpoint does not answer."
)
"""After a refusal, to ask for less or later is no use."""

_CHECK = "The operator of this gateway can find the query endpoint with `bfsql-gateway check`."
_CREDENTIALS = "The operator of this gateway should check its credentials for the endpoint."

_TYPE_NAMES: Mapping[str, str] = {
    "text/html": "HTML",
    "application/xhtml+xml": "HTML",
    "text/plain": "plain text",
    "application/sparql-results+xml": "SPARQL XML",
    "application/xml": "XML",
    "text/xml": "XML",
    "text/csv": "CSV",
}
"""Words for a content type, because a model must not read what an endpoint writes into a header."""

_XML = frozenset({"application/sparql-results+xml", "application/xml", "text/xml"})
"""What servers send that do not know the name of SPARQL JSON."""

_LONG_REQUEST = 1 << 20
"""Bytes from which a refusal without a word is put down to the length: Blazegraph refuses a form over 10 MiB so."""

_LONGEST_WAIT = 3600.0
"""Seconds that a Retry-After is believed; nobody waits for a call longer than that anyway."""

_NEXT_PAGE = re.compile(r""";\s*rel\s*=\s*(?:next(?![\w.-])|"(?:[^"]*\s)?next(?:\s[^"]*)?")""", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"[<{]|://|@|\w\.\w+\.\w|Exception\b")
_LINKED = re.compile(r"<[^>]*>")
_NUMBER = re.compile(r"[0-9]{1,9}")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]*)?")

_BANNED_UNTIL = re.compile(rb"banned until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z")
"""The Wikidata query service, to a client that goes on asking after 429: "You have been banned until
2026-11-22T10:00:00Z, please respect throttling and retry-after headers." (wikimedia/wikidata-query-rdf,
``ThrottlingFilter.formattedBanMessage``; an instant of Java's ``ISO_INSTANT``)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, as far as it shows what happened.

    Attributes:
        status: The HTTP status.
        headers: The headers; their names in any case.
        content_type: The content type, without parameters.
        sent: Bytes of the request's body.
        wanted: The format that was asked for.
    """

    status: int
    headers: Mapping[str, str]
    content_type: str
    sent: int
    wanted: Format = "json"

    @property
    def is_believed(self) -> bool:
        """Whether status, headers and content type are those of a whole answer in the format that was asked for."""
        return self.status == HTTPStatus.OK and self.content_type in BELIEVED[self.wanted] and not self._is_part

    @property
    def _is_part(self) -> bool:
        return self.status == HTTPStatus.PARTIAL_CONTENT or (
            self.status < HTTPStatus.MULTIPLE_CHOICES
            and ("X-SPARQL-MaxRows" in self.headers or "X-SQL-State" in self.headers or self._has_next_page)
        )

    @property
    def _has_next_page(self) -> bool:
        """Whether a link leads to further rows (RFC 8288, 3)."""
        links = (value for name, value in self.headers.items() if name.lower() == "link")
        return any(_NEXT_PAGE.search(_LINKED.sub("", link)) for link in links)

    @property
    def _row_cap(self) -> int | None:
        """The rows that the endpoint sends at most, as Virtuoso says."""
        text = self.headers.get("X-SPARQL-MaxRows", "")
        return int(text) if _NUMBER.fullmatch(text) else None

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, as the endpoint says."""
        return seconds_to_wait(self.headers.get("Retry-After", ""), self.headers.get("Date", ""))

    def fault(self, text: bytes) -> Fault:
        """Return what this response means, which is not a believed one, by the first and last few KB of its body."""
        if self._is_part:
            if engine_errors.deadlocked(self.headers.get("X-SQL-Message", "").encode()):
                return _deadlocked(self, text)
            return AnswerCut(
                "The endpoint sent only a part of an answer and said so.", next_step=LATER, row_cap=self._row_cap
            )
        if self.status < HTTPStatus.MULTIPLE_CHOICES:
            return _no_answer(self, text)
        if self.status < HTTPStatus.BAD_REQUEST:
            return NoQueryEndpoint("The configured URL redirects elsewhere.", next_step=_CHECK)
        return _BY_STATUS.get(self.status, _failed)(self, text)


_Judge = Callable[[Reply, bytes], Fault]
"""Says what a response with some text means."""


def seconds_to_wait(text: str, now: str = "") -> float | None:
    """Read a Retry-After (RFC 9110, 10.2.3): seconds, or a date.

    Args:
        text: The header's value.
        now: The time of the response by the server's own clock, its header `Date`; our clock where it has none.

    Returns:
        Seconds from now, from 0 to an hour; None where the value is neither.
    """
    text = text.strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), _LONGEST_WAIT)
    until = _date(text)
    if until is None:
        return None
    left = (until - (_date(now) or datetime.now(UTC))).total_seconds()
    return min(max(left, 0.0), _LONGEST_WAIT)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _no_answer(reply: Reply, text: bytes) -> Fault:
    """A success of another kind, or of another content type."""
    if engine_errors.gave_up(text):
        return _gave_up(reply, text)
    if reply.status != HTTPStatus.OK:
        return EndpointFault(f"The endpoint answered with HTTP status {reply.status} and no answer.", next_step=LATER)
    if reply.wanted != "json" or reply.content_type in _XML:
        return _not_acceptable(reply, text)
    came = _TYPE_NAMES.get(reply.content_type, "another content type")
    wrong = (
        f"The endpoint answered with {came} and not with SPARQL JSON; "
        "the configured URL may be a web page and not the query endpoint."
    )
    if came == "HTML":
        return NoQueryEndpoint(wrong, next_step=_CHECK, other_ways=("get",))
    return EndpointFault(wrong, next_step=OPERATOR)


def _not_acceptable(reply: Reply, text: bytes) -> Fault:
    if engine_errors.gave_up(text):
        return _gave_up(reply, text)
    if reply.wanted == "json":
        is_xml = reply.status == HTTPStatus.OK
        came = _TYPE_NAMES[reply.content_type] if is_xml else f"HTTP status {reply.status}"
        return WrongFormat(
            f"The endpoint answered with {came} and not with SPARQL JSON, by whichever name it was asked for.",
            next_step="The operator of this gateway should have the endpoint write SPARQL JSON.",
        )
    return WrongFormat("The endpoint does not answer in the format that was asked for.", next_step=OPERATOR)


def _gave_up(_reply: Reply, _text: bytes) -> Fault:
    return GaveUp("The endpoint gave up on a query: it ran into its own limit of time or memory.", next_step=LATER)


def _deadlocked(_reply: Reply, _text: bytes) -> Fault:
    return BrokenAnswer("The endpoint dropped a query that stood in another one's way.", next_step=LATER)


def _too_long(_reply: Reply, _text: bytes) -> Fault:
    return QueryTooLong("The endpoint finds a query too long.", next_step="Ask for fewer seeds or hops.")


def _throttled(reply: Reply, _text: bytes) -> Fault:
    return Throttled(
        "The endpoint is throttling: it wants fewer requests.", next_step=LATER, retry_after=reply.retry_after
    )


def _failed(reply: Reply, text: bytes) -> Fault:
    """An error of the server that only its text can explain."""
    if engine_errors.too_long(text):
        return _too_long(reply, text)
    if engine_errors.gave_up(text):
        return _gave_up(reply, text)
    if engine_errors.deadlocked(text):
        return _deadlocked(reply, text)
    if engine_errors.throttling(text):
        return _throttled(reply, text)
    wrong = f"The endpoint failed with HTTP status {reply.status}."
    if reply.status != HTTPStatus.INTERNAL_SERVER_ERROR:
        return EndpointFault(wrong, next_step=LATER)
    return ServerFailed(wrong, next_step=LATER, first_line=_first_line(text))


def _first_line(text: bytes) -> str:
    """Return the first line of an error; nothing where it has an address, a class, or part of a page or query."""
    line = next(filter(None, map(str.strip, text.decode("utf-8", "replace").splitlines())), "")
    return "" if _NOT_SHOWN.search(line) else line


def _refused(reply: Reply, text: bytes) -> Fault:
    if engine_errors.no_service(text):
        return NoQueryEndpoint("The configured URL takes no queries; it may be a dataset's.", next_step=_CHECK)
    if engine_errors.too_long(text) or (not text and reply.sent > _LONG_REQUEST):
        return _too_long(reply, text)
    if engine_errors.gave_up(text):
        return _gave_up(reply, text)
    return QueryRefused(
        "The endpoint refused a query.",
        next_step=f"If an ID in it may be no IRI by the endpoint's rules, ask without it. {_UNANSWERED}",
        first_line=_first_line(text),
    )


def _not_allowed(_reply: Reply, text: bytes) -> Fault:
    return QueryRefused("The endpoint does not allow a query.", next_step=_UNANSWERED, first_line=_first_line(text))


def _forbidden(reply: Reply, text: bytes) -> Fault:
    if engine_errors.banned(text):
        return banned(_seconds_of_ban(text, _date(reply.headers.get("Date", "")) or datetime.now(UTC)))
    return EndpointFault("The endpoint refuses this gateway.", next_step=_CREDENTIALS)


def _seconds_of_ban(text: bytes, now: datetime) -> float:
    """Return how long a ban lasts: a day at most, as that service's do, and so does one whose end cannot be read."""
    found = _BANNED_UNTIL.search(text)
    if found is None:
        return DAY
    try:
        until = datetime.fromisoformat(found[1].decode()).replace(tzinfo=UTC)
    except ValueError:
        return DAY
    # The fraction that was cut off is less than this second.
    return min(DAY, max(0.0, (until - now).total_seconds()) + 1.0)


def _too_many(reply: Reply, text: bytes) -> Fault:
    return _gave_up(reply, text) if engine_errors.is_qlever_exception(text) else _throttled(reply, text)


def _unavailable(reply: Reply, text: bytes) -> Fault:
    """The time-out of Fuseki or RDF4J, or a server that has too much to do."""
    if engine_errors.gave_up(text) and not engine_errors.overloaded(text):
        return _gave_up(reply, text)
    return Throttled("The endpoint is overloaded or out of service.", next_step=LATER, retry_after=reply.retry_after)


def _no_endpoint(wrong: str, *other_ways: OtherWay) -> _Judge:
    return lambda _reply, _text: NoQueryEndpoint(wrong, next_step=_CHECK, other_ways=other_ways)


def _always(kind: type[Fault], wrong: str, next_step: str) -> _Judge:
    return lambda _reply, _text: kind(wrong, next_step=next_step)


_BY_STATUS: Mapping[int, _Judge] = {
    400: _refused,
    401: _always(EndpointFault, "The endpoint asks for credentials.", _CREDENTIALS),
    403: _forbidden,
    404: _no_endpoint("There is no SPARQL query endpoint at the configured URL.", "direct", "get"),
    405: _no_endpoint(
        "The configured URL takes no queries by POST; it may be a page and not the query endpoint.", "direct", "get"
    ),
    406: _not_acceptable,
    407: _always(EndpointFault, "The proxy before the endpoint asks for credentials.", _CREDENTIALS),
    408: _gave_up,
    413: _too_long,
    414: _too_long,
    415: _no_endpoint("The configured URL takes no queries; it may not be the query endpoint.", "direct", "get"),
    422: _not_allowed,
    429: _too_many,
    431: _too_long,
    501: _no_endpoint("The configured URL takes no queries by POST.", "get"),
    502: _always(BrokenAnswer, "A proxy got no answer from the endpoint.", LATER),
    503: _unavailable,
    504: _always(GaveUp, "A proxy gave up waiting for the endpoint.", LATER),
    # Cloudflare's own: the server's answer makes no sense to it, or it reached no server, or none in time, or knows no
    # address of it (530, as of a tunnel that is down); and a server that took longer than it waits.
    **dict.fromkeys(
        (520, 521, 522, 523, 530), _always(BrokenAnswer, "A proxy got no answer from the endpoint.", LATER)
    ),
    524: _always(GaveUp, "A proxy gave up waiting for the endpoint.", LATER),
}
