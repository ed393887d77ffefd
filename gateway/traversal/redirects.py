"""Nodes that were merged into others, as Wikidata's redirects are: followed, with a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway import messages
from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Properties, Resource
from gateway.settings.profile import Profile
from gateway.terms.iri import is_sendable
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.gaps import Gap, cause_of
from gateway.traversal.topology import Topology

_STEPS = 5
"""Merged nodes that are followed from one to the next; a wiki repairs double redirects."""


@dataclass(frozen=True, slots=True)
class ResolvedSeeds:
    """The seeds of a question, merged ones replaced.

    Attributes:
        seeds: The seeds as given, with the nodes that merged ones were merged into.
        warnings: One for each merged seed.
        unread: Nodes of which it could not be read whether they were merged, with the fault.
        endless: Nodes that were merged in a circle, or over more steps than are followed.
    """

    seeds: Sequence[Iri]
    warnings: Sequence[str] = ()
    unread: Mapping[Iri, Fault] = field(default_factory=dict)
    endless: frozenset[Iri] = frozenset()

    def with_gaps(self, topology: Topology) -> Topology:
        """Return the topology with a gap for each seed that was merged, or perhaps was: without outgoing edges."""
        subjects = topology.edges.subjects if self.unread else ()
        gaps = tuple(
            Gap(cause_of(fault), frozenset({seed}), fault.wrong)
            for seed, fault in self.unread.items()
            if seed not in subjects
        )
        if self.endless:
            gaps += (Gap("endpoint_failed", self.endless, messages.REDIRECTED_TOO_FAR),)
        return replace(topology, gaps=topology.gaps + gaps)


class Redirects:
    """Follows merged nodes, by the predicates that the profile names for it.

    Attributes:
        are_asked_for: Whether the graph is asked about each seed.
    """

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._predicates = profile.edges.redirects
        self._prefixes = prefixes
        self.are_asked_for = bool(self._predicates)

    async def resolved(self, seeds: Sequence[Iri], call: Call) -> ResolvedSeeds:
        """Return the seeds, merged ones replaced."""
        in_prose = self._prefixes.in_prose
        chains: dict[Iri, list[Iri]] = {seed: [seed] for seed in seeds}
        merged_too: dict[str, None] = {}
        unread: dict[Iri, Fault] = {}
        endless: set[Iri] = set()
        unfinished = list(seeds)
        while unfinished:
            ends = list(dict.fromkeys(chains[seed][-1] for seed in unfinished))
            with call.tally.stage("metadata"):
                described = await self._store.node_metadata(ends, call, blank_nodes=False, precise=False)
            moved = []
            for seed in unfinished:
                chain, description = chains[seed], described[chains[seed][-1]]
                targets = self._targets(description.properties)
                target = targets[0] if targets else None
                if len(targets) > 1:
                    others = self._prefixes.listed(targets[1:])
                    merged_too[messages.seed_merged_too(in_prose(chain[-1]), others)] = None
                if target is None and description.mark.fault is not None:
                    unread[chain[-1]] = description.mark.fault
                elif target in chain or (target is not None and len(chain) > _STEPS):
                    endless.add(chain[-1])
                elif target is not None:
                    chain.append(target)
                    moved.append(seed)
            unfinished = moved
        merged = [
            messages.seed_merged(in_prose(seed), in_prose(chain[-1]))
            for seed, chain in chains.items()
            if len(chain) > 1
        ]
        return ResolvedSeeds([chains[seed][-1] for seed in seeds], [*merged, *merged_too], unread, frozenset(endless))

    def doubts(self, resolved: ResolvedSeeds, topology: Topology) -> list[str]:
        """Return a warning for each seed that has edges, and of which it could not be read whether it was merged."""
        subjects = topology.edges.subjects if resolved.unread else ()
        return [
            messages.seed_perhaps_merged(self._prefixes.in_prose(seed), fault.wrong)
            for seed, fault in resolved.unread.items()
            if seed in subjects
        ]

    def _targets(self, properties: Properties) -> list[Iri]:
        """Return the nodes that a node was merged into, by its properties, sorted; the first one is followed."""
        targets = (value for predicate in self._predicates for value in properties.get(predicate, ()))
        return sorted({value.iri for value in targets if isinstance(value, Resource) and is_sendable(value.iri)})

    def advice(self, node: Iri, properties: Properties) -> str:
        """Return a warning about a node that was merged into others; empty where it was not."""
        targets = self._targets(properties)
        if not targets:
            return ""
        in_prose = self._prefixes.in_prose
        return messages.describe_merged(in_prose(node), in_prose(targets[0]), self._prefixes.listed(targets[1:]))
