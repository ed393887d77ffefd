"""Neo4j Community 5.26 as Maven Central has it: its Java server, without an installation, on loopback.

Its start is that of its own script (`org.neo4j.server.startup`), put together from the jars.
"""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.servers.cache import kept
from tests.servers.java import SHORT_RUN, find_java
from tests.servers.loopback import HOST, free_port
from tests.servers.maven_libraries import NEO4J, fetched
from tests.servers.process import Running, running

USER: Final = "neo4j"
"""The user that every new server has."""

PASSWORD: Final = "a password with a % and an @"  # noqa: S105 - of a server that only tests reach

_HEAP: Final = "-Xmx256m"
_START_TIMEOUT_S: Final = 120.0

_SETTINGS: Final = {
    "server.default_listen_address": HOST,
    "server.http.enabled": "false",
    "server.memory.pagecache.size": "32m",
    # A log of half a gigabyte would be written in advance.
    "db.tx_log.preallocate": "false",
    "dbms.usage_report.enabled": "false",
}

_OPENED: Final = tuple(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "java.io", "sun.nio.ch"))
"""Packages of Java's own that the server looks into."""

_HANDSHAKE: Final = bytes.fromhex("6060b017") + bytes.fromhex("00000405") + bytes(12)
"""The first bytes of Bolt, with one version that the client speaks (5.4)."""


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """A server that answers; its database is `neo4j`."""

    port: int
    process: Running

    @property
    def url(self) -> str:
        """Its URL."""
        return f"bolt://{HOST}:{self.port}"


@contextmanager
def running_neo4j(home: Path, port: int | None = None) -> Iterator[Neo4jServer]:
    """Run a server; killed in the end, because its own end takes 12 seconds.

    Args:
        home: Its folder, which is made where there is none, with an empty database. The log is beside it.
        port: On loopback; a free one when absent.

    Raises:
        ServerUnavailable: This machine has no Java new enough, or cannot get the server.
        ChecksumMismatchError: The server's jars are not the pinned ones.
        ServerStartError: The server died at its start.
    """
    port = port or free_port()
    if not home.exists():
        _make_home(home)
    settings = {**_SETTINGS, "server.bolt.listen_address": f"{HOST}:{port}"}
    lines = [f"{name}={value}\n" for name, value in settings.items()]
    (home / "conf" / "neo4j.conf").write_text("".join(lines), encoding="utf-8")
    command = [*_java(), "org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
    with running(
        [*command, "--console-mode"],
        log=home.with_name(f"{home.name}.log"),
        cwd=home,
        deadline_s=_START_TIMEOUT_S,
        is_ready=partial(_answers, port),
    ) as process:
        try:
            yield Neo4jServer(port, process)
        finally:
            process.kill()


def loaded_home(key: str, load: Callable[[Neo4jServer], None]) -> Path:
    """Return a folder of a server with a database that was filled once; a server needs a copy of its own.

    Args:
        key: What decides the content.
        load: Fills the database.
    """

    def fill(folder: Path) -> None:
        with running_neo4j(folder / "home") as server:
            load(server)
            server.process.end()

    return kept(f"{NEO4J.name}-{key}", fill) / "home"


def _java() -> list[str]:
    """Return the command of Java with the options of the server, before the class that is run."""
    jars = fetched(NEO4J)
    java = find_java(NEO4J.java)
    return [str(java.path), _HEAP, *SHORT_RUN, *_OPENED, "-cp", f"{jars}/*"]


def _make_home(home: Path) -> None:
    """Make the folder of a server, with the password, which is read at its first start alone."""
    (home / "conf").mkdir(parents=True)
    (home / "conf" / "neo4j.conf").touch()
    command = [*_java(), "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", PASSWORD]
    environment = {**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    # A command put together here.
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=60)  # noqa: S603


def _answers(port: int) -> bool:
    """Return whether the server agrees on a version of Bolt."""
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(_HANDSHAKE)
            return any(connection.recv(4))
    except OSError:
        return False
