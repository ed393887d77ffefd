"""Which files are read, however they are packed and named; those that would crash a parser are refused."""

import bz2
import gzip
import io
import logging
import lzma
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.graph_source import with_file_limits
from gateway.errors import ConfigurationError
from gateway.files.finding import graph_files
from gateway.files.loading import check_files, load_files, refuse_stdin, request_for
from gateway.files.parser import FileParser
from gateway.files.parser_streams import RefusedError
from gateway.files.recognition import FORMATS, format_of
from gateway.files.stored_graph import open_stored
from gateway.settings.files import FileSettings
from tests.files.test_loading import DOCUMENTS, HTML, N_QUADS, N_TRIPLES, ONE_OF_EACH, TURTLE

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def triples(path: Path) -> set[str]:
    return {str(quad.triple) for quad in load_files([path]).engine}


def zipped(members: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def refusal_here(path: Path) -> str:
    request = request_for(path, path.as_uri(), FileSettings())
    with io.FileIO(path) as file, pytest.raises(RefusedError) as caught:
        FileParser(file, request, lambda *_: None).parse()
    return str(caught.value)


@pytest.fixture
def right(tmp_path: Path) -> set[str]:
    (tmp_path / "right.nt").write_text(N_TRIPLES)
    return triples(tmp_path / "right.nt")


@pytest.mark.parametrize("packing", PACKERS)
def test_a_packed_file_is_read_whatever_its_name_says_of_that(tmp_path: Path, packing: str, right: set[str]) -> None:
    for name in (f"graph.ttl{packing}", "graph.ttl"):
        path = tmp_path / name
        path.write_bytes(PACKERS[packing](TURTLE.encode()))
        assert triples(path) == right


@pytest.mark.parametrize("packing", PACKERS)
def test_a_packed_file_that_is_cut_anywhere_is_refused(tmp_path: Path, packing: str) -> None:
    whole = PACKERS[packing](TURTLE.encode())
    path = tmp_path / f"cut.ttl{packing}"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert refusal_here(path)


def test_all_graph_files_of_an_archive_are_one_graph(
    tmp_path: Path, right: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "graphs.zip"
    lines = N_TRIPLES.splitlines(keepends=True)
    junk: dict[str, str | bytes] = {"__MACOSX/a/._one.nt": b"\x00\x05", ".hidden/x.ttl": "oops"}
    path.write_bytes(
        zipped(
            {
                "a/one.nt": "".join(lines[:2]),
                "two.nt.gz": gzip.compress("".join(lines[2:]).encode()),
                "read.me": "",
                **junk,
            }
        )
    )
    assert triples(path) == right
    assert "what is hidden in it, or no graph by its name, is passed over (3)" in caplog.text


def test_blank_nodes_of_two_files_of_an_archive_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "graphs.zip"
    path.write_bytes(zipped({"one.nt": "_:b <e:p> <e:a> .\n", "two.nt": "_:b <e:p> <e:b> .\n"}))
    assert len({quad.subject for quad in load_files([path]).engine}) == 2


def test_a_mistake_in_an_archive_is_reported_with_its_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "graphs.zip"
    path.write_bytes(zipped({"fine.nt": N_TRIPLES, "bad.ttl": "\n  oops"}))
    with pytest.raises(ConfigurationError, match=r"graphs\.zip: 'bad\.ttl' in it:2:\d+: not valid Turtle"):
        load_files([path])


def test_an_archive_without_graphs_or_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graphs.zip"
    path.write_bytes(zipped({"read.me": "x"}))
    assert "no file in it has the suffix" in refusal_here(path)
    path.write_bytes(zipped({"a.nt": N_TRIPLES})[:-30])
    assert "the zip file is cut or damaged" in refusal_here(path)


@pytest.mark.slow
@pytest.mark.parser_process
def test_the_files_of_an_archive_together_may_unpack_to_as_much_as_one_file_may(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({f"{number}.nt": (b"#" + b" " * 1023 + b"\n") * (4 << 10) for number in range(40)}))
    with pytest.raises(ConfigurationError, match="it unpacks to more than"):
        load_files([path])


@pytest.mark.parametrize("suffix", ONE_OF_EACH)
@pytest.mark.parametrize("other", ["", ".ttl", ".nt", ".rdf", ".jsonld"])
def test_a_file_with_the_suffix_of_another_format_is_read_as_what_it_is(
    tmp_path: Path, suffix: str, other: str, caplog: pytest.LogCaptureFixture, right: set[str]
) -> None:
    path = tmp_path / f"graph{other}"
    path.write_text(DOCUMENTS[suffix])
    by_name = FORMATS.get(other, "")
    shown = format_of(DOCUMENTS[suffix].encode(), by_name)
    if shown == by_name and by_name != FORMATS[suffix]:
        # The beginning of Turtle is that of TriG, and N-Triples are Turtle.
        assert {shown, FORMATS[suffix]} <= {"Turtle", "TriG", "N-Triples", "N-Quads"}
        return
    with caplog.at_level(logging.WARNING):
        assert triples(path) == right
    assert (f"it is read as {shown}, which it looks like" in caplog.text) == (shown != by_name)


@given(st.binary(max_size=300))
def test_any_bytes_are_recognised_as_something_or_nothing(start: bytes) -> None:
    for by_name in ("", *FORMATS.values()):
        assert format_of(start, by_name) in {"", *FORMATS.values()}


@pytest.mark.parametrize("start", [b"#\n" * 2048, b"\n \n" * 1400, b'<a:a> <b:b> "' + b"\\a" * 2000, b"_:a \t" * 900])
def test_long_beginnings_of_nothing_are_looked_at_once(start: bytes) -> None:
    assert format_of(start, "") == ""


def test_statements_of_n3_are_read_and_rules_are_refused(tmp_path: Path, right: set[str]) -> None:
    path = tmp_path / "graph.n3"
    path.write_text(TURTLE)
    assert triples(path) == right
    path.write_text("@prefix e: <http://e/> . { e:x e:p e:y } => { e:y e:p e:x } .")
    assert "rules or quoted formulas, which state nothing" in refusal_here(path)


def test_a_folder_is_all_graph_files_inside_it_by_name(tmp_path: Path) -> None:
    for name in ("b.ttl", "a.nt.gz", "in/c.jsonld", "read.me", ".hidden.ttl", ".git/x.ttl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert list(graph_files([tmp_path])) == [tmp_path / "a.nt.gz", tmp_path / "b.ttl", tmp_path / "in" / "c.jsonld"]
    assert list(graph_files([str(tmp_path / "*.ttl")])) == [tmp_path / "b.ttl"]
    assert list(graph_files([str(tmp_path / "**" / "*.json*")])) == [tmp_path / "in" / "c.jsonld"]


def test_files_that_are_no_graphs_by_their_names_are_left_out_where_they_are_found_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.nt").write_text(N_TRIPLES)
    others = {"catalog-v001.xml": "<catalog/>", "in/package.json": '{"name": "x"}', "in/pom.xml": "<project/>"}
    for name, content in others.items():
        (tmp_path / name).write_text(content)
    for each in (tmp_path, tmp_path / "**" / "*.*"):
        caplog.clear()
        assert list(graph_files([each])) == [tmp_path / "a.nt"]
        for name in others:
            assert f"{name} is no graph by its name, and is left out" in caplog.text
    path = tmp_path / "graphs.zip"
    path.write_bytes(zipped({"a.nt": N_TRIPLES, **others}))
    caplog.clear()
    assert triples(path) == triples(tmp_path / "a.nt")
    assert "no graph by its name, is passed over (3)" in caplog.text
    with pytest.raises(ConfigurationError, match=r"pom\.xml: this is XML and no RDF/XML"):
        load_files(graph_files([tmp_path / "in" / "pom.xml"]))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_is_no_file_in_a_folder_is_left_out_and_said_and_a_link_that_leads_nowhere_is_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.nt").write_text(N_TRIPLES)
    os.mkfifo(tmp_path / "pipe.ttl")
    (tmp_path / "zero.ttl").symlink_to("/dev/zero")
    for each in (tmp_path, tmp_path / "*.*t*"):
        caplog.clear()
        assert list(graph_files([each])) == [tmp_path / "a.nt"]
        assert "pipe.ttl is no file, and is left out" in caplog.text
        assert "zero.ttl is no file, and is left out" in caplog.text
    (tmp_path / "lost.ttl").symlink_to("nowhere")
    for each in (tmp_path, tmp_path / "*.*t*"):
        with pytest.raises(ConfigurationError, match=r"lost\.ttl: No such file"):
            load_files(graph_files([each]))


@pytest.fixture
def tree() -> Iterator[Path]:
    """A folder that another user may look into too, with a file and a folder inside."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "tree" / "in").mkdir(parents=True)
        (folder / "tree" / "a.nt").write_text(N_TRIPLES)
        (folder / "tree" / "in" / "b.nt").write_text(N_TRIPLES)
        yield folder / "tree"


@contextmanager
def another_user() -> Iterator[None]:
    """Be a user for whom modes of files hold, which they do not for root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(54_321)
    try:
        yield
    finally:
        os.seteuid(before)


NO_USERS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes and links")


@NO_USERS
def test_a_folder_inside_that_cannot_be_looked_at_is_an_error_however_the_files_are_meant(tree: Path) -> None:
    patterns = [tree / pattern for pattern in ("**/*.nt", "*/*.nt", "*/b.nt", "in/*.nt")]
    for mode in (0, 0o444):
        (tree / "in").chmod(mode)
        with another_user():
            for each in (tree, tree / "in", *patterns):
                with pytest.raises(ConfigurationError, match=r"/in\b.*Permission denied"):
                    check_files(graph_files([each]))
    with another_user():
        assert list(graph_files([tree / "*.nt"])) == [tree / "a.nt"]
    (tree / "in").rename(tree / "lost+found")
    with another_user():
        for each in (tree, tree / "**" / "*.nt"):
            assert list(graph_files([each])) == [tree / "a.nt"]
    (tree / "lost+found").chmod(0o700)


@NO_USERS
def test_links_to_folders_are_followed_and_each_folder_is_read_once(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "c.nt").write_text(N_TRIPLES)
    (outside / "again").symlink_to(tree)
    for name, target in (("all", tree), ("also", tree / "in"), ("linked", outside), ("more", outside)):
        (tree / name).symlink_to(target)
    found = [tree / "a.nt", tree / "in" / "b.nt", tree / "linked" / "c.nt"]
    for each in (tree, tree / "**" / "*.nt"):
        assert list(graph_files([each])) == found
        assert graph_files([each]).names == ["a.nt", "in/b.nt", "linked/c.nt"]


@NO_USERS
def test_a_link_that_may_have_led_to_a_folder_is_an_error(tree: Path) -> None:
    (tree / "paper.pdf").symlink_to("nowhere")
    (tree / "round.ttx").symlink_to("round.ttx")
    assert len(graph_files([tree])) == 2
    for name in ("data", "v1.2"):
        link = tree / name
        link.symlink_to("/nowhere/data")
        for each in (tree, tree / "**" / "*.nt", tree / "*" / "*.nt"):
            with pytest.raises(
                ConfigurationError, match=f"{name}: what this leads to cannot be looked at: No such file"
            ):
                graph_files([each])
        link.unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_device_that_is_given_as_a_graph_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"/dev/zero: it is neither a file nor a pipe\. Give -,"):
        load_files([Path("/dev/zero")])


def test_a_folder_or_pattern_without_graphs_is_refused(tmp_path: Path) -> None:
    for given_path in (tmp_path, tmp_path / "*.ttl"):
        with pytest.raises(ConfigurationError, match="no file there has the suffix of an RDF format"):
            graph_files([given_path])


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a[1].ttl"
    path.write_text("")
    assert list(graph_files([path])) == [path]


def test_a_url_is_refused_with_the_line_that_fetches_it() -> None:
    with pytest.raises(
        ConfigurationError, match=r"is a URL.*curl --fail --location --output b\.ttl\.gz 'https://e\.org"
    ):
        graph_files(["https://e.org/a/b.ttl.gz?x=1"])
    with pytest.raises(ConfigurationError, match=r"--output graph\.ttl "):
        graph_files(["HTTP://e.org/"])


@pytest.mark.parametrize("url", ["postgresql://me:hush@e.org/graph", "NEO4J://e.org", "bolt+s://e.org/graph"])
def test_the_url_of_a_database_is_no_file_and_is_not_repeated(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"given as a file.* Give it by --endpoint") as raised:
        graph_files([url])
    assert "e.org" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("-", N_QUADS), ("-.ttl", TURTLE), ("-", gzip.compress(TURTLE.encode()))],
    ids=["quads", "turtle", "gzip"],
)
def test_standard_input_is_read_by_its_first_bytes_or_the_format_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: set[str], name: str, content: str | bytes
) -> None:
    path = tmp_path / "content"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.chdir(tmp_path)
    with path.open() as file:
        monkeypatch.setattr(sys, "__stdin__", file)
        assert triples(Path(name)) == right


def test_standard_input_cannot_be_stored() -> None:
    with pytest.raises(ConfigurationError, match="Standard input cannot be stored"):
        refuse_stdin([Path("-")])


def test_an_html_page_with_any_name_is_reported_as_one(tmp_path: Path) -> None:
    path = tmp_path / "page.ttl"
    path.write_text(HTML)
    assert "HTML page" in refusal_here(path)


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


@pytest.mark.parser_process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_xml_entities_that_fill_the_memory_are_refused_with_the_file_and_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "entities.rdf"
    path.write_text(nested_entities(), encoding="utf-8")
    text = refused(path, LITTLE)
    assert "takes more than 128 MB of memory" in text
    assert "--file-limit memory_megabytes=NUMBER" in text


@pytest.mark.parser_process
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_packed_json_that_fills_the_memory_is_refused_and_loads_where_more_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "numbers.jsonld.gz"
    path.write_bytes(gzip.compress(b'{"@id":"http://e/a","http://e/p":[' + b"1," * 300_000 + b"1]}"))
    assert "of memory" in refused(path, LITTLE)
    assert len(load_files([path]).engine) == 1


@pytest.mark.parser_process
@pytest.mark.parametrize("depth", [33, 10_000, 200_000])
@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".trig", ".nq"])
def test_deeply_nested_triple_terms_are_refused(tmp_path: Path, suffix: str, depth: int) -> None:
    path = tmp_path / f"nested{suffix}"
    path.write_text("<a:> <b:> " + "<<( <a:> <b:> " * depth + "<c:>" + " )>>" * depth + " .", encoding="utf-8")
    text = refused(path)
    assert "nested more than 32 deep" in text or "the parser crashed on it (SIGSEGV)" in text


@pytest.mark.parser_process
def test_triple_terms_that_are_nested_as_deep_as_allowed_are_loaded(tmp_path: Path) -> None:
    path = tmp_path / "nested.ttl"
    path.write_text("<a:> <b:> " + "<<( <a:> <b:> " * 31 + "<c:>" + " )>>" * 31 + " .", encoding="utf-8")
    assert len(load_files([path]).engine) == 1


@pytest.mark.parser_process
@pytest.mark.parametrize(("megabytes", "what"), [(17, "a term in it is longer than 16 MiB"), (15.5, "more than 15 MB")])
def test_a_term_that_is_too_long_is_refused_by_name(tmp_path: Path, megabytes: float, what: str) -> None:
    path = tmp_path / "long.ttl"
    path.write_text(f'<a:> <b:> "{"x" * int(megabytes * (1 << 20))}" .', encoding="utf-8")
    assert what in refused(path)


@pytest.mark.parser_process
def test_a_long_term_that_is_allowed_is_loaded_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.ttl"
    length = 14 << 20
    path.write_text(f'<a:> <b:> "{"x" * length}", "y" .', encoding="utf-8")
    assert {len(quad.object.value) for quad in load_files([path]).engine} == {length, 1}


@pytest.mark.parser_process
@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no processor time")
def test_a_file_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.rdf"
    inner = "<r:Description><e:p>" * 60_000
    path.write_text(f'<r:RDF xmlns:r="{RDF}" xmlns:e="http://e/">{inner}', encoding="utf-8")
    text = refused(path, FileSettings(cpu_seconds=1))
    assert "takes more than 1 seconds of processor time" in text
    assert "--file-limit cpu_seconds=NUMBER" in text


@pytest.mark.parser_process
def test_a_packed_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "blank.jsonld.gz"
    path.write_bytes(gzip.compress(b" " * (65 << 20), 1))
    text = refused(path, FileSettings(growth=1))
    assert "it unpacks to more than 1 times the size of the file" in text
    assert "--file-limit growth=NUMBER" in text


@pytest.mark.parser_process
def test_a_small_file_whose_triples_grow_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "grown.ttl"
    objects = ",".join(f"x:{number}" for number in range(3_500))
    path.write_text(f"@prefix x: <http://e/{'x' * 20_000}> . <a:> <b:> {objects} .", encoding="utf-8")
    assert "its triples grow to more than 1 times the size of the file" in refused(path, FileSettings(growth=1))
    assert len(load_files([path]).engine) == 3_500


@pytest.mark.parser_process
def test_prefixes_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "prefixes.ttl"
    path.write_text("".join(f"@prefix p{n}: <http://e/{'x' * 1000}{n}> .\n" for n in range(1_100)), encoding="utf-8")
    assert "more than 1 MB of prefixes" in refused(path)


@pytest.mark.parser_process
def test_no_store_is_made_of_a_file_that_crashes_the_parser(tmp_path: Path) -> None:
    path = tmp_path / "nested.ttl"
    path.write_text("<a:> <b:> " + "<<( <a:> <b:> " * 200_000 + "<c:>" + " )>>" * 200_000 + " .", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"nested\.ttl: the parser crashed on it"):
        open_stored([path], tmp_path / "kept")
    assert not list((tmp_path / "kept").glob("*/graph/store-*"))


class _StopError(Exception):
    pass


@pytest.mark.parser_process
def test_a_load_that_is_stopped_leaves_no_process(tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        assert parsers() or sys.platform != "linux"
        raise _StopError

    path = tmp_path / "large.nt"
    path.write_text("<a:> <b:> <c:> .\n" * 200_000, encoding="utf-8")
    with pytest.raises(_StopError):
        load_files([path], stop)
    assert parsers() == []


@pytest.mark.parser_process
def test_a_pipe_is_loaded_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe.ttl"
    os.mkfifo(path)
    with subprocess.Popen([sys.executable, "-c", f"open({str(path)!r}, 'w').write('<a:> <b:> <c:> .')"]):  # noqa: S603 - ours
        assert len(load_files([path]).engine) == 1


@pytest.mark.parser_process
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


@pytest.mark.parser_process
def test_limits_of_the_command_line_change_those_of_the_profile() -> None:
    changed = with_file_limits(FileSettings(growth=7), ["memory_megabytes=4096", "cpu_seconds=5", "cpu_seconds=6"])
    assert changed == FileSettings(memory_megabytes=4096, cpu_seconds=6, growth=7)
    assert with_file_limits(FileSettings(growth=7), None) == FileSettings(growth=7)


@pytest.mark.parser_process
@pytest.mark.parametrize(
    "wrong",
    ["", "growth", "growth=", "growth=-1", "growth=0", "memory_megabytes=127", "other=1", "growth=1e3", "growth=٣"],
)
def test_a_limit_that_is_wrong_is_refused_with_those_that_are_known(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--file-limit .* is wrong.*NAME=NUMBER.*memory_megabytes"):
        with_file_limits(FileSettings(), [wrong])


# Many small files


@pytest.mark.parser_process
def test_small_files_share_a_process_and_have_one_progress(tmp_path: Path) -> None:
    size = 0
    for number in range(300):
        content = f"<http://e/{number}> <http://e/p> <http://e/{number + 1}> .\n" * 200
        (tmp_path / f"{number}.nt").write_text(content)
        size += len(content)
    (tmp_path / "large.nt").write_text("<http://e/x> <http://e/p> <http://e/y> .\n" * 30_000)
    steps: list[tuple[Path, int, int]] = []
    seen: set[str] = set()

    def note(path: Path, read: int, total: int) -> None:
        steps.append((path, read, total))
        seen.update(parsers())

    graph = load_files(graph_files([tmp_path]), note)
    assert len(graph.engine) == 301
    assert [name for name, _ in graph.prefixes] == [path.name for path in graph_files([tmp_path])]
    small = [(read, total) for path, read, total in steps if path.name == "0.nt"]
    assert [read for read, _ in small] == sorted(read for read, _ in small)
    assert small[-1] == (size, size)
    assert {path.name for path, _, _ in steps} == {"0.nt", "large.nt"}
    assert parsers() == []


@pytest.mark.parser_process
@pytest.mark.parametrize("lenient", [False, True])
def test_a_small_file_that_crashes_the_process_of_many_is_named(tmp_path: Path, *, lenient: bool) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.ttl").write_text(f"<http://e/{number}> <http://e/p> [ <http://e/q> {number} ] .\n")
    (tmp_path / "20.ttl").write_text("<a:> <b:> " + "<<( <a:> <b:> " * 55_000 + "<c:>" + " )>>" * 55_000 + " .")
    (tmp_path / "30.ttl").write_text("oops")
    limits = FileSettings(lenient=lenient)
    if not lenient:
        with pytest.raises(ConfigurationError, match=r"20\.ttl: the parser crashed on it"):
            load_files(graph_files([tmp_path]), limits=limits)
        return
    graph = load_files(graph_files([tmp_path]), limits=limits)
    assert graph.skipped == 2
    # Nothing is read twice: each of the others has one blank node, with a type.
    assert len(graph.engine) == 3 * 38
    assert parsers() == []


@pytest.mark.parser_process
def test_a_file_that_is_gone_or_changes_among_small_ones_is_an_error_of_its_own(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.nt").write_text(N_TRIPLES)
    paths = [*graph_files([tmp_path]), tmp_path / "none.nt"]
    with pytest.raises(ConfigurationError, match=r"none\.nt: No such file or directory"):
        load_files(paths)
