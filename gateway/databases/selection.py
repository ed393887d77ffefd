"""The nodes of some types under conditions: those with values that may fulfil one, or all of these types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.databases.client import DatabaseClient
from gateway.databases.holding import Sought, sought_by
from gateway.databases.iri_mapping import IriMapping
from gateway.databases.nodes import NodeReader
from gateway.databases.typed import TypedNodeReader, sendable_nodes
from gateway.databases.walks import WalkReader
from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import Condition, Operator, Selected, Selection, Walk
from gateway.settings.vocabulary import RoleSettings

_MOST_ROWS: Final = 50_000
"""Rows that are read for one condition; where there are more, all nodes of the types are listed."""

_FEW: Final = 1_000
"""Nodes that are no reason to ask for those of another condition as well."""

_FIRST: Final[Sequence[Operator]] = ("=", "in", "starts", "contains", "<", "<=", ">", ">=")
"""Operators by how few nodes fulfil conditions with them, as a rule."""


class SelectionReader:
    """Selects nodes of one graph.

    Args:
        client: Sends the queries.
        ids: The IRIs of IDs.
        terms: The IRIs of names of properties.
        roles: Which predicates are those of names.
        typed: Lists the nodes of types.
        walks: Follows walks.
        nodes: Reads types.
    """

    def __init__(
        self,
        client: DatabaseClient,
        ids: IriMapping,
        terms: IriMapping,
        roles: RoleSettings,
        *,
        typed: TypedNodeReader,
        walks: WalkReader,
        nodes: NodeReader,
    ) -> None:
        self._client = client
        self._ids = ids
        self._terms = terms
        self._name_predicates = (*roles.name, *roles.synonym)
        self._typed = typed
        self._walks = walks
        self._nodes = nodes

    async def select(self, selection: Selection, call: Call) -> Selected:
        """Return the nodes of some types that fulfil conditions, and perhaps others; see `GraphStore.select`."""
        candidates = await self._candidates(selection.conditions, call)
        if candidates is None:
            types = selection.types
            return Selected(*(await self._typed.of_types(types, call) if types else await self._typed.untyped(call)))
        return await self._of_types(sorted(candidates), selection.types, call)

    async def _candidates(self, conditions: Sequence[Condition], call: Call) -> frozenset[Iri] | None:
        """Return nodes among which are all that fulfil some of the conditions; None where no condition says which."""
        asked = [(condition, sought_by(condition)) for condition in conditions]
        known = [(condition, sought) for condition, sought in asked if sought is not None]
        found: frozenset[Iri] | None = None
        for condition, sought in sorted(known, key=lambda one: _FIRST.index(one[0].operator)):
            rows = min(call.rows // 2, _MOST_ROWS)
            with call.reserving(requests=0.5, time=0.5), call.part(requests=call.requests, rows=rows) as part:
                some = await self._fulfilling(condition.walk, sought, part)
            if some is not None:
                found = some if found is None else found & some
            if found is not None and len(found) <= _FEW:
                break
        return found

    async def _fulfilling(self, walk: Walk, sought: Sought, call: Call) -> frozenset[Iri] | None:
        """Return the nodes from which a walk may lead to what is sought; None where they are too many, or unknown."""
        found: set[Iri] = set()
        if sought.nodes:
            origins = await self._origins(sorted(sought.nodes), walk, call)
            if origins is None:
                return None
            found |= origins
        # A step against the direction of its predicates leads to no literal.
        if sought.has_literals and not walk[-1].is_inverse:
            try:
                owners = await self._holding(walk, sought, call)
            except Fault:
                return None
            origins = (
                owners if owners is None or not walk[:-1] else await self._origins(sorted(owners), walk[:-1], call)
            )
            if origins is None:
                return None
            found |= origins
        return frozenset(found)

    async def _origins(self, ends: Sequence[Iri], walk: Walk, call: Call) -> frozenset[Iri] | None:
        origins = (await self._walks.origins(ends, walk, call)).values()
        if not all(one.mark.whole for one in origins):
            return None
        return frozenset(end for one in origins for end in one.ends if isinstance(end, str))

    async def _holding(self, walk: Walk, sought: Sought, call: Call) -> frozenset[Iri] | None:
        """Return the nodes that may have a value that is sought; None where one that is nested may have it.

        Raises:
            Fault: They could not be read, or are too many.
        """
        named = [predicate for step in walk if not isinstance(step.predicates, str) for predicate in step.predicates]
        if walk[:-1] and await self._walks.have_objects(named, call):
            return None
        role_or_predicates = walk[-1].predicates
        if isinstance(role_or_predicates, str):
            with_names = role_or_predicates in {"name", "any"}
            keys = None if role_or_predicates == "any" else self._name_predicates if with_names else ()
        else:
            with_names = not frozenset(role_or_predicates).isdisjoint(self._name_predicates)
            keys = role_or_predicates
        texts = None if keys is None else self._terms.texts_of(keys)
        found = await self._client.rows(
            "holding", call, texts, with_names, *sought.parameters, at_most=max(1, call.rows)
        )
        return frozenset(self._ids.iri(node) for (node,) in found.whole())

    async def _of_types(self, candidates: Sequence[Iri], types: Sequence[Iri], call: Call) -> Selected:
        """Return those of some nodes that have one of some types, or none where there are no types."""
        facts = await self._nodes.facts(candidates, call, names=False)
        wanted = frozenset(types)
        unknown = [one.mark.fault for one in facts.values() if one.mark.fault is not None]
        if types:
            kept = [node for node, one in facts.items() if not wanted.isdisjoint(one.types)]
        else:
            untyped = [node for node, one in facts.items() if one.are_types_known and not one.types]
            # A type is no node, unless something else is said of it.
            there = await self._nodes.existing(untyped, call)
            kept = [node for node, one in there.items() if one.exists]
            unknown += [one.mark.fault for one in there.values() if one.mark.fault is not None]
        if unknown and not kept:
            raise unknown[0]
        return Selected(*sendable_nodes(dict.fromkeys(kept), Mark(unknown[0], len(kept)) if unknown else WHOLE))
