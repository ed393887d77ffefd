"""A run of drawn questions is worth as much as its counting and its exit code."""

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from gateway.errors import EndpointFault, GatewayError
from tests.harness.__main__ import KINDS, main
from tests.harness.asking import all_pages, at_once, judged
from tests.harness.kind import Kind, Run, Say, UsageError
from tests.harness.report import BAD, Judgement, Report, Verdict
from tests.servers.unavailable import ServerUnavailable


def report_of(*verdicts: Verdict, bad: frozenset[Verdict] = BAD, lacking: float = 1.0) -> Report:
    report = Report(bad, lacking)
    for number, verdict in enumerate(verdicts):
        report.add("oxigraph", "bfs_query", {"number": number}, (verdict, f"detail {number}"), graph="films")
    return report


@pytest.mark.parametrize("verdict", [Verdict.WRONG, Verdict.UNTRUE, Verdict.CRASHED])
def test_one_bad_answer_of_many_fails_a_run_and_is_told_with_its_question(verdict: Verdict) -> None:
    report = report_of(*[Verdict.RIGHT] * 99, verdict)
    assert not report.passed
    (found,) = report.as_json()
    assert found["verdict"] == verdict
    assert (found["graph"], found["question"], found["detail"]) == ("films", {"number": 99}, "detail 99")
    assert json.dumps(found) in report.as_text()
    assert f"right 99, {verdict} 1" in report.as_text()


def test_an_error_fails_a_run_only_where_it_is_bad() -> None:
    assert report_of(Verdict.RIGHT, Verdict.ERROR).passed
    assert not report_of(Verdict.RIGHT, Verdict.ERROR, bad=BAD | {Verdict.ERROR}).passed
    assert len(report_of(Verdict.RIGHT, Verdict.ERROR).findings) == 1


def test_each_engine_may_lack_so_much_and_no_more() -> None:
    most = report_of(*[Verdict.RIGHT] * 18, Verdict.ERROR, Verdict.MARKED, lacking=0.1)
    assert most.passed
    most.add("fuseki", "bfs_query", {}, (Verdict.MARKED, ""))
    assert not most.passed


def run_that(what: Run | Exception) -> Kind:
    def run(_: Namespace, say: Say) -> Run:
        say("begun")
        if isinstance(what, Exception):
            raise what
        return what

    return Kind("tried", run, questions=5, engines=("oxigraph", "fuseki"))


@pytest.mark.parametrize(
    ("what", "status"),
    [
        (report_of(Verdict.RIGHT), 0),
        (report_of(Verdict.WRONG), 1),
        (ServerUnavailable("needs what is not there"), 1),
        (UsageError("these do not fit together"), 2),
    ],
)
def test_the_exit_code_tells_what_came_of_a_run(what: Run | Exception, status: int, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    arguments = ["tried", "--questions", "2", "--engine", "fuseki,oxigraph", "--json", str(file)]
    try:
        found: object = main(arguments, {"tried": run_that(what)})
    except SystemExit as left:
        found = left.code
    assert found == status
    if isinstance(what, Report):
        assert json.loads(file.read_text(encoding="utf-8")) == what.findings


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_described_and_refuses_an_engine_that_it_does_not_know(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, status in ((["--help"], 0), (["--engine", "no-such-engine"], 2)):
        with pytest.raises(SystemExit) as left:
            main([kind, *arguments])
        assert left.value.code == status
    assert KINDS[kind].about.split()[0] in capsys.readouterr().out


def of_answer(answer: int | GatewayError) -> Judgement:
    return (Verdict.ERROR, str(answer)) if isinstance(answer, GatewayError) else (Verdict.RIGHT, str(answer))


@pytest.mark.anyio
async def test_what_is_raised_is_judged_as_an_error_of_the_gateway_or_as_a_crash() -> None:
    async def answering(what: int | Exception) -> int:
        if isinstance(what, Exception):
            raise what
        return what

    assert await judged(answering(7), of_answer) == (Verdict.RIGHT, "7")
    assert (await judged(answering(EndpointFault("It failed.")), of_answer))[0] is Verdict.ERROR
    assert (await judged(answering(KeyError("gone")), of_answer))[0] is Verdict.CRASHED


@pytest.mark.anyio
async def test_all_pages_are_read_and_all_questions_asked_so_many_at_once() -> None:
    async def page(more: Mapping[str, int]) -> int:
        return more.get("offset", 0)

    assert await all_pages(page, lambda at: {"offset": at + 1} if at < 3 else None) == [0, 1, 2, 3]

    under_way = most = 0

    async def ask(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.lowlevel.checkpoint()
        under_way -= 1
        return -number

    assert await at_once(range(20), ask, most=4) == [-number for number in range(20)]
    assert most == 4
