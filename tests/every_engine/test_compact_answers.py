"""On every engine, compact answers and their pages say what the reference shape says, by a decoder of their own."""

import random

import jsonschema
import pytest

from gateway.server.tools import published
from gateway.settings.profile import Profile
from tests.answers.compact_decoder import Json, compared
from tests.columns import Column
from tests.examples import examples
from tests.graphs import existing_nodes

pytestmark = pytest.mark.anyio

_QUESTIONS = 60

_VALIDATORS = {
    tool.name: jsonschema.Draft202012Validator(tool.output_schema or {})
    for tool in published(None, "compact", explain=False)
}


def validate(tool: str, answer: Json) -> None:
    _VALIDATORS[tool].validate(answer)


@pytest.mark.parametrize("graph", ["medical", "films"])
async def test_compact_answers_and_their_pages_hold_what_the_reference_holds(engine: Column, graph: str) -> None:
    dice = random.Random(graph)  # noqa: S311 - test data, not a secret
    nodes = existing_nodes(engine.files[graph][0])
    pages = 0
    async with engine.open(graph, Profile()) as gateway:
        for _ in range(examples(_QUESTIONS)):
            pages += await compared(gateway, nodes, dice, validate)
    assert pages > examples(_QUESTIONS)
