"""Traversals and intersections under the hub rules equal the naive oracle's, on every engine; paths are shortest."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import example
from hypothesis import strategies as st

from gateway.answers.models import BfsResult, Subgraph
from gateway.errors import QueryRefused
from gateway.settings.limits import HubSettings, SizeSettings
from gateway.settings.profile import Profile
from tests.columns import Column
from tests.examples import tried_on_each_engine
from tests.oracle import Edge, bfs, degree, intersect
from tests.random_graphs import IntersectionQuestion, Question, corpus, intersections, questions
from tests.random_session import Session, session_over
from tests.small import Watched, over

WHOLE = Profile(size=SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000))

limits = st.integers(1, 12)


def steps_of(path: Sequence[str]) -> list[Edge]:
    """Return the edges of a path, which is a node, a predicate, a node and so on; `^` means that the edge comes in."""
    steps = zip(path[:-2:2], path[1:-1:2], path[2::2], strict=True)
    return [(end, by[1:], start) if by.startswith("^") else (start, by, end) for start, by, end in steps]


@pytest.fixture
def session(engine: Column) -> Iterator[Session]:
    """Open a gateway over the random graphs."""
    with session_over(engine, engine.open("random", WHOLE)) as session:
        yield session


def edges_of(answer: Subgraph) -> set[Edge]:
    return {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}


def listed(answer: Subgraph, cause: str) -> dict[str, str]:
    """Return the nodes that an entry of `incomplete` lists, each with its degree."""
    entries = [entry for entry in answer.incomplete or () if entry.cause == cause]
    if not entries:
        return {}
    (entry,) = entries
    degrees = re.findall(r"(\S+) has (at least )?(\d[\d,]*\d|\d)", entry.detail)
    assert [name for name, _, _ in degrees] == entry.ids
    assert entry.count >= len(entry.ids)
    return {name: least + number for name, least, number in degrees}


@tried_on_each_engine(100, at_a_server=25, question=questions(), max_degree=limits)
def test_a_traversal_around_hubs_equals_the_oracles(session: Session, question: Question, max_degree: int) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    expected = bfs(oracle, question.seeds, question.max_hops, max_degree)
    answer = session.traversal(question, topology_only=True, max_degree=max_degree)
    if answer is None:
        assert not expected.distance
        return
    assert {node.id for node in answer.nodes} == expected.distance.keys()
    assert answer.levels == expected.levels
    assert edges_of(answer) == expected.edges
    assert (answer.blank_node_edges or 0) == expected.blank_node_edges
    hubs = listed(answer, "hub_not_expanded")
    assert hubs == {hub: str(degree(oracle, hub)) for hub in sorted(expected.hubs)[:20]}
    assert answer.complete == (not expected.hubs and not expected.blank_node_edges)


@tried_on_each_engine(100, at_a_server=25, question=intersections(), max_degree=limits)
def test_an_intersection_around_hubs_equals_the_oracles(
    session: Session, question: IntersectionQuestion, max_degree: int
) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    expected = intersect(oracle, question.seeds, question.k, max_degree)
    answer = session.intersection(question, topology_only=True, max_degree=max_degree)
    if answer is None:
        assert len(expected.missing) == len(set(question.seeds))
        return
    assert {node.id for node in answer.nodes} == expected.nodes
    assert edges_of(answer) == expected.edges
    assert all(degree(oracle, hub) > max_degree for hub in listed(answer, "hub_not_expanded"))


@tried_on_each_engine(100, at_a_server=25, question=questions(), most=limits)
# Nodes beside a capped node that left out the edge between them, which they show themselves four hops later.
@example(question=Question(corpus()[167], ("https://example.org/random/167/Q0",), 4), most=3)
@example(question=Question(corpus()[167], ("https://example.org/random/167/3-hydroxy,5~keto!*",), 4), most=4)
def test_a_node_shows_all_its_edges_or_as_many_as_it_may_and_that_is_listed(
    session: Session, question: Question, most: int
) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    answer = session.traversal(question, topology_only=True, max_edges_per_node=most)
    free = bfs(oracle, question.seeds, question.max_hops)
    if answer is None:
        assert not free.distance
        return
    capped = listed(answer, "edges_capped")
    assert answer.complete == (not capped and not answer.blank_node_edges)
    nodes, edges = {node.id for node in answer.nodes}, edges_of(answer)
    assert nodes <= free.distance.keys()
    assert edges <= free.edges
    if not capped:
        assert nodes == free.distance.keys()
        assert edges == free.edges
    shown: defaultdict[str, set[Edge]] = defaultdict(set)
    for edge in edges:
        shown[edge[0]].add(edge)
        shown[edge[2]].add(edge)
    assert answer.levels == _by_distance(_distances(answer, edges))
    expanded = {node for node, at in _distances(answer, edges).items() if at < question.max_hops}
    for node in expanded:
        count = degree(oracle, node)
        if count > most:
            assert capped.get(node, str(count)) == str(count)
            assert len(shown[node]) >= most
        else:
            assert len(shown[node]) == count


def _by_distance(distances: Mapping[str, int]) -> list[int]:
    return [count for _, count in sorted(Counter(distances.values()).items())]


def _distances(answer: BfsResult, edges: set[Edge]) -> dict[str, int]:
    """Return the distance of every node in the graph that an answer shows."""
    near: defaultdict[str, set[str]] = defaultdict(set)
    for subject, _, value in edges:
        near[subject].add(value)
        near[value].add(subject)
    distance = {seed: 0 for seed in answer.seeds if seed not in (answer.missing_seeds or ())}
    reached = list(distance)
    for node in reached:
        for other in near[node] - distance.keys():
            distance[other] = distance[node] + 1
            reached.append(other)
    return distance


@tried_on_each_engine(100, at_a_server=25, question=intersections())
def test_every_node_of_an_intersection_has_a_shortest_path_to_each_seed(
    session: Session, question: IntersectionQuestion
) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    expected = intersect(oracle, question.seeds, question.k)
    answer = session.intersection(question, topology_only=True, via=True)
    if answer is None:
        return
    assert {node.id for node in answer.nodes} == expected.nodes
    assert edges_of(answer) == expected.edges
    for node in answer.nodes:
        assert node.via is not None
        assert [path[-1] for path in node.via] == answer.seeds == list(dict.fromkeys(question.seeds))
        for path, seed in zip(node.via, answer.seeds, strict=True):
            assert path[0] == node.id
            steps = steps_of(path)
            assert len(steps) == bfs(oracle, [seed], question.k).distance[node.id]
            assert all(edge in oracle.edges for edge in steps)


@tried_on_each_engine(
    100, at_a_server=25, question=intersections(), most=st.integers(1, 4), max_degree=st.none() | limits
)
def test_every_path_under_a_cap_leads_to_its_seed_over_edges_of_the_graph(
    session: Session, question: IntersectionQuestion, most: int, max_degree: int | None
) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    capped = {"max_edges_per_node": most, "max_degree": max_degree}
    answer = session.intersection(question, topology_only=True, via=True, **capped)
    if answer is None:
        return
    for node in answer.nodes:
        assert [(path[0], path[-1]) for path in node.via or ()] == [(node.id, seed) for seed in answer.seeds]
        for path, seed in zip(node.via or (), answer.seeds, strict=True):
            shortest = bfs(oracle, [seed], question.k).distance[node.id]
            steps = steps_of(path)
            assert shortest <= len(steps) <= question.k
            assert all(edge in oracle.edges for edge in steps)


# One small graph: a hub with twelve edges, a seed with thirteen.

WHEEL = "x:seed x:p x:hub . " + " ".join(f"x:hub x:p x:leaf{n} . x:seed x:p x:near{n} ." for n in range(12))


async def _without_lateral(query: str) -> None:
    if "LATERAL" in query:
        raise QueryRefused("The engine refused a query.")


@pytest.mark.anyio
@pytest.mark.parametrize("lateral", [True, False])
async def test_a_hub_is_listed_with_its_number_of_edges_in_both_dialects(lateral: bool) -> None:
    from tests.small import engine as store  # noqa: PLC0415 - the fixture of this module has its name

    async def any_query(_: str) -> None:
        return None

    async with over(Watched(store(WHEEL), any_query if lateral else _without_lateral), WHOLE) as gateway:
        answer = await gateway.bfs_query(["x:seed"], 2, topology_only=True, max_degree=12)
        assert listed(answer, "hub_not_expanded") == {"x:hub": "13"}
        assert answer.node_count == 14
        capped = await gateway.bfs_query(["x:seed"], 2, topology_only=True, max_edges_per_node=12)
        assert listed(capped, "edges_capped") == {"x:hub": "13", "x:seed": "13"} or listed(capped, "edges_capped") == {
            "x:seed": "13"
        }
        whole = await gateway.bfs_query(["x:seed"], 2, topology_only=True, max_degree=13, max_edges_per_node=13)
        assert whole.complete
        assert whole.node_count == 26


@pytest.mark.anyio
async def test_a_hub_far_above_the_rule_is_counted_no_further_than_needed() -> None:
    wide = "x:seed x:p x:hub . " + " ".join(f"x:hub x:p x:leaf{n} ." for n in range(1_200))
    async with over(wide, WHOLE) as gateway:
        answer = await gateway.bfs_query(["x:seed"], 2, topology_only=True, max_degree=5)
        assert listed(answer, "hub_not_expanded") == {"x:hub": "at least 1,001"}


@pytest.mark.anyio
async def test_an_argument_loosens_the_rule_up_to_the_operators_ceiling() -> None:
    profile = Profile(size=WHOLE.size, hubs=HubSettings(max_degree=5, max_degree_ceiling=12))
    async with over(WHEEL, profile) as gateway:
        usual = await gateway.bfs_query(["x:seed"], 2, topology_only=True)
        assert usual.node_count == 14
        assert not usual.warnings
        loose = await gateway.bfs_query(["x:seed"], 2, topology_only=True, max_degree=1_000)
        assert loose.node_count == 14
        assert loose.warnings == ["max_degree: 1000 is above this gateway's ceiling; 12 was used."]


@pytest.mark.anyio
async def test_a_ceiling_alone_is_the_rule() -> None:
    async with over(WHEEL, Profile(size=WHOLE.size, hubs=HubSettings(max_degree_ceiling=12))) as gateway:
        answer = await gateway.bfs_query(["x:seed"], 2, topology_only=True)
        assert answer.node_count == 14
        assert not answer.warnings
