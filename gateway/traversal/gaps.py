"""What an answer lacks and why: the entries of `incomplete` (docs/contract.md, "Completeness")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, get_args

from gateway import messages
from gateway.errors import Fault
from gateway.graph.values import Degree, Iri, Mark, Neighbourhood

Cause = Literal[
    "hub_not_expanded",
    "edges_capped",
    "server_truncated",
    "end_unproven",
    "endpoint_failed",
    "files_in_part",
    "types_failed",
    "other_graph",
    "ids_left_out",
    "blank_nodes",
    "deadline",
    "budget",
]
CAUSES: tuple[Cause, ...] = get_args(Cause)


@dataclass(frozen=True, slots=True)
class Gap:
    """One cause for which an answer is not whole.

    Attributes:
        cause: One of `CAUSES`.
        ids: The nodes it concerns.
        detail: What happened, in words.
        degrees: The degrees of these nodes, where they are the cause.
    """

    cause: Cause
    ids: frozenset[Iri]
    detail: str
    degrees: Mapping[Iri, Degree] = field(default_factory=dict)


@dataclass(slots=True)
class GapCollector:
    """Collects what an answer lacks."""

    _ids: dict[Cause, set[Iri]] = field(default_factory=dict)
    _details: dict[Cause, dict[str, None]] = field(default_factory=dict)
    _degrees: dict[Cause, dict[Iri, Degree]] = field(default_factory=dict)

    def add(self, cause: Cause, ids: Iterable[Iri], detail: str) -> None:
        """Add that something about these nodes is missing; nothing is added for no nodes."""
        if concerned := frozenset(ids):
            self._ids.setdefault(cause, set()).update(concerned)
            self._details.setdefault(cause, {})[detail] = None

    def add_left_out(self, neighbourhoods: Mapping[Iri, Neighbourhood]) -> None:
        """Add the edges that are left out because a caller could not send one of their IDs back."""
        concerned = [node for node, neighbourhood in neighbourhoods.items() if neighbourhood.left_out]
        if concerned:
            edges = len(frozenset().union(*(neighbourhoods[node].left_out for node in concerned)))
            self.add("ids_left_out", concerned, messages.edges_left_out(edges))

    def add_blank_nodes(self, neighbourhoods: Mapping[Iri, Neighbourhood]) -> None:
        """Add the edges that are left out because their other end is a blank node: what is behind it was not read."""
        concerned = [node for node, neighbourhood in neighbourhoods.items() if neighbourhood.blank_edges]
        self.add("blank_nodes", concerned, messages.BLANK_NODES)

    def add_degree(self, cause: Cause, iri: Iri, degree: Degree, detail: str) -> None:
        """Add that a node has too many edges."""
        self.add(cause, [iri], detail)
        self._degrees.setdefault(cause, {})[iri] = degree

    def add_mark(self, iri: Iri, mark: Mark) -> None:
        """Add what the mark of a node's edges says, unless they are whole."""
        self.add_marks([(iri, mark)])

    def add_marks(self, marks: Iterable[tuple[Iri, Mark]]) -> None:
        """Add what the marks of the edges of nodes say; mostly the nodes of a batch share one."""
        concerned: dict[Fault, list[Iri]] = {}
        for iri, mark in marks:
            if mark.fault is not None:
                concerned.setdefault(mark.fault, []).append(iri)
        for fault, ids in concerned.items():
            self.add(cause_of(fault), ids, fault.wrong)

    @property
    def entries(self) -> tuple[Gap, ...]:
        """The gaps, in the order of `CAUSES`."""
        return tuple(
            Gap(cause, frozenset(self._ids[cause]), _together(self._details[cause]), self._degrees.get(cause, {}))
            for cause in CAUSES
            if cause in self._ids
        )


_DETAILS = 3
"""Details of one cause that are told: an endpoint may fail in another way at each query."""


def _together(details: Collection[str]) -> str:
    """Return what happened by one cause, in one text."""
    if len(details) == 1:
        return next(iter(details))
    told = [f"{detail.rstrip('.')}." for detail in islice(details, _DETAILS)]
    told += [f"And {more:,} more of this kind."] if (more := len(details) - _DETAILS) > 0 else []
    return " ".join(told)


def cause_of(fault: Fault) -> Cause:
    """Return the cause under which a fault is listed."""
    return next((cause for cause in CAUSES if cause == fault.cause), "endpoint_failed")
