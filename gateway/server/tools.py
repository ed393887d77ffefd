"""The six tools as `tools/list` returns them."""

from __future__ import annotations

from typing import Any

from mcp_types import Tool, ToolAnnotations

from gateway.engine import answers, arguments
from gateway.server import schemas, tool_texts

Json = Any

_EXPLANATION = (answers.Explain.__name__, answers.SentQuery.__name__)


def published(schema: answers.SchemaResult | None, *, explain: bool) -> list[Tool]:
    """Return the tools, in the order of the protocol, with descriptions for this graph.

    Args:
        schema: The schema of the graph, if it is known.
        explain: Whether the tools accept `explain`.
    """
    stored = schemas.stored()
    return [
        Tool(
            name=model.tool,
            title=tool_texts.TOOLS[model.tool].title,
            description=tool_texts.description(model.tool, schema),
            input_schema=_inputs(model, stored[model.tool]["input"], explain=explain),
            output_schema=_outputs(stored[model.tool]["output"], explain=explain),
            annotations=ToolAnnotations(
                title=tool_texts.TOOLS[model.tool].title,
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
