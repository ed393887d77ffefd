"""An answer as columns: its rows, groups, hits or nodes, each kind of value with a title of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gateway.errors import counted
from gateway.export.conversions import titles_of

Json = Mapping[str, Any]
Columns = dict[str, list[Any]]

_HIT = ("id", "type", "name", "match", "matched", "description", "edges")


def answer_columns(answer: Json, show: str) -> Columns:
    """Return an answer as columns by title; a cell of several values is a list.

    Args:
        answer: The answer as the protocol writes it.
        show: What stands for an entity in its rows: its ID and its name, or one of them.
    """
    if "computed" in answer:
        return {title: [value] for title, value in answer["computed"].items()}
    if "groups" in answer:
        return _transposed(answer["group_columns"], answer["groups"])
    if "rows" in answer:
        return _rows(answer, show)
    if "entity_types" in answer:
        return _terms(answer)
    nodes = answer.get("nodes", answer["result"] if "not_found" in answer else None)
    if "id" in answer:
        nodes = [{"metadata": {key: answer[key] for key in answer if key not in _OF_ENTITY}, **answer}]
    if nodes is not None:
        return _nodes(nodes)
    return _hits(answer)


_CALLS = 4
"""From the warning to the line of the program that asked for the table."""


def warn_of_cuts(answer: Json) -> None:
    """Warn whoever makes a table of an answer of which values are cut or missing, which no cell of it shows."""
    count = answer.get("degraded", {}).get("values_shortened", 0)
    if count:
        text = f"{counted(count, 'value')} of this table shortened or left out: a cell is not all that the graph has."
        step = "search_pages, bfs_subgraph and intersection_subgraph read whole cells."
        warnings.warn(f"{text} {step}", stacklevel=_CALLS)
    elif answer.get("values_complete") is False:
        text = "Some values of this table could not be read: an empty cell may have one in the graph."
        warnings.warn(text, stacklevel=_CALLS)


_OF_ENTITY = {"id", "entity_type", "iri", "edges", "complete", "warnings", "labels", "prefixes", "degraded", "explain"}


def _hits(answer: Json) -> Columns:
    if "queries" not in answer:
        return _transposed(_HIT, map(_hit, answer["result"]))
    rows = [(one["query"], *_hit(hit)) for one in answer["queries"] for hit in one["result"]]
    return _transposed(("query", *_HIT), rows)


def _hit(hit: Json) -> list[Any]:
    return [hit.get("entity_type" if name == "type" else name) for name in _HIT]


def _transposed(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    listed = list(rows)
    return {title: [row[place] for row in listed] for place, title in enumerate(titles)}


def _rows(answer: Json, show: str) -> Columns:
    firsts = [str(row[0]) for row in answer["rows"]]
    columns: Columns = {"name" if show == "name" else "id": firsts}
    if show == "both":
        # No ID has a blank.
        parts = [first.partition(" ") for first in firsts]
        columns = {"id": [one for one, _, _ in parts], "name": [name or None for _, _, name in parts]}
    values = [row[1:] for row in answer["rows"]]
    titles = [f"{title} (value)" if title in columns else title for title in answer["columns"]]
    return columns | _transposed(titles, values)


def _terms(answer: Json) -> Columns:
    labels, counts = answer.get("labels", {}), answer["counts"]
    kinds = (("type", "entity_types"), ("predicate", "predicates"))
    rows = [(one, kind, labels.get(one), counts.get(one)) for kind, key in kinds for one in answer[key]]
    return _transposed(("id", "kind", "name", "count"), rows)


def _nodes(nodes: Sequence[Json]) -> Columns:
    said = [{**(node.get("metadata") or {})} for node in nodes]
    names = [one.pop("name", None) or node.get("name") for one, node in zip(said, nodes, strict=True)]
    columns: Columns = {
        "id": [node["id"] for node in nodes],
        "type": [node.get("entity_type") for node in nodes],
        "name": names,
    }
    titles = titles_of(said, set(columns), "metadata")
    return columns | {title: [one.get(key) for one in said] for key, title in titles.items()}
