"""The record of the explorer page: blank nodes and lists as rows, folded in the picture too, in a chosen language."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser import opened
from tests.web.served import explored
from tests.web.test_page import view, violations
from tests.web.test_picture import labels

pytestmark = pytest.mark.server

BREAD: Final = """
@prefix : <http://e.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:bread a :Recipe ; rdfs:label "Bread"@en, "Brot"@de, "Pain"@fr ;
  :note "Good"@en, "Gut"@de ; :steps (:mix :knead :bake) ; :codes ((1 2) ()) ;
  :address [ a :Address ; :city :Paris ; :street "Main 1" ; :geo [ :lat 1.5 ; :in :France ] ] , [ :city :Lyon ] .
:mix rdfs:label "Mix"@en, "Mischen"@de . :knead rdfs:label "Knead"@en . :bake rdfs:label "Bake"@en .
:Paris rdfs:label "Paris" . :Lyon rdfs:label "Lyon" . :France rdfs:label "France" .
"""


@pytest.fixture(scope="module")
def bread(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over a recipe with blank nodes, a list, and texts in three languages."""
    folder = tmp_path_factory.mktemp("bread")
    graph = folder / "bread.ttl"
    graph.write_text(BREAD, encoding="utf-8")
    with explored(folder, "--graph", str(graph)) as url:
        yield url


def test_a_blank_node_is_folded_with_what_it_alone_leads_to_until_somebody_unfolds_it(
    chromium: Browser, bread: str
) -> None:
    with opened(chromium, view(bread, "bfs_query", seeds=["http://e.org/bread"], max_hops=3)) as watched:
        page = watched.page
        drawn = {text for text, *_ in labels(page)}
        # It is called by what it says.
        assert {"Main 1", "+3", "+1"} <= drawn
        assert "Paris" not in drawn
        # It is folded in the picture alone.
        expect(page.get_by_test_id("shown")).to_contain_text("10 nodes and 9 edges")
        page.get_by_role("button", name="Unfold Main 1").press("Enter")
        expect(page.locator(".labels")).to_contain_text("Paris")
        expect(page.get_by_role("button", name="Fold Main 1", exact=True)).to_have_text("fold")
        address = page.url
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Unfold Main 1")).to_be_visible()
        assert violations(page) == []
        assert watched.errors == []
    with opened(chromium, address) as again:
        expect(again.page.locator(".labels")).to_contain_text("Paris")


def test_lists_are_lists_and_what_blank_nodes_say_are_rows(chromium: Browser, bread: str) -> None:
    with opened(chromium, view(bread, "bfs_query", seeds=["http://e.org/bread"], max_hops=1)) as watched:
        page = watched.page
        page.get_by_text("List of the").click()
        page.get_by_role("button", name="Bread", exact=True).click()
        record = page.locator(".record")
        expect(record.locator(".relations .list-members li")).to_have_text(["1 Mix", "2 Knead", "3 Bake"])
        # A list of two lists: the first has two members, the second none.
        expect(record.locator("dd li li")).to_have_text(["1 1", "2 2"])
        expect(record.locator("dd .list-members > li").last).to_have_text("2 an empty list")
        content = record.locator(".content").filter(has_text="Main 1")
        expect(content.locator("dt").first).to_be_hidden()
        content.locator("summary").first.click()
        expect(content.locator("> dl > div > dt")).to_have_text(["city", "geo", "street", "type"])
        expect(content.locator("> dl > div > dd").last).to_have_text("Address")
        assert "{" not in record.inner_text()
        assert violations(page) == []
        content.get_by_role("button", name="Its record").last.click()
        expect(page.get_by_test_id("record-name")).to_have_text("Main 1")
        assert watched.errors == []


def test_what_is_shown_is_read_again_in_a_chosen_language_and_undo_goes_back(chromium: Browser, bread: str) -> None:
    with opened(chromium, view(bread, "bfs_query", seeds=["http://e.org/bread"], max_hops=1)) as watched:
        page = watched.page
        page.get_by_text("List of the").click()
        page.get_by_role("button", name="Bread", exact=True).click()
        expect(page.locator(".record")).to_contain_text("2 in German, 1 in French")
        page.get_by_label("Language").select_option("de")
        expect(page.get_by_test_id("record-name")).to_have_text("Brot")
        expect(page.locator(".record > dl")).to_contain_text("Gut")
        expect(page.locator(".list")).to_contain_text("Mischen")
        expect(page.get_by_test_id("call")).to_contain_text('"language":"de"')
        address = page.url
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_test_id("record-name")).to_have_text("Bread")
        expect(page.locator(".list")).to_contain_text("Mix")
        page.get_by_role("button", name="Redo").click()
        expect(page.get_by_test_id("record-name")).to_have_text("Brot")
        assert violations(page) == []
        assert watched.errors == []
    with opened(chromium, address) as again:
        expect(again.page.get_by_test_id("record-name")).to_have_text("Brot")
        expect(again.page.locator(".list")).to_contain_text("Mischen")


QUOTED: Final = """
@prefix : <http://e.org/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:drug a :Drug ; rdfs:label "Drug" ; dct:identifier ":drug" ;
  dct:description "What it does." ; rdfs:comment "Where it is from." ; :treats :ill ; :helps :sick .
:ill a :Disease ; rdfs:label "Ill" . :sick a :Disease ; rdfs:label "Sick" .
[] a rdf:Statement ; rdf:subject :drug ; rdf:predicate :treats ; rdf:object :ill ; :quote "QUOTE" .
""".replace("QUOTE", "It is said at length that it does. " * 5)


def test_a_record_has_all_descriptions_and_literals_as_they_are_and_counts_long_quotes(
    chromium: Browser, tmp_path: Path
) -> None:
    graph = tmp_path / "quoted.ttl"
    graph.write_text(QUOTED, encoding="utf-8")
    with (
        explored(tmp_path, "--graph", str(graph)) as url,
        opened(chromium, view(url, "bfs_query", seeds=["http://e.org/drug"], max_hops=1)) as watched,
    ):
        page = watched.page
        expect(page.get_by_test_id("omitted")).to_contain_text("1 quote omitted")
        expect(page.get_by_test_id("outermost")).to_contain_text("edges between two of the 2 nodes")
        expect(page.get_by_test_id("part")).to_contain_text("A file lacks edges, see above")
        page.get_by_text("List of the").click()
        page.get_by_role("button", name="Drug", exact=True).click()
        record = page.locator(".record")
        expect(record).to_contain_text("What it does.")
        expect(record).to_contain_text("Where it is from.")
        expect(record.locator("dl > div").filter(has_text="identifier").locator("dd")).to_have_text(":drug")
        page.get_by_role("button", name="Evidence of treats").press("Enter")
        expect(record).not_to_contain_text("The graph says no more of it.")
        expect(record.get_by_test_id("omitted")).to_contain_text("1 quote omitted")
        record.get_by_text("How to see them").click()
        expect(record).to_contain_text("evidence_text_characters")
        assert violations(page) == []
        assert watched.errors == []
