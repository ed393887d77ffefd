"""Finds entities for `search_entities`: by the words in their names, the best first, or all of some types."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gateway import messages
from gateway.answers.metadata import MetadataBuilder
from gateway.arguments import MAX_QUERY, SearchEntities
from gateway.errors import Fault, InputError, quoted
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, Hit, HitDetails, Hits, Iri, NodeFacts, SearchTerms
from gateway.schema.cache import SchemaCache
from gateway.schema.types import UNKNOWN, UNTYPED, Subclasses
from gateway.schema.view import Chosen, SchemaView, first_warnings
from gateway.settings.profile import Profile
from gateway.terms.iri import is_iri, is_sendable
from gateway.terms.local_names import local_part, readable
from gateway.terms.names import has_symbol, words_of
from gateway.terms.prefixes import PrefixMap
from gateway.tools.local_names import with_local_name
from gateway.tools.ranking import (
    MOST_EDGES,
    WEIGHED,
    RankedHit,
    Weights,
    by_id,
    near_guesses,
    ordered_by_weight,
    ranked,
    weights_of,
)

NO_HITS = Hits((), truncated=False, how="nothing: none of the types asked for is known here", exhaustive=False)

_NOT_SEARCHED = replace(NO_HITS, how="not at all")

_SMALL = 50_000
_LISTED = 5_000
"""Triples of a graph of which local names are looked at for guesses, and nodes."""

_FEW_HITS = 100
_FEW_LETTERS = 50_000
"""Hits, and letters of their names by those of a query, that are compared with it in a millisecond or two."""

_MOST_GUESSES = 3

USUAL = 10
"""Hits that are shown unless the caller says how many."""

_USUAL_IF_EXACT = 5
"""The same, where some name is the query: the others are then rarely meant. All whose name it is are shown."""

_OF_SEVERAL = 2
"""Of each of several queries one in so many is shown."""

_MOST_MEANT = 5
"""Entities that are shown by what their names mean, unless the caller says how many."""

_AT_ONCE = 5
"""Queries of one call that are searched side by side: each sends requests of its own."""

_NO_WEIGHTS = Weights()

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for.

    Attributes:
        terms: The words of names.
        view: The schema.
        is_filtered: Whether the caller gave types.
        types: Those of them that are known.
        wanted: These with their subclasses.
        warnings: Why entities may be missing, as it becomes known.
        are_subclasses_whole: Whether all subclasses of the types are known.
    """

    terms: SearchTerms
    view: SchemaView
    is_filtered: bool
    types: Chosen
    wanted: frozenset[str]
    warnings: list[str]
    are_subclasses_whole: bool = True

    @property
    def are_types_whole(self) -> bool:
        """Whether all types are known that the caller means."""
        return self.types.whole and self.are_subclasses_whole

    def type_of(self, facts: NodeFacts) -> str:
        """Return the ID of the type that a hit shows: where types are given, the one by which it was selected."""
        chooser = self.view.chooser
        return chooser.written(chooser.selected(facts, self.types.iris, self.wanted))


@dataclass(slots=True)
class Found:
    """What the graph, or an index, found.

    Attributes:
        question: What was looked for.
        hits: All of it.
        best: Entities, the best first.
        fitting: Those of them whose names have the words.
        shown: Those that are shown, by rank: of those whose names fit, else of those that are near.
        ends: For each that is shown, how many ranks end with it, those of entities that are gone included.
        meant: Other entities that are shown, whose names have a meaning near to that of the query.
        weights: How much some of the best matter in the graph.
        gone: How many of those to show the graph does not have any more.
        fault: Why one of several queries could not be searched.
        are_names_compared: Whether every name was compared, if not every local name.
    """

    question: Question
    hits: Hits = NO_HITS
    best: Sequence[RankedHit] = ()
    fitting: Sequence[RankedHit] = ()
    shown: Sequence[RankedHit] = ()
    ends: Sequence[int] = ()
    meant: Sequence[RankedHit] = ()
    weights: Weights = _NO_WEIGHTS
    gone: int = 0
    fault: Fault | None = None
    are_names_compared: bool = False


@dataclass(frozen=True, slots=True)
class EntityFacts:
    """What the graph knows about the entities that an answer shows.

    Attributes:
        facts: Types, names and descriptions.
        silent: Those about which this part of a split graph says nothing.
        degrees: How many edges they have, as far as that is known.
    """

    facts: Mapping[Iri, NodeFacts]
    silent: frozenset[Iri]
    degrees: Mapping[Iri, Degree] = field(default_factory=dict)


class EntityFinder:
    """Finds the entities of one graph."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache) -> None:
        self._store = store
        self._other_graph = profile.endpoint.other_graph
        self._schema_cache = schema_cache
        self._prefixes = prefixes
        self._has_api = bool(profile.search.api)
        self._subclasses = Subclasses(store, prefixes)
        self._metadata_builder = MetadataBuilder(profile, prefixes)

    async def questions(self, arguments: SearchEntities, call: Call) -> tuple[list[Question], list[str]]:
        """Return what is looked for, with the subclasses of the types, and what is left out of several queries.

        Raises:
            InputError: No query has a word or a symbol, or a type is none of the graph's.
            Fault: The schema could not be read.
        """
        several, warnings = _several(arguments) if arguments.queries else ([_search_terms(arguments)], [])
        view, types = await self._requested_types(arguments.node_types or (), call)
        wanted, doubts = await self._subclasses.widened("node_types", types.iris, call)
        return [
            Question(terms, view, bool(arguments.node_types), types, wanted, [*doubts], not doubts) for terms in several
        ], warnings

    async def found(self, question: Question, call: Call) -> Found:
        """Return the entities that fit, and names that are near; warn of those that are left out."""
        terms, wanted = question.terms, question.wanted
        with call.tally.stage("search"):
            hits = await self._hits(terms, wanted, call) if wanted or not question.is_filtered else NO_HITS
            are_names_compared = hits.exhaustive
            if hits.exhaustive and not hits.local_names:
                hits = await self._without_local_names(hits, question.view, call)
        sendable = [hit for hit in hits.hits if is_sendable(hit.iri)]
        if len(sendable) < len(hits.hits):
            question.warnings.append(messages.names_left_out(len(hits.hits) - len(sendable)))
        best = await in_thread(
            call,
            lambda end: ranked(end.checking(sendable, _FEW_HITS), terms.text) if terms.text else by_id(sendable),
            unless=_are_few(sendable, terms.text),
        )
        if UNTYPED in question.types.iris:
            best = await self._of_types(best, wanted, question.view, call)
        fitting = [one for one in best if not one.is_guess]
        return Found(question, hits, best, fitting, are_names_compared=are_names_compared)

    async def _with_local_name(self, question: Question, call: Call) -> list[RankedHit]:
        """Return guesses: the nodes of which a query is the whole local name, and which have another name."""
        query = question.terms.text.strip()
        try:
            with call.tally.stage("search"):
                nodes = await with_local_name(query, self._prefixes, self._store, call)
        except Fault:
            return []
        found = by_id(Hit(iri, query, is_synonym=False, kind="id") for iri in nodes)
        found = [RankedHit(one.hit, "id") for one in found]
        return await self._of_types(found, question.wanted, question.view, call) if question.is_filtered else found

    async def _by_local_names(self, question: Question, call: Call) -> Sequence[RankedHit]:
        """Return guesses: nodes of a small graph whose local names have the words that no name has."""
        schema, query = question.view.schema, question.terms.text
        if not schema.exact or not 0 < (schema.basis.triples or 0) <= _SMALL:
            return []
        types = question.wanted if question.is_filtered else {term.iri for term in schema.types}
        wanted = sorted(filter(is_iri, types))
        try:
            with call.tally.stage("search"):
                listed = (await self._store.of_types(wanted, call, at_most=_LISTED)).hits if wanted else ()
        except Fault:
            return []
        names = ((hit.iri, readable(local_part(hit.iri))) for hit in listed if is_sendable(hit.iri))
        hits = [Hit(iri, name, is_synonym=False, kind="id") for iri, name in names if name]

        def near(end: Deadline) -> list[RankedHit]:
            best = ranked(end.checking(hits, _FEW_HITS), query)
            return [one for one in best if not one.is_guess] or near_guesses(end.checking(best, at_once=1), query)

        return await in_thread(call, near, unless=_are_few(hits, query))

    async def shown(self, questions: Sequence[Question], arguments: SearchEntities, call: Call) -> list[Found]:
        """Return what each question found, and which of that is shown; several are searched side by side.

        Raises:
            Fault: The graph could not be asked any of the questions.
        """

        async def ask(question: Question, part: Call) -> Found:
            found = await self.found(question, part)
            await self._choose(found, arguments, part)
            return found

        answers = await side_by_side(ask, questions, call)
        return [
            Found(question, _NOT_SEARCHED, fault=answer) if isinstance(answer, Fault) else answer
            for question, answer in zip(questions, answers, strict=True)
        ]

    async def _choose(self, found: Found, arguments: SearchEntities, call: Call) -> None:
        """Choose the first hits by their weights: those that came with the hits, else those that the graph gives."""
        question, fitting = found.question, found.fitting
        query = question.terms.text
        limit = arguments.limit or _usual_limit(fitting, is_one=not arguments.queries)
        limit = limit if fitting else min(limit, _MOST_GUESSES)
        near = fitting or await in_thread(
            call,
            # One name may take milliseconds.
            lambda end: near_guesses(end.checking(found.best, at_once=1), query, found.hits.details.keys()),
            unless=_are_few([one.hit for one in found.best], query),
        )
        # At an endpoint a search without hits is one query.
        if query and not near and not self._has_api and self._store.has_degrees_at_hand():
            near = await self._with_local_name(question, call) or await self._by_local_names(question, call)
        end = arguments.offset + limit
        if query or len(near) <= WEIGHED:
            if found.hits.weights is not None:
                found.weights = Weights(found.hits.weights)
            else:
                with call.tally.stage("search"):
                    found.weights = await weights_of(near, query, end, self._store, self._metadata_builder, call)
            near = ordered_by_weight(near, query, found.weights.of_nodes)
        # Of very many of some types, the order of some would look like the order of all.
        found.shown = near[arguments.offset : end]
        # What fits by its letters stands among the hits, on whatever page, and what is shown is not shown again.
        known = {one.hit.iri for one in (*fitting, *found.shown)}
        others = [one for one in found.hits.meant if one.hit.iri not in known and is_sendable(one.hit.iri)]
        most = arguments.limit or (_MOST_MEANT if not arguments.queries else _MOST_MEANT // _OF_SEVERAL)
        if not arguments.offset and UNTYPED not in question.types.iris:
            found.meant = [RankedHit(one.hit, "meaning", score=round(one.score, 2)) for one in others[:most]]

    async def facts(self, founds: Sequence[Found], call: Call) -> EntityFacts:
        """Return what the graph knows about all entities that are shown, and leave out those that it has no more."""
        nodes = list(dict.fromkeys(one.hit.iri for found in founds for one in (*found.shown, *found.meant)))
        details = {iri: known for found in founds for iri, known in found.hits.details.items()}
        doubtful = {
            one.hit.iri
            for found in founds
            for one in found.shown
            if not (found.hits.exhaustive or one.hit.iri in found.hits.details)
        }
        with call.tally.stage("facts"):
            facts = await self._facts_of(nodes, details, call)
            gone = await self._gone({iri: facts[iri] for iri in nodes if iri in doubtful}, call)
            silent = await self._silent({iri: facts[iri] for iri in nodes if iri in details}, call)
            degrees = {iri: degree for found in founds for iri, degree in found.weights.degrees.items()}
            if self._store.has_degrees_at_hand():
                uncounted = [iri for iri in nodes if iri not in degrees]
                degrees |= await self._store.degrees(uncounted, MOST_EDGES, call) if uncounted else {}
        for found in founds:
            left = [(end, one) for end, one in enumerate(found.shown, 1) if one.hit.iri not in gone]
            found.gone = len(found.shown) - len(left)
            found.ends, found.shown = [end for end, _ in left], [one for _, one in left]
        return EntityFacts(facts, silent, {iri: degree for iri, degree in degrees.items() if degree.mark.whole})

    async def _requested_types(self, asked: Sequence[str], call: Call) -> tuple[SchemaView, Chosen]:
        """Return the schema and the requested types; for a type that it lacks, it is read again."""
        view = await self._schema_cache.view(call)
        try:
            return view, view.types.choose("node_types", asked, dict.fromkeys(view.types.iris_of(asked), ""))
        except InputError:
            view = await self._schema_cache.view(call, unknown_term=True)
            there = dict.fromkeys(view.types.iris_of(asked), "")
            return view, view.types.choose("node_types", asked, there, leaves_out=True)

    async def _hits(self, terms: SearchTerms, types: frozenset[str], call: Call) -> Hits:
        # No query can ask for "untyped", so a filter with it is applied to the hits.
        wanted = () if UNTYPED in types else sorted(types - {UNKNOWN})
        if types and types <= {UNKNOWN}:
            return NO_HITS
        if not terms.text:
            return await self._store.of_types(wanted, call)
        return await self._store.search(terms, wanted, call)

    async def _without_local_names(self, hits: Hits, view: SchemaView, call: Call) -> Hits:
        """Return hits among which nodes without a name are missing, unless every node has one."""
        found = await self._store.nameless(view.schema, call)
        if found is not None and found.exact and not found.count:
            return hits
        return replace(hits, how=f"{hits.how}; {LOCAL_NAMES_NOT_COMPARED}", exhaustive=False)

    async def _facts_of(
        self, nodes: Sequence[Iri], details: Mapping[Iri, HitDetails], call: Call
    ) -> Mapping[Iri, NodeFacts]:
        """Return types, names and descriptions; the graph is asked for types alone if the details have all names."""
        ask = not all(node in details and details[node].name for node in nodes)
        facts = await self._store.nodes(nodes, call, names=ask, descriptions=ask)
        return {node: _completed(facts[node], details.get(node, HitDetails())) for node in nodes}

    async def _gone(self, facts: Mapping[Iri, NodeFacts], call: Call) -> frozenset[Iri]:
        """Return the entities that an older index lists and the graph does not have any more."""
        bare = [iri for iri, fact in facts.items() if fact.mark.whole and not fact.types and not fact.name]
        if not bare:
            return frozenset()
        there = await self._store.existing(bare, call)
        return frozenset(iri for iri, existence in there.items() if existence.mark.whole and not existence.exists)

    async def _silent(self, facts: Mapping[Iri, NodeFacts], call: Call) -> frozenset[Iri]:
        """Return the entities about which this part of a split graph has no triples."""
        silent = [iri for iri, fact in facts.items() if fact.mark.whole and not fact.types]
        if not silent or not self._other_graph:
            return frozenset()
        subjects = await self._store.subjects(silent, call)
        return frozenset(iri for iri in silent if subjects[iri].mark.whole and not subjects[iri].exists)

    async def _of_types(
        self, best: Sequence[RankedHit], types: frozenset[str], view: SchemaView, call: Call
    ) -> list[RankedHit]:
        with call.tally.stage("facts"):
            facts = await self._store.nodes([one.hit.iri for one in best], call, names=False)
        for fact in facts.values():
            if fact.mark.fault is not None:
                raise fact.mark.fault
        return [one for one in best if not types.isdisjoint(view.chooser.filterable(facts[one.hit.iri]))]


async def side_by_side(
    ask: Callable[[Item, Call], Awaitable[Result]], items: Sequence[Item], call: Call
) -> list[Result | Fault]:
    """Return what each item brings, or why it failed, some of them at a time, each with its share of the budget.

    Raises:
        Fault: That of the first, where all failed.
    """
    if len(items) == 1:
        return [await ask(items[0], call)]
    slots, waiting = asyncio.Semaphore(_AT_ONCE), len(items)

    async def one(item: Item) -> Result | Fault:
        nonlocal waiting
        async with slots:
            share, waiting = waiting, waiting - 1
            with call.part(requests=call.requests // share, rows=call.rows // share) as part:
                try:
                    return await ask(item, part)
                except Fault as fault:
                    return fault

    async with together() as tasks:
        asked = [tasks.create_task(one(item)) for item in items]
    answers = [task.result() for task in asked]
    faults = [answer for answer in answers if isinstance(answer, Fault)]
    if faults and len(faults) == len(answers):
        raise faults[0]
    return answers


def _search_terms(arguments: SearchEntities) -> SearchTerms:
    """Return what to look for; an empty text for all entities of the types."""
    query = arguments.query
    if arguments.node_types and query.strip() in {"", "*"}:
        return SearchTerms("", ())
    words = words_of(query)
    if not words and not has_symbol(query):
        raise messages.nothing_to_search(quoted(query) if query else "")
    return SearchTerms(query, tuple(words))


def _several(arguments: SearchEntities) -> tuple[list[SearchTerms], list[str]]:
    """Return what several queries look for, each text once, and what is left out of them."""
    excluded = [
        name
        for name, field_ in SearchEntities.model_fields.items()
        if name not in _BESIDE_QUERIES and getattr(arguments, name) != field_.default
    ]
    if excluded:
        raise not_with_queries(excluded)
    found: dict[str, SearchTerms] = {}
    wrong = []
    for place, query in enumerate(arguments.queries or ()):
        words = words_of(query[:MAX_QUERY])
        if len(query) > MAX_QUERY:
            wrong.append(too_long(place, len(query)))
        elif not words and not has_symbol(query):
            wrong.append(no_words(place, query))
        else:
            found[query] = SearchTerms(query, tuple(words))
    if not found:
        raise messages.all_wrong(wrong)
    return list(found.values()), first_warnings("queries", [messages.left_out(error) for error in wrong])


_BESIDE_QUERIES = frozenset({"queries", "node_types", "limit", "language", "explain"})
"""The arguments that several queries go with."""


def _are_few(hits: Sequence[Hit], query: str) -> bool:
    """Return whether it takes no thread to compare names with a query: neither are they many, nor is any text long."""
    return len(hits) <= _FEW_HITS and len(query) * sum(len(hit.text) for hit in hits) <= _FEW_LETTERS


def _completed(facts: NodeFacts, details: HitDetails) -> NodeFacts:
    return replace(facts, name=facts.name or details.name, description=facts.description or details.description)


def _usual_limit(fitting: Sequence[RankedHit], *, is_one: bool) -> int:
    """Return how many hits of a query are shown if the caller does not say."""
    usual, if_exact = (USUAL, _USUAL_IF_EXACT) if is_one else (USUAL // _OF_SEVERAL, _USUAL_IF_EXACT // _OF_SEVERAL)
    exact = sum(one.is_exact for one in fitting)
    return min(usual, max(exact, if_exact)) if exact else usual


# --- sentences that a model reads ---

LOCAL_NAMES_NOT_COMPARED = "the local names of nodes without a name were not compared"
"""How it was searched in part only."""


def not_with_queries(arguments: Sequence[str]) -> InputError:
    """Return the error of arguments that are given beside several queries."""
    if "query" in arguments:
        return InputError(
            "search_entities: query and queries exclude each other.",
            valid="query is one name; queries are several, each searched by itself.",
        )
    return InputError(
        f"search_entities: queries does not go with {', '.join(arguments)}.",
        valid="It goes with node_types, language and limit only.",
        next_step="Ask with one query, or without these arguments.",
    )


def too_long(place: int, length: int) -> InputError:
    """Return the error of one of several queries."""
    return InputError(f"queries[{place}] has {length:,} characters, and {MAX_QUERY:,} are searched at most.")


def no_words(place: int, query: str) -> InputError:
    """Return the error of one of several queries."""
    return InputError(f"queries[{place}] has no letter, digit or symbol: {quoted(query)}.")
