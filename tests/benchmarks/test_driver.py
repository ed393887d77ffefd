"""A gateway that is asked from outside of its process, as the other checkout of a comparison is."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import driver
from benchmarks.driver import digest
from benchmarks.questions import WD, WDT
from tests.servers.cache import CHECKOUT
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

EDGES = [(f"{WD}Q{s}", f"{WDT}P{p}", f"{WD}Q{o}") for s, p, o in ((1, 10, 2), (3, 10, 1), (2, 11, 4), (4, 10, 5))]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("driver")
    graph: Path = folder / "small.nt"
    graph.write_text("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in EDGES), encoding="utf-8")
    try:
        with running_oxigraph([graph], workdir=folder) as server:
            yield server.endpoint
    except ServerUnavailable as error:
        skip_or_fail(error)


def asked(endpoint: str, folder: Path, *questions: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    # Our own interpreter and module.
    return subprocess.run(  # noqa: S603
        [sys.executable, "-P", driver.__file__, endpoint],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        input="".join(f"{json.dumps(question)}\n" for question in questions),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.server
def test_a_driver_answers_each_line_with_the_size_of_the_answer_and_its_time(endpoint: str) -> None:
    question = {"seeds": [f"{WD}Q1"], "hops": 2}
    done = asked(endpoint, CHECKOUT, *({"kind": kind, **question} for kind in ("answer", "topology", "edges")))
    answers = [*map(json.loads, done.stdout.splitlines())]
    assert [(one["nodes"], one["edges"], one["complete"]) for one in answers] == [(4, 3, True)] * 3
    assert answers[2]["digest"] == digest(EDGES[:3])
    assert min(one["seconds"] for one in answers) > 0


@pytest.mark.process
def test_a_driver_refuses_to_measure_the_gateway_of_another_folder(tmp_path: Path) -> None:
    done = asked("http://127.0.0.1:9/", tmp_path)
    assert done.returncode == 1
    assert "not that of" in done.stderr
