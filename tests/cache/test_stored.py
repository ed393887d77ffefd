"""What is stored between runs: the coined prefixes, and the schema."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cache.on_disk import StoredPrefixes, StoredSchema
from gateway.graph.values import Basis, Schema, Term
from gateway.terms.coined_prefixes import MOST_KNOWN

DRUG = {"drug_abc": "http://data.example.org/drug/"}
GENE = {"gene_abc": "http://data.example.org/gene/"}

WHOLE = Schema(
    (Term("urn:T", 3, "thing"), Term("urn:U", None)),
    (Term("urn:p", 2),),
    exact=True,
    version="1",
    basis=Basis(("sampled", "met"), 1.5, 7, None),
    names=("urn:name",),
    hubs=("urn:T",),
)


def test_stored_prefixes_are_loaded_as_they_were_with_those_stored_before(tmp_path: Path) -> None:
    StoredPrefixes(tmp_path / "graph").save(DRUG)
    StoredPrefixes(tmp_path / "graph").save(GENE)
    assert StoredPrefixes(tmp_path / "graph").load() == {**DRUG, **GENE}


def test_what_a_stored_prefix_means_does_not_change(tmp_path: Path) -> None:
    StoredPrefixes(tmp_path).save(DRUG)
    StoredPrefixes(tmp_path).save({"drug_abc": "http://other.example.org/"})
    assert StoredPrefixes(tmp_path).load() == DRUG


def test_as_many_prefixes_as_are_remembered_are_stored(tmp_path: Path) -> None:
    many = {f"ns_{number:08}": f"http://data.example.org/{'x' * 150}/{number}/" for number in range(MOST_KNOWN)}
    StoredPrefixes(tmp_path).save(many)
    assert StoredPrefixes(tmp_path).load() == many


def test_prefixes_that_a_file_has_no_room_for_leave_those_that_are_stored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored = StoredPrefixes(tmp_path)
    stored.save(DRUG)
    stored.save({f"ns_{number:08}": f"http://data.example.org/{'x' * 400}/{number}/" for number in range(MOST_KNOWN)})
    assert "no room" in caplog.text
    assert StoredPrefixes(tmp_path).load() == DRUG


def test_a_further_prefix_is_appended_and_loaded_alone(tmp_path: Path) -> None:
    here, there = StoredPrefixes(tmp_path), StoredPrefixes(tmp_path)
    here.save(DRUG)
    assert there.load() == DRUG
    before = (tmp_path / "prefixes.jsonl").read_bytes()
    here.save({**DRUG, **GENE})
    assert (tmp_path / "prefixes.jsonl").read_bytes().startswith(before)
    assert there.load() == GENE
    assert there.load() == {}


def test_a_line_that_was_not_written_to_its_end_costs_no_other(tmp_path: Path) -> None:
    StoredPrefixes(tmp_path).save(DRUG)
    with (tmp_path / "prefixes.jsonl").open("a") as file:
        file.write('["cell_abc", "http://data.exa')
    assert StoredPrefixes(tmp_path).load() == DRUG
    StoredPrefixes(tmp_path).save(GENE)
    assert StoredPrefixes(tmp_path).load() == {**DRUG, **GENE}


def test_prefixes_that_an_earlier_version_stored_are_loaded_and_stay(tmp_path: Path) -> None:
    (tmp_path / "prefixes.json").write_text(json.dumps(DRUG))
    StoredPrefixes(tmp_path).save({"drug_abc": "http://other.example.org/", **GENE})
    assert StoredPrefixes(tmp_path).load() == {**DRUG, **GENE}


def test_a_stored_schema_is_loaded_as_it_was(tmp_path: Path) -> None:
    StoredSchema(tmp_path / "graph").save(WHOLE)
    assert StoredSchema(tmp_path / "graph").load() == WHOLE


@pytest.mark.parametrize(
    ("stored", "nothing"), [(StoredPrefixes, {}), (StoredSchema, None)], ids=["prefixes", "schema"]
)
def test_nothing_is_loaded_before_anything_was_stored(
    stored: type[StoredPrefixes | StoredSchema], nothing: object, tmp_path: Path
) -> None:
    assert stored(tmp_path).load() == nothing


@pytest.mark.parametrize(
    ("stored", "name", "nothing"),
    [
        (StoredPrefixes, "prefixes.jsonl", {}),
        (StoredPrefixes, "prefixes.json", {}),
        (StoredSchema, "schema.json", None),
    ],
    ids=["prefixes", "prefixes before", "schema"],
)
@given(content=st.binary(max_size=200))
def test_a_file_that_is_something_else_is_ignored(
    stored: type[StoredPrefixes | StoredSchema],
    name: str,
    nothing: object,
    content: bytes,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    place = tmp_path_factory.mktemp("stored")
    (place / name).write_bytes(content)
    assert stored(place).load() == nothing


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_file_that_is_cut_is_ignored(tmp_path: Path, cut: int) -> None:
    StoredSchema(tmp_path).save(WHOLE)
    file = tmp_path / "schema.json"
    file.write_bytes(file.read_bytes()[:-cut])
    assert StoredSchema(tmp_path).load() is None


@pytest.mark.parametrize("name", ["prefixes.jsonl", "prefixes.json"])
def test_a_file_that_is_too_large_is_ignored(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as hollow:
        hollow.truncate(1 << 40)
    assert StoredPrefixes(tmp_path).load() == {}


def test_a_file_that_is_too_large_or_too_deep_is_ignored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"format":1,"schema":{"other":' + "[" * 200_000, encoding="utf-8")
    assert StoredSchema(tmp_path).load() is None
    with file.open("wb") as hollow:
        hollow.truncate(1 << 40)
    assert StoredSchema(tmp_path).load() is None
    assert "more than 67,108,864 bytes" in caplog.text


@pytest.mark.parametrize(
    "save",
    [lambda place: StoredPrefixes(place).save(DRUG), lambda place: StoredSchema(place).save(WHOLE)],
    ids=["prefixes", "schema"],
)
def test_a_folder_that_cannot_be_written_fails_no_call(save: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    save(tmp_path / "file" / "graph")


@pytest.mark.parametrize("read_at", [-1.0, 1e300])
def test_a_schema_of_an_impossible_time_is_ignored_and_logged(
    tmp_path: Path, read_at: float, caplog: pytest.LogCaptureFixture
) -> None:
    stored = StoredSchema(tmp_path)
    stored.save(replace(WHOLE, basis=replace(WHOLE.basis, read_at=read_at)))
    assert stored.load() is None
    assert "no possible time" in caplog.text


def test_a_file_of_another_format_is_ignored_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    StoredSchema(tmp_path).save(WHOLE)
    file = tmp_path / "schema.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"format":9', '"format":2'), encoding="utf-8")
    assert StoredSchema(tmp_path).load() is None
    assert "is of format 2, not 9" in caplog.text
