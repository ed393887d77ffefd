"""Texts that name tools and arguments, as a model reads them, are put into the words of the command line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import messages
from gateway.arguments import BfsQuery, DescribeEntities, DescribeSchema, IntersectSubgraphs, SearchEntities
from gateway.cli.own_words import own_words, to_the_operator

TOOLS = (BfsQuery, DescribeEntities, DescribeSchema, IntersectSubgraphs, SearchEntities)
OF_TOOLS = re.compile(
    r"\b("
    + "|".join({*(model.tool for model in TOOLS), *(name for model in TOOLS for name in model.model_fields)})
    + ")\\b"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bfs_query: max_hops is 9, but at most 5. max_hops: Distance.",
            "--hops is 9, but at most 5. --hops: Distance.",
        ),
        ("seeds[0]: 'x' is no ID. Call search_entities.", "'x' is no ID. Run bfsql-gateway search."),
        ("only_predicates[1]: no predicate is called 'k'.", "--only-predicate: no predicate is called 'k'."),
        ("exclude them, or use max_degree=100.", "exclude them, or use --max-degree 100."),
        ("Ask with topology_only=true.", "Ask with --topology-only."),
        ("search_entities: query must not be empty.", "QUERY must not be empty."),
        ("offset: 900 is past the end; there are 16 nodes.", "--offset: 900 is past the end; there are 16 nodes."),
        ("next_offset is the offset of the next page.", "--offset is the offset of the next page."),
        *[(text, text) for text in ("size.max_tokens is wrong", "a/max_hops", "describe_schema.nt:1", "x-max_hops")],
        ("There is no limit on the length of an id.", "There is no limit on the length of an id."),
    ],
)
def test_tools_become_commands_and_arguments_become_options(text: str, expected: str) -> None:
    assert own_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It is slow. Try again; if it stays, the operator of this gateway should check the endpoint.",
            "It is slow. Try again; if it stays, check the endpoint.",
        ),
        ("The operator of this gateway should check its credentials.", "Check its credentials."),
        ("It failed. The operator of this gateway should check search.api in its profile.",
         "It failed. Check search.api in the profile."),
        ("It failed. Tell the operator of this gateway.", "It failed."),
        ("The operator of this gateway can serve a file of the graph.", "You can serve a file of the graph."),
        ("the operator of this gateway has to raise `limits.query_rows`.", "you have to raise `limits.query_rows`."),
        ("'Tell the operator of this gateway.' is no ID.", "'Tell the operator of this gateway.' is no ID."),
    ],
)  # fmt: skip
def test_what_the_operator_can_do_is_said_to_the_reader(text: str, expected: str) -> None:
    assert own_words(text) == to_the_operator(text) == expected


@pytest.mark.slow
def test_no_text_of_an_answer_speaks_of_the_operator_as_of_somebody_else() -> None:
    package = Path(messages.__file__).parent
    apart = {package / name for name in ("server", "cli", "web")}
    texts = [
        text
        for path in package.rglob("*.py")
        if apart.isdisjoint(path.parents)
        for text in _said(ast.parse(path.read_text(encoding="utf-8")))
    ]
    of_operator = [text for text in texts if re.search(r"operator (of|should|can|has)|ask the operator", text)]
    assert len(of_operator) > 20
    assert [text for text in map(own_words, of_operator) if "operator" in text] == []


def _said(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module without its docstrings."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


def sentences() -> Iterator[str]:
    """Yield the texts of the engine, as they stand in its source."""
    for node in ast.walk(ast.parse(Path(messages.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def test_no_sentence_of_the_engine_keeps_a_name_that_only_a_model_uses() -> None:
    kept = [found[0] for text in sentences() for found in OF_TOOLS.finditer(own_words(text)) if "_" in found[0]]
    assert kept == []
    assert sum("_" in found[0] for text in sentences() for found in OF_TOOLS.finditer(text)) > 20


@given(st.lists(st.sampled_from([*"ab _k:=.[0]", "max_hops", "bfs_query: ", "limit"])).map("".join), st.text("ab "))
def test_what_stands_in_quotation_marks_stays(before: str, quoted: str) -> None:
    name = f"'max_hops{quoted}'"
    assert name in own_words(f"{before} {name} max_hops")
