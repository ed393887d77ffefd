import asyncio
import json
import re
import socket
from pathlib import Path

import pytest

import gateway.server.run
from gateway.answers.models import SchemaResult
from gateway.errors import GatewayError
from gateway.server.access.http_access import HttpAccess
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.workers.worker import Worker
from gateway.settings.serving import NOTHING, ObserveSettings
from tests.cli.conftest import FIXTURES, Run

Calls = list[tuple[object, ...]]


@pytest.fixture
def seen() -> list[ObserveSettings]:
    """What the operator asks to see of each server."""
    return []


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, seen: list[ObserveSettings]) -> Calls:
    """What the server is asked to serve, in place of serving it."""
    calls: Calls = []

    async def types(opener: GatewayOpener) -> int:
        async def ignore(*_: object) -> None:
            """Tell nobody."""

        async with opener:
            try:
                schema = await (await opener.gateway(ignore)).call("describe_schema", {}, ignore)
            except GatewayError:
                return 0
        assert isinstance(schema, SchemaResult)
        return schema.entity_types_total

    async def stdio(opener: GatewayOpener, _stop: asyncio.Event, *, observing: ObserveSettings) -> None:
        seen.append(observing)
        calls.append(("stdio", await types(opener)))

    async def http(
        opener: GatewayOpener,
        access: HttpAccess,
        _stop: asyncio.Event,
        *,
        observing: ObserveSettings,
        worker: Worker | None,
    ) -> None:
        assert worker is None
        seen.append(observing)
        calls.append(("http", await types(opener), access.settings.host, access.settings.port))

    monkeypatch.setattr(gateway.server.run, "serve_stdio", stdio)
    monkeypatch.setattr(gateway.server.run, "serve_http", http)
    return calls


def test_stdio_is_the_default_and_standard_output_belongs_to_the_protocol(run: Run, served: Calls) -> None:
    ran = run("serve")
    assert (ran.status, ran.out) == (0, "")
    serving, ready = ran.err.splitlines()
    assert serving == "Serving the demo graph over stdio, to the program that started this one. Press Ctrl-C to stop."
    assert re.fullmatch(r"Ready after \d+\.\d s: A small teaching graph .*", ready)
    assert served == [("stdio", 11)]


def test_files_are_named_without_their_folders(run: Run, served: Calls) -> None:
    ran = run("serve", "-g", FIXTURES / "films.ttl")
    assert ran.err.startswith("Serving films.ttl over stdio")
    assert served == [("stdio", 2)]


def test_an_endpoint_is_named_without_its_path_and_one_with_a_password_in_it_is_refused(
    run: Run, served: Calls
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ran = run("serve", "-e", f"http://127.0.0.1:{port}/secret")
    assert "Serving the endpoint on 127.0.0.1 over stdio" in ran.err
    refused = run("serve", "-e", f"http://me:secret@127.0.0.1:{port}/sparql")
    assert refused.status == 2
    assert "endpoint.access.password" in refused.err
    assert "secret" not in ran.err.splitlines()[0] + refused.err
    assert len(served) == 1


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgresql://reader@127.0.0.1:PORT/secret", "127.0.0.1"),
        ("Postgres://reader@127.0.0.1:PORT/secret", "127.0.0.1"),
        ("postgresql://reader@/secret?host=/tmp/secret", "this machine"),
        ("neo4j://127.0.0.1:PORT/secret", "127.0.0.1"),
        ("BOLT://127.0.0.1:PORT/secret", "127.0.0.1"),
    ],
)
def test_a_database_is_served_as_an_endpoint_is(run: Run, served: Calls, tmp_path: Path, url: str, host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = url.replace("PORT", str(taken.getsockname()[1]))
    profile = tmp_path / "there.toml"
    profile.write_text(f'[endpoint]\nurl = "{url}"\n', encoding="utf-8")
    for given in (["--endpoint", url], ["--profile", profile]):
        ran = run("serve", *given)
        assert ran.status == 0
        assert ran.err.startswith(f"Serving the database on {host} over stdio")
        assert "secret" not in ran.err.splitlines()[0]
    assert len(served) == 2


def test_a_contact_is_not_looked_for_where_none_is_sent(
    run: Run, served: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BFSQL_CONTACT", "nobody")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"postgresql://reader@127.0.0.1:{taken.getsockname()[1]}/graph"
    assert run("serve", "-e", url).status == 0
    assert len(served) == 1


def test_http_says_where_it_listens_and_for_whom(run: Run, served: Calls) -> None:
    ran = run("serve", "--http", "--port", "0")
    ((_, _, host, port),) = served
    assert (ran.status, ran.out, host) == (0, "", "127.0.0.1")
    assert f" at http://127.0.0.1:{port}/mcp " in ran.err
    assert "(this machine only)" in ran.err
    assert ran.err.count("\n") == 2


def test_quiet_is_a_server_that_says_nothing(run: Run, served: Calls) -> None:
    ran = run("serve", "-q")
    assert (ran.status, ran.out, ran.err, len(served)) == (0, "", "", 1)


def test_a_port_in_use_is_reported_before_a_graph_is_loaded(run: Run, served: Calls) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run("serve", "--http", "--port", str(port), "--graph", "not-even-there.ttl")
    assert ran.status == 2
    assert ran.err.startswith(f"error: Port {port} cannot be used")
    assert ran.err.count("\n") == 1
    assert served == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-g", "not-even-there.ttl"], "not-even-there.ttl: No such file"),
        (["-g", FIXTURES / "README.md"], "README.md: its suffix names no RDF format, and its first bytes show none"),
        (["-g", FIXTURES.parent / "config"], "no file there has the suffix of an RDF format"),
        (["-g", "-"], "No graph can come from standard input"),
        (["-g", "-", "--http", "--workers", "2"], "No graph can come from standard input"),
        (["-e", "ftp://127.0.0.1/sparql"], "The endpoint is wrong"),
        (["-e", "http://127.0.0.1:1/sparql", "--shared-cache", "http://127.0.0.1"], "--shared-cache is not the URL"),
        (["-g", FIXTURES / "films.ttl", "-e", "http://127.0.0.1:1/sparql"], "Give one of them"),
        (["-p", "no-such-profile"], "no-such-profile"),
        (["--prefix", "x"], "--prefix 'x' is wrong"),
    ],
)
def test_an_error_in_the_command_line_is_reported_before_anything_is_served(
    run: Run, served: Calls, arguments: list[str], said: str
) -> None:
    ran = run("serve", *arguments)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert served == []


def test_an_operator_sees_what_is_asked_for_and_nothing_by_default(
    run: Run, served: Calls, seen: list[ObserveSettings], tmp_path: Path
) -> None:
    audit = tmp_path / "audit.jsonl"
    run("serve")
    run("serve", "--audit-log", audit)
    run("serve", "--http", "--port", "0", "--metrics-port", "9464")
    run("serve", "--http", "--port", "0", "--metrics-port", "9464", "--metrics-host", "::1")
    assert len(served) == 4
    assert seen == [
        NOTHING,
        ObserveSettings(audit_log=audit),
        ObserveSettings(metrics=("127.0.0.1", 9464)),
        ObserveSettings(metrics=("::1", 9464)),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "--metrics-port", "0"], "A port is 1 to 65535"),
        (["--metrics-port", "9464"], "--metrics-port requires --http"),
        (["--http", "--metrics-host", "127.0.0.1"], "--metrics-host requires --metrics-port"),
        (["--log-format", "xml"], "it must be text or json"),
        (["--audit-log", ""], "it is empty"),
    ],
)
def test_options_for_operators_that_make_no_sense_are_refused(
    run: Run, served: Calls, arguments: list[str], said: str
) -> None:
    ran = run("serve", *arguments)
    assert (ran.status, served) == (2, [])
    assert said in ran.err


def test_a_log_in_json_has_an_object_on_each_line(run: Run, served: Calls) -> None:
    ran = run("serve", "--log-format", "json", "-v")
    lines = [json.loads(line) for line in ran.err.splitlines()]
    assert len(served) == 1
    assert lines[0]["message"].startswith("Serving the demo graph over stdio")
    assert {"time", "level", "logger", "message"} <= set.intersection(*(set(line) for line in lines))
    (call,) = [line for line in lines if line["logger"] == "gateway.calls"]
    assert (call["tool"], call["outcome"], call["causes"]) == ("describe_schema", "complete", [])
    assert isinstance(call["ms_total"], float)
