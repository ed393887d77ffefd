"""Metadata of nodes as rows (docs/contract.md, "The two shapes of an answer")."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.compact import node_columns, node_row
from gateway.answers.shape import size_of
from gateway.expand_compact import NODE_COLUMNS, expand
from tests.examples import examples

_KEYS = st.sampled_from(["description", "synonyms", "total_mentions", "x:a", "x:long_property", "x:c"])
_VALUES = st.one_of(st.integers(), st.text(max_size=5), st.lists(st.text(max_size=3), min_size=1, max_size=2))
_SAID = st.lists(st.dictionaries(_KEYS, _VALUES, max_size=6), max_size=12)


def answer(said: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a compact answer with nodes that carry some metadata."""
    columns = node_columns(said)
    nodes = [{f"x:n{number}": node_row(metadata, columns)} for number, metadata in enumerate(said)]
    return {**({NODE_COLUMNS: columns} if columns else {}), "nodes": {"x:T": nodes}, "edges": {}}


@settings(max_examples=examples(300), deadline=None)
@given(_SAID)
def test_rows_say_what_the_objects_said_in_fewer_bytes(said: list[dict[str, Any]]) -> None:
    written = answer(said)
    assert [node["metadata"] for node in expand(written)["nodes"]] == said
    plain = {"nodes": {"x:T": [{f"x:n{number}": metadata} for number, metadata in enumerate(said)]}, "edges": {}}
    assert (size_of(written) < size_of(plain)) == (NODE_COLUMNS in written)
    assert NODE_COLUMNS in written or written == plain


def test_many_nodes_of_one_kind_have_their_keys_once() -> None:
    said = [{"description": f"Number {number}", "synonyms": ["n"]} for number in range(5)]
    assert answer(said)[NODE_COLUMNS] == ["description", "synonyms"]
    assert node_row(said[0], ["description", "synonyms"]) == ["Number 0", ["n"]]


def test_a_row_has_no_empty_cell_and_a_node_that_would_need_one_stays_an_object() -> None:
    columns = ["description", "synonyms"]
    assert node_row({"description": "A"}, columns) == ["A"]
    assert node_row({"synonyms": ["A"]}, columns) == {"synonyms": ["A"]}
    assert node_row({"description": "A", "x:rare": 1}, columns) == {"description": "A", "x:rare": 1}
    assert node_row({}, columns) == {}


def test_one_node_with_metadata_has_no_columns() -> None:
    assert node_columns([{"description": "A", "synonyms": ["B"]}]) == []
