"""Answers of which a part was cut off, and something tells: a header, a status, a total, a broken body."""

import json
from collections.abc import Callable
from typing import Final

from tests.faults.injected import InjectedFault
from tests.faults.reply import Answer

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
