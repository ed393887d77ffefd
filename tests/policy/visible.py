"""What a policy leaves of a graph, by naive passes over plain triples; it imports nothing of the gateway.

It is for the graphs of `drawn_graph`. What only others have, such as statements of a Wikibase, has tests of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OBAN = "http://purl.org/oban/"
STATING = {
    *(f"{RDF}{name}" for name in ("reifies", "subject", "predicate", "object", "singletonPropertyOf")),
    *(f"{OBAN}association_has_{name}" for name in ("subject", "predicate", "object")),
}
IN_CLASS = {f"{RDF}type", f"{RDFS}subClassOf"}


@dataclass(frozen=True)
class Hidden:
    """What is hidden: IRIs.

    Attributes:
        types: Types.
        predicates: Predicates.
        graphs: Named graphs.
        literals: Predicates whose literals are hidden.
    """

    types: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    literals: tuple[str, ...] = ()


def visible_triples(quads: Sequence[Quad], hidden: Hidden) -> list[Triple]:
    """Return the triples that are left, each once; a list has the members that are left."""
    return _shorter_lists(_left(quads, hidden))


def _left(quads: Sequence[Quad], hidden: Hidden) -> list[Triple]:
    triples = {quad.triple: None for quad in quads if str(quad.graph_name).strip("<>") not in hidden.graphs}
    terms: set[object] = {NamedNode(iri) for iri in (*hidden.types, *hidden.predicates, *hidden.graphs)}
    general = {t.subject: t.object for t in triples if t.predicate.value == f"{RDF}singletonPropertyOf"}
    literals: set[object] = {NamedNode(iri) for iri in hidden.literals}
    literals |= {special for special, of in general.items() if of in literals}
    while True:
        gone = [t for t in triples if _has(t, terms, literals)]
        more = {term for t in gone for term in _hidden_with(t, set(general))}
        more |= {t.subject for t in triples if t.predicate.value in IN_CLASS and t.object in terms}
        more |= set(_about_literals(list(triples), literals))
        if more <= terms:
            left = set(triples) - set(gone)
            return [t for t in triples if t in left]
        terms |= more


def visible_at_endpoint(quads: Sequence[Quad], hidden: Hidden) -> list[Triple]:
    """Return the triples that are left at an endpoint: also without blank nodes and what states something."""
    read = [quad.triple for quad in quads if str(quad.graph_name).strip("<>") not in hidden.graphs]
    stating = {triple.subject for triple in read if triple.predicate.value in STATING}
    return [
        triple
        for triple in _left(quads, hidden)
        if stating.isdisjoint(triple) and not any(isinstance(term, BlankNode | Triple) for term in triple)
    ]


def _shorter_lists(triples: Sequence[Triple]) -> list[Triple]:
    """Return triples without the cells of lists whose member is hidden: a list has the members that are left."""
    members = {t.subject for t in triples if t.predicate.value == f"{RDF}first"}
    rests = {t.subject: t.object for t in triples if t.predicate.value == f"{RDF}rest"}
    empty = {cell: rest for cell, rest in rests.items() if cell not in members}

    def rest_of(term: NamedNode | BlankNode | Literal | Triple) -> NamedNode | BlankNode | Literal | Triple:
        while isinstance(term, BlankNode) and term in empty:
            term = empty[term]
        return term

    return [Triple(t.subject, t.predicate, rest_of(t.object)) for t in triples if t.subject not in empty]


def _has(triple: Triple, terms: set[object], literals: set[object]) -> bool:
    target = triple.object
    if triple.subject in terms or triple.predicate in terms or target in terms:
        return True
    if isinstance(target, Triple):
        return _has(target, terms, literals)
    return isinstance(target, Literal) and (triple.predicate in literals or target.datatype in terms)


def _hidden_with(triple: Triple, special: set[object]) -> Iterator[object]:
    if triple.predicate.value in STATING:
        yield triple.subject
    if triple.predicate in special:
        yield triple.predicate
    if isinstance(triple.object, BlankNode):
        yield triple.object


def _about_literals(triples: Sequence[Triple], literals: set[object]) -> Iterator[object]:
    named = {t.subject for t in triples if t.predicate.value.endswith("predicate") and t.object in literals}
    for t in triples:
        if t.subject in named and t.predicate.value in STATING and isinstance(t.object, Literal):
            yield t.subject
