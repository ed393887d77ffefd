"""A gateway without `await`: the answers of an awaited one, in threads, in a loop, after a fork, and interrupted."""

import asyncio
import gc
import inspect
import os
import random
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bfsql_gateway import AsyncGateway, SyncGateway, open_gateway
from bfsql_gateway.errors import InputError, UsageError
from gateway.tools.gateway import Gateway
from gateway.transport import inprocess

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ["drug:warfarin", "drug:aspirin", "drug:metformin", "protein:CYP2C9"]
NAMES = ["coumadin", "aspirin", "diabetes", "CYP2C9", "vitamin", "nobody"]

Question = tuple[str, dict[str, Any]]


def questions(count: int, seed: int) -> Iterator[Question]:
    """Draw calls of all six tools."""
    draw = random.Random(seed)  # noqa: S311 - drawn cases
    for _ in range(count):
        seeds = draw.sample(SEEDS, draw.randint(2, 3))
        drawn: list[Question] = [
            ("describe_schema", {"all": draw.random() < 0.5}),
            ("search_entities", {"query": draw.choice(NAMES), "limit": draw.randint(1, 20)}),
            ("bfs_query", {"seeds": seeds, "max_hops": draw.randint(1, 3), "max_tokens": draw.randint(300, 9000)}),
            ("describe_entity", {"id": draw.choice(SEEDS)}),
            ("describe_entities", {"ids": seeds}),
            ("intersect_subgraphs", {"seeds": seeds, "k": draw.randint(1, 2)}),
            ("bfs_query", {"seeds": seeds[:1], "max_hops": 9}),
        ]
        yield draw.choice(drawn)


def asked(graph: Any, question: Question) -> Any:
    return getattr(graph, question[0])(**question[1])


def answered(graph: SyncGateway, question: Question) -> object:
    try:
        return asked(graph, question).as_json()
    except InputError as error:
        return str(error)


async def awaited(graph: AsyncGateway, question: Question) -> object:
    try:
        return (await asked(graph, question)).as_json()
    except InputError as error:
        return str(error)


def fixed_time() -> float:
    return 1_700_000_000.0


def left_behind(before: set[threading.Thread]) -> list[str]:
    """Return the names of threads that a gateway left, once those have ended that were told to."""
    new = [thread for thread in threading.enumerate() if thread not in before and thread.name not in OF_PROCESS]
    for thread in new:
        thread.join(60)
    return [thread.name for thread in new if thread.is_alive()]


OF_PROCESS = {"sparql", "computing_0"}
"""Threads that all gateways of a process share; the first end where they have nothing to do."""


def test_it_has_every_call_of_a_gateway_but_those_that_link_several() -> None:
    def calls(kind: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(kind) if name[0] != "_"}

    assert calls(Gateway) - calls(SyncGateway) == {"set_others", "known_ids"}
    for name, call in inspect.getmembers(Gateway, inspect.isfunction):
        if name[0] != "_" and name not in {"set_others", "known_ids"}:
            ours = inspect.signature(getattr(SyncGateway, name))
            assert list(ours.parameters) == list(inspect.signature(call).parameters)


@pytest.mark.slow
def test_answers_of_500_drawn_calls_are_those_of_awaited_ones() -> None:
    drawn = list(questions(500, 52))

    async def all_awaited() -> list[object]:
        async with open_gateway(wall_clock=fixed_time) as graph:
            return [await awaited(graph, question) for question in drawn]

    with open_gateway(wall_clock=fixed_time) as graph:
        here = [answered(graph, question) for question in drawn]
    there = asyncio.run(all_awaited())
    assert sum(isinstance(answer, str) for answer in here) not in {0, 500}
    for question, one, other in zip(drawn, here, there, strict=True):
        assert one == other, question


@pytest.mark.slow
def test_ten_threads_get_the_answers_of_1_000_calls_and_leave_no_thread() -> None:
    before = set(threading.enumerate())
    drawn = list(questions(50, 10)) * 20
    with open_gateway(wall_clock=fixed_time) as graph:
        known = {str(question): answered(graph, question) for question in drawn[:50]}
        with ThreadPoolExecutor(10) as threads:
            answers = list(threads.map(lambda question: answered(graph, question), drawn))
    assert len(answers) == 1_000
    assert all(answer == known[str(question)] for question, answer in zip(drawn, answers, strict=True))
    assert left_behind(before) == []


def test_it_answers_where_a_loop_runs_already() -> None:
    async def cell() -> int:
        with open_gateway() as graph:
            return graph.bfs_query(["drug:warfarin"], 1).node_count

    assert asyncio.run(cell()) == 16


def test_it_lasts_until_it_is_closed_where_it_is_opened_without_a_block() -> None:
    before = set(threading.enumerate())
    graph = open_gateway().synchronous()
    assert graph.search_entities("coumadin").result[0].id == "drug:warfarin"
    graph.close()
    graph.close()
    assert left_behind(before) == []
    with pytest.raises(UsageError, match="is closed"):
        graph.describe_schema()


def test_one_that_nothing_refers_to_any_more_ends_its_thread() -> None:
    graph = open_gateway().synchronous()
    graph.describe_schema()
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "bfsql-gateway"]
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None
    thread.join(30)
    assert not thread.is_alive()


def test_one_gateway_is_opened_once_and_the_second_time_is_an_error() -> None:
    async def awaited_first() -> None:
        opened = open_gateway()
        async with opened as graph:
            with pytest.raises(UsageError, match="opened before"):
                opened.synchronous()
            with pytest.raises(UsageError, match="opened before"), opened:
                pass
            assert (await graph.bfs_query(["drug:warfarin"], 1)).node_count == 16

    async def awaited_second(opened: AsyncGateway) -> None:
        async with opened:
            pass

    before = set(threading.enumerate())
    asyncio.run(awaited_first())
    opened = open_gateway()
    with opened as graph:
        with pytest.raises(UsageError, match="call `open_gateway` again"):
            opened.synchronous()
        with pytest.raises(UsageError, match="opened before"):
            asyncio.run(awaited_second(opened))
        assert graph.bfs_query(["drug:warfarin"], 1).node_count == 16
    with pytest.raises(UsageError, match="opened before"), opened:
        pass
    assert left_behind(before) == []


def test_an_exception_in_the_block_closes_it() -> None:
    before = set(threading.enumerate())

    def fail() -> None:
        with open_gateway() as graph:
            graph.bfs_query(["drug:nobody"], 1)

    with pytest.raises(InputError):
        fail()
    assert left_behind(before) == []


def test_pages_come_one_by_one_and_may_be_left() -> None:
    with open_gateway() as graph:
        pages = graph.pages("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 2})
        assert next(pages).node_count == 34
        pages = graph.pages("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 9})
        with pytest.raises(InputError, match="max_hops"):
            next(pages)


def test_a_tool_that_does_not_exist_is_an_error_with_the_nearest_one() -> None:
    with open_gateway() as graph:
        with pytest.raises(InputError, match="Did you mean 'search_entities'"):
            graph.call("search_entites", {"query": "x"})
        with pytest.raises(InputError, match=r"Did you mean 'bfs_query'\?.*intersect_subgraphs"):
            graph.subgraph("bfs_quer", {})
        with pytest.raises(InputError, match="Tools: bfs_query, intersect_subgraphs"):
            next(graph.pages("describe_schema", {}))


class _Bar:
    """A progress bar with what tqdm's have."""

    def __init__(self) -> None:
        self.n = 0
        self.total: int | None = None
        self.said: list[str] = []

    def set_description(self, desc: str | None = None, refresh: bool | None = True, /) -> None:
        self.said.append(f"{desc} {refresh}")

    def update(self, n: int = 1, /) -> None:
        self.n += n


def test_progress_is_told_to_a_function_a_coroutine_function_and_a_bar() -> None:
    told: list[tuple[int, int]] = []
    bar = _Bar()

    async def tell(done: int, total: int, _: str) -> None:
        told.append((done, total))

    def note(done: int, total: int, _: str) -> None:
        told.append((done, total))

    with open_gateway() as graph:
        graph.bfs_query(["drug:warfarin"], 2, progress=tell)
        awaited_ = told.copy()
        told.clear()
        graph.forget_snapshots()
        graph.bfs_query(["drug:warfarin"], 2, progress=note)
        graph.forget_snapshots()
        graph.bfs_query(["drug:warfarin"], 2, progress=bar)
    assert told == awaited_ != []
    assert (bar.n, bar.total) == told[-1]
    assert bar.said[0].startswith("hop 1 of 2")


def test_a_call_that_a_report_makes_is_an_error_and_no_wait_without_end() -> None:
    errors: list[str] = []

    with open_gateway() as graph:

        def ask_again(_: int, __: int, ___: str) -> None:
            try:
                graph.describe_schema()
            except UsageError as error:
                errors.append(str(error))

        graph.bfs_query(["drug:warfarin"], 1, progress=ask_again)
    assert "wait for itself" in errors[0]


def test_closing_ends_the_calls_of_other_threads() -> None:
    graph = open_gateway().synchronous()
    begun = threading.Event()

    async def wait(*_: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(graph.bfs_query, ["drug:warfarin"], 1, progress=wait)
        assert begun.wait(60)
        graph.close()
        with pytest.raises(UsageError, match="is closed"):
            call.result(60)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise, also in a process that a shell began in the background, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_call_and_the_next_one_is_answered() -> None:
    before = set(threading.enumerate())
    ended = threading.Event()

    async def press(*_: object) -> None:
        signal.raise_signal(signal.SIGINT) if sys.platform == "win32" else os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with open_gateway() as graph:
        with pytest.raises(KeyboardInterrupt):
            graph.bfs_query(["drug:warfarin"], 1, progress=press)
        assert ended.wait(60)
        assert graph.bfs_query(["drug:warfarin"], 1).node_count == 16
    assert left_behind(before) == []


FORKED = """
import os, signal, sys
from bfsql_gateway import errors, open_gateway

def child(run):
    process = os.fork()
    if not process:
        signal.alarm(60)
        run()
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(process, 0)[1] == 0

def use_ours():
    try:
        graph.bfs_query(["drug:warfarin"], 1)
    except errors.UsageError as error:
        print(error.next_step)
    graph.close()

def open_another():
    with open_gateway() as other:
        print(other.bfs_query(["drug:warfarin"], 3).node_count, other.search_entities("coumadin").result[0].id)

with open_gateway() as graph:
    print(graph.bfs_query(["drug:warfarin"], 3).node_count)
    sys.stdout.flush()
    child(use_ours)
    child(open_another)
    print(graph.bfs_query(["drug:warfarin"], 1).node_count)
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_in_a_forked_process_it_says_what_to_do_and_another_one_works() -> None:
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", FORKED], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[1] == "Open a gateway in each process, after the fork, or start processes by `spawn`."
    assert [lines[0], lines[2], lines[3]] == [lines[0], f"{lines[0]} drug:warfarin", "16"]


def test_threads_of_queries_are_known_only_to_their_process() -> None:
    threads = inprocess.DaemonThreads("own")
    threads.spare = 3
    threads.start_afresh()
    done = threading.Event()
    threads.run(done.set)
    assert done.wait(60)
