"""In which format a query is asked for, and what happens where the endpoint's TSV cannot be read."""

import json
import re
from dataclasses import dataclass, field

import anyio
import pytest

from gateway.errors import BrokenAnswer, EndpointFault, GaveUp, NetworkFault, WrongFormat
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import EndpointSettings, EngineName, RequestSettings
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import EngineDetector
from gateway.sparql.learned import FormatChoice
from gateway.transport.base import Format

pytestmark = pytest.mark.anyio

NODES = {"nodes": ["http://example.org/a"]}
MARKER = b"the marker"
"""Stands for that of the query that is answered."""

LINES = b'?n\t?end\n<http://example.org/a>\t\n\t"' + MARKER + b'"\n'
IRI = {"type": "uri", "value": "http://example.org/a"}
END = {"end": {"type": "literal", "value": MARKER.decode()}}
IN_JSON = json.dumps({"head": {"vars": ["n", "end"]}, "results": {"bindings": [{"n": IRI}, END]}}).encode()


@dataclass
class InTwoFormats:
    """A transport that gives one answer in TSV and one in JSON, and remembers what it was asked for."""

    lines: bytes | Exception = LINES
    in_json: bytes | Exception = IN_JSON
    asked: list[Format] = field(default_factory=list)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Answer a query in JSON."""
        return await self.select_in("json", query, deadline, spend)

    async def select_in(self, wanted: Format, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer a query in a format."""
        await anyio.lowlevel.checkpoint()
        self.asked.append(wanted)
        answer = self.lines if wanted == "tsv" else self.in_json
        if isinstance(answer, Exception):
            raise answer
        return answer.replace(MARKER, "".join(re.findall(r'BIND\("(.+?)" AS \?end\)', query)).encode())

    async def close(self) -> None:
        """Let go of nothing."""


def client(transport: InTwoFormats, engine: EngineName = "fuseki", wanted: str = "auto") -> SparqlClient:
    endpoint = EndpointSettings.model_validate({
        "engine": engine, "format": wanted, "sentinel": "united", "requests": RequestSettings(retries=0)
    })  # fmt: skip
    profile = Profile(endpoint=endpoint)
    flow = FlowControl(endpoint.requests)
    return SparqlClient(transport, profile, flow, EngineDetector(transport, profile, flow))


def call(requests: int = 100) -> Call:
    return Call(Deadline.after(60), requests, 100_000, 1_000)


async def test_an_answer_in_tsv_is_read_as_the_one_in_json() -> None:
    transport = InTwoFormats()
    for wanted in ("tsv", "json"):
        rows = (await client(transport, wanted=wanted).rows("existing", call(), NODES)).whole()
        assert rows.iris("n") == ["http://example.org/a"]
    assert transport.asked == ["tsv", "json"]


async def test_where_no_last_row_proves_the_end_of_an_answer_it_is_asked_for_in_json() -> None:
    body = json.dumps({"head": {"vars": ["alive"]}, "results": {"bindings": []}}).encode()
    transport = InTwoFormats(in_json=body)
    await client(transport, wanted="tsv").rows("alive", call(), {})
    assert transport.asked == ["json"]


async def test_what_ends_behind_a_line_is_a_cut_without_the_row_that_proves_the_end() -> None:
    _, is_cut = (
        await client(InTwoFormats(LINES.removesuffix(b'\t"' + MARKER + b'"\n'))).rows("existing", call(), NODES)
    ).part()
    assert is_cut


ODD = b"?n\t?end\n<http://example.org/a>\tNaN\n"


@pytest.mark.parametrize("lines", [ODD, IN_JSON + b"\n", WrongFormat("HTML.")], ids=["a line", "JSON", "another type"])
async def test_a_query_whose_tsv_cannot_be_read_is_asked_in_json_at_once_and_from_then_on(
    lines: bytes | Exception,
) -> None:
    transport = InTwoFormats(lines)
    asking, paid = client(transport), call()
    assert len((await asking.rows("existing", paid, NODES)).whole()) == 1
    assert paid.sent == 2
    await asking.rows("existing", call(), NODES)
    assert transport.asked == ["tsv", "json", "json"]
    await asking.rows("subjects", call(), NODES)
    assert transport.asked[3:] == ["tsv", "json"]


async def test_json_is_asked_for_from_then_on_only_if_it_could_be_read() -> None:
    transport = InTwoFormats(WrongFormat("A page."), NetworkFault("Down."))
    asking = client(transport)
    with pytest.raises(NetworkFault):
        await asking.rows("existing", call(), NODES)
    transport.lines = LINES
    assert len((await asking.rows("existing", call(), NODES)).whole()) == 1
    assert transport.asked == ["tsv", "json", "tsv"]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (LINES[:-3], BrokenAnswer),
        (LINES + b"##  Query cancelled due to timeout during execution   ##\n", GaveUp),
        (EndpointFault("Odd."), EndpointFault),
    ],
)
async def test_no_other_fault_is_a_reason_to_ask_in_json(lines: bytes | Exception, fault: type[Exception]) -> None:
    transport = InTwoFormats(lines)
    with pytest.raises(fault):
        await client(transport).rows("existing", call(), NODES)
    assert transport.asked == ["tsv"]


async def test_a_call_pays_for_the_question_in_json() -> None:
    transport = InTwoFormats(ODD)
    with pytest.raises(Exception, match="requests"):
        await client(transport).rows("existing", call(1), NODES)
    assert transport.asked == ["tsv"]


CHOSEN: list[tuple[str, EngineName, str, bool, Format]] = [
    ("auto", "fuseki", "facts", True, "tsv"),
    ("auto", "fuseki", "facts", False, "json"),
    ("auto", "virtuoso", "edges", True, "tsv"),
    ("auto", "virtuoso", "facts", True, "json"),
    ("auto", "oxigraph", "edges", True, "json"),
    ("auto", "unknown", "edges", True, "json"),
    ("tsv", "oxigraph", "facts", True, "tsv"),
    ("tsv", "oxigraph", "facts", False, "json"),
    ("tsv", "virtuoso", "facts", True, "json"),
    ("json", "fuseki", "facts", True, "json"),
]


@pytest.mark.parametrize(("pinned", "engine", "name", "is_proven", "chosen"), CHOSEN)
def test_tsv_is_asked_for_where_it_is_fast_and_can_be_read_and_its_end_is_proven(
    pinned: str, engine: EngineName, name: str, is_proven: bool, chosen: Format
) -> None:
    assert FormatChoice(pinned).of(template.load(name), engine, is_proven=is_proven) == chosen
