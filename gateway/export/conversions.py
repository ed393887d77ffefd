"""A subgraph as columns, as CSV and as DOT."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from typing import Literal as Literal_

from gateway.errors import counted
from gateway.escaping import json_text, visible, without_formula
from gateway.export.subgraph import Subgraph, how_said, needs
from gateway.terms.local_names import local_part, readable
from gateway.terms.name_predicates import USUAL_NAMES

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal_["Int64", "Float64", "boolean", "object", "date", "time", "time in UTC"]
"""The type of a column: that of pandas, or what is written in texts."""

_NO_KINDS: Mapping[str, Kind] = {}

NODE_COLUMNS = ("id", "iri", "type", "types", "name", "distance", "metadata")
EDGE_COLUMNS = (
    *("subject", "subject_name", "predicate", "predicate_name", "object", "object_name"),
    *("subject_iri", "predicate_iri", "object_iri", "evidence"),
)

_TOO_LARGE_AS_INTEGER = 1 << 63
_LARGEST_AS_FLOAT = 1 << 53
"""Whole numbers above it may be another number as a double."""

Row = dict[str, Any]


def node_rows(subgraph: Subgraph) -> Iterator[Row]:
    """Yield a row for each node; metadata and the list of types are objects, and so are several values of a column."""
    titles = value_titles(subgraph)
    has_paths = "via" in node_columns(subgraph)
    for node in subgraph.nodes:
        yield {
            "id": node.id,
            "iri": subgraph.iris[node.id],
            "type": node.type,
            "types": list(node.types),
            "name": node.name,
            "distance": node.distance,
            "metadata": dict(node.metadata),
            **({"via": [list(path) for path in node.via]} if has_paths else {}),
            **{title: (node.values or {}).get(column) for column, title in titles.items()},  # noqa: PD011 - not pandas
        }


def node_columns(subgraph: Subgraph) -> tuple[str, ...]:
    """Return the columns that each node has, whatever is known of it: with the paths to seeds where there are some."""
    return (*NODE_COLUMNS, "via") if any(node.via for node in subgraph.nodes) else NODE_COLUMNS


def value_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of the values that were asked for, by column; "type" is that of each node already."""
    taken = node_columns(subgraph)
    return {column: f"{column} (value)" if column in taken else column for column in subgraph.columns}


def edge_rows(subgraph: Subgraph) -> Iterator[Row]:
    """Yield a row for each edge; evidence is an object, or None."""
    names = {node.id: node.name for node in subgraph.nodes}
    for edge in subgraph.edges:
        yield {
            **_end("subject", edge.subject, names.get(edge.subject, ""), subgraph),
            **_end("predicate", edge.predicate, predicate_name(edge.predicate, subgraph), subgraph),
            **_end("object", edge.object, names.get(edge.object, ""), subgraph),
            "evidence": None if edge.evidence is None else dict(edge.evidence),
        }


def predicate_name(name_id: str, subgraph: Subgraph) -> str:
    """Return the name of a predicate as the graph has it, or else its local name if that reads as one, or nothing."""
    if name_id in subgraph.labels:
        return subgraph.labels[name_id]
    iri = subgraph.iris[name_id]
    # What the gateway made itself, such as a walk, has no IRI.
    local = "" if iri == name_id else local_part(iri)
    return local if readable(local) else ""


MOST_COLUMNS = 200
"""Columns of metadata; nodes of a hub may have thousands of predicates, and `metadata` has all of them."""


def metadata_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of columns for the metadata of nodes, by key: those that most nodes have, in their order."""
    taken = {*node_columns(subgraph), *value_titles(subgraph).values()}
    return titles_of((node.metadata for node in subgraph.nodes), taken, "metadata")


def evidence_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of columns for the evidence of edges, by key; see `metadata_titles`."""
    return titles_of((edge.evidence or {} for edge in subgraph.edges), set(EDGE_COLUMNS), "evidence")


def titles_of(mappings: Iterable[Mapping[str, Any]], taken: set[str], kind: str) -> dict[str, str]:
    """Return the titles of columns for the keys that most mappings have, in their order; one that is taken says why."""
    counts = Counter(key for mapping in mappings for key in mapping)
    frequent = {key for key, _ in counts.most_common(MOST_COLUMNS)}
    return {key: f"{key} ({kind})" if key in taken else key for key in counts if key in frequent}


def by_title(mapping: Mapping[str, Any], titles: Mapping[str, str]) -> Row:
    """Return those of some values that have titles, by these."""
    return {title: mapping[key] for key, title in titles.items() if key in mapping}


def plain(row: Row) -> Row:
    """Return a row without nested values: these become JSON, and None an empty text."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> str | int | float | bool:
    if value is None or value in ({}, []):
        return ""
    return json_text(value) if isinstance(value, Mapping | list) else value


def _end(part: str, name_id: str, name: str, subgraph: Subgraph) -> Row:
    return {part: name_id, f"{part}_name": name, f"{part}_iri": subgraph.iris[name_id]}


def to_dataframes(subgraph: Subgraph) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the nodes and the edges of a subgraph as tables, with the columns of `rows`.

    Metadata and evidence are dictionaries, distances whole numbers (missing in an intersection). Behind them are
    columns for the values that were asked for, and for each kind of metadata or evidence; several of one node are a
    list.

    Raises:
        ConfigurationError: pandas is not installed.
    """
    with needs("pandas", "export"):
        import pandas as pd  # noqa: PLC0415 - an extra

    rows = list(node_rows(subgraph))
    nodes = pd.DataFrame(rows, columns=list(node_columns(subgraph))).astype({"distance": "Int64"})
    edges = pd.DataFrame(list(edge_rows(subgraph)), columns=list(EDGE_COLUMNS))
    values = {title: [row[title] for row in rows] for title in value_titles(subgraph).values()}
    metadata = columns_of([node.metadata for node in subgraph.nodes], metadata_titles(subgraph))
    evidence = columns_of([edge.evidence or {} for edge in subgraph.edges], evidence_titles(subgraph))
    return _with_columns(nodes, values | metadata), _with_columns(edges, evidence)


def columns_of(mappings: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the values of some keys as columns by title, None where one is missing."""
    return {title: [mapping.get(key) for mapping in mappings] for key, title in titles.items()}


def _with_columns(
    table: pd.DataFrame, columns: Mapping[str, Sequence[Any]], known: Mapping[str, Kind] = _NO_KINDS
) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - an extra

    series = {}
    for title, values in columns.items():
        kind, typed = typed_column(title, values, known.get(title))
        series[title] = pd.Series(typed, dtype=_PANDAS.get(kind, kind), index=table.index)
    # At once: a table to which columns are added one by one is in pieces.
    return pd.concat([table, pd.DataFrame(series, index=table.index)], axis="columns") if series else table


def frame_of(columns: Mapping[str, Sequence[Any]], known: Mapping[str, Kind] = _NO_KINDS) -> pd.DataFrame:
    """Return columns as a table, each of the type that all its values have.

    Args:
        columns: The values by title, None where one is missing.
        known: The types that columns have on other pages of the same answer.

    Raises:
        ConfigurationError: pandas is not installed.
    """
    with needs("pandas", "export"):
        import pandas as pd  # noqa: PLC0415 - an extra

    return _with_columns(pd.DataFrame(index=pd.RangeIndex(len(next(iter(columns.values()), ())))), columns, known)


_TEXTS = {*NODE_COLUMNS, "via", *EDGE_COLUMNS, "description", "match", "matched", "kind", "query"}

_KIND_OF_VALUE = re.compile(r" \((?:value|metadata|evidence)\)$")
_LAST_WORD = re.compile(r"\w+(?=\W*$)")

_PANDAS = {"date": "datetime64[ns]", "time": "datetime64[ns]", "time in UTC": "datetime64[ns, UTC]"}

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(_DATE.pattern + r"T\d\d:\d\d:\d\d(?:\.\d{1,6})?")
_ZONED_TIME = re.compile(rf"{_TIME.pattern}(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)")
"""With a time zone as XML Schema has it (XML Schema 1.1, part 2, D.2.2)."""

_YEARS = range(1678, 2262)
"""Those that nanoseconds of 64 bits reach in whole."""


_COUNTS: Mapping[str, Kind] = {"edges": "Int64", "count": "Int64"}
"""Columns of numbers, also where none is known."""


def typed_column(title: str, values: Sequence[Any], known: Kind | None = None) -> tuple[Kind, Sequence[Any]]:
    """Return the type of a column, and its values in it: dates and times where all of them are written so.

    Times with a zone are in UTC, whatever their zones: a column has one.

    A name is a text, however it is written, and so are groups and figures of names.

    Args:
        title: The title of the column.
        values: Its values, None where one is missing.
        known: The type that it has on other pages of the same answer.
    """
    if all(value is None for value in values):
        return known or _COUNTS.get(title, "object"), values
    kind, typed = _typed(title, values)
    wide = kind if known is None else joined_kind(known, kind)
    return wide, typed if wide == kind else values


def joined_kind(one: Kind, other: Kind) -> Kind:
    """Return the type of a column that has values of two types.

    >>> joined_kind("Int64", "Float64"), joined_kind("date", "object")
    ('Float64', 'object')
    """
    if one == other:
        return one
    return "Float64" if {one, other} == {"Int64", "Float64"} else "object"


def kinds_of(columns: Mapping[str, Sequence[Any]], known: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return the types of columns by title, without those that have no value here nor on other pages."""
    kinds = {title: typed_column(title, values, known.get(title))[0] for title, values in columns.items()}
    return {
        title: kind
        for title, kind in kinds.items()
        if title in known or any(value is not None for value in columns[title])
    }


def _typed(title: str, values: Sequence[Any]) -> tuple[Kind, Sequence[Any]]:
    kind = dtype_of(values)
    texts = [value for value in values if value is not None]
    if kind != "object" or _is_of_texts(title) or not all(isinstance(text, str) for text in texts):
        return kind, values
    forms: dict[Kind, tuple[re.Pattern[str], Callable[[str], date]]] = {
        "date": (_DATE, date.fromisoformat),
        "time": (_TIME, datetime.fromisoformat),
        "time in UTC": (_ZONED_TIME, lambda text: datetime.fromisoformat(text).astimezone(UTC)),
    }
    for dated, (form, read) in forms.items():
        if all(form.fullmatch(text) and int(text[:4]) in _YEARS for text in texts):
            try:
                return dated, [None if value is None else read(value) for value in values]
            except ValueError:
                # The 30th of February.
                return kind, values
    return kind, values


def _is_of_texts(title: str) -> bool:
    """Return whether a column has names or other texts: by its title, or by where its walk ends.

    A datatype that would tell a name from a date is not in an answer.
    """
    title = _KIND_OF_VALUE.sub("", title)
    last = _LAST_WORD.search(title)
    return title in _TEXTS or (last is not None and last[0] in {"name", *USUAL_NAMES})


def dtype_of(values: Sequence[Any]) -> Literal_["Int64", "Float64", "boolean", "object"]:
    """Return the type of a column that changes none of its values, some of which are missing."""
    kinds = {type(value) for value in values if value is not None}
    largest = max((abs(value) for value in values if type(value) is int), default=0)
    if kinds == {int} and largest < _TOO_LARGE_AS_INTEGER:
        return "Int64"
    if kinds == {bool}:
        return "boolean"
    return "Float64" if kinds and kinds <= {int, float} and largest <= _LARGEST_AS_FLOAT else "object"


def nodes_csv(subgraph: Subgraph, *, guard_formulas: bool = False) -> str:
    """Return the nodes as CSV (RFC 4180), with a header; metadata is JSON.

    With `guard_formulas`, no text is a formula for a spreadsheet (`escaping.without_formula`), and each is quoted.
    """
    return _csv([*node_columns(subgraph), *value_titles(subgraph).values()], node_rows(subgraph), guard_formulas)


def edges_csv(subgraph: Subgraph, *, guard_formulas: bool = False) -> str:
    """Return the edges as CSV (RFC 4180), with a header; evidence is JSON. `guard_formulas` is that of `nodes_csv`."""
    return _csv(EDGE_COLUMNS, edge_rows(subgraph), guard_formulas)


def _csv(columns: Sequence[str], rows: Iterable[Row], guard_formulas: bool) -> str:
    return table_csv(columns, ([row[name] for name in columns] for row in rows), guard_formulas=guard_formulas)


def table_csv(titles: Sequence[str], rows: Iterable[Sequence[Any]], *, guard_formulas: bool = False) -> str:
    """Return rows as CSV (RFC 4180), with a header; lists and objects are JSON. `guard_formulas`: see `nodes_csv`."""
    text = io.StringIO(newline="")
    # A spreadsheet that splits at semicolons then finds each text in quotation marks.
    quoting: Literal_[0, 2] = csv.QUOTE_NONNUMERIC if guard_formulas else csv.QUOTE_MINIMAL
    writer = csv.writer(text, lineterminator="\r\n", quoting=quoting)
    for row in (titles, *rows):
        values = map(_plain, row)
        writer.writerow(map(_guarded, values) if guard_formulas else values)
    return text.getvalue()


def _guarded(value: Any) -> Any:
    return without_formula(value) if isinstance(value, str) else value


_REFERENCE = re.compile(r"&(?=#?\w+;)")
"""The beginning of a character reference (https://graphviz.org/doc/info/lang.html, "Character encodings")."""


def dot(subgraph: Subgraph) -> str:
    """Return a subgraph in DOT: nodes are labelled by name, edges by predicate; types and IRIs become tooltips.

    Of evidence there is only what denies an edge, or how a class expression says it: DOT has no place for the rest.

    Raises:
        ConfigurationError: pydot is not installed.
    """
    with needs("pydot", "export"):
        import pydot  # noqa: PLC0415 - an extra

    graph = pydot.Dot("subgraph", graph_type="digraph", rankdir="LR")
    for row in node_rows(subgraph):
        graph.add_node(
            pydot.Node(
                pydot.make_quoted(row["id"]),
                label=pydot.make_quoted(_label(row["name"] or row["id"])),
                tooltip=pydot.make_quoted(_label(f"{row['iri']} ({row['type']})")),
            )
        )
    for row in edge_rows(subgraph):
        said = how_said(row["evidence"])
        style = "dashed" if said.startswith("DENIED") else "solid"
        named = subgraph.labels.get(row["predicate"], row["predicate"])
        graph.add_edge(
            pydot.Edge(
                pydot.make_quoted(row["subject"]),
                pydot.make_quoted(row["object"]),
                label=pydot.make_quoted(_label(f"{named} {said}".strip())),
                tooltip=pydot.make_quoted(_label(row["predicate_iri"])),
                style=style,
            )
        )
    return str(graph.to_string())


def _label(text: str) -> str:
    """Return a text as a label: Graphviz reads backslashes and HTML's character references in it."""
    shown = visible(text).replace("\\\\", "\\").replace("\\", "\\\\")
    return _REFERENCE.sub("&amp;", shown)


@dataclass(frozen=True, slots=True, repr=False)
class ArrowTable:
    """A table that other libraries take as it is: `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)`.

    Attributes:
        columns: The values of each column, None where one is missing.
        known: The types that columns have on other pages of the same answer.
    """

    columns: Mapping[str, Sequence[Any]]
    known: Mapping[str, Kind] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"<ArrowTable: {counted(len(self), 'row')}, {counted(len(self.columns), 'column')}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a capsule of an Arrow stream: numbers, truth values, dates, times, and texts.

        Lists, objects, and columns of several kinds are JSON in texts.

        Raises:
            ConfigurationError: nanoarrow is not installed.
        """
        with needs("nanoarrow", "export"):
            import nanoarrow as na  # noqa: PLC0415 - an extra

        types = {
            "Int64": na.int64(),
            "Float64": na.float64(),
            "boolean": na.bool_(),
            "date": na.date32(),
            "time": na.timestamp("us"),
            "time in UTC": na.timestamp("us", "UTC"),
            "string": na.string(),
        }
        fields, children = {}, []
        for title, values in self.columns.items():
            kind: str
            kind, typed = typed_column(title, values, self.known.get(title))
            if kind == "object":
                kind = "string"
                if not all(value is None or isinstance(value, str) for value in values):
                    typed = [None if value is None else json_text(value) for value in values]
            elif kind in {"date", "time", "time in UTC"}:
                typed = [None if value is None else _since_1970(value) for value in typed]
            fields[title] = types[kind]
            children.append(na.c_array(list(typed), types[kind]))
        rows = na.c_array_from_buffers(na.struct(fields), len(self), buffers=[None], children=children)
        return na.ArrayStream(rows).__arrow_c_stream__(requested_schema)


def _since_1970(value: date) -> int:
    """Return the days, or of a time the microseconds, since the beginning of 1970."""
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return (value - date(1970, 1, 1)).days


def to_arrow(subgraph: Subgraph) -> tuple[ArrowTable, ArrowTable]:
    """Return the nodes and the edges of a subgraph as tables with the columns of `to_dataframes`."""
    rows = list(node_rows(subgraph))
    titles = [*node_columns(subgraph), *value_titles(subgraph).values()]
    nodes = {title: [row[title] for row in rows] for title in titles}
    nodes |= columns_of([node.metadata for node in subgraph.nodes], metadata_titles(subgraph))
    rows = list(edge_rows(subgraph))
    edges = {title: [row[title] for row in rows] for title in EDGE_COLUMNS}
    edges |= columns_of([edge.evidence or {} for edge in subgraph.edges], evidence_titles(subgraph))
    return ArrowTable(nodes), ArrowTable(edges)
