"""All pages of an answer in rows, or of a list, of which the next one shows that the graph did not change meanwhile."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

from gateway.answers.models import BfsResult, IntersectionResult, SearchHit, SearchResult
from gateway.arguments import MAX_CONDITIONS, MAX_HITS
from gateway.errors import EndpointFault, Fault, InputError
from gateway.export.conversions import Kind

RowPage = SearchResult | BfsResult | IntersectionResult
AnyPage = TypeVar("AnyPage", bound=RowPage)
AskRows = Callable[[Mapping[str, Any]], Awaitable[AnyPage]]
"""Answers in rows, with these further arguments."""

_COMPARED = 30
"""Characters of a text that are compared; how much of a long one is shown, its page decides."""


async def pages_of_rows(
    ask: AskRows[AnyPage],
    most: int | None,
    limit: int | None,
    expand: Callable[[str], str] = str,
    offset: int = 0,
) -> AsyncIterator[AnyPage]:
    """Yield the pages of an answer in rows, or of a list; with a limit, those of the first so many.

    A page of a traversal tells whether it is of the same answer as the one before. Any other is asked for from the last
    row of the one before on, which is compared and left out. An entity is missed only if it moved, from behind that row
    to before it, while another one left from there.

    Args:
        ask: Answers with these further arguments.
        most: Rows of a page at most; None for as many as it has by default.
        limit: Rows of all pages at most.
        expand: Returns the IRI of an ID.
        offset: Where the first page begins.

    Raises:
        InputError: An argument is wrong.
        Fault: The graph could not be queried, or changed meanwhile.
    """
    found: int | None = None
    last: str | None = None
    before: AnyPage | None = None
    place: dict[str, Any] = {"offset": offset} if offset else {}
    doubt = ""
    while True:
        size = most if limit is None else min(most or limit, limit)
        page = await ask(_asked(place, size, overlaps=last is not None))
        count = _count(page)
        has_changed = not isinstance(page, SearchResult) and page.result_changed
        # How many an incomplete page found says nothing of the graph.
        if has_changed or (page.complete and found not in {None, count}):
            raise _changed()
        if last is not None:
            repeated = _repeated(page, before, last, expand)
            page = _without(page, repeated)
            if len(repeated) != 1:
                if page.complete:
                    raise _changed()
                doubt = NOT_JOINED
            elif not _length(page) and page.next_offset is not None:
                # The size of an answer has room for one row.
                last, doubt = None, NOT_PROVEN
                continue
        if doubt:
            page = _as_unproven(page, doubt)
        found = count if page.complete else found
        limit = None if limit is None else limit - _length(page)
        is_last = page.next_offset is None or limit == 0
        # What the last row of any other page ties with stands on the next one.
        yield page if is_last else _copy(page, {"tied": None})
        if page.next_offset is None or limit == 0:
            return
        doubt = ""
        place = {"offset": page.next_offset}
        if isinstance(page, SearchResult):
            last, before = _last(page, expand), page
        else:
            place["snapshot"] = page.snapshot


MOST_LOOKED_UP = 20
"""Columns without a value on a page of which the first value is looked up, each by a question of its own."""

_FIGURE = re.compile(r"(?:sum|min|max) ")


async def typed_pages(
    pages: AsyncIterator[SearchResult], ask: AskRows[SearchResult], conditions: str | Sequence[str] | None
) -> AsyncIterator[SearchResult]:
    """Yield pages whose tables agree on the types of their columns, so that they can be put together.

    A page without any value in a column does not show its type: the first entity that has one does.

    Args:
        pages: The pages.
        ask: Answers the same question with other arguments.
        conditions: Those of the question.
    """
    known: Mapping[str, Kind] = {}
    looked_up: set[str] = set()
    given = [conditions] if isinstance(conditions, str) else list(conditions or ())
    async for page in pages:
        known = page.set_kinds(known)
        titles = [*(page.columns or ()), *filter(_FIGURE.match, page.group_columns or ())]
        # A page that no other follows is put together with none.
        is_last = page.next_offset is None
        unknown = [title for title in titles if not is_last and title not in known and title not in looked_up]
        for title in unknown[: MOST_LOOKED_UP - len(looked_up)]:
            looked_up.add(title)
            if kind := await _kind_of(title, given, ask):
                known = page.set_kinds({**known, title: kind})
        page.set_all_pages()
        yield page


async def _kind_of(title: str, conditions: Sequence[str], ask: AskRows[SearchResult]) -> Kind | None:
    """Return the type of the first value of a column; None where there is none, or where it cannot be asked for."""
    column = _FIGURE.sub("", title, count=1)
    if len(conditions) >= MAX_CONDITIONS:
        return None
    first = {"where": [*conditions, f"{column} exists"], "values": [column], "limit": 1, "offset": 0}
    try:
        found = await ask({**first, "sort_by": None, "group_by": None, "compute": None, "edges": True})
    except (Fault, InputError):
        # The pages say what they lack.
        return None
    return found.set_kinds({}).get(column)


def _copy(page: AnyPage, fields: Mapping[str, Any]) -> AnyPage:
    return cast("AnyPage", page.model_copy(update=dict(fields)))


def _changed() -> EndpointFault:
    return EndpointFault(
        "The graph changed while its rows were read, so the pages do not fit together.", next_step="Ask again."
    )


def _asked(place: Mapping[str, Any], size: int | None, *, overlaps: bool) -> dict[str, Any]:
    """Return the arguments of a page of so many rows, before which stands the last one of the page before."""
    given = {**place, "offset": place["offset"] - 1} if overlaps else dict(place)
    if size is not None:
        given["limit"] = min(size + 1, MAX_HITS) if overlaps else size
    return given


def _listed(page: RowPage) -> tuple[str, list[Any]]:
    """Return the field that has the rows or entities of a page, and these."""
    if page.groups is not None:
        return "groups", page.groups
    if page.rows is not None:
        return "rows", page.rows
    return "result", page.result if isinstance(page, SearchResult) else []


def _length(page: RowPage) -> int:
    return 1 if page.computed is not None else len(_listed(page)[1])


def _count(page: RowPage) -> int:
    """Return how many all pages have; a page that has them all does not say it."""
    count = page.found if page.groups is None else page.group_count
    return _length(page) if count is None else count


def _without(page: AnyPage, places: Collection[int]) -> AnyPage:
    name, rows = _listed(page)
    return _copy(page, {name: [row for place, row in enumerate(rows) if place not in places]}) if places else page


def _repeated(page: RowPage, before: RowPage | None, last: str, expand: Callable[[str], str]) -> list[int]:
    """Return the places of rows that the page before had: that with which it ended, if nothing changed meanwhile.

    Of entities found by name, those that are not to be used any more are last on each page, so any may be that row.
    """
    if before is not None and _is_by_name(page):
        known = {_written(row, expand) for row in _listed(before)[1]}
        return [place for place, row in enumerate(_listed(page)[1]) if _written(row, expand) in known]
    return [0] if _first(page, expand) == last else []


def _is_by_name(page: RowPage) -> bool:
    return isinstance(page, SearchResult) and page.rows is None and any(hit.match != "type" for hit in page.result)


def _first(page: RowPage, expand: Callable[[str], str]) -> str | None:
    return next((_written(row, expand) for row in _listed(page)[1][:1]), None)


def _last(page: RowPage, expand: Callable[[str], str]) -> str | None:
    return next((_written(row, expand) for row in _listed(page)[1][-1:]), None)


def _written(row: Any, expand: Callable[[str], str]) -> str:
    """Return what a row is of: the IRI of its entity, whichever prefix was known for it, or else how it begins."""
    text = row.id if isinstance(row, SearchHit) else str(row[0])
    try:
        return expand(text.partition(" ")[0])
    except InputError:
        return text[:_COMPARED]


def _as_unproven(page: AnyPage, doubt: str) -> AnyPage:
    warnings = page.warnings or []
    return _copy(page, {"complete": False, "warnings": [*warnings, doubt]})


# --- sentences that a model reads ---

NOT_PROVEN = (
    "Nothing shows that the graph did not change since the page before, because a page has room for one row only."
)

NOT_JOINED = (
    "The last row of the page before does not stand before this page, or other rows of it do too. Either the graph "
    "changed meanwhile, or it lists its rows in another order each time, so rows may be missing between these pages."
)
