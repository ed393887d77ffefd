"""A server follows the files of its graph where its profile says so (`files.reload`)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.files.graph_files import FileChanges
from gateway.server.gateway_opener import GatewayOpener, ignore_progress
from gateway.settings.files import FileSettings
from gateway.settings.profile import Profile

pytestmark = pytest.mark.anyio

SECONDS = 30


def written(path: Path, names: Iterable[str]) -> None:
    path.write_text("".join(f"<http://e/a> <http://e/{name}> <http://e/{name}> .\n" for name in names))


async def reached(opener: GatewayOpener) -> set[str]:
    gateway = await opener.gateway(ignore_progress)
    answer = await gateway.bfs_query(["http://e/a"], 1)
    assert answer.complete
    return {edge.object.removeprefix("http://e/") for edge in answer.edges}


class Followed:
    """An opener of the graph in a file, and what it opened so far."""

    def __init__(self, path: Path, *, reload: bool = True) -> None:
        profile = Profile(files=FileSettings(reload=reload))
        self.changed = asyncio.Event()
        self.opener = GatewayOpener(profile, lambda _: open_gateway(path, profile=profile), look_seconds=0.01)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[GatewayOpener]:
        """Open the gateway; `changed` is set when another one stands in its place."""
        async with asyncio.timeout(SECONDS), self.opener as opener:
            self.first = await opener.gateway(ignore_progress)
            opener.on_schema(self._note)
            yield opener

    def _note(self) -> None:
        if self.opener.opened is not self.first:
            self.changed.set()


async def test_a_changed_file_is_read_anew_and_a_call_that_runs_meanwhile_ends_on_the_old_graph(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    written(path, "bc")
    followed = Followed(path)
    async with followed.opened() as opener:
        assert await reached(opener) == {"b", "c"}
        written(path, "cde")
        await followed.changed.wait()
        assert await reached(opener) == {"c", "d", "e"}
        old = await followed.first.bfs_query(["http://e/a"], 1)
    assert len(old.edges) == 2
    assert not opener.is_busy


async def test_a_file_that_cannot_be_read_leaves_the_graph_as_it_was_until_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.nt"
    written(path, "b")
    followed = Followed(path)
    said = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "cannot be read anew" in record.getMessage():
                loop.call_soon_threadsafe(said.set)

    caplog.set_level(logging.WARNING)
    log, listening = logging.getLogger("gateway.server.gateway_opener"), Listening()
    log.addHandler(listening)
    try:
        async with followed.opened() as opener:
            path.write_text("no triple")
            await said.wait()
            assert await reached(opener) == {"b"}
            written(path, "f")
            await followed.changed.wait()
            assert await reached(opener) == {"f"}
    finally:
        log.removeHandler(listening)


async def test_without_the_setting_the_graph_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    written(path, "b")
    async with Followed(path, reload=False).opened() as opener:
        written(path, "cd")
        assert await reached(opener) == {"b"}
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "watch files"]


def test_a_change_is_told_once_and_only_when_the_file_is_no_longer_written(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    written(path, "b")
    changes = FileChanges([path])
    assert not changes.have_settled()
    written(path, "bc")
    assert not changes.have_settled()
    written(path, "bcd")
    assert not changes.have_settled()
    assert [changes.have_settled() for _ in range(3)] == [True, False, False]
    path.unlink()
    assert [changes.have_settled() for _ in range(3)] == [False, True, False]
