"""The run over many engines is worth as much as its judgement, its cuts, and its table."""

import json
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.drawn.questions import Question
from tests.engines import odd_iris
from tests.engines.catalogue import ENGINES
from tests.engines.judged import EngineReport, Engines, Judged, Part, Worth, fallen, named, write_table
from tests.engines.run import SHARE, ask, quarter_cut
from tests.faults.reply import Answer
from tests.generated_docs import ROOT
from tests.harness.__main__ import main
from tests.harness.report import Verdict
from tests.servers.loopback import HOST, free_port, listens_elsewhere
from tests.servers.unavailable import ServerUnavailable

PAGE = ROOT / "docs" / "engines.md"
ONE, TWO = ({"a": {"type": "literal", "value": value}} for value in "12")
ROWS = json.dumps({"head": {"vars": ["a"]}, "results": {"bindings": [ONE, TWO]}}).encode()


def answers(*verdicts: Verdict, part: Part = Part.DRAWN) -> list[Judged]:
    return [
        Judged(part, Question("films", "bfs_query", (f"urn:{number}",), hops=1), verdict, "")
        for number, verdict in enumerate(verdicts)
    ]


@pytest.mark.slow
def test_no_answer_of_the_engine_of_this_process_is_wrong() -> None:
    report = ask(ENGINES["in-process"], 12, seed=5)
    assert report.wrong == []
    assert sum(report.counts(Part.DRAWN).values()) >= 10
    assert report.counts(Part.ODD)[Worth.COMPLETE] == sum(report.counts(Part.ODD).values()) > 100
    assert report.recognised == "itself"


@pytest.mark.server
def test_cut_answers_of_an_engine_with_a_sentinel_are_told() -> None:
    report = ask(ENGINES["oxigraph"], 20, seed=5)
    assert report.wrong == []
    assert sum(report.counts(Part.CUT).values()) >= 8
    assert sum(answer.cuts for answer in report.answers) > 0
    assert all(answer.cuts == 0 for answer in report.answers if answer.part is not Part.CUT)
    assert report.recognised == "oxigraph"


def test_the_table_of_the_documentation_has_the_engines_of_the_harness() -> None:
    assert named(PAGE) == list(ENGINES)


def test_a_run_writes_its_table_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "engines.md"
    page.write_text("before\n<!-- engines -->\nold\n<!-- end of engines -->\nafter\n", encoding="utf-8")
    engines = list(ENGINES.values())[:2]
    report = EngineReport(
        engines[1].name, "fuseki", answers(Verdict.RIGHT, Verdict.MARKED, Verdict.WRONG, Verdict.UNTRUE)
    )
    write_table(page, engines, Engines(4, 1, [report]))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- engines -->\n")
    assert text.endswith("<!-- end of engines -->\nafter\n")
    assert "old" not in text
    assert "| not run |" in text
    assert (
        f"| `{engines[1].name}` | {engines[1].version} | fuseki | 1 / 1 / 0 / 2 | - | - | {engines[1].bound} |" in text
    )
    assert named(page) == [engine.name for engine in engines]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [((), 1), (("--allow-missing", "in-process"), 0)],
    ids=["is a failure", "but may be allowed"],
)
def test_an_engine_that_cannot_be_run(
    arguments: Sequence[str], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unavailable(*_: object) -> EngineReport:
        raise ServerUnavailable("needs what is not there")

    monkeypatch.setattr("tests.engines.run.ask", unavailable)
    assert main(["engines", "--engine", "in-process", *arguments]) == status
    assert "in-process       NOT RUN: needs what is not there" in capsys.readouterr().out


def test_a_quarter_of_the_answers_with_rows_is_cut_the_same_ones_by_the_same_seed() -> None:
    whole = Answer(ROWS)
    cut = [quarter_cut("a").spoil(whole) for _ in range(3)]
    assert cut[0] == cut[1] == cut[2]
    fault = quarter_cut("b")
    cuts = [reply for reply in (fault.spoil(whole) for _ in range(2_000)) if reply is not None]
    assert abs(len(cuts) / 2_000 - SHARE) < 0.05
    assert all(isinstance(reply, Answer) and len(reply.rows) < len(whole.rows) for reply in cuts)
    assert all(fault.spoil(Answer(b'{"head":{},"boolean":true}')) is None for _ in range(50))


def test_what_was_complete_in_another_run_and_is_no_longer_is_named() -> None:
    before = EngineReport("fuseki", "fuseki", answers(Verdict.RIGHT, Verdict.RIGHT, Verdict.MARKED))
    after = EngineReport("fuseki", "fuseki", answers(Verdict.RIGHT, Verdict.MARKED, Verdict.RIGHT))
    lines = list(fallen([after], {"engines": [before.as_json()]}))
    assert lines[0].split() == ["fuseki", "drawn", "complete:", "2,", "before:", "2,", "of", "3"]
    assert [line for line in lines if "now partial" in line and "urn:1" in line] == lines[1:2]


def test_odd_iris_can_be_ids_and_are_asked_about_in_the_forms_they_may_be_taken_for() -> None:
    assert max(map(len, odd_iris.ODD)) <= 998
    asked = {seed for question in odd_iris.questions() for seed in question.ids}
    assert {"http://ex.org/odd/a:b", "http://ex.org/odd/a%3Ab", "http://ex.org/form/caf\u00e9"} <= asked
    assert not any(" " in seed for seed in asked)


def test_a_server_that_other_machines_could_reach_is_noticed() -> None:
    for host, elsewhere in ((HOST, False), ("127.0.0.2", True)):
        with socket.socket() as server:
            server.bind((host, 0))
            assert listens_elsewhere(server.getsockname()[1]) is elsewhere
    assert not listens_elsewhere(free_port())
