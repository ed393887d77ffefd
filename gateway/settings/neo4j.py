"""The section of a profile about a graph in Neo4j."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gateway.settings.postgres import Namespace
from gateway.settings.section import Section

LONGEST: Final = 1_000
"""Characters of the name of a label or property; Neo4j allows 16,383."""


def name_problem(name: str) -> str:
    """Return why a name of a label, type or property cannot stand in a query; empty where it can."""
    # Cypher replaces `\\u0060` by a quotation mark before it looks for the end of a quoted name.
    if not name or len(name) > LONGEST or not name.isprintable() or "\\" in name:
        return f"it has 1 to {LONGEST:,} characters, without backslashes and control characters"
    return ""


def _name(text: str) -> str:
    if text and (problem := name_problem(text)):
        raise ValueError(f"it is not the name of a label or property: {problem}")
    return text


Name = Annotated[str, AfterValidator(_name)]
"""The name of a label or property as it stands in the database, not quoted; an empty text for none."""

Needed = Annotated[str, AfterValidator(_name), Field(min_length=1)]
"""The same, not empty."""


class NodesInNeo4j(Section):
    """Which nodes there are, and what their properties mean."""

    labels: tuple[Needed, ...] = Field(
        default=(),
        max_length=200,
        description="Labels of the nodes that are read; none given: all labels of the database.",
    )
    id: Needed = Field(
        default="id", description="The ID: a text. Each label should have a constraint or an index on it."
    )
    names: tuple[Needed, ...] = Field(
        default=("name", "title"),
        max_length=10,
        description="The display name: the first text or number in these, which may be lists. Others are synonyms.",
    )
    synonyms: Name = Field(default="synonyms", description="Further names: a text or number, or a list of these.")
    full_text_above: int = Field(
        default=1_000_000,
        ge=0,
        description=(
            "Nodes of the database above which a search asks the full-text index of names, if there is one, instead of "
            "comparing all names."
        ),
    )
    properties: Name = Field(
        default="", description="A property with the text of a JSON object, whose members are further properties."
    )
    no_types: tuple[Needed, ...] = Field(
        default=(), max_length=200, description="Labels that are no types, such as one that every node has."
    )
    left_out: tuple[Needed, ...] = Field(
        default=("embedding",), max_length=200, description="Properties that are not read, such as vectors."
    )


class EdgesInNeo4j(Section):
    """What the properties of relationships mean."""

    properties: Name = Field(
        default="", description="A property with the text of a JSON object, whose members are further properties."
    )
    left_out: tuple[Needed, ...] = Field(
        default=(), max_length=200, description="Properties that are not read, such as vectors."
    )


class Neo4jSettings(Section):
    """A graph in Neo4j: its nodes and relationships, and what its IDs and names are in answers."""

    base: Namespace = Field(
        default="urn:x-bfsql:id:",
        description=(
            "Begins the IRI of an ID that is neither an IRI nor a CURIE with a declared prefix; the ID follows, "
            "percent-encoded."
        ),
    )
    vocabulary: Namespace = Field(
        default="urn:x-bfsql:term:",
        description="The same for labels, types of relationships and names of properties.",
    )
    nodes: NodesInNeo4j = NodesInNeo4j()
    edges: EdgesInNeo4j = EdgesInNeo4j()
