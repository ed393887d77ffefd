"""The wires and the eras over which a server is spoken to."""

from typing import Literal

import pytest
from mcp.client.client import ConnectMode


@pytest.fixture(params=["stdio", "http"])
def wire(request: pytest.FixtureRequest) -> Literal["stdio", "http"]:
    """Connect over both wires."""
    chosen: Literal["stdio", "http"] = request.param
    return chosen


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> ConnectMode:
    """Connect in the modern era and by the handshake."""
    mode: ConnectMode = request.param
    return mode
