"""The short form of `make sidecar`."""

from pathlib import Path

import pytest

from gateway import resources
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.sidecar.__main__ import is_good
from tests.sidecar.session import run_session

pytestmark = [pytest.mark.anyio, pytest.mark.server]


async def test_either_half_recovers_from_the_death_of_the_other_and_no_answer_is_wrong(tmp_path: Path) -> None:
    graph = resources.folder("fixtures") / "medical.ttl"
    said: list[str] = []
    try:
        outcome = await run_session(tmp_path, graph, seconds=0.5, say=said.append)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert outcome.wrong == []
    assert is_good(outcome), said
    assert outcome.starts == {"fuseki": 2, "gateway": 2}
    red = {phase.name: phase.seconds_to_red is not None for phase in outcome.phases}
    assert red == {
        "both run": False,
        "kill -9 of Fuseki": True,
        "SIGSTOP of Fuseki": True,
        "kill -9 of the gateway": False,
    }
