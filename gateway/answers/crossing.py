"""Where else entities are: their IDs in the other graphs of the server, by the profile's identity predicates.

Nothing is joined. The IRIs by which others may know an entity are read here, and each other graph is asked once which
of them it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gateway.errors import Fault, GatewayError
from gateway.graph.call import Call, KnownIds, OtherGraph, together
from gateway.graph.store import GraphStore
from gateway.graph.values import Identities, Iri, Mark
from gateway.settings.profile import Profile
from gateway.terms.iri import is_plain_iri
from gateway.terms.prefixes import PrefixMap

_TIME = 0.25
"""Share of the time of a call that the other graphs have."""

MOST_IRIS = 500
"""IRIs about which another graph is asked: it is asked once, whatever the number of entities."""

_REQUESTS_IF_ODD = 20
"""Requests to another graph where some engine may refuse an IRI: it is asked about the others again."""

AlsoIn = Mapping[str, Sequence[str]]
"""IDs of one entity by graph."""


@dataclass(slots=True)
class Crossings:
    """Where else some entities are.

    Attributes:
        also_in: The IDs of each entity in other graphs.
        in_doubt: Entities about which something could not be found out.
        warnings: What that is, in words.
    """

    also_in: dict[Iri, AlsoIn] = field(default_factory=dict)
    in_doubt: set[Iri] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)


class Crosser:
    """Finds the entities of one graph in others."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._prefixes = prefixes
        self._is_wanted = bool(profile.identity.predicates)
        self._seconds = profile.limits.deadline_seconds * _TIME

    async def cross(self, nodes: Sequence[Iri], call: Call) -> Crossings:
        """Return where else nodes are. No fault is raised: it is a warning, and the nodes are in doubt."""
        crossings = Crossings()
        if not self._is_wanted or not call.others or not nodes:
            return crossings
        names = await self._names(nodes, call, crossings)
        # An entity with very many must not leave the others unasked.
        by_number = sorted(names.values(), key=len)
        asked = list(dict.fromkeys(chain.from_iterable(by_number)))[:MOST_IRIS]
        if left := [node for node, own in names.items() if not set(own) <= set(asked)]:
            crossings.in_doubt.update(left)
            crossings.warnings.append(not_asked_elsewhere(self._prefixes.listed(left)))
        requests = 1 if all(map(is_plain_iri, asked)) else _REQUESTS_IF_ODD
        answers: dict[str, KnownIds | GatewayError] = {}

        async def ask(graph: str, other: OtherGraph) -> None:
            try:
                answers[graph] = await other.known_ids(asked, call.for_other_graph(self._seconds, requests))
            except GatewayError as error:
                answers[graph] = error

        async with together() as tasks:
            for graph, other in call.others.items():
                tasks.create_task(ask(graph, other))
        for graph in call.others:
            self._note_failures(graph, answers[graph], names, crossings)
        for node, own in names.items():
            found = {graph: _ids(answers[graph], own) for graph in call.others}
            if any(found.values()):
                crossings.also_in[node] = {graph: ids for graph, ids in found.items() if ids}
        return crossings

    async def _names(self, nodes: Sequence[Iri], call: Call, crossings: Crossings) -> Mapping[Iri, Sequence[Iri]]:
        """Return the IRIs by which other graphs may know each node, its own first."""
        try:
            found = await self._store.identities(nodes, call)
        except Fault as fault:
            found = dict.fromkeys(nodes, Identities(mark=Mark(fault)))
        if unread := [node for node in nodes if not found[node].mark.whole]:
            crossings.in_doubt.update(unread)
            faults = [mark.fault.wrong for node in unread if (mark := found[node].mark).fault is not None]
            crossings.warnings.append(identities_unread(self._prefixes.listed(unread), faults[0]))
        return {node: (node, *found[node].others) for node in nodes}

    def _note_failures(
        self, graph: str, answer: KnownIds | GatewayError, names: Mapping[Iri, Sequence[Iri]], crossings: Crossings
    ) -> None:
        """Note the nodes about which a graph could not be asked."""
        if isinstance(answer, GatewayError):
            unsure, why = list(names), answer.wrong
        else:
            unsure = [node for node, own in names.items() if not answer.failed.keys().isdisjoint(own)]
            why = next((fault.wrong for fault in answer.failed.values()), "")
        if unsure:
            crossings.in_doubt.update(unsure)
            crossings.warnings.append(unsure_elsewhere(self._prefixes.listed(unsure), graph, why))


def _ids(answer: KnownIds | GatewayError, iris: Sequence[Iri]) -> Sequence[str]:
    """Return the IDs of an entity in another graph, sorted; none if that could not be asked."""
    return () if isinstance(answer, GatewayError) else sorted({answer.ids[iri] for iri in iris if iri in answer.ids})


# --- sentences that a model reads ---


def identities_unread(listed: str, why: str) -> str:
    """Return a warning: by which IRIs other graphs may know some entities could not be read."""
    return f"also_in: what other graphs call {listed} could not be read, so they may have them. {why}"


def unsure_elsewhere(listed: str, graph: str, why: str) -> str:
    """Return a warning: another graph of the server could not be asked whether it has some entities."""
    return f"also_in: whether the graph {graph} has {listed} could not be found out. {why}"


def not_asked_elsewhere(listed: str) -> str:
    """Return a warning: there are too many IRIs to ask other graphs about all."""
    return f"also_in: other graphs were not asked about all IRIs of {listed}. Describe fewer entities at once."
