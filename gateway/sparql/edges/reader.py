"""Reads one hop: the edges of nodes, in both directions, and those among a set of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.errors import EdgesCapped
from gateway.graph.call import Call
from gateway.graph.store import OnAnswers
from gateway.graph.values import Edge, Iri, Mark, Neighbourhood
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.degrees import DegreeReader
from gateway.sparql.edges.pages import EdgePages
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.engines.dialect import Dialect
from gateway.sparql.results.columns import edge, iri, read, triples
from gateway.sparql.results.rows import Overflow, Row
from gateway.sparql.results.terms import BlankTerm, IriTerm
from gateway.sparql.template import Parameter

_BRANCHES = 25
"""Nodes in one query that has a sub-select for each (docs/notes/endpoints.md, "A limit for each node")."""

_OBJECTS = 500
"""Nodes in one query that asks which of them a node points to."""


class EdgeReader:
    """Reads the edges of nodes."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, dialect: Dialect, degrees: DegreeReader, batch: int
    ) -> None:
        self._client = client
        self._rule = rule
        self._dialect = dialect
        self._batch = batch
        self._pages = EdgePages(client, rule)
        self._both_ways = BatchedQuery[Iri, Neighbourhood](
            client, "edges", batch, self._parameters, _read_both_ways, degrees.packed
        )

    async def around(
        self, ids: Sequence[Iri], call: Call, per_id: int | None = None, on_answers: OnAnswers | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming; see `GraphStore.edges`."""
        if per_id is None:
            return await self._all(ids, call, on_answers)
        some = await self._some(ids, per_id, call)
        # Those that turn out to have no more are asked for again: their blank nodes were not counted.
        whole = await self._all([node for node, answer in some.items() if answer.mark.whole], call)
        return {**some, **whole}

    async def _all(
        self, ids: Sequence[Iri], call: Call, on_answers: OnAnswers | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        answers = await self._both_ways.run(ids, call, on_answers)
        for node, answer in answers.items():
            if isinstance(answer.mark.fault, Overflow):
                answers[node] = await self._pages.all_of(node, answer, call)
        return answers

    async def _some(self, ids: Sequence[Iri], most: int, call: Call) -> dict[Iri, Neighbourhood]:
        lateral = await self._dialect.lateral(call)

        def read_some(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Neighbourhood]:
            found: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            for node, one in read(rows, iri("n"), edge):
                found[node][one] = None
            return {node: _capped(list(edges), most, mark) for node, edges in found.items()}

        query = BatchedQuery[Iri, Neighbourhood](
            self._client,
            "lateral/edges_some" if lateral else "edges_some",
            self._batch if lateral else _BRANCHES,
            lambda batch: {**self._parameters(batch), "most": most + 1},
            read_some,
        )
        return await query.run(ids, call)

    async def among(self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges of each node whose object lies inside a set."""

        def read_inside(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Neighbourhood]:
            found: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            for subject, predicate, target in read(rows, iri("s"), iri("p"), iri("o")):
                if target in inside:
                    found[subject][Edge(subject, predicate, target)] = None
            return {node: Neighbourhood(tuple(edges), 0, mark) for node, edges in found.items()}

        query = BatchedQuery[Iri, Neighbourhood](self._client, "edges_out", self._batch, self._parameters, read_inside)
        answers = await query.run(ids, call)
        for node, answer in answers.items():
            if isinstance(answer.mark.fault, Overflow):
                answers[node] = await self._from(node, inside, call)
        return answers

    async def _from(self, node: Iri, inside: frozenset[Iri], call: Call) -> Neighbourhood:
        """Return the edges of one node to the nodes of a set, asked from the other end."""

        def read_from(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Neighbourhood]:
            found: dict[Iri, dict[Edge, None]] = {target: {} for target in batch}
            for one in edge(rows):
                found[one.object][one] = None
            return {target: Neighbourhood(tuple(edges), 0, mark) for target, edges in found.items()}

        query = BatchedQuery[Iri, Neighbourhood](
            self._client,
            "edges_between",
            _OBJECTS,
            lambda batch: {"node": [node], **self._parameters(batch)},
            read_from,
        )
        answers = await query.run(sorted(inside), call)
        broken = next((answer.mark for answer in answers.values() if not answer.mark.whole), Mark())
        return Neighbourhood(tuple(edge for answer in answers.values() for edge in answer.edges), 0, broken)

    def _parameters(self, batch: Sequence[Iri]) -> dict[str, Parameter]:
        return {"nodes": batch, **self._rule.parameters}


def _capped(edges: list[Edge], most: int, mark: Mark) -> Neighbourhood:
    if mark.whole and len(edges) > most:
        mark = Mark(EdgesCapped("A node has more edges than are shown."), at_least=len(edges))
    return Neighbourhood(tuple(edges[:most]), 0, mark)


def _read_both_ways(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Neighbourhood]:
    edges: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
    blank: dict[Iri, set[Edge]] = {node: set() for node in batch}
    # The same few predicates and nodes stand in thousands of rows, each as a text of its own.
    once = {node: node for node in batch}.setdefault
    for subject, predicate, target in triples(rows):
        start, end = subject.value, target.value
        if isinstance(subject, IriTerm) and isinstance(target, IriTerm):
            one = Edge(once(start, start), once(predicate, predicate), once(end, end))
            # An edge between two nodes of the batch comes by both branches and belongs to both. One that touches
            # no node of the batch means that the endpoint writes an IRI otherwise than it was asked: no answer.
            outgoing, incoming = edges.get(start), edges.get(end)
            if outgoing is None and incoming is None:
                raise KeyError(one)
            if outgoing is not None:
                outgoing[one] = None
            if incoming is not None:
                incoming[one] = None
        elif isinstance(subject, BlankTerm) or isinstance(target, BlankTerm):
            blank[start if isinstance(subject, IriTerm) else end].add(Edge(start, predicate, end))
    return {node: Neighbourhood(tuple(found), len(blank[node]), mark) for node, found in edges.items()}
