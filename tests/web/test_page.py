"""The explorer page in a real browser, over a real gateway."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.web.browser import WAIT_MS, opened, search

pytestmark = pytest.mark.server


def test_a_session_of_search_expansion_steering_intersection_and_undo(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        shown, call = page.get_by_test_id("shown"), page.get_by_test_id("call")
        search(page, "metfor")
        expect(page.get_by_test_id("record-name")).to_have_text("metformin")
        expect(shown).to_contain_text("12 nodes and 11 edges")
        expect(call).to_have_text('bfs_query {"seeds":["drug:metformin"],"max_hops":1,"limit":300}')
        page.get_by_role("button", name="Show outgoing m:TREATS").click()
        expect(call).to_contain_text('"only_predicates":["m:TREATS"],"direction":"outgoing"')
        page.get_by_text("List of the").click()
        page.get_by_role("button", name="type 2 diabetes", exact=True).click()
        expect(page.get_by_test_id("record-name")).to_have_text("type 2 diabetes")
        page.get_by_role("checkbox", name="Select metformin").check()
        page.get_by_role("button", name="What is near all of them").click()
        expect(call).to_contain_text('intersect_subgraphs {"seeds":["disease:type_2_diabetes","drug:metformin"]')
        expect(shown).not_to_contain_text("12 nodes")
        for _ in range(2):
            page.get_by_role("button", name="Undo").click()
        expect(shown).to_contain_text("12 nodes and 11 edges")
        page.get_by_role("checkbox", name="m:SideEffect").uncheck()
        expect(page.get_by_role("button", name="nausea")).to_have_count(0)
        page.get_by_label("Call for a").select_option("command line")
        expect(call).to_have_text("bfsql-gateway bfs drug:metformin --hops 1 --limit 300")
        call.click()
        page.keyboard.press("/")
        expect(page.get_by_role("combobox", name="Search by name")).to_be_focused()
        assert watched.errors == []
        assert watched.outside == []


def test_the_address_of_a_view_shows_it_again(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        search(watched.page, "metfor")
        expect(watched.page.get_by_test_id("shown")).to_contain_text("12 nodes")
        address = watched.page.url
    with opened(chromium, address) as again:
        expect(again.page.get_by_test_id("shown")).to_contain_text("12 nodes and 11 edges")
        expect(again.page.get_by_test_id("record-name")).to_have_text("metformin")
        assert again.errors == []


def test_a_name_that_fits_nothing_is_said_to_be_absent_with_what_to_do(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        watched.page.get_by_role("combobox").fill("zzzzzz")
        expect(watched.page.get_by_text("No name is like this")).to_be_visible()
        assert watched.errors == []


def test_an_error_of_the_gateway_is_shown(chromium: Browser, medical: str) -> None:
    with opened(chromium, f'{medical}#[[["bfs_query",{{"seeds":["x:nothing"],"max_hops":1}}]],[],[],[]]') as watched:
        expect(watched.page.get_by_test_id("problem")).to_contain_text("x:nothing")


def test_a_hub_is_not_expanded_unasked(chromium: Browser, hostile: str) -> None:
    with opened(chromium, hostile) as watched:
        page = watched.page
        search(page, "hub")
        expect(page.get_by_test_id("note")).to_contain_text("401 edges")
        expect(page.get_by_test_id("shown")).to_contain_text("1 nodes and 0 edges")
        page.get_by_role("button", name="rare").click()
        expect(page.get_by_test_id("shown")).to_contain_text("2 nodes and 1 edges")
        assert watched.errors == []


def test_hostile_names_are_text_and_nothing_runs(chromium: Browser, hostile: str) -> None:
    with opened(chromium, hostile) as watched:
        page = watched.page
        search(page, "alpha")
        expect(page.get_by_test_id("record-name")).to_contain_text("<img src=x onerror")
        expect(page).to_have_title("Graph explorer")
        assert page.locator("img").count() == 0
        assert watched.errors == []
        assert watched.outside == []


@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_no_bar_to_scroll_sideways(chromium: Browser, medical: str, width: int, scheme: str) -> None:
    with opened(chromium, medical, width=width, scheme="dark" if scheme == "dark" else "light") as watched:
        search(watched.page, "metfor")
        expect(watched.page.get_by_test_id("shown")).to_contain_text("12 nodes")
        assert watched.page.locator("body").evaluate("body => body.scrollWidth - body.clientWidth") <= 0


def violations(page: Page) -> list[dict[str, Any]]:
    """Return which rules of axe-core the page breaks now."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_by_the_rules_of_axe(chromium: Browser, medical: str, scheme: str) -> None:
    # Its script is foreign to the page, whose policy would keep it out.
    context = chromium.new_context(bypass_csp=True, color_scheme="dark" if scheme == "dark" else "light")
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(medical)
    assert violations(page) == []
    page.get_by_role("combobox", name="Search by name").fill("metfor")
    page.get_by_role("option").first.wait_for()
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
    page.get_by_text("List of the").click()
    assert violations(page) == []
    context.close()
