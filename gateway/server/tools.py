"""The six tools as `tools/list` returns them, and the JSON schemas of their arguments and answers.

The schemas are generated from the models and stored in ``schemas.json``: to generate them at the start would take a
fifth of the time that a client waits for the list of tools, and a commit shows what changes for clients. After a change
of a model, run ``python -m gateway.server.tools``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_types import Tool, ToolAnnotations

from gateway.engine import answers, arguments
from gateway.server import tool_texts
from gateway.server.compact_schemas import compact_schema
from gateway.settings.profile import ShapeName

Json = Any

STORED = Path(__file__).with_name("schemas.json")

_ANSWERS: Mapping[str, type[answers.Answer]] = {
    "describe_schema": answers.SchemaResult,
    "search_entities": answers.SearchResult,
    "bfs_query": answers.BfsResult,
    "describe_entity": answers.Entity,
    "describe_entities": answers.EntitiesResult,
    "intersect_subgraphs": answers.IntersectionResult,
}

_EXPLANATION = (answers.Explain.__name__, answers.SentQuery.__name__)
"""Definitions that only `explain` needs."""


def published(schema: answers.SchemaResult | None, shape: ShapeName, *, explain: bool) -> list[Tool]:
    """Return the tools, in the order of the protocol, described for this graph as far as its schema is known."""
    schemas = stored_schemas()
    return [
        Tool(
            name=model.tool,
            title=tool_texts.TOOLS[model.tool].title,
            description=tool_texts.description(model.tool, schema, shape),
            input_schema=_inputs(model, schemas[model.tool]["input"], explain=explain),
            output_schema=compact_schema(model.tool, explain=explain)
            if shape == "compact"
            else _outputs(schemas[model.tool]["output"], explain=explain),
            annotations=ToolAnnotations(
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=True,
            ),
        )
        for model in arguments.ALL
    ]


def _inputs(model: type[arguments.Arguments], schema: Json, *, explain: bool) -> Json:
    del schema["description"]  # it only names the tool
    schema["properties"] = {
        name: schema["properties"][name] for name in arguments.argument_names(model, explain=explain)
    }
    return schema


def _outputs(schema: Json, *, explain: bool) -> Json:
    if not explain:
        del schema["properties"][arguments.EXPLAIN]
        for name in _EXPLANATION:
            del schema["$defs"][name]
        if not schema["$defs"]:
            del schema["$defs"]
    return schema


def stored_schemas() -> Json:
    """Return the stored schemas by tool, each with ``input`` and ``output``."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def generated_schemas() -> Json:
    """Return the schemas by tool, generated from the models."""
    return {
        model.tool: {
            "input": _plain(model.model_json_schema()),
            "output": _plain(_ANSWERS[model.tool].model_json_schema()),
        }
        for model in arguments.ALL
    }


def _plain(schema: Json) -> Json:
    """Return a JSON schema without titles, null for "not given", and the default null: they cost tokens."""
    if isinstance(schema, list):
        return [_plain(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: {name: _plain(entry) for name, entry in value.items()} if key in {"properties", "$defs"} else _plain(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    choices = [choice for choice in plain.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del plain["anyOf"]
        plain = {**choices[0], **plain}
    return plain


if __name__ == "__main__":
    STORED.write_text(json.dumps(generated_schemas(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
