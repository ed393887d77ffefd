"""The resources of a server of several graphs: those of each graph, with its name in the URI."""

from __future__ import annotations

from mcp_types import (
    CompleteRequestParams,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
)

from gateway.errors import InputError, quoted
from gateway.server import graph_resources
from gateway.server.client import Client
from gateway.server.graph_resources import ENTITY_TEMPLATE, SCHEMA_URI, no_such_resource, read
from gateway.server.graphs.graph_set import ARGUMENT, GraphSet, ServedGraph

__all__ = ["TEMPLATES", "inside", "of_one", "read", "schema_of"]

_SCHEME = "bfs-ql://"
_TEMPLATE = f"{_SCHEME}{{{ARGUMENT}}}/{ENTITY_TEMPLATE.removeprefix(_SCHEME)}"
_KINDS = tuple(uri.removeprefix(_SCHEME).split("/")[0] for uri in (SCHEMA_URI, ENTITY_TEMPLATE))

TEMPLATES: list[ResourceTemplate] = [
    template.model_copy(update={"uri_template": _TEMPLATE, "title": "An entity of a graph"})
    for template in graph_resources.TEMPLATES
]


def schema_of(graph: ServedGraph) -> Resource:
    """Return the resource of a graph's schema, which its operator's line describes."""
    (one,) = graph_resources.RESOURCES
    named = {"uri": _uri(graph, SCHEMA_URI), "name": f"{graph.name} schema", "title": f"Schema of {graph.name}"}
    return one.model_copy(update={**named, "description": f"{graph.about} {one.description}"})


def inside(uri: str, graphs: GraphSet, client: Client | None) -> tuple[ServedGraph, str]:
    """Return the graph that a URI names, and the URI of the same resource in a server of that graph alone.

    Raises:
        MCPError: It names no resource of a graph that the client may see.
    """
    name, _, rest = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME) or rest.split("/")[0] not in _KINDS:
        raise no_such_resource(uri, f"There is no resource {quoted(uri)}. One is {_TEMPLATE}.")
    try:
        return graphs.find(name, client), _SCHEME + rest
    except InputError as error:
        raise no_such_resource(uri, str(error)) from error


def of_one(params: CompleteRequestParams) -> CompleteRequestParams:
    """Return what a server of one graph would be asked to complete."""
    if isinstance(params.ref, ResourceTemplateReference) and params.ref.uri == _TEMPLATE:
        return params.model_copy(update={"ref": params.ref.model_copy(update={"uri": ENTITY_TEMPLATE})})
    return params


def _uri(graph: ServedGraph, uri: str) -> str:
    return f"{_SCHEME}{graph.name}/{uri.removeprefix(_SCHEME)}"
