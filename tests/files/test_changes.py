"""Files that change while they are read, or while a graph of them is served."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.files.graph_files import CHANGED, FileChanges
from gateway.files.loading import request_for
from gateway.files.parser import answer
from gateway.files.parser_streams import PROGRESS, REFUSAL, TRIPLES
from gateway.settings.files import FileSettings
from tests.clocks import Clock

LINE = "<http://e/a> <http://e/p> <http://e/b> .\n"


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("change", [lambda path: path.write_text(LINE), lambda path: os.utime(path, (1, 1))])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, change: Callable[[Path], object], *, lenient: bool
) -> None:
    path = tmp_path / "x.nt"
    path.write_text("".join(LINE.replace("b>", f"b{number}>") for number in range(60_000)))
    frames: list[tuple[bytes, bytes]] = []

    def send(kind: bytes, content: bytes) -> None:
        if kind in {PROGRESS, TRIPLES} and not frames:
            change(path)
        frames.append((kind, content))

    with io.FileIO(path) as file:
        answer(file, request_for(path, "file:///x", FileSettings(lenient=lenient)), send)
    kind, said = frames[-1]
    assert kind == REFUSAL
    assert b"it changed while it was read" in said
    assert b'"is_final": true' in said


def test_a_change_is_seen_at_the_next_look_and_never_forgotten(tmp_path: Path) -> None:
    path, clock = tmp_path / "x.nt", Clock()
    path.write_text(LINE)
    changes = FileChanges([path, tmp_path / "none", tmp_path], clock)
    clock.now += 10
    assert changes.note() == ""
    path.write_text(LINE * 2)
    assert changes.note() == ""
    clock.now += 10
    assert changes.note() == CHANGED
    path.unlink()
    assert changes.note() == CHANGED
    changes = FileChanges([path], clock)
    clock.now += 10
    assert changes.note() == ""


def test_one_more_name_of_a_file_is_no_change_and_another_file_of_the_same_time_is_one(tmp_path: Path) -> None:
    path, clock = tmp_path / "x.nt", Clock()
    path.write_text(LINE)
    changes = FileChanges([path], clock)
    clock.now += 10
    (tmp_path / "backup.nt").hardlink_to(path)
    path.chmod(0o600)
    assert changes.note() == ""
    assert [changes.have_settled() for _ in range(2)] == [False, False]
    clock.now += 10
    other = tmp_path / "other.nt"
    other.write_text(LINE.replace("/b", "/c"))
    was = path.stat()
    os.utime(other, ns=(was.st_atime_ns, was.st_mtime_ns))
    other.replace(path)
    assert [changes.have_settled() for _ in range(3)] == [False, True, False]
    assert changes.note() == CHANGED


@pytest.mark.anyio
@pytest.mark.parametrize("shape", ["reference", "compact"])
async def test_answers_say_that_files_have_changed_and_are_about_what_they_were(tmp_path: Path, shape: str) -> None:
    clock = Clock()
    path = tmp_path / "x.nt"
    path.write_text(LINE)
    calls: list[tuple[str, dict[str, object]]] = [
        ("describe_schema", {}),
        ("search_entities", {"query": "x"}),
        ("describe_entity", {"id": "http://e/a"}),
        ("describe_entities", {"ids": ["http://e/a"]}),
        ("bfs_query", {"seeds": ["http://e/a"], "max_hops": 1}),
    ]
    async with open_gateway(path, wall_clock=clock) as gateway:
        await gateway.wait_until_ready()
        before = [(await gateway.call(tool, given, shape=shape)).as_json() for tool, given in calls]  # type: ignore[call-overload]
        path.write_text(LINE.replace("/b", "/c"))
        clock.now += 10
        after = [(await gateway.call(tool, given, shape=shape)).as_json() for tool, given in calls]  # type: ignore[call-overload]
    for then, now in zip(before, after, strict=True):
        assert now["warnings"][0] == CHANGED
        assert {**now, "warnings": now["warnings"][1:]} == {"warnings": [], **then}
