"""Terms of rdflib as those of Oxigraph, and TriX, which only rdflib reads; it takes a third of a second to import."""

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


def quad_of(
    triple: tuple[object, object, object], graph: pyoxigraph.NamedNode | pyoxigraph.BlankNode | None = None
) -> pyoxigraph.Quad:
    """Return a triple of rdflib as a statement of Oxigraph.

    Raises:
        ValueError: A term in it is no RDF.
        TypeError: A kind of term stands where it may not.
    """
    subject, predicate, value = map(term_of, triple)
    return pyoxigraph.Quad(subject, predicate, value, graph)  # type: ignore[arg-type]


def term_of(term: object) -> pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal:
    """Return a term of rdflib as one of Oxigraph.

    Raises:
        ValueError: It is no RDF.
    """
    match term:
        case rdflib.URIRef():
            return pyoxigraph.NamedNode(term)
        case rdflib.BNode():
            return pyoxigraph.BlankNode(term)
        case rdflib.Literal():
            datatype = pyoxigraph.NamedNode(term.datatype) if term.datatype else None
            return pyoxigraph.Literal(term, language=term.language, datatype=datatype)
        case _:
            raise ValueError(f"Unexpected rdflib term: {term!r}")


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
