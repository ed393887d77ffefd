"""What does not depend on an answer is asked with it, where several queries run at once, and costs no request more."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.errors import Fault, InputError, NetworkFault
from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.endpoint import EndpointSettings, QuotaSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile, asks_ahead, asks_together
from gateway.settings.vocabulary import EdgeSettings, NameSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, ROOM, X, engine

pytestmark = pytest.mark.anyio

GRAPH = """
x:a a x:T ; rdfs:label "a" ; x:p x:b, x:c .
x:b a x:T ; rdfs:label "b" ; x:q x:d .
x:c rdfs:label "c" ; x:q x:d .
x:d rdfs:label "d" ; x:note [ x:unit "g" ] .
x:linked x:q x:a .
x:old x:movedTo x:b .
"""

CALLS: dict[str, dict[str, Any]] = {
    "describe_schema": {},
    "search_entities": {"query": "b"},
    "describe_entity": {"id": "x:a"},
    "describe_entities": {"ids": ["x:a", "x:d", "x:nothing", "x:linked"]},
    "bfs_query": {"seeds": ["x:a", "x:old"], "max_hops": 2},
    "intersect_subgraphs": {"seeds": ["x:old", "x:c"], "k": 1},
}

TYPES, PROPERTIES, EDGES, CONTENTS = "#type>", "isLiteral(?v)", "SELECT ?n ?s ?p ?o", "SELECT ?n ?p ?b ?q"


@dataclass
class Held:
    """A transport that holds some queries until all of them have come, or one has been answered, and notes all."""

    inner: Transport
    together: Sequence[str] = ()
    queries: list[str] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    first: str = ""
    second: str = ""
    _first_came: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: int = 0
    most_at_once: int = 0
    _came: set[str] = field(default_factory=set)
    _all_came: asyncio.Event = field(default_factory=asyncio.Event)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, after those that it is held with have come, or fail."""
        self.queries.append(query)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for part, fault in self.faults.items():
                if part in query:
                    raise fault
            if held := [part for part in self.together if part in query]:
                self._came.update(held)
                if len(self._came) == len(self.together):
                    self._all_came.set()
                async with asyncio.timeout(30):
                    await self._all_came.wait()
            if self.second and self.second in query:
                await self._first_came.wait()
            answer = await self.inner.select(query, deadline, spend)
            if self.first and self.first in query:
                self._first_came.set()
            return answer
        finally:
            self.at_once -= 1

    async def close(self) -> None:
        """Let go of nothing."""
        await self.inner.close()


def profile(concurrency: int) -> Profile:
    requests = RequestSettings(concurrency=concurrency, retries=0)
    return Profile(
        size=ROOM,
        endpoint=EndpointSettings(requests=requests),
        edges=EdgeSettings(redirects=(f"{X}movedTo",)),
        names=NameSettings(on_stubs=True),
    )


async def opened(concurrency: int = 3) -> tuple[Gateway, Held]:
    held = Held(InProcess(engine(GRAPH), max_bytes=1 << 20))
    settings = profile(concurrency)
    store = SparqlStore(held, settings, FlowControl(settings.endpoint.requests))
    gateway = Gateway(store, settings, PrefixMap(PREFIXES))
    # What there is to learn of the engine is learnt.
    await gateway.describe_schema()
    await gateway.describe_entity("x:b")
    held.queries.clear()
    held.most_at_once = 0
    return gateway, held


async def test_types_properties_and_edges_of_a_description_are_asked_side_by_side() -> None:
    gateway, held = await opened()
    held.together = (TYPES, PROPERTIES, EDGES)
    answer = await gateway.describe_entity("x:a")
    assert answer.complete
    assert list(answer.edges or ()) == ["x:p", "^x:q"]


async def test_where_one_query_runs_at_a_time_the_same_is_asked_one_after_the_other() -> None:
    several, beside = await opened()
    one, alone = await opened(concurrency=1)
    assert (await one.describe_entity("x:a")).as_json() == (await several.describe_entity("x:a")).as_json()
    assert sorted(alone.queries) == sorted(beside.queries)
    assert (alone.most_at_once, beside.most_at_once) == (1, 3)


@pytest.mark.parametrize("tool", CALLS)
async def test_an_answer_does_not_depend_on_how_many_queries_run_at_once(tool: str) -> None:
    (several, beside), (one, alone) = await opened(), await opened(concurrency=1)
    answers = [(await gateway.call(tool, CALLS[tool])).as_json() for gateway in (one, several)]
    assert answers[0] == answers[1]
    assert len(alone.queries) <= len(beside.queries)
    assert alone.most_at_once <= 1


async def test_an_intersection_of_merged_seeds_is_that_of_what_they_were_merged_into() -> None:
    gateway, held = await opened()
    held.together = ("movedTo", "SELECT ?s ?p ?o")
    merged = await gateway.intersect_subgraphs(["x:old", "x:c"], 1)
    usual = await gateway.intersect_subgraphs(["x:b", "x:c"], 1)
    assert merged.node_count == usual.node_count == 2
    assert merged.complete
    assert any("x:old" in warning for warning in merged.warnings or ())


async def test_the_content_of_blank_nodes_is_asked_only_of_nodes_that_lead_to_some() -> None:
    gateway, held = await opened()
    await gateway.describe_entity("x:a")
    assert not [query for query in held.queries if CONTENTS in query]
    answer = await gateway.describe_entities(["x:a", "x:d"])
    (asked,) = [query for query in held.queries if CONTENTS in query]
    assert f"<{X}d>" in asked
    assert f"<{X}a>" not in asked
    assert "x:unit" in str(answer.as_json())


async def test_an_entity_whose_edges_have_come_is_not_asked_for_once_more() -> None:
    gateway, held = await opened()
    held.first, held.second = EDGES, PROPERTIES
    answer = await gateway.describe_entity("x:linked")
    assert answer.complete
    assert not [query for query in held.queries if "SELECT DISTINCT ?n WHERE" in query]


async def test_a_description_of_an_entity_that_is_not_there_is_an_error_as_ever() -> None:
    gateway, _ = await opened()
    with pytest.raises(InputError, match="x:nothing"):
        await gateway.describe_entity("x:nothing")


async def test_edges_that_cannot_be_read_leave_the_rest_of_a_description_and_say_so() -> None:
    gateway, held = await opened()
    held.faults = {EDGES: NetworkFault("Reset.")}
    answer = await gateway.describe_entity("x:a")
    assert not answer.complete
    assert (answer.entity_type, answer.edges) == ("x:T", None)


def test_nothing_is_asked_ahead_where_queries_are_counted_or_run_one_at_a_time() -> None:
    counted = EndpointSettings(quota=QuotaSettings(query_seconds_per_minute=60, query_seconds_burst=120))
    assert asks_ahead(profile(2))
    assert not asks_ahead(profile(1))
    assert not asks_ahead(Profile(endpoint=counted))


def test_what_is_most_likely_needed_is_asked_with_the_rest_where_that_is_no_query_more() -> None:
    counted = EndpointSettings(quota=QuotaSettings(query_seconds_per_minute=60, query_seconds_burst=120))
    assert asks_together(profile(1))
    assert asks_together(profile(2))
    assert not asks_together(Profile(endpoint=counted))


async def test_of_an_intersection_without_a_node_only_the_names_of_its_seeds_are_read() -> None:
    gateway, held = await opened()
    answer = await gateway.intersect_subgraphs(["x:linked", "x:d"], 1, topology_only=True)
    assert answer.node_count == 0
    assert len([query for query in held.queries if "SELECT ?n ?p ?v WHERE" in query]) == 1


async def test_an_entity_that_is_not_there_does_not_wait_for_its_edges() -> None:
    gateway, held = await opened()
    held.first, held.second = "no query has this", EDGES
    async with asyncio.timeout(30):
        with pytest.raises(InputError, match="x:nothing"):
            await gateway.describe_entity("x:nothing")
    assert held.at_once == 0


async def test_edges_asked_ahead_leave_types_and_properties_what_a_call_may_spend() -> None:
    many = "".join(f"x:h{hub} a x:T ; rdfs:label 'h{hub}' . " for hub in range(8))
    linked = "".join(f"x:n{number} x:q x:h{number % 8} . " for number in range(800))
    limits = LimitSettings(rows=700, query_rows=1_000)
    answers = []
    for concurrency in (1, 3):
        settings = profile(concurrency).model_copy(update={"limits": limits})
        held = Held(InProcess(engine(many + linked), max_bytes=1 << 20))
        store = SparqlStore(held, settings, FlowControl(settings.endpoint.requests))
        gateway = Gateway(store, settings, PrefixMap(PREFIXES))
        # A call waits for the schema, which is read with such queries, too.
        await gateway.describe_schema()
        # Edges come first, and would leave the rest nothing.
        held.first, held.second = (EDGES, PROPERTIES) if concurrency > 1 else ("", "")
        answers.append(await gateway.describe_entities([f"x:h{hub}" for hub in range(8)]))
    assert [[node.entity_type for node in answer.result] for answer in answers] == [["x:T"] * 8] * 2
