"""The table of nodes on the explorer page: chosen columns, conditions, order and groups, and the call that they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.graphs import fixture
from tests.web.browser import choose, opened, search
from tests.web.served import explored
from tests.web.test_page import violations

pytestmark = pytest.mark.server

MANY: Final = 100_000
ROW_PIXELS: Final = 28


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over the film graph."""
    with explored(tmp_path_factory.mktemp("films"), "--graph", str(fixture("films"))) as url:
        yield url


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over a graph of many nodes of one type, each with its number."""
    folder = tmp_path_factory.mktemp("many")
    graph = folder / "many.nt"
    kind, number = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://www.w3.org/2001/XMLSchema#integer>"
    graph.write_text(
        "".join(
            f"<http://e.org/n{n:06}> {kind} <http://e.org/T> .\n"
            f'<http://e.org/n{n:06}> <http://e.org/v> "{n}"^^{number} .\n'
            for n in range(MANY)
        ),
        encoding="utf-8",
    )
    # By default a query has 50,000 rows, and the table says that there are more.
    profile = folder / "many.toml"
    profile.write_text(f"[limits]\nquery_rows = {2 * MANY}\n", encoding="utf-8")
    with explored(folder, "--graph", str(graph), "--profile", str(profile)) as url:
        yield url


def open_table(page: Page, of: str) -> None:
    """Show the table of a type."""
    page.get_by_role("button", name="Table", exact=True).click()
    page.get_by_label("Which nodes").select_option(label=of)


def first_cells(page: Page) -> list[str]:
    """Return what stands first in each row that is drawn."""
    return page.get_by_test_id("table-rows").locator("tbody tr.row th").all_inner_texts()


def test_columns_conditions_and_order_are_chosen_by_clicks_and_are_a_call(chromium: Browser, films: str) -> None:
    with opened(chromium, films) as watched:
        page = watched.page
        open_table(page, "Film")
        told, call = page.get_by_test_id("told"), page.get_by_test_id("call")
        expect(told).to_have_text("29 nodes")
        choose(page, "Add a column", "released")
        choose(page, "Add a column", "← directed")
        page.get_by_label("Condition on").select_option(":released")
        page.get_by_label("Operator").select_option("<")
        expect(page.get_by_label("Value", exact=True)).to_have_attribute("placeholder", "1963 to 2017")
        page.get_by_label("Value", exact=True).fill("1980")
        page.get_by_role("button", name="Add condition").click()
        expect(told).to_have_text("8 nodes")
        rows = page.get_by_test_id("table-rows")
        rows.get_by_role("button", name="released", exact=True).click()
        expect(rows.locator("th[aria-sort=ascending]")).to_contain_text("released")
        expect(rows.locator("tr.row").first).to_have_text("The Great Escape 1963John Sturges")
        expect(call).to_have_text(
            'search_entities {"node_types":[":Film"],"where":[":released < 1980"],"values":[":released","^:directed"],'
            '"sort_by":":released","limit":100}'
        )
        rows.get_by_role("button", name="Francis Ford Coppola").first.click()
        expect(page.get_by_test_id("record-name")).to_have_text("Francis Ford Coppola")
        address = page.url
        page.get_by_role("button", name="Drop the condition :released < 1980").click()
        expect(told).to_have_text("29 nodes")
        page.get_by_role("button", name="Undo").click()
        expect(told).to_have_text("8 nodes")
        assert watched.errors == []
        assert watched.outside == []
    with opened(chromium, address) as again:
        expect(again.page.get_by_test_id("told")).to_have_text("8 nodes")
        expect(again.page.get_by_test_id("table-rows").locator("tr.row").first).to_contain_text("The Great Escape")
        expect(again.page.get_by_test_id("record-name")).to_have_text("Francis Ford Coppola")
        assert again.errors == []


def test_groups_are_bars_as_long_as_their_counts_and_lead_to_their_nodes(chromium: Browser, films: str) -> None:
    with opened(chromium, films) as watched:
        page = watched.page
        open_table(page, "Film")
        page.get_by_label("Groups by").select_option("^:directed")
        expect(page.get_by_test_id("told")).to_have_text("13 groups of 29 nodes")
        bars = page.get_by_test_id("bars").locator("li")
        expect(bars).to_have_count(13)
        expect(bars.first).to_have_text("Ridley Scott6")
        widths = (
            page.get_by_test_id("bars")
            .locator(".bar")
            .evaluate_all("bars => bars.map((bar) => bar.getBoundingClientRect().width)")
        )
        counts = [int(text) for text in bars.locator(".count").all_inner_texts()]
        assert widths == pytest.approx([widths[0] * count / counts[0] for count in counts], abs=1)
        bars.first.get_by_role("button").click()
        expect(page.get_by_test_id("told")).to_have_text("6 nodes")
        expect(page.get_by_test_id("call")).to_contain_text('"where":["^:directed = person:Ridley_Scott"]')
        assert watched.errors == []


TAGGED: Final = """
@prefix : <http://e.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :T ; :tag "red", "blue" ; :note "Say \\"x\\""@en ; :in :home ; rdfs:label "A" .
:b a :T ; :tag "red" ; :in "abroad" ; rdfs:label "B" .
:c a :T ; rdfs:label "C" .
:home a :Place ; rdfs:label "Home" .
"""


def test_groups_of_texts_lead_to_their_nodes_and_keep_the_order(chromium: Browser, tmp_path: Path) -> None:
    graph = tmp_path / "tagged.ttl"
    graph.write_text(TAGGED, encoding="utf-8")
    with explored(tmp_path, "--graph", str(graph)) as url, opened(chromium, url) as watched:
        page = watched.page
        open_table(page, "T")
        page.get_by_test_id("table-rows").get_by_title("Order by this").first.click()
        page.get_by_test_id("table-rows").get_by_title("Order by this").first.click()
        groups, bars, told = page.get_by_label("Groups by"), page.get_by_test_id("bars"), page.get_by_test_id("told")
        for group, text, names in (
            (":tag", "red", ["B", "A"]),
            (":tag", "no value", ["C"]),
            (":note", 'Say "x"@en', ["A"]),
            (":in", "Home", ["A"]),
            (":in", "abroad", ["B"]),
        ):
            groups.select_option(group)
            if group == ":tag":
                expect(bars).to_contain_text("A node with several values is in several groups.")
            bars.get_by_role("button", name=text, exact=True).click()
            expect(told).to_have_text(f"{len(names)} node{'s' if len(names) > 1 else ''}")
            expect(page.get_by_test_id("table-rows").locator("tbody tr.row th")).to_have_text(names)
            page.get_by_role("button", name="Drop the condition").click()
            expect(told).to_have_text("3 nodes")
        assert watched.errors == []


def test_groups_by_nodes_whose_ids_are_whole_iris_lead_to_their_nodes(chromium: Browser, tmp_path: Path) -> None:
    graph = tmp_path / "iris.nt"
    end, kind = "<http://e.org/a'b(c),d?x=1&y=%20{}>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    lines = [f"{end.format(n)} {kind} <http://e.org/C> ." for n in range(2)]
    for n in range(5):
        lines.append(f"<http://e.org/n{n}> {kind} <http://e.org/T> .")
        lines.append(f"<http://e.org/n{n}> <http://e.org/in> {end.format(int(n > 2))} .")
    graph.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with explored(tmp_path, "--graph", str(graph)) as url, opened(chromium, url) as watched:
        page = watched.page
        open_table(page, "T")
        page.get_by_label("Groups by").select_option("<http://e.org/in>")
        bars = page.get_by_test_id("bars").locator("li")
        expect(bars).to_have_count(2)
        bars.first.get_by_role("button").click()
        expect(page.get_by_test_id("told")).to_have_text("3 nodes")
        address = page.url
        expect(page.get_by_test_id("problem")).to_have_count(0)
        assert watched.errors == []
        with opened(chromium, address) as again:
            expect(again.page.get_by_test_id("told")).to_have_text("3 nodes")


def test_the_nodes_of_the_picture_are_a_table_too_and_the_picture_comes_back(chromium: Browser, films: str) -> None:
    with opened(chromium, films) as watched:
        page = watched.page
        search(page, "Alien")
        expect(page.get_by_test_id("shown")).to_contain_text("6 nodes and 5 edges")
        page.get_by_role("button", name="Table", exact=True).click()
        # All but the seed are what the call found.
        expect(page.get_by_test_id("told")).to_have_text("5 nodes")
        expect(page.get_by_test_id("call")).to_contain_text('bfs_query {"seeds":["film:Alien"],"max_hops":1')
        expect(page.get_by_test_id("canvas")).to_be_hidden()
        search(page, "Aliens")
        expect(page.get_by_test_id("table")).to_have_count(0)
        expect(page.get_by_test_id("canvas")).to_be_visible()
        page.wait_for_function("() => document.documentElement.dataset.labelled !== undefined")
        assert watched.errors == []


def test_what_the_gateway_refuses_is_said_and_can_be_dropped(chromium: Browser, films: str) -> None:
    with opened(chromium, films) as watched:
        page = watched.page
        open_table(page, "Film")
        page.get_by_label("Condition on").select_option("^:directed")
        page.get_by_label("Value", exact=True).fill("x")
        page.get_by_role("button", name="Add condition").click()
        expect(page.get_by_test_id("problem")).to_be_visible()
        page.get_by_role("button", name="Drop the condition").click()
        expect(page.get_by_test_id("told")).to_have_text("29 nodes")
        expect(page.get_by_test_id("problem")).to_have_count(0)


def test_a_table_of_many_rows_draws_those_in_view_alone_wherever_one_scrolls(chromium: Browser, many: str) -> None:
    with opened(chromium, many) as watched:
        page = watched.page
        open_table(page, "T")
        choose(page, "Add a column", "v")
        expect(page.get_by_test_id("told")).to_have_text(f"{MANY:,} nodes")
        table = page.get_by_test_id("table-rows")
        for place in (0, MANY // 2, MANY - 1):
            table.evaluate("(rows, top) => { rows.scrollTop = top; }", place * ROW_PIXELS)
            row = table.locator(f"tr[aria-rowindex='{place + 2}']")
            expect(row.locator("td")).to_have_text(str(place))
            box, frame = row.bounding_box(), table.bounding_box()
            assert box is not None
            assert frame is not None
            assert frame["y"] <= box["y"]
            assert box["y"] + box["height"] <= frame["y"] + frame["height"] + 1
            assert box["height"] == pytest.approx(ROW_PIXELS, abs=0.5)
            assert table.locator("tr").count() < 100
        assert watched.errors == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("group", [None, "^:directed"])
def test_the_table_breaks_no_rule_of_axe_and_keeps_its_width(
    chromium: Browser, films: str, width: int, group: str | None
) -> None:
    with opened(chromium, films, width=width, scheme="dark" if group else "light") as watched:
        page = watched.page
        open_table(page, "Film")
        choose(page, "Add a column", "← acted in")
        if group:
            page.get_by_label("Groups by").select_option(group)
            expect(page.get_by_test_id("bars").locator("li")).to_have_count(13)
        else:
            expect(page.get_by_test_id("table-rows")).to_contain_text("Sigourney Weaver")
        assert violations(page) == []
        assert page.locator("body").evaluate("body => body.scrollWidth - body.clientWidth") <= 0
        shown = page.get_by_test_id("bars" if group else "table-rows").bounding_box()
        assert shown is not None
        assert shown["height"] > 100
        assert watched.errors == []
