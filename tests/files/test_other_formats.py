"""Formats that are not RDF as it is read here: refused by name, with what converts them; and TriX."""

import gzip
import zipfile
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.files.loading import load_files

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
E = "http://example.org/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def refused(path: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_files([path])
    return str(caught.value)


XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><body about="#a">x</body></html>'


@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".rdf", ".owl", ".xml", ".json", ".jsonld", ".obo", "", ".ttl.gz"])
@pytest.mark.parametrize(
    ("content", "name", "converts"),
    [
        (f"Prefix(:=<{E}>)\nOntology(<{E}o>\nDeclaration(Class(:A))\n)\n", "functional syntax", "robot convert"),
        (f"# by hand\n\nOntology(<{E}o>\n)\n", "functional syntax", "robot convert"),
        (f"Prefix: : <{E}>\nOntology: <{E}o>\nClass: A\n", "Manchester syntax", "robot convert"),
        ("format-version: 1.2\n\n[Term]\nid: GO:0000001\nname: x\n", "OBO", "robot convert"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "Git LFS", "git lfs pull"),
        ("/annex/objects/SHA256E-s1--2.ttl\n", "git-annex", "git annex get"),
        ("$HDT\x01<http://purl.org/HDT/hdt#HDTv1>\0\0", "HDT", "hdt2rdf"),
        (f"{'data/a.ttl':\0<257}ustar  \0", "a tar archive", "tar -xf"),
        ("<!DOCTYPE html>\n<html><body vocab='x'></body></html>", "HTML page", "rapper -i rdfa"),
        (f'<?xml version="1.0"?>\n{XHTML}', "HTML page", "rapper -i rdfa"),
        (
            f'<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="{E}o"/>',
            "OWL/XML",
            "robot convert",
        ),
        ('<?xml version="1.0"?>\n<project xmlns="http://m.org/4"><v>4</v></project>', "<project>", "take <rdf:RDF>"),
        ('<?xml version="1.0"?>\n<rss version="2.0"><channel/></rss>', "<rss>", "take <rdf:RDF>"),
        (f'{{"{E}a": {{"{LABEL}": [{{"value": "Ann", "type": "literal"}}]}}}}', "RDF/JSON", "rapper -i json"),
        (f'{{"_:b" : {{"{E}p" : [{{"type": "uri", "value": "{E}x"}}]}}}}', "RDF/JSON", "rapper -i json"),
        (
            '{"prefix": {"ex": "http://e.org/"}, "entity": {"ex:e1": {"prov:label": "x"}}, "prov:label": "y"}',
            "JSON, but it holds no RDF",
            "@context",
        ),
        ('{"dependencies": {"@types/node": "^1", "a@b": "1"}}', "JSON, but it holds no RDF", "@context"),
    ],
)
def test_another_format_is_refused_by_name_with_what_converts_it(
    tmp_path: Path, content: str, name: str, converts: str, suffix: str
) -> None:
    path = tmp_path / f"graph{suffix}"
    path.write_bytes(gzip.compress(content.encode()) if suffix.endswith(".gz") else content.encode())
    text = refused(path)
    assert name in text
    assert converts in text


@pytest.mark.parametrize(
    "content",
    [
        f'<Ontology xmlns="http://www.w3.org/2002/07/owl#" xmlns:rdf="{RDF}" rdf:about="{E}a"/>',
        f'<e:T xmlns:e="{E}"><e:p><e:U xmlns:rdf="{RDF}" rdf:about="{E}a"/></e:p></e:T>',
        f'<r:RDF xmlns:r="{RDF}"><r:Description r:about="{E}a" r:type="{E}T"/></r:RDF>',
    ],
)
def test_rdf_xml_that_looks_like_another_format_is_read(tmp_path: Path, content: str) -> None:
    path = tmp_path / "graph.owl"
    path.write_text(content)
    assert len(load_files([path]).engine) > 0


@pytest.mark.parametrize("content", [f"<html> <{E}p> <html#x> .", f'<{E}a> <{E}p> "Prefix(:=)" .'])
def test_turtle_that_looks_like_another_format_is_read(tmp_path: Path, content: str) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(content)
    assert len(load_files([path]).engine) == 1


def archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
RELATIONS = {"[Content_Types].xml": TYPES, "_rels/.rels": "<Relationships/>", "docProps/app.xml": "<Properties/>"}
MANIFEST = {"content.xml": "<office:document-content xmlns:office='urn:o'/>", "META-INF/manifest.xml": "<manifest/>"}
OF_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."


@pytest.mark.parametrize("suffix", [".xlsx", ".zip", ".ttl", ""])
@pytest.mark.parametrize(
    ("members", "name", "converts"),
    [
        ({**RELATIONS, "xl/workbook.xml": "<workbook/>"}, "this is an Excel workbook", "save each sheet as CSV"),
        ({**RELATIONS, "xl/workbook.bin": ""}, "this is an Excel workbook", "tarql"),
        ({**RELATIONS, "word/document.xml": "<document/>"}, "this is a Word document", "as RDF"),
        ({**RELATIONS, "ppt/presentation.xml": "<p/>"}, "this is a PowerPoint presentation", "as RDF"),
        ({**RELATIONS, "visio/document.xml": "<d/>"}, "a package of Office Open XML", "unpack it"),
        (
            {"mimetype": f"{OF_OPEN_DOCUMENT}spreadsheet", **MANIFEST, "manifest.rdf": f"<r:RDF xmlns:r='{RDF}'/>"},
            "this is an OpenDocument spreadsheet",
            "save each sheet as CSV",
        ),
        ({"mimetype": f"{OF_OPEN_DOCUMENT}text\n", **MANIFEST}, "this is an OpenDocument file", "as RDF"),
    ],
)
def test_a_workbook_or_document_is_refused_by_name_whatever_is_in_its_archive(
    tmp_path: Path, members: dict[str, str], name: str, converts: str, suffix: str
) -> None:
    text = refused(archive(tmp_path / f"graph{suffix}", members))
    assert name in text
    assert converts in text
    assert "Content_Types" not in text


def test_a_workbook_of_before_2007_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    assert "Microsoft Office up to 2003" in refused(path)


def test_an_archive_of_graphs_is_read_beside_a_workbook_and_a_media_type(tmp_path: Path) -> None:
    members = {"a.ttl": f"<{E}a> <{E}p> <{E}b> .", "table.xlsx": "PK", "xl/notes.txt": "x", "mimetype": "text/turtle"}
    assert len(load_files([archive(tmp_path / "graph.zip", members)]).engine) == 1


def trix(statements: str, namespace: str = "http://www.w3.org/2004/03/trix/trix-1/") -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<TriX xmlns="{namespace}">\n{statements}</TriX>'


def statement(value: str, subject: str = f"<uri>{E}a</uri>") -> str:
    return f"<triple>{subject}<uri>{LABEL}</uri>{value}</triple>\n"


@pytest.mark.parametrize("suffix", [".xml", ".trix", ".rdf"])
def test_trix_is_read_with_its_texts_as_they_stand(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"graph{suffix}"
    in_english = '<plainLiteral xml:lang="en">Ann</plainLiteral>'
    typed = f'<typedLiteral datatype="{E}code">007 </typedLiteral>'
    path.write_text(
        trix(
            f"<graph>{statement('<plainLiteral>Ann é</plainLiteral>')}"
            f"{statement(in_english)}</graph><graph><uri>{E}g</uri>{statement(typed)}"
            f"{statement('<id>x</id>')}{statement(f'<uri>{E}b</uri>', '<id>x</id>')}</graph>"
        ),
        "utf-8",
    )
    found = [(str(quad.subject), str(quad.object)) for quad in load_files([path], blank_types=None).engine]
    named = {value for subject, value in found if not subject.startswith("_:")}
    assert {value for value in named if not value.startswith("_:")} == {'"Ann é"', '"Ann"@en', f'"007 "^^<{E}code>'}
    assert len(found) == 5
    # It is the same blank node in both.
    assert {subject for subject, _ in found if subject.startswith("_:")} < named


@pytest.mark.parametrize(
    "content",
    [
        trix(f"<graph>{statement('<plainLiteral>x</plainLiteral>')}"),
        trix(f"<graph>{statement('')}</graph>"),
        trix(f"<graph>{statement('<uri>not whole</uri>')}</graph>"),
        trix(
            '<graph><triple><uri>a:a</uri><uri>a:p</uri><plainLiteral xml:lang="zh-classical">x</plainLiteral>'
            "</triple></graph>"
        ),
        trix("<graph/>", "http://www.w3.org/2004/03/trix/"),
        trix("<unheard/>"),
    ],
)
def test_trix_that_is_not_valid_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "graph.xml"
    path.write_text(content)
    assert "not valid TriX" in refused(path)
