"""The graphs of `serve --graphs`: an opener for each, and for one that is wrong an opener that says why."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from gateway.cli.options import CommonOptions
from gateway.cli.serving import opener_of
from gateway.errors import ConfigurationError, counted
from gateway.server.gateway_opener import GatewayOpener, OnFileRead
from gateway.server.graph_set import ChosenBy, GraphSet, ServedGraph
from gateway.settings.graphs_file import GraphEntry, profile_of, read_graphs
from gateway.settings.paths import local_path
from gateway.settings.profile import Profile, ShapeName, with_shape

if TYPE_CHECKING:
    from gateway.tools.gateway import Gateway
_OF_ONE_GRAPH = ("graph", "endpoint", "profile", "prefix", "user", "password_file", "store")
"""Options that say what the file says for each graph."""

_OPENED_AT_ONCE = 4
"""Graphs: parsing a file takes a process, and some of them most of the memory."""


def several_graphs(options: CommonOptions, path: str, chosen_by: ChosenBy, *, has_stdin: bool) -> tuple[GraphSet, str]:
    """Return the graphs that a file or a folder names, and what to call them.

    Raises:
        ConfigurationError: The file is wrong, or an option was given that is about one graph.
    """
    for name in _OF_ONE_GRAPH:
        if getattr(options, name) and name not in options.places:
            raise ConfigurationError(
                f"--graphs says what each graph is, and --{name.replace('_', '-')} was given too.",
                valid="Write it in the file, for each graph.",
            )
    entries = read_graphs(local_path(path))
    gate = threading.BoundedSemaphore(_OPENED_AT_ONCE)
    graphs = [ServedGraph(one.name, one.about, _opener(options, one, gate, has_stdin=has_stdin)) for one in entries]
    return GraphSet(graphs, chosen_by), f"{counted(len(graphs), 'graph')} ({', '.join(graph.name for graph in graphs)})"


def _opener(
    options: CommonOptions, entry: GraphEntry, gate: threading.BoundedSemaphore, *, has_stdin: bool
) -> GatewayOpener:
    """Return the opener of a graph, which waits at a gate; if its entry is wrong, one that fails and says why."""
    own = replace(
        options,
        graph=list(entry.graph) or None,
        endpoint=entry.endpoint or None,
        profile=entry.profile or None,
        store=entry.store or options.store,
        places={},
        project="",
        project_prefixes=dict(entry.prefixes),
    )
    name = f"the graph {entry.name}"
    try:
        profile_of(entry)
        opener, _ = opener_of(
            own, has_stdin=has_stdin, limits=dict(entry.limits), hidden=entry.hidden, name=name, gate=gate
        )
    except ConfigurationError as error:
        return _failing(error, cast("ShapeName | None", options.shape), name)
    return opener


def _failing(error: ConfigurationError, shape: ShapeName | None, name: str) -> GatewayOpener:
    def fail(_: OnFileRead) -> Gateway:
        raise error

    return GatewayOpener(with_shape(Profile(), shape), fail, name)
