"""What the benchmarks measure, of which gateways, and how they report it."""

import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from mcp import Client
from rich.console import Console
from typing_extensions import is_protocol

from benchmarks import driver
from benchmarks.contenders.asking import PlainClient, plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import NO_ANSWER, Run, Size, WrongAnswerError
from benchmarks.contenders.ours import Ours, size_of
from benchmarks.contenders.reading import Header, RowReader, header_of
from benchmarks.contenders.trivial_server import NAME
from benchmarks.delay import DelayingProxy
from benchmarks.driver import digest
from benchmarks.latencies import Latencies
from benchmarks.loop_hold import LONG, Holds, timed_loop
from benchmarks.measure import Sample, Samples, area_under_curve, interleaved, median_difference, median_ratio
from benchmarks.parts.fairness import mixed
from benchmarks.questions import DESMOPRESSIN, WD, WDT, Question
from benchmarks.random_graphs import HUBS
from benchmarks.recall import COLUMNS, lines_of
from benchmarks.recording import Recording, RecordingTransport, Request
from benchmarks.report import Line, Measurement, Report, show
from benchmarks.served import served
from benchmarks.variants import TARGETS, VARIANTS, one_typo, other_order, plural, prefix
from gateway.errors import EndpointFault
from gateway.transport import base
from gateway.transport.base import Format, TimeoutPolicy
from gateway.transport.http import Http
from tests.cases import check_each
from tests.columns import Column
from tests.servers.cache import CHECKOUT
from tests.servers.loopback import HOST
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.anyio

RIGHT = Size(3, 2)


def runner(log: list[str], name: str, answer: Size = RIGHT) -> Run:
    async def run() -> Size:
        log.append(name)
        return answer

    return run


def samples(*seconds: float) -> Samples:
    return Samples(tuple(Sample(one, one / 2) for one in seconds))


async def test_contenders_take_turns_and_every_other_round_goes_backwards() -> None:
    log: list[str] = []
    found = await interleaved({"a": runner(log, "a"), "b": runner(log, "b")}, 3)
    assert "".join(log) == "ba" + "ab" + "ba" + "ab"
    assert {name: len(one.runs) for name, one in found.items()} == {"a": 3, "b": 3}


async def test_what_is_to_be_done_before_each_run_is_done() -> None:
    log: list[str] = []
    await interleaved({"a": runner(log, "a"), "b": runner(log, "b")}, 1, before=lambda: log.append("-"))
    assert "".join(log) == "-b-a" + "-a-b"


async def test_a_slow_contender_runs_once_among_the_rounds() -> None:
    log: list[str] = []
    found = await interleaved({"a": runner(log, "a"), "slow": runner(log, "s")}, 3, once=["slow"])
    assert "".join(log) == "a" + "a" + "sa" + "a"
    assert len(found["slow"].runs) == 1


async def test_a_contender_with_another_answer_ends_the_race() -> None:
    log: list[str] = []
    contenders = {"a": runner(log, "a"), "wrong": runner(log, "w", Size(3, 1))}
    with pytest.raises(WrongAnswerError, match=r"wrong: .*edges=1.* is right"):
        await interleaved(contenders, 3, size=RIGHT)


async def test_a_contender_that_makes_no_answer_is_not_asked_for_one() -> None:
    found = await interleaved({"bare": runner([], "bare", NO_ANSWER)}, 1, size=RIGHT)
    assert len(found["bare"].runs) == 1


def test_ratio_and_difference_compare_runs_that_stood_next_to_each_other() -> None:
    # The machine was three times slower in the last round: that is nobody's fault.
    ours, theirs = samples(2, 2.2, 6), samples(1, 1, 3)
    assert median_ratio(ours, theirs) == 2
    assert median_difference(ours, theirs) == pytest.approx(1.2)
    assert ours.seconds == 2.2
    assert ours.cpu_seconds == 1.1


def test_the_ratio_to_a_contender_that_ran_once_is_that_of_the_medians() -> None:
    assert median_ratio(samples(1, 2, 3), samples(100)) == 0.02


def test_the_area_under_the_curve_is_how_often_the_one_is_larger() -> None:
    assert area_under_curve([2, 3], [1, 1, 1]) == 1
    assert area_under_curve([1], [2]) == 0
    assert area_under_curve([1, 2, 3], [3, 2, 1]) == 0.5
    assert area_under_curve([2, 4], [2, 3]) == 0.625


PATIENCE = 30.0


class Time:
    """A clock that only a sleep moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def read(self) -> float:
        """Tell the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def echo() -> Iterator[int]:
    """Answer every message with the same in capitals, on as many connections as come."""
    with socket.create_server((HOST, 0)) as listener:

        def serve(connection: socket.socket) -> None:
            with connection:
                while message := connection.recv(1 << 16):
                    connection.sendall(message.upper())

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=[connection], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def exchange(connection: socket.socket, message: bytes) -> bytes:
    connection.sendall(message)
    answer = b""
    while len(answer) < len(message):
        answer += connection.recv(1 << 16)
    return answer


def test_a_request_is_passed_on_after_the_delay_and_its_answer_at_once(echo: int) -> None:
    time = Time()
    proxy = DelayingProxy(echo, 0.05, clock=time.read, sleep=time.sleep)
    proxy.start()
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        answers = [exchange(connection, message) for message in (b"one", b"two", b"three")]
    proxy.close()
    assert answers == [b"ONE", b"TWO", b"THREE"]
    assert time.slept == pytest.approx([0.05, 0.05, 0.05])


def test_a_connection_stays_open_between_requests_and_ends_with_the_client(echo: int) -> None:
    proxy = DelayingProxy(echo, 0)
    proxy.start()
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        assert exchange(connection, b"one") == b"ONE"
        assert exchange(connection, b"two") == b"TWO"
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    proxy.close()


def test_large_messages_pass_whole(echo: int) -> None:
    proxy = DelayingProxy(echo, 0)
    proxy.start()
    message = bytes(range(97, 123)) * 100_000
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        threading.Thread(target=connection.sendall, args=[message], daemon=True).start()
        answer = b""
        while len(answer) < len(message):
            answer += connection.recv(1 << 18)
    proxy.close()
    assert answer == message.upper()


def test_a_server_that_is_gone_closes_the_connection() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    proxy = DelayingProxy(port, 0)
    proxy.start()
    with socket.create_connection((HOST, proxy.port), timeout=PATIENCE) as connection:
        assert connection.recv(1) == b""
    proxy.close()


def test_a_percentile_is_one_of_the_calls() -> None:
    latencies = Latencies([float(number) for number in range(100, 0, -1)])
    assert (latencies.p50, latencies.p99, latencies.percentile(1), latencies.percentile(0)) == (50, 99, 100, 1)
    assert Latencies([7.0]).p50 == Latencies([7.0]).p99 == 7.0


def test_no_calls_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no call has ended"):
        _ = Latencies().p50


def test_a_call_that_fails_is_not_among_the_latencies() -> None:
    latencies = Latencies()
    with latencies.timed():
        pass
    with pytest.raises(KeyError), latencies.timed():
        raise KeyError
    assert len(latencies.seconds) == 1


def test_a_pass_is_counted_with_all_that_ran_in_it() -> None:
    holds = Holds()

    async def work() -> None:
        await asyncio.sleep(0)
        holds.clear()
        sum(range(3_000_000))
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=partial(timed_loop, holds)) as runner:
        runner.run(work())
    assert holds.passes >= 1
    assert 0 < holds.longest <= holds.total
    assert holds.long == [seconds for seconds in holds.long if seconds > LONG]


def test_waiting_holds_nothing() -> None:
    holds = Holds()

    async def wait() -> None:
        await asyncio.to_thread(sum, range(5_000_000))

    with asyncio.Runner(loop_factory=partial(timed_loop, holds)) as runner:
        runner.run(asyncio.sleep(0))
        holds.clear()
        before = runner.get_loop().time()
        runner.run(wait())
        waited = runner.get_loop().time() - before
    assert holds.total < waited


def test_the_longest_pass_is_kept_and_long_ones_are_listed() -> None:
    holds = Holds()
    for seconds in (0.001, 3 * LONG, 2 * LONG):
        holds.add(seconds)
    assert (holds.longest, holds.long, holds.passes) == (3 * LONG, [3 * LONG, 2 * LONG], 3)
    holds.clear()
    assert holds == Holds()


NAMES = ["Douglas Adams", "insulin", "a", "Cushing's disease", "city", "box", "New York City", "東京都", ""]


@pytest.mark.parametrize("name", NAMES)
def test_a_variant_is_the_same_in_every_run(name: str) -> None:
    for make in VARIANTS.values():
        assert make(name) == make(name)


def test_another_order_has_the_same_words_in_other_places() -> None:
    turned = other_order("New York City")
    assert turned is not None
    assert turned != "New York City"
    assert sorted(turned.split()) == ["City", "New", "York"]
    assert other_order("insulin") is None
    assert other_order("New New") is None


@pytest.mark.parametrize(
    ("name", "several"), [("drug", "drugs"), ("city", "cities"), ("day", "days"), ("box", "boxes"), ("T-54", None)]
)
def test_a_plural_is_that_of_the_last_word(name: str, several: str | None) -> None:
    assert plural(name) == several


def test_a_prefix_is_four_fifths_and_never_nothing() -> None:
    assert prefix("0123456789") == "01234567"
    assert prefix("a") == "a"


def test_a_typo_changes_a_name_and_its_length_by_one_at_most() -> None:
    for name in ("Douglas Adams", "insulin", "aaaaa"):
        wrong = one_typo(name)
        assert wrong is not None
        assert wrong != name
        assert abs(len(wrong) - len(name)) <= 1
    assert one_typo("four") is None


def test_every_variant_has_a_target() -> None:
    assert TARGETS.keys() == VARIANTS.keys()
    assert any(column.bound for column in COLUMNS.values())
    assert lines_of({}) == []


MEASUREMENT = Measurement(
    question="2 hops",
    engine="oxigraph",
    delay_ms=50,
    contender="bare client",
    seconds=0.5,
    ratio=0.8,
    requests=1_409,
    rows=100,
    bytes=2_000_000,
    cpu_us_per_row=4.25,
    runs=7,
)


@pytest.mark.parametrize(
    ("result", "at_least", "verdict"),
    [
        (8, False, "met"),
        (8.1, False, "missed"),
        (8, True, "met"),
        (7.9, True, "missed"),
        (None, False, "not measured"),
    ],
)
def test_a_line_says_whether_its_target_was_met(result: float | None, at_least: bool, verdict: str) -> None:
    assert Line("5", "requests", "", 8, result, at_least).verdict == verdict


def test_a_figure_without_a_target_is_only_shown() -> None:
    assert Line("6", "time at +0 ms", "times", None, 2.0).verdict == "told"


def test_the_tables_show_every_figure() -> None:
    report = Report([Line("6 i", "faster", "times", 100, 123.4, at_least=True, note="one run")], [MEASUREMENT])
    written = io.StringIO()
    show(report, Console(file=written, width=200))
    for shown in ("+50 ms", "1,409", "0.8", "500", "2.00", "4.2", "≥ 100 times", "123 times", "one run", "met"):
        assert shown in written.getvalue()


def test_the_json_has_verdicts_and_can_be_written() -> None:
    report = Report([Line("5", "requests", "", 8, None, note="not yet")], [MEASUREMENT])
    read = json.loads(json.dumps(report.json))
    assert read["lines"][0]["verdict"] == "not measured"
    assert read["measurements"][0]["contender"] == "bare client"


# The floor of CPU time: every recorded answer is read into rows, in the format in which it came


BODIES: dict[str, tuple[Format, bytes]] = {
    "by JSON": ("json", json.dumps({"head": {"vars": ["s", "end"]}, "results": {"bindings": []}}).encode()),
    "by TSV": ("tsv", b'?s\t?end\n<http://example.org/a>\t\n\t"end"\n'),
    "by Virtuoso": ("tsv", b'"s"\t"end"\n"http://example.org/a"\t\n\t"end"\n'),
}


class Server(PlainClient):
    """Answers as recorded, or with an answer that lacks its last bytes."""

    def __init__(self, lost: int) -> None:
        self._lost = lost

    async def body(self, request: Request) -> bytes:
        """Return an answer."""
        _, text = BODIES[request.query]
        return text[: len(text) - self._lost]


def recorded(*queries: str) -> Recording:
    answers = [(Request(query, 0, BODIES[query][0]), BODIES[query][1]) for query in queries]
    total = sum(len(body) for _, body in answers)
    return Recording([request for request, _ in answers], bytes=total, answers=len(answers), bodies=answers)


def test_the_variables_of_each_body_are_those_of_its_header() -> None:
    assert [header_of(request, body) for request, body in recorded(*BODIES).bodies] == [
        Header(["s", "end"]),
        Header(["s", "end"]),
        Header(["s", "end"], ["s"]),
    ]


@pytest.mark.anyio
async def test_each_answer_is_read_as_the_gateway_reads_it() -> None:
    seen = recorded(*BODIES)
    reader = RowReader(Server(lost=0), seen)
    assert await reader.read_recorded() == NO_ANSWER
    assert await resend(reader, seen, 2, in_steps=True) == NO_ANSWER


@pytest.mark.anyio
@pytest.mark.parametrize("query", BODIES)
async def test_an_answer_that_is_cut_is_not_measured(query: str) -> None:
    seen = recorded(query)
    with pytest.raises(EndpointFault):
        await RowReader(Server(lost=1), seen).read(seen.requests[0])


TWO_HOPS: Final = Question("2 hops", "medlit", "local", (DESMOPRESSIN,), 2)
FORMATS: Final = {"oxigraph": {"json"}, "fuseki": {"tsv"}, "virtuoso": {"json", "tsv"}}
"""As each engine is asked once it is recognised; one that is not is asked for JSON only."""

SENTINEL: Final = " AS ?end)"


def test_rounds_are_the_longest_chain_of_requests_of_which_each_began_after_the_one_before() -> None:
    side_by_side = [(0.0, 1.0), (0.0, 1.2), (0.1, 0.9)]
    assert Recording(spans=[]).rounds == 0
    assert Recording(spans=side_by_side).rounds == 1
    assert Recording(spans=[(1.2, 2.0), *side_by_side, (2.5, 3.0)]).rounds == 3


def test_a_recording_transport_has_all_that_the_gateway_looks_for_in_the_one_behind_it() -> None:
    http = Http("http://127.0.0.1:9/sparql", max_bytes=1)
    recording = RecordingTransport(http)
    protocols = [one for one in vars(base).values() if isinstance(one, type) and is_protocol(one)]
    capabilities = [one for one in protocols if getattr(one, "_is_runtime_protocol", False) and isinstance(http, one)]
    assert len(capabilities) >= 3
    check_each(capabilities, lambda one: _check_is(recording, one))


def _check_is(transport: object, protocol: type) -> None:
    assert isinstance(transport, protocol)


def test_how_the_time_left_is_sent_reaches_the_transport_behind() -> None:
    http = Http("http://127.0.0.1:9/sparql", max_bytes=1)
    RecordingTransport(http).timeout_policy = TimeoutPolicy(timeout_parameter="timeout")
    assert http.timeout_policy.timeout_parameter == "timeout"


@pytest.mark.server
@pytest.mark.data
@pytest.mark.anyio
@pytest.mark.parametrize("engine", list(FORMATS), indirect=True)
async def test_the_engine_is_recognised_behind_a_recording_and_the_bare_client_reads_the_same_answers(
    engine: Column,
) -> None:
    graphs = engine.settle("medlit", Ours.at(engine.url("medlit"), "local").profile).endpoint.named_graphs
    ours = Ours.at(engine.url("medlit"), "local", graphs)
    try:
        with ours.wire.recording() as seen:
            size = size_of(await ours.topology(TWO_HOPS))
    finally:
        await ours.close()
    assert size.edges > 0
    assert {request.wanted for request in seen.requests} == FORMATS[engine.name]
    assert all(SENTINEL in request.query for request in seen.requests)
    async with plain_client(engine.url("medlit")) as client:
        assert await resend(client, seen, 4, in_steps=True) == NO_ANSWER
    assert seen.rows >= size.edges


EDGES = [(f"{WD}Q{s}", f"{WDT}P{p}", f"{WD}Q{o}") for s, p, o in ((1, 10, 2), (3, 10, 1), (2, 11, 4), (4, 10, 5))]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("driver")
    graph: Path = folder / "small.nt"
    graph.write_text("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in EDGES), encoding="utf-8")
    try:
        with running_oxigraph([graph], workdir=folder) as server:
            yield server.endpoint
    except ServerUnavailable as error:
        skip_or_fail(error)


def asked(endpoint: str, folder: Path, *questions: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    # Our own interpreter and module.
    return subprocess.run(  # noqa: S603
        [sys.executable, "-P", driver.__file__, endpoint],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        input="".join(f"{json.dumps(question)}\n" for question in questions),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.server
def test_a_driver_answers_each_line_with_the_size_of_the_answer_and_its_time(endpoint: str) -> None:
    question = {"seeds": [f"{WD}Q1"], "hops": 2}
    done = asked(endpoint, CHECKOUT, *({"kind": kind, **question} for kind in ("answer", "topology", "edges")))
    answers = [*map(json.loads, done.stdout.splitlines())]
    assert [(one["nodes"], one["edges"], one["complete"]) for one in answers] == [(4, 3, True)] * 3
    assert answers[2]["digest"] == digest(EDGES[:3])
    assert min(one["seconds"] for one in answers) > 0


@pytest.mark.process
def test_a_driver_refuses_to_measure_the_gateway_of_another_folder(tmp_path: Path) -> None:
    done = asked("http://127.0.0.1:9/", tmp_path)
    assert done.returncode == 1
    assert "not that of" in done.stderr


@pytest.mark.server
async def test_a_timed_server_answers_and_tells_how_long_its_loop_was_held(tmp_path: Path) -> None:
    graph = HUBS.write(tmp_path / "hubs.nt")
    async with served("benchmarks.timed_server", "--graph", str(graph)) as server:
        met = await mixed(server, 1, 0.1)
        assert len(met.light.seconds) >= 4
        assert len(met.heavy.seconds) >= 1
        assert met.errors == 0
        holds = await server.holds()
        assert holds.passes > 10
        assert 0 < holds.longest <= holds.total
        assert (await server.holds()).passes < holds.passes
        assert server.cpu_seconds() > 0
        assert server.resident_bytes() > 1_000_000


@pytest.mark.server
@pytest.mark.parametrize("how", [(), ("--low-level",)])
async def test_a_trivial_server_returns_its_answer(tmp_path: Path, how: tuple[str, ...]) -> None:
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({"nodes": {"a": 1}}), encoding="utf-8")
    async with (
        served("benchmarks.contenders.trivial_server", str(file), *how) as server,
        Client(server.url, mode="legacy") as client,
    ):
        latencies = Latencies()
        with latencies.timed():
            answer = await client.call_tool(NAME, {"question": ""})
        assert answer.structured_content == {"nodes": {"a": 1}}
        assert len(latencies.seconds) == 1


@pytest.mark.server
async def test_a_server_that_does_not_start_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended with code"):
        async with served("benchmarks.no_such_module"):
            pass
