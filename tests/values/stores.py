"""What drawn graphs of values are asked of, and what each store holds of them."""

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph

from gateway.settings.load import default_profile, load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.harness.stores import OVER_HTTP, StoreName, store_with
from tests.small import ROOM
from tests.values.graphs import PREFIXES, DrawnGraph, without_blank_nodes
from tests.values.terms import IN_LANGUAGE, STRING, End, Triple, written
from tests.values.terms import Literal as Value

_EVERYTHING: Final = (
    "SELECT ?s ?p ?o (STR(?o) AS ?text) (DATATYPE(?o) AS ?datatype) (LANG(?o) AS ?language) WHERE { ?s ?p ?o }"
)


@dataclass(frozen=True)
class Store:
    """A store that holds the drawn graphs.

    Attributes:
        name: Its name.
        column: The graphs in it.
        profile: That of its gateways.
        has_ontologies: Whether class expressions are read wherever it is.
    """

    name: StoreName
    column: Column
    profile: Profile
    has_ontologies: bool = False

    @property
    def blank_nodes(self) -> bool:
        """Whether blank nodes are nodes in it."""
        return self.has_ontologies or self.name in {"files", "postgres"}

    @property
    def lacks_blank_nodes(self) -> bool:
        """Whether it holds no triple with a blank node."""
        return self.name == "neo4j"

    def open(self, graph: DrawnGraph) -> Gateway:
        """Open a gateway over a graph."""
        return self.column.open(name_of(graph), self.profile)

    def held(self, graph: DrawnGraph) -> Sequence[Triple]:
        """Return what it holds of a graph: some change values when they load them."""
        if self.name in OVER_HTTP:
            settled = self.column.settle(name_of(graph), self.profile)
            return _read(self.column.url(name_of(graph)), settled.endpoint.named_graphs)
        # PostgreSQL is loaded in process, without datatypes: values are to be read back as a walk sees them.
        held = held_in_process(graph)
        return without_blank_nodes(held) if self.lacks_blank_nodes else held


@contextmanager
def holding(name: StoreName, folder: Path, graphs: Sequence[DrawnGraph]) -> Iterator[Store]:
    """Start a store with graphs, and stop it again."""
    profile = load_profile(default_profile(None)).model_copy(update={"size": ROOM, "prefixes": dict(PREFIXES)})
    has_ontologies = any(graph.kind == "expressions" for graph in graphs)
    if has_ontologies:
        profile = profile.model_copy(update={"nodes": NodeSettings()})
    files = {name_of(graph): [_plain(graph, folder) if name == "neo4j" else graph.write(folder)] for graph in graphs}
    with store_with(name, folder, files, blank_nodes=True) as column:
        yield Store(name, column, profile, has_ontologies)


def _plain(graph: DrawnGraph, folder: Path) -> Path:
    """Write what of a graph has no blank nodes."""
    path = folder / f"{name_of(graph)}-plain.nt"
    path.write_text(written(without_blank_nodes(graph.triples)), encoding="utf-8")
    return path


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
