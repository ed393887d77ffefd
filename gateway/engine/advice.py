"""What a model reads about the tools and about a graph as a whole."""

from __future__ import annotations

from gateway.errors import quoted
from gateway.graph.values import Iri, Schema, Term
from gateway.settings.profile import Profile
from gateway.terms.folding import fold
from gateway.terms.iri import local_name
from gateway.terms.prefixes import PrefixMap, is_plain_curie

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

_MOST_DESCRIBED = 5
"""Types that the description of a graph names."""

_FLOODS = 0.4
"""The share of all nodes above which a type is said to flood answers."""

_MOST_NAMED = 3
"""IDs that one sentence of advice lists."""


def next_steps(profile: Profile, schema: Schema, prefixes: PrefixMap, *, closed: bool) -> str:
    """Return the advice for this graph: the operator's own words first.

    Args:
        profile: The operator's words, the rule for hubs, and who finds names.
        schema: What is known of the graph.
        prefixes: Short forms of IRIs.
        closed: Whether the lists of types and predicates are complete.
    """
    world = _CLOSED_WORLD if closed else _OPEN_WORLD
    parts = (profile.next_steps, _START, world, _names(profile, schema, prefixes), _flood(schema, prefixes))
    return " ".join(part for part in (*parts, _hubs(profile, schema, prefixes)) if part)


def _names(profile: Profile, schema: Schema, prefixes: PrefixMap) -> str:
    if profile.search.api:
        return "search_entities asks the wiki of this graph: give the beginning of a name or alias, or an ID (Q42)."
    if schema.names:
        named = ", ".join(_id(iri, prefixes) for iri in schema.names[:_MOST_NAMED])
        return f"search_entities compares names ({named}), not descriptions or other text."
    if schema.names is None:
        return ""
    return (
        "No predicate of this graph was found to carry names: search_entities may find nothing; begin with IDs that "
        "you were given, or that bfs_query shows."
    )


def _flood(schema: Schema, prefixes: PrefixMap) -> str:
    """Say which type most nodes have, where that is known, since it fills every answer."""
    total = sum(term.count or 0 for term in schema.types)
    if not schema.exact or len(schema.types) < 3 or not total:  # noqa: PLR2004 - of two types, neither floods
        return ""
    first = schema.types[0]
    if (first.count or 0) < _FLOODS * total:
        return ""
    share = round(100 * (first.count or 0) / total)
    return (
        f"{share} % of the typed nodes are {_shown(first.iri, schema, prefixes)}: where they are beside the point, "
        "leave them out with exclude_node_types, and of searches with node_types."
    )


def _hubs(profile: Profile, schema: Schema, prefixes: PrefixMap) -> str:
    if not schema.hubs:
        return ""
    named = ", ".join(_shown(iri, schema, prefixes) for iri in schema.hubs[:_MOST_NAMED])
    if profile.hubs.max_degree is not None:
        return f"Nodes of {named} can be hubs; those with more than {profile.hubs.max_degree} edges are not expanded."
    return f"Nodes of {named} can be hubs, with very many edges: from 2 hops on, use max_degree=100."


def description(profile: Profile, schema: Schema, prefixes: PrefixMap) -> str:
    """Return what the graph is about: the operator's words, or figures and plain CURIEs.

    It is among the instructions of the server, so no text of the graph stands in it: no label, and no ID that reads
    as text.
    """
    if profile.description:
        return profile.description
    if not schema.types and not schema.predicates:
        return "An RDF graph whose types and predicates are not known."
    names = prefixes.prefixes
    shown = ((term, prefixes.shorten(term.iri)) for term in schema.types)
    plain = [(term, short) for term, short in shown if is_plain_curie(short, names)]
    types = ", ".join(f"{_counted(term)}{short}" for term, short in plain[:_MOST_DESCRIBED])
    edges = sum(term.count or 0 for term in schema.predicates)
    about = f" Its most frequent types: {types}." if types else ""
    return f"An RDF graph of {edges:,} edges.{about}" if schema.exact else f"A large RDF graph.{about}"


def _shown(iri: Iri, schema: Schema, prefixes: PrefixMap) -> str:
    """Return the ID of a type, with its label, quoted and bounded, where the ID does not say it."""
    short = _id(iri, prefixes)
    label = next((term.label for term in schema.types if term.iri == iri), "")
    return f"{short} (label: {quoted(label)})" if label and fold(local_name(iri)) != fold(label) else short


def _id(iri: Iri, prefixes: PrefixMap) -> str:
    """Return an ID as advice may name it: quoted and cut where it may read as text."""
    short = prefixes.shorten(iri)
    return short if is_plain_curie(short, prefixes.prefixes) else quoted(short)


def _counted(term: Term) -> str:
    return f"{term.count:,} " if term.count is not None else ""
