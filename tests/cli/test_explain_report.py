import json
import re

import pytest

from tests.cli.conftest import Run
from tests.cli.test_main import ASKING, only_error
from tests.servers.loopback import free_port

TITLE = re.compile(r"^(\d+)\. (\S+)  ([\d,]+) rows?, ([\d,]+) bytes?, [\d.,]+ ms", re.MULTILINE)


@pytest.mark.parametrize("argv", ASKING)
def test_what_an_answer_cost_comes_after_the_answer(run: Run, argv: list[str]) -> None:
    ran = run(*argv, "--explain")
    assert (ran.status, ran.err) == (0, "")
    answer, _, rest = ran.out.partition("\nAsked ")
    assert answer == run(*argv).out
    queries = int(rest.split()[0])
    assert [int(place) for place, *_ in TITLE.findall(rest)] == list(range(1, queries + 1))
    assert rest.count("\nSELECT ") == queries


@pytest.mark.parametrize("argv", ASKING)
def test_in_json_it_is_a_key_of_the_answer_and_the_only_difference(run: Run, argv: list[str]) -> None:
    explained = json.loads(run(*argv, "--explain", "--json").out)
    explain = explained.pop("explain")
    assert explained == json.loads(run(*argv, "--json").out)
    assert explain["queries"] == len(explain["sent"]) + explain.get("sent_left_out", 0) > 0
    assert {"total", "waiting", "own"} <= explain["ms"].keys()


def test_the_sparql_at_a_terminal_is_that_of_the_json_line_by_line(run: Run) -> None:
    sent = json.loads(run("search", "insulin", "--explain", "--json").out)["explain"]["sent"]
    shown = run("search", "insulin", "--explain").out
    for query in sent:
        assert query["sparql"] in shown


def test_a_call_that_fails_is_explained_before_its_error(run: Run) -> None:
    ran = run("describe", "urn:a:b", "--explain", "--endpoint", f"http://127.0.0.1:{free_port()}/sparql")
    assert ran.status == 2
    assert only_error(ran.err)
    assert "of them retries" in ran.out
    assert "NetworkFault" in ran.out


def test_in_json_a_call_that_fails_prints_nothing_but_its_error(run: Run) -> None:
    ran = run("describe", "drug:nothing", "--explain", "--json")
    assert (ran.status, ran.out) == (2, "")
    assert "no entity" in only_error(ran.err)


def test_one_v_logs_one_line_for_a_call(run: Run) -> None:
    ran = run("search", "insulin", "-v")
    (line,) = ran.err.splitlines()
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} info: tool=search_entities outcome=complete ", line)
    assert "insulin" not in line


def test_what_a_graph_or_a_caller_says_cannot_write_an_escape(run: Run) -> None:
    ran = run("search", "\x1b[31mwarfarin", "--explain")
    assert ran.status == 0
    assert "\x1b" not in ran.out
