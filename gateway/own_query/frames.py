"""What the process of a query and the one that started it send each other: frames of a kind and a content."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

HEADER = struct.Struct(">cI")
"""Of a frame: its kind, and the bytes that follow."""

READ: Final = b"Q"
"""The query is one, and may be run: what it is, as JSON."""

BEGUN: Final = b"G"
"""The graph is open: the query begins."""

HEAD: Final = b"H"
"""The answer: its kind, and its variables, or what is true."""

ROWS: Final = b"R"
"""Some rows, as JSON: of each the terms, as SPARQL JSON writes them, or null."""

END: Final = b"E"
"""The answer is whole, or there are more rows than were asked for."""

REFUSED: Final = b"X"
"""What is wrong, as JSON."""


class Request(NamedTuple):
    """What the process is to do.

    Attributes:
        text: The query; empty where only RDF is to be read.
        base: What relative IRIs in it are resolved against; empty for nothing.
        prefixes: What it need not declare.
        store: The folder of an Oxigraph store to ask; empty for the N-Triples that follow the request.
        runs: Whether the query is run, or only looked at.
        limit: Rows that are wanted; 0 for all.
        memory_megabytes: Memory that the query may take beside the graph.
        is_for_files: Whether the graph is in files, whose graphs have no names.
        allows_service: Whether other endpoints may be asked.
        rdf: The format of the RDF that follows the request, which is then the answer; empty for none.
    """

    text: str
    base: str = ""
    prefixes: Mapping[str, str] = MappingProxyType({})
    store: str = ""
    runs: bool = False
    limit: int = 0
    memory_megabytes: int = 2048
    is_for_files: bool = False
    allows_service: bool = False
    rdf: str = ""
