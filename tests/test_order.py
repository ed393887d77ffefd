"""What `tests/order.py` promises, with tests that are made up."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.order import for_workers


def made_up(name: str, *, slow: bool, engine: str = "") -> pytest.Item:
    """Return what the order asks of a test."""
    item = SimpleNamespace(
        path=Path(name[0]),
        name=name,
        callspec=SimpleNamespace(params={"engine": engine}),
        get_closest_marker=lambda marker: slow and marker == "server",
    )
    return cast("pytest.Item", item)


def names(items: list[pytest.Item]) -> str:
    return " ".join(item.name for item in items)


def test_each_worker_begins_with_slow_tests_of_a_module_and_engine_and_ends_with_quick_ones() -> None:
    slow = [made_up(f"{name}", slow=True, engine=name[1]) for name in ("ax1", "ax2", "ay1", "bx1", "bx2", "cx1")]
    quick = [made_up(f"q{number}", slow=False) for number in range(9)]
    mixed = [*quick[:3], *slow, *quick[3:]]
    assert names(for_workers(mixed, 3)) == "q0 q1 q2 q3 q4 ax1 ax2 bx1 bx2 q5 ay1 cx1 q6 q7 q8"
    assert names(for_workers(mixed, 1)) == names([*slow, *quick])


def test_the_first_worker_asks_blazegraph_which_mostly_waits_while_others_compute() -> None:
    engines = {"a": "oxigraph", "b": "blazegraph", "c": "virtuoso", "d": "blazegraph", "e": "fuseki"}
    slow = [made_up(f"{name}{number}", slow=True, engine=engines[name]) for name in engines for number in (1, 2)]
    quick = [made_up(f"q{number}", slow=False) for number in range(5)]
    assert names(for_workers([*slow, *quick], 3)) == "b1 b2 d1 d2 q0 a1 a2 e1 e2 q1 c1 c2 q2 q3 q4"
    assert names(for_workers([*slow, *quick], 1)) == names([*slow, *quick])


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_every_test_comes_once(workers: int) -> None:
    tests = [made_up(f"{number % 5}{number}", slow=number % 3 == 0) for number in range(40)]
    assert sorted(map(id, for_workers(tests, workers))) == sorted(map(id, tests))
    assert for_workers([], workers) == []
