"""What a call cost: in a record for whoever asked for one, and in the answer where `explain` was asked for."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from gateway.answers.models import Explain, ToolAnswer
from gateway.answers.size import explained
from gateway.api import open_gateway
from gateway.arguments import ALL
from gateway.cache.store import CachedStore
from gateway.errors import BrokenAnswer, Fault, GatewayError, GaveUp, InputError, NetworkFault
from gateway.escaping import json_text
from gateway.flow.control import FAILURES_BEFORE_REST, FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import AccessSettings, EndpointSettings, RequestSettings
from gateway.settings.limits import HubSettings, LimitSettings, SizeSettings
from gateway.settings.profile import Profile, ServerSettings
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.sparql.store import SparqlStore
from gateway.telemetry.record import LOGGER, Milliseconds, Record, Sent, line_of
from gateway.telemetry.tally import Tally
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from gateway.transport.inprocess import InProcess
from tests.servers.loopback import free_port
from tests.small import PREFIXES, ROOM, Watched, X, engine

pytestmark = pytest.mark.anyio

STAR = """
x:hub a x:Hub ; rdfs:label "The hub" ; x:p x:n0, x:n1, x:n2, x:n3, x:n4, x:n5 .
x:n0 rdfs:label "nought" ; x:q x:far .
x:n1 x:q x:far {| x:source "a paper" |} .
x:lone rdfs:label "Lone" .
"""

Ask = Callable[[Gateway], Awaitable[ToolAnswer]]

CALLS: dict[str, Ask] = {
    "describe_schema": lambda gateway: gateway.describe_schema(explain=True),
    "search_entities": lambda gateway: gateway.search_entities("hub", explain=True),
    "bfs_query": lambda gateway: gateway.bfs_query(["x:hub"], 2, explain=True),
    "describe_entity": lambda gateway: gateway.describe_entity("x:hub", explain=True),
    "describe_entities": lambda gateway: gateway.describe_entities(["x:hub", "x:lone", "x:no"], explain=True),
    "intersect_subgraphs": lambda gateway: gateway.intersect_subgraphs(["x:n0", "x:n1"], 2, explain=True),
}
GIVEN: dict[str, dict[str, Any]] = {
    "describe_schema": {},
    "search_entities": {"query": "hub"},
    "bfs_query": {"seeds": ["x:hub"], "max_hops": 2},
    "describe_entity": {"id": "x:hub"},
    "describe_entities": {"ids": ["x:hub", "x:lone"]},
    "intersect_subgraphs": {"seeds": ["x:n0", "x:n1"], "k": 2},
}


@dataclass
class Recorder:
    """A transport that writes down what passes, and meets the faults it is given, the first query the first."""

    inner: Transport
    faults: list[Fault | None] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, or fail."""
        self.queries.append(query)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        body = await self.inner.select(query, deadline, spend)
        self.bodies.append(body)
        return body

    async def close(self) -> None:
        """Let go of nothing."""
        await self.inner.close()

    @property
    def rows(self) -> int:
        """Rows in all answers."""
        return sum(len(json.loads(body)["results"]["bindings"]) for body in self.bodies)

    def forget(self) -> None:
        """Begin anew."""
        self.queries.clear()
        self.bodies.clear()


@dataclass
class Watch:
    """A gateway, what passes below it, and what it records."""

    gateway: Gateway
    below: Recorder
    records: list[Record]

    @property
    def record(self) -> Record:
        """The last record."""
        return self.records[-1]


def watching(turtle: str = STAR, profile: Profile | None = None, faults: list[Fault | None] | None = None) -> Watch:
    below = Recorder(InProcess(engine(turtle), max_bytes=1 << 24), faults or [])
    records: list[Record] = []
    return Watch(opened(below, profile, records), below, records)


def opened(transport: Transport, profile: Profile | None, records: list[Record]) -> Gateway:
    settings = profile or Profile(size=ROOM)
    return Gateway(SparqlStore(transport, settings), settings, PrefixMap(PREFIXES), on_record=records.append)


def explain_of(answer: ToolAnswer) -> Explain:
    assert answer.explain is not None
    return answer.explain


@pytest.mark.parametrize("tool", CALLS)
async def test_a_record_counts_what_passed_below(tool: str) -> None:
    watch = watching()
    for _ in range(2):  # the second call finds the schema read
        watch.below.forget()
        answer = await CALLS[tool](watch.gateway)
        record = watch.record
        assert (record.tool, record.outcome, record.error) == (tool, "complete", "")
        assert [sent.sparql for sent in record.sent] == watch.below.queries
        assert record.queries == len(watch.below.queries)
        assert record.bytes == sum(map(len, watch.below.bodies)) == sum(sent.bytes for sent in record.sent)
        assert record.rows == watch.below.rows == sum(sent.rows for sent in record.sent)
        assert (record.retries, record.overflows, record.splits) == (0, 0, 0)
        assert 0 <= record.ms.waiting <= record.ms.total
        explain = explain_of(answer)
        assert [sent.sparql for sent in explain.sent] == watch.below.queries
        assert (explain.queries, explain.rows, explain.bytes) == (record.queries, record.rows, record.bytes)
        assert (explain.texts_cut, explain.sent_left_out) == (None, None)
    assert len(watch.records) == 2


async def test_the_schema_is_counted_to_the_call_that_had_it_read() -> None:
    watch = watching()
    await watch.gateway.search_entities("hub", explain=True)
    first = watch.record
    await watch.gateway.search_entities("hub", explain=True)
    assert {"schema/types", "schema/edges"} <= {sent.template for sent in first.sent}
    assert [sent.template for sent in watch.record.sent] == ["search/folded", "facts", "lateral/degrees"]


async def test_calls_at_once_count_each_their_own_queries() -> None:
    watch = watching()
    async with asyncio.TaskGroup() as calls:
        for _ in range(3):
            calls.create_task(watch.gateway.search_entities("hub", explain=True))
            calls.create_task(watch.gateway.describe_entity("x:hub", explain=True))
    assert sum(record.queries for record in watch.records) == len(watch.below.queries)
    assert sorted(sent.sparql for record in watch.records for sent in record.sent) == sorted(watch.below.queries)
    readers = [record for record in watch.records if "schema/types" in {sent.template for sent in record.sent}]
    assert len(readers) == 1
    for record in watch.records:
        if record not in readers:
            assert {sent.template for sent in record.sent} <= {
                "search/folded",
                "search/letter_classes",
                "facts",
                "lateral/degrees",
                "types",
                "literals",
                "blank_content",
                "lateral/probe",
                "lateral/edges_capped",
                "edges",
            }


async def test_a_query_that_is_sent_again_is_counted_again() -> None:
    watch = watching()
    await watch.gateway.describe_schema()
    watch.below.forget()
    watch.below.faults = [NetworkFault("Reset."), BrokenAnswer("It broke off.")]
    answer = await watch.gateway.bfs_query(["x:lone"], 1, topology_only=True, explain=True)
    record = watch.record
    assert answer.complete
    assert (record.queries, record.retries) == (len(watch.below.queries), 2)
    assert [sent.fault for sent in record.sent[:3]] == ["NetworkFault", "BrokenAnswer", ""]
    assert len({sent.sparql for sent in record.sent[:3]}) == 1
    assert [sent.fault for sent in explain_of(answer).sent[:3]] == ["NetworkFault", "BrokenAnswer", None]


async def test_a_batch_that_is_too_much_is_counted_as_split() -> None:
    watch = watching()
    await watch.gateway.describe_schema()
    watch.below.faults = [None, GaveUp("Out of time.")]
    answer = await watch.gateway.bfs_query(["x:hub"], 2, topology_only=True)
    assert answer.complete
    assert watch.record.splits == 1


async def test_an_answer_with_too_many_rows_is_counted_as_overflow() -> None:
    many = " ".join(f"x:hub x:p x:n{number} ." for number in range(30))
    watch = watching(many, Profile(size=ROOM, limits=LimitSettings(query_rows=20)))
    answer = await watch.gateway.bfs_query(["x:hub"], 1, topology_only=True)
    assert (answer.complete, answer.edge_count) == (True, 30)
    assert watch.record.overflows >= 2


async def test_what_an_answer_lacks_is_in_the_record() -> None:
    watch = watching(profile=Profile(size=ROOM, hubs=HubSettings(max_degree=3)))
    assert not (await watch.gateway.bfs_query(["x:n0"], 2)).complete
    assert (watch.record.outcome, watch.record.causes) == ("incomplete", ("hub_not_expanded",))


def test_what_a_cache_notes_on_the_budget_is_in_the_record() -> None:
    call = Call(Deadline.after(60), 1, 1, 1, tally=Tally("bfs_query"))
    call.note_cache(hits=3, misses=2)
    call.note_cache(hits=0, misses=5)
    record = call.tally.answered(complete=True)
    assert (record.cache_hits, record.cache_misses) == (3, 7)


async def test_what_the_cache_had_is_counted_and_not_asked_for() -> None:
    below = Recorder(InProcess(engine(STAR), max_bytes=1 << 24))
    records: list[Record] = []
    store = CachedStore(SparqlStore(below, Profile()), megabytes=1, ttl_seconds=60)
    gateway = Gateway(store, Profile(), PrefixMap(PREFIXES), on_record=records.append)
    for _ in range(2):
        await gateway.bfs_query(["x:hub"], 2, topology_only=True, explain=True)
        gateway.forget_snapshots()
    first, second = records
    assert [sent.sparql for record in records for sent in record.sent] == below.queries
    assert (first.cache_hits, second.cache_misses, second.queries) == (0, 0, 0)
    assert second.cache_hits == first.cache_misses > 0


async def test_a_page_of_a_stored_answer_costs_what_it_shows() -> None:
    watch = watching()
    first = await watch.gateway.bfs_query(["x:hub"], 2, limit=3, topology_only=True)
    await watch.gateway.bfs_query(
        ["x:hub"], 2, limit=3, topology_only=True, offset=first.next_offset or 0, snapshot=first.snapshot
    )
    assert (watch.record.queries, watch.record.ms.expansion) == (0, 0)


async def test_a_wrong_argument_leaves_a_record_too() -> None:
    watch = watching()
    with pytest.raises(InputError):
        await watch.gateway.bfs_query([], 1)
    assert (watch.record.tool, watch.record.outcome, watch.record.error) == ("bfs_query", "failed", "InputError")
    assert watch.record.queries == 0


async def test_a_call_that_fails_leaves_the_queries_that_failed() -> None:
    watch = watching(
        profile=Profile(endpoint=EndpointSettings(requests=RequestSettings(retries=0))),
        faults=[NetworkFault("Away.")] * 20,
    )
    with pytest.raises(NetworkFault):
        await watch.gateway.describe_entity("x:hub", explain=True)
    record = watch.record
    assert (record.outcome, record.error) == ("failed", "NetworkFault")
    assert [sent.sparql for sent in record.sent] == watch.below.queries
    assert {sent.fault for sent in record.sent} == {"NetworkFault"}
    assert (record.rows, record.bytes) == (0, 0)


async def test_the_query_that_asks_whether_an_endpoint_is_alive_is_counted() -> None:
    profile = Profile(endpoint=EndpointSettings(requests=RequestSettings(retries=0)))
    watch = watching(profile=profile, faults=[NetworkFault("Away.")] * 20)
    for _ in range(FAILURES_BEFORE_REST):
        with pytest.raises(GatewayError):
            await watch.gateway.describe_entity("x:hub", explain=True)
    assert [sent.sparql for record in watch.records for sent in record.sent] == watch.below.queries
    assert "alive" in {sent.template for record in watch.records for sent in record.sent}


async def test_getting_to_know_the_endpoint_is_waiting_and_no_query_of_the_call() -> None:
    now = 0.0

    def clock() -> float:
        return now

    class Stranger(EngineDetector):
        """An endpoint that takes two seconds to be recognised."""

        async def detect(self, call: Call) -> None:  # noqa: ARG002 - the same as the other's
            """Take the time."""
            nonlocal now
            now += 2

    profile = Profile(size=ROOM)
    below = Recorder(InProcess(engine(STAR), max_bytes=1 << 24))
    flow = FlowControl(profile.endpoint.requests)
    client = SparqlClient(below, profile, flow, Stranger(below, profile, flow))
    # A graph in this process is known.
    client.is_remote = True
    tally = Tally("bfs_query", clock)
    call = Call(Deadline.after(60, clock), 10, 100, 100, tally=tally)
    await client.rows("existing", call, {"nodes": [f"{X}hub"]})
    record = tally.answered(complete=True)
    assert (record.queries, record.ms.waiting, record.ms.own) == (len(below.queries), 2_000, 0)


async def test_a_call_that_is_cancelled_leaves_a_record() -> None:
    begun = anyio.Event()

    async def hang(_query: str) -> None:
        begun.set()
        await anyio.sleep_forever()

    records: list[Record] = []
    transport = Watched(engine(STAR), hang)
    gateway = opened(transport, None, records)
    call = asyncio.create_task(gateway.describe_schema(explain=True))
    with anyio.fail_after(10):
        await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (record,) = records
    assert (record.outcome, record.error) == ("cancelled", "CancelledError")
    assert {sent.fault for sent in record.sent} == {"CancelledError"}


async def test_nothing_is_explained_unless_it_is_asked_for() -> None:
    watch = watching()
    for tool, given in GIVEN.items():
        answer = await watch.gateway.call(tool, given)
        assert "explain" not in answer.as_json()
        assert watch.record.sent == ()


@pytest.mark.parametrize("value", [True, False, None])
async def test_to_a_client_explain_is_no_argument_unless_the_operator_says_so(value: object) -> None:
    watch = watching()
    for tool, given in GIVEN.items():
        with pytest.raises(InputError, match=f"{tool} has no argument 'explain'") as caught:
            await watch.gateway.call(tool, {**given, "explain": value})
        assert "explain" not in caught.value.valid


async def test_where_the_operator_says_so_every_tool_takes_explain() -> None:
    watch = watching(profile=Profile(size=ROOM, server=ServerSettings(explain=True)))
    assert list(GIVEN) == [model.tool for model in ALL]
    for tool, given in GIVEN.items():
        watch.below.forget()
        answer = await watch.gateway.call(tool, {**given, "explain": True})
        written = answer.as_json()
        assert [sent["sparql"] for sent in written["explain"]["sent"]] == watch.below.queries
        assert "explain" not in (await watch.gateway.call(tool, given)).as_json()
        with pytest.raises(InputError, match="explain is 'perhaps'"):
            await watch.gateway.call(tool, {**given, "explain": "perhaps"})
    with pytest.raises(InputError, match="Did you mean explain") as caught:
        await watch.gateway.call("describe_schema", {"explane": True})
    assert caught.value.valid == "Its arguments are all, node_types, query, language, explain."


def bytes_of(answer: ToolAnswer) -> int:
    return len(json_text(answer.as_json()).encode())


@pytest.mark.parametrize("max_tokens", [200, 250, 300, 400, 600, 1_000, 3_000, 8_000])
@pytest.mark.parametrize("tool", ["bfs_query", "intersect_subgraphs", "describe_entity", "describe_entities"])
async def test_an_explained_answer_is_no_larger_than_was_asked(tool: str, max_tokens: int) -> None:
    many = " ".join(
        f'x:hub x:p x:n{number} . x:n{number} rdfs:label "{"é" * 90}" ; x:q x:hub .' for number in range(90)
    )
    watch = watching(
        STAR + many, Profile(size=SizeSettings(ceiling_tokens=20_000), server=ServerSettings(explain=True))
    )
    answer = await watch.gateway.call(tool, {**GIVEN[tool], "max_tokens": max_tokens, "explain": True})
    assert bytes_of(answer) <= max_tokens * 4


@pytest.mark.parametrize("tool", ["describe_schema", "search_entities"])
@pytest.mark.parametrize("max_tokens", [3_000, 8_000])
async def test_tools_without_max_tokens_keep_to_the_profiles(tool: str, max_tokens: int) -> None:
    many = " ".join(f'x:n{number} a x:Type{"p" * 50}{number} ; rdfs:label "hub {"é" * 50}" .' for number in range(200))
    watch = watching(many, Profile(size=SizeSettings(max_tokens=max_tokens)))
    answer = await CALLS[tool](watch.gateway)
    assert bytes_of(answer) <= max_tokens * 4
    assert explain_of(answer).sent


def record_of(texts: list[str]) -> Record:
    sent = tuple(Sent(f"t{number}", text, 10, 1_000, 1.5, "") for number, text in enumerate(texts))
    return Record("bfs_query", "complete", (), "", len(sent), 0, 0, 0, 0, 0, 0, 0, Milliseconds(12.0, 10.0), sent)


def test_long_texts_are_cut_before_any_query_is_left_out() -> None:
    record = record_of(["é" * 20_000, "short", "p" * 500])
    explain = explained(record, 4_000)
    assert [len(sent.sparql) for sent in explain.sent] == [1_000, 5, 500]
    assert explain.sent[0].sparql.endswith("é…")
    assert (explain.texts_cut, explain.sent_left_out) == (1, None)


@pytest.mark.parametrize("room", [450, 1_000, 5_000, 30_000])
def test_the_last_queries_are_left_out_where_there_is_no_room_even_for_cut_texts(room: int) -> None:
    record = record_of([f"{number} " + "é" * 3_000 for number in range(200)])
    explain = explained(record, room)
    assert len(json_text({"explain": explain.as_json()}).encode()) <= room
    assert [sent.template for sent in explain.sent] == [f"t{number}" for number in range(len(explain.sent))]
    assert explain.sent_left_out == 200 - len(explain.sent) > 0
    assert (explain.texts_cut or 0) == len(explain.sent)
    assert explain.queries == 200


async def test_the_log_says_what_a_call_cost_and_not_what_was_asked(caplog: pytest.LogCaptureFixture) -> None:
    watch = watching()
    with caplog.at_level(logging.INFO):
        await watch.gateway.search_entities("The hub", explain=True)
        await watch.gateway.bfs_query(["x:hub"], 1, explain=True)
        with pytest.raises(InputError):
            await watch.gateway.bfs_query(["secret:hub"], 1)
    lines = [entry.getMessage() for entry in caplog.records if entry.name == LOGGER]
    assert lines == [line_of(record) for record in watch.records]
    assert "hub" not in caplog.text.lower()


async def test_no_credential_of_an_endpoint_is_recorded_or_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[Record] = []
    monkeypatch.setenv("GRAPH_SECRET", "s3cret")
    url = f"http://127.0.0.1:{free_port()}/sparql"
    profile = Profile(
        endpoint=EndpointSettings(
            requests=RequestSettings(retries=0), access=AccessSettings(secret_headers={"X-Key": "env:GRAPH_SECRET"})
        )
    )
    with caplog.at_level(logging.DEBUG):
        async with open_gateway(endpoint=url, profile=profile, on_record=records.append) as gateway:
            with pytest.raises(NetworkFault):
                await gateway.describe_entity("urn:a:b", explain=True)
    assert {sent.fault for record in records for sent in record.sent} == {"NetworkFault"}
    assert "s3cret" not in caplog.text
    assert "s3cret" not in repr(records)
