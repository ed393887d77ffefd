"""What a model is told about the tools and about this graph."""

from __future__ import annotations

from gateway.graph.values import Schema, Term
from gateway.settings.profile import Profile

TOOL_USAGE_NOTES = (
    "search_entities resolves a name to IDs: never invent an ID. "
    "bfs_query expands the neighborhood of its seeds, edges in both directions: begin with max_hops=1 and "
    "topology_only=true, then ask again with node_types and predicates. These two decide how much detail an item "
    "has, not whether it is there: what does not match stays as a stub. exclude_node_types and min_mentions remove "
    "items. describe_entities expands many stubs in one call. intersect_subgraphs answers what all its seeds share. "
    "complete=true means that nothing was cut and an absence is a fact; when it is false, incomplete says what is "
    "missing, and an absence proves nothing. degraded says what was left out to keep the answer small; ask for "
    "fewer hops or more filters to see it. next_offset is the offset of the next page; send snapshot back with it. "
    "Types and predicates may be written as the ID, the local name or the label."
)

_CLOSED_WORLD = (
    "The lists of entity_types and predicates are complete: use these values in node_types, exclude_node_types and "
    "predicates."
)
_OPEN_WORLD = (
    "The lists of entity_types and predicates are not complete: survey a neighborhood with bfs_query "
    "(topology_only=true) and take filter values from its schema_summary."
)
_START = "Call search_entities with a name to get IDs, then bfs_query with max_hops=1."


_LABEL = 80
"""Characters of a label that the description shows."""


def next_steps(profile: Profile, *, closed: bool) -> str:
    """Return the advice for this graph: the operator's own words first."""
    world = _CLOSED_WORLD if closed else _OPEN_WORLD
    return " ".join(part for part in (profile.next_steps, _START, world) if part)


def description(profile: Profile, schema: Schema) -> str:
    """Return what the graph is about: the operator's words, or what the schema shows."""
    if profile.description:
        return profile.description
    if not schema.types and not schema.predicates:
        return "An RDF graph whose types and predicates are not known."
    types = ", ".join(f"{_counted(term)}{_name(term.label, term.iri)}" for term in schema.types[:5])
    edges = sum(term.count or 0 for term in schema.predicates)
    about = f" Its most frequent types: {types}." if types else ""
    return f"An RDF graph of {edges:,} edges.{about}" if schema.exact else f"A large RDF graph.{about}"


def _counted(term: Term) -> str:
    return f"{term.count:,} " if term.count is not None else ""


def _name(label: str, iri: str) -> str:
    return label[:_LABEL] or iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1]
