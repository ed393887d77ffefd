"""Files that are read as far as they are valid: what is left out is counted, and nothing about the rest is complete."""

import gzip
import io
import json
import logging
import os
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import ConfigurationError, InputError
from gateway.files.cached_graph import FileCache
from gateway.files.finding import graph_files
from gateway.files.loading import LoadedGraph, load_files
from gateway.files.stored_graph import open_stored
from gateway.settings.files import FileSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.stores.loaded import load
from gateway.tools.gateway import Gateway

E = "http://e/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LENIENT = FileSettings(lenient=True)
GOOD = f"<{E}a> <{E}p> <{E}b> .\n"
TAG = f'<{E}a> <{E}p> "x"@zh-classical .\n'


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def loaded(path: Path, caplog: pytest.LogCaptureFixture, *, lenient: bool = True) -> tuple[LoadedGraph, list[str]]:
    """Return a graph, and the lines in which it is said what is left out."""
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        graph = load_files(graph_files([path]), limits=FileSettings(lenient=lenient))
    return graph, [line.strip() for line in caplog.text.split("\n") if line.startswith("  ")]


XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}">\n{{}}'
LINES = [
    TAG,
    GOOD,
    f'<{E} c> <{E}p> "bad IRI" .\n',
    "no triple\n",
    f'<{E}d> <{E}p> "without an end .\n',
    f'<{E}e> <{E}p> "after it" .\n',
    f"<{E}f> <{E}p> <relative> .\n",
    f'<{E}g> <{E}p> "h\udce9" .\n',
    f"_:one <{E}p> <{E}a> .\n",
    "\n",
    f'_:one <{E}p> "the same one" .\n',
]


def lines() -> bytes:
    return "".join(LINES).encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("repeated", [1, 1_500])
def test_lines_that_are_not_valid_are_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, repeated: int
) -> None:
    filler = b"".join(b"<http://e/n%d> <http://e/p> <http://e/a> .\n" % number for number in range(repeated))
    path = written(tmp_path / "x.nt", filler + lines())
    graph, said = loaded(path, caplog)
    assert graph.skipped == 6
    # Whole blank nodes: the two lines about one of them are about the same.
    assert len(graph.engine) >= repeated + 4
    assert [line.split(":")[:2] for line in said] == [["x.nt", f" line {repeated + n}"] for n in (1, 3, 4, 5, 7, 8)]
    assert "eight characters" in said[0]
    unnamed = load_files([path], limits=LENIENT, blank_types=None).engine
    assert len({str(quad.subject) for quad in unnamed if str(quad.subject).startswith("_:")}) == 1


@pytest.mark.parametrize(
    ("name", "content", "count", "skipped", "places"),
    [
        (
            "x.ttl",
            f'@prefix e: <{E}> .\ne:a e:p "x"@zh-classical ;\n e:q "k" , <{E} b> .\ne:c e:p e:b .',
            2,
            2,
            "23",
        ),
        ("x.ttl", f"@prefix e: <{E}> .\ne:a e:p e:b .\n\ne:c no:p e:b .\ne:d e:p e:b .", 1, 1, "4"),
        ("x.ttl", f'@prefix e: <{E}> .\ne:a e:p e:b .\n@prefix e: "no" .\ne:d e:p e:b .', 1, 1, "3"),
        ("x.trig", f"@prefix e: <{E}> .\ne:g {{ e:a e:p e:b , <{E}{{}}> }}\ne:h {{ oops }}", 1, 2, "23"),
        ("x.nq", f"<{E}a> <{E}p> <{E}b> <{E}g> .\n<{E}a> <{E}p> <{E}c> <g> .\n", 1, 1, "2"),
        ("x.n3", f"@prefix e: <{E}> .\ne:a e:p e:b .\n{{ e:a e:p e:b }} => {{ e:c e:p e:b }} .", 1, 1, ""),
        ("x.jsonld", f'{{"@id": "{E}a", "{E}p": [{{"@id": "{E} b"}},\n{{"@id": "{E}c"}}]}}', 1, 1, ""),
        (
            "x.rdf",
            XML.format(
                f'<rdf:Description rdf:about="{E}a">\n<e:p xml:lang="zh-classical">x</e:p>\n'
                f'<e:q rdf:resource="{E}b"/></rdf:Description>\n<e:T><e:p>&none;</e:p></e:T></rdf:RDF>'
            ),
            2,
            2,
            "35",
        ),
        (
            "x.rdf",
            XML.format(f'<e:T rdf:about="{E}a"/>\n<e:T rdf:about="{E}b"/>'),
            2,
            1,
            "3",
        ),
    ],
)
def test_terms_are_left_out_one_by_one_and_of_a_broken_syntax_the_rest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, content: str, count: int, skipped: int, places: str
) -> None:
    path = written(tmp_path / name, content)
    graph, said = loaded(path, caplog)
    assert (len(graph.engine), graph.skipped) == (count, skipped)
    assert len(said) == skipped
    for line, place in zip(said, places, strict=False):
        assert f" line {place}:" in line or f" {place}:" in line
    if name != "x.jsonld":
        with pytest.raises(ConfigurationError):
            load_files([path])


def test_a_literal_that_only_a_careless_reading_understands_is_no_whole_file(tmp_path: Path) -> None:
    path = written(tmp_path / "x.ttl", f'<{E}a> <{E}p> "one\ntwo" .')
    with pytest.raises(ConfigurationError):
        load_files([path])
    try:
        graph = load_files([path], limits=LENIENT)
    except ConfigurationError:
        return
    assert graph.skipped > 0


def test_the_first_ten_are_shown_and_all_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph, said = loaded(written(tmp_path / "x.nt", TAG * 1_234 + GOOD), caplog)
    assert graph.skipped == 1_234
    assert len(said) == 11
    assert (said[9].split(":")[1], said[10]) == (" line 10", "...")
    assert "1,234 parts of the files left out" in caplog.text


def test_a_file_that_is_valid_is_whole_and_read_as_ever(tmp_path: Path) -> None:
    for name, content in (("x.nt", GOOD), ("x.ttl", GOOD), ("x.nt.gz", gzip.compress(GOOD.encode())), ("e.ttl", "")):
        graph = load_files([written(tmp_path / name, content)], limits=LENIENT)
        assert (graph.skipped, graph.version) == (0, load_files([tmp_path / name]).version)


def test_a_file_of_which_nothing_is_valid_is_refused(tmp_path: Path) -> None:
    for name, content in (
        ("x.nt", "a,b\nc,d\n"),
        ("x.ttl", "oops"),
        ("x.rdf", "<"),
        ("x.ttl", TAG),
    ):
        with pytest.raises(ConfigurationError):
            load_files([written(tmp_path / name, content)], limits=LENIENT)


def test_json_ld_that_leaves_a_triple_out_is_not_whole_in_the_strict_mode_either(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept, lost = {"@id": f"{E}b"}, {"@value": "x", "@language": "zh-classical"}
    path = written(tmp_path / "x.jsonld", json.dumps({"@id": f"{E}a", f"{E}p": [kept, lost]}))
    graph, said = loaded(path, caplog, lenient=False)
    assert (len(graph.engine), graph.skipped) == (1, 1)
    assert "eight characters" in said[0]


def test_a_broken_file_among_others_is_named_and_they_are_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "all"
    (folder / "in").mkdir(parents=True)
    written(folder / "a.nt", GOOD)
    written(folder / "in" / "b.ttl", "oops")
    written(folder / "c.rdf", "<project/>")
    written(folder / "d.nt.gz", gzip.compress(GOOD.replace("a>", "d>").encode() * 1_000)[:-20])
    written(folder / "e.ttl", GOOD.replace("a>", "e>"))
    graph, said = loaded(folder, caplog)
    assert graph.skipped == len(said) == 3
    assert [line.split(":")[0] for line in said] == ["c.rdf", "d.nt.gz", "in/b.ttl"]
    assert str(tmp_path) not in "".join(said)
    assert {str(quad.subject.value) for quad in graph.engine} >= {f"{E}a", f"{E}e"}
    with pytest.raises(ConfigurationError, match=r"c\.rdf: this is XML and no RDF/XML"):
        load_files(graph_files([folder]))


def test_a_broken_file_of_an_archive_is_named_and_the_others_are_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in (("a.nt", GOOD), ("b.ttl", f"{GOOD}oops"), ("c.nt", TAG + GOOD), ("d.ttl", "oops")):
            archive.writestr(name, content)
    graph, said = loaded(written(tmp_path / "x.zip", packed.getvalue()), caplog)
    assert (len(graph.engine), graph.skipped) == (1, 3)
    assert [line.split(":")[1] for line in said] == [f" '{name}' in it" for name in ("b.ttl", "c.nt", "d.ttl")]


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "pipe.nt"
    os.mkfifo(path)
    thread = threading.Thread(target=path.write_bytes, args=(lines(),))
    thread.start()
    graph, _ = loaded(path, caplog)
    thread.join()
    assert graph.skipped == 6


def test_a_stored_graph_remembers_what_was_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, directory = written(tmp_path / "x.nt", TAG + GOOD), tmp_path / "stored"
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            graph = open_stored([path], directory, limits=LENIENT)
        assert graph.skipped == 1
        assert caplog.text.count("x.nt: line 1: ") == 1
    with pytest.raises(ConfigurationError, match="not valid N-Triples"):
        open_stored([path], directory)


def test_what_was_left_out_is_not_written_elsewhere(tmp_path: Path) -> None:
    path = written(tmp_path / "x.nt", TAG + GOOD)
    with pytest.raises(ConfigurationError, match="1 part of the files not valid"):
        load(path, Profile(files=LENIENT))


def test_the_strict_error_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--lenient leaves out what is not valid"):
        load_files([written(tmp_path / "x.nt", TAG)])


# No answer is complete.

PEOPLE = f"""<{E}ann> <{RDF}type> <{E}Person> .
<{E}ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann" .
<{E}ann> <{E}knows> <{E}bob> .
<{E}bob> <{RDF}type> <{E}Person> .
<{E}bob> <http://www.w3.org/2000/01/rdf-schema#label> "Bob" .
<{E}bob> <{E}age> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""
CALLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("describe_schema", {}),
    ("describe_schema", {"all": True}),
    ("describe_schema", {"node_types": [f"{E}Person"]}),
    ("search_entities", {"query": "Ann"}),
    ("search_entities", {"query": "nobody"}),
    ("search_entities", {"node_types": [f"{E}Person"]}),
    ("search_entities", {"node_types": [f"{E}Person"], "where": ["age > 3"], "values": ["age"]}),
    ("search_entities", {"node_types": [f"{E}Person"], "compute": ["count", "sum age"]}),
    ("search_entities", {"node_types": [f"{E}Person"], "group_by": "age", "compute": ["count"]}),
    ("describe_entity", {"id": f"{E}ann"}),
    ("describe_entities", {"ids": [f"{E}ann", f"{E}nobody"]}),
    ("bfs_query", {"seeds": [f"{E}ann"], "max_hops": 2}),
    ("bfs_query", {"seeds": [f"{E}ann"], "max_hops": 1, "topology_only": True}),
    ("bfs_query", {"seeds": [f"{E}ann"], "max_hops": 1, "values": ["age"]}),
    ("intersect_subgraphs", {"seeds": [f"{E}ann", f"{E}bob"], "k": 1}),
)


def opened(path: Path, *, lenient: bool = True, cache: Path | None = None) -> Gateway:
    # That the operator vouches for a list says nothing about what was left out.
    profile = Profile(files=FileSettings(lenient=lenient), orientation=OrientationSettings(vouched=True))
    return open_gateway(path, profile=profile, cache=None if cache is None else FileCache(cache, large=0))


@pytest.mark.anyio
@pytest.mark.parametrize("shape", ["reference", "compact"])
@pytest.mark.parametrize("is_stored", [False, True])
async def test_no_answer_of_any_tool_is_complete_where_something_was_left_out(
    tmp_path: Path, shape: str, is_stored: bool
) -> None:
    broken, whole = written(tmp_path / "x.nt", PEOPLE + TAG), written(tmp_path / "whole.nt", PEOPLE)
    cache = tmp_path / "cache" if is_stored else None
    for _ in range(2):
        async with opened(broken, cache=cache) as gateway, opened(whole) as other:
            await gateway.wait_until_ready()
            for tool, arguments in CALLS:
                answer = (await gateway.call(tool, arguments, shape=shape)).as_json()  # type: ignore[call-overload]
                assert answer["complete"] is False, (tool, arguments)
                assert answer.get("comprehensive", False) is False
                assert "1 part of the files of this graph was not valid and left out" in json.dumps(answer)
                assert not {"computed", "groups"} & set(answer)
                right = (await other.call(tool, arguments, shape=shape)).as_json()  # type: ignore[call-overload]
                assert right["complete"] is True, (tool, arguments)


@pytest.mark.anyio
async def test_what_is_not_found_may_be_in_what_was_left_out(tmp_path: Path) -> None:
    async with opened(written(tmp_path / "x.nt", PEOPLE + TAG)) as gateway:
        with pytest.raises(InputError, match="1 part of the files of this graph was not valid and left out, so it may"):
            await gateway.describe_entity(f"{E}nobody")
        with pytest.raises(InputError, match="so they may exist"):
            await gateway.bfs_query([f"{E}nobody"], 1)
        subgraph = await gateway.bfs_subgraph([f"{E}ann"], 1)
        assert not subgraph.complete


@pytest.mark.anyio
async def test_of_a_graph_with_hidden_parts_no_number_is_told(tmp_path: Path) -> None:
    hidden = HiddenSettings(predicates=(f"{E}age",))
    path = written(tmp_path / "x.nt", PEOPLE + TAG)
    async with open_gateway(path, profile=Profile(files=LENIENT, hidden=hidden)) as gateway:
        found = await gateway.search_entities("Ann")
    assert not found.complete
    assert "the files of this graph were read in part" in "".join(found.warnings or ()).lower()
