"""A few rounds of each fuzz target."""

import random

import pytest

from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", range(4))
async def test_hostile_input_does_no_harm(target: str, number: int) -> None:
    assert await TARGETS[target](random.Random(f"7 {target} {number}")) == []  # noqa: S311 - seeded
