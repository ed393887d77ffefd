"""The names of a graph: which predicates name its nodes, all names page by page, and the nodes without one."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from gateway.errors import DeadlinePassed, EndpointFault, Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.store import EntityTypes, Name, NamesPage
from gateway.graph.values import Iri, NamelessNodes, Schema
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates, NodeReader
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema_counts import counts_in
from gateway.sparql.table import Table, binding, integer, iri, literal, read
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_sendable, local_name
from gateway.terms.literals import Literal
from gateway.terms.names import compact

_NEIGHBOURING_TRIPLES = 2_000
"""Neighbouring triples whose subjects are taken."""

_NODES = 100
"""Subjects of one place whose literals are read."""

_FEW_NODES = 20
"""Nodes at most whose literals are read at a slow endpoint."""

_SECOND_PLACE = 30_000
"""Triples before the second place in a graph of unknown size."""

_FARTHEST = 500_000
"""Triples before a place at most: engines walk there."""

_NAME_WORDS = re.compile(r"(name|title|label|term|caption|heading)$|^(name|title|label)")
"""Folded local names of predicates for names. For other languages, only the values count."""

_SHORTEST, _LONGEST = 2, 120
_NOT_A_NAME = re.compile(r"\w+://\S+|\S+@\S+|[\d\W_]+|[0-9a-fA-F-]{16,}")
"""An address, a number, a date or a hash."""

_NAMED = 0.2
"""Share of the nodes that must have a name for a predicate to be the one that names them."""

_DISTINCT = 0.5
"""Share of the values that must differ; a status or a category is the same for many nodes."""

_HINT = 2.0
"""How much more a predicate counts whose local name has such a word."""

Text = tuple[Iri, Iri, Literal]
"""A node, a predicate and a literal."""


class NamePredicateFinder:
    """Finds the name predicates of a graph."""

    def __init__(
        self, client: SparqlClient, nodes: NodeReader, name_predicates: NamePredicates, profile: Profile
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._roles = profile.roles
        self._is_pinned = "name" in profile.roles.model_fields_set

    async def find(self, call: Call, triples: int | None = None, *, is_slow: bool = False) -> tuple[Iri, ...] | None:
        """Return the name predicates of the graph, the best first; None if they could not be found.

        Args:
            call: The call that asks.
            triples: The triples of the graph, if that is known.
            is_slow: Whether few nodes of one place have to be enough.

        If the usual ones name hardly any node, another one may; a name predicate in the profile overrides both. An
        engine may store its triples by predicate, so neighbouring triples only choose the nodes, none of them behind
        the last of `triples`; a predicate is judged by all literals of these nodes. A usual name of a node comes before
        another one, so no sample decides between the two.
        """
        usual = self._roles.name
        if self._is_pinned:
            return await self._used(usual, call)
        used, texts = await asyncio.gather(self._used(usual, call), self._texts(triples, call, is_slow=is_slow))
        if used is None or texts is None:
            return None
        other = likely_name_predicate(texts, usual, (*self._roles.synonym, *self._roles.description))
        self._name_predicates.use((*usual, *other))
        return (*used, *other)

    async def _used(self, predicates: tuple[Iri, ...], call: Call) -> tuple[Iri, ...] | None:
        try:
            answer = await self._client.rows("schema/used_names", call, {"predicates": predicates})
            used = set(iri("p")(answer.whole()))
        except Fault:
            return None
        return tuple(iri for iri in predicates if iri in used)

    async def _texts(self, triples: int | None, call: Call, *, is_slow: bool) -> list[Text] | None:
        """Return all literals of some nodes; None if they could not be read."""
        places = [0] if is_slow else _places(triples)
        try:
            subjects = await asyncio.gather(*(self._subjects_after(place, call) for place in places))
            nodes = list(dict.fromkeys(chain.from_iterable(subjects)))[: _FEW_NODES if is_slow else None]
            described = await self._nodes.metadata(nodes, call, blank_nodes=False, precise=False) if nodes else {}
        except Fault:
            return None
        whole = {node: one.properties for node, one in described.items() if one.mark.whole}
        if nodes and not whole:
            return None
        return [
            (node, predicate, value)
            for node, properties in whole.items()
            for predicate, values in properties.items()
            for value in values
            if isinstance(value, Literal) and is_sendable(predicate)
        ]

    async def _subjects_after(self, place: int, call: Call) -> Sequence[Iri]:
        """Return some subjects of the triples after a place, as far apart as possible."""
        # Any subjects will do.
        rows, _ = (
            await self._client.rows("schema/subjects", call, {"skip": place, "scan": _NEIGHBOURING_TRIPLES})
        ).part()
        askable = [subject for subject in iri("s")(rows) if is_sendable(subject)]
        return askable[:: max(1, -(-len(askable) // _NODES))]


def _places(triples: int | None) -> list[int]:
    """Return the number of triples before each place: the quarters of a graph whose size is known."""
    if triples is None:
        return [0, _SECOND_PLACE]
    if triples <= _NEIGHBOURING_TRIPLES:
        return [0]
    return sorted({min(triples * quarter // 4, _FARTHEST) for quarter in range(4)})


def likely_name_predicate(texts: Sequence[Text], usual: Iterable[Iri], excepted: Iterable[Iri]) -> tuple[Iri, ...]:
    """Return the predicate that names the nodes of a graph whose usual ones name hardly any; else nothing.

    Args:
        texts: Literals of some nodes, all that each of them has.
        usual: Predicates that carry names in most graphs.
        excepted: Predicates that mean something else: descriptions, synonyms.
    """
    nodes = {node for node, _, _ in texts}
    usual = set(usual)
    named = {node for node, predicate, _ in texts if predicate in usual}
    if not nodes or len(named) >= _NAMED * len(nodes):
        return ()
    left_out = usual | set(excepted)
    values: dict[Iri, dict[Iri, Literal]] = defaultdict(dict)
    # Of several values the same one counts in whatever order the engine sends them.
    for node, predicate, name in sorted(texts, key=lambda text: (text[0], text[1], text[2].value, text[2].language)):
        if predicate not in left_out:
            values[predicate].setdefault(node, name)
    scores = {predicate: _score(predicate, by_node, len(nodes)) for predicate, by_node in values.items()}
    best = sorted((-score, predicate) for predicate, score in scores.items() if score)
    return (best[0][1],) if best else ()


def _score(predicate: Iri, by_node: Mapping[Iri, Literal], nodes: int) -> float:
    """Return how well a predicate names nodes; 0 if it does not."""
    named = len(by_node) / nodes
    likely = [literal for literal in by_node.values() if _may_be_name(literal)]
    distinct = len({literal.value for literal in likely})
    has_name_word = bool(_NAME_WORDS.search(compact(local_name(predicate))))
    if named < _NAMED or distinct < _DISTINCT * len(by_node) or len(by_node) < (1 if has_name_word else 3):
        return 0.0
    return named * distinct / len(by_node) * (_HINT if has_name_word else 1.0)


def _may_be_name(literal: Literal) -> bool:
    text = literal.value.strip()
    return (
        not literal.datatype
        and _SHORTEST <= len(text) <= _LONGEST
        and _NOT_A_NAME.fullmatch(text) is None
        and any(map(str.isalpha, text))
    )


_Text = tuple[str, str]
"""A name and its language."""

_ENTITY, _NAME, _COUNT = iri("n"), literal("v"), integer("count")


class SparqlNameReader:
    """Lists the names of a graph; see `gateway.graph.store.NameReader`."""

    def __init__(
        self, client: SparqlClient, nodes: NodeReader, name_predicates: NamePredicates, finder: NamePredicateFinder
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._finder = finder

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates of names and of synonyms."""
        return self._name_predicates.all

    async def find_predicates(self, call: Call) -> None:
        """Detect which predicates name nodes."""
        await self._finder.find(call)

    def use_predicates(self, found: Sequence[Iri]) -> None:
        """Use the name predicates that an earlier run detected, after those of the profile."""
        self._name_predicates.use((*self._name_predicates.configured, *found))

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever the predicates change."""
        self._name_predicates.on_change(listener)

    async def count(self, predicate: Iri, call: Call) -> int:
        """Return how many entities have a name by a predicate."""
        return await self._counted("names_count", {"predicate": predicate}, call)

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return the names of a predicate that come after an entity; the first ones where that is empty."""
        given: dict[str, Parameter] = {"predicate": predicate, "after": [after] * bool(after)}
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

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        return EntityTypes.of(await self._nodes.facts(entities, call, names=False))

    async def _of_one(self, entity: Iri, predicate: Iri, call: Call) -> tuple[Sequence[_Text], int]:
        """Return all names of an entity that has more than a page of them, and how many are missing."""
        about: dict[str, Parameter] = {"node": entity, "predicate": predicate}
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
        is_synonym = predicate not in self._name_predicates.names

        def names(deadline: Deadline) -> tuple[Name, ...]:
            different = dict.fromkeys(deadline.checking(found))
            return tuple(Name(entity, text, is_synonym, language) for entity, (text, language) in different)

        return await in_thread(call, names, unless=len(found) <= FEW_FOR_A_THREAD)


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
    """Counts the nodes of one graph that have no name: in a sample, and if there are none in it, among all nodes."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader, name_predicates: NamePredicates
    ) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._name_predicates = name_predicates
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
            wanted = (schema.version, schema.exact, *self._name_predicates.all)
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
        return await self._counted_among(predicates, call) if predicates else NamelessNodes(0, 0, exact=True)

    def _is_edge(self, predicate: Iri) -> bool:
        return predicate not in self._rule.excepted and self._rule.allows(predicate) and is_sendable(predicate)

    async def _counted_among(self, predicates: Sequence[Iri], call: Call) -> NamelessNodes:
        """Count all ends of the edges with some predicates."""
        given: dict[str, Parameter] = {
            "predicates": predicates,
            "names": self._name_predicates.all,
            "most": self._most,
            "excepted": self._rule.excepted,
            **self._rule.evidence,
            **self._rule.ends,
        }
        rows = (await self._client.rows("schema/nameless", call, given)).whole()
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
