"""What tells entities of the same name and type apart: the property or edge in which they differ most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gateway.answers.page import PageHit
from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Description, Iri, Schema
from gateway.settings.profile import Profile
from gateway.terms.iri import is_own
from gateway.terms.literals import JsonScalar, Literal, language_order, shown_texts, sorted_values
from gateway.terms.names import cut, fold, one_line
from gateway.terms.prefixes import PrefixMap

_MOST = 50
"""Entities that are told apart in one answer."""

_LONGEST = 60
"""Characters of a value that tells entities apart."""

Distinction = Mapping[str, JsonScalar]
"""A value by the ID of its predicate, `^` before one whose edges come in."""

_Alike = tuple[Iri, ...]
"""Entities of one name and type."""

_Values = Mapping[Iri, Mapping[str, JsonScalar]]


class Distinguisher:
    """Finds what tells entities of one graph apart."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes

    async def told_apart(
        self, nodes: Sequence[Iri], hits: Sequence[PageHit], schema: Schema, call: Call
    ) -> list[PageHit]:
        """Return hits, those of one name and type with a value that others of them do not have, if there is one.

        Properties are read first, and edges only where these leave some entities alike. What cannot be read tells
        nothing apart.
        """
        groups: defaultdict[tuple[str, str], list[Iri]] = defaultdict(list)
        for node, hit in zip(nodes, hits, strict=True):
            if hit.name:
                groups[fold(hit.name), hit.entity_type].append(node)
        alike = [tuple(group) for group in groups.values() if len(group) > 1]
        # The descriptions of a wiki tell its entities apart, and its endpoint has a quota.
        if not alike or self._profile.search.api:
            return [*hits]
        found = await self._distinctions(alike, schema, call)
        return [replace(hit, differs=found.get(node, {})) for node, hit in zip(nodes, hits, strict=True)]

    async def _distinctions(self, groups: Sequence[_Alike], schema: Schema, call: Call) -> Mapping[Iri, Distinction]:
        wanted: list[_Alike] = []
        for group in groups:
            if sum(map(len, (*wanted, group))) <= _MOST:
                wanted.append(group)
        if not wanted:
            return {}
        found: dict[Iri, Distinction] = {}
        try:
            with call.reserving(requests=0.5, time=0.5), call.tally.stage("metadata"):
                nodes = [node for group in wanted for node in group]
                described = await self._store.node_metadata(nodes, call, blank_nodes=False)
                properties = self._properties(described, schema, call)
                best = {group: _best(group, properties) for group in wanted}
                left = [group for group in wanted if len(set(best[group].values())) < len(group)]
                edges = await self._edges([node for group in left for node in group], call) if left else {}
        except Fault:
            return {}
        for group in wanted:
            by_edge = _best(group, edges)
            chosen = max(best[group], by_edge, key=lambda values: len(set(values.values())))
            found |= {node: dict([value]) for node, value in chosen.items()}
        return found

    def _properties(self, described: Mapping[Iri, Description], schema: Schema, call: Call) -> _Values:
        roles = self._profile.roles
        known = {*roles.name, *roles.synonym, *roles.description, *(schema.names or ()), *schema.synonyms}
        order = language_order(self._profile.names.languages, call.language, schema.languages)
        values: dict[Iri, dict[str, JsonScalar]] = defaultdict(dict)
        for node, description in described.items():
            for predicate, items in description.properties.items():
                literals = [one for one in items if isinstance(one, Literal) and not is_own(one.datatype)]
                if predicate in known or is_own(predicate) or not literals:
                    continue
                first = sorted_values(one.json for one in shown_texts(literals, order))[0]
                if not isinstance(first, str) or len(first) <= _LONGEST:
                    written = first if not isinstance(first, str) else one_line(first)
                    values[node][self._prefixes.shorten(predicate)] = written
        return values

    async def _edges(self, nodes: Sequence[Iri], call: Call) -> _Values:
        counted = await self._store.edge_counts(nodes, call)
        first = {
            node: {
                f"{'^' * row.incoming}{self._prefixes.shorten(row.predicate)}": row.neighbours[0]
                for row in one.counts
                if row.neighbours
            }
            for node, one in counted.items()
        }
        ends = {end for rows in first.values() for end in rows.values()}
        facts = await self._store.nodes(sorted(ends), call, names=True) if len(ends) <= _MOST * 4 else {}

        def written(end: Iri) -> str:
            name = facts[end].name if end in facts else ""
            return cut(name, _LONGEST) or self._prefixes.shorten(end)

        return {node: {key: written(end) for key, end in rows.items()} for node, rows in first.items()}


def _best(group: _Alike, values: _Values) -> Mapping[Iri, tuple[str, JsonScalar]]:
    """Return the values of the predicate in which most entities of a group differ; none where none differ."""
    by_predicate: dict[str, dict[Iri, JsonScalar]] = defaultdict(dict)
    for node in group:
        for predicate, value in values.get(node, {}).items():
            by_predicate[predicate][node] = value
    ranked = sorted(
        (-_differing(of), -len(of), sum(len(str(value)) for value in of.values()), predicate)
        for predicate, of in by_predicate.items()
    )
    if not ranked or (ranked[0][0] == -1 and len(by_predicate[ranked[0][-1]]) == len(group)):
        return {}
    predicate = ranked[0][-1]
    return {node: (predicate, value) for node, value in by_predicate[predicate].items()}


def _differing(values: Mapping[Iri, JsonScalar]) -> int:
    return len({(type(value), value) for value in values.values()})
