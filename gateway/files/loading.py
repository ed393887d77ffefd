"""Reads the RDF files that a caller means into an Oxigraph store, graph names folded away.

Files are parsed in processes of their own (`parser_process`), which send N-Triples: a large one in one, and small ones
together.
"""

from __future__ import annotations

import errno
import hashlib
import io
import logging
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyoxigraph

from gateway.errors import ConfigurationError, counted
from gateway.files import recognition
from gateway.files.blank_nodes import BY_RDF_TYPE, BlankNodes, BlankTypes, load_lines
from gateway.files.contexts import carried_contexts
from gateway.files.expression_edges import Expressions
from gateway.files.graph_files import GraphFiles, without_paths
from gateway.files.hiding import copy_visible
from gateway.files.other_formats import refuse_other_text
from gateway.files.parser_process import FileToParse, Parsed, ParserProcess, Progress
from gateway.files.parser_streams import ParseRequest, RefusedError, Skips
from gateway.files.store_files import CHUNK, PART, Fingerprint, bulk_load
from gateway.settings import storage
from gateway.settings.files import FileSettings
from gateway.settings.hidden import Policy
from gateway.terms.spelling import did_you_mean

STDIN = "-"
"""Stands for standard input; a suffix behind it says its format, as in `-.ttl`."""


def is_stdin(path: Path) -> bool:
    """Return whether a path stands for standard input."""
    is_so_named = path.name == STDIN or (path.stem == STDIN and recognition.format_by_name(path.name) != "")
    return is_so_named and path.parent == Path() and not path.exists()


def opened(path: Path) -> BinaryIO:
    """Open a file, a pipe, or standard input.

    Raises:
        ConfigurationError: It cannot be opened, is neither of them, or nobody writes to the pipe.
    """
    try:
        if is_stdin(path):
            return os.fdopen(os.dup(sys.__stdin__.fileno()), "rb") if sys.__stdin__ is not None else path.open("rb")
        return storage.opened(path)
    except OSError as error:
        step = ""
        if error.errno in {errno.EINVAL, errno.ENXIO, errno.ETIMEDOUT}:
            step = "Give -, and lead into standard input what shall be read."
        elif isinstance(error, FileNotFoundError):
            step = _where_to_look(path)
        raise ConfigurationError(f"{path}: {error.strerror or error}.", next_step=step) from error


def _where_to_look(path: Path) -> str:
    """Return what to do about a file that is not there: one of a similar name, or where its path begins."""
    try:
        near = did_you_mean(path.name, (one.name for one in path.parent.iterdir())).strip()
    except OSError:
        near = ""
    return near or ("Give the path of a file." if path.is_absolute() else f"The path begins in {Path.cwd()}.")


def refuse_stdin(paths: Sequence[Path]) -> None:
    """Refuse standard input where the graph is to be stored: it cannot be compared with what was stored.

    Raises:
        ConfigurationError: It is given.
    """
    if any(map(is_stdin, paths)):
        raise ConfigurationError(
            "Standard input cannot be stored.", next_step="Write it to a file first, or leave --store away."
        )


_log = logging.getLogger(__name__)

_OF_WIKIBASE = [pyoxigraph.NamedNode(f"http://wikiba.se/ontology#{name}") for name in ("rank", "directClaim")]


@dataclass(slots=True)
class LoadedGraph:
    """A graph in this process.

    Attributes:
        engine: The store that answers queries.
        prefixes: What each source declares, in the order given: the source's name and its prefixes.
        version: A hash of the content that was loaded.
        is_on_disk: Whether the engine reads from a disk.
        lease: What keeps a store on disk from being removed, as long as it is held.
        place: A folder for what is made of this very graph, removed with its store; None where there is no such store.
        lasting: A folder for what outlives a change of the files; None where there is no store.
        skipped: How many terms, lines and parts of the files are left out because they are not valid.
    """

    engine: pyoxigraph.Store
    prefixes: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    version: str = ""
    is_on_disk: bool = False
    lease: object = None
    place: Path | None = None
    lasting: Path | None = None
    skipped: int = 0


@dataclass(slots=True)
class Content:
    """What was loaded into a store; of each file, what it was when it was read, and what of it was left out.

    `is_as_given` says that the store has the very triples of the files: no blank node got an IRI, no list was folded.
    """

    prefixes: list[tuple[str, dict[str, str]]]
    version: str
    sources: list[Fingerprint]
    skips: Skips = field(default_factory=Skips)
    is_as_given: bool = True

    def log_skips(self) -> None:
        """Say what was left out, if anything was."""
        log_skips(self.skips.count, self.skips.shown)


def log_skips(count: int, shown: Sequence[str]) -> None:
    """Say how much is left out of files that are not valid, and the first of it."""
    if count:
        _log.warning(
            "%s of the files left out, because not valid; no answer is complete%s",
            counted(count, "part"),
            "".join(f"\n  {text}" for text in (*shown, *(["..."] if count > len(shown) else []))),
        )


def check_files(paths: Sequence[Path]) -> None:
    """Find at once what is wrong with files before any of them is read.

    Raises:
        ConfigurationError: A file cannot be opened.
    """
    for path in paths:
        # A pipe is opened once, by who reads it.
        if _is_read_once(path):
            continue
        with opened(path) as file:
            if not recognition.format_by_name(path.name):
                _check_start(path, file.read(recognition.START))


def _check_start(path: Path, start: bytes) -> None:
    """Refuse a file whose suffix names no format if its first bytes show none; packed ones are unpacked elsewhere."""
    if recognition.packing_of(start):
        return
    try:
        refuse_other_text(start)
    except RefusedError as error:
        content = error.content
        raise ConfigurationError(f"{path}: {content['wrong']}.", next_step=content["next_step"]) from error
    if not recognition.format_of(start, ""):
        raise ConfigurationError(f"{path}: {recognition.UNKNOWN}.", valid=recognition.known())


def load_files(
    paths: Sequence[Path],
    progress: Progress | None = None,
    limits: FileSettings | None = None,
    policy: Policy | None = None,
    *,
    blank_types: BlankTypes = BY_RDF_TYPE,
) -> LoadedGraph:
    """Load files into one graph in memory.

    Args:
        paths: Turtle, N-Triples, TriG, N-Quads, N3, JSON-LD or RDF/XML by their suffix or first bytes, plain or packed
            (``.gz``, ``.bz2``, ``.xz``, ``.zip``).
        progress: Called after every megabyte that was read; what it raises ends the load.
        limits: What parsing one of them may take; the usual limits where not given.
        policy: What is left out, with the prefixes that the files declare: those may name what is hidden.
        blank_types: The predicates that give nodes their types, by which untyped blank nodes get one; None where blank
            nodes are no nodes, and the members of lists not their owners' neighbours.

    Raises:
        ConfigurationError: A file is missing, is no RDF of its format, is cut or takes more than is allowed; the text
            names the file and, where the format gives it, line and column.
    """
    engine = pyoxigraph.Store()
    content = fill(engine, paths, progress, limits, policy=policy, blank_types=blank_types)
    return LoadedGraph(engine, content.prefixes, content.version, skipped=content.skips.count)


def fill(
    engine: pyoxigraph.Store,
    paths: Sequence[Path],
    progress: Progress | None = None,
    limits: FileSettings | None = None,
    copy: pyoxigraph.Store | None = None,
    policy: Policy | None = None,
    *,
    blank_types: BlankTypes = BY_RDF_TYPE,
) -> Content:
    """Load files into an empty store, and at the same time into a copy of it; see `load_files`.

    What a policy hides is never in either of them.

    Raises:
        ConfigurationError: A file cannot be read, or is no graph.
        OSError: The store could not be written; one in memory always can.
    """
    content = Content([], "", [])
    digest = hashlib.sha256()
    whole = engine if policy is None else pyoxigraph.Store()
    settings = limits or FileSettings()
    aside = None if blank_types is None else BlankNodes(blank_types, is_part=policy is not None)
    files = GraphFiles.of(paths)
    failures: list[ConfigurationError] = []
    is_empty = True
    # What a policy hides is found in the whole graph, blank nodes and all.
    targets = _Targets(engine, copy, aside) if policy is None else _Targets(whole)
    hidden = () if policy is None else policy.graphs
    wanted = [
        FileToParse(path, request_for(path, base_iri, settings, hidden), _size_of(path))
        for path, base_iri in zip(files, files.base_iris(settings.base), strict=True)
    ]
    parsed = [one for some in _together(wanted) for one in _parse_into(targets, some, progress)]
    for path, name, loaded in zip(files, files.names, parsed, strict=True):
        is_empty = is_empty and loaded.is_empty
        content.skips.within = f"{name}: "
        if loaded.failure is not None:
            failures.append(loaded.failure)
            content.skips.add(without_paths(loaded.failure, files).wrong.removeprefix(name).lstrip(": "))
        result = loaded.result
        if result is not None:
            if result.note:
                _log.warning("%s: %s", path, result.note)
            if result.is_empty:
                _log.warning("%s: the graph has no triples", path)
            content.skips.add_all(result.skipped, result.shown_skips)
        content.prefixes.append((path.name, result.prefixes if policy is None and result is not None else {}))
        source = (
            _source(path)
            if result is None
            else Fingerprint.of(result.size, result.times, result.sha256, result.opened_ns)
        )
        content.sources.append(source)
        digest.update(bytes.fromhex(source.sha256))
    if failures and is_empty:
        raise failures[0]
    if policy is not None:
        digest.update(policy.digest.encode())
        copy_visible(whole, policy, [engine] if copy is None else [engine, copy], aside)
    if aside is None:
        digest.update(b"without blank nodes")
    else:
        content.is_as_given = not aside
        _load_aside(aside, [engine] if copy is None else [engine, copy])
    content.version = short_hash(digest)
    content.log_skips()
    return content


def _source(path: Path) -> Fingerprint:
    """Return what a file is that was not read to its end."""
    return Fingerprint(0, (), hashlib.sha256().hexdigest()) if _is_read_once(path) else Fingerprint.read(path)


def _is_read_once(path: Path) -> bool:
    try:
        return is_stdin(path) or path.is_fifo()
    except OSError:
        # Opening it says why.
        return False


def request_for(path: Path, base_iri: str, settings: FileSettings, hidden_graphs: Sequence[str] = ()) -> ParseRequest:
    """Return how a file is to be parsed."""
    return ParseRequest(
        recognition.format_by_name(path.name),
        recognition.packing_by_name(path.name),
        base_iri,
        settings.memory_megabytes,
        # What is not valid is read up to four times.
        settings.cpu_seconds * (4 if settings.lenient else 1),
        settings.growth,
        hidden_graphs,
        settings.encoding,
        settings.lenient,
        contexts_of(settings),
    )


def contexts_of(settings: FileSettings) -> Mapping[str, str]:
    """Return the files of contexts by URL: those that installed packages carry, and then those that are given."""
    return {**carried_contexts(), **settings.contexts}


def with_blank_nodes(whole: pyoxigraph.Store, types: Sequence[str], *, is_part: bool) -> pyoxigraph.Store:
    """Return a graph with IRIs for blank nodes, and the members of lists beside their owners; see `BlankNodes`."""
    aside = BlankNodes(types, is_part=is_part)
    engine = pyoxigraph.Store()
    engine.bulk_extend(aside.add(whole))
    if not aside:
        return whole
    _load_aside(aside, [engine])
    return engine


def short_hash(digest: hashlib._Hash) -> str:
    """Return the part of a hash that tells versions apart."""
    return digest.hexdigest()[:16]


class _Targets(NamedTuple):
    """Where triples are loaded to.

    Attributes:
        engine: A store.
        copy: A second one that gets the same.
        aside: What those with blank nodes or lists are put into instead.
    """

    engine: pyoxigraph.Store
    copy: pyoxigraph.Store | None = None
    aside: BlankNodes | None = None


def _parse_into(targets: _Targets, files: Sequence[FileToParse], progress: Progress | None) -> Sequence[Parsed]:
    """Load one file, or several that are small, and return what came of each."""
    with (
        opened(files[0].path) if len(files) == 1 else nullcontext() as file,
        ParserProcess(files, file, progress) as process,
        io.BufferedReader(process, CHUNK) as triples,
    ):
        source = triples if targets.aside is None else targets.aside.without(triples)
        bulk_load(source, targets.engine, targets.copy, part=PART if targets.aside is not None else None)
        parsed = process.parsed
    if len(parsed) < len(files):
        raise ValueError("the files were not parsed to their ends")
    return parsed


_SMALL = 1 << 20
"""Bytes of a file below which it shares a process with others: starting one takes as long as parsing 100 kB."""


def _together(files: Sequence[FileToParse]) -> Iterator[Sequence[FileToParse]]:
    """Yield files in their order, those small ones together that follow each other."""
    small: list[FileToParse] = []
    for file in files:
        if file.size and file.size < _SMALL:
            small.append(file)
            continue
        if small:
            yield small
            small = []
        yield [file]
    if small:
        yield small


def _size_of(path: Path) -> int:
    """Return the size of a file; 0 for what is none, or cannot be looked at."""
    try:
        found = path.stat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) and not is_stdin(path) else 0


def _is_wikibase(engine: pyoxigraph.Store) -> bool:
    """Return whether a graph is one of a Wikibase, by what every dump of one has: ranks, or its properties."""
    return any(next(engine.quads_for_pattern(None, predicate, None), None) for predicate in _OF_WIKIBASE)


def _load_aside(aside: BlankNodes, stores: Sequence[pyoxigraph.Store]) -> None:
    """Load what was set aside, with IRIs for blank nodes."""
    if not aside:
        return
    if _is_wikibase(stores[0]):
        # Its blank nodes are unknown values.
        _log.info("the graph has the vocabulary of a Wikibase, so its blank nodes are unknown values and no nodes")
        lines = aside.lines
    else:
        renamed = aside.renamed(stores[0])
        lines = renamed.lines
        if renamed.broken:
            _log.warning("malformed lists are shown as the blank nodes that they are made of: %d", renamed.broken)
        _log_expressions(renamed.expressions)
    for store in stores:
        load_lines(lines, store)


def _log_expressions(read: Expressions) -> None:
    if read.edges or read.content:
        _log.info("axioms with class expressions: %d as edges, %d as content", read.edges, read.content)
    if read.unread:
        _log.warning("axioms with class expressions that fit no rule, so that answers lack them: %d", read.unread)
