import gc
import gzip
import random
import re
from collections.abc import Callable
from io import FileIO
from itertools import product
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ConfigurationError
from gateway.files.loading import LoadedGraph, load_files, request_for
from gateway.files.parser import FileParser
from gateway.files.parser_streams import RefusedError
from gateway.files.rdflib_graphs import load_rdflib
from gateway.settings.files import FileSettings
from tests.examples import examples, some

EX = "http://example.org/"
NS = rdflib.Namespace(EX)
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

TURTLE = f"""@prefix ex: <{EX}> .
ex:a a ex:Person ; ex:knows ex:b ; ex:name "Ann \\u00e9"@en , "a\\"b" ; ex:age 5 .
"""
N_TRIPLES = f"""<{EX}a> <{RDF}type> <{EX}Person> .
<{EX}a> <{EX}knows> <{EX}b> .
<{EX}a> <{EX}name> "Ann \\u00e9"@en .
<{EX}a> <{EX}name> "a\\"b" .
<{EX}a> <{EX}age> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""
TRIG = f"""@prefix ex: <{EX}> .
ex:a a ex:Person .
ex:g {{ ex:a ex:knows ex:b ; ex:name "Ann é"@en , "a\\"b" }}
GRAPH ex:h {{ ex:a ex:age 5 }}
"""
N_QUADS = N_TRIPLES.replace("> .\n", f"> <{EX}g> .\n")
JSON_LD = f"""{{"@context": {{"ex": "{EX}"}}, "@graph": [
  {{"@id": "ex:a", "@type": "ex:Person", "ex:knows": {{"@id": "ex:b"}}, "ex:age": 5,
   "ex:name": [{{"@value": "Ann é", "@language": "en"}}, "a\\"b"]}}]}}
"""
RDF_XML = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:ex="{EX}">
  <ex:Person rdf:about="{EX}a">
    <ex:knows rdf:resource="{EX}b"/>
    <ex:name xml:lang="en">Ann é</ex:name><ex:name>a"b</ex:name>
    <ex:age rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">5</ex:age>
  </ex:Person>
</rdf:RDF>
"""
DOCUMENTS = {
    ".ttl": TURTLE,
    ".turtle": TURTLE,
    ".nt": N_TRIPLES,
    ".ntriples": N_TRIPLES,
    ".trig": TRIG,
    ".nq": N_QUADS,
    ".nquads": N_QUADS,
    ".jsonld": JSON_LD,
    ".json": JSON_LD,
    ".rdf": RDF_XML,
    ".xml": RDF_XML,
    ".owl": RDF_XML,
}
ONE_OF_EACH = (".ttl", ".nt", ".trig", ".nq", ".jsonld", ".rdf")
HTML = "\n <!DOCTYPE html>\n<html><head><title>Not here</title></head><body><p>Sorry</body></html>\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10"

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a file, packed where its name says so."""

    def write_file(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


def triples(graph: LoadedGraph) -> set[str]:
    assert all(quad.graph_name == pyoxigraph.DefaultGraph() for quad in graph.engine)
    return {str(quad) for quad in graph.engine}


def refusal(path: Path) -> str:
    """Return what is said about a file that cannot be loaded, and check that it is left closed."""
    with pytest.raises(ConfigurationError) as caught:
        load_files([path])
    # The error is still held here, and through its traceback every local name of the loader.
    assert open_in(path.parent) == []
    text = str(caught.value)
    assert text.startswith(f"{path}:")
    return text.removeprefix(str(path))


def refusal_here(path: Path) -> str:
    """Return what is said about a file as it is parsed, without a process for it: for very many files."""
    request = request_for(path, path.as_uri(), FileSettings())
    with FileIO(path) as file, pytest.raises(RefusedError) as caught:
        FileParser(file, request, lambda *_: None).parse()
    said = caught.value.content
    return f"{said['place']}: {said['wrong']}. {said['valid']} {said['next_step']}"


def open_in(folder: Path) -> list[str]:
    """Return the files of a folder that this process holds open, where the system tells."""
    held: list[str] = []
    descriptors = Path("/proc/self/fd")
    for link in descriptors.iterdir() if descriptors.is_dir() else ():
        try:
            target = link.readlink()
        except OSError:
            continue
        if target.is_relative_to(folder):
            held.append(target.name)
    return held


# Formats


@pytest.mark.parser_process
@pytest.mark.parametrize(("suffix", "packed"), some([*product(DOCUMENTS, ("", ".gz", ".GZ"))], "formats"))
def test_every_format_gives_the_same_triples(write: Write, suffix: str, packed: str) -> None:
    content = DOCUMENTS[suffix].encode()
    path = write(f"graph{suffix}{packed}", gzip.compress(content) if packed == ".GZ" else content)
    loaded = load_files([path])
    assert triples(loaded) == {line.removesuffix(" .") for line in N_TRIPLES.replace("\\u00e9", "é").splitlines()}
    assert open_in(path.parent) == []


def test_a_suffix_counts_in_capitals_too(write: Write) -> None:
    assert len(load_files([write("graph.TTL", TURTLE)]).engine) == 5


def xml_text() -> st.SearchStrategy[str]:
    """Text that every format can carry: what XML allows."""
    plain = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
    return st.text(plain | st.sampled_from("\t\n\"\\<>&'"), max_size=12)


@st.composite
def some_triples(draw: st.DrawFn) -> pyoxigraph.Triple:
    node = st.sampled_from("abc").map(lambda name: pyoxigraph.NamedNode(EX + name))
    literal = st.one_of(
        xml_text().map(pyoxigraph.Literal),
        xml_text().map(lambda text: pyoxigraph.Literal(text, language="de")),
        st.integers().map(pyoxigraph.Literal),
        st.booleans().map(pyoxigraph.Literal),
    )
    return pyoxigraph.Triple(draw(node), draw(node), draw(node | literal))


@settings(max_examples=examples(40), deadline=None)
@given(expected=st.lists(some_triples(), max_size=8), suffix=st.sampled_from(ONE_OF_EACH), packed=st.booleans())
def test_any_triples_are_loaded_from_any_format_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, expected: list[pyoxigraph.Triple], suffix: str, packed: bool
) -> None:
    file_format = pyoxigraph.RdfFormat.from_extension(suffix.removeprefix("."))
    data = pyoxigraph.serialize(expected, format=file_format)
    assert data is not None
    path = tmp_path_factory.mktemp("any") / f"graph{suffix}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(data) if packed else data)
    as_stored = pyoxigraph.Store()
    as_stored.extend(pyoxigraph.Quad(*triple) for triple in expected)
    assert triples(load_files([path])) == {str(quad) for quad in as_stored}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.trig", "@prefix : <http://x/> . :a :p :b . :g { :a :p :b } :h { :a :p :b }"),
        ("g.nq", "".join(f"<http://x/a> <http://x/p> <http://x/b> {name} .\n" for name in ("", "<http://x/g>", "_:h"))),
        (
            "g.jsonld",
            """{"@context": {"@vocab": "http://x/", "p": {"@type": "@id"}}, "@graph": [
            {"@id": "http://x/g", "@graph": {"@id": "http://x/a", "p": "http://x/b"}},
            {"@id": "http://x/h", "@graph": {"@id": "http://x/a", "p": "http://x/b"}}]}""",
        ),
    ],
)
def test_a_triple_in_several_named_graphs_is_one_triple(write: Write, name: str, content: str) -> None:
    assert triples(load_files([write(name, content)])) == {"<http://x/a> <http://x/p> <http://x/b>"}


def test_annotations_of_rdf_1_2_are_loaded(write: Write) -> None:
    path = write("star.ttl", "@prefix : <http://x/> . :a :p :b {| :since 2020 |} .")
    engine = load_files([path]).engine
    assert engine.query("PREFIX : <http://x/> ASK { :a :p :b {| :since 2020 |} }")
    assert not engine.query("PREFIX : <http://x/> ASK { :a :p :b {| :since 2021 |} }")


# Several files


def test_the_triples_of_all_files_come_together(write: Write) -> None:
    loaded = load_files(
        [write("one.ttl", f"<{EX}a> <{EX}p> 1 ."), write("two.nq", f"<{EX}b> <{EX}p> <{EX}c> <{EX}g> .")]
    )
    assert len(triples(loaded)) == 2


def test_no_files_are_an_empty_graph() -> None:
    loaded = load_files([])
    assert (len(loaded.engine), loaded.prefixes) == (0, [])


@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".nq"])
def test_blank_nodes_of_two_files_stay_apart_and_those_of_one_file_together(write: Write, suffix: str) -> None:
    line = f"_:x <{EX}p> <{EX}{{}}> .\n"
    one = write(f"one{suffix}", line.format("a") + line.format("b"))
    two = write(f"two{suffix}", line.format("c"))
    subjects = {quad.object.value: quad.subject for quad in load_files([one, two]).engine}
    assert subjects[f"{EX}a"] == subjects[f"{EX}b"]
    assert subjects[f"{EX}a"] != subjects[f"{EX}c"]


def test_prefixes_are_stored_for_each_file_in_the_order_given(write: Write) -> None:
    first = write("z.ttl", "@prefix x: <http://first/> . @prefix : <http://empty/> . x:a x:p :b .")
    second = write("a.ttl", "PREFIX x: <http://second/> x:a x:p x:b . PREFIX late: <http://late/> late:a x:p x:b .")
    third = write("m.nt", "")
    assert load_files([first, second, third]).prefixes == [
        ("z.ttl", {"x": "http://first/", "": "http://empty/"}),
        ("a.ttl", {"x": "http://second/", "late": "http://late/"}),
        ("m.nt", {}),
    ]


@pytest.mark.parametrize("suffix", [".ttl", ".trig", ".jsonld", ".rdf"])
def test_every_format_that_declares_prefixes_has_them_kept(write: Write, suffix: str) -> None:
    ((_, prefixes),) = load_files([write(f"graph{suffix}", DOCUMENTS[suffix])]).prefixes
    assert prefixes["ex"] == EX


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rel.ttl", "<a> <p> <#f> ."),
        ("rel.trig", "<g> { <a> <p> <#f> }"),
        ("rel.jsonld.gz", f'{{"@id": "a", "{EX}p": {{"@id": "#f"}}}}'),
        (
            "rel.rdf",
            f"""<rdf:RDF xmlns:rdf="{RDF}" xmlns:ex="{EX}">
            <rdf:Description rdf:about="a"><ex:p rdf:resource="#f"/></rdf:Description></rdf:RDF>""",
        ),
    ],
)
def test_relative_iris_are_resolved_against_the_name_of_the_file(write: Write, name: str, content: str) -> None:
    path = write(name, content)
    (quad,) = load_files([path]).engine
    assert str(quad.subject) == "<file:///a>"
    assert str(quad.object) == f"<file:///{name}#f>"
    (quad,) = load_files([path], limits=FileSettings(base=f"{EX}x/y")).engine
    assert (str(quad.subject), str(quad.object)) == (f"<{EX}x/a>", f"<{EX}x/y#f>")


# Files that are refused


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("bad.ttl", f"@prefix ex: <{EX}> .\nex:a ex:p\n  oops .", ":3:3:"),
        ("bad.ttl.gz", f"@prefix ex: <{EX}> .\nex:a ex:p\n  oops .", ":3:3:"),
        ("undeclared.ttl", "\n\nno:a no:b no:c .", ":3:1:"),
        ("bad.nt", f"<{EX}a> <{EX}p> <{EX}b> .\n<{EX}a> <{EX}p> .\n", ":2:47:"),
        ("bad.nq", f"<{EX}a> <{EX}p> <{EX}b> .\n\n\n<{EX}a> <{EX}p> <{EX}b> <{EX}g> <{EX}h> .\n", ":4:"),
        ("bad.trig", f"<{EX}g> {{\n <{EX}a> <{EX}p> oops }}", ":2:"),
        ("bad.jsonld", f'{{"@id": "{EX}a",\n "{EX}p": oops}}', ":2:26:"),
        ("bad.rdf", f'<rdf:RDF xmlns:rdf="{RDF}">\n <rdf:Description>\n </rdf:RDF>', ":3:4:"),
        ("bad.rdf.gz", f'<rdf:RDF xmlns:rdf="{RDF}">\n <rdf:Description>\n </rdf:RDF>', ":3:4:"),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_column(write: Write, name: str, content: str, place: str) -> None:
    text = refusal(write(name, content))
    assert text.startswith(place)
    assert re.match(r":\d+:\d+: not valid ", text)
    assert "Repair the file" in text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.rdf", f'<rdf:RDF xmlns:rdf="{RDF}"><rdf:Description rdf:aboutEach="1"/></rdf:RDF>'),
        ("bad.jsonld", '{"@type": 5}'),
    ],
)
def test_a_mistake_without_a_place_is_reported_all_the_same(write: Write, name: str, content: str) -> None:
    assert refusal(write(name, content)).startswith(": not valid ")


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", ONE_OF_EACH)
def test_an_html_page_is_reported_as_one(write: Write, suffix: str, packed: str) -> None:
    assert "this is an HTML page" in refusal_here(write(f"page{suffix}{packed}", HTML))


@pytest.mark.parametrize("suffix", ONE_OF_EACH)
@pytest.mark.parametrize("content", [PNG, b"\x00" * 100], ids=["PNG", "zeros"])
def test_bytes_that_are_no_text_are_refused(write: Write, suffix: str, content: bytes) -> None:
    assert "not valid" in refusal(write(f"image{suffix}", content))


@pytest.mark.parametrize("suffix", [".rdf", ".jsonld"])
def test_a_format_that_shows_its_end_is_refused_when_cut_anywhere(write: Write, suffix: str) -> None:
    content = DOCUMENTS[suffix].strip().encode()
    for length in range(1, len(content)):
        refusal_here(write(f"cut{suffix}", content[:length]))
    refusal(write(f"cut{suffix}", content[:-1]))
    assert len(load_files([write(f"whole{suffix}", content)]).engine) == 5


def test_an_rdf_xml_file_without_a_prologue_is_refused_when_cut_anywhere(write: Write) -> None:
    content = f'<rdf:RDF xmlns:rdf="{RDF}">é<!-- é --><![CDATA[ ]]></rdf:RDF>'.encode()
    for length in range(1, len(content)):
        refusal_here(write("cut.rdf", content[:length]))


def test_a_turtle_file_cut_within_a_statement_is_refused(write: Write) -> None:
    prologue, statement = TURTLE.strip().encode().split(b"\n")
    for length in range(1, len(statement)):
        refusal_here(write("cut.ttl", prologue + b"\n" + statement[:length]))


def test_a_cut_rdf_xml_file_is_reported_as_cut_with_its_end(write: Write) -> None:
    text = refusal(write("cut.rdf", RDF_XML.partition("  </ex:Person>")[0]))
    assert text.startswith(":7:1: the file is cut")


@pytest.mark.parametrize("suffix", ONE_OF_EACH)
def test_a_gzip_file_cut_anywhere_is_refused(write: Write, suffix: str) -> None:
    packed = gzip.compress(DOCUMENTS[suffix].encode())
    path = write(f"cut{suffix}.gz", "")
    for length in range(1, len(packed)):
        path.write_bytes(packed[:length])
        assert "gzip" in refusal_here(path)
    assert "gzip" in refusal(path)


def test_a_large_gzip_file_is_refused_when_its_last_byte_is_missing(write: Write) -> None:
    path = write("large.nt.gz", many_lines())
    path.write_bytes(path.read_bytes()[:-1])
    assert "cut or damaged" in refusal(path)


def test_a_cut_gzip_file_with_a_mistake_is_refused(write: Write) -> None:
    path = write("cut.ttl.gz", "oops")
    path.write_bytes(path.read_bytes()[:-8])
    assert "cut or damaged" in refusal(path)


def test_a_damaged_gzip_file_is_refused(write: Write) -> None:
    path = write("damaged.nt.gz", many_lines())
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + b"\xff" * 8 + whole[middle + 8 :])
    refusal(path)
    wrong_sum = bytes([whole[-8] ^ 1])
    path.write_bytes(whole[:-8] + wrong_sum + whole[-7:])
    assert "cut or damaged" in refusal(path)
    path.write_bytes(whole + b"rest")
    assert "cut or damaged" in refusal(path)


def test_a_file_that_is_no_gzip_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "plain.ttl.gz"
    path.write_text(TURTLE)
    assert "its name is that of a gzip file, but this is none" in refusal(path)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "missing.ttl")
    assert "No such file" in refusal(tmp_path / "missing.rdf.gz")


def test_a_file_that_is_not_there_is_said_with_one_of_a_similar_name_or_where_its_path_begins(tmp_path: Path) -> None:
    (tmp_path / "medical.ttl").touch()
    assert "Did you mean 'medical.ttl'?" in refusal(tmp_path / "medcal.ttl")
    with pytest.raises(ConfigurationError) as caught:
        load_files([Path("missing-here.zzz")])
    assert caught.value.next_step == f"The path begins in {Path.cwd()}."


def test_a_directory_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "folder.ttl"
    path.mkdir()
    assert "directory" in refusal(path)


@pytest.mark.parametrize("name", ["table.csv", "graph", "graph.hdt", "graph.ttl.zst"])
def test_an_unknown_suffix_is_reported_with_those_that_are_known(write: Write, name: str) -> None:
    text = refusal(write(name, b""))
    assert "names no RDF format" in text
    for suffix in DOCUMENTS:
        assert f"{suffix}," in text


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".trig", ".nq", ".rdf"])
def test_an_empty_file_is_an_empty_graph(write: Write, suffix: str, packed: str) -> None:
    loaded = load_files([write(f"empty{suffix}{packed}", "")])
    assert (len(loaded.engine), loaded.prefixes) == (0, [(f"empty{suffix}{packed}", {})])


def test_an_empty_file_is_no_json(write: Write) -> None:
    assert "Unexpected end of file" in refusal(write("empty.jsonld", ""))


def test_a_failed_load_leaves_nothing_that_complains_when_it_is_collected(write: Write, tmp_path: Path) -> None:
    paths = [write("bad.ttl", "oops"), write("bad.ttl.gz", "oops"), tmp_path / "missing.ttl", tmp_path]
    for path in paths:
        with pytest.raises(ConfigurationError):
            load_files([path])
    gc.collect()
    assert open_in(tmp_path) == []


def test_the_second_of_two_files_is_named_when_it_is_the_bad_one(write: Write) -> None:
    good, bad = write("good.ttl", TURTLE), write("bad.ttl", "oops")
    with pytest.raises(ConfigurationError, match=re.escape(f"{bad}:1:1: ")):
        load_files([good, bad])


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("suffix", DOCUMENTS)
def test_a_byte_order_mark_of_utf_8_changes_nothing(write: Write, suffix: str) -> None:
    plain = load_files([write(f"plain{suffix}", DOCUMENTS[suffix])])
    for packed in ("", ".gz"):
        marked = load_files([write(f"marked{suffix}{packed}", MARK + DOCUMENTS[suffix].encode())])
        assert triples(marked) == triples(plain)
        assert marked.prefixes[0][1] == plain.prefixes[0][1]


def test_a_mistake_after_a_byte_order_mark_has_its_place(write: Write) -> None:
    assert refusal(write("bad.ttl", MARK + b"\n\n  oops .")).startswith(":3:3:")
    assert "HTML page" in refusal(write("page.ttl", MARK + HTML.encode()))


def test_what_a_mistake_repeats_of_the_file_is_cut(write: Write) -> None:
    assert len(refusal(write("bad.ttl", f"<http://e/{'x' * 100_000} y> a <b> ."))) < 1_000


def test_a_file_of_a_byte_order_mark_alone_is_an_empty_graph(write: Write) -> None:
    for suffix in (".ttl", ".nt", ".rdf"):
        assert len(load_files([write(f"empty{suffix}", MARK)]).engine) == 0


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", ONE_OF_EACH)
@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
def test_a_file_that_shows_another_encoding_is_read(write: Write, encoding: str, suffix: str, packed: str) -> None:
    plain = load_files([write(f"plain{suffix}", DOCUMENTS[suffix])])
    marked = load_files([write(f"graph{suffix}{packed}", DOCUMENTS[suffix].encode(encoding))])
    assert triples(marked) == triples(plain)
    assert marked.prefixes[0][1] == plain.prefixes[0][1]


# Progress


def many_lines() -> str:
    """More than three megabytes that gzip cannot make small."""
    dice = random.Random(17)  # noqa: S311 - test data, not a secret
    return "".join(f'<{EX}{n}> <{EX}p> "{dice.randbytes(400).hex()}" .\n' for n in range(4000))


@pytest.mark.parametrize("name", ["large.nt", "large.nt.gz"])
def test_progress_is_reported_for_every_megabyte_and_ends_near_the_size(write: Write, name: str) -> None:
    reports: list[tuple[Path, int, int]] = []
    path = write(name, many_lines())
    size = path.stat().st_size
    load_files([path], lambda *report: reports.append(report))
    done = [read for _, read, _ in reports]
    assert {(reported, total) for reported, _, total in reports} == {(path, size)}
    assert done == sorted(set(done))
    assert len(done) == size >> 20
    assert size - (3 << 19) < done[-1] <= size


def test_progress_of_each_file_starts_anew(write: Write) -> None:
    reports: list[tuple[str, int]] = []
    paths = [write("one.nt", many_lines()), write("two.nt", many_lines())]
    load_files(paths, lambda path, read, _: reports.append((path.name, read)))
    one = [read for name, read in reports if name == "one.nt"]
    assert reports == [("one.nt", read) for read in one] + [("two.nt", read) for read in one]


# Versions


def test_the_same_content_has_the_same_version(write: Write) -> None:
    first = load_files([write("one.ttl", TURTLE)])
    second = load_files([write("two.ttl", TURTLE)])
    assert first.version == second.version
    assert re.fullmatch(r"[0-9a-f]{16}", first.version)


def test_other_content_has_another_version(write: Write) -> None:
    line = f"<{EX}a> <{EX}p> _:{{}} .\n"
    one, two = line.format("x"), line.format("y")
    large = many_lines()
    versions = [
        load_files([]).version,
        load_files([write("empty.nt", "")]).version,
        load_files([write("one.nt", one)]).version,
        load_files([write("two.nt", two)]).version,
        load_files([write("both.nt", one + two)]).version,
        # The same bytes in two files are another graph: their blank nodes stay apart.
        load_files([write("one.nt", one), write("two.nt", two)]).version,
        load_files([write("large.nt", large)]).version,
        load_files([write("large.nt", large.removesuffix('" .\n') + '0" .\n')]).version,
    ]
    assert len(set(versions)) == len(versions)


# rdflib


def rdflib_graph() -> rdflib.Graph:
    graph = rdflib.Graph()
    graph.bind("ex", EX)
    graph.add((NS.a, NS.knows, NS.b))
    graph.add((NS.a, rdflib.FOAF.name, rdflib.Literal("Ann", lang="en")))
    graph.add((NS.a, rdflib.RDF.type, rdflib.OWL.Thing))
    return graph


def test_an_rdflib_graph_is_copied() -> None:
    assert triples(load_rdflib(rdflib_graph())) == {
        f"<{EX}a> <{EX}knows> <{EX}b>",
        f'<{EX}a> <http://xmlns.com/foaf/0.1/name> "Ann"@en',
        f"<{EX}a> <{RDF}type> <http://www.w3.org/2002/07/owl#Thing>",
    }


def test_the_named_graphs_of_an_rdflib_dataset_are_folded() -> None:
    dataset = rdflib.Dataset()
    dataset.bind("ex", EX)
    dataset.default_graph.add((NS.a, NS.knows, NS.b))
    dataset.graph(NS.g).add((NS.a, NS.knows, NS.b))
    dataset.graph(NS.h).add((NS.a, rdflib.FOAF.knows, NS.b))
    loaded = load_rdflib(dataset)
    assert triples(loaded) == {f"<{EX}a> <{EX}knows> <{EX}b>", f"<{EX}a> <http://xmlns.com/foaf/0.1/knows> <{EX}b>"}
    ((_, prefixes),) = loaded.prefixes
    assert prefixes == {"ex": EX, "foaf": "http://xmlns.com/foaf/0.1/"}


def test_blank_nodes_of_an_rdflib_graph_stay_what_they_are() -> None:
    graph = rdflib.Graph()
    node = rdflib.BNode()
    graph.add((node, NS.p, NS.a))
    graph.add((node, NS.p, NS.b))
    graph.add((rdflib.BNode(), NS.p, NS.c))
    subjects = {quad.object.value: quad.subject for quad in load_rdflib(graph).engine}
    assert subjects[f"{EX}a"] == subjects[f"{EX}b"] != subjects[f"{EX}c"]


def test_prefixes_that_the_holder_bound_are_kept_and_rdflibs_own_only_where_used() -> None:
    graph = rdflib_graph()
    graph.bind("unused", "http://unused.example/")
    ((source, prefixes),) = load_rdflib(graph).prefixes
    assert source == "the rdflib graph"
    assert prefixes == {
        "ex": EX,
        "unused": "http://unused.example/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "owl": "http://www.w3.org/2002/07/owl#",
        "rdf": RDF,
    }


def test_an_empty_rdflib_graph_has_no_prefixes() -> None:
    loaded = load_rdflib(rdflib.Graph())
    assert (len(loaded.engine), loaded.prefixes) == (0, [("the rdflib graph", {})])


def test_what_changes_in_an_rdflib_graph_later_is_not_seen() -> None:
    graph = rdflib_graph()
    loaded = load_rdflib(graph)
    before = triples(loaded)
    graph.add((NS.c, NS.knows, NS.d))
    graph.remove((NS.a, NS.knows, NS.b))
    assert triples(loaded) == before
    assert len(graph) == len(before)


def test_the_version_of_an_rdflib_graph_follows_its_content() -> None:
    graph = rdflib_graph()
    before = load_rdflib(graph).version
    assert load_rdflib(rdflib_graph()).version == before
    graph.remove((NS.a, NS.knows, NS.b))
    graph.add((NS.a, NS.knows, NS.c))
    assert load_rdflib(graph).version != before


@pytest.mark.parametrize(
    "triple",
    [
        (rdflib.URIRef("http://x/a b"), NS.p, NS.o),
        (NS.s, rdflib.URIRef("http://x/%zz"), NS.o),
        (NS.s, NS.p, rdflib.URIRef("relative")),
        (NS.s, NS.p, rdflib.URIRef("")),
        (NS.s, NS.p, rdflib.Literal("1", datatype=rdflib.URIRef("http://x/ y"))),
        (NS.s, NS.p, rdflib.Variable("v")),
        (rdflib.Literal("s"), NS.p, NS.o),
        (NS.s, rdflib.BNode(), NS.o),
    ],
    ids=["space", "escape", "relative", "empty", "datatype", "variable", "literal subject", "blank predicate"],
)
def test_an_rdflib_graph_with_what_is_no_rdf_is_refused(
    triple: tuple[rdflib.term.Node, rdflib.term.Node, rdflib.term.Node],
) -> None:
    graph = rdflib.Graph()
    graph.add(triple)
    with pytest.raises(ConfigurationError, match=r"The rdflib graph holds a t.* that is no RDF: .*") as caught:
        load_rdflib(graph)
    assert "Py" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ['{"name": "a package", "version": 1}', '[{"a": [1, 2]}]', '"text"'])
def test_json_that_is_no_rdf_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "package.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="JSON"):
        load_files([path])


@pytest.mark.parametrize(
    ("element", "wrong"),
    [
        ('<rdf:Description rdf:ID="1"/>', ":3:1: not valid RDF/XML: 1 is not a valid rdf:ID value"),
        (
            '<rdf:Description rdf:about="http://e/a b"/>',
            ":3:1: not valid RDF/XML: error while parsing IRI 'http://e/a b'",
        ),
        ('<rdf:Description source="me"/>', ":3:1: not valid RDF/XML: the attribute source has no namespace"),
        ("<Alignment/>", ":3:1: not valid RDF/XML: the element Alignment has no namespace"),
        ('<rdf:Description rdf:nodeID="1"/>', ":3:1: not valid RDF/XML: 1 is not a valid rdf:nodeID value"),
        (
            '<rdf:Description rdf:about="http://e/a\r\n\tb"/>',
            ":3:1: not valid RDF/XML: error while parsing IRI 'http://e/a",
        ),
        (
            '<rdf:Description rdf:type="http://e/a b"/>',
            ":3:1: not valid RDF/XML: error while parsing IRI 'http://e/a b'",
        ),
        ('<rdf:Description xml:base="http://[e"/>', ":3:1: not valid RDF/XML: error while parsing IRI 'http://[e'"),
        ('<rdf:Description xml:lang="a b"/>', ":3:1: not valid RDF/XML: error while parsing language tag 'a b'"),
        ('<e:C xmlns:e="http://e/a b/"/>', ":3:1: not valid RDF/XML: error while parsing IRI 'http://e/a b/C'"),
        ('<e:C xmlns:e="relative"/>', ":3:1: not valid RDF/XML: error while parsing IRI 'relativeC'"),
        (
            '<rdf:Description xmlns:e="http://e/a b/">\n<e:p>1</e:p></rdf:Description>',
            ":4:1: not valid RDF/XML: error while parsing IRI 'http://e/a b/p'",
        ),
        (
            '<rdf:Description xmlns:e="http://e/a b/">\n<rdf:value e:p="1"/></rdf:Description>',
            ":4:1: not valid RDF/XML: error while parsing IRI 'http://e/a b/p'",
        ),
    ],
)
def test_mistakes_in_xml_of_which_its_parser_says_no_place_have_one(tmp_path: Path, element: str, wrong: str) -> None:
    path = tmp_path / "x.rdf"
    good = '<rdf:Description rdf:about="http://e/a" rdf:type="http://e/T"/>'
    path.write_bytes(f'<rdf:RDF xmlns:rdf="{RDF}">\n{good}\n{element}\n</rdf:RDF>'.encode())
    with pytest.raises(ConfigurationError) as caught:
        load_files([path])
    assert wrong in str(caught.value)


@pytest.mark.parametrize(
    "mistake",
    [
        "<foo>1</foo>",
        '<rdf:value foo="1"/>',
        '<rdf:value rdf:resource="http://e/a b"/>',
        '<rdf:value rdf:nodeID="1"/>',
        '<rdf:value xml:lang="a b"/>',
        '<e:p xmlns:e="http://e/a b/"/>',
    ],
)
def test_xml_that_is_a_value_has_no_mistakes_of_rdf(tmp_path: Path, mistake: str) -> None:
    path = tmp_path / "x.rdf"
    literal, resource = ('<rdf:value rdf:parseType="Literal">', '<rdf:value rdf:parseType="Resource">')
    for value in (
        f"{literal}{mistake}<a>{mistake}</a></rdf:value>",
        f'<rdf:value rdf:parseType="other">{mistake}</rdf:value>',
        f"{resource}{literal}{mistake}</rdf:value></rdf:value>",
        f"{resource}\n{mistake}</rdf:value>",
        # Only in properties has it a meaning.
        f'<rdf:value><rdf:Description rdf:parseType="Literal">\n{mistake}</rdf:Description></rdf:value>',
    ):
        node = f"<rdf:Description>{value}\n{mistake}\n</rdf:Description>"
        path.write_text(f'<rdf:RDF xmlns:rdf="{RDF}">\n\n{node}\n</rdf:RDF>', "utf-8")
        with pytest.raises(ConfigurationError) as caught:
            load_files([path])
        assert f"{path}:4:1: not valid RDF/XML" in str(caught.value)
