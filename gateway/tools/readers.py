"""IDs of a call, and names in their place, as the graph knows them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from gateway import messages
from gateway.answers.page import PageHit, SearchPage
from gateway.answers.reference import REFERENCE
from gateway.arguments import (
    MAX_HITS,
    MAX_QUERY,
    Arguments,
    SearchEntities,
    expanded,
)
from gateway.errors import AllWrongError, Fault, InputError, UnresolvedNameError, counted, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, Iri
from gateway.schema.cache import SchemaCache
from gateway.schema.types import UNTYPED
from gateway.schema.view import first_warnings
from gateway.settings.profile import Profile
from gateway.terms.local_names import local_part
from gateway.terms.names import cut, fold
from gateway.terms.prefixes import PrefixMap, in_prose
from gateway.tools.local_names import with_local_name
from gateway.tools.search import DEPRECATED_HIT, EntitySearcher

_SHOWN = 5
"""Entities that an error about a name lists."""

_DESCRIBED = 70
"""Characters of the name, type and description of an entity in an error."""

_TIME_FOR_NAMES = 0.5
"""The share of its time that a call waits for the names of the graph at most."""

_EXACT = frozenset({"label", "alias", "code"})

MOST_WRONG = 20
"""Texts of one argument that mean nothing, after which no further text is read."""

_OTHERS = 3
"""Other entities of a name that a warning lists."""

_SHORT = 40
"""Characters of the description of each of these."""

_MOST_EDGES = 10_000
"""Edges of an entity that are counted to compare it with others of its name."""

_AS_LABEL = 3
_TIMES = 5
"""Edges of an entity that has a name as its label weigh so much, and one stands out that has so many times as many.

Tried on 190 questions about 40,000 entities of Wikidata: 153 right, 2 wrong, 35 in which none stood out."""

_UNKNOWN: Mapping[str, Degree] = {}


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """The entity for which a name was taken.

    Attributes:
        iri: The entity.
        name: Its name, if the text is another one.
        others: The other entities of this name, for a sentence; empty where there are none.
        by_local_name: Whether the text is no name of it, and the local name of its IRI.
    """

    iri: Iri
    name: str = ""
    others: str = ""
    by_local_name: bool = False


@dataclass(slots=True)
class ReadIds:
    """The entities that an argument means.

    Attributes:
        argument: The argument.
        iris: The entity of each text, in the order of the argument.
        names: The entity that each text means which is a name.
        wrong: The texts that are left out, and what is wrong with each.
    """

    argument: str
    iris: list[Iri] = field(default_factory=list)
    names: dict[str, NamedEntity] = field(default_factory=dict)
    wrong: list[tuple[str, InputError]] = field(default_factory=list)

    @property
    def distinct(self) -> list[Iri]:
        """The entities, each once."""
        return list(dict.fromkeys(self.iris))

    def warnings(self, prefixes: PrefixMap) -> list[str]:
        """Return a sentence for each name, and for what is left out."""
        named = [_taken(text, one, prefixes) for text, one in self.names.items()]
        return [*named, *first_warnings(self.argument, [messages.left_out(error) for _, error in self.wrong])]

    def spared(self, prefixes: PrefixMap) -> Mapping[str, tuple[Iri, str]]:
        """Return the sentences that are needless beside an entity with the very name, with that entity and name."""
        return {
            _taken(text, one, prefixes): (one.iri, text)
            for text, one in self.names.items()
            if not (one.name or one.others or one.by_local_name)
        }


def _taken(text: str, one: NamedEntity, prefixes: PrefixMap) -> str:
    entity = prefixes.in_prose(one.iri)
    if one.by_local_name:
        return taken_by_local_name(quoted(text), entity)
    return taken_for(quoted(text), entity, quoted(one.name) if one.name else "", one.others)


def given_iris(arguments: Arguments, prefixes: PrefixMap) -> frozenset[Iri]:
    """Return the IRIs that the texts of all arguments may mean, whatever they are."""
    iris: set[Iri] = set()
    for text in texts_in([*vars(arguments).values()]):
        with suppress(InputError):
            iris.update(prefixes.meanings(prefixes.without_name(text.removeprefix("^"))))
    return frozenset(iris)


def texts_in(value: object) -> Iterator[str]:
    """Return all texts in the value of an argument."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)


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

    async def read(self, argument: str, texts: Sequence[str], call: Call, *, leaves_out: bool = False) -> ReadIds:
        """Return the entities that the texts of an argument mean.

        Args:
            argument: The name of the argument.
            texts: The texts.
            call: The call.
            leaves_out: Whether texts that mean none are left out, with a warning, if another one means one.

        Raises:
            InputError: A text is neither an ID nor a name that one entity alone has, or by far the most linked one.
            Fault: A name could not be looked up.
        """
        found = ReadIds(argument)
        there = await self._that_exist(texts, call)
        for position, text in enumerate(texts):
            place = f"{argument}[{position}]" if argument.endswith("s") else argument
            try:
                found.iris.append(await self._meant(place, text, there, found, call))
            except InputError as error:
                found.wrong.append((text, error))
            if len(found.wrong) == MOST_WRONG:
                if not texts[position + 1 :]:
                    break
                # Each is a search of its own. An answer about some of them would not be about all that mean something.
                others = [error for _, error in found.wrong]
                raise messages.all_wrong([not_read(argument, len(texts) - position - 1), *others])
        if found.wrong and not (leaves_out and found.iris):
            told = messages.all_wrong([error for _, error in found.wrong])
            if len(found.wrong) == 1:
                raise told
            raise AllWrongError(told.wrong, valid=told.valid, next_step=told.next_step, errors=dict(found.wrong))
        return found

    async def _meant(self, place: str, text: str, there: Mapping[Iri, Iri], found: ReadIds, call: Call) -> Iri:
        try:
            iri = expanded(place, text, self._prefixes)
        except InputError as error:
            if not self._may_be_name(text):
                raise
            found.names[text] = await self._named(text.strip(), error, call)
            return found.names[text].iri
        return there.get(iri) or await self._identified(place, text, iri, call)

    async def _that_exist(self, texts: Sequence[str], call: Call) -> Mapping[Iri, Iri]:
        """Return, by the IRI as which a text is read, the IRI of those that it may mean which the graph has.

        Raises:
            Fault: Which of them the graph has could not be found out.
        """
        meant = {}
        for text in texts:
            with suppress(InputError):
                first, *others = self._prefixes.meanings(self._prefixes.without_name(text))
                if others:
                    meant[first] = [first, *others]
        if not meant:
            return {}
        found = await self._store.existing(list(dict.fromkeys(chain.from_iterable(meant.values()))), call)
        if unread := next((one.mark.fault for one in found.values() if one.mark.fault is not None), None):
            raise unread
        there = {first: [iri for iri in iris if found[iri].exists] for first, iris in meant.items()}
        return {first: iris[0] for first, iris in there.items() if iris}

    async def _identified(self, place: str, text: str, iri: Iri, call: Call) -> Iri:
        """Return the entity that has a text as its identifier, where that may be one; else the IRI that it is.

        Raises:
            InputError: Several have it, or others than the one that was found may have it.
            Fault: It could not be looked up, or not every name could be compared.
        """
        bare = self._prefixes.without_name(text)
        if not self._prefixes.is_undeclared(bare):
            return iri
        await self._wait_for_names(call)
        page = await self._searcher.search(SearchEntities(query=bare), REFERENCE, call, tells_apart=False)
        exact = [hit for hit in page.hits if hit.match in _EXACT]
        if len(exact) > 1:
            raise self._unresolved(several_have(place, quoted(bare)), page, exact)
        if exact and not self._is_only(page):
            raise self._unresolved(no_iri_here(place, quoted(bare)), page, exact)
        if not exact and (page.truncated or not (page.exhaustive or page.has_all_names)):
            raise not_looked_up(place, quoted(bare), " ".join(page.warnings))
        return self._prefixes.expand(exact[0].id) if exact else iri

    def _is_only(self, page: SearchPage) -> bool:
        """Return whether no other entity than the exact hit of a search can have the name."""
        # A local name stands behind names.
        are_all = page.has_all_names if page.hits and page.hits[0].match in _EXACT else page.complete
        return _lists_all_exact(page) and are_all and not self._is_part

    def has_names(self, texts: Sequence[str]) -> bool:
        """Return whether one of the texts of an argument is no ID and may be a name."""
        return any(self._may_be_name(text) and not self.is_id(text) for text in texts)

    def is_id(self, text: str) -> bool:
        """Return whether a text is an ID."""
        try:
            self._prefixes.expand(self._prefixes.without_name(text))
        except InputError:
            return False
        return True

    def _may_be_name(self, text: str) -> bool:
        """Return whether a text that is no ID may be a name: it has a word, and nothing of an IRI."""
        return len(text) <= MAX_QUERY and "://" not in text and not text.startswith("<")

    async def _named(self, name: str, no_id: InputError, call: Call) -> NamedEntity:
        await self._wait_for_names(call)
        search = partial(self._searcher.search, shape=REFERENCE, call=call, tells_apart=False)
        try:
            page = await search(SearchEntities(query=name))
        except InputError:
            # A text without a word is no name.
            raise no_id from None
        exact = self._exact(name, page)
        if exact and not _lists_all_exact(page):
            page = await search(SearchEntities(query=name, limit=MAX_HITS))
            exact = self._exact(name, page)
        if len(exact) == 1 and self._is_only(page):
            return self._taken(exact[0], "")
        degrees = await self._degrees(exact, call)
        if self._is_only(page) and (most := _standing_out(_likeliest(name, exact), degrees)) is not None:
            others = [hit for hit in exact if hit is not most]
            return self._taken(most, _listed(name, others, page, degrees))
        if not exact and (iri := await self._of_local_name(name, page, call)) is not None:
            return NamedEntity(iri, by_local_name=True)
        raise self._unresolved(no_id, page, exact, degrees) from no_id

    async def _of_local_name(self, name: str, page: SearchPage, call: Call) -> Iri | None:
        """Return the node that a text is the local name of, where no entity is called so; None if several are, or none.

        Raises:
            Fault: Whether the graph has one could not be found out.
        """
        # A node without a name is called by its local name, in whatever namespace.
        are_all = page.exhaustive and page.has_all_names and not page.truncated and not self._is_part
        if not (are_all and self._prefixes.are_all_looked_at):
            return None
        found = await with_local_name(name, self._prefixes, self._store, call)
        return found[0] if len(found) == 1 else None

    def _taken(self, hit: PageHit, others: str) -> NamedEntity:
        shown = hit.name if hit.match == "alias" else ""
        return NamedEntity(self._prefixes.expand(hit.id), shown, others)

    async def _degrees(self, hits: Sequence[PageHit], call: Call) -> Mapping[str, Degree]:
        """Return how many edges entities of one name have, by their IDs; of one alone, that is not asked."""
        if len(hits) < len(("one", "another")):
            return {}
        iris = {hit.id: self._prefixes.expand(hit.id) for hit in hits}
        found = await self._store.degrees(list(iris.values()), _MOST_EDGES, call)
        return {name_id: found[iri] for name_id, iri in iris.items() if found[iri].mark.whole}

    def _exact(self, name: str, page: SearchPage) -> list[PageHit]:
        """Return the hits that have a name, or if there are none, those whose local name, without a prefix, it is."""
        if exact := [hit for hit in page.hits if hit.match in _EXACT]:
            return exact
        wanted = fold(name)
        local = ((hit, local_part(self._prefixes.expand(hit.id))) for hit in page.hits if hit.match == "id")
        return [hit for hit, called in local if fold(called) == wanted]

    async def _wait_for_names(self, call: Call) -> None:
        """Wait until all names of the graph can be compared, no longer than a part of the time of the call."""

        async def report(read: int, total: int) -> None:
            await call.progress(read, total, messages.reading_names(total))

        # It finds out which predicates are names.
        await self._schema_cache.view(call)
        with suppress(TimeoutError), call.tally.waiting():
            async with asyncio.timeout(call.deadline.seconds_left * _TIME_FOR_NAMES):
                await self._store.prepared(report)

    def _unresolved(
        self, no_id: InputError, page: SearchPage, exact: Sequence[PageHit], degrees: Mapping[str, Degree] = _UNKNOWN
    ) -> InputError:
        """Return the error of a name that no entity has, that several have, or that others may have."""
        near = exact or [*page.hits, *page.guesses, *page.by_meaning]
        listed = "; ".join(_described(hit, page, degrees) for hit in near[:_SHOWN])
        # Of a scan that was cut, what is missing may have the name.
        is_sure = page.exhaustive and not page.truncated
        doubt = "" if is_sure else " ".join(page.warnings)
        if not exact:
            unsure = "" if is_sure else NOT_ALL_COMPARED
            return no_entity_of_this_name(no_id, listed, doubt or unsure)
        count = f"{len(exact):,}" if _lists_all_exact(page) else f"at least {len(exact):,}"
        is_one = not exact[1:]
        if not is_one:
            uncounted = degrees is not _UNKNOWN and any(hit.id not in degrees for hit in exact)
            doubt = EDGES_NOT_COUNTED if uncounted else ""
        return several_of_this_name(no_id, listed, count, are_all=len(exact) <= _SHOWN, is_one=is_one, doubt=doubt)


def _lists_all_exact(page: SearchPage) -> bool:
    """Return whether all entities of a name are listed: they come first, and a page has as many as fit."""
    return len(page.hits) == page.found or page.hits[-1].match not in {*_EXACT, "id"}


def _likeliest(name: str, hits: Sequence[PageHit]) -> Sequence[PageHit]:
    """Return those of several entities of one name that are the likeliest.

    Those that are not deprecated, of these those that have it in the language of the call, and of these those that are
    spelt so.
    """
    current = [hit for hit in hits if not hit.description.startswith(DEPRECATED_HIT.strip())] or hits
    in_language = [hit for hit in current if hit.is_in_language] or current
    return [hit for hit in in_language if _is_spelt(hit, name)] or in_language


def _is_spelt(hit: PageHit, name: str) -> bool:
    # Behind a name in another language stands which that is.
    return name in {hit.name, hit.matched} or (hit.matched or "").startswith(f"{name}@")


def _standing_out(hits: Sequence[PageHit], degrees: Mapping[str, Degree]) -> PageHit | None:
    """Return the entity of several of one name that is by far the most linked; None if none is, or it is not known."""
    if not hits or any(hit.id not in degrees for hit in hits):
        return None
    if len(hits) == 1:
        return hits[0]
    weights = {hit.id: degrees[hit.id].count * (_AS_LABEL if hit.match == "label" else 1) for hit in hits}
    most, *others = sorted(hits, key=lambda hit: (-weights[hit.id], hit.id))
    if not all(degrees[hit.id].exact for hit in others):
        return None
    # Of entities without edges, one with a single edge does not stand out.
    return most if weights[most.id] >= _TIMES * max(1, *(weights[hit.id] for hit in others)) else None


def _listed(name: str, hits: Sequence[PageHit], page: SearchPage, degrees: Mapping[str, Degree]) -> str:
    """Return the others of a name for a sentence, the first ones, and how many more there are.

    What is called otherwise is told by what it is called.
    """
    wanted = {"", fold(name)}
    brief = [
        replace(hit, description=cut(hit.description, _SHORT))
        if fold(hit.name) in wanted
        else replace(hit, entity_type=UNTYPED, description="")
        for hit in hits[:_OTHERS]
    ]
    shown = [_described(hit, page, degrees) for hit in brief]
    more = len(hits) - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more else [])])


def _described(hit: PageHit, page: SearchPage, degrees: Mapping[str, Degree]) -> str:
    """Return an entity as an error lists it."""
    kind = "" if hit.entity_type == UNTYPED else page.labels.get(hit.entity_type, hit.entity_type)
    about = quoted(cut(", ".join(filter(None, [hit.name, kind, hit.description])) or UNTYPED, _DESCRIBED))
    if (degree := degrees.get(hit.id)) is None:
        return f"{in_prose(hit.id)} ({about})"
    return f"{in_prose(hit.id)} ({about}, {counted(degree.count, 'edge')}{'' if degree.exact else ' at least'})"


# --- sentences that a model reads ---


def several_have(place: str, text: str) -> InputError:
    """Return the error of an identifier that is no IRI of the graph and that several entities have."""
    return InputError(f"{place}: {text} is an identifier of several entities.", valid="An ID means one entity.")


def no_iri_here(place: str, text: str) -> InputError:
    """Return the error of an identifier that is no IRI of the graph, and perhaps not that of one entity alone."""
    return InputError(f"{place}: {text} is no IRI of this graph.", valid="An ID means one entity.")


def not_looked_up(place: str, text: str, doubt: str) -> Fault:
    """Return the fault of an identifier that no IRI of the graph is, and that was not compared with all names."""
    return Fault(
        f"{place}: {text} is no IRI of this graph, and not every name could be compared, so an entity may have it as "
        "its identifier.",
        valid=doubt,
        next_step="Send the whole IRI, or call search_entities with the name of what is meant.",
    )


EDGES_NOT_COUNTED = "Their edges could not all be counted, so none was taken."
NOT_ALL_COMPARED = "Not every name could be compared, so an entity may have it."


def not_read(argument: str, count: int) -> InputError:
    """Return the error of texts that were not read, because too many before them mean nothing."""
    entries = f"the last {counted(count, 'entry')} {'was' if count == 1 else 'were'}"
    return InputError(
        f"{argument}: {entries} not read, because too many others are wrong.",
        next_step="Send the IDs that you know, and look for the names by search_entities.",
    )


def taken_for(text: str, entity: str, name: str, others: str) -> str:
    """Return a warning: a name stood in the place of an ID, perhaps not the first name of the entity."""
    called = f" ({name})" if name else ""
    if others:
        return f"{text} was taken for {entity}{called}. Others of this name: {others}."
    return f"{text} is {entity}{called}."


def taken_by_local_name(text: str, entity: str) -> str:
    """Return a warning: the local name of an entity, which is called otherwise, stood in the place of an ID."""
    return (
        f"No entity is called {text}: it is taken for {entity}, by its local name. If another is meant, write its ID."
    )


def no_entity_of_this_name(no_id: InputError, near: str, doubt: str) -> InputError:
    """Return the error of a text that is no ID, and the name of no entity, or of none that was found."""
    none = f"no entity of this name was found. {doubt}" if doubt else "no entity has this name."
    wrong = f"{no_id.wrong.removesuffix('.')}, and {none}"
    kind = UnresolvedNameError if doubt else InputError
    return kind(wrong, valid=f"Nearest: {near}." if near else no_id.valid, next_step=no_id.next_step)


def several_of_this_name(
    no_id: InputError, listed: str, count: str, *, are_all: bool, is_one: bool, doubt: str
) -> InputError:
    """Return the error of a name that several entities have, or that others than the one found may have."""
    wrong = no_id.wrong.removesuffix(".")
    if is_one:
        return UnresolvedNameError(
            f"{wrong}, and not every name could be compared or listed, so others may have this one.",
            valid=" ".join(filter(None, [f"Found: {listed}.", doubt])),
            next_step="Send the ID of what you mean.",
        )
    shown = f"They are: {listed}." if are_all else f"The first are: {listed}."
    return UnresolvedNameError(
        f"{wrong}, and {count} entities have this name.",
        valid=" ".join(filter(None, [shown, doubt])),
        next_step="Send the ID of the one you mean.",
    )
