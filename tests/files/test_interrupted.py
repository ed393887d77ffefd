"""Ctrl-C while a store is written: nothing of it is left, and the next command reads the graph as if nothing were."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

NODES = 8_000
MOST_LOOKS = 30_000
CLASS = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/T>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that takes a moment to load, and its names another."""
    path = tmp_path_factory.mktemp("graph") / "many.nt"
    with path.open("w", encoding="utf-8") as file:
        for number in range(NODES):
            node = f"<http://example.org/n{number}>"
            file.write(f'{node} {CLASS} .\n{node} {LABEL} "Name {number}" .\n{node} <http://example.org/p> {node} .\n')
    return path


@pytest.fixture
def _is_interruptible() -> Iterator[None]:
    """Let what is started take Ctrl-C: a shell starts what it runs in the background with that ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def command(graph: Path, store: Path) -> list[str]:
    search = ["search", f"name {NODES - 1}", "--graph", str(graph), "--store", str(store), "--json"]
    return [sys.executable, "-m", "gateway", *search]


def unfinished(store: Path) -> list[Path]:
    return [*store.glob("*/graph/store-new-*"), *store.rglob("labels-*.draft")]


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "the graph is parsed": lambda store: any(store.glob("*/graph/lock")),
    "the store is written": lambda store: any(store.glob("*/graph/store-new-*/*")),
    "the names are written": lambda store: any(store.rglob("labels-*.draft*")),
}


@pytest.mark.process
@pytest.mark.usefixtures("_is_interruptible")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to all processes of a console")
@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_leaves_no_half_written_store_and_the_next_command_answers(
    graph: Path, tmp_path: Path, moment: str
) -> None:
    store, pause = tmp_path / "store", threading.Event()
    # Ctrl-C at a terminal reaches the processes that parse, too.
    started = subprocess.Popen(  # noqa: S603 - this very program
        command(graph, store), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        for _ in range(MOST_LOOKS):
            if MOMENTS[moment](store) or started.poll() is not None:
                break
            pause.wait(0.002)
        assert started.poll() is None
    finally:
        os.killpg(started.pid, signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert (started.returncode, out, err) == (130, b"", b"")
    assert list(store.glob("*/graph/store-new-*")) == []
    again = subprocess.run(  # noqa: S603 - the same
        command(graph, store), capture_output=True, check=True, timeout=60
    )
    answer = json.loads(again.stdout)
    assert answer["complete"] is True
    assert [hit["name"] for hit in answer["result"]][:1] == [f"Name {NODES - 1}"]
    assert unfinished(store) == []
