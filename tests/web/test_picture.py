"""What the picture of the explorer page shows, measured from the boxes that are drawn."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.graphs import fixture
from tests.web.browser import choose, opened, search
from tests.web.served import explored
from tests.web.test_page import view, violations

pytestmark = pytest.mark.server

Box = tuple[str, float, float, float, float]

_BOXES: Final = """
    () => [...document.querySelectorAll("[data-testid=labels] > g")].map((group) => {
      const box = group.getBoundingClientRect();
      return [group.textContent, box.left, box.top, box.right, box.bottom];
    })
"""
_PLACED: Final = "() => document.documentElement.dataset.labelled !== undefined"
_NAMES_ALL: Final = r"""
    (seeds) => {
      const labels = [...document.querySelectorAll("[data-testid=labels] > g")];
      const texts = labels.map((group) => group.textContent.replace(/\s/g, ""));
      return document.documentElement.dataset.labelled !== undefined && seeds.every((seed) => texts.includes(seed));
    }
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over the film graph."""
    with explored(tmp_path_factory.mktemp("films"), "--graph", str(fixture("films"))) as url:
        yield url


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over a graph with a list."""
    folder = tmp_path_factory.mktemp("lists")
    graph = folder / "lists.ttl"
    graph.write_text("@prefix : <http://e.org/> . :a :steps (:b :c) .", encoding="utf-8")
    with explored(folder, "--graph", str(graph)) as url:
        yield url


def labels(page: Page) -> list[Box]:
    """Return the labels with their boxes, once all nodes have their places."""
    page.wait_for_function(_PLACED)
    found: list[Box] = page.evaluate(_BOXES)
    return found


def overlapping(boxes: Sequence[Box]) -> list[tuple[str, str]]:
    """Return which labels lie over each other, by more than a pixel."""
    return [
        (one[0], other[0])
        for place, one in enumerate(boxes)
        for other in boxes[place + 1 :]
        if min(one[3], other[3]) - max(one[1], other[1]) > 1 and min(one[4], other[4]) - max(one[2], other[2]) > 1
    ]


def outside(page: Page, boxes: Sequence[Box]) -> list[str]:
    """Return the labels that stand outside the frame of the picture."""
    frame = page.get_by_test_id("canvas").bounding_box()
    assert frame is not None
    right, bottom = frame["x"] + frame["width"], frame["y"] + frame["height"]
    return [box[0] for box in boxes if box[1] < frame["x"] or box[2] < frame["y"] or box[3] > right or box[4] > bottom]


def assert_readable(page: Page, seeds: Sequence[str]) -> list[Box]:
    """Check that no label is over another or outside the frame, and that all seeds have theirs."""
    # A picture that was just changed may still have the labels of the one before.
    page.wait_for_function(_NAMES_ALL, arg=["".join(seed.split()) for seed in seeds])
    boxes = labels(page)
    assert overlapping(boxes) == []
    assert outside(page, boxes) == []
    return boxes


@pytest.mark.parametrize("width", [1600, 1280, 390])
def test_no_label_lies_over_another_and_seeds_always_have_theirs(chromium: Browser, films: str, width: int) -> None:
    address = view(films, "bfs_query", seeds=["film:Aliens"], max_hops=2, limit=300)
    with opened(chromium, address, width=width) as watched:
        assert_readable(watched.page, ["Aliens"])
        watched.page.get_by_role("button", name="Fit").click()
        assert_readable(watched.page, ["Aliens"])
        assert watched.errors == []


LEAST_NODES: Final = 40
PICTURES: Final[dict[str, tuple[list[str], dict[str, Any]]]] = {
    "medical": (["metformin"], {"seeds": ["drug:metformin"], "max_hops": 2}),
    "films": (
        ["The Terminator", "The Godfather", "Star Wars", "The Martian"],
        {
            "seeds": ["film:The_Terminator", "film:The_Godfather", "film:Star_Wars", "film:The_Martian"],
            "max_hops": 3,
        },
    ),
    "medlit": (["desmopressin"], {"seeds": ["RxNorm:3251"], "max_hops": 2}),
    "medlit, two seeds": (
        ["Cushing disease", "Cushing syndrome"],
        {"seeds": ["DBPedia:Cushing's_disease", "MeSH:D003480"], "max_hops": 1},
    ),
    "wikidata": (["Robin Williams"], {"seeds": ["wd:Q83338"], "max_hops": 1}),
}
"""Five pictures of at least 40 nodes, by the name of their graph: the names of their seeds, and the calls."""


@pytest.mark.large
@pytest.mark.parametrize("name", PICTURES)
def test_in_pictures_of_forty_nodes_no_label_lies_over_another(
    chromium: Browser, request: pytest.FixtureRequest, name: str
) -> None:
    seeds, asked = PICTURES[name]
    url: str = request.getfixturevalue(name.split(",", maxsplit=1)[0])
    with opened(chromium, view(url, "bfs_query", **asked, limit=300)) as watched:
        boxes = assert_readable(watched.page, seeds)
        shown = watched.page.get_by_test_id("shown").inner_text()
        assert int(shown.split()[0]) >= LEAST_NODES
        assert len(boxes) > LEAST_NODES / 2
        assert watched.errors == []


def test_predicates_and_types_have_names_and_no_prefixed_ids(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
        seen = page.locator(".filters").inner_text() + page.locator(".record .relations").inner_text()
        assert "m:" not in seen
        assert "Side effect" in seen
        drawn = " ".join(text for text, *_ in labels(page))
        assert "m:" not in drawn


def test_neighbours_stand_in_sectors_with_the_name_and_count_of_a_relation_once(chromium: Browser, films: str) -> None:
    address = view(films, "bfs_query", seeds=["person:James_Cameron"], max_hops=1)
    with opened(chromium, address) as watched:
        drawn = [text for text, *_ in assert_readable(watched.page, ["James Cameron"])]
        counted = [text for text in drawn if "→" in text]
        assert len(counted) == len(set(counted)) > 0
        assert watched.errors == []


def test_more_than_twelve_by_one_relation_are_a_pile_that_opens_and_closes_by_undo(
    chromium: Browser, hostile: str
) -> None:
    address = view(
        hostile, "bfs_query", seeds=["http://e.org/hub"], max_hops=1, limit=300, only_predicates=["http://e.org/has"]
    )
    with opened(chromium, address) as watched:
        page = watched.page
        before = assert_readable(page, ["hub"])
        pile = page.get_by_role("button", name="more", exact=False).and_(page.locator(".pile"))
        expect(pile).to_have_count(1)
        assert any(text.startswith("has ") for text, *_ in before)
        pile.focus()
        page.keyboard.press("Enter")
        expect(pile).to_have_count(0)
        opened_at = page.url
        page.get_by_role("button", name="Undo").click()
        expect(pile).to_have_count(1)
        assert watched.errors == []
    with opened(chromium, opened_at) as again:
        labels(again.page)
        expect(again.page.locator(".pile")).to_have_count(0)


def test_what_belongs_to_a_relation_stands_beside_each_other(chromium: Browser, medical: str) -> None:
    with opened(chromium, view(medical, "bfs_query", seeds=["drug:metformin"], max_hops=1)) as watched:
        boxes = {"".join(text.split()): box for text, *box in assert_readable(watched.page, ["metformin"])}
        assert any("→" in text for text in boxes)


def test_counts_follow_filters_and_all_none_and_only_are_one_click(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
        relations = page.get_by_role("region", name="Relations")
        page.get_by_role("button", name="Show Side effect only").click()
        expect(page.locator(".list summary")).to_contain_text("List of the 2 nodes")
        expect(relations).to_contain_text("0 of")
        page.get_by_role("button", name="Show no types").click()
        expect(page.locator(".list summary")).to_contain_text("List of the 0 nodes")
        page.get_by_role("button", name="Show all types").click()
        expect(page.locator(".list summary")).to_contain_text("List of the 12 nodes")
        for _ in range(3):
            page.keyboard.press("Control+z")
        expect(page.locator(".list summary")).to_contain_text("List of the 12 nodes")
        page.keyboard.press("Control+Shift+z")
        expect(page.locator(".list summary")).to_contain_text("List of the 2 nodes")
        assert watched.errors == []


def test_an_empty_page_names_what_the_graph_has_and_where_to_begin(chromium: Browser, films: str) -> None:
    with opened(chromium, films) as watched:
        page = watched.page
        start = page.get_by_test_id("start")
        expect(start).to_contain_text("138 edges")
        expect(start.get_by_role("button", name="Film 29")).to_be_visible()
        expect(start.get_by_role("button", name="acted in 63")).to_be_visible()
        expect(start.get_by_role("heading", name="Begin with")).to_be_visible()
        assert re.search(r"(^|\s)\w*:\w", start.inner_text()) is None
        start.get_by_role("button", name="directed 29").click()
        expect(start.get_by_role("heading", name='From which "directed" leads')).to_be_visible()
        start.get_by_role("button", name="Film 29").click()
        start.get_by_role("button", name="Blade Runner", exact=True).click()
        expect(page.get_by_test_id("record-name")).to_have_text("Blade Runner")
        expect(start).to_have_count(0)
        assert watched.errors == []
        assert watched.outside == []


def colours(page: Page) -> dict[str, str]:
    """Return how the types in the panel are drawn."""
    found: dict[str, str] = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('.filters .dot')]"
        ".map((dot) => [dot.parentElement.title, dot.style.background + dot.style.border]))"
    )
    return found


def test_a_type_has_its_colour_whatever_was_seen_first(chromium: Browser, medical: str) -> None:
    seen: list[dict[str, str]] = []
    for query in ("metfor", "type 2 diabetes"):
        with opened(chromium, medical) as watched:
            page = watched.page
            expect(page.get_by_test_id("start")).to_be_visible()
            search(page, query)
            expect(page.get_by_test_id("start")).to_have_count(0)
            # What is found stands alone until its neighbours have come.
            page.wait_for_function("() => document.querySelectorAll('.filters .dot').length > 3")
            labels(page)
            seen.append(colours(page))
    one, other = seen
    both = one.keys() & other.keys()
    assert len(both) > 3
    assert {name: one[name] for name in both} == {name: other[name] for name in both}
    assert len(set(one.values())) == len(one)


def test_what_is_under_way_is_seen_and_can_be_cancelled(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        expect(
            page.get_by_test_id("start").get_by_role("button", name="atrial fibrillation", exact=True)
        ).to_be_visible()
        # The gateway answers no more, until the end of the test.
        page.route("**/mcp", lambda _: None)
        page.get_by_test_id("start").get_by_role("button", name="atrial fibrillation", exact=True).click()
        expect(page.get_by_test_id("running")).to_contain_text("Reading")
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_test_id("running")).to_have_count(0)
        expect(page.get_by_test_id("note")).to_contain_text("Cancelled")
        expect(page.get_by_test_id("shown")).to_contain_text("0 nodes")
        page.unroute_all()
        page.get_by_test_id("start").get_by_role("button", name="atrial fibrillation", exact=True).click()
        expect(page.get_by_test_id("shown")).not_to_contain_text("0 nodes")


def test_an_intersection_takes_the_fewest_hops_that_have_an_answer_and_draws_the_paths(
    chromium: Browser, films: str
) -> None:
    with opened(chromium, films) as watched:
        page = watched.page
        for name, count in (("Alien", 6), ("Titanic", 11)):
            search(page, name)
            expect(page.get_by_test_id("shown")).to_contain_text(f"{count} nodes")
        page.get_by_text("List of the").click()
        for name in ("Alien", "Titanic"):
            page.get_by_role("checkbox", name=f"Select {name}", exact=True).set_checked(checked=True)
        page.get_by_role("button", name="What is near all of them").click()
        expect(page.get_by_test_id("call")).to_contain_text('"k":2')
        expect(page.get_by_test_id("running")).to_have_count(0)
        address = page.url
        page.get_by_text("List of the").click()
        assert_readable(page, ["Alien", "Titanic"])
    alone = view(films, "intersect_subgraphs", seeds=["film:Alien", "film:Titanic_1997"], k=2, via=True)
    with opened(chromium, alone) as watched:
        # Two films and two people are near both; over Sigourney Weaver a path leads.
        drawn = {"".join(text.split()) for text, *_ in assert_readable(watched.page, ["Alien", "Titanic"])}
        assert {"JamesCameron", "BillPaxton", "SigourneyWeaver"} <= drawn
        assert watched.errors == []
    with opened(chromium, address) as again:
        expect(again.page.get_by_test_id("call")).to_contain_text('"k":2')


@pytest.mark.parametrize("width", [390, 900])
def test_on_a_narrow_screen_the_picture_comes_first_and_panels_fold(
    chromium: Browser, medical: str, width: int
) -> None:
    with opened(chromium, medical, width=width) as watched:
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
        expect(page.get_by_test_id("record-name")).to_be_visible()
        expect(page.locator(".filters")).to_be_hidden()
        page.get_by_role("button", name="Record", exact=True).click()
        expect(page.get_by_test_id("record-name")).to_be_hidden()
        frame = page.get_by_test_id("canvas").bounding_box()
        assert frame is not None
        assert frame["height"] > 400
        page.get_by_role("button", name="Types and relations").click()
        expect(page.locator(".filters")).to_be_visible()
        expect(page.get_by_test_id("call")).to_be_hidden()
        page.get_by_role("button", name="Call", exact=True).click()
        expect(page.get_by_test_id("call")).to_be_visible()
        expect(page.locator(".filters")).to_be_hidden()
        assert violations(page) == []
        assert page.locator("body").evaluate("body => body.scrollWidth - body.clientWidth") <= 0


def boxes_of(page: Page) -> dict[str, tuple[float, float]]:
    """Return where the middle of each label is."""
    return {
        "".join(text.split()): ((left + right) / 2, (top + bottom) / 2)
        for text, left, top, right, bottom in labels(page)
    }


def test_several_nodes_are_selected_by_a_frame_and_removed_and_brought_back(chromium: Browser, films: str) -> None:
    with opened(chromium, view(films, "bfs_query", seeds=["film:Alien"], max_hops=1)) as watched:
        page = watched.page
        labels(page)
        frame = page.get_by_test_id("canvas").bounding_box()
        assert frame is not None
        page.keyboard.down("Shift")
        page.mouse.move(frame["x"] + 2, frame["y"] + 2)
        page.mouse.down()
        page.mouse.move(frame["x"] + frame["width"] - 2, frame["y"] + frame["height"] - 60, steps=4)
        page.mouse.up()
        page.keyboard.up("Shift")
        expect(page.get_by_role("heading", name="6 nodes")).to_be_visible()
        page.get_by_text("List of the").click()
        page.get_by_role("checkbox", name="Select Alien", exact=True).uncheck()
        expect(page.get_by_role("heading", name="5 nodes")).to_be_visible()
        page.get_by_role("button", name="Remove these").click()
        expect(page.locator(".list summary")).to_contain_text("List of the 1 node")
        address = page.url
        page.get_by_role("button", name="Bring back").click()
        expect(page.locator(".list summary")).to_contain_text("List of the 6 nodes")
        assert watched.errors == []
    with opened(chromium, address) as again:
        expect(again.page.locator(".list summary")).to_contain_text("List of the 1 node")


def test_a_node_that_is_dragged_stays_where_it_was_put(chromium: Browser, films: str) -> None:
    with opened(chromium, view(films, "bfs_query", seeds=["film:Alien"], max_hops=1)) as watched:
        page = watched.page
        x, y = boxes_of(page)["RidleyScott"]
        frame = page.get_by_test_id("canvas").bounding_box()
        assert frame is not None
        # Its disc stands beside its name, on one side or another; pressed elsewhere, all of the picture would move.
        canvas = page.get_by_test_id("canvas")
        beside = [(dx, dy) for away in (17, 24, 32) for dx, dy in ((0, -away), (0, away))]
        beside += [(side * away, dy) for away in range(40, 80, 8) for side in (-1, 1) for dy in (0, -17, 17)]
        for dx, dy in beside:
            page.mouse.move(x + dx, y + dy)
            if canvas.get_attribute("title") == "person:Ridley_Scott":
                break
        expect(canvas).to_have_attribute("title", "person:Ridley_Scott")
        page.mouse.down()
        page.mouse.move(frame["x"] + 200, frame["y"] + 200, steps=5)
        page.mouse.up()
        page.wait_for_function("() => decodeURIComponent(location.hash).includes('person:Ridley_Scott')")
        assert '[["person:Ridley_Scott",' in page.evaluate("() => decodeURIComponent(location.hash)")
        # A drag is no click: nothing was asked, and one step takes it back.
        expect(page.get_by_test_id("shown")).to_contain_text("6 nodes and 5 edges")
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        assert watched.errors == []


@pytest.mark.parametrize(("label", "begins"), [("SVG", b"<svg "), ("PNG", b"\x89PNG"), ("CSV", b"subject,")])
def test_the_picture_is_saved_as_a_file(chromium: Browser, hostile: str, label: str, begins: bytes) -> None:
    with opened(chromium, view(hostile, "bfs_query", seeds=["http://e.org/a"], max_hops=1)) as watched:
        page = watched.page
        labels(page)
        with page.expect_download() as saved:
            choose(page, "Save as", label)
        content = saved.value.path().read_bytes()
        assert content.startswith(begins)
        if label == "SVG":
            drawn = {element.tag.rpartition("}")[2] for element in ET.fromstring(content).iter()}  # noqa: S314 - of our page
            assert drawn <= {"svg", "rect", "line", "polygon", "circle", "text"}
        assert watched.errors == []
        assert watched.outside == []


def test_keys_work_wherever_the_focus_is_and_what_was_found_is_told(chromium: Browser, medical: str) -> None:
    with opened(chromium, medical) as watched:
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
        page.get_by_role("checkbox", name="Side effect").focus()
        page.keyboard.press("/")
        box = page.get_by_role("combobox", name="Search by name")
        expect(box).to_be_focused()
        box.fill("warf")
        expect(page.get_by_test_id("found")).to_contain_text("found")
        box.fill("")
        page.keyboard.press("Control+z")
        expect(page.get_by_test_id("shown")).to_contain_text("0 nodes")
        page.keyboard.press("Control+Shift+z")
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes")
        assert watched.errors == []


def test_an_address_of_which_a_call_fails_says_so_and_is_not_overwritten(chromium: Browser, films: str) -> None:
    calls = [["bfs_query", {"seeds": [seed], "max_hops": 1}] for seed in ("film:Alien", "film:Nothing")]
    with opened(chromium, f"{films}#{quote(json.dumps([calls, ['film:Alien'], [], []]))}") as watched:
        page = watched.page
        expect(page.get_by_test_id("address")).to_contain_text("1 of 2 calls of this address could not be made")
        expect(page.get_by_test_id("record-name")).to_have_text("Alien")
        assert "film:Nothing" in page.evaluate("() => decodeURIComponent(location.hash)")
        page.get_by_role("button", name="Clear").click()
        expect(page.get_by_test_id("address")).to_have_count(0)
        assert watched.errors == []


def test_the_label_of_an_edge_leads_to_its_evidence(chromium: Browser, films: str) -> None:
    with opened(chromium, view(films, "bfs_query", seeds=["film:Alien"], max_hops=1)) as watched:
        page = watched.page
        labels(page)
        page.get_by_role("button", name="Evidence of acted in").first.press("Enter")
        told = page.get_by_test_id("edge-record")
        expect(told).to_contain_text("acted in Alien")
        expect(told).to_contain_text(re.compile("Ripley|Ash"))
        told.get_by_role("button", name="Alien", exact=True).click()
        expect(page.get_by_test_id("record-name")).to_have_text("Alien")
        assert watched.errors == []


def test_the_place_in_a_list_stands_beside_its_edge(chromium: Browser, lists: str) -> None:
    with opened(chromium, view(lists, "bfs_query", seeds=["http://e.org/a"], max_hops=1)) as watched:
        drawn = [text for text, *_ in labels(watched.page)]
        assert {"steps (no. 1)", "steps (no. 2)"} <= set(drawn)
        assert watched.errors == []
