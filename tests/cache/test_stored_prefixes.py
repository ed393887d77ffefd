"""The coined prefixes that are stored between runs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cache.on_disk import StoredPrefixes

DRUG = {"drug_abc": "http://data.example.org/drug/"}


def test_stored_prefixes_are_loaded_as_they_were_with_those_stored_before(tmp_path: Path) -> None:
    StoredPrefixes(tmp_path / "graph").save(DRUG)
    StoredPrefixes(tmp_path / "graph").save({"gene_abc": "http://data.example.org/gene/"})
    assert StoredPrefixes(tmp_path / "graph").load() == {**DRUG, "gene_abc": "http://data.example.org/gene/"}


def test_what_a_stored_prefix_means_does_not_change(tmp_path: Path) -> None:
    StoredPrefixes(tmp_path).save(DRUG)
    StoredPrefixes(tmp_path).save({"drug_abc": "http://other.example.org/"})
    assert StoredPrefixes(tmp_path).load() == DRUG


def test_nothing_is_loaded_before_anything_was_stored(tmp_path: Path) -> None:
    assert StoredPrefixes(tmp_path).load() == {}


@given(content=st.binary(max_size=200))
def test_a_file_that_is_something_else_is_ignored(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("stored")
    (place / "prefixes.json").write_bytes(content)
    assert StoredPrefixes(place).load() == {}


def test_a_file_that_is_too_large_is_ignored(tmp_path: Path) -> None:
    with (tmp_path / "prefixes.json").open("wb") as hollow:
        hollow.truncate(1 << 40)
    assert StoredPrefixes(tmp_path).load() == {}


def test_a_folder_that_cannot_be_written_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    StoredPrefixes(tmp_path / "file" / "graph").save(DRUG)
