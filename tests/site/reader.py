"""The commands of the documentation, and who follows them: a shell with an empty home, and servers of this machine."""

import gzip
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import trustme

from gateway.settings.load import built_in, load_profile
from tests.graphs import fixture
from tests.servers import neo4j, postgres
from tests.servers.cache import CHECKOUT
from tests.servers.loopback import HOST, free_port

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
                # An output may name a command too.
                if block[1] == "sh" or line.startswith("$ "):
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


Servers = Callable[[str], str]
"""Returns the URL of what stands in the place of a host, by the name of the fixture that has it."""

_LEFT_OUT: Final = {
    "bfsql-gateway index": "bfsql-gateway index --endpoint URL",
    "bfsql-gateway completion SHELL": "bfsql-gateway completion bash",
}
"""Commands of which the text leaves out a part."""

_HOSTS: Final = {
    r"http://127\.0\.0\.1:3030/ds/sparql|\bURL\b": "endpoint",
    r"postgresql://owner@[^/ \"]+/graph": "empty_tables",
    r"postgresql://reader@[^/ \"]+/graph": "tables",
    r"neo4j://(?:\w+@)?[^/ \"]+/neo4j": "nodes",
    r"rediss?://[^/ \"]+": "cache",
}
"""The fixture in the place of what has such a URL."""

_PROGRAMS: Final = {
    "bfsql-gateway": f'exec {sys.executable} -m gateway "$@"',
    # As the client starts the server that it is told of.
    "claude": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "uvx": 'if [ "$1" = --from ]; then shift 2; fi; exec "$@"',
    # The library of the development lock in the place of the program.
    "jq": f'exec {sys.executable} -m tests.site.jq "$@"',
}
"""Scripts in the place of the programs of commands."""


class Reader:
    """Who has read a page, and types its commands.

    Attributes:
        folder: Where they are: the checkout, with graphs and a password of their own.
        environment: The variables of their shell.
    """

    def __init__(self, place: Path, servers: Servers) -> None:
        """Give them their files.

        Args:
            place: An empty folder.
            servers: Their servers.
        """
        self._servers = servers
        home, programs, self.folder = place / "home", place / "programs", place / "checkout"
        for folder in (home, programs, self.folder / "people", self.folder / ".venv" / "bin"):
            folder.mkdir(parents=True)
        for name, script in _PROGRAMS.items():
            _write_program(programs / name, script)
        _write_program(self.folder / ".venv" / "bin" / "bfsql-gateway", _PROGRAMS["bfsql-gateway"])
        self._write_files()
        self.environment = {
            "HOME": str(home),
            "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
            "PYTHONPATH": str(CHECKOUT),
            "TERM": "dumb",
            # A browser that shows nothing.
            "BROWSER": "true",
        }

    def _write_files(self) -> None:
        """Write what pages say is the reader's own."""
        folder = self.folder
        (folder / "fixtures").symlink_to(CHECKOUT / "fixtures")
        for name in ("graph.ttl", "films.ttl", "people/someone.ttl"):
            shutil.copy(fixture("films"), folder / name)
        shutil.copy(fixture("medical"), folder / "medical.ttl")
        (folder / "medical.ttl.gz").write_bytes(gzip.compress(fixture("medical").read_bytes()))
        (folder / "medlit.nt").write_text("<urn:a> <urn:cites> <urn:b> .\n", encoding="utf-8")
        crate = {"@context": "https://w3id.org/ro/crate/1.1/context", "@id": "urn:a", "cites": {"@id": "urn:b"}}
        (folder / "ro-crate-metadata.json").write_text(json.dumps(crate), encoding="utf-8")
        context = {"@context": {"cites": "http://schema.org/citation"}}
        (folder / "ro-crate.jsonld").write_text(json.dumps(context), encoding="utf-8")
        (folder / "ids.txt").write_text("drug:warfarin\ndrug:aspirin\n", encoding="utf-8")
        (folder / "movies.toml").write_text('extends = "local"\n', encoding="utf-8")
        assert postgres.PASSWORD == neo4j.PASSWORD
        (folder / "password.txt").write_text(postgres.PASSWORD, encoding="utf-8")
        (folder / "tokens.txt").touch(mode=0o600)
        (folder / "tokens.txt").write_text("carol a-token-of-enough-characters\n", encoding="utf-8")
        issued = trustme.CA().issue_cert(HOST)
        issued.cert_chain_pems[0].write_to_path(folder / "chain.pem")
        issued.private_key_pem.write_to_path(folder / "key.pem")

    def typed(self, command: Command) -> str:
        """Return what the reader types, after writing the configuration of the page that the command names."""
        named = re.search(r"\bgraphs?\.toml\b", command.text)
        if named is not None:
            (self.folder / named[0]).write_text(self._at_hand(command.first_table), encoding="utf-8")
        typed = self._at_hand(_LEFT_OUT.get(command.text, command.text)).replace("/path/to/", f"{self.folder}/")
        if " --http" not in typed:
            return typed
        typed = re.sub(r" --(?:port|host) \S+", "", typed)
        return typed.replace(" --http", f" --http --port {free_port()}")

    def _at_hand(self, text: str) -> str:
        """Return a command or a configuration with servers of this machine in the place of hosts."""
        text = re.sub(r"(neo4j://\S+ --user) \w+", rf"\1 {neo4j.USER}", text)
        text = re.sub(r"(postgresql://\S+ --user) \w+", rf"\1 {postgres.USER}", text)
        text = text.replace("/etc/bfsql/password", str(self.folder / "password.txt"))
        for url, fixture_name in _HOSTS.items():
            if re.search(url, text):
                text = re.sub(url, self._servers(fixture_name), text)
        # The server of the tests has none, and would refuse one.
        text = re.sub(r"\bBFSQL_SHARED_CACHE_PASSWORD=\S+ ", "", text)
        return re.sub(r"(--profile |profile = \")([\w-]+)\b(?!\.toml)", self._near, text)

    def _near(self, found: re.Match[str]) -> str:
        """Return an option or a key with a profile whose endpoint is here, in the place of one of a public endpoint."""
        name = found[2]
        if name not in built_in() or not load_profile(name).endpoint.url:
            return found[0]
        path = self.folder / f"{name}-near.toml"
        lines = [f'extends = "{name}"', "[endpoint]", f'url = "{self._servers("endpoint")}"', "[search]", 'api = ""']
        path.write_text("\n".join(lines), encoding="utf-8")
        return f"{found[1]}{path.name}"


def _write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
