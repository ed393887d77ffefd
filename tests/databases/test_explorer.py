"""The explorer page over both databases, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.databases.served import ServedDatabase
from tests.web.browser import opened, search
from tests.web.conftest import chromium  # noqa: F401 - a fixture
from tests.web.served import explored

pytestmark = pytest.mark.server


def test_a_search_is_drawn_and_expanded_as_from_the_file(
    served: ServedDatabase,
    chromium: Browser,  # noqa: F811 - the fixture
    tmp_path: Path,
) -> None:
    arguments = ["--endpoint", served.urls["medical"], *served.login, "--profile", str(served.reading("medical"))]
    with (
        explored(tmp_path, *arguments, "--store", str(tmp_path)) as url,
        opened(chromium, url) as watched,
    ):
        page = watched.page
        search(page, "metfor")
        expect(page.get_by_test_id("record-name")).to_have_text("metformin")
        # As from the file: tests/web/test_page.py.
        expect(page.get_by_test_id("shown")).to_contain_text("12 nodes and 11 edges")
        page.get_by_role("button", name="Show outgoing treats").click()
        expect(page.get_by_test_id("call")).to_contain_text('"only_predicates":["m:TREATS"],"direction":"outgoing"')
        assert watched.errors == []
        assert watched.outside == []
