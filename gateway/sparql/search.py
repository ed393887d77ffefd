"""Names found in the graph itself.

In a graph with few names, a search compares all of them: that is exact, quick, and the same on every engine. In a graph
with many, it asks the endpoint's text index and looks the name up as typed. It then compares all names only if that
found nothing or there is no index, and only if the profile allows so many.
"""

from __future__ import annotations

import logging
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from gateway.errors import DeadlinePassed, Fault, QueryRefused, QueryTooLong
from gateway.graph.call import Call
from gateway.graph.reading import compare_names
from gateway.graph.values import Hit, Hits, Iri, SearchTerms
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.learned import LetterClassProbe
from gateway.sparql.local_names import LocalNameScan
from gateway.sparql.nodes import NamePredicates, name_parameters
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import integer, iri, literal, read
from gateway.sparql.template import Parameter
from gateway.sparql.text_search import HitReader, Scope, TextSearch
from gateway.telemetry.tally import Clock
from gateway.terms.iri import NO_TYPES
from gateway.terms.names import listed_words, patterns

_log = logging.getLogger(__name__)

_FEW_NAMES = 100_000
"""Names that are compared before anything else is tried: a fraction of a second on every engine."""

_FAILURES = 2
"""Comparisons in a row that took too long, after which no more are tried."""

_WITHOUT_INDEX = (
    "This endpoint has no text search that could be used, and {}: only exact names were looked up. Ask for the exact "
    "name; the operator of this gateway can build an index of the names with `bfsql-gateway index`."
)
_TOO_MANY = _WITHOUT_INDEX.format("the graph has too many names to compare them all")
_TOO_SLOW = _WITHOUT_INDEX.format("comparing all names takes too long")
_NOTHING_INDEXED = (
    "The endpoint's text index found nothing or did not answer, and not every name was compared: that is no proof that "
    "there is nothing. Try other words, or the exact name."
)
_AS_TYPED = (
    "This endpoint cannot compare names without their accents, so a name that is written with other accents than the "
    "query, or in another Unicode form, is not found. Also try the exact name; the operator of this gateway can build "
    "an index of the names with `bfsql-gateway index`."
)

_ROOM = 4_000
"""Characters of all variants together; the least likely ones come last."""

_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
"""Control characters stand in no name, and NUL and halves of surrogate pairs in no query."""


class SearchReader:
    """Searches names and synonyms."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, profile: Profile, name_predicates: NamePredicates, clock: Clock
    ) -> None:
        self._settings = profile.search
        self._languages = profile.names.languages
        self._is_remote = client.is_remote
        self._name_predicates = name_predicates
        self._hits = HitReader(client, profile, name_predicates)
        self._text = TextSearch(client, profile, name_predicates)
        self._local = LocalNameScan(client, rule, name_predicates, profile.search.scan_triples, clock)
        self._count = NameCount(client, name_predicates, self._local)
        self._letter_classes = LetterClassProbe(client)
        self._too_slow = 0

    async def find(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities; see `GraphStore.search`."""
        if not terms.words:
            return await self.named(terms.text, types, call)
        index_first = self._settings.index not in {"auto", "none"}
        if not index_first and await self._may_compare(min(_FEW_NAMES, self._settings.scan_triples), call):
            return await self._compared(terms, types, call, local=True)
        indexed = await self._indexed(terms, types, call, every=True)
        exact = await self.named(terms.text, types, call)
        steps = [exact] if indexed is None else [indexed, exact]
        if indexed is not None and (indexed.hits or exact.hits):
            return _together(steps)
        warning = _TOO_MANY
        if await self._may_compare(self._settings.scan_triples, call):
            compared, done = await self._compared_in_time(terms, types, call)
            steps.append(compared)
            if done:
                return _together(steps)
            warning = _TOO_SLOW
        if indexed is None:
            return _together(steps, warning)
        some = await self._indexed(terms, types, call, every=False) if len(terms.words) > 1 else None
        return _together([*steps, some], "") if some is not None and some.hits else _together(steps, _NOTHING_INDEXED)

    async def _may_compare(self, most: int, call: Call) -> bool:
        with call.reserving(requests=0.5, time=0.5):
            return await self._count.is_at_most(most, call)

    async def _indexed(self, terms: SearchTerms, types: Sequence[Iri], call: Call, *, every: bool) -> Hits | None:
        """Ask the text index; None where there is none."""
        try:
            with call.reserving(requests=0.5, time=0.5):
                return await self._text.find(terms.words, types, call, every=every)
        except Fault as fault:
            how = "the endpoint's text index, which did not answer"
            return Hits((), truncated=False, how=how, exhaustive=False, fault=fault)

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Look for entities that have a name exactly as it was asked for; see `GraphStore.named`."""
        given = variants(text, [*([call.language] if call.language else []), *self._languages])
        how = "names and synonyms equal to the text, in several cases and languages"
        if not given:
            return Hits((), truncated=False, how=how, exhaustive=False)
        names = self._name_predicates
        scope = Scope((*names.all, *names.codes), types)
        found = await self._hits.hits("search/exact", {"forms": given}, scope, call)
        return Hits(found.hits, found.truncated, how, exhaustive=False)

    async def _compared_in_time(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> tuple[Hits, bool]:
        """Compare all names in a part of the time; return what was found, and whether the time was enough."""
        how = "all names, which takes too long"
        if self._too_slow >= _FAILURES:
            return Hits((), truncated=False, how=how, exhaustive=False), False
        try:
            with call.reserving(requests=0.5, time=0.4):
                compared = await self._compared(terms, types, call, local=False)
        except Fault as fault:
            if not (fault.smaller or isinstance(fault, DeadlinePassed)):
                raise
            self._too_slow += 1
            return Hits((), truncated=False, how=how, exhaustive=False, fault=fault), False
        self._too_slow = 0
        return compared, True

    async def _compared(self, terms: SearchTerms, types: Sequence[Iri], call: Call, *, local: bool) -> Hits:
        """Compare all names, perhaps local ones too: those with every word, and if there are none, those with some."""
        scope = Scope(self._name_predicates.all, types, terms.text)

        async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:
            how = f"names and synonyms with {'every word' if every else 'any word of'}: {listed_words(terms.words)}"
            if await self._letter_classes.is_supported(call):
                each = patterns(words, whole=whole)
                given: dict[str, Parameter] = {"patterns": each if every else ["|".join(each)]}
                # Where there are too many matches, the names come first.
                given |= self._local.parameters(words if local and not (every and whole) else [], every=every)
                try:
                    return replace(await self._folded(given, scope, call), how=how)
                except QueryRefused as refused:
                    _log.info("names are compared as they were typed: %s", refused)
            if whole and every:
                # Without patterns an engine cannot tell a word from a part of one.
                return Hits((), truncated=True, how=how, exhaustive=False)
            template = "search/every_word" if every else "search/any_word"
            found = await self._hits.hits(template, {"words": terms.words}, scope, call)
            how = f"{how}, accents as typed"
            return replace(found, how=how, exhaustive=False, warnings=(_AS_TYPED,))

        return await compare_names(terms.text, scan, call)

    async def _folded(self, given: Mapping[str, Parameter], scope: Scope, call: Call) -> Hits:
        """Compare all names, and local names where these are among the parameters and can be compared."""
        failed: Fault | None = None
        are_joined = bool(self._name_predicates.pairs_compared)
        if local := cast("Sequence[str]", given["local"]):
            try:
                with call.reserving(requests=0.5, time=0.5):
                    return await self._hits.hits("search/folded", given, scope, call)
            except Fault as fault:
                failed = fault
        found = await self._hits.hits("search/folded", {**given, "local": []}, scope, call)
        if isinstance(failed, QueryTooLong) and are_joined and not self._name_predicates.pairs_compared:
            # Joined names alone were too much.
            return await self._folded(given, scope, call)
        if failed is not None:
            self._local.note(failed, local)
        # In this process, the index of all names has local names too, and says where it is not ready.
        return replace(found, local_names=not self._is_remote, fault=failed)


def _together(steps: Sequence[Hits], warning: str = "") -> Hits:
    """Return what all steps found; the last one decides whether that is all."""
    hits: dict[Hit, None] = {}
    warnings = dict.fromkeys([warning] if warning else [])
    for step in steps:
        hits.update(dict.fromkeys(step.hits))
        warnings.update(dict.fromkeys(step.warnings))
    return Hits(
        tuple(hits),
        truncated=any(step.truncated for step in steps),
        how="; ".join(step.how for step in steps),
        exhaustive=steps[-1].exhaustive,
        local_names=steps[-1].local_names,
        absent=steps[-1].absent,
        warnings=tuple(warnings),
        fault=next((step.fault for step in steps if step.fault is not None), None),
    )


_ALL = "urn:bfs-ql:all"
"""Stands for the predicate of all triples."""


class NameCount:
    """Counts names up to a bound, once for each bound."""

    def __init__(self, client: SparqlClient, name_predicates: NamePredicates, local: LocalNameScan) -> None:
        self._client = client
        self._name_predicates = name_predicates
        self._local = local
        self._counted_for: tuple[Iri, ...] = ()
        self._known: dict[int, bool] = {}
        self._are_triples_counted = False

    async def is_at_most(self, bound: int, call: Call) -> bool:
        """Return whether there are at most so many names; False where they cannot be counted."""
        if not self._client.is_remote:
            return True
        names = self._name_predicates
        compared = (*names.all, *chain.from_iterable(names.pairs_compared))
        if self._counted_for != compared:
            self._counted_for, self._known, self._are_triples_counted = compared, {}, False
        triples = [] if self._are_triples_counted else self._local.triples
        if bound not in self._known or triples:
            given: dict[str, Parameter] = {
                **name_parameters(compared),
                "most": bound + 1,
                "triples": triples[0] if triples else 1,
            }
            try:
                rows = (await self._client.rows("search/name_count", call, given)).whole()
                counts = dict(read(rows, iri("p"), integer("count")))
                found = counts.pop(_ALL, 0)
                if triples:
                    self._local.use_count(found)
                    self._are_triples_counted = True
                self._known[bound] = sum(counts.values()) <= bound
            except Fault as fault:
                # An engine may count names, and not so many triples.
                self._local.note_uncounted()
                _log.info("the names of the graph could not be counted: %s", fault)
                return self._known.get(bound, False)
        return self._known[bound]


def variants(text: str, languages: Sequence[str]) -> list[tuple[str, str]]:
    """Return spellings with their language tags, the likeliest first: without one, `en`, `mul` and these languages."""
    tags = dict.fromkeys(["", "en", *languages, "mul"])
    found: list[tuple[str, str]] = []
    room = _ROOM
    for form in dict.fromkeys(_cases(text)):
        room -= len(form) * len(tags)
        if found and room < 0:
            break
        found += [(form, tag) for tag in tags]
    return found


def _cases(text: str) -> Iterator[str]:
    given = " ".join(_UNSENDABLE.sub(" ", text).split())
    for spaced in (given, " ".join(given.replace("_", " ").split())):
        if spaced:
            lower = spaced.lower()
            yield from (spaced, spaced[0].upper() + spaced[1:], lower, lower[0].upper() + lower[1:])
            yield from (string.capwords(spaced), spaced.upper())


_MOST = 5_000
"""Entities that are listed; if there are more, the list is truncated."""


class EntityLister:
    """Lists the entities of a graph by type."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, type_predicates: Sequence[Iri]) -> None:
        self._client = client
        self._rule = rule
        self._type_predicates = type_predicates

    async def of_types(self, types: Sequence[Iri], call: Call, *, at_most: int | None = None) -> Hits:
        """Return the entities of some types; see `GraphStore.of_types`."""
        how = "all entities of these types"
        return await self._listed("search/of_types", {"wanted": types}, how, call, at_most or _MOST)

    async def _listed(
        self, name: str, given: Mapping[str, Parameter], how: str, call: Call, at_most: int | None = None
    ) -> Hits:
        await self._rule.refresh(call)
        asked = {"types": self._type_predicates, **given, **self._rule.evidence_of_nodes}
        rows, truncated = (await self._client.rows(name, call, asked, at_most=at_most)).part()
        hits = tuple(Hit(entity, "", is_synonym=False) for entity in iri("n")(rows))
        return Hits(hits, truncated, how, exhaustive=not truncated)

    async def count(self, types: Sequence[Iri], call: Call) -> int:
        """Return how many nodes that state no evidence have one of some types, blank nodes included.

        Raises:
            Fault: The endpoint could not count them.
        """
        await self._rule.refresh(call)
        given: dict[str, Parameter] = {"types": self._type_predicates, "wanted": types, "one_of": types}
        counted = (await self._client.rows("walks/count", call, given | self._rule.evidence_of_nodes)).whole()
        return sum(
            number if kind.value == "all" else -number
            for kind, number in read(counted, literal("kind"), integer("count"))
        )

    async def untyped(self, call: Call) -> Hits:
        """Return the entities without any type."""
        given = {"no_types": sorted(NO_TYPES)}
        return await self._listed("walks/untyped", given, "all entities without a type", call)


class BlankNodeFinder:
    """Finds out whether a search may have missed blank nodes, where the schema does not say."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile, name_predicates: NamePredicates) -> None:
        self._client = client
        self._rule = rule
        self._type_predicates = profile.edges.types
        # In a Wikibase these are unknown values.
        self._are_values = profile.values.wikibase
        self._name_predicates = name_predicates

    async def has(self, types: Sequence[Iri], call: Call, *, named: bool) -> bool:
        """Return whether there are some; see `GraphStore.has_blank_nodes`."""
        if self._are_values:
            return False
        if named:
            return await has_blank_names(self._client, self._name_predicates.all, self._type_predicates, types, call)
        await self._rule.refresh(call)
        given = {"types": self._type_predicates, "wanted": types, **self._rule.evidence_of_nodes}
        return await self._client.has_rows("search/blank_of_types", call, given)


async def has_blank_names(
    client: SparqlClient, predicates: Sequence[Iri], type_predicates: Sequence[Iri], types: Sequence[Iri], call: Call
) -> bool:
    """Return whether blank nodes have names.

    Args:
        client: Sends the query.
        predicates: The predicates of names.
        type_predicates: The predicates from a node to its types.
        types: Only those with one of these types; empty for any.
        call: Pays for it.

    Raises:
        Fault: The graph could not be asked.
    """
    given: dict[str, Parameter] = {
        **name_parameters(predicates),
        "type_predicates": type_predicates,
        "types": [types] if types else [],
    }
    return await client.has_rows("search/blank_names", call, given)
