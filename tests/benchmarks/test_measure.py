import pytest

from benchmarks.contenders.base import NO_ANSWER, Run, Size, WrongAnswerError
from benchmarks.measure import Sample, Samples, area_under_curve, interleaved, median_difference, median_ratio

pytestmark = pytest.mark.anyio

RIGHT = Size(3, 2)


def runner(log: list[str], name: str, answer: Size = RIGHT) -> Run:
    async def run() -> Size:
        log.append(name)
        return answer

    return run


def samples(*seconds: float) -> Samples:
    return Samples(tuple(Sample(one, one / 2) for one in seconds))


async def test_contenders_take_turns_and_every_other_round_goes_backwards() -> None:
    log: list[str] = []
    found = await interleaved({"a": runner(log, "a"), "b": runner(log, "b")}, 3)
    assert "".join(log) == "ba" + "ab" + "ba" + "ab"
    assert {name: len(one.runs) for name, one in found.items()} == {"a": 3, "b": 3}


async def test_what_is_to_be_done_before_each_run_is_done() -> None:
    log: list[str] = []
    await interleaved({"a": runner(log, "a"), "b": runner(log, "b")}, 1, before=lambda: log.append("-"))
    assert "".join(log) == "-b-a" + "-a-b"


async def test_a_slow_contender_runs_once_among_the_rounds() -> None:
    log: list[str] = []
    found = await interleaved({"a": runner(log, "a"), "slow": runner(log, "s")}, 3, once=["slow"])
    assert "".join(log) == "a" + "a" + "sa" + "a"
    assert len(found["slow"].runs) == 1


async def test_a_contender_with_another_answer_ends_the_race() -> None:
    log: list[str] = []
    contenders = {"a": runner(log, "a"), "wrong": runner(log, "w", Size(3, 1))}
    with pytest.raises(WrongAnswerError, match=r"wrong: .*edges=1.* is right"):
        await interleaved(contenders, 3, size=RIGHT)


async def test_a_contender_that_makes_no_answer_is_not_asked_for_one() -> None:
    found = await interleaved({"bare": runner([], "bare", NO_ANSWER)}, 1, size=RIGHT)
    assert len(found["bare"].runs) == 1


def test_ratio_and_difference_compare_runs_that_stood_next_to_each_other() -> None:
    # The machine was three times slower in the last round: that is nobody's fault.
    ours, theirs = samples(2, 2.2, 6), samples(1, 1, 3)
    assert median_ratio(ours, theirs) == 2
    assert median_difference(ours, theirs) == pytest.approx(1.2)
    assert ours.seconds == 2.2
    assert ours.cpu_seconds == 1.1


def test_the_ratio_to_a_contender_that_ran_once_is_that_of_the_medians() -> None:
    assert median_ratio(samples(1, 2, 3), samples(100)) == 0.02


def test_the_area_under_the_curve_is_how_often_the_one_is_larger() -> None:
    assert area_under_curve([2, 3], [1, 1, 1]) == 1
    assert area_under_curve([1], [2]) == 0
    assert area_under_curve([1, 2, 3], [3, 2, 1]) == 0.5
    assert area_under_curve([2, 4], [2, 3]) == 0.625
