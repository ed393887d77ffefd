"""A whole subgraph: all nodes and edges of a traversal, with their IRIs, names, types and evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.errors import ConfigurationError, counted
from gateway.settings.paths import local_path
from gateway.terms.literals import Literal

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import rdflib

    from gateway.export.conversions import ArrowTable


@dataclass(frozen=True, slots=True)
class SubgraphNode:
    """A node.

    Attributes:
        id: Its ID, a CURIE where a prefix is known.
        type: The ID of the type that is shown; `untyped` where it has none, `unknown` where it could not be read.
        types: The IDs of all its types.
        name: Its name; empty where none was read.
        distance: Hops to the nearest seed; None in an intersection.
        metadata: All that was read about it: JSON values by name or predicate ID.
        on_the_way: Whether it is here only as a step to a node of `only_node_types`, so that it may have other edges.
        values: The values that were asked for, by column: None where there is none, a list where there are several;
            None for a node that was not asked about.
        via: One shortest path to each seed, where they were asked for: the IDs of this node, a predicate (`^` before it
            where its edge leads against the step), a node, and so on.
    """

    id: str
    type: str
    types: tuple[str, ...] = ()
    name: str = ""
    distance: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    on_the_way: bool = False
    values: Mapping[str, Any] | None = None
    via: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class SubgraphEdge:
    """An edge.

    Attributes:
        subject: The ID of the node where it begins.
        predicate: The ID of its predicate.
        object: The ID of the node where it ends.
        evidence: What is stated about it: JSON values by name or predicate ID; None where nothing was read.
    """

    subject: str
    predicate: str
    object: str
    evidence: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Subgraph:
    """All nodes and edges that a traversal found.

    Attributes:
        seeds: The IDs of the seeds.
        nodes: The nodes, in the order of the answer: by distance, then by ID; those that were asked about last, in the
            order asked for.
        edges: The edges, each once, by the IDs of subject, predicate and object.
        complete: Whether nothing was cut; then an absence is a fact.
        notes: What a reader must know: why it is not complete, what was shortened, and warnings.
        iris: The IRI of each ID of a node, type or predicate; that of a blank node, and of the type of one that has
            none (`(ex:p)`), is itself.
        prefixes: Namespaces by prefix, those that the IDs use.
        labels: Names by ID that the graph has: of predicates, and where it has opaque IDs of types and values of
            evidence too.
        tool: The tool that was called.
        arguments: The arguments of the call.
        columns: What the values of nodes are, in the order asked for; empty where none were asked for.
        walks: What stands in the place of a predicate for a walk of several, in edges and paths: no IRI.
        triples: What the values that were asked for state: subject, predicate, and an IRI or a literal as the graph has
            it, in all languages. A blank node is its ID.
        missing_seeds: The seeds that are not in the graph.
        steps: The nodes on paths that are none of the nodes, such as seeds, by ID: their types and names.
    """

    seeds: tuple[str, ...]
    nodes: Sequence[SubgraphNode]
    edges: Sequence[SubgraphEdge]
    complete: bool
    notes: Sequence[str]
    iris: Mapping[str, str]
    prefixes: Mapping[str, str]
    labels: Mapping[str, str]
    tool: str = "bfs_query"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    walks: Sequence[str] = ()
    triples: Sequence[tuple[str, str, str | Literal]] = ()
    missing_seeds: Sequence[str] = ()
    steps: Mapping[str, SubgraphNode] = field(default_factory=dict)

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """Return it as a directed graph with parallel edges; see `networkx_graph.to_networkx`.

        Raises:
            ConfigurationError: networkx is not installed.
        """
        from gateway.export.networkx_graph import to_networkx  # noqa: PLC0415 - with networkx

        return to_networkx(self)

    def to_rdflib(self) -> rdflib.Graph:
        """Return it as triples; see `rdf_graph.to_rdflib`."""
        from gateway.export.rdf_graph import to_rdflib  # noqa: PLC0415 - with rdflib

        return to_rdflib(self)

    def to_dataframes(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return its nodes and its edges as tables; see `conversions.to_dataframes`.

        Raises:
            ConfigurationError: pandas is not installed.
        """
        from gateway.export.conversions import to_dataframes  # noqa: PLC0415 - with pandas

        return to_dataframes(self)

    def to_arrow(self) -> tuple[ArrowTable, ArrowTable]:
        """Return its nodes and its edges as tables that pandas, polars and DuckDB take; see `ArrowTable`.

        They ask for nanoarrow when they are taken.
        """
        from gateway.export.conversions import to_arrow  # noqa: PLC0415 - it needs this module

        return to_arrow(self)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.nodes), 'node')}, {counted(len(self.edges), 'edge')}"
        state = "complete" if self.complete else "not complete"
        missing = f"; {counted(len(self.missing_seeds), 'seed')} not found" if self.missing_seeds else ""
        return f"<Subgraph: {sizes}; {state}{missing}>"

    def _repr_html_(self) -> str:
        """Return it as a notebook shows it: the explorer page in a frame."""
        from gateway.export.picture import notebook_frame  # noqa: PLC0415 - it needs this module

        return notebook_frame(self)

    def write(
        self,
        path: str | Path,
        format: str | None = None,  # noqa: A002 - as rdflib and pandas call it
        *,
        guard_formulas: bool = False,
    ) -> list[Path]:
        """Write it to a file; return the files written, several for CSV.

        Args:
            path: The file.
            format: The name of a format (`gateway.export.formats`); by default, it follows from the file's suffix.
            guard_formulas: For CSV that is opened in a spreadsheet: whether an apostrophe is put before text that would
                run as a formula. Numbers are never changed.

        Raises:
            ConfigurationError: The format is unknown, cannot hold this subgraph, needs a library that is not
                installed, or has no cells to guard; or the file cannot be written.
        """
        from gateway.export.formats import write_file  # noqa: PLC0415 - it needs this module

        return write_file(self, local_path(path), format, guard_formulas=guard_formulas)


def how_said(evidence: Mapping[str, Any] | None, *, definitions: bool = False) -> str:
    """Return whether sources deny an edge, and how class expressions say it; empty where it is merely stated.

    Args:
        evidence: The evidence of the edge.
        definitions: Whether it is told which edges a definition (`owl:equivalentClass`) says.

    >>> how_said({"negated": True, "restriction": "not some"}), how_said({"restriction": "only", "one of": 2})
    ('DENIED (not some)', '(only, one of 2)')
    >>> how_said({"restriction": "some", "of": "equivalentClass"}, definitions=True)
    '(some, definition)'
    """
    assertions: Sequence[Mapping[str, Any]] = (evidence or {}).get("assertions") or [evidence or {}]
    denying = sum("negated" in one for one in assertions)
    is_denied = "negated" in (evidence or {}) or denying == len(assertions)
    partly = f"DENIED by {denying} of {len(assertions)}" if denying else ""
    ways = dict.fromkeys(filter(None, (_restriction(one, definitions=definitions) for one in assertions)))
    return " ".join(filter(None, ["DENIED" if is_denied else partly, f"({'; '.join(ways)})" if ways else ""]))


def _restriction(assertion: Mapping[str, Any], *, definitions: bool) -> str:
    number = assertion.get("one of")
    said = [
        assertion.get("restriction"),
        "closed" if assertion.get("closed") is True else None,
        f"one of {number}" if number else None,
        "definition" if definitions and assertion.get("of") == "equivalentClass" else None,
    ]
    return ", ".join(str(one) for one in said if one)


@contextmanager
def needs(library: str, extra: str) -> Iterator[None]:
    """Turn the failed import of a library into an error that says how to install it.

    Raises:
        ConfigurationError: It is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"This needs {library}; {error.name or 'a Python package'} is not installed.",
            next_step=f'Install it: pip install "bfsql-gateway[{extra}]".',
        ) from error
