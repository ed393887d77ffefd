"""Nodes that were merged into others, as Wikidata's redirects are: followed, and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.engine.gaps import Gap, cause_of
from gateway.engine.topology import Topology
from gateway.errors import Fault
from gateway.graph.budget import Budget
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Properties, Resource
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap


@dataclass(frozen=True, slots=True)
class Followed:
    """The seeds of a question, after merged ones.

    Attributes:
        seeds: The seeds, with what merged ones were merged into; duplicates folded.
        warnings: One for each merged seed.
        unread: The seeds of which nobody knows whether they were merged, with what went wrong.
    """

    seeds: list[Iri]
    warnings: list[str]
    unread: Mapping[Iri, Fault]

    def doubted(self, topology: Topology) -> Topology:
        """Return the topology with a gap for each seed that has no edges there, perhaps because it was merged."""
        touched = {end for edge in topology.edges for end in (edge.subject, edge.object)}
        gaps = tuple(
            Gap(cause_of(fault), frozenset({seed}), fault.wrong)
            for seed, fault in self.unread.items()
            if seed not in touched
        )
        return replace(topology, gaps=topology.gaps + gaps)


class Redirects:
    """Knows where merged nodes went, by the predicates that the profile names for it."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._predicates = profile.edges.redirects
        self._prefixes = prefixes

    async def followed(self, seeds: Sequence[Iri], budget: Budget) -> Followed:
        """Return the seeds with what merged ones were merged into.

        Args:
            seeds: The seeds of a question.
            budget: The call's budget. What is asked here is remembered: it is asked for again with the seeds' metadata.
        """
        if not self._predicates:
            return Followed(list(seeds), [], {})
        with budget.tally.stage("metadata"):
            described = await self._store.node_metadata(seeds, budget, blank_nodes=False)
        there: dict[Iri, None] = {}
        warnings = []
        unread = {}
        for seed in seeds:
            target = self.target(described[seed].properties)
            there[seed if target is None else target] = None
            if target is not None:
                warnings.append(f"seeds: {self._sentence(seed, target)}, which was asked for instead.")
            elif (fault := described[seed].mark.fault) is not None:
                unread[seed] = fault
        return Followed(list(there), warnings, unread)

    def target(self, properties: Properties) -> Iri | None:
        """Return the node that a node was merged into, by its properties; None where it was not."""
        targets = (value for predicate in self._predicates for value in properties.get(predicate, ()))
        return min((value.iri for value in targets if isinstance(value, Resource)), default=None)

    def advice(self, node: Iri, properties: Properties) -> str:
        """Return what to tell of a node that was merged into another one; nothing where it was not."""
        target = self.target(properties)
        return "" if target is None else f"{self._sentence(node, target)}; describe that one."

    def _sentence(self, node: Iri, target: Iri) -> str:
        return f"{self._prefixes.shorten(node)} was merged into {self._prefixes.shorten(target)}"
