"""What hops through blank nodes of an endpoint cost beside the same with IRIs in their place."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.contenders.base import Size
from benchmarks.measure import Samples, interleaved, median_ratio
from benchmarks.recording import Recording, RecordingTransport
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.graph.call import Call, Deadline
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from gateway.stores.endpoints import connect, store_over
from gateway.terms.iri import RDFS
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.builder import TopologyBuilder
from gateway.traversal.expander import HubRule
from tests.columns import Column
from tests.harness.stores import store_with
from tests.servers.engines import ColumnName
from tests.servers.unavailable import ServerUnavailable

_BASE: Final = "http://example.org/"
_THINGS: Final = 5_000
_TARGETS: Final[Mapping[ColumnName, float]] = {
    "oxigraph": 2,
    "fuseki": 2,
    "rdf4j": 2,
    "virtuoso": 5,
    "blazegraph": 10,
}
"""Times that the same takes with IRIs; Blazegraph has no keys of blank nodes, so they are asked for by walks."""

_QUESTIONS: Final = ((200, 3, 5), (_THINGS, 2, 3))
"""Seeds, hops, and rounds in which both graphs are asked."""

_MOST: Final = 10_000_000
_SECONDS: Final = 300


async def measure(sites: Sites, report: Report) -> None:
    """Ask each engine for hops from many nodes, in two graphs by turns."""
    del sites  # It has graphs of its own.
    for engine in _TARGETS:
        try:
            with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
                report.lines += await _lines_at(engine, Path(scratch))
        except ServerUnavailable as error:
            report.lines.append(Line("45.3", f"hops, {engine}", "times", None, None, note=error.reason))


async def _lines_at(engine: ColumnName, folder: Path) -> list[Line]:
    files = {}
    for name in ("blank", "iris"):
        file = folder / f"{name}.nt"
        with file.open("w", encoding="ascii") as lines:
            lines.writelines(_triples(blank=name == "blank"))
        files[name] = [file]
    with store_with(engine, folder, files) as there:
        ends = {name: _End(there, name) for name in files}
        try:
            return [await _line(engine, ends, *question) for question in _QUESTIONS]
        finally:
            for end in ends.values():
                await end.close()


async def _line(engine: ColumnName, ends: Mapping[str, _End], seeds: int, hops: int, rounds: int) -> Line:
    nodes = [_thing(index) for index in range(seeds)]
    runs = {name: partial(end.hops, nodes, hops) for name, end in ends.items()}

    def forget() -> None:
        for end in ends.values():
            end.forget()

    samples = await interleaved(runs, rounds, before=forget, size=await ends["iris"].hops(nodes, hops))
    told = [await _told(ends[name], name, samples[name], nodes, hops) for name in ("blank", "iris")]
    what = f"{hops} hops from {seeds:,} nodes through blank nodes: times that with IRIs, {engine}"
    ratio = median_ratio(samples["blank"], samples["iris"])
    return Line("45.3", what, "times", _TARGETS[engine], ratio, note="; ".join(told))


async def _told(end: _End, name: str, samples: Samples, nodes: Sequence[str], hops: int) -> str:
    end.forget()
    with end.recording() as seen:
        await end.hops(nodes, hops)
    return _described(name, samples, seen)


def _described(name: str, samples: Samples, seen: Recording) -> str:
    times = f"{samples.seconds * 1000:,.0f} ms, {samples.cpu_seconds * 1000:,.0f} of them here"
    return f"{name} {times}, {len(seen.requests)} requests, {seen.rows:,} rows"


class _End:
    """One of both graphs at an engine, behind this gateway up to where an answer is presented."""

    def __init__(self, there: Column, graph: str) -> None:
        blank = Profile().model_copy(update={"nodes": NodeSettings(blank="on")})
        self._profile = there.settle(graph, blank)
        self._wire = RecordingTransport(connect(there.url(graph), self._profile))
        self._store = store_over(self._wire, self._profile)
        self.recording = self._wire.recording
        self.forget = self._store.forget
        self.close = self._store.close

    async def hops(self, nodes: Sequence[str], hops: int) -> Size:
        """Return how much some hops from some nodes lead to."""
        builder = TopologyBuilder(self._store, PrefixMap(self._profile.prefixes), self._profile)
        call = Call(Deadline.after(_SECONDS), _MOST, _MOST, _MOST)
        found = await builder.neighbourhood(nodes, hops, HubRule.of(self._profile.hubs, None, None), call)
        return Size(len(found.nodes), len(found.edges))


def _thing(index: int) -> str:
    return f"{_BASE}thing/{index % _THINGS}"


def _triples(*, blank: bool) -> Iterator[str]:
    """Generate things that lead to each other by interactions, each with a dose: both are blank nodes, or IRIs."""

    def inner(name: str) -> str:
        return f"_:{name}" if blank else f"<{_BASE}inner/{name}>"

    for index in range(_THINGS):
        thing = f"<{_thing(index)}>"
        yield f'{thing} <{RDFS}label> "thing {index}" .\n'
        for number in range(2):
            interaction, dose = inner(f"i{index}x{number}"), inner(f"d{index}x{number}")
            yield f"{thing} <{_BASE}interaction> {interaction} .\n"
            yield f'{interaction} <{_BASE}severity> "s{(index + number) % 7}" .\n'
            yield f"{interaction} <{_BASE}with> <{_thing(index * 7 + number + 1)}> .\n"
            yield f"{interaction} <{_BASE}dose> {dose} .\n"
            yield f'{dose} <{_BASE}value> "{index}" .\n'
            yield f"{dose} <{_BASE}unit> <{_BASE}unit/{index % 50}> .\n"
