"""Completions of the arguments of prompts and resource templates: quick, few, and never an error."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.client import ConnectMode
from mcp_types import CompleteRequestParams, CompletionArgument, PromptReference, ResourceTemplateReference

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.server.app import build, mcp_server
from gateway.server.calls import Calls, ToolCaller
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.prompts import MOST_RUNNING, Completer
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.calls import PATIENT_SERVER
from tests.cases import await_each
from tests.hidden import NAME, write_hidden_graph

pytestmark = pytest.mark.anyio

MEDICAL = resources.folder("fixtures") / "medical.ttl"
PATIENT = Profile(server=PATIENT_SERVER)
EXPLORE = PromptReference(type="ref/prompt", name="explore")
ENTITY = ResourceTemplateReference(type="ref/resource", uri="bfs-ql://entity/{id}")

Reference = PromptReference | ResourceTemplateReference


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with open_gateway(MEDICAL, profile=PATIENT) as opened:
        yield opened


async def completed(client: Client, ref: Reference, name: str, value: str) -> list[str]:
    result = await client.complete(ref, {"name": name, "value": value})
    return result.completion.values


CASES: Sequence[tuple[Reference, str, str, list[str]]] = [
    (EXPLORE, "name", "warf", ["warfarin"]),
    # The name that fits, as a client may show only what begins with the text.
    (EXPLORE, "name", "Couma", ["Coumadin"]),
    (PromptReference(type="ref/prompt", name="in_common"), "second", "warfarin", ["warfarin"]),
    (PromptReference(type="ref/prompt", name="what_is_known"), "name", "warfarin", ["warfarin"]),
    (ENTITY, "id", "warf", ["drug:warfarin"]),
    (ENTITY, "id", "drug:warf", ["drug:warfarin"]),
    (ENTITY, "id", "paper:warf", ["paper:P6"]),
    (ENTITY, "id", "nothing:warf", []),
    (ENTITY, "id", "drug:", []),
    (EXPLORE, "name", "", []),
    (EXPLORE, "name", "w", []),
    (EXPLORE, "name", "_-", []),
    (EXPLORE, "name", "warfarinus", []),
    (EXPLORE, "name", "w" * 5_000, []),
    (EXPLORE, "other", "warfarin", []),
    (ENTITY, "name", "warfarin", []),
    (PromptReference(type="ref/prompt", name="nothing"), "name", "warfarin", []),
    (ResourceTemplateReference(type="ref/resource", uri="bfs-ql://schema"), "id", "warfarin", []),
]


async def test_names_and_ids_that_fit_are_proposed(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:

        async def check(case: tuple[Reference, str, str, list[str]]) -> None:
            ref, name, value, expected = case
            proposed = await completed(client, ref, name, value)
            # Papers with this word in their titles follow.
            assert proposed[:1] == expected
            assert all(value.startswith(("Teaching paper", "paper:")) for value in proposed[1:])

        await await_each(CASES, check)


async def test_a_name_with_hidden_characters_is_not_proposed(tmp_path: Path) -> None:
    async with (
        open_gateway(write_hidden_graph(tmp_path), profile=PATIENT) as gateway,
        Client(await build(gateway)) as client,
    ):
        found = await gateway.search_entities("start")
        assert [hit.name for hit in found.result] == [NAME] * len(found.result) != []
        assert await completed(client, EXPLORE, "name", "start") == []


async def test_nothing_is_proposed_while_the_graph_is_not_there_or_fails(era: ConnectMode) -> None:
    closed = threading.Event()

    def wait(_: object) -> Gateway:
        closed.wait(60)
        raise ConfigurationError("no")

    opener = GatewayOpener(Profile(), wait)
    completer = Completer(ToolCaller(opener, Calls(60)), seconds=0.01)
    argument = CompletionArgument(name="name", value="warfarin")
    params = CompleteRequestParams(ref=EXPLORE, argument=argument)
    async with opener:
        early = await completer.complete(params)
        closed.set()
        async with Client(mcp_server(opener), mode=era) as client:
            late = await completed(client, EXPLORE, "name", "warfarin")
    assert early.completion.values == late == []


async def test_few_completions_search_at_once_and_the_others_propose_nothing(gateway: Gateway) -> None:
    released = threading.Event()

    def wait(_: object) -> Gateway:
        released.wait(60)
        return gateway

    opener = GatewayOpener(Profile(), wait)
    completer = Completer(ToolCaller(opener, Calls(60)), seconds=60)
    params = CompleteRequestParams(ref=EXPLORE, argument=CompletionArgument(name="name", value="warfarin"))
    async with opener:
        waiting = [asyncio.create_task(completer.complete(params)) for _ in range(MOST_RUNNING)]
        await asyncio.sleep(0)
        refused = await completer.complete(params)
        released.set()
        answered = [(await task).completion.values for task in waiting]
        again = await completer.complete(params)
    assert refused.completion.values == []
    assert [names[0] for names in answered] == ["warfarin"] * MOST_RUNNING
    assert again.completion.values[0] == "warfarin"
