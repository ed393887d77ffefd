"""The tools as they are published: names, texts, schemas.

Clients cut descriptions and instructions at about 2,000 characters (docs/notes/mcp.md, "What clients cut"), so
each stays below `LIMIT`, and a schema is put into a description only if all of it fits. What the graph says is not an
instruction: of it, only plain CURIEs stand here.

Fields that are not listed are allowed: docs/tools.md has all of them.

The schemas are generated from the models and stored in ``schemas.json``: to generate them at the start would take a
fifth of the time that a client waits for the list of tools, and a commit shows what changes for clients. After a change
of a model, run ``python -m gateway.server.tools``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_types import Tool, ToolAnnotations

from gateway import arguments
from gateway.answers import models
from gateway.answers.models import SchemaResult
from gateway.settings.profile import ShapeName
from gateway.terms.iri import SCHEMA_TERM_CLASSES
from gateway.terms.names import cut
from gateway.terms.prefixes import is_plain_curie
from gateway.terms.well_known_prefixes import WELL_KNOWN

LIMIT = 2_000
"""Characters of a description: a client cuts it at 2,048 without a message (docs/notes/mcp.md)."""

MOST_TYPES = 20
MOST_PREDICATES = 30
"""Types and predicates of a schema that is small enough for a description."""


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of one tool.

    Attributes:
        title: The title, for people.
        description: The description, for models.
        compact: How to read an answer in the compact shape, for models.
    """

    title: str
    description: str
    compact: str = ""


TOOLS: Mapping[str, Text] = {
    "describe_schema": Text(
        "Describe the graph",
        "Orient: the entity types and predicates of this graph, the most frequent first with counts, values and their "
        "ranges, prefixes, and next_steps, to follow. Call it once, first, unless you know what the "
        "graph is about or bfs_query's description lists types and predicates. comprehensive=true: all are known. "
        "node_types=[...] shows instead what instances of these types have.",
        'Types and predicates read {"id label": count}, values {"id label": [nodes, kinds, range or examples]}, a '
        "shape {predicate: [share, one | several, kinds or types, range or example]}.",
    ),
    "search_entities": Text(
        "Find entities by name",
        "Resolve: from a name, an alias or a part of one to IDs; queries=[...] does so for up to 20 names. Not needed "
        "for a name that you know in full: other tools take it for an ID if one entity alone has it or stands out, and "
        "else list those that have it. Never make an ID up. Names are ambiguous: compare type, name, description, "
        "match and edges before you choose. If none fits, try one other spelling; then the entity may have no name "
        "here: find it by what it is connected to (bfs_query from a neighbor, intersect_subgraphs), not by more "
        "searches. node_types keeps out types that flood the result; without a query it lists the entities of these "
        'types, and chooses, shows and orders them by values: node_types=["x:Book"], where=["x:year < 1990", '
        '"x:author/x:born missing"], values=["x:year"], sort_by="-x:year", limit=5. p/^q is a walk: along p, then '
        'against q. group_by="x:author", compute=["count", "avg x:year"] shows groups instead. searched: names may '
        "have been missed.",
        'A hit reads ["id name", type, match, edges, description, matched name], a row ["id name", a value for each of '
        "columns]; the ID ends at the first blank. groups are rows of group_columns, null those without a value.",
    ),
    "bfs_query": Text(
        "Explore a neighborhood",
        "Traverse: the nodes within max_hops of the seeds, and the edges on the way, but none between two at max_hops. "
        "Steer if you know or guess "
        'the relation: only_predicates=["x:author"], or labels, follows nothing else and gives nodes by name only '
        "(node_types: with values); a wrong guess costs less than a description. A list of lists is one list a "
        'hop: [["x:author"],["x:birthPlace"]] with max_hops=2 finds where the authors were born. "^x:author" or '
        "direction=in follows incoming edges. only_node_types shows nodes of these types, and a path to each. Else "
        "begin with max_hops=1 and topology_only=true; max_degree=100 does not expand hubs. "
        "where, sort_by and group_by ask about values. "
        "complete=true: an absence is a fact about what was asked; else incomplete says why. Next page: "
        "offset=next_offset, edge_offset=next_edge, snapshot.",
        'edges read {node: {predicate: other or [others]}}, "^predicate": it comes in from other, "<->": both; an ID '
        "ends at the first blank, its name follows it once. nodes has seeds and what has metadata, "
        '{type: ["id name" or {"id name": metadata}]}, a list is a row of node_columns; types is about the others. '
        '{other: row} has evidence, columns in evidence_columns, [rows] are assertions; {"_": id, ...} is a blank '
        "node, beyond: its edges outside the answer.",
    ),
    "describe_entity": Text(
        "Describe one entity",
        "Expand and survey: all values of one entity, and in edges what could be followed: how many edges by each "
        'relation, "^predicate" if they come in, and all their neighbors or some. Call it if you cannot guess which '
        "relation answers the question. If it shows all neighbors of that relation, it has answered it; else follow it "
        "with only_predicates.",
        'edges read {"predicate label": "id name" or [all of them] or [count, some]}, "<->": both ways; a name stands '
        "once.",
    ),
    "describe_entities": Text(
        "Describe several entities",
        "Expand a batch: what describe_entity says, for up to 200 entities; above 10, edges without neighbors. "
        "not_found: IDs that do not exist; failed: try these again; remaining_ids did not fit: ask again.",
        'result reads {type: [{"id name": values}]}.',
    ),
    "intersect_subgraphs": Text(
        "Find what entities share",
        "Intersect: only nodes within k hops of every seed, the edges among them, and in via how each hangs together "
        "with each seed. Use it for what entities have in common, and for an entity known by its relations only: "
        'k=1 and one list a seed, only_predicates=[["x:birthPlace"],["x:citizenOf"]], is who was born in the first and '
        "is a citizen of the second. k=2 goes through a shared neighbor. A type is no neighbor: take "
        "only_node_types for it. The other arguments, where and values too, are those of bfs_query.",
        'It reads as bfs_query does; a path in via reads "node predicate node ^predicate seed".',
    ),
}

_INSTRUCTIONS = (
    "This server answers questions from one knowledge graph. Where an ID is wanted, an exact name will do if one "
    "entity alone has it; search_entities finds the others. Never make an ID up. describe_entity shows what is known "
    "about a node and which predicates lead on from it: often that is the answer. Follow a relation with bfs_query and "
    "only_predicates: the whole neighborhood of a node costs many times as much. intersect_subgraphs finds what "
    "several entities share, and entities that are known only by their "
    "relations. describe_schema lists types and predicates. complete=true means that nothing was cut, so an absence "
    "is a fact of the graph; when it is false, say so in what you conclude."
)


def instructions(schema: SchemaResult | None, described: str = "") -> str:
    """Return the instructions of the server, with the description of the graph if it fits.

    `described` is the operator's description, for as long as no schema is known.
    """
    about = described if schema is None else schema.graph_description
    if not about:
        return _INSTRUCTIONS
    return cut(f"{_INSTRUCTIONS} The graph: {about}", LIMIT)


def description(tool: str, schema: SchemaResult | None, shape: ShapeName) -> str:
    """Return the description of a tool; that of `bfs_query` lists the schema if all of it fits."""
    text = TOOLS[tool].description
    if shape == "compact":
        text = f"{text} {TOOLS[tool].compact}".strip()
    if tool != "bfs_query" or schema is None or not _is_small_and_plain(schema):
        return text
    injected = f"{text} entity types: {', '.join(_types_of(schema))}. predicates: {', '.join(schema.predicates)}."
    return injected if len(injected) <= LIMIT else text


def may_list_schema_later(schema: SchemaResult | None) -> bool:
    """Return whether the description of `bfs_query` may list the schema once more of the graph is read."""
    return schema is None or (not schema.comprehensive and _is_small(schema))


_TYPES_OF_SCHEMA_TERMS = SCHEMA_TERM_CLASSES.union(
    f"{name}:{iri.removeprefix(namespace)}"
    for name, namespace in WELL_KNOWN.items()
    for iri in SCHEMA_TERM_CLASSES
    if iri.startswith(namespace)
)


def _types_of(schema: SchemaResult) -> list[str]:
    """Return the types that a description lists: those of schema terms only where a graph has no others."""
    others = [name_id for name_id in schema.entity_types if name_id not in _TYPES_OF_SCHEMA_TERMS]
    return others or schema.entity_types


def _is_small(schema: SchemaResult) -> bool:
    return len(_types_of(schema)) <= MOST_TYPES and len(schema.predicates) <= MOST_PREDICATES


def _is_small_and_plain(schema: SchemaResult) -> bool:
    known = schema.prefixes.keys() | WELL_KNOWN.keys()
    return (
        schema.comprehensive
        and len(schema.entity_types) == schema.entity_types_total
        and len(schema.predicates) == schema.predicates_total
        and len(schema.entity_types) + len(schema.predicates) > 0
        and _is_small(schema)
        # A model obeys a description: no ID in it may read as text.
        and all(is_plain_curie(text, known) for text in (*_types_of(schema), *schema.predicates))
    )


_Schema = dict[str, Any]


def _described(kind: str, text: str) -> _Schema:
    return {"type": kind, "description": text}


_COMPLETE = {"type": "boolean"}
_LABELS = {"type": "object"}
_WARNINGS = {"type": "array"}


def _answer(required: str, **properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": [required, "complete"]}


_SUBGRAPH = _answer(
    "edges",
    node_count={"type": "integer"},
    edge_count={"type": "integer"},
    complete=_described("boolean", "Nothing cut: an absence is a fact."),
    page=_described("string", "Which nodes of how many."),
    incomplete=_described("array", "Why not complete."),
    node_columns=_described("array", "Of rows of metadata."),
    nodes={"type": "object"},
    evidence_columns=_described("array", "Of evidence rows."),
    edges={"type": "object"},
    types={},
    labels=_LABELS,
    warnings=_WARNINGS,
    next_offset=_described("integer", "offset of the next page."),
    next_edge=_described("integer", "edge_offset of the next page."),
    snapshot=_described("string", "Send it with the next page."),
)

_ANSWERS: Mapping[str, _Schema] = {
    "describe_schema": _answer(
        "entity_types",
        complete=_COMPLETE,
        entity_types={"type": "object"},
        predicates={"type": "object"},
        values={"type": "object"},
        shapes={"type": "object"},
        prefixes={"type": "object"},
        next_steps={"type": "string"},
    ),
    "search_entities": _answer(
        "result",
        result=_described("array", "The best first."),
        guesses=_described("array", "Where nothing fits."),
        queries=_described("array", "The answer to each."),
        complete=_described("boolean", "Every name was compared."),
        searched=_described("object", "Names may be missed."),
        next_steps=_described("string", "Where nothing fits."),
        labels=_LABELS,
        warnings=_WARNINGS,
    ),
    "bfs_query": _SUBGRAPH,
    "describe_entity": _answer(
        "id",
        id={"type": "string"},
        edges=_described("object", "{}: no edges."),
        edges_failed=_described("string", "Not all edges were counted."),
        complete=_COMPLETE,
        labels=_LABELS,
    ),
    "describe_entities": _answer(
        "result",
        result={"type": "object"},
        complete=_COMPLETE,
        not_found={"type": "array"},
        failed=_described("array", "Try again."),
        remaining_ids=_described("array", "Ask for them again."),
        labels=_LABELS,
    ),
    "intersect_subgraphs": _answer(
        "edges",
        complete=_COMPLETE,
        nodes=_described("object", "As in bfs_query; so are the other fields."),
        edges={"type": "object"},
        via={"type": "object"},
    ),
}
"""The schemas by tool."""


def compact_schema(tool: str, *, explain: bool) -> _Schema:
    """Return the schema of a tool's answers, with `explain` if the operator allows it."""
    schema = _ANSWERS[tool]
    if not explain:
        return schema
    return {**schema, "properties": {**schema["properties"], "explain": _described("object", "What the call cost.")}}


Json = Any

STORED = Path(__file__).with_name("schemas.json")

_PUBLISHED_ANSWERS: Mapping[str, type[models.Answer]] = {
    "describe_schema": models.SchemaResult,
    "search_entities": models.SearchResult,
    "bfs_query": models.BfsResult,
    "describe_entity": models.Entity,
    "describe_entities": models.EntitiesResult,
    "intersect_subgraphs": models.IntersectionResult,
}

_EXPLANATION = (models.Explain.__name__, models.SentQuery.__name__)
"""Definitions that only `explain` needs."""


def published(schema: models.SchemaResult | None, shape: ShapeName, *, explain: bool) -> list[Tool]:
    """Return the tools, in the order of the protocol, described for this graph as far as its schema is known."""
    schemas = stored_schemas()
    return [
        Tool(
            name=model.tool,
            title=TOOLS[model.tool].title,
            description=description(model.tool, schema, shape),
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


_AS_IN_TRAVERSALS = "As in bfs_query."
"""What an argument is that both have alike: readers of `intersect_subgraphs` have the texts of both."""


def _inputs(model: type[arguments.Arguments], schema: Json, *, explain: bool) -> Json:
    del schema["description"]  # it only names the tool
    schema["properties"] = {
        name: schema["properties"][name] for name in arguments.argument_names(model, explain=explain)
    }
    if model is arguments.IntersectSubgraphs:
        for name in arguments.TraversalBase.model_fields.keys() - arguments.IntersectSubgraphs.__annotations__.keys():
            if name in schema["properties"]:
                schema["properties"][name]["description"] = _AS_IN_TRAVERSALS
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
            "output": _plain(_PUBLISHED_ANSWERS[model.tool].model_json_schema()),
        }
        for model in arguments.ALL
    }


def _plain(schema: Json) -> Json:
    """Return a JSON schema without titles, null for "not given", and defaults that say nothing: they cost tokens."""
    if isinstance(schema, list):
        return [_plain(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: {name: _plain(entry) for name, entry in value.items()} if key in {"properties", "$defs"} else _plain(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and not value)
    }
    choices = [choice for choice in plain.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del plain["anyOf"]
        plain = {**choices[0], **plain}
    return plain


if __name__ == "__main__":
    STORED.write_text(json.dumps(generated_schemas(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
