"""The formats that a subgraph can be written in, by name and by the suffix of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gateway.errors import ConfigurationError, quoted
from gateway.export.conversions import dot, edges_csv, nodes_csv
from gateway.export.networkx_graph import graphml
from gateway.export.picture import page, picture
from gateway.export.subgraph import Subgraph, needs


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes:
        suffix: The suffix of its files.
        content: Returns a subgraph in it.
        lacks: What of a subgraph it cannot hold, as the end of a sentence; empty where it holds everything.
        is_text: Whether it can be shown at a terminal.
        guarded: Returns a subgraph in it without formulas for a spreadsheet; None where no spreadsheet reads it.
        libraries: The Python packages that write it and are not always installed.
        extra: The extra of the gateway that has them.
    """

    suffix: str
    content: Callable[[Subgraph], bytes]
    lacks: str = ""
    is_text: bool = True
    guarded: Callable[[Subgraph], bytes] | None = None
    libraries: Sequence[str] = ()
    extra: str = ""


def _rdf(name: str) -> Callable[[Subgraph], bytes]:
    def content(subgraph: Subgraph) -> bytes:
        return subgraph.to_rdflib().serialize(format=name, encoding="utf-8")

    return content


_METADATA = (
    "the metadata of nodes other than types and names, values behind several predicates, and nodes without a type, "
    "a name and an edge"
)
_ALL_METADATA = "metadata and values of nodes, and evidence but for what denies an edge or restricts it"

_PICTURES = ("networkx", "matplotlib")

FORMATS: Mapping[str, Format] = {
    "turtle": Format(".ttl", _rdf("turtle"), _METADATA),
    "ntriples": Format(".nt", _rdf("nt"), _METADATA),
    "jsonld": Format(".jsonld", _rdf("json-ld"), _METADATA),
    "csv": Format(
        ".csv",
        lambda subgraph: edges_csv(subgraph).encode(),
        "the nodes, unless it is written to a file",
        guarded=lambda subgraph: edges_csv(subgraph, guard_formulas=True).encode(),
    ),
    "graphml": Format(".graphml", graphml, libraries=("networkx",), extra="export"),
    "dot": Format(".dot", lambda subgraph: dot(subgraph).encode(), _ALL_METADATA, libraries=("pydot",), extra="export"),
    "html": Format(".html", page),
    "svg": Format(
        ".svg", lambda subgraph: picture(subgraph, "svg"), _ALL_METADATA, libraries=_PICTURES, extra="pictures"
    ),
    "png": Format(
        ".png",
        lambda subgraph: picture(subgraph, "png"),
        _ALL_METADATA,
        is_text=False,
        libraries=_PICTURES,
        extra="pictures",
    ),
}
"""Formats by name."""


def format_named(name: str | None, path: Path | None) -> str:
    """Return the name of the format that is asked for, or that the suffix of a file means.

    Raises:
        ConfigurationError: There is no such format, or the suffix means none.
    """
    if name is None:
        suffix = "" if path is None else path.suffix.lower()
        found = next((known for known, one in FORMATS.items() if one.suffix == suffix), None)
        if found is None:
            raise ConfigurationError(
                f"The suffix {quoted(suffix)} means no format.",
                valid=f"Suffixes are {', '.join(one.suffix for one in FORMATS.values())}.",
                next_step="Give the format by its name.",
            )
        return found
    if name not in FORMATS:
        raise ConfigurationError(f"There is no format {quoted(name)}.", valid=f"Formats: {', '.join(FORMATS)}.")
    return name


def content_of(name: str, *, guard_formulas: bool = False) -> Callable[[Subgraph], bytes]:
    """Return what writes a format; with `guard_formulas`, without what a spreadsheet would run.

    Raises:
        ConfigurationError: The format has no cells to guard, or needs a library that is not installed.
    """
    wanted = FORMATS[name].guarded if guard_formulas else FORMATS[name].content
    if wanted is None:
        raise ConfigurationError(
            f"{name} has no cells that a spreadsheet would run.", valid="Formulas are guarded in csv, and in columns."
        )
    with needs(" and ".join(FORMATS[name].libraries), FORMATS[name].extra):
        for library in FORMATS[name].libraries:
            if find_spec(library) is None:
                raise ModuleNotFoundError(name=library)
    return wanted


def write_file(subgraph: Subgraph, path: Path, name: str | None = None, *, guard_formulas: bool = False) -> list[Path]:
    """Write a subgraph to a file, and the nodes of CSV to a second one beside it; return the files.

    Raises:
        ConfigurationError: The format is unknown, cannot hold this subgraph, needs a library that is not installed, or
            has no cells to guard; or the file cannot be written.
    """
    chosen = format_named(name, path)
    contents = {path: content_of(chosen, guard_formulas=guard_formulas)(subgraph)}
    if chosen == "csv":
        nodes = nodes_csv(subgraph, guard_formulas=guard_formulas)
        contents[path.with_name(f"{path.stem}-nodes{path.suffix}")] = nodes.encode()
    try:
        for place, content in contents.items():
            place.write_bytes(content)
    except OSError as error:
        raise ConfigurationError(f"{error.filename or path} cannot be written: {error.strerror}.") from error
    return list(contents)
