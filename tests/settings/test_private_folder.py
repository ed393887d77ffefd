"""What is stored between runs is read only from folders that nobody else may write to."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.files.stored_graph import folder_of, open_stored
from gateway.flow.quota_state import QuotaFile, QuotaState
from gateway.settings.storage import check_private, default_store, make_folder, opened, read_at_most, write_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")

AS_ROOT = pytest.mark.skipif(sys.platform != "win32" and os.geteuid() != 0, reason="only root may give files away")
SOMEBODY = 12_345


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text("<urn:a> <urn:p> <urn:b> .", encoding="utf-8")
    return path


def given_away(folder: Path) -> None:
    os.chown(folder, SOMEBODY, -1)


def writable(folder: Path) -> None:
    folder.chmod(0o770)


DONE = [writable, pytest.param(given_away, marks=AS_ROOT)]


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")] if path.is_dir()}


def test_every_folder_that_is_made_is_for_its_owner_alone(tmp_path: Path, graph: Path) -> None:
    make_folder(tmp_path / "a" / "b" / "c")
    assert modes(tmp_path / "a") == {0o700}
    open_stored([graph], tmp_path / "store")
    assert modes(tmp_path / "store") - modes(next((tmp_path / "store").glob("*/graph/store-*[!k]"))) == {0o700}


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("done", DONE)
def test_a_store_that_others_may_have_written_is_refused_with_what_to_do(
    tmp_path: Path, graph: Path, done: object, level: int
) -> None:
    store = tmp_path / "store"
    open_stored([graph], store)
    place = folder_of([graph], store)
    folder = [store, place, place / "graph"][level]
    assert callable(done)
    done(folder)
    with pytest.raises(ConfigurationError) as caught:
        open_stored([graph], store)
    assert str(folder) in str(caught.value)
    assert "--store" in caught.value.next_step
    assert ("chmod go-w" in caught.value.next_step) == (done is writable)


@pytest.mark.parametrize("level", [1, 2])
def test_a_link_inside_a_store_is_refused(tmp_path: Path, graph: Path, level: int) -> None:
    store = tmp_path / "store"
    open_stored([graph], store)
    folder = [store, folder_of([graph], store), folder_of([graph], store) / "graph"][level]
    moved = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(moved)
    with pytest.raises(ConfigurationError, match="is a symbolic link"):
        open_stored([graph], store)


def test_a_link_of_ones_own_to_a_folder_is_followed(tmp_path: Path, graph: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "store").symlink_to(tmp_path / "disk")
    assert len(open_stored([graph], tmp_path / "store").engine) == 1
    (tmp_path / "disk").chmod(0o777)
    with pytest.raises(ConfigurationError, match="Other users may write"):
        open_stored([graph], tmp_path / "store")


@AS_ROOT
def test_a_link_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "store").symlink_to(tmp_path / "disk")
    os.chown(tmp_path / "store", SOMEBODY, -1, follow_symlinks=False)
    with pytest.raises(ConfigurationError, match="another user"):
        check_private(tmp_path / "store")


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    check_private(tmp_path / "none", tmp_path / "none" / "further")


@pytest.mark.parametrize("done", DONE)
def test_what_is_stored_of_an_endpoint_is_refused_alike(tmp_path: Path, done: object) -> None:
    store = tmp_path / "store"
    store.mkdir()
    assert callable(done)
    done(store)
    with pytest.raises(ConfigurationError, match="is not used"):
        open_gateway(endpoint="http://127.0.0.1:9/sparql", store=store)


def test_the_users_cache_is_refused_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "bfsql-gateway").mkdir()
    (tmp_path / "bfsql-gateway").chmod(0o777)
    with pytest.raises(ConfigurationError, match="Other users may write"):
        open_gateway(endpoint="http://127.0.0.1:9/sparql")


@pytest.mark.parametrize("done", DONE)
def test_a_quota_that_others_may_have_written_is_neither_read_nor_written(
    tmp_path: Path, done: object, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "cache"
    theirs = QuotaFile(folder / "quota.json", QuotaState(at=1.0, query_seconds=5.0, errors=5.0))
    with theirs.changing() as state:
        state.closed_until = 1e12
    content = (folder / "quota.json").read_bytes()
    assert callable(done)
    done(folder)
    ours = QuotaFile(folder / "quota.json", QuotaState(at=1.0, query_seconds=5.0, errors=5.0))
    with ours.changing() as state:
        assert state.closed_until == 0.0
        state.errors = 3.0
    assert ours.read().errors == 3.0
    assert (folder / "quota.json").read_bytes() == content
    assert caplog.text.count("counts what it asks by itself") == 1


def test_a_file_is_written_whole_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "new" / "about.json"
    write_file(path, "old")
    write_file(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="--store"):
        make_folder(tmp_path / "file" / "below")
    with pytest.raises(ConfigurationError, match="--store"):
        write_file(tmp_path / "file" / "below" / "about.json", "")


# Files by their names


def test_a_pipe_that_nobody_writes_to_is_an_error_and_leaves_no_thread(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = threading.active_count()
    with pytest.raises(OSError, match="nobody wrote to this pipe"):
        opened(pipe, writer_seconds=0.01)
    assert threading.active_count() == before


def test_a_pipe_with_a_writer_is_read_whether_it_has_a_name_or_not(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('named')"]):  # noqa: S603 - ours
        assert read_at_most(pipe, 10) == b"named"
    reading, writing = os.pipe()
    os.write(writing, b"unnamed")
    os.close(writing)
    assert read_at_most(Path(f"/dev/fd/{reading}"), 10) == b"unnamed"
    os.close(reading)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "/dev/null"])
def test_a_device_is_neither_a_file_nor_a_pipe(device: str) -> None:
    with pytest.raises(OSError, match="neither a file nor a pipe"):
        read_at_most(Path(device), 10)


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be a user without a name, a home and a folder for caches."""
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    os.setreuid(SOMEBODY, -1)
    yield
    os.setreuid(0, -1)


@AS_ROOT
@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_has_a_cache_among_the_temporary_files(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    among_temporary = Path(tempfile.gettempdir(), f"bfsql-gateway-{os.geteuid()}")
    assert default_store() == among_temporary
    monkeypatch.setenv("HOME", "")
    assert default_store() == among_temporary
    with open_gateway(graph) as gateway:
        assert gateway.describe_entity("<urn:a>").complete
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_store() == Path("/caches/bfsql-gateway")
