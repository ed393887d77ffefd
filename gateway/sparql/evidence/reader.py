"""Reads all statements about edges, with one batched query for each way of stating them that the graph uses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.values import Edge, Evidence, Mark, NoValue
from gateway.settings.vocabulary import EvidenceWay
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.evidence.in_use import WaysInUse
from gateway.sparql.evidence.statements import EdgeStatements, merged, read_statements
from gateway.sparql.evidence.ways import WAYS
from gateway.sparql.nodes.value_nodes import ValueNodeReader
from gateway.sparql.results.rows import Row
from gateway.sparql.template import Parameter
from gateway.terms.known_iris import HAS_ASSERTION


class EvidenceReader:
    """Reads what is stated about edges, in the ways that the graph uses."""

    def __init__(self, client: SparqlClient, in_use: WaysInUse, value_nodes: ValueNodeReader, batch: int) -> None:
        self._client = client
        self._in_use = in_use
        self._value_nodes = value_nodes
        self._batch = batch

    async def about(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        if not edges:
            return {}
        try:
            ways = await self._in_use.ways(call)
        except Fault as fault:
            return {edge: Evidence(mark=Mark(fault)) for edge in edges}
        answers = [await self._one_way(name, edges, call, among=ways) for name in ways]
        for name, answer in zip(ways, answers, strict=True):
            if WAYS[name].is_wikibase:
                await self._refine(answer.values(), call)
        return {edge: merged([answer[edge] for answer in answers]) for edge in edges}

    async def _refine(self, found: Collection[EdgeStatements], call: Call) -> None:
        """Give the dates and quantities of statements and their references precisions and units."""
        refinements = await self._value_nodes.refinements(
            ((pair, values.values()) for one in found for pair, values in one.by_pair()), call
        )
        for one in found if refinements else ():
            for pair, values in one.by_pair():
                if refinement := refinements.get(pair):
                    refined = refinement.of(values.values())
                    # Unknown values are distinguished by their terms, and stay as they are.
                    unknown = {term: value for term, value in values.items() if isinstance(value, NoValue)}
                    values.clear()
                    values.update(unknown)
                    values.update((value, value) for value in refined if not isinstance(value, NoValue))
                    one.refined = one.refined and refinement.mark.whole

    async def _one_way(
        self, name: EvidenceWay, edges: Sequence[Edge], call: Call, *, among: Collection[EvidenceWay]
    ) -> Mapping[Edge, EdgeStatements]:
        way = WAYS[name]
        given: dict[str, Parameter] = {**way.parameters, **self._graphs(name)}
        if "statements" not in among and "stated_by" in given:
            # No other way returns them.
            given["stated_by"] = ()

        def read_rows(batch: Sequence[Edge], rows: Sequence[Row], mark: Mark) -> dict[Edge, EdgeStatements]:
            return read_statements(way, batch, rows, mark)

        query = BatchedQuery[Edge, EdgeStatements](
            self._client, way.template, self._batch, lambda batch: {"edges": batch, **given}, read_rows
        )
        return await query.run(edges, call)

    def _graphs(self, name: EvidenceWay) -> Mapping[str, Parameter]:
        """Return the parameters of the templates that look into named graphs."""
        if not WAYS[name].over_graphs:
            return {}
        asked = self._in_use.asked_graphs
        given: dict[str, Parameter] = {"any_graph": not asked, "asked": asked}
        if name == "named_graphs":
            # The graph of a nanopublication's assertion is no second statement beside the nanopublication.
            given["assertions"] = (HAS_ASSERTION,) if self._in_use.may_use("nanopublications") else ()
        return given
