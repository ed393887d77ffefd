"""An engine that reads some IRIs as others is found out, whatever else is in the batch."""

import json
import re

import pytest

from gateway.errors import QueryRefused
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Spend, unpaid
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import RequestSettings
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient

pytestmark = pytest.mark.anyio

KEPT, REWRITTEN, REFUSED = "http://EX.org/kept", "http://e.org/a/../b", "http://E.org/%zz"


class Rewriting:
    """An engine that resolves dot segments, and refuses a bad percent sign."""

    async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Say how the IRIs of a query are read."""
        if "%zz" in query:
            raise QueryRefused("No IRI.")
        read = [iri.replace("/a/../", "/") for iri in re.findall("<(.*?)>", query)]
        rows = [{"n": {"type": "uri", "value": iri}} for iri in read]
        return json.dumps({"head": {"vars": ["n"]}, "results": {"bindings": rows}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


@pytest.mark.parametrize("query_rows", [1, 2, 1_000])
async def test_a_refused_iri_does_not_hide_one_that_is_rewritten(query_rows: int) -> None:
    client = SparqlClient(Rewriting(), Profile(), FlowControl(RequestSettings()))
    client.query_rows = query_rows
    call = Call(Deadline.after(60), 100, 1_000, 1_000)
    faults = await client.rewritten(["http://e.org/plain", KEPT, REFUSED, REWRITTEN], call)
    assert faults.keys() == {REFUSED, REWRITTEN}
    sent = call.sent
    assert (await client.rewritten([KEPT, REWRITTEN], call)).keys() == {REWRITTEN}
    assert call.sent == sent
