"""Copies rdflib graphs into an Oxigraph store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import pyoxigraph
import rdflib

from gateway.errors import ConfigurationError
from gateway.files.blank_nodes import BY_RDF_TYPE, BlankTypes
from gateway.files.hiding import visible_part
from gateway.files.loading import LoadedGraph, short_hash, with_blank_nodes
from gateway.files.rdflib_terms import quad_of
from gateway.settings.hidden import Policy

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
