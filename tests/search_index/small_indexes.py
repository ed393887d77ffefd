"""Label indexes of small graphs, without an engine, and a graph whose index takes as long as a test wants."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gateway.errors import NetworkFault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import EntityTypes, Name, NameReader, NamesPage
from gateway.graph.values import Hits, Iri, Schema, SearchTerms
from gateway.search_index.index import IndexedStore, LabelIndex, build_index
from gateway.search_index.partial_index import Allowance, read_names
from gateway.search_index.sources import InProcessIndexSource
from gateway.search_index.sqlite_worker import SqliteWorker
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, X, engine

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"


def allowance() -> Call:
    """Return a call with more than enough."""
    return Call(Deadline.after(100), 10_000, 10_000_000, 10_000)


@dataclass
class Listed:
    """A reader of names that are given: for what needs no engine.

    Attributes:
        labels: The labels of each entity.
        aliases: The aliases of each.
        kinds: The types of each.
        page_size: Entities on a page.
        pages_left: Pages after which the endpoint is gone; None: never.
        uncounted: How many entities more there are than are ever sent.
        asked: After which entities pages were asked for.
    """

    labels: Mapping[Iri, Sequence[str]]
    aliases: Mapping[Iri, Sequence[str]] = field(default_factory=dict)
    kinds: Mapping[Iri, Sequence[Iri]] = field(default_factory=dict)
    page_size: int = 3
    pages_left: int | None = None
    uncounted: int = 0
    asked: list[Iri] = field(default_factory=list)

    @property
    def predicates(self) -> Sequence[Iri]:
        """The two predicates."""
        return (LABEL, ALIAS)

    async def find_predicates(self, _: Call) -> None:
        """Find nothing: the predicates are known."""

    def use_predicates(self, _: Schema) -> None:
        """Change nothing."""

    def on_change(self, _: Callable[[], None]) -> None:
        """Never call it."""

    def _of(self, predicate: Iri) -> Mapping[Iri, Sequence[str]]:
        return self.labels if predicate == LABEL else self.aliases

    async def counts(self, predicates: Sequence[Iri], _: Callable[[], Call]) -> Sequence[int]:
        """Count."""
        return [len(self._of(predicate)) + self.uncounted for predicate in predicates]

    async def page(self, predicate: Iri, after: Iri, _: Call) -> NamesPage:
        """Return a page, or fail."""
        self.asked.append(after)
        if self.pages_left is not None:
            if self.pages_left == 0:
                raise NetworkFault("The endpoint is gone.")
            self.pages_left -= 1
        entities = sorted(iri for iri in self._of(predicate) if iri > after)
        shown = entities[: self.page_size]
        names = [Name(iri, text, predicate == ALIAS) for iri in shown for text in self._of(predicate)[iri]]
        return NamesPage(tuple(names), shown[-1] if len(entities) > len(shown) else None)

    async def types(self, entities: Sequence[Iri], _: Call) -> EntityTypes:
        """Return the types."""
        return EntityTypes({iri: tuple(self.kinds.get(iri, ())) for iri in entities}, frozenset())


@asynccontextmanager
async def index_of(names: NameReader, allowed: Allowance = allowance) -> AsyncIterator[LabelIndex]:
    """Build a temporary index."""
    worker = SqliteWorker()
    try:
        async with asyncio.timeout(100):
            missing = await read_names(names, worker, allowed)
            index = await build_index(worker, date="2026-11-21", missing=missing)
        yield index
    finally:
        worker.close()


async def find(index: LabelIndex, text: str, *types: Iri, at_most: int = 100) -> Hits:
    """Search."""
    return await index.find(SearchTerms(text, tuple(text.lower().split())), types, at_most, Deadline.after(100))


async def found(index: LabelIndex, text: str, *types: Iri) -> set[Iri]:
    """Return the entities that a search finds."""
    return {hit.iri for hit in (await find(index, text, *types)).hits}


class ManyNames(Listed):
    """`Ann Ley` and `Dee`, and the names of so many other entities that searches do not wait for the index.

    Attributes:
        seen: To be set once somebody has seen a progress; no page of names comes before.
    """

    def __init__(self) -> None:
        others: dict[str, list[str]] = {f"urn:other:{number}": [f"other {number}"] for number in range(20_001)}
        super().__init__({**others, f"{X}ann": ["Ann Ley"], f"{X}dee": ["Dee"]}, page_size=30_000)
        self.seen = asyncio.Event()

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return a page, once progress was seen."""
        await self.seen.wait()
        return await super().page(predicate, after, call)


def over_names(graph: str, names: ManyNames, profile: Profile | None = None) -> Gateway:
    """Open a gateway over a graph in Turtle whose names are still to be read."""
    profile = profile or Profile()
    below = SparqlStore(InProcess(engine(graph), max_bytes=1 << 24), profile)
    store = IndexedStore(below, InProcessIndexSource(names, allowance, patience=0))
    return Gateway(store, profile, PrefixMap(PREFIXES))
