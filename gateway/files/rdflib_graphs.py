"""What rdflib holds, and TriX, which only rdflib reads, as statements of Oxigraph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO
from xml.sax import SAXParseException
from xml.sax.xmlreader import InputSource

import pyoxigraph
import rdflib
from rdflib.exceptions import ParserError
from rdflib.plugins.parsers.trix import create_parser
from rdflib.plugins.stores.memory import Memory

from gateway.errors import ConfigurationError
from gateway.files.blank_nodes import BY_RDF_TYPE, BlankTypes
from gateway.files.hiding import visible_part
from gateway.files.loading import LoadedGraph, short_hash, with_blank_nodes
from gateway.files.parser_streams import RefusedError
from gateway.settings.hidden import Policy


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


_Triple = tuple[object, object, object]


def load_rdflib(
    source: rdflib.Graph, policy: Policy | None = None, *, blank_types: BlankTypes = BY_RDF_TYPE
) -> LoadedGraph:
    """Copy what a policy leaves of an rdflib Graph or Dataset; named graphs are merged, and later changes are not seen.

    Args:
        source: The graph.
        policy: What is left out.
        blank_types: As `load_files` takes it.

    Raises:
        ConfigurationError: It holds a term that is no RDF.
    """
    engine = pyoxigraph.Store()
    try:
        engine.extend(quad_of(triple) for triple in _triples(source, () if policy is None else policy.graphs))
    except ValueError as error:
        raise ConfigurationError(f"The rdflib graph holds a term that is no RDF: {error}.") from error
    except TypeError as error:
        raise ConfigurationError(
            "The rdflib graph holds a triple that is no RDF: a literal is its subject, or no IRI its predicate."
        ) from error
    if policy is not None:
        engine = visible_part(engine, policy)
    if blank_types is not None:
        engine = with_blank_nodes(engine, blank_types, is_part=policy is not None)
    version = short_hash(hashlib.sha256("\n".join(sorted(map(str, engine))).encode()))
    prefixes = _prefixes_in_use(source) if policy is None else {}
    return LoadedGraph(engine, [("the rdflib graph", prefixes)], version)


def _triples(source: rdflib.Graph, hidden_graphs: Sequence[str] = ()) -> Iterator[_Triple]:
    quads: Iterable[tuple[object, ...]] = source.quads() if isinstance(source, rdflib.Dataset) else source
    hidden = frozenset(map(rdflib.URIRef, hidden_graphs))
    return (
        (subject, predicate, value)
        for subject, predicate, value, *graphs in quads
        # Versions of rdflib differ in whether this is a graph or its name.
        if hidden.isdisjoint(getattr(graph, "identifier", graph) for graph in graphs)
    )


def _prefixes_in_use(source: rdflib.Graph) -> dict[str, str]:
    """Return the prefixes that the graph binds itself, and those of rdflib's own that a predicate or type needs."""
    usual = {(name, str(namespace)) for name, namespace in rdflib.Graph().namespaces()}
    used = {
        str(term)
        for _, predicate, value in _triples(source)
        for term in ((predicate, value) if predicate == rdflib.RDF.type else (predicate,))
    }
    return {
        name: str(namespace)
        for name, namespace in source.namespaces()
        if (name, str(namespace)) not in usual or any(iri.startswith(str(namespace)) for iri in used)
    }
