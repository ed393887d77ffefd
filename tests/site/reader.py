"""Who follows the documentation: a shell with an empty home, a folder of files, and servers in the place of hosts."""

import gzip
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import trustme

from gateway.settings.load import built_in, load_profile
from tests.graphs import fixture
from tests.servers import neo4j, postgres
from tests.servers.cache import CHECKOUT
from tests.servers.loopback import HOST, free_port
from tests.site.commands import Command

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
    "uvx": 'exec "$@"',
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
