"""IDs that have two meanings mean the one that the graph has (docs/contract.md, "Canonical IDs")."""

from typing import Any

import pytest

from gateway.answers.models import CompactAnswer
from gateway.errors import EndpointFault
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.terms.well_known_prefixes import WELL_KNOWN
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, ROOM, Watched, engine

pytestmark = pytest.mark.anyio

GRAPH = """
x:a a <https://schema.org/Thing> ; x:kind <https://schema.org/Place> ; <https://schema.org/knows> x:b ;
  <https://schema.org/price> 5 ; x:inn <http://purl.obolibrary.org/obo/GO_0005737> .
x:b a <https://schema.org/Thing> ; x:kind x:other ; <https://schema.org/price> 1 ; x:inn x:other .
"""
UNREAD = Profile(size=ROOM, limits=LimitSettings(scan_rows=1))
WHOLE = Profile(size=ROOM)


def opened(profile: Profile, transport: InProcess | Watched | None = None) -> Gateway:
    inner = transport or InProcess(engine(GRAPH), max_bytes=1 << 24)
    return Gateway(SparqlStore(inner, profile), profile, PrefixMap(PREFIXES, None, WELL_KNOWN))


async def asked(gateway: Gateway, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await gateway.call(tool, arguments, shape="compact")
    assert isinstance(answer, CompactAnswer)
    return dict(answer.written)


@pytest.mark.parametrize("profile", [UNREAD, WHOLE], ids=["unread", "whole"])
@pytest.mark.parametrize(
    ("condition", "nodes"),
    [
        ("x:kind = schema:Place", ["x:a"]),
        ("x:kind != schema:Place", ["x:b"]),
        ("x:kind in schema:Place, x:other", ["x:a", "x:b"]),
        ("x:inn = GO:0005737", ["x:a"]),
        ("x:inn != GO:0005737", ["x:b"]),
        ("schema:price > 1", ["x:a"]),
        ("schema:knows exists", ["x:a"]),
        ("schema:knows missing", ["x:b"]),
        ("schema:knows/schema:price = 1", ["x:a"]),
        ("type = schema:Thing", ["x:a", "x:b"]),
    ],
)
async def test_conditions_mean_the_term_that_the_graph_has(profile: Profile, condition: str, nodes: list[str]) -> None:
    async with opened(profile) as gateway:
        answer = await asked(gateway, "search_entities", node_types=["schema:Thing"], where=[condition])
    assert answer["rows"] == [[node] for node in nodes]
    assert answer["complete"]


@pytest.mark.parametrize("profile", [UNREAD, WHOLE], ids=["unread", "whole"])
async def test_steering_columns_and_types_mean_the_term_that_the_graph_has(profile: Profile) -> None:
    async with opened(profile) as gateway:
        around = await gateway.bfs_query(["x:a"], 1, only_predicates=["schema:knows"])
        assert [(edge.predicate, edge.object) for edge in around.edges] == [("sdo:knows", "x:b")]
        given = {"values": ["schema:price"], "sort_by": "-schema:price"}
        answer = await asked(gateway, "search_entities", node_types=["schema:Thing"], **given)
        assert answer["rows"] == [["x:a", 5], ["x:b", 1]]
        grouped = await asked(gateway, "search_entities", node_types=["schema:Thing"], compute=["sum schema:price"])
        assert [*grouped["computed"].values()] == [6]
        filtered = await gateway.bfs_query(["x:a"], 1, node_types=["schema:Thing"])
    assert [node.id for node in filtered.nodes if node.metadata is not None] == ["x:a", "x:b"]


async def test_an_id_of_two_meanings_that_could_not_be_looked_up_is_the_fault() -> None:
    failing: list[bool] = []

    async def hook(query: str) -> None:
        if failing and "?p1" in query:
            raise EndpointFault("The endpoint is away.")

    async with opened(WHOLE, Watched(engine(GRAPH), hook)) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        failing.append(True)
        with pytest.raises(EndpointFault, match="away"):
            await asked(gateway, "search_entities", node_types=["sdo:Thing"], where=["x:kind != schema:Place"])
