"""Blank nodes of an endpoint in searches by name and by type, and in the counts of its schema."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakSet

from gateway.errors import EndpointFault, Fault
from gateway.files.lists import is_list_part
from gateway.graph.call import Call, Requester
from gateway.graph.counts import by_frequency
from gateway.graph.reading import compare_names
from gateway.graph.values import BlankShare, Hit, Hits, Iri, Mark, SearchTerms
from gateway.graph.walks import UNPROVEN, Aggregate, Aggregated, Alternatives, Nodes, Operand, Selected, Selection
from gateway.settings.profile import Profile
from gateway.sparql.aggregates import AggregateReader
from gateway.sparql.blank.anchor_search import AnchorSearch
from gateway.sparql.blank.keys import keys_in
from gateway.sparql.blank.lookup import BlankLookup
from gateway.sparql.blank.nodes import BlankNodes
from gateway.sparql.blank.probes import LIST_TYPES
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates, name_parameters
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema_counts import Counts, counts_in
from gateway.sparql.search import BlankNodeFinder, EntityLister, SearchReader
from gateway.sparql.selection import SelectionReader
from gateway.sparql.table import LiteralTerm, iri, literal
from gateway.sparql.template import Parameter
from gateway.terms.iri import (
    ANNOTATED,
    EXPRESSION_PREDICATES,
    INTO_EXPRESSIONS,
    RDF_NIL,
    RDFS_MEMBER,
    REACHED_BY,
    RESTRICTION,
    TO_ALL_DIFFERENT,
    is_blank_node,
    is_reached_by,
)
from gateway.terms.name_predicates import plain
from gateway.terms.names import Sought, fold, one_line

_log = logging.getLogger(__name__)

_MOST: Final = 5_000
"""Blank nodes of some types, or names of blank nodes, that are read."""

_NOT_READ: Final = frozenset((*EXPRESSION_PREDICATES, *INTO_EXPRESSIONS, *TO_ALL_DIFFERENT, *ANNOTATED))
"""Predicates by which blank nodes are no nodes."""

_LISTS = "lists and expressions of OWL are counted by their triples, and not by what they say"


@dataclass(frozen=True, slots=True)
class _Found:
    """Blank nodes among some, by key, and whether some of them could not be read."""

    ids: Mapping[Iri, Iri]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Finders:
    """What finds nodes with an IRI.

    Attributes:
        search: Searches by name.
        lister: Lists those of some types.
        blank: Finds out whether there are blank nodes.
        selection: Selects by conditions.
        aggregates: Asks the engine for what it computes.
    """

    search: SearchReader
    lister: EntityLister
    blank: BlankNodeFinder
    selection: SelectionReader
    aggregates: AggregateReader


class BlankSearch:
    """What of the port finds nodes and counts them, with the blank nodes of an endpoint that has ways back to them.

    Args:
        client: Sends the queries.
        rule: Says what is an edge, and what is evidence.
        profile: The profile.
        names: The predicates of names.
        blank: Reads blank nodes.
        lookup: Looks them up.
        others: Find nodes with an IRI.
    """

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        profile: Profile,
        names: NamePredicates,
        blank: BlankNodes,
        lookup: BlankLookup,
        others: Finders,
    ) -> None:
        self._client = client
        self._rule = rule
        self._types = profile.edges.types
        self._most = profile.limits.scan_rows
        self._names = names
        self._blank, self._lookup = blank, lookup
        self._others = others
        self._have_found: WeakSet[Requester] = WeakSet()

    async def find(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find nodes by a part of a name; see `GraphStore.search`."""
        return await self._with_unread_types(await self._find(terms, types, call), types, call)

    async def _find(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        named = self._with_iri(types)
        found = await self._others.search.find(terms, named, call) if named or not types else None
        if not await self._are_read(call):
            return await self._without_blank(found or _none(terms.text), types, call, named=bool(terms.text))
        sought = Sought.of(terms.text)

        def are_any(hits: Sequence[Hit]) -> bool:
            return any(sought.is_in(hit.text) for hit in hits)

        more = await self._named(terms.text, types, call, is_exact=False)
        if found is None:
            return more
        hits = more.hits
        if are_any(found.hits) and not are_any(hits):
            # What has some of the words is of no use beside what has all.
            hits = ()
        return _together(found, replace(more, hits=hits))

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find nodes by a whole name; see `GraphStore.named`."""
        return await self._with_unread_types(await self._find_named(text, types, call), types, call)

    async def _find_named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        named = self._with_iri(types)
        found = await self._others.search.named(text, named, call) if named or not types else None
        if not await self._are_read(call):
            return await self._without_blank(found or _none(text), types, call, named=True)
        more = await self._named(text, types, call, is_exact=True)
        return more if found is None else _together(found, more)

    async def of_types(self, types: Sequence[Iri], call: Call, *, at_most: int | None = None) -> Hits:
        """Return the nodes of some types; see `GraphStore.of_types`."""
        return await self._with_unread_types(await self._all_of_types(types, call, at_most), types, call)

    async def _all_of_types(self, types: Sequence[Iri], call: Call, at_most: int | None) -> Hits:
        named = self._with_iri(types)
        found = await self._others.lister.of_types(named, call, at_most=at_most) if named else None
        if not await self._are_read(call):
            return await self._without_blank(found or _none(""), types, call, named=False)
        more = await self._of_types(types, call, at_most or _MOST)
        return more if found is None else _together(found, more)

    async def _with_unread_types(self, found: Hits, types: Sequence[Iri], call: Call) -> Hits:
        """Return hits of which it is not said that they are all where expressions say types, which no query reads."""
        if not (types and found.exhaustive):
            return found
        reached = [one.removeprefix(REACHED_BY) for one in types if is_reached_by(one)]
        may_miss = await self._blank.say_types(call) or await self._blank.may_say_edges(reached, call)
        return replace(found, exhaustive=not may_miss)

    async def _without_blank(self, found: Hits, types: Sequence[Iri], call: Call, *, named: bool) -> Hits:
        """Return hits of which it is not said that they are all, if blank nodes are nodes that no search finds."""
        if not found.exhaustive or not await self._lookup.are_walked_to(call):
            return found
        return replace(found, exhaustive=not await self.has(types, call, named=named))

    async def has(self, types: Sequence[Iri], call: Call, *, named: bool) -> bool:
        """Return whether a search may have missed blank nodes; see `GraphStore.has_blank_nodes`."""
        if call.requester in self._have_found:
            return False
        return await self._others.blank.has(self._with_iri(types), call, named=named)

    async def select(self, selection: Selection, call: Call) -> Selected:
        """Return the nodes that may fulfil conditions, blank ones too; see `GraphStore.select`."""
        found = await self._select(selection, call)
        if found.mark.whole and await self._may_miss(selection, call):
            fault = EndpointFault("What expressions say is no condition at an endpoint.")
            return replace(found, mark=Mark(fault, at_least=len(found.nodes)))
        return found

    async def _may_miss(self, selection: Selection, call: Call) -> bool:
        """Return whether class expressions may say the types that a query selects by."""
        reached = [one.removeprefix(REACHED_BY) for one in selection.types if is_reached_by(one)]
        if selection.types and (await self._blank.say_types(call) or await self._blank.may_say_edges(reached, call)):
            return True
        walks = [one.walk for one in selection.conditions]
        walks += [selection.order.walk] if selection.order is not None else []
        return any([await self._blank.say_types_on(one, call) for one in walks])

    async def _select(self, selection: Selection, call: Call) -> Selected:
        named = self._with_iri(selection.types)
        # A query follows no list, and knows no blank node that a condition names.
        conditions = [one for one in selection.conditions if not _names_blank_node(one.operand)]
        conditions = [one for one in conditions if not await self._blank.is_read_by_steps(one.walk, call)]
        order = selection.order
        # The first of an order are asked for where no condition is.
        if len(conditions) < len(selection.conditions):
            order = None
        if order is not None and await self._blank.is_read_by_steps(order.walk, call):
            order = None
        asked = replace(selection, types=tuple(named), conditions=tuple(conditions), order=order)
        found = Selected(())
        if named or not selection.types:
            found = await self._others.selection.select(asked, call)
        if not selection.types or not await self._blank.are_followed(call):
            return found if len(named) == len(selection.types) else replace(found, blank=True)
        more = await self._of_types(selection.types, call, _MOST)
        nodes = dict.fromkeys((*found.nodes, *(hit.iri for hit in more.hits)))
        # Of blank nodes that have no ID, the query that selects tells whether some may be wanted.
        may_be_wanted = found.blank is not False or len(named) < len(selection.types)
        is_unread = not more.exhaustive or more.fault is not None
        return replace(found, nodes=tuple(nodes), blank=is_unread and may_be_wanted)

    async def aggregates(self, asked: Sequence[Aggregate], call: Call) -> Mapping[Aggregate, Aggregated]:
        """Return what the engine computes, where it knows all that is asked for; see `GraphStore.aggregates`."""
        walks = {walk for one in asked for walk in (one.walk, None if one.by is None else (one.by,)) if walk}
        for walk in walks:
            if await self._blank.is_read_by_steps(walk, call):
                return dict.fromkeys(asked, UNPROVEN)
        return await self._others.aggregates.aggregates(asked, call)

    async def with_blank(self, counts: Counts, call: Call) -> tuple[BlankShare | None, str]:
        """Add to counts of a graph those of its blank nodes; return how much these are, and why that is not exact."""
        predicates = counts.blank_predicates
        of_lists = [one for one in (*counts.predicates, *predicates) if is_list_part(one)]
        if of_lists and await self._lookup.read_lists(call):
            self._lookup.note_predicates(of_lists)
            for one in of_lists:
                counts.predicates.pop(one, None)
        else:
            of_lists = []
        if not (predicates or counts.blank_types) or await self._blank.way_back(call) in {None, "none"}:
            return None, _LISTS if of_lists else ""
        types = dict(counts.blank_types)
        unread = [one for one in predicates if is_list_part(one) or one in _NOT_READ]
        leading = [one for one in predicates if one not in unread]
        try:
            untyped = await self._untyped(leading, call) if leading else {}
        except Fault as fault:
            _log.info("blank nodes without a type could not be counted: %s", fault)
            return None, _LISTS if of_lists else ""
        are_parts = bool(unread or of_lists) or RESTRICTION in types or await self._lookup.have_lists(call)
        types |= {f"{REACHED_BY}{predicate}": count for predicate, count in untyped.items()}
        types.pop(RESTRICTION, None)
        edges = {one: predicates[one] for one in leading}
        counts.types = {one: counts.types.get(one, 0) + types.get(one, 0) for one in (*counts.types, *types)}
        counts.predicates = {
            one: counts.predicates.get(one, 0) + edges.get(one, 0) for one in (*counts.predicates, *edges)
        }
        counts.blank_types, counts.blank_predicates = {}, {}
        share = BlankShare(sum(edges.values()), sum(counts.predicates.values()), tuple(by_frequency(types)))
        return share, _LISTS if are_parts else ""

    async def _untyped(self, predicates: Sequence[Iri], call: Call) -> Mapping[Iri, int]:
        given: dict[str, Parameter] = {
            "types": self._types,
            "predicates": predicates,
            "scan": self._most,
            **self._rule.evidence_of_nodes,
        }
        rows = (await self._client.rows("blank_nodes/untyped", call, given)).whole()
        return counts_in(rows, "p")

    def _with_iri(self, types: Sequence[Iri]) -> Sequence[Iri]:
        """Return the types that the engine knows: of a graph in this process all."""
        return [one for one in types if not is_reached_by(one)] if self._client.is_remote else types

    async def _are_read(self, call: Call) -> bool:
        """Return whether blank nodes are found; note that the call has looked for them."""
        if not await self._blank.are_followed(call):
            return False
        self._have_found.add(call.requester)
        return True

    async def _named(self, text: str, types: Sequence[Iri], call: Call, *, is_exact: bool) -> Hits:
        how = "names of blank nodes"
        names, codes = self._names, set(self._names.codes)
        try:
            stated, is_cut = await self._names_of_blank((*names.all, *names.codes), call)
        except Fault as fault:
            return Hits((), truncated=False, how=how, exhaustive=False, fault=fault)
        synonyms, wanted = set(names.synonyms), fold(text)
        each: list[Hit] = []
        for key, by, name in stated:
            is_code = by in codes
            if (is_code or is_exact) and fold(name) != wanted:
                continue
            each.append(Hit(key, one_line(name), by in synonyms, "code" if is_code else "name"))
        found = Hits(tuple(dict.fromkeys(each)), is_cut, how, exhaustive=not is_exact)
        if not is_exact:
            all_names = found

            async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:  # noqa: ARG001 - all are read
                return all_names

            found = await compare_names(text, scan, call)
        known = await self._nodes([hit.iri for hit in found.hits], types, call)
        hits = tuple(replace(hit, iri=known.ids[hit.iri]) for hit in found.hits if hit.iri in known.ids)
        return replace(found, hits=hits, exhaustive=found.exhaustive and known.is_whole)

    async def _names_of_blank(
        self, predicates: Sequence[Iri], call: Call
    ) -> tuple[Sequence[tuple[Iri, Iri, str]], bool]:
        """Return names of blank nodes with the predicate of each, and whether some are missing."""
        given = name_parameters(predicates)
        reader = await self._lookup.walks(call)
        if reader is None:
            rows, is_cut = (await self._client.rows("blank_nodes/names", call, given, at_most=_MOST)).part()
            stated = zip(keys_in(rows, "n"), iri("p")(rows), (one.value for one in literal("text")(rows)), strict=True)
            return list(stated), is_cut
        named = plain(predicates)
        near = await AnchorSearch(self._client, reader, self._types).named(named, call)
        found = [
            (key, predicate, end.value)
            for key, content in near.contents.items()
            for predicate, end in content.says
            if predicate in named and isinstance(end, LiteralTerm)
        ]
        return found, not near.is_whole or len(named) < len(predicates)

    async def _of_types(self, types: Sequence[Iri], call: Call, at_most: int) -> Hits:
        how = "all entities of these types"
        reached = [one.removeprefix(REACHED_BY) for one in types if is_reached_by(one)]
        has_lists = bool(reached) and await self._lookup.have_lists(call)
        given: dict[str, Parameter] = {
            "types": self._types,
            "wanted": self._with_iri(types) or [RDF_NIL],
            "reached_by": [reached] if reached else [],
        }
        is_found = True
        try:
            reader = await self._lookup.walks(call)
            if reader is None:
                given |= {"in_lists": [reached] if has_lists else [], "list_types": LIST_TYPES}
                rows, is_cut = (await self._client.rows("blank_nodes/of_types", call, given, at_most=at_most)).part()
                keys = list(keys_in(rows, "n"))
            else:
                near = await AnchorSearch(self._client, reader, self._types).of_types(types, given, call)
                keys, is_cut, is_found = [*near.contents], False, near.is_whole
        except Fault as fault:
            return Hits((), truncated=False, how=how, exhaustive=False, fault=fault)
        are_members_known = True
        if has_lists and reader is None:
            members, are_members_known = await self._lookup.members(keys, reached, call)
            keys += members
        known = await self._nodes(keys, types, call)
        hits = tuple(Hit(node, "", is_synonym=False) for node in dict.fromkeys(known.ids.values()))
        # Lists that are nodes are not looked for by what leads to their members.
        is_whole = known.is_whole and is_found and are_members_known and not is_cut
        is_whole = is_whole and not (has_lists and (RDFS_MEMBER in reached or reader is not None))
        return Hits(hits, is_cut, how, exhaustive=is_whole)

    async def _nodes(self, keys: Sequence[Iri], types: Collection[Iri], call: Call) -> _Found:
        """Return the IDs of those blank nodes that are nodes, of some types if there are any."""
        ids, is_whole = await self._lookup.ids(list(dict.fromkeys(keys)), call)
        if types and ids:
            facts = await self._blank.nodes(list(ids.values()), call, names=False)
            is_whole = is_whole and all(one.mark.whole for one in facts.values())
            ids = {key: node for key, node in ids.items() if not frozenset(types).isdisjoint(facts[node].types)}
        return _Found(ids, is_whole)


def _names_blank_node(operand: Operand | None) -> bool:
    match operand:
        case Nodes(iris=iris):
            return any(map(is_blank_node, iris))
        case Alternatives(members=members):
            return any(map(_names_blank_node, members))
        case _:
            return False


def _none(text: str) -> Hits:
    """Return that no node was found of types that blank nodes alone have, which were not looked for."""
    return Hits((), truncated=False, how="names" if text else "all entities of these types", exhaustive=False)


def _together(found: Hits, more: Hits) -> Hits:
    return replace(
        found,
        hits=tuple(dict.fromkeys((*found.hits, *more.hits))),
        truncated=found.truncated or more.truncated,
        exhaustive=found.exhaustive and more.exhaustive,
        absent=tuple(word for word in found.absent if word in more.absent),
        fault=found.fault or more.fault,
    )
