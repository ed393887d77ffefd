"""What each database is asked about walks and conditions, against the naive computation over the same graph."""

import random
from collections.abc import Sequence
from itertools import product

from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.walks import ANY_LITERAL, NAMES, Condition, Nodes, Selection, Step, Walk
from tests.databases.drawn_values import TYPES, VOCABULARY, DrawnGraph, Triples, Way, difference, drawn_walks
from tests.databases.naive_conditions import drawn_condition, holds

_WALKS = 50


def call(*, rows: int = 1_000_000, requests: int = 100_000, seconds: float = 120) -> Call:
    """Return a call with these limits."""
    return Call(Deadline.after(seconds), requests, rows, 1_000_000)


async def check_ends(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if a walk ends elsewhere than in the triples of the graph."""
    triples = Triples.of(graph, way)
    ids = [*graph.ids, "urn:n:absent", *(f"{VOCABULARY}{name}" for name in TYPES)]
    wrong = []
    for walk in drawn_walks(triples, seed, _WALKS):
        found = await store.ends(ids, walk, call())
        assert list(found) == ids
        wrong += [(node, walk, what) for node in ids if (what := difference(found[node], triples.ends(node, walk)))]
    assert wrong == []


async def check_selected(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if a node that is wanted is not selected, or one of other types is."""
    triples = Triples.of(graph, way)
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    for types in _types():
        typed = triples.typed(types)
        found = await store.select(Selection(types), call())
        assert (found.mark.whole, len(found.nodes), {*found.nodes}) == (True, len(typed), typed)
        for walk in drawn_walks(triples, f"{seed} {types}", _WALKS // 2)[2:]:
            ends = [end for node in typed for end in triples.ends(node, walk)[0] if isinstance(end, str)]
            targets = frozenset([*draw.sample(sorted(ends) or graph.ids, 1), draw.choice(graph.ids)])
            wanted = {node for node in typed if targets & triples.ends(node, walk)[0]}
            found = await store.select(Selection(types, (Condition(walk, "=", Nodes(targets)),)), call())
            assert found.mark.whole, (types, walk)
            assert wanted <= {*found.nodes} <= typed, (types, walk, targets)


async def check_values(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if a node is not selected that fulfils a condition on values, or nothing is ever left out."""
    triples = Triples.of(graph, way)
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    left_out = 0
    keys = ("price", "born", "note", "seeAlso")
    single: list[Walk] = [NAMES, ANY_LITERAL, *((Step((f"{VOCABULARY}{key}",)),) for key in keys)]
    walks = [*single * 20, *(walk for walk in drawn_walks(triples, seed, _WALKS) if not walk[-1].is_inverse)]
    for number, walk in enumerate(walks):
        types = _types()[number % 3]
        typed = triples.typed(types)
        ends = [end for node in sorted(typed) for end in triples.ends(node, walk)[0]]
        conditions = tuple(drawn_condition(draw, walk, ends) for _ in range(1 + (draw.random() < 0.2)))
        found = await store.select(Selection(types, conditions), call())
        wanted = {node for node in typed if all(holds(one, triples.ends(node, walk)[0]) for one in conditions)}
        assert found.mark.whole
        assert wanted <= {*found.nodes} <= typed, (conditions, wanted - {*found.nodes})
        left_out += len(typed) - len(found.nodes)
    assert left_out > len(walks)


async def check_limits(store: GraphStore, graph: DrawnGraph, way: Way, seed: str) -> None:
    """Fail if an answer within a small budget is wrong and says that it is whole."""
    triples = Triples.of(graph, way)
    draw = random.Random(seed)  # noqa: S311 - a test that can be repeated
    are_whole = set()
    limits = [{"rows": rows} for rows in (1, 5, 20, 60, 200)] + [{"requests": requests} for requests in (0, 1, 2, 3, 5)]
    walks = drawn_walks(triples, seed, 8)[4:]
    for limit, walk in product(limits, walks):
        for node, found in (await store.ends(graph.ids, walk, call(**limit))).items():
            ends, blank = triples.ends(node, walk)
            are_whole.add(found.mark.whole)
            assert {*found.ends} <= ends
            assert not found.mark.whole or ({*found.ends}, found.blank) == (ends, blank), (limit, node, walk)
        for types in _types():
            typed = triples.typed(types)
            ends = {end for node in typed for end in triples.ends(node, walk)[0]}
            condition = drawn_condition(draw, walk, sorted(ends, key=repr))
            try:
                selected = await store.select(Selection(types, (condition,)), call(**limit))
            except Fault:
                continue
            wanted = {node for node in typed if holds(condition, triples.ends(node, walk)[0])}
            are_whole.add(selected.mark.whole)
            assert {*selected.nodes} <= typed
            assert not selected.mark.whole or wanted <= {*selected.nodes}, (limit, types, condition)
    assert are_whole == {True, False}


def _types() -> Sequence[tuple[str, ...]]:
    thing, odd, place = (f"{VOCABULARY}{name.replace(' ', '%20')}" for name in TYPES)
    return ((), (thing,), (odd, place))
