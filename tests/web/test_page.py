"""The explorer page in a real browser: over a real gateway, as a file, as an MCP App, and in whole sessions.

Sessions on medlit and wd50k make the screenshots of the documentation. With BFSQL_WRITE_SCREENSHOTS=1 they are written
to docs/images. Figures: `README.md` and `wd50k-known-answers.md` in the folder of the graphs.
"""

import asyncio
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Frame, Page, expect

from gateway.api import open_gateway
from gateway.export.subgraph import Subgraph
from tests.graphs import fixture
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.web.browser import WAIT_MS, Scheme, opened, search
from tests.web.build import harness, project
from tests.web.served import hostile_graph

pytestmark = pytest.mark.server


def test_a_session_of_search_expansion_steering_intersection_and_undo(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        shown, call = page.get_by_test_id("shown"), page.get_by_test_id("call")
        search(page, "metfor")
        expect(page.get_by_test_id("record-name")).to_have_text("metformin")
        expect(shown).to_contain_text("12 nodes and 11 edges")
        expect(call).to_have_text('bfs_query {"seeds":["drug:metformin"],"max_hops":1,"limit":300}')
        page.get_by_role("button", name="Show outgoing treats").click()
        expect(call).to_contain_text('"only_predicates":["m:TREATS"],"direction":"outgoing"')
        page.get_by_text("List of the").click()
        page.get_by_role("button", name="type 2 diabetes", exact=True).click()
        expect(page.get_by_test_id("record-name")).to_have_text("type 2 diabetes")
        page.get_by_role("checkbox", name="Select metformin").check()
        page.get_by_role("button", name="What is near all of them").click()
        expect(call).to_contain_text('intersect_subgraphs {"seeds":["disease:type_2_diabetes","drug:metformin"]')
        # What one hop finds is enough.
        expect(shown).to_contain_text("12 nodes and 17 edges")
        for _ in range(2):
            page.get_by_role("button", name="Undo").click()
        expect(shown).to_contain_text("12 nodes and 11 edges")
        page.get_by_role("checkbox", name="Side effect").uncheck()
        expect(page.get_by_role("button", name="nausea")).to_have_count(0)
        page.get_by_label("Call for a").select_option("command line")
        graph = fixture("medical")
        expect(call).to_have_text(f"bfsql-gateway bfs drug:metformin --hops 1 --limit 300 --graph {graph}")
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


def answer(graph: Path, seed: str) -> Subgraph:
    """Return the neighbourhood of a node."""

    async def asked() -> Subgraph:
        async with open_gateway(graph) as gateway:
            return await gateway.bfs_subgraph([seed], max_hops=1)

    # In a thread of its own: the browser's event loop runs in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asked()).result()


@pytest.fixture(scope="module")
def metformin() -> Subgraph:
    """An answer with evidence."""
    return answer(fixture("medical"), "drug:metformin")


@pytest.fixture(scope="module")
def markup(tmp_path_factory: pytest.TempPathFactory) -> Subgraph:
    """An answer with hostile names."""
    return answer(hostile_graph(tmp_path_factory.mktemp("markup")), "http://e.org/a")


def test_a_file_shows_its_answer_without_any_server(metformin: Subgraph, chromium: Browser, tmp_path: Path) -> None:
    [file] = metformin.write(tmp_path / "metformin.html")
    with opened(chromium, file.as_uri()) as watched:
        page = watched.page
        expect(page.get_by_test_id("shown")).to_have_text("12 nodes and 11 edges")
        expect(page.get_by_test_id("call")).to_have_text('bfs_query {"seeds":["drug:metformin"],"max_hops":1}')
        search(page, "nausea")
        expect(page.get_by_test_id("record-name")).to_have_text("nausea")
        expect(page.get_by_role("heading", name="Relations in this file")).to_be_visible()
        expect(page.locator(".evidence")).to_contain_text("0.83")
        assert page.get_by_role("button", name=re.compile("^Show outgoing")).count() == 0
        assert watched.errors == []
        assert watched.outside == []


def test_hostile_names_in_a_file_are_text_and_nothing_runs(markup: Subgraph, chromium: Browser, tmp_path: Path) -> None:
    [file] = markup.write(tmp_path / "markup.html")
    with opened(chromium, file.as_uri()) as watched:
        page = watched.page
        search(page, "alpha")
        expect(page.get_by_test_id("record-name")).to_contain_text("<img src=x onerror")
        expect(page).to_have_title("Graph explorer")
        assert page.locator("img").count() == 0
        assert watched.errors == []
        assert watched.outside == []


def test_a_notebook_shows_it_in_a_frame_that_loads_nothing(
    metformin: Subgraph, chromium: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><body>{metformin._repr_html_()}", encoding="utf-8")
    with opened(chromium, file.as_uri()) as watched:
        frame = watched.page.frame_locator("iframe")
        expect(frame.get_by_test_id("shown")).to_have_text("12 nodes and 11 edges")
        frame.get_by_text("List of the").click()
        frame.get_by_role("button", name="insulin", exact=True).click()
        expect(frame.get_by_test_id("record-name")).to_have_text("insulin")
        assert watched.errors == []
        assert watched.outside == []


QUESTION: dict[str, Any] = {"tool": "bfs_query", "arguments": {"seeds": ["drug:metformin"], "max_hops": 1}}


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


def test_an_answer_in_rows_is_drawn_with_a_table_of_its_values(chromium: Browser, host: str, medical: str) -> None:
    asked = {**QUESTION["arguments"], "values": ["totalMentions"], "sort_by": "-totalMentions"}
    with hosted(chromium, host, medical, {"tool": "bfs_query", "arguments": asked}) as (page, errors):
        app = app_in(page)
        expect(app.get_by_test_id("shown")).to_contain_text("12 nodes and 11 edges")
        expect(app.get_by_test_id("rows").locator("tr")).to_have_count(12)
        expect(app.get_by_test_id("rows").locator("tr").first).to_have_text("Nodetotal mentions")
        assert errors == []


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
        app.get_by_role("button", name="Show outgoing treats").click()
        expect(app.get_by_test_id("shown")).not_to_contain_text("12 nodes")
        expect(page.locator("body")).to_have_attribute("data-calls", "describe_entity bfs_query")
        assert errors == []


def test_it_looks_as_the_chat_looks_and_tells_its_size(chromium: Browser, host: str, medical: str) -> None:
    with hosted(chromium, host, medical) as (page, _):
        app = app_in(page)
        expect(app.locator("html")).to_have_attribute("data-theme", "light")
        page.evaluate("() => dispatchEvent(new Event('theme'))")
        expect(app.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator("body")).to_have_attribute("data-height", "496")


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


@pytest.mark.large
def test_a_drug_of_medlit_is_read_with_the_papers_that_say_what_it_treats(chromium: Browser, medlit: str) -> None:
    with opened(chromium, medlit) as watched:
        page = watched.page
        shown = page.get_by_test_id("shown")
        search(page, "desmopressin")
        expect(page.get_by_test_id("record-name")).to_have_text("desmopressin")
        expect(shown).to_contain_text("6 nodes and 6 edges")
        expect(page.locator(".evidence")).to_contain_text("confidence")
        expect(page.locator(".evidence")).to_contain_text("source documents")
        search(page, "cushing syndrome")
        expect(shown).to_contain_text("35 nodes and 37 edges")
        page.get_by_text("List of the").click()
        for name in ("desmopressin", "Cushing syndrome"):
            page.get_by_role("checkbox", name=f"Select {name}", exact=True).set_checked(checked=True)
        page.get_by_role("button", name="What is near all of them").click()
        # They are neighbours, so one hop is enough.
        expect(page.get_by_test_id("call")).to_contain_text('"k":1')
        assert watched.errors == []
        assert watched.outside == []


@pytest.mark.large
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
        page.get_by_text("Evidence of").click()
        page.locator(".evidence").get_by_role("button", name="Good Will Hunting").first.click()
        expect(page.get_by_test_id("record-name")).to_have_text("Good Will Hunting")
        assert watched.errors == []
        assert watched.outside == []


@pytest.mark.large
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
        expect(page.get_by_test_id("call")).to_contain_text('"k":1')
        page.get_by_role("button", name="Undo").click()
        assert watched.errors == []
    nearest = view(wikidata, "intersect_subgraphs", seeds=[DENMARK, NIELS_BOHR], k=1, via=True)
    with opened(chromium, nearest, scheme="dark") as watched:
        expect(watched.page.get_by_test_id("shown")).to_contain_text("7 nodes and 20 edges")
        taken(watched.page, "dark", tmp_path)
        assert watched.errors == []


@pytest.mark.large
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


@pytest.mark.large
@pytest.mark.parametrize("scheme", ["light"])
def test_a_narrow_page_shows_the_same(chromium: Browser, wikidata: str, tmp_path: Path, scheme: Scheme) -> None:
    address = view(wikidata, "bfs_query", seeds=["wd:Q1025401"], max_hops=1)
    with opened(chromium, address, width=420, scheme=scheme) as watched:
        expect(watched.page.get_by_test_id("shown")).to_contain_text("2 nodes and 2 edges")
        taken(watched.page, "narrow", tmp_path)
        assert watched.errors == []


@pytest.mark.large
def test_two_thousand_nodes_are_read_page_by_page(chromium: Browser, wikidata: str) -> None:
    address = view(wikidata, "bfs_query", seeds=["wd:Q104791"], max_hops=2, limit=300)
    with opened(chromium, address) as watched:
        page = watched.page
        shown, count = page.get_by_test_id("shown"), 0
        for _ in range(MOST_PAGES):
            expect(page.get_by_test_id("running")).to_have_count(0)
            count = int(re.split(" nodes", shown.inner_text())[0].replace(",", ""))
            if count >= MANY:
                break
            page.get_by_role("button", name="Show more").click()
            expect(shown).not_to_have_text(re.compile(f"^{count:,} nodes"))
        assert count >= MANY
        page.wait_for_function(f"() => Number(document.documentElement.dataset.placed) >= {MANY}")
        assert watched.errors == []
