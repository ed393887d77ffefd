"""What could be followed from a node is what the naive oracle counts, on every engine, hubs included."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from gateway.answers.values import EdgeSurvey
from gateway.graph.call import Call, Deadline
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.description import FEW_ROWS, ROWS, WITH_EXAMPLES, Surveyor
from tests.columns import Column
from tests.examples import tried_on_each_engine
from tests.oracle import OracleGraph, degree, edge_counts, in_order, neighbours
from tests.random_graphs import corpus
from tests.random_session import Corpus

NODES = [node for graph in corpus() for node in graph.nodes]


@dataclass
class Session:
    """A store of the random graphs, on an event loop that lasts for all examples of a test."""

    runner: asyncio.Runner
    store: SparqlStore
    profile: Profile
    column: Column
    oracle: OracleGraph

    @property
    def is_here(self) -> bool:
        """Whether the engine runs in this process."""
        return self.column.is_here

    def survey(self, nodes: Sequence[str], edges_read: int) -> list[tuple[str, EdgeSurvey]]:
        """Survey nodes, reading so many edges of each at most."""
        stored = list(dict.fromkeys(map(self.column.as_stored, nodes)))
        surveyor = Surveyor(self.store, self.profile, PrefixMap({}), edges_read)
        call = Call(Deadline.after(120), 1_000, 1_000_000, 1_000_000)
        return list(self.runner.run(surveyor.survey(stored, call)).items())


@pytest.fixture
def session(engine: Column) -> Iterator[Session]:
    """Open a store of the random graphs."""
    profile = engine.settle("random", Profile())
    with asyncio.Runner() as runner:
        store = SparqlStore(engine.transport("random"), profile)
        yield Session(runner, store, profile, engine, Corpus(engine).oracle)
        runner.run(store.close())


@tried_on_each_engine(
    100,
    at_a_server=25,
    nodes=st.lists(st.sampled_from(NODES), min_size=1, max_size=WITH_EXAMPLES + 2, unique=True),
    edges_read=st.integers(1, 12),
)
def test_a_survey_equals_the_oracles(session: Session, nodes: list[str], edges_read: int) -> None:
    surveys = session.survey(nodes, edges_read)
    few = len(surveys) > WITH_EXAMPLES
    for node, survey in surveys:
        expected = edge_counts(session.oracle, node)
        order = in_order(expected)
        rows = [((row.predicate, row.incoming), row.count) for row in survey.rows]
        assert rows == [(kind, expected[kind]) for kind in order][: FEW_ROWS if few else ROWS]
        assert survey.total == len(expected)
        assert survey.blank_edges == session.oracle.blank_node_edges_of(node)
        assert survey.failed is None
        assert survey.is_exact
        is_hub = degree(session.oracle, node) > edges_read
        for row in survey.rows:
            known = sorted(neighbours(session.oracle, node, (row.predicate, row.incoming)))
            # Of a hub the first and the last neighbour by IRI are known, of others all.
            shown = list(dict.fromkeys([known[0], known[-1]])) if is_hub else known
            assert list(row.neighbours) == ([] if few else shown)
