"""A small picture of nodes and edges as SVG, without another library: rings around the nodes where a search began."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from gateway.escaping import visible
from gateway.terms.names import cut

MOST_NODES = 100
"""Nodes in a picture; names of more overlap."""

MOST_ARROWS = 400
"""Arrows in a picture; more hide each other, and it says so."""

_NAME_CHARACTERS = 24
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
    parts = [_arrow(arrow, places, is_labelled=len(shown) <= _LABELLED) for arrow in shown[:MOST_ARROWS]]
    parts += [
        _node(places[name_id], name, f"{name_id} {kind}".strip(), colours.get(kind, OTHER_COLOUR), name_id in first)
        for name_id, (name, kind) in nodes.items()
    ]
    legend = " ".join(f'<span style="color: {colours[kind]}">&#9679;</span> {_text(kind)}' for kind in frequent if kind)
    left_out = len(shown) - MOST_ARROWS
    note = f" {left_out:,} edges are not drawn." if left_out > 0 else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-side:.0f} {-side:.0f} {2 * side:.0f} {2 * side:.0f}" '
        f'style="width: 100%; max-width: {min(900.0, 2 * side):.0f}px" font-family="sans-serif" font-size="11">'
        f"{''.join(parts)}</svg><p>{legend}{note}</p>"
    )


def _text(text: str, most: int = _NAME_CHARACTERS) -> str:
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


def _arrow(arrow: Arrow, places: Mapping[str, Place], *, is_labelled: bool) -> str:
    (x1, y1), (x2, y2) = places[arrow.subject], places[arrow.object]
    length = math.hypot(x2 - x1, y2 - y1)
    title = f"<title>{_text(f'{arrow.subject} {arrow.predicate} {arrow.object}', _TITLE_CHARACTERS)}</title>"
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
            f"{_text(arrow.predicate)}</text>"
        )
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#999999">{title}</line>'
        f'<polygon points="{corners}" fill="#999999"/>{label}'
    )


def _node(place: Place, name: str, title: str, colour: str, is_first: bool) -> str:
    x, y = place
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{8 if is_first else 6}" fill="{colour}" stroke="currentColor" '
        f'stroke-width="{2 if is_first else 0}"><title>{_text(title, _TITLE_CHARACTERS)}</title></circle>'
        f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle" fill="currentColor">{_text(name)}</text>'
    )
