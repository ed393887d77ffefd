"""What class expressions say does not depend on the order of their triples."""

from itertools import permutations
from typing import Final

from gateway.files.expression_edges import fold_expressions
from gateway.files.ntriples import node
from gateway.terms.iri import OWL, RDF_OBJECT, RDF_PREDICATE, RDF_SUBJECT, SUBCLASS_OF

_CLASS: Final = node("http://e.org/a")
_SUBCLASS: Final = node(SUBCLASS_OF)
_SOURCE: Final = node("http://e.org/source")
_RESTRICTION: Final = [
    (_CLASS, _SUBCLASS, "_:r"),
    ("_:r", node(f"{OWL}onProperty"), node(f"{OWL}topDataProperty")),
    ("_:r", node(f"{OWL}hasValue"), '"5"'),
]
_STATEMENT: Final = [
    ("_:s", node(RDF_SUBJECT), _CLASS),
    ("_:s", node(RDF_PREDICATE), _SUBCLASS),
    ("_:s", node(RDF_OBJECT), "_:r"),
]
_SAYS: Final = [("_:s", _SOURCE, f'"{number}"') for number in range(3)]


def test_content_and_what_is_stated_about_it_are_written_in_one_order() -> None:
    texts = set[str]()
    for says in permutations(_SAYS):
        for restriction in permutations(_RESTRICTION):
            array, *_ = fold_expressions([*restriction, *_STATEMENT, *says]).arrays
            texts.add(array.text(str))
    assert texts == {'[{"http://www.w3.org/2002/07/owl#hasValue":["5"],"http://e.org/source":["0","1","2"]}]'}
