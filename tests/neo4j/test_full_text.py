"""A search in a large database asks its full-text index, and says that it may have missed names."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.graph.call import Call, Deadline
from gateway.graph.values import SearchTerms
from gateway.neo4j.connection import Address
from gateway.neo4j.store import FullTextIndex, Neo4jStore, best_index, lucene_query
from gateway.settings.databases import Neo4jSettings, NodesInNeo4j
from gateway.settings.profile import Profile
from gateway.terms.names import words_of
from tests.calls import asked, connected
from tests.neo4j.database import access, opened

LABELS = ("Disease", "Drug")
LARGE = NodesInNeo4j(labels=LABELS, full_text_above=0)


@pytest.fixture
def port(address: Address) -> int:
    return urlsplit(address.url).port or 0


@pytest.mark.anyio
@pytest.mark.server
@pytest.mark.parametrize(
    ("query", "types", "expected"),
    [
        ("cushing", [], ["MeSH:D003480"]),
        ("HyperCort", [], ["MeSH:D003480"]),
        ("syndrome cushing", [], ["MeSH:D003480"]),
        ("desmopressin NOT", [], ["RxNorm:3251"]),
        ("cushing", ["Drug"], []),
        ("a number as its ID", [], []),
        ('x") OR *:* OR ("', [], []),
    ],
)
async def test_it_finds_words_of_names_and_synonyms_but_is_not_exhaustive(
    port: int, tmp_path: Path, query: str, types: list[str], expected: list[str]
) -> None:
    async with connected(opened(port, access(tmp_path), LARGE)) as client:
        found = await asked(client, "search_entities", query=query, node_types=types)
    assert [hit["id"] for hit in (*found["result"], *found.get("guesses", ()))] == expected
    assert found["searched"]["exhaustive"] is False
    assert found["searched"]["how"].startswith("the full-text index of the database, which may miss some; names")


@pytest.mark.anyio
@pytest.mark.server
@pytest.mark.parametrize(
    "nodes",
    [NodesInNeo4j(labels=LABELS), NodesInNeo4j(labels=("Link",), full_text_above=0)],
    ids=["few nodes", "no index of these nodes"],
)
async def test_all_names_are_compared_where_there_are_few_nodes_or_no_index(
    port: int, tmp_path: Path, nodes: NodesInNeo4j
) -> None:
    async with connected(opened(port, access(tmp_path), nodes)) as client:
        found = await asked(client, "search_entities", query="nothing has this name")
    assert found["result"] == []
    assert "full-text" not in str(found)


@pytest.mark.anyio
@pytest.mark.server
async def test_an_index_that_has_more_entities_than_it_gave_leaves_hits_that_are_truncated(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Neo4jStore(address, Neo4jSettings(nodes=LARGE), Profile(), {})
    both = SearchTerms("cushing desmopressin", ("cushing", "desmopressin"))
    call, drugs = Call(Deadline.after(60), 100, 1_000, 1_000), [f"{Neo4jSettings().vocabulary}Drug"]
    try:
        whole = await store.search(both, drugs, call)
        monkeypatch.setattr("gateway.databases.search._CANDIDATES", 1)
        few = await store.search(both, [f"{Neo4jSettings().vocabulary}Disease"], call)
        one = await store.search(SearchTerms("desmopressin", ("desmopressin",)), drugs, call)
    finally:
        await store.close()
    assert [hits.truncated for hits in (whole, few, one)] == [False, True, False]
    assert [len(hits.hits) for hits in (whole, one)] == [1, 1]


@given(st.text(), st.booleans())
def test_no_text_becomes_an_operator(text: str, every: bool) -> None:
    words = words_of(text)
    query = lucene_query(words, every=every)
    for operator in "+()* ":
        query = query.replace(operator, "")
    assert query == "".join(word * 2 for word in words)
    assert not {"AND", "OR", "NOT"} & set(words)


@pytest.mark.parametrize("word", ["a b", 'a"', "a*", "-a", ""])
def test_what_is_no_word_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="letters, digits and marks"):
        lucene_query([word], every=True)


def test_the_index_with_most_labels_then_most_properties_is_asked() -> None:
    properties = ["name", "synonyms"]
    rows = [
        ["other", ["Paper"], ["name"]],
        ["texts", ["Drug", "Disease"], ["abstract"]],
        ["one", ["Drug"], ["name", "synonyms"]],
        ["names", ["Drug", "Disease"], ["name"]],
    ]
    assert best_index(rows, LABELS, properties) == FullTextIndex("names", has_all=False)
    assert best_index([*rows, ["all", [*LABELS, "More"], ["synonyms", "name"]]], LABELS, properties) == FullTextIndex(
        "all", has_all=True
    )
    assert best_index(rows[:2], LABELS, properties) is None
