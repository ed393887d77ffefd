"""What nodes state about edges of blank nodes of an endpoint, found from the side of these: no query can state one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from gateway.errors import EndpointFault, Fault
from gateway.files.lists import MOST_ORDERED
from gateway.graph.call import Call
from gateway.graph.reading import checked_evidence
from gateway.graph.values import WHOLE, Edge, Evidence, Iri, Mark, Resource, Value
from gateway.graph.values import Triple as EdgeTriple
from gateway.graph.walks import expressions_in, list_members
from gateway.settings.vocabulary import EvidenceWay
from gateway.sparql.batches import BatchedQuery, about_nodes
from gateway.sparql.blank.contents import TO_OBJECT, Kind
from gateway.sparql.blank.edges import Known
from gateway.sparql.blank.keys import NodeId, by_key, ends_in
from gateway.sparql.blank.lookup import BlankLookup
from gateway.sparql.blank.rule import Triple, blank_ends
from gateway.sparql.client import SparqlClient
from gateway.sparql.evidence import SAYING_NOTHING, WAYS, EdgeStatements, Statement, WaysInUse, merged
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, UnexpectedRows, iri, value
from gateway.sparql.table import edge as edge_of
from gateway.sparql.template import Parameter
from gateway.terms.iri import ANNOTATED, ARRAY, ORDER, RDF_NIL, RDF_PREDICATE, RDF_SUBJECT, RDF_TYPE, is_blank_node
from gateway.terms.literals import Literal

_UNREAD: Final = Mark(EndpointFault("What is stated about edges of blank nodes is not read in every way."))

_UNREAD_LIST: Final = Mark(EndpointFault("What is stated about a list is not read."))

_TO_PREDICATE: Final = frozenset((RDF_PREDICATE, ANNOTATED[1]))

_UNREAD_VALUE: Final = Mark(EndpointFault("A value of what is stated about an edge could not be read."))


@dataclass(frozen=True, slots=True)
class _Form:
    """How the nodes of one way name the triple about which they state something.

    Attributes:
        subject: The predicate to its subject.
        predicates: Those to its predicate.
        object: That to its object.
        unsaid: Predicates of such a node that state nothing.
    """

    subject: Iri
    predicates: frozenset[Iri]
    object: Iri
    unsaid: frozenset[Iri]


def _form_of(way: EvidenceWay) -> _Form | None:
    given = WAYS[way].parameters
    match given:
        case {"subject": str(subject), "predicates": tuple(predicates), "object": str(end), "unsaid": tuple(unsaid)}:
            named = frozenset(one for one in predicates if isinstance(one, str))
            return _Form(subject, named, end, frozenset(one for one in unsaid if isinstance(one, str)))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Said:
    """What a node says, with keys for blank nodes, as far as the mark says."""

    says: tuple[Triple, ...] = ()
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes that state something about an edge, as far as the mark says."""

    nodes: tuple[Term, ...] = ()
    mark: Mark = WHOLE


@dataclass(slots=True)
class _Stated:
    """An edge as an engine has it, and the nodes that may state something about it, for each way."""

    subject: Term
    object: Term
    nodes: list[tuple[_Form, Term]] = field(default_factory=list)
    mark: Mark = WHOLE


class BlankEvidence:
    """Reads what is stated about edges that have a blank node at an end.

    Args:
        client: Sends the queries.
        lookup: Looks blank nodes up.
        in_use: The ways in which the graph states evidence.
        batch: Nodes in one query.
    """

    def __init__(self, client: SparqlClient, lookup: BlankLookup, in_use: WaysInUse, batch: int) -> None:
        self._client = client
        self._lookup = lookup
        self._in_use = in_use
        self._batch = batch

    async def about(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        try:
            ways = await self._in_use.ways(call)
        except Fault as fault:
            return dict.fromkeys(edges, Evidence(mark=Mark(fault)))
        forms = [form for way in ways if (form := _form_of(way)) is not None]
        mark = WHOLE if len(forms) == len(ways) else _UNREAD
        if not forms:
            return dict.fromkeys(edges, Evidence(mark=mark))
        if await self._lookup.have_walks(call):
            return dict.fromkeys(edges, Evidence(mark=_UNREAD))
        ends = {end for edge in edges for end in (edge.subject, edge.object) if is_blank_node(end)}
        asked = {one.node: one for one in await self._lookup.asked(sorted(ends), call)}
        stated: dict[Edge, _Stated] = {}
        for edge in edges:
            at = edge.subject if is_blank_node(edge.subject) else edge.object
            one = asked.get(at)
            found = stated[edge] = _Stated(_term_of(edge.subject), _term_of(edge.object))
            if one is None or one.content is None:
                found.mark = mark if one is None or one.mark.whole else one.mark
                continue
            found.mark = mark
            is_subject = at == edge.subject
            found.nodes = [
                (form, end)
                for form in forms
                for predicate, end in one.content.said
                if predicate == (form.subject if is_subject else form.object)
            ]
        return await self._of_nodes(stated, call)

    async def of_named(
        self, found: Mapping[Edge, Evidence], call: Call, *, may_ask_for_keys: bool
    ) -> Mapping[Edge, Evidence]:
        """Return the statements about edges between nodes with an IRI, with the blank nodes among the values.

        Args:
            found: The statements about each edge, without blank nodes.
            call: The call that asks.
            may_ask_for_keys: Whether keys can be believed.
        """
        ways = await self._in_use.ways(call)
        forms = [form for way in ways if (form := _form_of(way)) is not None]
        if len(forms) < len(ways) or not may_ask_for_keys:
            return {edge: replace(one, mark=_UNREAD if one.mark.whole else one.mark) for edge, one in found.items()}
        stated = {edge: _Stated(IriTerm(edge.subject), IriTerm(edge.object)) for edge in found}
        for form in forms:
            answers = await self._stating(form, [edge.triple for edge in found], call)
            for edge, one in stated.items():
                answer = answers[edge.triple]
                one.nodes += ((form, node) for node in answer.nodes)
                one.mark = one.mark if answer.mark.whole else answer.mark
        return await self._of_nodes(stated, call)

    async def unread_of_lists(self, edges: Iterable[Edge], call: Call) -> Mapping[Edge, Mark]:
        """Return the marks of those edges to members of lists whose list something may be stated about.

        What is stated about a triple whose object is a list is not read, in ways without nodes not even whether.
        """
        edges = list(edges)
        try:
            ways = await self._in_use.ways(call) if edges else ()
        except Fault as fault:
            return dict.fromkeys(edges, Mark(fault))
        if any(_form_of(way) is None for way in ways):
            return dict.fromkeys(edges, _UNREAD_LIST)
        if not {"statements", "axioms"}.intersection(ways):
            return {}
        stating = await self._lookup.stating(list(dict.fromkeys(edge.subject for edge in edges)), call)
        every = list(dict.fromkeys(end.key for one in stating.values() for end in one.ends))
        contents = await self._lookup.contents(every, call)
        objects = {key: blank_ends(one.says, TO_OBJECT) for key, one in contents.items()}
        lists = await self._lookup.contents(list(dict.fromkeys(chain.from_iterable(objects.values()))), call)

        def may_be_about(key: Iri, edge: Edge) -> bool:
            about = contents[key]
            names = {end for p, end in about.says if p in _TO_PREDICATE}
            are_lists = any(not lists[one].mark.whole or lists[one].own_kind is Kind.LIST for one in objects[key])
            return not about.mark.whole or (IriTerm(edge.predicate) in names and are_lists)

        return {
            edge: _UNREAD_LIST if stating[edge.subject].mark.whole else stating[edge.subject].mark
            for edge in edges
            if not stating[edge.subject].mark.whole
            or any(may_be_about(end.key, edge) for end in stating[edge.subject].ends)
        }

    async def unread_of_expressions(self, edges: Collection[Edge], call: Call) -> Mapping[Edge, Mark]:
        """Return the marks of those edges that class expressions say of which annotations may state something.

        They state it about the triple to the expression, which is a blank node, and are not read.
        """
        try:
            ways = await self._in_use.ways(call) if edges else ()
        except Fault as fault:
            return dict.fromkeys(edges, Mark(fault))
        if "annotations" not in ways:
            return {}
        ends = dict.fromkeys(end for edge in edges for end in (edge.subject, edge.object) if not is_blank_node(end))
        query = about_nodes(self._client, "blank_nodes/annotated", self._batch, {}, _read_annotated)
        found = await query.run(list(ends), call)
        unread = {node: one.mark for node, one in found.items() if not one.mark.whole}
        marks = {edge: unread.get(edge.subject) or unread.get(edge.object) for edge in edges}
        return {edge: mark for edge, mark in marks.items() if mark is not None}

    async def _stating(self, form: _Form, edges: Sequence[EdgeTriple], call: Call) -> Mapping[EdgeTriple, _Nodes]:
        """Return the nodes that state something about each edge in one way."""
        given: dict[str, Parameter] = {
            "subject": form.subject,
            "predicates": sorted(form.predicates),
            "object": form.object,
        }
        query = BatchedQuery[EdgeTriple, _Nodes](
            self._client, "blank_nodes/stating", self._batch, lambda batch: {"edges": batch, **given}, _read_stating
        )
        return await query.run(edges, call)

    async def _of_nodes(self, stated: Mapping[Edge, _Stated], call: Call) -> Mapping[Edge, Evidence]:
        """Return what nodes state about each edge."""
        said = await self._said((end for one in stated.values() for _, end in one.nodes), call)
        values = chain.from_iterable(blank_ends(one.says) for one in said.values())
        known = await self._lookup.known(values, call)
        return await checked_evidence({edge: _evidence(edge, one, said, known) for edge, one in stated.items()}, call)

    async def _said(self, nodes: Iterable[Term], call: Call) -> Mapping[Term, _Said]:
        """Return what some nodes say."""
        wanted = dict.fromkeys(nodes)
        keys = [one.value for one in wanted if isinstance(one, BlankTerm)]
        found: dict[Term, _Said] = {}
        for key, content in (await self._lookup.contents(keys, call)).items():
            found[BlankTerm(key)] = _Said(content.says, content.mark)
        query = about_nodes(self._client, "blank_nodes/said", self._batch, {}, _read_said)
        named = [one.value for one in wanted if isinstance(one, IriTerm)]
        for node, one in (await query.run(named, call)).items() if named else ():
            found[IriTerm(node)] = one
        return found


def _term_of(end: Iri) -> Term:
    part = NodeId.of(end) if is_blank_node(end) else None
    return IriTerm(end) if part is None else BlankTerm(part.key)


def _values(form: _Form, owner: Term, predicate: Iri, end: Term, known: Known) -> Sequence[Value] | None:
    """Return the values that the end of a triple is; None where it is a blank node that could not be read."""
    if end == IriTerm(RDF_NIL) and not (form.subject == RDF_SUBJECT and isinstance(owner, BlankTerm)):
        # Of an rdf:Statement that is a blank node, files show the triples as they are.
        return [Literal("[]", ARRAY)]
    if not isinstance(end, BlankTerm):
        item = value(end)
        return [] if item is None else [item]
    if end.value in known.ids:
        return [Resource(known.ids[end.value])]
    lists = known.lists.get(end.value)
    arrays = () if lists is None else lists.values.get((owner.value, predicate), ())
    if not arrays:
        return None
    found: list[Value] = []
    for literal in (one.literal(known.ids) for one in arrays):
        members = list(list_members(literal))
        is_cut = literal.datatype == ORDER and len(members) >= MOST_ORDERED
        if is_cut or expressions_in([Literal(literal.value, ARRAY)]):
            # Further members are in no value, or blank nodes among them could not be read.
            return None
        found += (Resource(one) for one in members if isinstance(one, str))
        found.append(literal)
    return found


def _evidence(edge: Edge, stated: _Stated, said: Mapping[Term, _Said], known: Known) -> Evidence:
    statements = EdgeStatements(mark=stated.mark)
    for form, node in stated.nodes:
        one = said.get(node, _Said(mark=_UNREAD))
        if not one.mark.whole:
            statements.mark = one.mark
        triples = frozenset(one.says)
        names_predicate = any((predicate, IriTerm(edge.predicate)) in triples for predicate in form.predicates)
        if not names_predicate or not triples >= {(form.subject, stated.subject), (form.object, stated.object)}:
            continue
        statement = statements.statements.setdefault(node, Statement())
        for predicate, end in one.says:
            items = () if predicate in form.unsaid else _values(form, node, predicate, end, known)
            if items is None:
                statements.mark = _UNREAD_VALUE
            for item in items or ():
                if predicate != RDF_TYPE or not isinstance(item, Resource) or item.iri not in SAYING_NOTHING:
                    statement.properties.setdefault(predicate, {})[item] = item
    return merged([statements])


def _read_said(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Said]:
    found: defaultdict[Iri, dict[Triple, None]] = defaultdict(dict)
    for node, predicate, end in zip(iri("n")(rows), iri("p")(rows), ends_in(rows), strict=True):
        found[node][predicate, end] = None
    return {node: _Said(tuple(found.get(node, ())), mark) for node in batch}


def _read_annotated(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Evidence]:
    annotated = frozenset(iri("n")(rows))
    return {node: Evidence(mark=_UNREAD if node in annotated and mark.whole else mark) for node in batch}


def _read_stating(batch: Sequence[EdgeTriple], rows: Table, mark: Mark) -> dict[EdgeTriple, _Nodes]:
    found: dict[EdgeTriple, dict[Term, None]] = {triple: {} for triple in batch}
    for stated, node in zip(edge_of(rows), by_key(rows, "v"), strict=True):
        if not isinstance(node, BlankTerm | IriTerm):
            raise UnexpectedRows
        found[stated.triple][node] = None
    return {triple: _Nodes(tuple(nodes), mark) for triple, nodes in found.items()}
