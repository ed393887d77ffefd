import io
import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest

from gateway.errors import ConfigurationError
from gateway.files import store_files as loading_module
from gateway.files.cached_graph import FileCache, open_cached
from gateway.files.loading import load_files
from gateway.files.store_files import bulk_load, locked, sizes
from gateway.files.stored_graph import open_stored

EX = "http://example.org/"


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    """A cache that stores files of any size."""
    return FileCache(tmp_path / "cache", large=1)


def graph_file(folder: Path, name: str = "a") -> Path:
    path = folder / f"{name}.ttl"
    path.write_text(f"@prefix ex: <{EX}> . ex:{name} ex:p ex:b, [ ex:q 1.0 ] .", encoding="utf-8")
    return path


def triples(engine: pyoxigraph.Store) -> set[str]:
    dataset = pyoxigraph.Dataset(engine)
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


def no_parsing(path: Path, _read: int, _size: int) -> None:
    raise AssertionError(f"{path} was parsed")


def stored(cache: FileCache) -> Sequence[Path]:
    return [store.path for store in sizes(cache.folder)]


def test_a_graph_that_was_cached_is_what_its_file_says_and_is_not_parsed_again(
    tmp_path: Path, cache: FileCache
) -> None:
    path = graph_file(tmp_path)
    first = open_cached([path], cache)
    again = open_cached([path], cache, no_parsing)
    assert triples(first.engine) == triples(again.engine) == triples(load_files([path]).engine)
    assert first.prefixes == again.prefixes == [("a.ttl", {"ex": EX})]
    assert (first.version, first.place) == (again.version, again.place)
    assert cache.folder.stat().st_mode & 0o777 == 0o700


def test_a_graph_that_will_be_read_in_full_is_in_memory_until_that_was_stored(tmp_path: Path, cache: FileCache) -> None:
    path = graph_file(tmp_path)
    assert not open_cached([path], cache).is_on_disk
    graph = open_cached([path], replace(cache, needs="schema.json"))
    assert not graph.is_on_disk
    assert graph.place is not None
    (graph.place / "profile").mkdir(parents=True)
    (graph.place / "profile" / "schema.json").touch()
    assert open_cached([path], replace(cache, needs="schema.json"), no_parsing).is_on_disk


def test_a_file_that_changed_is_read_again(tmp_path: Path, cache: FileCache) -> None:
    path = graph_file(tmp_path)
    open_cached([path], cache)
    path.write_text(f"<{EX}c> <{EX}p> <{EX}d> .", encoding="utf-8")
    assert triples(open_cached([path], cache).engine) == triples(load_files([path]).engine)
    assert len(stored(cache)) == 1


def test_a_small_file_is_not_cached(tmp_path: Path, cache: FileCache) -> None:
    graph = open_cached([graph_file(tmp_path)], FileCache(cache.folder))
    assert len(graph.engine) == 4
    assert not cache.folder.exists()


def test_a_graph_that_has_no_room_is_not_cached(tmp_path: Path, cache: FileCache) -> None:
    graph = open_cached([graph_file(tmp_path)], replace(cache, max_bytes=10))
    assert len(graph.engine) == 4
    assert not cache.folder.exists()


def test_the_stores_that_were_not_used_for_longest_are_removed_but_for_those_in_use(
    tmp_path: Path, cache: FileCache
) -> None:
    used, old, new = (graph_file(tmp_path, name) for name in ("used", "old", "new"))
    in_use = open_cached([used], cache)
    open_cached([old], cache)
    for hours, store in enumerate(sorted(stored(cache), key=lambda store: store != (in_use.place or store).parent)):
        lock = store.with_name(f"{store.name}.lock")
        os.utime(lock, (1_000_000_000 + 3600 * hours,) * 2)
    before = {store.path: store.size for store in sizes(cache.folder)}
    small = replace(cache, max_bytes=min(before.values()) * 3 // 2)
    open_cached([new], small)
    left = stored(cache)
    assert (in_use.place or tmp_path).parent in left
    assert len(left) == 2
    assert len(triples(open_cached([old], small).engine)) == 4


def test_what_a_killed_process_left_is_removed_and_what_another_process_makes_is_not(
    tmp_path: Path, cache: FileCache
) -> None:
    for name in ("x", "y"):
        unfinished = cache.folder / name / "graph" / "store-new-0123456789abcdef"
        unfinished.mkdir(parents=True)
        (unfinished / "engine").write_bytes(b"half")
    with (cache.folder / "y" / "graph" / "lock").open("ab") as lock:
        assert locked(lock)
        cache.folder.chmod(0o700)
        open_cached([graph_file(tmp_path)], cache)
        names = {path.relative_to(cache.folder).parts[0] for path in stored(cache)}
    assert "x" not in names
    assert "y" in names


def test_what_is_damaged_is_replaced_and_only_debugging_shows_it(
    tmp_path: Path, cache: FileCache, caplog: pytest.LogCaptureFixture
) -> None:
    path = graph_file(tmp_path)
    open_cached([path], cache)
    (store,) = stored(cache)
    next((store / "engine").glob("*.sst")).write_bytes(b"damaged")
    with caplog.at_level(logging.DEBUG, "gateway"):
        assert len(open_cached([path], cache).engine) == 4
    assert [record.levelno for record in caplog.records if "damaged" in record.message] == [logging.DEBUG]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert stored(cache) != [store]


@pytest.mark.parametrize("fault", ["file", "shared", "lists"])
def test_a_cache_that_cannot_be_used_is_no_error(
    tmp_path: Path, cache: FileCache, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    if fault == "file":
        cache.folder.write_text("", encoding="utf-8")
    else:
        cache.folder.mkdir(mode=0o700)
    if fault == "shared":
        cache.folder.chmod(0o777)
    path = graph_file(tmp_path)
    if fault == "lists":
        open_cached([path], cache)
        next(cache.folder.iterdir()).chmod(0o777)
    assert len(open_cached([path], cache).engine) == 4
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_file_that_is_no_graph_is_the_same_error_and_nothing_is_cached(tmp_path: Path, cache: FileCache) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("<a> <b>", encoding="utf-8")
    with pytest.raises(ConfigurationError) as without:
        load_files([path])
    with pytest.raises(ConfigurationError) as within:
        open_cached([path], cache)
    assert str(within.value) == str(without.value)
    assert not stored(cache)


def _n_triples(count: int) -> bytes:
    return b"".join(f"<{EX}s{n}> <{EX}p> <{EX}o{n}> .\n".encode() for n in range(count))


@pytest.mark.slow
def test_two_stores_are_loaded_alike(tmp_path: Path) -> None:
    first, copy = pyoxigraph.Store(), pyoxigraph.Store(str(tmp_path))
    bulk_load(io.BytesIO(_n_triples(20_000)), first, copy)
    assert len(first) == 20_000
    assert set(first) == set(copy)


@pytest.mark.parametrize("part", [1, 100_000, 1 << 20])
def test_triples_are_all_loaded_in_parts(tmp_path: Path, part: int) -> None:
    first, copy, whole = pyoxigraph.Store(), pyoxigraph.Store(str(tmp_path)), pyoxigraph.Store()
    triples = _n_triples(20_000)
    bulk_load(io.BytesIO(triples), whole)
    bulk_load(io.BytesIO(triples), first, copy, part=part)
    assert set(first) == set(copy) == set(whole)


class _Cut(io.BytesIO):
    """A stream that breaks within a triple."""

    def read(self, _size: int | None = -1, /) -> bytes:
        if self.tell():
            raise ConfigurationError("it is cut")
        return super().read(30)


def test_what_the_source_raises_is_raised(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="it is cut"):
        bulk_load(_Cut(_n_triples(2)), pyoxigraph.Store(), pyoxigraph.Store(str(tmp_path)))


def test_a_copy_that_cannot_be_written_is_an_error_after_all_was_read(tmp_path: Path) -> None:
    pyoxigraph.Store(str(tmp_path))
    first, read_only = pyoxigraph.Store(), pyoxigraph.Store.read_only(str(tmp_path))
    with pytest.raises((OSError, RuntimeError)):
        bulk_load(io.BytesIO(_n_triples(50_000)), first, read_only)
    assert len(first) == 50_000


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_copy_in_memory_that_was_loaded_in_part_is_never_the_graph(
    tmp_path: Path, cache: FileCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = graph_file(tmp_path)
    load = loading_module._load  # noqa: SLF001 - an engine that runs out of memory cannot be had otherwise

    def lacking(triples: io.BufferedReader, engine: pyoxigraph.Store) -> None:
        if threading.current_thread().name == "copying":
            triples.readline()
            raise MemoryError
        load(triples, engine)

    monkeypatch.setattr(loading_module, "_load", lacking)
    with pytest.raises(RuntimeError, match="not loaded to its end"):
        bulk_load(io.BytesIO(b"<a:a> <a:b> <a:c> .\n" * 3), pyoxigraph.Store(), pyoxigraph.Store())
    assert len(open_cached([path], cache).engine) == 4


def test_what_a_killed_process_left_of_the_same_files_goes_before_they_are_parsed_again(
    tmp_path: Path, cache: FileCache
) -> None:
    path = graph_file(tmp_path)
    open_cached([path], cache)
    (store,) = stored(cache)
    unfinished = store.parent / "store-new-0123456789abcdef"
    unfinished.mkdir()
    path.write_text(f"<{EX}a> <{EX}b> <{EX}c> .", encoding="utf-8")
    open_stored([path], cache.folder, is_cache=True)
    assert not unfinished.exists()


def test_what_killed_processes_left_goes_also_where_there_is_no_room_for_another(
    tmp_path: Path, cache: FileCache
) -> None:
    unfinished = cache.folder / "x" / "graph" / "store-new-0123456789abcdef"
    unfinished.mkdir(parents=True)
    cache.folder.chmod(0o700)
    assert len(open_cached([graph_file(tmp_path)], replace(cache, max_bytes=1)).engine) == 4
    assert not unfinished.exists()
