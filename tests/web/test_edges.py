"""What an edge of the explorer page means: at a glance, below the pointer, and in its record."""

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser import opened
from tests.web.served import explored
from tests.web.test_page import view, violations
from tests.web.test_picture import boxes_of, labels

pytestmark = pytest.mark.server

PIZZA: Final = """
@prefix : <http://e.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pizza a owl:Class ; rdfs:subClassOf :Food,
  [ a owl:Restriction ; owl:onProperty :hasBase ; owl:someValuesFrom :Base ],
  [ a owl:Restriction ; owl:onProperty :hasTopping ;
    owl:allValuesFrom [ a owl:Class ; owl:unionOf (:Cheese :Tomato) ] ] .
:hasBase a owl:ObjectProperty . :hasTopping a owl:ObjectProperty .
:Food a owl:Class . :Base a owl:Class . :Cheese a owl:Class . :Tomato a owl:Class .
"""


@pytest.fixture(scope="module")
def pizza(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over an ontology."""
    folder = tmp_path_factory.mktemp("pizza")
    graph = folder / "pizza.ttl"
    graph.write_text(PIZZA, encoding="utf-8")
    with explored(folder, "--graph", str(graph)) as url:
        yield url


def test_a_restriction_is_read_beside_its_edge_and_below_the_pointer_and_explained_in_its_record(
    chromium: Browser, pizza: str
) -> None:
    with opened(chromium, view(pizza, "bfs_query", seeds=["http://e.org/Pizza"], max_hops=1)) as watched:
        page = watched.page
        drawn = {text for text, *_ in labels(page)}
        assert "has base (some)" in drawn
        (left, top), (right, bottom) = (boxes_of(page)[name] for name in ("Pizza", "Base"))
        canvas = page.get_by_test_id("canvas")
        # Names stand on one side or another of their discs, so the edge is looked for beside the line between them.
        shares = [0.2, 0.25, 0.3, 0.7, 0.75, 0.8]
        moves = [(dx, dy) for dx in range(-40, 44, 4) for dy in (-20, -10, 0, 10, 20)]
        for share, (dx, dy) in ((share, move) for share in shares for move in moves):
            page.mouse.move(left + share * (right - left) + dx, top + share * (bottom - top) + dy)
            if "has base" in (canvas.get_attribute("title") or ""):
                break
        expect(canvas).to_have_attribute("title", "Pizza → has base (some) → Base")
        page.mouse.down()
        page.mouse.up()
        told = page.get_by_test_id("edge-record")
        expect(told).to_contain_text("some: at least one such")
        assert violations(page) == []
        page.get_by_role("button", name="Evidence of has topping").first.press("Enter")
        expect(told).to_contain_text("only: no others; whether there is one is left open")
        expect(told).to_contain_text("2: alternatives; which of them holds is left open")
        assert watched.errors == []
