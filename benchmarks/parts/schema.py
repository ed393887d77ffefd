"""Acceptance line 1 of orientation: the schema of ten million triples on Fuseki, at once and in full."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks.graphs import SIZES, triples
from benchmarks.large_fuseki import generated_on_fuseki
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.answers.models import SchemaResult
from gateway.api import open_gateway
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway

_TRIPLES: Final = SIZES[-1]
_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_PATIENCE_SECONDS: Final = 900.0
_SHORT_SECONDS: Final = 2.0
_SHAPES: Final = 20

Counts = Counter[str]


async def measure(_: Sites, report: Report) -> None:
    """Ask for the schema as the first question, wait until it is whole, and compare it with a count of every line."""
    expected = await asyncio.to_thread(_counted)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, generated_on_fuseki(_TRIPLES, Path(folder)) as url:
        async with open_gateway(endpoint=url) as gateway:
            began = time.perf_counter()
            first = await gateway.describe_schema()
            seconds = time.perf_counter() - began
            whole = await _whole(gateway, first)
            in_full = time.perf_counter() - began
            await gateway.describe_schema(node_types=first.entity_types[:1])
            began = time.perf_counter()
            shapes = (await gateway.describe_schema(node_types=first.entity_types[1 : _SHAPES + 1])).shapes or {}
            seconds_of_shapes = time.perf_counter() - began
        hasty = Profile(orientation=OrientationSettings(enumeration_seconds=_SHORT_SECONDS))
        async with open_gateway(endpoint=url, profile=hasty) as gateway:
            started = await gateway.describe_schema()
            # It is over long before that, one way or the other.
            await asyncio.sleep(5 * _SHORT_SECONDS)
            short = await gateway.describe_schema()
    place = f"{_TRIPLES:,} generated triples on Fuseki"
    seen = f"{first.entity_types_total} of {len(expected[0])} types, {first.predicates_total} of {len(expected[1])}"
    methods = ", ".join(first.basis.methods)
    kinds = ", ".join(sorted({shape.read.partition(":")[0] for shape in shapes.values()}))
    report.lines += [
        Line("43.3", f"shapes of {len(shapes)} types, {place}", "s", 2.0, seconds_of_shapes, note=kinds),
        Line("5.1a", f"first describe_schema, {place}", "s", 2.0, seconds, note=f"{methods}; {seen} predicates"),
        Line("5.1b", "comprehensive in it", "", 0, int(first.comprehensive)),
        Line("5.1c", "comprehensive in the end, 1 for yes", "", 1, int(whole.comprehensive), at_least=True),
        Line("5.1d", "until then", "s", None, in_full),
        Line("5.1e", "types and predicates whose counts are not the oracle's", "", 0, _differences(whole, expected)),
        Line("5.1f", "comprehensive with the time cut short", "", 0, int(started.comprehensive or short.comprehensive)),
    ]


async def _whole(gateway: Gateway, answer: SchemaResult) -> SchemaResult:
    """Wait until the lists are complete, and return them; what there is where that takes too long."""
    changed = asyncio.Event()
    gateway.on_schema(changed.set)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not answer.comprehensive:
                await changed.wait()
                changed.clear()
                answer = await gateway.describe_schema(all=True)
    except TimeoutError:
        pass
    return answer


def _counted() -> tuple[Counts, Counts]:
    """Count the types, and the predicates between nodes, line by line."""
    types, predicates = Counts(), Counts()
    for line in triples(_TRIPLES):
        _, predicate, value = line.split(" ", 2)
        if predicate == _TYPE:
            types[value[1:-4]] += 1
        elif value.startswith("<"):
            predicates[predicate[1:-1]] += 1
    return types, predicates


def _differences(answer: SchemaResult, expected: tuple[Counts, Counts]) -> int:
    expand = PrefixMap(answer.prefixes).expand
    listed = (answer.entity_types, answer.predicates)
    wrong = 0
    for names, counts in zip(listed, expected, strict=True):
        told = {expand(name): answer.counts.get(name) for name in names}
        wrong += sum(told.get(name) != count for name, count in counts.items()) + len(told.keys() - counts.keys())
    return wrong
