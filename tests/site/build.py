"""One build of the site, by Zensical at the version of its lock, from the pages of `docs/`."""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.servers.cache import CHECKOUT
from tests.suites.packages import python_folder
from tests.suites.programs import Run, run

CONFIGURATION: Final = CHECKOUT / "zensical.toml"

_DOCS: Final = CHECKOUT / "docs"
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")


def assemble(folder: Path) -> None:
    """Write the configuration and the pages into a folder."""
    shutil.copy(CONFIGURATION, folder)
    shutil.copytree(_DOCS, folder / "docs")
    for path in _DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        (folder / "docs" / path.relative_to(_DOCS)).write_text(without_links_outside(text, path), encoding="utf-8")


def without_links_outside(text: str, path: Path) -> str:
    """Return a page with only the texts of links that leave `docs/`: to source, which is not on the site."""

    def replaced(link: re.Match[str]) -> str:
        target = link[2].partition("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        return link[0] if (path.parent / target).resolve().is_relative_to(_DOCS) else link[1]

    # Every second part is code.
    parts = _FENCE.split(text)
    return "".join(part if at % 2 else _LINK.sub(replaced, part) for at, part in enumerate(parts))


def pages_in_navigation() -> list[str]:
    """Return the pages that the navigation of the site names."""
    return list(_pages(tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))["project"]["nav"]))


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
        return
    for below in entry.values() if isinstance(entry, dict) else entry:
        yield from _pages(below)


LOCK: Final = CHECKOUT / "requirements-docs.lock"


def build(folder: Path) -> Run:
    """Build the site into `folder/site`; a link to a page or section that does not exist is an error.

    Raises:
        ServerUnavailable: Zensical is not to be had here.
    """
    path = {"PYTHONPATH": str(python_folder(LOCK)), "NO_COLOR": "1"}
    assemble(folder)
    return run([sys.executable, "-m", "zensical", "build", "--strict"], folder, path)
