"""Graphs as tables can hold them: a row has no blank node, and a node that states evidence is no node."""

from pathlib import Path

import pyoxigraph

from tests.graphs import read

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_OF_EVIDENCE = {f"{_RDF}reifies", f"{_RDF}subject"}


def linked(source: Path, target: Path) -> Path:
    """Write the triples of a file that tables can hold, as N-Triples; return the new file."""
    triples = [quad.triple for quad in read(source)]
    left_out = {triple.subject for triple in triples if triple.predicate.value in _OF_EVIDENCE}
    kept = dict.fromkeys(triple for triple in triples if not _has(triple, left_out))
    pyoxigraph.serialize(kept, str(target), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return target


def _has(term: object, left_out: set[pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Triple]) -> bool:
    """Return whether a triple has one of some terms, or a blank node."""
    if isinstance(term, pyoxigraph.Triple):
        return _has(term.subject, left_out) or _has(term.object, left_out)
    return isinstance(term, pyoxigraph.BlankNode) or term in left_out
