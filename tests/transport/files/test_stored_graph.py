import errno
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
from gateway.transport.files.loading import LoadedGraph, load_files
from gateway.transport.files.stored_graph import open_kept, place_of
from tests.examples import examples
from tests.shared_data import shared_data

EX = "http://example.org/"
TURTLE = f"""@prefix ex: <{EX}> .
VERSION "1.2"
ex:a a ex:Person ; ex:knows ex:b {{| ex:source _:doc ; ex:weight 0.50 |}} ; ex:name "Ann"@en-GB , "a\\"b" ; ex:age 05 .
_:doc ex:title "Doc \\u00e9" . <#here> ex:p _:doc .
"""
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
    """Write a file that is long enough for a word of progress."""
    lines = (f"<{EX}e{number}> <{EX}p> <{EX}{mark}{number % 7}> .\n" for number in range(30_000))
    path.write_text("".join(lines), encoding="utf-8")
    _age(path)
    return path


def test_a_kept_graph_is_what_its_files_say(tmp_path: Path, directory: Path, graph_file: Path) -> None:
    quads = tmp_path / "more.nq"
    quads.write_text(N_QUADS, encoding="utf-8")
    paths = [graph_file, quads]
    plain = load_files(paths)
    for kept in (open_kept(paths, directory), open_kept(paths, directory)):
        assert canonical(kept) == canonical(plain)
        assert kept.prefixes == plain.prefixes
        assert kept.version == plain.version
        assert all(quad.graph_name == pyoxigraph.DefaultGraph() for quad in kept.engine)
    assert len(stores(directory)) == 1


def test_files_that_stay_as_they_are_are_parsed_once(directory: Path, tmp_path: Path) -> None:
    path = _large(tmp_path / "large.nt")
    told: list[int] = []
    open_kept([path], directory, lambda _, read, __: told.append(read))
    assert told
    assert len(open_kept([path], directory, no_parsing).engine) == 30_000


def test_a_file_with_another_time_and_the_same_content_is_not_parsed_again(directory: Path, tmp_path: Path) -> None:
    path = _large(tmp_path / "large.nt")
    open_kept([path], directory)
    os.utime(path, (1_100_000_000, 1_100_000_000))
    open_kept([path], directory, no_parsing)
    manifest = json.loads(next(directory.glob("*/graph/manifest.json")).read_text(encoding="utf-8"))
    assert manifest["files"][0]["fingerprint"]["size"] == path.stat().st_size


@pytest.mark.parametrize("keeps_times", [True, False])
def test_a_file_that_changed_is_parsed_again_even_if_size_and_time_are_the_same(
    directory: Path, tmp_path: Path, *, keeps_times: bool
) -> None:
    path = _large(tmp_path / "large.nt")
    before = open_kept([path], directory)
    _large(path, "y")
    if not keeps_times:
        os.utime(path)
    after = open_kept([path], directory)
    assert plainly(after) == plainly(load_files([path]))
    assert after.version != before.version
    assert len(after.engine) == len(before.engine) == 30_000


def test_a_store_that_somebody_reads_is_removed_when_nobody_does(directory: Path, graph_file: Path) -> None:
    reader = open_kept([graph_file], directory)
    (first,) = stores(directory)
    graph_file.write_text(TURTLE + "ex:new ex:p ex:a .", encoding="utf-8")
    second = open_kept([graph_file], directory)
    assert first in stores(directory)
    assert len(second.engine) == len(reader.engine) + 1
    del reader, second
    graph_file.write_text(TURTLE + "ex:newer ex:p ex:a .", encoding="utf-8")
    third = open_kept([graph_file], directory)
    assert len(stores(directory)) == 1
    assert first not in stores(directory)
    assert canonical(third) == canonical(load_files([graph_file]))


def test_graphs_share_a_folder_and_never_a_store(tmp_path: Path, directory: Path, graph_file: Path) -> None:
    other = tmp_path / "other.nq"
    other.write_text(N_QUADS, encoding="utf-8")
    for paths in ([graph_file], [other], [graph_file, other], [other, graph_file]):
        assert canonical(open_kept(paths, directory)) == canonical(load_files(paths))
    assert len(stores(directory)) == 4


def test_a_link_that_leads_elsewhere_is_another_graph(tmp_path: Path, directory: Path) -> None:
    for name in ("one.ttl", "two.ttl"):
        (tmp_path / name).write_text(f"<#it> <{EX}p> <{EX}o> .", encoding="utf-8")
    link = tmp_path / "latest.ttl"
    for name in ("one.ttl", "two.ttl"):
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        assert canonical(open_kept([link], directory)) == canonical(load_files([link]))
        assert name in str(open_kept([link], directory).engine)


def _cut_manifest(place: Path) -> None:
    manifest = place / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:100])


def _other_manifest(place: Path) -> None:
    (place / "manifest.json").write_text('{"files": 7}', encoding="utf-8")


def _deep_manifest(place: Path) -> None:
    (place / "manifest.json").write_text('{"other":' + "[" * 200_000, encoding="utf-8")


def _large_manifest(place: Path) -> None:
    with (place / "manifest.json").open("wb") as hollow:
        hollow.truncate(1 << 40)


def _cut_part(place: Path) -> None:
    part = max(place.glob("store-*/*.sst"), key=lambda path: path.stat().st_size)
    part.write_bytes(part.read_bytes()[:-10])


def _overwritten_part(place: Path) -> None:
    part = max(place.glob("store-*/*.sst"), key=lambda path: path.stat().st_size)
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 0xFF
    part.write_bytes(content)


def _missing_part(place: Path) -> None:
    next(place.glob("store-*/CURRENT")).unlink()


def _missing_store(place: Path) -> None:
    shutil.rmtree(next(path for path in place.glob("store-*") if path.is_dir()))


def _missing_lock(place: Path) -> None:
    next(place.glob("store-*.lock")).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        _deep_manifest,
        _large_manifest,
        _cut_manifest,
        _other_manifest,
        _cut_part,
        _overwritten_part,
        _missing_part,
        _missing_store,
        _missing_lock,
    ],
)
def test_what_is_damaged_is_said_once_and_made_anew(
    directory: Path, graph_file: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    open_kept([graph_file], directory)
    damage(place_of([graph_file], directory) / "graph")
    with caplog.at_level(logging.WARNING):
        kept = open_kept([graph_file], directory)
    (record,) = caplog.records
    assert "is damaged and is made anew" in record.message
    assert canonical(kept) == canonical(load_files([graph_file]))
    assert len(stores(directory)) == 1


@pytest.mark.parametrize(("name", "value"), [("format", 0), ("engine", "0.0.1")])
def test_what_another_version_kept_is_made_anew(directory: Path, graph_file: Path, name: str, value: object) -> None:
    open_kept([graph_file], directory)
    path = place_of([graph_file], directory) / "graph" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, name: value}), encoding="utf-8")
    kept = open_kept([graph_file], directory)
    assert canonical(kept) == canonical(load_files([graph_file]))
    assert json.loads(path.read_text(encoding="utf-8"))["store"] != manifest["store"]


class _StopError(Exception):
    pass


def test_a_load_that_is_stopped_leaves_what_was_there(directory: Path, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise _StopError

    path = _large(tmp_path / "large.nt")
    with pytest.raises(_StopError):
        open_kept([path], directory, stop)
    assert stores(directory) == set()
    before = open_kept([path], directory)
    names = stores(directory)
    _large(path, "y")
    with pytest.raises(_StopError):
        open_kept([path], directory, stop)
    assert stores(directory) == names
    assert len(before.engine) == 30_000
    assert plainly(open_kept([path], directory)) == plainly(load_files([path]))


def test_a_file_that_is_no_graph_is_the_same_error_and_keeps_nothing(directory: Path, tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text("this is no turtle", encoding="utf-8")
    with pytest.raises(ConfigurationError) as plain:
        load_files([path])
    with pytest.raises(ConfigurationError, match=re.escape(str(plain.value))):
        open_kept([path], directory)
    assert stores(directory) == set()


def test_a_file_that_is_gone_is_an_error_though_it_was_kept(directory: Path, graph_file: Path) -> None:
    open_kept([graph_file], directory)
    graph_file.unlink()
    with pytest.raises(ConfigurationError, match=r"graph\.ttl: No such file"):
        open_kept([graph_file], directory)


def test_a_process_that_was_killed_while_it_parsed_leaves_no_trace(directory: Path, tmp_path: Path) -> None:
    path = _large(tmp_path / "large.nt")
    code = (
        "import os, sys; from pathlib import Path; from gateway.transport.files.stored_graph import open_kept; "
        "open_kept([Path(sys.argv[1])], Path(sys.argv[2]), lambda *_: os._exit(7))"
    )
    killed = subprocess.run([sys.executable, "-c", code, path, directory], check=False, timeout=100)  # noqa: S603 - ours
    assert killed.returncode == 7
    assert len(stores(directory)) == 1
    kept = open_kept([path], directory)
    assert len(kept.engine) == 30_000
    assert len(stores(directory)) == 1


def test_of_two_that_want_the_same_graph_one_parses_and_the_other_waits(
    directory: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = _large(tmp_path / "large.nt")
    parsing, waited_for = threading.Event(), threading.Event()
    told: list[tuple[Path, int, int]] = []

    def parse() -> None:
        def note(_: Path, __: int, ___: int) -> None:
            parsing.set()
            assert waited_for.wait(60)

        open_kept([path], directory, note)

    def watch(of: Path, read: int, size: int) -> None:
        told.append((of, read, size))
        waited_for.set()

    first = threading.Thread(target=parse)
    first.start()
    assert parsing.wait(60)
    kept = open_kept([path], directory, watch)
    first.join(60)
    assert len(kept.engine) == 30_000
    assert len(stores(directory)) == 1
    assert told[0] == (path, 1 << 20, path.stat().st_size)
    assert "waiting for it" in caplog.text


def test_several_processes_read_one_store(directory: Path, graph_file: Path) -> None:
    kept = open_kept([graph_file], directory)
    code = (
        "import sys; from pathlib import Path; from gateway.transport.files.stored_graph import open_kept; "
        "print(len(open_kept([Path(sys.argv[1])], Path(sys.argv[2])).engine))"
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
        ConfigurationError, match=r"cannot be kept in .*Permission denied.* another folder with --store"
    ):
        open_kept([graph_file], directory)


def test_a_folder_that_is_a_file_is_a_clear_error(directory: Path, graph_file: Path) -> None:
    directory.touch()
    with pytest.raises(ConfigurationError, match=r"cannot be kept in .* another folder with --store"):
        open_kept([graph_file], directory)


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
    assert ran.stderr.startswith("error: The graph cannot be kept in ")
    assert ran.stderr.count("\n") == 1
    assert stores(directory) == set()


# Answers


async def answers(paths: Sequence[Path], seeds: Sequence[str], store: Path | None) -> list[bytes]:
    """Ask each of the six questions, and return the answers as they are written."""
    async with open_gateway(paths, store=store) as gateway:
        given = [
            await gateway.describe_schema(),
            await gateway.search_entities("a", limit=100),
            await gateway.search_entities("metformin", limit=5),
            await gateway.bfs_query(seeds, 2),
            await gateway.describe_entities(seeds),
            await gateway.intersect_subgraphs([*seeds[:2]], 2, via=True),
        ]
    return [json.dumps(answer.as_json()).encode() for answer in given]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", ["medical.ttl", "films.ttl", pytest.param("medlit.ttl.gz", marks=[pytest.mark.data, pytest.mark.large])]
)
async def test_every_answer_is_the_same_to_the_byte(name: str, directory: Path) -> None:
    path = shared_data(name) if name.endswith(".gz") else resources.folder("fixtures") / name
    async with open_gateway(path) as gateway:
        found = (await gateway.search_entities("a", limit=3)).result
    seeds = [hit.id for hit in found]
    plain = await answers([path], seeds, None)
    assert await answers([path], seeds, directory) == plain
    assert await answers([path], seeds, directory) == plain
    assert len(stores(directory)) == 1


_TERMS = st.sampled_from([f"<{EX}{name}>" for name in "abc"] + ["_:x", "_:y"])
_OBJECTS = _TERMS | st.sampled_from(['"1"', '"é"@en-GB', "01", "1.50", "true", '"x"^^<http://example.org/d>'])
_STATEMENTS = st.tuples(_TERMS, st.sampled_from([f"<{EX}p>", f"<{EX}q>", "a"]), _OBJECTS, st.booleans())


@given(st.lists(_STATEMENTS, max_size=8))
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_graph_is_kept_as_it_is(tmp_path: Path, statements: list[tuple[str, str, str, bool]]) -> None:
    lines = [
        f"{subject} {predicate} {value} {'{| <http://example.org/since> _:x |}' if annotated else ''} ."
        for subject, predicate, value, annotated in statements
    ]
    path = tmp_path / "any.ttl"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert canonical(open_kept([path], tmp_path / "kept")) == canonical(load_files([path]))
