"""Which ways of stating evidence are looked for, when, and what follows for the queries about edges."""

from collections.abc import Callable

import pytest

from gateway.errors import EndpointFault, QueryRefused
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings
from gateway.sparql.evidence import FRESH_SECONDS
from gateway.sparql.store import SparqlStore
from tests.small import Watched, WatchedElsewhere, X, engine

pytestmark = pytest.mark.anyio

USUAL = "x:a x:p x:b {| x:confidence 0.5 |} ."
EDGE = Edge(f"{X}a", f"{X}p", f"{X}b")
SINGLETON = "singletonPropertyOf> ?general"
ASSOCIATION = "w3id.org/biolink/vocab/subject> ?as"


class Asked:
    """Notes the queries of a store, and fails those that it is told to."""

    def __init__(self, turtle: str, profile: Profile | None = None) -> None:
        self.queries: list[str] = []
        self.failing: Callable[[str], bool] = lambda _: False
        self.now = 0.0
        self.transport = Watched(engine(turtle), self._note)
        self.store = SparqlStore(self.transport, profile or Profile())

    async def _note(self, query: str) -> None:
        self.queries.append(query)
        if self.failing(query):
            raise EndpointFault("Not now.")

    def call(self) -> Call:
        """Return a budget on a clock that stands still."""
        return Call(Deadline.after(30, lambda: self.now), requests=50, rows=1_000, nodes=1_000)

    async def hop(self) -> str:
        """Ask for the edges of a node and return the query about them."""
        await self.store.edges([EDGE.subject], self.call())
        return self.queries[-1]

    @property
    def probes(self) -> int:
        """How often the ways in use were detected."""
        return sum("?way" in query for query in self.queries)


async def test_a_usual_graph_is_asked_for_edges_without_a_word_of_singleton_properties_and_associations() -> None:
    query = await Asked(USUAL).hop()
    assert SINGLETON not in query
    assert ASSOCIATION not in query
    assert "rdf-syntax-ns#reifies>" in query


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        ("x:p1 rdf:singletonPropertyOf x:p .", SINGLETON),
        ("x:a1 <https://w3id.org/biolink/vocab/subject> x:a .", ASSOCIATION),
    ],
)
async def test_a_graph_with_such_evidence_has_it_excluded(turtle: str, expected: str) -> None:
    assert expected in await Asked(USUAL + turtle).hop()


async def test_it_is_looked_once_and_again_when_the_answer_has_grown_old() -> None:
    asked = Asked(USUAL)
    for _ in range(3):
        await asked.hop()
    assert asked.probes == 1
    asked.now = FRESH_SECONDS + 1
    await asked.hop()
    assert asked.probes == 2


async def test_where_it_cannot_be_detected_everything_is_excluded_and_edges_still_come() -> None:
    asked = Asked(USUAL)
    asked.failing = lambda query: "?way" in query
    query = await asked.hop()
    assert SINGLETON in query
    assert ASSOCIATION in query
    await asked.hop()
    assert asked.probes == 1


async def test_evidence_that_could_not_be_looked_for_is_a_fault_of_the_edge_and_is_looked_for_again() -> None:
    asked = Asked(USUAL)
    asked.failing = lambda query: "?way" in query
    evidence = await asked.store.edge_metadata([EDGE], asked.call())
    assert not evidence[EDGE].mark.answered
    asked.failing = lambda _: False
    evidence = await asked.store.edge_metadata([EDGE], asked.call())
    assert evidence[EDGE].mark.whole
    assert len(evidence[EDGE].assertions) == 1


async def test_ways_that_the_profile_names_are_believed_and_not_looked_for() -> None:
    asked = Asked(USUAL, Profile(evidence=EvidenceSettings(ways=("statements", "singleton_properties"))))
    query = await asked.hop()
    assert SINGLETON in query
    assert ASSOCIATION not in query
    assert (await asked.store.edge_metadata([EDGE], asked.call()))[EDGE].assertions == ()
    assert asked.probes == 0


async def test_a_profile_without_evidence_nodes_pays_nothing_for_edges() -> None:
    asked = Asked(USUAL, Profile(edges=EdgeSettings(evidence_nodes=False)))
    assert "NOT EXISTS" not in await asked.hop()
    assert asked.probes == 0


async def test_an_engine_that_refuses_named_graphs_loses_no_other_evidence() -> None:
    refused = []

    async def hook(query: str) -> None:
        if "GRAPH" in query:
            refused.append(query)
            raise QueryRefused("No named graphs here.")

    store = SparqlStore(WatchedElsewhere(engine(USUAL), hook), Profile(endpoint=EndpointSettings(graphs="union")))
    call = Call(Deadline.after(30), requests=50, rows=1_000, nodes=1_000)
    evidence = await store.edge_metadata([EDGE], call)
    assert len(refused) == 1
    assert evidence[EDGE].mark.whole
    assert len(evidence[EDGE].assertions) == 1
