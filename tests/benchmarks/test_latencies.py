import pytest

from benchmarks.latencies import Latencies


def test_a_percentile_is_one_of_the_calls() -> None:
    latencies = Latencies([float(number) for number in range(100, 0, -1)])
    assert (latencies.p50, latencies.p99, latencies.percentile(1), latencies.percentile(0)) == (50, 99, 100, 1)
    assert Latencies([7.0]).p50 == Latencies([7.0]).p99 == 7.0


def test_no_calls_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no call has ended"):
        _ = Latencies().p50


def test_a_call_that_fails_is_not_among_the_latencies() -> None:
    latencies = Latencies()
    with latencies.timed():
        pass
    with pytest.raises(KeyError), latencies.timed():
        raise KeyError
    assert len(latencies.seconds) == 1
