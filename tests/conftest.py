"""What the tests share: the event loop they run on, and the engines that one test runs on."""

from collections.abc import Iterator

import pytest

from tests.columns import COLUMNS, Column, ColumnName, column
from tests.examples import register_profiles
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

register_profiles()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse to run where pytest-xdist makes no groups: each worker would start each engine, which takes twice as long.

    Raises:
        UsageError: This pytest and this pytest-xdist do not fit.
    """
    grouped = [item for item in items if item.get_closest_marker("xdist_group") is not None]
    if config.getoption("loadgroup", default=False) and any("@" not in item.nodeid for item in grouped):
        raise pytest.UsageError("pytest-xdist made no groups; use the versions of requirements-dev.lock")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is kept between runs out of the user's own cache: a port that is used again is another graph."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, as the product does."""
    return "asyncio"


def _parameter(name: ColumnName) -> object:
    if name == "in-process":
        return name
    # One worker starts each server; the others do not wait for it.
    return pytest.param(name, marks=[pytest.mark.server, pytest.mark.xdist_group(name)])


@pytest.fixture(scope="session", params=[_parameter(name) for name in COLUMNS])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Column]:
    """Run the test on each engine, every graph loaded."""
    try:
        with column(request.param, tmp_path_factory.mktemp(request.param)) as started:
            yield started
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="session")
def reference(engine: Column) -> Column:
    """The engine in this process, over the very files that the engine under test was given."""
    return engine.in_process()


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Column]:
    """The engine in this process alone."""
    with column("in-process", tmp_path_factory.mktemp("embedded")) as started:
        yield started
