"""The command `check`: what it prints, and how it ends; and the command `profiles`."""

import asyncio
import json
import re
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.settings.load import built_in, load_profile
from gateway.settings.profile import Profile
from tests.check.pretender import TRIPLES, Pretender
from tests.cli.conftest import Run
from tests.servers.loopback import free_port
from tests.transport.fake_endpoint import Handler, answering, fake_endpoint

FUSEKI = {"Fuseki-Request-Id": "1"}


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """Run a fake endpoint beside this thread, because a command has an event loop of its own; give its URL."""
    ready, url = threading.Event(), ""
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        nonlocal url
        async with fake_endpoint(handler) as endpoint:
            url = endpoint.url
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield url
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(30)
        loop.close()


def quick(folder: Path, text: str = "") -> Path:
    """Write a profile under which few rows are asked for."""
    path = folder / "quick.toml"
    path.write_text(f"{text}\n[limits]\nquery_rows = 1000\n")
    return path


SORTING = '[endpoint]\nsentinel = "sorted"'
"""What pretends to be Fuseki does not keep the order of a UNION."""


@pytest.mark.slow
def test_an_endpoint_is_shown_as_a_table_with_a_snippet_to_copy(run: Run, tmp_path: Path) -> None:
    with serving(Pretender(FUSEKI)) as url:
        ran = run("check", url, "--profile", quick(tmp_path, SORTING))
    assert (ran.status, ran.err) == (0, "")
    assert f"Checked {url}: it answers SPARQL queries." in ran.out
    assert "Engine            Apache Jena Fuseki" in ran.out
    assert "Time-out          not determined" in ran.out
    assert "the number of triples: 10, the same as SPARQLWrapper" in ran.out
    snippet = ran.out.partition("For the profile:")[2]
    profile = Profile.model_validate_json(json.dumps(tomllib.loads(snippet)))
    assert (profile.endpoint.url, profile.endpoint.engine) == (url, "fuseki")


@pytest.mark.slow
def test_json_is_one_object_on_one_line(run: Run, tmp_path: Path) -> None:
    with serving(Pretender(FUSEKI)) as url:
        ran = run("check", url, "--json", "-p", quick(tmp_path))
    assert ran.out.count("\n") == 1
    report = json.loads(ran.out)
    assert report["checked"] == url
    assert report["reachable"] is True
    assert report["engine"] == {"value": "fuseki", "evidence": "the header Fuseki-Request-Id"}
    assert report["triples"]["value"] == TRIPLES
    assert report["time_limit"].keys() == {"not_determined"}
    assert report["agrees"] is True
    assert "null" not in ran.out


@pytest.mark.slow
def test_the_endpoint_may_stand_in_the_profile(run: Run, tmp_path: Path) -> None:
    with serving(Pretender()) as url:
        ran = run("check", "--json", "-p", quick(tmp_path, f'[endpoint]\nurl = "{url}"'))
    assert json.loads(ran.out)["checked"] == url


@pytest.mark.slow
def test_what_holds_of_a_profile_is_one_table_and_what_does_not_ends_with_status_1(run: Run, tmp_path: Path) -> None:
    text = '[roles]\nname = ["http://www.w3.org/2000/01/rdf-schema#label"]\nsource = ["http://example.org/source"]'
    with serving(Pretender(FUSEKI)) as url:
        profile = quick(tmp_path, f'[endpoint]\nurl = "{url}"\nengine = "fuseki"\nsentinel = "sorted"\n{text}')
        ran, as_json = run("check", "-p", profile), run("check", "--json", "-p", profile)
    assert (ran.status, as_json.status, ran.err) == (1, 1, "")
    assert re.search(r"Setting +The profile says +Holds +Evidence", ran.out)
    assert re.search(r"endpoint.url .* yes ", ran.out)
    assert re.search(r"roles.source .* no +no triple has", ran.out)
    held = json.loads(as_json.out)["profile"]
    assert held["endpoint.engine"] == {"stated": "fuseki", "holds": True, "evidence": "the header Fuseki-Request-Id"}
    assert held["roles.source"]["holds"] is False


@pytest.mark.slow
def test_answers_that_differ_end_with_status_1_and_are_shown(run: Run, tmp_path: Path) -> None:
    def forge(query: str, answer: dict[str, Any]) -> None:
        if "BIND(<" in query:
            answer["results"]["bindings"] = answer["results"]["bindings"][1:]

    with serving(Pretender(twist={"": forge})) as url:
        ran = run("check", url, "-p", quick(tmp_path))
    assert (ran.status, ran.err) == (1, "")
    assert "only this gateway has http://example.org/" in " ".join(ran.out.split())


@pytest.mark.slow
def test_an_endpoint_that_is_not_there_is_one_error_with_status_2(run: Run) -> None:
    ran = run("check", f"http://127.0.0.1:{free_port()}/sparql")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: The endpoint could not be reached: the connection was refused.")
    assert ran.err.endswith("/sparql\n")
    assert ran.err.count("\n") == 1


@pytest.mark.slow
def test_a_web_page_is_one_error_with_status_2(run: Run) -> None:
    with serving(answering(b"<html>hello</html>", content_type="text/html")) as url:
        ran = run("check", url)
    assert (ran.status, ran.out) == (2, "")
    assert "may be a web page" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["check", "ftp://example.org/"], "begins with http:// or https://"),
        (["check", "http://someone:secret@127.0.0.1/"], "the URL contains a user or a password"),
        (["check", "http://127.0.0.1/", "-e", "http://127.0.0.1/"], "given twice"),
        (["check", "http://127.0.0.1/", "-g", "films.ttl"], "Both a graph and an endpoint"),
        (["check", "-g", "nothing.ttl"], "nothing.ttl"),
    ],
)
def test_a_wrong_command_line_is_one_error_with_status_2(run: Run, argv: list[str], said: str) -> None:
    ran = run(*argv)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert "secret" not in ran.err


@pytest.mark.slow
def test_a_graph_file_is_checked_too_as_far_as_that_goes(run: Run, films: Path) -> None:
    ran = run("check", "--graph", films)
    assert (ran.status, ran.err) == (0, "")
    assert "Checked films.ttl: it answers SPARQL queries." in ran.out
    assert "POST              not determined" in ran.out
    assert "For the profile" not in ran.out


@pytest.mark.slow
def test_credentials_go_to_both_clients_and_to_no_output(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretender = Pretender()
    seen: set[str] = set()

    async def handle(request: Any) -> Any:
        seen.add(request.headers.get("Authorization", ""))
        return await pretender(request)

    monkeypatch.setenv("TEST_CHECK_TOKEN", "very-secret")
    profile = quick(tmp_path, '[endpoint.access]\ntoken = "env:TEST_CHECK_TOKEN"')
    with serving(handle) as url:
        ran = run("check", url, "-p", profile, "-vv")
    assert ran.status == 0
    assert seen == {"Bearer very-secret"}
    assert "very-secret" not in ran.out + ran.err
    assert "the same as SPARQLWrapper" in ran.out


@pytest.mark.slow
def test_what_an_endpoint_writes_cannot_take_over_a_terminal(run: Run, tmp_path: Path) -> None:
    server = {"Server": "Virtuoso/7.2.\u009b1m"}
    with serving(Pretender(server)) as url:
        ran = run("check", url, "-p", quick(tmp_path))
    assert ran.status == 0
    assert not any(ord(character) < 32 and character != "\n" for character in ran.out)


@pytest.mark.slow
def test_what_a_check_found_is_used_without_being_pasted(run: Run, tmp_path: Path) -> None:
    with serving(Pretender(refused=("NOT EXISTS",))) as url:
        asked = ("bfs", "http://example.org/a", "--json", "-e", url, "--store", tmp_path)
        before, ran, after = run(*asked), run("check", url, "--store", tmp_path), run(*asked)
    assert "The endpoint refused a query: 'parse error'." in before.err
    assert (before.status, ran.status, after.status) == (2, 1, 0)
    assert "For a week, this endpoint is asked as it was found" in " ".join(ran.out.split())
    found = json.loads(after.out)
    assert found["complete"] is True
    assert found["edge_count"] == 3
    assert "no evidence is read there" in after.err


def test_a_person_sees_each_public_endpoint_with_its_graph_and_whether_it_was_tried(run: Run) -> None:
    ran = run("profiles")
    assert ran.status == 0
    shown = ran.out
    for name in built_in():
        assert name in shown
        assert load_profile(name).endpoint.url in shown
    assert "Bgee: gene expression in animals" in " ".join(shown.split())
    assert "Without an endpoint: bfsql-neo4j, bfsql-postgres, demo, fuseki, local, wikidata-local." in shown


def test_a_program_gets_every_profile_with_its_sources_on_one_line(run: Run) -> None:
    ran = run("profiles", "--json")
    [line] = ran.out.splitlines()
    profiles = {each["name"]: each for each in json.loads(line)["profiles"]}
    assert sorted(profiles) == built_in()
    mesh, local = profiles["mesh"], profiles["local"]
    assert (mesh["endpoint"], mesh["tried"]) == (load_profile("mesh").endpoint.url, False)
    assert "roles.synonym" in mesh["unchecked"]
    assert mesh["sources"]["limits.query_rows"].startswith("https://hhs.github.io/")
    assert (local["endpoint"], local["tried"], local["description"], local["unchecked"]) == (None, None, None, [])


def test_no_endpoint_is_asked_and_no_project_file_is_read(run: Run) -> None:
    assert run("profiles", "--endpoint", "http://127.0.0.1:1/sparql").status == 2
