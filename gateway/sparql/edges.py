"""Reads one hop: the edges of nodes, in both directions, and those among a set of nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from gateway.errors import EdgesCapped, EndpointFault, Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.reading import checked_edges, sendable_edges
from gateway.graph.store import OnAnswers
from gateway.graph.values import ALL_EDGES, Edge, EdgeSelection, Iri, Mark, Neighbourhood, Triple, edges_of
from gateway.sparql.batches import BatchReader, about_nodes
from gateway.sparql.client import SparqlClient
from gateway.sparql.degrees import DegreeReader
from gateway.sparql.learned import LateralProbe
from gateway.sparql.rule import EdgeRule, predicate_parameters, selected_predicates, selection_parameters
from gateway.sparql.table import (
    EMPTY,
    BlankTerm,
    EndedEarly,
    IriTerm,
    Overflow,
    Table,
    UnexpectedRows,
    edge,
    integer,
    iri,
    literal,
    read,
    term,
)
from gateway.sparql.template import Parameter

_BRANCHES = 25
"""Nodes in one query that has a sub-select for each (docs/notes/endpoints.md, "A limit for each node")."""

_OBJECTS = 500
"""Nodes in one query that asks which of them a node points to."""


class EdgeReader:
    """Reads the edges of nodes."""

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, lateral: LateralProbe, degrees: DegreeReader, batch: int
    ) -> None:
        self._client = client
        self._rule = rule
        self._lateral = lateral
        self._degrees = degrees
        self._batch = batch

    async def around(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming; see `GraphStore.edges`."""
        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        capped: dict[Iri, Neighbourhood] = {}
        if per_id is not None:
            # Of a node that has more, a part is shown: nothing may be begun with all of its edges.
            on_answers = None
        # Above, one query cannot bring one edge more than the cap, which would show that there is more.
        if per_id is not None and per_id < self._client.query_rows:
            capped = await self._capped(ids, per_id, selection, given, call)
            if not (ids := [node for node, answer in capped.items() if _is_unclear(answer)]):
                return capped
            capped |= await self._capped(ids, per_id, selection, given, call, blank_nodes=False)
            # Those that have no more edges are asked for again: their blank nodes were not counted.
            ids = [node for node in ids if capped[node].mark.whole]
        query = about_nodes(
            self._client,
            "edges",
            self._batch,
            given,
            edges_reader(selection),
            split=partial(self._degrees.packed, selection),
            beside=selected_predicates(selection),
        )
        answers = await query.run(ids, call, on_answers)
        async for node, answer in Slices().over(answers.items()):
            found = answer
            if _has_more(answer):
                found = await self._paged(node, answer, selection, given, call, most=per_id)
            if per_id is not None and len(found.edges) > per_id:
                found = replace(_cut(found.edges, 0, per_id, found.mark), left_out=found.left_out)
            # The edges of pages were not checked when they were read.
            answers[node] = found if found is answer else (await checked_edges({node: found}, call))[node]
        return capped | answers

    async def _capped(
        self,
        ids: Sequence[Iri],
        most: int,
        selection: EdgeSelection,
        given: Mapping[str, Parameter],
        call: Call,
        *,
        blank_nodes: bool = True,
    ) -> dict[Iri, Neighbourhood]:
        """Return the edges of each node, or some of them if it has more than `most`.

        Triples with blank nodes are counted only if they are asked for; then they may take the place of edges.
        """
        lateral = await self._lateral.is_supported(call)
        query = about_nodes(
            self._client,
            "lateral/edges_capped" if lateral else "edges_capped",
            self._batch if lateral else _BRANCHES,
            {"most": most + 1, "blank_nodes": blank_nodes, **given},
            partial(_read_capped, selection, most),
            beside=selected_predicates(selection),
            beside_each_key=not lateral,
        )
        return await query.run(ids, call)

    async def _paged(
        self,
        node: Iri,
        cut: Neighbourhood,
        selection: EdgeSelection,
        given: Mapping[str, Parameter],
        call: Call,
        *,
        most: int | None,
    ) -> Neighbourhood:
        """Return all edges of a node that has more than one query may return, or some if these are more than `most`.

        What came before a page that failed is returned too.
        """
        edges: dict[Edge, None] = {}
        try:
            await self._read_pages(node, edges, given, call, most=most)
            if most is not None and len(edges) > most:
                return Neighbourhood(tuple(edges))
            answer = await self._client.rows("edge_counts", call, {"node": [node], **given})
            counts = {kind.value: count for kind, count in read(answer.whole(), literal("kind"), integer("count"))}
            # An engine whose order is not its comparison would skip edges between two pages; the sum shows it.
            counted_twice = await in_thread(
                call, lambda end: _counted_twice(edges, selection, end), unless=len(edges) <= FEW_FOR_A_THREAD
            )
            if counts.get("out", 0) + counts.get("in", 0) - counted_twice == len(edges):
                return Neighbourhood(tuple(edges), counts.get("blank", 0))
            fault: Fault = EndpointFault("The pages of a node with many edges do not add up to their number.")
        except Fault as caught:
            fault = caught
        known = dict.fromkeys(cut.edges)
        # Not in a thread: the fault may be that the time is up, and what came is returned then too.
        async for one in Slices().over(edges):
            known[one] = None
        return Neighbourhood(tuple(known), cut.blank_edges, Mark(fault, at_least=len(known)), cut.left_out)

    async def _read_pages(
        self, node: Iri, edges: dict[Edge, None], given: Mapping[str, Parameter], call: Call, *, most: int | None
    ) -> None:
        """Read the edges of a node page by page, in the order of the query, until there are more than `most`."""
        after: list[Triple] = []
        while True:
            rows, more = (await self._client.rows("edges_page", call, {"node": [node], "after": after, **given})).part()
            before = len(edges)
            last = await in_thread(call, partial(_add_page, node, edges, rows), unless=len(rows) <= FEW_FOR_A_THREAD)
            if not more or (most is not None and len(edges) > most):
                return
            if len(edges) == before:
                raise EndpointFault("A page of a node with many edges brought none that was not known.")
            after = [one.triple for one in last]

    async def among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges of each node whose object lies inside a set; see `GraphStore.edges_among`."""

        def read_inside(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Neighbourhood]:
            found: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            for subject, predicate, target in read(rows, iri("s"), iri("p"), iri("o")):
                if target in inside:
                    found[subject][Edge(subject, predicate, target)] = None
            return sendable_edges({node: Neighbourhood(tuple(edges), 0, mark) for node, edges in found.items()})

        given = {**await self._rule.refreshed(call), **predicate_parameters(predicates)}
        beside = predicates or ()
        answers = await about_nodes(self._client, "edges_out", self._batch, given, read_inside, beside=beside).run(
            ids, call
        )
        for node, answer in answers.items():
            if _has_more(answer):
                answers[node] = await self._from(node, inside, beside, given, call)
        return answers

    async def _from(
        self, node: Iri, inside: frozenset[Iri], beside: Sequence[Iri], given: Mapping[str, Parameter], call: Call
    ) -> Neighbourhood:
        """Return the edges of one node to the nodes of a set, asked from the other end."""

        def read_from(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Neighbourhood]:
            found: dict[Iri, dict[Edge, None]] = {target: {} for target in batch}
            for one in edge(rows):
                found[one.object][one] = None
            answers = {target: Neighbourhood(tuple(edges), 0, mark) for target, edges in found.items()}
            return sendable_edges(answers)

        query = about_nodes(
            self._client, "edges_between", _OBJECTS, {"node": [node], **given}, read_from, beside=beside
        )
        answers = await query.run(sorted(inside), call)
        broken = next((answer.mark for answer in answers.values() if not answer.mark.whole), Mark())
        edges = tuple(edge for answer in answers.values() for edge in answer.edges)
        return Neighbourhood(edges, 0, broken, frozenset().union(*(answer.left_out for answer in answers.values())))


def _has_more(answer: Neighbourhood) -> bool:
    """Return whether a node has, or may have, more edges than came in one answer."""
    return answer.mark.answered and isinstance(answer.mark.fault, Overflow | EndedEarly)


def _add_page(node: Iri, edges: dict[Edge, None], rows: Table, _: Deadline) -> Sequence[Edge]:
    """Add the edges of a page, and return the last of them, if it has any.

    Raises:
        EndpointFault: It is no page of this node's edges.
    """
    page = list(edge(rows))
    if any(node not in (one.subject, one.object) for one in page):
        raise EndpointFault("A page of the edges of one node has those of another.")
    edges.update(dict.fromkeys(page))
    return page[-1:]


def _counted_twice(edges: Iterable[Edge], selection: EdgeSelection, deadline: Deadline) -> int:
    """Return how many edges are selected in both directions: loops at the node."""
    outgoing, incoming = selection.outgoing, selection.incoming
    return sum(
        one.subject == one.object
        and (outgoing is None or one.predicate in outgoing)
        and (incoming is None or one.predicate in incoming)
        for one in deadline.checking(edges)
    )


def _is_unclear(answer: Neighbourhood) -> bool:
    """Return whether a node may have more edges than came, because blank nodes took their place."""
    return isinstance(answer.mark.fault, EdgesCapped) and answer.blank_edges > 0


def _read_capped(
    selection: EdgeSelection, most: int, batch: Sequence[Iri], rows: Table, mark: Mark
) -> dict[Iri, Neighbourhood]:
    """Read the rows of each node, of which one more than `most` came where there may be more."""
    edges: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
    blank: dict[Iri, set[Edge]] = {node: set() for node in batch}
    once = {node: node for node in batch}.setdefault
    for node, subject, predicate, target in read(rows, iri("n"), term("s"), iri("p"), term("o")):
        if isinstance(subject, BlankTerm) or isinstance(target, BlankTerm):
            blank[node].add(Edge(subject.value, predicate, target.value))
            continue
        if type(subject) is not IriTerm or type(target) is not IriTerm:
            raise UnexpectedRows
        one = Edge(*(once(text, text) for text in (subject.value, predicate, target.value)))
        if not selection.selects(node, one):
            raise KeyError(one)
        edges[node][one] = None
    return sendable_edges({node: _cut(tuple(edges[node]), len(blank[node]), most, mark) for node in batch})


def _cut(edges: tuple[Edge, ...], blank_edges: int, most: int, mark: Mark) -> Neighbourhood:
    if mark.whole and len(edges) + blank_edges > most:
        mark = Mark(EdgesCapped("A node has more edges than are shown."), at_least=len(edges))
        # Where no blank node is among the rows, these are edges, and more than may be shown.
    return Neighbourhood(edges[:most], blank_edges, mark)


def edges_reader(selection: EdgeSelection) -> BatchReader[Iri, Neighbourhood]:
    """Return what reads the rows of `edges` for a selection."""
    return _read_all if selection.is_all else partial(_read_selected, selection)


def _read_all(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Neighbourhood]:
    answers, terms = _read_both_ways(batch, rows, mark)
    return sendable_edges(answers, terms)


def _read_both_ways(batch: Sequence[Iri], rows: Table, mark: Mark) -> tuple[dict[Iri, Neighbourhood], Collection[Iri]]:
    """Return the edges of each node in both directions, and the terms of all."""
    edges: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
    blank: dict[Iri, set[Edge]] = {node: set() for node in batch}
    # The same few predicates and nodes stand in thousands of rows, each as a text of its own.
    terms = {node: node for node in batch}
    linked, others = _linked(rows)
    subjects, predicates, objects = ([*map(terms.setdefault, *[iri(name)(linked)] * 2)] for name in "spo")
    edges_of_node = edges.get
    for start, end, one in zip(subjects, objects, edges_of(subjects, predicates, objects), strict=True):
        # An edge between two nodes of the batch comes by both branches and belongs to both. One that touches
        # no node of the batch means that the endpoint writes an IRI otherwise than it was asked: no answer.
        outgoing, incoming = edges_of_node(start), edges_of_node(end)
        if outgoing is not None:
            outgoing[one] = None
        elif incoming is None:
            raise KeyError(one)
        if incoming is not None:
            incoming[one] = None
    for subject, predicate, target in read(others, term("s"), iri("p"), term("o")):
        if isinstance(subject, BlankTerm) or isinstance(target, BlankTerm):
            node = subject if isinstance(subject, IriTerm) else target
            blank[node.value].add(Edge(subject.value, predicate, target.value))
    return {node: Neighbourhood(tuple(found), len(blank[node]), mark) for node, found in edges.items()}, terms


def _linked(rows: Table) -> tuple[Table, Table]:
    """Return the rows that link two IRIs, and the others."""
    if rows.iris("s") is not None and rows.iris("o") is not None:
        return rows, EMPTY
    link = [type(one) is type(other) is IriTerm for one, other in zip(rows.terms("s"), rows.terms("o"), strict=True)]
    return rows.where(link), rows.where([not each for each in link])


def _read_selected(selection: EdgeSelection, batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Neighbourhood]:
    """Read edges of which a node of the batch has only those that are selected, as seen from it."""
    read_edges, terms = _read_both_ways(batch, rows, mark)
    answers = {
        node: replace(answer, edges=selection.selected(node, answer.edges)) for node, answer in read_edges.items()
    }
    # One that no node of the batch selects means that the endpoint writes a predicate otherwise than it was asked.
    selected = {one for answer in answers.values() for one in answer.edges}
    for answer in read_edges.values():
        for one in answer.edges:
            if one not in selected:
                raise KeyError(one)
    return sendable_edges(answers, terms)
