"""What drawn questions are asked of: files as a user opens them, the servers of the tests, and databases."""

import json
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pyoxigraph

from gateway.api import open_gateway
from gateway.settings.load import default_profile, load_profile
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column, ColumnName, column_of, started
from tests.neo4j.database import Neo4jColumn, address_at, own_database
from tests.postgres.database import PostgresColumn, running_database
from tests.small import ROOM
from tests.values.graphs import PREFIXES, DrawnGraph, without_blank_nodes
from tests.values.terms import IN_LANGUAGE, STRING, End, Triple, written
from tests.values.terms import Literal as Value

StoreName = Literal["files", "postgres", "neo4j"] | ColumnName
"""`files` is the engine of this process as a user opens it, in which blank nodes are nodes."""

STORES: Final[Sequence[StoreName]] = ("files", *get_args(ColumnName), "postgres", "neo4j")

BEHIND_HTTP: Final = tuple(name for name in get_args(ColumnName) if name != "in-process")
"""The SPARQL servers."""

_EVERYTHING: Final = (
    "SELECT ?s ?p ?o (STR(?o) AS ?text) (DATATYPE(?o) AS ?datatype) (LANG(?o) AS ?language) WHERE { ?s ?p ?o }"
)


@dataclass(frozen=True)
class Store:
    """A store that holds the drawn graphs.

    Attributes:
        blank_nodes: Whether blank nodes are nodes in it.
        open: Opens a gateway over a graph.
        held: Returns what it holds of a graph: some change values when they load them.
        lacks_blank_nodes: Whether it holds no triple with a blank node.
        column: The SPARQL engine that it is; None for a database, and for files as a user opens them.
        profile: That of its gateways.
    """

    blank_nodes: bool
    open: Callable[[DrawnGraph], Gateway]
    held: Callable[[DrawnGraph], Sequence[Triple]]
    lacks_blank_nodes: bool = False
    column: Column | None = None
    profile: Profile = field(default_factory=Profile)


@contextmanager
def store_with(name: StoreName, folder: Path, graphs: Sequence[DrawnGraph]) -> Iterator[Store]:
    """Start a store with graphs, and stop it again."""
    files = {name_of(graph): [graph.write(folder)] for graph in graphs}
    profile = load_profile(default_profile(None)).model_copy(update={"size": ROOM, "prefixes": dict(PREFIXES)})
    with ExitStack() as servers:
        match name:
            case "files":
                yield Store(
                    blank_nodes=True,
                    open=lambda graph: open_gateway(files[name_of(graph)], profile=profile),
                    held=held_in_process,
                )
            case "postgres":
                yield _postgres(servers, folder, files, profile)
            case "neo4j":
                yield _neo4j(servers, folder, graphs, profile)
            case _:

                def start(some: Mapping[str, Sequence[Path]]) -> Any:
                    return servers.enter_context(started(name, some, folder))

                yield _engine(column_of(name, files, start), profile)


def _engine(column: Column, profile: Profile) -> Store:
    def held(graph: DrawnGraph) -> Sequence[Triple]:
        if column.is_here:
            return held_in_process(graph)
        settled = column.settle(name_of(graph), profile)
        return _read(column.url(name_of(graph)), settled.endpoint.named_graphs)

    return Store(
        blank_nodes=False,
        open=lambda graph: column.open(name_of(graph), profile),
        held=held,
        column=column,
        profile=profile,
    )


def _postgres(servers: ExitStack, folder: Path, files: Mapping[str, list[Path]], profile: Profile) -> Store:
    database = servers.enter_context(running_database(folder))
    column = PostgresColumn("in-process", files, database=database)

    def opened(graph: DrawnGraph) -> Gateway:
        database.load(name_of(graph), files[name_of(graph)], column.settled(profile), blank_nodes=True)
        return column.open(name_of(graph), profile)

    # `load` reads graphs in process, and writes values without their datatypes: to be read back as a walk sees them.
    return Store(blank_nodes=True, open=opened, held=held_in_process)


def _neo4j(servers: ExitStack, folder: Path, graphs: Sequence[DrawnGraph], profile: Profile) -> Store:
    files = {}
    for graph in graphs:
        path = folder / f"{name_of(graph)}-plain.nt"
        path.write_text(written(without_blank_nodes(graph.triples)), encoding="utf-8")
        files[name_of(graph)] = [path]
    server = servers.enter_context(own_database(folder, files))
    column = Neo4jColumn("in-process", files, address=address_at(server.port))
    return Store(
        blank_nodes=False,
        open=lambda graph: column.open(name_of(graph), profile),
        held=lambda graph: without_blank_nodes(held_in_process(graph)),
        lacks_blank_nodes=True,
    )


def held_in_process(graph: DrawnGraph) -> list[Triple]:
    """Return what the engine of this process holds of a graph: it writes numbers in one way each."""
    engine = pyoxigraph.Store()
    engine.load(written(graph.triples).encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    rows = engine.query(_EVERYTHING)
    assert isinstance(rows, pyoxigraph.QuerySolutions)
    results = (rows.serialize(format=pyoxigraph.QueryResultsFormat.JSON) or b"").decode()
    return _triples(json.loads(results))


def name_of(graph: DrawnGraph) -> str:
    """Return the name of a graph in every store."""
    return f"values{graph.number}"


def _read(endpoint: str, graphs: Sequence[str]) -> list[Triple]:
    """Read all triples of an endpoint, values as `STR()` and `DATATYPE()` give them, which not every result does."""
    asked = [("query", _EVERYTHING), *(("default-graph-uri", graph) for graph in graphs)]
    request = urllib.request.Request(  # noqa: S310 - a server of the tests
        endpoint,
        urllib.parse.urlencode(asked).encode(),
        {"Accept": "application/sparql-results+json", "Content-Type": "application/x-www-form-urlencoded"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - the same
        return _triples(json.load(response))


def _triples(results: Mapping[str, Any]) -> list[Triple]:
    rows = results["results"]["bindings"]
    return [(_node(row["s"]), row["p"]["value"], _end(row)) for row in rows]


def _node(term: Mapping[str, str]) -> str:
    return f"_:{term['value'].removeprefix('_:')}" if term["type"] == "bnode" else term["value"]


def _end(row: Mapping[str, Mapping[str, str]]) -> End:
    if row["o"]["type"] in {"uri", "bnode"}:
        return _node(row["o"])
    language = row.get("language", {}).get("value", "")
    datatype = row.get("datatype", {}).get("value") or (IN_LANGUAGE if language else STRING)
    return Value(row["text"]["value"], datatype, language)
