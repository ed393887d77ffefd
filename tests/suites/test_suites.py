"""Suites that others wrote, against a gateway that serves medlit: the conformance suite, the Inspector and a fuzzer."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.suites.conformance import REVISIONS, Revision, checks_of, expected, problems
from tests.suites.fuzzer import fuzz
from tests.suites.inspector import Era, strict
from tests.suites.served import command, medlit, served_over_http

pytestmark = pytest.mark.server

RUNS = 15
SEED = 1


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway over HTTP."""
    with served_over_http(tmp_path_factory.mktemp("served"), medlit()) as url:
        yield url


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_server_conforms_to_the_protocol(revision: Revision, url: str, tmp_path: Path) -> None:
    try:
        checks = checks_of(url, revision, tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert problems(checks, revision, expected()) == []


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("wire", ["stdio", "http"])
def test_the_inspector_finds_nothing_in_the_schemas_of_the_tools(wire: str, era: Era, url: str, tmp_path: Path) -> None:
    target = ["--server-url", url] if wire == "http" else command(medlit())
    try:
        done = strict(era, target, tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert done.code == 0, done.output[-2000:]
    assert '"name": "intersect_subgraphs"' in done.output


def test_the_fuzzer_finds_nothing(url: str, tmp_path: Path) -> None:
    schemas = asyncio.run(_input_schemas(url))
    try:
        fuzzed = fuzz(url, schemas, seed=SEED, runs=RUNS, folder=tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert fuzzed.findings == []
    # Both phases, of all tools.
    assert fuzzed.runs == dict.fromkeys(schemas, 2 * RUNS)


async def _input_schemas(url: str) -> dict[str, dict[str, Any]]:
    async with Client(url) as client:
        return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
