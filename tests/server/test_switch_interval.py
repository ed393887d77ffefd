"""Threads of a server let each other compute often, and those of a program that only uses the gateway as before."""

import sys

import pytest

from gateway.server.interpreter import SECONDS, short_switch_interval

pytestmark = pytest.mark.anyio


async def test_threads_switch_often_while_a_server_runs_and_as_before_afterwards() -> None:
    before = sys.getswitchinterval()
    async with short_switch_interval():
        assert sys.getswitchinterval() == pytest.approx(min(before, SECONDS), rel=0.1)
    assert sys.getswitchinterval() == pytest.approx(before)


async def test_an_interval_that_is_shorter_already_stays() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SECONDS / 5)
    try:
        async with short_switch_interval():
            assert sys.getswitchinterval() == pytest.approx(SECONDS / 5, rel=0.1)
    finally:
        sys.setswitchinterval(before)
