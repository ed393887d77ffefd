"""A subgraph as columns, as CSV and DOT, and as objects of NetworkX and rdflib."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from typing import Literal as Literal_

from rdflib import RDF, RDFS, BNode, Graph, Literal, URIRef

from gateway.errors import counted
from gateway.escaping import json_text, visible, without_formula
from gateway.export.subgraph import Subgraph, SubgraphEdge, how_said, needs
from gateway.terms.iri import NAME_PREDICATES, SYNONYM_PREDICATES
from gateway.terms.local_names import local_part
from gateway.terms.name_predicates import NAME_WALKS, SYNONYM_WALKS

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

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
    for node in subgraph.nodes:
        yield {
            "id": node.id,
            "iri": subgraph.iris[node.id],
            "type": node.type,
            "types": list(node.types),
            "name": node.name,
            "distance": node.distance,
            "metadata": dict(node.metadata),
            **{title: (node.values or {}).get(column) for column, title in titles.items()},  # noqa: PD011 - not pandas
        }


def value_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of the values that were asked for, by column; "type" is that of each node already."""
    return {column: f"{column} (value)" if column in NODE_COLUMNS else column for column in subgraph.columns}


def edge_rows(subgraph: Subgraph) -> Iterator[Row]:
    """Yield a row for each edge; evidence is an object, or None."""
    names = {node.id: node.name for node in subgraph.nodes}
    for edge in subgraph.edges:
        yield {
            **_end("subject", edge.subject, names.get(edge.subject, ""), subgraph),
            **_end("predicate", edge.predicate, subgraph.labels.get(edge.predicate, ""), subgraph),
            **_end("object", edge.object, names.get(edge.object, ""), subgraph),
            "evidence": None if edge.evidence is None else dict(edge.evidence),
        }


MOST_COLUMNS = 200
"""Columns of metadata; nodes of a hub may have thousands of predicates, and `metadata` has all of them."""


def metadata_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of columns for the metadata of nodes, by key: those that most nodes have, in their order."""
    taken = {*NODE_COLUMNS, *value_titles(subgraph).values()}
    return titles_of((node.metadata for node in subgraph.nodes), taken, "metadata")


def evidence_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of columns for the evidence of edges, by key; see `metadata_titles`."""
    return titles_of((edge.evidence or {} for edge in subgraph.edges), set(EDGE_COLUMNS), "evidence")


def titles_of(mappings: Iterable[Mapping[str, Any]], taken: set[str], kind: str) -> dict[str, str]:
    """Return the titles of columns for the keys that most mappings have, in their order; one that is taken says why."""
    counts = Counter(key for mapping in mappings for key in mapping)
    frequent = {key for key, _ in counts.most_common(MOST_COLUMNS)}
    return {key: f"{key} ({kind})" if key in taken else key for key in counts if key in frequent}


def _by_title(mapping: Mapping[str, Any], titles: Mapping[str, str]) -> Row:
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
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS)).astype({"distance": "Int64"})
    edges = pd.DataFrame(list(edge_rows(subgraph)), columns=list(EDGE_COLUMNS))
    values = {title: [row[title] for row in rows] for title in value_titles(subgraph).values()}
    metadata = columns_of([node.metadata for node in subgraph.nodes], metadata_titles(subgraph))
    evidence = columns_of([edge.evidence or {} for edge in subgraph.edges], evidence_titles(subgraph))
    return _with_columns(nodes, values | metadata), _with_columns(edges, evidence)


def columns_of(mappings: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the values of some keys as columns by title, None where one is missing."""
    return {title: [mapping.get(key) for mapping in mappings] for key, title in titles.items()}


def _with_columns(table: pd.DataFrame, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - an extra

    series = {}
    for title, values in columns.items():
        kind, typed = typed_column(title, values)
        series[title] = pd.Series(typed, dtype=_PANDAS.get(kind, kind), index=table.index)
    # At once: a table to which columns are added one by one is in pieces.
    return pd.concat([table, pd.DataFrame(series, index=table.index)], axis="columns") if series else table


def frame_of(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Return columns as a table, each of the type that all its values have.

    Raises:
        ConfigurationError: pandas is not installed.
    """
    with needs("pandas", "export"):
        import pandas as pd  # noqa: PLC0415 - an extra

    return _with_columns(pd.DataFrame(index=pd.RangeIndex(len(next(iter(columns.values()), ())))), columns)


Kind = Literal_["Int64", "Float64", "boolean", "object", "date", "time", "time in UTC"]

_TEXTS = {*NODE_COLUMNS, *EDGE_COLUMNS, "description", "match", "matched", "kind", "query"}

_NAMES = {
    "name",
    *(local_part(iri) for iri in (*NAME_PREDICATES, *SYNONYM_PREDICATES)),
    *(local_part(walk.last) for walk in (*NAME_WALKS, *SYNONYM_WALKS)),
}
"""What predicates of names are called; a datatype that would tell a name from a date is not in an answer."""

_KIND_OF_VALUE = re.compile(r" \((?:value|metadata|evidence)\)$")
_LAST_WORD = re.compile(r"\w+(?=\W*$)")

_PANDAS = {"date": "datetime64[ns]", "time": "datetime64[ns]", "time in UTC": "datetime64[ns, UTC]"}

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(_DATE.pattern + r"T\d\d:\d\d:\d\d(?:\.\d{1,6})?")
_YEARS = range(1678, 2262)
"""Those that nanoseconds of 64 bits reach in whole."""


def typed_column(title: str, values: Sequence[Any]) -> tuple[Kind, Sequence[Any]]:
    """Return the type of a column, and its values in it: dates and times where all of them are written so.

    A name is a text, however it is written, and so are groups and figures of names.
    """
    kind = dtype_of(values)
    texts = [value for value in values if value is not None]
    if kind != "object" or not texts or _is_of_texts(title) or not all(isinstance(text, str) for text in texts):
        return kind, values
    forms: dict[Kind, tuple[re.Pattern[str], Callable[[str], date]]] = {
        "date": (_DATE, date.fromisoformat),
        "time": (_TIME, datetime.fromisoformat),
        "time in UTC": (re.compile(f"{_TIME.pattern}Z"), datetime.fromisoformat),
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
    """Return whether a column has names or other texts: by its title, or by where its walk ends."""
    title = _KIND_OF_VALUE.sub("", title)
    last = _LAST_WORD.search(title)
    return title in _TEXTS or (last is not None and last[0] in _NAMES)


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
    return _csv([*NODE_COLUMNS, *value_titles(subgraph).values()], node_rows(subgraph), guard_formulas)


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
        graph.add_edge(
            pydot.Edge(
                pydot.make_quoted(row["subject"]),
                pydot.make_quoted(row["object"]),
                label=pydot.make_quoted(_label(f"{row['predicate_name'] or row['predicate']} {said}".strip())),
                tooltip=pydot.make_quoted(_label(row["predicate_iri"])),
                style=style,
            )
        )
    return str(graph.to_string())


def _label(text: str) -> str:
    """Return a text as a label: Graphviz reads backslashes and HTML's character references in it."""
    shown = visible(text).replace("\\\\", "\\").replace("\\", "\\\\")
    return _REFERENCE.sub("&amp;", shown)


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document can hold (https://www.w3.org/TR/xml/, 2.2)."""

_EDGE_ATTRIBUTES = ("predicate_name", "predicate_iri", "evidence")


def to_networkx(subgraph: Subgraph) -> nx.MultiDiGraph[str]:
    """Return a subgraph as a directed graph with parallel edges.

    Nodes are IDs, with the columns of `rows` and each kind of metadata as attributes. The key of an edge is the ID of
    its predicate; its attributes are the predicate's name and IRI, and the evidence, whole and by kind. The graph has
    `seeds`, `complete` and `notes`.

    Raises:
        ConfigurationError: networkx is not installed.
    """
    graph = _empty()
    graph.graph.update(seeds=list(subgraph.seeds), complete=subgraph.complete, notes=list(subgraph.notes))
    # Not as keywords: networkx has some of its own, and a graph may have predicates of these names.
    titles = metadata_titles(subgraph)
    for row, node in zip(node_rows(subgraph), subgraph.nodes, strict=True):
        graph.add_node(row.pop("id"))
        graph.nodes[node.id].update(row | _by_title(node.metadata, titles))
    titles = evidence_titles(subgraph)
    for row, edge in zip(edge_rows(subgraph), subgraph.edges, strict=True):
        graph.add_edge(edge.subject, edge.object, key=edge.predicate)
        attributes = {name: row[name] for name in _EDGE_ATTRIBUTES} | _by_title(edge.evidence or {}, titles)
        graph.edges[edge.subject, edge.object, edge.predicate].update(attributes)
    return graph


def graphml(subgraph: Subgraph) -> bytes:
    r"""Return a subgraph as GraphML: metadata and evidence are JSON, edges have their predicate as an attribute too.

    A character that XML cannot hold is written as `\uXXXX`.

    Raises:
        ConfigurationError: networkx is not installed.
    """
    graph = _empty()
    for row in node_rows(subgraph):
        graph.add_node(row.pop("id"), **_xml(plain(row)))
    for row in edge_rows(subgraph):
        values = _xml(plain({name: row[name] for name in ("predicate", *_EDGE_ATTRIBUTES)}))
        graph.add_edge(row["subject"], row["object"], key=row["predicate"], **values)
    graph.graph["complete"] = subgraph.complete
    graph.graph["notes"] = _xml_text("\n".join(subgraph.notes))
    file = io.BytesIO()
    _networkx().write_graphml_xml(graph, file)
    return file.getvalue()


def _empty() -> nx.MultiDiGraph[str]:
    graph: nx.MultiDiGraph[str] = _networkx().MultiDiGraph()
    return graph


def _networkx() -> Any:
    with needs("networkx", "export"):
        import networkx as nx  # noqa: PLC0415 - an extra

    return nx


def _xml(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as GraphML can hold it: an attribute that is absent is no empty text."""
    kept = {name: value for name, value in row.items() if value != ""}
    return {name: _xml_text(value) if isinstance(value, str) else value for name, value in kept.items()}


def _xml_text(text: str) -> str:
    return _NOT_IN_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_JSON = URIRef(f"{RDF}JSON")


def to_rdflib(subgraph: Subgraph) -> Graph:
    """Return a subgraph as triples: its edges, and the types (`rdf:type`) and names (`rdfs:label`) of its nodes.

    A walk of several predicates is no triple, and is left out. What class expressions say of classes is stated about,
    and not asserted. A node without a type, a name and an edge is an
    `rdfs:Resource`, or it would be absent. The evidence of an edge is one `rdf:Statement` about it (RDF 1.1 Semantics,
    Appendix D.1), with the evidence as JSON in its `rdf:value`. Other metadata of nodes is left out: its values have
    lost their datatypes.
    """
    graph = Graph(bind_namespaces="none")
    for name, namespace in {"rdf": str(RDF), "rdfs": str(RDFS), **subgraph.prefixes}.items():
        graph.bind(name, namespace)
    iris = {name_id: _term(iri) for name_id, iri in subgraph.iris.items() if name_id not in subgraph.walks}
    edges = [edge for edge in subgraph.edges if edge.predicate not in subgraph.walks]
    stated = [edge for edge in edges if not _is_of_expressions(edge.evidence)]
    has_edge = {end for edge in stated for end in (edge.subject, edge.object)}
    for node in subgraph.nodes:
        types = [name_id for name_id in node.types if not name_id.startswith("(")]
        for name_id in types:
            graph.add((iris[node.id], RDF.type, iris[name_id]))
        if node.name:
            graph.add((iris[node.id], RDFS.label, Literal(node.name)))
        if not types and not node.name and node.id not in has_edge:
            graph.add((iris[node.id], RDF.type, RDFS.Resource))
    for edge in stated:
        graph.add((iris[edge.subject], iris[edge.predicate], iris[edge.object]))
    for edge in edges:
        triple = (iris[edge.subject], iris[edge.predicate], iris[edge.object])
        if edge.evidence is not None:
            _add_evidence(graph, triple, edge)
    return graph


def _is_of_expressions(evidence: Mapping[str, Any] | None) -> bool:
    """Return whether class expressions alone say an edge: of members of a class, or of one of several classes."""
    assertions = [] if evidence is None else evidence.get("assertions", [evidence])
    are_uncertain = [not {"restriction", "one of"}.isdisjoint(one) for one in assertions]
    is_certain = any("stated" in one or "position" in one or one.keys() == {"of"} for one in assertions)
    return any(are_uncertain) and not is_certain


def _term(iri: str) -> URIRef | BNode:
    return BNode(iri[2:]) if iri.startswith("_:") else URIRef(iri)


def _add_evidence(graph: Graph, triple: tuple[URIRef | BNode, ...], edge: SubgraphEdge) -> None:
    statement = BNode()
    graph.add((statement, RDF.type, RDF.Statement))
    for part, term in zip((RDF.subject, RDF.predicate, RDF.object), triple, strict=True):
        graph.add((statement, part, term))
    graph.add((statement, RDF.value, Literal(json_text(dict(edge.evidence or {})), datatype=_JSON)))


@dataclass(frozen=True, slots=True, repr=False)
class ArrowTable:
    """A table that other libraries take as it is: `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)`.

    Attributes:
        columns: The values of each column, None where one is missing.
    """

    columns: Mapping[str, Sequence[Any]]

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
            kind, typed = typed_column(title, values)
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
    titles = [*NODE_COLUMNS, *value_titles(subgraph).values()]
    nodes = {title: [row[title] for row in rows] for title in titles}
    nodes |= columns_of([node.metadata for node in subgraph.nodes], metadata_titles(subgraph))
    rows = list(edge_rows(subgraph))
    edges = {title: [row[title] for row in rows] for title in EDGE_COLUMNS}
    edges |= columns_of([edge.evidence or {} for edge in subgraph.edges], evidence_titles(subgraph))
    return ArrowTable(nodes), ArrowTable(edges)
