"""What tells entities of the same name and type apart: values of properties, or edges, that one of them has alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, slots=True)
class _Values:
    """All values that one entity has of one predicate.

    Attributes:
        keys: What is the same of equal values.
        shown: Those that may be shown, the first preferred.
    """

    keys: frozenset[_Key]
    shown: Sequence[JsonScalar]


_Key = tuple[bool, JsonScalar]

_Known = Mapping[Iri, Mapping[str, _Values | None]]
"""The values of entities by the IDs of predicates, None where some are unknown; without entities that were not read."""

_Told = Mapping[Iri, tuple[str, JsonScalar]]
"""A predicate and a value of entities that are told from all others."""


class Distinguisher:
    """Finds what tells entities of one graph apart."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes

    async def told_apart(
        self, nodes: Sequence[Iri], hits: Sequence[PageHit], schema: Schema, call: Call
    ) -> list[PageHit]:
        """Return hits, those of one name and type with a value that none of the others has, if there is one.

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
                told = {group: _told_apart(group, properties) for group in wanted}
                left = [group for group in wanted if len(told[group]) < len(group)]
                edges = await self._edges([node for group in left for node in group], call) if left else {}
        except Fault:
            return {}
        for group in wanted:
            # Of one predicate as many as can be, so that values can be compared.
            better, other = sorted([told[group], _told_apart(group, edges)], key=len, reverse=True)
            found |= {node: dict([value]) for node, value in {**other, **better}.items()}
        return found

    def _properties(self, described: Mapping[Iri, Description], schema: Schema, call: Call) -> _Known:
        roles = self._profile.roles
        known = {*roles.name, *roles.synonym, *roles.description, *(schema.names or ()), *schema.synonyms}
        order = language_order(self._profile.names.languages, call.language, schema.languages)
        values: dict[Iri, dict[str, _Values | None]] = {}
        for node, description in described.items():
            if not description.mark.whole:
                continue
            values[node] = {}
            for predicate, items in description.properties.items():
                literals = [one for one in items if isinstance(one, Literal) and not is_own(one.datatype)]
                if predicate in known or is_own(predicate) or not literals:
                    continue
                texts = sorted_values(_written(one.json) for one in shown_texts(literals, order))
                values[node][self._prefixes.shorten(predicate)] = _Values(
                    frozenset(_key(_written(one.json)) for one in literals),
                    [text for text in texts if not isinstance(text, str) or len(text) <= _LONGEST],
                )
        return values

    async def _edges(self, nodes: Sequence[Iri], call: Call) -> _Known:
        counted = await self._store.edge_counts(nodes, call)
        # The count tells whether an entity has more neighbours of a predicate than are known.
        found = {
            node: {
                f"{'^' * row.incoming}{self._prefixes.shorten(row.predicate)}": row.neighbours
                if len(row.neighbours) == row.count
                else ()
                for row in one.counts
            }
            for node, one in counted.items()
            if one.mark.whole
        }
        ends = {end for rows in found.values() for some in rows.values() for end in some}
        facts = await self._store.nodes(sorted(ends), call, names=True) if len(ends) <= _MOST * 4 else {}

        def written(end: Iri) -> str:
            name = facts[end].name if end in facts else ""
            return cut(name, _LONGEST) or self._prefixes.shorten(end)

        def values(some: Sequence[Iri]) -> _Values | None:
            texts = [written(end) for end in some]
            return _Values(frozenset(map(_key, texts)), texts) if texts else None

        return {node: {key: values(some) for key, some in rows.items()} for node, rows in found.items()}


def _written(value: JsonScalar) -> JsonScalar:
    return one_line(value) if isinstance(value, str) else value


def _key(value: JsonScalar) -> _Key:
    # True equals 1.
    return isinstance(value, bool), value


def _told_apart(group: _Alike, known: _Known) -> _Told:
    """Return values that none of the others of a group has, of the predicate that tells most of them apart first.

    Nothing is told apart where one of the others may have the same value, because not all of its values are known.
    """
    if any(node not in known for node in group):
        return {}
    alone: dict[str, dict[Iri, JsonScalar]] = {}
    for predicate in {predicate for node in group for predicate in known[node]}:
        values = {node: known[node][predicate] for node in group if predicate in known[node]}
        whole = {node: one for node, one in values.items() if one is not None}
        if len(whole) < len(values):
            continue
        counts = Counter(key for one in whole.values() for key in one.keys)
        first = {node: next((v for v in one.shown if counts[_key(v)] == 1), None) for node, one in whole.items()}
        alone[predicate] = {node: value for node, value in first.items() if value is not None}
    told: dict[Iri, tuple[str, JsonScalar]] = {}
    for predicate in sorted(
        alone, key=lambda one: (-len(alone[one]), sum(len(str(v)) for v in alone[one].values()), one)
    ):
        for node, value in alone[predicate].items():
            told.setdefault(node, (predicate, value))
    return told
