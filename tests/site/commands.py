"""The commands of the documentation, as a reader finds them."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from tests.servers.cache import CHECKOUT

PAGES: Final = (
    CHECKOUT / "README.md",
    *(page for folder in ("docs", "deploy") for page in sorted((CHECKOUT / folder).rglob("*.md"))),
)

_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED: Final = re.compile(r"^ {4,}([^\s`].*)$", re.MULTILINE)
_IN_TEXT: Final = re.compile(r"`(bfsql-gateway +[^`\n]+)`")
_COMMAND: Final = re.compile(r"bfsql-gateway\"? +([a-z]+)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of a page that runs the program.

    Attributes:
        page: The page.
        text: The command line.
    """

    page: Path
    text: str

    @property
    def name(self) -> str:
        """The command of the program, such as `serve`."""
        found = _COMMAND.search(self.text)
        assert found is not None
        return found[1]

    @property
    def first_table(self) -> str:
        """The first configuration in TOML of the page; empty if there is none."""
        blocks = _BLOCK.finditer(self.page.read_text(encoding="utf-8"))
        return next((block[2] for block in blocks if block[1] == "toml"), "")

    def __str__(self) -> str:
        return f"{self.page.relative_to(CHECKOUT)}: {self.text}"


def commands() -> Iterator[Command]:
    """Yield each command that stands in a block of a page, and before them the one that its text begins with."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        without = _BLOCK.sub(lambda block: " " * len(block[0]), text)
        lines = sorted([*_in_blocks(text), *_indented(without)], key=itemgetter(0))
        shown = [found for found in lines if _COMMAND.search(found[1])]
        begins = [(code.start(), code[1]) for code in _IN_TEXT.finditer(without) if _COMMAND.match(code[1])][:1]
        if begins and (not shown or begins[0] < shown[0]):
            shown = begins + shown
        yield from (Command(page, line) for line in dict.fromkeys(line for _, line in shown))


def _in_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the command lines in blocks, and those that clients are configured with, each with its place."""
    for block in _BLOCK.finditer(text):
        if block[1] in {"sh", "console"}:
            for line in block[2].replace("\\\n", " ").splitlines():
                yield block.start(), line.removeprefix("$ ").strip()
        elif block[1] == "json":
            yield from ((block.start(), line) for line in _configured(json.loads(block[2])))


def _indented(text: str) -> Iterator[tuple[int, str]]:
    yield from ((line.start(), line[1]) for line in _INDENTED.finditer(text))


def _configured(entry: Any) -> Iterator[str]:
    """Yield each command line of a configuration of a client."""
    if isinstance(entry, dict) and isinstance(entry.get("command"), str):
        yield shlex.join([entry["command"], *entry.get("args", [])])
    elif isinstance(entry, dict):
        for below in entry.values():
            yield from _configured(below)
