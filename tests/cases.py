"""Many cases in one test, where a test for each would cost more than the case; every case that fails is named."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

_Case = TypeVar("_Case")


def check_each(cases: Iterable[_Case], check: Callable[[_Case], object]) -> None:
    """Check every case, whether others fail or not.

    Raises:
        ExceptionGroup: Some cases failed. It has the error of each, with the case as a note.
        AssertionError: There are no cases.
    """
    count, failed = 0, []
    for case in cases:
        count += 1
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised again with those of other cases
            error.add_note(f"case: {case!r}")
            failed.append(error)
    assert count, "no cases"
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of {count} cases fail", failed)
