"""Reading alone: the bodies of recorded answers become rows, and nothing else is done. It is the floor of CPU time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.contenders.asking import PlainClient
from benchmarks.contenders.base import NO_ANSWER, Size
from benchmarks.recording import Recording, Request
from gateway.sparql.json_rows import decode
from gateway.sparql.sentinel import END
from gateway.sparql.tsv_rows import decode_tsv


@dataclass(frozen=True, slots=True)
class Header:
    """What a reader has to know of an answer beside its format.

    Attributes:
        variables: What the query projects.
        iris: Those that bind IRIs and blank nodes only, where the format does not tell them from literals.
    """

    variables: Sequence[str]
    iris: Sequence[str] = ()


def header_of(request: Request, body: bytes) -> Header:
    """Return the header of an answer."""
    if request.wanted == "json":
        return Header(json.loads(body)["head"]["vars"])
    header = body[: body.index(b"\n")].decode()
    variables = [name.strip('?"') for name in header.split("\t")]
    # In quotation marks are IRIs: the gateway asks Virtuoso for TSV only where a query binds nothing else.
    return Header(variables, [name for name in variables if name != END] if header.startswith('"') else ())


class RowReader:
    """Reads the answers to recorded requests into rows, as this gateway reads them, and forgets the rows."""

    def __init__(self, client: PlainClient, recorded: Recording) -> None:
        self._client = client
        self._bodies = recorded.bodies
        self._headers = {request.query: header_of(request, body) for request, body in recorded.bodies}

    async def read(self, request: Request) -> int:
        """Send a request and read its answer; return how many bytes it has."""
        body = await self._client.body(request)
        self._decode(request, body)
        return len(body)

    async def read_recorded(self) -> Size:
        """Read the answers that were recorded, and send nothing."""
        for request, body in self._bodies:
            self._decode(request, body)
        return NO_ANSWER

    def _decode(self, request: Request, body: bytes) -> None:
        header = self._headers[request.query]
        if request.wanted == "json":
            decode(body, header.variables)
        else:
            decode_tsv(body, header.variables, iris=header.iris)
