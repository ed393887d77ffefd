"""Every traversal and intersection on 200 random graphs equals the naive oracle's, on every engine."""

from collections.abc import Iterator

import pytest

from gateway.answers.models import BfsResult, IntersectionResult
from gateway.settings.limits import CacheSettings, SizeSettings
from gateway.settings.profile import Profile
from tests.columns import Column
from tests.examples import tried_on_each_engine
from tests.oracle import bfs, entity_type, intersect
from tests.random_graphs import IntersectionQuestion, Question, intersections, questions
from tests.random_session import Session, session_over

WHOLE = Profile(size=SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000), cache=CacheSettings(megabytes=0))
"""No page, no prefix: every ID is a whole IRI, as the oracle has it. No cache: `cache/test_agreement.py` has it."""


@pytest.fixture
def session(engine: Column) -> Iterator[Session]:
    """Open a gateway over the random graphs."""
    with session_over(engine, engine.open("random", WHOLE)) as session:
        yield session


def causes(answer: BfsResult | IntersectionResult) -> set[str]:
    """Return why an answer is not complete."""
    found: set[str] = {gap.cause for gap in answer.incomplete or ()}
    assert answer.complete is not bool(found)
    return found


@tried_on_each_engine(200, at_a_server=40, question=questions())
def test_a_traversal_equals_the_oracles(session: Session, question: Question) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    expected = bfs(oracle, question.seeds, question.max_hops)
    answer = session.traversal(question)
    if answer is None:
        assert not expected.distance
        return
    present = [seed for seed in dict.fromkeys(question.seeds) if seed in expected.distance]
    others = sorted(expected.distance.keys() - set(present), key=lambda node: (expected.distance[node], node))
    assert [node.id for node in answer.nodes] == [*present, *others]
    assert [(edge.subject, edge.predicate, edge.object) for edge in answer.edges] == sorted(expected.edges)
    assert (answer.node_count, answer.edge_count) == (len(expected.distance), len(expected.edges))
    assert answer.levels == expected.levels
    assert (answer.missing_seeds or []) == expected.missing
    assert (answer.blank_node_edges or 0) == expected.blank_node_edges
    assert causes(answer) == ({"blank_nodes"} if expected.blank_node_edges else set())
    for node in answer.nodes:
        assert node.entity_type == (entity_type(oracle, node.id) or "untyped")
    assert answer.schema_summary.predicates_found == sorted({predicate for _, predicate, _ in expected.edges})


@tried_on_each_engine(200, at_a_server=40, question=intersections())
def test_an_intersection_equals_the_oracles(session: Session, question: IntersectionQuestion) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    expected = intersect(oracle, question.seeds, question.k)
    answer = session.intersection(question)
    if answer is None:
        assert len(expected.missing) == len(set(question.seeds))
        return
    assert {node.id for node in answer.nodes} == expected.nodes
    assert [(edge.subject, edge.predicate, edge.object) for edge in answer.edges] == sorted(expected.edges)
    assert (answer.missing_seeds or []) == expected.missing
    assert causes(answer) == ({"blank_nodes"} if answer.blank_node_edges else set())
