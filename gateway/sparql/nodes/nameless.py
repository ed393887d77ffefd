"""Counts the nodes without a name, which no search finds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from itertools import chain

from gateway.errors import DeadlinePassed, Fault
from gateway.graph.call import Call
from gateway.graph.values import Iri, NamelessNodes, Schema
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.nodes.names import NamePredicates
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.results.columns import binding, integer, iri, read
from gateway.sparql.schema.counting import counts_in
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_sendable

_log = logging.getLogger(__name__)

_FEW_TRIPLES = 20_000
"""Triples of a graph whose nodes are all counted at once: that costs hardly more than to look at some of them."""

_TRIPLES = 200_000
_TRIPLES_IN_PROCESS = 2_000_000
"""Triples of a graph, at an endpoint and in this process, whose nodes are all counted where each of some has a name.

It takes seconds, and only it shows that all have one.
"""

_PREDICATES = 2_000
"""Predicates in one query, of a graph whose nodes are all counted."""

_SAMPLED_PREDICATES = 20
_SAMPLED_EDGES = 10
"""The most frequent predicates of a larger graph, and edges of each, whose ends are a sample of its nodes."""

_ATTEMPTS = 2
"""Counts of one graph that may fail, before no more are tried."""


class NamelessCounter:
    """Counts the nodes of one graph that have no name: in a sample, and if there are none in it, among all nodes."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader, name_predicates: NamePredicates
    ) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._name_predicates = name_predicates
        self._counted: NamelessNodes | None = None
        self._counted_for: tuple[object, ...] = ()
        self._failed = 0
        self._counting = asyncio.Lock()

    async def count(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name, counted once for each schema; None if that is not known."""
        # A sample would be charged to a quota that traversals need.
        if self._client.flow.quota.is_limited:
            return None
        async with self._counting:
            wanted = (schema.version, schema.exact, *self._name_predicates.all)
            if self._counted_for != wanted:
                self._counted_for, self._counted, self._failed = wanted, None, 0
            if self._counted is None and self._failed < _ATTEMPTS:
                try:
                    with call.reserving(requests=0.5, time=0.5):
                        self._counted = await self._count(schema, call)
                except Fault as fault:
                    # What took too long would take as long again.
                    self._failed += _ATTEMPTS if isinstance(fault, DeadlinePassed) else 1
                    _log.info("the nodes without a name could not be counted: %s", fault)
            return self._counted

    def forget(self) -> None:
        """Forget what was counted."""
        self._counted_for = ()

    async def _count(self, schema: Schema, call: Call) -> NamelessNodes | None:
        await self._rule.refresh(call)
        triples = schema.basis.triples if schema.exact or not self._client.is_remote else None
        if triples is None or triples > _FEW_TRIPLES:
            some = await self._sampled(schema, call)
            if self._is_large(triples) or (some is not None and some.count):
                return some
        return await self._all_counted(schema, call)

    def _is_large(self, triples: int | None) -> bool:
        """Return whether a graph is too large for counting all nodes; one in this process may not know its size yet."""
        return self._client.is_remote if triples is None else triples > self._most

    @property
    def _most(self) -> int:
        return _TRIPLES if self._client.is_remote else _TRIPLES_IN_PROCESS

    async def _all_counted(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Count all nodes; look at some if there are too many."""
        predicates = [term.iri for term in schema.predicates]
        if not schema.exact:
            rows = (await self._client.rows("schema/totals", call, {"scan": self._most + 1})).whole()
            totals = counts_in(rows, "p")
            predicates = [one for one in totals if self._is_edge(one)]
            if sum(totals.values()) > self._most:
                return await self._sampled(schema, call)
        if len(predicates) > _PREDICATES:
            return await self._sampled(schema, call)
        return await self._counted_among(predicates, call) if predicates else NamelessNodes(0, 0, exact=True)

    def _is_edge(self, predicate: Iri) -> bool:
        return predicate not in self._rule.excepted and self._rule.allows(predicate) and is_sendable(predicate)

    async def _counted_among(self, predicates: Sequence[Iri], call: Call) -> NamelessNodes:
        """Count all ends of the edges with some predicates."""
        given: dict[str, Parameter] = {
            "predicates": predicates,
            "names": self._name_predicates.all,
            "most": self._most,
            "excepted": self._rule.excepted,
            **self._rule.evidence,
            **self._rule.ends,
        }
        rows = (await self._client.rows("schema/nameless", call, given)).whole()
        # Nothing to count is an empty group on some engines, and no row on others.
        counts = dict(read(binding(rows, "named"), integer("named"), integer("count")))
        return NamelessNodes(counts.get(0, 0), sum(counts.values()), exact=True)

    async def _sampled(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Look at the ends of some edges of the predicates that the schema lists first; None if it lists none."""
        predicates = [term.iri for term in schema.predicates[:_SAMPLED_PREDICATES]]
        if not predicates:
            return None
        given: dict[str, Parameter] = {"predicates": predicates, "edges": _SAMPLED_EDGES, **self._rule.ends}
        # Any of them will do.
        rows, _ = (await self._client.rows("schema/ends", call, given)).part()
        ends: Iterable[Iri] = dict.fromkeys(chain.from_iterable(read(rows, iri("s"), iri("o"))))
        ends = [end for end in ends if is_sendable(end)]
        if self._rule.may_have_evidence:
            ends = sorted(await self._nodes.without_evidence(ends, call))
        has_name = await self._nodes.have_names(ends, call)
        return NamelessNodes(sum(not named for named in has_name.values()), len(has_name), exact=False)
