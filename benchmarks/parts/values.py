"""Conditions, orders and figures over a million instances: requests, rows, and the time of a query written by hand."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

from benchmarks.contenders.asking import PlainClient, plain_client, query
from benchmarks.contenders.base import Size, WrongAnswerError
from benchmarks.contenders.ours import Ours
from benchmarks.graphs import CATEGORY, ITEM, PRICE, items
from benchmarks.large_fuseki import generated_on_fuseki
from benchmarks.measure import interleaved, median_ratio
from benchmarks.report import Line, Measurement, Report
from benchmarks.sites import Sites, generated_on_oxigraph
from gateway.answers.models import SearchResult
from gateway.tools.gateway import Gateway

_ITEMS: Final = 1_000_000
_ROUNDS: Final = 5
_REQUESTS, _ROWS, _RATIO, _AVERAGE_RATIO = 4, 1_000, 1.3, 1.6
_FEW_ROUNDS: Final = 3
"""Each of these takes half a minute."""

_TOP: Final = 10
_MOST_TIED: Final = 40
"""Rows of the query by hand, which has to show that the tenth value is no other node's."""

_Started = Callable[[int, Path, Callable[[int], Iterator[str]]], AbstractContextManager[str]]
_ENGINES: Final[Mapping[str, _Started]] = {"oxigraph": generated_on_oxigraph, "fuseki": generated_on_fuseki}

Asked = Callable[[], Awaitable[Size]]


async def measure(_: Sites, report: Report) -> None:
    """Ask each engine both questions, and compare with the best query that also finds texts which read as numbers."""
    for engine, started in _ENGINES.items():
        with tempfile.TemporaryDirectory(prefix="bench-") as folder, started(_ITEMS, Path(folder), items) as url:
            await _measure(engine, url, report)


async def _measure(engine: str, url: str, report: Report) -> None:
    ours = Ours.at(url, "local")
    gateway = ours.gateway()
    try:
        async with plain_client(url) as client:
            questions: Mapping[str, tuple[Asked, Asked]] = {
                "a condition that lets 20 through": (
                    partial(_below, gateway, count()),
                    partial(_below_by_hand, client, count()),
                ),
                f"the top {_TOP} with ties": (partial(_top, gateway, count()), partial(_top_by_hand, client)),
            }
            for number, (name, (asked, by_hand)) in zip("ab", questions.items(), strict=True):
                await asked()
                with ours.wire.recording() as seen:
                    await asked()
                samples = await interleaved({"ours": asked, "by hand": by_hand}, _ROUNDS)
                ratio = median_ratio(samples["ours"], samples["by hand"])
                place = f"{name}, {_ITEMS:,} items on {engine}"
                report.lines += [
                    Line(f"3.{number}1", f"requests, {place}", "", _REQUESTS, len(seen.requests)),
                    Line(f"3.{number}2", f"rows, {place}", "", _ROWS, seen.rows),
                    Line(f"3.{number}3", f"times by hand, {place}", "", _RATIO, ratio),
                ]
                report.measurements += [
                    Measurement(
                        name,
                        engine,
                        0,
                        contender,
                        taken.seconds,
                        taken.seconds / samples["ours"].seconds,
                        len(seen.requests) if contender == "ours" else 1,
                        seen.rows if contender == "ours" else None,
                        runs=len(taken.runs),
                    )
                    for contender, taken in samples.items()
                ]
            await _measure_average(engine, ours, client, report)
    finally:
        await ours.close()


async def _measure_average(engine: str, ours: Ours, client: PlainClient, report: Report) -> None:
    """Measure an average by group where the groups are known: a first question counts their members."""
    seconds = defaultdict[str, list[float]](list)
    requests = rows = 0
    for turn in range(-1, _FEW_ROUNDS):
        ours.forget()
        gateway = ours.gateway()
        began = time.perf_counter()
        await _by_category(gateway, "count")
        counted = time.perf_counter()
        with ours.wire.recording() as seen:
            await _by_category(gateway, f"avg <{PRICE}>")
        averaged = time.perf_counter()
        requests, rows = len(seen.requests), seen.rows
        await client.rows(query("hand_average", {"type": ITEM, "category": CATEGORY, "price": PRICE, "rows": 1_000}))
        by_hand = time.perf_counter() - averaged
        if turn >= 0:
            seconds["average"].append((averaged - counted) / by_hand)
            seconds["both"].append((averaged - began) / by_hand)
    place = f"an average by group, {_ITEMS:,} items on {engine}"
    report.lines += [
        Line("3.c1", f"requests, {place}", "", _REQUESTS, requests),
        Line("3.c2", f"rows, {place}", "", _ROWS, rows),
        Line("3.c3", f"times by hand, {place}", "", _AVERAGE_RATIO, statistics.median(seconds["average"])),
        Line(
            "3.c4",
            f"times by hand, with the schema and the count before it, {place}",
            "",
            None,
            statistics.median(seconds["both"]),
        ),
    ]


async def _by_category(gateway: Gateway, figure: str) -> None:
    answer = await gateway.search_entities(node_types=[ITEM], group_by=f"<{CATEGORY}>", compute=[figure])
    if not answer.complete or answer.groups is None:
        raise WrongAnswerError(f"complete: {answer.complete}, {answer.warnings}")


def _bound(turn: int) -> float:
    """Return a bound with the same answer as all others: the gateway remembers what it has answered."""
    return 0.51 + turn / 100


async def _below(gateway: Gateway, turns: Iterator[int]) -> Size:
    answer = await gateway.search_entities(
        node_types=[ITEM], where=[f"<{PRICE}> < {_bound(next(turns)):.2f}"], values=[PRICE]
    )
    return _checked(answer)


async def _below_by_hand(client: PlainClient, turns: Iterator[int]) -> Size:
    rows = await client.rows(query("hand_below", {"price": PRICE, "below": [_bound(next(turns))], "rows": 1_000}))
    return Size(len({row["n"]["value"] for row in rows if row["type"]["value"] == ITEM}), 0)


async def _top(gateway: Gateway, turns: Iterator[int]) -> Size:
    answer = await gateway.search_entities(node_types=[ITEM], sort_by=f"-<{PRICE}>", limit=_TOP + next(turns) % 7)
    return _checked(answer)


async def _top_by_hand(client: PlainClient) -> Size:
    await client.rows(query("hand_top", {"price": PRICE, "most": _MOST_TIED, "rows": 1_000}))
    return Size(0, 0)


def _checked(answer: SearchResult) -> Size:
    if not answer.complete or answer.rows is None:
        raise WrongAnswerError(f"complete: {answer.complete}, {answer.warnings}")
    return Size(len(answer.rows), 0)
