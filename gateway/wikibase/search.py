"""A `GraphStore` that searches by the API of a Wikibase: by the beginning of a name or an ID, else by words.

The API does not know the types of the graph, so the graph is asked for the types of the entities that the API found.

Sources: `action=help` of any `api.php` for the modules `wbsearchentities`, `query+search`, `query+siteinfo` and
`wbgetentities`, and Wikibase's ``repo/includes/Api/SearchEntities.php``.

The limits are those of a client without an account (docs/notes/wikimedia.md, "The API of a Wikibase"): 50 entities at
once, and no entity by the beginning of a name beyond the first 100 (`search-continue` ends at 50 in Wikibase's
``SearchEntities.php``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from cachetools import LRUCache
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from gateway.errors import EndpointFault, Fault, counted
from gateway.graph.call import Call
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Hit, HitDetails, Hits, Iri, SearchTerms
from gateway.terms.iri import is_iri
from gateway.terms.names import Fit, Sought, listed_words
from gateway.wikibase.api import SETTING, ApiClient, ValueRefused

Shape = TypeVar("Shape", bound=BaseModel)


def _no_list(value: object) -> object:
    """Take an empty list for an empty table: PHP has one array for both."""
    return {} if value == [] else value


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class Match(_Part):
    """The label or alias that fits, or the ID: `type` is `label`, `alias`, or `entityId`."""

    type: str
    text: str


class Entry(_Part):
    """One entity that was found, with label and description in the wanted language or one that stands in for it."""

    id: str
    concepturi: str
    match: Match
    label: str = ""
    description: str = ""


class Entries(_Part):
    """The answer of `wbsearchentities`, the likeliest first; the next page never begins above 50."""

    search: list[Entry]
    next: int | None = Field(default=None, alias="search-continue")


class Page(_Part):
    """A page of the wiki: its title is the ID of an entity."""

    title: str


class General(_Part):
    """What a wiki says about itself."""

    concept_base: str = Field(default="", alias="wikibase-conceptbaseuri")


class _Query(_Part):
    search: list[Page]
    general: General | None = None


class _Continue(_Part):
    sroffset: int


class Pages(_Part):
    """The answer of `list=search`, maybe with `meta=siteinfo`."""

    query: _Query
    more: _Continue | None = Field(default=None, alias="continue")


class Text(_Part):
    """A label, an alias or a description."""

    value: str


class Entity(_Part):
    """The names and descriptions of one entity, by language; none where it is missing."""

    labels: Annotated[dict[str, Text], BeforeValidator(_no_list)] = Field(default_factory=dict)
    aliases: Annotated[dict[str, list[Text]], BeforeValidator(_no_list)] = Field(default_factory=dict)
    descriptions: Annotated[dict[str, Text], BeforeValidator(_no_list)] = Field(default_factory=dict)


class Entities(_Part):
    """The answer of `wbgetentities`."""

    entities: Annotated[dict[str, Entity], BeforeValidator(_no_list)]


def read(shape: type[Shape], content: Mapping[str, Any]) -> Shape:
    """Return an answer in the shape that it should have; another one is an `EndpointFault`."""
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        raise EndpointFault(
            "The Wikibase API's answer is none that its documentation knows.",
            next_step="The operator of this gateway should check search.api in its profile.",
        ) from error


AT_ONCE = 50
"""Entities in one request: `wbsearchentities` returns no more."""

_LONGEST_NAME = 250
"""Characters of a label or alias at most, in Wikibase as it comes: a longer text is the beginning of none."""

_LONGEST_QUERY = 300
"""Characters of a full-text query at most; a longer one is refused (CirrusSearch, `MaxFullTextQueryLength`)."""

_LANGUAGES = 100
"""Languages that a wiki does not know that are remembered."""

_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

_ID = re.compile(r"<?([^\s<>]*[:/#])?([qp][1-9][0-9]{0,11})>?", re.IGNORECASE)
_ITEM = re.compile(r"Q[1-9][0-9]{0,11}")


@dataclass(frozen=True, slots=True)
class EntityId:
    """An ID that somebody searched for: `Q42`, `P31`. Alone, without a prefix, it may also be a name."""

    text: str
    is_alone: bool

    @property
    def is_property(self) -> bool:
        """Whether it is a property's."""
        return self.text.startswith("P")


def id_in(text: str) -> EntityId | None:
    """Return the ID that a text is: `Q42`, `wd:q42`, a whole IRI; None where it is none."""
    found = _ID.fullmatch(text.strip())
    return EntityId(found[2].upper(), is_alone=found[1] is None) if found else None


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """One entity that was found: its names that fit, and its name and description."""

    hits: Sequence[Hit]
    details: HitDetails


@dataclass(frozen=True, slots=True)
class ApiHits:
    """What one page of a search found.

    Attributes:
        entities: Entities by IRI, the likeliest first.
        next: Where the next page begins; None where there is none.
        more: Whether there are more than can be asked for, so far as is known.
    """

    entities: Mapping[Iri, FoundEntity]
    next: int | None
    more: bool


class ApiRequests:
    """Asks the API of one Wikibase for entities."""

    def __init__(self, client: ApiClient, language: str) -> None:
        self._client = client
        self._language = language
        self._base = ""
        self._unknown: LRUCache[str, bool] = LRUCache(_LANGUAGES)

    def language_of(self, call: Call) -> str:
        """Return the language in which a call searches: that of the profile, unless it asks for one that is known."""
        return self._language if self.is_unknown(call.language) else call.language or self._language

    def is_unknown(self, language: str) -> bool:
        """Return whether the wiki does not know a language, so far as was found out."""
        return language in self._unknown

    async def beginning(self, text: str, kind: str, terms: SearchTerms, start: int, call: Call) -> ApiHits:
        """Ask for an `item` or `property` with a label or an alias that begins with a text, or with this ID."""
        language = self.language_of(call)
        try:
            answer = await self._beginning(text, kind, start, language, call)
        except ValueRefused:
            if language == self._language:
                raise
            answer = await self._beginning(text, kind, start, self._language, call)
            self._unknown[language] = True
        entities = {
            self._iri(entry): FoundEntity((_hit(entry, terms),), HitDetails(entry.label, entry.description))
            for entry in answer.search
        }
        # Beyond the first hundred the API does not say whether there are more.
        more = answer.next is not None or (start > 0 and len(answer.search) >= AT_ONCE)
        return ApiHits(entities, answer.next, more)

    async def _beginning(self, text: str, kind: str, start: int, language: str, call: Call) -> Entries:
        fields = [
            ("action", "wbsearchentities"),
            ("search", _sendable(text)[:_LONGEST_NAME]),
            ("language", language),
            ("uselang", language),
            ("type", kind),
            ("limit", str(AT_ONCE)),
            ("continue", str(start)),
        ]
        return read(Entries, await self._client.ask("wbsearchentities", fields, call))

    async def with_words(self, words: Sequence[str], start: int, call: Call) -> ApiHits:
        """Ask for items whose page has every word, in any name of any language, or in its statements.

        Only IDs come, so each entity has one hit whose text is its ID: `named` has the names. The words are letters,
        digits and marks in lower case, and so nothing that a query language knows.
        """
        about_itself = [] if self._base else [("meta", "siteinfo"), ("siprop", "general")]
        fields = [
            ("action", "query"),
            ("list", "search"),
            ("srsearch", _together(words)),
            ("srnamespace", "0"),
            ("srlimit", str(AT_ONCE)),
            ("sroffset", str(start)),
            ("srprop", ""),
            ("srinfo", ""),
            ("uselang", self.language_of(call)),
            *about_itself,
        ]
        answer = read(Pages, await self._client.ask("search", fields, call))
        if answer.query.general is not None:
            self._base = answer.query.general.concept_base
        ids = [page.title for page in answer.query.search if _ITEM.fullmatch(page.title)]
        if ids and not is_iri(f"{self._base}{ids[0]}"):
            self._base = ""
            raise EndpointFault("The Wikibase API does not say how the IRIs of its entities begin.", next_step=SETTING)
        iris = {id_: f"{self._base}{id_}" for id_ in ids}
        found = {iri: FoundEntity((Hit(iri, id_, is_synonym=True),), HitDetails()) for id_, iri in iris.items()}
        return ApiHits(found, answer.more.sroffset if answer.more else None, answer.more is not None)

    async def named(self, ids: Mapping[str, Iri], sought: Sought, call: Call) -> Mapping[Iri, FoundEntity]:
        """Ask for the names of items (IRIs by ID, 50 at most) found by words; those without a name are left out."""
        fields = [
            ("action", "wbgetentities"),
            ("ids", "|".join(ids)),
            ("props", "labels|aliases|descriptions"),
            ("languages", "|".join(dict.fromkeys([self.language_of(call), "mul"]))),
            ("languagefallback", "1"),
        ]
        answer = read(Entities, await self._client.ask("wbgetentities", fields, call))
        known = {iri: answer.entities[id_] for id_, iri in ids.items() if id_ in answer.entities}
        named = {
            iri: FoundEntity(_names(iri, entity, sought), self._details(entity, call)) for iri, entity in known.items()
        }
        return {iri: found for iri, found in named.items() if found.hits}

    def _details(self, entity: Entity, call: Call) -> HitDetails:
        name, description = (
            next((texts[tag].value for tag in (self.language_of(call), "mul") if tag in texts), "")
            for texts in (entity.labels, entity.descriptions)
        )
        return HitDetails(name, description)

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    def _iri(self, entry: Entry) -> Iri:
        if not is_iri(entry.concepturi) or not entry.concepturi.endswith(entry.id):
            raise EndpointFault("The Wikibase API gives an entity an IRI that is none.", next_step=SETTING)
        self._base = entry.concepturi.removesuffix(entry.id)
        return entry.concepturi


def _hit(entry: Entry, terms: SearchTerms) -> Hit:
    if entry.match.type == "entityId":
        # What was searched for is the ID, in whatever form; so it fits.
        return Hit(entry.concepturi, terms.text.strip(), is_synonym=True)
    return Hit(entry.concepturi, entry.match.text, is_synonym=entry.match.type != "label")


def _names(iri: Iri, entity: Entity, sought: Sought) -> Sequence[Hit]:
    """Return the names with a word of the text, or the labels, where the words stand elsewhere on the page."""
    labels = [Hit(iri, label.value, is_synonym=False) for label in entity.labels.values()]
    aliases = [Hit(iri, one.value, is_synonym=True) for some in entity.aliases.values() for one in some]
    telling = [hit for hit in (*labels, *aliases) if min(sought.fits(hit.text)) < Fit.ABSENT]
    return list(dict.fromkeys(telling or labels))


def _sendable(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(_UNSENDABLE.sub(" ", text).split()))


def _together(words: Sequence[str]) -> str:
    """Return words as one query, as many as it may have."""
    query = ""
    for word in words:
        longer = f"{query} {word}".strip()
        if len(longer) > _LONGEST_QUERY:
            break
        query = longer
    return query or words[0][:_LONGEST_QUERY]


_PAGES = 2
"""Pages of one search at most; the API has no more for the beginning of a name."""

_ENOUGH = 10
"""Entities of the wanted types from which no further page is fetched: the usual limit of a search."""

_API = "the Wikibase API"

_NOTHING = (
    "The Wikibase API found nothing. It knows names by their beginning and pages by their words, so that is no proof "
    "that there is nothing: try another spelling or language, or fewer words."
)

_UNKNOWN_LANGUAGE = 'language: the wiki does not know "{}", so it was searched in "{}".'

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
            return replace(found, warnings=(*found.warnings, f"{found.fault.wrong} {_PARTLY}"))
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
            text = terms.text if entity is None else entity.text
            await results.add(self._beginning(text, "item", terms, call))
            results.how.append(
                f'labels and aliases (language "{self._requests.language_of(call)}") that begin with the text'
            )
        if results.fault is None and not results.entities and may_be_name and terms.words:
            results.how.append(f"its full text, for pages with every word: {listed_words(terms.words)}")
            await results.add(lambda start: self._requests.with_words(terms.words, start, call))
            await results.name(self._requests, Sought.of(terms.text))
        found = results.hits()
        if not self._requests.is_unknown(call.language):
            return found
        unknown = _UNKNOWN_LANGUAGE.format(call.language, self._requests.language_of(call))
        return replace(found, warnings=(unknown, *found.warnings))

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
