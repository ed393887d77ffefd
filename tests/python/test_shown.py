"""Answers as a notebook shows them: one line, tables, a picture, what is missing, and no markup from the graph."""

import random
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bfsql_gateway import SyncGateway, ToolAnswer, open_gateway
from gateway.export.picture import MOST_ARROWS, MOST_BARS, MOST_DRAWN, Arrow, bars, drawing

ELEMENTS = {
    *("div", "p", "b", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "span"),
    *("svg", "line", "polygon", "circle", "text", "title"),
}
EMPTY = {"line", "polygon", "circle"}
OURS = re.compile(r"[\w\s#:;,.%()-]*|http://www\.w3\.org/2000/svg")
"""Values of attributes: numbers, colours and lengths."""

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><b id=evil>',
    "'><a href='javascript:evil()'>x</a>",
    "</td></table></div><iframe srcdoc='evil'>",
    "</title></svg><style>evil{}</style>",
    "<!--evil",
    "]]><evil>",
    "&lt;evil&gt; &#60;evil&#62;",
    "<b\x0bonmouseover=evil()>",
    "\u202e<evil>\u2066",
    "$$\\href{evil}{x}$$",
]


class Reader(HTMLParser):
    """Reads HTML, and refuses what none of ours has."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.elements: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the beginning of an element."""
        assert tag in ELEMENTS
        self.elements.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in {"id", "href", "src", "srcdoc", "class"}
            assert OURS.fullmatch(value or ""), value
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Take the end of an element."""
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Take a text."""
        self.texts.append(data)

    def _refuse(self, data: str) -> None:
        raise AssertionError(data)

    handle_comment: Any = _refuse
    handle_decl: Any = _refuse
    handle_pi: Any = _refuse
    unknown_decl: Any = _refuse


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def shown(answer: Any) -> str:
    html: str = answer._repr_html_()
    return html


def hostile_file(draw: random.Random, path: Path) -> str:
    """Write a small graph whose names, values and IRIs are attacks."""

    def literal() -> str:
        text = f"{draw.choice(ATTACKS)} {draw.choice(ATTACKS)}"
        return '"' + "".join(f"\\U{ord(character):08X}" for character in text) + '"'

    nodes = [f"<http://x.example/n{number}>" for number in range(5)]
    nodes += [f"<urn:evil:&lt;b&gt;{number}'onload=evil()>" for number in range(3)]
    kinds = ["<http://x.example/T>", "<http://x.example/T'onclick='evil()>"]
    lines = []
    for node in nodes:
        kind = kinds["evil" in node]
        lines.append(f"{node} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> {kind} .")
        lines.append(f"{node} <http://www.w3.org/2000/01/rdf-schema#label> {literal()} .")
        lines.append(f"{node} <http://www.w3.org/2000/01/rdf-schema#comment> {literal()} .")
        lines.append(f"{node} <http://x.example/says'evil> {literal()} .")
        lines.append(f"{node} <http://x.example/p'evil> {draw.choice(nodes)} .")
    lines += [f"{one} <http://x.example/q> {other} ." for one, other in pairwise(nodes)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def answers(graph: SyncGateway) -> list[ToolAnswer]:
    ids = [f"http://x.example/n{number}" for number in range(5)]
    return [
        graph.describe_schema(),
        graph.describe_schema(node_types=["http://x.example/T"]),
        graph.search_entities("evil"),
        graph.search_entities(queries=["evil", "<script>"], limit=3),
        graph.search_entities(node_types=["http://x.example/T"], values=["name", "http://x.example/says'evil"]),
        graph.search_entities(node_types=["http://x.example/T"], group_by="name", compute=["count"]),
        graph.bfs_query(ids[:2], 2),
        graph.bfs_query(ids[:1], 3, max_tokens=300),
        graph.intersect_subgraphs(ids[:2], 3),
        graph.describe_entity(ids[0]),
        graph.describe_entities([*ids, "http://x.example/<evil>", "urn:absent"]),
    ]


@pytest.mark.slow
def test_no_markup_comes_from_the_graph_into_200_answers(tmp_path: Path) -> None:
    draw = random.Random(6)  # noqa: S311 - drawn cases
    count = 0
    for number in range(19):
        with open_gateway(hostile_file(draw, tmp_path / f"{number}.nt")) as graph:
            for answer in answers(graph):
                reader = read(shown(answer))
                assert "evil" in "".join(reader.texts)
                assert "\n" not in repr(answer)
                assert "\u202e" not in repr(answer) + "".join(reader.texts)
                count += 1
    assert count >= 200


def test_each_kind_of_answer_is_one_line_with_its_size_and_whether_it_is_complete() -> None:
    with open_gateway() as graph:
        lines = [
            repr(graph.describe_schema()),
            repr(graph.search_entities("coumadin")),
            repr(graph.search_entities("zzyzx")),
            repr(graph.search_entities(node_types=["Drug"], values=["name"])),
            str(graph.bfs_query(["drug:warfarin"], 1)),
            repr(graph.bfs_query(["drug:warfarin"], 2, limit=10, topology_only=True)),
            repr(graph.describe_entity("drug:warfarin")),
            repr(graph.describe_entities(["drug:warfarin", "drug:nobody"])),
            repr(graph.bfs_subgraph(["drug:warfarin"], 1)),
        ]
    assert lines == [
        "<SchemaResult: 11 types, 20 predicates; complete>",
        "<SearchResult: 1 entity; complete>",
        "<SearchResult: nothing found; complete>",
        "<SearchResult: 10 of 16 rows; complete; more on the next page>",
        "<BfsResult: 16 nodes, 15 edges; complete>",
        "<BfsResult: 34 nodes, 59 edges; complete; page 1-10 of 34>",
        "<Entity: drug:warfarin (m:Drug); complete>",
        "<EntitiesResult: 1 entity; complete; 1 not found>",
        "<Subgraph: 16 nodes, 15 edges; complete>",
    ]


def test_a_traversal_is_a_picture_and_tables_of_all_its_nodes_and_edges() -> None:
    with open_gateway() as graph:
        answer = graph.bfs_query(["drug:warfarin"], 1)
    reader = read(shown(answer))
    assert reader.elements.count("line") == len(answer.edges)
    # Each node has a name in the picture; the only other texts there are predicates.
    assert reader.elements.count("text") == len(answer.nodes) + len(answer.edges)
    assert reader.elements.count("tr") == 2 + len(answer.nodes) + len(answer.edges)
    assert {node.id for node in answer.nodes} <= set(reader.texts)


def test_a_search_is_a_picture_of_its_hits_around_their_types_or_its_queries() -> None:
    with open_gateway() as graph:
        listed = graph.search_entities(node_types=["Drug", "Gene"], limit=20)
        named = graph.search_entities(queries=["war", "asp", "zzyzx"])
        nothing = graph.search_entities("zzyzx")
    reader = read(shown(listed))
    assert reader.elements.count("line") == len(listed.result)
    assert {"m:Drug", "m:Gene", *(hit.name for hit in listed.result)} <= set(reader.texts)
    reader = read(shown(named))
    assert reader.elements.count("line") == sum(len(one.result) for one in named.queries or ())
    assert {"query: war", "query: asp"} <= set(reader.texts)
    assert "svg" not in read(shown(nothing)).elements


def test_a_schema_is_bars_of_its_counts_and_a_shape_the_types_that_it_leads_to() -> None:
    with open_gateway() as graph:
        schema, shape = graph.describe_schema(), graph.describe_schema(node_types=["Drug"])
    reader = read(shown(schema))
    assert reader.elements.count("line") == len(schema.entity_types) + len(schema.predicates)
    assert "Nodes of each type" in reader.texts
    rows = (shape.shapes or {})["m:Drug"].predicates
    ends = [end for row in rows.values() for end in row[2].split(", ") if end.startswith("m:")]
    reader = read(shown(shape))
    # A line for each edge from one type to another, and a circle for each that stays.
    assert reader.elements.count("line") == sum(end != "m:Drug" for end in ends)
    assert reader.elements.count("circle") == len({"m:Drug", *ends}) + ends.count("m:Drug")


def test_entities_are_a_picture_with_what_could_be_followed_and_groups_are_bars() -> None:
    with open_gateway() as graph:
        entities = graph.describe_entities(["drug:warfarin", "drug:aspirin"])
        many = graph.describe_entities([hit.id for hit in graph.search_entities(node_types=["Drug"], limit=20).result])
        groups = graph.search_entities(node_types=["Drug"], group_by="TREATS", compute=["count"])
        texts = graph.search_entities(node_types=["Drug"], group_by="TREATS", compute=["min name"])
    reader = read(shown(entities))
    assert {"warfarin", "aspirin"} <= set(reader.texts)
    assert reader.elements.count("line") >= len(entities.result[0].edges or {})
    assert read(shown(many)).elements.count("circle") <= MOST_DRAWN
    assert read(shown(groups)).elements.count("line") == len(groups.groups or ())
    assert "svg" not in read(shown(texts)).elements


def test_of_many_numbers_the_first_are_bars() -> None:
    reader = read(bars("numbers", [(f"n{number}", number) for number in range(MOST_BARS + 5)]))
    assert reader.elements.count("line") == MOST_BARS
    assert f"the first {MOST_BARS} of {MOST_BARS + 5}" in "".join(reader.texts)
    assert read(bars("none", [("a", 0)])).elements.count("line") == 1


LANGUAGES = """@prefix x: <http://x.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:a a x:T ; rdfs:label "avenue"@en, "Allee"@de ; x:of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ; x:text "%s" .
x:b a x:T ; rdfs:label "road"@en ; x:of 1 ; x:near x:a ."""


def test_what_is_not_shown_of_values_is_said_on_the_line_and_in_the_table(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(LANGUAGES % ("a" * 400), encoding="utf-8")
    with open_gateway(path) as graph:
        names = graph.search_entities(node_types=["x:T"], values=["rdfs:label"])
        cut = graph.search_entities(node_types=["x:T"], values=["x:of", "x:text"])
        whole = graph.bfs_subgraph(["x:b"], 1, values=["x:of", "x:text"])
        around = graph.bfs_subgraph(["x:a"], 1)
    assert repr(names) == "<SearchResult: 2 rows; complete; 1 text in other languages not shown>"
    assert "Texts in other languages that are not shown: 1 de" in "".join(read(shown(names)).texts)
    assert repr(cut) == "<SearchResult: 2 rows; complete; some values cut or missing (2 cut)>"
    assert "left out (2), or could not be read" in "".join(read(shown(cut)).texts)
    assert "size.cell_values" in "".join(read(shown(cut)).texts)
    assert whole.nodes[-1].values == {"x:of": list(range(1, 12)), "x:text": "a" * 400}
    assert "Texts in other languages that are left out: 1 de" in around.notes


def test_figures_are_shown_with_the_number_of_nodes_that_they_are_of(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(LANGUAGES % "a", encoding="utf-8")
    asked: list[dict[str, Any]] = [
        {"compute": ["count"]},
        {"compute": ["count", "max x:of"]},
        {"compute": ["count", "max x:of"], "where": ["x:of = 99"]},
        {"values": ["x:of"], "offset": 5},
    ]
    with open_gateway(path) as graph:
        answers = [graph.search_entities(node_types=["x:T"], **arguments) for arguments in asked]
    assert [repr(answer) for answer in answers] == [
        "<SearchResult: 2 nodes found: count 2; complete>",
        "<SearchResult: 2 nodes found: count 2, max x:of 11; complete>",
        "<SearchResult: 0 nodes found: count 0, max x:of none; complete>",
        "<SearchResult: 2 nodes found, none listed; complete>",
    ]
    assert "2 nodes found: count 2, max x:of 11" in read(shown(answers[1])).texts


def test_what_an_answer_describes_has_the_same_names_in_each() -> None:
    seed = "drug:warfarin"
    with open_gateway() as graph:
        entity, hit = graph.describe_entity(seed), graph.search_entities("warfarin").result[0]
        one, node = graph.describe_entities([seed]).result[0], graph.bfs_query([seed], 1).nodes[0]
    assert [(each.id, each.name, each.type) for each in (entity, one, node, hit)] == [(seed, "warfarin", "m:Drug")] * 4
    assert entity.metadata == one.metadata == node.metadata
    assert (entity.as_json()["name"], list(node.as_json())) == ("warfarin", ["id", "entity_type", "metadata"])


def test_what_is_listed_in_part_says_of_how_many() -> None:
    with open_gateway() as graph:
        found = graph.search_entities("a", limit=3)
        seen = graph.bfs_query(["drug:warfarin", "drug:nobody"], 2, max_tokens=600)
        nothing = graph.intersect_subgraphs(["drug:warfarin", "paper:P9"], 1)
    assert repr(found) == f"<SearchResult: 3 of {found.found} entities; complete; more on the next page>"
    assert "1 seed not found" in repr(seen)
    assert "nodes without metadata" in repr(seen)
    assert "try a larger k" in repr(nothing) + "".join(read(shown(nothing)).texts)


def test_an_answer_in_the_compact_shape_is_shown_as_what_it_means() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("describe_schema", {}),
        ("search_entities", {"queries": ["war", "asp"]}),
        ("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 1}),
        ("intersect_subgraphs", {"seeds": ["drug:warfarin", "drug:aspirin"], "k": 1}),
        ("describe_entity", {"id": "drug:warfarin"}),
        ("describe_entities", {"ids": ["drug:warfarin", "drug:nobody"]}),
    ]
    with open_gateway() as graph:
        for tool, arguments in calls:
            compact, usual = graph.call(tool, arguments, shape="compact"), graph.call(tool, arguments)
            assert repr(compact).partition(":")[2] == repr(usual).partition(":")[2]
            assert read(shown(compact)).elements.count("table") == read(shown(usual)).elements.count("table")


def test_what_is_not_complete_says_why() -> None:
    with open_gateway() as graph:
        answer = graph.bfs_query(["drug:warfarin"], 1, max_edges_per_node=3)
    assert answer.complete is False
    assert "not complete" in repr(answer)
    text = "".join(read(shown(answer)).texts)
    assert "not complete" in text
    assert (answer.incomplete or [])[0].detail in text


def test_more_than_a_hundred_nodes_are_a_table_of_the_first_and_no_picture(tmp_path: Path) -> None:
    star = tmp_path / "star.ttl"
    star.write_text("@prefix x: <http://x.example/> . x:hub x:p " + ", ".join(f"x:n{n}" for n in range(150)) + " .")
    with open_gateway(star) as graph:
        reader = read(shown(graph.bfs_query(["x:hub"], 1, max_tokens=100_000)))
    text = "".join(reader.texts)
    assert "svg" not in reader.elements
    assert f"151 nodes; it has up to {MOST_DRAWN}" in text
    assert "the first 100 of 151" in text


def test_edges_that_are_not_drawn_are_counted() -> None:
    nodes = {f"n{number}": (f"n{number}", "") for number in range(30)}
    arrows = [Arrow(one, "p", other) for one in nodes for other in nodes]
    html = drawing(nodes, arrows, ["n0"])
    assert f"{len(arrows) - MOST_ARROWS} edges are not drawn" in html
    read(html)


def test_a_picture_has_each_node_at_a_place_of_its_own_and_is_the_same_each_time() -> None:
    nodes = {f"n{number}": (f"n{number}", "T") for number in range(MOST_DRAWN)}
    arrows = [Arrow("n0", "p", f"n{number}") for number in range(40)]
    html = drawing(nodes, arrows, ["n0"])
    places = re.findall(r'<circle cx="([^"]+)" cy="([^"]+)"', html)
    # The edge of the first node to itself is a circle too.
    assert len(set(places)) == MOST_DRAWN + 1
    assert html == drawing(nodes, arrows, ["n0"])
