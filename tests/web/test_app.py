"""The page as an MCP App, in a host over the official bridge, in a real browser."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.web.browser import WAIT_MS
from tests.web.build import harness, project

pytestmark = pytest.mark.server

QUESTION = {"tool": "bfs_query", "arguments": {"seeds": ["drug:metformin"], "max_hops": 1}}


@pytest.fixture(scope="module")
def host() -> str:
    """The page of the host."""
    try:
        with project() as folder:
            return harness(folder)
    except ServerUnavailable as error:
        skip_or_fail(error)


@contextmanager
def hosted(chromium: Browser, host: str, gateway: str, question: object = QUESTION) -> Iterator[tuple[Page, list[str]]]:
    """Give a chat in which a question was asked, and the errors of its console."""
    page = chromium.new_page(viewport={"width": 1000, "height": 700})
    page.set_default_timeout(WAIT_MS)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    # At the address of the gateway, so that the harness may speak to it; the App itself may not.
    page.route("**/harness", lambda route: route.fulfill(body=host, content_type="text/html"))
    page.goto(f"{gateway}harness#{quote(json.dumps(question))}")
    try:
        yield page, errors
    finally:
        page.close()


def app_in(page: Page) -> Frame:
    """Return the frame of the App."""
    page.wait_for_selector("body[data-answered]", state="attached")
    return page.frames[1]


def test_an_answer_is_drawn_and_a_click_calls_a_tool_through_the_host(
    chromium: Browser, host: str, medical: str
) -> None:
    with hosted(chromium, host, medical) as (page, errors):
        app = app_in(page)
        expect(app.get_by_test_id("shown")).to_contain_text("12 nodes and 11 edges")
        expect(app.get_by_test_id("call")).to_have_text('bfs_query {"seeds":["drug:metformin"],"max_hops":1}')
        app.get_by_text("List of the").click()
        app.get_by_role("button", name="insulin", exact=True).click()
        expect(app.get_by_test_id("record-name")).to_have_text("insulin")
        expect(page.locator("body")).to_have_attribute("data-calls", "describe_entity")
        app.get_by_role("button", name="Show outgoing m:TREATS").click()
        expect(app.get_by_test_id("shown")).not_to_contain_text("12 nodes")
        expect(page.locator("body")).to_have_attribute("data-calls", "describe_entity bfs_query")
        assert errors == []


def test_it_looks_as_the_chat_looks_and_tells_its_size(chromium: Browser, host: str, medical: str) -> None:
    with hosted(chromium, host, medical) as (page, _):
        app = app_in(page)
        expect(app.locator("html")).to_have_attribute("data-theme", "light")
        page.evaluate("() => dispatchEvent(new Event('theme'))")
        expect(app.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator("body")).to_have_attribute("data-height", "576")


def test_it_can_reach_nothing_outside(chromium: Browser, host: str, medical: str) -> None:
    with hosted(chromium, host, medical) as (page, _):
        app = app_in(page)
        reached = app.evaluate(
            "url => fetch(url, {mode: 'no-cors'}).then(() => 'reached', () => 'refused')", f"{medical}mcp"
        )
        assert reached == "refused"


def test_an_error_of_the_gateway_is_shown_in_the_app(chromium: Browser, host: str, medical: str) -> None:
    question = {"tool": "bfs_query", "arguments": {"seeds": ["x:nothing"], "max_hops": 1}}
    with hosted(chromium, host, medical, question) as (page, _):
        expect(app_in(page).get_by_test_id("problem")).to_contain_text("x:nothing")


def test_hostile_names_in_the_app_are_text_and_nothing_runs(chromium: Browser, host: str, hostile: str) -> None:
    question = {"tool": "bfs_query", "arguments": {"seeds": ["http://e.org/a"], "max_hops": 1}}
    with hosted(chromium, host, hostile, question) as (page, errors):
        app = app_in(page)
        expect(app.get_by_test_id("shown")).to_contain_text("7 nodes and 6 edges")
        app.get_by_text("List of the").click()
        app.get_by_role("button", name="alpha").click()
        expect(app.get_by_test_id("record-name")).to_contain_text("<img src=x onerror")
        assert app.locator("img").count() == 0
        assert app.title() == "Graph explorer"
        assert page.title() == "A host of MCP Apps"
        assert errors == []


@pytest.mark.large
def test_an_intersection_and_a_hub_of_wikidata_are_drawn_in_the_chat(
    chromium: Browser, host: str, wikidata: str
) -> None:
    question = {"tool": "intersect_subgraphs", "arguments": {"seeds": ["wd:Q35", "wd:Q7085"], "k": 1, "via": True}}
    with hosted(chromium, host, wikidata, question) as (page, errors):
        app = app_in(page)
        expect(app.get_by_test_id("shown")).to_contain_text("7 nodes and 20 edges")
        app.get_by_text("List of the").click()
        app.get_by_role("button", name="Niels Bohr", exact=True).click()
        expect(app.get_by_test_id("record-name")).to_have_text("Niels Bohr")
        app.get_by_role("button", name="Show outgoing field of work").click()
        expect(app.get_by_test_id("call")).to_contain_text('"only_predicates":["wdt:P101"],"direction":"outgoing"')
        expect(app.get_by_test_id("shown")).not_to_contain_text("7 nodes")
        app.get_by_role("combobox", name="Search by name").fill("english")
        app.locator("#hits [role=option]").first.click()
        expect(app.get_by_test_id("note")).to_contain_text("edges or more. Choose a relation")
        expect(page.locator("body")).to_have_attribute(
            "data-calls", "describe_entity bfs_query search_entities describe_entity"
        )
        assert errors == []
