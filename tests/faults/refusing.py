"""Answers that are none: statuses that refuse, pages, and other JSON."""

import json
import time
from email.utils import formatdate
from typing import Final

from tests.faults.cutting import BLAZEGRAPH_TEXT
from tests.faults.injected import InjectedFault
from tests.faults.reply import Answer
from tests.transport.fake_endpoint import JSON

_PROXY: Final = 'any proxy; docs/notes/endpoints.md, "Errors after status 200"'
_WDQS: Final = 'Wikidata Query Service; docs/notes/wikimedia.md, "The quota of the query service"'
_QLEVER: Final = 'QLever; docs/notes/endpoints.md, "Statuses"'
_VIRTUOSO: Final = 'Virtuoso; docs/notes/endpoints.md, "Statuses"'
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
    _always("timed-out-500", 'Blazegraph; docs/notes/blazegraph.md, "HTTP"', BLAZEGRAPH_TEXT, status=500),
    _always("transaction-timed-out-500", _VIRTUOSO, "Virtuoso S1T00 Error SR171: Transaction timed out\n", status=500),
    _always(
        "too-many-terms-400",
        _VIRTUOSO,
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
    _always("timed-out-429", _QLEVER, json.dumps(_QLEVER_ERROR), status=429, content_type="application/json"),
    _always("overloaded-503", _WDQS, "Service is overloaded", status=503),
    _always("unavailable-503", _PROXY, "Service Unavailable", status=503, Retry_After=str(_WAIT_SECONDS)),
    _always(
        "banned-403",
        _WDQS,
        "You have been banned until 2026-11-22T10:00:00Z, please respect throttling and retry-after headers.",
        status=403,
    ),
    _always("redirect", _PROXY, "", status=307, Location="?moved"),
    _always("too-large-413", f"{_QLEVER} (body larger than its limit)", "Request body too large", status=413),
    _always("uri-too-long-414", 'Blazegraph, any proxy; docs/notes/blazegraph.md, "HTTP"', "URI Too Long", status=414),
    _always("empty-200", _PROXY, b"", content_type=JSON),
    _always("other-json-200", _QLEVER, json.dumps(_QLEVER_ERROR), content_type=JSON),
    _always("service-json-200", _PROXY, '{"status":"ok","results":[]}', content_type="application/json"),
)
