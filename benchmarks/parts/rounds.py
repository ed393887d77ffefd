"""How many round trips a call waits for, one after the other, and how many requests it sends, at endpoints far away.

The endpoint is one that nothing names (its engine is not recognised), under `wikidata-local`. Rounds are the longest
chain of requests, each of which began after the one before had ended.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.contenders.base import WrongAnswerError
from benchmarks.contenders.ours import Ours
from benchmarks.delay import delayed
from benchmarks.graphs import WDT, statements, wikibase_item
from benchmarks.latencies import Latencies
from benchmarks.recording import Recording, RecordingTransport
from benchmarks.report import Line, Report
from benchmarks.sites import Sites, generated_on_oxigraph
from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.graph.call import Deadline
from gateway.settings.endpoint import QuotaSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.stores.endpoints import store_over
from gateway.transport.base import ProbeResponse
from gateway.transport.credentials import access_to
from gateway.transport.http import Http

DELAYS: Final = (0.0, 0.05, 0.2, 0.8)
CONCURRENCIES: Final = (1, 4)
_SEED, _NEAR = 1_321, 93
"""An item, and one with which it has neighbours in common."""
_TRIPLES: Final = 20_000
_MAX_DEGREE: Final = 100


@dataclass(frozen=True, slots=True)
class RoundsQuestion:
    """A call.

    Attributes:
        name: How the table calls it.
        tool: The tool.
        arguments: Its arguments.
        limit: The rounds that the data alone sets: what depends on an answer, one after the other.
        is_first: Whether it is the first call of a process, which learns how the endpoint wants to be asked.
    """

    name: str
    tool: str
    arguments: Mapping[str, Any]
    limit: int
    is_first: bool = False


def _traversal(*more: int, **arguments: Any) -> dict[str, Any]:
    return {"seeds": [wikibase_item(one) for one in (_SEED, *more)], **arguments}


_SEARCH: Final = {"query": "Thing 1321"}

QUESTIONS: Final = (
    RoundsQuestion("describe_schema, first", "describe_schema", {}, 2, is_first=True),
    RoundsQuestion("search_entities, first", "search_entities", _SEARCH, 1, is_first=True),
    RoundsQuestion("search_entities", "search_entities", _SEARCH, 1),
    RoundsQuestion("describe_entity", "describe_entity", {"id": wikibase_item(_SEED)}, 2),
    RoundsQuestion(
        "describe_entities, 10",
        "describe_entities",
        {"ids": [wikibase_item(index) for index in range(1_321, 1_331)]},
        2,
    ),
    RoundsQuestion("bfs_query, 1 hop, full", "bfs_query", _traversal(max_hops=1), 2),
    RoundsQuestion("bfs_query, 1 hop, topology only", "bfs_query", _traversal(max_hops=1, topology_only=True), 2),
    RoundsQuestion(
        "bfs_query, 1 hop, one relation",
        "bfs_query",
        _traversal(max_hops=1, topology_only=True, only_predicates=[f"{WDT}P1000"]),
        2,
    ),
    RoundsQuestion(
        "bfs_query, 2 hops, hub rule",
        "bfs_query",
        _traversal(max_hops=2, topology_only=True, max_degree=_MAX_DEGREE),
        3,
    ),
    RoundsQuestion("intersect_subgraphs, k=1", "intersect_subgraphs", _traversal(_NEAR, k=1), 2),
    RoundsQuestion(
        "intersect_subgraphs, k=2, hub rule",
        "intersect_subgraphs",
        _traversal(_NEAR, k=2, max_degree=_MAX_DEGREE),
        4,
    ),
)


class Unrecognised(RecordingTransport):
    """A recording transport to an engine that shows nothing of itself."""

    async def look(self, accept: str, deadline: Deadline, parameters: str = "", path: str = "") -> ProbeResponse:
        """Ask for the endpoint itself, and show nothing but the status."""
        return replace(await super().look(accept, deadline, parameters, path), headers={}, text="")


async def measure(_: Sites, report: Report) -> None:
    """Ask every question at each delay and concurrency: of the endpoint all is known, of the graph nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        near = stack.enter_context(generated_on_oxigraph(_TRIPLES, Path(folder), statements))
        port = urlsplit(near).port or 0
        for delay in DELAYS:
            there = stack.enter_context(delayed(port, delay)) if delay else port
            for concurrency in CONCURRENCIES:
                for question, (seconds, seen) in await _asked(near.replace(f":{port}/", f":{there}/"), concurrency):
                    report.lines.append(_line(question, concurrency, delay, seconds, seen))


def _line(question: RoundsQuestion, concurrency: int, delay: float, seconds: float, seen: Recording) -> Line:
    what = f"{question.name}, {delay * 1000:g} ms away, {concurrency} at once"
    number = f"rounds {concurrency} {delay:.2f}"
    requests = len(seen.spans)
    if concurrency == 1:
        note = f"{seen.rounds} rounds, {seen.rows} rows, {seconds:.2f} s"
        return Line(number, what, "requests", question.limit + 2, requests, note=note)
    note = f"{requests} requests, {seen.rows} rows, {seconds:.2f} s"
    # Without a delay, what is asked side by side may come one after the other.
    return Line(number, what, "rounds", question.limit + 1 if delay else None, seen.rounds, note=note)


async def _asked(url: str, concurrency: int) -> list[tuple[RoundsQuestion, tuple[float, Recording]]]:
    """Ask all questions at an endpoint; return with each how long it took, and what was sent."""
    taken = []
    async with _opened(url, concurrency) as warm:
        await _warmed(warm)
        for question in QUESTIONS:
            if question.is_first:
                async with _opened(url, concurrency) as fresh:
                    taken.append((question, await _timed(fresh, question)))
            else:
                taken.append((question, await _timed(warm, question)))
    return taken


def _profile(concurrency: int, quota: QuotaSettings | None = None) -> Profile:
    settings = load_profile("wikidata-local")
    requests = settings.endpoint.requests.model_copy(update={"concurrency": concurrency})
    changed = {"requests": requests, "quota": quota or settings.endpoint.quota}
    endpoint = settings.endpoint.model_copy(update=changed)
    # As at an endpoint that is not on the operator's own network.
    orientation = settings.orientation.model_copy(update={"enumeration_seconds": 0.0})
    return settings.model_copy(update={"endpoint": endpoint, "orientation": orientation})


@asynccontextmanager
async def _opened(url: str, concurrency: int, quota: QuotaSettings | None = None) -> AsyncIterator[tuple[Ours, Any]]:
    settings = _profile(concurrency, quota)
    flow = FlowControl(settings.endpoint.requests, Quota(settings.endpoint.quota))
    access = access_to(url, settings.endpoint)
    wire = Unrecognised(Http(url, max_bytes=settings.limits.body_bytes, access=access, flow=flow))
    ours = Ours(settings, wire, store_over(wire, settings))
    gateway = ours.gateway()
    try:
        yield ours, gateway
    finally:
        await gateway.close()


async def _warmed(opened: tuple[Ours, Any]) -> None:
    """Let a gateway learn what there is to know of its endpoint, by questions about other nodes."""
    _, gateway = opened
    await gateway.call("describe_schema", {})
    await gateway.wait_until_ready()
    other = [wikibase_item(1_000), wikibase_item(1_001)]
    await gateway.call("search_entities", {"query": "Thing 1000"})
    await gateway.call("describe_entity", {"id": other[0]})
    await gateway.call("bfs_query", {"seeds": other[:1], "max_hops": 1})
    await gateway.call("bfs_query", {"seeds": other[:1], "max_hops": 2, "max_degree": _MAX_DEGREE})
    await gateway.call("intersect_subgraphs", {"seeds": other, "k": 2, "max_degree": _MAX_DEGREE})


async def _timed(opened: tuple[Ours, Any], question: RoundsQuestion) -> tuple[float, Recording]:
    ours, gateway = opened
    gateway.forget()
    with ours.wire.recording() as seen:
        began = time.perf_counter()
        answer = await gateway.call(question.tool, question.arguments)
        seconds = time.perf_counter() - began
    if answer.as_json().get("complete") is False and question.tool.startswith("describe_entit"):
        raise WrongAnswerError(f"{question.name}: the answer is not complete")
    return seconds, seen


_CALLS: Final = 40
_ANSWER: Final = 0.3
"""Seconds that an answer of the simulated service takes at least."""


async def measure_session(_: Sites, report: Report) -> None:
    """Ask forty questions, as in one conversation, of a service with Wikidata's quota and one query at a time."""
    quota = load_profile("wikidata").endpoint.quota
    taken = Latencies()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        near = stack.enter_context(generated_on_oxigraph(_TRIPLES, Path(folder), statements))
        port = urlsplit(near).port or 0
        far = stack.enter_context(delayed(port, _ANSWER))
        async with _opened(near.replace(f":{port}/", f":{far}/"), 1, quota) as (ours, gateway):
            with ours.wire.recording() as seen:
                for tool, arguments in _conversation():
                    with taken.timed():
                        await gateway.call(tool, arguments)
    note = f"{len(seen.spans)} requests in all, {sum(taken.seconds):.0f} s"
    what = f"{_CALLS} calls under Wikidata's quota, {_ANSWER * 1000:g} ms an answer, one query at a time"
    report.lines += [
        Line("session", f"{what}, p50", "s a call", None, taken.p50, note=note),
        Line("session", f"{what}, p90", "s a call", None, taken.percentile(0.9)),
    ]


def _conversation() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield forty calls: the schema, then a search, a description and a traversal after the other."""
    yield "describe_schema", {}
    more: list[Callable[[str], tuple[str, Mapping[str, Any]]]] = [
        lambda item: ("bfs_query", {"seeds": [item], "max_hops": 1}),
        lambda item: ("intersect_subgraphs", {"seeds": [item, wikibase_item(_NEAR)], "k": 1}),
        lambda item: ("bfs_query", {"seeds": [item], "max_hops": 2, "max_degree": _MAX_DEGREE}),
        lambda item: ("describe_entities", {"ids": [item, wikibase_item(_SEED), wikibase_item(_NEAR)]}),
    ]
    for turn in range((_CALLS - 1) // 3):
        index = 400 + 37 * turn
        yield "search_entities", {"query": f"Thing {index}"}
        yield "describe_entity", {"id": wikibase_item(index)}
        yield more[turn % len(more)](wikibase_item(index))
