"""The options that select the graph of `explore`, on its page: text like any other, and no secret."""

import shlex
import subprocess
import sys
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from typing_extensions import override

from gateway.server.access.http_access import ExplorerPage
from tests.graphs import fixture
from tests.web.browser import opened, search
from tests.web.served import explored

HOSTILE: Final = "it's a \"graph\" & <b>\n--x='y'&quot;&#39;$(id)`id`"


class Metas(HTMLParser):
    """The graph options that a browser reads, and how many scripts there are."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.told: list[str | None] = []
        self.scripts = 0
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "meta" and given.get("name") == "graph-options":
            self.told.append(given.get("content"))
        self.scripts += tag == "script"


def page_with(options: str | None) -> Metas:
    return Metas(TestClient(ExplorerPage(Starlette(), options)).get("/").text)


@pytest.mark.parametrize("text", ['"', "'", "&", "&quot;", "<", "</script><script>alert(1)</script>", "\n", HOSTILE])
def test_a_browser_reads_the_options_as_they_were_given(text: str) -> None:
    options = shlex.join(["--graph", text])
    page = page_with(options)
    assert page.told == [options]
    assert page.scripts == page_with(None).scripts
    assert page_with(None).told == []


@pytest.mark.server
def test_the_command_on_the_page_names_a_file_of_any_name(chromium: Browser, tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE
    folder.mkdir()
    graph = folder / "g<script>document.title='run'<!--.ttl"
    graph.write_bytes(fixture("medical").read_bytes())
    with explored(tmp_path, "--graph", str(graph)) as url:
        with urllib.request.urlopen(url) as sent:  # noqa: S310 - of our own server
            page = Metas(sent.read().decode())
        assert page.told == [shlex.join(["--graph", str(graph)])]
        with opened(chromium, url) as watched:
            search(watched.page, "metfor")
            expect(watched.page.get_by_test_id("record-name")).to_have_text("metformin")
            watched.page.get_by_label("Call for a").select_option("command line")
            command = watched.page.get_by_test_id("call").evaluate("code => code.textContent")
            assert shlex.split(command)[-2:] == ["--graph", str(graph)]
            expect(watched.page).to_have_title("Graph explorer")
            assert watched.errors == []


@pytest.mark.parametrize(
    "url",
    [
        "http://user:sesame@127.0.0.1:1/sparql",
        "http://127.0.0.1:1/sparql?api_key=sesame",
        "postgresql://user:sesame@127.0.0.1:1/graph",
        "bolt://user:sesame@127.0.0.1:1",
    ],
)
def test_an_endpoint_with_a_secret_in_its_url_is_refused_before_there_is_a_page(url: str) -> None:
    command = [sys.executable, "-m", "gateway", "explore", "--no-browser", "--port", "0", "--endpoint", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own command
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "The page is at" not in said
    assert "sesame" not in said
