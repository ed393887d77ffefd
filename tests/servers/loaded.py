"""Whether a server holds all of the files that it was given."""

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

import pyoxigraph

from tests.servers.loopback import ask

_FORMATS: Final = {".ttl": pyoxigraph.RdfFormat.TURTLE, ".nt": pyoxigraph.RdfFormat.N_TRIPLES}

# Engines fold literals of one value (`1` and `01`), so those are counted by what has one.
_LINKS: Final = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o . FILTER(!isLiteral(?o)) }"
_DESCRIBED: Final = "SELECT (COUNT(*) AS ?n) WHERE { SELECT DISTINCT ?s ?p WHERE { ?s ?p ?o . FILTER(isLiteral(?o)) } }"


class LoadError(Exception):
    """A server refused a file, or lost a part of it."""


@dataclass(frozen=True, slots=True)
class Content:
    """How much there is.

    Attributes:
        links: Distinct triples whose object is no literal.
        described: Distinct subjects and predicates that have a literal.
    """

    links: int
    described: int


def content_of(files: Sequence[Path]) -> Content:
    """Count what files hold together, without the server that has to hold it."""
    engine = pyoxigraph.Store()
    for file in files:
        with cast("IO[bytes]", gzip.open(file) if file.suffix == ".gz" else file.open("rb")) as stream:
            engine.bulk_extend(pyoxigraph.parse(stream, graph_format(file), rename_blank_nodes=True))
    return Content(*(_counted(engine, query) for query in (_LINKS, _DESCRIBED)))


def _counted(engine: pyoxigraph.Store, query: str) -> int:
    ((count,),) = cast("pyoxigraph.QuerySolutions", engine.query(query))
    return int(count.value)


def check_loaded(name: str, files: Sequence[Path], endpoint: str, graph: str = "") -> None:
    """Refuse a graph of which the server lost something.

    Raises:
        LoadError: The server has less, or more, than the files.
    """
    there = Content(*(_count(endpoint, query, graph) for query in (_LINKS, _DESCRIBED)))
    expected = content_of(files)
    if there != expected:
        raise LoadError(f"{name}: the files have {expected}, the server has {there}")


def graph_format(file: Path) -> pyoxigraph.RdfFormat:
    """Return the format that a file's name promises.

    Raises:
        LoadError: It is none that every server here takes.
    """
    suffix = Path(file.stem).suffix if file.suffix == ".gz" else file.suffix
    if suffix not in _FORMATS:
        raise LoadError(f"{file.name}: a graph file ends in {', '.join(_FORMATS)}, or in that and .gz")
    return _FORMATS[suffix]


def _count(endpoint: str, query: str, graph: str) -> int:
    answer = ask(endpoint, query, graph=graph)
    if answer.status != 200:
        raise LoadError(f"{endpoint} cannot be counted: {answer.status} {answer.text.strip()}")
    return int(list(csv.reader(answer.text.splitlines()))[1][0])
