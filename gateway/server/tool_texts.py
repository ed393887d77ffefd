"""The texts that a model reads before its first call: titles and descriptions of tools, and the instructions.

Clients cut descriptions and instructions at about 2,000 characters (docs/notes/mcp.md, "What clients cut"), so
each stays below `LIMIT`, and a schema is put into a description only if all of it fits. What the graph says is not an
instruction: of it, only plain CURIEs stand here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.engine.answers import SchemaResult
from gateway.terms.prefixes import is_plain_curie
from gateway.terms.words import cut

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
    """

    title: str
    description: str


TOOLS: Mapping[str, Text] = {
    "describe_schema": Text(
        "Describe the graph",
        "Orient: what this knowledge graph contains. Returns a description, its entity types and predicates with "
        "counts (the valid values of filters), the prefixes of its IDs, and next_steps for this graph, which you "
        "should follow. The 40 most frequent are listed; all=true lists up to 200 of each. comprehensive=true means "
        "that all are known; when it is false, take filter values from schema_summary of a bfs_query result. Call it "
        "once, first, unless bfs_query's description already lists the schema.",
    ),
    "search_entities": Text(
        "Find entities by name",
        "Resolve: from a name, an alias or a part of one to the IDs that the other tools take. Always call it before "
        "bfs_query when you have no ID: never make one up. Names are ambiguous: look at entity_type, name, description "
        "and match before you choose a seed: label and alias mean the exact name. "
        "Use node_types to exclude types that flood the result, such as papers. If nothing fits, next_steps says what "
        "to try, and guesses may be near. searched is there only if names may have been missed.",
    ),
    "bfs_query": Text(
        "Explore a neighborhood",
        "Traverse: breadth-first search from one or more seeds, edges in both directions; the union of their "
        "neighborhoods. Begin with max_hops=1 and topology_only=true to see the structure cheaply and read "
        "schema_summary; then describe_entities for what matters, or ask again with node_types and predicates. "
        "These two choose what comes with metadata; what does not match stays as a stub, so topology is complete. "
        "exclude_node_types and min_mentions do remove nodes. max_degree=100 keeps hubs, such as a country, from "
        "filling the answer: they are shown and not expanded. complete=true: nothing was cut and an absence is a "
        "fact; false: incomplete says what is missing. Large answers come in pages (`page` says which): go on with "
        "offset=next_offset, snapshot, and edge_offset=next_edge where there is one. A page has the edges to nodes of "
        "earlier pages too.",
    ),
    "describe_entity": Text(
        "Describe one entity",
        "Expand: the full record of one entity, flat: names, description, types and all its values; its edges are "
        "bfs_query's. For several entities call describe_entities once.",
    ),
    "describe_entities": Text(
        "Describe several entities",
        "Expand a batch: the full record of each entity, as describe_entity has it, in one call. not_found are "
        "IDs that do not exist, failed could not be looked up (try again), remaining_ids did not fit (ask in "
        "another call).",
    ),
    "intersect_subgraphs": Text(
        "Find what entities share",
        "Intersect: only the nodes within k hops of every seed, and all edges among them. Use it for what several "
        "entities have in common instead of comparing bfs_query results yourself. Begin with k=1; k=2 finds what is "
        "connected through a shared neighbor; via=true shows a path from each node to each seed. Filters and "
        "pages work as in bfs_query.",
    ),
}

_INSTRUCTIONS = (
    "This server explores one knowledge graph by breadth-first search. Work in this order: describe_schema, then "
    "search_entities to turn names into IDs, then bfs_query with max_hops=1 and topology_only=true, then "
    "describe_entities for the nodes that matter, then bfs_query again with filters; intersect_subgraphs for what "
    "several entities share. IDs come from answers; never make one up. complete=true means that nothing was cut; "
    "when it is false, say so in what you conclude."
)


def instructions(schema: SchemaResult | None, described: str = "") -> str:
    """Return the instructions of the server, with the description of the graph if it fits.

    `described` is the operator's description, for as long as no schema is known.
    """
    about = described if schema is None else schema.graph_description
    if not about:
        return _INSTRUCTIONS
    return cut(f"{_INSTRUCTIONS} The graph: {about}", LIMIT)


def description(tool: str, schema: SchemaResult | None) -> str:
    """Return the description of a tool; that of `bfs_query` lists the schema if all of it fits."""
    text = TOOLS[tool].description
    if tool != "bfs_query" or schema is None or not _is_small_and_plain(schema):
        return text
    injected = f"{text} entity types: {', '.join(schema.entity_types)}. predicates: {', '.join(schema.predicates)}."
    return injected if len(injected) <= LIMIT else text


def may_list_schema_later(schema: SchemaResult | None) -> bool:
    """Return whether the description of `bfs_query` may list the schema once more of the graph is read."""
    return schema is None or (not schema.comprehensive and _is_small(schema))


def _is_small(schema: SchemaResult) -> bool:
    return len(schema.entity_types) <= MOST_TYPES and len(schema.predicates) <= MOST_PREDICATES


def _is_small_and_plain(schema: SchemaResult) -> bool:
    return (
        schema.comprehensive
        and len(schema.entity_types) == schema.entity_types_total
        and len(schema.predicates) == schema.predicates_total
        and len(schema.entity_types) + len(schema.predicates) > 0
        and _is_small(schema)
        # A model obeys a description: no ID in it may read as text.
        and all(is_plain_curie(text, schema.prefixes) for text in (*schema.entity_types, *schema.predicates))
    )
