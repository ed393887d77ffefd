"""Many cases in one test, where a test for each would cost more than the case; every case that fails is named."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

_Case = TypeVar("_Case")


def check_each(cases: Iterable[_Case], check: Callable[[_Case], object]) -> None:
    """Check every case, whether others fail or not.

    Raises:
        ExceptionGroup: Some cases failed. It has the error of each, with the case as a note.
        AssertionError: There are no cases.
    """
    failures = _Failures()
    for case in cases:
        with failures.of(case):
            check(case)
    failures.report()


async def await_each(cases: Iterable[_Case], check: Callable[[_Case], Awaitable[object]]) -> None:
    """Check every case as `check_each` does, one after the other.

    Raises:
        ExceptionGroup: Some cases failed. It has the error of each, with the case as a note.
        AssertionError: There are no cases.
    """
    failures = _Failures()
    for case in cases:
        with failures.of(case):
            await check(case)
    failures.report()


class _Failures:
    """The errors of the cases that failed."""

    def __init__(self) -> None:
        self._cases = 0
        self._errors: list[BaseException] = []

    @contextmanager
    def of(self, case: object) -> Iterator[None]:
        self._cases += 1
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised again with those of other cases
            error.add_note(f"case: {case!r}")
            self._errors.append(error)

    def report(self) -> None:
        assert self._cases, "no cases"
        if self._errors:
            raise BaseExceptionGroup(f"{len(self._errors)} of {self._cases} cases fail", self._errors)
