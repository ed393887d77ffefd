"""The order in which workers run tests."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

import pytest

_SLOW: Final = ("server", "large")


def for_workers(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return tests in such an order that no worker waits long for another at the end.

    With `--dist worksteal` each worker starts with a contiguous part of the tests, all parts being of one length. A
    worker that has run its part takes over the second half of what another has left. So each part begins with slow
    tests and ends with quick ones. Slow tests of one module and engine, which share fixtures, stay together.
    """
    slow = [list(group) for _, group in groupby(filter(_is_slow, items), _module_and_engine)]
    quick = [item for item in items if not _is_slow(item)]
    order: list[pytest.Item] = []
    for worker in range(workers):
        part = _joined(slow[worker::workers])
        room = max(0, (len(items) - len(order)) // (workers - worker) - len(part))
        order += [*part, *quick[:room]]
        del quick[:room]
    return order + quick


def _joined(groups: Iterable[Sequence[pytest.Item]]) -> list[pytest.Item]:
    return [item for group in groups for item in group]


def _is_slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in _SLOW)


def _module_and_engine(item: pytest.Item) -> tuple[object, object]:
    call = getattr(item, "callspec", None)
    return item.path, call and call.params.get("engine")
