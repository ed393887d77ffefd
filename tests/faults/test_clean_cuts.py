"""Cuts between two rows, well-formed and without a sign: no answer is wrong and complete where the sentinel is last."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import pytest

from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.settings.endpoint import EndpointSettings, Sentinel
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.faults.catalogue import BY_SENTINEL
from tests.faults.injected import InjectedFault
from tests.faults.proxy import FaultProxy, Plan, at, each, fault_proxy
from tests.faults.small_server import NODES, small_server

pytestmark = pytest.mark.anyio

SEEDS: Final = list(NODES[:2])
QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "bfs_query": {"seeds": SEEDS, "max_hops": 2, "topology_only": True},
    "intersect_subgraphs": {"seeds": SEEDS, "k": 1, "topology_only": True},
    "describe_entity": {"id": NODES[0]},
}
REQUESTS: Final = 12
"""More than any of these questions sends."""


@asynccontextmanager
async def asking(sentinel: Literal["auto"] | Sentinel = "auto") -> AsyncIterator[tuple[FaultProxy, Gateway]]:
    """Serve a small graph through the proxy, by an engine that is not known."""
    async with small_server() as server, fault_proxy({"": server.url}) as proxy:
        endpoint = EndpointSettings(sentinel=sentinel, engine="unknown")
        profile = Profile(endpoint=endpoint, limits=LimitSettings(deadline_seconds=20))
        async with open_gateway(endpoint=proxy.url(), profile=profile) as gateway:
            await gateway.describe_schema()
            yield proxy, gateway


async def answered(gateway: Gateway, tool: str) -> dict[str, Any]:
    """Return an answer, or the error as one that is not complete."""
    gateway.forget()
    try:
        return dict((await gateway.call(tool, QUESTIONS[tool])).as_json())
    except GatewayError as error:
        return {"complete": False, "error": str(error)}


def content(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what an answer says about the graph."""
    return {key: value for key, value in answer.items() if key not in {"cost", "snapshot", "warnings"}}


@pytest.mark.parametrize("tool", QUESTIONS)
@pytest.mark.parametrize("fault", BY_SENTINEL, ids=repr)
async def test_an_answer_of_which_any_part_is_cut_is_right_or_not_complete(fault: InjectedFault, tool: str) -> None:
    async with asking() as (proxy, gateway):
        await proxy.begin(Plan())
        clean = await answered(gateway, tool)
        assert clean.get("complete", True)
        injected = 0
        for number in range(REQUESTS):
            plan = await proxy.begin(at((number, fault)))
            answer = await answered(gateway, tool)
            injected += len(plan.injected)
            if answer.get("complete", True) and not answer.get("degraded"):
                assert content(answer) == content(clean), number
        assert injected


@pytest.mark.parametrize("fault", BY_SENTINEL, ids=repr)
async def test_a_traversal_of_which_every_answer_is_cut_is_never_complete(fault: InjectedFault) -> None:
    async with asking() as (proxy, gateway):
        await proxy.begin(each(fault))
        assert not (await answered(gateway, "bfs_query"))["complete"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", BY_SENTINEL, ids=repr)
async def test_without_a_sentinel_an_entity_whose_edges_were_cut_is_believed(fault: InjectedFault) -> None:
    # What the sentinel is for: the same cut, and nothing shows it.
    async with asking("none") as (proxy, gateway):
        clean = content(await answered(gateway, "describe_entity"))
        believed = []
        for number in range(REQUESTS):
            await proxy.begin(at((number, fault)))
            answer = await answered(gateway, "describe_entity")
            believed.append(answer["complete"] and content(answer) != clean)
        assert any(believed)
