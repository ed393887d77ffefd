"""A Neo4j for the tests of a run, with their graphs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.neo4j.connection import Address
from tests.graphs import graph_files, linked
from tests.neo4j.database import shared_database
from tests.servers.cache import locked
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

_GRAPHS = ("medical", "films", "medlit", "movies", "names", "random")


@pytest.fixture(scope="session")
def files(run_folder: Path) -> dict[str, list[Path]]:
    """The files of the graphs. A property has no blank nodes, so the random graphs are without them."""
    folder = run_folder / "neo4j-files"
    with locked(folder, "made"):
        every = graph_files(folder)
        every["random"] = [linked(every["random"][0], folder / "linked.nt")]
    return {graph: every[graph] for graph in _GRAPHS if graph in every}


@pytest.fixture(scope="session")
def address(files: dict[str, list[Path]], run_folder: Path) -> Iterator[Address]:
    """Where the database with the graphs is."""
    try:
        with shared_database(run_folder / "engines", files) as shared:
            yield shared
    except ServerUnavailable as error:
        skip_or_fail(error)
