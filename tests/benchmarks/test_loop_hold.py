import asyncio
from functools import partial

from benchmarks.loop_hold import LONG, Holds, timed_loop


def test_a_pass_is_counted_with_all_that_ran_in_it() -> None:
    holds = Holds()

    async def work() -> None:
        await asyncio.sleep(0)
        holds.clear()
        sum(range(3_000_000))
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=partial(timed_loop, holds)) as runner:
        runner.run(work())
    assert holds.passes >= 1
    assert 0 < holds.longest <= holds.total
    assert holds.long == [seconds for seconds in holds.long if seconds > LONG]


def test_waiting_holds_nothing() -> None:
    holds = Holds()

    async def wait() -> None:
        await asyncio.to_thread(sum, range(5_000_000))

    with asyncio.Runner(loop_factory=partial(timed_loop, holds)) as runner:
        runner.run(asyncio.sleep(0))
        holds.clear()
        before = runner.get_loop().time()
        runner.run(wait())
        waited = runner.get_loop().time() - before
    assert holds.total < waited


def test_the_longest_pass_is_kept_and_long_ones_are_listed() -> None:
    holds = Holds()
    for seconds in (0.001, 3 * LONG, 2 * LONG):
        holds.add(seconds)
    assert (holds.longest, holds.long, holds.passes) == (3 * LONG, [3 * LONG, 2 * LONG], 3)
    holds.clear()
    assert holds == Holds()
