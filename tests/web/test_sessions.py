"""Whole sessions on medlit and wd50k in a real browser, which make the screenshots of the documentation.

With BFSQL_WRITE_SCREENSHOTS=1 they are written to docs/images. Figures: `README.md` and `wd50k-known-answers.md` in
the folder of the graphs.
"""

import json
import os
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser import Scheme, opened, search

pytestmark = [pytest.mark.server, pytest.mark.large]

IMAGES: Final = Path(__file__).resolve().parents[2] / "docs" / "images"
MOST_PICTURE_BYTES: Final = 600_000
ROBIN_WILLIAMS: Final = "wd:Q83338"
DENMARK, NIELS_BOHR = "wd:Q35", "wd:Q7085"
SHOWN: Final = ("light", "dark")
"""The screenshots that the documentation has."""

MANY: Final = 2_000
MOST_PAGES: Final = 40


def view(url: str, tool: str, **arguments: Any) -> str:
    """Return the address of a view of one call."""
    return f"{url}#{quote(json.dumps([[[tool, arguments]], [], [], []]))}"


def taken(page: Page, name: str, folder: Path) -> None:
    """Take a screenshot for the documentation once the nodes have their places."""
    page.wait_for_function(
        "() => document.documentElement.dataset.placed !== undefined"
        " && performance.now() - (window.quietSince ??= performance.now()) > 1500"
    )
    wanted = os.environ.get("BFSQL_WRITE_SCREENSHOTS") == "1"
    path = (IMAGES if wanted and name in SHOWN else folder) / f"explorer-{name}.png"
    page.screenshot(path=path)
    assert path.stat().st_size < MOST_PICTURE_BYTES


def test_a_drug_of_medlit_is_read_with_the_papers_that_say_what_it_treats(chromium: Browser, medlit: str) -> None:
    with opened(chromium, medlit) as watched:
        page = watched.page
        shown = page.get_by_test_id("shown")
        search(page, "desmopressin")
        expect(page.get_by_test_id("record-name")).to_have_text("desmopressin")
        expect(shown).to_contain_text("6 nodes and 6 edges")
        expect(page.locator(".evidence")).to_contain_text("confidence")
        expect(page.locator(".evidence")).to_contain_text("source_documents")
        search(page, "cushing syndrome")
        expect(shown).to_contain_text("35 nodes and 37 edges")
        page.get_by_text("List of the").click()
        for name in ("desmopressin", "Cushing syndrome"):
            page.get_by_role("checkbox", name=f"Select {name}", exact=True).set_checked(checked=True)
        page.get_by_role("button", name="What is near all of them").click()
        expect(shown).to_contain_text("70 nodes and 97 edges")
        assert watched.errors == []
        assert watched.outside == []


def test_a_person_is_found_expanded_and_read_with_the_qualifiers_of_an_award(
    chromium: Browser, wikidata: str, tmp_path: Path
) -> None:
    with opened(chromium, wikidata) as watched:
        page = watched.page
        shown = page.get_by_test_id("shown")
        search(page, "robin williams")
        expect(page.get_by_test_id("record-name")).to_have_text("Robin Williams")
        expect(shown).to_contain_text("78 nodes and 91 edges")
        expect(page.locator(".filters")).to_contain_text("award received")
        taken(page, "light", tmp_path)
        page.get_by_role("button", name="Show outgoing award received").click()
        expect(page.get_by_test_id("call")).to_contain_text('"only_predicates":["wdt:P166"],"direction":"outgoing"')
        # What an award was for is a node, and leads to its record.
        page.locator(".evidence").get_by_role("button", name="Good Will Hunting").first.click()
        expect(page.get_by_test_id("record-name")).to_have_text("Good Will Hunting")
        assert watched.errors == []
        assert watched.outside == []


def test_what_connects_two_of_which_one_is_a_hub_is_shown_with_paths(
    chromium: Browser, wikidata: str, tmp_path: Path
) -> None:
    with opened(chromium, wikidata, scheme="dark") as watched:
        page = watched.page
        search(page, "denmark")
        expect(page.get_by_test_id("note")).to_contain_text("276 edges or more")
        search(page, "niels bohr")
        expect(page.get_by_test_id("record-name")).to_have_text("Niels Bohr")
        page.get_by_text("List of the").click()
        for name in ("Denmark", "Niels Bohr"):
            page.get_by_role("checkbox", name=f"Select {name}", exact=True).set_checked(checked=True)
        page.get_by_text("List of the").click()
        page.get_by_role("button", name="What is near all of them").click()
        expect(page.get_by_test_id("call")).to_contain_text("intersect_subgraphs")
        expect(page.get_by_test_id("shown")).to_contain_text("5,976 nodes in all")
        page.get_by_role("button", name="Undo").click()
        assert watched.errors == []
    nearest = view(wikidata, "intersect_subgraphs", seeds=[DENMARK, NIELS_BOHR], k=1, via=True)
    with opened(chromium, nearest, scheme="dark") as watched:
        expect(watched.page.get_by_test_id("shown")).to_contain_text("7 nodes and 20 edges")
        taken(watched.page, "dark", tmp_path)
        assert watched.errors == []


def test_hubs_that_were_not_expanded_are_drawn_as_such_and_said(
    chromium: Browser, wikidata: str, tmp_path: Path
) -> None:
    address = view(wikidata, "bfs_query", seeds=[ROBIN_WILLIAMS], max_hops=2, max_degree=100)
    with opened(chromium, address) as watched:
        page = watched.page
        expect(page.get_by_test_id("shown")).to_contain_text("1,012 nodes in all; not complete")
        expect(page.get_by_test_id("lacking")).to_contain_text("16 nodes lack edges")
        page.get_by_text("List of the").click()
        expect(page.locator(".list")).to_contain_text("English")
        page.get_by_role("button", name="English", exact=True).click()
        expect(page.locator(".record .lack").first).to_have_text("more than 100 edges: it has at least 1,001")
        page.get_by_text("List of the").click()
        taken(page, "hubs", tmp_path)
        assert watched.errors == []


@pytest.mark.parametrize("scheme", ["light"])
def test_a_narrow_page_shows_the_same(chromium: Browser, wikidata: str, tmp_path: Path, scheme: Scheme) -> None:
    address = view(wikidata, "bfs_query", seeds=["wd:Q1025401"], max_hops=1)
    with opened(chromium, address, width=420, scheme=scheme) as watched:
        expect(watched.page.get_by_test_id("shown")).to_contain_text("2 nodes and 2 edges")
        taken(watched.page, "narrow", tmp_path)
        assert watched.errors == []


def test_two_thousand_nodes_are_read_page_by_page(chromium: Browser, wikidata: str) -> None:
    address = view(wikidata, "bfs_query", seeds=["wd:Q104791"], max_hops=2, limit=300)
    with opened(chromium, address) as watched:
        page = watched.page
        shown, count = page.get_by_test_id("shown"), 0
        for _ in range(MOST_PAGES):
            expect(shown).not_to_contain_text("…")
            count = int(re.split(" nodes", shown.inner_text())[0].replace(",", ""))
            if count >= MANY:
                break
            page.get_by_role("button", name="Show more").click()
            expect(shown).not_to_have_text(re.compile(f"^{count:,} nodes"))
        assert count >= MANY
        page.wait_for_function(f"() => Number(document.documentElement.dataset.placed) >= {MANY}")
        assert watched.errors == []
