"""Names become SQL in one place and Cypher in one, quoted; every query of Cypher declares its parameters."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import resources
from gateway.errors import ConfigurationError
from gateway.neo4j import cypher
from gateway.neo4j.store import GraphModel
from gateway.postgres import sql
from gateway.settings.databases import EdgesInNeo4j, Neo4jSettings, NodesInNeo4j

FOLDER = resources.folder("queries") / "neo4j"
QUERIES = sorted(path.stem for path in FOLDER.glob("*.cypher"))
_OF_A_PART = {"{rule}": {"1", "2", "3", "4"}, "{matching}": {"1", "2", "3"}, "{some_nodes}": {"2"}}

_QUOTED = re.compile(r"`(?:[^`]|``)*`")
NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" ", exclude_characters="\\"), min_size=1
)


@pytest.mark.parametrize(
    ("quote", "name"),
    [
        *(
            (sql.identifier, name)
            for name in ("", ".", "a.b.c", 'a"; DROP TABLE entity; --', "a\nb", "x" * 64, "ü" * 32, "a\0")
        ),
        *((cypher.identifier, name) for name in ("", "a\nb", "a\0", "\\u0060", "x" * 1_001)),
    ],
)
def test_a_name_that_cannot_be_quoted_is_refused(quote: Callable[[str], str], name: str) -> None:
    with pytest.raises(ConfigurationError):
        quote(name)


@given(st.text())
def test_a_name_in_sql_is_one_quoted_identifier_or_two_or_refused(name: str) -> None:
    try:
        quoted = sql.identifier(name)
    except ConfigurationError:
        return
    assert quoted.replace('"."', ".") == f'"{name}"'
    assert quoted.count('"') == 2 * (name.count(".") + 1)


def test_a_schema_and_a_table_are_quoted_apart() -> None:
    assert sql.identifier("My graph.entity") == '"My graph"."entity"'


@given(st.text())
def test_a_name_in_cypher_is_one_quoted_identifier_or_refused(name: str) -> None:
    try:
        quoted = cypher.identifier(name)
    except ConfigurationError:
        return
    assert _QUOTED.fullmatch(quoted)
    assert quoted[1:-1].replace("``", "`") == name
    # Cypher replaces escapes before it looks for the end of a name.
    assert "\\" not in quoted


def _shape(query: str) -> str:
    return _QUOTED.sub("``", query)


@given(NAMES, NAMES, NAMES, NAMES)
def test_no_query_changes_its_shape_by_a_name(label: str, key: str, name: str, text: str) -> None:
    def model(label: str, key: str, name: str, text: str) -> GraphModel:
        nodes = NodesInNeo4j(labels=(label,), id=key, names=(name,), synonyms=f"s{text}", properties=f"p{text}")
        return GraphModel(Neo4jSettings(nodes=nodes, edges=EdgesInNeo4j(properties=text)), (label,))

    given_names, plain = model(label, key, name, text), model("L", "i", "n", "t")
    for query in QUERIES:
        if len({key, name, f"s{text}", f"p{text}"}) == 4:
            assert _shape(given_names.query(query)) == _shape(plain.query(query)), query


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_declares_the_parameters_that_it_has(name: str) -> None:
    text = Path(FOLDER / f"{name}.cypher").read_text(encoding="utf-8")
    declared = set(re.findall(r"^// \$(\d+) [A-Z<>]+: .+\.$", text, re.MULTILINE))
    of_parts = {number for part, numbers in _OF_A_PART.items() if part in text for number in numbers}
    assert set(re.findall(r"\$(\d+)", cypher.load(name))) | of_parts == declared | of_parts
    assert text.startswith("// summary: ")
