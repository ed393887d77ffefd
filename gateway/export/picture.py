"""A subgraph to look at: the explorer page with the answer inside, a picture, or a small drawing.

The page is one file that asks no gateway and loads nothing. A picture has dots with names, coloured by type, and arrows
with predicates. A drawing is SVG, without another library: rings around the nodes where a search began.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from gateway.errors import ConfigurationError, counted
from gateway.escaping import json_text, visible
from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode, how_said, needs
from gateway.resources import explorer_page, policy_of
from gateway.terms.names import cut
from gateway.terms.prefixes import local_form

MOST_DRAWN = 100
"""Nodes in a picture; names of more overlap."""

MOST_ARROWS = 400
"""Arrows in a picture; more hide each other, and it says so."""

_DRAWN_CHARACTERS = 24
_TITLE_CHARACTERS = 200
_RING = 110.0
"""Between two rings."""

_SPACE = 52.0
"""Between two nodes on a ring."""

_MARGIN = 80.0
_LABELLED = 30
"""Arrows up to which each has its predicate beside it."""

PALETTE = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#edc948", "#ff9da7", "#9c755f")
OTHER_COLOUR = "#bab0ac"
"""The colours of the most frequent types, and that of all others."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge.

    Attributes:
        subject: Where it begins.
        predicate: What it is called.
        object: Where it ends.
    """

    subject: str
    predicate: str
    object: str


Place = tuple[float, float]


def drawing(nodes: Mapping[str, tuple[str, str]], arrows: Sequence[Arrow], first: Sequence[str]) -> str:
    """Return nodes and edges as an element of SVG; the same graph gives the same picture.

    Args:
        nodes: Name and type of each node by ID.
        arrows: The edges; those to nodes that are not there are left out.
        first: The nodes in the middle.
    """
    shown = [arrow for arrow in arrows if arrow.subject in nodes and arrow.object in nodes]
    places = _places(list(nodes), shown, first)
    side = _MARGIN + max((max(abs(x), abs(y)) for x, y in places.values()), default=0.0)
    frequent = [kind for kind, _ in Counter(kind for _, kind in nodes.values()).most_common(len(PALETTE))]
    colours = dict(zip(frequent, PALETTE, strict=False))
    parts = [_svg_arrow(arrow, places, is_labelled=len(shown) <= _LABELLED) for arrow in shown[:MOST_ARROWS]]
    parts += [
        _svg_node(places[name_id], name, f"{name_id} {kind}".strip(), colours.get(kind, OTHER_COLOUR), name_id in first)
        for name_id, (name, kind) in nodes.items()
    ]
    legend = " ".join(
        f'<span style="color: {colours[kind]}">&#9679;</span> {_svg_text(kind)}' for kind in frequent if kind
    )
    left_out = len(shown) - MOST_ARROWS
    note = f" {left_out:,} edges are not drawn." if left_out > 0 else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-side:.0f} {-side:.0f} {2 * side:.0f} {2 * side:.0f}" '
        f'style="width: 100%; max-width: {min(900.0, 2 * side):.0f}px" font-family="sans-serif" font-size="11">'
        f"{''.join(parts)}</svg><p>{legend}{note}</p>"
    )


MOST_BARS = 20
"""Bars in a picture; what has more has a table."""

_BAR, _ROW = 260.0, 18.0
"""The length of the longest bar, and the height of a row."""

_BESIDE_BARS = 170.0


def bars(title: str, lengths: Sequence[tuple[str, float]]) -> str:
    """Return numbers as bars, an element of SVG; the first ones, where there are many.

    Args:
        title: What they are.
        lengths: What stands beside each bar, and its number, which is not negative.
    """
    shown = lengths[:MOST_BARS]
    longest = max((number for _, number in shown), default=0.0) or 1.0
    parts = []
    for row, (name, number) in enumerate(shown):
        y = _ROW * (row + 0.5)
        parts.append(
            f'<text x="{_BESIDE_BARS - 6:.0f}" y="{y + 4:.1f}" text-anchor="end">{_svg_text(name)}</text>'
            f'<line x1="{_BESIDE_BARS:.0f}" y1="{y:.1f}" x2="{_BESIDE_BARS + _BAR * number / longest:.1f}" y2="{y:.1f}"'
            f' stroke="{PALETTE[0]}" stroke-width="12"><title>{_svg_text(name, _TITLE_CHARACTERS)}</title></line>'
            f'<text x="{_BESIDE_BARS + _BAR * number / longest + 6:.1f}" y="{y + 4:.1f}">{number:,}</text>'
        )
    more = f", the first {MOST_BARS} of {len(lengths):,}" if len(lengths) > MOST_BARS else ""
    width, height = _BESIDE_BARS + _BAR + _MARGIN, _ROW * len(shown)
    return (
        f'<p>{_svg_text(title, _TITLE_CHARACTERS)}{more}</p><svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="width: 100%; max-width: {width:.0f}px" '
        f'font-family="sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


def _svg_text(text: str, most: int = _DRAWN_CHARACTERS) -> str:
    return escape(visible(cut(text, most)))


def _places(nodes: Sequence[str], arrows: Sequence[Arrow], first: Sequence[str]) -> dict[str, Place]:
    """Return where nodes are: on rings by their distance from the first ones, each near the node that it hangs on."""
    neighbours: dict[str, list[str]] = {name_id: [] for name_id in nodes}
    for arrow in arrows:
        neighbours[arrow.subject].append(arrow.object)
        neighbours[arrow.object].append(arrow.subject)
    rings = [list(dict.fromkeys(first)) or list(nodes[:1])]
    placed = set(rings[0])
    while True:
        # In the order of the nodes that they hang on, so that few edges cross.
        ring = list(dict.fromkeys(end for inner in rings[-1] for end in neighbours[inner] if end not in placed))
        if not ring:
            break
        placed.update(ring)
        rings.append(ring)
    if others := [name_id for name_id in nodes if name_id not in placed]:
        rings.append(others)
    places: dict[str, Place] = {}
    radius = 0.0
    for ring_number, ring in enumerate(rings):
        if ring_number or len(ring) > 1:
            radius = max(radius + _RING, _SPACE * len(ring) / math.tau)
        for number, name_id in enumerate(ring):
            angle = math.tau * (number + 0.5 * (ring_number % 2)) / len(ring)
            places[name_id] = (radius * math.cos(angle), radius * math.sin(angle))
    return places


def _svg_arrow(arrow: Arrow, places: Mapping[str, Place], *, is_labelled: bool) -> str:
    (x1, y1), (x2, y2) = places[arrow.subject], places[arrow.object]
    length = math.hypot(x2 - x1, y2 - y1)
    title = f"<title>{_svg_text(f'{arrow.subject} {arrow.predicate} {arrow.object}', _TITLE_CHARACTERS)}</title>"
    if not length:
        return f'<circle cx="{x1:.1f}" cy="{y1 - 12:.1f}" r="9" fill="none" stroke="#999999">{title}</circle>'
    along, across = ((x2 - x1) / length, (y2 - y1) / length), ((y1 - y2) / length, (x2 - x1) / length)
    tip = (x2 - 8 * along[0], y2 - 8 * along[1])
    back = (tip[0] - 8 * along[0], tip[1] - 8 * along[1])
    corners = " ".join(
        f"{x:.1f},{y:.1f}"
        for x, y in (tip, *((back[0] + side * 3 * across[0], back[1] + side * 3 * across[1]) for side in (1, -1)))
    )
    label = ""
    if is_labelled:
        label = (
            f'<text x="{(x1 + x2) / 2:.1f}" y="{(y1 + y2) / 2:.1f}" text-anchor="middle" fill="#3a8b35" font-size="8">'
            f"{_svg_text(arrow.predicate)}</text>"
        )
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999999">{title}</line>'
        f'<polygon points="{corners}" fill="#999999"/>{label}'
    )


def _svg_node(place: Place, name: str, title: str, colour: str, is_first: bool) -> str:
    x, y = place
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{8 if is_first else 6}" fill="{colour}" stroke="currentColor" '
        f'stroke-width="{2 if is_first else 0}"><title>{_svg_text(title, _TITLE_CHARACTERS)}</title></circle>'
        f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle" fill="currentColor">{_svg_text(name)}</text>'
    )


MOST_NODES_OF_A_PAGE = 3_000
MOST_EDGES_OF_A_PAGE = 10_000
"""Nodes and edges that the page lays out in a few seconds and moves without stutter (docs/explorer.md)."""

_FRAME_PIXELS = 600
"""The height of the page in a notebook."""


def page(subgraph: Subgraph) -> bytes:
    """Return the explorer page with a subgraph inside.

    Raises:
        ConfigurationError: It has more than 3,000 nodes or 10,000 edges.
    """
    if len(subgraph.nodes) > MOST_NODES_OF_A_PAGE or len(subgraph.edges) > MOST_EDGES_OF_A_PAGE:
        raise ConfigurationError(
            f"{len(subgraph.nodes):,} nodes and {len(subgraph.edges):,} edges are too many for one page.",
            valid=f"A page shows up to {MOST_NODES_OF_A_PAGE:,} nodes and {MOST_EDGES_OF_A_PAGE:,} edges.",
            next_step="Ask for fewer hops, select predicates or types, or write graphml for another program.",
        )
    built = explorer_page().read_bytes()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{policy_of(built, connects=False)}" />'
    # Inside a script element only "<" could end or change it.
    answer = json_text(_embedded(subgraph)).replace("<", r"\u003c")
    before, body, after = built.partition(b"<body>")
    head, charset, others = before.partition(b'<meta charset="utf-8" />')
    data = f'<script type="application/json" id="answer">{answer}</script>'
    return b"".join([head, charset, policy.encode(), others, body, data.encode(), after])


def notebook_frame(subgraph: Subgraph) -> str:
    """Return HTML that shows a subgraph in a notebook: the page in a frame that may only run its own scripts.

    A subgraph that is too large for a page is said to be so.
    """
    try:
        content = page(subgraph).decode()
    except ConfigurationError as error:
        return f"<p>{escape(str(error))}</p>"
    # The text of a page in `srcdoc` has the policy of its notebook too.
    return (
        f'<iframe sandbox="allow-scripts" title="Graph" style="width: 100%; height: {_FRAME_PIXELS}px; border: 0"'
        f' srcdoc="{escape(content)}"></iframe>'
    )


def _embedded(subgraph: Subgraph) -> dict[str, Any]:
    """Return what the page reads (`gateway/web/src/file.ts`): the answer in the reference shape."""
    answer = {
        "nodes": [_node(node) for node in subgraph.nodes],
        "edges": [_edge(edge) for edge in subgraph.edges],
        "node_count": len(subgraph.nodes),
        "edge_count": len(subgraph.edges),
        "complete": subgraph.complete,
        "warnings": list(subgraph.notes),
        "labels": dict(subgraph.labels),
    }
    call = {"tool": subgraph.tool, "arguments": dict(subgraph.arguments)}
    return {"call": call, "answer": answer, "iris": dict(subgraph.iris)}


def _node(node: SubgraphNode) -> dict[str, Any]:
    values = {column: value for column, value in (node.values or {}).items() if value is not None}
    # Metadata of the graph comes first, so that no key of it replaces one of ours.
    return {
        "id": node.id,
        "entity_type": node.type,
        "types": list(node.types),
        "metadata": {**node.metadata, **values, **({"name": node.name} if node.name else {})},
    }


def _edge(edge: SubgraphEdge) -> dict[str, Any]:
    metadata = {} if edge.evidence is None else {"metadata": dict(edge.evidence)}
    return {"subject": edge.subject, "predicate": edge.predicate, "object": edge.object, **metadata}


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

    Metadata is left out, and of evidence all but what denies an edge, or how a class expression says it.

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

    from gateway.export.conversions import node_rows  # noqa: PLC0415 - with networkx
    from gateway.export.networkx_graph import to_networkx  # noqa: PLC0415

    graph = to_networkx(subgraph)
    side = max(_INCHES, 1.6 * math.sqrt(len(subgraph.nodes)))
    figure = Figure(figsize=(side * 1.25, side), dpi=_DOTS_PER_INCH, layout="tight")
    axes = figure.add_subplot()
    axes.set_axis_off()
    distance = 3.5 / math.sqrt(max(1, len(graph)))
    places = nx.spring_layout(nx.Graph(graph), k=distance, iterations=200, seed=1) if len(graph) else {}
    _draw(axes, places, subgraph, node_rows(subgraph))
    file = io.BytesIO()
    # Text stays text: a viewer finds it, and has letters that the font here lacks.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bfsql"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, format=format, metadata={"Date": None} if format == "svg" else None)
    return file.getvalue()


def _draw(axes: Any, places: Any, subgraph: Subgraph, rows: Iterable[Mapping[str, Any]]) -> None:
    """Draw arrows, dots, names and a legend; no text of the graph is read as a formula."""
    for index, (ends, edges) in enumerate(_arrows(subgraph).items()):
        start, end = ends
        denied = [edge for edge in edges if how_said(edge.evidence).startswith(_DENIED)]
        _arrow(axes, places[start], places[end], index, is_denied=len(denied) == len(edges))
        # Without a label, an arrow looks like a fact.
        labelled = edges if len(subgraph.edges) <= _LABELLED_EDGES else denied
        if labelled:
            x, y = (places[start] + places[end]) / 2
            label = ", ".join(f"{_short(subgraph, one.predicate)} {how_said(one.evidence)}".strip() for one in labelled)
            _text(axes, x, y, label, color=_DENYING if denied else "#3a6b35", fontsize=6.5)
    types = Counter(node.type for node in subgraph.nodes)
    colours = _colours(types, subgraph.iris)
    for row in rows:
        x, y = places[row["id"]]
        is_seed = row["id"] in subgraph.seeds
        axes.scatter(
            [x],
            [y],
            s=190 if is_seed else 90,
            color=colours.get(row["type"], OTHER_COLOUR),
            edgecolors="black" if is_seed else "white",
            linewidths=1.6 if is_seed else 0.6,
            zorder=3,
        )
        _text(axes, x, y, _wrapped(row["name"] or row["id"]), fontsize=8, va="bottom", offset=7, bold=is_seed)
    others = [("other types", OTHER_COLOUR)] if len(types) > len(colours) else []
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


_DENIED = "DENIED"
_DENYING = "#b03030"
"""The colour of what is denied."""


def _arrows(subgraph: Subgraph) -> dict[tuple[str, str], list[SubgraphEdge]]:
    """Return the edges between two nodes, in each direction: they share an arrow."""
    arrows: dict[tuple[str, str], list[SubgraphEdge]] = {}
    for edge in subgraph.edges:
        arrows.setdefault((edge.subject, edge.object), []).append(edge)
    return arrows


def _arrow(axes: Any, start: Any, end: Any, index: int, *, is_denied: bool) -> None:
    is_loop = tuple(start) == tuple(end)
    bend = 0.9 if is_loop else 0.08 + 0.02 * (index % 3)
    axes.annotate(
        "",
        xy=end,
        xytext=start if not is_loop else start + 0.03,
        arrowprops={
            "arrowstyle": "-|>",
            "color": _DENYING if is_denied else "#999999",
            "linestyle": "dashed" if is_denied else "solid",
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
    return visible(cut(label or local_form(term), _NAME_CHARACTERS))


def _wrapped(name: str) -> str:
    return "\n".join(textwrap.wrap(visible(cut(name, _NAME_CHARACTERS)), _LINE_CHARACTERS, max_lines=3))


def _colours(types: Counter[str], iris: Mapping[str, str]) -> dict[str, str]:
    """Return a colour for each of the most frequent types."""
    frequent = sorted(types, key=lambda name_id: (-types[name_id], iris.get(name_id, name_id)))
    return dict(zip(frequent, PALETTE, strict=False))
