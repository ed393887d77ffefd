"""The resources: the schema, entities, and the explorer page as an MCP App; and who is told that one has changed.

Hosts that draw Apps show the answer of a tool as a graph. Source: the extension `io.modelcontextprotocol/ui`
(SEP-1865). Clients that do not announce it see no difference.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourceUpdated, SubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Annotations,
    NotificationParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
    Tool,
)

from gateway.errors import GatewayError, InputError, quoted
from gateway.escaping import json_text, printable
from gateway.resources import explorer_page
from gateway.server.calls import ToolCaller
from gateway.server.client import SOLE, Context, Origin
from gateway.server.gateway_opener import OnProgress

SCHEMA_URI = "bfs-ql://schema"
ENTITY_TEMPLATE = "bfs-ql://entity/{id}"
ENTITY_ARGUMENT = "id"

_ENTITY = ENTITY_TEMPLATE.removesuffix("{id}")
_JSON = "application/json"

RESOURCES = [
    Resource(
        uri=SCHEMA_URI,
        name="schema",
        title="Schema of the graph",
        description="What the graph contains, as describe_schema answers it: types and predicates with counts, the "
        "prefixes of IDs, and next steps.",
        mime_type=_JSON,
        annotations=Annotations(audience=["user", "assistant"], priority=1.0),
    )
]
TEMPLATES = [
    ResourceTemplate(
        uri_template=ENTITY_TEMPLATE,
        name="entity",
        title="An entity of the graph",
        description="What is known about one entity, as describe_entity answers it. The id is one that search_entities "
        "returns, or an IRI, percent-encoded.",
        mime_type=_JSON,
        annotations=Annotations(audience=["user", "assistant"]),
    )
]


async def read(
    uri: str, caller: ToolCaller, progress: OnProgress, origin: Origin = SOLE, asked: str = ""
) -> ReadResourceResult:
    """Return the content of a resource; `asked` is the URI by which the client names it, if that is another.

    Raises:
        MCPError: There is no such resource, or it could not be read.
    """
    try:
        if uri == SCHEMA_URI:
            answer = await caller.answer("describe_schema", {}, progress, origin)
        else:
            answer = await caller.answer("describe_entity", {"id": _entity_id(uri)}, progress, origin)
    except InputError as error:
        raise no_such_resource(asked or uri, str(error)) from error
    except GatewayError as error:
        raise MCPError(INTERNAL_ERROR, printable(str(error))) from error
    text = json_text(answer.as_json())
    return ReadResourceResult(contents=[TextResourceContents(uri=asked or uri, mime_type=_JSON, text=text)])


def no_such_resource(uri: str, text: str) -> MCPError:
    """Return the error for a URI that names no resource, with the code and data of 2026-07-28 for all versions."""
    return MCPError(INVALID_PARAMS, printable(text), {"uri": uri})


def _entity_id(uri: str) -> str:
    """Return the ID in the URI of an entity, decoded if it is encoded.

    Every ID has a colon, which encoding replaces, so one with a colon was not encoded.

    Raises:
        InputError: It is no URI of an entity.
    """
    if not uri.startswith(_ENTITY) or uri == _ENTITY:
        raise InputError(
            f"There is no resource {quoted(uri)}.",
            valid=f"The resources are {SCHEMA_URI} and {ENTITY_TEMPLATE}, with a percent-encoded ID.",
        )
    written = uri.removeprefix(_ENTITY)
    return written if ":" in written else unquote(written)


_log = logging.getLogger(__name__)

_MOST_SESSIONS = 1_000
"""The oldest are dropped: the SDK does not report the end of a session."""

_SECONDS = 5.0
"""For one client, which may have stopped reading."""


class ChangeNotifier:
    """Notifies clients of changes; the bus reaches those of the era of 2026-07-28, which subscribe."""

    def __init__(self, bus: SubscriptionBus) -> None:
        self._bus = bus
        self._sessions: deque[ServerSession] = deque(maxlen=_MOST_SESSIONS)
        self._tasks: set[asyncio.Task[None]] = set()

    async def add(self, context: Context, _params: NotificationParams) -> None:
        """Add the session of a client of the handshake era, which is ready now."""
        self._sessions.append(context.session)

    def tools_changed(self) -> None:
        """Send `tools/list_changed` to all clients, in the background."""
        self._begin(self._send_tools_changed())

    def resource_updated(self, uri: str) -> None:
        """Send `resources/updated` to the clients that subscribe to a resource, in the background."""
        self._begin(self._bus.publish(ResourceUpdated(uri=uri)))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_tools_changed(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions):
            with anyio.move_on_after(_SECONDS) as scope:
                try:
                    await session.send_tool_list_changed()
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, MCPError) as error:
                    _log.debug("a client went away: %r", error)
                    self._remove(session)
            if scope.cancelled_caught:
                self._remove(session)

    def _remove(self, session: ServerSession) -> None:
        # Two notifications at once may find the same client gone.
        with suppress(ValueError):
            self._sessions.remove(session)


APP_URI = "ui://bfsql/graph"
APP_TYPE = "text/html;profile=mcp-app"
APPS = "io.modelcontextprotocol/ui"

DRAWN = frozenset({"bfs_query", "intersect_subgraphs", "describe_entity"})
"""The tools whose answers the page draws."""

_LINK = {"ui": {"resourceUri": APP_URI}}
_APP = Resource(
    uri=APP_URI,
    name="graph",
    title="The answer as a graph",
    description="Draws the nodes and edges of an answer, and what it lacks. It loads nothing from outside.",
    mime_type=APP_TYPE,
)


def _draws_apps(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    extensions = (capabilities.extensions if capabilities is not None else None) or {}
    types = extensions.get(APPS, {}).get("mimeTypes")
    return isinstance(types, list) and APP_TYPE in types


def linked(tools: Sequence[Tool], context: Context) -> list[Tool]:
    """Return the tools, linked to the page for a client that draws Apps."""
    if not _draws_apps(context):
        return list(tools)
    return [
        tool.model_copy(update={"meta": {**(tool.meta or {}), **_LINK}}) if tool.name in DRAWN else tool
        for tool in tools
    ]


def app_resources(context: Context) -> list[Resource]:
    """Return the page as a resource for a client that draws Apps."""
    return [_APP] if _draws_apps(context) else []


def app_page() -> ReadResourceResult:
    """Return the page. Its policy is the host's default, which lets it load nothing."""
    text = explorer_page().read_text(encoding="utf-8")
    return ReadResourceResult(contents=[TextResourceContents(uri=APP_URI, mime_type=APP_TYPE, text=text)])
