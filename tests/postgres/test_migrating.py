"""The script of docs/migrating.md reads tables of the reference implementation, and prints what the page shows."""

from pathlib import Path

import pytest

from tests.databases.migrating_page import example, run_script
from tests.postgres.database import Database
from tests.postgres.test_existing_tables import EXISTING

pytestmark = pytest.mark.server


def test_the_script_prints_what_the_page_shows(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, password = database.make_database("migrating", EXISTING), str(database.access().password)
    run_script(example("toml", of="PostgreSQL"), url, password, tmp_path, monkeypatch)
    assert capsys.readouterr().out == example("text", of="PostgreSQL")
