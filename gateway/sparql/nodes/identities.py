"""Reads by which IRIs other graphs know nodes: the values of the profile's identity predicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.graph.call import Call
from gateway.graph.values import Identities, Iri, Mark
from gateway.settings.identity import VALUE_MARK, IdentitySettings
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.results.columns import iri, read, term
from gateway.sparql.results.table import Table
from gateway.sparql.results.terms import IriTerm, LiteralTerm, Term
from gateway.terms.iri import is_sendable, is_skolem


class IdentityReader:
    """Reads the identity predicates of nodes.

    Args:
        client: Sends the queries.
        settings: Which predicates.
        batch: Nodes in one query.
    """

    def __init__(self, client: SparqlClient, settings: IdentitySettings, batch: int) -> None:
        self._client = client
        self._settings = settings
        self._batch = batch

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return the IRIs by which other graphs may know each node; none, without a query, where no predicate says."""
        settings = self._settings
        if not settings.predicates:
            return {node: Identities() for node in ids}
        same_as = [settings.same_as] if settings.same_as else []

        def read_values(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Identities]:
            found: dict[Iri, set[Iri]] = {node: set() for node in batch}
            for node, predicate, value in read(rows, iri("n"), iri("p"), term("v")):
                other = self._other(predicate, value)
                if other != node and is_sendable(other) and not is_skolem(other):
                    found[node].add(other)
            return {node: Identities(tuple(sorted(others)), mark) for node, others in found.items()}

        query = BatchedQuery(
            self._client,
            "identities",
            self._batch,
            lambda batch: {"nodes": batch, "predicates": settings.predicates, "same_as": same_as},
            read_values,
        )
        return await query.run(ids, call)

    def _other(self, predicate: Iri, value: Term) -> Iri:
        """Return the IRI that a value stands for; empty if it stands for none."""
        match value:
            case IriTerm() if predicate in self._settings.same_as:
                return value.value
            case LiteralTerm() if predicate in self._settings.formatters:
                return self._settings.formatters[predicate].replace(VALUE_MARK, value.value)
        return ""
