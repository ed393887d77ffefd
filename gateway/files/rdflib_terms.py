"""Terms of rdflib as those of Oxigraph."""

from __future__ import annotations

import pyoxigraph
import rdflib


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
