"""Reads all names of a graph, in pages of at most the rows that one query may return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gateway.errors import EndpointFault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.computing import FEW, in_thread
from gateway.graph.deadline import Deadline
from gateway.graph.store import EntityTypes, Name, NamesPage
from gateway.graph.values import Iri
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes.names import NamePredicates
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.results.columns import integer, iri, literal, read
from gateway.sparql.results.table import Table
from gateway.sparql.schema.name_predicate_finder import NamePredicateFinder
from gateway.sparql.template import Parameter

_Text = tuple[str, str]
"""A name and its language."""

_ENTITY, _NAME, _COUNT = iri("n"), literal("v"), integer("count")


class SparqlNameReader:
    """Lists the names of a graph; see `gateway.graph.store.NameReader`."""

    def __init__(
        self, client: SparqlClient, nodes: NodeReader, name_predicates: NamePredicates, finder: NamePredicateFinder
    ) -> None:
        self._client = client
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._finder = finder

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates of names and of synonyms."""
        return self._name_predicates.all

    async def find_predicates(self, call: Call) -> None:
        """Detect which predicates name nodes."""
        await self._finder.find(call)

    def use_predicates(self, found: Sequence[Iri]) -> None:
        """Use the name predicates that an earlier run detected, after those of the profile."""
        self._name_predicates.use((*self._name_predicates.configured, *found))

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever the predicates change."""
        self._name_predicates.on_change(listener)

    async def count(self, predicate: Iri, call: Call) -> int:
        """Return how many entities have a name by a predicate."""
        return await self._counted("names_count", {"predicate": predicate}, call)

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return the names of a predicate that come after an entity; the first ones where that is empty."""
        given: dict[str, Parameter] = {"predicate": predicate, "after": [after] * bool(after)}
        rows, more = (await self._client.rows("names_page", call, given)).part()
        found = await in_thread(call, partial(_found, rows), unless=len(rows) <= FEW)
        if any(entity == after for entity, _ in found):
            raise EndpointFault("The endpoint's pages of names do not go on where they should.")
        if not more:
            return NamesPage(await self._names(predicate, found, call), None)
        # Of the last entity there may be more names than came.
        last = found[-1][0]
        whole = [(entity, text) for entity, text in found if entity != last]
        if whole:
            return NamesPage(await self._names(predicate, whole, call), whole[-1][0])
        texts, missing = await self._of_one(last, predicate, call)
        return NamesPage(await self._names(predicate, [(last, text) for text in texts], call), last, missing)

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        facts = await self._nodes.facts(entities, call, names=False, descriptions=False)
        unknown = set()
        for entity, fact in facts.items():
            if isinstance(fact.mark.fault, QueryRefused):
                unknown.add(entity)
            elif fact.mark.fault is not None:
                raise fact.mark.fault
        return EntityTypes({entity: fact.types for entity, fact in facts.items()}, frozenset(unknown))

    async def _of_one(self, entity: Iri, predicate: Iri, call: Call) -> tuple[Sequence[_Text], int]:
        """Return all names of an entity that has more than a page of them, and how many are missing."""
        about: dict[str, Parameter] = {"node": entity, "predicate": predicate}
        texts: dict[_Text, None] = {}
        after: list[str] = []
        more = True
        while more:
            rows, more = (await self._client.rows("names_of", call, {**about, "after": after})).part()
            page = await in_thread(call, partial(_texts, rows), unless=len(rows) <= FEW)
            if more and page.keys() <= texts.keys():
                raise EndpointFault("A page of the names of one entity brought none that was not known.")
            texts |= page
            after = [text for text, _ in page][-1:]
        different = {text for text, _ in texts}
        # An engine whose order is not its comparison would skip names between two pages; the number shows it.
        return list(texts), abs(await self._counted("names_of_count", about, call) - len(different))

    async def _counted(self, template: str, parameters: dict[str, Parameter], call: Call) -> int:
        rows = (await self._client.rows(template, call, parameters)).whole()
        # Nothing to count is one row on some engines, and none on others.
        return next(iter(_COUNT(rows)), 0)

    async def _names(self, predicate: Iri, found: Sequence[tuple[Iri, _Text]], call: Call) -> tuple[Name, ...]:
        is_synonym = predicate not in self._name_predicates.names

        def names(deadline: Deadline) -> tuple[Name, ...]:
            different = dict.fromkeys(deadline.checking(found))
            return tuple(Name(entity, text, is_synonym, language) for entity, (text, language) in different)

        return await in_thread(call, names, unless=len(found) <= FEW)


def _texts(rows: Table, deadline: Deadline) -> dict[_Text, None]:
    """Return the names in some rows."""
    return {(text.value, text.language): None for text in deadline.checking(_NAME(rows))}


def _found(rows: Table, deadline: Deadline) -> list[tuple[Iri, _Text]]:
    """Return the entities and names in some rows."""
    return [(entity, (text.value, text.language)) for entity, text in deadline.checking(read(rows, _ENTITY, _NAME))]
