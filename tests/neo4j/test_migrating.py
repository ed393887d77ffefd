"""The script of docs/migrating.md reads a database of the reference implementation, and prints what the page shows."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateway.neo4j.connection import Address
from tests.databases.migrating_page import example, run_script
from tests.neo4j.opening import access
from tests.servers.loopback import HOST

pytestmark = pytest.mark.server


def test_the_script_prints_what_the_page_shows(
    address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, password = f"neo4j://{HOST}:{urlsplit(address.url).port}/neo4j", str(access(tmp_path).password)
    run_script(example("toml", of="Neo4j"), url, password, tmp_path, monkeypatch)
    assert capsys.readouterr().out == example("text", of="Neo4j")
