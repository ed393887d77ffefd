"""Copies rdflib graphs into an Oxigraph store. Apart from files, which are loaded without the import of rdflib."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import oxrdflib
import pyoxigraph
import rdflib

from gateway.errors import ConfigurationError
from gateway.transport.files.loading import LoadedGraph, short_hash


def load_rdflib(source: rdflib.Graph) -> LoadedGraph:
    """Copy an rdflib Graph or Dataset; what changes in it later is not seen.

    Raises:
        ConfigurationError: It holds a term that is no RDF.
    """
    engine = pyoxigraph.Store()
    graph = LoadedGraph(engine)
    triples: Iterable[tuple[object, object, object]]
    if isinstance(source, rdflib.Dataset):
        triples = ((subject, predicate, value) for subject, predicate, value, _ in source.quads())
    else:
        triples = iter(source)
    target = as_dataset(engine).default_graph
    try:
        for triple in triples:
            target.add(triple)
    except ValueError as error:
        raise ConfigurationError(f"The rdflib graph holds a term that is no RDF: {error}.") from error
    except TypeError as error:
        raise ConfigurationError(
            "The rdflib graph holds a triple that is no RDF: a literal is its subject, or no IRI its predicate."
        ) from error
    graph.prefixes.append(("the rdflib graph", _prefixes_in_use(source, target)))
    graph.version = short_hash(hashlib.sha256("\n".join(sorted(map(str, graph.engine))).encode()))
    return graph


def as_dataset(engine: pyoxigraph.Store) -> rdflib.Dataset:
    """Return a store as rdflib sees it."""
    return rdflib.Dataset(store=oxrdflib.OxigraphStore(store=engine))


def _prefixes_in_use(source: rdflib.Graph, copy: rdflib.Graph) -> dict[str, str]:
    """Return the prefixes that the holder bound, and of rdflib's own ones those that a predicate or type needs."""
    usual = {(name, str(namespace)) for name, namespace in rdflib.Graph().namespaces()}
    used = {str(term) for term in copy.predicates()} | {str(term) for term in copy.objects(None, rdflib.RDF.type)}
    return {
        name: str(namespace)
        for name, namespace in source.namespaces()
        if (name, str(namespace)) not in usual or any(iri.startswith(str(namespace)) for iri in used)
    }
