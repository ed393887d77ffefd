"""Answers `search_entities`: entities whose names have the words of a query, by rank, or all entities of some types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gateway import messages
from gateway.answers.metadata import MetadataBuilder
from gateway.answers.names import Labeller, MentionedIds
from gateway.answers.page import PageHit, SearchPage
from gateway.answers.shape import Shape
from gateway.answers.size import limit_page, max_bytes
from gateway.answers.values import Shortener
from gateway.arguments import SearchEntities
from gateway.errors import Fault, InputError, quoted
from gateway.graph.call import Call
from gateway.graph.computing import Slices, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, HitDetails, Hits, Iri, NodeFacts, SearchTerms
from gateway.members.figures import NOT_SHOWN
from gateway.members.reading import MemberQuestion
from gateway.schema.cache import SchemaCache
from gateway.schema.view import UNKNOWN, UNTYPED, Chosen, SchemaView, Subclasses, names_in_doubt
from gateway.settings.profile import Profile, doubt_of
from gateway.terms.iri import is_sendable
from gateway.terms.literals import is_relative
from gateway.terms.names import MOST_WORDS, cut, folded_words, has_symbol, typed_words, words_of
from gateway.terms.prefixes import PrefixMap
from gateway.tools.distinctions import Distinguisher
from gateway.tools.entity_sets import EntitySet, EntitySets
from gateway.tools.member_names import MemberNames
from gateway.tools.ranking import WEIGHED, RankedHit, by_id, near_guesses, ordered_by_weight, ranked, weights_of

_NOTHING = Hits((), truncated=False, how="nothing: none of the types asked for is known here", exhaustive=False)

_FEW_HITS = 100
"""Hits that are compared with a query in a millisecond or two."""

_MOST_GUESSES = 3

_NAME_LENGTH = 200
"""Characters of a name, or of a description, that an answer shows."""

_WORD_LENGTH = 40
"""Characters of a word of the query that an answer repeats."""

_USUAL = 10
"""Hits that are shown unless the caller says how many."""

_USUAL_IF_EXACT = 5
"""The same, where some name is the query: the others are then rarely meant. All whose name it is are shown."""

_SENTENCE = re.compile(r".{20,}?[.!?](?=\s)|[^\n]{20,}(?=\n)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Question:
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


@dataclass(frozen=True, slots=True)
class _Found:
    """What the graph, or an index, found.

    Attributes:
        hits: All of it.
        best: Entities, the best first.
        fitting: Those of them whose names have the words.
    """

    hits: Hits
    best: Sequence[RankedHit]
    fitting: Sequence[RankedHit]


class EntitySearcher:
    """Answers `search_entities` for one graph."""

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        member_names: MemberNames,
    ) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._subclasses = Subclasses(store, prefixes)
        self._metadata_builder = MetadataBuilder(profile, prefixes)
        self._distinguisher = Distinguisher(store, profile, prefixes)
        self._labeller = Labeller(store, profile, prefixes)
        self._sets = EntitySets(store, profile, prefixes)
        self._member_names = member_names

    async def search(
        self, arguments: SearchEntities, shape: Shape, call: Call, *, tells_apart: bool = True
    ) -> SearchPage:
        """Return the entities whose names have the words of the query, the best first.

        Without a query, return all entities of the types, by weight, or if there are many, by ID.

        Args:
            arguments: The arguments of the tool.
            shape: The shape of the answer.
            call: The call.
            tells_apart: Whether to read what tells entities of one name and type apart.

        Raises:
            InputError: The query has no word and no symbol, or a type is none of the graph's.
            Fault: The graph could not be asked.
        """
        # An index of names may answer, and change later.
        call.freshness.asked()
        question = await self._question(arguments, call)
        asked = await self._member_names.read(arguments, question.view, call)
        if asked.is_of_members or (not question.terms.text and UNTYPED in question.types.iris):
            return await self._by_values(arguments, question, asked, shape, call)
        found = await self._found(question, call)
        slices = Slices()
        shown, facts = await self._shown(question, found, arguments, call)
        view = question.view
        types = {iri: question.type_of(fact) async for iri, fact in slices.over(facts.items(), 1)}
        labels = await self._labeller.labels(MentionedIds(nodes={types[one.hit.iri] for one in shown}), view, call)
        if not (question.types.whole or question.types.warnings):
            question.warnings.append(messages.OTHER_TYPES_MAY_MATCH)
        question.warnings.extend(self._doubts(view, of_names=bool(question.terms.text)))
        facts_are_whole = all(fact.mark.whole for fact in facts.values())
        question.warnings.extend(_about_blank_nodes(question))
        if self._all_compared(question, found.hits) and not view.schema.blank.are_all:
            question.warnings.extend(await self._about_unknown_blank_nodes(question, call))
        advice = "" if found.fitting or not question.terms.text else await self._advice(view, call)
        size = max_bytes(self._profile.size, None, explain=arguments.explain)
        written = [self._hit(one, facts[one.hit.iri], types[one.hit.iri], call.language) for one in shown]
        if tells_apart:
            written = await self._distinguisher.told_apart([one.hit.iri for one in shown], written, view.schema, call)

        def page_of(listed: list[PageHit]) -> SearchPage:
            page = self._page(question, found, written, listed, advice, facts_are_whole=facts_are_whole)
            page.labels = labels.of(MentionedIds(nodes={hit.entity_type for hit in listed}))
            page.how = _how(found.hits, shown)
            end = arguments.offset + len(listed)
            page.next_offset = end if not question.terms.text and end < len(found.fitting) else None
            if arguments.offset and not question.terms.text:
                page.next_steps = ""
            return page

        # As many of the first as fit; `found` has the number of all.
        page, count = page_of(written), len(written)
        while count > 1 and shape.size_of_part(page) > size:
            count -= 1
            page = page_of(written[:count])
        limit_page(page, size, shape)
        return page

    async def _question(self, arguments: SearchEntities, call: Call) -> _Question:
        """Return what is looked for, with the subclasses of the types."""
        terms = _search_terms(arguments)
        view, types = await self._requested_types(arguments.node_types or (), call)
        wanted, warnings = await self._subclasses.widened("node_types", types.iris, call)
        return _Question(terms, view, bool(arguments.node_types), types, wanted, warnings, not warnings)

    async def _by_values(
        self, arguments: SearchEntities, question: _Question, asked: MemberQuestion, shape: Shape, call: Call
    ) -> SearchPage:
        """Return the entities that fulfil conditions, in rows: those of the types, or those whose names fit."""
        limit = arguments.offset + (arguments.limit or _USUAL)
        hits, advice = _NOTHING, ""
        if question.terms.text:
            named = await self._found(question, call)
            hits = named.hits
            found = await self._sets.under([one.hit.iri for one in named.fitting], asked, call)
            advice = "" if named.fitting else await self._advice(question.view, call)
        elif question.wanted:
            found = await self._sets.of_types(question.wanted - {UNKNOWN}, asked, limit, call)
            hits = Hits((), truncated=not found.mark.whole, how="all entities of these types")
        else:
            found = EntitySet(())
        # Whatever is doubted so far, and no warning about a value, may mean that an entity is missing.
        doubts = list(question.warnings)
        if found.blank is False and UNKNOWN in question.wanted:
            # Blank nodes were looked for among those with a type alone.
            found = replace(found, blank=None)
        # What a graph left out when it was read, its engine does not know.
        doubts += _about_blank_nodes(question) if found.blank is None or found.grouped is not None else []
        doubts += [messages.BLANK_NODES_OF_TYPES] if found.blank else []
        doubts += self._doubts(question.view, of_names=bool(question.terms.text))
        is_whole = found.mark.whole and hits.exhaustive and not hits.truncated and question.are_types_whole
        if is_whole and not doubts and found.blank is None and not question.view.schema.blank.are_all:
            doubts += await self._about_unknown_blank_nodes(question, call)
        is_complete = is_whole and not doubts and not advice
        if found.grouped is not None and not is_complete:
            found = replace(found, grouped=replace(found.grouped, is_shown=False))
            doubts += [NOT_SHOWN]
        page = SearchPage(
            [],
            guesses=[],
            next_steps=advice,
            complete=is_complete,
            how=hits.how,
            labels={},
            found=found.count,
            truncated=hits.truncated,
            exhaustive=hits.exhaustive and self._profile.endpoint.trusted,
            warnings=[*question.types.warnings, *doubts, *asked.warnings, *found.warnings, *hits.warnings],
            coined=self._prefixes.coined_in_answer,
        )
        in_rows = asked if asked.is_in_rows else replace(asked, columns=())
        await self._sets.add_rows(page, found, in_rows, arguments, shape, call)
        return page

    async def _found(self, question: _Question, call: Call) -> _Found:
        """Return the entities that fit, and names that are near; warn of those that are left out."""
        terms, wanted = question.terms, question.wanted
        with call.tally.stage("search"):
            hits = await self._hits(terms, wanted, call) if wanted or not question.is_filtered else _NOTHING
        sendable = [hit for hit in hits.hits if is_sendable(hit.iri)]
        if len(sendable) < len(hits.hits):
            question.warnings.append(messages.names_left_out(len(hits.hits) - len(sendable)))
        best = await in_thread(
            call,
            lambda end: ranked(end.checking(sendable, _FEW_HITS), terms.text) if terms.text else by_id(sendable),
            unless=len(sendable) <= _FEW_HITS,
        )
        if UNTYPED in question.types.iris:
            best = await self._of_types(best, wanted, question.view, call)
        return _Found(hits, best, [one for one in best if not one.is_guess])

    async def _shown(
        self, question: _Question, found: _Found, arguments: SearchEntities, call: Call
    ) -> tuple[Sequence[RankedHit], Mapping[Iri, NodeFacts]]:
        """Return the hits that are shown, those that the graph still has, and what it knows about each."""
        limit = arguments.limit or _usual_limit(found.fitting)
        limit = limit if found.fitting else min(limit, _MOST_GUESSES)
        near = found.fitting or await in_thread(
            call,
            lambda end: near_guesses(end.checking(found.best, _FEW_HITS), question.terms.text),
            unless=len(found.best) <= _FEW_HITS,
        )
        offset = arguments.offset
        shown = (await self._first(found.hits, near, question.terms.text, offset + limit, call))[offset:]
        exhaustive, details = found.hits.exhaustive, found.hits.details
        with call.tally.stage("facts"):
            facts = await self._facts_of([one.hit.iri for one in shown], details, call)
            await Slices().begin()
            doubtful = {iri: fact for iri, fact in facts.items() if not (exhaustive or iri in details)}
            gone = await self._gone(doubtful, call)
            named = {iri: fact for iri, fact in facts.items() if iri in details}
            question.warnings.extend(await self._elsewhere(named, call))
        if gone:
            shown = [one for one in shown if one.hit.iri not in gone]
            question.warnings.append(messages.entities_gone(len(gone)))
        undescribed = [one.hit.iri for one in shown if not facts[one.hit.iri].is_described]
        if undescribed:
            question.warnings.append(messages.descriptions_not_read(self._prefixes.listed(undescribed)))
        # A term that is not to be used any more is found, and is no better hit than one that is.
        return sorted(shown, key=lambda one: facts[one.hit.iri].is_deprecated), facts

    def _page(
        self,
        question: _Question,
        found: _Found,
        written: Sequence[PageHit],
        listed: list[PageHit],
        advice: str,
        *,
        facts_are_whole: bool,
    ) -> SearchPage:
        """Return the answer, without labels and without how it was searched."""
        hits, fitting, types = found.hits, found.fitting, question.types
        exhaustive = hits.exhaustive and self._profile.endpoint.trusted
        all_compared = self._all_compared(question, hits)
        return SearchPage(
            listed if fitting else [],
            guesses=[] if fitting else listed,
            next_steps=_joined(
                _unknown(question, hits) if all_compared and hits.absent else "",
                _for_the_rest(question.terms, hits, listed, written, len(fitting))
                if fitting
                else _next_steps(question.terms, hits, listed, advice, of_types=question.is_filtered),
            ),
            complete=all_compared and not advice and facts_are_whole,
            how="",
            labels={},
            found=len(fitting),
            truncated=hits.truncated,
            exhaustive=exhaustive,
            warnings=[*types.warnings, *question.warnings, *hits.warnings],
            coined=self._prefixes.coined_in_answer,
        )

    async def _first(
        self, hits: Hits, best: Sequence[RankedHit], query: str, limit: int, call: Call
    ) -> Sequence[RankedHit]:
        """Return the first hits by their weights: those that came with the hits, else those that the graph gives."""
        weights = hits.weights
        if not query and len(best) > WEIGHED:
            # The order of some of them would look like the order of all.
            return best[:limit]
        if weights is None:
            with call.tally.stage("search"):
                weights = await weights_of(best, query, limit, self._store, self._metadata_builder, call)
        return ordered_by_weight(best, query, weights)[:limit]

    async def _advice(self, view: SchemaView, call: Call) -> str:
        """Return what to do about nodes without a name; empty if every node has one, or a wiki knows the names."""
        if self._profile.search.api:
            return ""
        with call.tally.stage("search"):
            return messages.nameless_nodes(await self._store.nameless(view.schema, call))

    def _all_compared(self, question: _Question, hits: Hits) -> bool:
        """Return whether everything that may fit was looked at, as far as is known."""
        # A filter that lacks a type, or subclasses of one, misses entities.
        are_whole = hits.exhaustive and not hits.truncated and question.types.whole
        return are_whole and self._profile.endpoint.trusted and not question.warnings

    async def _about_unknown_blank_nodes(self, question: _Question, call: Call) -> list[str]:
        """Return a warning of blank nodes that may fit, where the schema does not know of all that there are."""
        types = sorted(question.wanted) if question.is_filtered and not question.wanted & {UNTYPED, UNKNOWN} else []
        try:
            with call.tally.stage("search"):
                has_some = await self._store.has_blank_nodes(types, call, named=bool(question.terms.text))
        except Fault:
            return [messages.BLANK_NODES_NOT_LOOKED_FOR]
        if not has_some:
            return []
        return [messages.BLANK_NODES_OF_TYPES if question.is_filtered else messages.BLANK_NAMES]

    def _doubts(self, view: SchemaView, *, of_names: bool) -> list[str]:
        """Return why names, or else entities, may be missing although all that were read were compared."""
        doubts = []
        if of_names and names_in_doubt(view, self._profile):
            doubts.append(messages.NAMES_MAY_BE_MISSED)
        if not of_names and self._profile.endpoint.other_graph:
            doubts.append(messages.others_elsewhere(self._profile.endpoint.other_graph))
        if not self._profile.endpoint.trusted:
            doubts.append(messages.others_may_match(doubt_of(self._profile)))
        return doubts

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
            return _NOTHING
        if not terms.text:
            return await self._store.of_types(wanted, call)
        return await self._store.search(terms, wanted, call)

    async def _facts_of(
        self, nodes: Sequence[Iri], details: Mapping[Iri, HitDetails], call: Call
    ) -> Mapping[Iri, NodeFacts]:
        """Return types, names and descriptions; the graph is asked for types alone if the details have all names."""
        ask = not all(node in details and details[node].name for node in nodes)
        facts = await self._store.nodes(nodes, call, names=ask, descriptions=ask)
        return {node: _completed(facts[node], details.get(node, HitDetails())) for node in nodes}

    async def _gone(self, facts: Mapping[Iri, NodeFacts], call: Call) -> set[Iri]:
        """Return the entities that an older index lists and the graph does not have any more."""
        bare = [iri for iri, fact in facts.items() if fact.mark.whole and not fact.types and not fact.name]
        if not bare:
            return set()
        there = await self._store.existing(bare, call)
        return {iri for iri, existence in there.items() if existence.mark.whole and not existence.exists}

    async def _elsewhere(self, facts: Mapping[Iri, NodeFacts], call: Call) -> list[str]:
        """Return a warning of entities about which this part of a split graph has no triples."""
        where = self._profile.endpoint.other_graph
        silent = [iri for iri, fact in facts.items() if fact.mark.whole and not fact.types]
        if not silent or not where:
            return []
        subjects = await self._store.subjects(silent, call)
        gone = [iri for iri in silent if subjects[iri].mark.whole and not subjects[iri].exists]
        named = self._prefixes.listed(gone)
        return [messages.nothing_said(named, where)] if gone else []

    async def _of_types(
        self, best: Sequence[RankedHit], types: frozenset[str], view: SchemaView, call: Call
    ) -> list[RankedHit]:
        with call.tally.stage("facts"):
            facts = await self._store.nodes([one.hit.iri for one in best], call, names=False)
        for fact in facts.values():
            if fact.mark.fault is not None:
                raise fact.mark.fault
        return [one for one in best if not types.isdisjoint(view.chooser.filterable(facts[one.hit.iri]))]

    def _hit(self, one: RankedHit, facts: NodeFacts, entity_type: str, language: str) -> PageHit:
        hit = one.hit
        is_named_so = hit.kind == "name" and not hit.is_synonym
        name = facts.name or (hit.text if is_named_so else "")
        shorter = Shortener(_NAME_LENGTH, 1)
        return PageHit(
            self._prefixes.shorten(hit.iri),
            entity_type,
            name=shorter(name),
            description=shorter(f"{DEPRECATED_HIT * facts.is_deprecated}{_first_sentence(facts.description)}".strip()),
            match=one.match,
            matched=self._matched(hit, shorter, language) if hit.kind != "id" and hit.text not in {"", name} else None,
        )

    def _matched(self, hit: Hit, shorter: Shortener, language: str) -> str:
        """Return the name that fits, with its language where that is none in which names are looked for first."""
        first = language or next(iter(self._profile.names.languages), "en")
        return f"{shorter(hit.text)}@{hit.language}" if not is_relative(hit.language, first) else shorter(hit.text)


DEPRECATED_HIT = "(deprecated) "
"""Before the description of a hit that the graph says is deprecated."""


def _about_blank_nodes(question: _Question) -> list[str]:
    """Return a warning of blank nodes that may fit, and are no nodes."""
    blank = question.view.schema.blank
    fitting = sum(count for iri, count in blank.types.items() if iri in question.wanted)
    if question.is_filtered:
        return (
            [messages.blank_nodes_of_types(fitting)] if fitting and (blank.are_named or not question.terms.text) else []
        )
    return [messages.BLANK_NAMES] if blank.are_named else []


def _search_terms(arguments: SearchEntities) -> SearchTerms:
    """Return what to look for; an empty text for all entities of the types."""
    query = arguments.query
    if arguments.node_types and query.strip() in {"", "*"}:
        return SearchTerms("", ())
    words = words_of(query)
    if not words and not has_symbol(query):
        raise messages.nothing_to_search(quoted(query) if query else "")
    return SearchTerms(query, tuple(words))


def _unknown(question: _Question, hits: Hits) -> str:
    """Return which words no name has, as they stand in the query where they are words there."""
    typed = {tuple(folded_words(word)): word for word in typed_words(question.terms.text)}
    words = [typed.get((word,), word) for word in hits.absent[:MOST_WORDS]]
    listed = ", ".join(quoted(cut(word, _WORD_LENGTH)) for word in words)
    return messages.no_name_has(listed, several=len(words) > 1, of_types=question.is_filtered)


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _completed(facts: NodeFacts, details: HitDetails) -> NodeFacts:
    return replace(facts, name=facts.name or details.name, description=facts.description or details.description)


def _first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence or line; a short beginning is hardly a sentence."""
    end = _SENTENCE.match(text.strip())
    return " ".join((end[0] if end else text).split())


def _how(hits: Hits, shown: Sequence[RankedHit]) -> str:
    """Return how it was searched; in short if an exact name was found in the usual way."""
    is_short = any(one.is_exact for one in shown) and not hits.warnings and hits.fault is None
    return messages.OTHERS_MAY_HAVE_THIS_NAME if is_short else hits.how


def _for_the_rest(
    terms: SearchTerms, hits: Hits, listed: Sequence[PageHit], written: Sequence[PageHit], found: int
) -> str:
    """Return how to get the rest of a list of entities; of names that fit, only the best are wanted."""
    if terms.text or len(listed) == found:
        return ""
    # Where the size of the answer cut the list, no limit shows more.
    may_show_more = len(listed) == len(written)
    return messages.listed_in_part(len(listed), found, at_least=hits.truncated, may_show_more=may_show_more)


def _next_steps(terms: SearchTerms, hits: Hits, guesses: Sequence[PageHit], advice: str, *, of_types: bool) -> str:
    if not terms.text:
        first = messages.NONE_OF_THESE_TYPES
    elif guesses:
        first = messages.NO_NAME_FITS
    elif hits.warnings:
        # These say what to try.
        first = ""
    else:
        first = messages.NOTHING_NEAR_OF_TYPES if of_types else messages.NOTHING_NEAR
    return _joined(first, advice)


def _usual_limit(fitting: Sequence[RankedHit]) -> int:
    """Return how many hits are shown if the caller does not say."""
    exact = sum(one.is_exact for one in fitting)
    return min(_USUAL, max(exact, _USUAL_IF_EXACT)) if exact else _USUAL
