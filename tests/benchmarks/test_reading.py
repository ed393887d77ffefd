"""The floor of CPU time: every recorded body is read, in the format in which it came."""

import json

import pytest

from benchmarks.contenders.base import NO_ANSWER
from benchmarks.contenders.reading import Body, bodies_of, read
from benchmarks.recording import Recording
from gateway.errors import EndpointFault

JSON = json.dumps({"head": {"vars": ["s", "end"]}, "results": {"bindings": []}}).encode()
TSV = b'?s\t?end\n<http://example.org/a>\t\n\t"end"\n'
QUOTED = b'"s"\t"end"\n"http://example.org/a"\t\n\t"end"\n'


def test_the_variables_of_each_body_are_those_of_its_header() -> None:
    recorded = Recording(bodies=[("json", JSON), ("tsv", TSV), ("tsv", QUOTED)])
    assert bodies_of(recorded) == [
        Body("json", JSON, ["s", "end"], ()),
        Body("tsv", TSV, ["s", "end"], []),
        Body("tsv", QUOTED, ["s", "end"], ["s"]),
    ]


@pytest.mark.anyio
async def test_each_body_is_read_as_the_gateway_reads_it() -> None:
    assert await read(bodies_of(Recording(bodies=[("json", JSON), ("tsv", TSV), ("tsv", QUOTED)]))) == NO_ANSWER
    for body in (("json", JSON[:-1]), ("tsv", TSV[:-1]), ("tsv", QUOTED[:-1])):
        with pytest.raises(EndpointFault):
            await read([Body(body[0], body[1], ["s", "end"], ["s"])])
