"""The bound of an answer where its smallest form is still too large: lists are cut, and what is left out is counted.

An ID may have 998 characters, and a call may name 200 of them, so what an answer says beside its nodes and edges may
alone be larger than the answer may be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gateway.engine.answers import Answer
from gateway.engine.presentation.size import size_of
from gateway.terms.words import cut

Json = dict[str, Any]
Bounded = TypeVar("Bounded", bound=Answer)

_TEXT = 200
"""Characters of a sentence that are left."""

_WARNINGS = 5
_LISTS = ("remaining_ids", "not_found", "failed", "missing_seeds", "seeds")
"""Lists of IDs that the caller has sent, by how well it can do without them."""


def bounded(answer: Bounded, limit: int) -> Bounded:
    """Return an answer that takes so many bytes at most, or what one node and the figures about it take.

    Args:
        answer: An answer whose nodes, edges and values were made to fit already, as far as that goes.
        limit: Bytes.
    """
    written = answer.as_json()
    if size_of(written) <= limit:
        return answer
    return type(answer).model_validate(cut_to(written, limit))


def cut_to(answer: Json, limit: int) -> Json:
    """Return an answer, or a part of one, of which lists are cut until it takes so many bytes; see `bounded`."""
    left = dict(answer)
    for step in _STEPS:
        if size_of(left) <= limit:
            break
        step(left, limit)
    return left


def _count(answer: Json, what: str, number: int) -> None:
    if number:
        degraded = answer.get("degraded") or {}
        answer["degraded"] = {**degraded, what: degraded.get(what, 0) + number}


def _labels(answer: Json, _: int) -> None:
    _count(answer, "labels_left_out", len(answer.pop("labels", None) or ()))


def _quotes(answer: Json, _: int) -> None:
    _count(answer, "quotes_left_out", sum((answer.pop("omitted_texts", None) or {}).values()))


def _sentences(answer: Json, _: int) -> None:
    if warnings := answer.get("warnings"):
        more = [f"{len(warnings) - _WARNINGS} more warnings are left out."] if len(warnings) > _WARNINGS else []
        answer["warnings"] = [*(cut(text, _TEXT) for text in warnings[:_WARNINGS]), *more]
    if searched := answer.get("searched"):
        answer["searched"] = {**searched, "how": cut(searched["how"], _TEXT)}
    if gaps := answer.get("incomplete"):
        answer["incomplete"] = [{**gap, "detail": cut(gap["detail"], _TEXT)} for gap in gaps]


def _summary(answer: Json, _: int) -> None:
    """Leave the lists of `schema_summary` out; the totals stay."""
    if summary := answer.get("schema_summary"):
        types, predicates = summary["entity_types_found"], summary["predicates_found"]
        answer["schema_summary"] = {
            "entity_types_found": [],
            "predicates_found": [],
            "entity_types_total": summary.get("entity_types_total") or len(types),
            "predicates_total": summary.get("predicates_total") or len(predicates),
        }


def _ids_of_gaps(answer: Json, _: int) -> None:
    """Leave the IDs in `incomplete` out; how many there are stays."""
    if gaps := answer.get("incomplete"):
        answer["incomplete"] = [{**gap, "ids": []} for gap in gaps]


def _lists(answer: Json, limit: int) -> None:
    for name in _LISTS:
        excess = size_of(answer) - limit
        ids = list(answer.get(name) or ())
        count = len(ids)
        while ids and excess > -size_of({"degraded": {"ids_not_listed": count}}):
            excess -= size_of(ids.pop())
        if len(ids) < count:
            answer[name] = ids
            # What is in neither list is not accounted for.
            if name in {"not_found", "failed"}:
                answer["complete"] = False
            _count(answer, "ids_not_listed", count - len(ids))


def _edges(answer: Json, _: int) -> None:
    """Leave the edges of a page out that has one node: what it has with itself."""
    if answer.get("edges") and len(answer["nodes"]) == 1:
        _count(answer, "edges_left_out", len(answer["edges"]))
        answer["edges"] = []


def _paths(answer: Json, _: int) -> None:
    for node in answer.get("nodes") or ():
        _count(answer, "paths_left_out", len(node.pop("via", None) or ()))


_STEPS: tuple[Callable[[Json, int], None], ...] = (
    _labels,
    _quotes,
    _sentences,
    _summary,
    _ids_of_gaps,
    _lists,
    _paths,
    _edges,
)
