"""The explorer page by the keyboard alone, and what a screen reader hears of it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser import opened, search
from tests.web.served import explored
from tests.web.test_page import view, violations
from tests.web.test_picture import boxes_of, labels

pytestmark = pytest.mark.server


def test_the_picture_is_gone_through_and_expanded_by_keys_and_each_node_is_told(
    chromium: Browser, medical: str
) -> None:
    with opened(chromium, view(medical, "bfs_query", seeds=["drug:metformin"], max_hops=1)) as watched:
        page = watched.page
        labels(page)
        canvas, told = page.get_by_test_id("canvas"), page.get_by_test_id("selected")
        canvas.focus()
        # The first key goes to what was searched.
        page.keyboard.press("ArrowUp")
        expect(told).to_have_text("metformin, Drug, 11 edges")
        left = boxes_of(page)["metformin"][0]
        page.keyboard.press("ArrowRight")
        expect(told).not_to_contain_text("metformin")
        name = "".join(told.inner_text().split(",")[0].split())
        if name in (boxes := boxes_of(page)):
            assert boxes[name][0] > left
        page.keyboard.press("Shift+ArrowLeft")
        expect(told).to_contain_text("2 nodes are selected, last metformin")
        expect(page.get_by_role("heading", name="2 nodes")).to_be_visible()
        page.keyboard.press("Escape")
        expect(told).to_have_text("")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(told).not_to_contain_text("metformin")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("call")).to_contain_text("bfs_query")
        expect(page.get_by_test_id("shown")).not_to_contain_text("12 nodes")
        for key in ("+", "-", "0"):
            page.keyboard.press(key)
        assert violations(page) == []
        assert watched.errors == []


def test_keys_work_in_each_focus_and_what_they_did_is_told(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        search(page, "metfor")
        shown, told = page.get_by_test_id("shown"), page.get_by_test_id("done")
        box = page.get_by_role("combobox", name="Search by name")
        expect(shown).to_contain_text("12 nodes")
        expect(page.get_by_test_id("selected")).to_have_text("metformin, Drug, 11 edges")
        places = [
            page.get_by_test_id("canvas"),
            page.get_by_role("checkbox", name="Side effect"),
            page.get_by_text("Save as", exact=True),
            page.get_by_role("button", name="Clear"),
            page.get_by_text("List of the"),
            page.get_by_test_id("call"),
        ]
        for place in places:
            place.focus()
            page.keyboard.press("Control+z")
            expect(shown).to_contain_text("0 nodes")
            expect(told).to_have_text("Undone: 0 steps left to undo")
            page.keyboard.press("Control+Shift+z")
            expect(shown).to_contain_text("12 nodes")
            expect(told).to_have_text("Done again: 0 steps left to redo")
            if place.count():
                place.focus()
            page.keyboard.press("/")
            expect(box).to_be_focused()
        assert watched.errors == []


def test_who_begins_by_the_keyboard_goes_on_in_the_picture(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        page.get_by_test_id("start").get_by_role("button", name="atrial fibrillation", exact=True).press("Enter")
        expect(page.get_by_test_id("start")).to_have_count(0)
        expect(page.get_by_test_id("canvas")).to_be_focused()
        address = page.url
        assert watched.errors == []
    with opened(chromium, address) as again:
        expect(again.page.get_by_test_id("start")).to_have_count(0)
        # Nobody asked for the focus there.
        expect(again.page.get_by_test_id("canvas")).not_to_be_focused()


def test_escape_folds_an_open_list_alone_and_arrows_choose_nothing_in_a_menu(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("selected")).to_have_text("metformin, Drug, 11 edges")
        for name in ("List of the", "Save as"):
            summary = page.locator("summary").filter(has_text=name)
            summary.press("Enter")
            folds = page.locator("details.folds").filter(has=summary)
            expect(folds).to_have_attribute("open", "")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Tab")
            page.keyboard.press("Escape")
            expect(folds).not_to_have_attribute("open", "")
            expect(summary).to_be_focused()
            expect(page.get_by_test_id("selected")).to_have_text("metformin, Drug, 11 edges")
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("selected")).to_have_text("")
        assert watched.errors == []


def test_a_search_says_of_how_many_hits_it_shows_some_and_lists_the_others(chromium: Browser, tmp_path: Path) -> None:
    graph = tmp_path / "many.nt"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    graph.write_text("".join(f'<http://e.org/n{n}> {label} "thing {n}" .\n' for n in range(30)), encoding="utf-8")
    with explored(tmp_path, "--graph", str(graph)) as url, opened(chromium, url) as watched:
        page = watched.page
        page.get_by_role("combobox", name="Search by name").fill("thing")
        options, found = page.locator("#hits [role=option]"), page.get_by_test_id("found")
        for count in (12, 24, 30):
            expect(options).to_have_count(count)
            expect(found).to_contain_text(f"{count} entities found of 30" if count < 30 else "30 entities found")
            if count < 30:
                page.get_by_role("button", name="More", exact=True).press("Enter")
        expect(page.get_by_role("button", name="More", exact=True)).to_have_count(0)
        page.get_by_role("combobox", name="Search by name").fill("thing zebra")
        expect(page.locator(".hits")).to_contain_text("No name has the word 'zebra'")
        assert watched.errors == []


def test_what_is_near_several_nodes_is_said_in_words(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
        page.get_by_text("List of the").click()
        page.get_by_role("checkbox", name="Select", exact=False).nth(1).check()
        page.get_by_role("button", name="What is near all of them").click()
        expect(page.get_by_test_id("near")).to_contain_text("of all of them: ")
        expect(page.get_by_test_id("note")).to_contain_text("of all of them: ")
        assert watched.errors == []
