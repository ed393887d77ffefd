"""The order in which workers run tests."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count, groupby
from typing import Final

import pytest

_SLOW: Final = ("server", "large")

_WAITING: Final = "blazegraph"
"""The engine whose tests mostly wait: it polls for the end of its rows (docs/notes/blazegraph.md, "Running it")."""


def for_workers(items: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return tests in such an order that processors have work and no worker waits long for another at the end.

    With `--dist worksteal` each worker starts with a contiguous part of the tests, all parts being of one length. A
    worker that has run its part takes over the second half of what another has left. So each part begins with slow
    tests and ends with quick ones. Slow tests of one module and engine, which share fixtures, stay together. The tests
    that mostly wait are those of the first worker, so that others compute at the same time.
    """
    turns = count()
    slow: defaultdict[int, list[pytest.Item]] = defaultdict(list)
    for (_, engine), group in groupby(filter(_is_slow, items), _module_and_engine):
        first = workers == 1 or engine == _WAITING
        slow[0 if first else 1 + next(turns) % (workers - 1)].extend(group)
    quick = [item for item in items if not _is_slow(item)]
    order: list[pytest.Item] = []
    for worker in range(workers):
        room = max(0, (len(items) - len(order)) // (workers - worker) - len(slow[worker]))
        order += [*slow[worker], *quick[:room]]
        del quick[:room]
    return order + quick


def _is_slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in _SLOW)


def _module_and_engine(item: pytest.Item) -> tuple[object, object]:
    call = getattr(item, "callspec", None)
    return item.path, call and call.params.get("engine")
