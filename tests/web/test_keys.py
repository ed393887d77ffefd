"""The explorer page by the keyboard alone, and what a screen reader hears of it."""

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser import opened, search
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
            page.get_by_label("Save as"),
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
