"""What the tests in a browser share."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.graphs import fixture
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.shared_data import shared_data
from tests.web.browser import browser
from tests.web.hostile import hostile_graph
from tests.web.served import explored


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
    with explored(fixture("medical"), tmp_path_factory.mktemp("medical")) as url:
        yield url


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over a graph whose names are markup, and which has a hub."""
    folder = tmp_path_factory.mktemp("hostile")
    with explored(hostile_graph(folder), folder) as url:
        yield url


@pytest.fixture(scope="session")
def medlit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over medlit."""
    with explored(shared_data("medlit.ttl.gz"), tmp_path_factory.mktemp("medlit")) as url:
        yield url


@pytest.fixture(scope="session")
def wikidata(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the page over wd50k."""
    folder = tmp_path_factory.mktemp("wd50k")
    graph = shared_data("wd50k.nt.gz")
    with explored(graph, folder, "--profile", "wikidata-local", "--store", str(folder / "store")) as url:
        yield url
