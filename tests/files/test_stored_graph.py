import errno
import hashlib
import json
import logging
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.files import stored_graph
from gateway.files.loading import LoadedGraph, load_files
from gateway.files.store_files import locked
from gateway.files.stored_graph import folder_of, open_stored
from gateway.settings.load import load_profile
from tests.clocks import fixed_wall_clock
from tests.examples import examples
from tests.shared_data import shared_data

EX = "http://example.org/"
TURTLE = f"""@prefix ex: <{EX}> .
VERSION "1.2"
ex:a a ex:Person ; ex:knows ex:b {{| ex:source _:doc ; ex:weight 0.50 |}} ; ex:name "Ann"@en-GB , "a\\"b" ; ex:age 05 .
_:doc ex:title "Doc \\u00e9" . <#here> ex:p _:doc .
"""
LARGE = 3_000
"""Triples of a large file."""

N_QUADS = f"<{EX}a> <{EX}p> _:n <{EX}g> .\n_:n <{EX}p> <{EX}c> <{EX}h> .\n"


def stores(directory: Path) -> set[str]:
    """Return the names of the stores that are kept, or were begun."""
    return {path.name for path in directory.glob("*/graph/store-*") if path.is_dir()}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    _age(path)
    return path


def _age(path: Path) -> None:
    """Let a file be as old as files mostly are, but for its change time, which nobody can set."""
    os.utime(path, (1_000_000_000, 1_000_000_000))


def canonical(graph: LoadedGraph) -> set[str]:
    dataset = pyoxigraph.Dataset(graph.engine)
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


def plainly(graph: LoadedGraph) -> set[str]:
    return {str(quad) for quad in graph.engine}


def no_parsing(path: Path, read: int, size: int) -> None:
    raise AssertionError(f"{path} was parsed: {read} of {size}")


def _large(path: Path, mark: str = "x") -> Path:
    """Write a file that is long enough for a word of progress; its texts are long, so that its triples are few."""
    texts = (hashlib.shake_256(f"{mark} {number}".encode()).hexdigest(200) for number in range(LARGE))
    lines = (f'<{EX}e{number}> <{EX}p> "{text}" .\n' for number, text in enumerate(texts))
    path.write_text("".join(lines), encoding="utf-8")
    _age(path)
    return path


def test_a_stored_graph_is_what_its_files_say(tmp_path: Path, directory: Path, graph_file: Path) -> None:
    quads = tmp_path / "more.nq"
    quads.write_text(N_QUADS, encoding="utf-8")
    paths = [graph_file, quads]
    plain = load_files(paths)
    for kept in (open_stored(paths, directory), open_stored(paths, directory)):
        assert canonical(kept) == canonical(plain)
        assert kept.prefixes == plain.prefixes
        assert kept.version == plain.version
        assert all(quad.graph_name == pyoxigraph.DefaultGraph() for quad in kept.engine)
    assert len(stores(directory)) == 1


def test_files_that_stay_as_they_are_are_parsed_once(directory: Path, tmp_path: Path) -> None:
    path = _large(tmp_path / "large.nt")
    reports: list[int] = []
    open_stored([path], directory, lambda _, read, __: reports.append(read))
    assert reports
    assert len(open_stored([path], directory, no_parsing).engine) == LARGE


def test_a_file_with_another_time_and_the_same_content_is_not_parsed_again(directory: Path, tmp_path: Path) -> None:
    path = _large(tmp_path / "large.nt")
    open_stored([path], directory)
    os.utime(path, (1_100_000_000, 1_100_000_000))
    open_stored([path], directory, no_parsing)
    (known,) = json.loads(next(directory.glob("*/graph/hashes.json")).read_text(encoding="utf-8")).values()
    assert known["size"] == path.stat().st_size


@pytest.mark.parametrize("keeps_times", [True, False])
def test_a_file_that_changed_is_parsed_again_even_if_size_and_time_are_the_same(
    directory: Path, tmp_path: Path, *, keeps_times: bool
) -> None:
    path = _large(tmp_path / "large.nt")
    before = open_stored([path], directory)
    _large(path, "y")
    if not keeps_times:
        os.utime(path)
    after = open_stored([path], directory)
    assert plainly(after) == plainly(load_files([path]))
    assert after.version != before.version
    assert len(after.engine) == len(before.engine) == LARGE


def test_a_store_that_somebody_reads_is_removed_when_nobody_does(directory: Path, graph_file: Path) -> None:
    reader = open_stored([graph_file], directory)
    (first,) = stores(directory)
    graph_file.write_text(TURTLE + "ex:new ex:p ex:a .", encoding="utf-8")
    second = open_stored([graph_file], directory)
    assert first in stores(directory)
    assert len(second.engine) == len(reader.engine) + 1
    del reader, second
    graph_file.write_text(TURTLE + "ex:newer ex:p ex:a .", encoding="utf-8")
    third = open_stored([graph_file], directory)
    assert len(stores(directory)) == 1
    assert first not in stores(directory)
    assert canonical(third) == canonical(load_files([graph_file]))


@pytest.mark.slow
def test_graphs_share_a_folder_and_never_a_store(tmp_path: Path, directory: Path, graph_file: Path) -> None:
    other = tmp_path / "other.nq"
    other.write_text(N_QUADS, encoding="utf-8")
    for paths in ([graph_file], [other], [graph_file, other], [other, graph_file]):
        assert canonical(open_stored(paths, directory)) == canonical(load_files(paths))
    assert len(stores(directory)) == 4


def test_a_link_that_leads_elsewhere_is_another_graph(tmp_path: Path, directory: Path) -> None:
    for name in ("one.ttl", "two.ttl"):
        (tmp_path / name).write_text(f"<#it> <{EX}p> <{EX}{name}> .", encoding="utf-8")
    link = tmp_path / "latest.ttl"
    for name in ("one.ttl", "two.ttl"):
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        assert canonical(open_stored([link], directory)) == canonical(load_files([link]))
        assert name in str(open_stored([link], directory).engine)


def _cut_manifest(place: Path) -> None:
    manifest = _manifest(place)
    manifest.write_bytes(manifest.read_bytes()[:100])


def _other_manifest(place: Path) -> None:
    _manifest(place).write_text('{"parts": 7}', encoding="utf-8")


def _deep_manifest(place: Path) -> None:
    _manifest(place).write_text('{"other":' + "[" * 200_000, encoding="utf-8")


def _large_manifest(place: Path) -> None:
    with _manifest(place).open("wb") as hollow:
        hollow.truncate(1 << 40)


def _manifest_of_other_files(place: Path) -> None:
    manifest = json.loads(_manifest(place).read_text(encoding="utf-8"))
    _manifest(place).write_text(json.dumps({**manifest, "prefixes": []}), encoding="utf-8")


def _missing_manifest(place: Path) -> None:
    _manifest(place).unlink()


def _other_hashes(place: Path) -> None:
    (place / "hashes.json").write_text('{"files": 7}', encoding="utf-8")


def _manifest(place: Path) -> Path:
    return next(place.glob("store-*/manifest.json"))


def _cut_part(place: Path) -> None:
    part = max(place.glob("store-*/engine/*.sst"), key=lambda path: path.stat().st_size)
    part.write_bytes(part.read_bytes()[:-10])


def _overwritten_part(place: Path) -> None:
    part = max(place.glob("store-*/engine/*.sst"), key=lambda path: path.stat().st_size)
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0xFF
    part.write_bytes(content)


def _missing_part(place: Path) -> None:
    next(place.glob("store-*/engine/CURRENT")).unlink()


def _missing_engine(place: Path) -> None:
    shutil.rmtree(next(place.glob("store-*/engine")))


def _missing_lock(place: Path) -> None:
    next(place.glob("store-*.lock")).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        _deep_manifest,
        _large_manifest,
        _cut_manifest,
        _other_manifest,
        _missing_manifest,
        _manifest_of_other_files,
        _cut_part,
        _overwritten_part,
        _missing_part,
        _missing_engine,
        _missing_lock,
    ],
)
def test_what_is_damaged_is_said_once_and_made_anew(
    directory: Path, graph_file: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    open_stored([graph_file], directory)
    damage(folder_of([graph_file], directory) / "graph")
    with caplog.at_level(logging.WARNING):
        kept = open_stored([graph_file], directory)
    (record,) = caplog.records
    assert "is damaged and is made anew" in record.message
    assert canonical(kept) == canonical(load_files([graph_file]))
    assert len(stores(directory)) == 1


def test_damaged_hashes_are_made_anew_and_nothing_is_parsed(
    directory: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = _large(tmp_path / "large.nt")
    open_stored([path], directory)
    _other_hashes(folder_of([path], directory) / "graph")
    with caplog.at_level(logging.WARNING):
        open_stored([path], directory, no_parsing)
    assert "is damaged and is made anew" in caplog.text
    caplog.clear()
    open_stored([path], directory, no_parsing)
    assert not caplog.records


@pytest.mark.parametrize("what", ["_FORMAT", "version"])
def test_what_another_version_stored_is_made_anew_with_a_message(
    directory: Path, graph_file: Path, what: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other: object = 0 if what == "_FORMAT" else lambda _: "0.0.1"
    with monkeypatch.context() as patch:
        patch.setattr(stored_graph, what, other)
        open_stored([graph_file], directory)
    before = stores(directory)
    assert canonical(open_stored([graph_file], directory)) == canonical(load_files([graph_file]))
    assert stores(directory).isdisjoint(before)
    assert "of another version or setting, and is made anew" in caplog.text


def test_files_that_are_what_they_were_again_are_parsed_again_only_if_their_store_is_gone(
    directory: Path, tmp_path: Path
) -> None:
    path = _large(tmp_path / "large.nt")
    reader = open_stored([path], directory)
    _large(path, "y")
    open_stored([path], directory)
    _large(path)
    assert plainly(open_stored([path], directory, no_parsing)) == plainly(reader)


class _StopError(Exception):
    pass


@pytest.mark.slow
def test_a_load_that_is_stopped_leaves_what_was_there(directory: Path, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise _StopError

    path = _large(tmp_path / "large.nt")
    with pytest.raises(_StopError):
        open_stored([path], directory, stop)
    assert stores(directory) == set()
    before = open_stored([path], directory)
    names = stores(directory)
    _large(path, "y")
    with pytest.raises(_StopError):
        open_stored([path], directory, stop)
    assert stores(directory) == names
    assert len(before.engine) == LARGE
    assert plainly(open_stored([path], directory)) == plainly(load_files([path]))


def test_a_file_that_is_no_graph_is_the_same_error_and_keeps_nothing(directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text("this is no turtle", encoding="utf-8")
    with pytest.raises(ConfigurationError) as plain:
        load_files([path])
    with pytest.raises(ConfigurationError, match=re.escape(str(plain.value))):
        open_stored([path], directory)
    assert stores(directory) == set()


def test_a_file_that_is_gone_is_an_error_though_it_was_stored(directory: Path, graph_file: Path) -> None:
    open_stored([graph_file], directory)
    graph_file.unlink()
    with pytest.raises(ConfigurationError, match=r"graph\.ttl: No such file"):
        open_stored([graph_file], directory)


@pytest.mark.process
@pytest.mark.parametrize("next_is", ["the same graph", "another graph"])
def test_a_process_that_was_killed_while_it_parsed_leaves_no_trace(
    directory: Path, tmp_path: Path, graph_file: Path, next_is: str
) -> None:
    path = _large(tmp_path / "large.nt")
    code = (
        "import os, sys; from pathlib import Path; from gateway.files.stored_graph import open_stored; "
        "open_stored([Path(sys.argv[1])], Path(sys.argv[2]), lambda *_: os._exit(7))"
    )
    killed = subprocess.run([sys.executable, "-c", code, path, directory], check=False, timeout=100)  # noqa: S603 - ours
    assert killed.returncode == 7
    (left,) = stores(directory)
    kept = open_stored([path if next_is == "the same graph" else graph_file], directory)
    assert len(kept.engine)
    assert len(stores(directory) - {left}) == len(stores(directory)) == 1


def test_what_killed_processes_left_of_other_graphs_is_removed_and_what_another_process_makes_is_not(
    directory: Path, graph_file: Path
) -> None:
    open_stored([graph_file], directory)
    left, made = (directory / name / "graph" / "store-new-0123456789abcdef" for name in ("x", "y"))
    for folder in (left, made):
        folder.mkdir(parents=True)
        (folder / "engine").write_bytes(b"half")
    with (made.parent / "lock").open("ab") as lock:
        assert locked(lock)
        open_stored([graph_file], directory, no_parsing)
        assert (left.exists(), made.exists()) == (False, True)
    open_stored([graph_file], directory, no_parsing)
    assert not made.exists()


def test_of_two_that_want_the_same_graph_one_parses_and_the_other_waits(
    directory: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = _large(tmp_path / "large.nt")
    parsing, waited_for = threading.Event(), threading.Event()
    reports: list[tuple[Path, int, int]] = []

    def parse() -> None:
        def note(_: Path, __: int, ___: int) -> None:
            parsing.set()
            assert waited_for.wait(60)

        open_stored([path], directory, note)

    def watch(of: Path, read: int, size: int) -> None:
        reports.append((of, read, size))
        waited_for.set()

    first = threading.Thread(target=parse)
    first.start()
    assert parsing.wait(60)
    kept = open_stored([path], directory, watch)
    first.join(60)
    assert len(kept.engine) == LARGE
    assert len(stores(directory)) == 1
    assert reports[0] == (path, 1 << 20, path.stat().st_size)
    assert "waiting for it" in caplog.text


@pytest.mark.process
def test_several_processes_read_one_store(directory: Path, graph_file: Path) -> None:
    kept = open_stored([graph_file], directory)
    code = (
        "import sys; from pathlib import Path; from gateway.files.stored_graph import open_stored; "
        "print(len(open_stored([Path(sys.argv[1])], Path(sys.argv[2])).engine))"
    )
    other = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", code, graph_file, directory], check=True, capture_output=True, text=True, timeout=100
    )
    assert int(other.stdout) == len(kept.engine)
    assert len(stores(directory)) == 1


def test_a_folder_that_cannot_be_written_is_a_clear_error(
    directory: Path, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        # Root may write anywhere, and the tests may run as root.
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(
        ConfigurationError, match=r"cannot be stored in .*Permission denied.* another folder with --store"
    ):
        open_stored([graph_file], directory)


def test_a_folder_that_is_a_file_is_a_clear_error(directory: Path, graph_file: Path) -> None:
    directory.touch()
    with pytest.raises(ConfigurationError, match=r"cannot be stored in .* another folder with --store"):
        open_stored([graph_file], directory)


@pytest.mark.process
def test_a_disk_that_is_full_is_a_clear_error(directory: Path, tmp_path: Path) -> None:
    path = _large(tmp_path / "large.nt")

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    ran = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-m", "gateway", "schema", "--graph", path, "--store", directory],
        preexec_fn=full,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: The graph cannot be stored in ")
    assert ran.stderr.count("\n") == 1
    assert stores(directory) == set()


# Answers


async def answers(paths: Sequence[Path], seeds: Sequence[str], store: Path | None) -> list[bytes]:
    """Ask each of the six questions, and return the answers as they are written."""
    # What is told of a graph that is still being read, or read in part, depends on how fast the machine is.
    local = load_profile("local")
    limits = local.limits.model_copy(update={"schema_seconds": 300.0})
    profile = local.model_copy(update={"limits": limits})
    async with open_gateway(paths, profile=profile, store=store, wall_clock=fixed_wall_clock) as gateway:
        await gateway.wait_until_ready()
        given = [
            await gateway.describe_schema(),
            await gateway.search_entities("a", limit=100),
            await gateway.search_entities("metformin", limit=5),
            await gateway.bfs_query(seeds, 2),
            await gateway.describe_entities(seeds),
            await gateway.intersect_subgraphs([*seeds[:2]], 2, via=True),
        ]
    return [json.dumps(answer.as_json()).encode() for answer in given]


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", ["medical.ttl", "films.ttl", pytest.param("medlit.ttl.gz", marks=[pytest.mark.data, pytest.mark.large])]
)
async def test_every_answer_is_the_same_to_the_byte(name: str, directory: Path) -> None:
    path = shared_data(name) if name.endswith(".gz") else resources.folder("fixtures") / name
    async with open_gateway(path) as gateway:
        await gateway.wait_until_ready()
        found = (await gateway.search_entities("a", limit=3)).result
    seeds = [hit.id for hit in found]
    plain = await answers([path], seeds, None)
    assert await answers([path], seeds, directory) == plain
    assert await answers([path], seeds, directory) == plain
    assert len(stores(directory)) == 1


_TERMS = st.sampled_from([f"<{EX}{name}>" for name in "abc"] + ["_:x", "_:y"])
_OBJECTS = _TERMS | st.sampled_from(['"1"', '"é"@en-GB', "01", "1.50", "true", '"x"^^<http://example.org/d>'])
_STATEMENTS = st.tuples(_TERMS, st.sampled_from([f"<{EX}p>", f"<{EX}q>", "a"]), _OBJECTS, st.booleans())


@pytest.mark.slow
@given(st.lists(_STATEMENTS, max_size=8))
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_graph_is_stored_as_it_is(tmp_path: Path, statements: list[tuple[str, str, str, bool]]) -> None:
    lines = [
        f"{subject} {predicate} {value} {'{| <http://example.org/since> _:x |}' if annotated else ''} ."
        for subject, predicate, value, annotated in statements
    ]
    path = tmp_path / "any.ttl"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert canonical(open_stored([path], tmp_path / "kept")) == canonical(load_files([path]))
