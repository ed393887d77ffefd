"""The command `serve`, its options about several graphs and about HTTP, and the command `token`."""

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
from gateway.server.access.tokens import TokenFile, hashed
from gateway.server.gateway_opener import GatewayOpener, ignore_progress
from gateway.server.graph_set import GraphSet
from gateway.server.workers import Worker
from gateway.settings.serving import NOTHING, ClientLimits, ObserveSettings
from tests.cases import check_each
from tests.cli.conftest import FIXTURES, Run
from tests.server.access.clients import token_file

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


@pytest.mark.slow
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


Served = list[dict[str, object]]


@pytest.fixture
def served_graphs(monkeypatch: pytest.MonkeyPatch) -> Served:
    """What each graph says that the server is asked to serve, in place of serving it."""
    calls: Served = []

    async def descriptions(graphs: GraphSet) -> dict[str, object]:
        found: dict[str, object] = {"by": graphs.chosen_by}
        async with graphs:
            for graph in graphs.all:
                try:
                    gateway = await graph.opener.gateway(ignore_progress)
                    schema = await gateway.describe_schema()
                    limits = gateway.profile.limits
                    found[graph.name] = (
                        schema.entity_types_total,
                        limits.deadline_seconds,
                        gateway.profile.server.shape,
                    )
                except GatewayError as error:
                    found[graph.name] = str(error)
        return found

    async def stdio(graphs: GraphSet, _stop: asyncio.Event, **_options: object) -> None:
        calls.append(await descriptions(graphs))

    async def http(graphs: GraphSet, _access: object, _stop: asyncio.Event, **_options: object) -> None:
        calls.append(await descriptions(graphs))

    monkeypatch.setattr(gateway.server.run, "serve_stdio", stdio)
    monkeypatch.setattr(gateway.server.run, "serve_http", http)
    return calls


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "graphs.toml"
    films, medical = (json.dumps(str(FIXTURES / name)) for name in ("films.ttl", "medical.ttl"))
    path.write_text(
        f'[graphs.films]\nabout = "Films."\ngraph = {films}\n[graphs.films.limits]\ndeadline_seconds = 7\n'
        f'[graphs.pills]\nabout = "Pills."\ngraph = {medical}\n'
        '[graphs.gone]\nabout = "Gone."\ngraph = "gone.ttl"\n'
        '[graphs.odd]\nabout = "Odd."\nprofile = "odd.toml"\n',
        encoding="utf-8",
    )
    return path


def test_each_graph_has_its_source_and_its_limits_and_a_wrong_one_stops_no_other(
    run: Run, served_graphs: Served, file: Path
) -> None:
    ran = run("serve", "--graphs", file)
    assert ran.status == 0
    assert "Serving 4 graphs (films, pills, gone, odd) over stdio" in ran.err
    (found,) = served_graphs
    assert found["films"] == (2, 7.0, "compact")
    assert found["pills"] == (11, 30.0, "compact")
    assert re.search(r"The graph films is ready after \d+\.\d s: An RDF graph of 138 edges", ran.err)
    assert "the graph gone cannot be opened" in ran.err
    assert "gone.ttl" in str(found["gone"])
    assert "There is no profile" in str(found["odd"])


def test_a_graph_is_served_without_what_its_entry_hides(run: Run, served_graphs: Served, tmp_path: Path) -> None:
    films = json.dumps(str(FIXTURES / "films.ttl"))
    path = tmp_path / "graphs.toml"
    path.write_text(
        f'[graphs.whole]\nabout = "Films."\ngraph = {films}\n[graphs.part]\nabout = "Films."\ngraph = {films}\n'
        '[graphs.part.hidden]\ntypes = ["https://example.org/films/Person"]\n'
        '[graphs.far]\nabout = "Far."\nendpoint = "http://127.0.0.1:9/sparql"\n'
        '[graphs.far.hidden]\ngraphs = ["https://example.org/films/graph"]\n',
        encoding="utf-8",
    )
    ran = run("serve", "--graphs", path)
    assert ran.status == 0
    (found,) = served_graphs
    assert found["whole"] == (2, 30.0, "compact")
    assert found["part"] == (1, 30.0, "compact")
    assert "cannot be hidden of this endpoint" in str(found["far"])
    assert "Person" not in str(found["far"])


def test_databases_are_among_the_graphs_and_a_wrong_address_stops_no_other(
    run: Run, served_graphs: Served, tmp_path: Path
) -> None:
    path = tmp_path / "graphs.toml"
    path.write_text(
        '[graphs.tables]\nabout = "Tables."\nendpoint = "postgresql://reader@127.0.0.1:9/graph"\n'
        '[graphs.nodes]\nabout = "Nodes."\nprofile = "nodes.toml"\n'
        '[graphs.odd]\nabout = "Odd."\nprofile = "odd.toml"\n'
        '[graphs.nowhere]\nabout = "Nowhere."\nprofile = "bfsql-postgres"\n'
        '[graphs.file]\nabout = "No file."\ngraph = "neo4j://127.0.0.1:9/neo4j"\n',
        encoding="utf-8",
    )
    (tmp_path / "nodes.toml").write_text('[endpoint]\nurl = "neo4j://127.0.0.1:9/neo4j"\n', encoding="utf-8")
    (tmp_path / "odd.toml").write_text('[endpoint]\nurl = "mysql://127.0.0.1:9/graph"\n', encoding="utf-8")
    ran = run("serve", "--graphs", path)
    assert ran.status == 0
    (found,) = served_graphs
    for name in ("tables", "nodes"):
        assert "could not be reached" in str(found[name])
    assert "nor that of a database" in str(found["odd"])
    assert "Nothing says where the graph nowhere is" in str(found["nowhere"])
    assert "The URL of a database was given as a file" in str(found["file"])


def test_http_says_at_which_paths_the_graphs_are(run: Run, served_graphs: Served, file: Path) -> None:
    def check(case: tuple[list[str], str, str]) -> None:
        options, chosen_by, place = case
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        ran = run("serve", "--graphs", file, "--http", "--port", str(port), *options)
        assert served_graphs[-1]["by"] == chosen_by
        assert f"at {place.replace('URL', f'http://127.0.0.1:{port}/mcp')} (this machine only)" in ran.err

    check_each(
        [
            ([], "both", "URL and URL/NAME"),
            (["--graphs-by", "argument"], "argument", "URL"),
            (["--graphs-by", "path"], "path", "URL/NAME"),
        ],
        check,
    )


def test_one_option_shapes_the_answers_of_all_graphs(run: Run, served_graphs: Served, file: Path) -> None:
    run("serve", "--graphs", file, "--shape", "reference")
    assert served_graphs[0]["films"] == (2, 7.0, "reference")


WRONG = [
    (["--graph", "x.ttl"], "--graph was given too"),
    (["--endpoint", "http://127.0.0.1:1/"], "--endpoint was given too"),
    (["--profile", "wikidata"], "--profile was given too"),
    (["--prefix", "a=http://example.org/"], "--prefix was given too"),
    (["--user", "me"], "--user was given too"),
    (["--password-file", "p"], "--password-file was given too"),
    (["--graphs-by", "path"], "--graphs-by requires --graphs and --http"),
    (["--graphs-by", "name", "--http"], "'name' is not one of"),
]


def test_options_about_one_graph_are_refused_beside_several(run: Run, served_graphs: Served, file: Path) -> None:
    def check(case: tuple[list[str], str]) -> None:
        options, expected = case
        ran = run("serve", "--graphs", file, *options)
        assert ran.status == 2
        assert expected in ran.err

    check_each(WRONG, check)
    assert not served_graphs


def test_the_environment_selects_no_graph_beside_several(
    run: Run, served_graphs: Served, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BFSQL_GRAPH", "elsewhere.ttl")
    assert run("serve", "--graphs", file).status == 0
    assert set(served_graphs[0]) == {"by", "films", "pills", "gone", "odd"}


def test_a_line_for_the_file_is_printed_and_the_token_beside_it(run: Run, tmp_path: Path) -> None:
    ran = run("token", "alice")
    [token] = re.findall(r"bfsql_[\w-]{43}", ran.err)
    assert (ran.status, ran.out) == (0, f"alice {hashed(token)}\n")
    TokenFile(token_file(tmp_path, ran.out), ClientLimits(), [])


def test_no_two_tokens_are_the_same(run: Run) -> None:
    assert run("token", "alice").out != run("token", "alice").out


@pytest.mark.parametrize("name", ["", "a b", "-", "é", "a" * 65, "bfsql_alice"])
def test_what_is_no_name_is_refused(run: Run, name: str) -> None:
    ran = run("token", "--", name)
    assert (ran.status, "is not a name for a client" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--token-file", "x"], "--token-file requires --http"),
        (["--port", "0"], "--port requires --http"),
        (["--unauthenticated"], "--unauthenticated requires --http"),
        (["--http", "--host", "0.0.0.0"], "not a loopback address"),  # noqa: S104 - what must be refused
        (["--http", "--oauth-issuer", "https://a.org"], "needed together"),
        (["--http", "--tls-cert", "x"], "needed together"),
        (["--http", "--tls-cert", "no.pem", "--tls-key", "no.key"], "no.pem"),
        (["--http", "--client-limit", "speed=3"], "There is no limit 'speed'"),
        (["--http", "--client-limit", "sessions"], "limit sessions is ''"),
        (["--http", "--port", "0", "--token-file", "none"], "cannot be read"),
        (["--http", "--allow-host", "a:1"], "has a port"),
        (["--drain-seconds", "5"], "--drain-seconds requires --http"),
        (["--http", "--drain-seconds", "601"], "--drain-seconds 601 is out of range"),
    ],
)
def test_options_that_are_wrong_or_do_not_fit_together_are_clear_errors(
    run: Run, arguments: list[str], problem: str
) -> None:
    ran = run("serve", *arguments)
    assert (ran.status, problem in ran.err) == (2, True), ran.err
