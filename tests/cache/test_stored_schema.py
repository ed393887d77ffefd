"""The schema that is kept between runs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cache.stored_schema import StoredSchema
from gateway.graph.values import Basis, Schema, Term

WHOLE = Schema(
    (Term("urn:T", 3, "thing"), Term("urn:U", None)),
    (Term("urn:p", 2),),
    exact=True,
    version="1",
    basis=Basis(("sampled", "met"), 1.5, 7, None),
    names=("urn:name",),
    hubs=("urn:T",),
)


def test_what_was_kept_is_what_comes_back(tmp_path: Path) -> None:
    StoredSchema(tmp_path / "graph").save(WHOLE)
    assert StoredSchema(tmp_path / "graph").load() == WHOLE


def test_nothing_is_there_before_anything_was_kept(tmp_path: Path) -> None:
    assert StoredSchema(tmp_path).load() is None


@given(content=st.binary(max_size=200))
def test_a_file_that_is_something_else_is_left_aside(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("kept")
    (place / "schema.json").write_bytes(content)
    assert StoredSchema(place).load() is None


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_file_that_is_cut_is_left_aside(tmp_path: Path, cut: int) -> None:
    StoredSchema(tmp_path).save(WHOLE)
    file = tmp_path / "schema.json"
    file.write_bytes(file.read_bytes()[:-cut])
    assert StoredSchema(tmp_path).load() is None


def test_a_folder_that_cannot_be_written_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    StoredSchema(tmp_path / "file" / "graph").save(WHOLE)


def test_a_file_that_is_too_large_or_too_deep_is_left_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"format":1,"schema":{"other":' + "[" * 200_000, encoding="utf-8")
    assert StoredSchema(tmp_path).load() is None
    with file.open("wb") as hollow:
        hollow.truncate(1 << 40)
    assert StoredSchema(tmp_path).load() is None
    assert "more than 67,108,864 bytes" in caplog.text
