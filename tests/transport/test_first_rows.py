"""The first rows of an answer in order: which are kept, and whether sorting ends when nobody waits for them."""

import random
import sys
from collections.abc import Sequence

import pytest

from gateway.errors import DeadlinePassed, EndpointFault
from gateway.graph.call import deadline_passed
from gateway.transport.base import TextRow, TextRows
from gateway.transport.first_rows import FirstRows


def nothing() -> None:
    """Go on."""


def found(rows: Sequence[TextRow], max_bytes: int) -> TextRows:
    first = FirstRows(max_bytes, nothing)
    for row in rows:
        first.add(row)
    return first.found()


def size(rows: Sequence[TextRow]) -> int:
    return sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row)) for row in rows)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_rows_are_kept_with_all_rows_of_each_text(seed: int) -> None:
    drawn = random.Random(seed)  # noqa: S311 - drawn rows, no secret
    rows = [(f"n{drawn.randrange(300):03}", f"name {number}") for number in range(1_000)]
    kept = found(rows, size(rows) // drawn.choice([2, 5, 20]))
    assert (kept.total, kept.are_more) == (1_000, True)
    last = kept.rows[-1][0]
    assert kept.rows == sorted((row for row in rows if row[0] <= last), key=lambda row: row[0])
    assert len(kept.rows) < 1_000
    assert found(rows, size(rows)) == TextRows(sorted(rows, key=lambda row: row[0]), 1_000)


def test_rows_never_take_more_memory_than_they_may() -> None:
    rows = [(f"n{number:04}", "name") for number in range(2_000)]
    room = size(rows[:100])
    for order in (rows, rows[::-1], sorted(rows, key=lambda row: row[0][::-1])):
        kept = found(order, room)
        assert room // 2 - size(rows[:1]) <= size(kept.rows) <= room


def test_more_rows_of_one_text_than_there_is_room_for_are_a_fault() -> None:
    with pytest.raises(EndpointFault, match="The texts of one entity are more"):
        found([("a", f"name {number}") for number in range(100)], 1_000)


def test_sorting_ends_when_nobody_waits_for_the_rows() -> None:
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks == 8:
            raise deadline_passed()

    first = FirstRows(1 << 30, look)
    for number in range(50_000):
        first.add((str(number * 7_919 % 50_000),))
    assert looks == 0
    # Five parts are sorted, and then merged in five.
    with pytest.raises(DeadlinePassed):
        first.found()
    looks = 8
    assert [row for (row,) in first.found().rows] == sorted(map(str, range(50_000)))
    assert looks == 8 + 10
