"""What the tests of throttling share."""

import asyncio
from collections.abc import Callable

import pytest

from tests.throttling.service import VirtualTimeLoop


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Callable[[], asyncio.AbstractEventLoop]]]:
    """Run on a loop whose time passes only while nothing else is to be done."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}
