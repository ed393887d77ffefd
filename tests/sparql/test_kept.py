"""What an endpoint taught a process is not asked again by the next one, as long as it cannot make an answer wrong."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from gateway.api import open_gateway
from gateway.cache.on_disk import StoredFacts
from gateway.errors import UnknownTermError
from gateway.graph.kept import FORGOTTEN, MOST_FACTS, WEEK, Fact, KeptFacts
from gateway.python.async_gateway import AsyncGateway
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import CacheSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings, ValueSettings
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.stores.endpoints import connect
from tests.cache.fake_store import call
from tests.clocks import Clock
from tests.faults.small_server import NODES, TRIPLES, X, small_server
from tests.small import ROOM
from tests.transport.fake_endpoint import FakeEndpoint

pytestmark = pytest.mark.anyio

PLAIN = Profile()
WITH_BLANK = Profile(nodes=NodeSettings(blank="on"), endpoint=EndpointSettings(engine="oxigraph"), size=ROOM)
LIST = (
    f"<{NODES[0]}> <{X}parts> _:l1 . _:l1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> <{NODES[1]}> . "
    "_:l1 <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> <http://www.w3.org/1999/02/22-rdf-syntax-ns#nil> ."
)
PROBE = "FILTER(?m = ?n)"
"""What only the probe of LATERAL has."""

CALLS: Mapping[str, tuple[Any, ...]] = {
    "describe_schema": (),
    "search_entities": ("n1",),
    "describe_entity": (NODES[0],),
    "bfs_query": ([NODES[0]], 1),
    "intersect_subgraphs": (list(NODES[:2]), 1),
}


class Endpoint:
    """An endpoint, and gateways over it one after the other, each as a process of its own would open it."""

    def __init__(self, served: FakeEndpoint, folder: Path) -> None:
        self.served = served
        self.folder = folder
        self.now = Clock(1_700_000_000.0)

    def opened(self, profile: Profile = PLAIN) -> AsyncGateway:
        """Open a gateway that stores what it finds out."""
        return open_gateway(
            endpoint=self.served.url, profile=profile, store=self.folder, keep_schema=True, wall_clock=self.now
        )

    async def asked(self, *tools: str, profile: Profile = PLAIN) -> int:
        """Return how many requests some calls of one process send."""
        before = len(self.served.received)
        async with self.opened(profile) as gateway:
            for tool in tools or CALLS:
                await getattr(gateway, tool)(*CALLS[tool])
            await gateway.wait_until_ready()
        return len(self.served.received) - before

    def looks(self) -> int:
        """Return how many requests had no query: they ask for the engine."""
        return len(self.served.received) - len(self.served.queries)


@pytest.mark.parametrize("tool", CALLS)
async def test_the_next_process_asks_for_what_a_call_needs_alone(tool: str, tmp_path: Path) -> None:
    async with small_server() as served:
        endpoint = Endpoint(served, tmp_path)
        first, looks = await endpoint.asked(), endpoint.looks()
        assert looks
        assert await endpoint.asked(tool) <= 6 < first
        assert endpoint.looks() == looks


async def test_what_is_older_than_a_stored_answer_may_be_is_asked_again(tmp_path: Path) -> None:
    async with small_server() as served:
        endpoint = Endpoint(served, tmp_path)
        first = await endpoint.asked()
        endpoint.now.now += PLAIN.cache.ttl_seconds
        assert first - 3 <= await endpoint.asked() <= first


async def test_a_schema_of_the_process_before_is_as_complete_as_it_was_and_expires_when_it_would_have(
    tmp_path: Path,
) -> None:
    async with small_server() as served:
        endpoint = Endpoint(served, tmp_path)
        async with endpoint.opened() as gateway:
            first = await gateway.describe_schema()
        assert first.complete
        endpoint.now.now += 200
        async with endpoint.opened() as gateway:
            assert await gateway.describe_schema() == first
        # It has not become younger by being used.
        endpoint.now.now += 200
        before = len(served.queries)
        async with endpoint.opened() as gateway:
            await gateway.describe_schema()
        assert any("COUNT" in query for query in served.queries[before:])


async def test_an_unknown_name_has_the_schema_of_the_process_before_read_again(tmp_path: Path) -> None:
    store = pyoxigraph.Store()
    async with small_server(store=store) as served:
        endpoint = Endpoint(served, tmp_path)
        await endpoint.asked("describe_schema")
        store.update(f"INSERT DATA {{ <{NODES[0]}> <{X}brand_new> <{NODES[1]}> }}")
        endpoint.now.now += 100
        async with endpoint.opened() as gateway:
            answer = await gateway.bfs_query([NODES[0]], 1, only_predicates=[f"{X}brand_new"])
            expected = [gateway.prefixes.shorten(node) for node in NODES[:2]]
        assert [node.id for node in answer.nodes] == expected


@pytest.mark.parametrize("seconds", [0, 5, 100])
async def test_however_recent_the_schema_of_the_process_before_is_an_unknown_type_has_it_read_again_once(
    seconds: int, tmp_path: Path
) -> None:
    store = pyoxigraph.Store()
    async with small_server(store=store) as served:
        endpoint = Endpoint(served, tmp_path)
        store.update(f"INSERT DATA {{ <{NODES[1]}> a <{X}Old> }}")
        await endpoint.asked("describe_schema")
        store.update(f"INSERT DATA {{ <{NODES[0]}> a <{X}New> }}")
        endpoint.now.now += seconds
        async with endpoint.opened() as gateway:
            answer = await gateway.search_entities(node_types=[f"{X}New"])
            assert [hit.id for hit in answer.result] == [gateway.prefixes.shorten(NODES[0])]
            before = len(served.queries)
            with pytest.raises(UnknownTermError, match="not_there"):
                await gateway.search_entities(node_types=[f"{X}not_there"])
            assert not any("COUNT" in query for query in served.queries[before:])


async def test_that_there_were_no_lists_is_believed_no_longer_than_answers_are_stored(tmp_path: Path) -> None:
    store = pyoxigraph.Store()
    async with small_server(store=store) as served:
        endpoint = Endpoint(served, tmp_path)
        async with endpoint.opened(WITH_BLANK) as gateway:
            await gateway.describe_entity(NODES[0])
            await gateway.bfs_query([NODES[0]], 1)
        store.update(f"INSERT DATA {{ {LIST} }}")
        endpoint.now.now += WITH_BLANK.cache.ttl_seconds
        async with (
            endpoint.opened(WITH_BLANK) as later,
            open_gateway(endpoint=served.url, profile=WITH_BLANK, store=tmp_path / "other") as fresh,
        ):
            for tool in ("describe_entity", "bfs_query"):
                expected = await getattr(fresh, tool)(*CALLS[tool])
                assert await getattr(later, tool)(*CALLS[tool]) == expected
                assert "parts" in str(expected.as_json())


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (PLAIN, PLAIN.model_copy(update={"values": ValueSettings(wikibase=True)})),
        (PLAIN.model_copy(update={"cache": CacheSettings(megabytes=0)}),) * 2,
    ],
    ids=["another profile", "no cache"],
)
async def test_nothing_is_taken_over(first: Profile, then: Profile, tmp_path: Path) -> None:
    async with small_server() as served:
        endpoint = Endpoint(served, tmp_path)
        await endpoint.asked(profile=first)
        looks = endpoint.looks()
        await endpoint.asked("describe_schema", profile=then)
        assert endpoint.looks() > looks


@pytest.mark.parametrize(
    ("access", "second"),
    [
        ({"token": "env:OWN_SECRET"}, "Bearer two"),
        ({"user": "me", "password": "env:OWN_SECRET"}, "Basic bWU6dHdv"),
        ({"secret_headers": {"X-Api-Key": "env:OWN_SECRET"}}, "two"),
    ],
    ids=["token", "password", "secret header"],
)
async def test_nothing_is_taken_over_from_another_user_whose_secret_is_in_the_same_place(
    access: Mapping[str, Any], second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = EndpointSettings(engine="oxigraph", access=AccessSettings.model_validate(access))
    profile = WITH_BLANK.model_copy(update={"endpoint": settings})
    more = pyoxigraph.Store()
    more.load("\n".join(TRIPLES).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    more.update(f"INSERT DATA {{ {LIST} }}")
    async with small_server(users={second: more}) as served:
        endpoint = Endpoint(served, tmp_path)
        monkeypatch.setenv("OWN_SECRET", "one")
        await endpoint.asked(profile=profile)
        monkeypatch.setenv("OWN_SECRET", "two")
        async with (
            endpoint.opened(profile) as later,
            Endpoint(served, tmp_path / "other").opened(profile) as fresh,
        ):
            for tool in ("describe_schema", "describe_entity", "bfs_query"):
                expected = await getattr(fresh, tool)(*CALLS[tool])
                assert await getattr(later, tool)(*CALLS[tool]) == expected
                assert "parts" in str(expected.as_json())
    assert not _files(tmp_path)


@pytest.mark.parametrize(
    ("shows", "engine", "seconds"),
    [("Oxigraph/0.4.1", "oxigraph 0.4.1", WEEK), ("a server", "unknown ", 60)],
    ids=["a version", "none"],
)
async def test_a_row_cap_is_used_for_a_week_where_the_engine_shows_its_version_and_else_as_long_as_answers(
    shows: str, engine: str, seconds: float, tmp_path: Path
) -> None:
    clock = Clock()
    _facts(tmp_path, clock).keep(f"row cap of {engine}", 1_000.0)
    async with small_server(shows=lambda: shows) as served:
        clock.now += seconds - 1
        assert await _rows_asked_for(served, _facts(tmp_path, clock)) == 900
        clock.now += 1
        assert await _rows_asked_for(served, _facts(tmp_path, clock)) == PLAIN.limits.query_rows


@pytest.mark.parametrize(
    ("cap", "rows"), [(100.0, 90), (99.0, PLAIN.limits.query_rows), (-5.0, PLAIN.limits.query_rows)]
)
async def test_a_row_cap_that_is_too_low_to_be_one_is_not_taken_over(cap: float, rows: int, tmp_path: Path) -> None:
    facts = _facts(tmp_path, Clock())
    facts.keep("row cap of unknown ", cap)
    async with small_server() as served:
        assert await _rows_asked_for(served, facts) == rows


async def _rows_asked_for(served: FakeEndpoint, kept: KeptFacts) -> int:
    transport = connect(served.url, PLAIN)
    detector = EngineDetector(transport, PLAIN, transport.flow, kept)
    client = SparqlClient(transport, PLAIN, transport.flow, detector, kept)
    try:
        await client.rows("alive", call(), {})
        return client.query_rows
    finally:
        await client.close()


async def test_what_a_gateway_forgets_the_next_one_does_not_know(tmp_path: Path) -> None:
    async with small_server() as served:
        endpoint = Endpoint(served, tmp_path)
        async with endpoint.opened(WITH_BLANK) as gateway:
            await gateway.bfs_query([NODES[0]], 1)
            assert any(name.startswith("graph ") for name in _stored(tmp_path))
            gateway.forget()
        assert not any(name.startswith("graph ") for name in _stored(tmp_path))
        endpoint.now.now += 1
        before = len(served.queries)
        await endpoint.asked("describe_schema", profile=WITH_BLANK)
        assert any("COUNT" in query for query in served.queries[before:])


@pytest.mark.parametrize(
    ("versions", "is_probed"),
    [(("Oxigraph/0.4.1",) * 2, False), (("Oxigraph/0.4.1", "Oxigraph/0.4.2"), True), (("a server",) * 2, True)],
    ids=["the same version", "another version", "no version"],
)
async def test_what_an_engine_can_do_is_known_for_a_week_where_it_shows_its_version(
    versions: Sequence[str], *, is_probed: bool, tmp_path: Path
) -> None:
    version = versions[0]
    async with small_server(shows=lambda: version) as served:
        endpoint = Endpoint(served, tmp_path)
        await endpoint.asked("describe_entity")
        assert any(PROBE in query for query in served.queries)
        before = len(served.queries)
        endpoint.now.now += 86_400
        version = versions[1]
        await endpoint.asked("describe_entity")
        assert any(PROBE in query for query in served.queries[before:]) == is_probed


async def test_whether_an_engine_keeps_a_policy_is_asked_of_itself(tmp_path: Path) -> None:
    hiding = PLAIN.model_copy(update={"hidden": HiddenSettings(types=(f"{X}Secret",))})
    async with small_server(shows=lambda: "Oxigraph/0.4.1") as served:
        endpoint = Endpoint(served, tmp_path)
        await endpoint.asked("describe_entity", profile=hiding)
        looks = endpoint.looks()
        await endpoint.asked("describe_entity", profile=hiding)
        assert endpoint.looks() > looks


def _files(folder: Path) -> list[Path]:
    return [*folder.glob("**/facts.json")]


def _stored(folder: Path) -> set[str]:
    (file,) = _files(folder)
    return {*json.loads(file.read_text())["facts"]}


def _facts(folder: Path, clock: Clock, profile: str = "p") -> KeptFacts:
    return KeptFacts(StoredFacts(folder, profile), CacheSettings(ttl_seconds=60.0), clock)


def test_a_fact_is_known_with_its_age_until_it_is_too_old(tmp_path: Path) -> None:
    clock = Clock()
    _facts(tmp_path, clock).keep("lists", value=False)
    clock.now += 59
    assert _facts(tmp_path, clock).known("lists", bool) == (False, 59)
    clock.now += 1
    assert _facts(tmp_path, clock).known("lists", bool) is None
    assert _facts(tmp_path, clock).known("lists", bool, seconds=WEEK) == (False, 60)


def test_where_no_answers_are_stored_nothing_is_known_and_nothing_is_stored(tmp_path: Path) -> None:
    _facts(tmp_path, Clock()).keep("row cap", 1_000.0)
    without = KeptFacts(StoredFacts(tmp_path, "p"), CacheSettings(megabytes=0), Clock())
    assert without.known("row cap", float, seconds=WEEK) is None
    without.keep("lists", value=False)
    assert {*StoredFacts(tmp_path, "p").load()} == {"row cap"}


class Watched(StoredFacts):
    """Counts what is done, and stores nothing while it is full."""

    is_full = False
    loaded = saved = 0

    def load(self) -> Mapping[str, tuple[float, Fact]]:
        """Return what is stored."""
        self.loaded += 1
        return super().load()

    def save(self, facts: Mapping[str, tuple[float, Fact]]) -> None:
        """Store facts, if there is room."""
        self.saved += 1
        if not self.is_full:
            super().save(facts)


def test_facts_are_forgotten_by_one_reading_and_one_writing_of_their_file(tmp_path: Path) -> None:
    clock = Clock()
    storage = Watched(tmp_path, "p")
    for name in ("graph lists", "row cap of x", "engine"):
        _facts(tmp_path, clock).keep(name, value=False)
    KeptFacts(storage, CacheSettings(), clock).forget("graph ", "row cap")
    assert (storage.loaded, storage.saved) == (1, 1)
    assert {*storage.load()} == {"engine", FORGOTTEN}


def test_what_is_forgotten_stays_so_where_the_file_cannot_be_written_and_is_removed_once_it_can(tmp_path: Path) -> None:
    clock = Clock()
    storage = Watched(tmp_path, "p")
    kept = KeptFacts(storage, CacheSettings(), clock)
    kept.keep("graph lists", value=False)
    storage.is_full = True
    kept.forget("graph ")
    clock.now += 1
    kept.keep("engine", ("oxigraph",))
    assert kept.known("graph lists", bool) is None
    assert {*storage.load()} == {"graph lists"}
    storage.is_full = False
    kept.keep("graph expressions", value=True)
    assert kept.known("graph expressions", bool) == (True, 0)
    stored = storage.load()
    assert {*stored} == {"graph expressions", FORGOTTEN}
    assert stored[FORGOTTEN] == (clock.now - 1, True)


def test_when_facts_were_forgotten_is_kept_longer_than_any_fact(tmp_path: Path) -> None:
    clock = Clock()
    StoredFacts(tmp_path, "p").save(
        {FORGOTTEN: (0.0, True)} | {f"{number}": (1.0 + number, True) for number in range(MOST_FACTS - 1)}
    )
    clock.now += MOST_FACTS
    _facts(tmp_path, clock).keep("new", value=True)
    assert StoredFacts(tmp_path, "p").load().keys() >= {FORGOTTEN, "new"}


def test_a_fact_from_the_future_is_not_believed(tmp_path: Path) -> None:
    clock = Clock()
    _facts(tmp_path, clock).keep("lists", value=False)
    clock.now -= 1
    assert _facts(tmp_path, clock).known("lists", bool, seconds=WEEK) is None


def test_facts_of_several_processes_stand_beside_each_other(tmp_path: Path) -> None:
    clock = Clock()
    here, there = _facts(tmp_path, clock), _facts(tmp_path, clock)
    assert here.known("a", bool) is there.known("b", bool) is None
    here.keep("a", value=True)
    there.keep("b", value=("x", "y"))
    assert _facts(tmp_path, clock).known("a", bool) == (True, 0)
    assert _facts(tmp_path, clock).known("b", tuple) == (("x", "y"), 0)


def test_a_fact_of_another_kind_or_profile_is_not_known(tmp_path: Path) -> None:
    clock = Clock()
    _facts(tmp_path, clock).keep("a", value="text")
    assert _facts(tmp_path, clock).known("a", bool) is None
    assert _facts(tmp_path, clock, "another").known("a", str) is None


def test_no_more_than_some_facts_are_kept_and_those_the_last_ones(tmp_path: Path) -> None:
    clock = Clock()
    StoredFacts(tmp_path, "p").save({f"{number}": (float(number), True) for number in range(MOST_FACTS)})
    _facts(tmp_path, clock).keep("new", value=True)
    stored = StoredFacts(tmp_path, "p").load()
    assert len(stored) == MOST_FACTS
    assert "new" in stored
    assert "0" not in stored


@pytest.mark.parametrize("text", ["", "{", '{"format": 6, "profile": "p", "facts": {"a": 1}}', "[" * 100_000])
def test_a_file_that_cannot_be_read_costs_no_call(text: str, tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text(text)
    facts = _facts(tmp_path, Clock())
    assert facts.known("a", bool) is None
    facts.keep("a", value=True)
    assert _facts(tmp_path, Clock()).known("a", bool) is not None
