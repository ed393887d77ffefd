"""Data frames of subgraphs and of pages, as people put them together."""

from collections.abc import Callable, Sequence
from pathlib import Path

import nanoarrow as na
import pandas as pd

from bfsql_gateway import open_gateway

NAMED = """@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:a x:likes x:b ; x:worksFor x:b ; x:P31 x:b . x:likes rdfs:label "is fond of"@en , "mag"@de ."""


def test_a_predicate_has_the_name_of_the_graph_or_else_its_local_name_in_tables_and_graphs(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(NAMED, encoding="utf-8")
    with open_gateway(path) as graph:
        whole = graph.bfs_subgraph(["x:a"], 1)
        german = graph.bfs_subgraph(["x:a"], 1, language="DE")
    names = {"x:likes": "is fond of", "x:worksFor": "worksFor", "x:P31": ""}
    _, edges = whole.to_dataframes()
    assert dict(zip(edges["predicate"], edges["predicate_name"], strict=True)) == names
    assert {key: said["predicate_name"] for *_, key, said in whole.to_networkx().edges(keys=True, data=True)} == names
    # What the graph does not call so is no label.
    assert (whole.labels, german.labels) == ({"x:likes": "is fond of"}, {"x:likes": "mag"})


def things(path: Path, values: Callable[[int], str]) -> Path:
    """Write 250 things whose values depend on their numbers."""
    lines = "\n".join(f"x:n{number:03} a x:T ; x:every 1 {values(number)} ." for number in range(250))
    prefixes = "@prefix x: <http://x.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
    path.write_text(prefixes + lines, encoding="utf-8")
    return path


def dtypes(tables: Sequence[pd.DataFrame], title: str) -> list[str]:
    return [str(table[title].dtype) for table in tables]


OF_THE_LAST = {
    "x:number": ("7", "Int64"),
    "x:real": ("7.5", "Float64"),
    "x:truth": ("true", "boolean"),
    "x:day": ('"2020-02-03"^^xsd:date', "datetime64[ns]"),
    "x:time": ('"2020-02-03T10:00:00Z"^^xsd:dateTime', "datetime64[ns, UTC]"),
    "x:text": ('"seven"', "object"),
    "x:node": ("x:n000", "object"),
}


def test_a_column_without_a_value_on_a_page_has_the_type_of_the_others(tmp_path: Path) -> None:
    last = "".join(f"; {title} {value} " for title, (value, _) in OF_THE_LAST.items())
    path = things(tmp_path / "x.ttl", lambda number: last if number == 249 else "")
    asked = [*OF_THE_LAST, "x:node/x:every", "x:every"]
    expected = [*(dtype for _, dtype in OF_THE_LAST.values()), "Int64", "Int64"]
    with open_gateway(path) as graph:
        pages = list(graph.search_pages(node_types=["x:T"], values=asked, show="id"))
        described = list(graph.search_pages(node_types=["x:T"], values=asked, where="x:every = 1"))
    for found in (pages, described):
        tables = [page.to_dataframe() for page in found]
        assert len(tables) == 3
        together = pd.concat(tables)
        for title, dtype in zip(asked, expected, strict=True):
            assert dtypes([*tables, together], title) == [dtype] * 4, title
        schemas = {str(na.ArrayStream(page.to_arrow()).schema) for page in found}
        assert len(schemas) == 1


def test_a_column_that_no_entity_has_and_one_of_two_kinds_are_the_same_on_each_page(tmp_path: Path) -> None:
    with open_gateway(things(tmp_path / "x.ttl", lambda number: f"; x:v {'1.5' if number < 3 else 2}")) as graph:
        tables = [page.to_dataframe() for page in graph.search_pages(node_types=["x:T"], values=["x:v"])]
    assert dtypes([*tables, pd.concat(tables)], "x:v") == ["Float64"] * 4
    assert tables[2]["x:v"].tolist() == [2.0] * len(tables[2])
    dates = things(tmp_path / "y.ttl", lambda number: f'; x:v "{2020 if number < 3 else "2020-02-03"}"')
    with open_gateway(dates) as graph:
        tables = [page.to_dataframe() for page in graph.search_pages(node_types=["x:T"], values=["x:v", "rdfs:label"])]
    # A page of dates behind one of other texts has texts, and the table of all has no mixture.
    assert dtypes(tables, "x:v") == dtypes(tables, "rdfs:label") == ["object"] * 3
    assert {type(value) for value in pd.concat(tables)["x:v"]} == {str}


def test_whole_numbers_before_others_become_numbers_of_one_type_where_pages_are_put_together(tmp_path: Path) -> None:
    with open_gateway(things(tmp_path / "x.ttl", lambda number: f"; x:v {2 if number < 249 else '1.5'}")) as graph:
        tables = [page.to_dataframe() for page in graph.search_pages(node_types=["x:T"], values=["x:v"])]
    together = pd.concat(tables)["x:v"]
    assert (str(together.dtype), together.sum()) == ("Float64", 2 * 249 + 1.5)


def test_hits_of_a_search_have_the_same_types_on_each_page() -> None:
    with open_gateway() as graph:
        tables = [page.to_dataframe() for page in graph.search_pages(node_types=["Drug"], limit=5)]
    assert len({tuple(map(str, table.dtypes)) for table in tables}) == 1
    assert set(dtypes(tables, "edges")) == {"Int64"}
