"""Calls the tools of a gateway that may still be opening, within the limits of the server."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from gateway.engine.answers import CompactAnswer, ToolAnswer
from gateway.errors import GatewayError
from gateway.graph.other_graphs import OtherGraphs
from gateway.server.calls import Calls
from gateway.server.client import Client
from gateway.server.gateway_opener import GatewayOpener, OnProgress, ignore_progress
from gateway.server.origin import SOLE, Origin
from gateway.telemetry.collecting import concerning
from gateway.telemetry.tally import Tally

if TYPE_CHECKING:
    from gateway.engine.gateway import Gateway

_log = logging.getLogger(__name__)

_UNEXPECTED = (
    "This gateway has a defect; the details are in its log. Try once more. If it fails again, tell the operator of the "
    "gateway."
)

Result = TypeVar("Result")

OthersOf = Callable[[Client | None], OtherGraphs]


def no_others(_: Client | None) -> OtherGraphs:
    """Return no graphs: the server has one."""
    return {}


class ToolCaller:
    """Calls tools by name; tools, resources and completions share it and its limits.

    Args:
        opener: The gateway.
        calls: The limits of calls that run at once.
        others: Returns the other graphs of the server that a client may see.
    """

    def __init__(self, opener: GatewayOpener, calls: Calls, others: OthersOf = no_others) -> None:
        self._opener = opener
        self._calls = calls
        self._others = others

    async def answer(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: OnProgress = ignore_progress,
        origin: Origin = SOLE,
    ) -> ToolAnswer | CompactAnswer:
        """Return the answer of a tool, in the shape that the server sends.

        Raises:
            GatewayError: The call failed, whatever the cause; the text is for the caller.
        """
        shape = self._opener.profile.server.shape

        def call(gateway: Gateway) -> Awaitable[ToolAnswer | CompactAnswer]:
            return gateway.call(tool, arguments, progress, shape=shape, others=self._others(origin.authenticated))

        return await self.run(tool, call, progress, origin)

    async def run(
        self,
        tool: str,
        work: Callable[[Gateway], Awaitable[Result]],
        progress: OnProgress = ignore_progress,
        origin: Origin = SOLE,
    ) -> Result:
        """Return the result of a call to a tool, after the gateway is open.

        Args:
            tool: The tool that `work` calls.
            work: Calls it.
            progress: Receives how much of the graph is loaded.
            origin: Where the call comes from.

        Raises:
            GatewayError: The call failed, whatever the cause; the text is for the caller.
        """
        concerning(self._opener.name)
        # The gateway records the calls that reach it; this records the others.
        unrecorded: Tally | None = Tally(tool)

        async def answered() -> Result:
            nonlocal unrecorded
            gateway = await self._opener.gateway(progress)
            unrecorded = None
            return await work(gateway)

        try:
            return await self._calls.run(answered, origin)
        except BaseException as error:
            if unrecorded is not None:
                unrecorded.failed(error)
            if isinstance(error, GatewayError):
                # Not logged above debugging: the text quotes the caller, and the record of the call has the class of
                # the error.
                _log.debug("%s: %s", tool, error)
                raise
            if isinstance(error, Exception):
                _log.exception("%s failed", tool)
                # A defect must not reach a model as silence or as a traceback.
                raise GatewayError(_UNEXPECTED) from error
            raise
