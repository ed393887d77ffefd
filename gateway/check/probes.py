"""The probes: each determines one claim by a query, or leaves it undetermined if that fails.

A query has a limit and a short deadline, and is sent once; one is sent at a time. Only a bound row proves a text index:
without one many engines return no error.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from gateway.check.report import Claim, not_determined, share_of_blank_nodes
from gateway.errors import (
    AnswerCut,
    EndpointFault,
    Fault,
    NoQueryEndpoint,
    QueryRefused,
    ServerFailed,
    WrongFormat,
    counted,
)
from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline
from gateway.graph.values import Iri
from gateway.settings.endpoint import EndpointSettings, EngineName
from gateway.sparql import template
from gateway.sparql.engines import TRAITS
from gateway.sparql.json_rows import decode
from gateway.sparql.learned import BOUND_ROWS
from gateway.sparql.sentinel import END, Place, marker, without_sentinel
from gateway.sparql.table import Table, TripleTerm, UnexpectedRows, binding, edge, integer, iri, literal, read, term
from gateway.sparql.template import Parameter
from gateway.sparql.tsv_rows import decode_tsv
from gateway.terms.iri import OWN, RDF_TYPE, is_iri
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap
from gateway.transport.base import InFormats, ProbeResponse, Remote, Transport

SECONDS_EACH = 5.0
"""The time for one probe."""

_TOGETHER = 18
"""The time for all probes, as a multiple of that for one: an endpoint may hang in each."""


class Prober:
    """Sends probes to one endpoint.

    Attributes:
        deadline: The deadline of the whole check.
        seconds_each: The time for one probe.
    """

    def __init__(self, transport: Transport, flow: FlowControl, deadline: Deadline, seconds_each: float) -> None:
        self._transport = transport
        self._flow = flow
        self.deadline = deadline
        self.seconds_each = seconds_each

    @classmethod
    def of(cls, transport: Transport, endpoint: EndpointSettings, seconds_each: float) -> Prober:
        """Return a prober under the flow control of an endpoint."""
        flow = transport.flow if isinstance(transport, Remote) else FlowControl(endpoint.requests)
        return cls(transport, flow, Deadline.after(_TOGETHER * seconds_each), seconds_each)

    def with_transport(self, transport: Transport) -> Prober:
        """Return a prober for another transport, with the same flow control and deadline."""
        return Prober(transport, self._flow, self.deadline, self.seconds_each)

    async def look(self, remote: Remote, accept: str) -> ProbeResponse:
        """Return the response of an endpoint to a request without a query.

        Raises:
            Fault: There was none.
        """
        deadline = self.deadline.within(self.seconds_each)
        async with self._flow.turn(deadline):
            return await remote.look(accept, deadline)

    async def rows(self, name: str, rows: int, /, **parameters: Parameter) -> Table:
        """Return the rows of one query: at most `rows`.

        Raises:
            Fault: There was no complete answer.
        """
        text = template.load(name)
        return decode(await self._body(text.render({**parameters, "rows": rows})), text.variables, rows)

    async def sentinel(self, name: str, rows: int, /, *, is_sorted: bool, **parameters: Parameter) -> Place:
        """Return where the sentinel is in the answer to one query for at most `rows` rows.

        Raises:
            Fault: There was no complete answer.
        """
        text = template.load(name)
        query = text.render({**parameters, "rows": rows})
        body = await self._body(text.with_sentinel(query, rows, is_sorted=is_sorted))
        return without_sentinel(decode(body, (*text.variables, END), rows + 1), marker(query))[1]

    async def lines(self, remote: InFormats, name: str, rows: int, /, **parameters: Parameter) -> Table:
        """Return the rows of one query, which are asked for in TSV.

        Raises:
            Fault: There was no complete answer, or none in TSV.
        """
        text = template.load(name)
        body = await self._body(text.render({**parameters, "rows": rows}), remote)
        return decode_tsv(body, text.variables, rows, text.iris)

    async def _body(self, query: str, in_tsv: InFormats | None = None) -> bytes:
        deadline = self.deadline.within(self.seconds_each)
        async with self._flow.turn(deadline):
            if in_tsv is not None:
                return await in_tsv.select_in("tsv", query, deadline)
            return await self._transport.select(query, deadline)


def number_of(rows: Table, variable: str) -> int:
    """Return the number in the only row.

    Raises:
        UnexpectedRows: There is not exactly one row, or it has no such number.
    """
    numbers = list(integer(variable)(rows))
    if len(numbers) != 1 or numbers[0] < 0:
        raise UnexpectedRows
    return numbers[0]


P = ParamSpec("P")
Result = TypeVar("Result")

_USUAL_CAP = 10_000
"""The row cap of DBpedia, and of other public endpoints on Virtuoso (docs/notes/endpoints.md)."""

_MOST_ROWS = 100_000
"""Rows that are read at most to find a row cap: as many as `check/rows` can generate."""

_SENTINEL_ROWS = 20_000
_SENTINEL_SCAN = 1_000
_SENTINEL_ROUNDS = 3
"""Rows, and triples that are grouped, in answers that show whether the sentinel is last; answers of generated rows."""

_BRANCHES = 20
"""Branches of the UNION of `check/rows_of_branches`."""
_LINES = 200
"""Rows that are read to find out whether TSV can be."""

_COUNTED = (1_000_000, 10_000)
"""Limits of a count, tried in this order until one is counted in time."""

_COUNTED_DISTINCT = (100_000, 10_000)
"""The same for distinct triples, which the engine has to remember."""

_IMPORTS = 101
"""Imports that are read."""

_BLANK_TYPES = 100
"""Types of blank nodes that are read, and that are named, the most frequent first."""

_GRAPHS = 10
"""Named graphs that are listed; of more, only that there are more."""

_SAMPLED = 10
"""Triples of named graphs that are looked for in the default graph."""

_WORD = re.compile(r"[A-Za-z]{4,24}")
"""A word that needs no escape in the query language of any text index."""

_NAMES = 50
_TRIED = 3
_HITS = 5
"""Names that are read, words of them that are searched for, and rows of each search."""


def _claim(probe: Callable[P, Awaitable[Claim]]) -> Callable[P, Coroutine[Any, Any, Claim]]:
    """Leave the claim of a probe undetermined if the probe fails."""

    @wraps(probe)
    async def determined(*args: P.args, **named: P.kwargs) -> Claim:
        try:
            return await probe(*args, **named)
        except Fault as fault:
            return not_determined(fault.wrong)

    return determined


async def alive(prober: Prober) -> None:
    """Check the answer to a query that is the same on every SPARQL engine.

    Raises:
        Fault: The answer is wrong, or there is none.
    """
    rows = await prober.rows("alive", 1)
    if number_of(rows, "alive") != 1:
        raise EndpointFault("What answers is not a SPARQL endpoint: its answer to the simplest query is wrong.")


@_claim
async def takes(prober: Prober, method: str) -> Claim:
    """Return whether the endpoint accepts queries by a method, with which the transport of the prober sends them."""
    try:
        await alive(prober)
    except NoQueryEndpoint as fault:
        return Claim(False, fault.wrong)
    return Claim(True, f"a query sent by {method} was answered")


@_claim
async def row_cap(prober: Prober, query_rows: int) -> Claim:
    """Return the number of rows that the endpoint sends at most, found without reading many."""
    proven = 0
    for asked in sorted({_USUAL_CAP + 1, min(query_rows + 1, _MOST_ROWS)}):
        try:
            came = len(await prober.rows("check/rows", asked))
        except AnswerCut as cut:
            again = await _came_again(prober, asked, cut)
            if isinstance(again, Claim):
                return again
            came = again
        except Fault as fault:
            if not proven:
                raise
            return Claim(
                proven, f"{proven:,} rows arrived; {asked:,} were requested next: {fault.wrong}", at_least=True
            )
        if came < asked:
            again = len(await prober.rows("check/rows", asked))
            if came != again:
                return not_determined(f"of {asked:,} rows {came:,} arrived, and {again:,} when requested again")
            return Claim(came, f"of {asked:,} rows that exist only {came:,} arrived, twice, without a sign")
        proven = asked
    return Claim(proven, f"{proven:,} rows were requested and arrived", at_least=True)


@_claim
async def sentinel(prober: Prober, cap: Claim) -> Claim:
    """Return how the endpoint can be asked for a last row that proves the end of an answer."""
    rows = _SENTINEL_ROWS if cap.value is None else min(_SENTINEL_ROWS, int(cap.value) * 9 // 10)
    numbers = list(integer("a")(await prober.rows("check/rows_of_branches", _BRANCHES + 1)))
    if sorted(numbers) != [*range(1, _BRANCHES + 1)]:
        return not_determined("a UNION has the wrong rows")
    where = f"in answers of up to {rows:,} rows, generated, stored and grouped"
    disordered = "it does not keep the order of the branches of a UNION" if numbers != sorted(numbers) else ""
    united = disordered or await _misplaced(prober, rows, is_sorted=False)
    if not united:
        return Claim("united", f"the branches of a UNION keep their order, and it was last {where}")
    by_sorting = await _misplaced(prober, rows, is_sorted=True)
    return (
        Claim("none", f"{united}; sorted, {by_sorting}")
        if by_sorting
        else Claim("sorted", f"{united}; sorted, it was last {where}")
    )


async def _misplaced(prober: Prober, rows: int, *, is_sorted: bool) -> str:
    """Return how the sentinel was misplaced in an answer; empty if it was last in all."""
    asked: list[tuple[str, int, Mapping[str, int]]] = [("check/rows", rows, {})] * _SENTINEL_ROUNDS
    asked += [("check/rows_of_triples", rows, {}), ("schema/totals", rows, {"scan": _SENTINEL_SCAN})]
    for name, most, parameters in asked:
        place = await prober.sentinel(name, most, is_sorted=is_sorted, **parameters)
        if place is not Place.LAST:
            return "it was missing" if place is Place.MISSING else "it was not last"
    return ""


@_claim
async def tsv(prober: Prober, remote: InFormats) -> Claim:
    """Return whether rows in TSV can be read."""
    try:
        rows = await prober.lines(remote, "schema/subjects", _LINES, skip=0, scan=_LINES)
    except WrongFormat as wrong:
        return Claim("JSON", f"TSV was asked for and cannot be read: {wrong.wrong}")
    return Claim("TSV", f"{len(rows)} rows of it were read; JSON for queries whose rows do not show that they are all")


async def _came_again(prober: Prober, asked: int, cut: AnswerCut) -> int | Claim:
    """Return how many rows come after an answer was cut, or the row cap if the endpoint names the same one again.

    Virtuoso now and then cuts one answer by another setting, and names that (docs/notes/endpoints.md, "Row caps").
    """
    if cut.row_cap is None:
        return not_determined("an answer was cut, and the endpoint does not say at how many rows")
    try:
        return len(await prober.rows("check/rows", asked))
    except AnswerCut as again:
        if again.row_cap != cut.row_cap:
            return not_determined(f"an answer was cut at {cut.row_cap} rows, as the endpoint says, and then at others")
        return Claim(cut.row_cap, "the endpoint said so when it cut an answer, twice")


async def _taken(prober: Prober, name: str, rows: int) -> Table:
    """Return the rows of a query that reads no graph: an endpoint that fails on it, and on no other, refuses it."""
    try:
        return await prober.rows(name, rows)
    except ServerFailed as failed:
        await alive(prober)
        raise QueryRefused(failed.wrong, next_step=failed.next_step) from failed


@_claim
async def lateral(prober: Prober) -> Claim:
    """Return whether LATERAL is accepted, and has the right result."""
    try:
        rows = await _taken(prober, "lateral/probe", 5)
    except QueryRefused:
        return Claim(False, "a query with it is refused")
    if len(rows) == BOUND_ROWS:
        return Claim(True, "a query with it has the right rows")
    return Claim(False, f"a query with it has {len(rows)} rows where {BOUND_ROWS} are right")


@_claim
async def rdf_1_2(prober: Prober) -> Claim:
    """Return whether triple terms of RDF 1.2 are accepted, and returned."""
    try:
        rows = await _taken(prober, "check/rdf_1_2", 2)
    except QueryRefused:
        return Claim(False, "a query with a triple term is refused")
    if len(rows) == 1 and isinstance(rows.terms("term")[0], TripleTerm):
        return Claim(True, "a triple term came back as one")
    return Claim(False, "a query with a triple term is accepted, but does not return it")


@_claim
async def named_graphs(prober: Prober) -> Claim:
    """Return the number of named graphs, up to a limit."""
    try:
        rows = await prober.rows("check/named_graphs", _GRAPHS + 1)
    except QueryRefused:
        return Claim(0, "a query with GRAPH is refused")
    names = sorted({name.value for name in term("g")(rows)})
    if not names:
        return Claim(0, "GRAPH finds none")
    many = len(names) > _GRAPHS
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")  # noqa: PLR2004 - a few are enough to know it by
    return Claim(len(names), f"GRAPH finds {shown}", at_least=many)


async def names_of_graphs(prober: Prober) -> tuple[str, ...]:
    """Return the names of the named graphs; none if there are more than a profile should list."""
    rows = await prober.rows("check/named_graphs", _GRAPHS + 1)
    names = sorted({name.value for name in term("g")(rows) if is_iri(name.value)})
    return tuple(names) if len(names) <= _GRAPHS else ()


@_claim
async def union_default_graph(prober: Prober, graphs: Claim) -> Claim:
    """Return whether the default graph contains the named graphs, by a sample of their triples."""
    if not graphs.value:
        return not_determined("no named graph was found" if graphs.value is None else "there are no named graphs")
    sample = set(edge(await prober.rows("check/in_named_graphs", _SAMPLED)))
    if not sample:
        return not_determined("no triple of a named graph could be read")
    present = edge(await prober.rows("check/present", len(sample) + 1, triples=[one.triple for one in sample]))
    absent = len(sample.difference(present))
    if absent:
        return Claim(False, f"of {len(sample)} triples of named graphs, the default graph lacks {absent}")
    return Claim(True, f"the default graph has all of {len(sample)} triples of named graphs that were checked")


@_claim
async def triples(prober: Prober, *, several: bool) -> Claim:
    """Return the number of triples, up to a limit; triples that several graphs share count once."""
    name = "check/distinct_triples" if several else "check/triples"

    async def counted_to(bound: int) -> int:
        return number_of(await prober.rows(name, 1, most=bound + 1), "count")

    bound, count = await _first_in_time(_COUNTED_DISTINCT if several else _COUNTED, counted_to)
    if count > bound:
        return Claim(bound, f"counted up to {bound:,}", at_least=True)
    return Claim(count, "counted, each once" if several else "counted")


async def _first_in_time(bounds: Sequence[int], ask: Callable[[int], Awaitable[Result]]) -> tuple[int, Result]:
    """Return the first bound up to which is answered in time, and the answer.

    Raises:
        Fault: None is, and why not up to the last.
    """
    *others, least = bounds
    for bound in others:
        with contextlib.suppress(Fault):
            return bound, await ask(bound)
    return least, await ask(least)


async def _count_of_blank_nodes(prober: Prober, bound: int) -> str:
    """Return in words how many blank nodes there are; an empty text where they could not be counted in time."""
    try:
        count = sum(integer("count")(await prober.rows("check/blank_count", 1, own=OWN, most=bound)))
    except Fault:
        return ""
    return ("at least " if count >= bound else "") + counted(count, "blank node")


async def missing_imports(prober: Prober, prefixes: PrefixMap) -> list[str]:
    """Return a warning where the graph imports ontologies that are not in it; none where it could not be asked."""
    try:
        rows = await prober.rows("check/imports", _IMPORTS)
    except Fault:
        return []
    missing = sorted(iri("imported")(rows))
    count = f"at least {len(missing):,}" if len(missing) == _IMPORTS else f"{len(missing):,}"
    return [f"Imported ontologies are not in the graph ({count}): {prefixes.listed(missing)}."] if missing else []


@_claim
async def blank_nodes(prober: Prober, prefixes: PrefixMap) -> Claim:
    """Return how many edges have a blank node at an end, up to a limit, how many there are, and of which types."""

    async def counted_to(bound: int) -> tuple[Table, Table]:
        edges = await prober.rows("check/blank_edges", 3, own=OWN, most=bound)
        return edges, await prober.rows("check/blank_types", _BLANK_TYPES, own=OWN, type=RDF_TYPE, most=bound)

    bound, (edges, types) = await _first_in_time(_COUNTED, counted_to)
    counts = {ends.value: count for ends, count in read(binding(edges, "blank"), literal("blank"), integer("count"))}
    blank, total = counts.get("some", 0), sum(counts.values())
    typed = [*read(binding(types, "type"), iri("type"), integer("count"))]
    many = await _count_of_blank_nodes(prober, bound) if blank else ""
    return share_of_blank_nodes(blank, total, typed, prefixes, is_bound=total >= bound, nodes=many)


@_claim
async def version_of_jena(prober: Prober) -> Claim:
    """Return the version of Jena."""
    rows = await prober.rows("check/version_of_jena", 1)
    versions = [version.value for version in rows.terms("version") if version is not None]
    if len(versions) == 1:
        return Claim(versions[0], "Jena's own function for it")
    return not_determined("the server does not publish it")


@dataclass(frozen=True, slots=True)
class _Index:
    """A kind of text index: what queries it, the template, and the search expression for a word."""

    name: str
    template: str
    quoted: Callable[[str], str]


_INDEXES: Mapping[EngineName, _Index] = {
    "fuseki": _Index("text:query", "check/text_fuseki", str),
    "virtuoso": _Index("bif:contains", "check/text_virtuoso", '"{}"'.format),
    "blazegraph": _Index("bds:search", "check/text_blazegraph", str),
}
"""The text indexes that are known here; other engines have none, or none that was tried."""


@_claim
async def text_search(prober: Prober, engine: EngineName, predicates: Sequence[Iri]) -> Claim:
    """Return whether the text index of the engine finds words of names, which `predicates` give."""
    index = _INDEXES.get(engine)
    if index is None:
        unknown = engine == "unknown"
        name = TRAITS[engine].name
        return not_determined("the engine is not recognised" if unknown else f"no text index of {name} is known here")
    words = _words(read(await prober.rows("check/names", _NAMES, predicates=predicates), iri("p"), literal("v")))
    if not words:
        return not_determined("no name has a word to search for")
    for predicate, word in words:
        try:
            rows = await prober.rows(index.template, _HITS, predicate=predicate, word=index.quoted(word))
        except QueryRefused:
            return Claim(False, f"{index.name} is refused")
        if len(binding(rows, "n")):
            return Claim(index.name, f"{index.name} found a node by the word {word}")
        if rows:
            return Claim(False, f"{index.name} binds nothing: there is no index")
    return not_determined(f"{index.name} is accepted, but found nothing for {len(words)} words that names have")


def _words(names: Iterable[tuple[Iri, Literal]]) -> list[tuple[Iri, str]]:
    """Return the longest words of names, each with its predicate: long words are not stop words."""
    found = {word: predicate for predicate, name in names for word in _WORD.findall(name.value)}
    longest = sorted(found, key=lambda word: (-len(word), word))[:_TRIED]
    return [(found[word], word) for word in longest]
