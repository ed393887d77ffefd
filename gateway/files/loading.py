"""Reads RDF files into an Oxigraph store, graph names folded away.

Each file is parsed in a process of its own (`parser_process`), which sends N-Triples.
"""

from __future__ import annotations

import hashlib
import io
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyoxigraph

from gateway.errors import ConfigurationError
from gateway.files import recognition
from gateway.files.blank_nodes import BY_RDF_TYPE, BlankNodes, BlankTypes, load_lines
from gateway.files.graph_files import is_stdin, opened
from gateway.files.hiding import copy_visible
from gateway.files.parser_process import ParserProcess, Progress
from gateway.files.parser_streams import ParseRequest, Result
from gateway.files.store_files import CHUNK, Fingerprint, bulk_load
from gateway.settings.hidden import Policy
from gateway.settings.limits import FileSettings

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
    """

    engine: pyoxigraph.Store
    prefixes: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    version: str = ""
    is_on_disk: bool = False
    lease: object = None
    place: Path | None = None
    lasting: Path | None = None


@dataclass(slots=True)
class Content:
    """What was loaded into a store; of each file, what it was when it was read."""

    prefixes: list[tuple[str, dict[str, str]]]
    version: str
    sources: list[Fingerprint]


def check_files(paths: Sequence[Path]) -> None:
    """Find at once what is wrong with files before any of them is read.

    Raises:
        ConfigurationError: A file cannot be opened.
    """
    for path in paths:
        # A pipe is opened once, by who reads it.
        if is_stdin(path) or path.is_fifo():
            continue
        with opened(path) as file:
            if not recognition.format_by_name(path.name):
                _check_start(path, file.read(recognition.START))


def _check_start(path: Path, start: bytes) -> None:
    """Refuse a file whose suffix names no format if its first bytes show none; packed ones are unpacked elsewhere."""
    if not (recognition.packing_of(start) or recognition.format_of(start, "")):
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
    return LoadedGraph(engine, content.prefixes, content.version)


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
    for path in paths:
        request = ParseRequest(
            recognition.format_by_name(path.name),
            recognition.packing_by_name(path.name),
            path.resolve().as_uri(),
            **settings.model_dump(),
            hidden_graphs=() if policy is None else policy.graphs,
        )
        # What a policy hides is found in the whole graph, blank nodes and all.
        targets = _Targets(engine, copy, aside) if policy is None else _Targets(whole)
        result = _load_into(targets, path, request, progress)
        content.prefixes.append((path.name, result.prefixes if policy is None else {}))
        content.sources.append(Fingerprint.of(result.size, result.times, result.sha256, result.opened_ns))
        digest.update(bytes.fromhex(result.sha256))
    if policy is not None:
        digest.update(policy.digest.encode())
        copy_visible(whole, policy, [engine] if copy is None else [engine, copy], aside)
    if aside is None:
        digest.update(b"without blank nodes")
    else:
        _load_aside(aside, [engine] if copy is None else [engine, copy])
    content.version = short_hash(digest)
    return content


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


def _load_into(targets: _Targets, path: Path, request: ParseRequest, progress: Progress | None) -> Result:
    with (
        opened(path) as file,
        ParserProcess(path, file, request, progress) as process,
        io.BufferedReader(process, CHUNK) as triples,
    ):
        source = triples if targets.aside is None else targets.aside.without(triples)
        bulk_load(source, targets.engine, targets.copy)
        result = process.result
    if result.note:
        _log.warning("%s: %s", path, result.note)
    if result.is_empty:
        _log.warning("%s: the graph has no triples", path)
    return result


def _is_wikibase(engine: pyoxigraph.Store) -> bool:
    """Return whether a graph is one of a Wikibase, by what every dump of one has: ranks, or its properties."""
    return any(next(engine.quads_for_pattern(None, predicate, None), None) for predicate in _OF_WIKIBASE)


def _load_aside(aside: BlankNodes, stores: Sequence[pyoxigraph.Store]) -> None:
    """Load what was set aside, with IRIs for blank nodes."""
    if not aside:
        return
    broken = 0
    if _is_wikibase(stores[0]):
        # Its blank nodes are unknown values.
        _log.info("the graph has the vocabulary of a Wikibase, so its blank nodes are unknown values and no nodes")
        lines = aside.lines
    else:
        lines, broken = aside.renamed()
    for store in stores:
        load_lines(lines, store)
    if broken:
        _log.warning("malformed lists are shown as the blank nodes that they are made of: %d", broken)
