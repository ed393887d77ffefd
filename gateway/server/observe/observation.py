"""What a server observes of itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server import Server

from gateway.errors import ConfigurationError
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.observe.audit_log import AuditLog, ignore_loss
from gateway.server.observe.pages import Pages, Readiness
from gateway.server.observe.watching import Watching
from gateway.settings.serving import ObserveSettings

if TYPE_CHECKING:
    from gateway.server.observe.metrics import Metrics

_SECONDS = 0.5
"""How often it is measured."""


@asynccontextmanager
async def measured_lag(observe: Callable[[float], object]) -> AsyncIterator[None]:
    """Measure while the block runs how many seconds late the loop wakes a task.

    Args:
        observe: Receives each measurement, in seconds.
    """

    async def measure() -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _SECONDS
            await asyncio.sleep(_SECONDS)
            observe(max(0.0, loop.time() - due))

    task = asyncio.create_task(measure())
    try:
        yield
    finally:
        task.cancel()


class Observation:
    """The counts, the audit log and the pages of one server.

    Args:
        settings: What is wanted.
        graphs: The opener of each graph by its name; the name of the only one is empty.

    Attributes:
        pages: The pages for operators.
        metrics: The counts; None without them.

    Raises:
        ConfigurationError: The package for metrics is not installed, or the audit log cannot be opened.
    """

    def __init__(self, settings: ObserveSettings, graphs: Mapping[str, GatewayOpener]) -> None:
        self._address = settings.metrics
        readiness = {name: Readiness(opener) for name, opener in graphs.items()}
        self.metrics = None if settings.metrics is None else _metrics(readiness)
        self.pages = Pages(readiness, self.metrics)
        on_loss = ignore_loss if self.metrics is None else self.metrics.observe_lost_audit_line
        self._audit_log = None if settings.audit_log is None else AuditLog(settings.audit_log, on_loss)

    def watch(self, server: Server[Any]) -> None:
        """Observe the requests that a server handles."""
        observers = [each.observe for each in (self.metrics, self._audit_log) if each is not None]
        if not observers:
            return
        if self.metrics is None:
            server.middleware.append(Watching(observers))
        else:
            server.middleware.append(Watching(observers, self.metrics.under_way))

    def close(self) -> None:
        """Write the last lines of the audit log."""
        if self._audit_log is not None:
            self._audit_log.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Measure and serve the pages while the block runs, and write the last lines of the audit log after it.

        Raises:
            ConfigurationError: The address of the pages cannot be used.
        """
        async with AsyncExitStack() as stack:
            stack.callback(self.close)
            if self.metrics is not None:
                await stack.enter_async_context(measured_lag(self.metrics.observe_lag))
            if self.metrics is not None and self._address is not None:
                # Only over HTTP, with its server.
                from gateway.server.observe.port import operators_port  # noqa: PLC0415

                app = self.pages.alone(self._address[0], self.metrics)
                await stack.enter_async_context(operators_port(app, *self._address))
            yield


def _metrics(graphs: Mapping[str, Readiness]) -> Metrics:
    try:
        from gateway.server.observe.metrics import Metrics  # noqa: PLC0415 - a package of an extra
    except ImportError as error:
        raise ConfigurationError(
            "Metrics need the package prometheus-client.",
            next_step="Install it: pip install 'bfsql-gateway[metrics]'.",
        ) from error
    metrics = Metrics()
    for name, graph in graphs.items():
        graph.on_asked = metrics.show_ready(name, lambda graph=graph: graph.latest == "ready")  # type: ignore[misc]
    return metrics
