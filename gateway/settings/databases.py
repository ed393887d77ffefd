"""The sections of a profile about databases."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gateway.settings.section import Section
from gateway.terms.iri import is_iri

_LONGEST = 63
"""Bytes of an identifier; PostgreSQL would cut a longer one without a sign (its documentation, section 4.1.1)."""

_NAME = re.compile(r"[^\x00-\x1f\x7f.\"]+")


def _column(text: str) -> str:
    if text and (not _NAME.fullmatch(text) or len(text.encode(errors="replace")) > _LONGEST):
        raise ValueError(
            f"it is not the name of a column: {_LONGEST} bytes at most, without a dot, a quotation mark or a control "
            "character; give such a column another name in a view"
        )
    return text


def _table(text: str) -> str:
    for part in text.split(".") if text else ():
        _column(part or ".")
    if text.count(".") > 1:
        raise ValueError("it is not the name of a table: write `table` or `schema.table`")
    return text


def _namespace(text: str) -> str:
    if not is_iri(text) or text[-1] not in "/#:":
        raise ValueError("it must be an IRI that ends in `/`, `#` or `:`")
    return text


Column = Annotated[str, AfterValidator(_column)]
"""The name of a column as it stands in the database, not quoted; an empty text for none."""

Table = Annotated[str, AfterValidator(_table)]
"""The name of a table or view, perhaps with its schema before a dot; an empty text for none."""

Namespace = Annotated[str, AfterValidator(_namespace)]


class NodeTable(Section):
    """The table or view that has a row for each node."""

    table: Table = Field(default="entity", min_length=1, description="The table or view.")
    id: Column = Field(
        default="entity_id", min_length=1, description="The ID: a column of type `text` or `varchar`, with an index."
    )
    type: Column = Field(default="entity_type", description="The type. Further types: `@type` in `properties`.")
    name: Column = Field(
        default="name",
        description="The display name. Of an array or JSON: the first text or number; further ones are synonyms.",
    )
    synonyms: Column = Field(
        default="synonyms", description="Further names: a text or number, or an array or JSON list of these."
    )
    properties: Column = Field(default="properties", description="Properties as a JSON object, or none.")
    columns: tuple[Column, ...] = Field(
        default=("status", "confidence", "source", "canonical_url", "usage_count"),
        description="Further columns that are properties, under their names.",
    )
    status: Column = Field(
        default="status", description="Rows in which this column is `merged` are left out; empty: no row is."
    )


class EdgeTable(Section):
    """The table or view that has a row for each edge."""

    table: Table = Field(default="relationship", min_length=1, description="The table or view.")
    subject: Column = Field(default="subject_id", min_length=1, description="The ID of the subject, with an index.")
    predicate: Column = Field(default="predicate", min_length=1, description="The predicate, a text.")
    object: Column = Field(default="object_id", min_length=1, description="The ID of the object, with an index.")
    id: Column = Field(default="id", description="What the evidence table refers to.")
    properties: Column = Field(default="properties", description="Properties as a JSON object, or none.")
    columns: tuple[Column, ...] = Field(
        default=("confidence", "source_documents"),
        description="Further columns that are properties, under their names.",
    )


class EvidenceTable(Section):
    """The table or view that has a row for each statement about an edge."""

    table: Table = Field(default="evidence", description="The table or view; empty: none is read.")
    edge: Column = Field(default="relationship_id", description="The edge, by `postgres.edges.id`.")
    key: Column = Field(default="", description="In place of `edge`: the edge as the text `subject:predicate:object`.")
    properties: Column = Field(default="metadata_", description="Properties as a JSON object, or none.")
    columns: tuple[Column, ...] = Field(
        default=("paper_id", "evidence_type", "confidence_score"),
        description="Further columns that are properties, under their names.",
    )


class _GraphSettings(Section):
    """What a graph in any database has."""

    base: Namespace = Field(
        default="urn:x-bfsql:id:",
        description=(
            "Begins the IRI of an ID that is neither an IRI nor a CURIE with a declared prefix; the ID follows, "
            "percent-encoded."
        ),
    )


class PostgresSettings(_GraphSettings):
    """A graph in PostgreSQL: its tables, and what its IDs and names are in answers."""

    vocabulary: Namespace = Field(
        default="urn:x-bfsql:term:",
        description="The same for types, predicates and names of properties.",
    )
    nodes: NodeTable = NodeTable()
    edges: EdgeTable = EdgeTable()
    evidence: EvidenceTable = EvidenceTable()


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
        description=(
            "The display name: the first text or number in these, which may be lists. Others are synonyms. Not given: "
            "after these two, the properties that are called names."
        ),
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


class Neo4jSettings(_GraphSettings):
    """A graph in Neo4j: its nodes and relationships, and what its IDs and names are in answers."""

    vocabulary: Namespace = Field(
        default="urn:x-bfsql:term:",
        description="The same for labels, types of relationships and names of properties.",
    )
    nodes: NodesInNeo4j = NodesInNeo4j()
    edges: EdgesInNeo4j = EdgesInNeo4j()
