"""One traversal over PostgreSQL and Neo4j, beside SPARQL endpoints: time near and far, requests, own CPU for a row."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from benchmarks.contenders.base import Size
from benchmarks.contenders.ours import size_of
from benchmarks.delay import delayed
from benchmarks.measure import interleaved, median_ratio
from benchmarks.questions import TWO_HOPS
from benchmarks.report import Line, Measurement, Report
from benchmarks.sites import FAR, Sites, graph_file
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.neo4j.store import Neo4jStore
from gateway.postgres.store import PostgresStore
from gateway.server.run import collected_between_calls
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.stores.endpoints import cached, connect, store_over
from gateway.telemetry.record import Record
from gateway.telemetry.tally import Tally
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.builder import TopologyBuilder
from gateway.traversal.expander import HubRule
from tests.neo4j import loading
from tests.neo4j.database import address_at
from tests.postgres.database import Database, running_database, tables_in
from tests.servers.cache import fingerprint, private_copy
from tests.servers.neo4j import loaded_home, running_neo4j

ROUNDS: Final = 5
_TABLES: Final = "codex_m"
_FUSEKI: Final = "fuseki, JSON"
_POSTGRES: Final = "postgresql"
_THIRD: Final = 1 / 3


@dataclass
class _Place:
    """A graph behind a store, and what the last answer cost."""

    store: GraphStore
    profile: Profile
    record: Record | None = None
    prefixes: PrefixMap = field(init=False)

    def __post_init__(self) -> None:
        self.prefixes = PrefixMap(self.profile.prefixes)

    async def answer(self) -> Size:
        """Answer the question at the engine."""
        limits, tally = self.profile.limits, Tally()
        call = Call(Deadline.after(limits.deadline_seconds), limits.requests, limits.rows, limits.nodes, tally=tally)
        builder = TopologyBuilder(self.store, self.prefixes, self.profile)
        rule = HubRule.of(self.profile.hubs, None, None)
        found = await builder.neighbourhood(TWO_HOPS.seeds, TWO_HOPS.hops, rule, call)
        self.record = tally.answered(complete=True)
        return size_of(found)


async def measure(sites: Sites, report: Report) -> None:
    """Let all places answer in turn, near and far."""
    profile = load_profile(TWO_HOPS.profile)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        folder = Path(scratch)
        # It runs event loops of its own.
        home = await asyncio.to_thread(_neo4j_home, profile)
        with _postgres(folder, profile) as postgres, _neo4j(folder, home) as neo4j:
            for far in (False, True):
                with _distant(postgres.server.port, far=far) as at_postgres, _distant(neo4j, far=far) as at_neo4j:
                    stores = {
                        _FUSEKI: _endpoint(sites, "fuseki", profile, far=far),
                        "oxigraph": _endpoint(sites, "oxigraph", profile, far=far),
                        _POSTGRES: _postgres_store(postgres, at_postgres, profile),
                        "neo4j": _neo4j_store(at_neo4j, profile),
                    }
                    places = {name: _Place(store, profile) for name, store in stores.items()}
                    try:
                        await _race(places, report, far=far)
                    finally:
                        for place in places.values():
                            await place.store.close()


async def _race(places: Mapping[str, _Place], report: Report, *, far: bool) -> None:
    def forget() -> None:
        for place in places.values():
            place.store.forget()

    runs = {name: place.answer for name, place in places.items()}
    size = Size(TWO_HOPS.nodes, TWO_HOPS.edges)
    # As in a server: a full collection during an answer would be in the time of whoever it hits.
    async with collected_between_calls(is_idle=lambda: False):
        samples = await interleaved(runs, ROUNDS, before=forget, size=size)
    milliseconds = round(FAR * 1_000) if far else 0
    for name, place in places.items():
        record = place.record
        assert record is not None
        report.measurements.append(
            Measurement(
                question=TWO_HOPS.name,
                engine=name,
                delay_ms=milliseconds,
                contender="this gateway, at the engine",
                seconds=samples[name].seconds,
                ratio=samples[name].seconds / samples[_FUSEKI].seconds,
                requests=record.queries,
                rows=record.rows,
                bytes=None,
                cpu_us_per_row=samples[name].cpu_seconds / record.rows * 1e6,
                runs=ROUNDS,
            )
        )
        if name != _FUSEKI:
            report.lines.append(
                Line(
                    "20.3",
                    f"time over that of Fuseki by JSON, {name} at +{milliseconds} ms",
                    "times",
                    _THIRD if name == _POSTGRES and not far else None,
                    median_ratio(samples[name], samples[_FUSEKI]),
                )
            )


def _endpoint(sites: Sites, engine: str, profile: Profile, *, far: bool) -> GraphStore:
    site = sites.at("fuseki" if engine == "fuseki" else "oxigraph", TWO_HOPS.graph)
    endpoint = profile.endpoint.model_copy(update={"format": "json"})
    settings = profile.model_copy(update={"endpoint": endpoint})
    return store_over(connect(site.far if far else site.near, settings), settings)


def _postgres_store(database: Database, port: int, profile: Profile) -> GraphStore:
    address = replace(database.address, port=port)
    store = PostgresStore(address, tables_in(_TABLES), profile, profile.prefixes)
    return cached(store, profile, time.monotonic)


def _neo4j_store(port: int, profile: Profile) -> GraphStore:
    store = Neo4jStore(address_at(port), loading.settings_of(_TABLES), profile, profile.prefixes)
    return cached(store, profile, time.monotonic)


@contextmanager
def _postgres(folder: Path, profile: Profile) -> Iterator[Database]:
    """Run a PostgreSQL with the graph."""
    (place := folder / "postgres").mkdir()
    with running_database(place) as database:
        database.load(_TABLES, [graph_file(TWO_HOPS.graph)], profile)
        yield database


def _neo4j_home(profile: Profile) -> Path:
    """Return a folder of Neo4j with the graph, which is written once."""
    files = {_TABLES: [graph_file(TWO_HOPS.graph)]}
    loader = Path(loading.__file__).read_bytes() + profile.model_dump_json().encode()
    key = hashlib.sha256(loader + fingerprint(b"", files).encode()).hexdigest()[:24]
    return loaded_home(key, lambda server: loading.write_graphs(server, files, profile))


@contextmanager
def _neo4j(folder: Path, home: Path) -> Iterator[int]:
    """Run a Neo4j with a copy of what a folder has, and yield its port."""
    with private_copy(home, folder / "neo4j"), running_neo4j(folder / "neo4j") as server:
        yield server.port


@contextmanager
def _distant(port: int, *, far: bool) -> Iterator[int]:
    """Yield the port of a server, or that of a proxy that lets it be far."""
    if not far:
        yield port
        return
    with delayed(port, FAR) as distant:
        yield distant
