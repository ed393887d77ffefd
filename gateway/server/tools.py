"""The six tools as `tools/list` publishes them."""

from __future__ import annotations

from typing import Any

from mcp_types import Tool, ToolAnnotations

from gateway.engine import answers, arguments
from gateway.server import schemas
from gateway.server import tool_texts as texts

Json = Any

_EXPLANATION = (answers.Explain.__name__, answers.SentQuery.__name__)


def published(schema: answers.SchemaResult | None, *, explain: bool) -> list[Tool]:
    """Return the tools, in the protocol's order, with descriptions for this graph.

    Args:
        schema: The graph's; it may not be known.
        explain: Whether the tools take `explain`, as the profile says.
    """
    kept = schemas.kept()
    return [
        Tool(
            name=model.tool,
            title=texts.TOOLS[model.tool].title,
            description=texts.description(model.tool, schema),
            input_schema=_inputs(model, kept[model.tool]["input"], explain=explain),
            output_schema=_outputs(kept[model.tool]["output"], explain=explain),
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


def _inputs(model: type[arguments.Arguments], schema: Json, *, explain: bool) -> Json:
    del schema["description"]  # the tool's own description says more
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
