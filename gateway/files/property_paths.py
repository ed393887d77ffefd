"""Property paths of SHACL as triples hold them (SHACL, 2.3.1)."""

from __future__ import annotations

from typing import Final

from gateway.files.class_expressions import Reader, UnreadError
from gateway.files.ntriples import is_blank, is_node, node
from gateway.terms.iri import RDF_FIRST, SHACL, SHACL_PATH

PATH: Final = node(SHACL_PATH)
"""From a shape to its path."""

_ALTERNATIVES = node(f"{SHACL}alternativePath")
_OF_ONE = frozenset(node(f"{SHACL}{name}Path") for name in ("inverse", "zeroOrMore", "oneOrMore", "zeroOrOne"))
_FIRST = node(RDF_FIRST)

_DEEPEST = 50
"""Paths in each other that are read."""


def check_path(term: str, reader: Reader) -> None:
    """Check that a term is a path.

    Raises:
        UnreadError: It is none, or has too many others in it.
    """
    # What is in itself is too deep.
    to_check = [(term, 0)]
    while to_check:
        one, depth = to_check.pop()
        if not is_blank(one):
            if not is_node(one):
                raise UnreadError
            continue
        if depth > _DEEPEST:
            raise UnreadError
        to_check += [(step, depth + 1) for step in _steps(one, reader)]


def _steps(path: str, reader: Reader) -> list[str]:
    said = reader.said(path)
    if _FIRST in said:
        return reader.members(path)
    if len(said) != 1 or any(len(values) != 1 for values in said.values()):
        raise UnreadError
    ((predicate, (value,)),) = said.items()
    if predicate in _OF_ONE:
        return [value]
    if predicate == _ALTERNATIVES and (steps := reader.members(value)):
        return steps
    raise UnreadError
