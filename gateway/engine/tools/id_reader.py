"""Reads the IDs in an argument; a name counts as one where it can mean one entity only (decision 0026)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gateway.engine import messages
from gateway.engine.arguments import MAX_QUERY, Arguments, SearchEntities, expanded
from gateway.engine.presentation.page import PageHit, SearchPage
from gateway.engine.presentation.reference_shape import REFERENCE
from gateway.engine.schema.cache import SchemaCache
from gateway.engine.tools.search import EntitySearcher
from gateway.errors import InputError, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap, in_prose
from gateway.terms.words import cut

_SHOWN = 5
"""Entities that an error about a name lists."""

_DESCRIBED = 70
"""Characters of the name, type and description of an entity in an error."""

_TIME_FOR_NAMES = 0.5
"""The share of its time that a call waits for the names of the graph at most."""

_EXACT = frozenset({"label", "alias"})


@dataclass(slots=True)
class ReadIds:
    """The entities that an argument means.

    Attributes:
        iris: The entity of each text, in the order of the argument.
        names: The entity that each text means which is a name, and the name of that entity, if it has another one.
    """

    iris: list[Iri] = field(default_factory=list)
    names: dict[str, tuple[Iri, str]] = field(default_factory=dict)

    @property
    def distinct(self) -> list[Iri]:
        """The entities, each once."""
        return list(dict.fromkeys(self.iris))

    def warnings(self, prefixes: PrefixMap) -> list[str]:
        """Return a sentence for each name."""
        return [
            messages.taken_for(quoted(text), prefixes.in_prose(iri), quoted(name) if name else "")
            for text, (iri, name) in self.names.items()
        ]


def given_iris(arguments: Arguments, prefixes: PrefixMap) -> frozenset[Iri]:
    """Return the IRIs that the texts of all arguments may mean, whatever they are."""
    iris: set[Iri] = set()
    for text in _texts([*vars(arguments).values()]):
        with suppress(InputError):
            iris.add(prefixes.expand(prefixes.without_name(text.removeprefix("^"))))
    return frozenset(iris)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


class IdReader:
    """Reads IDs, and looks up names that stand in their place."""

    def __init__(
        self,
        searcher: EntitySearcher,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
    ) -> None:
        self._searcher = searcher
        self._store = store
        self._schema_cache = schema_cache
        self._is_part = bool(profile.endpoint.other_graph)
        self._prefixes = prefixes

    async def read(self, argument: str, texts: Sequence[str], call: Call) -> ReadIds:
        """Return the entities that the texts of an argument mean.

        Raises:
            InputError: A text is neither an ID nor a name that one entity alone has.
            Fault: A name could not be looked up.
        """
        found = ReadIds()
        for position, text in enumerate(texts):
            place = f"{argument}[{position}]" if argument.endswith("s") else argument
            try:
                (iri,) = expanded(place, [text], self._prefixes)
            except InputError as error:
                if not self._may_be_name(text):
                    raise
                hit = await self._named(text.strip(), error, call)
                iri = self._prefixes.expand(hit.id)
                found.names[text] = iri, hit.name if hit.match == "alias" else ""
            found.iris.append(iri)
        return found

    def has_names(self, texts: Sequence[str]) -> bool:
        """Return whether one of the texts of an argument is no ID and may be a name."""
        return any(self._may_be_name(text) and not self._is_id(text) for text in texts)

    def _is_id(self, text: str) -> bool:
        try:
            expanded("", [text], self._prefixes)
        except InputError:
            return False
        return True

    def _may_be_name(self, text: str) -> bool:
        """Return whether a text that is no ID may be a name: it has a word, and nothing of an IRI."""
        return len(text) <= MAX_QUERY and "://" not in text and not text.startswith("<")

    async def _named(self, name: str, no_id: InputError, call: Call) -> PageHit:
        await self._wait_for_names(call)
        try:
            page = await self._searcher.search(SearchEntities(query=name), REFERENCE, call)
        except InputError:
            # A text without a word is no name.
            raise no_id from None
        exact = [hit for hit in page.hits if hit.match in _EXACT]
        if len(exact) == 1 and _lists_all_exact(page) and page.complete and not self._is_part:
            return exact[0]
        raise self._unresolved(no_id, page, exact) from no_id

    async def _wait_for_names(self, call: Call) -> None:
        """Wait until all names of the graph can be compared, no longer than a part of the time of the call."""

        async def report(read: int, total: int) -> None:
            await call.progress(read, total, messages.reading_names(total))

        # It finds out which predicates are names.
        await self._schema_cache.view(call)
        with suppress(TimeoutError), call.tally.waiting():
            async with asyncio.timeout(call.deadline.seconds_left * _TIME_FOR_NAMES):
                await self._store.prepared(report)

    def _unresolved(self, no_id: InputError, page: SearchPage, exact: Sequence[PageHit]) -> InputError:
        """Return the error of a name that no entity has, that several have, or that others may have."""
        near = exact or page.hits or page.guesses
        listed = "; ".join(_described(hit, page) for hit in near[:_SHOWN])
        doubt = "" if page.exhaustive else " ".join(page.warnings)
        if not exact:
            unsure = "" if page.exhaustive else messages.NOT_ALL_COMPARED
            return messages.no_entity_of_this_name(no_id, listed, doubt or unsure)
        return messages.several_of_this_name(no_id, listed, len(exact), doubt)


def _lists_all_exact(page: SearchPage) -> bool:
    """Return whether all entities of a name are listed: they come first, and a page has as many as fit."""
    return len(page.hits) == page.found or page.hits[-1].match not in _EXACT


def _described(hit: PageHit, page: SearchPage) -> str:
    """Return an entity as an error lists it."""
    kind = page.labels.get(hit.entity_type, hit.entity_type)
    about = cut(", ".join(filter(None, [hit.name, kind, hit.description])), _DESCRIBED)
    return f"{in_prose(hit.id)} ({quoted(about)})"
