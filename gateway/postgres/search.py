"""Finds entities by their names, and lists all names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.errors import EndpointFault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.store import EntityTypes, Name, NamesPage
from gateway.graph.values import Hit, Hits, Iri, SearchTerms
from gateway.postgres.client import PostgresClient, Rows
from gateway.postgres.names import Names
from gateway.postgres.nodes import NodeReader
from gateway.settings.vocabulary import RoleSettings
from gateway.terms.patterns import patterns, words_in
from gateway.terms.words import every_word_of, listed_words

_CANDIDATES = 5_000
"""Matches that are read before they are ranked; if there are more, the hits are `truncated`."""

_MARKS = ("\\p{M}", "\\u0300-\\u036f\\u0591-\\u05bd\\u064b-\\u065f\\u093c\\u0e31\\u0e34-\\u0e3a\\u3099\\u309a")
"""The class of marks in the patterns, and the commonest marks: PostgreSQL's expressions know no Unicode classes."""


class SearchReader:
    """Searches names and synonyms of one graph.

    Args:
        client: Sends the queries.
        ids: The IRIs of IDs.
        terms: The IRIs of types.
    """

    def __init__(self, client: PostgresClient, ids: Names, terms: Names) -> None:
        self._client = client
        self._ids = ids
        self._terms = terms

    async def find(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities; see `GraphStore.search`."""
        if not terms.words:
            return await self.named(terms.text, types, call)
        found = await self._scan(terms.words, types, call, every=True)
        if not found.hits and len(terms.words) > 1:
            found = await self._scan(terms.words, types, call, every=False)
        # A word that was not looked for may be all that a name has.
        return replace(found, exhaustive=set(every_word_of(terms.text)) <= set(terms.words))

    async def _scan(self, words: Sequence[str], types: Sequence[Iri], call: Call, *, every: bool) -> Hits:
        how = f"names and synonyms with {'every word' if every else 'any word of'}: {listed_words(words)}"
        whole = [pattern.replace(*_MARKS) for pattern in patterns(words)]
        wanted = whole if every else ["|".join(whole)]
        found = await self._client.rows(
            "search", call, max(wanted, key=len), wanted, self._types(types), at_most=_CANDIDATES
        )
        hits = self._hits(found)
        # A pattern may have a part of its word only, and ignores more marks than a comparison does.
        least = len(words) if every else 1
        return Hits(tuple(hit for hit in hits if len(words_in(hit.text, words)) >= least), found.is_cut, how)

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities that have a name exactly as it was asked for; see `GraphStore.named`."""
        how = "names and synonyms equal to the text, in any case"
        given = " ".join(text.replace("\0", " ").encode(errors="replace").decode().split())
        if not given:
            return Hits((), truncated=False, how=how, exhaustive=False)
        found = await self._client.rows("named", call, given, self._types(types), at_most=_CANDIDATES)
        return Hits(self._hits(found), found.is_cut, how, exhaustive=False)

    async def of_types(self, types: Sequence[Iri], call: Call) -> Hits:
        """Return the entities of some types; see `GraphStore.of_types`."""
        found = await self._client.rows("of_types", call, self._terms.texts_of(types), at_most=_CANDIDATES)
        hits = dict.fromkeys(Hit(self._ids.iri(node), "", is_synonym=False) for (node,) in found.rows)
        return Hits(tuple(hits), found.is_cut, "all entities of these types", exhaustive=not found.is_cut)

    def _types(self, types: Sequence[Iri]) -> list[str] | None:
        return self._terms.texts_of(types) if types else None

    def _hits(self, found: Rows) -> tuple[Hit, ...]:
        hits = (Hit(self._ids.iri(node), text, is_synonym) for node, text, is_synonym in found.rows)
        return tuple(dict.fromkeys(hits))


class TableNameReader:
    """Lists the names and the synonyms of one graph; see `gateway.graph.store.NameReader`."""

    def __init__(self, client: PostgresClient, ids: Names, nodes: NodeReader, roles: RoleSettings) -> None:
        self._client = client
        self._ids = ids
        self._nodes = nodes
        self._predicates = (*roles.name[:1], *roles.synonym[:1])
        self._synonym = roles.synonym[:1]

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates that stand for the column of names and for that of synonyms."""
        return self._predicates

    async def find_predicates(self, call: Call) -> None:
        """Nothing to detect: the profile names the columns."""

    def use_predicates(self, found: Sequence[Iri]) -> None:
        """Nothing to use: the profile names the columns."""

    def on_change(self, listener: Callable[[], None]) -> None:
        """Never call it: the columns do not change."""

    async def count(self, predicate: Iri, call: Call) -> int:
        """Return how many entities have a name, or a synonym."""
        ((found,),) = (await self._client.rows("name_count", call, predicate in self._synonym)).rows
        return int(found)

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return the names that come after an entity; the first ones where that is empty."""
        is_synonym = predicate in self._synonym
        begin = max(self._ids.texts(after)) if after else ""
        found = await self._client.rows("names_page", call, is_synonym, begin)
        names = [Name(self._ids.iri(node), text, is_synonym) for node, text in found.rows]
        if not found.is_cut:
            return NamesPage(tuple(names), None)
        # Of the last entity there may be more names than came.
        whole = [name for name in names if name.iri != names[-1].iri]
        if not whole:
            raise EndpointFault("An entity has more synonyms than one query may return.")
        return NamesPage(tuple(whole), whole[-1].iri)

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        facts = await self._nodes.facts(entities, call, names=False, descriptions=False)
        unknown = {entity for entity, fact in facts.items() if isinstance(fact.mark.fault, QueryRefused)}
        for entity, fact in facts.items():
            if fact.mark.fault is not None and entity not in unknown:
                raise fact.mark.fault
        return EntityTypes({entity: fact.types for entity, fact in facts.items()}, frozenset(unknown))
