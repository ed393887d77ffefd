"""Whether an answer is right, and whether it says so when it is not whole."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from itertools import chain
from typing import TypeVar

from gateway import messages
from gateway.answers.models import (
    Answer,
    BfsResult,
    EntitiesResult,
    Entity,
    FullNode,
    Incomplete,
    IntersectionResult,
)
from gateway.errors import GatewayError, InputError
from tests.oracle import Intersection, Traversal
from tests.soak.questions import Expected, Question
from tests.survey_oracle import are_wrong, counts_shown

T = TypeVar("T")

_ABOUT_EDGES = frozenset({"edges", "edge_rows_total", "blank_node_edges", "edges_failed", "complete", "warnings"})
"""What hangs on whether the edges of an entity could be counted."""


_ABOUT_FAILURES = ("edges_failed", messages.NAME_KEYS_UNKNOWN)
"""Warnings that tell what could not be read."""


class Verdict(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    """It says that it is whole, hubs aside that the question kept out, and equals the oracle's."""

    MARKED = "marked"
    """It says that it is not whole, and all that it tells is true."""

    ERROR = "error"
    """The graph could not be asked, and that is what it says."""

    WRONG = "wrong"
    """It says that it is whole, or that something does not exist, and that is not so."""

    UNTRUE = "untrue"
    """It says that it is not whole, and yet tells what is not so."""

    CRASHED = "crashed"
    """Something was raised that is no error of the gateway's."""


def judge(
    question: Question, expected: Expected, answer: Answer | GatewayError, clean: Answer | None = None
) -> tuple[Verdict, str]:
    """Compare an answer with what is right, and say how it differs.

    Args:
        question: What was asked.
        expected: What the oracle says.
        answer: What came, an error included.
        clean: What the same engine says where nothing goes wrong, so that values can be compared, which the oracle
            does not have.
    """
    if isinstance(answer, InputError):
        # The only one that these questions can end in: nothing of what they name exists.
        absent = _none_exists(question, expected)
        return (Verdict.RIGHT, "") if absent else (Verdict.WRONG, f"an absence is claimed: {answer.wrong}")
    if isinstance(answer, GatewayError):
        return Verdict.ERROR, f"{type(answer).__name__}: {answer.wrong}"
    match answer, expected:
        case BfsResult(), Traversal():
            differences = _of_traversal(answer, expected)
            untrue = _untrue(answer, set(expected.distance), set(expected.edges), expected.missing)
        case IntersectionResult(), Intersection():
            differences = _of_subgraph(answer, set(expected.nodes), set(expected.edges), expected.missing)
            # Without a node that is nearer than it seems, more may seem to be missing; with a seed, all of it is.
            untrue = [] if expected.missing else _untrue(answer, set(expected.nodes), None, expected.missing)
        case Entity() | EntitiesResult(), frozenset():
            differences = untrue = _of_description(question, answer, expected)
        case _:
            raise TypeError(f"{type(answer).__name__} is no answer to {question.tool}")
    if clean is not None:
        values = _of_values(answer, clean)
        differences, untrue = [*differences, *values], [*untrue, *values]
    if answer.complete or _only_hubs(answer) or _lacks_only_blank_nodes(answer):
        return (Verdict.WRONG, "; ".join(differences)) if differences else (Verdict.RIGHT, "")
    return (Verdict.UNTRUE, "; ".join(untrue)) if untrue else (Verdict.MARKED, _causes(answer))


def _lacks_only_blank_nodes(answer: Answer) -> bool:
    """Tell whether a description lacks nothing but what blank nodes say, whatever happens."""
    if not isinstance(answer, Entity | EntitiesResult) or answer.degraded or getattr(answer, "failed", None):
        return False
    beside, _, _ = messages.blank_nodes_beside("|").partition("|")
    return bool(answer.warnings) and all(warning.startswith(beside) for warning in answer.warnings or ())


def _only_hubs(answer: Answer) -> bool:
    """Tell whether an answer lacks nothing but what the question itself kept out, and blank nodes."""
    gaps: Sequence[Incomplete] = getattr(answer, "incomplete", None) or ()
    return bool(gaps) and all(gap.cause in {"hub_not_expanded", "blank_nodes"} for gap in gaps)


def _hubs(answer: BfsResult) -> tuple[set[str], int]:
    """Return the hubs that an answer names, and how many it says there are."""
    told = [gap for gap in answer.incomplete or () if gap.cause == "hub_not_expanded"]
    return {iri for gap in told for iri in gap.ids}, sum(gap.count for gap in told)


def _none_exists(question: Question, expected: Expected) -> bool:
    if isinstance(expected, frozenset):
        return not expected
    return len(set(expected.missing)) == len(set(question.ids))


def _of_traversal(answer: BfsResult, expected: Traversal) -> list[str]:
    differences = _of_subgraph(answer, set(expected.distance), set(expected.edges), expected.missing)
    hubs, count = _hubs(answer)
    if count != len(expected.hubs) or not hubs <= expected.hubs:
        differences.append(f"{count} hubs ({sorted(hubs)[:3]}), not {sorted(expected.hubs)[:3]}")
    if answer.levels != expected.levels:
        differences.append(f"levels {answer.levels}, not {expected.levels}")
    if (answer.blank_node_edges or 0) != expected.blank_node_edges:
        differences.append(f"blank_node_edges {answer.blank_node_edges}, not {expected.blank_node_edges}")
    if expected.blank_node_edges and answer.complete:
        differences.append("blank nodes are left out, and the answer is complete")
    return differences


def _of_subgraph(
    answer: BfsResult | IntersectionResult, nodes: set[str], edges: set[tuple[str, str, str]], missing: list[str]
) -> list[str]:
    differences = [
        *_between("nodes", {node.id for node in answer.nodes}, nodes),
        *_between("edges", _edges(answer), edges),
        *_between("missing_seeds", set(answer.missing_seeds or ()), set(missing)),
    ]
    unknown = [node.id for node in answer.nodes if node.entity_type == "unknown"]
    if unknown:
        differences.append(f"types unknown: {unknown[:3]}")
    return differences


def _untrue(
    answer: BfsResult | IntersectionResult,
    nodes: set[str],
    edges: set[tuple[str, str, str]] | None,
    missing: list[str],
) -> list[str]:
    told = [("nodes", {node.id for node in answer.nodes} - nodes)]
    told.append(("missing_seeds", set(answer.missing_seeds or ()) - set(missing)))
    if edges is not None:
        told.append(("edges", {" ".join(edge) for edge in _edges(answer) - edges}))
    return [f"{what} that are none: {sorted(more)[:3]}" for what, more in told if more]


def _of_description(question: Question, answer: Entity | EntitiesResult, existing: frozenset[str]) -> list[str]:
    if isinstance(answer, Entity):
        return [] if {answer.iri} == existing else [f"{answer.iri} does not exist"]
    absent = set(question.ids) - existing
    found, failed = {node.iri for node in answer.result}, set(answer.failed or ())
    return [
        *_between("result", found, existing - failed),
        *_between("not_found", set(answer.not_found), absent - failed),
    ]


def _of_values(answer: Answer, clean: Answer) -> list[str]:
    """Compare the metadata of what both tell; what failed is told as that, and has none."""
    came, right = _records(answer), _records(clean)
    shared = came.keys() & right.keys()
    if messages.NAME_KEYS_UNKNOWN in (getattr(answer, "warnings", None) or ()):
        # It says that a name may stand under another key, so it is compared without the keys.
        different = [key for key in shared if not _said_in(came[key]) <= _said_in(right[key])]
    else:
        different = [key for key in shared if came[key] != right[key]]
    return [
        *([f"other values: {sorted(different)[:3]}"] if different else []),
        *_of_labels(answer, clean),
        *_of_surveys(answer, clean),
    ]


def _of_surveys(answer: Answer, clean: Answer) -> list[str]:
    """Compare what could be followed; what could not be counted is told as that, and is then no more than there is."""
    known = {entity.id: entity for entity in _entities(clean) if not (entity.edges_failed or entity.edge_rows_total)}
    wrong = [
        entity.id
        for entity in _entities(answer)
        if entity.id in known
        and are_wrong(
            entity.edges or {},
            counts_shown(known[entity.id].edges or {})[0],
            total=entity.edge_rows_total,
            failed=entity.edges_failed,
        )
    ]
    return [f"other edges: {sorted(wrong)[:3]}"] if wrong else []


def _entities(answer: Answer) -> Sequence[Entity | FullNode]:
    match answer:
        case Entity():
            return [answer]
        case EntitiesResult():
            return answer.result
        case _:
            return []


def _of_labels(answer: Answer, clean: Answer) -> list[str]:
    """Compare the labels of a description; those that failed are reported beside them."""
    if not (isinstance(answer, Entity) and isinstance(clean, Entity)) or answer.entity_type != clean.entity_type:
        return []
    if "labels_failed" in (answer.degraded or {}) or answer.labels == clean.labels:
        return []
    return [f"other labels: {answer.labels}, not {clean.labels}"]


def _records(answer: Answer) -> dict[str, object]:
    match answer:
        case Entity():
            # Which of several types is shown hangs on whether the schema could be read in time.
            apart = {"entity_type", "labels", "degraded", *_ABOUT_EDGES}
            said = {key: value for key, value in answer.as_json().items() if key not in apart}
            said["warnings"] = [text for text in answer.warnings or () if not text.startswith(_ABOUT_FAILURES)]
            return {answer.iri or answer.id: said}
        case EntitiesResult():
            return {node.iri or node.id: node.metadata for node in answer.result}
        case BfsResult() | IntersectionResult():
            # Where the types failed, they are missing from the metadata too, and the node says that they are unknown.
            nodes = {
                node.id: node.metadata
                for node in answer.nodes
                if node.metadata is not None and node.entity_type != "unknown"
            }
            edges = {
                f"{edge.subject} {edge.predicate} {edge.object}": edge.metadata
                for edge in answer.edges
                # An edge without metadata has none, or it failed: the count of failures tells, and not which.
                if edge.metadata is not None or not answer.degraded
            }
            return {**nodes, **edges}
        case _:
            return {}


def _said_in(value: object) -> frozenset[str]:
    """Return all texts and numbers in a record, whatever they stand under."""
    match value:
        case dict():
            parts: Iterable[object] = value.values()
        case list():
            parts = value
        case _:
            return frozenset([str(value)])
    return frozenset(chain.from_iterable(map(_said_in, parts)))


def _edges(answer: BfsResult | IntersectionResult) -> set[tuple[str, str, str]]:
    return {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}


def _between(what: str, told: AbstractSet[T], right: AbstractSet[T]) -> list[str]:
    """Say what is told and not so, and what is so and not told."""
    more, fewer = told - right, right - told
    if not (more or fewer):
        return []
    examples = [f"+{one}" for one in sorted(map(str, more))[:2]] + [f"-{one}" for one in sorted(map(str, fewer))[:2]]
    return [f"{what}: {len(more)} too many, {len(fewer)} too few ({', '.join(examples)})"]


def _causes(answer: Answer) -> str:
    return ", ".join(sorted({gap.cause for gap in getattr(answer, "incomplete", None) or ()})) or "failed"
