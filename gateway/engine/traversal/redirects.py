"""Nodes that were merged into others, as Wikidata's redirects are: followed, with a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.engine import messages
from gateway.engine.traversal.gaps import Gap, cause_of
from gateway.engine.traversal.topology import Topology
from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Properties, Resource
from gateway.settings.profile import Profile
from gateway.terms.iri import is_sendable
from gateway.terms.prefixes import PrefixMap

_STEPS = 5
"""Merged nodes that are followed from one to the next; a wiki repairs double redirects."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The seeds of a question, after merged ones.

    Attributes:
        seeds: The seeds, with what merged ones were merged into; duplicates folded.
        warnings: One for each merged seed.
        unread: Those of which nobody knows whether they were merged, or into what, with what went wrong.
        astray: Those that were merged, in a circle or more often than is followed.
    """

    seeds: list[Iri]
    warnings: list[str]
    unread: Mapping[Iri, Fault]
    astray: frozenset[Iri]

    def doubted(self, topology: Topology) -> Topology:
        """Return the topology with a gap for each seed that was merged, or perhaps was: without outgoing edges."""
        speaking = _speaking(topology)
        gaps = tuple(
            Gap(cause_of(fault), frozenset({seed}), fault.wrong)
            for seed, fault in self.unread.items()
            if seed not in speaking
        )
        if self.astray:
            gaps += (Gap("endpoint_failed", self.astray, messages.REDIRECTED_TOO_FAR),)
        return replace(topology, gaps=topology.gaps + gaps)


def _speaking(topology: Topology) -> set[Iri]:
    """Return the nodes with outgoing edges: a merged node may still be linked to, but has mostly none itself."""
    return {edge.subject for edge in topology.edges}


class Redirects:
    """Knows where merged nodes went, by the predicates that the profile names for it."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._predicates = profile.edges.redirects
        self._prefixes = prefixes

    async def followed(self, seeds: Sequence[Iri], call: Call) -> Followed:
        """Return the seeds with what merged ones were merged into.

        Args:
            seeds: The seeds of a question.
            call: The call that asks.
        """
        ways: dict[Iri, list[Iri]] = {seed: [seed] for seed in seeds}
        forks: list[str] = []
        unread: dict[Iri, Fault] = {}
        astray: set[Iri] = set()
        going_on = list(seeds) if self._predicates else []
        while going_on:
            ends = list(dict.fromkeys(ways[seed][-1] for seed in going_on))
            with call.tally.stage("metadata"):
                described = await self._store.node_metadata(ends, call, blank_nodes=False, precise=False)
            moved = []
            for seed in going_on:
                way, description = ways[seed], described[ways[seed][-1]]
                targets = self._targets(description.properties)
                target = targets[0] if targets else None
                if len(targets) > 1:
                    forks.append(messages.seed_also_merged(self._fork(way[-1], targets[1:])))
                if target is None and description.mark.fault is not None:
                    unread[way[-1]] = description.mark.fault
                elif target in way or (target is not None and len(way) > _STEPS):
                    astray.add(way[-1])
                elif target is not None:
                    way.append(target)
                    moved.append(seed)
            going_on = moved
        warnings = [
            messages.seed_merged(self._sentence(seed, way[-1])) for seed, way in ways.items() if len(way) > 1
        ] + list(dict.fromkeys(forks))
        return Followed(list(dict.fromkeys(way[-1] for way in ways.values())), warnings, unread, frozenset(astray))

    def doubts(self, followed: Followed, topology: Topology) -> list[str]:
        """Return a warning for each seed that has edges, and of which it could not be read whether it was merged."""
        speaking = _speaking(topology)
        return [
            messages.seed_perhaps_merged(self._prefixes.in_prose(seed), fault.wrong)
            for seed, fault in followed.unread.items()
            if seed in speaking
        ]

    def _targets(self, properties: Properties) -> list[Iri]:
        """Return the nodes that a node was merged into, by its properties, sorted; the first one is followed."""
        targets = (value for predicate in self._predicates for value in properties.get(predicate, ()))
        return sorted({value.iri for value in targets if isinstance(value, Resource) and is_sendable(value.iri)})

    def advice(self, node: Iri, properties: Properties) -> str:
        """Return what to report of a node that was merged into others; nothing where it was not."""
        targets = self._targets(properties)
        if not targets:
            return ""
        fork = self._fork(node, targets[1:]) if len(targets) > 1 else ""
        return messages.describe_merged(self._sentence(node, targets[0]), fork)

    def _fork(self, node: Iri, others: Sequence[Iri]) -> str:
        return messages.also_merged(self._prefixes.in_prose(node), self._prefixes.listed(others))

    def _sentence(self, node: Iri, target: Iri) -> str:
        return messages.merged(self._prefixes.in_prose(node), self._prefixes.in_prose(target))
