"""The documentation as a site that a browser shows without a network."""

import re
from pathlib import Path

import pytest

from tests.servers.cache import CHECKOUT
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.site.assembled import pages_in_navigation, without_links_outside
from tests.site.build import build

LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
"""An element that a browser loads from another host."""


def test_links_to_source_are_text_on_the_site_and_those_in_code_stay() -> None:
    page = CHECKOUT / "docs" / "notes" / "mcp.md"
    text = "[a](../tools.md#x) [b](../../deploy/x.md) [c](https://example.org/) [d](#e) ![f](../images/hop.svg)\n"
    code = "```text\n[b](../../deploy/x.md)\n```\n"
    assert without_links_outside(text + code, page) == text.replace("[b](../../deploy/x.md)", "b") + code


@pytest.mark.server
def test_the_site_is_built_without_a_fault_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    try:
        done = build(tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert done.code == 0, done.output[-3000:]
    for page in pages_in_navigation():
        html = (tmp_path / "site" / page).with_suffix(".html").read_text(encoding="utf-8")
        loaded = [tag for tag in LOADED.findall(html) if 'rel="canonical"' not in tag]
        assert loaded == [], page
