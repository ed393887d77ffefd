"""Two thousand drawn names and values: none becomes an element, a request or a script, wherever the page has it."""

import asyncio
import json
import random
import re
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from gateway.api import open_gateway
from gateway.export.subgraph import Subgraph
from tests.web.browser import choose, opened
from tests.web.served import explored
from tests.web.test_page import view
from tests.web.test_picture import labels
from tests.web.test_table import open_table

pytestmark = pytest.mark.server

CENTRES: Final = 40
EACH: Final = 50
"""Nodes around each centre: 2,000 in all."""

_RUN: Final = "window.ran=document.title='run'"
_PARTS: Final = (
    f'<img src=x onerror="{_RUN}">',
    f"<svg/onload={_RUN}>",
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>",
    f"</title><script>{_RUN}</script>",
    f"</textarea><iframe srcdoc='<script>parent.{_RUN}</script>'>",
    f"<a href=javascript:{_RUN}>x</a>",
    f"javascript:{_RUN}",
    f"data:text/html,<script>{_RUN}</script>",
    f'" onmouseover="{_RUN}" x="',
    f"' autofocus onfocus='{_RUN}' x='",
    f"${{{_RUN}}}{{{{{_RUN}}}}}",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "&lt;img src=x&gt;&#60;b&#62;",
    "%3Cscript%3E",
    "\\u003cscript\\u003e",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "url(https://evil.example/x.png)",
    '<meta http-equiv=refresh content="0;url=https://evil.example/">',
    "<base href=https://evil.example/>",
    "<form action=https://evil.example/><input name=x autofocus>",
    "https://evil.example/x",
    "\u202e\u2066\u061c\ufffe",
    "</g></svg><b>",
    "\n\t",
    "__proto__",
    "constructor",
    "=cmd|'/c calc'!A1",
)
_WHOLE: Final = ("https://evil.example/?x=\"'<b>", "https://evil.example/x", f"javascript:{_RUN}", "__proto__", "<b>")

_ELEMENTS: Final = (
    "html head meta title link style script body noscript div header h1 h2 h3 p span a button input",
    "label select option main aside section ul ol li dl dt dd details summary table thead tbody tr th td",
    "strong em code progress form canvas svg g text",
)
"""What the page is made of."""

_WATCH: Final = r"""
    window.wrong = [];
    const allowed = new Set("ELEMENTS".split(" "));
    const look = (element) => {
      const name = element.localName;
      if (!allowed.has(name) || (name === "script" && window.loaded)) wrong.push(name);
      for (const { name: key, value } of element.attributes) {
        if (/^on|^src|^action/.test(key)) wrong.push(`${name} ${key}`);
        if (key === "style" && /url|expression|evil/.test(value)) wrong.push(`${name} style`);
        if (key !== "href") continue;
        const isOutside = /^https?:/.test(value) && element.rel === "noopener noreferrer";
        const isSafe = name === "a" ? isOutside : value === "data:,";
        if (!isSafe) wrong.push(`${name} ${value}`);
      }
    };
    new MutationObserver((changes) => {
      for (const { addedNodes, target, type } of changes) {
        if (type === "attributes" && target instanceof Element) look(target);
        for (const node of addedNodes) {
          if (node instanceof Element) for (const each of [node, ...node.querySelectorAll("*")]) look(each);
        }
      }
    }).observe(document, { subtree: true, childList: true, attributes: true });
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      // The validator of MCP's messages tries once whether it may compile, and does without.
      if (blockedURI === "eval" && !window.tried) window.tried = true;
      else wrong.push(`policy ${violatedDirective} ${blockedURI}`);
    });
    addEventListener("load", () => { window.loaded = true; });
""".replace("ELEMENTS", " ".join(_ELEMENTS))


def drawn(rng: random.Random) -> str:
    """Return a hostile text."""
    if rng.random() < 0.1:
        return rng.choice(_WHOLE)
    # Of what cannot be seen alone nothing would be shown.
    return "x" + rng.choice(("", " ", "x")).join(rng.choice(_PARTS) for _ in range(rng.randint(1, 5)))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of nodes with drawn names and values."""
    rng = random.Random("2026 names of the page")  # noqa: S311 - reproducible
    kind, label = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = []
    for centre in range(CENTRES):
        lines.append(f"<http://e.org/root> <http://e.org/has> <http://e.org/c{centre}> .")
        for place in range(EACH):
            node = f"<http://e.org/c{centre}n{place}>"
            lines += [
                f"<http://e.org/c{centre}> <http://e.org/p{place % 5}> {node} .",
                f"{node} {kind} <http://e.org/T> .",
                f"{node} {label} {json.dumps(drawn(rng))} .",
                f"{node} <http://e.org/v> {json.dumps(drawn(rng))} .",
            ]
    file = tmp_path_factory.mktemp("drawn") / "drawn.nt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def page_of_drawn(graph: Path) -> Iterator[str]:
    """The URL of the page over the graph."""
    with explored(graph.parent, "--graph", str(graph)) as url:
        yield url


def assert_harmless(page: Page) -> None:
    """Check that nothing was anything but text."""
    assert page.evaluate("wrong") == []
    assert page.evaluate("window.ran ?? ''") == ""
    assert page.title() == "Graph explorer"


def test_drawn_names_and_values_are_text_in_the_picture_the_list_the_record_and_the_table(
    chromium: Browser, page_of_drawn: str
) -> None:
    with opened(chromium, page_of_drawn, script=_WATCH) as watched:
        page = watched.page
        names: set[str] = set()
        for centre in range(CENTRES):
            address = view(page_of_drawn, "bfs_query", seeds=[f"http://e.org/c{centre}"], max_hops=1, limit=100)
            page.evaluate("address => { location.hash = new URL(address).hash; }", address)
            expect(page.get_by_test_id("call")).to_contain_text(f'"http://e.org/c{centre}"')
            expect(page.get_by_test_id("shown")).to_contain_text(f"{EACH + 2} nodes and {EACH + 1} edges")
            labels(page)
            listed = page.locator(".list li button")
            expect(listed).to_have_count(EACH + 2)
            names |= set(listed.evaluate_all("all => all.map((one) => one.textContent)"))
            listed.nth(5).dispatch_event("click")
            expect(page.locator(".record dl").first).to_be_visible()
            assert_harmless(page)
        assert sum("<" in name for name in names) > 0.6 * CENTRES * EACH * 0.8
        values = read_table(page)
        assert len(values) == CENTRES * EACH
        assert sum("<" in value for value in values) > 0.5 * len(values)
        assert_harmless(page)
        assert watched.errors == []
        assert watched.outside == []


def read_table(page: Page) -> list[str]:
    """Return the value of each node, read row by row in the table."""
    open_table(page, "T")
    choose(page, "Add a column", "v")
    expect(page.get_by_test_id("told")).to_have_text(f"{CENTRES * EACH:,} nodes")
    table, values = page.get_by_test_id("table-rows"), {}
    for place in range(0, CENTRES * EACH, 15):
        table.evaluate("(rows, top) => { rows.scrollTop = top; }", place * 28)
        last = min(place + 14, CENTRES * EACH - 1)
        expect(table.locator(f"tr[aria-rowindex='{last + 2}'] td")).not_to_have_text("")
        rows: list[list[Any]] = table.locator("tr.row").evaluate_all(
            "all => all.map((row) => [Number(row.ariaRowIndex), row.querySelector('td')?.textContent ?? ''])"
        )
        values.update({number: text for number, text in rows if text})
    return list(values.values())


def test_drawn_names_in_a_file_are_text(chromium: Browser, graph: Path, tmp_path: Path) -> None:
    async def asked() -> Subgraph:
        async with open_gateway(graph) as gateway:
            return await gateway.bfs_subgraph(["http://e.org/root"], max_hops=2)

    # In a thread of its own: the browser's event loop runs in this one.
    with ThreadPoolExecutor(1) as thread:
        subgraph = thread.submit(asyncio.run, asked()).result()
    [file] = subgraph.write(tmp_path / "drawn.html")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', file.read_text(encoding="utf-8"))
    assert policy is not None
    assert "unsafe" not in policy[1]
    with opened(chromium, file.as_uri(), script=_WATCH) as watched:
        page = watched.page
        expect(page.get_by_test_id("shown")).to_contain_text("2,041 nodes and 2,040 edges")
        expect(page.locator(".list li")).to_have_count(2_041)
        assert_harmless(page)
        assert watched.errors == []
        assert watched.outside == []


def test_the_policy_of_the_page_allows_nothing_unsafe(page_of_drawn: str) -> None:
    with urllib.request.urlopen(page_of_drawn) as sent:  # noqa: S310 - of our own server
        policy = sent.headers["content-security-policy"]
    assert "unsafe-" not in policy
    assert "default-src 'none'" in policy
    assert {source for source in policy.split() if "://" in source or source == "*"} == set()
