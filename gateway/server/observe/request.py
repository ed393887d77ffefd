"""One request of a client that reads a graph, as the metrics and the audit log see it when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.telemetry.record import Outcome, Record

Method = Literal["tools/call", "resources/read", "completion/complete"]

UNKNOWN_TOOL = "unknown"
"""In the place of a name that is no tool: a client can send any."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that has ended.

    Attributes:
        method: The MCP method.
        tool: The tool; `unknown` for a name that is none, empty for another method.
        client: The operator's name for who asked; empty without authentication.
        graph: The name of the graph; empty where the server has one.
        outcome: The outcome of its calls; a request that reached no tool has failed.
        seconds: How long it took.
        answer_bytes: Bytes of the answer's text.
        records: The records of the calls of tools that it made.
        arguments: The arguments, which belong to the user: for their size and digest alone.
    """

    method: Method
    tool: str
    client: str
    graph: str
    outcome: Outcome
    seconds: float
    answer_bytes: int
    records: tuple[Record, ...]
    arguments: Mapping[str, Any] = field(repr=False)


Observer = Callable[[Request], object]
"""Receives each request when it has ended; it must not raise, and returns at once."""
