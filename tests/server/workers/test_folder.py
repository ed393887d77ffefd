"""The folder of a server with several workers."""

import os
import tempfile
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.server.workers.worker import workers_folder


@pytest.fixture
def parent(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files, short enough for sockets."""
    path = tmp_path_factory.mktemp("t")
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def left(parent: Path, *, age: float) -> Path:
    """Return a folder as a killed server leaves it."""
    folder = parent / "bfsql-left"
    folder.mkdir()
    lock = folder / "lock"
    lock.touch()
    began = lock.stat().st_mtime - age
    os.utime(lock, (began, began))
    return folder


def age(folder: Path) -> None:
    """Let the lock of a folder be an hour old."""
    os.utime(folder / "lock", (0, 0))


def test_the_folder_is_removed_after_the_block(parent: Path) -> None:
    with workers_folder() as folder:
        assert folder.parent == parent
    assert not folder.exists()


def test_what_a_killed_server_left_is_removed(parent: Path) -> None:
    folder = left(parent, age=3600)
    with workers_folder():
        assert not folder.exists()


def test_the_folder_of_a_server_that_runs_or_is_being_started_stays(parent: Path) -> None:
    young = left(parent, age=0)
    with workers_folder() as first:
        age(first)
        with workers_folder():
            assert first.exists()
            assert young.exists()


def test_a_folder_without_a_lock_and_a_link_to_another_one_stay(parent: Path) -> None:
    other = parent / "other"
    other.mkdir()
    (other / "lock").touch()
    age(other)
    (parent / "bfsql-link").symlink_to(other)
    (parent / "bfsql-unknown").mkdir()
    with workers_folder():
        assert other.exists()
        assert (parent / "bfsql-unknown").exists()


def test_a_path_too_long_for_a_socket_is_told_with_what_to_do(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = parent / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(ConfigurationError, match=r"too long for sockets.*TMPDIR"), workers_folder():
        pass
    assert list(long.iterdir()) == []
