"""Each state of the explorer page can be sent as an address, which shows the same."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from tests.graphs import fixture
from tests.web.browser import choose, opened, search
from tests.web.served import explored
from tests.web.test_page import view
from tests.web.test_picture import labels
from tests.web.test_record import BREAD
from tests.web.test_table import open_table

pytestmark = pytest.mark.server

_SEEN: Final = """
    () => {
      const texts = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
      const boxes = [...document.querySelectorAll("aside input, .list input")];
      return {
        labels: texts("[data-testid=labels] > g").sort(),
        shown: texts("[data-testid=shown]"),
        list: texts(".list li").sort(),
        filters: texts(".filters"),
        record: texts(".record h2, .record dl, .record .relations"),
        call: texts("[data-testid=call]"),
        rows: texts("[data-testid=table-rows] tr, [data-testid=bars] li"),
        checked: boxes.map((box) => `${box.ariaLabel ?? box.parentElement.textContent} ${box.checked}`).sort(),
      };
    }
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The URLs of the page over three graphs, by name."""
    folder = tmp_path_factory.mktemp("addresses")
    bread = folder / "bread.ttl"
    bread.write_text(BREAD, encoding="utf-8")
    many = folder / "many.ttl"
    leaves = ", ".join(f":leaf{n}" for n in range(30))
    hub = ", ".join(f":end{n}" for n in range(200))
    many.write_text(f"@prefix : <http://e.org/> . :a :has {leaves} . :hub :to {hub} ; :rare :a .", encoding="utf-8")
    files = {"bread": bread, "many": many, "medical": fixture("medical")}
    with (
        explored(folder, "--graph", str(files["bread"])) as one,
        explored(folder, "--graph", str(files["many"])) as two,
        explored(folder, "--graph", str(files["medical"])) as three,
    ):
        yield dict(zip(files, (one, two, three), strict=True))


def metformin(page: Page) -> None:
    search(page, "metfor")
    expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")


def clicked(*names: str) -> Callable[[Page], None]:
    """Return what presses buttons after metformin was searched."""

    def act(page: Page) -> None:
        metformin(page)
        for name in names:
            page.get_by_role("button", name=name).first.press("Enter")

    return act


def selected_two(page: Page) -> None:
    metformin(page)
    page.get_by_text("List of the").click()
    page.get_by_role("checkbox", name="Select insulin").check()
    page.get_by_text("List of the").click()


def connected(page: Page) -> None:
    selected_two(page)
    page.get_by_role("button", name="What is near all of them").click()
    expect(page.get_by_test_id("call")).to_contain_text("intersect_subgraphs")


def removed(page: Page) -> None:
    selected_two(page)
    page.get_by_role("button", name="Keep only these").click()


def hidden(page: Page) -> None:
    metformin(page)
    page.get_by_role("checkbox", name="Side effect").uncheck()


def evidence(page: Page) -> None:
    page.goto(view(page.url, "bfs_query", seeds=["drug:metformin"], max_hops=1, only_predicates=["m:TREATS"]))
    labels(page)
    page.get_by_role("button", name="Evidence of treats").first.press("Enter")
    expect(page.get_by_test_id("edge-record")).to_be_visible()


def table(page: Page) -> None:
    open_table(page, "Drug")
    choose(page, "Add a column", "total mentions")
    page.get_by_test_id("table-rows").get_by_title("Order by this").last.click()
    expect(page.get_by_test_id("call")).to_contain_text("sort_by")


def groups(page: Page) -> None:
    open_table(page, "Drug")
    page.get_by_label("Groups by").select_option("m:TREATS")
    expect(page.get_by_test_id("bars")).to_be_visible()


def hub(page: Page) -> None:
    search(page, "hub")
    expect(page.get_by_test_id("hub-menu")).to_be_visible()
    page.get_by_test_id("hub-menu").get_by_role("button", name="rare").click()
    expect(page.get_by_test_id("shown")).to_contain_text("2 nodes and 1 edge")


def pile(page: Page) -> None:
    page.goto(view(page.url, "bfs_query", seeds=["http://e.org/a"], max_hops=1))
    labels(page)
    page.locator(".labels .pile").press("Enter")
    expect(page.locator(".labels .pile")).to_have_count(0)


def unfolded(page: Page) -> None:
    page.goto(view(page.url, "bfs_query", seeds=["http://e.org/bread"], max_hops=3))
    labels(page)
    page.get_by_role("button", name="Unfold Main 1").press("Enter")
    expect(page.locator(".labels")).to_contain_text("Paris")


def translated(page: Page) -> None:
    search(page, "Bread")
    page.get_by_label("Language").select_option("de")
    expect(page.get_by_test_id("record-name")).to_have_text("Brot")
    # The record is read by itself.
    page.wait_for_function(f"() => ({_SEEN})().list.some((text) => text.includes('Mischen'))")


STATES: Final[dict[str, tuple[str, Callable[[Page], None]]]] = {
    "a neighbourhood": ("medical", metformin),
    "one relation followed": ("medical", clicked("Show outgoing treats")),
    "two hops over a relation": ("medical", clicked("Follow treats")),
    "several selected": ("medical", selected_two),
    "what connects two": ("medical", connected),
    "a type hidden": ("medical", hidden),
    "one relation only": ("medical", clicked("Show causes only")),
    "nodes removed": ("medical", removed),
    "the evidence of an edge": ("medical", evidence),
    "a table": ("medical", table),
    "groups": ("medical", groups),
    "a hub with a relation": ("many", hub),
    "an open pile": ("many", pile),
    "an unfolded blank node": ("bread", unfolded),
    "another language": ("bread", translated),
}


OF_SEVERAL_CALLS: Final = frozenset(
    {"one relation followed", "two hops over a relation", "what connects two", "a hub with a relation"}
)
"""Where nodes stand, and so which names find a place, depends on where those of the first call stood before."""


_RESTED: Final = f"""() => new Promise((resolve) => {{
    let [last, frames] = ["", 0];
    const look = () => {{
        const found = JSON.stringify(({_SEEN})());
        frames = found === last ? frames + 1 : 0;
        last = found;
        if (frames > 20) resolve(JSON.parse(found));
        else requestAnimationFrame(look);
    }};
    look();
}})"""
"""What can be seen as soon as it is the same in 20 frames."""


def seen(page: Page, state: str) -> dict[str, Any]:
    """Return what can be seen, once it rests."""
    expect(page.get_by_test_id("running")).to_have_count(0)
    if not page.get_by_test_id("table").count():
        labels(page)
    found: dict[str, Any] = page.evaluate(_RESTED)
    return {part: texts for part, texts in found.items() if part != "labels" or state not in OF_SEVERAL_CALLS}


@pytest.mark.parametrize("state", STATES)
def test_an_address_shows_the_same(chromium: Browser, graphs: dict[str, str], state: str) -> None:
    name, act = STATES[state]
    with opened(chromium, graphs[name]) as watched:
        act(watched.page)
        before, address = seen(watched.page, state), watched.page.url
        assert watched.errors == []
    with opened(chromium, address) as again:
        # The calls of the address are made one after the other; what differs in the end is told.
        is_same = f"""(wanted) => {{
            const found = ({_SEEN})();
            return Object.keys(wanted).every((part) => JSON.stringify(found[part]) === JSON.stringify(wanted[part]));
        }}"""
        with suppress(NotInTime):
            again.page.wait_for_function(is_same, arg=before)
        assert seen(again.page, state) == before
        assert again.errors == []
