"""The sets of drawn questions that the tools know without conditions: the oracle finds the same."""

import random
from pathlib import Path
from typing import Any

import pytest

from gateway.api import open_gateway
from gateway.settings.load import default_profile, load_profile
from gateway.settings.vocabulary import TypeSettings
from tests.small import ROOM
from tests.values.graphs import KINDS, PREFIXES, drawn
from tests.values.judge import Verdict
from tests.values.questions import Question, draw
from tests.values.run import Report, ask
from tests.values.stores import held_in_process
from tests.values.terms import SUBCLASS
from tests.values.walks import Graph

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

_OF_SETS = ("tool", "seeds", "node_types", "max_hops", "k", "only_predicates", "direction")


def _without_conditions(question: Question, graph: Graph) -> Question | None:
    """Return what a question asks about its set, None where that has walks of several steps."""
    plain: dict[str, Any] = {name: question[name] for name in _OF_SETS if name in question}
    entries = [one if isinstance(one, list) else [one] for one in plain.get("only_predicates", ())]
    if any(len(graph.walk(entry)) > 1 for of_place in entries for entry in of_place):
        return None
    if "untyped" in plain.get("node_types", ()):
        return None
    return plain | ({"limit": 100} if plain["tool"] == "search_entities" else {})


@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS)
async def test_sets_without_conditions_are_those_of_the_oracle(number: int, tmp_path: Path) -> None:
    graph = drawn(number)
    held = Graph(held_in_process(graph), PREFIXES)
    dice = random.Random(number)  # noqa: S311 - not for security
    plain = [one for question in draw(graph, dice, 40) if (one := _without_conditions(question, held)) is not None]
    profile = load_profile(default_profile(None)).model_copy(
        update={"size": ROOM, "prefixes": dict(PREFIXES), "types": TypeSettings(subclass_of=(SUBCLASS,))}
    )
    report = Report("files")
    async with open_gateway(graph.write(tmp_path), profile=profile) as gateway:
        await ask(gateway, graph.kind, held, plain, report)
    assert report.findings == []
    assert report.verdicts == {Verdict.RIGHT_COMPLETE: len(plain)}
    assert len(plain) > 10
