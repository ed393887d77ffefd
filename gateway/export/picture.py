"""A subgraph as a picture: dots with names, coloured by type, and arrows with predicates."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from gateway.errors import ConfigurationError, counted
from gateway.escaping import visible
from gateway.export.graphs import to_networkx
from gateway.export.subgraph import Subgraph, needs
from gateway.export.texts import node_rows
from gateway.terms.iri import local_name
from gateway.terms.names import cut

MOST_NODES = 150
"""Nodes in a picture; names of more overlap on any sheet."""

_MOST_EDGES = 1_000
_NAME_CHARACTERS = 40
_LINE_CHARACTERS = 18
_LABELLED_EDGES = 40
"""Edges up to which each has its predicate beside it."""

_INCHES = 8.0
"""The least width and height of a picture; it grows with the square root of its nodes."""

_DOTS_PER_INCH = 100


def picture(subgraph: Subgraph, format: Literal["svg", "png"]) -> bytes:  # noqa: A002 - as matplotlib calls it
    """Return a picture of a subgraph; the same subgraph gives the same picture.

    Evidence and metadata are left out.

    Raises:
        ConfigurationError: It has more than 150 nodes or 1,000 edges, or networkx or matplotlib is not installed.
    """
    if len(subgraph.nodes) > MOST_NODES or len(subgraph.edges) > _MOST_EDGES:
        raise ConfigurationError(
            f"{len(subgraph.nodes):,} nodes and {len(subgraph.edges):,} edges are too many for one picture.",
            valid=f"A picture shows up to {MOST_NODES} nodes and {_MOST_EDGES:,} edges.",
            next_step="Ask for fewer hops, select predicates or types, or write graphml or dot for another program.",
        )
    with needs("networkx and matplotlib", "pictures"):
        import matplotlib as mpl  # noqa: PLC0415 - an extra
        import networkx as nx  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415

    graph = to_networkx(subgraph)
    side = max(_INCHES, 1.6 * math.sqrt(len(subgraph.nodes)))
    figure = Figure(figsize=(side * 1.25, side), dpi=_DOTS_PER_INCH, layout="tight")
    axes = figure.add_subplot()
    axes.set_axis_off()
    distance = 3.5 / math.sqrt(max(1, len(graph)))
    places = nx.spring_layout(nx.Graph(graph), k=distance, iterations=200, seed=1) if len(graph) else {}
    _draw(axes, places, subgraph)
    file = io.BytesIO()
    # Text stays text: a viewer finds it, and has letters that the font here lacks.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bfsql"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, format=format, metadata={"Date": None} if format == "svg" else None)
    return file.getvalue()


def _draw(axes: Any, places: Any, subgraph: Subgraph) -> None:
    """Draw arrows, dots, names and a legend; no text of the graph is read as a formula."""
    for index, (ends, predicates) in enumerate(_arrows(subgraph).items()):
        start, end = ends
        _arrow(axes, places[start], places[end], index)
        if len(subgraph.edges) <= _LABELLED_EDGES:
            x, y = (places[start] + places[end]) / 2
            label = ", ".join(_short(subgraph, predicate) for predicate in predicates)
            _text(axes, x, y, label, color="#3a6b35", fontsize=6.5)
    types = Counter(node.type for node in subgraph.nodes)
    colours = _colours(types, subgraph.iris)
    for row in node_rows(subgraph):
        x, y = places[row["id"]]
        is_seed = row["id"] in subgraph.seeds
        axes.scatter(
            [x],
            [y],
            s=190 if is_seed else 90,
            color=colours.get(row["type"], _OTHER_COLOUR),
            edgecolors="black" if is_seed else "white",
            linewidths=1.6 if is_seed else 0.6,
            zorder=3,
        )
        _text(axes, x, y, _wrapped(row["name"] or row["id"]), fontsize=8, va="bottom", offset=7, bold=is_seed)
    others = [("other types", _OTHER_COLOUR)] if len(types) > len(colours) else []
    for type_id, colour in [*colours.items(), *others]:
        axes.scatter([], [], color=colour, label=_literal(_short(subgraph, type_id)))
    if subgraph.nodes:
        legend = axes.legend(loc="lower left", fontsize=8, frameon=False)
        for text in legend.get_texts():
            text.set_parse_math(False)
    size = f"{counted(len(subgraph.nodes), 'node')}, {counted(len(subgraph.edges), 'edge')}"
    shown = f"{size}, {'' if subgraph.complete else 'not '}complete"
    axes.set_title(shown, fontsize=9, loc="left", color="#444444")
    axes.margins(0.12)


_PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#ff9da7", "#9c755f")
_OTHER_COLOUR = "#bab0ac"
"""The colours of the most frequent types, and that of all others."""


def _arrows(subgraph: Subgraph) -> dict[tuple[str, str], list[str]]:
    """Return the predicates between two nodes, in each direction: they share an arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for edge in subgraph.edges:
        arrows.setdefault((edge.subject, edge.object), []).append(edge.predicate)
    return arrows


def _arrow(axes: Any, start: Any, end: Any, index: int) -> None:
    is_loop = tuple(start) == tuple(end)
    bend = 0.9 if is_loop else 0.08 + 0.02 * (index % 3)
    axes.annotate(
        "",
        xy=end,
        xytext=start if not is_loop else start + 0.03,
        arrowprops={
            "arrowstyle": "-|>",
            "color": "#999999",
            "linewidth": 0.8,
            "shrinkA": 6,
            "shrinkB": 6,
            "connectionstyle": f"arc3,rad={bend}",
        },
    )


def _text(
    axes: Any,
    x: float,
    y: float,
    text: str,
    *,
    color: str = "black",
    fontsize: float,
    va: str = "center",
    offset: int = 0,
    bold: bool = False,
) -> None:
    axes.annotate(
        text,
        (x, y),
        xytext=(0, offset),
        textcoords="offset points",
        ha="center",
        va=va,
        color=color,
        fontsize=fontsize,
        fontweight="bold" if bold else "normal",
        zorder=4,
        parse_math=False,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
    )


def _literal(text: str) -> str:
    """Return a text for the legend, which leaves out what begins with an underscore."""
    return f"\N{ZERO WIDTH SPACE}{text}" if text.startswith("_") else text


def _short(subgraph: Subgraph, term: str) -> str:
    label = subgraph.labels.get(term)
    return visible(cut(label or local_name(term.strip("<>")), _NAME_CHARACTERS))


def _wrapped(name: str) -> str:
    return "\n".join(textwrap.wrap(visible(cut(name, _NAME_CHARACTERS)), _LINE_CHARACTERS, max_lines=3))


def _colours(types: Counter[str], iris: Mapping[str, str]) -> dict[str, str]:
    """Return a colour for each of the most frequent types."""
    frequent = sorted(types, key=lambda name_id: (-types[name_id], iris.get(name_id, name_id)))
    return dict(zip(frequent, _PALETTE, strict=False))
