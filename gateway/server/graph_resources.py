"""What a client reads without a tool: the schema as a resource, and a resource template for entities."""

from __future__ import annotations

from urllib.parse import unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Annotations,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from gateway.errors import GatewayError, InputError, quoted
from gateway.escaping import json_text, printable
from gateway.server.gateway_opener import OnProgress
from gateway.server.origin import SOLE, Origin
from gateway.server.tool_caller import ToolCaller

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
