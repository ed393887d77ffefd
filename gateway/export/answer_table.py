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


def warn_of_cuts(answer: Json, *, has_all_pages: bool) -> None:
    """Warn whoever makes a table of an answer of what it lacks, which no cell of it shows.

    Args:
        answer: The answer as the protocol writes it.
        has_all_pages: Whether the caller is given the following pages too.
    """
    missing = [_cut_values(answer), _short_list(answer, has_all_pages=has_all_pages), _bare_nodes(answer)]
    for text in filter(None, missing):
        warnings.warn(text, stacklevel=_CALLS)


def _cut_values(answer: Json) -> str:
    """Return a warning about values that are cut or missing; empty where none are."""
    degraded = answer.get("degraded", {})
    if count := degraded.get("values_shortened", 0) + degraded.get("properties_left_out", 0):
        text = f"{counted(count, 'value')} of this table shortened or left out: a cell is not all that the graph has."
        return f"{text} search_pages, bfs_subgraph and intersection_subgraph read whole cells."
    if answer.get("values_complete") is False:
        return "Some values of this table could not be read: an empty cell may have one in the graph."
    return ""


def _short_list(answer: Json, *, has_all_pages: bool) -> str:
    """Return a warning about rows that there are and the table has not, with what returns them; empty for none."""
    if "entity_types" in answer:
        keys = {} if "shapes" in answer else {"entity_types": "type", "predicates": "predicate"}
        parts = [_of(len(answer[key]), answer[f"{key}_total"], word) for key, word in keys.items()]
        step = "describe_schema(all=True) lists up to 200 of each, and query= those that fit a question."
        return _has_only(" and ".join(filter(None, parts)), step)
    if "not_found" in answer:
        count = len(answer["result"])
        total = count + sum(len(answer.get(key, ())) for key in ("remaining_ids", "failed"))
        step = "describe_entities without max_tokens reads all; those in `failed` could not be read."
        return _has_only(_of(count, total, "entity"), step)
    if "queries" in answer:
        count = sum(len(one["result"]) for one in answer["queries"])
        total = sum(one.get("found", len(one["result"])) for one in answer["queries"])
        step = "A higher limit= lists up to 100 of each query, and search_pages all of one."
        return _has_only(_of(count, total, "hit"), step)
    return "" if has_all_pages or "next_offset" not in answer else _short_page(answer)


def _short_page(answer: Json) -> str:
    """Return a warning about the rows of the pages that follow."""
    is_traversal = "node_count" in answer
    step = f"{_whole(answer)} returns all." if is_traversal else "search_pages yields all."
    if "groups" in answer:
        step = "offset=answer.next_offset asks for the next ones." if is_traversal else step
        return _has_only(_of(len(answer["groups"]), answer["group_count"], "group"), step)
    if "rows" in answer:
        return _has_only(_of(len(answer["rows"]), answer.get("found", 0), "row"), step)
    if is_traversal:
        return _has_only(_of(len(answer["nodes"]), answer["node_count"], "node"), step)
    return _has_only(_of(len(answer.get("result", ())), answer.get("found", 0), "hit"), step)


def _whole(answer: Json) -> str:
    """Return the call that reads the same traversal whole."""
    return "intersection_subgraph" if "k" in answer else "bfs_subgraph"


def _bare_nodes(answer: Json) -> str:
    """Return a warning about nodes whose metadata was left out to save room; empty where there are none."""
    if {"computed", "groups", "rows"} & answer.keys() or not (bare := answer.get("degraded", {}).get("nodes_as_stubs")):
        return ""
    of_nodes = _of(len(answer["nodes"]) - bare, len(answer["nodes"]), "node")
    return (
        f"This table has the metadata of {of_nodes}: an empty cell of another may have a value. "
        f"{_whole(answer)} leaves none out to save room."
    )


def _of(count: int, total: int, word: str) -> str:
    return f"{count:,} of {counted(total, word)}" if count < total else ""


def _has_only(listed: str, step: str) -> str:
    return listed and f"This table has {listed}. {step}"


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
