"""The floor of CPU time: every recorded answer is read into rows, in the format in which it came."""

import json

import pytest

from benchmarks.contenders.asking import PlainClient
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import NO_ANSWER
from benchmarks.contenders.reading import Header, RowReader, header_of
from benchmarks.recording import Recording, Request
from gateway.errors import EndpointFault
from gateway.transport.base import Format

BODIES: dict[str, tuple[Format, bytes]] = {
    "by JSON": ("json", json.dumps({"head": {"vars": ["s", "end"]}, "results": {"bindings": []}}).encode()),
    "by TSV": ("tsv", b'?s\t?end\n<http://example.org/a>\t\n\t"end"\n'),
    "by Virtuoso": ("tsv", b'"s"\t"end"\n"http://example.org/a"\t\n\t"end"\n'),
}


class Server(PlainClient):
    """Answers as recorded, or with an answer that lacks its last bytes."""

    def __init__(self, lost: int) -> None:
        self._lost = lost

    async def body(self, request: Request) -> bytes:
        """Return an answer."""
        _, text = BODIES[request.query]
        return text[: len(text) - self._lost]


def recorded(*queries: str) -> Recording:
    answers = [(Request(query, 0, BODIES[query][0]), BODIES[query][1]) for query in queries]
    total = sum(len(body) for _, body in answers)
    return Recording([request for request, _ in answers], bytes=total, answers=len(answers), bodies=answers)


def test_the_variables_of_each_body_are_those_of_its_header() -> None:
    assert [header_of(request, body) for request, body in recorded(*BODIES).bodies] == [
        Header(["s", "end"]),
        Header(["s", "end"]),
        Header(["s", "end"], ["s"]),
    ]


@pytest.mark.anyio
async def test_each_answer_is_read_as_the_gateway_reads_it() -> None:
    seen = recorded(*BODIES)
    reader = RowReader(Server(lost=0), seen)
    assert await reader.read_recorded() == NO_ANSWER
    assert await resend(reader, seen, 2, in_steps=True) == NO_ANSWER


@pytest.mark.anyio
@pytest.mark.parametrize("query", BODIES)
async def test_an_answer_that_is_cut_is_not_measured(query: str) -> None:
    seen = recorded(query)
    with pytest.raises(EndpointFault):
        await RowReader(Server(lost=1), seen).read(seen.requests[0])
