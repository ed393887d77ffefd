"""Hubs on the explorer page: what they show before somebody chooses a relation."""

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser import opened, search
from tests.web.test_page import violations

pytestmark = pytest.mark.server


def test_a_hub_is_not_expanded_unasked(chromium: Browser, hostile: str) -> None:
    with opened(chromium, hostile) as watched:
        page = watched.page
        search(page, "hub")
        expect(page.get_by_test_id("note")).to_contain_text("401 edges")
        expect(page.get_by_test_id("shown")).to_contain_text("1 node and 0 edges")
        page.get_by_role("button", name="Show outgoing rare").click()
        expect(page.get_by_test_id("shown")).to_contain_text("2 nodes and 1 edge")
        assert watched.errors == []


def test_a_hub_lasts_with_a_badge_and_a_menu_and_is_one_step_of_undo(chromium: Browser, hostile: str) -> None:
    with opened(chromium, hostile) as watched:
        page = watched.page
        search(page, "hub")
        menu = page.get_by_test_id("hub-menu")
        expect(menu.get_by_role("listitem")).to_have_text(["→ has 400", "→ rare 1"])
        page.wait_for_function("() => document.documentElement.dataset.labelled !== undefined")
        stands = page.get_by_role("button", name="Relations of hub").bounding_box()
        frame, box = page.locator(".graph").bounding_box(), menu.bounding_box()
        assert frame is not None
        assert box is not None
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"]
        assert stands is not None
        # It stands beside its hub.
        assert abs(box["x"] - stands["x"]) < 80
        assert 0 < box["y"] - stands["y"] < 80
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(menu).to_have_count(0)
        page.keyboard.press("Escape")
        # Nothing is selected, and it is there.
        expect(page.get_by_test_id("record-name")).to_have_count(0)
        expect(page.get_by_test_id("shown")).to_contain_text("1 node and 0 edges")
        address = page.url
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_test_id("shown")).to_contain_text("0 nodes")
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        page.get_by_role("button", name="Redo").click()
        expect(page.get_by_test_id("shown")).to_contain_text("1 node")
        assert watched.errors == []
    with opened(chromium, address) as again:
        page = again.page
        expect(page.get_by_test_id("shown")).to_contain_text("1 node and 0 edges")
        page.wait_for_function("() => document.documentElement.dataset.labelled !== undefined")
        badge = page.get_by_role("button", name="Relations of hub")
        expect(badge).to_have_text("401 edges")
        badge.press("Enter")
        page.get_by_test_id("hub-menu").get_by_role("button", name="rare").click()
        expect(page.get_by_test_id("shown")).to_contain_text("2 nodes and 1 edge")
        expect(page.get_by_test_id("hub-menu")).to_have_count(0)
        expect(badge).to_have_text("401 edges")
        assert again.errors == []


def test_hubs_of_an_address_that_are_not_drawn_are_said_and_the_address_stays(chromium: Browser, hostile: str) -> None:
    hubs = ["http://e.org/hub", "http://e.org/nothing", *(f"http://e.org/m{n}" for n in range(60))]
    address = f"{hostile}#{quote(json.dumps([[], [], [], [], [], [], [], None, hubs]))}"
    with opened(chromium, address) as watched:
        page = watched.page
        expect(page.get_by_test_id("address")).to_contain_text("13 of 62 hubs of this address could not be drawn")
        expect(page.get_by_test_id("shown")).to_contain_text("49 nodes and 0 edges")
        assert "http://e.org/m59" in page.evaluate("() => decodeURIComponent(location.hash)")
        page.get_by_role("button", name="Clear").click()
        expect(page.get_by_test_id("address")).to_have_count(0)
        assert watched.errors == []
