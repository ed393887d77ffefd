"""Local names of the nodes of an endpoint that have no name, compared with the names.

They stand in no index, and to read them is to read all nodes: so only a graph of few triples has them compared, by one
more branch of the query that compares all names. Its size comes with the number of its names.

Rules: docs/profiles.md, "Codes and local names".
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from gateway.errors import DeadlinePassed, Fault, QueryRefused, QueryTooLong
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates
from gateway.sparql.rule import EdgeRule
from gateway.sparql.template import Parameter
from gateway.telemetry.tally import Clock
from gateway.terms.local_names import local_patterns
from gateway.terms.name_predicates import plain

_log = logging.getLogger(__name__)

MOST_TRIPLES = 50_000
"""Triples of a graph whose local names are compared, at most: every engine reads so many in a second."""

_TRY_AGAIN_SECONDS = 300.0
"""After which a comparison, or a count, that failed is tried again: the endpoint may have been busy."""


class LocalNameScan:
    """Says whether a comparison of all names looks at local names too, and at which.

    Args:
        client: Sends the queries.
        rule: Says which nodes state evidence.
        name_predicates: The predicates of names.
        most: Triples of a graph whose local names are compared, at most.
        clock: A monotonic clock.
    """

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, name_predicates: NamePredicates, most: int, clock: Clock
    ) -> None:
        self._client = client
        self._rule = rule
        self._name_predicates = name_predicates
        self._most = min(most, MOST_TRIPLES)
        self._clock = clock
        self._is_small = False
        self._not_before = clock()
        self._count_not_before = clock()
        self._too_long: int | None = None

    @property
    def triples(self) -> Sequence[int]:
        """How far the triples of the graph are counted with its names; empty where they are not."""
        is_asked = self._client.is_remote and not self._client.flow.quota.is_limited
        return [self._most + 1] if self._most and is_asked and self._clock() >= self._count_not_before else []

    def use_count(self, triples: int | None) -> None:
        """Take the number of triples as counted; None where they were not."""
        self._is_small = triples is not None and triples <= self._most

    def note_uncounted(self) -> None:
        """Note that the triples could not be counted with the names."""
        self._count_not_before = self._clock() + _TRY_AGAIN_SECONDS

    def parameters(self, words: Sequence[str], *, every: bool) -> Mapping[str, Parameter]:
        """Return what compares local names with words, as parameters of a template; empty where they are not."""
        names = self._name_predicates.all
        is_asked = words and self._is_small and self._clock() >= self._not_before
        each = local_patterns(words, every=every) if is_asked else []
        return {
            "local": [] if self._too_long is not None and _length(each) >= self._too_long else each,
            "names": plain(names),
            "no_edges": self._rule.excepted,
            **self._rule.evidence_of_nodes,
        }

    def note(self, fault: Fault, patterns: Sequence[str]) -> None:
        """Note that a comparison with patterns failed: one that is refused, or takes too long, would be so again."""
        _log.info("local names could not be compared: %s", fault)
        if isinstance(fault, QueryTooLong):
            self._too_long = _length(patterns)
        elif fault.smaller or isinstance(fault, DeadlinePassed | QueryRefused):
            self._not_before = self._clock() + _TRY_AGAIN_SECONDS


def _length(patterns: Sequence[str]) -> int:
    return sum(map(len, patterns))
