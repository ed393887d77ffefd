import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from mcp import Client

from benchmarks.trial.questions import Question, draw
from benchmarks.trial.recorder import Recorder
from benchmarks.trial.scores import costs, f1, iri, read_answers, scores, summary
from gateway.api import open_gateway
from gateway.server.access.http_access import HttpAccess
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.run import PATH, serve_http
from gateway.settings.serving import HttpSettings
from tests.servers.loopback import HOST, free_port
from tests.shared_data import shared_data

WD = "http://www.wikidata.org/entity/"


def question(number: int, *gold: str) -> Question:
    """Return a question with these answers."""
    return Question(number, f"set {number}", "Who?", frozenset(WD + each for each in gold))


@pytest.mark.data
def test_the_same_seed_draws_the_same_questions() -> None:
    shared_data("questions-dev.json")
    drawn = draw(60, 7)
    assert drawn == draw(60, 7)
    assert drawn != draw(60, 8)
    assert len({each.name for each in drawn}) == 60
    assert all(each.gold for each in drawn)


def test_more_questions_than_there_are_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="has 0 questions, so 1 cannot be drawn"):
        draw(1, 1, file)


def test_f1_is_about_wrong_and_missing_answers_alike() -> None:
    gold = frozenset("ab")
    assert [f1(gold, frozenset(given)) for given in ("ab", "a", "abcd", "c", "")] == [1, 2 / 3, 2 / 3, 0, 0]


def test_an_entity_may_be_written_in_any_usual_way() -> None:
    assert {iri(text) for text in ("Q42", "wd:Q42", f" <{WD}Q42> ", f"{WD}Q42")} == {f"{WD}Q42"}
    assert iri("Charles III") == "Charles III"


def test_a_question_without_an_answer_scores_nothing_and_costs_what_was_read(tmp_path: Path) -> None:
    (tmp_path / "tools-answers-1.json").write_text('{"1": ["wd:Q1"]}', encoding="utf-8")
    read = [
        {"arm": "tools", "number": 2, "what": "bfs_query", "asked": "{}", "text": "12345", "failed": True},
        {"arm": "tools", "number": 2, "what": "tools/list", "asked": "", "text": "123", "failed": False},
        {"arm": "sparql", "number": 2, "what": "query", "asked": "", "text": "1", "failed": False},
    ]
    scored = scores([question(1, "Q1"), question(2, "Q2")], read_answers(tmp_path, "tools"), costs(read, "tools", len))
    figures = summary(scored)
    expected = {
        "F1": 0.5,
        "exactly right": 1,
        "calls": 1,
        "characters": 5,
        "listed at most": 3,
        "tokens": 5,
        "errors": 1,
    }
    assert {name: figures[name] for name in expected} == expected


def test_two_files_that_answer_one_question_are_refused(tmp_path: Path) -> None:
    for part in (1, 2):
        (tmp_path / f"tools-answers-{part}.json").write_text('{"1": []}', encoding="utf-8")
    with pytest.raises(ValueError, match="question 1 is answered twice"):
        read_answers(tmp_path, "tools")


@asynccontextmanager
async def recorded(calls: Path) -> AsyncIterator[str]:
    """Serve the demo graph over MCP, and a pretender of a SPARQL endpoint, behind a recorder; give its URL."""
    stop, port = asyncio.Event(), free_port()

    async def rows(request: web.Request) -> web.Response:
        form = await request.post()
        query = str(form["query"])
        return web.Response(text=f"rows of {query}", status=200 if query != "broken" else 400)

    pretender = web.Application()
    pretender.router.add_post("/query", rows)
    runners = [web.AppRunner(pretender)]
    try:
        await runners[0].setup()
        sparql = free_port()
        await web.TCPSite(runners[0], HOST, sparql).start()
        gateway = open_gateway()
        await gateway.wait_until_ready()
        server = asyncio.create_task(
            serve_http(GatewayOpener.over(gateway), HttpAccess(HttpSettings(HOST, port)), stop)
        )
        upstreams = {"tools": f"http://{HOST}:{port}{PATH}", "sparql": f"http://{HOST}:{sparql}/query"}
        runners.append(web.AppRunner(Recorder(upstreams, calls, 2).app()))
        await runners[1].setup()
        front = free_port()
        await web.TCPSite(runners[1], HOST, front).start()
        yield f"http://{HOST}:{front}"
        stop.set()
        await server
    finally:
        for runner in runners:
            await runner.cleanup()


def noted(calls: Path) -> list[Mapping[str, Any]]:
    """Return what was recorded."""
    return [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]


@pytest.mark.anyio
async def test_what_a_client_reads_is_recorded_with_its_question(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    async with recorded(calls) as url:
        async with Client(f"{url}/tools/2/mcp") as client:
            tools = await client.list_tools()
            found = await client.call_tool("search_entities", {"query": "warfarin"})
            wrong = await client.call_tool("search_entities", {})
        async with aiohttp.ClientSession() as session:
            for query, status in (("SELECT", 200), ("broken", 400)):
                async with session.post(f"{url}/sparql/1", data={"query": query}) as answer:
                    assert (answer.status, await answer.text()) == (status, f"rows of {query}")
            async with session.get(f"{url}/sparql/3") as answer:
                assert (answer.status, await answer.text()) == (404, "There are questions 1 to 2.")
    assert len(tools.tools) == 6
    of_tools = [read for read in noted(calls) if read["arm"] == "tools" and read["what"] != "tools/list"]
    assert [(read["number"], read["text"], read["failed"]) for read in of_tools] == [
        (2, found.content[0].text, False),  # type: ignore[union-attr]  # answers are one text
        (2, wrong.content[0].text, True),  # type: ignore[union-attr]
    ]
    assert of_tools[0]["asked"] == '{"query": "warfarin"}'
    assert any(read["what"] == "tools/list" and read["number"] == 2 for read in noted(calls))
    of_sparql = [read for read in noted(calls) if read["arm"] == "sparql"]
    assert [(read["number"], read["asked"], read["text"], read["failed"]) for read in of_sparql] == [
        (1, "SELECT", "rows of SELECT", False),
        (1, "broken", "rows of broken", True),
    ]
