"""Subgraphs on the command line, and whole traversals page after page with `--all`."""

import json
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from gateway.answers.models import BfsResult, Edge, IntersectionResult
from gateway.cli import subgraph, subgraph_notes
from tests.cli.conftest import FIXTURES, Run
from tests.cli.test_screen import shown
from tests.cli.test_tsv import TITLES, rows

SLICE = ["-g", str(FIXTURES / "wikidata-slice.ttl"), "-p", "wikidata-local"]


def lines(out: str) -> list[str]:
    return [line.rstrip() for line in out.splitlines()]


def answer(edges: str, levels: list[int], **more: Any) -> dict[str, Any]:
    """Return an answer whose edges are `a p b, …` and whose nodes are named in the order of the alphabet."""
    triples = [text.split() for text in edges.split(", ")] if edges else []
    names = sorted({name for subject, _, value in triples for name in (subject, value)})
    return {
        "seeds": ["e:a"],
        "node_count": sum(levels),
        "edge_count": len(triples),
        "complete": True,
        "nodes": [{"id": f"e:{name}", "entity_type": "e:T"} for name in names],
        "edges": [
            {"subject": f"e:{subject}", "predicate": f"e:{predicate}", "object": f"e:{value}"}
            for subject, predicate, value in triples
        ],
        "schema_summary": {"entity_types_found": ["e:T"], "predicates_found": []},
        "max_hops": len(levels) - 1,
        "levels": levels,
        **more,
    }


def drawn(edges: str, levels: list[int], offset: int = 0, **more: Any) -> list[str]:
    return lines(shown(subgraph.bfs(BfsResult.model_validate(answer(edges, levels, **more)), offset)))


def test_a_line_says_how_a_class_expression_says_its_edge_and_names_a_path_by_all_its_steps(
    run: Run, tmp_path: Path
) -> None:
    graph = tmp_path / "g.ttl"
    graph.write_text("""@prefix x: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:C a owl:Class ; rdfs:subClassOf [ a owl:Restriction ; owl:onProperty x:p ; owl:allValuesFrom x:D ] ,
  [ owl:complementOf [ a owl:Restriction ; owl:onProperty x:q ; owl:someValuesFrom x:E ] ] .""")
    out = lines(run("bfs", "x:C", "--graph", str(graph), "--text").out)
    assert "├── (complementOf/q) → x:E  [untyped]  DENIED (not some)" in out
    assert "└── p → x:D  [untyped]  (only)" in out


def test_the_header_says_what_was_asked_and_that_nothing_is_missing(run: Run) -> None:
    out = run("bfs", "drug:warfarin", "--hops", "2").out
    assert out.startswith("2 hops around drug:warfarin: 34 nodes, 59 edges, complete.\n")
    assert "Distances   1 seed · 15 at 1 hop · 18 at 2 hops" in out


def test_edges_between_the_farthest_nodes_are_said_to_be_left_out(run: Run) -> None:
    said = "Edges between two nodes at distance 1 are not shown: one hop more shows them."
    assert said in run("bfs", "drug:warfarin", "--text").out
    assert said in run("bfs", "drug:warfarin", "--tsv").err
    assert said in run("bfs", "drug:warfarin", "--all", "--text").out
    one = run("bfs", "drug:warfarin", "--only-predicate", "INHIBITS", "--text").out
    assert "protein:VKORC1" in one
    assert "are not shown" not in one


def test_an_edge_has_its_direction_and_how_sure_it_is(run: Run) -> None:
    out = lines(run("bfs", "drug:warfarin").out)
    assert "drug:warfarin  warfarin  [Drug]" in out
    assert "├── DECREASES_RISK → disease:stroke  ischaemic stroke  [Disease]  0.93" in out
    assert "├── METABOLIZES ← protein:CYP2C9  cytochrome P450 2C9  [Protein]  0.98" in out
    assert "├── CAUSES → effect:bleeding  bleeding  [SideEffect]  0.9 to 0.95" in out


def test_every_node_and_edge_is_shown_once(run: Run) -> None:
    out = run("bfs", "drug:warfarin", "--hops", "3", "--topology-only").out
    assert "70 nodes, 119 edges, complete" in out
    tree, _, further = out.partition("Further edges\n")
    edges = further.partition("\n\n")[0].splitlines()
    nodes = [line for line in tree.splitlines() if line.rstrip().endswith("]")]
    steps = sum(line.count("→") + line.count("←") + line.partition("→")[0].count(",") for line in nodes)
    assert len(nodes) == 70
    assert steps + len(edges) == 119


def test_a_node_is_below_the_first_that_reached_it() -> None:
    out = drawn("a p c, a p b, b q d, d r c, d p e", [1, 2, 1, 1])
    assert out[2:7] == [
        "e:a  [T]",
        "├── p → e:b  [T]",
        "│   └── q → e:d  [T]",
        "│       └── p → e:e  [T]",
        "└── p → e:c  [T]",
    ]
    assert out[8:10] == ["Further edges", "  e:d r → e:c"]


def test_parallel_edges_stand_on_one_line() -> None:
    assert "└── p, q →, r ← e:b  [T]" in drawn("a p b, a q b, b r a", [1, 1])


def test_parallel_edges_keep_their_own_confidence() -> None:
    data = answer("a p b, a q b", [1, 1])
    data["edges"][0]["metadata"] = {"confidence": 0.5}
    data["edges"][1]["metadata"] = {"assertions": [{"confidence": 0.25}, {"confidence": 1}, {}]}
    out = lines(shown(subgraph.bfs(BfsResult.model_validate(data), 0)))
    assert "└── p, q → e:b  [T]  p 0.5, q 0.25 to 1" in out
    assert "2 edges with evidence: --json shows sources and details." in out


def test_loops_are_further_edges() -> None:
    assert "  e:a p → e:a" in drawn("a p a, a p b", [1, 1])


def test_names_of_opaque_ids_are_labels(run: Run) -> None:
    out = run("bfs", "wd:Q42", *SLICE).out
    assert "── place of birth → wd:Q350  Cambridge  [city]" in out


def test_every_seed_has_its_tree(run: Run, films: Path) -> None:
    out = lines(run("bfs", "person:Harrison_Ford", "person:Steve_McQueen_1930", "-g", films).out)
    assert "person:Harrison_Ford  Harrison Ford  [Person]" in out
    assert "person:Steve_McQueen_1930  Steve McQueen  [Person]" in out


def star(folder: Path, count: int) -> Path:
    """Write a graph of a node with so many neighbours, each with a name and more text than a model is sent."""
    path = folder / "star.ttl"
    text = "long " * 40
    path.write_text(
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix x: <http://x.org/> .\n"
        + "".join(f"x:a x:p x:n{n} . x:n{n} rdfs:label 'Node {n}' ; rdfs:comment '{text}' .\n" for n in range(count))
    )
    return path


def test_each_node_has_its_name_however_much_is_known_of_all(run: Run, tmp_path: Path) -> None:
    out = run("bfs", "x:a", "-g", star(tmp_path, 400)).out
    assert sum(f"x:n{number}  Node {number}  " in out for number in range(400)) == 400
    assert "Omitted" not in out
    shortened = run("bfs", "x:a", "-g", star(tmp_path, 400), "--max-tokens", 1_000).out
    assert "more nodes" in shortened


@pytest.mark.slow
def test_a_page_has_five_hundred_nodes_unless_a_limit_is_given(run: Run, tmp_path: Path) -> None:
    graph = star(tmp_path, 600)
    assert "nodes 1 to 500," in run("bfs", "x:a", "-g", graph).out
    assert "nodes 1 to 501," in run("bfs", "x:a", "-g", graph, "--limit", 501).out
    assert len(json.loads(run("bfs", "x:a", "-g", graph, "--json").out)["nodes"]) == 500
    # The compact shape is what a model gets, and so is its size.
    assert len(run("bfs", "x:a", "-g", graph, "--json", "--shape", "compact").out) < 32_100


def test_a_page_says_which_it_is_and_how_to_go_on(run: Run) -> None:
    first = run("bfs", "drug:warfarin", "--limit", "6").out
    assert "This page: nodes 1 to 6, and the 5 edges among them." in first
    assert "not shown: " in first
    onward = first.partition("! … 10 more nodes, and 10 edges from this page to them. Next page: ")[2].split()
    assert onward[:2] == ["--offset", "6"]
    second = run("bfs", "drug:warfarin", "--limit", "6", *onward).out
    assert "This page: nodes 7 to 12, and the 6 edges among them and to nodes of earlier pages." in second
    assert lines(second)[3] == "drug:warfarin  warfarin  [on an earlier page]"
    assert second.count("── ") == 6
    assert "has changed" not in second


def test_an_offset_behind_the_end_is_reported(run: Run) -> None:
    assert (
        "! This page is empty: --offset 99 is beyond the last node."
        in run("bfs", "drug:warfarin", "--offset", "99").out
    )


def test_nodes_whose_way_is_filtered_out_are_still_shown() -> None:
    out = drawn("c p d", [1, 0, 1, 1], offset=1)
    assert "At distance 2, reached through nodes that are not shown:" in out
    assert out[out.index("e:c  [T]") + 1] == "└── p → e:d  [T]"


def test_everything_that_an_answer_lacks_is_reported() -> None:
    out = " ".join(
        drawn(
            "a p b",
            [1, 1, 9],
            complete=False,
            incomplete=[{"cause": "hub_not_expanded", "count": 22, "ids": ["e:h", "e:i"], "detail": "Degree 9,000."}],
            removed={"exclude_node_types": 1_200, "min_mentions": 1},
            missing_seeds=["e:\x1bz"],
            blank_node_edges=3,
            warnings=["Two types are called T."],
            degraded={"nodes_as_stubs": 4, "edges_bare": 1, "values_shortened": 2, "metadata_failed": 5},
            omitted_texts={"e:quote": 7},
            edges_on_later_pages=6,
            next_offset=2,
            next_edge=5,
            snapshot="abc",
            result_changed=True,
        )
    )
    for text in (
        "not complete.",
        "! hub_not_expanded, 22 nodes: Degree 9,000. (e:h, e:i and 20 more)",
        "! What is missing here may still be in the graph.",
        "Removed: 1,200 nodes by --exclude-node-type, 1 node by --min-mentions.",
        "! Not in the graph: e:\\u001bz",
        "! The answer has changed since the previous page: start again at --offset 0.",
        "! Omitted: 3 edges to blank nodes that cannot be followed.",
        "! Two types are called T.",
        "! Omitted to limit the size of the answer: the details of 4 nodes.",
        "! Omitted to limit the size of the answer: the evidence of 1 edge.",
        "! Shortened to limit the size of the answer: 2 values (long texts and lists).",
        "! The details of 5 items could not be read: try again.",
        "! Omitted from the evidence, as long quotes: e:quote 7.",
        "! … 9 more nodes, and 6 edges from this page to them. Next page: --offset 2 --edge-offset 5 --snapshot abc",
    ):
        assert text in out


def test_an_intersection_is_nodes_and_the_edges_among_them(run: Run) -> None:
    out = run("intersect", "drug:warfarin", "drug:aspirin").out
    assert out.startswith("Within 1 hop of each of drug:warfarin, drug:aspirin: 6 nodes, 9 edges, complete.\n")
    assert ["effect:bleeding", "SideEffect", "bleeding"] in [line.split() for line in lines(out)]
    assert "  drug:aspirin DECREASES_RISK → disease:stroke (ischaemic stroke)  0.82" in lines(out)


def test_an_intersection_shows_how_its_nodes_are_connected_to_the_seeds_unless_told_not_to(run: Run) -> None:
    asked = ("intersect", "drug:warfarin", "drug:glibenclamide", "--topology-only")
    assert (
        "  drug:warfarin ← METABOLIZES protein:CYP2C9 (cytochrome P450 2C9) METABOLIZES → drug:glibenclamide"
        in lines(run(*asked).out)
    )
    assert "Paths to the seeds" not in run(*asked, "--no-via").out


def test_the_shortest_paths_come_first_and_those_that_are_not_shown_are_told(run: Run) -> None:
    asked = ("intersect", "drug:warfarin", "drug:aspirin", "-k", "2")
    paths = run(*asked, "--via").out.partition("Paths to the seeds\n")[2].partition("\n\n")[0]
    # A path that is longer than the line goes on below, further to the right.
    whole = re.sub(r"\n {3,}", " ", paths).splitlines()
    lengths = [len(re.findall("[←→]", path)) for path in whole]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 1
    some = run(*asked, "--direction", "out").out
    assert "Paths to the seeds" in some
    assert "Of 8 nodes not all paths to the seeds are shown: --via shows all.\n" in some


def test_paths_of_one_edge_are_shown_where_all_edges_were_followed(run: Run) -> None:
    asked = ("intersect", "drug:warfarin", "drug:fluconazole")
    paths = [
        "  drug:warfarin INTERACTS_WITH → drug:fluconazole",
        "  drug:warfarin ← METABOLIZES protein:CYP2C9 (cytochrome P450 2C9) ← INHIBITS drug:fluconazole",
    ]
    for more in ((), ("--via",)):
        out = run(*asked, *more).out
        assert lines(out.partition("Paths to the seeds\n")[2].partition("\n\n")[0]) == paths
        assert "not shown" not in out
    assert "Paths to the seeds" not in run(*asked, "--no-via").out


def test_seeds_that_are_direct_neighbours_have_their_path_once(run: Run) -> None:
    out = run("intersect", "drug:warfarin", "drug:fluconazole", "drug:aspirin", "-k", "2").out
    paths = lines(out.partition("Paths to the seeds\n")[2].partition("\n\n")[0])
    assert paths.count("  drug:warfarin INTERACTS_WITH → drug:fluconazole") == 1
    assert paths.count("  drug:warfarin INTERACTS_WITH → drug:aspirin") == 1
    of_seeds = [path for path in paths if path.startswith(("  drug:fluconazole", "  drug:aspirin"))]
    assert not [path for path in of_seeds if path.endswith("drug:warfarin")]


def test_edges_of_one_predicate_stand_together_and_the_rare_ones_first(run: Run) -> None:
    out = run("intersect", "drug:warfarin", "drug:aspirin", "-k", "2").out
    edges = out.partition("Edges between these nodes\n")[2].partition("\n\n")[0].splitlines()
    predicates = [edge.partition(" → ")[0].split()[-1] for edge in edges]
    counts = [len(list(group)) for _, group in groupby(predicates)]
    assert len(counts) == len(set(predicates))
    assert counts == sorted(counts)


def test_paths_to_three_seeds_are_a_line_each(run: Run) -> None:
    out = run("intersect", "drug:warfarin", "drug:aspirin", "drug:ibuprofen", "-k", "2", "--via").out
    assert "  disease:stroke (ischaemic stroke) ← DECREASES_RISK drug:aspirin" in lines(out)


def test_an_empty_intersection_is_reported(run: Run, films: Path) -> None:
    out = run("intersect", "person:Steve_McQueen_1930", "person:Steve_McQueen_1969", "-g", films).out
    assert ": 0 nodes, 0 edges, complete." in out.replace("\n", " ").replace("  ", " ")


def test_an_intersection_with_a_missing_seed_says_so() -> None:
    data = answer("", [0], missing_seeds=["e:z"], k=1)
    del data["levels"], data["max_hops"]
    assert "! Not in the graph: e:z" in shown(subgraph.intersection(IntersectionResult.model_validate(data), 0))


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        (None, ""),
        ({"e:note": "x"}, ""),
        ({"confidence": 1}, "1"),
        ({"confidence": "high"}, ""),
        ({"confidence": True}, ""),
        ({"confidence": 0.9, "assertions": [{"confidence": 0.9}, {"confidence": 0.9}]}, "0.9"),
        ({"assertions": [{"confidence": 0.95}, {"confidence": 0.9}, {}]}, "0.9 to 0.95"),
    ],
)
def test_confidence_is_a_number_or_a_range(metadata: dict[str, Any] | None, text: str) -> None:
    assert subgraph.confidence(Edge(subject="e:a", predicate="e:p", object="e:b", metadata=metadata)) == text


FILMS = ["bfs", "film:Blade_Runner", "-g", str(FIXTURES / "films.ttl"), "--hops", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [499, 500, 1_200])
def test_all_nodes_and_edges_of_many_pages_are_there_once(run: Run, tmp_path: Path, size: int) -> None:
    graph = star(tmp_path, size)
    ran = run("bfs", "x:a", "-g", graph, "--all", "--tsv")
    titles, *found = rows(ran.out)
    assert titles == TITLES["bfs"]
    assert sorted(row[2] for row in found) == sorted(f"x:n{number}" for number in range(size))
    assert ran.err.startswith(f"1 hop around x:a: {size + 1:,} nodes, {size:,} edges, complete.")
    text = run("bfs", "x:a", "-g", graph, "--all").out
    assert sum(f"x:n{number}  Node {number}  " in text for number in range(size)) == size
    assert text.count("1 hop around") == 1
    assert "Next page" not in text


NOBODY = "http://127.0.0.1:9/sparql"


@pytest.mark.parametrize(
    ("missing", "name", "extra"),
    [("networkx", "graphml", "export"), ("pydot", "dot", "export"), ("matplotlib", "svg", "pictures")],
)
def test_a_format_whose_library_is_missing_is_refused_before_the_graph_is_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch, missing: str, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ran = run("bfs", "drug:warfarin", "--format", name, "--endpoint", NOBODY)
    assert f"{missing} is not installed" in ran.err
    assert f"bfsql-gateway[{extra}]" in ran.err


@pytest.mark.parametrize("argv", [["bfs", "drug:warfarin", "--out"], ["list", "Drug", "--out"]])
def test_a_file_in_a_folder_that_is_none_is_refused_before_the_graph_is_asked(
    run: Run, tmp_path: Path, argv: list[str]
) -> None:
    ran = run(*argv, tmp_path / "none" / "x.csv", "--endpoint", NOBODY)
    assert f"x.csv cannot be written: {tmp_path / 'none'} is no folder." in ran.err


def test_columns_of_all_pages_are_the_edges_of_the_export(run: Run, tmp_path: Path) -> None:
    _, *found = rows(run(*FILMS, "--all", "--tsv").out)
    run(*FILMS, "--out", tmp_path / "films.csv")
    _, *exported = (tmp_path / "films.csv").read_text().splitlines()
    assert len(found) == len(exported)
    assert {row[0] for row in found} == {line.split(",")[0] for line in exported}


@pytest.mark.parametrize("more", [["--shape", "compact"], ["--explain"], ["--limit", "5"], ["--offset", "5"]])
def test_what_is_about_one_page_does_not_go_with_all(run: Run, more: list[str]) -> None:
    ran = run("bfs", "drug:warfarin", "--all", *more)
    assert ran.status == 2
    assert json.dumps(ran.err).count("error: ") == 1


@pytest.mark.parametrize("incomplete", [0, 1])
def test_all_of_it_is_complete_only_if_every_page_is(incomplete: int) -> None:
    notes = subgraph_notes.WholeNotes()
    for place in range(2):
        page = answer("a p b", [1, 1]) | {"complete": place != incomplete, "warnings": [f"Of page {place}."]}
        notes.add(BfsResult.model_validate(page))
    text = shown(notes.shown())
    assert "not complete." in text
    assert "Of page 0." in text
    assert "Of page 1." in text
