"""Data frames of subgraphs and of pages, as people put them together."""

from pathlib import Path

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
