"""Drawn graphs under a policy: asked in files, by a token over HTTP, and at endpoints."""

import asyncio
import random
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from gateway.settings.profile import ShapeName
from tests.harness.kind import Kind, Say
from tests.harness.report import Report
from tests.harness.stores import store_with
from tests.policy.asking import compare, drawn_questions, two_clients, two_clients_at
from tests.policy.drawn_graph import drawn_graph

PolicyEngine = Literal["oxigraph", "fuseki"]
"""An engine that is shown to keep a policy."""

_EACH: Final = 50
"""Questions about one graph."""


async def ask_file(
    seed: int, shape: ShapeName, questions: int, report: Report, *, over_http: bool = False, hides: bool = True
) -> None:
    """Draw a graph and questions, and compare the answers; over HTTP the client has a token."""
    graph = drawn_graph(seed)
    with tempfile.TemporaryDirectory() as folder:
        async with two_clients(graph, Path(folder), shape, over_http=over_http, hides=hides) as (asked, expected):
            drawn = drawn_questions(graph, random.Random(seed), questions)  # noqa: S311 - questions, no secret
            await compare(asked, expected, drawn, report)


async def ask_endpoints(engine: PolicyEngine, seeds: Sequence[int], questions: int, report: Report) -> None:
    """Draw graphs and questions, and compare the answers of endpoints: of each whole graph, and of what is left."""
    graphs = {seed: drawn_graph(seed) for seed in seeds}
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, list[Path]] = {}
        for seed, graph in graphs.items():
            place = Path(folder) / str(seed)
            place.mkdir()
            whole, left = graph.write_for_endpoints(place)
            files |= {f"whole{seed}": [whole], f"left{seed}": [left]}
        with store_with(engine, Path(folder), files) as column:
            for seed, graph in graphs.items():
                at = column.url(f"whole{seed}"), column.url(f"left{seed}")
                async with two_clients_at(*at, shape_for(seed)) as (asked, expected):
                    drawn = drawn_questions(graph, random.Random(seed), questions)  # noqa: S311 - no secret
                    await compare(asked, expected, drawn, report, engine=engine)


def shape_for(seed: int) -> ShapeName:
    """Return the shape of the answers about a graph."""
    return "compact" if seed % 2 else "reference"


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--http", action="store_true", help="by a token that may not see the whole graph")


def _run(options: Namespace, say: Say) -> Report:
    report = Report()
    seeds = range(options.seed, options.seed - (-options.questions // _EACH))
    for engine in options.engine or ():
        asyncio.run(ask_endpoints(engine, seeds, _EACH, report))
    for seed in () if options.engine else seeds:
        asyncio.run(ask_file(seed, shape_for(seed), _EACH, report, over_http=options.http))
    say(f"{len(seeds)} graphs")
    return report


KIND: Final = Kind(
    "drawn questions under a policy, compared to the byte with the graph without what is hidden",
    _run,
    questions=2_000,
    counted="in all, 50 about each graph; of a file where no engine is named",
    engines=get_args(PolicyEngine),
    options=_options,
)
