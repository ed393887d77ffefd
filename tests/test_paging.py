"""Pages of one question are pages of one answer (docs/contract.md, "Pages")."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings

from gateway.answers.models import BfsResult
from gateway.cache.store import CachedStore
from gateway.errors import InputError
from gateway.settings.limits import SizeSettings, SnapshotSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NameSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.columns import Column
from tests.examples import examples
from tests.random_graphs import Question, corpus, questions

NO_SIZE_LIMIT = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)
LIMITS = (1, 2, 7, 50, 1_000)


@dataclass
class Paged:
    """A gateway on an event loop that lasts for all examples of a test."""

    runner: asyncio.Runner
    gateway: Gateway
    pages: list[BfsResult] = field(default_factory=list)

    def ask(self, question: Question, **paging: Any) -> BfsResult:
        """Ask for one page."""
        return self.runner.run(self.gateway.bfs_query(question.seeds, question.max_hops, topology_only=True, **paging))

    def read_through(self, question: Question, limit: int, *, forgetting: bool = False) -> list[BfsResult]:
        """Read all pages, each with the snapshot of the one before; forgetting means that it is gone each time."""
        pages = [self.ask(question, limit=limit)]
        while pages[-1].next_offset is not None:
            if forgetting:
                self.gateway.forget_snapshots()
            pages.append(self.ask(question, limit=limit, **further(pages[-1])))
        return pages


@pytest.fixture
def paged(embedded: Column) -> Iterator[Paged]:
    with asyncio.Runner() as runner:
        gateway = embedded.open("random", Profile(size=NO_SIZE_LIMIT))
        yield Paged(runner, gateway)
        runner.run(gateway.close())


def further(page: BfsResult) -> dict[str, Any]:
    """Return the arguments of the page after a page."""
    return {"offset": page.next_offset, "edge_offset": page.next_edge or 0, "snapshot": page.snapshot}


def assert_one_answer(pages: Sequence[BfsResult], whole: BfsResult) -> None:
    """Check that pages put together are the unpaged result, each edge on the page of its later end."""
    assert [node for page in pages for node in page.nodes] == whole.nodes
    position = {node.id: number for number, page in enumerate(pages) for node in page.nodes}
    for number, page in enumerate(pages):
        later = {_triple(edge): max(position[edge.subject], position[edge.object]) for edge in whole.edges}
        assert [edge for edge in whole.edges if later[_triple(edge)] == number] == page.edges
        ends = [{position[edge.subject], position[edge.object]} for edge in whole.edges]
        assert sum(min(each) == number < max(each) for each in ends) == (page.edges_on_later_pages or 0)
    assert sum(len(page.edges) for page in pages) == whole.edge_count
    assert {(page.node_count, page.edge_count) for page in pages} == {(whole.node_count, whole.edge_count)}
    assert all(page.schema_summary == whole.schema_summary for page in pages)
    assert not any(page.result_changed for page in pages)


def _triple(edge: Any) -> tuple[str, str, str]:
    return (edge.subject, edge.predicate, edge.object)


@pytest.mark.slow
@settings(
    max_examples=examples(200),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(question=questions().filter(lambda question: set(question.seeds) <= {*question.graph.nodes}))
def test_pages_put_together_are_the_unpaged_answer(paged: Paged, question: Question) -> None:
    paged.gateway.forget_snapshots()
    whole = paged.ask(question)
    for limit in LIMITS:
        assert_one_answer(paged.read_through(question, limit), whole)


def test_pages_fit_together_when_the_stored_answer_is_gone_between_two_of_them(paged: Paged) -> None:
    question = Question(corpus()[0], corpus()[0].nodes[:1], 3)
    whole = paged.ask(question)
    assert_one_answer(paged.read_through(question, 2, forgetting=True), whole)


def test_an_offset_past_the_end_is_an_empty_page(paged: Paged) -> None:
    question = Question(corpus()[0], corpus()[0].nodes[:1], 2)
    page = paged.ask(question, offset=10_000)
    assert page.nodes == []
    assert page.edges == []
    assert page.next_offset is None
    assert page.node_count == paged.ask(question).node_count


def _triples(*names: str) -> pyoxigraph.Store:
    engine = pyoxigraph.Store()
    text = "\n".join(f"<urn:x:hub> <urn:x:knows> <urn:x:{name}> ." for name in names)
    engine.load(text.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    return engine


def _over(engine: pyoxigraph.Store, **profile: Any) -> Gateway:
    settings_ = Profile(size=NO_SIZE_LIMIT, **profile)
    return Gateway(SparqlStore(InProcess(engine, max_bytes=1 << 20), settings_), settings_, PrefixMap({}))


@pytest.mark.anyio
async def test_a_graph_that_changes_between_two_pages_does_not_change_the_answer() -> None:
    engine = _triples("b", "c", "d")
    async with _over(engine) as gateway:
        first = await gateway.bfs_query(["urn:x:hub"], 1, limit=2, topology_only=True)
        engine.load(b"<urn:x:hub> <urn:x:knows> <urn:x:a> .", pyoxigraph.RdfFormat.N_TRIPLES)
        second = await gateway.bfs_query(
            ["urn:x:hub"], 1, limit=2, topology_only=True, offset=first.next_offset or 0, snapshot=first.snapshot
        )
    assert [node.id for page in (first, second) for node in page.nodes] == [
        "urn:x:hub",
        "urn:x:b",
        "urn:x:c",
        "urn:x:d",
    ]
    assert second.result_changed is None


@pytest.mark.anyio
async def test_a_page_of_an_answer_that_is_gone_and_differs_now_says_so() -> None:
    engine = _triples("b", "c", "d")
    async with _over(engine) as gateway:
        first = await gateway.bfs_query(["urn:x:hub"], 1, limit=2, topology_only=True)
        engine.load(b"<urn:x:hub> <urn:x:knows> <urn:x:a> .", pyoxigraph.RdfFormat.N_TRIPLES)
        gateway.forget_snapshots()
        second = await gateway.bfs_query(
            ["urn:x:hub"], 1, limit=2, topology_only=True, offset=first.next_offset or 0, snapshot=first.snapshot
        )
    assert second.result_changed is True
    assert second.snapshot != first.snapshot


@pytest.mark.anyio
@pytest.mark.parametrize("changed", [False, True])
async def test_pages_fit_together_when_the_cache_expires_between_them(changed: bool) -> None:
    now = 0.0
    engine = _triples("b", "c", "d")
    profile = Profile(size=NO_SIZE_LIMIT, snapshots=SnapshotSettings(ttl_seconds=300))
    inner = SparqlStore(InProcess(engine, max_bytes=1 << 20), profile)
    store = CachedStore(inner, megabytes=1, ttl_seconds=60, clock=lambda: now)
    async with Gateway(store, profile, PrefixMap({}), clock=lambda: now) as gateway:
        first = await gateway.bfs_query(["urn:x:hub"], 1, limit=2)
        if changed:
            engine.load(b"<urn:x:hub> <urn:x:knows> <urn:x:a> .", pyoxigraph.RdfFormat.N_TRIPLES)
        now = 61.0
        second = await gateway.bfs_query(
            ["urn:x:hub"], 1, limit=2, offset=first.next_offset or 0, snapshot=first.snapshot
        )
        now = 301.0
        fresh = await gateway.bfs_query(["urn:x:hub"], 1)
    assert [node.id for page in (first, second) for node in page.nodes] == [
        "urn:x:hub",
        "urn:x:b",
        "urn:x:c",
        "urn:x:d",
    ]
    assert second.result_changed is None
    assert second.snapshot == first.snapshot
    assert fresh.node_count == (5 if changed else 4)


@pytest.mark.anyio
async def test_pages_fit_together_when_only_the_cache_is_left_of_the_stored_answer() -> None:
    engine = _triples("b", "c", "d")
    profile = Profile(size=NO_SIZE_LIMIT)
    inner = SparqlStore(InProcess(engine, max_bytes=1 << 20), profile)
    async with Gateway(CachedStore(inner, megabytes=1, ttl_seconds=60), profile, PrefixMap({})) as gateway:
        first = await gateway.bfs_query(["urn:x:hub"], 1, limit=2, topology_only=True)
        engine.load(b"<urn:x:hub> <urn:x:knows> <urn:x:a> .", pyoxigraph.RdfFormat.N_TRIPLES)
        gateway.forget_snapshots()
        second = await gateway.bfs_query(
            ["urn:x:hub"], 1, limit=2, topology_only=True, offset=first.next_offset or 0, snapshot=first.snapshot
        )
        gateway.forget()
        third = await gateway.bfs_query(
            ["urn:x:hub"], 1, limit=2, topology_only=True, offset=first.next_offset or 0, snapshot=first.snapshot
        )
    assert (second.result_changed, second.snapshot) == (None, first.snapshot)
    assert (third.result_changed, third.node_count) == (True, 5)


@pytest.mark.anyio
async def test_a_stored_answer_expires_after_its_time_to_live() -> None:
    now = 0.0
    engine = _triples("b")
    profile = Profile(snapshots=SnapshotSettings(ttl_seconds=60))
    store = SparqlStore(InProcess(engine, max_bytes=1 << 20), profile)
    async with Gateway(store, profile, PrefixMap({}), clock=lambda: now) as gateway:
        before = await gateway.bfs_query(["urn:x:hub"], 1)
        engine.load(b"<urn:x:hub> <urn:x:knows> <urn:x:a> .", pyoxigraph.RdfFormat.N_TRIPLES)
        cached = await gateway.bfs_query(["urn:x:hub"], 1)
        now = 61.0
        fresh = await gateway.bfs_query(["urn:x:hub"], 1)
    assert (before.node_count, cached.node_count, fresh.node_count) == (2, 2, 3)


@pytest.mark.anyio
async def test_an_answer_that_does_not_fit_is_paged_and_says_how_to_go_on(embedded: Column) -> None:
    async with embedded.open("awkward") as gateway:
        answer = await gateway.bfs_query(["a:hub"], 2, max_tokens=1_000)
        assert len(answer.model_dump_json(exclude_none=True).encode()) <= 4_000
        nodes = list(answer.nodes)
        while answer.next_offset is not None:
            answer = await gateway.bfs_query(
                ["a:hub"], 2, max_tokens=1_000, offset=answer.next_offset, snapshot=answer.snapshot
            )
            assert len(answer.model_dump_json(exclude_none=True).encode()) <= 4_000
            nodes += answer.nodes
    assert len(nodes) == len({node.id for node in nodes}) == answer.node_count


def _star_of_neighbours(count: int) -> pyoxigraph.Store:
    """Return a graph in which the last neighbour of a hub has an edge to and from every other one."""
    names = [f"n{number:03}" for number in range(count)]
    engine = _triples(*names, "z")
    text = "\n".join(f"<urn:x:z> <urn:x:p> <urn:x:{name}> . <urn:x:{name}> <urn:x:q> <urn:x:z> ." for name in names)
    engine.load(text.encode(), pyoxigraph.RdfFormat.TURTLE)
    return engine


@pytest.mark.anyio
@pytest.mark.parametrize("topology_only", [True, False])
@pytest.mark.parametrize("limit", [None, 1, 60, 81, 82])
async def test_the_edges_of_one_node_go_on_over_pages_that_they_fill(limit: int | None, topology_only: bool) -> None:
    async with _over(_star_of_neighbours(80)) as gateway:
        whole = await gateway.bfs_query(["urn:x:hub"], 2, topology_only=True)
        pages = [await gateway.bfs_query(["urn:x:hub"], 2, limit=limit, max_tokens=700, topology_only=topology_only)]
        while pages[-1].next_offset is not None:
            pages.append(
                await gateway.bfs_query(
                    ["urn:x:hub"], 2, limit=limit, max_tokens=700, topology_only=topology_only, **further(pages[-1])
                )
            )
    assert all(len(page.model_dump_json(exclude_none=True).encode()) <= 2_800 for page in pages)
    assert [node.id for page in pages for node in page.nodes] == [node.id for node in whole.nodes]
    on_pages = [_triple(edge) for page in pages for edge in page.edges]
    assert sorted(on_pages) == [_triple(edge) for edge in whole.edges]
    assert len(on_pages) == whole.edge_count == 80 + 1 + 160
    continued = [page for page in pages if page.next_edge]
    assert continued
    assert {page.next_offset for page in continued} == {82}
    assert all((page.edges_on_later_pages or 0) > 0 for page in continued)


@pytest.mark.anyio
async def test_an_edge_to_an_earlier_page_has_names_at_both_ends_where_ids_are_opaque() -> None:
    engine = _triples("b", "c", "d")
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    engine.load(f'<urn:x:hub> {label} "The hub" .'.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    async with _over(engine, names=NameSettings(on_stubs=True)) as gateway:
        first = await gateway.bfs_query(["urn:x:hub"], 1, limit=3, topology_only=True)
        second = await gateway.bfs_query(["urn:x:hub"], 1, limit=3, topology_only=True, explain=True, **further(first))
    assert second.explain is not None
    # The traversal has read the names of its nodes.
    assert not any("urn:x:hub" in query.sparql for query in second.explain.sent)
    assert [(edge.subject, edge.object) for edge in second.edges] == [("urn:x:hub", "urn:x:d")]
    assert (second.labels or {})["urn:x:hub"] == "The hub"


@pytest.mark.anyio
async def test_an_edge_offset_without_an_offset_is_an_error(embedded: Column) -> None:
    async with embedded.open("medical") as gateway:
        with pytest.raises(InputError, match="edge_offset is given without offset"):
            await gateway.bfs_query(["drug:warfarin"], 1, edge_offset=3)


@pytest.mark.anyio
@pytest.mark.parametrize(("offset", "edge_offset", "warned"), [(16, 0, True), (16, 1, False), (17, 1, True)])
async def test_only_the_edges_of_the_last_node_follow_the_last_node(
    embedded: Column, offset: int, edge_offset: int, warned: bool
) -> None:
    async with embedded.open("medical") as gateway:
        page = await gateway.bfs_query(["drug:warfarin"], 1, offset=offset, edge_offset=edge_offset)
    assert page.nodes == []
    assert page.edges == []
    assert any("past the end" in warning for warning in page.warnings or ()) is warned
