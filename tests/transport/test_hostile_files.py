"""Files that would crash a parser or take all memory are refused, and the gateway goes on."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.graph_source import with_file_limits
from gateway.errors import ConfigurationError
from gateway.files.loading import load_files
from gateway.files.stored_graph import open_stored
from gateway.settings.limits import FileSettings

pytestmark = pytest.mark.parser_process

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LITTLE = FileSettings(memory_megabytes=128)


def refused(path: Path, limits: FileSettings | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_files([path], limits=limits)
    assert parsers() == []
    text = str(caught.value)
    assert text.startswith(f"{path}:")
    return text


def parsers() -> list[str]:
    """Return the processes that parse for this one, where the system tells."""
    found = []
    for children in Path("/proc/self/task").glob("*/children"):
        for child in children.read_text(encoding="ascii").split():
            command = (Path("/proc") / child / "cmdline").read_text(encoding="utf-8")
            found += [command] if "gateway.files.parser" in command else []
    return found


def nested_entities() -> str:
    """Return 772 bytes of XML that are 20 GB when they are expanded."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">\n' for n in range(1, 10))
    return (
        f'<!DOCTYPE r [\n<!ENTITY e0 "lolololololololololo">\n{entities}]>\n'
        f'<r:RDF xmlns:r="{RDF}" xmlns:e="http://e/"><r:Description r:about="http://e/a"><e:p>&e9;</e:p></r:Description></r:RDF>'
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_xml_entities_that_fill_the_memory_are_refused_with_the_file_and_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "entities.rdf"
    path.write_text(nested_entities(), encoding="utf-8")
    text = refused(path, LITTLE)
    assert "takes more than 128 MB of memory" in text
    assert "--file-limit memory_megabytes=NUMBER" in text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_packed_json_that_fills_the_memory_is_refused_and_loads_where_more_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "numbers.jsonld.gz"
    path.write_bytes(gzip.compress(b'{"@id":"http://e/a","http://e/p":[' + b"1," * 300_000 + b"1]}"))
    assert "of memory" in refused(path, LITTLE)
    assert len(load_files([path]).engine) == 1


@pytest.mark.parametrize("depth", [33, 10_000, 200_000])
@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".trig", ".nq"])
def test_deeply_nested_triple_terms_are_refused(tmp_path: Path, suffix: str, depth: int) -> None:
    path = tmp_path / f"nested{suffix}"
    path.write_text("<a:> <b:> " + "<<( <a:> <b:> " * depth + "<c:>" + " )>>" * depth + " .", encoding="utf-8")
    text = refused(path)
    assert "nested more than 32 deep" in text or "the parser crashed on it (SIGSEGV)" in text


def test_triple_terms_that_are_nested_as_deep_as_allowed_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "nested.ttl"
    path.write_text("<a:> <b:> " + "<<( <a:> <b:> " * 31 + "<c:>" + " )>>" * 31 + " .", encoding="utf-8")
    assert len(load_files([path]).engine) == 1


@pytest.mark.parametrize(("megabytes", "what"), [(17, "a term in it is longer than 16 MiB"), (15.5, "more than 15 MB")])
def test_a_term_that_is_too_long_is_refused_by_name(tmp_path: Path, megabytes: float, what: str) -> None:
    path = tmp_path / "long.ttl"
    path.write_text(f'<a:> <b:> "{"x" * int(megabytes * (1 << 20))}" .', encoding="utf-8")
    assert what in refused(path)


def test_a_long_term_that_is_allowed_is_loaded_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.ttl"
    length = 14 << 20
    path.write_text(f'<a:> <b:> "{"x" * length}", "y" .', encoding="utf-8")
    assert {len(quad.object.value) for quad in load_files([path]).engine} == {length, 1}


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no processor time")
def test_a_file_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.rdf"
    inner = "<r:Description><e:p>" * 60_000
    path.write_text(f'<r:RDF xmlns:r="{RDF}" xmlns:e="http://e/">{inner}', encoding="utf-8")
    text = refused(path, FileSettings(cpu_seconds=1))
    assert "takes more than 1 seconds of processor time" in text
    assert "--file-limit cpu_seconds=NUMBER" in text


def test_a_packed_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "blank.jsonld.gz"
    path.write_bytes(gzip.compress(b" " * (65 << 20), 1))
    text = refused(path, FileSettings(growth=1))
    assert "it unpacks to more than 1 times the size of the file" in text
    assert "--file-limit growth=NUMBER" in text


def test_a_small_file_whose_triples_grow_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "grown.ttl"
    objects = ",".join(f"x:{number}" for number in range(3_500))
    path.write_text(f"@prefix x: <http://e/{'x' * 20_000}> . <a:> <b:> {objects} .", encoding="utf-8")
    assert "its triples grow to more than 1 times the size of the file" in refused(path, FileSettings(growth=1))
    assert len(load_files([path]).engine) == 3_500


def test_prefixes_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "prefixes.ttl"
    path.write_text("".join(f"@prefix p{n}: <http://e/{'x' * 1000}{n}> .\n" for n in range(1_100)), encoding="utf-8")
    assert "more than 1 MB of prefixes" in refused(path)


def test_no_store_is_made_of_a_file_that_crashes_the_parser(tmp_path: Path) -> None:
    path = tmp_path / "nested.ttl"
    path.write_text("<a:> <b:> " + "<<( <a:> <b:> " * 200_000 + "<c:>" + " )>>" * 200_000 + " .", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"nested\.ttl: the parser crashed on it"):
        open_stored([path], tmp_path / "kept")
    assert not list((tmp_path / "kept").glob("*/graph/store-*"))


class _StopError(Exception):
    pass


def test_a_load_that_is_stopped_leaves_no_process(tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        assert parsers() or sys.platform != "linux"
        raise _StopError

    path = tmp_path / "large.nt"
    path.write_text("<a:> <b:> <c:> .\n" * 200_000, encoding="utf-8")
    with pytest.raises(_StopError):
        load_files([path], stop)
    assert parsers() == []


def test_a_pipe_is_loaded_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe.ttl"
    os.mkfifo(path)
    with subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'w').write('<a:> <b:> <c:> .')"]):  # noqa: S603 - ours
        assert len(load_files([path]).engine) == 1


@pytest.mark.process
def test_the_command_line_says_which_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "nested.ttl"
    path.write_text("<a:> <b:> " + "<<(<a:><b:>" * 10_000 + "<c:>" + ")>>" * 10_000 + " .", encoding="utf-8")
    ran = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-m", "gateway", "schema", "--graph", path],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {path}: its triple terms are nested more than 32 deep")
    assert ran.stderr.count("\n") == 1


# Limits


def test_limits_of_the_command_line_change_those_of_the_profile() -> None:
    changed = with_file_limits(FileSettings(growth=7), ["memory_megabytes=4096", "cpu_seconds=5", "cpu_seconds=6"])
    assert changed == FileSettings(memory_megabytes=4096, cpu_seconds=6, growth=7)
    assert with_file_limits(FileSettings(growth=7), None) == FileSettings(growth=7)


@pytest.mark.parametrize(
    "wrong",
    ["", "growth", "growth=", "growth=-1", "growth=0", "memory_megabytes=127", "other=1", "growth=1e3", "growth=٣"],
)
def test_a_limit_that_is_wrong_is_refused_with_those_that_are_known(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--file-limit .* is wrong.*NAME=NUMBER.*memory_megabytes"):
        with_file_limits(FileSettings(), [wrong])
