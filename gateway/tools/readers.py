"""IDs, names and steering of a call, as the graph knows them."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, product

from gateway import messages
from gateway.answers.page import PageHit, SearchPage
from gateway.answers.reference import REFERENCE
from gateway.arguments import (
    MAX_HITS,
    MAX_HOPS,
    MAX_QUERY,
    Arguments,
    BfsQuery,
    IntersectSubgraphs,
    SearchEntities,
    TraversalArguments,
    expanded,
)
from gateway.errors import Fault, InputError, counted, quoted
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, Iri
from gateway.graph.walks import LONGEST_WALK
from gateway.members.sides import StepText, split_steps
from gateway.schema.cache import SchemaCache
from gateway.schema.view import HINTED, SchemaView, first_warnings
from gateway.settings.profile import Profile
from gateway.terms.iri import REIFICATION, is_walk, local_name, walk_iri, walk_steps
from gateway.terms.local_names import local_part
from gateway.terms.names import compact, cut, fold
from gateway.terms.prefixes import PrefixMap, in_prose
from gateway.tools.search import EntitySearcher
from gateway.traversal.steering import PredicateChoice, Steering

_SHOWN = 5
"""Entities that an error about a name lists."""

_DESCRIBED = 70
"""Characters of the name, type and description of an entity in an error."""

_TIME_FOR_NAMES = 0.5
"""The share of its time that a call waits for the names of the graph at most."""

_EXACT = frozenset({"label", "alias", "code"})

_OTHERS = 3
"""Other entities of a name that a warning lists."""

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
    """

    iri: Iri
    name: str = ""
    others: str = ""


@dataclass(slots=True)
class ReadIds:
    """The entities that an argument means.

    Attributes:
        argument: The argument.
        iris: The entity of each text, in the order of the argument.
        names: The entity that each text means which is a name.
        wrong: What is wrong with the texts that are left out.
    """

    argument: str
    iris: list[Iri] = field(default_factory=list)
    names: dict[str, NamedEntity] = field(default_factory=dict)
    wrong: list[InputError] = field(default_factory=list)

    @property
    def distinct(self) -> list[Iri]:
        """The entities, each once."""
        return list(dict.fromkeys(self.iris))

    def warnings(self, prefixes: PrefixMap) -> list[str]:
        """Return a sentence for each name, and for what is left out."""
        named = [
            taken_for(quoted(text), prefixes.in_prose(one.iri), quoted(one.name) if one.name else "", one.others)
            for text, one in self.names.items()
        ]
        return [*named, *first_warnings(self.argument, [messages.left_out(error) for error in self.wrong])]


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
                found.wrong.append(error)
        if found.wrong and not (leaves_out and found.iris):
            raise messages.all_wrong(found.wrong)
        return found

    async def _meant(self, place: str, text: str, there: Mapping[Iri, Iri], found: ReadIds, call: Call) -> Iri:
        try:
            (iri,) = expanded(place, [text], self._prefixes)
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
        if not exact and (page.truncated or not page.exhaustive):
            raise not_looked_up(place, quoted(bare), " ".join(page.warnings))
        return self._prefixes.expand(exact[0].id) if exact else iri

    def _is_only(self, page: SearchPage) -> bool:
        """Return whether no other entity than the exact hit of a search can have the name."""
        return _lists_all_exact(page) and page.complete and not self._is_part

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
        if self._is_only(page) and (most := _standing_out(exact, degrees)) is not None:
            others = [hit for hit in exact if hit is not most]
            return self._taken(most, _listed(others, page, degrees))
        raise self._unresolved(no_id, page, exact, degrees) from no_id

    def _taken(self, hit: PageHit, others: str) -> NamedEntity:
        return NamedEntity(self._prefixes.expand(hit.id), hit.name if hit.match == "alias" else "", others)

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
        near = exact or page.hits or page.guesses
        listed = "; ".join(_described(hit, page, degrees) for hit in near[:_SHOWN])
        doubt = "" if page.exhaustive else " ".join(page.warnings)
        if not exact:
            unsure = "" if page.exhaustive else NOT_ALL_COMPARED
            return no_entity_of_this_name(no_id, listed, doubt or unsure)
        return several_of_this_name(no_id, listed, len(exact), doubt)


def _lists_all_exact(page: SearchPage) -> bool:
    """Return whether all entities of a name are listed: they come first, and a page has as many as fit."""
    return len(page.hits) == page.found or page.hits[-1].match not in {*_EXACT, "id"}


def _standing_out(hits: Sequence[PageHit], degrees: Mapping[str, Degree]) -> PageHit | None:
    """Return the entity of several of one name that is by far the most linked; None if none is, or it is not known."""
    if not hits or len(degrees) < len(hits):
        return None
    weights = {hit.id: degrees[hit.id].count * (1 if hit.match == "alias" else _AS_LABEL) for hit in hits}
    most, *others = sorted(hits, key=lambda hit: (-weights[hit.id], hit.id))
    if not all(degrees[hit.id].exact for hit in others):
        return None
    # Of entities without edges, one with a single edge does not stand out.
    return most if weights[most.id] >= _TIMES * max(1, *(weights[hit.id] for hit in others)) else None


def _listed(hits: Sequence[PageHit], page: SearchPage, degrees: Mapping[str, Degree]) -> str:
    """Return entities for a sentence, the first ones, and how many others there are."""
    shown = [_described(hit, page, degrees) for hit in hits[:_OTHERS]]
    more = len(hits) - len(shown)
    return "; ".join([*shown, *([f"and {more} more"] if more else [])])


def _described(hit: PageHit, page: SearchPage, degrees: Mapping[str, Degree]) -> str:
    """Return an entity as an error lists it."""
    kind = page.labels.get(hit.entity_type, hit.entity_type)
    about = quoted(cut(", ".join(filter(None, [hit.name, kind, hit.description])), _DESCRIBED))
    if (degree := degrees.get(hit.id)) is None:
        return f"{in_prose(hit.id)} ({about})"
    return f"{in_prose(hit.id)} ({about}, {counted(degree.count, 'edge')}{'' if degree.exact else ' at least'})"


_ARGUMENT = "only_predicates"

_MOST_WALKS = 24
"""Walks of single predicates that one entry may mean."""

_OF_STATEMENTS = re.compile(
    r"/prop/(?:(?P<part>statement|qualifier|reference)/(?:value/|value-normalized/)?)?(?P<property>P[0-9]+)$"
)
"""How a predicate of the statements of a Wikibase ends, which the software fixes (RDF dump format)."""


class SteeringReader:
    """Resolves the names of predicates, each with `^` before it where only its incoming edges are meant."""

    def __init__(self, profile: Profile, prefixes: PrefixMap) -> None:
        self._edges = profile.edges
        self._is_wikibase = profile.values.wikibase
        self._prefixes = prefixes

    def read(
        self, arguments: TraversalArguments, seeds: int, known: SchemaView, *, leaves_out: bool = False
    ) -> tuple[Steering, list[str]]:
        """Return what a question follows, and warnings.

        Args:
            arguments: The arguments of the question.
            seeds: How many seeds it gives.
            known: The schema.
            leaves_out: Whether what matches nothing is left out, with a warning, if another entry of its list does not.

        Raises:
            InputError: A name matches nothing, a predicate is no edge, or the lists are too many or too few.
        """
        if not arguments.only_predicates:
            return Steering(direction=arguments.direction), []
        given = arguments.only_predicates
        is_listed = any(isinstance(entry, list) for entry in given)
        lists = [entry if isinstance(entry, list) else [entry] for entry in given] if is_listed else [_flat(given)]
        if is_listed:
            self._check_number(arguments, len(lists), seeds)
        warnings: dict[str, None] = {}
        followed = self._all_followed(lists, known, warnings, leaves_out=leaves_out)
        self._check_steps(arguments, followed)
        # One list for one hop is a list for all.
        return Steering(followed, arguments.direction, is_listed and len(lists) > 1), first_warnings(
            _ARGUMENT, list(warnings)
        )

    def _check_steps(self, arguments: TraversalArguments, followed: Sequence[Sequence[PredicateChoice]]) -> None:
        """Check that walks are not too long, all hops together, and that one of several steps is a whole answer."""
        longest = [
            max((len(walk_steps(one.predicate)) for one in some if is_walk(one.predicate)), default=1)
            for some in followed
        ]
        if max(longest) == 1:
            return
        hops = arguments.max_hops if isinstance(arguments, BfsQuery) else arguments.k
        if isinstance(arguments, IntersectSubgraphs):
            if hops > 1:
                raise messages.walks_need_one_hop(arguments.tool)
            return
        steps = sum(longest) if len(longest) == hops else longest[0] * hops
        if steps > MAX_HOPS:
            raise messages.walks_too_long(arguments.tool, steps, MAX_HOPS)

    def _check_number(self, arguments: TraversalArguments, lists: int, seeds: int) -> None:
        wanted, each = (arguments.max_hops, "hop") if isinstance(arguments, BfsQuery) else (seeds, "seed")
        if lists != wanted:
            raise messages.wrong_number_of_lists(arguments.tool, lists, wanted, each)

    def _all_followed(
        self, lists: Sequence[Sequence[str]], known: SchemaView, warnings: dict[str, None], *, leaves_out: bool
    ) -> tuple[tuple[PredicateChoice, ...], ...]:
        """Return what the lists mean, and warn of what is left out; none may be left empty.

        Raises:
            InputError: Entries are wrong; the text says all that is wrong.
        """
        wrong: list[InputError] = []
        followed: list[tuple[PredicateChoice, ...]] = []
        for names in lists:
            found: dict[PredicateChoice, None] = {}
            for name in names:
                try:
                    found |= dict.fromkeys(self._followed(name, known, warnings))
                except InputError as error:
                    wrong.append(error)
            in_order = sorted(found, key=lambda one: (self._prefixes.declared_form(one.predicate), one.is_inverse))
            followed.append(tuple(in_order))
        if wrong and not (leaves_out and all(followed)):
            raise messages.all_wrong(wrong)
        warnings.update(dict.fromkeys(map(messages.left_out, wrong)))
        return tuple(followed)

    def _followed(self, name: str, known: SchemaView, warnings: dict[str, None]) -> list[PredicateChoice]:
        """Return what one entry means."""
        steps = self._steps(name, known)
        meant = [self._predicates(step, known, warnings) for step in steps]
        if len(steps) == 1:
            return [PredicateChoice(one, steps[0].is_inverse) for one in meant[0]]
        if math.prod(map(len, meant)) > _MOST_WALKS:
            raise messages.too_many_walks(quoted(name))
        signs = [step.is_inverse for step in steps]
        walks = (zip(predicates, signs, strict=True) for predicates in product(*map(sorted, meant)))
        return [PredicateChoice(walk_iri(walk)) for walk in walks]

    def _steps(self, name: str, known: SchemaView) -> Sequence[StepText]:
        """Return the steps of an entry; one that as a whole is a predicate is that predicate, whatever it holds."""
        bare = self._prefixes.without_name(name.removeprefix("^"))
        is_path = bare.startswith("(") and bare.endswith(")")
        is_whole = is_path or ("://" in bare.partition("/<")[0].partition("^")[0] and not bare.startswith("<"))
        steps = None if is_whole or known.predicates.found(bare) else split_steps(name)
        if steps is None or len(steps) == 1:
            return [StepText(bare, name.startswith("^"))]
        if len(steps) > LONGEST_WALK:
            raise messages.walk_too_long(quoted(name), LONGEST_WALK)
        return [replace(step, name=self._prefixes.without_name(step.name)) for step in steps]

    def _predicates(self, step: StepText, known: SchemaView, warnings: dict[str, None]) -> frozenset[Iri]:
        """Return the edge predicates that a step means."""
        ids = self._iris(step.name)
        if ids and not any(map(self._edges.allows, ids)):
            self._check_edge(ids[0])
        try:
            iris, warning = known.predicates.required(_ARGUMENT, step.name, hinted=len(warnings) < HINTED)
        except InputError:
            self._check_no_edge_is_called(step.name)
            raise
        if warning:
            warnings[warning] = None
        # Of the meanings of an ID, some may be no edges.
        return iris.difference(iri for iri in ids if not self._edges.allows(iri))

    def _iris(self, name: str) -> Sequence[Iri]:
        """Return the IRIs that a name may mean as an ID."""
        try:
            meant = self._prefixes.meanings(name)
        except InputError:
            return ()
        return meant if meant[0] != name or "://" in name else ()

    def _check_edge(self, predicate: Iri) -> None:
        if not self._edges.allows(predicate):
            raise no_edge_predicate(self._prefixes.in_prose(predicate), self._where_shown(predicate))

    def _check_no_edge_is_called(self, name: str) -> None:
        """Refuse the local name of a predicate that is no edge, with where it is shown."""
        for predicate in self._edges.excluded:
            if compact(local_name(predicate)) == compact(name):
                self._check_edge(predicate)

    def _where_shown(self, predicate: Iri) -> str:
        """Return where answers show a predicate that is no edge."""
        edges = self._edges
        if predicate in edges.types:
            return AS_TYPE
        if predicate in edges.redirects:
            return AS_MERGED
        if predicate in REIFICATION:
            return AS_EVIDENCE
        if predicate in edges.excluded:
            return AS_METADATA
        part = _OF_STATEMENTS.search(predicate) if self._is_wikibase else None
        if part is None:
            return AS_UNLISTED
        direct = f"{predicate[: part.start()]}/prop/direct/{part['property']}"
        is_value = part["part"] in {None, "statement"} and edges.allows(direct)
        return as_statement(self._prefixes.in_prose(direct)) if is_value else AS_EVIDENCE


def _flat(given: Sequence[str | list[str]]) -> list[str]:
    return [name for name in given if isinstance(name, str)]


# --- sentences that a model reads ---

AS_TYPE = "as entity_type, and in the metadata of a node; find nodes of a type by search_entities with node_types"
AS_MERGED = "by itself: a traversal that begins at a merged node begins where it was merged into"
AS_METADATA = "in the metadata of a node: call describe_entity"
AS_EVIDENCE = "as the evidence of edges, in their metadata: call bfs_query or intersect_subgraphs without topology_only"
AS_UNLISTED = (
    "where it says something about an edge, in the metadata of that edge (bfs_query), and where its value is a "
    "literal, in that of its node (describe_entity); what links two nodes by it is not shown"
)


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


NOT_ALL_COMPARED = "Not every name could be compared, so an entity may have it."


def no_edge_predicate(name: str, shown: str) -> InputError:
    """Return the error of a predicate that is no edge, and where it is shown instead."""
    return InputError(
        f"only_predicates: {name} is no edge in this graph, so it cannot be followed.", valid=f"It is shown {shown}."
    )


def as_statement(direct: str) -> str:
    """Return where the value of a statement of a Wikibase is shown, and the rest of the statement."""
    return (
        f"as {direct}: an edge where its value is a node, else in the metadata of its node (describe_entity); what a "
        "statement says besides is in the metadata of the edge (bfs_query)"
    )


def taken_for(text: str, entity: str, name: str, others: str) -> str:
    """Return a warning: a name stood in the place of an ID, perhaps not the first name of the entity."""
    called = f" ({name})" if name else ""
    if others:
        return f"{text} was taken for {entity}{called}, by far the most linked of this name. Others: {others}."
    return f"{text} is {entity}{called}."


def no_entity_of_this_name(no_id: InputError, near: str, doubt: str) -> InputError:
    """Return the error of a text that is no ID, and the name of no entity, or of none that was found."""
    none = f"no entity of this name was found. {doubt}" if doubt else "no entity has this name."
    wrong = f"{no_id.wrong.removesuffix('.')}, and {none}"
    return InputError(wrong, valid=f"Nearest: {near}." if near else no_id.valid, next_step=no_id.next_step)


def several_of_this_name(no_id: InputError, listed: str, count: int, doubt: str) -> InputError:
    """Return the error of a name that several entities have, or that others than the one found may have."""
    wrong = no_id.wrong.removesuffix(".")
    if count == 1:
        return InputError(
            f"{wrong}, and not every name could be compared or listed, so others may have this one.",
            valid=" ".join(filter(None, [f"Found: {listed}.", doubt])),
            next_step="Send the ID of what you mean.",
        )
    return InputError(
        f"{wrong}, and {count} entities have this name.",
        valid=f"They are: {listed}." if count <= listed.count("; ") + 1 else f"The first are: {listed}.",
        next_step="Send the ID of the one you mean.",
    )
