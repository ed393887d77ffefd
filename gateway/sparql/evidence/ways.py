"""The ways of stating something about an edge: the template that reads each, and its parameters."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EvidenceWay
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import WAYS_WITH_NODES
from gateway.sparql.results.columns import literal
from gateway.sparql.template import Parameter
from gateway.terms.known_iris import BIOLINK, OBAN, RDF, RDF_OBJECT, RDF_PREDICATE, RDF_SUBJECT, REIFICATION

_OBAN = tuple(f"{OBAN}association_has_{name}" for name in ("subject", "predicate", "object_property", "object"))
_BIOLINK = tuple(f"{BIOLINK}{name}" for name in ("subject", "predicate", "object"))
SAYING_NOTHING = frozenset(
    {f"{RDF}Statement", f"{RDF}SingletonProperty", f"{OBAN}association", f"{BIOLINK}Association"}
)
"""Types of evidence nodes that say no more than that they are such nodes."""

FRESH_SECONDS = 300.0
"""How long the ways that were detected are used before they are detected again."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way of stating something about an edge.

    Attributes:
        template: The template that reads it.
        parameters: What the template takes beside the edges and the graphs.
        over_graphs: Whether it looks into named graphs.
        is_wikibase: Whether its values are those of Wikibase, where a blank node means "not known".
        names_sources: Whether its nodes are documents, each the source of what it states.
    """

    template: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    over_graphs: bool = False
    is_wikibase: bool = False
    names_sources: bool = False


def _reified(subject: Iri, predicates: tuple[Iri, ...], target: Iri, stated_by: tuple[Iri, ...] = ()) -> Way:
    """Return a way by nodes that name the three terms of their triple by these predicates.

    `stated_by` are predicates to its subject by which another way returns such a node.
    """
    return Way(
        "evidence/reified",
        {
            "subject": subject,
            "predicates": predicates,
            "object": target,
            # One node may name its triple in two vocabularies.
            "unsaid": (*REIFICATION, *_OBAN, *_BIOLINK),
            "stated_by": stated_by,
        },
    )


WAYS: Mapping[EvidenceWay, Way] = {
    "annotations": Way("evidence/annotations", {"stated_by": (RDF_SUBJECT,)}),
    "statements": _reified(RDF_SUBJECT, (RDF_PREDICATE,), RDF_OBJECT),
    "wikibase": Way("evidence/wikibase", is_wikibase=True),
    "singleton_properties": Way("evidence/singletons"),
    "oban": _reified(_OBAN[0], _OBAN[1:3], _OBAN[3], stated_by=(RDF_SUBJECT,)),
    "biolink": _reified(_BIOLINK[0], _BIOLINK[1:2], _BIOLINK[2], stated_by=(RDF_SUBJECT,)),
    "named_graphs": Way("evidence/graphs", over_graphs=True),
    "nanopublications": Way("evidence/nanopublications", over_graphs=True, names_sources=True),
}
"""In the order in which they are asked."""


class WaysInUse:
    """The ways of stating evidence in use, shared by the readers of edges and of evidence.

    Attributes:
        asked_graphs: The named graphs of which the profile asks some; empty where it is all of them.
    """

    def __init__(self, client: SparqlClient, profile: Profile) -> None:
        self._client = client
        ways, graphs = profile.evidence.ways, profile.endpoint.graphs
        self._named = None if ways == "auto" else tuple(way for way in WAYS if way in ways)
        self.asked_graphs = () if isinstance(graphs, str) else graphs
        # Of one graph alone everything comes, so to name it as a source would say nothing.
        self._has_graphs = client.is_remote and (graphs == "union" or len(self.asked_graphs) > 1)
        self._found: tuple[EvidenceWay, ...] | None = None
        self._found_at = self._tried_at = float("-inf")
        self._detecting = asyncio.Lock()

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way; True for every way before they were detected."""
        known = self._found if self._named is None else self._named
        return known is None or way in known

    @property
    def may_have_nodes(self) -> bool:
        """Whether the graph may have evidence nodes: where they were not looked for, or are there, and can be seen."""
        # A profile names the ways that are read, not those that there are.
        are_there = self._named is not None or any(map(self.may_use, WAYS_WITH_NODES))
        return are_there and not self._client.hides_evidence

    async def refresh(self, call: Call) -> None:
        """Detect the ways in use, unless that was tried recently; after a fault, the graph may use every way."""
        now = call.deadline.clock()
        if self._named is None and now - max(self._found_at, self._tried_at) > FRESH_SECONDS:
            self._tried_at = now
            with contextlib.suppress(Fault):
                await self.ways(call)

    async def ways(self, call: Call) -> Collection[EvidenceWay]:
        """Return the ways in use, in the order of `WAYS`.

        Raises:
            Fault: They could not be detected.
        """
        if self._named is not None:
            return self._named
        async with self._detecting:
            now = call.deadline.clock()
            if self._found is None or now - self._found_at > FRESH_SECONDS:
                self._found = None
                found = await self._uses("evidence/in_use", call)
                if self._has_graphs:
                    found |= await self._uses_of_graphs(call)
                # An engine that knows no RDF 1.2 finds no rdf:reifies, and is never sent the syntax it would refuse.
                self._found, self._found_at = tuple(way for way in WAYS if way in found), now
            return self._found

    async def _uses_of_graphs(self, call: Call) -> set[str]:
        try:
            return await self._uses("evidence/graphs_in_use", call)
        except QueryRefused:
            # Blazegraph in triples mode has no named graphs, and says so.
            return set()

    async def _uses(self, template: str, call: Call) -> set[str]:
        rows = (await self._client.rows(template, call, {})).whole()
        return {way.value for way in literal("way")(rows)}
