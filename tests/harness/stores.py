"""What holds the graphs of drawn questions: files as a user opens them, the engines of the tests, and databases."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Literal, get_args

from gateway.api import open_gateway
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column, column_of
from tests.neo4j.database import Neo4jColumn, address_at, own_database
from tests.postgres.database import PostgresColumn, running_database
from tests.servers.engines import ColumnName, Files, started

StoreName = Literal["files", "postgres", "neo4j"] | ColumnName
"""`files` is the engine of this process as a user opens it: with the label index, and blank nodes that are nodes."""

STORES: Final[Sequence[StoreName]] = ("files", *get_args(ColumnName), "postgres", "neo4j")

OVER_HTTP: Final = tuple(name for name in get_args(ColumnName) if name != "in-process")
"""The SPARQL servers."""


class _FilesColumn(Column):
    """Files in the place of an engine."""

    def open(self, graph: str, profile: Profile | None = None, *, through: str = "") -> Gateway:
        """Open a gateway over a graph; see `Column.open`."""
        assert not through
        return open_gateway(*self.files[graph], profile=profile)


@contextmanager
def store_with(name: StoreName, folder: Path, files: Files, *, blank_nodes: bool = False) -> Iterator[Column]:
    """Start a store with the files of some graphs, and stop it again.

    Args:
        name: The store.
        folder: Where what it writes goes.
        files: The files of each graph.
        blank_nodes: Whether blank nodes are nodes where they are loaded into tables.
    """
    with ExitStack() as servers:
        match name:
            case "files":
                yield _FilesColumn("in-process", files)
            case "postgres":
                database = servers.enter_context(running_database(folder))
                yield PostgresColumn("in-process", files, database=database, blank_nodes=blank_nodes)
            case "neo4j":
                server = servers.enter_context(own_database(folder, files))
                yield Neo4jColumn("in-process", files, address=address_at(server.port))
            case _:
                yield column_of(name, files, lambda some: servers.enter_context(started(name, some, folder)))
