"""The examples of docs/migrating.md, run as a reader of the page runs them."""

import re
import runpy
import tomllib
from pathlib import Path
from typing import Final

import pytest

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "migrating.md"


def example(language: str, *, of: str) -> str:
    """Return the only example in a language about a database, whose name is the title of its part of the page."""
    _, part = PAGE.read_text(encoding="utf-8").split(f"\n## {of}\n")
    (found,) = re.findall(rf"```{language}\n(.*?)```", part.partition("\n## ")[0], re.DOTALL)
    return str(found)


def run_script(profile: str, url: str, password: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the script of the page in a folder, with the profile of an example over another database."""
    endpoint = tomllib.loads(profile)["endpoint"]
    profile = profile.replace(endpoint["url"], url).replace(endpoint["access"]["password"], password)
    (folder / "graph.toml").write_text(profile, encoding="utf-8")
    (folder / "example.py").write_text(example("python", of="The script"), encoding="utf-8")
    monkeypatch.chdir(folder)
    runpy.run_path("example.py", run_name="__main__")
