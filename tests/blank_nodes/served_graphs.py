"""The graphs with blank nodes that every engine holds, in formats that every engine reads."""

from collections.abc import Iterator, Mapping
from typing import Final

import pyoxigraph

from tests.blank_nodes.graphs import KIND_COUNT, KINDS, DrawnGraph, drawn
from tests.blank_nodes.small_endpoint import PREFIXES

_WITHOUT_EXPRESSIONS: Final = (
    *("nests", "chain", "cycles", "siblings", "relations", "documents"),
    *("lists", "nodes_in_lists", "shared", "graphs", "heads", "containers", "broken", "in_themselves"),
)

DRAWN: Final[Mapping[str, DrawnGraph]] = {
    graph.kind: graph for graph in map(drawn, range(KIND_COUNT)) if graph.kind in _WITHOUT_EXPRESSIONS
}
"""One of each kind without class expressions."""

EXPRESSIONS: Final[Mapping[str, DrawnGraph]] = {
    f"axioms{number}": drawn(list(KINDS).index("axioms") + number * KIND_COUNT) for number in range(4)
}

SHAPES: Final[Mapping[str, DrawnGraph]] = {
    f"shapes{number}": drawn(list(KINDS).index("shapes") + number * KIND_COUNT) for number in range(3)
}
"""With paths that are too far from nodes with an IRI for engines without keys."""

LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"

WEEK: Final = "@prefix ex: <http://e.org/> . ex:week ex:days ( ex:mon ex:tue ex:wed ) .\n"

VALUES: Final = """
    x:a a x:Thing ; rdfs:label 'a' ; x:tags ( 'red' 'blue' ) ; x:near ( x:b x:c ) ;
        x:dose [ rdfs:label 'dose a' ; x:value 5 ; x:unit x:mg ; x:part [ rdfs:label 'part' ; x:value 2 ] ] .
    x:b a x:Thing ; rdfs:label 'b' ; x:tags ( 'green' ) ; x:near x:c ;
        x:dose [ rdfs:label 'dose b' ; x:value 7 ; x:unit x:g ] .
    x:c a x:Thing ; rdfs:label 'c' ; x:tags () .
    x:mg rdfs:label 'mg' .
    x:g rdfs:label 'g' .
    [] a x:Thing ; rdfs:label 'blank thing' ; x:tags ( 'red' 'black' ) ; x:near x:a ; x:count 3 ;
        x:dose [ rdfs:label 'dose of blank' ; x:value 9 ] .
    [] a x:Thing ; rdfs:label 'other' ; x:near ( x:a ( [ rdfs:label 'in list' ; x:value 11 ] ) ) ; x:count 4 .
"""
"""What conditions, columns and walks are asked about."""

CASES: Final = {
    "case-types": """@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix earl: <http://www.w3.org/ns/earl#> .
        x:ann a foaf:Person ; foaf:name "Ann" ; foaf:knows [ a foaf:Person ; foaf:name "Bob" ] .
        [] a earl:Assertion ; earl:subject x:ann ; earl:result [ a earl:TestResult ; earl:outcome earl:passed ] .""",
    "case-name": """@prefix s: <https://schema.org/> . <https://example.org/org/1> a s:Organization ; s:name "Lab" .
        [] a s:Dataset ; s:name "FLORES-200" ; s:description "A benchmark" ; s:creator <https://example.org/org/1> .""",
    "case-relation": """x:aspirin rdfs:label "aspirin" ; x:interaction [ x:with x:warfarin ; x:severity "major" ] .
        x:warfarin rdfs:label "warfarin" .""",
    "case-list": """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        x:week a skos:OrderedCollection ; rdfs:label "week" ; skos:memberList ( x:mon x:tue x:wed x:thu ) .
        x:mon rdfs:label "Monday" . x:wed rdfs:label "Wednesday" . x:thu rdfs:label "Thursday" .""",
}
"""Small inputs of the kinds that real files have: what is asked about blank nodes and lists by those who have them."""

NAMED: Final = {
    "blank-unnamed": "<http://e.org/a> <http://e.org/p> _:n .\n_:n <http://e.org/q> <http://e.org/b> .\n",
    "blank-named": f'<http://e.org/a> <http://e.org/p> _:n .\n_:n <{LABEL}> "n" .\n',
}
"""A blank node without a name, and one with a name."""


def as_ntriples(turtle: str) -> str:
    """Return a graph without prefixes, the same text at each run: what is loaded of it is kept by its content."""
    graph = pyoxigraph.Dataset(pyoxigraph.parse(PREFIXES + turtle, pyoxigraph.RdfFormat.TURTLE))
    graph.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return "".join(sorted(f"{triple.triple} .\n" for triple in graph))


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name of a file and its text."""
    for name, graph in {**DRAWN, **EXPRESSIONS, **SHAPES}.items():
        yield f"{name}.nt", as_ntriples(graph.as_ntriples())
    yield "week.ttl", WEEK
    for name, turtle in {"blank-values": VALUES, **CASES}.items():
        yield f"{name}.nt", as_ntriples(turtle)
    labels = "".join(f'<http://e.org/{node}> <{LABEL}> "{node}" .\n' for node in "ab")
    for name, triples in NAMED.items():
        yield f"{name}.nt", triples + labels
