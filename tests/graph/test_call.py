"""What a part of a call spends is spent, and what it leaves is there again for the rest."""

import pytest

from gateway.errors import BudgetSpent
from gateway.graph.call import Call, Deadline


def call(requests: int = 10, rows: int = 100) -> Call:
    return Call(Deadline.after(60), requests, rows, 1_000)


def test_a_part_spends_what_it_was_given_and_no_more() -> None:
    whole = call()
    with whole.part(requests=2, rows=30) as part:
        part.spend_request()
        part.spend_request()
        with pytest.raises(BudgetSpent):
            part.spend_request()
        part.spend_rows(50)
        with pytest.raises(BudgetSpent):
            part.spend_rows(1)
    assert (whole.requests, whole.rows, whole.sent) == (8, 50, 2)


def test_the_rest_of_a_call_cannot_spend_what_a_part_was_given_until_that_is_over() -> None:
    whole = call()
    with whole.part(requests=4, rows=40) as part:
        assert (whole.requests, whole.rows) == (6, 60)
        whole.spend_request()
        whole.spend_rows(10)
        part.spend_request()
    assert (whole.requests, whole.rows, whole.sent) == (8, 90, 2)


def test_what_a_failed_part_leaves_comes_back() -> None:
    whole = call()

    def fail() -> None:
        with whole.part(requests=4, rows=40) as part:
            part.spend_request()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (whole.requests, whole.rows, whole.sent) == (9, 100, 1)
