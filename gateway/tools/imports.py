"""Which ontologies a graph imports that are not in it (docs/contract.md, "Completeness")."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from gateway.errors import Fault, counted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import EdgeSelection, Iri
from gateway.graph.walks import Condition, Selection, Step
from gateway.schema.view import SchemaView
from gateway.terms.iri import IMPORTS, OWL, VERSION_IRI

_ONTOLOGY = f"{OWL}Ontology"


class Unread(Enum):
    """Why it is not known which imports are missing."""

    FAULT = auto()
    """Something that imports could not be read: another time it may be."""

    WITHOUT_IRI = auto()
    """What imports has no IRI and no type by which it could be asked for."""


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

    async def missing(self, view: SchemaView, call: Call) -> Sequence[Iri] | Unread:
        """Return the ontologies that are imported and not in the graph, sorted, or why that could not be found out."""
        if not view.predicates.has_any([IMPORTS]):
            return ()
        if self._known[0] != view.schema.version:
            counted = next((term.count for term in view.schema.predicates if term.iri == IMPORTS), None)
            try:
                types = tuple(term.iri for term in view.schema.types if term.iri != _ONTOLOGY)
                missing = await self._read(counted or 1, types, call)
            except Fault:
                return Unread.FAULT
            if isinstance(missing, Unread):
                return missing
            self._known = view.schema.version, missing
        return self._known[1]

    async def _read(self, counted: int, types: tuple[Iri, ...], call: Call) -> Sequence[Iri] | Unread:
        """Return those that are missing, unless fewer imports are found than the schema counts."""
        found = await self._store.of_types([_ONTOLOGY], call)
        if found.fault is not None or found.truncated:
            return Unread.FAULT
        ontologies = dict.fromkeys(hit.iri for hit in found.hits)
        imported, here = await self._imported(list(ontologies), call)
        here |= ontologies.keys()
        are_blank = False
        if len(imported) < counted:
            # What imports may have another type, or none.
            importing, are_blank = await self._importing(types, call)
            of_others, more = await self._imported([one for one in importing if one not in ontologies], call)
            imported += of_others
            here |= more
        if len(imported) < counted:
            return Unread.WITHOUT_IRI if are_blank else Unread.FAULT
        return sorted({*imported} - here)

    async def _importing(self, types: tuple[Iri, ...], call: Call) -> tuple[Sequence[Iri], bool]:
        """Return the nodes of some types, and those without any, that import something; perhaps with others.

        Beside that stands whether all others that import something are blank nodes without a type.
        """
        imports = Condition((Step((IMPORTS,)),), "exists")
        found: dict[Iri, None] = {}
        are_blank, is_whole = False, True
        for some in ((), types) if types else ((),):
            selected = await self._store.select(Selection(some, (imports,)), call)
            found |= dict.fromkeys(selected.nodes)
            is_whole = is_whole and selected.mark.whole
            # Where they were not looked for, nothing else is left that may import.
            are_blank = are_blank or selected.blank is not False
        return list(found), are_blank and is_whole

    async def _imported(self, nodes: Sequence[Iri], call: Call) -> tuple[list[Iri], set[Iri]]:
        """Return what some nodes import, and those of them that import something, with their versions."""
        named = EdgeSelection(tuple(sorted((IMPORTS, VERSION_IRI))), ())
        around = await self._store.edges(nodes, call, selection=named) if nodes else {}
        for one in around.values():
            if one.mark.fault is not None:
                raise one.mark.fault
        edges = [edge for one in around.values() for edge in one.edges]
        here = {edge.object if edge.predicate == VERSION_IRI else edge.subject for edge in edges}
        return [edge.object for edge in edges if edge.predicate == IMPORTS], here


# --- sentences that a model reads ---

IMPORTS_UNREAD = "Whether ontologies that this graph imports are in it could not be found out: ask again in a minute."
"""A warning: what other ontologies say of the same terms may be missing."""
IMPORTED_WITHOUT_IRI = (
    "A node without an IRI imports ontologies: whether they are in this graph could not be found out. Names and edges "
    "of the same terms may be missing."
)
"""A warning: the same, and asking again does not help."""


def imports_missing(count: int, listed: str) -> str:
    """Return a warning: a graph imports ontologies that are not in it."""
    them = "is" if count == 1 else "are"
    return (
        f"{counted(count, 'imported ontology')} {them} not loaded: {listed}. Names and edges of the same terms may be "
        "missing: give their files too."
    )
