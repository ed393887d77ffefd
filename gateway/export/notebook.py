"""An answer as a notebook shows it: on one line, or as HTML that runs and loads nothing and has no markup of a graph.

Every text of an answer passes through `_text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from gateway.errors import counted
from gateway.escaping import json_text, visible
from gateway.export.picture import MOST_DRAWN, Arrow, bars, drawing
from gateway.export.subgraph import how_said
from gateway.terms.names import cut

Json = Mapping[str, Any]

_MOST_ROWS = 100
"""Rows of a table in a notebook."""

_CELL_CHARACTERS = 300
_ID_CHARACTERS = 80

_COUNTED = {
    "result": "entity",
    "entity_types": "type",
    "predicates": "predicate",
    "queries": "query",
    "rows": "row",
    "groups": "group",
}
"""What an answer has lists of, with the word for one of them."""


def line_of(kind: str, answer: Json) -> str:
    """Return an answer on one line: what it is, how much there is in it, and whether it is complete.

    Args:
        kind: The class of the answer.
        answer: The answer as the protocol writes it.
    """
    return f"<{kind}: {'; '.join(visible(part) for part in (_size(answer), *_state(answer)))}>"


def _size(answer: Json) -> str:
    """Return how much there is in an answer, in words."""
    if "node_count" in answer:
        size = f"{counted(answer['node_count'], 'node')}, {counted(answer['edge_count'], 'edge')}"
        return f"{size}; {_figures(answer)}" if "computed" in answer else size
    if "computed" in answer:
        return _figures(answer)
    if "id" in answer:
        return f"{cut(str(answer['id']), _ID_CHARACTERS)} ({cut(str(answer['entity_type']), _ID_CHARACTERS)})"
    sizes = [_listed(name, word, answer) for name, word in _COUNTED.items() if answer.get(name)]
    if not sizes and "entity_types" in answer and answer.get("values"):
        return counted(len(answer["values"]), "predicate") + " of values"
    if not sizes and answer.get("found"):
        return f"{counted(answer['found'], 'node')} found, none listed"
    return ", ".join(sizes) or "nothing found"


def _figures(answer: Json) -> str:
    """Return what was computed over how many nodes."""
    figures = (f"{cut(title, _ID_CHARACTERS)} {_figure(value)}" for title, value in answer["computed"].items())
    return f"{counted(answer['found'], 'node')} found: {', '.join(figures)}"


def _figure(value: Any) -> str:
    return "none" if value is None else cut(value if isinstance(value, str) else json_text(value), _ID_CHARACTERS)


def _listed(name: str, word: str, answer: Json) -> str:
    """Return how many of one kind an answer lists, of how many where these are more."""
    listed = len(answer[name])
    total = answer.get(_TOTALS.get(name, f"{name}_total")) or listed
    return f"{listed:,} of {counted(total, word)}" if total > listed else counted(listed, word)


_TOTALS = {"result": "found", "rows": "found", "groups": "group_count"}
"""Where the number of all stands, of which an answer lists some."""


def _state(answer: Json) -> Iterator[str]:
    """Yield whether an answer is complete, and which part of the whole it is."""
    yield "complete" if answer["complete"] else "not complete"
    if "page" in answer:
        yield f"page {answer['page']}"
    elif "next_offset" in answer:
        yield "more on the next page"
    if answer.get("remaining_ids"):
        yield f"{counted(len(answer['remaining_ids']), 'entity')} did not fit"
    if answer.get("not_found"):
        yield f"{len(answer['not_found']):,} not found"
    if answer.get("missing_seeds"):
        yield f"{counted(len(answer['missing_seeds']), 'seed')} not found"
    if "k" in answer and answer["complete"] and not answer["node_count"]:
        yield f"nothing is within {counted(answer['k'], 'hop')} of every seed, try a larger k"
    yield from _left_out(answer)
    if languages := answer.get("other_languages"):
        yield f"{counted(sum(languages.values()), 'text')} in other languages not shown"


def _left_out(answer: Json) -> Iterator[str]:
    """Yield how much was left out to save room, or could not be read."""
    steps = dict(answer.get("degraded", {}))
    if answer.get("values_complete") is False:
        count = steps.pop("values_shortened", 0)
        yield f"some values cut or missing{f' ({count:,} cut)' if count else ''}"
    for step, count in steps.items():
        yield f"{count:,} {_STEPS.get(step, step.replace('_', ' '))}"


_STEPS = {"nodes_as_stubs": "nodes without metadata", "edges_bare": "edges without evidence"}
"""What was left out to save room, where its name says little."""


def html_of(answer: Json) -> str:
    """Return an answer as HTML: what it is, whether it is complete and why not, a picture, and tables.

    Args:
        answer: The answer as the protocol writes it.
    """
    size, state = _size(answer), "; ".join(_state(answer))
    parts = [f"<p><b>{_text(size)}</b>: {_text(state)}</p>", _list(_reasons(answer)), _picture(answer)]
    parts += [_table(title, columns, rows) for title, columns, rows in _tables(answer)]
    return f'<div style="overflow-x: auto">{"".join(parts)}</div>'


def _text(value: Any) -> str:
    """Return a value as the text of an element: no markup, no hidden character, and not too long."""
    text = "" if value is None else value if isinstance(value, str) else json_text(value)
    return escape(visible(cut(text, _CELL_CHARACTERS)))


def _list(items: Iterable[str]) -> str:
    written = "".join(f"<li>{_text(item)}</li>" for item in items)
    return f"<ul>{written}</ul>" if written else ""


def _reasons(answer: Json) -> Iterator[str]:
    """Yield why an answer is not complete, what was left out of it, and what it warns of."""
    for gap in answer.get("incomplete", ()):
        yield f"Not complete ({gap['cause']}, {counted(gap['count'], 'node')}): {gap['detail']}"
    for key, words in _LISTS_OF_IDS.items():
        if ids := answer.get(key):
            yield f"{words}: {', '.join(map(str, ids[:_MOST_ROWS]))}"
    if searched := answer.get("searched"):
        yield f"Searched: {searched['how']}"
    if answer.get("values_complete") is False:
        count = answer.get("degraded", {}).get("values_shortened", 0)
        cut_values = f" ({count:,})" if count else ""
        yield (
            f"Some values are shortened or left out{cut_values}, or could not be read. Cells have "
            "as many values and characters as `size.cell_values` and `size.cell_characters` of the profile say."
        )
    if languages := answer.get("other_languages"):
        yield f"Texts in other languages that are not shown: {_counts(languages)}"
    if "edges_failed" in answer:
        yield f"Not all edges were counted: {answer['edges_failed']}"
    yield from answer.get("warnings", ())
    if "next_steps" in answer and not answer.get("result", True):
        yield answer["next_steps"]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


_LISTS_OF_IDS = {
    "missing_seeds": "Not in the graph",
    "not_found": "Not in the graph",
    "failed": "Could not be looked up",
    "remaining_ids": "Did not fit",
}


def _picture(answer: Json) -> str:
    """Return the nodes and edges of an answer as a picture, its numbers as bars, or why there is none."""
    if "groups" in answer:
        return _bars_of_groups(answer)
    if answer.get("nodes"):
        nodes = {node["id"]: (_name(node), node.get("entity_type", "")) for node in answer["nodes"]}
        arrows = [
            Arrow(edge["subject"], f"{edge['predicate']} {how_said(edge.get('metadata'))}".strip(), edge["object"])
            for edge in answer.get("edges", ())
        ]
        first = [seed for seed in answer.get("seeds", ()) if seed in nodes]
    elif answer.get("edges") and "id" in answer:
        nodes = {answer["id"]: (_name(answer), answer.get("entity_type", ""))}
        first = [answer["id"]]
        arrows = list(_followable(answer["id"], answer["edges"]))
        nodes |= {end: (end, "") for arrow in arrows for end in (arrow.subject, arrow.object) if end not in nodes}
    elif "entity_types" in answer and "shapes" not in answer:
        return "".join(_bars_of_terms(answer))
    else:
        nodes, arrows, first = _around(answer)
    if not nodes:
        return ""
    if len(nodes) > MOST_DRAWN:
        return f"<p>{_text(f'No picture: {len(nodes):,} nodes; it has up to {MOST_DRAWN}.')}</p>"
    return drawing(nodes, arrows, first)


_Drawn = tuple[dict[str, tuple[str, str]], list[Arrow], list[str]]


def _around(answer: Json) -> _Drawn:
    """Return the nodes, arrows and first nodes of the picture of a search, of several entities or of shapes."""
    if "shapes" in answer:
        return _shapes_drawn(answer["shapes"], answer.get("labels", {}))
    if "not_found" in answer:
        return _entities_drawn(answer["result"])
    return _hits_drawn(answer)


def _hits_drawn(answer: Json) -> _Drawn:
    """Return hits around what found them: of several queries these, else the types that are shown of the hits."""
    nodes: dict[str, tuple[str, str]] = {}
    arrows: list[Arrow] = []
    queries = answer.get("queries", ())
    for one in queries or (answer,):
        for hit in one.get("result", ()):
            kind = hit.get("entity_type", "")
            middle = f"query: {one['query']}" if queries else kind
            if middle:
                nodes.setdefault(middle, (middle, ""))
                arrows.append(Arrow(hit["id"], hit.get("match", "") if queries else "type", middle))
            nodes[hit["id"]] = (_name(hit), kind)
    return nodes, arrows, list(dict.fromkeys(arrow.object for arrow in arrows))


def _entities_drawn(entities: Sequence[Json]) -> _Drawn:
    """Return entities with what could be followed from them; of many, only what leads from one to another."""
    nodes = {one["id"]: (_name(one), one.get("entity_type", "")) for one in entities}
    first = list(nodes)
    arrows: dict[Arrow, None] = {}
    for one in entities:
        for arrow in _followable(one["id"], one.get("edges") or {}):
            ends = (_described(arrow.subject, nodes), _described(arrow.object, nodes))
            arrows[Arrow(ends[0], arrow.predicate, ends[1])] = None
    others = {end: (end, "") for arrow in arrows for end in (arrow.subject, arrow.object) if end not in nodes}
    return (nodes | others if len(nodes) + len(others) <= MOST_DRAWN else nodes), list(arrows), first


def _described(end: str, nodes: Mapping[str, Any]) -> str:
    """Return the ID of a neighbour that is described too; another one is its ID and its name in one text."""
    name_id = end.partition(" ")[0]
    return name_id if name_id in nodes else end


_KINDS = {"number", "date", "boolean", "text", "language text", "IRI", "blank node", "…"}
"""What a shape says of ends that are of no type."""


def _shapes_drawn(shapes: Mapping[str, Json], labels: Mapping[str, str]) -> _Drawn:
    """Return types with the types at the other ends of their edges."""
    nodes = {one: (labels.get(one, one), "") for one in shapes}
    arrows = []
    for one, shape in shapes.items():
        for predicate, row in shape["predicates"].items():
            # Behind the share and the number of values.
            for end in (end for kinds in row[2:3] for end in kinds.split(", ")):
                if end and end not in _KINDS:
                    nodes.setdefault(end, (labels.get(end, end), ""))
                    ends = (end, one) if predicate.startswith("^") else (one, end)
                    arrows.append(Arrow(ends[0], predicate.removeprefix("^"), ends[1]))
    return nodes, arrows, list(shapes)


def _bars_of_terms(answer: Json) -> Iterator[str]:
    counts, labels = answer["counts"], answer.get("labels", {})
    for title, key in (("Nodes of each type", "entity_types"), ("Edges of each predicate", "predicates")):
        if counted_terms := [(labels.get(one) or one, counts[one]) for one in answer[key] if one in counts]:
            yield bars(title, counted_terms)


def _bars_of_groups(answer: Json) -> str:
    """Return the first figure of groups that is a number as bars; nothing where it is none, or negative."""
    groups, columns = answer["groups"], answer["group_columns"]
    for place, title in enumerate(columns[1:], 1):
        numbers = [group[place] for group in groups]
        if groups and all(isinstance(one, int | float) and one >= 0 for one in numbers):
            return bars(title, [(_figure(group[0]), number) for group, number in zip(groups, numbers, strict=True)])
    return ""


def _name(node: Json) -> str:
    return str((node.get("metadata") or node).get("name") or node.get("name") or node["id"])


def _followable(name_id: str, edges: Mapping[str, Sequence[Any]]) -> Iterator[Arrow]:
    """Yield the edges that a description shows; a neighbour is its ID and its name in one text."""
    for predicate, (_, *neighbours) in edges.items():
        for neighbour in map(str, neighbours):
            if predicate.startswith("^"):
                yield Arrow(neighbour, predicate[1:], name_id)
            else:
                yield Arrow(name_id, predicate, neighbour)


_Table = tuple[str, Sequence[str], Sequence[Sequence[Any]]]

_NODE = ("id", "entity_type", "name", "metadata")
_HIT = ("id", "entity_type", "name", "match", "description", "edges")


def _tables(answer: Json) -> Iterator[_Table]:
    """Yield tables of what an answer has: titles, columns and rows."""
    if "computed" in answer:
        yield "Computed", ("figure", "value"), list(answer["computed"].items())
    if "groups" in answer:
        yield "Groups", answer["group_columns"], answer["groups"]
    if "rows" in answer:
        yield "Rows", ("", *answer.get("columns", ())), answer["rows"]
    if "nodes" in answer:
        yield from _subgraph_tables(answer)
    elif "id" in answer:
        yield from _entity_tables(answer)
    elif "entity_types" in answer:
        yield from _schema_tables(answer)
    elif "not_found" in answer:
        yield "Entities", _NODE, _node_rows(answer["result"])
    else:
        yield "Found", _HIT, _hits(answer["result"])
        for one in answer.get("queries", ()):
            yield f"Query: {one['query']} ({_size(one)})", _HIT, _hits(one["result"])
        yield "Guesses", _HIT, _hits(answer.get("guesses", ()))


def _subgraph_tables(answer: Json) -> Iterator[_Table]:
    if "rows" not in answer:
        yield "Nodes", _NODE, _node_rows(answer["nodes"])
    edges = [
        [edge["subject"], edge["predicate"], edge["object"], edge.get("metadata")] for edge in answer.get("edges", ())
    ]
    yield "Edges", ("subject", "predicate", "object", "metadata"), edges


def _entity_tables(answer: Json) -> Iterator[_Table]:
    yield "Entity", ("", ""), [(key, value) for key, value in answer.items() if key not in {"edges", "complete"}]
    edges = [(predicate, row[0], row[1:]) for predicate, row in answer.get("edges", {}).items()]
    yield "Edges", ("predicate", "count", "neighbours"), edges


def _node_rows(nodes: Sequence[Json]) -> list[list[Any]]:
    return [[node["id"], node.get("entity_type", ""), _name(node), node.get("metadata")] for node in nodes]


def _schema_tables(answer: Json) -> Iterator[_Table]:
    labels, counts = answer.get("labels", {}), answer["counts"]
    for title, key in (("Types", "entity_types"), ("Predicates", "predicates")):
        yield title, ("id", "name", "count"), [[one, labels.get(one), counts.get(one)] for one in answer[key]]
    if "values" in answer:
        yield (
            "Values",
            ("predicate", "nodes", "what"),
            [[key, value[0], value[1:]] for key, value in answer["values"].items()],
        )
    for type_id, shape in answer.get("shapes", {}).items():
        rows = [[key, *value[:3], value[3:]] for key, value in shape["predicates"].items()]
        yield f"{type_id}: {shape['read']}", ("predicate", "share", "how many", "what", "such as"), rows


def _hits(hits: Sequence[Json]) -> list[list[Any]]:
    return [[hit.get(column) for column in _HIT] for hit in hits]


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    more = f", the first {_MOST_ROWS} of {len(rows):,}" if len(rows) > _MOST_ROWS else ""
    head = "".join(f"<th>{_text(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in rows[:_MOST_ROWS])
    return (
        f"<p>{_text(f'{title}{more}')}</p>"
        f'<table style="text-align: left"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    )
