"""A node with more edges than one query may return is fetched whole (docs/contract.md, "Hubs")."""

import pytest

from gateway import resources
from gateway.errors import EndpointFault
from gateway.files.loading import load_files
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.columns import Column, declared_prefixes
from tests.oracle import OracleGraph, bfs

pytestmark = pytest.mark.anyio

AWKWARD = resources.folder("fixtures") / "awkward.ttl"
HUB = "https://example.org/awkward/hub"


def reading_little(rows: int) -> Profile:
    return Profile(
        prefixes=declared_prefixes(AWKWARD),
        limits=LimitSettings(query_rows=rows, requests=1_000),
        size=SizeSettings(max_tokens=1_000_000, ceiling_tokens=1_000_000),
    )


@pytest.mark.parametrize("rows", [10, 60, 61, 120, 121, 122])
async def test_a_hub_comes_whole_however_few_rows_one_query_returns(engine: Column, rows: int) -> None:
    expected = bfs(OracleGraph.from_files(engine.files["awkward"]), [HUB], 1)
    async with engine.open("awkward", reading_little(rows)) as gateway:
        answer = await gateway.bfs_query([f"<{HUB}>"], 1, topology_only=True)
    assert answer.complete, answer.incomplete
    assert (answer.node_count, answer.edge_count) == (len(expected.distance), len(expected.edges))
    assert (answer.blank_node_edges or 0) == expected.blank_node_edges


class Forgetful(InProcess):
    """An engine that skips rows between two pages, as one would whose order is not its comparison."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query that asks for the rows after another one, as if some were before it."""
        skipping = query.replace("STR(?o) > ?o0", 'STR(?o) > CONCAT(SUBSTR(?o0, 1, STRLEN(?o0) - 2), "~")')
        return await super().select(skipping, deadline, spend)


async def test_pages_that_do_not_add_up_are_not_called_complete() -> None:
    profile = reading_little(10)
    graph = load_files([AWKWARD])
    store = SparqlStore(Forgetful(graph.engine, max_bytes=1 << 20), profile)
    async with Gateway(store, profile, PrefixMap({})) as gateway:
        answer = await gateway.bfs_query([HUB], 1, topology_only=True)
    assert answer.complete is False
    assert answer.incomplete is not None
    (gap,) = answer.incomplete
    assert (gap.cause, gap.ids) == (EndpointFault.cause, [HUB])
    assert "do not add up" in gap.detail
