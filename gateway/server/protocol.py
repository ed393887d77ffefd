"""What the MCP servers of one graph and of several have in common: what they announce, and how results are written."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp_types import CallToolResult, ServerCapabilities, TextContent

from gateway import PROGRAM
from gateway.engine.answers import CompactAnswer, ToolAnswer
from gateway.escaping import json_text, printable
from gateway.server.gateway_opener import OnProgress
from gateway.server.origin import Context


class AnnouncingServer(Server[dict[str, Any]]):
    """A server that announces what may change: the list of tools, and nothing else."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the options of a session; the list of tools may change."""
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> ServerCapabilities:
        """Return what clients are told; the lists of prompts and of resources do not change."""
        announced = super().get_capabilities(
            notification_options, experimental_capabilities, extensions, protocol_version=protocol_version
        )
        # The SDK announces a change of every list where a client can subscribe to any.
        for capability in (announced.prompts, announced.resources):
            if capability is not None:
                capability.list_changed = False
        return announced


def result_of(answer: ToolAnswer | CompactAnswer) -> CallToolResult:
    """Return the result of a call: the answer as text and as structured content, which are the same."""
    written = answer.as_json()
    return CallToolResult(content=[TextContent(type="text", text=json_text(written))], structured_content=written)


def error_result(text: str) -> CallToolResult:
    """Return the result of a call that failed."""
    return CallToolResult(content=[TextContent(type="text", text=printable(text))], is_error=True)


def progress_of(context: Context) -> OnProgress:
    """Return a function that reports progress to the client of a request.

    What the client sees never falls, as the protocol demands: stages that are counted apart, such as the names of a
    graph and the hops of a traversal, follow each other.
    """
    before = last = 0.0

    async def report(done: float, total: float, message: str) -> None:
        nonlocal before, last
        if before + done < last:
            before = last
        last = before + done
        await context.session.report_progress(last, before + total, message)

    return report


def package_version() -> str:
    """Return the version of this package; 0 in a checkout that is not installed."""
    try:
        return version(PROGRAM)
    except PackageNotFoundError:
        return "0"
