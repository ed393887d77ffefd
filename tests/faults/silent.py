"""Answers that are wrong and whole: nothing in them tells. `docs/limits.md` says what an operator can do."""

from typing import Final

from tests.faults.cutting import fewer, half
from tests.faults.injected import InjectedFault
from tests.faults.reply import Answer

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
