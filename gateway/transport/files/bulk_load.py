"""Loads a stream of N-Triples into one store, or into two at once.

It uses the one loader that lets go of the GIL while it sorts and writes: `bulk_extend` holds it for seconds, and a
server that loads has to answer meanwhile.
"""

from __future__ import annotations

import io
import os
import threading
from typing import IO, BinaryIO

import pyoxigraph
from typing_extensions import Buffer

CHUNK = 1 << 18
"""Bytes read at once."""


def bulk_load(triples: BinaryIO, engine: pyoxigraph.Store, copy: pyoxigraph.Store | None = None) -> None:
    """Load N-Triples that a parser has checked into a store, and at the same time into a copy of it.

    Raises:
        OSError: The source cannot be read, or a store cannot be written; what else the source raises is raised too.
        RuntimeError: A store cannot be written.
    """
    if copy is None:
        _load(triples, engine)
        return
    reading, writing = os.pipe()
    with open(writing, "wb", buffering=0) as output:  # noqa: PTH123 - a descriptor
        loader = _CopyLoader(copy, reading)
        loader.start()
        try:
            with io.BufferedReader(_Copied(triples, output), CHUNK) as source:
                _load(source, engine)
        finally:
            output.close()
            loader.join()
    if loader.error is not None:
        raise loader.error
    if not loader.is_whole:
        raise RuntimeError("the copy was not loaded to its end")


def _load(triples: IO[bytes], engine: pyoxigraph.Store) -> None:
    engine.bulk_load(triples, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)


class _CopyLoader(threading.Thread):
    """Loads what comes out of a pipe into a store."""

    def __init__(self, engine: pyoxigraph.Store, reading: int) -> None:
        super().__init__(name="copying", daemon=True)
        self._engine: pyoxigraph.Store | None = engine
        self._reading = reading
        self.error: OSError | RuntimeError | SyntaxError | None = None
        # Whatever else ends the thread, an engine's panic or too little memory, leaves a part of the graph.
        self.is_whole = False

    def run(self) -> None:
        try:
            with open(self._reading, "rb") as source:  # noqa: PTH123 - a descriptor
                if self._engine is not None:
                    _load(source, self._engine)
            self.is_whole = True
        except (OSError, RuntimeError, SyntaxError) as error:
            # A source that was cut ends within a triple; then the caller raises what cut it.
            self.error = error
        finally:
            # Oxigraph closes a store when no name holds it.
            self._engine = None


class _Copied(io.RawIOBase):
    """A stream that writes to a pipe what is read from it, as long as somebody reads the pipe."""

    def __init__(self, source: BinaryIO, output: io.FileIO) -> None:
        super().__init__()
        self._source = source
        self._output: io.FileIO | None = output

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        chunk = self._source.read(view.nbytes)
        view[: len(chunk)] = chunk
        rest = memoryview(chunk)
        while self._output is not None and rest:
            try:
                rest = rest[self._output.write(rest) :]
            except BrokenPipeError:
                self._output = None
        return len(chunk)
