"""Where the ends of a walk stand in the list to which it leads, or through which it does (docs/values.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gateway.graph.call import Call, together
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.graph.walks import End, Ends, Walk, expressions_in, in_lists, list_members
from gateway.terms.iri import ARRAY, ORDER
from gateway.terms.literals import Literal

_LISTS = frozenset({ARRAY, ORDER})

Places = Mapping[End, int]
"""The places of ends in one list; of a list of nodes those of its first members are known."""


def lists_in(ends: Ends) -> list[Literal]:
    """Return the lists among some ends."""
    return [end for end in ends.ends if isinstance(end, Literal) and end.datatype in _LISTS]


def with_list_members(ends: Ends) -> Ends:
    """Return ends with the members of lists in the place of the lists."""
    if not lists_in(ends):
        return ends
    return replace(ends, ends=tuple(in_lists(ends.ends)), blank=ends.blank + expressions_in(ends.ends))


async def list_places(store: GraphStore, walk: Walk, ends: Mapping[Iri, Ends], call: Call) -> Mapping[Iri, Places]:
    """Return the places of the ends of a walk from each node that leads to one list, or through one.

    Args:
        store: The graph.
        walk: The walk.
        ends: Its ends by node, lists among them.
        call: The call that asks.
    """
    found: dict[Iri, Places] = {}
    others = []
    for node, one in ends.items():
        lists = lists_in(one)
        if len(lists) == 1:
            found[node] = _places_in(lists[0])
        elif not lists and len(one.ends) > 1:
            others.append(node)
    if others and len(walk) > 1:
        found |= await _places_through(store, others, walk, call)
    return found


async def _places_through(store: GraphStore, nodes: Sequence[Iri], walk: Walk, call: Call) -> Mapping[Iri, Places]:
    """Return the places of the members of a list by which a walk leads to each of its ends, if it is the only one."""
    lengths = range(1, len(walk))
    async with together() as tasks:
        readings = [tasks.create_task(store.ends(nodes, walk[:length], call)) for length in lengths]
    beginnings = {length: reading.result() for length, reading in zip(lengths, readings, strict=True)}
    of_nodes: defaultdict[int, dict[Iri, Places]] = defaultdict(dict)
    for node in nodes:
        passed = [(length, one) for length in lengths for one in lists_in(beginnings[length][node])]
        if len(passed) == 1:
            length, literal = passed[0]
            of_nodes[length][node] = _places_in(literal)
    found: dict[Iri, Places] = {}
    for length, by_node in of_nodes.items():
        members = dict.fromkeys(end for places in by_node.values() for end in places if isinstance(end, str))
        ends = await store.ends([*members], walk[length:], call)
        for node, places in by_node.items():
            led: dict[End, int] = {}
            for member, place in places.items():
                if isinstance(member, str):
                    led = dict.fromkeys(ends[member].ends, place) | led
            found[node] = led
    return found


def _places_in(literal: Literal) -> Places:
    return {end: place for place, end in enumerate(dict.fromkeys(list_members(literal)))}
