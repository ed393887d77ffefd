"""Several questions of one call in one query, where one query runs at a time."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import GaveUp, NetworkFault, QueryRefused
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, NameSettings
from gateway.sparql import template
from gateway.sparql.json_rows import decode
from gateway.sparql.merging import Merged, Merger, Question, may_be_merged
from gateway.sparql.sentinel import END
from gateway.sparql.store import SparqlStore
from gateway.sparql.table import LiteralTerm, Table
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.cache.fake_store import call
from tests.cases import check_each
from tests.small import PREFIXES, ROOM, WatchedElsewhere, X, engine
from tests.tables import rows_of

pytestmark = pytest.mark.anyio

GRAPH = """
x:a a x:T ; rdfs:label "a" ; x:p x:b, x:c .
x:b a x:T ; rdfs:label "b" ; x:q x:d .
x:c rdfs:label "c" ; x:q x:d .
x:d rdfs:label "d" ; x:note [ x:unit "g" ] .
x:linked x:q x:a .
x:old x:movedTo x:b .
"""
CALLS: Mapping[str, Mapping[str, Any]] = {
    "search_entities": {"query": "b"},
    "describe_entity": {"id": "x:a"},
    "describe_entities": {"ids": ["x:a", "x:d", "x:nothing", "x:linked"]},
    "bfs_query": {"seeds": ["x:a", "x:old"], "max_hops": 2},
    "intersect_subgraphs": {"seeds": ["x:old", "x:c"], "k": 1},
}
SECOND = '"1" AS ?end'
"""Only a query of several questions has it."""


def question(name: str, *nodes: str) -> Question:
    text = template.load(name)
    query = text.render({**text.samples(), "nodes": [f"{X}{node}" for node in nodes]})
    return Question(text, query, query, 101)


async def answer_to(merged: Merged) -> Table:
    body = await InProcess(engine(GRAPH), max_bytes=1 << 20).select(merged.query, Deadline.after(60))
    return decode(body, merged.variables)


def shown(rows: Table | None, asked: Question) -> list[str] | None:
    return None if rows is None else sorted(map(repr, rows_of(rows, asked.text.variables)))


THREE = (question("existing", "a", "b"), question("existing", "b", "c", "d"), question("subjects", "d"))


async def test_an_answer_that_is_cut_at_any_row_loses_the_questions_from_there_on_and_no_others() -> None:
    merged = Merged(THREE, 1_000)
    whole = await answer_to(merged)
    answers = merged.answers(whole)
    expected = [shown(rows, asked) for rows, asked in zip(answers, THREE, strict=True)]
    assert [len(rows or ()) for rows in expected] == [2, 3, 1]
    last = [2, 6, 8]
    for count in range(len(whole) + 1):
        found = merged.answers(whole.first(count))
        assert [shown(rows, asked) for rows, asked in zip(found, THREE, strict=True)] == [
            rows if count > end else None for rows, end in zip(expected, last, strict=True)
        ]


async def test_rows_that_are_not_in_order_prove_nothing() -> None:
    merged = Merged(THREE, 1_000)
    whole = await answer_to(merged)

    def check(moved: int) -> None:
        order = [at for at in range(len(whole)) if at != moved]
        found = merged.answers(whole.at([*order, moved]))
        # The last row may stand where it stands.
        assert found == (None,) * 3 or moved == len(whole) - 1

    check_each(range(len(whole)), check)


async def test_the_answer_to_another_query_proves_nothing() -> None:
    other = Merged((question("existing", "a"), *THREE[1:]), 1_000)
    assert Merged(THREE, 1_000).answers(await answer_to(other)) == (None,) * 3
    row = Table(1, {END: [LiteralTerm("end 0123456789abcdef")]})
    assert Merged(THREE, 1_000).answers(row) == (None,) * 3


def test_what_explain_shows_has_nothing_of_what_a_policy_adds() -> None:
    hiding = [replace(asked, query=asked.query.replace("LIMIT", "# hidden\nLIMIT")) for asked in THREE]
    assert Merged(tuple(hiding), 1_000).shown == Merged(THREE, 1_000).query


def test_only_questions_about_given_nodes_that_prove_their_ends_are_merged() -> None:
    names = {name for name in template.names() if may_be_merged(template.load(name))}
    assert {"types", "literals", "facts", "edges", "edges_out", "lateral/edges_capped"} <= names
    assert not names & {"schema/totals", "search/every_word", "names_of", "alive", "evidence/graphs"}


class Cutting(WatchedElsewhere):
    """An endpoint that sends so many rows of an answer to several questions at most."""

    kept: int | None = None
    longest: float = 0.0
    """The seconds that such an answer may take at most."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, and cut the answer."""
        if SECOND in query:
            self.longest = max(self.longest, deadline.seconds_left)
        body = await super().select(query, deadline, spend)
        if self.kept is None or SECOND not in query:
            return body
        answer = json.loads(body)
        answer["results"]["bindings"] = answer["results"]["bindings"][: self.kept]
        return json.dumps(answer).encode()


class Elsewhere:
    """A gateway over an endpoint that runs some queries at once, and what it was sent."""

    def __init__(self, concurrency: int = 1, kept: int | None = None) -> None:
        requests = RequestSettings(concurrency=concurrency, retries=0)
        self.queries: list[str] = []
        self.fault: Exception | None = None
        self.waits: asyncio.Event | None = None
        self.came = asyncio.Event()
        settings = Profile(
            size=ROOM,
            endpoint=EndpointSettings(requests=requests, sentinel="sorted"),
            edges=EdgeSettings(redirects=(f"{X}movedTo",)),
            names=NameSettings(on_stubs=True),
        )
        self.transport = Cutting(engine(GRAPH), self._seen, requests)
        self.transport.kept = kept
        store = SparqlStore(self.transport, settings, self.transport.flow)
        self.gateway = Gateway(store, settings, PrefixMap(PREFIXES))

    async def _seen(self, query: str) -> None:
        self.queries.append(query)
        if SECOND in query:
            self.came.set()
            if self.waits is not None:
                await self.waits.wait()
            if self.fault is not None:
                raise self.fault

    async def learnt(self) -> "Elsewhere":
        """Let the gateway learn what there is to learn of the endpoint."""
        await self.gateway.describe_schema()
        await self.gateway.wait_until_ready()
        await self.gateway.describe_entity("x:b")
        self.queries.clear()
        return self

    @property
    def merged(self) -> list[str]:
        """The queries of several questions."""
        return [query for query in self.queries if SECOND in query]


@pytest.mark.parametrize("tool", CALLS)
async def test_an_answer_is_the_same_however_many_queries_run_at_once(tool: str) -> None:
    one, several = await Elsewhere().learnt(), await Elsewhere(concurrency=4).learnt()
    answers = [(await each.gateway.call(tool, CALLS[tool])).as_json() for each in (one, several)]
    assert answers[0] == answers[1]
    assert not several.merged
    assert len(one.queries) <= len(several.queries)


async def test_types_properties_and_edges_of_a_description_are_one_request_and_its_names_another() -> None:
    there = await Elsewhere().learnt()
    answer = await there.gateway.describe_entity("x:a")
    assert answer.complete
    assert list(answer.edges or ()) == ["x:p", "^x:q"]
    first, names = there.queries
    assert there.merged == [first, names]
    assert all(part in first for part in ("#type>", "isLiteral(?v)", '"2" AS ?end'))
    assert '"2" AS ?end' not in names


@pytest.mark.parametrize("fault", [QueryRefused("No."), GaveUp("Too much."), NetworkFault("Reset.")], ids=repr)
async def test_questions_that_fail_together_are_asked_alone(fault: Exception) -> None:
    usual, there = await Elsewhere(concurrency=4).learnt(), await Elsewhere().learnt()
    there.fault = fault
    answer = await there.gateway.describe_entity("x:a")
    assert answer.as_json() == (await usual.gateway.describe_entity("x:a")).as_json()
    # What is described, and names.
    assert len(there.merged) == 2


async def test_questions_that_an_endpoint_refuses_together_are_asked_alone_from_then_on() -> None:
    there = await Elsewhere().learnt()
    there.fault = QueryRefused("No.")
    await there.gateway.describe_entity("x:a")
    there.queries.clear()
    await there.gateway.describe_entity("x:c")
    assert not there.merged


async def test_a_call_that_ends_leaves_no_query_at_work() -> None:
    there = await Elsewhere().learnt()
    there.came.clear()
    there.waits = asyncio.Event()
    running = asyncio.all_tasks()
    asking = asyncio.create_task(there.gateway.describe_entity("x:a"))
    async with asyncio.timeout(30):
        await there.came.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert asyncio.all_tasks() <= running


async def test_a_question_is_asked_though_the_one_before_it_of_its_call_is_cancelled_at_that_moment() -> None:
    sent: list[Merged] = []

    async def send(merged: Merged, _: Sequence[Call]) -> Sequence[Table | None]:
        sent.append(merged)
        return [None] * len(merged.questions)

    merger, asking = Merger(send, time.monotonic), call()
    first = asyncio.create_task(merger.rows(THREE[0], asking))
    await asyncio.sleep(0)
    first.cancel()
    others = [asyncio.create_task(merger.rows(each, asking)) for each in THREE[1:]]
    async with asyncio.timeout(30):
        await asyncio.wait([first, *others])
    assert first.cancelled()
    assert [each.result() for each in others] == [None, None]
    assert [merged.questions for merged in sent] == [THREE[1:]]


async def test_most_of_the_time_of_a_call_is_left_for_asking_each_question_alone() -> None:
    there = await Elsewhere().learnt()
    await there.gateway.describe_entity("x:a")
    assert 0 < there.transport.longest <= LimitSettings().deadline_seconds / 4


async def test_the_rows_that_explain_counts_are_those_that_came() -> None:
    usual, there = await Elsewhere().learnt(), await Elsewhere().learnt()
    there.transport.kept = 3
    rows = []
    for each in (usual, there):
        answer = await each.gateway.call("describe_entity", {"id": "x:a", "explain": True}, explain=True)
        assert answer.explain is not None
        rows.append(next(sent.rows for sent in answer.explain.sent if " + " in sent.template))
    # Beside a last row for each of three questions; the second of the three rows that came is one.
    assert rows == [5, 2]


async def test_two_calls_are_not_merged() -> None:
    there = await Elsewhere().learnt()
    async with asyncio.TaskGroup() as tasks:
        for entity in ("x:a", "x:c"):
            tasks.create_task(there.gateway.describe_entity(entity))
    assert len(there.merged) == 4
    assert not [query for query in there.merged if f"<{X}a> ?p" in query and f"<{X}c> ?p" in query]


@pytest.mark.parametrize("tool", CALLS)
async def test_a_call_whose_merged_answers_are_cut_answers_the_same(tool: str) -> None:
    there = await Elsewhere().learnt()
    whole = (await there.gateway.call(tool, CALLS[tool])).as_json()
    for kept in (0, 1, 2, 4, 7, 11):
        cut = await Elsewhere(kept=kept).learnt()
        assert (await cut.gateway.call(tool, CALLS[tool])).as_json() == whole, kept
