"""The command `sparql`: runs a query of the user's own over files or at an endpoint, and prints its answer."""

from __future__ import annotations

import asyncio
import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final

import pyoxigraph
from rich.console import RenderableType
from rich.text import Text

from gateway.cache.on_disk import StoredPrefixes
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.cli.render import sections
from gateway.cli.screen import ID, IdTable, ProgressBar, Screen, Unwrapped, is_terminal, paged
from gateway.cli.sparql_options import SparqlOptions
from gateway.cli.streams import clean, for_terminal, line, write
from gateway.errors import ConfigurationError, counted
from gateway.files.loading import LoadedGraph, is_stdin
from gateway.graph.call import Call, Deadline
from gateway.own_query.endpoint import Answer, ask
from gateway.own_query.frames import Request
from gateway.own_query.process import Head, QueryProcess, ReadQuery, Row
from gateway.own_query.results import Labels, as_text, check_format, value_of, written
from gateway.own_query.text import MOST_BYTES
from gateway.settings.found_by_check import FoundSettings
from gateway.settings.paths import is_file, local_path
from gateway.settings.profile import Profile, policy_of
from gateway.settings.urls import is_database_url
from gateway.sparql.engines import EngineDetector
from gateway.sparql.table import IriTerm, LiteralTerm, Term
from gateway.stores.endpoints import connect, stored_index
from gateway.stores.loaded import load_as_given
from gateway.terms.literals import is_number
from gateway.terms.prefixes import PrefixMap, merge
from gateway.terms.well_known_prefixes import WELL_KNOWN
from gateway.transport.http import Http

_SHOWN_ROWS: Final = 100
"""Rows at a terminal, unless more are asked for."""

_LOOKS: Final = 2
"""Requests without a query that may be sent to find out which engine is asked."""

_PIECE: Final = 1 << 16
"""Characters that are written together."""

Ending = Callable[[], tuple[bool, str]]

_SUFFIXES: Final = (".rq", ".sparql")


@dataclass(frozen=True, slots=True)
class _Result:
    """What came of a query, as far as it is known before all rows are read.

    Attributes:
        head: How the answer begins.
        rows: Its rows, some together.
        total: How many there are, where that is known before they are read.
    """

    head: Head
    rows: Iterable[Sequence[Row]]
    total: int | None = None


def sparql(options: CommonOptions, given: str, asking: SparqlOptions) -> None:
    """Run a query, and print its answer.

    Raises:
        ConfigurationError: The query must not be run, or the graph takes none.
        Fault: It could not be answered.
    """
    source = GraphSource(options)
    _refuse_other_graphs(source)
    if given == "-" and any(is_stdin(Path(path)) for path in options.graph or ()):
        raise ConfigurationError("Both the query and the graph are to be read from standard input.")
    text = _text(given)
    if source.url:
        _at_endpoint(source, options, text, asking)
    else:
        _over_files(source, options, text, asking)


def _refuse_other_graphs(source: GraphSource) -> None:
    if is_database_url(source.url):
        raise ConfigurationError(
            "sparql asks files and SPARQL endpoints; this graph is in tables or nodes of a database, which no SPARQL "
            "reaches.",
            next_step="Ask by the other commands, or ask the database in its own language.",
        )
    if policy_of(source.profile) is not None:
        raise ConfigurationError(
            "sparql asks for the whole graph, and the profile hides a part of it ([hidden]).",
            next_step="Ask with a profile that hides nothing.",
        )


def _text(given: str) -> str:
    """Return the query that is meant: a text, a file, or standard input.

    Raises:
        ConfigurationError: There is no such file, or it is too long, or no text.
    """
    if given == "-":
        content = b"" if sys.stdin is None else sys.stdin.buffer.read(MOST_BYTES + 1)
    elif given.lower().endswith(_SUFFIXES) or is_file(given):
        path = local_path(given)
        try:
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise ConfigurationError(f"{path}: {error.strerror or error}.") from error
    else:
        content = given.encode()
    if len(content) > MOST_BYTES:
        raise ConfigurationError(f"The query is longer than {MOST_BYTES >> 20} MB.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError("The query is no text in UTF-8.") from error
    if not text.strip():
        raise ConfigurationError("The query is empty.", valid="Give its text, a file, or - for standard input.")
    return text


def _over_files(source: GraphSource, options: CommonOptions, text: str, asking: SparqlOptions) -> None:
    with ProgressBar(quiet=options.quiet) as bar:
        graph, coined = load_as_given(options.graph, source.profile, bar.show_load, source.parsed_files)
    prefixes = _Prefixes(source, graph.prefixes, coined)
    printer = _Printer(options, asking, prefixes)
    request = _request(options, text, asking, prefixes)._replace(
        runs=True,
        limit=printer.limit,
        is_for_files=True,
        # One that is in memory too, because it was just parsed, is the same.
        store="" if graph.place is None else str(graph.place.parent / "engine"),
    )
    with QueryProcess(request, _seconds(source, asking), partial(_write_graph, graph)) as process:
        query = process.read()
        printer.check(query.kind)
        head = process.begin()
        rows = () if head.kind == "ask" else process.rows()
        printer.show(_Result(head, rows), lambda: (process.are_more, _of_files(graph, query)))


def _write_graph(graph: LoadedGraph, file: IO[bytes]) -> None:
    if graph.place is None:
        graph.engine.dump(file, pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())


def _of_files(graph: LoadedGraph, query: ReadQuery) -> str:
    """Return why an answer over files may not be whole; empty if it is."""
    if graph.skipped:
        return f"not complete: {counted(graph.skipped, 'part')} of the files left out, because not valid"
    if query.has_empty_path:
        return (
            "whether these are all is not proven: by * or ? of a path, the engine does not find a term itself that is "
            "not in the graph"
        )
    return "whether these are all is not known: other endpoints were asked" if query.has_service else ""


def _at_endpoint(source: GraphSource, options: CommonOptions, text: str, asking: SparqlOptions) -> None:
    folder = options.store_folder
    found = FoundSettings.of(source.url, source.profile, folder, time.time())
    profile = source.profile if found is None else found.applied(source.url, source.profile)
    place = stored_index(source.url, source.profile, source.prefixes, folder).folder
    prefixes = _Prefixes(source, (), StoredPrefixes(place).load())
    printer = _Printer(options, asking, prefixes)
    seconds = _seconds(source, asking)
    with QueryProcess(_request(options, text, asking, prefixes), seconds) as process:
        query = process.read()
    printer.check(query.kind)
    answer = asyncio.run(_answer(connect(source.url, profile), profile, query, seconds))
    if not answer.rdf:
        result = _Result(answer.head, [answer.rows], len(answer.rows))
        printer.show(result, lambda: (False, _of_endpoint(answer, query)))
        return
    body, rdf = answer.rdf
    with QueryProcess(Request("", rdf=rdf, limit=printer.limit), seconds, lambda file: _write(body, file)) as process:
        process.begin()
        printer.show(_Result(answer.head, process.rows()), lambda: (process.are_more, _of_endpoint(answer, query)))


async def _answer(http: Http, profile: Profile, query: ReadQuery, seconds: float) -> Answer:
    deadline = Deadline.after(seconds)
    try:
        # An engine that takes a time limit is told it: else it computes on when nobody waits any more.
        await EngineDetector(http, profile, http.flow).detect(Call(deadline, _LOOKS, 0, 0))
        return await ask(http, query, deadline)
    finally:
        await http.close()


def _write(body: bytes, file: IO[bytes]) -> None:
    file.write(body)


def _of_endpoint(answer: Answer, query: ReadQuery) -> str:
    """Return why an answer of an endpoint may not be whole; empty if it is."""
    if answer.counted is not None and answer.counted > len(answer.rows):
        return f"not complete: the endpoint counts {counted(answer.counted, 'row')}"
    unproven = answer.unproven or ("it asked other endpoints" if query.has_service else "")
    return f"whether these are all is not proven: {unproven}" if unproven else ""


def _seconds(source: GraphSource, asking: SparqlOptions) -> float:
    return source.profile.limits.deadline_seconds if asking.timeout is None else asking.timeout


class _Prefixes:
    """The prefixes that a query may use, and by which IRIs are shown."""

    def __init__(
        self, source: GraphSource, declared: Sequence[tuple[str, Mapping[str, str]]], coined: Mapping[str, str]
    ) -> None:
        given = [("--prefix", source.prefixes), ("the profile", source.profile.prefixes), *declared]
        self.declared, _ = merge(given)
        self.known, _ = merge([*given, ("coined prefixes", coined), ("well-known prefixes", WELL_KNOWN)])
        self.shorten = PrefixMap({**coined, **self.declared}, None, WELL_KNOWN).shorten


def _request(options: CommonOptions, text: str, asking: SparqlOptions, prefixes: _Prefixes) -> Request:
    return Request(text, base=options.base or "", prefixes=dict(prefixes.known), allows_service=asking.allow_service)


class _Printer:
    """Prints an answer: as a table or text at a terminal, else in a format, and what is to be said of it.

    Attributes:
        limit: Rows that are wanted; 0 for all.
    """

    def __init__(self, options: CommonOptions, asking: SparqlOptions, prefixes: _Prefixes) -> None:
        self._options = options
        self._wanted = "json" if options.as_json else asking.export_format
        self._is_table = (
            is_terminal(sys.stdout)
            if self._wanted is None and options.as_text is None
            else (self._wanted is None and bool(options.as_text))
        )
        self._prefixes = prefixes
        self.limit = asking.limit or (_SHOWN_ROWS if self._is_table else 0)

    def check(self, kind: str) -> None:
        """Refuse a format that the answer to a kind of query has not.

        Raises:
            ConfigurationError: It has not.
        """
        if self._wanted is not None:
            check_format(self._wanted, kind)

    def show(self, result: _Result, ending: Ending) -> None:
        """Print an answer; `ending` returns, when it was read, whether there are more rows and what is unproven."""
        rows = _Counted(result.rows, self.limit)
        if self._is_table:
            with paged(wanted=self._options.pager) as screen:
                screen.show(self._shown(result.head, rows))
                said = self._said(result, rows, ending)
                if said:
                    screen.show()
                    screen.show(sections([Text(line(said))]))
            return
        wanted = self._wanted or ("turtle" if result.head.kind in {"construct", "describe"} else "tsv")
        self._write(result.head, rows, wanted)
        said = self._said(result, rows, ending)
        if said and not self._options.quiet:
            Screen(on_stderr=True).show(Text(line(said)))

    def _write(self, head: Head, rows: Iterable[Sequence[Row]], wanted: str) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        how = {"guard_formulas": self._options.guard_formulas, "is_terminal": is_terminal(sys.stdout)}
        pieces: list[str] = []
        size = 0
        for piece in written(head, rows, wanted, self._prefixes.declared, **how):
            # The other formats have nothing to escape.
            pieces.append(for_terminal(piece) if wanted == "turtle" and how["is_terminal"] else piece)
            size += len(piece)
            if size >= _PIECE:
                write(sys.stdout, "".join(pieces))
                pieces, size = [], 0
        write(sys.stdout, "".join(pieces))

    def _shown(self, head: Head, rows: _Counted) -> RenderableType:
        if head.kind == "ask":
            return Text("true" if head.is_true else "false")
        if head.kind != "select":
            text = "".join(written(head, rows, "turtle", self._prefixes.declared))
            return Unwrapped(Text(for_terminal(text).rstrip()))
        found = [row for some in rows for row in some]
        if not found:
            return Text("No rows.")
        labels = Labels()
        cells = [[self._cell(term, labels) for term in row] for row in found]
        return (
            IdTable(
                [(f"?{clean(name)}", ID if _are(IriTerm, column) else "") for name, column in _columns(head, found)],
                cells,
                numeric=[place for place, (_, column) in enumerate(_columns(head, found)) if _are_numbers(column)],
                is_titled=True,
            )
            if head.variables
            else Text(f"{counted(len(found), 'row')} without a column.")
        )

    def _cell(self, term: Term | None, labels: Labels) -> str:
        match term:
            case None:
                return ""
            case IriTerm(value):
                return clean(self._prefixes.shorten(value))
            case LiteralTerm(value, _, language) if language:
                return f"{clean(value)} @{clean(language)}"
            case LiteralTerm():
                return clean(value_of(term, labels))
            case _:
                return as_text(term, labels)

    def _said(self, result: _Result, rows: _Counted, ending: Ending) -> str:
        if result.head.kind == "ask":
            _, unproven = ending()
            return f"{unproven[:1].upper()}{unproven[1:]}." if unproven else ""
        are_more, unproven = ending()
        noun = "row" if result.head.kind == "select" else "triple"
        if result.total is not None and result.total > rows.count:
            first = f"The first {rows.count:,} of {counted(result.total, noun)}: --limit N shows more"
        elif are_more:
            first = f"The first {counted(rows.count, noun)}; there are more: --limit N shows them"
        else:
            first = counted(rows.count, noun) if unproven else f"{counted(rows.count, noun)}, complete"
        return f"{first}; {unproven}." if unproven else f"{first}."


class _Counted:
    """Rows, up to a limit; of which is known how many were read."""

    def __init__(self, rows: Iterable[Sequence[Row]], limit: int) -> None:
        self._rows = rows
        self._limit = limit
        self.count = 0

    def __iter__(self) -> Iterator[Sequence[Row]]:
        """Yield the rows, some together; all are read, because what comes last says whether these are all."""
        for some in self._rows:
            wanted = some[: max(0, self._limit - self.count)] if self._limit else some
            self.count += len(wanted)
            if wanted:
                yield wanted


def _columns(head: Head, rows: Sequence[Row]) -> list[tuple[str, list[Term | None]]]:
    return [(name, [row[place] for row in rows]) for place, name in enumerate(head.variables)]


def _are(kind: type, terms: Iterable[Term | None]) -> bool:
    return all(term is None or isinstance(term, kind) for term in terms)


def _are_numbers(terms: Iterable[Term | None]) -> bool:
    return all(term is None or (isinstance(term, LiteralTerm) and is_number(term.datatype or "")) for term in terms)
