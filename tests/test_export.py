"""A whole subgraph in a format: what a library or the explorer page reads of it is the same nodes and edges."""

import csv
import io
import json
import re
import sys
import warnings
import xml.etree.ElementTree as ET
from collections import deque
from dataclasses import replace
from datetime import UTC, date, datetime
from html import unescape
from pathlib import Path
from typing import Any

import nanoarrow as na
import networkx as nx
import pandas as pd
import pydot
import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS

from gateway.answers.models import Result, SearchResult
from gateway.api import open_gateway
from gateway.errors import ConfigurationError, EndpointFault, InputError
from gateway.escaping import visible, without_formula
from gateway.export.conversions import (
    EDGE_COLUMNS,
    MOST_COLUMNS,
    NODE_COLUMNS,
    ArrowTable,
    dot,
    edges_csv,
    frame_of,
    nodes_csv,
    to_dataframes,
)
from gateway.export.formats import FORMATS, write_file
from gateway.export.networkx_graph import graphml, to_networkx
from gateway.export.picture import MOST_NODES, MOST_NODES_OF_A_PAGE, notebook_frame, page, picture
from gateway.export.rdf_graph import DISPLAY_NAME, to_rdflib
from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode
from gateway.resources import explorer_page
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from gateway.tools import whole_subgraph
from tests.cli.conftest import Run, run

pytestmark = pytest.mark.anyio

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_METADATA = st.dictionaries(_TEXT, _VALUES, max_size=3)
_LOCAL = st.text("abcXYZ019_-.éßж漢", min_size=1, max_size=6).filter(lambda text: not text.endswith("."))
NAMESPACE = "http://example.org/n#"


@st.composite
def subgraphs(draw: st.DrawFn) -> Subgraph:
    """Draw a subgraph: its IDs are short forms of one namespace, its names and metadata are any text."""
    ids = [f"e:{local}" for local in draw(st.lists(_LOCAL, min_size=1, max_size=6, unique=True))]
    predicates = [f"e:p{local}" for local in draw(st.lists(_LOCAL, min_size=1, max_size=3, unique=True))]
    types = ["e:T1", "e:T2"]
    nodes = [
        SubgraphNode(
            name_id,
            "e:T1" if chosen else "untyped",
            tuple(chosen),
            draw(_TEXT),
            draw(st.none() | st.integers(0, 5)),
            draw(_METADATA),
        )
        for name_id in ids
        for chosen in [draw(st.lists(st.sampled_from(types), max_size=2, unique=True))]
    ]
    triples = draw(
        st.lists(
            st.tuples(st.sampled_from(ids), st.sampled_from(predicates), st.sampled_from(ids)), max_size=8, unique=True
        )
    )
    edges = [SubgraphEdge(*triple, draw(st.none() | _METADATA)) for triple in triples]
    return Subgraph(
        tuple(ids[:1]),
        nodes,
        edges,
        draw(st.booleans()),
        draw(st.lists(_TEXT, max_size=2)),
        {name_id: name_id.replace("e:", NAMESPACE, 1) for name_id in [*ids, *predicates, *types]},
        {"e": NAMESPACE},
        {predicates[0]: draw(_TEXT)},
    )


Edge = tuple[str, str, str]


def iris_of(subgraph: Subgraph, edge: SubgraphEdge) -> Edge:
    return subgraph.iris[edge.subject], subgraph.iris[edge.predicate], subgraph.iris[edge.object]


def edges_of(subgraph: Subgraph) -> set[Edge]:
    return {(edge.subject, edge.predicate, edge.object) for edge in subgraph.edges}


def small(name: str = "a", evidence: dict[str, Any] | None = None) -> Subgraph:
    nodes = [SubgraphNode("e:a", "untyped", (), name, 0), SubgraphNode("e:b", "e:T", ("e:T",), "b", 1)]
    edges = [SubgraphEdge("e:a", "e:p", "e:b", evidence)]
    iris = {name_id: name_id.replace("e:", "http://e.org/") for name_id in ("e:a", "e:b", "e:p", "e:T")}
    return Subgraph(("e:a",), nodes, edges, True, [], iris, {"e": "http://e.org/"}, {})


def triples_in(content: bytes, name: str) -> rdflib.Graph:
    if name == "jsonld":
        # The parser of rdflib uses a class of its own that rdflib calls deprecated.
        read = pyoxigraph.parse(content, pyoxigraph.RdfFormat.JSON_LD)
        content = pyoxigraph.serialize(read, format=pyoxigraph.RdfFormat.N_TRIPLES) or b""
    return rdflib.Graph().parse(content, format="turtle" if name == "turtle" else "nt")


@given(subgraphs())
@pytest.mark.parametrize("name", ["turtle", "ntriples", "jsonld"])
def test_triples_come_back_with_types_names_and_evidence(name: str, subgraph: Subgraph) -> None:
    read = triples_in(FORMATS[name].content(subgraph), name)
    statements = {*read.subjects(RDF.type, RDF.Statement)}
    described = {
        (str(read.value(one, RDF.subject)), str(read.value(one, RDF.predicate)), str(read.value(one, RDF.object))): (
            json.loads(str(read.value(one, RDF.value)))
        )
        for one in statements
    }
    said = {(str(s), str(p), str(o)) for s, p, o in read if s not in statements and p not in {RDF.type, DISPLAY_NAME}}
    types = {(str(s), str(o)) for s, o in read.subject_objects(RDF.type) if s not in statements}
    names = {str(s): str(o) for s, o in read.subject_objects(DISPLAY_NAME)}
    assert said == {iris_of(subgraph, edge) for edge in subgraph.edges}
    assert types == {(subgraph.iris[node.id], subgraph.iris[one]) for node in subgraph.nodes for one in node.types}
    assert names == {subgraph.iris[node.id]: node.name for node in subgraph.nodes if node.name}
    assert described == {iris_of(subgraph, edge): edge.evidence for edge in subgraph.edges if edge.evidence is not None}
    present = {str(term) for triple in read for term in (triple[0], triple[2])}
    ends = {end for edge in subgraph.edges for end in (edge.subject, edge.object)}
    stated = (node for node in subgraph.nodes if node.types or node.name or node.id in ends)
    assert {subgraph.iris[node.id] for node in stated} <= present


@given(subgraphs())
def test_turtle_and_n_triples_are_read_by_another_parser_too(subgraph: Subgraph) -> None:
    count = len(to_rdflib(subgraph))
    assert len({*pyoxigraph.parse(FORMATS["turtle"].content(subgraph), pyoxigraph.RdfFormat.TURTLE)}) == count
    assert len({*pyoxigraph.parse(FORMATS["ntriples"].content(subgraph), pyoxigraph.RdfFormat.N_TRIPLES)}) == count


@given(subgraphs())
def test_csv_comes_back_by_pandas(subgraph: Subgraph) -> None:
    edges = pd.read_csv(io.StringIO(edges_csv(subgraph), newline=""), dtype=str, keep_default_na=False)
    assert tuple(edges.columns) == EDGE_COLUMNS
    assert {*zip(edges["subject"], edges["predicate"], edges["object"], strict=True)} == edges_of(subgraph)
    nodes = pd.read_csv(io.StringIO(nodes_csv(subgraph), newline=""), dtype=str, keep_default_na=False)
    assert tuple(nodes.columns) == NODE_COLUMNS
    assert list(nodes["id"]) == [node.id for node in subgraph.nodes]
    assert [json.loads(text or "{}") for text in nodes["metadata"]] == [node.metadata for node in subgraph.nodes]


@given(subgraphs())
def test_data_frames_hold_every_node_and_edge(subgraph: Subgraph) -> None:
    nodes, edges = to_dataframes(subgraph)
    assert list(nodes["name"]) == [node.name for node in subgraph.nodes]
    assert tuple(nodes.columns)[: len(NODE_COLUMNS)] == NODE_COLUMNS
    for key in {key for node in subgraph.nodes for key in node.metadata}:
        column = nodes[f"{key} (metadata)" if key in NODE_COLUMNS else key]
        # Not None: a missing value of a column with a type is that of pandas.
        assert [None if one is pd.NA else one for one in column] == [node.metadata.get(key) for node in subgraph.nodes]
    assert [None if pd.isna(one) else one for one in nodes["distance"]] == [node.distance for node in subgraph.nodes]
    assert list(edges["evidence"].where(edges["evidence"].notna(), None)) == [edge.evidence for edge in subgraph.edges]


@given(subgraphs())
def test_a_networkx_graph_holds_every_node_and_edge(subgraph: Subgraph) -> None:
    graph = to_networkx(subgraph)
    assert {name_id: data["name"] for name_id, data in graph.nodes(data=True)} == {
        node.id: node.name for node in subgraph.nodes
    }
    assert {(s, p, o): data["evidence"] for s, o, p, data in graph.edges(keys=True, data=True)} == {
        (edge.subject, edge.predicate, edge.object): edge.evidence for edge in subgraph.edges
    }
    assert graph.graph["complete"] == subgraph.complete


@given(subgraphs())
def test_graphml_comes_back_by_networkx(subgraph: Subgraph) -> None:
    read = nx.read_graphml(io.BytesIO(graphml(subgraph)), force_multigraph=True)
    assert {*read.nodes} == {node.id for node in subgraph.nodes}
    assert sorted((s, data["predicate"], o) for s, o, data in read.edges(data=True)) == sorted(edges_of(subgraph))
    assert {
        (s, data["predicate"], o): json.loads(data["evidence"])
        for s, o, data in read.edges(data=True)
        if "evidence" in data
    } == {(edge.subject, edge.predicate, edge.object): edge.evidence for edge in subgraph.edges if edge.evidence}


@pytest.mark.filterwarnings("ignore::pyparsing.warnings.PyparsingDeprecationWarning")  # of the reader, not of ours
@given(subgraphs())
def test_dot_comes_back_by_pydot(subgraph: Subgraph) -> None:
    (read,) = pydot.graph_from_dot_data(FORMATS["dot"].content(subgraph).decode()) or []
    assert {str(node.get_name()).strip('"') for node in read.get_nodes()} == {node.id for node in subgraph.nodes}
    assert sorted(
        (str(one.get_source()).strip('"'), str(one.get_destination()).strip('"')) for one in read.get_edges()
    ) == sorted((edge.subject, edge.object) for edge in subgraph.edges)


@pytest.mark.filterwarnings("ignore::pyparsing.warnings.PyparsingDeprecationWarning")  # of the reader, not of ours
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("salt &amp; water", '"salt &amp;amp; water"'),
        ("&#233; &copy; &x", '"&amp;#233; &amp;copy; &x"'),
        ("AT&T; R & D", '"AT&amp;T; R & D"'),
        ("back\\N", r'"back\\N"'),
        ('say "no"', r'"say \"no\""'),
    ],
)
def test_graphviz_shows_a_name_as_it_is(name: str, label: str) -> None:
    # Graphviz 2.43 drew such labels as the names.
    (read,) = pydot.graph_from_dot_data(FORMATS["dot"].content(small(name)).decode()) or []
    assert read.get_node('"e:a"')[0].get("label") == label


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["$x^{$", "100 % \\frac", "a\\", 'say "no"', "_hidden", "\x1b[31m", "\n\n", "漢字", ""]
)
def test_a_picture_shows_a_name_as_text_and_never_as_a_formula(name: str) -> None:
    drawn = picture(small(name), "svg")
    texts = "".join(ET.fromstring(drawn).itertext())  # noqa: S314 - ours
    assert visible(name) in texts
    assert picture(small(name), "png").startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_same_subgraph_gives_the_same_picture() -> None:
    assert picture(small(), "svg") == picture(small(), "svg")


def test_a_picture_of_too_many_nodes_is_refused_with_what_to_do() -> None:
    whole = small()
    many = [SubgraphNode(f"e:{number}", "untyped") for number in range(MOST_NODES + 1)]
    with pytest.raises(ConfigurationError, match=r"151 nodes and 0 edges are too many.*graphml or dot"):
        picture(Subgraph((), many, [], True, [], {}, {}, whole.labels), "png")


def test_csv_is_two_files(tmp_path: Path) -> None:
    assert write_file(small(), tmp_path / "x.csv") == [tmp_path / "x.csv", tmp_path / "x-nodes.csv"]
    assert (tmp_path / "x-nodes.csv").read_text().startswith("id,iri,type")


def test_an_unknown_suffix_and_a_folder_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"means no format.*\.graphml"):
        write_file(small(), tmp_path / "x.doc")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_file(small(), tmp_path / "none" / "x.nt")


@pytest.mark.parametrize(
    ("missing", "name", "extra"),
    [("networkx", "graphml", "export"), ("pydot", "dot", "export"), ("matplotlib", "png", "pictures")],
)
def test_a_missing_library_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, missing: str, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigurationError, match=rf"{missing}.*bfsql-gateway\[{extra}\]"):
        FORMATS[name].content(small())


# Cells that a spreadsheet would run

RUN = ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
"""What a formula begins with."""

CELLS = st.text(st.sampled_from([*RUN, *" \t\r\n;,\"'a1.e", "\ufeff"]), max_size=12) | st.floats().map(str)


def parts_of(cell: str) -> list[str]:
    """Return what a spreadsheet may take for cells of its own: it may end one at a semicolon, and drop marks."""
    return [part.lstrip(' "\ufeff\u00a0') for part in re.split(r"[;\t\r\n]", cell)]


@given(CELLS)
def test_no_part_of_a_guarded_cell_begins_like_a_formula_and_numbers_are_as_they_were(cell: str) -> None:
    guarded = without_formula(cell)
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", cell):
        assert guarded == cell
        return
    assert not any(part.startswith(tuple(RUN)) for part in parts_of(guarded)), guarded
    assert not guarded.startswith(("\t", "\r", "\n"))
    # Nothing is lost: what was put in are apostrophes.
    rest = iter(guarded)
    assert all(character in rest for character in cell)
    assert guarded.count("'") - cell.count("'") == len(guarded) - len(cell)


@pytest.mark.parametrize("number", ["-1", "+2.5", "-1e-3", "-.5", "0", "-12.", "+0", "1.7976931348623157e+308"])
def test_a_number_is_never_changed(number: str) -> None:
    assert without_formula(number) == number


@pytest.mark.parametrize("text", ["-1+2", "-0044-03-15", "+49 30 1234", "-INF", "- 1", "1;-2", "=1", "-1\n"])
def test_what_only_begins_like_a_number_is_guarded(text: str) -> None:
    assert without_formula(text) != text


@pytest.mark.parametrize("text", ["", "a=b", "a-b", "x@e.org", "http://e.org/?a=-1", "a; b", '{"a":-1}', "1-2", "'=1"])
def test_what_runs_nowhere_is_as_it_was(text: str) -> None:
    assert without_formula(text) == text


def test_csv_is_guarded_where_that_is_asked_for_and_else_as_it_was(tmp_path: Path) -> None:
    graph = small('=HYPERLINK("http://evil.org")', {"score": -0.5, "note": "@x"})
    plainly = [path.read_text(encoding="utf-8") for path in graph.write(tmp_path / "plain.csv")]
    guarded = [path.read_text(encoding="utf-8") for path in graph.write(tmp_path / "x.csv", guard_formulas=True)]
    for one, other in zip(plainly, guarded, strict=True):
        rows, same = (list(csv.DictReader(io.StringIO(text, newline=""))) for text in (one, other))
        assert [{name: without_formula(cell) for name, cell in row.items()} for row in rows] == same
    assert all('=HYPERLINK(""' in text and "'=HYPERLINK" not in text for text in plainly)
    assert all("\"'=HYPERLINK(" in text for text in guarded)
    # A number is no text, and is not quoted as one.
    assert '",0,"' in guarded[1]


def test_a_format_without_cells_has_nothing_to_guard(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="turtle has no cells"):
        small().write(tmp_path / "x.ttl", guard_formulas=True)
    assert not list(tmp_path.iterdir())


_DATA = re.compile(r'<script type="application/json" id="answer">(.*?)</script>', re.DOTALL)


def too_many() -> Subgraph:
    nodes = [SubgraphNode(f"e:{n}", "untyped") for n in range(MOST_NODES_OF_A_PAGE + 1)]
    return Subgraph((), nodes, [], True, [], {}, {}, {})


def embedded(content: str) -> dict[str, Any]:
    """Return what the page reads."""
    [data] = _DATA.findall(content)
    read: dict[str, Any] = json.loads(data)
    return read


@pytest.mark.slow
@settings(max_examples=30)
@given(subgraphs())
def test_the_page_holds_every_node_and_edge_with_its_metadata(subgraph: Subgraph) -> None:
    content = page(subgraph).decode()
    answer = embedded(content)["answer"]
    assert [node["id"] for node in answer["nodes"]] == [node.id for node in subgraph.nodes]
    assert [node["metadata"].get("name", "") for node in answer["nodes"]] == [
        node.name or node.metadata.get("name", "") for node in subgraph.nodes
    ]
    assert [(edge["subject"], edge["predicate"], edge["object"], edge.get("metadata")) for edge in answer["edges"]] == [
        (edge.subject, edge.predicate, edge.object, edge.evidence) for edge in subgraph.edges
    ]
    assert answer["complete"] == subgraph.complete
    # Beside the data, it is the built page and its policy.
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*/>', "", _DATA.sub("", content))
    assert bare.encode() == explorer_page().read_bytes()


def test_its_policy_lets_it_connect_to_nothing() -> None:
    content = page(Subgraph((), [], [], True, [], {}, {}, {})).decode()
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy


def test_a_notebook_gets_the_same_page_in_a_frame() -> None:
    subgraph = Subgraph(("e:a",), [SubgraphNode("e:a", "untyped", (), '"><b>')], [], True, [], {}, {}, {})
    [inside] = re.findall(r'srcdoc="([^"]*)"', notebook_frame(subgraph))
    assert unescape(inside) == page(subgraph).decode()


def test_a_subgraph_that_is_too_large_is_refused_and_a_notebook_says_so() -> None:
    with pytest.raises(ConfigurationError, match="3,001 nodes"):
        page(too_many())
    assert "3,001 nodes" in notebook_frame(too_many())


__all__ = ["run"]

SEED = "drug:warfarin"


def distances(subgraph: Subgraph, seed: str) -> dict[str, int]:
    """Return the distance of each node, by a search over the edges of the subgraph."""
    found, waiting = {seed: 0}, deque([seed])
    while waiting:
        node = waiting.popleft()
        for edge in subgraph.edges:
            for one, other in ((edge.subject, edge.object), (edge.object, edge.subject)):
                if one == node and other not in found:
                    found[other] = found[node] + 1
                    waiting.append(other)
    return found


@pytest.mark.parametrize("nodes_a_page", [1, 3, 500])
async def test_pages_of_any_size_make_the_same_subgraph(monkeypatch: pytest.MonkeyPatch, nodes_a_page: int) -> None:
    async with open_gateway() as graph:
        whole = await graph.bfs_subgraph([SEED], 2)
        monkeypatch.setattr(whole_subgraph, "NODES_A_PAGE", nodes_a_page)
        assert await graph.bfs_subgraph([SEED], 2) == whole
        answer = await graph.bfs_query([SEED], 2, max_tokens=12_000)
    assert (len(whole.nodes), len(whole.edges)) == (answer.node_count, answer.edge_count)
    assert {node.id: node.distance for node in whole.nodes} == distances(whole, SEED)
    assert whole.complete
    assert whole.seeds == (SEED,)


@pytest.mark.slow
async def test_a_node_has_one_id_on_all_pages(tmp_path: Path) -> None:
    data, rare = "http://data.example.org/resources/", "http://data.example.org/another/first/"
    near = [f"<{data}hub> <{data}has> <{data}{number:04}> ." for number in range(1_100)]
    far = [f"<{data}{1_000 + number}> <{data}to> <{rare}{number}> ." for number in range(9)]
    back = [f"<{rare}{number}> <{data}to> <{rare}0> ." for number in range(9)]
    (tmp_path / "graph.nt").write_text("\n".join([*near, f"<{data}hub> <{data}has> <{rare}0> .", *far, *back]))
    async with open_gateway(tmp_path / "graph.nt") as graph:
        whole = await graph.bfs_subgraph([f"{data}hub"], 2)
    nodes = {node.id for node in whole.nodes}
    assert len({*map(graph.prefixes.expand, nodes)}) == len(nodes)
    assert {end for edge in whole.edges for end in (edge.subject, edge.object)} == nodes


async def test_every_node_has_its_name_and_every_edge_its_evidence() -> None:
    async with open_gateway() as graph:
        whole = await graph.bfs_subgraph([SEED], 1, node_types=["Gene"])
        (entity,) = [node for node in whole.nodes if node.id == SEED]
        assert entity.name == "warfarin"
        assert not entity.metadata
        assert any(edge.evidence for edge in whole.edges)
        assert whole.iris[SEED] == graph.prefixes.expand(SEED)


async def test_an_intersection_has_no_distances() -> None:
    async with open_gateway() as graph:
        whole = await graph.intersection_subgraph([SEED, "drug:glibenclamide"], 1)
        assert {node.id for node in whole.nodes} == {"drug:fluconazole", "protein:CYP2C9"}
        assert {node.distance for node in whole.nodes} == {None}


@pytest.mark.parametrize("given", [{"limit": 3}, {"offset": 1}, {"max_tokens": 500}, {"snapshot": "x"}])
async def test_arguments_about_pages_are_refused(given: dict[str, object]) -> None:
    async with open_gateway() as graph:
        with pytest.raises(InputError, match=f"has no pages, so it takes no {next(iter(given))}"):
            await graph.bfs_subgraph([SEED], 1, **given)  # type: ignore[arg-type]


async def test_an_answer_that_changes_between_two_pages_is_no_subgraph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_subgraph, "NODES_A_PAGE", 3)
    async with open_gateway() as graph:
        reading = graph.pages("bfs_query", {"seeds": [SEED], "max_hops": 1})
        page = await anext(reading)
        page.snapshot = "another"
        with pytest.raises(EndpointFault, match="changed while"):
            await anext(reading)


async def test_a_printed_subgraph_says_how_many_seeds_were_not_found() -> None:
    async with open_gateway() as graph:
        none = await graph.intersection_subgraph(["drug:warfarin", "drug:nothing"], 1)
        one = await graph.bfs_subgraph(["drug:aspirin", "drug:nothing"], 1, only_predicates=["INTERACTS_WITH"])
    assert repr(none) == "<Subgraph: 0 nodes, 0 edges; complete; 1 seed not found>"
    assert repr(one).endswith("; complete; 1 seed not found>")
    assert one.missing_seeds == ("drug:nothing",)


async def test_triples_have_no_label_that_the_graph_does_not_have() -> None:
    labels = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix x: <http://x.example/> . "
    source = rdflib.Graph().parse(data=labels + 'x:a x:p x:b . x:b skos:prefLabel "Haus"@de ; x:p x:a .')
    async with open_gateway(source) as graph:
        subgraph = await graph.bfs_subgraph(["x:a"], 1)
        with_labels = await graph.bfs_subgraph(["x:a"], 1, values=["skos:prefLabel"])
    own = {(s, p, o) for s, p, o in subgraph.to_rdflib() if p == DISPLAY_NAME}
    assert [str(o) for _, _, o in own] == ["Haus"]
    assert {*subgraph.to_rdflib()} - own <= {*source}
    assert {*with_labels.to_rdflib()} - own == {*source}


async def test_what_is_missing_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "blank.ttl"
    path.write_text("@prefix e: <http://e.org/> . e:a e:p e:b, [] .")
    async with open_gateway(path, profile=Profile(nodes=NodeSettings(blank="off"))) as graph:
        whole = await graph.bfs_subgraph(["e:a", "e:none"], 1)
    gap, *others = whole.notes
    assert gap.startswith("Not complete (blank_nodes, 1 node): edges of these lead to blank nodes")
    assert others == ["Not in the graph: e:none", "Edges left out because one end is a blank node: 1"]


def test_the_command_line_exports_to_a_file_and_says_what(run: Run, tmp_path: Path) -> None:
    ran = run("bfs", SEED, "--out", tmp_path / "x.graphml")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"Wrote 16 nodes and 15 edges, complete, to {tmp_path / 'x.graphml'}.\n"
    assert (tmp_path / "x.graphml").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--format", "doc"], "There is no format 'doc'. Formats: turtle,"),
        (["--out", "x"], "means no format."),
        (["--format", "csv", "--json"], "--json and --explain print an answer"),
        (["--format", "csv", "--limit", "5"], "takes no limit"),
    ],
)
def test_the_command_line_refuses_what_is_no_export(run: Run, options: list[str], error: str) -> None:
    ran = run("bfs", SEED, *options)
    assert (ran.status, ran.out) == (2, "")
    assert error in ran.err


def test_the_command_line_exports_an_intersection_but_no_paths(run: Run, tmp_path: Path) -> None:
    seeds, out = (SEED, "drug:glibenclamide"), ("--out", tmp_path / "x.nt")
    assert run("intersect", *seeds, *out).err.startswith("Wrote 2 nodes and 1 edge, complete")
    ran = run("intersect", *seeds, "--via", *out)
    assert (ran.status, ran.out) == (2, "")
    assert "--via shows paths" in ran.err


LARGE = 2**53 + 1


def with_values() -> Subgraph:
    """Return a subgraph of which one node was asked about by several columns."""
    subgraph = small()
    values = {"e:number": LARGE, "e:several": ["=1", 2], "e:none": None, "type": "e:T"}
    nodes = [subgraph.nodes[0], replace(subgraph.nodes[1], values=values)]
    return replace(subgraph, nodes=nodes, columns=tuple(values))


def test_tables_have_the_values_as_columns_and_whole_numbers_stay_exact() -> None:
    nodes, _ = to_dataframes(with_values())
    assert [*nodes.columns] == [*NODE_COLUMNS, "e:number", "e:several", "e:none", "type (value)"]
    assert nodes["e:number"][1] == LARGE
    assert pd.isna(nodes["e:number"][0])
    assert nodes["e:several"][1] == ["=1", 2]
    assert nodes["type"][1] == nodes["type (value)"][1] == "e:T"


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, None], "Int64"),
        ([1.5, 2], "Float64"),
        ([1.5, LARGE], "object"),
        ([2**70], "object"),
        ([None], "object"),
        ([True, 1], "object"),
        ([True, None], "boolean"),
        ([[1, 2], 1], "object"),
    ],
)
def test_a_column_of_values_has_a_type_that_changes_none_of_them(values: list[Any], dtype: str) -> None:
    nodes = [SubgraphNode("e:a", "e:T", values={"e:v": value}) for value in values]
    column = to_dataframes(replace(small(), nodes=nodes, columns=("e:v",)))[0]["e:v"]
    assert column.dtype == dtype
    assert [None if value is pd.NA else value for value in column] == values


def with_metadata() -> Subgraph:
    subgraph = small(evidence={"confidence": 0.5, "predicate": "said", "key": 1})
    metadata: dict[str, Any] = {"total_mentions": 7, "e:alive": True, "type": "of its own", "node_for_adding": [1, "2"]}
    return replace(subgraph, nodes=[replace(subgraph.nodes[0], metadata=metadata), subgraph.nodes[1]])


def test_tables_have_a_typed_column_for_each_kind_of_metadata_and_evidence() -> None:
    nodes, edges = to_dataframes(with_metadata())
    assert [*nodes.columns] == [*NODE_COLUMNS, "total_mentions", "e:alive", "type (metadata)", "node_for_adding"]
    assert [str(nodes[name].dtype) for name in ("total_mentions", "e:alive")] == ["Int64", "boolean"]
    assert (nodes["total_mentions"][0], nodes["node_for_adding"][0]) == (7, [1, "2"])
    assert pd.isna(nodes["total_mentions"][1])
    assert [*edges.columns] == [*EDGE_COLUMNS, "confidence", "predicate (evidence)", "key"]
    assert edges["confidence"][0] == 0.5


def test_graphs_have_metadata_and_evidence_as_attributes_whatever_they_are_called() -> None:
    graph = to_networkx(with_metadata())
    assert graph.nodes["e:a"]["total_mentions"] == 7
    assert (graph.nodes["e:a"]["type"], graph.nodes["e:a"]["type (metadata)"]) == ("untyped", "of its own")
    assert "total_mentions" not in graph.nodes["e:b"]
    assert graph.edges["e:a", "e:b", "e:p"]["key"] == 1


def arrow_columns(table: ArrowTable) -> dict[str, list[Any]]:
    """Return what a library reads of a table."""
    stream = na.ArrayStream(table)
    names = [field.name for field in stream.schema.fields]
    rows = stream.read_all().to_pylist()
    return {name: [row[name] for row in rows] for name in names}


def test_tables_by_arrow_have_the_columns_of_data_frames_typed() -> None:
    nodes, edges = with_metadata().to_arrow()
    read = arrow_columns(nodes)
    assert [*read] == [*to_dataframes(with_metadata())[0].columns]
    assert (read["id"], read["distance"], read["total_mentions"]) == (["e:a", "e:b"], [0, 1], [7, None])
    assert (read["e:alive"], read["node_for_adding"]) == ([True, None], ['[1,"2"]', None])
    assert arrow_columns(edges)["confidence"] == [0.5]
    assert repr(nodes) == "<ArrowTable: 2 rows, 11 columns>"


@given(subgraphs())
def test_tables_by_arrow_hold_every_node_and_edge(subgraph: Subgraph) -> None:
    nodes, edges = subgraph.to_arrow()
    read = arrow_columns(nodes)
    assert read["name"] == [node.name for node in subgraph.nodes]
    assert [json.loads(text) for text in read["metadata"]] == [node.metadata for node in subgraph.nodes]
    read = arrow_columns(edges)
    assert {*zip(read["subject"], read["predicate"], read["object"], strict=True)} == edges_of(subgraph)


def test_columns_of_dates_and_times_are_typed_where_all_are_written_so_and_a_name_stays_a_text() -> None:
    columns: dict[str, list[Any]] = {
        "name": ["2001-02-03", "2001-02-04"],
        "e:date": ["1940-04-25", None],
        "e:time": ["2020-01-01T10:00:00", "2020-01-01T10:00:00.25"],
        "e:utc": ["2020-01-01T10:00:00Z", None],
        "e:zones": ["2020-01-01T10:00:00Z", "2020-01-01T10:00:00+02:00"],
        "e:offset": ["2020-01-01T00:30:00.5+02:00", "2020-01-01T10:00:00+02:00"],
        "e:far zone": ["2020-01-01T10:00:00+15:00", "2020-01-01T10:00:00+02:00"],
        "e:no zone": ["2020-01-01T10:00:00", "2020-01-01T10:00:00+02:00"],
        "e:mixed": ["1940-04-25", "1940"],
        "e:none": ["2001-02-30", "2001-02-03"],
        "e:far": ["0044-03-15", "2001-02-03"],
    }
    table = frame_of(columns)
    assert [str(table[name].dtype) for name in ("e:date", "e:time", "e:utc", "e:zones", "e:offset")] == [
        *("datetime64[ns]", "datetime64[ns]", *["datetime64[ns, UTC]"] * 3),
    ]
    assert [one.isoformat() for one in table["e:zones"]] == ["2020-01-01T10:00:00+00:00", "2020-01-01T08:00:00+00:00"]
    for name in ("name", "e:far zone", "e:no zone", "e:mixed", "e:none", "e:far"):
        assert [*table[name]] == columns[name]
    read = arrow_columns(ArrowTable(columns))
    assert read["e:date"] == [date(1940, 4, 25), None]
    assert read["e:time"][1] == datetime(2020, 1, 1, 10, 0, 0, 250_000)  # noqa: DTZ001 - it has no zone
    assert read["e:utc"] == [datetime(2020, 1, 1, 10, tzinfo=UTC), None]
    assert read["e:zones"] == [datetime(2020, 1, 1, hour, tzinfo=UTC) for hour in (10, 8)]
    assert read["e:offset"][0] == datetime(2019, 12, 31, 22, 30, 0, 500_000, tzinfo=UTC)
    assert read["name"] == columns["name"]


BOOKS = """@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:a a x:Book ; rdfs:label "1984-01-01" ; x:on "2001-02-03" ; x:after x:b .
x:b a x:Book ; rdfs:label "1984-01-02" ; x:on "2001-02-04" ; x:after x:a ."""


async def test_names_that_read_like_dates_stay_texts_as_values_groups_and_figures(tmp_path: Path) -> None:
    (tmp_path / "books.ttl").write_text(BOOKS)
    asked: list[tuple[dict[str, Any], list[str]]] = [
        ({"values": ["rdfs:label", "x:after/rdfs:label"]}, ["rdfs:label", "x:after/rdfs:label"]),
        ({"group_by": "rdfs:label", "compute": ["max name"]}, ["rdfs:label", "max name"]),
        ({"compute": ["min rdfs:label", "max x:after/rdfs:label"]}, ["min rdfs:label", "max x:after/rdfs:label"]),
    ]
    async with open_gateway(tmp_path / "books.ttl") as graph:
        for arguments, titles in asked:
            table = (await graph.search_entities(node_types=["x:Book"], **arguments)).to_dataframe()
            assert all(str(value).startswith("1984-01-0") for title in titles for value in table[title])
            assert {str(table[title].dtype) for title in titles} == {"object"}
        dated = (await graph.search_entities(node_types=["x:Book"], values=["x:on"])).to_dataframe()
        answer = await graph.search_entities(queries=["1984-01-01", "zzz", "1984-01-02"], limit=1)
        with pytest.warns(UserWarning, match="2 of 3 hits"):
            several = answer.to_dataframe()
    assert str(dated["x:on"].dtype) == "datetime64[ns]"
    assert [*zip(several["query"], several["id"], strict=True)] == [("1984-01-01", "x:a"), ("1984-01-02", "x:b")]


PEOPLE = """@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:al a x:P ; rdfs:label "Al Pacino" ; x:born "1940-04-25"^^xsd:date ; x:films 12 .
x:bo a x:P ; rdfs:label "Bo" ; x:films 3 , 4 ; x:near x:al .
x:cy a x:P ; x:near x:al ."""


async def test_an_answer_is_a_table_with_ids_names_and_a_typed_column_for_each_value(tmp_path: Path) -> None:
    (tmp_path / "people.ttl").write_text(PEOPLE)
    async with open_gateway(tmp_path / "people.ttl") as graph:
        asked: dict[str, Any] = {"node_types": ["x:P"], "values": ["name", "x:born", "x:films"]}
        both, ids, names = [
            (await graph.search_entities(**asked, show=show)).to_dataframe() for show in ("both", "id", "name")
        ]
        hits = (await graph.search_entities("al")).to_dataframe()
        groups = (await graph.search_entities(node_types=["x:P"], group_by="x:born", compute=["count"])).to_dataframe()
        nodes = (await graph.bfs_query(["x:al"], 1)).to_dataframe()
        entity = (await graph.describe_entity("x:al")).to_dataframe()
        entities = (await graph.describe_entities(["x:al", "x:cy"])).to_dataframe()
        schema = (await graph.describe_schema()).to_dataframe()
        arrow = arrow_columns((await graph.search_entities(**asked)).to_arrow())
    assert [*both["id"]] == [*ids["id"]] == ["x:al", "x:bo", "x:cy"]
    assert [*both["name"]] == [*ids["name"]] == ["Al Pacino", "Bo", None]
    assert [*names["name"]] == ["Al Pacino", "Bo", "x:cy"]
    assert both["x:born"][0] == pd.Timestamp("1940-04-25")
    assert [*both["x:films"]] == [12, [3, 4], None]
    assert (hits["id"][0], hits["type"][0]) == ("x:al", "x:P")
    assert [*groups.columns] == ["x:born", "count"]
    assert ([*nodes["id"]], str(nodes["x:born"].dtype)) == (["x:al", "x:bo", "x:cy"], "datetime64[ns]")
    assert (entity["x:films"][0], [*entities["id"]]) == (12, ["x:al", "x:cy"])
    assert [*schema["kind"]] == ["type", "predicate"]
    assert arrow["x:born"] == [date(1940, 4, 25), None, None]


@pytest.mark.parametrize("name", ["turtle", "ntriples", "jsonld"])
async def test_triples_have_no_type_that_the_graph_does_not_state(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(
        """@prefix x: <http://x.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:p a owl:ObjectProperty ; rdfs:domain [ owl:unionOf (x:A x:B) ] . x:alone x:number 7 ."""
    )
    given = rdflib.Graph().parse(tmp_path / "x.ttl")
    async with open_gateway(tmp_path / "x.ttl") as graph:
        subgraph = await graph.bfs_subgraph(["x:A", "x:alone"], 1)
    assert {node.id for node in subgraph.nodes} == {"x:A", "x:alone", "x:p"}
    read = triples_in(FORMATS[name].content(subgraph), name)
    types = {triple for triple in read.triples((None, RDF.type, None)) if triple[2] != RDF.Statement}
    assert types == {*given.triples((None, RDF.type, None))}


async def test_tables_of_all_pages_have_whole_cells_and_a_table_of_cut_ones_warns(tmp_path: Path) -> None:
    cited = ", ".join(f"x:p{place}" for place in range(37))
    (tmp_path / "papers.ttl").write_text(
        f'@prefix x: <http://x.example/> . x:p a x:Paper ; x:cites {cited} ; x:says "{"word " * 200}" . x:q a x:Paper .'
    )
    asked: dict[str, Any] = {"node_types": ["x:Paper"], "values": ["x:cites", "x:says"]}
    async with open_gateway(tmp_path / "papers.ttl") as graph:
        page = await graph.search_entities(**asked)
        with pytest.warns(UserWarning, match="28 values of this table shortened or left out.*search_pages") as caught:
            cut_table = page.to_dataframe()
        with pytest.warns(UserWarning, match="28 values"):
            page.to_arrow()
        pages = [page async for page in graph.search_pages(**asked)]
        whole = pd.concat([page.to_dataframe() for page in pages])
    assert caught[0].filename == __file__
    assert [len(cut_table["x:cites"][0]), len(whole["x:cites"][0]), len(whole["x:says"][0])] == [10, 37, 1_000]
    assert pages[0].values_complete is None


def test_a_table_in_which_values_could_not_be_read_warns() -> None:
    page = SearchResult.model_validate(
        {"result": [], "complete": True, "rows": [["x:a", None]], "columns": ["x:p"], "values_complete": False}
    )
    with pytest.warns(UserWarning, match="could not be read"):
        page.to_dataframe()


async def test_a_table_of_a_page_warns_of_how_many_of_how_many_it_has_and_what_returns_all(tmp_path: Path) -> None:
    of_all = "a x:T ; x:of x:hub"
    things = "".join(f'x:n{n:03} {of_all} ; a x:T{n % 50} ; x:v {n} ; rdfs:label "thing {n}" .\n' for n in range(130))
    (tmp_path / "x.ttl").write_text(f"@prefix x: <http://x.example/> . @prefix rdfs: <{RDFS}> .\n{things}")
    around: dict[str, Any] = {"seeds": ["x:hub"], "max_hops": 1}
    listed: dict[str, Any] = {"node_types": ["x:T"]}
    common: dict[str, Any] = {"seeds": ["x:n001", "x:n002"], "k": 2}
    grouped: dict[str, Any] = {"group_by": "x:v", "compute": ["count"]}
    asked: list[tuple[str, dict[str, Any], str]] = [
        ("search_entities", listed, r"This table has 10 of 130 hits\. search_pages yields all"),
        ("search_entities", {**listed, "values": ["x:v"]}, r"10 of 130 rows\. search_pages yields all"),
        ("search_entities", {**listed, **grouped}, r"100 of 130 groups\. search_pages yields all"),
        ("search_entities", {"queries": ["thing", "thing 7"], "limit": 1}, r"2 of \d+ hits\. A higher limit="),
        ("bfs_query", {**around, "limit": 20}, r"20 of 131 nodes\. bfs_subgraph returns all"),
        ("bfs_query", {**around, "values": ["x:v"], "limit": 20}, r"20 of 130 rows\. bfs_subgraph returns all"),
        ("bfs_query", {**around, **grouped}, r"100 of 130 groups\. offset=answer\.next_offset"),
        ("bfs_query", {**around, "max_tokens": 4_000}, r"the metadata of \d+ of \d+ nodes: .*\. bfs_subgraph leaves"),
        ("intersect_subgraphs", {**common, "limit": 20}, r"20 of \d+ nodes\. intersection_subgraph returns all"),
        ("describe_schema", {}, r"40 of 51 types\. describe_schema\(all=True\)"),
        ("describe_entities", {"ids": [f"x:n{one:03}" for one in range(60)], "max_tokens": 500}, r"of 60 entities\. "),
    ]
    async with open_gateway(tmp_path / "x.ttl") as graph:
        for tool, arguments, text in asked:
            answer = await graph.call(tool, arguments)
            assert isinstance(answer, Result)
            with pytest.warns(UserWarning, match=text) as caught:
                answer.to_dataframe()
            assert {one.filename for one in caught} == {__file__}, tool
            with pytest.warns(UserWarning, match=text):
                answer.to_arrow()
        last = await graph.search_entities(**listed, offset=120)
        pages = [page async for page in graph.search_pages(**listed)]
        pages += [page async for page in graph.search_pages(**listed, **grouped)]
        parts = [page async for page in graph.pages("bfs_query", around)]
        everything = await graph.describe_schema(all=True)
        figure = await graph.search_entities(**listed, compute=["max x:v"])
        # Here no metadata is asked for, of any node or of most.
        bare = await graph.bfs_query(**around, topology_only=True, limit=200)
        of_some = await graph.bfs_query(**around, node_types=["x:T1"], limit=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for whole in (last, *pages, *parts, everything, figure, bare, of_some):
            whole.to_dataframe()


def test_of_very_many_kinds_of_metadata_the_most_frequent_are_columns() -> None:
    many = [SubgraphNode(f"e:{one}", "e:T", metadata={f"e:k{one}": 1, "e:k": 2}) for one in range(MOST_COLUMNS + 50)]
    subgraph = replace(small(), nodes=many, edges=[], iris={node.id: node.id for node in many})
    nodes, _ = to_dataframes(subgraph)
    assert len(nodes.columns) == len(NODE_COLUMNS) + MOST_COLUMNS
    assert nodes["e:k"].sum() == 2 * len(many)
    assert nodes["metadata"][MOST_COLUMNS + 49] == many[-1].metadata


def test_csv_of_nodes_has_the_values_as_columns() -> None:
    _, row = csv.DictReader(io.StringIO(nodes_csv(with_values(), guard_formulas=True)))
    assert (row["e:number"], row["e:several"], row["e:none"], row["type (value)"]) == (
        str(LARGE),
        '["=1",2]',
        "",
        "e:T",
    )


def test_graphs_have_the_values_as_attributes() -> None:
    node = to_networkx(with_values()).nodes["e:b"]
    assert (node["e:number"], node["e:several"], node["e:none"]) == (LARGE, ["=1", 2], None)
    read = nx.parse_graphml(graphml(with_values()).decode(), force_multigraph=True).nodes["e:b"]
    assert (read["e:number"], read["e:several"]) == (LARGE, '["=1",2]')
    assert "e:none" not in read


def test_pictures_and_dot_say_that_an_edge_is_denied_and_how_it_is_restricted() -> None:
    denied = small(evidence={"negated": True, "restriction": "not some"})
    only = small(evidence={"restriction": "only"})
    for written in (dot, lambda subgraph: picture(subgraph, "svg").decode()):
        assert "DENIED (not some)" in written(denied)
        assert "dashed" in written(denied) or "stroke-dasharray" in written(denied)
        assert "(only)" in written(only)
        assert "DENIED" not in written(only)
        assert "(only)" not in written(small(evidence={"confidence": 0.5}))


async def test_the_paths_of_an_intersection_are_in_a_graph_of_networkx_and_in_tables() -> None:
    seeds = ["drug:warfarin", "drug:glibenclamide"]
    async with open_gateway() as gateway:
        plain, subgraph = [await gateway.intersection_subgraph(seeds, 2, via=via) for via in (False, True)]
        answer = await gateway.intersect_subgraphs(seeds, 2, via=True)
    assert [(node.id, list(map(list, node.via))) for node in subgraph.nodes] == [
        (node.id, node.via) for node in answer.nodes
    ]
    assert not any("via" in node for _, node in to_networkx(plain).nodes(data=True))
    assert "via" not in to_dataframes(plain)[0]
    graph = to_networkx(subgraph)
    between = {name_id for name_id, node in graph.nodes(data=True) if node.get("on_the_way")}
    assert between == graph.nodes - {node.id for node in subgraph.nodes} != set()
    known = {name_id: (graph.nodes[name_id]["type"], graph.nodes[name_id]["name"]) for name_id in seeds}
    assert known == {"drug:warfarin": ("m:Drug", "warfarin"), "drug:glibenclamide": ("m:Drug", "glibenclamide")}
    assert {"unknown", ""}.isdisjoint(graph.nodes[name_id]["type"] for name_id in between)
    assert not plain.steps
    assert {*graph.edges(keys=True)} >= {(edge.subject, edge.object, edge.predicate) for edge in subgraph.edges}
    for node in subgraph.nodes:
        for path, seed in zip(node.via, seeds, strict=True):
            assert path[-1] == seed
            assert nx.shortest_path_length(graph.to_undirected(), node.id, seed) == len(path) // 2
            for start, predicate, end in zip(path[::2], path[1::2], path[2::2], strict=False):
                ends = (end, start) if predicate.startswith("^") else (start, end)
                assert graph.has_edge(*ends, key=predicate.removeprefix("^"))
    assert to_dataframes(subgraph)[0]["via"][0] == [list(path) for path in subgraph.nodes[0].via]
    assert json.loads(plain_row(subgraph)["via"]) == to_dataframes(subgraph)[0]["via"][0]


def plain_row(subgraph: Subgraph) -> dict[str, str]:
    """Return the first node as CSV has it."""
    return next(csv.DictReader(io.StringIO(nodes_csv(subgraph))))


async def test_a_walk_on_a_path_is_its_edge_or_else_stands_as_the_path_has_it() -> None:
    async with open_gateway() as gateway:
        subgraph = await gateway.intersection_subgraph(
            ["drug:warfarin", "drug:glibenclamide"], 1, via=True, only_predicates=["^METABOLIZES/METABOLIZES"]
        )
    graph = to_networkx(subgraph)
    steps = {(path[2], path[0], path[1].removeprefix("^")) for node in subgraph.nodes for path in node.via if path[1:]}
    assert steps
    assert {*graph.edges(keys=True)} >= steps
    without = replace(subgraph, edges=[])
    assert {key for _, _, key in to_networkx(without).edges(keys=True)} == {f"^{key}" for _, _, key in steps}
    assert not {*subgraph.to_rdflib().predicates()} - {RDF.type, DISPLAY_NAME}
