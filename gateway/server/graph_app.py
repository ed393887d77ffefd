"""The explorer page as an MCP App: hosts that draw Apps show the answer of a tool as a graph.

Source: the extension `io.modelcontextprotocol/ui` (SEP-1865). Clients that do not announce it see no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_types import ReadResourceResult, Resource, TextResourceContents, Tool

from gateway.resources import explorer_page
from gateway.server.client import Context

URI = "ui://bfsql/graph"
MIME_TYPE = "text/html;profile=mcp-app"
EXTENSION = "io.modelcontextprotocol/ui"

DRAWN = frozenset({"bfs_query", "intersect_subgraphs", "describe_entity"})
"""The tools whose answers the page draws."""

_LINK = {"ui": {"resourceUri": URI}}
_RESOURCE = Resource(
    uri=URI,
    name="graph",
    title="The answer as a graph",
    description="Draws the nodes and edges of an answer, and what it lacks. It loads nothing from outside.",
    mime_type=MIME_TYPE,
)


def is_supported_by(context: Context) -> bool:
    """Return whether a client draws Apps."""
    capabilities = context.session.client_capabilities
    extensions = (capabilities.extensions if capabilities is not None else None) or {}
    types = extensions.get(EXTENSION, {}).get("mimeTypes")
    return isinstance(types, list) and MIME_TYPE in types


def linked(tools: Sequence[Tool], context: Context) -> list[Tool]:
    """Return the tools, linked to the page for a client that draws Apps."""
    if not is_supported_by(context):
        return list(tools)
    return [
        tool.model_copy(update={"meta": {**(tool.meta or {}), **_LINK}}) if tool.name in DRAWN else tool
        for tool in tools
    ]


def resources(context: Context) -> list[Resource]:
    """Return the page as a resource for a client that draws Apps."""
    return [_RESOURCE] if is_supported_by(context) else []


def read() -> ReadResourceResult:
    """Return the page. Its policy is the host's default, which lets it load nothing."""
    text = explorer_page().read_text(encoding="utf-8")
    return ReadResourceResult(contents=[TextResourceContents(uri=URI, mime_type=MIME_TYPE, text=text)])
