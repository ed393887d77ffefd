"""Reads TriX by rdflib; no other format needs it, and it takes a third of a second to import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO
from xml.sax import SAXParseException
from xml.sax.xmlreader import InputSource

import pyoxigraph
import rdflib
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.trix import create_parser
from rdflib.plugins.stores.memory import Memory

from gateway.files.parser_streams import RefusedError
from gateway.files.rdflib_terms import quad_of, term_of


def read_trix(stream: IO[bytes]) -> Iterator[pyoxigraph.Quad]:
    """Yield the statements of a TriX document, the texts of values as they stand in it.

    Raises:
        RefusedError: It is not valid.
    """
    store = Memory()
    source = InputSource()
    source.setByteStream(stream)
    before = rdflib.NORMALIZE_LITERALS
    try:
        rdflib.NORMALIZE_LITERALS = False
        create_parser(store).parse(source)
    except SAXParseException as error:
        line, column = error.getLineNumber(), error.getColumnNumber()
        place = "" if line is None or column is None else f":{line}:{column + 1}"
        raise _invalid(error.getMessage(), place) from error
    except (ParserError, ValueError) as error:
        raise _invalid(str(error)) from error
    finally:
        rdflib.NORMALIZE_LITERALS = before
    for triple, graphs in store.triples((None, None, None)):
        for graph in graphs:
            try:
                within = None if graph is None else term_of(graph.identifier)
                yield quad_of(triple, within)  # type: ignore[arg-type]
            except (TypeError, ValueError) as error:
                raise _invalid(str(error)) from error


def _invalid(reason: str, place: str = "") -> RefusedError:
    return RefusedError(f"not valid TriX: {reason[:300].rstrip('.')}", place=place, next_step="Repair the file.")
