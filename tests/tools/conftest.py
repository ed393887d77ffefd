"""A gateway over a file that a test writes."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.small import HEADER, ROOM

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
"""Opens a gateway over Turtle, with the prefixes of `tests.small`; under a profile, if one is given."""


@pytest.fixture
def over_file(tmp_path: Path) -> Open:
    def opened(turtle: str, profile: Profile | None = None) -> AbstractAsyncContextManager[Gateway]:
        path = tmp_path / "graph.ttl"
        path.write_text(HEADER + turtle, encoding="utf-8")
        return open_gateway(path, profile=profile or Profile(size=ROOM))

    return opened
