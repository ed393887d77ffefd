"""Every fault that the proxy can inject: answers that are cut, connections that break, refusals, and silent changes."""

import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final

from tests.faults.reply import Answer, Ending, Reply, Wire, on_the_wire
from tests.transport.fake_endpoint import JSON

Spoil = Callable[[Answer], Reply | None]


@dataclass(frozen=True)
class InjectedFault:
    """A way in which an endpoint fails.

    Attributes:
        name: Its name, unique.
        imitates: Which engine or proxy does this, and its source: a section of a page in `docs/notes`,
            or an RFC.
        spoil: Makes of the server's answer what the client sees; None where it cannot be done to this answer (a
            row cap that cuts nothing is none).
        asks: Whether the server is asked at all; otherwise `spoil` is given an empty answer.
        detectable: Whether a client can know it from the answer to any query.
        by_sentinel: Whether it can know it otherwise where the query asks for a last row that proves the end.
        in_rows: Whether only a reader who knows what the rows must hold can tell.
        stalls: Whether only the clock tells.
    """

    name: str
    imitates: str
    spoil: Spoil
    asks: bool = True
    detectable: bool = True
    by_sentinel: bool = False
    in_rows: bool = False
    stalls: bool = False

    def __repr__(self) -> str:
        """Return the name, for the IDs of tests and for reports."""
        return self.name


# Answers of which a part was cut off, and something tells: a header, a status, a total, a broken body.

_VIRTUOSO: Final = 'Virtuoso; docs/notes/endpoints.md, "Row caps"'
_STREAM: Final = 'any stream that ends early; docs/notes/endpoints.md, "Errors after status 200"'
_ROWS: Final = "rows that are not the query's (Virtuoso, QLever); docs/notes/endpoints.md"
_QLEVER: Final = 'QLever; docs/notes/endpoints.md, "Errors after status 200"'

_USUAL_CAP: Final = 10_000
"""What the header says. A server's cap is one number, and a client may remember it."""

FUSEKI_TEXT: Final = (
    b"\n##  Query cancelled due to timeout during execution   ##"
    b"\n##  ****          Incomplete results           ****   ##\n"
)
OXIGRAPH_TEXT: Final = b"The SPARQL operation has been cancelled"
QLEVER_TEXT: Final = (
    b"\n !!!!>># An error has occurred while exporting the query result. Unfortunately due to limitations in the "
    b"HTTP 1.1 protocol, there is no better way to report this than to append it to the incomplete result. "
    b"The error message was:\nOperation timed out.\n"
)
BLAZEGRAPH_TEXT: Final = (
    b"SPARQL-QUERY: queryStr=SELECT ?s ?p ?o WHERE { VALUES ?s { <http://example.org/a> } ?s ?p ?o }\n"
    b"java.util.concurrent.TimeoutException\n"
    b"\tat java.base/java.util.concurrent.FutureTask.get(FutureTask.java:204)\n"
    b"\tat com.bigdata.rdf.sail.webapp.BigdataServlet.submitApiTask(BigdataServlet.java:292)\n"
)


def fewer(answer: Answer) -> int | None:
    """Return how many rows a cut leaves: half of them; None where there is nothing to cut."""
    count = len(answer.rows)
    return count // 2 if count else None


def half(answer: Answer) -> Answer | None:
    """Return the answer with half of its rows, well-formed."""
    left = fewer(answer)
    return None if left is None else answer.with_rows(answer.rows[:left])


def _capped_by_header(answer: Answer) -> Answer | None:
    cut = half(answer)
    return cut and cut.with_headers(X_SPARQL_MaxRows=str(_USUAL_CAP))


def _capped_by_status(answer: Answer) -> Answer | None:
    cut = half(answer)
    return cut and Answer(cut.body, 206, cut.headers)


def _capped_by_total(answer: Answer) -> Answer | None:
    left = fewer(answer)
    if left is None or answer.is_tsv:
        # Lines have no room for a total.
        return None
    return answer.with_rows(answer.rows[:left], meta={"query-time-ms": 12, "result-size-total": len(answer.rows)})


def _anytime(answer: Answer) -> Answer | None:
    cut = half(answer)
    return cut and cut.with_headers(
        X_SQL_State="S1TAT",
        X_SQL_Message="RC...: Returning incomplete results, query interrupted by result timeout.",
        X_Exec_Milliseconds="1000",
        X_SPARQL_Anytime="1000",
    )


def _ending_in(text: bytes, *, in_token: bool = False) -> Callable[[Answer], Answer | None]:
    """Cut the body after half of its rows, or within the row after them, and write a text behind."""

    def spoil(answer: Answer) -> Answer | None:
        if answer.results is None:
            return None
        left = len(answer.rows) // 2
        body = answer.begun(left)
        if in_token:
            body = answer.begun(left + 1)[:-7] if answer.rows else body[:-5]
        return Answer(body + text, answer.status, answer.headers)

    return spoil


def _without_a_variable(answer: Answer) -> Answer | None:
    if answer.results is None or not answer.results["head"]["vars"]:
        return None
    *kept, gone = answer.results["head"]["vars"]
    rows = [{name: term for name, term in row.items() if name != gone} for row in answer.rows]
    return answer.with_rows(rows, head={"vars": kept})


def _unbound(answer: Answer) -> Answer | None:
    """Take away the first variable of the last row that binds it; every row does, but for the sentinel."""
    if not answer.rows:
        return None
    first = (answer.results or {})["head"]["vars"][0]
    rows = answer.rows
    binding = [at for at, row in enumerate(rows) if first in row]
    if not binding:
        return None
    rows[binding[-1]] = {name: term for name, term in rows[binding[-1]].items() if name != first}
    return answer.with_rows(rows)


def _errors_for_rows(answer: Answer) -> Answer | None:
    if answer.results is None:
        return None
    written = {"head": answer.results["head"], "results": {"error": "Query timed out", "status": "ERROR"}}
    return Answer(json.dumps(written).encode(), answer.status, answer.headers)


CUTTING: Final = (
    InjectedFault("row-cap-by-header", _VIRTUOSO, _capped_by_header),
    InjectedFault("row-cap-by-206", f"newer {_VIRTUOSO}", _capped_by_status),
    InjectedFault("row-cap-by-total", f"send= of {_QLEVER}", _capped_by_total),
    InjectedFault("anytime-partial", _VIRTUOSO, _anytime),
    InjectedFault("cancelled-after-rows", "Fuseki; docs/notes/endpoints.md", _ending_in(FUSEKI_TEXT)),
    InjectedFault(
        "trace-in-a-token", 'Blazegraph; docs/notes/blazegraph.md, "HTTP"', _ending_in(BLAZEGRAPH_TEXT, in_token=True)
    ),
    InjectedFault("cancelled-in-the-rows", "Oxigraph; docs/notes/endpoints.md", _ending_in(OXIGRAPH_TEXT)),
    InjectedFault("export-error-after-rows", _QLEVER, _ending_in(QLEVER_TEXT)),
    InjectedFault("no-end-after-a-row", _STREAM, _ending_in(b"")),
    InjectedFault("no-end-of-a-token", _STREAM, _ending_in(b"", in_token=True)),
    InjectedFault("variable-missing", _ROWS, _without_a_variable),
    InjectedFault("variable-unbound", _ROWS, _unbound, in_rows=True),
    InjectedFault("error-for-rows", f"errors of {_QLEVER}", _errors_for_rows),
)

# Connections and packings that break, and endpoints that keep silent.

_GZIP_TRAILER: Final = 8
"""Bytes of the check sum and the length at the end of a gzip body."""

_NETWORK: Final = 'any server or network; docs/notes/endpoints.md, "Errors after status 200"'
_PROXY: Final = 'any proxy; docs/notes/endpoints.md, "Errors after status 200"'


def _half(answer: Answer) -> bytes:
    return answer.body[: len(answer.body) // 2]


def _chunked(answer: Answer) -> Wire:
    half = _half(answer)
    chunk = f"{len(half):x}\r\n".encode() + half + b"\r\n"
    return on_the_wire(answer, chunk, "Transfer-Encoding: chunked", Ending.CLOSED)


def _short_of_its_length(ending: Ending) -> Callable[[Answer], Wire]:
    return lambda answer: on_the_wire(answer, _half(answer), f"Content-Length: {len(answer.body)}", ending)


def _packed(answer: Answer, packed: bytes) -> Answer:
    return Answer(packed, answer.status, {**answer.headers, "Content-Encoding": "gzip"})


def _gzip_cut(answer: Answer) -> Answer:
    packed = gzip.compress(answer.body)
    return _packed(answer, packed[: len(packed) // 2])


def _gzip_without_its_trailer(answer: Answer) -> Answer:
    return _packed(answer, gzip.compress(answer.body)[:-_GZIP_TRAILER])


def _gzip_with_a_false_sum(answer: Answer) -> Answer | None:
    """Pack an answer that lacks a row, and is whole JSON, under the check sum of the whole one."""
    if not answer.rows:
        return None
    shorter = answer.with_rows(answer.rows[:-1])
    sums = gzip.compress(answer.body)[-_GZIP_TRAILER:]
    return _packed(answer, gzip.compress(shorter.body)[:-_GZIP_TRAILER] + sums)


def _silence(ending: Ending) -> Spoil:
    return lambda _: Wire(b"", ending)


BREAKING: Final = (
    InjectedFault("broken-off-in-chunks", f"{_NETWORK} (QLever, RDF4J)", _chunked),
    InjectedFault("broken-off-short-of-length", _NETWORK, _short_of_its_length(Ending.CLOSED)),
    InjectedFault("reset-in-the-body", f"{_NETWORK} (Blazegraph)", _short_of_its_length(Ending.RESET)),
    InjectedFault("gzip-cut", _PROXY, _gzip_cut),
    InjectedFault("gzip-without-trailer", _PROXY, _gzip_without_its_trailer),
    InjectedFault("gzip-with-false-sum", _PROXY, _gzip_with_a_false_sum),
    InjectedFault("closed-before-an-answer", _NETWORK, _silence(Ending.CLOSED), asks=False),
    InjectedFault("reset-before-an-answer", _NETWORK, _silence(Ending.RESET), asks=False),
    InjectedFault("refused", _NETWORK, _silence(Ending.REFUSED), asks=False),
    InjectedFault("stall-before-the-head", _NETWORK, _silence(Ending.STALLED), asks=False, stalls=True),
    InjectedFault("stall-in-the-body", _NETWORK, _short_of_its_length(Ending.STALLED), stalls=True),
)

# Answers that are none: statuses that refuse, pages, and other JSON.

_WDQS: Final = 'Wikidata Query Service; docs/notes/wikimedia.md, "The quota of the query service"'
_QLEVER_STATUS: Final = 'QLever; docs/notes/endpoints.md, "Statuses"'
_VIRTUOSO_STATUS: Final = 'Virtuoso; docs/notes/endpoints.md, "Statuses"'
_FUSEKI: Final = 'Fuseki; docs/notes/endpoints.md, "Errors after status 200"'

_WAIT_SECONDS: Final = 1
"""The wait that is asked for: short, so that a call of two seconds can honour it."""

_PAGE: Final = "<!DOCTYPE html><html><head><title>{0}</title></head><body><h1>{0}</h1>nginx</body></html>"
_QLEVER_ERROR: Final = {
    "exception": "Operation timed out. Last operation: Sort (internal order)",
    "query": "SELECT ?s ?p ?o WHERE { ?s ?p ?o }",
    "status": "ERROR",
    "time": {"computeResult": 30000, "total": 30000},
}


def _always(
    name: str,
    imitates: str,
    body: str | bytes,
    *,
    status: int = 200,
    content_type: str = "text/plain; charset=utf-8",
    **headers: str,
) -> InjectedFault:
    """Return a fault that is the same answer each time, without asking the server."""
    written = body.encode() if isinstance(body, str) else body
    answer = Answer(written, status, {"Content-Type": content_type}).with_headers(**headers)
    return InjectedFault(name, imitates, lambda _: answer, asks=False)


def _page(name: str, status: int, title: str, content_type: str = "text/html") -> InjectedFault:
    return _always(name, _PROXY, _PAGE.format(title), status=status, content_type=content_type)


def _until_a_date(_: Answer) -> Answer:
    """Ask for a wait until a moment, as a date of whole seconds."""
    until = formatdate(time.time() + _WAIT_SECONDS, usegmt=True)
    return Answer(b"Too Many Requests", 429, {"Content-Type": "text/plain", "Retry-After": until})


REFUSING: Final = (
    _page("page-502", 502, "502 Bad Gateway"),
    _page("page-504", 504, "504 Gateway Time-out"),
    _page("page-200", 200, "Welcome"),
    _page("page-200-as-json", 200, "Welcome", JSON),
    _always("timed-out-503", _FUSEKI, "Query timed out\n", status=503),
    _always("took-too-long-503", 'RDF4J; docs/notes/rdf4j.md, "HTTP"', "Query evaluation took too long", status=503),
    _always(
        "time-limit-500",
        'Neptune; docs/notes/endpoints.md, "Statuses"',
        json.dumps(
            {"code": "TimeLimitExceededException", "detailedMessage": "Operation terminated (deadline exceeded)"}
        ),
        status=500,
        content_type="application/json",
    ),
    _always("timed-out-500", 'Blazegraph; docs/notes/blazegraph.md, "HTTP"', BLAZEGRAPH_TEXT, status=500),
    _always(
        "transaction-timed-out-500", _VIRTUOSO_STATUS, "Virtuoso S1T00 Error SR171: Transaction timed out\n", status=500
    ),
    _always(
        "too-many-terms-400",
        _VIRTUOSO_STATUS,
        "Virtuoso 37000 Error SP030: SPARQL compiler, line 1: Too many arguments for standard built-in function\n",
        status=400,
    ),
    _always(
        "rate-limit-in-seconds",
        _WDQS,
        f"Too Many Requests - Please retry in {_WAIT_SECONDS} seconds.",
        status=429,
        Retry_After=str(_WAIT_SECONDS),
    ),
    InjectedFault("rate-limit-until-a-date", f"{_PROXY}; RFC 9110 section 10.2.3", _until_a_date, asks=False),
    _always("timed-out-429", _QLEVER_STATUS, json.dumps(_QLEVER_ERROR), status=429, content_type="application/json"),
    _always("overloaded-503", _WDQS, "Service is overloaded", status=503),
    _always("unavailable-503", _PROXY, "Service Unavailable", status=503, Retry_After=str(_WAIT_SECONDS)),
    _always(
        "banned-403",
        _WDQS,
        "You have been banned until 2026-11-22T10:00:00Z, please respect throttling and retry-after headers.",
        status=403,
    ),
    _always("redirect", _PROXY, "", status=307, Location="?moved"),
    _always("too-large-413", f"{_QLEVER_STATUS} (body larger than its limit)", "Request body too large", status=413),
    _always("uri-too-long-414", 'Blazegraph, any proxy; docs/notes/blazegraph.md, "HTTP"', "URI Too Long", status=414),
    _always("empty-200", _PROXY, b"", content_type=JSON),
    _always("other-json-200", _QLEVER_STATUS, json.dumps(_QLEVER_ERROR), content_type=JSON),
    _always("service-json-200", _PROXY, '{"status":"ok","results":[]}', content_type="application/json"),
)

# Answers that are wrong and whole: nothing in them tells. `docs/limits.md` says what an operator can do.

_INTEGER: Final = "http://www.w3.org/2001/XMLSchema#integer"


def _nothing_found(answer: Answer) -> Answer | None:
    return answer.with_rows([]) if answer.rows else None


def _capped_below(answer: Answer) -> Answer | None:
    """Keep one row: a cap below any limit that the gateway asks under, its header gone on the way."""
    return answer.with_rows(answer.rows[:1]) if len(answer.rows) > 1 else None


def _stale(answer: Answer) -> Answer | None:
    """Let the last row be about what it was about before a change."""
    if not answer.rows:
        return None
    *whole, last = answer.rows
    changed = {
        name: {**term, "value": f"{term['value']}-formerly"} if at == len(last) - 1 and term["type"] == "uri" else term
        for at, (name, term) in enumerate(last.items())
    }
    return answer.with_rows([*whole, changed]) if changed != last else None


def _partial_numbers(answer: Answer) -> Answer | None:
    """Halve what was counted."""

    def halved(term: dict[str, str]) -> dict[str, str]:
        return {**term, "value": str(int(term["value"]) // 2)} if term.get("datatype") == _INTEGER else term

    rows = [{name: halved(term) for name, term in row.items()} for row in answer.rows]
    return answer.with_rows(rows) if rows != answer.rows else None


def _left_out(answer: Answer) -> Answer | None:
    """Leave out the first half of the rows, and keep the last."""
    left = fewer(answer)
    return None if not left else answer.with_rows(answer.rows[left:])


_GRAPHDB: Final = 'GraphDB; docs/notes/endpoints.md, "Row caps"'

SILENT: Final = (
    InjectedFault("silently-short", _GRAPHDB, half, detectable=False, by_sentinel=True),
    InjectedFault("silently-empty", _GRAPHDB, _nothing_found, detectable=False, by_sentinel=True),
    InjectedFault(
        "cap-without-its-header",
        'sparql-proxy before Virtuoso; docs/notes/endpoints.md, "Row caps"',
        _capped_below,
        detectable=False,
        by_sentinel=True,
    ),
    InjectedFault("rows-left-out", "a cache that filters; RFC 9110 section 7.7", _left_out, detectable=False),
    InjectedFault("stale-row", "a cache; RFC 9111 section 4.2", _stale, detectable=False),
    InjectedFault(
        "partial-count",
        'Virtuoso behind a proxy; docs/notes/endpoints.md, "Row caps"',
        _partial_numbers,
        detectable=False,
    ),
)

CATALOGUE: Final[Mapping[str, InjectedFault]] = {
    fault.name: fault for fault in (*CUTTING, *BREAKING, *REFUSING, *SILENT)
}
DETECTABLE: Final[Sequence[InjectedFault]] = tuple(fault for fault in CATALOGUE.values() if fault.detectable)
UNDETECTABLE: Final[Sequence[InjectedFault]] = tuple(fault for fault in CATALOGUE.values() if not fault.detectable)
BY_SENTINEL: Final[Sequence[InjectedFault]] = tuple(fault for fault in UNDETECTABLE if fault.by_sentinel)
"""Those of them that show where the query asks for a last row that proves the end: cuts between two rows."""
OF_DATABASES: Final = ("rows-and-their-number", "changed-value")
"""What cannot be known of the answers of databases (`tests/databases/test_changed_answers.py`)."""
TOLD: Final[Sequence[InjectedFault]] = (*DETECTABLE, *BY_SENTINEL)
"""What is reported at an engine with a sentinel."""
