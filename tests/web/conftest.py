"""What the tests in a browser share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.graphs import fixture
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.shared_data import shared_data
from tests.web.browser import browser
from tests.web.served import explored, hostile_graph


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless browser. For one module: while it is open, its event loop keeps every other from running."""
    try:
        with browser() as found:
            yield found
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="session")
def medical(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over the medical graph."""
    with explored(tmp_path_factory.mktemp("medical"), "--graph", str(fixture("medical"))) as url:
        yield url


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over a graph whose names are markup, and which has a hub."""
    folder = tmp_path_factory.mktemp("hostile")
    with explored(folder, "--graph", str(hostile_graph(folder))) as url:
        yield url


@pytest.fixture(scope="session")
def medlit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over medlit."""
    graph = shared_data("medlit.ttl.gz")
    with explored(tmp_path_factory.mktemp("medlit"), "--graph", str(graph)) as url:
        yield url


@pytest.fixture(scope="session")
def wikidata(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over wd50k."""
    folder = tmp_path_factory.mktemp("wd50k")
    graph = ["--graph", str(shared_data("wd50k.nt.gz")), "--profile", "wikidata-local"]
    with explored(folder, *graph, "--store", str(folder / "store")) as url:
        yield url
