"""SPARQL JSON bytes become rows here, and only here (SPARQL 1.1 Query Results JSON Format).

A row is believed only when the whole body parsed. `gateway.transport.marks` has what engines leave in a broken one.
"""

from __future__ import annotations

import codecs
import gc
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import Any, NotRequired, TypedDict, cast

import pydantic_core

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp
from gateway.graph.values import Edge, Resource
from gateway.terms.literals import Literal
from gateway.terms.vocabulary import RDF, XSD
from gateway.transport import marks

Binding = TypedDict(
    "Binding",
    {"type": str, "value": str, "datatype": NotRequired[str], "xml:lang": NotRequired[str]},
)
Row = dict[str, Binding]

_PLAIN_TYPES = frozenset({"", f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString"})
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TERM_TYPES = frozenset({"uri", "bnode", "literal", "typed-literal", "triple"})
_LESS = "Ask for fewer seeds or hops, or try again later."
_START = 64
_LEADING = b"\xef\xbb\xbf \t\r\n"
"""What may stand before a JSON object."""


def decode(body: bytes, variables: Iterable[str] = ()) -> list[Row]:
    """Parse a whole answer.

    Args:
        body: SPARQL JSON.
        variables: What the query projects, which the answer must know.

    Raises:
        EndpointFault: The body is no whole SPARQL JSON answer to such a query; `BrokenAnswer` where it began as one,
            `GaveUp` where the engine says why it ends.
        AnswerCut: The engine itself says that there are more rows (QLever does).
    """
    fault = None
    answer: Any = None
    half_pairs = _ESCAPED_SURROGATE.search(body) is not None
    try:
        with _collector_paused():
            answer = _parsed_with_half_pairs(body) if half_pairs else _parsed(body)
    except (ValueError, RecursionError):
        fault = _unreadable(body)
    if fault is not None:
        # Raised here and not where it was caught: the error of the parser holds the whole body.
        raise fault
    try:
        rows = answer["results"]["bindings"]
        known = set(answer["head"]["vars"])
        total = answer.get("meta", {}).get("result-size-total")
        sound = isinstance(rows, list) and _are_rows(rows)
    except (KeyError, TypeError, AttributeError) as error:
        raise _no_answer() from error
    if not sound:
        raise _no_answer()
    if not known.issuperset(variables):
        raise _no_answer()
    if isinstance(total, int) and total > len(rows):
        raise AnswerCut("The endpoint sent only a part of an answer and said so.", next_step=_LESS)
    if half_pairs:
        _mend(rows)
    return cast("list[Row]", rows)


def _parsed(body: bytes) -> Any:
    """Parse JSON in two thirds of the time and of the memory of `json.loads`: equal short texts are one object."""
    return pydantic_core.from_json(body.removeprefix(codecs.BOM_UTF8), cache_strings="all")


def _parsed_with_half_pairs(body: bytes) -> Any:
    """Parse JSON that may escape half a surrogate pair, which only `json.loads` takes; its bytes are strictly UTF-8."""
    return json.loads(body.decode("utf-8-sig"))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the cyclic garbage collector from walking a growing answer again and again, which takes a third of the time.

    The parser never lets another thread run, so nobody else allocates meanwhile. Two threads that come here at once
    at worst parse one answer with the collector on.
    """
    running = gc.isenabled()
    if running:
        gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _are_rows(rows: list[Any]) -> bool:
    """Tell whether these are rows of terms; a KeyError or TypeError says that they are not.

    It walks the answer in the loops of the interpreter's own functions: no line of Python runs for each term.
    """
    terms = list(chain.from_iterable(map(dict.values, rows)))
    if not {dict}.issuperset(map(type, terms)):
        return False
    # A kind of term that nobody here knows would be left out of an answer without a word.
    kinds = set(map(itemgetter("type"), terms))
    if not kinds <= _TERM_TYPES:
        return False
    with_value = [term for term in terms if term["type"] != "triple"] if "triple" in kinds else terms
    return {str}.issuperset(map(type, map(itemgetter("value"), with_value)))


def _mend(rows: list[dict[str, Any]]) -> None:
    """Replace unpaired surrogates, which JSON can escape and no other encoding can write."""
    for row in rows:
        for term in row.values():
            if isinstance(term.get("value"), str):
                term["value"] = term["value"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unreadable(body: bytes) -> EndpointFault:
    """Say what a body is that does not parse."""
    if marks.gave_up_at_the_end(body):
        return GaveUp(
            "The endpoint gave up in the middle of an answer.",
            next_step=_LESS,
        )
    if body[:_START].lstrip(_LEADING)[:1] in {b"", b"{"}:
        return BrokenAnswer(
            "The endpoint's answer is no whole SPARQL JSON: it broke off, or was damaged on its way.",
            next_step=_LESS,
        )
    return _no_answer()


def _no_answer() -> EndpointFault:
    return EndpointFault(
        "The endpoint's answer is no whole SPARQL JSON.",
        next_step="Try again; if it stays, whoever runs this gateway should check the endpoint's URL.",
    )


def is_iri(binding: Binding | None) -> bool:
    """Tell whether a variable is bound to an IRI."""
    return binding is not None and binding["type"] == "uri"


def is_blank(binding: Binding | None) -> bool:
    """Tell whether a variable is bound to a blank node."""
    return binding is not None and binding["type"] == "bnode"


def edge_of(row: Row) -> Edge:
    """Return the triple that a row's ?s, ?p and ?o are."""
    return Edge(row["s"]["value"], row["p"]["value"], row["o"]["value"])


def literal(binding: Binding) -> Literal:
    """Return a bound literal, its datatype left away where it says no more than that this is text."""
    datatype = binding.get("datatype", "")
    return Literal(
        binding["value"],
        "" if datatype in _PLAIN_TYPES else datatype,
        binding.get("xml:lang", "").lower(),
    )


def value(binding: Binding) -> Literal | Resource | None:
    """Return a bound literal or IRI; None for a blank node or a triple term, which have no value of their own."""
    if binding["type"] in {"literal", "typed-literal"}:
        return literal(binding)
    if binding["type"] == "uri":
        return Resource(binding["value"])
    return None
