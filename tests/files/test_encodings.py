"""Text in other encodings, and what XML declares before its first element."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.errors import ConfigurationError
from gateway.files.loading import load_files
from gateway.settings.files import FileSettings

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
E = "http://example.org/"
XML = (
    f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}">\n<rdf:Description rdf:about="{E}a"><e:p>{{}}</e:p></rdf:Description>'
    "</rdf:RDF>"
)


def values(path: Path, settings: FileSettings | None = None) -> list[str]:
    return sorted(str(quad.object.value) for quad in load_files([path], limits=settings).engine)


def refused(path: Path, settings: FileSettings | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_files([path], limits=settings)
    return str(caught.value)


def test_a_file_that_declares_what_python_reads_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    for encoding, text in (
        ("ISO-8859-1", "café"),
        ("windows-1252", "“café” €"),
        ("koi8-r", "мир"),
        ("Shift_JIS", "日本語" * 30_000),
        ("US-ASCII", "plain"),
        ("utf-8", "ü"),
    ):
        for quote in ("'", '"'):
            path.write_bytes(
                f"<?xml version='1.0' encoding={quote}{encoding}{quote}?>{XML.format(text)}".encode(encoding)
            )
            assert values(path) == [text]


def test_utf_16_is_read_as_its_mark_shows_and_not_as_an_ascii_declaration_claims(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    text = f'<?xml version="1.0" encoding="utf-16"?>{XML.format("é")}'
    for content in (text.encode("utf-16"), text.encode("utf-16-le"), text.encode("utf-16-be"), text.encode()):
        path.write_bytes(content)
        assert values(path) == ["é"]


def test_an_encoding_that_is_given_is_that_of_files_that_show_none(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_bytes(f'<{E}a> <{E}p> "café €" .'.encode("cp1252"))
    text = refused(path)
    assert "not valid Turtle" in text
    assert "--encoding cp1252" in text
    assert values(path, FileSettings(encoding="cp1252")) == ["café €"]
    path.write_text(f'\ufeff<{E}a> <{E}p> "café" .', "utf-8")
    assert values(path, FileSettings(encoding="cp1252")) == ["café"]
    declared = tmp_path / "x.rdf"
    declared.write_text(f"<?xml version='1.0' encoding='UTF-8'?>{XML.format('café')}", "utf-8")
    assert values(declared, FileSettings(encoding="cp1252")) == ["café"]


def test_bytes_that_are_not_of_the_encoding_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "x.nt"
    path.write_bytes(b'<http://e/a> <http://e/p> "a" .\n' * 3 + b'<http://e/a> <http://e/p> "\x81" .\n')
    assert "x.nt:4: the byte 0x81 is not valid in cp1252" in refused(path, FileSettings(encoding="cp1252"))
    path = tmp_path / "x.rdf"
    path.write_bytes(f"<?xml version='1.0' encoding='x-unheard'?>{XML.format('a')}".encode())
    assert "its encoding 'x-unheard' is not known" in refused(path)


@pytest.mark.parametrize("name", ["unheard", "base64", "idna", "hex", "rot13", "unicode_escape", "a\0b"])
def test_what_is_no_encoding_of_a_file_is_no_setting(name: str) -> None:
    with pytest.raises(ValidationError, match="encoding"):
        FileSettings(encoding=name)


# Entities


def with_doctype(declarations: str, text: str = "&ex;a") -> str:
    return (
        f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n{declarations}\n] >\n'
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{E}">\n<rdf:Description rdf:about="{E}s"><e:p>{text}</e:p>'
        "</rdf:Description></rdf:RDF>"
    )


@pytest.mark.parametrize(
    ("declarations", "text", "value"),
    [
        ("<!ENTITY ex 'http://e.org/'>", "&ex;a", "http://e.org/a"),
        ('<!ENTITY ex "http://e.org/">', "&ex;a", "http://e.org/a"),
        ("<!ENTITY ex 'say \"yes\" > no'>", "&ex;", 'say "yes" > no'),
        ("<!-- <!ENTITY ex 'old'> --><!ENTITY ex 'new'>", "&ex;", "new"),
        ("<!ENTITY ex 'new'><!-- <!ENTITY ex \"old\"> -->", "&ex;", "new"),
        ("<!ENTITY ex 'first'><!ENTITY ex 'second'>", "&ex;", "first"),
        ("<!ENTITY ex '&base;x'><!ENTITY base 'http://e.org/'>", "&ex;", "http://e.org/x"),
        ("<!ENTITY ex 'a&#38;#38;b&lt;c&#37;&amp;'>", "&ex;", "a&b<c%&"),
        ("<!ENTITY % inner 'x'><!ENTITY ex 'é'>", "&ex;", "é"),
    ],
)
def test_entities_are_read_as_xml_has_them(tmp_path: Path, declarations: str, text: str, value: str) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(with_doctype(declarations, text), "utf-8")
    assert values(path) == [value]
    comment = f"<!-- {'x' * 10_000} <!DOCTYPE rdf:RDF [<!ENTITY ex 'no'>]> -->"
    path.write_text(with_doctype(declarations, text).replace("<!DOCTYPE", f"{comment}<!DOCTYPE", 1), "utf-8")
    assert values(path) == [value]


@pytest.mark.parametrize(
    "declarations",
    ["<!ENTITY ex '<e:q>x</e:q>'>", "<!ENTITY ex SYSTEM 'x.ent'>", "<!ENTITY ex '&ex;'>", "<!ENTITY ex '&none;'>", ""],
)
def test_an_entity_that_cannot_be_read_is_an_error_where_it_is_used(tmp_path: Path, declarations: str) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(with_doctype(declarations, "&ex;"))
    assert "x.rdf" in refused(path)
    path.write_text(with_doctype(declarations, "unused"))
    if declarations:
        assert values(path) == ["unused"]


def test_a_mistake_behind_a_doctype_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(with_doctype("<!ENTITY a 'x'>\n<!ENTITY b 'y'>", "</e:q>"))
    assert refused(path).startswith(f"{path}:7:")


def test_default_values_of_attributes_are_refused_and_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "x.rdf"
    path.write_text(with_doctype(f"<!ATTLIST rdf:Description rdf:type CDATA '{E}T'>", "a"))
    assert "gives rdf:type of rdf:Description a default value" in refused(path)
