"""The script of docs/migrating.md reads a database of the reference implementation, and prints what the page shows."""

import re
import runpy
import tomllib
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from gateway.neo4j.connection import Address
from tests.postgres.database import Database
from tests.postgres.test_existing_tables import EXISTING
from tests.servers.loopback import HOST
from tests.servers.neo4j import PASSWORD

pytestmark = pytest.mark.server

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "migrating.md"


def _example(language: str, *, of: str) -> str:
    """Return the only example in a language about a database, whose name is the title of its part of the page."""
    _, part = PAGE.read_text(encoding="utf-8").split(f"\n## {of}\n")
    (found,) = re.findall(rf"```{language}\n(.*?)```", part.partition("\n## ")[0], re.DOTALL)
    return str(found)


def _tables(request: pytest.FixtureRequest, _: Path) -> tuple[str, str]:
    database: Database = request.getfixturevalue("database")
    return database.make_database("migrating", EXISTING), str(database.access().password)


def _nodes(request: pytest.FixtureRequest, folder: Path) -> tuple[str, str]:
    address: Address = request.getfixturevalue("address")
    file = folder / "password"
    file.write_text(PASSWORD, encoding="utf-8")
    return f"neo4j://{HOST}:{urlsplit(address.url).port}/neo4j", f"file:{file}"


@pytest.fixture(params=[("PostgreSQL", _tables), ("Neo4j", _nodes)], ids=["postgresql", "neo4j"])
def migrated(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, str]:
    """The title of a database on the page, and the URL and the password of one like it."""
    title, made = request.param
    return (title, *made(request, tmp_path))


def test_the_script_prints_what_the_page_shows(
    migrated: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    title, url, password = migrated
    profile = _example("toml", of=title)
    endpoint = tomllib.loads(profile)["endpoint"]
    profile = profile.replace(endpoint["url"], url).replace(endpoint["access"]["password"], password)
    (tmp_path / "graph.toml").write_text(profile, encoding="utf-8")
    (tmp_path / "example.py").write_text(_example("python", of="The script"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert capsys.readouterr().out == _example("text", of=title)
