"""The JSON schemas of the six tools: what each takes, and what it answers.

They follow from the models, and are kept beside this file: making them is a fifth of what a client waits for before it
has the list of tools. A change of what a tool promises is then seen in a commit, too. After a change of a model, write
them anew: ``python -m gateway.server.schemas``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.engine import answers, arguments

Json = Any

KEPT = Path(__file__).with_name("schemas.json")

_ANSWERS: Mapping[str, type[answers.Answer]] = {
    "describe_schema": answers.SchemaResult,
    "search_entities": answers.SearchResult,
    "bfs_query": answers.BfsResult,
    "describe_entity": answers.Entity,
    "describe_entities": answers.EntitiesResult,
    "intersect_subgraphs": answers.IntersectionResult,
}


def kept() -> Json:
    """Return the schemas by tool, each with ``input`` and ``output``, as they are kept."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def made() -> Json:
    """Return the same, made from the models."""
    return {
        model.tool: {
            "input": _plain(model.model_json_schema()),
            "output": _plain(_ANSWERS[model.tool].model_json_schema()),
        }
        for model in arguments.ALL
    }


def _plain(schema: Json) -> Json:
    """Copy a JSON schema without what only costs a reader: titles, nulls that mean "not given", and their default."""
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
    KEPT.write_text(json.dumps(made(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
