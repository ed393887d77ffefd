"""Answers `search_entities`: entities whose names have the words of a query, by rank, or all entities of some types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway import messages
from gateway.answers.names import Labeller, MentionedIds
from gateway.answers.page import PageHit, SearchPage
from gateway.answers.shape import Shape
from gateway.answers.size import limit_page, max_bytes
from gateway.answers.values import Shortener
from gateway.arguments import SearchEntities
from gateway.errors import Fault, quoted
from gateway.graph.call import Call
from gateway.graph.computing import Slices
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, Hits, Iri, SearchTerms
from gateway.members.figures import NOT_SHOWN
from gateway.members.reading import MemberQuestion
from gateway.schema.cache import SchemaCache
from gateway.schema.types import UNKNOWN, UNTYPED
from gateway.schema.view import SchemaView, names_in_doubt
from gateway.settings.profile import Profile, doubt_of
from gateway.terms.literals import is_relative
from gateway.terms.names import MOST_WORDS, cut, fold_accents, folded_words, typed_words
from gateway.terms.prefixes import PrefixMap
from gateway.tools.distinctions import Distinguisher
from gateway.tools.entity_finder import NO_HITS, USUAL, EntityFacts, EntityFinder, Found, Question, side_by_side
from gateway.tools.entity_sets import EntitySet, EntitySets
from gateway.tools.member_names import MemberNames
from gateway.tools.ranking import RankedHit

_NAME_LENGTH = 200
"""Characters of a name, or of a description, that an answer shows."""

_ANY_LANGUAGE = "mul"
"""The tag of what is the same in all languages."""

_WORD_LENGTH = 40
"""Characters of a word of the query that an answer repeats."""

_SENTENCE = re.compile(r".{20,}?[.!?](?=\s)|[^\n]{20,}(?=\n)", re.DOTALL)


@dataclass(slots=True)
class _Result:
    """What is said of one question.

    Attributes:
        found: What was found.
        written: The hits that are shown, by rank.
        meant: The entities that are shown because the meaning of a name is near.
        deprecated: Whether the graph says of each of `written` that it is deprecated.
        facts_are_whole: Whether all that is said of them was read.
        advice: What is said of nodes without a name, where nothing fits.
    """

    found: Found
    written: list[PageHit]
    meant: list[PageHit]
    deprecated: list[bool]
    facts_are_whole: bool
    advice: str = ""


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
        self._finder = EntityFinder(store, profile, prefixes, schema_cache)
        self._distinguisher = Distinguisher(store, profile, prefixes)
        self._labeller = Labeller(store, profile, prefixes)
        self._sets = EntitySets(store, profile, prefixes)
        self._member_names = member_names

    async def search(
        self, arguments: SearchEntities, shape: Shape, call: Call, *, tells_apart: bool = True
    ) -> SearchPage:
        """Return the entities whose names have the words of the query, the best first, or those of several queries.

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
        questions, left_out = await self._finder.questions(arguments, call)
        if not arguments.queries:
            (question,) = questions
            asked = await self._member_names.read(arguments, question.view, call)
            if asked.is_of_members or (not question.terms.text and UNTYPED in question.types.iris):
                return await self._by_values(arguments, question, asked, shape, call)
        founds = await self._finder.shown(questions, arguments, call)
        known = await self._finder.facts(founds, call)
        results = await self._results(founds, known, call, tells_apart=tells_apart)
        view = questions[0].view
        types = {hit.entity_type for one in results for hit in (*one.written, *one.meant)}
        labels = await self._labeller.labels(MentionedIds(nodes=types), view, call)
        size = max_bytes(self._profile.size, None, explain=arguments.explain)

        def page_of(count: int) -> SearchPage:
            pages = [self._page(one, count, arguments) for one in results]
            page = pages[0]
            if arguments.queries:
                steps = dict.fromkeys(step for one in results for step in self._steps(one, *_cut(one, count)))
                page = self._together(pages, left_out, _joined(*steps))
            listed = {hit.entity_type for each in pages for hit in (*each.hits, *each.guesses, *each.by_meaning)}
            page.labels = labels.of(MentionedIds(nodes=listed))
            return page

        page = page_of(too_many := max(1, *(len(one.written) + len(one.meant) for one in results)))
        if shape.size_of_part(page) > size:
            # As many of the first as fit; `found` has the number of all.
            fitting = 1
            while too_many - fitting > 1:
                middle = (fitting + too_many) // 2
                if shape.size_of_part(page_of(middle)) <= size:
                    fitting = middle
                else:
                    too_many = middle
            page = page_of(fitting)
        limit_page(page, size, shape)
        return page

    async def _results(
        self, founds: Sequence[Found], known: EntityFacts, call: Call, *, tells_apart: bool
    ) -> list[_Result]:
        """Return what is said of each question, with what concerns all of them found out once."""
        slices = Slices()
        facts, view = known.facts, founds[0].question.view
        results = []
        for found in founds:
            question, shown = found.question, [*found.shown, *found.meant]
            types = {one.hit.iri: question.type_of(facts[one.hit.iri]) async for one in slices.over(shown, 1)}
            self._warn(found, known)
            in_language = _in_language(found, self._first_language(call.language))
            hits = [
                self._hit(one, known, types[one.hit.iri], call.language, is_in_language=one.hit.iri in in_language)
                for one in shown
            ]
            is_whole = all(facts[one.hit.iri].mark.whole for one in shown)
            fitting = len(found.shown)
            deprecated = [facts[one.hit.iri].is_deprecated for one in found.shown]
            results.append(_Result(found, hits[:fitting], hits[fitting:], deprecated, facts_are_whole=is_whole))
        compared = [one.question for one in founds if self._all_compared(one)]
        if compared and not view.schema.blank.are_all:
            # They are of the same types.
            about = await self._about_unknown_blank_nodes(compared[0], call)
            for question in compared:
                question.warnings.extend(about)
        if any(not one.fitting and one.question.terms.text for one in founds):
            advice = await self._advice(view, call)
            for result in results:
                result.advice = "" if result.found.fitting or not result.found.question.terms.text else advice
        if tells_apart:

            async def tell_apart(result: _Result, part: Call) -> None:
                nodes = [one.hit.iri for one in result.found.shown]
                result.written = await self._distinguisher.told_apart(nodes, result.written, view.schema, part)

            await side_by_side(tell_apart, results, call)
        return results

    async def _by_values(
        self, arguments: SearchEntities, question: Question, asked: MemberQuestion, shape: Shape, call: Call
    ) -> SearchPage:
        """Return the entities that fulfil conditions, in rows: those of the types, or those whose names fit."""
        limit = arguments.offset + (arguments.limit or USUAL)
        hits, advice = NO_HITS, ""
        if question.terms.text:
            named = await self._finder.found(question, call)
            hits = named.hits
            found = await self._sets.under([one.hit.iri for one in named.fitting], asked, call)
            advice = "" if named.fitting else await self._advice(question.view, call)
        elif question.wanted:
            found = await self._sets.of_types(question.wanted - {UNKNOWN}, asked, limit, question.view, call)
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
        doubts += self._doubts(question.view, of_names=bool(question.terms.text), reads_names=asked.reads_names)
        doubts += asked.doubts
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
        await self._sets.add_rows(page, found, in_rows, arguments, shape, question.view, call)
        return page

    def _warn(self, found: Found, known: EntityFacts) -> None:
        """Note what may be missing of what a question found."""
        question = found.question
        if found.fault is not None:
            question.warnings.append(str(found.fault))
        nodes = [one.hit.iri for one in found.shown]
        if silent := [iri for iri in nodes if iri in known.silent]:
            where = self._profile.endpoint.other_graph
            question.warnings.append(messages.nothing_said(self._prefixes.listed(silent), where))
        if found.gone:
            question.warnings.append(messages.entities_gone(found.gone))
        if undescribed := [iri for iri in nodes if not known.facts[iri].is_described]:
            question.warnings.append(messages.descriptions_not_read(self._prefixes.listed(undescribed)))
        if not (question.types.whole or question.types.warnings):
            question.warnings.append(messages.OTHER_TYPES_MAY_MATCH)
        question.warnings.extend(self._doubts(question.view, of_names=bool(question.terms.text)))
        question.warnings.extend(_about_blank_nodes(question))

    def _page(self, result: _Result, count: int, arguments: SearchEntities) -> SearchPage:
        """Return the answer to a question with its first hits, without labels."""
        found, written, advice = result.found, result.written, result.advice
        question, hits, fitting, types = found.question, found.hits, found.fitting, found.question.types
        by_rank, by_meaning = _cut(result, count)
        is_list, taken = not question.terms.text, len(by_rank)
        # A term that is not to be used any more is no better hit than one that is. A list by type has one order over
        # all its pages.
        places = range(taken) if is_list else sorted(range(taken), key=result.deprecated.__getitem__)
        listed = [by_rank[place] for place in places]
        all_compared, all_names = self._all_compared(found), self._all_compared(found, local_names=False)
        # Those that the graph has no more took a place too.
        end = arguments.offset + (found.ends[taken - 1] if taken < len(written) else len(written) + found.gone)
        in_parts = bool(fitting) and any(hit.match == "part" for hit in listed)
        absent = _unknown(question, hits, in_parts=in_parts) if all_compared and hits.absent else ""
        if not arguments.queries:
            absent = _joined(absent, *self._steps(result, listed, by_meaning))
        return SearchPage(
            listed if fitting else [],
            guesses=[] if fitting else listed,
            by_meaning=by_meaning,
            next_steps="" if arguments.offset and is_list else absent,
            complete=all_compared and not advice and result.facts_are_whole,
            has_all_names=all_names and result.facts_are_whole,
            how=_how(hits, found.shown),
            labels={},
            found=len(fitting),
            truncated=hits.truncated,
            exhaustive=hits.exhaustive and self._profile.endpoint.trusted,
            warnings=[*types.warnings, *question.warnings, *hits.warnings, *filter(None, [hits.not_meant])],
            coined=self._prefixes.coined_in_answer,
            next_offset=end if not arguments.queries and end < len(fitting) else None,
            query=question.terms.text,
        )

    async def _advice(self, view: SchemaView, call: Call) -> str:
        """Return what to do about nodes without a name; empty if every node has one, or a wiki knows the names."""
        if self._profile.search.api:
            return ""
        with call.tally.stage("search"):
            return messages.nameless_nodes(await self._store.nameless(view.schema, call))

    def _together(self, pages: Sequence[SearchPage], left_out: Sequence[str], next_steps: str) -> SearchPage:
        """Return the answer to several questions; what is said of all of them stands in it once."""
        of_all = [text for text in pages[0].warnings if all(text in page.warnings for page in pages)]
        for page in pages:
            page.warnings = [text for text in page.warnings if text not in of_all]
        return SearchPage(
            [],
            guesses=[],
            next_steps=next_steps,
            complete=all(page.complete for page in pages),
            how="",
            labels={},
            found=0,
            truncated=False,
            exhaustive=True,
            warnings=[*left_out, *of_all],
            coined=self._prefixes.coined_in_answer,
            queries=pages,
        )

    def _steps(self, result: _Result, listed: Sequence[PageHit], by_meaning: Sequence[PageHit]) -> list[str]:
        """Return what to do next about a question, a sentence each."""
        found, question = result.found, result.found.question
        if found.fitting:
            return [_for_the_rest(question.terms, found.hits, listed, result.written, len(found.fitting))]
        if found.fault is not None:
            return []
        if by_meaning:
            return [messages.BY_MEANING, result.advice]
        return [_next_step(question.terms, found.hits, listed, of_types=question.is_filtered), result.advice]

    def _all_compared(self, found: Found, *, local_names: bool = True) -> bool:
        """Return whether everything that may fit was looked at, as far as is known, or all but local names."""
        # A filter that lacks a type, or subclasses of one, misses entities.
        are_compared = found.hits.exhaustive if local_names else found.are_names_compared
        are_whole = are_compared and not found.hits.truncated and found.question.types.whole
        return are_whole and self._profile.endpoint.trusted and not found.question.warnings

    async def _about_unknown_blank_nodes(self, question: Question, call: Call) -> list[str]:
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

    def _doubts(self, view: SchemaView, *, of_names: bool, reads_names: bool = False) -> list[str]:
        """Return why names, or else entities, may be missing although all that were read were compared."""
        doubts = []
        if (of_names or reads_names) and names_in_doubt(view, self._profile):
            doubts.append(messages.NAMES_MAY_BE_MISSED)
        if not of_names and self._profile.endpoint.other_graph:
            doubts.append(messages.others_elsewhere(self._profile.endpoint.other_graph))
        if not self._profile.endpoint.trusted:
            doubts.append(messages.others_may_match(doubt_of(self._profile)))
        return doubts

    def _hit(
        self, one: RankedHit, known: EntityFacts, entity_type: str, language: str, *, is_in_language: bool
    ) -> PageHit:
        hit, facts, degree = one.hit, known.facts[one.hit.iri], known.degrees.get(one.hit.iri)
        is_named_so = hit.kind == "name" and not hit.is_synonym
        name = facts.name or (hit.text if is_named_so else "")
        shorter = Shortener(_NAME_LENGTH, 1)
        return PageHit(
            self._prefixes.shorten(hit.iri),
            entity_type,
            name=shorter(name),
            description=shorter(f"{DEPRECATED_HIT * facts.is_deprecated}{_first_sentence(facts.description)}".strip()),
            match=one.match,
            score=one.score,
            matched=self._matched(hit, shorter, language) if hit.kind != "id" and hit.text not in {"", name} else None,
            edges=None if degree is None else degree.count if degree.exact else f">={degree.count}",
            is_in_language=is_in_language,
        )

    def _matched(self, hit: Hit, shorter: Shortener, language: str) -> str:
        """Return the name that fits, with its language where that is none in which names are looked for first."""
        is_first = is_relative(hit.language, self._first_language(language))
        return shorter(hit.text) if is_first else f"{shorter(hit.text)}@{hit.language}"

    def _first_language(self, asked: str) -> str:
        """Return the language in which names are looked for first."""
        return asked or next(iter(self._profile.names.languages), "en")


DEPRECATED_HIT = "(deprecated) "
"""Before the description of a hit that the graph says is deprecated."""


def _in_language(found: Found, language: str) -> frozenset[Iri]:
    """Return the entities that are shown which have the query as a name in a language, or in none."""
    shown = frozenset(one.hit.iri for one in found.shown)
    name = fold_accents(found.question.terms.text)
    return frozenset(
        hit.iri
        for hit in found.hits.hits
        if hit.iri in shown
        and (is_relative(hit.language, language) or hit.language == _ANY_LANGUAGE)
        and fold_accents(hit.text) == name
    )


def _about_blank_nodes(question: Question) -> list[str]:
    """Return a warning of blank nodes that may fit, and are no nodes."""
    blank = question.view.schema.blank
    fitting = sum(count for iri, count in blank.types.items() if iri in question.wanted)
    if question.is_filtered:
        return (
            [messages.blank_nodes_of_types(fitting)] if fitting and (blank.are_named or not question.terms.text) else []
        )
    return [messages.BLANK_NAMES] if blank.are_named else []


def _unknown(question: Question, hits: Hits, *, in_parts: bool) -> str:
    """Return which words no name has, as they stand in the query where they are words there.

    If `in_parts`, hits have them as parts of others.
    """
    typed = {tuple(folded_words(word)): word for word in typed_words(question.terms.text)}
    words = [typed.get((word,), word) for word in hits.absent[:MOST_WORDS]]
    listed = ", ".join(quoted(cut(word, _WORD_LENGTH)) for word in words)
    return messages.no_name_has(listed, several=len(words) > 1, of_types=question.is_filtered, in_parts=in_parts)


def _cut(result: _Result, count: int) -> tuple[Sequence[PageHit], Sequence[PageHit]]:
    """Return the first hits, so many together: those by spelling, then those by meaning.

    Of guesses not all come before the nearest by meaning, which is not less likely to be meant.
    """
    beside_guesses = int(not result.found.fitting and count > 1)
    by_meaning = result.meant[: max(count - len(result.written), beside_guesses)]
    return result.written[: count - len(by_meaning)], by_meaning


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


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


def _next_step(terms: SearchTerms, hits: Hits, guesses: Sequence[PageHit], *, of_types: bool) -> str:
    """Return what to try where nothing fits."""
    if not terms.text:
        return messages.NONE_OF_THESE_TYPES
    if guesses:
        by_id = all(guess.match == "id" for guess in guesses)
        return messages.IDS_ARE_GUESSES if by_id else messages.NO_NAME_FITS
    if hits.warnings:
        # These say what to try.
        return ""
    return messages.NOTHING_NEAR_OF_TYPES if of_types else messages.NOTHING_NEAR
