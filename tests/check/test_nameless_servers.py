"""Real engines behind a proxy that takes away what they are known by: their answers are proven without a setting."""

from collections.abc import Mapping
from typing import Final

import pytest

from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.settings.endpoint import Sentinel
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.check.test_servers import checked
from tests.columns import Column, ColumnName
from tests.faults.catalogue import BY_SENTINEL
from tests.faults.injected import InjectedFault
from tests.faults.proxy import each, fault_proxy
from tests.faults.reply import Answer

FOUND: Final[Mapping[ColumnName, Sentinel]] = {"rdf4j": "united", "oxigraph": "sorted", "blazegraph": "sorted"}
"""Fuseki and Virtuoso keep the order of a UNION as RDF4J does."""

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.server,
    pytest.mark.parametrize("engine", list(FOUND), indirect=True),
]

DRUG = "<https://example.org/medical/drug/warfarin>"


def nameless(answer: Answer) -> Answer:
    """Return rows with no header but their type, and nothing for what is no answer to a query."""
    # Blazegraph writes its description of itself as rows, too.
    if answer.results is None or b"http://www.bigdata.com/" in answer.body:
        return Answer(b"no query", 400, {"Content-Type": "text/plain"})
    return Answer(answer.body, 200, {"Content-Type": answer.headers["Content-Type"]})


def without_names(fault: InjectedFault | None = None) -> InjectedFault:
    """Return the fault that an engine is not named, and another one if given."""
    spoil = fault.spoil if fault is not None else nameless
    return InjectedFault("nameless", "any proxy", lambda answer: spoil(nameless(answer)))


async def test_no_answer_that_was_cut_is_complete_though_nothing_names_the_engine(engine: Column) -> None:
    settings = engine.settle("medical", Profile())
    async with fault_proxy(engine.url("medical"), each(without_names())) as proxy:
        found = await checked(proxy.url(), settings)
        assert found.report.claims.engine.value is None
        assert found.report.claims.sentinel.value == FOUND[engine.name]
        async with open_gateway(endpoint=proxy.url(), profile=settings) as gateway:
            whole = await gateway.bfs_query([DRUG], 2, topology_only=True)
            assert (whole.complete, whole.levels) == (True, [1, 15, 18])
            for fault in BY_SENTINEL:
                gateway.forget()
                await proxy.begin(each(without_names(fault)))
                assert not (await _answered(gateway))


async def _answered(gateway: Gateway) -> bool:
    """Tell whether the drug and its neighbours come, and are said to be all."""
    try:
        return (await gateway.bfs_query([DRUG], 2, topology_only=True)).complete
    except GatewayError:
        return False
