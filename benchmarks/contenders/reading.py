"""Reading alone: the bodies of recorded answers become rows, and nothing else is done. It is the floor of CPU time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.contenders.base import NO_ANSWER, Size
from benchmarks.recording import Recording
from gateway.sparql.results.decoder import decode
from gateway.sparql.results.sentinel import END
from gateway.sparql.results.tsv import decode_tsv
from gateway.transport.formats import Format


@dataclass(frozen=True, slots=True)
class Body:
    """The body of an answer.

    Attributes:
        written: Its format.
        text: Its bytes.
        variables: What its query projects.
        iris: Those that bind IRIs and blank nodes only, where the format does not tell them from literals.
    """

    written: Format
    text: bytes
    variables: Sequence[str]
    iris: Sequence[str]


def bodies_of(recorded: Recording) -> list[Body]:
    """Return the recorded answers."""
    return [_body(written, text) for written, text in recorded.bodies]


def _body(written: Format, text: bytes) -> Body:
    if written == "json":
        return Body(written, text, json.loads(text)["head"]["vars"], ())
    header = text[: text.index(b"\n")].decode()
    variables = [name.strip('?"') for name in header.split("\t")]
    # In quotation marks are IRIs: the gateway asks Virtuoso for TSV only where a query binds nothing else.
    iris = [name for name in variables if name != END] if header.startswith('"') else []
    return Body(written, text, variables, iris)


async def read(bodies: Sequence[Body]) -> Size:
    """Read all bodies into rows, as this gateway reads them."""
    for body in bodies:
        if body.written == "json":
            decode(body.text, body.variables)
        else:
            decode_tsv(body.text, body.variables, iris=body.iris)
    return NO_ANSWER
