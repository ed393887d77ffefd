"""The documentation as a site that a browser shows without a network, and its commands as a new user runs them."""

import ast
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from mcp import Client, StdioServerParameters

from tests.databases.served import load
from tests.graphs import fixture
from tests.neo4j.database import own_database
from tests.postgres.conftest import database  # noqa: F401 - a fixture
from tests.postgres.database import Database
from tests.servers import neo4j, postgres
from tests.servers.cache import CHECKOUT
from tests.servers.loopback import HOST
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.valkey import running_valkey
from tests.site.build import build, notebook_as_page, pages_in_navigation, with_links_of_the_site
from tests.site.reader import PAGES, Command, Reader, commands

LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
"""An element that a browser loads from another host."""


def test_links_to_source_are_text_on_the_site_and_those_in_code_stay() -> None:
    page = CHECKOUT / "docs" / "notes" / "mcp.md"
    text = "[a](../tools.md#x) [b](../../deploy/x.md) [c](https://example.org/) [d](#e) ![f](../images/hop.svg)\n"
    code = "```text\n[b](../../deploy/x.md)\n```\n"
    assert with_links_of_the_site(text + code, page) == text.replace("[b](../../deploy/x.md)", "b") + code


def test_a_link_named_by_its_file_gets_the_title_of_the_page() -> None:
    page = CHECKOUT / "docs" / "cli.md"
    assert with_links_of_the_site("see [errors.md](errors.md#errors), [limits](limits.md)", page) == (
        "see [Errors, and what an answer may lack](errors.md#errors), [limits](limits.md)"
    )


def test_a_notebook_is_a_page_of_its_text_and_code() -> None:
    page = CHECKOUT / "docs" / "python.md"
    assert with_links_of_the_site("[file.ipynb](notebooks/file.ipynb)", page) == "[file.ipynb](notebooks/file.md)"
    for path in (CHECKOUT / "docs" / "notebooks").glob("*.ipynb"):
        text = notebook_as_page(path.read_text(encoding="utf-8"))
        assert text.startswith("# ")
        codes = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert any("open_gateway(" in code for code in codes)
        for code in codes:
            compile(code, path.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("repository", ["example", 'a/b"\n', "https://example.org/a/b"])
def test_what_is_no_repository_is_refused(tmp_path: Path, repository: str) -> None:
    with pytest.raises(ValueError, match="owner/name"):
        build(tmp_path, repository)


@pytest.mark.process
def test_the_site_is_made_without_the_tools_of_tests() -> None:
    code = "import sys; sys.modules.update(pytest=None, hypothesis=None); import tests.site.__main__"
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, check=True)  # noqa: S603 - this Python, and our text


@pytest.mark.server
def test_the_site_is_built_without_a_fault_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    try:
        done = build(tmp_path, "owner/name")
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert done.code == 0, done.output[-3000:]
    for page in pages_in_navigation():
        html = (tmp_path / "site" / page).with_suffix(".html").read_text(encoding="utf-8")
        loaded = [tag for tag in LOADED.findall(html) if 'rel="canonical"' not in tag]
        assert loaded == [], page
        assert 'href="https://github.com/owner/name"' in html
        assert 'data-md-color-scheme="slate"' in html
    places = [item["location"] for item in json.loads((tmp_path / "site" / "search.json").read_bytes())["items"]]
    are_decisions = [place.startswith("decisions/") for place in places]
    assert are_decisions == sorted(are_decisions)
    assert any(are_decisions)


SECONDS: Final = 120
"""How long a command may take before it counts as hung."""

NOT_RUN: Final = {
    "docs/check.md: bfsql-gateway check --profile rhea": "what the profile says holds of Rhea's own server alone",
    "docs/operating.md: OTEL_SERVICE_NAME=bfsql OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf opentelemetry-instrument "
    "bfsql-gateway serve --http": "the launcher of OpenTelemetry is in no lock; tests/test_telemetry.py has the spans",
    "docs/serving.md: bfsql-gateway serve --http --host 0.0.0.0 --allow-host graphs.example.org --proxy 10.0.0.7    "
    "--oauth-issuer https://login.example.org --oauth-keys https://login.example.org/jwks    "
    "--oauth-audience https://graphs.example.org/mcp": "no authority that this machine trusts certifies a login server "
    "on loopback; tests/server/access/test_oauth.py has one",
}
"""Why this test does not run a command."""

LATER: Final = "try again later"
"""What the program says where a server took too long. A reader does so: servers that have just started are slow."""

COMMANDS: Final = list(commands())
RUN: Final = [command for command in COMMANDS if str(command) not in NOT_RUN]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A query endpoint; its graph has names, and a part in the shape of Wikidata."""
    graphs = [fixture("medical"), fixture("wikidata-slice")]
    try:
        with running_oxigraph(graphs, workdir=tmp_path_factory.mktemp("endpoint")) as server:
            yield server.endpoint
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A shared cache."""
    try:
        with running_valkey(tmp_path_factory.mktemp("valkey")) as server:
            yield server.url
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="module")
def tables(database: Database) -> str:  # noqa: F811 - the fixture
    """A database of PostgreSQL with a graph."""
    url = database.make_database("documented")
    load("medical", url, postgres.USER, database.server.password)
    return url


@pytest.fixture(scope="module")
def empty_tables(database: Database) -> str:  # noqa: F811 - the fixture
    """A database of PostgreSQL without tables."""
    return database.make_database("documented_empty")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database of Neo4j with a small graph, of which all labels are read; that of other tests has many nodes."""
    try:
        with own_database(tmp_path_factory.mktemp("nodes"), {"films": [fixture("films")]}) as server:
            yield f"neo4j://{neo4j.USER}@{HOST}:{server.port}/neo4j"
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Reader:
    """Who types the commands."""
    return Reader(tmp_path, request.getfixturevalue)


@pytest.fixture
def typed(command: Command, reader: Reader) -> str:
    """What is typed for a command. Servers are started for it, some of them by an event loop of their own."""
    return reader.typed(command)


def test_what_is_not_run_stands_in_a_page_and_begins_none() -> None:
    assert NOT_RUN.keys() <= {str(command) for command in COMMANDS}
    first = {page: next((command for command in COMMANDS if command.page == page), None) for page in PAGES}
    assert not NOT_RUN.keys() & {str(command) for command in first.values()}
    assert len(RUN) > 40


@pytest.mark.anyio
@pytest.mark.server
@pytest.mark.parametrize("command", RUN, ids=str)
async def test_a_command_of_the_documentation_does_what_it_is_there_for(
    command: Command, reader: Reader, typed: str
) -> None:
    async with asyncio.timeout(SECONDS):
        if command.name == "explore" or " --http" in typed:
            await over_http(reader, typed)
        elif command.name == "serve":
            await over_stdio(reader, typed)
        else:
            await to_its_end(reader, typed)


async def to_its_end(reader: Reader, typed: str) -> None:
    """Run a command that ends."""
    process = await asyncio.create_subprocess_exec(
        *shell(typed),
        cwd=reader.folder,
        env=reader.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, said = (text.decode() for text in await process.communicate())
    if LATER in said:
        await to_its_end(reader, typed)
        return
    assert process.returncode == 0, said
    assert "error:" not in said
    # Some write to a file.
    assert out or " > " in typed or " >> " in typed or " --out " in typed


async def over_stdio(reader: Reader, typed: str) -> None:
    """Run a server as its client does."""
    bash, *arguments = shell(typed)
    parameters = StdioServerParameters(command=bash, args=arguments, cwd=reader.folder, env=dict(reader.environment))
    async with Client(parameters) as client:
        await describe(client)


async def over_http(reader: Reader, typed: str) -> None:
    """Run a server until its graph is open, and ask it unless it wants a token; end it as Ctrl-C does."""
    process = await asyncio.create_subprocess_exec(
        *shell(typed),
        cwd=reader.folder,
        env=reader.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    said = ""
    try:
        while "Ready after" not in said:
            line = await process.stderr.readline()
            assert line, f"it ended:\n{said}"
            said += line.decode()
        served = re.search(r"at (https?://\S+) \((.*?)\)", said)
        assert served is not None, said
        if served[2] == "this machine only":
            async with Client(served[1]) as client:
                await describe(client)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        _, rest = await process.communicate()
    assert "error:" not in said + rest.decode(), said + rest.decode()


def shell(typed: str) -> list[str]:
    """Return the program and the arguments that run a command line."""
    return ["bash", "-o", "pipefail", "-c", typed]


async def describe(client: Client) -> None:
    """Ask each graph of a server what it has."""
    tools = (await client.list_tools()).tools
    assert len(tools) == 6
    graphs = tools[0].input_schema.get("properties", {}).get("graph", {}).get("enum", [None])
    for graph in graphs:
        predicates: object = None
        while not predicates:
            answer = await client.call_tool("describe_schema", {"graph": graph} if graph else {})
            assert not answer.is_error or LATER in str(answer.content), answer.content
            predicates = (answer.structured_content or {}).get("predicates")
