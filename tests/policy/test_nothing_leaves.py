"""Under a policy, every answer is that over the graph without what is hidden, to the byte."""

import random
import tempfile
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.settings.profile import ShapeName
from tests.examples import examples
from tests.policy.asking import Finding, drawn_questions, findings, two_clients
from tests.policy.drawn_graph import drawn_graph

pytestmark = pytest.mark.slow

_QUESTIONS = 12
"""For each graph; `make policy` asks 2,000 in all."""


async def asked_about(
    seed: int, shape: ShapeName, questions: int, *, over_http: bool = False, hides: bool = True
) -> list[Finding]:
    """Draw a graph and questions, and return what is wrong with the answers; over HTTP the client has a token."""
    graph = drawn_graph(seed)
    with tempfile.TemporaryDirectory() as folder:
        async with two_clients(graph, Path(folder), shape, over_http=over_http, hides=hides) as (asked, expected):
            drawn = drawn_questions(graph, random.Random(seed), questions)  # noqa: S311 - questions, no secret
            return await findings(asked, expected, drawn)


@settings(max_examples=examples(10))
@given(st.integers(0, 1_000_000), st.sampled_from(("compact", "reference")))
def test_what_is_hidden_is_in_no_byte_of_any_answer(seed: int, shape: ShapeName) -> None:
    assert not anyio.run(asked_about, seed, shape, _QUESTIONS)


@pytest.mark.anyio
async def test_a_token_for_the_graph_under_a_policy_is_told_nothing_of_the_whole_one() -> None:
    assert not await asked_about(41, "compact", 40, over_http=True)


@pytest.mark.anyio
async def test_a_server_that_hides_nothing_is_found_by_its_bytes_and_by_the_hidden_words() -> None:
    found = await asked_about(41, "compact", 40, hides=False)
    assert any(one.words for one in found)
    assert any(not one.words for one in found)
