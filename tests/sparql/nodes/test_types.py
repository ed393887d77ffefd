"""Types alone are read by a shorter query than types with names, and are the same."""

import json
from collections.abc import Mapping

import pytest

from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings
from gateway.sparql.store import SparqlStore
from gateway.sparql.table import UnexpectedRows
from gateway.terms.iri import RDF_TYPE
from gateway.transport.inprocess import InProcess
from tests.small import X, engine

pytestmark = pytest.mark.anyio

GRAPH = """
x:several a x:Two, x:One, "a text", [], <http://e.org/.well-known/genid/1> ; rdfs:label "a name" .
x:odd a "a text", 7, [ rdfs:label "inside" ] .
x:one a x:One ; x:kind x:Other .
x:none x:p x:one .
"""
NODES = [f"{X}{name}" for name in ("several", "odd", "one", "none", "absent")]


def call() -> Call:
    return Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)


@pytest.mark.parametrize("types", [(RDF_TYPE,), (f"{X}kind",), (RDF_TYPE, f"{X}kind"), ()])
async def test_types_are_the_same_with_and_without_names(types: tuple[str, ...]) -> None:
    store = SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), Profile(edges=EdgeSettings(types=types)))
    alone, named = await store.nodes(NODES, call(), names=False), await store.nodes(NODES, call(), names=True)
    assert {node: facts.types for node, facts in alone.items()} == {node: facts.types for node, facts in named.items()}
    assert {facts.name for facts in alone.values()} == {""}
    await store.close()


async def test_types_that_are_not_iris_of_entities_are_left_out() -> None:
    store = SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), Profile())
    facts = await store.nodes(NODES, call(), names=False)
    assert [facts[node].types for node in NODES] == [(f"{X}One", f"{X}Two"), (), (f"{X}One",), (), ()]
    await store.close()


class Answering:
    """A transport that answers every query by one row."""

    def __init__(self, row: Mapping[str, tuple[str, str]]) -> None:
        self._row = {name: {"type": kind, "value": value} for name, (kind, value) in row.items()}

    async def select(self, _query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer."""
        return json.dumps({"head": {"vars": ["n", "v"]}, "results": {"bindings": [self._row]}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


@pytest.mark.parametrize(
    "row",
    [
        {"n": ("uri", f"{X}another"), "v": ("uri", f"{X}One")},
        {"n": ("uri", NODES[0]), "v": ("literal", "a text")},
        {"n": ("uri", NODES[0])},
    ],
    ids=["about another node", "a type that is a text", "no type"],
)
async def test_a_row_that_is_not_what_was_asked_for_is_a_fault(row: Mapping[str, tuple[str, str]]) -> None:
    facts = await SparqlStore(Answering(row), Profile()).nodes(NODES, call(), names=False)
    assert {type(facts[node].mark.fault) for node in NODES} == {UnexpectedRows}
