"""Acceptance line 2 of issue 19: how long the explorer page takes for its picture, its layout, and a frame.

A headless Chromium draws WebGL by software here, in a process of its own; what is counted is the page's own thread.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from playwright.sync_api import Browser, CDPSession, Page

from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from tests.web.browser import browser, opened
from tests.web.served import explored

_ISSUE: Final = "19.2"
_FRAME_MS: Final = 33
_LAYOUT_SECONDS: Final = 2
_PICTURE_SECONDS: Final = 1
_RUNS: Final = 7
_STEPS: Final = 120
_HUB: Final = 99
"""Edges of a node at most: the page expands no hub."""

_WATCH: Final = """
    window.marks = {};
    const native = window.fetch;
    window.fetch = async (...given) => {
      const response = await native(...given);
      const body = await response.clone().arrayBuffer();
      if (body.byteLength > 2000) marks.answered ??= performance.now();
      return response;
    };
    window.frames = new Set();
    const later = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) => later((time) => { frames.add(time); callback(time); });
    new MutationObserver(() => {
      const text = document.querySelector("[data-testid=shown]")?.textContent ?? "";
      const shown = /^[1-9][0-9,]* nodes and [0-9,]+ edges/.exec(text)?.[0];
      if (shown && marks.shown !== shown) {
        marks.shown = shown;
        later(() => later(() => { marks.drawn ??= performance.now(); }));
      }
      const placed = document.documentElement.dataset.placed;
      if (placed && marks.placed !== placed) { marks.placed = placed; marks.laidOut = performance.now(); }
    }).observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
"""


async def measure(_: Sites, report: Report) -> None:
    """Show graphs of three sizes, and move the largest."""
    # The browser's driver has an event loop of its own.
    await asyncio.to_thread(_measure, report)


def _measure(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch, browser() as chromium:
        folder = Path(scratch)
        pictures = [_times(chromium, folder, 100, 200) for _ in range(_RUNS)]
        layouts = [_times(chromium, folder, 500, 1_250) for _ in range(_RUNS)]
        frames = _frames(chromium, folder, 2_000, 5_000)
    report.lines += [
        Line(
            _ISSUE,
            "explorer page: first picture of 100 nodes, after the answer",
            "s",
            _PICTURE_SECONDS,
            statistics.median(picture for picture, _ in pictures),
            note=f"median of {_RUNS}",
        ),
        Line(
            _ISSUE,
            "explorer page: layout of 500 nodes and 1,250 edges, after the answer",
            "s",
            _LAYOUT_SECONDS,
            statistics.median(layout for _, layout in layouts),
            note=f"median of {_RUNS}",
        ),
        Line(
            _ISSUE,
            "explorer page: its thread in a frame while 2,000 nodes and 5,000 edges move",
            "ms",
            _FRAME_MS,
            statistics.median(frames),
            note=f"median of {_RUNS} drags, all work of the thread included",
        ),
    ]


def _times(chromium: Browser, folder: Path, nodes: int, edges: int) -> tuple[float, float]:
    """Return the seconds from an answer to its picture, and to the end of its layout."""
    graph = _graph(folder, nodes, edges)
    with explored(folder, "--graph", str(graph)) as url, opened(chromium, url) as watched:
        page = watched.page
        _show(page, url, nodes)
        marks = page.evaluate("marks")
        return (marks["drawn"] - marks["answered"]) / 1_000, (marks["laidOut"] - marks["answered"]) / 1_000


def _frames(chromium: Browser, folder: Path, nodes: int, edges: int) -> list[float]:
    """Return the milliseconds of the page's thread for a frame, in each of some drags of the picture."""
    graph = _graph(folder, nodes, edges)
    with explored(folder, "--graph", str(graph)) as url, opened(chromium, url) as watched:
        page = watched.page
        _show(page, url, nodes)
        box = page.get_by_test_id("canvas").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")
        return [_drag(page, devtools, x, y) for _ in range(_RUNS)]


def _drag(page: Page, devtools: CDPSession, x: float, y: float) -> float:
    """Return the milliseconds of the page's thread for a frame of one drag."""
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("frames.clear()")
    began = _busy(devtools)
    for step in range(_STEPS):
        page.mouse.move(x + 10 * (step % 10), y + step / 2)
    busy = _busy(devtools) - began
    frames: int = page.evaluate("frames.size")
    page.mouse.up()
    return 1_000 * busy / frames


def _busy(devtools: CDPSession) -> float:
    """Return for how many seconds the page's thread has worked."""
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def _show(page: Page, url: str, nodes: int) -> None:
    """Show a whole graph, and wait for the end of its layout."""
    page.add_init_script(_WATCH)
    call = [
        "bfs_query",
        {"seeds": [_iri(0)], "max_hops": 3, "topology_only": True, "limit": nodes, "max_tokens": 200_000},
    ]
    page.goto(f"{url}?bench#{quote(json.dumps([[call], [], [], []]))}")
    for _ in range(100):
        page.wait_for_function("() => marks.drawn !== undefined")
        more = page.get_by_role("button", name="Show more")
        if not more.count():
            break
        shown = page.evaluate("marks.shown")
        more.click()
        page.wait_for_function("shown => marks.shown !== shown", arg=shown)
    page.wait_for_function(f"() => marks.placed === '{nodes}'")


def _graph(folder: Path, nodes: int, edges: int) -> Path:
    """Write a connected graph whose nodes are three hops from the first at most, and return its file."""
    file = folder / f"{nodes}.nt"
    if not file.exists():
        file.write_text(
            "".join(f"<{_iri(one)}> <http://e.org/p> <{_iri(other)}> .\n" for one, other in _edges(nodes, edges))
        )
    return file


def _edges(nodes: int, edges: int) -> Iterator[tuple[int, int]]:
    """Yield a tree in which the first node has few children, and then edges between any two nodes."""
    wide = max(10, nodes // _HUB + 1)
    for node in range(1, nodes):
        yield (0 if node <= wide else 1 + (node - wide - 1) % wide), node
    drawn = random.Random(nodes)  # noqa: S311 - the same graph each time
    for _ in range(edges - nodes + 1):
        yield drawn.randrange(nodes), drawn.randrange(nodes)


def _iri(node: int) -> str:
    return f"http://e.org/n{node}"
