"""The example of docs/migrating.md reads tables of the reference implementation, and prints what the page shows."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from tests.postgres.database import Database
from tests.postgres.test_existing_tables import EXISTING

pytestmark = pytest.mark.server

PAGE = Path(__file__).resolve().parents[2] / "docs" / "migrating.md"


def _example(language: str) -> str:
    """Return the only example of the page in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def test_the_example_prints_what_the_page_shows(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = _example("toml")
    endpoint = tomllib.loads(profile)["endpoint"]
    profile = profile.replace(endpoint["url"], database.make_database("migrating", EXISTING))
    profile = profile.replace(endpoint["access"]["password"], database.access().password)
    (tmp_path / "graph.toml").write_text(profile, encoding="utf-8")
    (tmp_path / "example.py").write_text(_example("python"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert capsys.readouterr().out == _example("text")
