"""Which triples are edges, and which of them a question selects.

Nodes and predicates stand in two VALUES, so that a query is as long as both together and not as all pairs of them.
After them each template has ``BIND(?p AS ?asked)``: Oxigraph orders what it joins by size, and would read all edges of
a hub, or all triples of a predicate, in place of each pair. Over a BIND it moves nothing (docs/notes/endpoints.md,
"VALUES"). Inside LATERAL, where the node is known, another LATERAL does that; `degrees`, for engines without LATERAL,
has neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from gateway.graph.call import Call
from gateway.graph.values import EdgeSelection, Iri
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings, EvidenceWay
from gateway.sparql.template import Parameter
from gateway.terms.iri import BIOLINK_SUBJECT, EVIDENCE_MARKERS, OBAN_SUBJECT, SINGLETON_PROPERTY_OF

_ASSOCIATIONS: Mapping[EvidenceWay, Iri] = {"oban": OBAN_SUBJECT, "biolink": BIOLINK_SUBJECT}

WAYS_WITH_NODES: tuple[EvidenceWay, ...] = ("annotations", "statements", "singleton_properties", *_ASSOCIATIONS)
"""Ways of stating evidence by nodes of their own."""


class Uses(Protocol):
    """The ways in which a graph states evidence."""

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way."""
        ...

    @property
    def may_have_nodes(self) -> bool:
        """Whether the graph may have evidence nodes: where they were not looked for, or are there, and can be seen."""
        ...

    async def refresh(self, call: Call) -> None:
        """Detect the ways in use, if that can be done and was not done recently."""
        ...


@dataclass(frozen=True, slots=True)
class StatedWays:
    """What a profile says about it, and no more: the ways that it names; None where the graph may use any."""

    ways: tuple[EvidenceWay, ...] | None = None

    @classmethod
    def of(cls, evidence: EvidenceSettings) -> StatedWays:
        """Return what a profile says."""
        return cls(evidence.read)

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way."""
        return self.ways is None or way in self.ways

    @property
    def may_have_nodes(self) -> bool:
        """Whether the graph may have evidence nodes: a profile names the ways that are read, not all that there are."""
        return True

    async def refresh(self, _call: Call) -> None:
        """Nothing to detect."""


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """A profile's edge rule, as template parameters.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Predicates that alone are edges; with `namespaces` empty too, every predicate is one.
        namespaces: Namespaces whose predicates alone are edges.
        objects: How the IRIs begin that alone are objects of edges; empty: any IRI is one.
        evidence_nodes: Whether the graph may have nodes that state evidence; these are then no ends of edges.
        uses: The ways of stating evidence that the graph uses. Only these are excluded, because each exclusion costs
            time for every triple.
    """

    excepted: tuple[Iri, ...]
    allowed: tuple[Iri, ...]
    namespaces: tuple[str, ...]
    objects: tuple[str, ...]
    evidence_nodes: bool
    uses: Uses = field(default=StatedWays(), compare=False)

    @classmethod
    def of(cls, edges: EdgeSettings, uses: Uses | None = None) -> EdgeRule:
        """Return the rule that a profile states."""
        return cls(
            excepted=edges.excluded,
            allowed=edges.allowed_predicates,
            namespaces=edges.allowed_namespaces,
            objects=edges.objects,
            evidence_nodes=edges.evidence_nodes,
            uses=uses or StatedWays(),
        )

    def allows(self, predicate: Iri) -> bool:
        """Return whether the rule's allow-list, if there is one, has the predicate."""
        if not (self.allowed or self.namespaces):
            return True
        return predicate in self.allowed or predicate.startswith(self.namespaces)

    @property
    def evidence(self) -> dict[str, Parameter]:
        """What makes nodes and predicates evidence, as template parameters."""
        singletons = self.evidence_nodes and self.uses.may_use("singleton_properties")
        return {
            "markers": (*EVIDENCE_MARKERS, *((SINGLETON_PROPERTY_OF,) if singletons else ()))
            if self.evidence_nodes
            else (),
            "associations": tuple(
                predicate for way, predicate in _ASSOCIATIONS.items() if self.evidence_nodes and self.uses.may_use(way)
            ),
            "singletons": (SINGLETON_PROPERTY_OF,) if singletons else (),
        }

    @property
    def evidence_of_nodes(self) -> dict[str, Parameter]:
        """What makes nodes evidence, as template parameters."""
        return {name: value for name, value in self.evidence.items() if name != "singletons"}

    def evidence_at(self, variables: Sequence[str]) -> dict[str, Parameter]:
        """Return what makes the nodes of some variables evidence, as template parameters."""
        found = {name: (value if isinstance(value, tuple) else ()) for name, value in self.evidence_of_nodes.items()}
        return {
            "unmarked": [(node, marker) for node in variables for marker in found["markers"]],
            "unassociated": [(node, one) for node in variables for one in found["associations"]],
        }

    @property
    def may_have_evidence(self) -> bool:
        """Whether the graph may have evidence nodes, by what was found when they were looked for last.

        That is enough for lists that claim nothing. No edge leads to an evidence node, whatever was found.
        """
        return self.evidence_nodes and self.uses.may_have_nodes

    @property
    def evidence_as_found(self) -> dict[str, Parameter]:
        """The same as `evidence`; nothing where evidence nodes were looked for in vain, because it costs time."""
        return self.evidence if self.may_have_evidence else dict.fromkeys(self.evidence, ())

    @property
    def ends(self) -> dict[str, Parameter]:
        """What may stand at the end of an edge, as template parameters."""
        return {"any_object": not self.objects, "objects": self.objects}

    @property
    def predicates(self) -> dict[str, Parameter]:
        """The allow-list of predicates, as template parameters."""
        return {
            "any_predicate": not (self.allowed or self.namespaces),
            "allowed": self.allowed,
            "namespaces": self.namespaces,
        }

    async def refresh(self, call: Call) -> None:
        """Detect which evidence nodes to exclude, unless that was done recently."""
        if self.evidence_nodes:
            await self.uses.refresh(call)

    async def refreshed(self, call: Call) -> dict[str, Parameter]:
        """Return the rule as template parameters, as it is after `refresh`."""
        await self.refresh(call)
        return self.parameters

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The rule as template parameters."""
        # What the allow-list leaves out need not be excepted; on Wikidata that is half of each sub-select's text.
        excepted = tuple(iri for iri in self.excepted if self.allows(iri))
        return {"excepted": excepted, **self.evidence, **self.predicates, **self.ends}


_NO_PREDICATE = "urn:bfs-ql:none"
"""Stands where no predicate is wanted: every engine finds no triple with it at once, but not every one takes VALUES
without a term."""


def selection_parameters(selection: EdgeSelection) -> dict[str, Parameter]:
    """Return the predicates of each direction; where all are wanted, the query names none."""
    return {"outgoing": _in_values(selection.outgoing), "incoming": _in_values(selection.incoming)}


def predicate_parameters(predicates: tuple[Iri, ...] | None) -> dict[str, Parameter]:
    """Return the predicates of a question about outgoing edges alone."""
    return {"predicates": _in_values(predicates)}


def selected_predicates(selection: EdgeSelection) -> Sequence[Iri]:
    """Return the predicates that stand in a query, one for each time; none where all edges are selected."""
    lists = [*_in_values(selection.outgoing), *_in_values(selection.incoming)]
    return tuple(chain.from_iterable(lists))


def _in_values(predicates: tuple[Iri, ...] | None) -> Sequence[Sequence[Iri]]:
    """Return one list of predicates for a block of a template, or no list."""
    return [] if predicates is None else [predicates or (_NO_PREDICATE,)]
