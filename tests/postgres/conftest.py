"""PostgreSQL as the engine that tests of all engines run on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.columns import Column
from tests.graphs import graph_files, linked
from tests.postgres.database import Database, PostgresColumn, running_database
from tests.servers.unavailable import ServerUnavailable, skip_or_fail


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Run a server for the tests of this process."""
    try:
        with running_database(tmp_path_factory.mktemp("database")) as running:
            yield running
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="session")
def engine(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Column:
    """Run the test on PostgreSQL. A table has no blank nodes, so the random graphs are without them."""
    folder: Path = tmp_path_factory.mktemp("files")
    files = graph_files(folder)
    files["random"] = [linked(files["random"][0], folder / "linked.nt")]
    return PostgresColumn("in-process", files, annotated=True, database=database)


@pytest.fixture(scope="session")
def reference(engine: Column) -> Column:
    """The engine in this process, over the same files."""
    return engine.in_process()
