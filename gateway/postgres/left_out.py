"""What a loaded graph leaves out: edges to blank nodes that are no nodes, such as expressions of OWL."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, TypeAlias

import pyoxigraph

from gateway.databases.iri_mapping import IriMapping
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import EdgeSelection, Iri
from gateway.terms.iri import EVIDENCE_MARKERS, is_entity_type, is_sendable

Kind: TypeAlias = Literal["of_node", "predicate", "type", "name"]
"""What a row counts: edges of one node, all edges of a predicate, nodes of a type, nodes that have a name."""

COLUMNS: Final = ("kind", "subject_id", "predicate", "object_id", "entity_type", "count")

LeftOutRow: TypeAlias = "tuple[Kind, str | None, str | None, str | None, str | None, int]"

_BATCH: Final = 1_000
"""Nodes that are asked about at once."""


@dataclass(frozen=True, slots=True)
class BlankEnds:
    """The blank nodes of a graph that are neither nodes nor evidence, by what touches them.

    Attributes:
        nodes: The nodes beside them, by predicate and whether the edge leads to the node.
        between: Triples between two of them, by predicate.
        types: How many have a type, by type.
        named: How many have a name.
    """

    nodes: Mapping[tuple[Iri, bool], Mapping[Iri, None]] = field(default_factory=dict)
    between: Mapping[Iri, int] = field(default_factory=dict)
    types: Mapping[Iri, int] = field(default_factory=dict)
    named: int = 0

    @classmethod
    def of(cls, graph: Iterable[pyoxigraph.Quad], types: Collection[Iri], names: Collection[Iri]) -> BlankEnds:
        """Return those of a graph in this process.

        Args:
            graph: The graph, which is read twice where it has some.
            types: The predicates that give nodes their types.
            names: The predicates that give nodes their names.
        """
        evidence = _blank_evidence(graph)
        if evidence is None:
            return cls()
        found = _Collected()
        for quad in graph:
            found.add(quad, evidence, types, names)
        return cls(
            dict(found.nodes),
            Counter(predicate for _, predicate, _ in found.between),
            Counter(entity_type for _, entity_type in found.typed),
            len(found.named),
        )

    async def rows(
        self, store: GraphStore, ids: IriMapping, terms: IriMapping, allowance: Callable[[], Call]
    ) -> Sequence[LeftOutRow]:
        """Return what a database should say of them.

        Args:
            store: The graph, which says what is an edge.
            ids: Writes IDs.
            terms: Writes predicates and types.
            allowance: Returns what pays for one question.

        Raises:
            Fault: The graph could not be asked.
        """
        rows: list[LeftOutRow] = []
        totals = Counter(self.between)
        for (predicate, is_incoming), nodes in self.nodes.items():
            if not is_sendable(predicate):
                continue
            selected = EdgeSelection((), (predicate,)) if is_incoming else EdgeSelection((predicate,), ())
            waiting = filter(is_sendable, nodes)
            while batch := list(islice(waiting, _BATCH)):
                around = await store.edges(batch, allowance(), selection=selected)
                for node, found in around.items():
                    if found.mark.fault is not None:
                        raise found.mark.fault
                    if found.blank_edges:
                        totals[predicate] += found.blank_edges
                        end = ids.text(node)
                        subject, target = (None, end) if is_incoming else (end, None)
                        rows.append(("of_node", subject, terms.text(predicate), target, None, found.blank_edges))
        rows += (("predicate", None, terms.text(each), None, None, count) for each, count in totals.items())
        rows += (("type", None, None, None, terms.text(each), count) for each, count in self.types.items())
        if self.named:
            rows.append(("name", None, None, None, None, self.named))
        return rows


def _blank_evidence(graph: Iterable[pyoxigraph.Quad]) -> frozenset[str] | None:
    """Return the labels of blank nodes that are evidence; None where no blank node is in the graph."""
    evidence: set[str] = set()
    has_some = False
    for quad in graph:
        if isinstance(quad.subject, pyoxigraph.BlankNode):
            has_some = True
            if quad.predicate.value in EVIDENCE_MARKERS:
                evidence.add(quad.subject.value)
        elif isinstance(quad.object, pyoxigraph.BlankNode):
            has_some = True
    return frozenset(evidence) if has_some else None


@dataclass(slots=True)
class _Collected:
    """What was found of blank nodes, each once: named graphs may have a triple several times."""

    nodes: defaultdict[tuple[Iri, bool], dict[Iri, None]] = field(default_factory=lambda: defaultdict(dict))
    between: set[tuple[str, Iri, str]] = field(default_factory=set)
    typed: set[tuple[str, Iri]] = field(default_factory=set)
    named: set[str] = field(default_factory=set)

    def add(
        self, quad: pyoxigraph.Quad, evidence: Collection[str], types: Collection[Iri], names: Collection[Iri]
    ) -> None:
        """Note a triple that has a blank node which is no evidence."""
        subject, predicate, target = quad.subject, quad.predicate.value, quad.object
        if isinstance(target, pyoxigraph.BlankNode):
            if target.value in evidence:
                return
            if isinstance(subject, pyoxigraph.NamedNode):
                self.nodes[predicate, False][subject.value] = None
            elif isinstance(subject, pyoxigraph.BlankNode) and subject.value not in evidence:
                self.between.add((subject.value, predicate, target.value))
        elif isinstance(subject, pyoxigraph.BlankNode) and subject.value not in evidence:
            if isinstance(target, pyoxigraph.NamedNode):
                self._add_object(subject.value, predicate, target.value, types)
            elif predicate in names:
                self.named.add(subject.value)

    def _add_object(self, label: str, predicate: Iri, target: Iri, types: Collection[Iri]) -> None:
        self.nodes[predicate, True][target] = None
        if predicate in types and is_entity_type(target):
            self.typed.add((label, target))
