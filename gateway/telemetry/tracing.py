"""Spans of OpenTelemetry for calls and for requests to endpoints, where this process has set up tracing.

The SDK of MCP begins a span for each message of a client; these are below it. They have names of tools and templates,
counts, and classes of errors: no query, no ID, no text of an error and no address.

Nothing is imported here: who set up tracing has imported its API.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_API: Final = "opentelemetry.trace"
_TRACER: Final = "bfsql-gateway"

Attributes = Mapping[str, str | int | float | bool | tuple[str, ...]]


class RunningSpan:
    """A span that runs; without tracing, nothing.

    Args:
        span: The span of OpenTelemetry, if there is one.
    """

    __slots__ = ("_span",)

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        """Add facts to it."""
        if self._span is not None:
            self._span.set_attributes(attributes)


_NONE: Final = RunningSpan(None)


@contextmanager
def span(name: str, attributes: Attributes, *, to_endpoint: bool = False) -> Iterator[RunningSpan]:
    """Run a block inside a span; an error that ends it is noted by its class.

    Args:
        name: The name of the span.
        attributes: Facts that are known before.
        to_endpoint: Whether the block asks an endpoint and waits for it.
    """
    api = _api()
    if api is None:
        yield _NONE
        return
    tracer = api.get_tracer(_TRACER)
    kind = api.SpanKind.CLIENT if to_endpoint else api.SpanKind.INTERNAL
    # An error quotes the graph and the caller.
    quiet = {"record_exception": False, "set_status_on_exception": False}
    with tracer.start_as_current_span(name, kind=kind, attributes=attributes, **quiet) as running:
        try:
            yield RunningSpan(running)
        except BaseException as error:
            running.set_attribute("error.type", type(error).__name__)
            running.set_status(api.StatusCode.ERROR)
            raise


def trace_ids() -> dict[str, str]:
    """Return the IDs of the running trace and span, for a line of a log; empty outside a span."""
    api = sys.modules.get(_API)
    if api is None:
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def _api() -> Any:
    """Return the API of tracing if this process has set it up, else None."""
    api = sys.modules.get(_API)
    return None if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider) else api
