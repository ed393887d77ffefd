"""The model of a quota: never more generous than the service, and shared between processes."""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.api import load_profile
from gateway.errors import Banned, Fault, QuotaSpent, Throttled
from gateway.flow.quota import Quota, banned
from gateway.flow.quota_state import QuotaFile, QuotaState
from gateway.graph.call import Deadline
from gateway.settings.endpoint import QuotaSettings
from gateway.settings.load import with_contact
from gateway.stores.endpoints import connect
from gateway.transport.response_verdict import Reply
from tests.examples import examples
from tests.throttling.service import Bucket, Refill, VirtualTimeLoop, now

pytestmark = pytest.mark.anyio

WIKIDATA = QuotaSettings(
    query_seconds_per_minute=60,
    query_seconds_burst=120,
    errors_per_minute=30,
    errors_burst=60,
    time_limit_seconds=60,
)


async def ask(quota: Quota, seconds: float, patience: float = 1e9, **how: Any) -> None:
    """Send a request that takes so long."""
    async with quota.charging(Deadline.after(patience, now)) as request:
        await asyncio.sleep(seconds)
        request.answered(failed=how.get("failed", False))


@settings(deadline=None, max_examples=examples(40))
@given(
    requests=st.lists(
        st.tuples(
            st.sampled_from([0.01, 0.5, 3.0, 20.0, 55.0]),
            st.sampled_from([0.0, 0.0, 0.3, 10.0, 70.0]),
            st.sampled_from(["answered", "failed", "given up"]),
        ),
        min_size=5,
        max_size=60,
    ),
    at_once=st.integers(1, 5),
    phase=st.floats(0, 59),
    refill=st.sampled_from(["at one go", "evenly"]),
)
def test_it_never_lets_a_request_pass_that_the_service_would_refuse(
    requests: list[tuple[float, float, str]], at_once: int, phase: float, refill: Refill
) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        quota = Quota(WIKIDATA, clock=now)
        seconds, errors = Bucket(120, 60, refill, phase), Bucket(60, 30, refill, phase)
        slots = asyncio.Semaphore(at_once)

        def charge(took: float, *, failed: bool) -> None:
            seconds.take(took, loop.time())
            errors.take(failed, loop.time())

        async def one(takes: float, pause: float, becomes: str) -> None:
            await asyncio.sleep(pause)
            async with slots, quota.charging(Deadline.after(1e9, now)) as request:
                assert seconds.level(loop.time()) > 0
                assert errors.level(loop.time()) > 0
                if becomes == "given up":
                    # The service goes on to its own limit.
                    loop.call_later(60.0, lambda: charge(60.0, failed=True))
                    await asyncio.sleep(takes)
                    return
                await asyncio.sleep(takes)
                charge(takes, failed=becomes == "failed")
                request.answered(failed=becomes == "failed")

        async with asyncio.TaskGroup() as tasks:
            for request in requests:
                tasks.create_task(one(*request))

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(work())


async def test_a_call_that_cannot_wait_gets_the_time_to_come_back_at_once() -> None:
    quota = Quota(WIKIDATA, clock=now)
    await asyncio.gather(*(ask(quota, 50) for _ in range(4)))
    began = now()
    with pytest.raises(QuotaSpent, match=r"again in 1\d\d s") as caught:
        await ask(quota, 1, patience=30)
    assert now() == began
    await ask(quota, 1, patience=caught.value.retry_after + 0.1)
    assert now() - began == pytest.approx(caught.value.retry_after + 1, abs=0.1)


async def test_a_retry_after_is_taken_for_a_second_more_as_the_service_cuts_its_fraction_off() -> None:
    quota = Quota(WIKIDATA, clock=now)
    quota.obey(Throttled("Fewer.", retry_after=20.0))
    assert quota.seconds_to_wait() == pytest.approx(21.0)


async def test_one_second_that_came_back_is_not_enough_for_all_who_wait() -> None:
    quota = Quota(WIKIDATA, clock=now)
    await asyncio.gather(*(ask(quota, 50) for _ in range(2)))
    began: list[float] = []

    async def note() -> None:
        async with quota.charging(Deadline.after(1e9, now)) as request:
            began.append(now())
            await asyncio.sleep(0.5)
            request.answered(failed=False)

    await asyncio.gather(*(note() for _ in range(4)))
    assert all(later - earlier > 0.2 for earlier, later in itertools.pairwise(began))


async def test_errors_are_counted_too() -> None:
    quota = Quota(WIKIDATA, clock=now)
    for _ in range(30):
        await ask(quota, 0.0, failed=True)
    assert quota.seconds_to_wait() == pytest.approx(2.0)
    quota.charge_error()
    assert quota.seconds_to_wait() == pytest.approx(4.0)


async def test_an_endpoint_that_counts_nothing_is_asked_at_once() -> None:
    quota = Quota(QuotaSettings(), clock=now)
    for _ in range(500):
        await ask(quota, 0.0, failed=True)
    quota.obey(Throttled("Fewer."))
    assert quota.seconds_to_wait() == 0
    assert now() == 0


async def test_a_refusal_that_gives_no_time_is_counted_once_for_all_that_were_under_way() -> None:
    quota = Quota(WIKIDATA, clock=now)
    for _ in range(4):
        quota.obey(Throttled("Overloaded."))
    assert quota.seconds_to_wait() == pytest.approx(5.0)
    await asyncio.sleep(6)
    quota.obey(Throttled("Overloaded."))
    assert quota.seconds_to_wait() == pytest.approx(10.0)
    await ask(quota, 1)
    quota.obey(Throttled("Overloaded."))
    assert quota.seconds_to_wait() == pytest.approx(5.0)


def shared(path: Path) -> Quota:
    return Quota(WIKIDATA, storage=lambda state: QuotaFile(path, state), clock=now)


async def test_processes_of_one_user_share_what_is_left(tmp_path: Path) -> None:
    one, other = shared(tmp_path / "new" / "quota.json"), shared(tmp_path / "new" / "quota.json")
    await asyncio.gather(*(ask(one, 50) for _ in range(4)))
    assert other.seconds_to_wait() == one.seconds_to_wait() > 100
    await asyncio.sleep(10)
    # A process that begins later has a quota that is not full.
    assert shared(tmp_path / "new" / "quota.json").seconds_to_wait() == one.seconds_to_wait() > 100
    one.obey(Banned("Shut out.", retry_after=500.0))
    with pytest.raises(Banned):
        other.check(Deadline.after(55, now))
    assert shared(tmp_path / "new" / "quota.json").seconds_to_wait() == pytest.approx(500.0)


async def test_gateways_to_one_endpoint_that_name_the_same_operator_share_one_quota() -> None:
    def quota_of(contact: str, url: str = "http://127.0.0.1:9/sparql") -> Quota:
        return connect(url, with_contact(load_profile("wikidata"), contact)).flow.quota

    quota_of("ops@example.org").obey(Banned("Shut out.", retry_after=500.0))
    assert quota_of("ops@example.org").seconds_to_wait() == pytest.approx(500.0, abs=60)
    assert quota_of("ops@example.org", "http://127.0.0.1:9/other").seconds_to_wait() > 0
    assert quota_of("other@example.org").seconds_to_wait() == 0
    assert quota_of("ops@example.org", "http://127.0.0.1:8/sparql").seconds_to_wait() == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"at": 0}', b"\xff" * 100, b"[" * 100_000]
    + [
        b'{"at": 0, "query_seconds": %s, "errors": 30, "closed_until": 0, "banned": false, "overloads": 0,'
        b' "given_up": %s}' % each
        for each in ((b"NaN", b"[]"), (b"1e999", b"[]"), (b'"a"', b"[]"), (b"60", b"7"), (b"60", b'["a"]'))
    ],
)
async def test_a_file_that_is_broken_is_no_failure(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "quota.json"
    path.write_bytes(content)
    quota = shared(path)
    assert quota.seconds_to_wait() == 0
    await ask(quota, 50)
    await ask(quota, 50)
    assert QuotaFile(path, QuotaState(0, 60, 30)).read().query_seconds == pytest.approx(10.0)


async def test_a_place_that_cannot_be_written_is_reported_once_and_counted_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    quota = shared(tmp_path / "file" / "quota.json")
    await asyncio.gather(*(ask(quota, 50) for _ in range(4)))
    assert quota.seconds_to_wait() > 100
    assert len(caplog.records) == 1


async def test_a_clock_that_was_set_back_stops_nobody_for_long(tmp_path: Path) -> None:
    path = tmp_path / "quota.json"
    later = QuotaFile(path, QuotaState(0, 60, 30))
    with later.changing() as state:
        state.at, state.query_seconds, state.given_up = 1e6, -20.0, [1e6 + 30]
    quota = shared(path)
    with pytest.raises(Fault):
        quota.check(Deadline.after(5, now))
    await asyncio.sleep(200)
    assert quota.seconds_to_wait() == 0


@pytest.mark.parametrize("fault", [banned(600.0), Throttled("later", retry_after=600.0)], ids=["ban", "pause"])
async def test_a_pause_is_reported_by_its_own_name_though_time_goes_on_while_it_is_read(fault: Fault) -> None:
    ticks = itertools.count(1_000_000)
    quota = Quota(WIKIDATA, clock=lambda: next(ticks) / 1000)
    quota.obey(fault)
    with pytest.raises(Fault) as caught:
        quota.check(Deadline.after(30, lambda: 0.0))
    assert type(caught.value) is type(fault)


async def test_a_clock_that_was_ahead_for_a_while_shuts_nobody_out(tmp_path: Path) -> None:
    year = 365 * 86_400.0
    time = year

    def storage(state: QuotaState) -> QuotaFile:
        return QuotaFile(tmp_path / "quota.json", state)

    ahead = Quota(WIKIDATA, storage=storage, clock=lambda: time)
    ahead.obey(Throttled("later", retry_after=10.0))
    time = 1_000.0
    corrected = Quota(WIKIDATA, storage=storage, clock=lambda: time)
    assert 0 < corrected.seconds_to_wait() <= 11
    time += 12
    assert corrected.seconds_to_wait() == 0


DAY = 86_400.0

figures: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([0, 1, -1, 60, 1e3, -1e3, 1e9, -1e9, 2e11, 253_402_300_799, 1e12, -1e12, 1e300, -1e300, 10**400]),
    st.sampled_from([float("nan"), float("inf"), float("-inf"), True, "60", "9999-12-31T23:59:59Z", None, [], {}]),
    st.floats(-1e10, 1e10),
)
contents = st.fixed_dictionaries(
    {
        "at": figures,
        "query_seconds": figures,
        "errors": figures,
        "closed_until": figures,
        "banned": st.one_of(st.booleans(), figures),
        "overloads": figures,
        "given_up": st.one_of(st.lists(figures, max_size=5), st.lists(st.floats(0, 1e6), max_size=2_000), figures),
    }
)


@settings(max_examples=examples(200), deadline=None)
@given(content=contents)
def test_whatever_is_in_the_file_a_request_may_be_sent_within_two_days(
    content: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("quota") / "quota.json"
    path.write_text(json.dumps(content))
    time = 1_000_000.0

    def quota() -> Quota:
        return Quota(WIKIDATA, storage=lambda state: QuotaFile(path, state), clock=lambda: time)

    assert 0 <= quota().seconds_to_wait() <= DAY
    for _ in range(48):
        time += 3_600
        assert 0 <= quota().seconds_to_wait() <= DAY
    assert quota().seconds_to_wait() == 0
    quota().obey(Throttled("later"))
    assert 0 < quota().seconds_to_wait() <= 300


@pytest.mark.parametrize("end", [b"9999-12-31T23:59:59Z", b"2027-11-22T10:00:00Z"])
async def test_a_ban_ends_after_a_day_whatever_it_says(end: bytes) -> None:
    time = 1_000_000.0
    quota = Quota(WIKIDATA, clock=lambda: time)
    said = b"You have been banned until " + end
    quota.obey(Reply(403, {}, "text/plain", 0).fault(said))
    assert quota.seconds_to_wait() == DAY
    quota.obey(Banned("long", retry_after=1e12))
    time += DAY
    assert quota.seconds_to_wait() == 0


@pytest.mark.parametrize("jump", [-1e9, -3_600.0, 3_600.0, 1e9])
async def test_a_clock_that_jumps_while_a_request_is_under_way_closes_for_a_day_at_most(jump: float) -> None:
    time = 2e9
    quota = Quota(WIKIDATA, clock=lambda: time)
    async with quota.charging(Deadline.after(1e9, now)) as request:
        time += jump
        request.answered(failed=True)
    assert quota.seconds_to_wait() <= DAY
    time += DAY
    assert quota.seconds_to_wait() == 0
    assert quota.typical_seconds < DAY
