"""One build of the site, by Zensical at the version of its lock, from the pages of `docs/`."""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.servers.cache import CHECKOUT
from tests.suites.packages import Run, python_folder, run

CONFIGURATION: Final = CHECKOUT / "zensical.toml"

_DOCS: Final = CHECKOUT / "docs"
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_DECISIONS: Final = "decisions/"


def assemble(folder: Path, repository: str = "") -> None:
    """Write the configuration and the pages into a folder.

    Args:
        folder: The folder.
        repository: The owner and the name of the repository at GitHub, to which each page gets a link; empty for none.

    Raises:
        ValueError: It is no owner and name.
    """
    configuration = CONFIGURATION.read_text(encoding="utf-8")
    if repository:
        if not _REPOSITORY.fullmatch(repository):
            raise ValueError(f"{repository!r} is no owner/name.")
        lines = f'[project]\nrepo_url = "https://github.com/{repository}"\nrepo_name = "{repository}"'
        configuration = configuration.replace("[project]", lines, 1)
    (folder / CONFIGURATION.name).write_text(configuration, encoding="utf-8")
    shutil.copytree(_DOCS, folder / "docs")
    for path in _DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        (folder / "docs" / path.relative_to(_DOCS)).write_text(with_links_of_the_site(text, path), encoding="utf-8")
    for path in _DOCS.rglob("*.ipynb"):
        page = (folder / "docs" / path.relative_to(_DOCS)).with_suffix(".md")
        page.write_text(notebook_as_page(path.read_text(encoding="utf-8")), encoding="utf-8")


def notebook_as_page(text: str) -> str:
    """Return a notebook as a page: its text, and its cells as code."""
    cells = ((cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"])
    return "\n\n".join(source if kind == "markdown" else f"```python\n{source}\n```" for kind, source in cells) + "\n"


def with_links_of_the_site(text: str, path: Path) -> str:
    """Return a page with its links as a reader of the site needs them.

    A link that leaves `docs/`, to source that is not on the site, is its text alone. One whose text is the name of a
    file gets the title of the page, and one to a notebook leads to its page.
    """

    def replaced(link: re.Match[str]) -> str:
        target = link[2].partition("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        page = (path.parent / target).resolve()
        if not page.is_relative_to(_DOCS):
            return link[1]
        if page.suffix == ".ipynb":
            return f"[{link[1]}]({Path(target).with_suffix('.md')})"
        title = _TITLE.search(page.read_text(encoding="utf-8")) if link[1] == page.name and page.is_file() else None
        return f"[{title[1]}]({link[2]})" if title else link[0]

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


def build(folder: Path, repository: str = "") -> Run:
    """Build the site into `folder/site`; a link to a page or section that does not exist is an error.

    Args:
        folder: The folder.
        repository: See `assemble`.

    Raises:
        ServerUnavailable: Zensical is not to be had here.
        ValueError: The repository is no owner and name.
    """
    path = {"PYTHONPATH": str(python_folder(LOCK)), "NO_COLOR": "1"}
    assemble(folder, repository)
    done = run([sys.executable, "-m", "zensical", "build", "--strict"], folder, path)
    if not done.code:
        _put_decisions_last(folder / "site" / "search.json")
    return done


def _put_decisions_last(path: Path) -> None:
    """Move the decisions behind what fits a search as well: a reader seldom looks for them."""
    index = json.loads(path.read_text(encoding="utf-8"))
    index["items"].sort(key=lambda item: item["location"].startswith(_DECISIONS))
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
