"""Finds entities by their names and by their types, and lists all names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gateway.databases.client import DatabaseClient, DatabaseReader, DatabaseRows, Row
from gateway.databases.nodes import NodeReader
from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.computing import in_thread
from gateway.graph.reading import compare_names, local_hits
from gateway.graph.store import EntityTypes, Name, NamesPage
from gateway.graph.values import WHOLE, Hit, Hits, Iri, Mark, NodeFacts, Schema, SearchTerms
from gateway.terms.iri import is_reached_by, is_skolem, not_sendable
from gateway.terms.local_names import local_patterns
from gateway.terms.names import listed_words, patterns

_CANDIDATES = 5_000
"""Matches that are read before they are ranked; if there are more, the hits are `truncated`."""

_LONGEST = 4_000
"""Characters of a text that the queries return; a longer one is cut."""


class NameIndex(Protocol):
    """An index of names in a database, which may miss some.

    The query `search_index` also has a row without an entity, which says whether the index gave as many as it may.
    """

    async def parameters(
        self, words: Sequence[str], call: Call, *, every: bool, whole: bool, at_most: int
    ) -> Sequence[object]:
        """Return the further parameters of the query `search_index`; none if a search is to compare all names.

        Args:
            words: Words in lower case, of letters, digits and marks only.
            call: The call, which pays for finding the index.
            every: Whether a name is to have all of them, not any.
            whole: Whether it is to have them as words, not as beginnings of words.
            at_most: Entities that the index gives.

        Raises:
            Fault: The database could not be asked for its indexes.
        """
        ...


class SearchReader(DatabaseReader):
    """Searches names and synonyms of one graph."""

    def __init__(
        self, client: DatabaseClient, expression: Callable[[str], str], index: NameIndex | None = None
    ) -> None:
        super().__init__(client)
        self._expression = expression
        self._index = index

    async def find(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities; see `GraphStore.search`."""
        if not terms.words:
            return await self.named(terms.text, types, call)

        async def scan(words: Sequence[str], *, every: bool, whole: bool) -> Hits:
            each, ids = await in_thread(call, lambda _: self._patterns(words, every=every, whole=whole))
            return await self._scan(terms, each, ids, types, call, every=every, whole=whole)

        return await compare_names(terms.text, scan, call)

    def _patterns(
        self, words: Sequence[str], *, every: bool, whole: bool
    ) -> tuple[Sequence[str], Sequence[str] | None]:
        """Return patterns of names, and of IDs; None where there are too many names already."""
        names = list(map(self._expression, patterns(words, whole=whole)))
        ids = None if every and whole else local_patterns(words, every=every, are_iris=False)
        return names, None if ids is None else list(map(self._expression, ids))

    async def _scan(
        self,
        terms: SearchTerms,
        each: Sequence[str],
        ids: Sequence[str] | None,
        types: Sequence[Iri],
        call: Call,
        *,
        every: bool,
        whole: bool,
    ) -> Hits:
        how = f"names and synonyms with {'every word' if every else 'any word of'}: {listed_words(terms.words)}"
        wanted = each if every else ["|".join(each)]
        by_index: Sequence[object] = ()
        if self._index is not None:
            at_most = _CANDIDATES + 1
            by_index = await self._index.parameters(terms.words, call, every=every, whole=whole, at_most=at_most)
        if by_index:
            how = f"the full-text index of the database, which may miss some; {how}"
        found = await self._client.rows(
            "search_index" if by_index else "search",
            call,
            max(wanted, key=len),
            wanted,
            self._types(types),
            *(by_index or [ids]),
            # One row of an index is about no entity.
            at_most=_CANDIDATES + bool(by_index),
        )
        hits, is_cut, mark = self._hits(found, terms.text)
        # The end of a text that is cut was not compared.
        is_whole = all(len(hit.text) < _LONGEST for hit in hits)
        is_cut = is_cut or bool(by_index and mark)
        return Hits(hits, is_cut, how, exhaustive=is_whole and not by_index, local_names=mark is None)

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities that have a name exactly as it was asked for; see `GraphStore.named`."""
        how = "names and synonyms equal to the text, in any case"
        given = " ".join(text.replace("\0", " ").encode(errors="replace").decode().split())
        if not given:
            return Hits((), truncated=False, how=how, exhaustive=False)
        found = await self._client.rows("named", call, given, self._types(types), at_most=_CANDIDATES)
        hits, is_cut, _ = self._hits(found, text)
        return Hits(hits, is_cut, how, exhaustive=False)

    async def of_types(self, types: Sequence[Iri], call: Call, *, at_most: int | None = None) -> Hits:
        """Return the entities of some types; see `GraphStore.of_types`."""
        found = await self._client.rows("of_types", call, self._terms.texts_of(types), at_most=at_most or _CANDIDATES)
        rows, is_cut = found.part()
        hits = dict.fromkeys(Hit(self._ids.iri(node), "", is_synonym=False) for (node,) in rows)
        return Hits(tuple(hits), is_cut, "all entities of these types", exhaustive=not is_cut)

    def _types(self, types: Sequence[Iri]) -> list[str] | None:
        return self._terms.texts_of(types) if types else None

    def _hits(self, found: DatabaseRows, typed: str) -> tuple[tuple[Hit, ...], bool, bool | None]:
        """Return the hits, whether there are, or may be, more, and the flag of a row about no entity, if there is one.

        From an index, it says whether that has more entities than it gave, which may be the ones with the types asked
        for; from a scan, that IDs were not compared.
        """
        rows, is_cut = found.part()
        hits: dict[Hit, None] = {}
        mark: bool | None = None
        for node, text, flag in rows:
            if node is None:
                mark = flag
            elif text is None:
                hits.update(dict.fromkeys(local_hits(self._ids.iri(node), typed)))
            else:
                hits[Hit(self._ids.iri(node), text, is_synonym=flag)] = None
        return tuple(hits), is_cut, mark


class ColumnNameReader(DatabaseReader):
    """Lists the names and the synonyms of one graph; see `gateway.graph.store.NameReader`."""

    def __init__(self, client: DatabaseClient, nodes: NodeReader) -> None:
        super().__init__(client)
        roles = client.profile.roles
        self._nodes = nodes
        self._predicates = (*roles.name[:1], *roles.synonym[:1])
        self._synonym = roles.synonym[:1]

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates that stand for the column of names and for that of synonyms."""
        return self._predicates

    async def find_predicates(self, call: Call) -> None:
        """Nothing to detect: the profile names the columns."""

    def use_predicates(self, schema: Schema) -> None:
        """Nothing to use: the profile names the columns."""

    def on_change(self, listener: Callable[[], None]) -> None:
        """Never call it: the columns do not change."""

    async def counts(self, predicates: Sequence[Iri], allowance: Callable[[], Call]) -> Sequence[int]:
        """Return how many entities have a name, and how many a synonym."""
        asked = [await self._client.rows("name_count", allowance(), one in self._synonym) for one in predicates]
        return [int(found) for rows in asked for (found,) in rows.whole()]

    async def page(self, predicate: Iri, after: str, call: Call) -> NamesPage:
        """Return the names that come after an ID as the database has it; the first ones where that is empty."""
        is_synonym = predicate in self._synonym
        rows, is_cut = (await self._client.rows("names_page", call, is_synonym, after or None)).part()
        if is_cut:
            # Of the last entity there may be more names than came.
            rows = [row for row in rows if row[0] != rows[-1][0]]
            if not rows:
                raise EndpointFault("An entity has more synonyms than one query may return.")
        names = tuple(Name(self._ids.iri(node), text, is_synonym) for node, text in rows)
        return NamesPage(names, rows[-1][0] if is_cut else None)

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        return EntityTypes.of(await self._nodes.facts(entities, call, names=False))


_WITHOUT_TYPE = NodeFacts()


class TypedNodeReader(DatabaseReader):
    """Lists nodes of one graph."""

    def __init__(self, client: DatabaseClient, nodes: NodeReader) -> None:
        super().__init__(client)
        self._nodes = nodes

    async def of_types(self, types: Sequence[Iri], call: Call) -> tuple[tuple[Iri, ...], Mark]:
        """Return the nodes that have one of some types, as far as the rows of the call reach.

        Raises:
            Fault: The graph could not be asked, and no node is known.
        """
        rows, mark = await self._rows("typed_page", [self._terms.texts_of(types)], call)
        return sendable_nodes({self._ids.iri(node): None for (node,) in rows}, mark)

    async def untyped(self, call: Call) -> tuple[tuple[Iri, ...], Mark]:
        """Return the nodes without a type; see `of_types`."""
        rows, mark = await self._rows("untyped_page", [], call)
        doubtful = {(iri := self._ids.iri(node)): is_doubtful or self._ids.has_curie(iri) for node, is_doubtful in rows}
        # The row with the types of a node may write it in another way.
        facts = await self._nodes.facts([node for node, is_so in doubtful.items() if is_so], call, names=False)
        without = (node for node in doubtful if node not in facts or facts[node] == _WITHOUT_TYPE)
        # What blank nodes without a type are put under is no node.
        found = {node: None for node in without if not is_reached_by(node)}
        for one in facts.values():
            mark = mark if one.mark.whole or not mark.whole else Mark(one.mark.fault, len(found))
        return sendable_nodes(found, mark)

    async def _rows(self, query: str, parameters: Sequence[object], call: Call) -> tuple[Sequence[Row], Mark]:
        """Return the rows of all pages, as far as the call may read them.

        Raises:
            Fault: There is no page.
        """
        rows: list[Row] = []
        while True:
            try:
                at_most = max(1, min(self._client.query_rows, call.rows))
                after = rows[-1][0] if rows else None
                page, is_cut = (await self._client.rows(query, call, *parameters, after, at_most=at_most)).part()
            except Fault as fault:
                if not rows:
                    raise
                return rows, Mark(fault, len(rows))
            rows += page
            if not is_cut:
                return rows, WHOLE


def sendable_nodes(found: dict[Iri, None], mark: Mark = WHOLE) -> tuple[tuple[Iri, ...], Mark]:
    """Return the nodes that can be sent, with a mark that is not whole where others are left out."""
    bad = {iri for iri in not_sendable(found) if not is_skolem(iri)}
    if not bad:
        return tuple(found), mark
    nodes = tuple(node for node in found if node not in bad)
    return nodes, mark if mark.fault is not None else Mark(no_id(), len(nodes))


def no_id() -> QueryRefused:
    """Return the fault of an answer that lacks a node which no caller could ask for."""
    return QueryRefused("A node that belongs to this answer has an ID that is no IRI, or is too long.")
