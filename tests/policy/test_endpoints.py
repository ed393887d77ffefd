"""Under a policy, an endpoint answers as one without what is hidden, to the byte."""

import random
from collections.abc import Sequence
from typing import get_args

import pytest

from gateway.settings.profile import ShapeName
from tests.policy.asking import Finding, drawn_questions, findings_at_endpoints, two_clients_at
from tests.policy.endpoints import PolicyEngine, served
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.server, pytest.mark.anyio]

_QUESTIONS = 30
"""For each graph; `make policy ENGINE=oxigraph` asks 2,000 in all."""


async def asked_at(engine: PolicyEngine, seeds: Sequence[int], questions: int) -> list[Finding]:
    """Draw graphs and questions, and return what is wrong with the answers."""
    found = []
    with served(engine, seeds) as all_endpoints:
        for seed, endpoints in zip(seeds, all_endpoints, strict=True):
            shape: ShapeName = "compact" if seed % 2 else "reference"
            async with two_clients_at(endpoints.whole, endpoints.left, shape) as (asked, expected):
                drawn = drawn_questions(endpoints.graph, random.Random(seed), questions)  # noqa: S311 - no secret
                found += await findings_at_endpoints(asked, expected, drawn)
    return found


@pytest.mark.parametrize("engine", get_args(PolicyEngine))
async def test_what_is_hidden_is_in_no_byte_of_an_answer_of_an_endpoint(engine: PolicyEngine) -> None:
    try:
        assert not await asked_at(engine, (11, 12), _QUESTIONS)
    except ServerUnavailable as error:
        skip_or_fail(error)
