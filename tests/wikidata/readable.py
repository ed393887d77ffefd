"""Which opaque IDs of an answer a reader cannot make sense of, though the graph has a name for them."""

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode

from tests.graphs import read

_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
_ENTITY = "http://www.wikidata.org/entity/"
_NO_CONTENT = {"labels", "explain", "next_steps", "warnings"}
"""What names IDs, shows queries, or says in words what an ID means."""

_NUMBER = re.compile(
    r"(?:wd|wdt|wdtn|p|ps|pq|pr|psv|pqv):([QPL][1-9][0-9]*)|http://www\.wikidata\.org/entity/([QP][0-9]+)"
)


@functools.cache
def labelled(path: Path) -> frozenset[str]:
    """Return the Q- and P-numbers that have a label in a graph file, read without the gateway."""
    return frozenset(
        quad.subject.value.removeprefix(_ENTITY)
        for quad in read(path)
        if quad.predicate == _LABEL and isinstance(quad.subject, NamedNode) and isinstance(quad.object, Literal)
    )


def unreadable(answer: Mapping[str, Any], named: frozenset[str]) -> set[str]:
    """Return the numbers in an answer that have a label in the graph, and none in the answer."""
    told = {_number(key) for key in answer.get("labels", {})}
    told |= {_number(node["id"]) for node in _nodes(answer) if "name" in node or "name" in node.get("metadata", {})}
    told |= {_number(text) for node in _nodes(answer) for text in _texts(node.get("edges", {})) if " " in text}
    shown = {key: answer[key] for key in answer if key not in _NO_CONTENT}
    used = {number for text in _texts(shown) for number in _in(text)}
    return (used & named) - told


def _nodes(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from answer.get("nodes", ())
    yield from answer.get("result", ())
    if "iri" in answer:
        yield answer


def _number(text: str) -> str:
    return next(iter(_in(text)), "")


def _in(text: str) -> list[str]:
    return [one or other for one, other in _NUMBER.findall(text)]


def _texts(value: Any) -> Iterator[str]:
    """Return every text of a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, below in value.items():
            yield str(key)
            yield from _texts(below)
    elif isinstance(value, list):
        for below in value:
            yield from _texts(below)
