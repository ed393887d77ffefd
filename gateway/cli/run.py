"""Carries out the requests of all commands but `serve`. The heavy imports are here and below: `--help` needs none."""

from __future__ import annotations

import asyncio

from gateway.cli.commands import CheckRequest, DemoRequest, IndexRequest, ToolRequest
from gateway.cli.log import lower_level
from gateway.cli.options import CommonOptions
from gateway.cli.screen import Screen
from gateway.errors import ConfigurationError, GatewayError, InputError
from gateway.settings.load import load_profile
from gateway.settings.urls import without_query

RunRequest = ToolRequest | CheckRequest | IndexRequest | DemoRequest


def run(request: RunRequest) -> int:
    """Carry out a request, and return the exit status.

    Raises:
        GatewayError: It failed; the text names the configured endpoint if that failed.
    """
    lower_level(request.options.verbose)
    try:
        return _run(request)
    except (InputError, ConfigurationError):
        raise
    except GatewayError as error:
        url = "" if isinstance(request, DemoRequest) else _configured_url(request.options)
        if not url:
            raise
        raise GatewayError(str(error), valid=f"The configured URL is {without_query(url)}") from error


def _run(request: RunRequest) -> int:
    match request:
        case ToolRequest():
            from gateway.cli.tool_call import call_tool  # noqa: PLC0415 - each command imports only what it needs

            call_tool(request)
        case CheckRequest(options):
            from gateway.cli.check import check  # noqa: PLC0415 - only a check needs SPARQLWrapper

            return check(options)
        case IndexRequest(options, rebuild):
            from gateway.cli.index import index  # noqa: PLC0415

            index(options, rebuild=rebuild)
        case DemoRequest():
            from gateway.cli.demo import play  # noqa: PLC0415 - it needs the whole MCP library, as a server does

            asyncio.run(play(Screen()))
    return 0


def _configured_url(options: CommonOptions) -> str:
    """Return the URL of the endpoint; empty for a graph in this process."""
    if options.graph:
        return ""
    return options.endpoint or (load_profile(options.profile).endpoint.url if options.profile else "")
