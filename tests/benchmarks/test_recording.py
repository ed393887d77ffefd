"""A recorded gateway asks as one that is not recorded: what is measured is what users run."""

from typing import Final

import pytest
from typing_extensions import is_protocol

from benchmarks.contenders.asking import plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import NO_ANSWER
from benchmarks.contenders.ours import Ours, size_of
from benchmarks.questions import DESMOPRESSIN, Question
from benchmarks.recording import RecordingTransport
from gateway.transport import base
from gateway.transport.base import TimeoutPolicy
from gateway.transport.http import Http
from tests.cases import check_each
from tests.columns import Column

TWO_HOPS: Final = Question("2 hops", "medlit", "local", (DESMOPRESSIN,), 2)
FORMATS: Final = {"oxigraph": {"json"}, "fuseki": {"tsv"}, "virtuoso": {"json", "tsv"}}
"""As each engine is asked once it is recognised; one that is not is asked for JSON only."""

SENTINEL: Final = " AS ?end)"


def test_a_recording_transport_has_all_that_the_gateway_looks_for_in_the_one_behind_it() -> None:
    http = Http("http://127.0.0.1:9/sparql", max_bytes=1)
    recording = RecordingTransport(http)
    protocols = [one for one in vars(base).values() if isinstance(one, type) and is_protocol(one)]
    capabilities = [one for one in protocols if getattr(one, "_is_runtime_protocol", False) and isinstance(http, one)]
    assert len(capabilities) >= 3
    check_each(capabilities, lambda one: _check_is(recording, one))


def _check_is(transport: object, protocol: type) -> None:
    assert isinstance(transport, protocol)


def test_how_the_time_left_is_sent_reaches_the_transport_behind() -> None:
    http = Http("http://127.0.0.1:9/sparql", max_bytes=1)
    RecordingTransport(http).timeout_policy = TimeoutPolicy(timeout_parameter="timeout")
    assert http.timeout_policy.timeout_parameter == "timeout"


@pytest.mark.server
@pytest.mark.data
@pytest.mark.anyio
@pytest.mark.parametrize("engine", list(FORMATS), indirect=True)
async def test_the_engine_is_recognised_behind_a_recording_and_the_bare_client_reads_the_same_answers(
    engine: Column,
) -> None:
    graphs = engine.settle("medlit", Ours.at(engine.url("medlit"), "local").profile).endpoint.named_graphs
    ours = Ours.at(engine.url("medlit"), "local", graphs)
    try:
        with ours.wire.recording() as seen:
            size = size_of(await ours.topology(TWO_HOPS))
    finally:
        await ours.close()
    assert size.edges > 0
    assert {request.wanted for request in seen.requests} == FORMATS[engine.name]
    assert all(SENTINEL in request.query for request in seen.requests)
    async with plain_client(engine.url("medlit")) as client:
        assert await resend(client, seen, 4, in_steps=True) == NO_ANSWER
    assert seen.rows >= size.edges
