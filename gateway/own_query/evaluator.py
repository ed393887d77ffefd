"""The process that reads a query, and runs it over a graph in files.

A query can end Oxigraph (an `ORDER BY` over mixed kinds), nest deeper than its parser's stack, run without end or take
all memory: in a process of its own, that is an error and no more (docs/notes/embedded-engines.md, "Queries").
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import IO, Any, cast

import pyoxigraph

from gateway.own_query.columns import mistake_in_columns
from gateway.own_query.frames import BEGUN, END, HEAD, HEADER, READ, REFUSED, ROWS, Request
from gateway.own_query.text import KINDS, UPDATES, QueryText, in_order, read_query
from gateway.own_query.words import mistake_in_words

_FEW_ROWS = 100
_PIECE = 1 << 16
"""Characters of rows that are sent together, at least."""

_LONGEST_ERROR = 300
_FEW_NAMES = 3
_FEW_WORDS = 8
_EXPECTED = re.compile(r": expected (?:one of (.*)|\[.*\])\Z")
_CLASS = re.compile(r"\[[^\]]*\]")
_QUOTED = re.compile(r'"[^"\s]{1,20}"')
_ANY_NAMESPACE = "urn:x-any:"
_PLACE = re.compile(r"\Aerror at ([0-9]+):([0-9]+)")
_STRINGS = "http://www.w3.org/2001/XMLSchema#string"
_FORMATS = {"ntriples": pyoxigraph.RdfFormat.N_TRIPLES, "turtle": pyoxigraph.RdfFormat.TURTLE}

Send = Callable[[bytes, object], None]


class RefusedError(Exception):
    """The query is not run."""

    def __init__(self, wrong: str, *, valid: str = "", next_step: str = "") -> None:
        super().__init__(wrong)
        self.content = {"wrong": wrong, "valid": valid, "next_step": next_step}


def main() -> None:
    """Do what standard input requests, and send what comes of it to standard output."""
    # Ctrl-C reaches all processes of a terminal; the one that asked ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, output = sys.stdin.buffer, sys.stdout.buffer

    def send(kind: bytes, content: object) -> None:
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        output.write(HEADER.pack(kind, len(text)) + text)
        output.flush()

    _, size = HEADER.unpack(source.read(HEADER.size))
    request = Request(**json.loads(source.read(size)))
    try:
        _answer(request, source, send)
    except BrokenPipeError:
        os._exit(1)
    except RefusedError as error:
        send(REFUSED, error.content)
    except OSError as error:
        # The file of a store, or another endpoint: SERVICE.
        send(REFUSED, {"wrong": f"The engine failed: {str(error)[:_LONGEST_ERROR]}"})
    except MemoryError:
        # The last words are the same as those of the engine.
        sys.exit("memory allocation failed")
    # A large store takes longer to be taken down than to be left.
    output.flush()
    os._exit(0)


def _answer(request: Request, source: IO[bytes], send: Send) -> None:
    if request.rdf:
        _limit_memory(request.memory_megabytes)
        send(HEAD, {"kind": "construct", "variables": ["subject", "predicate", "object"]})
        try:
            _send_rows(_triples(pyoxigraph.parse(source, _FORMATS[request.rdf])), request.limit, send)
        except (SyntaxError, ValueError) as error:
            raise RefusedError(f"The answer is no whole RDF: {_short(error)}.") from error
        return
    query = read_query(request.text)
    _check(query, request)
    known = {name: request.prefixes[name] for name in query.undeclared & request.prefixes.keys()}
    _parse(query, request, known)
    send(READ, {"kind": query.kind, "sent": query.with_prefixes(known), **_shown(query)})
    if not request.runs:
        return
    store = _opened(request, source)
    _limit_memory(request.memory_megabytes)
    send(BEGUN, None)
    try:
        _run(store.query(query.text, base_iri=request.base or None, prefixes=known), query, request.limit, send)
    except (SyntaxError, ValueError) as error:
        raise RefusedError(f"The engine failed: {_short(error)}.") from error


def _shown(query: QueryText) -> dict[str, object]:
    return {
        "prologue": query.prologue,
        "body": query.body,
        "has_dataset": query.has_dataset,
        "has_graph": query.has_graph,
        "has_service": query.has_service,
        "has_empty_path": query.has_empty_path,
    }


def _check(query: QueryText, request: Request) -> None:
    """Refuse a text that is no query, or reaches what it must not.

    Raises:
        RefusedError: It does.
    """
    if query.kind in UPDATES:
        raise RefusedError(
            f"{query.kind.upper()} is an update, and graphs are only read here.",
            valid="Queries begin with SELECT, ASK, CONSTRUCT or DESCRIBE.",
        )
    if query.has_service and not request.allows_service:
        raise RefusedError(
            "The query asks another endpoint (SERVICE), which is not asked unless you say so.",
            next_step="If you trust it with what the query sends there, give --allow-service.",
        )
    if request.is_for_files and (query.has_dataset or query.has_graph):
        word = "FROM" if query.has_dataset else "GRAPH"
        raise RefusedError(
            f"The query has {word}, and a graph in files is one graph: the names of graphs in them are not kept.",
            next_step=f"Ask without {word}.",
        )
    if query.has_hidden_syntax and not request.is_for_files:
        raise RefusedError(
            r"The query has an ASCII character written as \u and its number, which engines read in different ways.",
            next_step="Write the character itself.",
        )


def _parse(query: QueryText, request: Request, known: dict[str, str]) -> None:
    """Let the engine's parser read a query, without running it.

    Raises:
        RefusedError: It is none.
    """
    error = _syntax_error(query, request, known)
    if not error:
        if query.kind not in KINDS:
            raise RefusedError("This is no SPARQL query.", valid=f"It begins with {', '.join(KINDS).upper()}.")
        return
    missing = sorted(name for name in query.undeclared - request.prefixes.keys() if f"{name}://" not in query.text)
    if not missing:
        raise RefusedError(_no_query(error))
    # The parser takes an undeclared prefix for any other mistake, so what else is wrong is asked for without it.
    error = _syntax_error(query, request, {**known, **dict.fromkeys(missing, _ANY_NAMESPACE)})
    names = ", ".join(f"{name}:" for name in missing[:_FEW_NAMES])
    names += f" and {len(missing) - _FEW_NAMES:,} more" if len(missing) > _FEW_NAMES else ""
    noun, means, them = ("prefix", "is", "it") if len(missing) == 1 else ("prefixes", "are", "them")
    undeclared = f"The {noun} {names} {means} not declared"
    option = f", or --prefix {missing[-1]}=IRI" if missing[-1] else ""
    raise RefusedError(
        f"{_no_query(error)} {undeclared}." if error else f"{undeclared}.",
        next_step=f"Declare {them} in the query, with PREFIX {missing[-1]}: <IRI>{option}.",
    )


def _no_query(error: str) -> str:
    return f"This is no SPARQL query: {error}{'' if error.endswith('?') else '.'}"


def _syntax_error(query: QueryText, request: Request, prefixes: dict[str, str]) -> str:
    """Return what the engine's parser finds wrong with a query; empty if nothing.

    Raises:
        RefusedError: The engine did more than parse it.
    """
    try:
        # The engine parses before it looks at the graphs that are given, and this is none.
        pyoxigraph.Store().query(
            query.text, base_iri=request.base or None, prefixes=prefixes, default_graph=cast("Any", object())
        )
    except SyntaxError as error:
        if mistake := mistake_in_words(query.text):
            return mistake
        if query.kind == "select" and (mistake := mistake_in_columns(query.body, str(error))):
            return mistake
        return _short(_EXPECTED.sub(_few_expected, " ".join(str(error).split())))
    except ValueError:
        return ""
    raise RefusedError("The engine did not parse the query before it ran it.")


def _few_expected(found: re.Match[str]) -> str:
    """Return the words that a parser expects, without its classes of characters; nothing if there are none."""
    words = _QUOTED.findall(_CLASS.sub("", found[1] or ""))
    listed = ", ".join(words[:_FEW_WORDS])
    return f": expected {listed}{', …' if len(words) > _FEW_WORDS else ''}" if words else ""


def _short(error: Exception | str) -> str:
    text = _PLACE.sub(r"line \1, column \2", " ".join(str(error).split())).rstrip(".")
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}…"


def _opened(request: Request, source: IO[bytes]) -> pyoxigraph.Store:
    if request.store:
        return pyoxigraph.Store.read_only(request.store)
    store = pyoxigraph.Store()
    store.bulk_load(source, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
    return store


def _limit_memory(megabytes: int) -> None:
    """Limit what this process may take beside what it has, as far as the system can."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not there on Windows

    pages = 0
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        pages = int(file.read().split()[0])
    most = (megabytes << 20) + pages * resource.getpagesize()
    for name, limit in (("RLIMIT_CORE", 0), ("RLIMIT_DATA", most), ("RLIMIT_AS", most)):
        # macOS knows these limits and refuses some.
        with suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (limit, limit))


def _run(
    result: pyoxigraph.QuerySolutions | pyoxigraph.QueryTriples | pyoxigraph.QueryBoolean,
    query: QueryText,
    limit: int,
    send: Send,
) -> None:
    if isinstance(result, pyoxigraph.QueryBoolean):
        send(HEAD, {"kind": query.kind, "is_true": bool(result)})
        send(END, {"are_more": False})
    elif isinstance(result, pyoxigraph.QuerySolutions):
        variables = [variable.value for variable in result.variables]
        order = in_order(query.body, variables)
        send(HEAD, {"kind": query.kind, "variables": [variables[place] for place in order]})
        _send_rows(([solution[place] for place in order] for solution in result), limit, send)
    else:
        send(HEAD, {"kind": query.kind, "variables": ["subject", "predicate", "object"]})
        _send_rows(_triples(result), limit, send)


def _triples(found: Iterable[pyoxigraph.Triple | pyoxigraph.Quad]) -> Iterator[Sequence[Any]]:
    for triple in found:
        yield triple.subject, triple.predicate, triple.object


def _send_rows(rows: Iterator[Sequence[Any]], limit: int, send: Send) -> None:
    """Send rows, some together; the first at once, for a reader who wants no more."""
    wanted = islice(rows, limit) if limit else rows
    while some := [*islice(wanted, _FEW_ROWS)]:
        texts = [f"[{','.join(map(_written, row))}]" for row in some]
        size = sum(map(len, texts))
        for row in wanted if size < _PIECE and len(some) == _FEW_ROWS else ():
            texts.append(f"[{','.join(map(_written, row))}]")
            size += len(texts[-1])
            if size >= _PIECE:
                break
        send(ROWS, f"[{','.join(texts)}]".encode())
    send(END, {"are_more": bool(limit) and next(rows, None) is not None})


def _written(term: object) -> str:
    return json.dumps(_term(term), ensure_ascii=False)


def _term(term: object) -> object:
    match term:
        case pyoxigraph.NamedNode():
            return {"type": "uri", "value": term.value}
        case pyoxigraph.BlankNode():
            return {"type": "bnode", "value": term.value}
        case pyoxigraph.Literal():
            literal = {"type": "literal", "value": term.value}
            if term.language:
                # As Turtle writes it; the direction is new in RDF 1.2.
                direction = "" if term.direction is None else f"--{term.direction.value}"
                return {**literal, "xml:lang": f"{term.language}{direction}"}
            return literal if term.datatype.value == _STRINGS else {**literal, "datatype": term.datatype.value}
        case pyoxigraph.Triple():
            names = ("subject", "predicate", "object")
            parts = (term.subject, term.predicate, term.object)
            return {"type": "triple", "value": {name: _term(part) for name, part in zip(names, parts, strict=True)}}
        case _:
            return None
