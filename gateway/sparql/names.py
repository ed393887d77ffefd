"""The names of a graph, all of them page by page, and its nodes without one."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import itemgetter

from gateway.errors import DeadlinePassed, EndpointFault, Fault, QueryTooLong
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.store import EntityTypes, Name, NamesPage
from gateway.graph.values import HitKind, Iri, NamelessNodes, Schema
from gateway.sparql.client import SparqlClient
from gateway.sparql.name_finder import NamePredicateFinder
from gateway.sparql.nodes import NamePredicates, NodeReader, name_parameters
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema_counts import counts_in
from gateway.sparql.sorted_rows import Ask, SortedRows
from gateway.sparql.table import Table, binding, integer, iri, literal, read
from gateway.sparql.template import Parameter
from gateway.terms.iri import LOCAL_NAME, OWN, is_sendable
from gateway.terms.local_names import local_part, readable
from gateway.terms.name_predicates import joined_names, pairs_among, plain, rows_of
from gateway.terms.names import folded_words, one_line
from gateway.transport.base import TextRow, TextRows

_Text = tuple[str, str]
"""A name and its language."""

_ENTITY, _PREDICATE, _NAME, _COUNT = iri("n"), iri("p"), literal("v"), integer("count")


class SparqlNameReader:
    """Lists the names of a graph; see `gateway.graph.store.NameReader`."""

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        nodes: NodeReader,
        name_predicates: NamePredicates,
        finder: NamePredicateFinder,
    ) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._finder = finder
        self._named, self._nameless = SortedRows(), SortedRows()
        self._without_names: frozenset[Iri] = frozenset()

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates of names, synonyms and codes; in this process also what stands for joined and local names."""
        names = self._name_predicates
        return (*names.all, *names.codes, *([LOCAL_NAME] if self._client.gives_texts else []))

    async def find_predicates(self, call: Call) -> None:
        """Detect which predicates name nodes."""
        await self._finder.find(call)

    def use_predicates(self, schema: Schema) -> None:
        """Use what an earlier run found out, after the predicates of the profile."""
        names = (*self._name_predicates.configured, *(schema.names or ()))
        others = schema.languages, schema.descriptions, schema.name_parts
        self._name_predicates.use(names, schema.synonyms, schema.codes, *others)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever the predicates change."""
        self._name_predicates.on_change(listener)

    async def counts(self, predicates: Sequence[Iri], allowance: Callable[[], Call]) -> Sequence[int]:
        """Return how many entities have a name by each of some predicates."""
        # Of many predicates that may name nodes a graph has few; in this process one query tells which.
        self._without_names = await self._absent(predicates, allowance()) if self._client.gives_texts else frozenset()
        absent = self._without_names
        return [0 if one in absent else await self._count(one, allowance()) for one in predicates]

    async def _count(self, predicate: Iri, call: Call) -> int:
        if predicate == LOCAL_NAME:
            return await self._nameless.count(*await self._about_nameless(call))
        return await self._counted("names_count", name_parameters([predicate]), call)

    async def _absent(self, predicates: Sequence[Iri], call: Call) -> frozenset[Iri]:
        """Return the predicates that no triple has."""
        asked = [one for one in plain(predicates) if one != LOCAL_NAME]
        if not asked:
            return frozenset()
        found = await self._client.rows(
            "search/name_count", call, {"predicates": asked, "walks": [], "triples": 1, "most": 1}
        )
        return frozenset(asked).difference(_PREDICATE(found.whole()))

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return the names of a predicate that come after an entity; the first ones where that is empty."""
        if predicate == LOCAL_NAME:
            return await self._local_names(after, call)
        if self._client.gives_texts:
            if predicate in self._without_names:
                return NamesPage((), None)
            names = name_parameters([predicate])
            ask = partial(self._rows_after, "names_all", names, call)
            part, are_more = await self._named.page((predicate,), after, ask)
            named = [(entity, (text, language)) for entity, text, language in part]
            return NamesPage(await self._names(predicate, named, call), part[-1][0] if are_more else None)
        given: dict[str, Parameter] = {**name_parameters([predicate]), "after": [after] * bool(after)}
        rows, more = (await self._client.rows("names_page", call, given)).part()
        found = await in_thread(call, partial(_found, rows), unless=len(rows) <= FEW_FOR_A_THREAD)
        if any(entity == after for entity, _ in found):
            raise EndpointFault("The endpoint's pages of names do not go on where they should.")
        if not more:
            return NamesPage(await self._names(predicate, found, call), None)
        # Of the last entity there may be more names than came.
        last = found[-1][0]
        whole = [(entity, text) for entity, text in found if entity != last]
        if whole:
            return NamesPage(await self._names(predicate, whole, call), whole[-1][0])
        texts, missing = await self._of_one(last, predicate, call)
        return NamesPage(await self._names(predicate, [(last, text) for text in texts], call), last, missing)

    async def _rows_after(self, template: str, given: Mapping[str, Parameter], call: Call, after: Iri) -> TextRows:
        return await self._client.texts(template, call, given, lambda entity: entity > after)

    async def _about_nameless(self, call: Call) -> tuple[object, Ask]:
        """Return the question for joined names and for the nodes without any name, and what asks it."""
        await self._rule.refresh(call)
        names, pairs = self._name_predicates.all, pairs_among(self._name_predicates.parts)
        evidence = self._rule.scanned_evidence_of_nodes
        given: dict[str, Parameter] = {"names": plain(names), "walks": rows_of(names), "no_edges": self._rule.excepted}

        async def ask(after: Iri) -> TextRows:
            nodes = await self._client.texts(
                "nameless_all", call, {**given, **evidence}, lambda node: node > after and not node.startswith(OWN)
            )
            joined = [await self._joined(pair, after, call) for pair in pairs]
            few = len(nodes.rows) + sum(len(one) for one, _ in joined) <= FEW_FOR_A_THREAD
            found, end = await in_thread(call, partial(_together, nodes, joined), unless=few)
            # Many given names may come before the first node that has both.
            return found if found.rows or end is None else await ask(end)

        return (*names, *pairs, *evidence.values()), ask

    async def _joined(self, pair: tuple[Iri, Iri], after: Iri, call: Call) -> _Joined:
        """Return the nodes with a given and a family name, and these as one, also where a node has another name."""
        given, family = [
            await self._rows_after("names_all", name_parameters([predicate]), call, after) for predicate in pair
        ]
        few = len(given.rows) + len(family.rows) <= FEW_FOR_A_THREAD
        return await in_thread(call, partial(_joined_rows, given, family), unless=few)

    async def _local_names(self, after: Iri, call: Call) -> NamesPage:
        """Return joined names, and the local names of nodes without any name."""
        question, ask = await self._about_nameless(call)
        part, are_more = await self._nameless.page(question, after, ask)

        def names(deadline: Deadline) -> tuple[Name, ...]:
            return tuple(
                name
                for node, joined in deadline.checking(part)
                for name in ([Name(node, joined, is_synonym=False)] if joined else _local_names(node))
            )

        found = await in_thread(call, names, unless=len(part) <= FEW_FOR_A_THREAD)
        return NamesPage(found, part[-1][0] if are_more else None)

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        return EntityTypes.of(await self._nodes.facts(entities, call, names=False))

    async def _of_one(self, entity: Iri, predicate: Iri, call: Call) -> tuple[Sequence[_Text], int]:
        """Return all names of an entity that has more than a page of them, and how many are missing."""
        about: dict[str, Parameter] = {"node": entity, **name_parameters([predicate])}
        texts: dict[_Text, None] = {}
        after: list[str] = []
        more = True
        while more:
            rows, more = (await self._client.rows("names_of", call, {**about, "after": after})).part()
            page = await in_thread(call, partial(_texts, rows), unless=len(rows) <= FEW_FOR_A_THREAD)
            if more and page.keys() <= texts.keys():
                raise EndpointFault("A page of the names of one entity brought none that was not known.")
            texts |= page
            after = [text for text, _ in page][-1:]
        different = {text for text, _ in texts}
        # An engine whose order is not its comparison would skip names between two pages; the number shows it.
        return list(texts), abs(await self._counted("names_of_count", about, call) - len(different))

    async def _counted(self, template: str, parameters: dict[str, Parameter], call: Call) -> int:
        rows = (await self._client.rows(template, call, parameters)).whole()
        # Nothing to count is one row on some engines, and none on others.
        return next(iter(_COUNT(rows)), 0)

    async def _names(self, predicate: Iri, found: Sequence[tuple[Iri, _Text]], call: Call) -> tuple[Name, ...]:
        is_synonym = predicate in self._name_predicates.synonyms
        kind: HitKind = "code" if predicate in self._name_predicates.codes else "name"

        def names(deadline: Deadline) -> tuple[Name, ...]:
            different = dict.fromkeys(deadline.checking(found))
            return tuple(
                Name(entity, one_line(text), is_synonym, language, kind, is_whole=kind == "code")
                for entity, (text, language) in different
            )

        return await in_thread(call, names, unless=len(found) <= FEW_FOR_A_THREAD)


def _local_names(node: Iri) -> Iterator[Name]:
    """Yield what a node without a name is found by: its local name as words, and as one where that has other words."""
    local = local_part(node)
    words = readable(local)
    if words:
        yield Name(node, words, is_synonym=False, kind="id")
    if not words or folded_words(words) != folded_words(local):
        yield Name(node, local or node, is_synonym=False, kind="id", is_whole=True)


_Joined = tuple[list[TextRow], Iri | None]
"""Nodes with a joined name, in order; and the last node as far as which these are all, None where they are all."""


def _joined_rows(given: TextRows, family: TextRows, deadline: Deadline) -> _Joined:
    firsts, lasts = _by_entity(given.rows), _by_entity(family.rows)
    last = min((one.rows[-1][0] for one in (given, family) if one.are_more), default=None)
    entities = (entity for entity in firsts if entity in lasts and (last is None or entity <= last))
    rows: list[TextRow] = []
    for entity in deadline.checking(entities):
        rows += ((entity, name) for name in joined_names(firsts[entity], lasts[entity]))
    return rows, last


def _together(nodes: TextRows, joined: Sequence[_Joined], deadline: Deadline) -> tuple[TextRows, Iri | None]:
    """Return nodes with their joined names, and those without any, in order; and their end if not all are read."""
    have_one = {entity for rows, _ in joined for entity, _ in rows}
    without = ((node, "") for (node,) in nodes.rows if node not in have_one)
    ends = [last for _, last in joined if last is not None]
    if nodes.are_more:
        ends.append(nodes.rows[-1][0])
    end = min(ends, default=None)
    merged = heapq.merge(*(rows for rows, _ in joined), without, key=itemgetter(0))
    rows = dict.fromkeys(row for row in deadline.checking(merged) if end is None or row[0] <= end)
    # Of more nodes than are read together it is not known how many have both a joined name and no other one.
    total = len({entity for entity, _ in rows}) if end is None else nodes.total + len(have_one)
    return TextRows([*rows], total, end is not None), end


def _by_entity(rows: Iterable[TextRow]) -> dict[Iri, list[_Text]]:
    found: dict[Iri, list[_Text]] = {}
    for entity, text, language in rows:
        found.setdefault(entity, []).append((text, language))
    return found


def _texts(rows: Table, deadline: Deadline) -> dict[_Text, None]:
    return {(text.value, text.language): None for text in deadline.checking(_NAME(rows))}


def _found(rows: Table, deadline: Deadline) -> list[tuple[Iri, _Text]]:
    return [(entity, (text.value, text.language)) for entity, text in deadline.checking(read(rows, _ENTITY, _NAME))]


_log = logging.getLogger(__name__)

_FEW_TRIPLES = 20_000
"""Triples of a graph whose nodes are all counted at once: that costs hardly more than to look at some of them."""

_TRIPLES = 200_000
_TRIPLES_IN_PROCESS = 2_000_000
"""Triples of a graph, at an endpoint and in this process, whose nodes are all counted where each of some has a name.

It takes seconds, and only it shows that all have one.
"""

_PREDICATES = 2_000
"""Predicates in one query, of a graph whose nodes are all counted."""

_SAMPLED_PREDICATES = 20
_SAMPLED_EDGES = 10
"""The most frequent predicates of a larger graph, and edges of each, whose ends are a sample of its nodes."""

_ATTEMPTS = 2
"""Counts of one graph that may fail, before no more are tried."""


class NamelessCounter:
    """Counts the nodes of one graph that have no name: in a sample, and if there are none in it, among all nodes.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        nodes: Reads names.
        name_predicates: The predicates of names.
        blank_are_nodes: Whether the profile has blank nodes as nodes.
    """

    def __init__(
        self,
        client: SparqlClient,
        rule: EdgeRule,
        nodes: NodeReader,
        name_predicates: NamePredicates,
        *,
        blank_are_nodes: bool,
    ) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._blank_are_nodes = blank_are_nodes
        self._counted: NamelessNodes | None = None
        self._counted_for: tuple[object, ...] = ()
        self._failed = 0
        self._counting = asyncio.Lock()

    async def count(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name, counted once for each schema; None if that is not known."""
        # A sample would be charged to a quota that traversals need.
        if self._client.flow.quota.is_limited:
            return None
        async with self._counting:
            names = self._name_predicates
            wanted = (schema.version, schema.exact, *names.all, *names.pairs_compared)
            if self._counted_for != wanted:
                self._counted_for, self._counted, self._failed = wanted, None, 0
            if self._counted is None and self._failed < _ATTEMPTS:
                try:
                    with call.reserving(requests=0.5, time=0.5):
                        self._counted = await self._count(schema, call)
                except Fault as fault:
                    # What took too long would take as long again.
                    self._failed += _ATTEMPTS if isinstance(fault, DeadlinePassed) else 1
                    _log.info("the nodes without a name could not be counted: %s", fault)
            return self._counted

    def forget(self) -> None:
        """Forget what was counted."""
        self._counted_for = ()

    async def _count(self, schema: Schema, call: Call) -> NamelessNodes | None:
        await self._rule.refresh(call)
        triples = schema.basis.triples if schema.exact or not self._client.is_remote else None
        if triples is None or triples > _FEW_TRIPLES:
            some = await self._sampled(schema, call)
            if self._is_large(triples) or (some is not None and some.count):
                return some
        return await self._all_counted(schema, call)

    def _is_large(self, triples: int | None) -> bool:
        """Return whether a graph is too large for counting all nodes; one in this process may not know its size yet."""
        return self._client.is_remote if triples is None else triples > self._most

    @property
    def _most(self) -> int:
        return _TRIPLES if self._client.is_remote else _TRIPLES_IN_PROCESS

    async def _all_counted(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Count all nodes; look at some if there are too many."""
        predicates = [term.iri for term in schema.predicates]
        if not schema.exact:
            rows = (await self._client.rows("schema/totals", call, {"scan": self._most + 1})).whole()
            totals = counts_in(rows, "p")
            predicates = [one for one in totals if self._is_edge(one)]
            if sum(totals.values()) > self._most:
                return await self._sampled(schema, call)
        if len(predicates) > _PREDICATES:
            return await self._sampled(schema, call)
        if not predicates:
            return NamelessNodes(0, 0, exact=True)
        are_wanted = self._client.is_remote and self._blank_are_nodes
        are_counted = are_wanted and schema.blank_share is not None
        found = await self._counted_among(predicates, call, blank_nodes=are_counted)
        # Where no question leads back to blank nodes, they may be nodes without a name all the same.
        return replace(found, exact=False) if are_wanted and schema.blank and not found.count else found

    def _is_edge(self, predicate: Iri) -> bool:
        return predicate not in self._rule.excepted and self._rule.allows(predicate) and is_sendable(predicate)

    async def _counted_among(self, predicates: Sequence[Iri], call: Call, *, blank_nodes: bool) -> NamelessNodes:
        """Count all ends of the edges with some predicates; blank nodes are nodes where that is said."""
        given: dict[str, Parameter] = {
            "predicates": predicates,
            "names": plain(self._name_predicates.all),
            "walks": rows_of(self._name_predicates.all),
            "pairs": self._name_predicates.pairs_compared,
            "most": self._most,
            "blank_nodes": [True] * blank_nodes,
            "excepted": self._rule.excepted,
            **self._rule.scanned_evidence,
            **self._rule.ends,
        }
        try:
            rows = (await self._client.rows("schema/nameless", call, given)).whole()
        except QueryTooLong:
            if not given["pairs"]:
                raise
            self._name_predicates.join_none()
            rows = (await self._client.rows("schema/nameless", call, {**given, "pairs": []})).whole()
        # Nothing to count is an empty group on some engines, and no row on others.
        counts = dict(read(binding(rows, "named"), integer("named"), integer("count")))
        return NamelessNodes(counts.get(0, 0), sum(counts.values()), exact=True)

    async def _sampled(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Look at the ends of some edges of the predicates that the schema lists first; None if it lists none."""
        predicates = [term.iri for term in schema.predicates[:_SAMPLED_PREDICATES]]
        if not predicates:
            return None
        given: dict[str, Parameter] = {"predicates": predicates, "edges": _SAMPLED_EDGES, **self._rule.ends}
        # Any of them will do.
        rows, _ = (await self._client.rows("schema/ends", call, given)).part()
        ends: Iterable[Iri] = dict.fromkeys(chain.from_iterable(read(rows, iri("s"), iri("o"))))
        ends = [end for end in ends if is_sendable(end)]
        if self._rule.may_have_evidence:
            ends = sorted(await self._nodes.without_evidence(ends, call))
        has_name = await self._nodes.have_names(ends, call)
        return NamelessNodes(sum(not named for named in has_name.values()), len(has_name), exact=False)
