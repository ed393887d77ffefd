"""Answers that are stored whole: only what would be answered again in the same way, and only for so long."""

from collections.abc import Mapping
from typing import Any

import pyoxigraph
import pytest

from gateway.answers.models import CompactAnswer
from gateway.arguments import BfsQuery
from gateway.cache.store import CachedStore
from gateway.graph.call import Epoch, Freshness
from gateway.settings.limits import SnapshotSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.telemetry.record import Record
from gateway.terms.prefixes import PrefixMap
from gateway.tools.answering import AnswerCache
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, ROOM, X, engine

pytestmark = pytest.mark.anyio

GRAPH = """
x:a a x:Person ; rdfs:label "A" ; x:knows x:b , x:c .
x:b a x:Person ; rdfs:label "B" ; x:knows x:d .
x:c a x:City ; rdfs:label "C" .
x:d a x:City ; rdfs:label "D" .
"""

TTL = 100.0

CALLS: Mapping[str, dict[str, Any]] = {
    "bfs_query": {"seeds": ["x:a"], "max_hops": 2},
    "intersect_subgraphs": {"seeds": ["x:a", "x:b"], "k": 1},
    "describe_entity": {"id": "x:a"},
    "describe_entities": {"ids": ["x:a", "x:b"]},
}


class Place:
    """A gateway over a small graph with a cache, a clock of its own, and what its calls cost."""

    def __init__(self, *, snapshots: float = 10 * TTL) -> None:
        self.now = 0.0
        self.graph: pyoxigraph.Store = engine(GRAPH)
        self.records: list[Record] = []
        profile = Profile(size=ROOM, snapshots=SnapshotSettings(ttl_seconds=snapshots))
        below = SparqlStore(InProcess(self.graph, max_bytes=1 << 24), profile)
        self.store = CachedStore(below, megabytes=8, ttl_seconds=TTL, clock=self.clock)
        self.gateway = Gateway(self.store, profile, PrefixMap(PREFIXES), self.clock, self.records.append)

    def clock(self) -> float:
        """Return the time."""
        return self.now

    async def ask(self, tool: str = "bfs_query", **more: object) -> dict[str, Any]:
        """Return an answer in the compact shape."""
        answer = await self.gateway.call(tool, {**CALLS[tool], **more}, explain=True, shape="compact")
        return answer.as_json()

    @property
    def was_stored(self) -> bool:
        """Whether the last answer was stored whole: not even the cache of nodes and edges was asked."""
        last = self.records[-1]
        return (last.queries, last.cache_hits, last.cache_misses) == (0, 0, 0)

    async def filled(self) -> dict[str, Any]:
        """Ask until the answer is stored, and return it."""
        await self.ask()
        await self.ask()
        answer = await self.ask()
        assert self.was_stored
        return answer

    def add(self, subject: str, target: str) -> None:
        """Add an edge to the graph."""
        nodes = [pyoxigraph.NamedNode(f"{X}{name}") for name in (subject, "knows", target)]
        self.graph.add(pyoxigraph.Quad(*nodes))


@pytest.mark.parametrize("tool", CALLS)
async def test_a_call_that_only_stored_answers_were_needed_for_is_answered_as_before(tool: str) -> None:
    place = Place()
    answers = []
    stored = []
    for _ in range(4):
        answers.append(await place.ask(tool))
        stored.append(place.was_stored)
    assert stored == [False, False, True, True]
    assert answers[1:] == [answers[0]] * 3
    assert place.records[-1].outcome == place.records[0].outcome == "complete"


async def test_other_arguments_are_another_question() -> None:
    place = Place()
    whole = await place.filled()
    assert await place.ask(max_hops=1) != whole
    assert not place.was_stored


async def test_an_answer_that_a_caller_changes_stays_as_it_was_for_others() -> None:
    place = Place()
    answer = await place.filled()
    before = str(answer)
    answer.clear()
    assert str(await place.ask()) == before


@pytest.mark.parametrize(("cache", "snapshots"), [(TTL, 10 * TTL), (TTL / 2, TTL / 2)])
async def test_a_stored_answer_expires_with_the_first_thing_that_it_was_made_from(
    cache: float, snapshots: float
) -> None:
    place = Place(snapshots=snapshots)
    await place.ask()
    # Stored at half of the time, and yet no longer fresh than what was read at its beginning.
    place.now = cache / 2
    await place.ask()
    await place.ask()
    assert place.was_stored
    place.now = cache - 1
    await place.ask()
    assert place.was_stored
    place.now = cache
    await place.ask()
    assert not place.was_stored


async def test_after_all_is_forgotten_an_answer_has_what_the_graph_has_now() -> None:
    place = Place()
    before = await place.filled()
    place.add("a", "e")
    assert await place.ask() == before
    place.gateway.forget()
    after = await place.ask()
    assert not place.was_stored
    assert after["node_count"] == before["node_count"] + 1


async def test_what_the_store_forgets_by_itself_is_not_answered_either() -> None:
    place = Place()
    await place.filled()
    place.store.forget_answers()
    await place.ask()
    assert not place.was_stored


async def test_an_answer_with_gaps_is_not_stored_though_nothing_was_asked_for_it() -> None:
    place = Place()
    for _ in range(4):
        answer = await place.ask(max_edges_per_node=1)
        assert answer["complete"] is False
        assert not place.was_stored
    assert place.records[-1].queries == 0


async def test_an_answer_with_its_cost_is_that_of_its_own_call() -> None:
    place = Place()
    costs = [(await place.ask(explain=True))["explain"]["queries"] for _ in range(4)]
    assert costs[0] > 0
    assert costs[1:] == [0, 0, 0]
    assert not place.was_stored


async def test_a_search_is_not_stored_whole() -> None:
    place = Place()
    for _ in range(4):
        await place.gateway.call("search_entities", {"query": "A"}, shape="compact")
        assert not place.was_stored


def test_an_answer_that_anything_was_asked_for_is_not_stored() -> None:
    cache, question = AnswerCache(), BfsQuery(seeds=("x:a",), max_hops=1)
    asked = Freshness()
    asked.asked()
    cache.put(question, {}, asked, None)
    assert cache.get(question, None) is None
    cache.put(question, {"a": 1}, Freshness(), None)
    assert cache.get(question, None) == CompactAnswer({"a": 1})


def test_what_was_read_holds_until_the_first_of_it_expires_on_its_own_clock() -> None:
    now = {"one": 0.0, "other": 0.0}

    def one() -> float:
        return now["one"]

    def other() -> float:
        return now["other"]

    freshness, epoch = Freshness(), Epoch()
    freshness.used(10.0, one, epoch)
    freshness.used(5.0, one, epoch)
    freshness.used(7.0, one, epoch)
    freshness.used(3.0, other, epoch)
    now["one"] = 4.0
    assert freshness.holds()
    now["one"] = 5.0
    assert not freshness.holds()
    now["one"], now["other"] = 4.0, 3.0
    assert not freshness.holds()
    now["other"] = 0.0
    epoch.is_over = True
    assert not freshness.holds()


def test_answers_take_no_more_memory_than_they_may() -> None:
    cache = AnswerCache(20_000)
    questions = [BfsQuery(seeds=(f"x:{number}",), max_hops=1) for number in range(10)]
    for question in questions:
        cache.put(question, {"a": "a" * 5_000}, Freshness(), None)
    assert [cache.get(question, None) is not None for question in questions] == [False] * 8 + [True] * 2
    cache.put(questions[0], {"a": "a" * 50_000}, Freshness(), None)
    assert cache.get(questions[0], None) is None
