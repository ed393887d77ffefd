"""The short form of `make sidecar`, and its verdicts: an answer that is changed in any part is found."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from gateway import resources
from gateway.api import open_gateway
from tests.harness.report import Verdict
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.sidecar.session import Question, run_session, verdict

pytestmark = pytest.mark.anyio


@pytest.mark.server
async def test_either_half_recovers_from_the_death_of_the_other_and_no_answer_is_wrong(tmp_path: Path) -> None:
    graph = resources.folder("fixtures") / "medical.ttl"
    said: list[str] = []
    try:
        outcome = await run_session(tmp_path, graph, seconds=0.5, say=said.append)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert outcome.wrong == []
    assert outcome.passed, said
    assert outcome.starts == {"fuseki": 2, "gateway": 2}
    red = {phase.name: phase.seconds_to_red is not None for phase in outcome.phases}
    assert red == {
        "both run": False,
        "kill -9 of Fuseki": True,
        "SIGSTOP of Fuseki": True,
        "kill -9 of the gateway": False,
    }


SEED = "drug:warfarin"
NEAR: Question = ("bfs_query", {"seeds": [SEED], "max_hops": 1})
COMMON: Question = ("intersect_subgraphs", {"seeds": [SEED, "drug:glibenclamide"], "k": 1, "topology_only": True})
SEVERAL: Question = ("describe_entities", {"ids": [SEED, "drug:glibenclamide", "drug:nope"]})

Json = dict[str, Any]


def without(key: str) -> Callable[[Json], object]:
    return lambda answer: answer[key].pop()


def another(key: str, field: str) -> Callable[[Json], object]:
    return lambda answer: answer[key][-1].update({field: "drug:other"})


def in_part(answer: Json) -> None:
    answer["complete"] = False
    answer["edges"].pop()


def in_part_with_a_stranger(answer: Json) -> None:
    in_part(answer)
    answer["nodes"][-1]["id"] = "drug:other"


def degraded(answer: Json) -> None:
    answer["degraded"] = {"metadata_failed": 1}
    del answer["nodes"][-1]["metadata"]


def degraded_without_an_edge(answer: Json) -> None:
    degraded(answer)
    answer["edges"].pop()


def denied(answer: Json) -> None:
    answer["not_found"].append(answer["result"].pop()["id"])


CASES: list[tuple[Question, Callable[[Json], object], Verdict]] = [
    *((question, lambda _: None, Verdict.RIGHT) for question in (NEAR, COMMON, SEVERAL)),
    *((question, without(key), Verdict.WRONG) for question in (NEAR, COMMON) for key in ("nodes", "edges")),
    (NEAR, another("nodes", "entity_type"), Verdict.WRONG),
    (NEAR, another("edges", "object"), Verdict.WRONG),
    (COMMON, another("nodes", "id"), Verdict.WRONG),
    (NEAR, in_part, Verdict.MARKED),
    (NEAR, in_part_with_a_stranger, Verdict.WRONG),
    (NEAR, degraded, Verdict.MARKED),
    (NEAR, degraded_without_an_edge, Verdict.WRONG),
    (SEVERAL, without("result"), Verdict.WRONG),
    (SEVERAL, without("not_found"), Verdict.WRONG),
    (SEVERAL, another("result", "entity_type"), Verdict.WRONG),
    (SEVERAL, another("result", "metadata"), Verdict.WRONG),
    (SEVERAL, denied, Verdict.WRONG),
]


@pytest.mark.parametrize(("question", "change", "deserved"), CASES)
async def test_each_answer_gets_the_verdict_that_it_deserves(
    question: Question, change: Callable[[Json], object], deserved: Verdict
) -> None:
    async with open_gateway(resources.folder("fixtures") / "medical.ttl") as oracle:
        tool, arguments = question
        answer = deepcopy((await oracle.call(tool, arguments)).as_json())
        change(answer)
        assert await verdict(question, answer, oracle) == deserved
