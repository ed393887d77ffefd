"""No fault that can be known is ever taken for rows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

import pytest

from gateway.api import open_gateway
from gateway.errors import AnswerCut, Fault, GatewayError
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.endpoint import EndpointSettings, RequestSettings, Sentinel
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.json_rows import decode
from gateway.sparql.store import SparqlStore
from gateway.sparql.tsv_rows import decode_tsv
from gateway.tools.gateway import Gateway
from gateway.transport.http import Http
from tests.faults.catalogue import BY_SENTINEL, CATALOGUE, DETECTABLE, UNDETECTABLE, InjectedFault
from tests.faults.proxy import FaultProxy, Plan, at, each, fault_proxy
from tests.faults.small_server import NODES, TRIPLES, small_server
from tests.servers.loopback import HOST
from tests.tables import Row, decoded, rows_of

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
VARIABLES = ("s", "p", "o")
PATIENCE = 10
SECONDS = 1.0
"""Time for a query. A fault may be met by asking again until the time is up, and then it is still a fault."""

SHORT = 0.2
"""Time for a query to an endpoint that stalls."""

SEEDS = [f"<{node}>" for node in NODES[:2]]
IN_THE_ANSWER = [fault for fault in DETECTABLE if not fault.in_rows]


@asynccontextmanager
async def asking(fault: InjectedFault | None) -> AsyncIterator[tuple[FaultProxy, Http]]:
    """Open a transport through a proxy that injects a fault into every answer."""
    async with asyncio.timeout(PATIENCE), small_server() as server, fault_proxy(server.url, each(fault)) as proxy:
        transport = Http(proxy.url(), max_bytes=1 << 20, flow=FlowControl(RequestSettings(), sleep=_no_time))
        try:
            yield proxy, transport
        finally:
            await transport.close()


async def _no_time(_: float) -> None:
    """Send again at once: how long a pause is, is not what these tests are about."""
    await asyncio.sleep(0)


def deadline(fault: InjectedFault) -> Deadline:
    return Deadline.after(SHORT if fault.stalls else SECONDS)


def distrusting(proxy: FaultProxy) -> Gateway:
    return open_gateway(endpoint=proxy.url(), profile=Profile(endpoint=EndpointSettings(trusted=False)))


def discreet(fault: Fault, proxy: FaultProxy) -> bool:
    """Tell whether a fault's text has nothing of what the endpoint wrote, and not its address."""
    return not any(
        text in str(fault) for text in (HOST, str(proxy.port), "java", "SELECT", "<", "##", "SP030", "nginx")
    )


async def test_an_answer_without_a_fault_is_rows() -> None:
    async with asking(None) as (_, transport):
        assert len(decode(await transport.select(QUERY, Deadline.after(PATIENCE)), VARIABLES)) == len(TRIPLES)


@pytest.mark.parametrize("fault", IN_THE_ANSWER, ids=repr)
async def test_a_fault_in_an_answer_is_raised_and_never_decoded(fault: InjectedFault) -> None:
    async with asking(fault) as (proxy, transport):
        plan = await proxy.begin(each(fault))
        with pytest.raises(Fault) as caught:
            decode(await transport.select(QUERY, deadline(fault)), VARIABLES)
        assert plan.injected
        assert caught.value.next_step
        assert discreet(caught.value, proxy)


CUTTING_LINES = [fault for fault in IN_THE_ANSWER if fault.asks and fault.name != "row-cap-by-total"]


@pytest.mark.parametrize("fault", CUTTING_LINES, ids=repr)
async def test_a_fault_in_lines_is_raised_or_takes_the_last_line_away(fault: InjectedFault) -> None:
    async with asking(None) as (proxy, transport):
        whole = await transport.select_in("tsv", QUERY, Deadline.after(PATIENCE))
        assert len(decode_tsv(whole, VARIABLES)) == len(TRIPLES)
        plan = await proxy.begin(each(fault))
        found = await _lines(transport, deadline(fault))
        assert plan.injected
        if isinstance(found, Fault):
            assert found.next_step
            assert discreet(found, proxy)
        else:
            assert found[-1:] != rows_of(decode_tsv(whole, VARIABLES), VARIABLES)[-1:]


async def _lines(transport: Http, until: Deadline) -> list[Row] | Fault:
    """Return the rows of an answer in TSV, or why there are none."""
    try:
        return rows_of(decode_tsv(await transport.select_in("tsv", QUERY, until), VARIABLES), VARIABLES)
    except Fault as fault:
        return fault


async def test_a_total_tells_of_a_cut_that_left_no_row() -> None:
    async with asking(CATALOGUE["row-cap-by-total"]) as (_, transport):
        with pytest.raises(AnswerCut):
            decode(await transport.select(f"{QUERY} LIMIT 1", Deadline.after(SECONDS)), VARIABLES)


@pytest.mark.parametrize("fault", DETECTABLE, ids=repr)
async def test_a_fault_is_in_the_mark_of_every_node_that_was_asked_for(fault: InjectedFault) -> None:
    async with asking(fault) as (_, transport):
        store = SparqlStore(transport, Profile())
        call = Call(deadline(fault), requests=50, rows=10_000, nodes=10_000)
        answers = await store.edges(NODES[:2], call)
    assert set(answers) == set(NODES[:2])
    for answer in answers.values():
        assert answer.mark.fault is not None
        assert not answer.mark.whole


@pytest.mark.parametrize("name", ["row-cap-by-header", "row-cap-by-206", "row-cap-by-total", "anytime-partial"])
async def test_an_answer_of_which_the_endpoint_says_that_it_is_a_part_is_cut(name: str) -> None:
    async with asking(CATALOGUE[name]) as (_, transport):
        with pytest.raises(AnswerCut):
            decode(await transport.select(QUERY, Deadline.after(SECONDS)), VARIABLES)


@pytest.mark.parametrize("fault", UNDETECTABLE, ids=repr)
async def test_what_is_listed_as_undetectable_is_believed(fault: InjectedFault) -> None:
    async with asking(fault) as (proxy, transport):
        query = "SELECT (COUNT(*) AS ?count) WHERE { ?s ?p ?o }" if fault.name == "partial-count" else QUERY
        variables = ["count"] if fault.name == "partial-count" else VARIABLES
        wrong = decoded(await transport.select(query, Deadline.after(SECONDS)), *variables)
        await proxy.begin(each(None))
        assert wrong != decoded(await transport.select(query, Deadline.after(SECONDS)), *variables)


BELIEVED = [fault for fault in UNDETECTABLE if fault.name != "silently-empty"]


@pytest.mark.parametrize("fault", BELIEVED, ids=repr)
async def test_no_traversal_over_an_endpoint_that_is_not_trusted_is_complete(fault: InjectedFault) -> None:
    async with asking(fault) as (proxy, _), distrusting(proxy) as gateway:
        assert not (await gateway.bfs_query(SEEDS, 2, topology_only=True)).complete


@pytest.mark.parametrize("fault", BELIEVED, ids=repr)
async def test_no_intersection_over_an_endpoint_that_is_not_trusted_is_complete(fault: InjectedFault) -> None:
    async with asking(fault) as (proxy, _), distrusting(proxy) as gateway:
        assert not (await gateway.intersect_subgraphs(SEEDS, 2, topology_only=True)).complete


# Cuts between two rows, well-formed and without a sign: no answer is wrong and complete where the sentinel is last.

QUESTIONS: Final[dict[str, dict[str, Any]]] = {
    "bfs_query": {"seeds": SEEDS, "max_hops": 2, "topology_only": True},
    "intersect_subgraphs": {"seeds": SEEDS, "k": 1, "topology_only": True},
    "describe_entity": {"id": NODES[0]},
}
REQUESTS: Final = 12
"""More than any of these questions sends."""


@asynccontextmanager
async def gateway_behind_proxy(
    sentinel: Literal["auto"] | Sentinel = "auto",
) -> AsyncIterator[tuple[FaultProxy, Gateway]]:
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
    async with gateway_behind_proxy() as (proxy, gateway):
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
    async with gateway_behind_proxy() as (proxy, gateway):
        await proxy.begin(each(fault))
        assert not (await answered(gateway, "bfs_query"))["complete"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", BY_SENTINEL, ids=repr)
async def test_without_a_sentinel_an_entity_whose_edges_were_cut_is_believed(fault: InjectedFault) -> None:
    # What the sentinel is for: the same cut, and nothing shows it.
    async with gateway_behind_proxy("none") as (proxy, gateway):
        clean = content(await answered(gateway, "describe_entity"))
        believed = []
        for number in range(REQUESTS):
            await proxy.begin(at((number, fault)))
            answer = await answered(gateway, "describe_entity")
            believed.append(answer["complete"] and content(answer) != clean)
        assert any(believed)
