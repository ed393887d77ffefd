"""No old ID of a blank node of an endpoint means a node of other content, whatever is edited."""

import random
from collections.abc import Sequence
from typing import Any, Final

import pyoxigraph
import pytest

from gateway.errors import GatewayError
from gateway.tools.gateway import Gateway
from tests.blank_nodes.graphs import KIND_COUNT, drawn
from tests.blank_nodes.oracle import expected_of
from tests.blank_nodes.small_endpoint import served

pytestmark = pytest.mark.anyio

KINDS: Final = ("nests", "relations", "siblings", "cycles")
"""Without lists: what is in the list of a node may change, as what other blank nodes say to which it leads."""

EDITS: Final = 5
"""Of each graph."""

_LINKS: Final = frozenset(
    {"id", "entity_type", "types", "edges", "complete", "blank_node_edges", "warnings", "labels", "prefixes"}
)


async def told(gateway: Gateway, node: str) -> Any:
    """Return what a node itself says, without the blank nodes that it leads to; None where there is none."""
    try:
        answer = (await gateway.call("describe_entity", {"id": node}, shape="reference")).as_json()
    except GatewayError:
        return None
    own = {key: value for key, value in answer.items() if key not in _LINKS and "'_'" not in str(value)}
    # A row of edges has its number, and then the nodes.
    ends = {
        row: {end.partition(" ")[0] for end in values[1:] if not end.startswith("_:")}
        for row, values in answer["edges"].items()
    }
    rows = {row: some for row, some in ends.items() if some}
    return own, rows


async def ids_near(gateway: Gateway, seeds: Sequence[str]) -> list[str]:
    answer = await gateway.bfs_subgraph(list(seeds), 3)
    return sorted(node.id for node in answer.nodes if node.id.startswith("_:"))


def edited(store: pyoxigraph.Store, dice: random.Random) -> None:
    """Remove a triple, or give a node a triple of another."""
    triples = sorted(store, key=str)
    chosen, other = dice.choice(triples), dice.choice(triples)
    if dice.random() < 0.5:
        store.remove(chosen)
    else:
        store.add(pyoxigraph.Quad(chosen.subject, other.predicate, other.object))
    if dice.random() < 0.3:
        store.remove(chosen)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_an_id_of_before_an_edit_is_that_of_a_node_of_the_same_content_or_of_none(kind: str) -> None:
    graph = next(graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind == kind)
    seeds = sorted(f"<{node}>" for node in expected_of(graph.triples).nodes if not str(node).startswith("0-"))
    dice = random.Random(kind)  # noqa: S311 - not for security
    async with served(graph.as_ntriples()) as (gateway, store):
        before: dict[str, Any] = {}
        for _ in range(EDITS):
            for node in dice.sample(found := await ids_near(gateway, seeds[:20]), min(8, len(found))):
                before[node] = await told(gateway, node)
            edited(store, dice)
            gateway.forget()
            for node, content in before.items():
                assert await told(gateway, node) in (content, None), node
