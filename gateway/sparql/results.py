"""SPARQL JSON bytes become rows here, and only here (SPARQL 1.1 Query Results JSON Format).

A row is believed only when the whole body parsed. `gateway.transport.marks` has what engines leave in a broken one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NotRequired, TypedDict, cast

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
    try:
        # Strictly UTF-8: json.loads would let half a surrogate pair through, which nothing after it could write.
        answer = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        fault = _unreadable(body)
    if fault is not None:
        # Raised here and not where it was caught: the error of the parser holds the whole body.
        raise fault
    try:
        rows = answer["results"]["bindings"]
        known = set(answer["head"]["vars"])
        total = answer.get("meta", {}).get("result-size-total")
    except (KeyError, TypeError, AttributeError) as error:
        raise _no_answer() from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) and _are_terms(row) for row in rows):
        raise _no_answer()
    if not known.issuperset(variables):
        raise _no_answer()
    if isinstance(total, int) and total > len(rows):
        raise AnswerCut("The endpoint sent only a part of an answer and said so.", next_step=_LESS)
    if _ESCAPED_SURROGATE.search(body):
        _mend(rows)
    return cast("list[Row]", rows)


def _are_terms(row: dict[str, Any]) -> bool:
    for term in row.values():
        # A kind of term that nobody here knows would be left out of an answer without a word.
        if type(term) is not dict or type(term.get("type")) is not str or term["type"] not in _TERM_TYPES:
            return False
        if type(term.get("value")) is not str and term["type"] != "triple":
            return False
    return True


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
