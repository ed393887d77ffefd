"""Counting the edges of many nodes where the engine has no LATERAL, hubs among them."""

import asyncio
from collections import Counter

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.graph.call import Call, Deadline
from gateway.graph.values import Degree
from gateway.settings.profile import Profile
from gateway.sparql import degrees
from gateway.sparql.store import SparqlStore
from tests.examples import examples
from tests.small import Watched

X = "http://example.org/"
WITHOUT_LATERAL = Profile.model_validate({"endpoint": {"lateral": False}})
_NAMES = st.integers(0, 11).map("n{}".format)


def counted(edges: set[tuple[str, str]], ids: list[str], at_most: int) -> tuple[dict[str, Degree], Counter[str]]:
    """Count the edges of nodes, and the queries that this takes, by the shape of the query."""
    engine = pyoxigraph.Store()
    p = pyoxigraph.NamedNode(f"{X}p")
    engine.extend([pyoxigraph.Quad(pyoxigraph.NamedNode(X + s), p, pyoxigraph.NamedNode(X + o)) for s, o in edges])
    sent: Counter[str] = Counter()

    async def hook(query: str) -> None:
        if "?degree" in query:
            sent["each" if "AS ?n)" in query else "together"] += 1

    async def ask() -> dict[str, Degree]:
        store = SparqlStore(Watched(engine, hook), WITHOUT_LATERAL)
        found = await store.degrees(
            [X + name for name in ids], at_most, Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)
        )
        return {iri.removeprefix(X): degree for iri, degree in found.items()}

    return asyncio.run(ask()), sent


def naive(edges: set[tuple[str, str]], node: str, at_most: int) -> tuple[int, bool]:
    """Count the edges of a node up to a bound, by looking at each."""
    count = sum(node in edge for edge in edges)
    return min(count, at_most + 1), count <= at_most


@given(st.sets(st.tuples(_NAMES, _NAMES)), st.integers(1, 6), st.integers(1, 30))
@settings(deadline=None, max_examples=examples(100))
def test_every_degree_is_the_naive_one_however_few_edges_are_read_at_once(
    edges: set[tuple[str, str]], at_most: int, scan: int
) -> None:
    ids = [f"n{number}" for number in range(12)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(degrees, "_SCAN", scan)
        found, _ = counted(edges, ids, at_most)
    assert {name: (degree.count, degree.exact) for name, degree in found.items()} == {
        name: naive(edges, name, at_most) for name in ids
    }
    assert all(degree.mark.whole for degree in found.values())


HUB = {("hub", f"n{number}") for number in range(50)}
SMALL = {(f"s{number}", f"n{number}") for number in range(40)}


def test_nodes_with_few_edges_are_counted_by_one_query() -> None:
    _, sent = counted(HUB | SMALL, [f"s{number}" for number in range(40)], 10)
    assert sent == {"together": 1}


def test_a_hub_does_not_have_the_others_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degrees, "_SCAN", 45)
    found, sent = counted(HUB | SMALL, ["hub", *(f"s{number}" for number in range(40))], 10)
    assert found["hub"] == Degree(11, exact=False)
    assert sent == {"together": 2}


def test_nodes_between_several_hubs_are_counted_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degrees, "_SCAN", 12)
    hubs = {(f"hub{one}", f"n{other}") for one in range(9) for other in range(12)}
    found, sent = counted(hubs | SMALL, [*(f"hub{one}" for one in range(9)), "s1"], 10)
    assert found["s1"] == Degree(1)
    assert sent["each"] == 1
