"""Whether an answer under faults is right: by the oracle, and values by what the same engine says without a fault."""

from collections.abc import Iterable
from itertools import chain

from gateway import messages
from gateway.answers.models import Answer, BfsResult, EntitiesResult, Entity, IntersectionResult
from gateway.errors import GatewayError
from tests.drawn.judging import Expand, Truth
from tests.drawn.judging import judge as judge_by_oracle
from tests.drawn.questions import Question
from tests.harness.report import Judgement, Verdict

_ABOUT_EDGES = frozenset({"edges", "edge_rows_total", "blank_node_edges", "edges_failed", "complete", "warnings"})
"""What hangs on whether the edges of an entity could be counted."""

_ABOUT_FAILURES = ("edges_failed", messages.NAME_KEYS_UNKNOWN)
"""Warnings that tell what could not be read."""


def judge(
    question: Question, truth: Truth, answer: Answer | GatewayError, expand: Expand = str, clean: Answer | None = None
) -> Judgement:
    """Compare an answer with what is right, and say how it differs.

    Args:
        question: What was asked.
        truth: What the oracle says.
        answer: What came, an error included.
        expand: Returns the whole IRI of an ID.
        clean: What the same engine says where nothing goes wrong, so that values can be compared, which the oracle
            does not have.
    """
    if isinstance(answer, GatewayError):
        return judge_by_oracle(question, truth, answer, expand)
    verdict, detail = judge_by_oracle(question, truth, [answer], expand)
    if verdict is Verdict.MARKED and _lacks_only_blank_nodes(answer):
        verdict, detail = Verdict.RIGHT, ""
    values = [] if clean is None else _of_values(answer, clean)
    if not values:
        return verdict, detail
    worse = {Verdict.RIGHT: Verdict.WRONG, Verdict.MARKED: Verdict.UNTRUE}
    return worse.get(verdict, verdict), "; ".join([*filter(None, [detail]), *values])


def _lacks_only_blank_nodes(answer: Answer) -> bool:
    """Tell whether a description lacks nothing but what blank nodes say, whatever happens."""
    if not isinstance(answer, Entity | EntitiesResult) or answer.degraded or getattr(answer, "failed", None):
        return False
    beside, _, _ = messages.blank_nodes_beside("|").partition("|")
    return bool(answer.warnings) and all(warning.startswith(beside) for warning in answer.warnings or ())


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
    ]


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
