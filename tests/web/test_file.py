"""An exported answer as a page of its own, and as a notebook shows it, in a real browser."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from gateway.api import open_gateway
from gateway.export.subgraph import Subgraph
from tests.graphs import fixture
from tests.web.browser import opened, search
from tests.web.hostile import hostile_graph

pytestmark = pytest.mark.server


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
