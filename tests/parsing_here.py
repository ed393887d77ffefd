"""Parsing files in the process of a test: it takes forty milliseconds of processor time to start one for each file."""

import io
import json
import subprocess
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import IO

import pytest

from gateway.files import parser, parser_process, parser_streams
from gateway.files.parser_streams import HEADER, REQUEST, ParseRequest


class ParserHere:
    """Stands where the process of a parser stands, and sends the same frames, by the same code.

    What it lacks is what the process is there for: limits, and an end that leaves the caller alone.
    """

    def __init__(
        self, command: Sequence[str], *, stdin: io.FileIO, stdout: int, stderr: IO[bytes], env: Mapping[str, str]
    ) -> None:
        del stdout, stderr
        frames = io.BytesIO()

        def send(kind: bytes, content: bytes) -> None:
            frames.write(HEADER.pack(kind, len(content)))
            frames.write(content)

        if "main_of_several" in command[-1]:
            parser.answer_several(stdin.read(), send)
        else:
            parser.answer(io.FileIO(stdin.fileno(), closefd=False), ParseRequest(**json.loads(env[REQUEST])), send)
        frames.seek(0)
        self.stdout = frames

    def wait(self) -> int:
        """Return how it ended."""
        return 0

    def kill(self) -> None:
        """Do nothing: it has ended."""


def parse_here(patch: pytest.MonkeyPatch) -> None:
    """Let files be parsed in this process from now on."""
    patch.setattr(parser_process, "subprocess", SimpleNamespace(Popen=ParserHere, PIPE=subprocess.PIPE))
    # A limit of processor time would end the process of the tests.
    for module in (parser, parser_streams):
        patch.setattr(module, "grant_cpu", lambda _seconds: None)
