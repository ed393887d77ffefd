"""What one endpoint teaches: answers, of formats, a row cap and IRIs read as others; probes, of what it supports.

Virtuoso writes all terms alike in TSV, so it is asked for TSV only where the query binds nothing but IRIs and blank
nodes (docs/notes/endpoints.md, "Formats"). What is known of an engine by its name is in `engines`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from sys import getsizeof
from typing import Literal, Protocol

from gateway.errors import Fault, QueryRefused, quoted
from gateway.graph.call import Call
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.settings.endpoint import EndpointSettings, EngineName
from gateway.sparql import table
from gateway.sparql.engines import TRAITS
from gateway.sparql.table import Rows
from gateway.sparql.template import Parameter, Template
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.iri import are_ordinary, composed, may_be_rewritten
from gateway.terms.names import patterns
from gateway.transport.base import Format

_log = logging.getLogger(__name__)


class FormatChoice:
    """The formats at one endpoint.

    Args:
        pinned: What the profile says (`endpoint.format`).
    """

    def __init__(self, pinned: str) -> None:
        self._pinned = pinned
        self._only_json: set[str] = set()

    def of(self, text: Template, engine: EngineName, *, is_proven: bool) -> Format:
        """Return the format for a query.

        Args:
            text: Its template.
            engine: The engine.
            is_proven: Whether the rows show that they are all. A body of TSV does not: it may end behind any line.
        """
        wants_tsv = self._pinned == "tsv" or (self._pinned == "auto" and TRAITS[engine].writes_tsv)
        if not (wants_tsv and is_proven) or text.name in self._only_json:
            return "json"
        return "tsv" if text.iris or engine != "virtuoso" else "json"

    def refuse_tsv(self, text: Template) -> None:
        """Ask for JSON from now on, because the TSV that came could not be read, but the JSON could."""
        _log.info("the endpoint's TSV for %s cannot be read; JSON is asked for from now on", text.name)
        self._only_json.add(text.name)


FEWEST = 100
"""Rows that a cap has at least; two short answers may end at one row for other reasons."""


class RowCap:
    """Learns a row cap from answers that ended early.

    A cap shows where two different queries end early at one number of rows, and no answer ever had more.
    """

    def __init__(self) -> None:
        self._most = 0
        self._cut = ""

    def saw_whole(self, rows: int) -> None:
        """Note an answer that was whole, or had more rows than were asked for."""
        if rows > self._most:
            self._most, self._cut = rows, ""

    def saw_cut(self, rows: int, query: str) -> int | None:
        """Note an answer that ended early; return the cap if it now is known."""
        if rows < max(self._most, FEWEST):
            return None
        if rows == self._most and self._cut not in {"", query}:
            return rows
        self._most, self._cut = rows, query
        return None


_AT_ONCE = 200
"""IRIs in one query."""

_KNOWN_BYTES = 4 << 20
"""Memory for what the endpoint said."""


class Asking(Protocol):
    """What sends templates to an endpoint."""

    query_rows: int

    @property
    def doubts_escapes(self) -> bool:
        """Whether the engine may read an IRI with an escape as another one."""
        ...

    def send_by(self, way: Literal["post", "direct"]) -> bool:
        """Send queries in a way from now on; return whether that is a change."""
        ...

    async def rows(self, name: str, call: Call, parameters: Mapping[str, Parameter], /) -> Rows:
        """Ask one question; see `SparqlClient.rows`."""

    async def known_of_engine(self, name: str, call: Call, /) -> bool | None:
        """Return whether the engine can do something, as an earlier process found out."""

    def keep_of_engine(self, name: str, *, can: bool) -> None:
        """Keep whether the engine can do something."""


def refused_iri(iri: str, refused: QueryRefused) -> QueryRefused:
    """Return the refusal of a query as one that names the IRI in it that the engine does not take."""
    return QueryRefused(
        f"The engine refused a query about {quoted(iri)}, which may be no IRI by the engine's rules.",
        valid="Engines differ: some refuse [ and ], or a % without two hexadecimal digits after it.",
        next_step=refused.next_step or "Ask without it.",
    )


class RewrittenIris:
    """What an endpoint said about the IRIs that some engine may read as others; it is asked about each once."""

    def __init__(self, client: Asking) -> None:
        self._client = client
        self._may_send_body = True
        self._is_unchanged: BoundedMap[str, bool] = BoundedMap(_KNOWN_BYTES)

    async def faults(self, iris: Iterable[str], call: Call) -> Mapping[str, Fault]:
        """Return those of the IRIs that the endpoint reads as others, or could not be asked about, and why.

        Raises:
            DeadlinePassed: The time was not enough to look at them.
        """
        distinct = dict.fromkeys(iris)
        doubts_escapes = self._client.doubts_escapes
        doubtful = await in_thread(
            call, lambda _: _doubtful(distinct, doubts_escapes=doubts_escapes), unless=len(distinct) <= FEW_FOR_A_THREAD
        )
        known = self._is_unchanged.known
        is_unchanged = {iri: known[iri] for iri in doubtful if iri in known}
        new = [iri for iri in doubtful if iri not in is_unchanged]
        size = max(1, min(_AT_ONCE, self._client.query_rows // 2))
        faults: dict[str, Fault] = {}
        for start in range(0, len(new), size):
            faults |= await self._read_back(new[start : start + size], is_unchanged, call)
        for iri in new:
            if iri in is_unchanged:
                self._is_unchanged.add(iri, is_unchanged[iri], getsizeof(iri))
        return faults | {iri: _rewritten(iri) for iri, unchanged in is_unchanged.items() if not unchanged}

    async def _read_back(self, iris: Sequence[str], is_unchanged: dict[str, bool], call: Call) -> dict[str, Fault]:
        """Learn which IRIs the endpoint reads as they are; return those about which it could not be asked, and why."""
        try:
            # Beside its composed form, an IRI does not come back from an engine to which the two are one.
            together = dict.fromkeys([*map(composed, iris), *iris])
            rows = (await self._client.rows("iris_as_read", call.for_probe(), {"nodes": list(together)})).whole()
            as_read = {*table.iri("n")(table.binding(rows, "n"))}
        except QueryRefused as refused:
            # One that the engine refuses must not leave the others of its batch unasked.
            if len(iris) == 1:
                return {iris[0]: refused_iri(iris[0], refused)}
            middle = len(iris) // 2
            first = await self._read_back(iris[:middle], is_unchanged, call)
            return {**first, **await self._read_back(iris[middle:], is_unchanged, call)}
        except Fault as fault:
            return dict.fromkeys(iris, fault)
        may_be_form = self._client.doubts_escapes and self._may_send_body and not as_read.issuperset(iris)
        if may_be_form and self._client.send_by("direct"):
            if not await self._read_back(iris, is_unchanged, call):
                return {}
            self._may_send_body = False
            self._client.send_by("post")
        is_unchanged |= {iri: iri in as_read for iri in iris}
        return {}


def is_doubtful(iri: str, *, doubts_escapes: bool) -> bool:
    """Return whether an engine may read an IRI as another one; `doubts_escapes` if it may be one that is not known."""
    # A server that decodes a form twice reads `a%3Ab` as `a:b`.
    return (doubts_escapes and has_escape((iri,))) or may_be_rewritten(iri)


def has_escape(iris: Iterable[str]) -> bool:
    """Return whether some IRI has an escaped character."""
    return any("%" in iri for iri in iris)


def _doubtful(distinct: Collection[str], *, doubts_escapes: bool) -> list[str]:
    if are_ordinary(distinct) and not (doubts_escapes and has_escape(distinct)):
        return []
    return [iri for iri in distinct if is_doubtful(iri, doubts_escapes=doubts_escapes)]


def _rewritten(iri: str) -> QueryRefused:
    return QueryRefused(
        f"The endpoint reads {quoted(iri)} as another IRI, so it cannot be asked for.", next_step="Ask without it."
    )


BOUND_ROWS = 2
"""Rows of the probe of LATERAL where the inner query sees the outer variable."""

_WORD = "bjorks"
_MATCHING = (
    "Bj\u00f6rks",
    "\u201cBjo\u0308rks\u201d",
    "BJ\uff2f\u0308RKS",
    "\U0001d401jorks, s",
    "Bj\u00f6rk\u017f\u3001",
)
"""Composed, decomposed, full-width with an accent, beyond the basic plane, and with another s; some beside signs."""

_OTHERS = ("Bjerks", "bj\u00f8rks", "\u00c9bj\u00f6rks", "Bj\u00f6rks\u044f")
_ATTEMPTS = 3
"""Probes that may fail for another reason than the pattern, before no more are sent."""


_LATERAL = "lateral"
_LETTER_CLASSES = "letter classes"
"""What is kept of an engine."""


class LateralProbe:
    """Whether the engine supports LATERAL (SPARQL 1.2 community group, SEP-0006), unless the profile says so."""

    def __init__(self, client: Asking, endpoint: EndpointSettings) -> None:
        self._client = client
        self._known = None if endpoint.lateral == "auto" else endpoint.lateral

    async def is_supported(self, call: Call) -> bool:
        """Return whether it does; it is probed once, when that is first needed."""
        if self._known is None:
            self._known = await self._client.known_of_engine(_LATERAL, call)
        if self._known is None:
            try:
                rows = (await self._client.rows("lateral/probe", call, {})).whole()
            except QueryRefused:
                self._known = False
            except Fault:
                # Unknown: this call uses what every engine supports, and the next one probes again.
                return False
            else:
                self._known = len(rows) == BOUND_ROWS
            self._client.keep_of_engine(_LATERAL, can=self._known)
        return self._known


class LetterClassProbe:
    """Whether the engine's REGEX supports classes of letters and marks, by which names match regardless of accents."""

    def __init__(self, client: Asking) -> None:
        self._client = client
        self._known: bool | None = None
        self._failed = 0
        self._probing = asyncio.Lock()

    async def is_supported(self, call: Call) -> bool:
        """Return whether it does; after a probe that failed, the next search probes again."""
        async with self._probing:
            if self._known is None:
                self._known = await self._client.known_of_engine(_LETTER_CLASSES, call)
            if self._known is None and self._failed < _ATTEMPTS:
                try:
                    self._known = await self._probe(call)
                    self._client.keep_of_engine(_LETTER_CLASSES, can=self._known)
                except Fault as fault:
                    self._failed += 1
                    _log.info("the probe whether REGEX supports classes of letters failed: %s", fault)
        return bool(self._known)

    async def _probe(self, call: Call) -> bool:
        # The first pattern of a process takes a table of all letters, which takes 60 ms to make.
        (pattern,) = await in_thread(call, lambda _: patterns([_WORD], whole=True))
        try:
            answer = await self._client.rows(
                "search/letter_classes", call, {"pattern": pattern, "matching": _MATCHING, "others": _OTHERS}
            )
        except QueryRefused:
            return False
        return len(answer.whole()) == 1
