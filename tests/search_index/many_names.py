"""A small graph whose index of names takes as long as a test wants."""

import asyncio

from gateway.graph.call import Call
from gateway.graph.store import NamesPage
from gateway.graph.values import Iri
from gateway.search_index.indexed_store import IndexedStore
from gateway.search_index.sources import InProcessIndexSource
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.search_index.small_indexes import Listed, allowance
from tests.small import PREFIXES, X, engine


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
