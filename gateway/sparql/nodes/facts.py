"""The types, display name and description of nodes, from rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gateway.graph.values import Iri, Mark, NodeFacts
from gateway.sparql.results.columns import node_values
from gateway.sparql.results.rows import Row
from gateway.sparql.results.terms import IriTerm, LiteralTerm, literal
from gateway.terms.iri import is_skolem
from gateway.terms.literals import Literal, in_best_language


def _best(texts: Mapping[Iri, Collection[Literal]], predicates: Sequence[Iri], languages: Sequence[str]) -> str:
    """Return the text to show: of the first predicate that has one, in the best language, the first by code point."""
    for predicate in predicates:
        found = texts.get(predicate)
        if found:
            return min(str(text.json) for text in (in_best_language(found, languages) if len(found) > 1 else found))
    return ""


@dataclass(frozen=True, slots=True)
class FactsReader:
    """Reads facts from the rows of ?n, ?p and ?v.

    Attributes:
        types: Predicates whose IRIs are types.
        names: Predicates whose literals are names, the best first.
        languages: Languages of names, the best first.
        descriptions: Predicates whose literals are descriptions, the best first.
    """

    types: Collection[Iri]
    names: Sequence[Iri]
    languages: Sequence[str]
    descriptions: Sequence[Iri] = ()

    def read(self, batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, NodeFacts]:
        """Return the facts of each node of a batch; a KeyError says that a row is about another node."""
        types: dict[Iri, list[Iri]] = {node: [] for node in batch}
        texts: dict[Iri, dict[Iri, dict[Literal, None]]] = {}
        # Thousands of nodes have the same few types: one text, and one answer, is enough for all of them.
        once: dict[Iri, Iri] = {}
        for node, predicate, bound in node_values(rows):
            found = types[node]
            if isinstance(bound, IriTerm):
                if predicate in self.types and not is_skolem(bound.value):
                    found.append(once.setdefault(bound.value, bound.value))
            elif isinstance(bound, LiteralTerm):
                texts.setdefault(node, {}).setdefault(predicate, {})[literal(bound)] = None
        shared: dict[tuple[tuple[Iri, ...], str, str], NodeFacts] = {}
        known: dict[Iri, NodeFacts] = {}
        for node, found in types.items():
            own = texts.get(node, {})
            name = _best(own, self.names, self.languages) if own else ""
            description = _best(own, self.descriptions, self.languages) if own and self.descriptions else ""
            facts = (tuple(sorted(set(found))) if len(found) > 1 else tuple(found), name, description)
            if facts not in shared:
                shared[facts] = NodeFacts(facts[0], name, mark, description)
            known[node] = shared[facts]
        return known
