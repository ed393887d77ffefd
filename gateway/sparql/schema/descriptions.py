"""Reads which types and predicates a graph or its publisher lists, and looks for each of them in the graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain

import pyoxigraph

from gateway.errors import EndpointFault, Fault
from gateway.graph.call import Call
from gateway.graph.term_counts import TermCounts
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.results.columns import iri, optional, read
from gateway.sparql.results.decoder import decode
from gateway.sparql.results.table import EMPTY, Table
from gateway.sparql.results.terms import LiteralTerm
from gateway.sparql.template import Parameter
from gateway.terms.iri import is_iri
from gateway.terms.known_iris import OWL, is_entity_type

_MOST = 1_000
"""Terms of one description that are read."""

_LOOKED_FOR = 50
"""Terms that one query looks for, in a branch each (docs/notes/endpoints.md, "A limit for each node")."""

_BATCHES = 4
"""Queries for the terms of one list; further terms are not looked for, and the list counts as cut."""

_EXAMPLES = 5
"""Triples of each predicate, and nodes of each type, that are looked at: they may be evidence."""

_TRIPLE = (iri("p"), iri("s"), iri("o"))

VOID = "http://rdfs.org/ns/void#"
_PUBLISHED_CLASS = f"{VOID}class"
_DECLARED_PREDICATE = f"{OWL}ObjectProperty"


class DescriptionReader:
    """Reads VoID descriptions and declarations."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, nodes: NodeReader, profile: Profile) -> None:
        self._client = client
        self._rule = rule
        self._nodes = nodes
        self._types = profile.edges.types

    async def published(self, service_description: str, call: Call) -> TermCounts:
        """Return the terms that VoID lists, in the graph or in the service description (Turtle; may be empty)."""
        in_graph, is_cut = await self._rows("schema/published", call)
        tables = in_graph, _in_description(service_description)
        found = TermCounts(is_cut=is_cut)
        for kind, listed, counted in chain.from_iterable(
            read(rows, iri("kind"), iri("term"), optional("count")) for rows in tables
        ):
            count = int(counted.value) if isinstance(counted, LiteralTerm) and counted.value.isdecimal() else None
            terms = found.types if kind == _PUBLISHED_CLASS else found.predicates
            # The whole and its parts may both be described: the larger figure is that of the whole.
            terms[listed] = max(count, terms.get(listed) or 0) if count is not None else None
        return self._allowed(found)

    async def declared(self, call: Call) -> TermCounts:
        """Return the classes and object properties that the graph declares."""
        rows, is_cut = await self._rows("schema/declared", call)
        found = TermCounts(is_cut=is_cut)
        for kind, declared in read(rows, iri("kind"), iri("term")):
            terms = found.predicates if kind == _DECLARED_PREDICATE else found.types
            terms[declared] = None
        return self._allowed(found)

    async def used(self, listed: TermCounts, call: Call) -> TermCounts:
        """Return those of the terms of which the graph has a node or an edge."""
        (types, cut_types), (predicates, cut_predicates) = await asyncio.gather(
            self._used_types(list(listed.types), call), self.used_predicates(list(listed.predicates), call)
        )
        return TermCounts(
            {iri: listed.types[iri] for iri in listed.types if iri in types},
            {iri: listed.predicates[iri] for iri in listed.predicates if iri in predicates},
            cut_types or cut_predicates,
        )

    async def used_predicates(self, predicates: Sequence[Iri], call: Call) -> tuple[set[Iri], bool]:
        """Return those of some predicates of which the graph has an edge, and whether not all were looked for."""
        given: dict[str, Parameter] = {"edges": _EXAMPLES, **self._rule.ends}
        rows, is_cut = await self._examples("schema/ends", "predicates", predicates, given, call)
        found = [(predicate, (predicate, *ends)) for table in rows for predicate, *ends in read(table, *_TRIPLE)]
        return await self._stating_nothing(found, call), is_cut

    async def _used_types(self, types: Sequence[Iri], call: Call) -> tuple[set[Iri], bool]:
        given: dict[str, Parameter] = {"types": self._types, "nodes": _EXAMPLES}
        rows, is_cut = await self._examples("schema/used_types", "wanted", types, given, call)
        found = [(of_node, (node,)) for table in rows for of_node, node in read(table, iri("t"), iri("n"))]
        return await self._stating_nothing(found, call), is_cut

    async def _examples(
        self, name: str, parameter: str, terms: Sequence[Iri], given: Mapping[str, Parameter], call: Call
    ) -> tuple[list[Table], bool]:
        """Return rows about each of some terms, and whether not all terms were looked for."""
        tables: list[Table] = []
        is_cut = len(terms) > _LOOKED_FOR * _BATCHES
        for start in range(0, min(len(terms), _LOOKED_FOR * _BATCHES), _LOOKED_FOR):
            rows, was_cut = await self._rows(name, call, {**given, parameter: terms[start : start + _LOOKED_FOR]})
            tables.append(rows)
            is_cut = is_cut or was_cut
        return tables, is_cut

    async def _stating_nothing(self, found: Sequence[tuple[Iri, tuple[Iri, ...]]], call: Call) -> set[Iri]:
        """Return the terms with an example of which nothing states evidence."""
        if not self._rule.may_have_evidence:
            return {term for term, _ in found}
        plain = await self._nodes.without_evidence(list(chain.from_iterable(nodes for _, nodes in found)), call)
        return {term for term, nodes in found if plain.issuperset(nodes)}

    async def _rows(self, name: str, call: Call, given: Mapping[str, Parameter] | None = None) -> tuple[Table, bool]:
        """Return the rows that the endpoint could return, and whether these are not all."""
        try:
            return (await self._client.rows(name, call, given or {}, at_most=_MOST)).part()
        except Fault:
            return EMPTY, True

    def _allowed(self, found: TermCounts) -> TermCounts:
        # What no query can name cannot be looked for.
        types = {iri: count for iri, count in found.types.items() if is_iri(iri) and is_entity_type(iri)}
        excepted = self._rule.excepted
        predicates = {
            iri: count
            for iri, count in found.predicates.items()
            if is_iri(iri) and iri not in excepted and self._rule.allows(iri)
        }
        return TermCounts(types, predicates, found.is_cut)


def _in_description(turtle: str) -> Table:
    """Return the rows of a service description, as the graph would return them; none if it is not Turtle."""
    if VOID not in turtle:
        return EMPTY
    store = pyoxigraph.Store()
    text = template.load("schema/published")
    try:
        store.load(turtle.encode(), pyoxigraph.RdfFormat.TURTLE, base_iri="http://endpoint.invalid/")
        answer = store.query(text.render({"rows": _MOST}))
        assert isinstance(answer, pyoxigraph.QuerySolutions)  # noqa: S101 - the template is a SELECT
        body = answer.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        assert body is not None  # noqa: S101 - it was given no file to write to
        return decode(body, text.variables)
    except (SyntaxError, EndpointFault):
        return EMPTY
