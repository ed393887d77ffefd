"""The six tools as `tools/list` publishes them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from mcp_types import Tool, ToolAnnotations

from gateway.engine import answers, arguments
from gateway.server import texts

Json = Any

_ANSWERS: Mapping[str, type[answers.Answer]] = {
    "describe_schema": answers.SchemaResult,
    "search_entities": answers.SearchResult,
    "bfs_query": answers.BfsResult,
    "describe_entity": answers.Entity,
    "describe_entities": answers.EntitiesResult,
    "intersect_subgraphs": answers.IntersectionResult,
}

_EXPLANATION = (answers.Explain.__name__, answers.SentQuery.__name__)


def published(schema: answers.SchemaResult | None, *, explain: bool) -> list[Tool]:
    """Return the tools, in the protocol's order, with descriptions for this graph.

    Args:
        schema: The graph's; it may not be known.
        explain: Whether the tools take `explain`, as the profile says.
    """
    return [
        Tool(
            name=model.tool,
            title=texts.TOOLS[model.tool].title,
            description=texts.description(model.tool, schema),
            input_schema=_inputs(model, explain=explain),
            output_schema=_outputs(_ANSWERS[model.tool], explain=explain),
            annotations=ToolAnnotations(
                title=texts.TOOLS[model.tool].title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=True,
            ),
        )
        for model in arguments.ALL
    ]


def _inputs(model: type[arguments.Arguments], *, explain: bool) -> Json:
    schema = _plain(_json_schema(model))
    del schema["description"]  # the tool's own description says more
    schema["properties"] = {
        name: schema["properties"][name] for name in arguments.argument_names(model, explain=explain)
    }
    return schema


def _outputs(model: type[answers.Answer], *, explain: bool) -> Json:
    schema = _plain(_json_schema(model))
    if not explain:
        del schema["properties"][arguments.EXPLAIN]
        for name in _EXPLANATION:
            del schema["$defs"][name]
        if not schema["$defs"]:
            del schema["$defs"]
    return schema


@functools.cache
def _json_schema(model: type[arguments.Arguments | answers.Answer]) -> Json:
    """Return a model's JSON schema: 0.1 s for all of them, whenever a server is built. It is shared: copy it."""
    return model.model_json_schema()


def _plain(schema: Json) -> Json:
    """Copy a JSON schema without what only costs a reader: titles, nulls that mean "not given", and their default."""
    if isinstance(schema, list):
        return [_plain(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: _plain(entry) for name, entry in value.items()} if key in {"properties", "$defs"} else _plain(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    choices = [choice for choice in kept.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del kept["anyOf"]
        kept = {**choices[0], **kept}
    return kept
