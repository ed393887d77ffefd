import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers.shared import KeeperError, shared
from tests.servers.unavailable import ServerUnavailable

pytestmark = pytest.mark.server

KEEPER = [
    sys.executable,
    "-c",
    """
import contextlib, pathlib, sys
from tests.servers.loopback import HOST, free_port
from tests.servers.process import running
from tests.servers.shared import keep
folder, port = pathlib.Path(sys.argv[1]), str(free_port())
command = [sys.executable, "-m", "http.server", port, "--bind", HOST]
@contextlib.contextmanager
def server():
    with running(command, ready_url=f"http://{HOST}:{port}/", log=folder / "log", cwd=folder) as process:
        yield process.pid
keep(folder, server())
""",
]
KEEPER_OF_NOTHING = """
import contextlib, pathlib, sys
from tests.servers.shared import keep
from tests.servers.unavailable import ServerUnavailable
@contextlib.contextmanager
def server():
    raise ServerUnavailable(sys.argv[1])
    yield
keep(pathlib.Path(sys.argv[2]), server())
"""
USER = """
import pathlib, sys
from tests.servers.shared import shared
with shared(pathlib.Path(sys.argv[1]), sys.argv[2:]) as pid:
    print(pid, flush=True)
    sys.stdin.read()
"""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ends(pid: int) -> bool:
    """Wait until a process has ended, for a while."""
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(pid)


def test_a_server_is_started_once_and_ends_with_its_last_user(tmp_path: Path) -> None:
    with ExitStack() as second:
        with shared(tmp_path / "server", KEEPER) as pid:
            assert second.enter_context(shared(tmp_path / "server", KEEPER)) == pid
        assert is_alive(pid)
    assert ends(pid)


def test_a_server_that_has_ended_is_started_again(tmp_path: Path) -> None:
    pids = []
    for _ in range(2):
        with shared(tmp_path / "server", KEEPER) as pid:
            assert is_alive(pid)
            pids.append(pid)
        assert ends(pid)
    assert pids[0] != pids[1]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_does_not_outlive_a_user_that_was_killed(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-c", USER, str(tmp_path / "server"), *KEEPER]
    # Our own interpreter and script.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as user:  # noqa: S603
        assert user.stdout is not None
        pid = int(user.stdout.readline())
        assert is_alive(pid)
        user.send_signal(how)
    assert ends(pid)


def test_every_user_reads_why_a_server_cannot_be_had(tmp_path: Path) -> None:
    reason = "needs something that is not here"
    for _ in range(2):
        with (
            pytest.raises(ServerUnavailable, match=reason),
            shared(tmp_path / "server", [sys.executable, "-c", KEEPER_OF_NOTHING, reason]),
        ):
            pytest.fail("it never ran")


def test_a_server_that_cannot_be_started_is_reported_with_the_log_of_its_keeper(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such graph')"]
    with pytest.raises(KeeperError, match="no such graph"), shared(tmp_path / "server", command):
        pytest.fail("it never ran")
