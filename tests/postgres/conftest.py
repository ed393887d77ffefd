"""A PostgreSQL for the tests of a process."""

from collections.abc import Iterator

import pytest

from tests.postgres.database import Database, running_database
from tests.servers.unavailable import ServerUnavailable, skip_or_fail


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Run a server for the tests of this process."""
    try:
        with running_database(tmp_path_factory.mktemp("database")) as running:
            yield running
    except ServerUnavailable as error:
        skip_or_fail(error)
