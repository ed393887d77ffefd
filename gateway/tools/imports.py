"""Which ontologies a graph imports that are not in it (docs/contract.md, "Completeness")."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import EdgeSelection, Iri
from gateway.schema.view import SchemaView
from gateway.terms.iri import IMPORTS, OWL, VERSION_IRI

_ONTOLOGY = f"{OWL}Ontology"


class ImportReader:
    """Finds out which imports are missing, once for each version of the schema."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._known: tuple[str, Sequence[Iri]] = ("", ())

    def forget(self) -> None:
        """Read them again."""
        self._known = ("", ())

    def known(self, view: SchemaView) -> Sequence[Iri]:
        """Return what was read for a schema, without asking the graph."""
        version, missing = self._known
        return missing if version == view.schema.version else ()

    async def missing(self, view: SchemaView, call: Call) -> Sequence[Iri] | None:
        """Return the ontologies that are imported and not in the graph, sorted; None if that could not be found out."""
        if not view.predicates.has_any([IMPORTS]):
            return ()
        if self._known[0] != view.schema.version:
            try:
                self._known = view.schema.version, await self._read(call)
            except Fault:
                return None
        return self._known[1]

    async def _read(self, call: Call) -> Sequence[Iri]:
        found = await self._store.of_types([_ONTOLOGY], call)
        ontologies = dict.fromkeys(hit.iri for hit in found.hits)
        named = EdgeSelection(tuple(sorted((IMPORTS, VERSION_IRI))), ())
        around = await self._store.edges(list(ontologies), call, selection=named)
        for one in around.values():
            if one.mark.fault is not None:
                raise one.mark.fault
        edges = [edge for one in around.values() for edge in one.edges]
        here = {*ontologies, *(edge.object for edge in edges if edge.predicate == VERSION_IRI)}
        return sorted({edge.object for edge in edges if edge.predicate == IMPORTS} - here)
