"""Counts the nodes without a name, which no search finds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from itertools import chain

from gateway.errors import Fault
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

_TRIPLES = 200_000
_TRIPLES_IN_PROCESS = 2_000_000
"""Triples of a graph up to which all nodes are counted, at an endpoint and in this process: a few seconds."""

_PREDICATES = 2_000
"""Predicates in one query, of a graph whose nodes are all counted."""

_SAMPLED_PREDICATES = 20
_SAMPLED_EDGES = 10
"""The most frequent predicates of a larger graph, and edges of each, whose ends are a sample of its nodes."""

_LOOKED_AT = 1_000
"""Triples of a predicate among which these edges are: those of evidence are none."""

_ATTEMPTS = 2
"""Counts of one graph that may fail, before no more are tried."""


class NamelessCounter:
    """Counts the nodes of one graph that have no name: all nodes of a small graph, a sample of a larger one."""

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
                    self._failed += 1
                    _log.info("the nodes without a name could not be counted: %s", fault)
            return self._counted

    def forget(self) -> None:
        """Forget what was counted."""
        self._counted_for = ()

    async def _count(self, schema: Schema, call: Call) -> NamelessNodes | None:
        most = _TRIPLES if self._client.is_remote else _TRIPLES_IN_PROCESS
        triples, predicates = schema.basis.triples, [term.iri for term in schema.predicates]
        if not schema.exact and not self._client.is_remote:
            rows = (await self._client.rows("schema/totals", call, {"scan": most + 1})).whole()
            totals = counts_in(rows, "p")
            triples, predicates = sum(totals.values()), [one for one in totals if self._is_edge(one)]
        elif not schema.exact:
            triples = None
        if triples is None or triples > most or len(predicates) > _PREDICATES:
            return await self._sampled(schema, call)
        return await self._counted_among(predicates, most, call) if predicates else NamelessNodes(0, 0, exact=True)

    def _is_edge(self, predicate: Iri) -> bool:
        return predicate not in self._rule.excepted and self._rule.allows(predicate) and is_sendable(predicate)

    async def _counted_among(self, predicates: Sequence[Iri], most: int, call: Call) -> NamelessNodes:
        """Count all ends of the edges with some predicates."""
        await self._rule.refresh(call)
        given: dict[str, Parameter] = {
            "predicates": predicates,
            "names": self._name_predicates.all,
            "most": most,
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
        await self._rule.refresh(call)
        given: dict[str, Parameter] = {
            "predicates": predicates,
            "edges": _SAMPLED_EDGES,
            "scan": _LOOKED_AT,
            **self._rule.evidence,
            **self._rule.ends,
        }
        # Any of them will do.
        rows, _ = (await self._client.rows("schema/ends", call, given)).part()
        ends = dict.fromkeys(chain.from_iterable(read(rows, iri("s"), iri("o"))))
        has_name = await self._nodes.have_names([end for end in ends if is_sendable(end)], call)
        return NamelessNodes(sum(not named for named in has_name.values()), len(has_name), exact=False)
