import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.loopback import HOST, free_port
from tests.servers.process import ServerStartError, running

pytestmark = pytest.mark.process

HTTP_SCRIPT = """
import http.server, sys
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind="127.0.0.1")
"""
HTTP_SERVER = ("-c", HTTP_SCRIPT)
KEEPER = """
import pathlib, sys, time
from tests.servers.process import running
port, folder = sys.argv[1], pathlib.Path(sys.argv[2])
command = [sys.executable, *sys.argv[3:], port]
with running(command, ready_url=f"http://127.0.0.1:{port}/", log=folder / "log", cwd=folder) as server:
    print(server.pid, flush=True)
    time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_is_gone_when_its_context_ends(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, *HTTP_SERVER, str(port)]
    with running(command, ready_url=f"http://{HOST}:{port}/", log=tmp_path / "log", cwd=tmp_path) as server:
        assert is_alive(server.pid)
    assert not is_alive(server.pid)


def test_a_server_that_dies_at_its_start_is_reported_with_its_log(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such graph')"]
    url = f"http://{HOST}:{free_port()}/"
    with (
        pytest.raises(ServerStartError, match=r"code 1 .*\n.*no such graph"),
        running(command, ready_url=url, log=tmp_path / "log", cwd=tmp_path),
    ):
        pytest.fail("it never ran")


def test_a_port_that_another_server_has_is_refused(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, *HTTP_SERVER, str(port)]
    url = f"http://{HOST}:{port}/"
    with (
        running(command, ready_url=url, log=tmp_path / "first", cwd=tmp_path),
        pytest.raises(ServerStartError, match="another server"),
        running(command, ready_url=url, log=tmp_path / "second", cwd=tmp_path),
    ):
        pytest.fail("it never ran")


def test_a_server_that_never_answers_is_given_up_at_the_deadline_and_stopped(tmp_path: Path) -> None:
    script = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    url = f"http://{HOST}:{free_port()}/"
    log = tmp_path / "log"
    with (
        pytest.raises(ServerStartError, match=r"within 1 s:\n\d+"),
        running([sys.executable, "-c", script], ready_url=url, log=log, cwd=tmp_path, deadline_s=1),
    ):
        pytest.fail("it never ran")
    assert not is_alive(int(log.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent death signal is Linux's")
def test_a_server_does_not_outlive_a_test_process_that_was_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KEEPER, str(free_port()), str(tmp_path), *HTTP_SERVER]
    # Our own interpreter and script.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as keeper:  # noqa: S603
        assert keeper.stdout is not None
        pid = int(keeper.stdout.readline())
        keeper.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(pid)
