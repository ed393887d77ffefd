"""A `GraphStore` that searches by the API of a Wikibase: by the beginning of a name or an ID, else by words.

The API does not know the types of the graph, so the graph is asked for the types of the entities that the API found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from gateway.errors import Fault, counted
from gateway.graph.call import Call
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Hits, Iri, SearchTerms
from gateway.terms.names import Sought, listed_words
from gateway.wikibase.protocol import AT_ONCE, ApiHits, ApiRequests, FoundEntity, id_in

_PAGES = 2
"""Pages of one search at most; the API has no more for the beginning of a name."""

_ENOUGH = 10
"""Entities of the wanted types from which no further page is fetched: the usual limit of a search."""

_API = "the Wikibase API"

_NOTHING = (
    "The Wikibase API found nothing. It knows names by their beginning and pages by their words, so that is no proof "
    "that there is nothing: try another spelling or language, or fewer words."
)

_OTHER_TYPES = (
    "node_types: the Wikibase API found {found} for this text, none of them with one of these types here "
    "(with no type here at all: {typeless}). Search without node_types to see them."
)

_Fetch = Callable[[int], Awaitable[ApiHits]]
"""Fetches the page that begins at an offset."""

_PARTLY = "So there may be more that fit. Try again later."
_EXACT = "Only exact names were looked up, in the graph itself: others that fit are missing. Try again later."


class WikibaseStore(DelegatingStore):
    """A graph store that searches by an API; the store below answers everything else."""

    def __init__(self, inner: GraphStore, requests: ApiRequests) -> None:
        super().__init__(inner)
        self._requests = requests

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by the API; if it fails, by exact names in the graph.

        Raises:
            Fault: The API failed, and the graph has no name that equals the text; or the graph failed.
        """
        found = await self.search_by_api(terms, types, call)
        if found.fault is None:
            return found
        if found.hits:
            return replace(found, warnings=(f"{found.fault.wrong} {_PARTLY}",))
        exact = await self._inner.named(terms.text, types, call)
        if not exact.hits:
            raise found.fault
        how, warning = f"{found.how}; {exact.how}", f"{found.fault.wrong} {_EXACT}"
        return replace(exact, how=how, exhaustive=False, warnings=(warning,), fault=found.fault)

    async def search_by_api(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by the API; its fault is in the result, with the entities found before it.

        Raises:
            Fault: The graph could not be asked for types.
        """
        results = _Results(self._inner, types, call)
        entity = id_in(terms.text)
        may_be_name = entity is None or entity.is_alone
        if entity is not None and entity.is_property:
            results.how.append(f"the property {entity.text}")
            await results.add(self._beginning(entity.text, "property", terms, call))
        if results.fault is None and (may_be_name or not results.how):
            results.how.append(f'labels and aliases (language "{self._requests.language}") that begin with the text')
            text = terms.text if entity is None else entity.text
            await results.add(self._beginning(text, "item", terms, call))
        if results.fault is None and not results.entities and may_be_name and terms.words:
            results.how.append(f"its full text, for pages with every word: {listed_words(terms.words)}")
            await results.add(lambda start: self._requests.with_words(terms.words, start, call))
            await results.name(self._requests, Sought.of(terms.text))
        return results.hits()

    def _beginning(self, text: str, kind: str, terms: SearchTerms, call: Call) -> _Fetch:
        return lambda start: self._requests.beginning(text, kind, terms, start, call)

    async def close(self) -> None:
        """Close connections and stop threads."""
        await self._requests.close()
        await super().close()


class _Results:
    """The results of one search so far: what was searched, as phrases (`how`), and entities, the likeliest first."""

    def __init__(self, graph: GraphStore, types: Sequence[Iri], call: Call) -> None:
        self.how: list[str] = []
        self.entities: dict[Iri, FoundEntity] = {}
        self.truncated = False
        self.fault: Fault | None = None
        self._call = call
        self._graph = graph
        self._types = frozenset(types)
        self._of_others: dict[Iri, bool] = {}

    async def add(self, fetch: _Fetch) -> None:
        """Add the entities of the first page, and of the next one if too few have a wanted type."""
        start, more = 0, False
        for _ in range(_PAGES):
            try:
                with self._call.reserving(requests=0.5, time=0.5):
                    found = await fetch(start)
            except Fault as fault:
                self.fault = fault
                # What a first page lacks is in the next.
                self.truncated = self.truncated or start > 0
                return
            for iri, entity in (await self._of_types(found.entities)).items():
                self.entities.setdefault(iri, entity)
            more = found.more
            if found.next is None or not self._types or len(self.entities) >= _ENOUGH:
                break
            start = found.next
        self.truncated = self.truncated or more

    async def name(self, requests: ApiRequests, sought: Sought) -> None:
        """Fetch the names of the entities; those whose names cannot be fetched stay without."""
        ids = {entity.hits[0].text: iri for iri, entity in self.entities.items()}
        while ids and self.fault is None:
            part = {id_: ids.pop(id_) for id_ in list(ids)[:AT_ONCE]}
            try:
                with self._call.reserving(requests=0.5, time=0.5):
                    self.entities |= await requests.named(part, sought, self._call)
            except Fault as fault:
                self.fault = fault

    async def _of_types(self, entities: Mapping[Iri, FoundEntity]) -> Mapping[Iri, FoundEntity]:
        if not self._types or not entities:
            return entities
        facts = await self._graph.nodes(list(entities), self._call, names=False)
        for fact in facts.values():
            if fact.mark.fault is not None:
                raise fact.mark.fault
        self._of_others |= {iri: bool(fact.types) for iri, fact in facts.items() if self._types.isdisjoint(fact.types)}
        return {iri: entity for iri, entity in entities.items() if iri not in self._of_others}

    def _warnings(self) -> tuple[str, ...]:
        if self.entities:
            return ()
        if self._of_others:
            typeless = sum(not has_types for has_types in self._of_others.values())
            return (_OTHER_TYPES.format(found=counted(len(self._of_others), "entity"), typeless=typeless),)
        return (_NOTHING,) if self.fault is None else ()

    def hits(self) -> Hits:
        """Return the results as the port has them."""
        how = f"{_API}: {'; '.join(self.how)}"
        return Hits(
            tuple(hit for entity in self.entities.values() for hit in entity.hits),
            truncated=self.truncated,
            how=how if self.fault is None else f"{how} (it did not answer all of this)",
            exhaustive=False,
            warnings=self._warnings(),
            fault=self.fault,
            weights={iri: 1.0 / place for place, iri in enumerate(self.entities, 1)},
            details={iri: entity.details for iri, entity in self.entities.items()},
        )
