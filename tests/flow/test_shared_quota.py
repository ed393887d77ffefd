"""One quota of an endpoint for processes on several machines, which share it in a Valkey."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import QuotaSpent
from gateway.flow.quota import Quota
from gateway.flow.quota_state import MemoryStorage, QuotaState, QuotaStorage, read_state, strictest, written
from gateway.flow.shared_quota import SharedQuota
from gateway.graph.call import Deadline
from gateway.settings.endpoint import QuotaSettings
from gateway.settings.limits import SharedCacheServer
from tests.servers.loopback import free_port
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.valkey import ValkeyServer, running_valkey

pytestmark = pytest.mark.anyio

SETTINGS: Final = QuotaSettings(
    query_seconds_per_minute=60, query_seconds_burst=120, errors_per_minute=3, errors_burst=6, time_limit_seconds=60
)
CLIENT: Final = "quota-0123456789abcdef"
NOW: Final = 1_000_000.0


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    try:
        with running_valkey(tmp_path_factory.mktemp("quota")) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


@dataclass
class Machine:
    """One machine that counts; its clock of rests after failures goes on when it is told to."""

    url: str
    client: str = CLIENT
    now: float = 0.0

    def __post_init__(self) -> None:
        self.quota = Quota(SETTINGS, storage=self._storage, clock=lambda: NOW)

    def _storage(self, state: QuotaState) -> QuotaStorage:
        return SharedQuota(SharedCacheServer(self.url), self.client, MemoryStorage(state), lambda: self.now)

    @property
    def wait(self) -> float:
        """Seconds until it may send a request."""
        return self.quota.seconds_to_wait()

    def use_up(self) -> None:
        """Count as many errors as a client may save up."""
        for _ in range(6):
            self.quota.charge_error()


@pytest.mark.server
async def test_what_one_machine_used_up_the_other_waits_for(valkey: ValkeyServer) -> None:
    one, other = Machine(valkey.url, "a"), Machine(valkey.url, "a")
    assert other.wait == 0
    one.use_up()
    assert one.wait == other.wait > 0
    with pytest.raises(QuotaSpent):
        other.quota.check(Deadline.after(1))


@pytest.mark.server
async def test_a_machine_counts_alone_while_the_server_is_away_and_as_strictly_as_both_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    try:
        with running_valkey(tmp_path, port) as server:
            one, other = Machine(server.url), Machine(server.url)
            one.quota.charge_error()
            assert other.wait == 0
    except ServerUnavailable as error:
        skip_or_fail(error)
    one.use_up()
    assert one.wait > 0
    assert other.wait == 0
    with running_valkey(tmp_path, port) as server:
        Machine(server.url).quota.charge_error()
        one.now = 60
        one.quota.charge_error()
        assert Machine(server.url).wait == one.wait > 0
    alone = "this machine counts alone what it asks of the endpoint"
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        alone,
        alone,
        "the quota of the endpoint is shared between machines again",
    ]


@pytest.mark.server
async def test_a_lock_of_a_process_that_died_blocks_nobody(valkey: ValkeyServer) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        client.set("bfsql:b:lock", "of a process that died", px=60_000)
    one = Machine(valkey.url, "b")
    one.use_up()
    assert one.wait > 0


@pytest.mark.server
@pytest.mark.parametrize("content", ["", "{}", "[]", "null", '{"at": "now"}', "9" * 5_000, "[" * 5_000])
async def test_what_is_no_state_is_as_if_nothing_were_there(valkey: ValkeyServer, content: str) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        client.set("bfsql:c", content)
    one = Machine(valkey.url, "c")
    assert one.wait == 0
    one.use_up()
    assert Machine(valkey.url, "c").wait > 0


figures = st.floats(-1e9, 1e9, allow_nan=False)
states = st.builds(
    QuotaState,
    at=figures,
    query_seconds=figures,
    errors=figures,
    closed_until=figures,
    banned=st.booleans(),
    overloads=st.integers(0, 10),
    given_up=st.lists(figures, max_size=4).map(sorted),
)


@given(states)
def test_a_state_is_read_as_it_was_written(state: QuotaState) -> None:
    assert read_state(written(state)) == state


@given(states, states)
def test_of_two_states_the_strictest_grants_no_more_than_either(one: QuotaState, other: QuotaState) -> None:
    both = strictest(one, other)
    for each in (one, other):
        assert both.query_seconds <= each.query_seconds
        assert both.errors <= each.errors
        assert both.closed_until >= each.closed_until
        assert set(both.given_up) >= set(each.given_up)
    assert strictest(other, one) == both
