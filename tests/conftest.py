"""What the tests share: the event loop they run on, and the engines that one test runs on."""

import functools
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpcore2
import pytest

from tests.columns import BEHIND_HTTP, Column
from tests.examples import register_profiles
from tests.order import for_workers
from tests.parsing_here import parse_here
from tests.servers.engines import ColumnName
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.shared_columns import shared_column
from tests.small_graphs import files_of_small_graphs

register_profiles()


# Last, because pytest itself orders tests by their fixtures.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put slow tests first in the part of each worker; one process keeps the order."""
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = for_workers(items, workers)


_LONGEST_ID = 1_000
"""Characters of a parameter that stands in the name of a test."""


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long text by its length: a name goes into every report, and through an environment variable."""
    return f"{argname} of {len(val)}" if isinstance(val, str | bytes) and len(val) > _LONGEST_ID else None


def pytest_collection() -> None:
    """Look for no garbage among what is imported and collected; all of it stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave it out of every later search for garbage, too: it is most of what there is."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _one_tls_context() -> Iterator[None]:
    """Read the certificates of the machine once: each HTTP client of the MCP SDK would take 60 ms for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", functools.cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Store what is stored between runs outside the user's own cache: a port that is used again is another graph."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse files in this process, except in tests of the process that does it elsewhere, and of large files."""
    if not any(request.node.get_closest_marker(name) for name in ("parser_process", "large", "server")):
        parse_here(monkeypatch)


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share."""
    folder = tmp_path_factory.getbasetemp()
    # The folder of a worker lies in that of the run.
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def engines(run_folder: Path) -> Iterator[Callable[[ColumnName], Column]]:
    """Return a function that returns an engine; every graph is loaded, and all workers of a run share its server."""
    with ExitStack() as used:
        yield functools.cache(lambda name: used.enter_context(shared_column(name, run_folder / "engines")))


@pytest.fixture(scope="session")
def small_graphs(run_folder: Path) -> Iterator[Callable[[ColumnName], Column]]:
    """Return a function that returns an engine with the small graphs of single tests, or skips the test."""
    with ExitStack() as used:

        @functools.cache
        def start(name: ColumnName) -> Column:
            return used.enter_context(shared_column(name, run_folder / "small", files_of_small_graphs))

        def column(name: ColumnName) -> Column:
            try:
                return start(name)
            except ServerUnavailable as error:
                skip_or_fail(error)

        yield column


@pytest.fixture(scope="session", params=BEHIND_HTTP)
def endpoint(request: pytest.FixtureRequest, small_graphs: Callable[[ColumnName], Column]) -> Column:
    """Run the test on each engine behind HTTP, with the small graphs."""
    return small_graphs(request.param)


@pytest.fixture(scope="session", params=["in-process", *BEHIND_HTTP])
def engine(request: pytest.FixtureRequest, engines: Callable[[ColumnName], Column]) -> Column:
    """Run the test on each engine."""
    try:
        return engines(request.param)
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="session")
def reference(engine: Column) -> Column:
    """The engine in this process, over the very files that the engine under test was given."""
    return engine.in_process()


@pytest.fixture(scope="session")
def embedded(engines: Callable[[ColumnName], Column]) -> Column:
    """The engine in this process alone."""
    return engines("in-process")
