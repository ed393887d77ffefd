import math
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.errors import (
    BudgetSpent,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QueryRefused,
    Throttled,
)
from gateway.flow.control import BatchSize
from gateway.graph.call import Call, Deadline
from gateway.graph.values import WHOLE, Mark
from gateway.sparql.batches import BatchedQuery, Key
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import EndedEarly, IriTerm, LiteralTerm, Overflow, Rows, Table, iri, literal
from gateway.sparql.table import read as read_columns
from gateway.telemetry.tally import Clock
from tests.tables import Row, table

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Answer:
    """What was read about one key."""

    values: tuple[str, ...]
    mark: Mark


def row(key: str, number: int) -> Row:
    return {"n": IriTerm(key), "v": LiteralTerm(str(number))}


def read(batch: Sequence[str], rows: Table, mark: Mark) -> dict[str, Answer]:
    """Sort rows by key; like every reader, it fails on a row that belongs to no key of the batch."""
    found: dict[str, list[str]] = {key: [] for key in batch}
    for key, value in read_columns(rows, iri("n"), literal("v")):
        found[key].append(value.value)
    return {key: Answer(tuple(values), mark) for key, values in found.items()}


@dataclass
class Endpoint:
    """An endpoint that knows how many rows each key has, which it refuses, and how many rows it may send."""

    rows: dict[str, int] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()
    limit: int = 1000
    silent_above: int = 1_000_000
    asked: list[list[str]] = field(default_factory=list)

    async def ask(self, batch: Sequence[str]) -> Rows:
        """Answer one batch."""
        self.asked.append(list(batch))
        await anyio.lowlevel.checkpoint()
        if self.refused.intersection(batch):
            raise QueryRefused("The engine refused a query.")
        found = [row(key, number) for key in batch for number in range(self.rows.get(key, 1))]
        if len(found) > self.silent_above:
            return Rows(table(*found[: self.silent_above]), EndedEarly())
        if len(found) > self.limit:
            return Rows(table(*found[: self.limit]), Overflow())
        return Rows(table(*found))

    def failing(self, *faults: Fault | None) -> Callable[[Sequence[str]], Awaitable[Rows]]:
        """Return a way to ask that meets these faults in this order, and none after them."""
        left = list(faults)

        async def ask(batch: Sequence[str]) -> Rows:
            fault = left.pop(0) if left else None
            if fault is not None:
                self.asked.append(list(batch))
                raise fault
            return await self.ask(batch)

        return ask


@dataclass
class Flow:
    """The part of flow control that batches look at."""

    size: BatchSize
    at_once: int
    clock: Clock

    def batch_size(self, _template: str, _first: int) -> BatchSize:
        """Return the size."""
        return self.size


@dataclass
class Client:
    """Passes batches on to what answers them."""

    ask: Callable[[Sequence[Any]], Awaitable[Rows]]
    flow: Flow

    async def rows(self, _template: str, _call: Call, parameters: Mapping[str, Any]) -> Rows:
        """Answer one batch."""
        return await self.ask(parameters["keys"])

    doubts_escapes = False

    async def rewritten(self, _iris: Iterable[str], _call: Call) -> Mapping[str, Fault]:
        """Return no IRI."""
        return {}


def batched(
    ask: Callable[[Sequence[Key]], Awaitable[Rows]],
    size: BatchSize,
    read: Callable[[Sequence[Key], Table, Mark], dict[Key, Answer]],
    at_once: int = 4,
    clock: Clock = time.monotonic,
) -> BatchedQuery[Key, Answer]:
    """Return a query about keys that something answers."""
    return batched_by(Client(ask, Flow(size, at_once, clock)), read)


def batched_by(
    client: Client, read: Callable[[Sequence[Key], Table, Mark], dict[Key, Answer]]
) -> BatchedQuery[Key, Answer]:
    """Return a query about keys that a client sends."""
    first = client.flow.size.now
    return BatchedQuery(cast("SparqlClient", client), "any", first, lambda batch: {"keys": batch}, read)


async def run(
    ask: Callable[[Sequence[str]], Awaitable[Rows]],
    size: BatchSize,
    keys: Iterable[str],
    *,
    at_once: int = 4,
    clock: Clock = time.monotonic,
    on_answers: Callable[[Mapping[str, Answer]], None] | None = None,
) -> dict[str, Answer]:
    """Ask about IRIs in batches."""
    return await batched(ask, size, read, at_once, clock).run(keys, call(), on_answers)


def call() -> Call:
    return Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)


def plain(count: int) -> list[str]:
    return [f"http://example.org/{number}" for number in range(count)]


def odd(count: int) -> list[str]:
    """Return IRIs that some engine may refuse."""
    return [f"http://example.org/\u00e9{number}" for number in range(count)]


def whole(rows: int = 1) -> Answer:
    return Answer(tuple(str(number) for number in range(rows)), WHOLE)


async def test_every_key_is_answered_in_batches_of_at_most_the_size() -> None:
    endpoint = Endpoint()
    keys = plain(25)
    assert await run(endpoint.ask, BatchSize(10, 10), keys) == {key: whole() for key in keys}
    assert [len(batch) for batch in endpoint.asked] == [9, 8, 8]


async def test_parts_are_returned_early_once_the_last_batch_has_been_sent() -> None:
    endpoint = Endpoint()
    parts: list[tuple[list[str], int]] = []
    answers = await run(
        endpoint.ask,
        BatchSize(1, 1),
        plain(4),
        at_once=2,
        on_answers=lambda part: parts.append((list(part), len(endpoint.asked))),
    )
    assert len(answers) == 4
    assert parts
    assert all(asked == 4 for _, asked in parts)
    assert [key for keys, _ in parts for key in keys] == plain(4)[-len(parts) :]


async def test_nothing_is_asked_about_no_keys() -> None:
    endpoint = Endpoint()
    assert await run(endpoint.ask, BatchSize(10, 10), []) == {}
    assert endpoint.asked == []


async def test_a_key_without_rows_has_an_answer_that_is_whole_and_empty() -> None:
    (key,) = plain(1)
    assert await run(Endpoint({key: 0}).ask, BatchSize(10, 10), [key]) == {key: Answer((), WHOLE)}


async def test_duplicates_are_asked_once() -> None:
    endpoint = Endpoint()
    first, second = plain(2)
    answers = await run(endpoint.ask, BatchSize(10, 10), iter([first, second, first, first, second]))
    assert list(answers) == [first, second]
    assert endpoint.asked == [[first, second]]


async def test_several_batches_are_under_way_at_once() -> None:
    begun = [anyio.Event(), anyio.Event()]
    keys = plain(2)

    async def ask(batch: Sequence[str]) -> Rows:
        begun[keys.index(batch[0])].set()
        for event in begun:
            await event.wait()
        return Rows(table(row(batch[0], 0)))

    with anyio.fail_after(10):
        assert len(await run(ask, BatchSize(1, 1), keys)) == 2


async def test_an_answer_that_is_too_long_is_asked_for_in_halves() -> None:
    keys = plain(8)
    endpoint = Endpoint(dict.fromkeys(keys, 3), limit=12)
    answers = await run(endpoint.ask, BatchSize(8, 8), keys)
    assert answers == {key: whole(3) for key in keys}
    assert endpoint.asked == [keys, keys[:4], keys[4:]]


async def test_a_key_with_too_many_rows_has_those_that_came_and_their_least_number() -> None:
    keys = plain(5)
    endpoint = Endpoint({keys[2]: 50}, limit=10)
    answers = await run(endpoint.ask, BatchSize(5, 5), keys)
    cut = answers.pop(keys[2])
    assert cut.values == tuple(str(number) for number in range(10))
    assert isinstance(cut.mark.fault, Overflow)
    assert (cut.mark.whole, cut.mark.answered, cut.mark.at_least) == (False, True, 11)
    assert answers == {key: whole() for key in keys if key != keys[2]}


@pytest.mark.parametrize("how", ["whole", "cut", "ended early"])
async def test_many_rows_are_read_beside_the_event_loop(how: str) -> None:
    (key,) = plain(1)
    endpoint = {
        "whole": Endpoint({key: 5_000}, limit=9_000),
        "cut": Endpoint({key: 9_000}, limit=5_000),
        "ended early": Endpoint({key: 9_000}, silent_above=5_000),
    }[how]
    threads = list[threading.Thread]()

    def noting(batch: Sequence[str], rows: Table, mark: Mark) -> dict[str, Answer]:
        threads.append(threading.current_thread())
        return read(batch, rows, mark)

    answers = await batched(endpoint.ask, BatchSize(1, 1), noting).run([key], call())
    assert len(answers[key].values) == 5_000
    assert answers[key].mark.whole == (how == "whole")
    assert threading.current_thread() not in threads


KEPT, REWRITTEN = "http://e.org/./kept", "http://e.org/a/../b"


class Doubting(Client):
    """An engine that is asked how it reads IRIs, and reads one as another, or says nothing in time."""

    asked: list[str]

    async def rewritten(self, iris: Iterable[str], _call: Call) -> Mapping[str, Fault]:
        """Say how it reads the IRIs."""
        self.asked = list(iris)
        if REWRITTEN not in self.asked:
            raise DeadlinePassed("Over.")
        return {REWRITTEN: QueryRefused("The endpoint reads it as another IRI.")}


async def test_the_engine_is_asked_only_about_iris_that_it_may_read_as_others() -> None:
    keys = ["urn:x:a", KEPT, REWRITTEN, *plain(3)]
    client = Doubting(Endpoint().ask, Flow(BatchSize(8, 8), 1, time.monotonic))
    answers = await batched_by(client, read).run(keys, call())
    assert client.asked == [KEPT, REWRITTEN]
    assert isinstance(answers.pop(REWRITTEN).mark.fault, QueryRefused)
    assert answers == {key: whole() for key in keys if key != REWRITTEN}


async def test_all_keys_fail_where_the_time_ends_while_their_iris_are_looked_at() -> None:
    keys = [KEPT, *plain(3)]
    client = Doubting(Endpoint().ask, Flow(BatchSize(8, 8), 1, time.monotonic))
    answers = await batched_by(client, read).run(keys, call())
    assert answers.keys() == {*keys}
    assert all(isinstance(answer.mark.fault, DeadlinePassed) for answer in answers.values())


@pytest.mark.parametrize("fault", [DeadlinePassed("Over, and nobody answered."), Throttled("Too many. Again in 5 s.")])
async def test_no_further_batch_is_asked_for_once_the_time_is_used_up(fault: Fault) -> None:
    keys, now = plain(40), 0.0
    endpoint = Endpoint()

    async def ask(batch: Sequence[str]) -> Rows:
        nonlocal now
        if len(endpoint.asked) < 2:
            return await endpoint.ask(batch)
        now = 60.0
        endpoint.asked.append(list(batch))
        raise fault

    until = Call(Deadline.after(60.0, lambda: now), 1_000, 1_000_000, 1_000_000)
    answers = await batched(ask, BatchSize(4, 4), read, at_once=1).run(keys, until)
    assert len(endpoint.asked) == 3
    assert [answers[key].mark.fault for key in keys] == [None] * 8 + [fault] * 32


async def test_one_refused_iri_among_many_is_the_only_one_marked() -> None:
    keys = [*plain(30), *odd(33)]
    bad = keys[47]
    endpoint = Endpoint(refused=frozenset({bad}))
    answers = await run(endpoint.ask, BatchSize(100, 100), keys)
    refused = answers.pop(bad)
    assert isinstance(refused.mark.fault, QueryRefused)
    assert (refused.values, refused.mark.answered) == ((), False)
    assert answers == {key: whole() for key in keys if key != bad}


async def test_finding_one_refused_iri_takes_few_queries() -> None:
    keys = odd(64)
    for bad in (keys[0], keys[37], keys[63]):
        endpoint = Endpoint(refused=frozenset({bad}))
        await run(endpoint.ask, BatchSize(100, 100), keys)
        assert len(endpoint.asked) <= 1 + 2 * math.log2(64)


async def test_plain_iris_are_not_asked_for_again_and_again_when_another_was_refused() -> None:
    keys = [*plain(60), *odd(1)]
    endpoint = Endpoint(refused=frozenset(odd(1)))
    await run(endpoint.ask, BatchSize(100, 100), keys)
    assert endpoint.asked == [keys, keys[:60], keys[60:]]


async def test_a_refusal_of_plain_iris_is_about_the_query_and_not_tried_again() -> None:
    keys = plain(40)
    endpoint = Endpoint(refused=frozenset({keys[3]}))
    answers = await run(endpoint.ask, BatchSize(100, 100), keys)
    assert endpoint.asked == [keys]
    assert answers.keys() == set(keys)
    assert all(isinstance(answer.mark.fault, QueryRefused) and not answer.values for answer in answers.values())


@pytest.mark.parametrize(
    "fault",
    [
        EndpointFault("It answered with half an answer."),
        NetworkFault("No answer came."),
        DeadlinePassed("The time is used up."),
        BudgetSpent("The requests are used up."),
    ],
)
async def test_a_fault_marks_its_batch_and_leaves_the_others_whole(fault: Fault) -> None:
    keys = plain(3)
    endpoint = Endpoint()
    answers = await run(endpoint.failing(fault), BatchSize(1, 1), keys)
    assert answers == {keys[0]: Answer((), Mark(fault)), keys[1]: whole(), keys[2]: whole()}
    assert len(endpoint.asked) == 3


async def test_a_fault_in_one_half_leaves_the_other_half_whole() -> None:
    keys = plain(4)
    endpoint = Endpoint(dict.fromkeys(keys, 5), limit=10)
    fault = NetworkFault("No answer came.")
    answers = await run(endpoint.failing(None, fault), BatchSize(4, 4), keys)
    assert answers == {key: Answer((), Mark(fault)) if key in keys[:2] else whole(5) for key in keys}


@pytest.mark.parametrize(
    "bad", ["http://example.org/a b", "relative", "", "http://example.org/>", "http://e.org/\ud800"]
)
async def test_an_illegal_iri_is_marked_and_not_asked(bad: str) -> None:
    endpoint = Endpoint()
    keys = [*plain(2), bad]
    answers = await run(endpoint.ask, BatchSize(10, 10), keys)
    assert endpoint.asked == [keys[:2]]
    assert isinstance(answers[bad].mark.fault, QueryRefused)
    assert [answers[key] for key in keys[:2]] == [whole() for key in keys[:2]]


async def test_illegal_iris_alone_ask_nothing() -> None:
    endpoint = Endpoint()
    answers = await run(endpoint.ask, BatchSize(10, 10), ["not an iri"])
    assert endpoint.asked == []
    assert not answers["not an iri"].mark.answered


async def test_a_triple_is_judged_by_all_of_its_iris() -> None:
    good, illegal, strange = ("a:s", "a:p", "a:o"), ("a:s", "a p", "a:o"), ("a:s", "a:p", "a:\u00e9")
    endpoint = Endpoint(refused=frozenset({" ".join(strange)}))

    async def ask(batch: Sequence[tuple[str, ...]]) -> Rows:
        return await endpoint.ask([" ".join(triple) for triple in batch])

    def read_triples(batch: Sequence[tuple[str, ...]], rows: Table, mark: Mark) -> dict[tuple[str, ...], Answer]:
        answers = read([" ".join(triple) for triple in batch], rows, mark)
        return {triple: answers[" ".join(triple)] for triple in batch}

    answers = await batched(ask, BatchSize(10, 10), read_triples).run([good, illegal, strange], call())
    assert endpoint.asked == [[" ".join(good), " ".join(strange)], [" ".join(good)], [" ".join(strange)]]
    assert answers[good] == whole()
    assert isinstance(answers[illegal].mark.fault, QueryRefused)
    assert isinstance(answers[strange].mark.fault, QueryRefused)


@pytest.mark.parametrize(
    "stray",
    [
        {},
        {"v": LiteralTerm("1")},
        {"n": IriTerm("http://elsewhere.org/"), "v": LiteralTerm("1")},
        {"n": LiteralTerm("x"), "v": LiteralTerm("1")},
    ],
)
async def test_rows_that_do_not_fit_the_question_are_no_answer(stray: Row) -> None:
    keys = plain(2)

    async def ask(batch: Sequence[str]) -> Rows:
        return Rows(table(row(batch[0], 0), stray))

    answers = await run(ask, BatchSize(2, 2), keys)
    assert answers.keys() == set(keys)
    assert all(isinstance(answer.mark.fault, EndpointFault) and not answer.values for answer in answers.values())


async def test_a_mistake_of_ours_is_not_hidden_in_a_mark() -> None:
    async def ask(batch: Sequence[str]) -> Rows:
        raise ZeroDivisionError(batch)

    with pytest.raises(ExceptionGroup) as caught:
        await run(ask, BatchSize(2, 2), plain(1))
    assert caught.group_contains(ZeroDivisionError)


KINDS = st.sampled_from(["plain", "odd", "refused", "illegal"])
NAMES = {
    "plain": "http://example.org/{}",
    "odd": "http://example.org/\u00e9{}",
    "refused": "http://example.org/\u00fc{}",
    "illegal": "not an iri {}",
}


@given(
    st.lists(st.tuples(KINDS, st.integers(0, 12)), max_size=30),
    st.integers(1, 12),
    st.integers(1, 10),
)
@example([("refused", 1), ("odd", 11), ("plain", 5), ("illegal", 1)], 4, 10)
@settings(deadline=None)
async def test_whatever_overflows_or_is_refused_every_key_has_its_own_answer(
    described: list[tuple[str, int]], size: int, limit: int
) -> None:
    keys = [NAMES[kind].format(number) for number, (kind, _) in enumerate(described)]
    counts = dict(zip(keys, (count for _, count in described), strict=True))
    kinds = dict(zip(keys, (kind for kind, _ in described), strict=True))
    refused = frozenset(key for key in keys if kinds[key] == "refused")
    endpoint = Endpoint(dict(counts), refused, limit)
    answers = await run(endpoint.ask, BatchSize(size, size), [*keys, *keys[::-1]])
    assert answers.keys() == set(keys)
    for key, answer in answers.items():
        if kinds[key] in {"refused", "illegal"}:
            assert isinstance(answer.mark.fault, QueryRefused)
            assert (answer.values, answer.mark.answered) == ((), False)
        elif counts[key] > limit:
            assert len(answer.values) == limit
            assert (answer.mark.answered, answer.mark.at_least) == (True, limit + 1)
        else:
            assert answer == whole(counts[key])
    assert all(0 < len(batch) <= size for batch in endpoint.asked)
    assert not any(kinds[key] == "illegal" for batch in endpoint.asked for key in batch)


@given(
    st.lists(st.tuples(st.sampled_from(["plain", "odd", "refused"]), st.integers(0, 8)), max_size=20),
    st.integers(1, 8),
    st.lists(st.booleans(), max_size=12),
)
@settings(deadline=None)
async def test_whichever_queries_fail_every_key_has_one_true_answer_or_a_fault(
    described: list[tuple[str, int]], size: int, fails: list[bool]
) -> None:
    keys = [NAMES[kind].format(number) for number, (kind, _) in enumerate(described)]
    counts = dict(zip(keys, (count for _, count in described), strict=True))
    refused = frozenset(key for key, (kind, _) in zip(keys, described, strict=True) if kind == "refused")
    endpoint = Endpoint(dict(counts), refused, limit=6)
    fault = NetworkFault("No answer came.")
    ask = endpoint.failing(*(fault if broken else None for broken in fails))
    answers = await run(ask, BatchSize(size, size), keys)
    assert answers.keys() == set(keys)
    for key, answer in answers.items():
        if answer.mark.whole:
            assert answer == whole(counts[key])
        else:
            assert answer.mark.fault is fault or key in refused or counts[key] > 6


# What is too much for the endpoint


async def test_a_batch_that_the_endpoint_gives_up_on_is_asked_in_parts_and_its_size_remembered() -> None:
    endpoint = Endpoint()
    keys = plain(100)
    asked: list[int] = []

    async def ask(batch: Sequence[str]) -> Rows:
        asked.append(len(batch))
        if len(batch) > 30:
            raise GaveUp("It ran into its own time limit.")
        return await endpoint.ask(batch)

    size = BatchSize.starting_at(100)
    answers = await run(ask, size, keys, at_once=1, clock=lambda: 0.0)
    assert answers == {key: whole() for key in keys}
    assert asked == [100, 50, 25, 25, 50, 25, 25]
    assert size.now < 100


async def test_one_id_that_is_too_much_alone_is_the_only_one_marked() -> None:
    keys = plain(64)
    endpoint = Endpoint()

    async def ask(batch: Sequence[str]) -> Rows:
        if keys[40] in batch:
            raise GaveUp("It ran into its own time limit.")
        return await endpoint.ask(batch)

    answers = await run(ask, BatchSize(64, 64), keys)
    assert isinstance(answers.pop(keys[40]).mark.fault, GaveUp)
    assert answers == {key: whole() for key in keys if key != keys[40]}


async def test_an_endpoint_that_gives_up_on_everything_is_not_asked_about_each_id() -> None:
    keys = plain(1_000)
    asked: list[int] = []

    async def ask(batch: Sequence[str]) -> Rows:
        asked.append(len(batch))
        raise GaveUp("It ran into its own time limit.")

    answers = await run(ask, BatchSize(1_000, 1_000), keys)
    assert len(asked) <= 12
    assert answers.keys() == set(keys)
    assert all(isinstance(answer.mark.fault, GaveUp) for answer in answers.values())


async def test_the_size_that_was_learnt_serves_the_batches_that_follow() -> None:
    endpoint = Endpoint()
    size = BatchSize.starting_at(10)
    await run(endpoint.ask, size, plain(70), at_once=1, clock=lambda: 0.0)
    assert [len(batch) for batch in endpoint.asked] == [10, 20, 40]


async def test_a_batch_whose_answer_ended_early_is_halved_and_every_key_is_whole() -> None:
    endpoint = Endpoint(silent_above=3)
    keys = plain(20)
    assert await run(endpoint.ask, BatchSize(20, 20), keys) == {key: whole() for key in keys}
    assert len(endpoint.asked) > len(keys) / 3


async def test_one_key_whose_answer_ended_early_has_what_came_marked_as_cut() -> None:
    key, other = plain(2)
    answers = await run(Endpoint(rows={key: 9}, silent_above=5).ask, BatchSize(2, 2), [key, other])
    assert answers[other] == whole()
    assert answers[key].values == ("0", "1", "2", "3", "4")
    assert isinstance(answers[key].mark.fault, EndedEarly)
    assert answers[key].mark.at_least == 5


async def test_an_endpoint_that_always_ends_early_is_given_up() -> None:
    endpoint = Endpoint(silent_above=0)
    answers = await run(endpoint.ask, BatchSize(256, 256), plain(256), at_once=1)
    assert all(not answer.mark.whole and not answer.mark.answered for answer in answers.values())
    assert len(endpoint.asked) < 30
