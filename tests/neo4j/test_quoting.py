"""Names of labels and properties become Cypher in one place, quoted; every query declares its parameters."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import resources
from gateway.errors import ConfigurationError
from gateway.neo4j.cypher import identifier, load
from gateway.neo4j.store import GraphModel
from gateway.settings.databases import EdgesInNeo4j, Neo4jSettings, NodesInNeo4j

FOLDER = resources.folder("queries") / "neo4j"
QUERIES = sorted(path.stem for path in FOLDER.glob("*.cypher"))
_OF_A_PART = {"{rule}": {"1", "2", "3", "4"}, "{matching}": {"1", "2", "3"}}

_QUOTED = re.compile(r"`(?:[^`]|``)*`")
NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" ", exclude_characters="\\"), min_size=1
)


@given(st.text())
def test_a_name_is_one_quoted_identifier_or_refused(name: str) -> None:
    try:
        cypher = identifier(name)
    except ConfigurationError:
        return
    assert _QUOTED.fullmatch(cypher)
    assert cypher[1:-1].replace("``", "`") == name
    # Cypher replaces escapes before it looks for the end of a name.
    assert "\\" not in cypher


@pytest.mark.parametrize("name", ["", "a\nb", "a\0", "\\u0060", "x" * 1_001])
def test_a_name_that_cannot_be_quoted_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError):
        identifier(name)


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
    assert set(re.findall(r"\$(\d+)", load(name))) | of_parts == declared | of_parts
    assert text.startswith("// summary: ")
