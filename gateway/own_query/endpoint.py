"""Sends a query of a person to an endpoint, and proves the end of its answer as far as that can be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gateway.errors import ConfigurationError, EndpointFault, Fault, QueryRefused, WrongFormat
from gateway.escaping import printable
from gateway.graph.call import Deadline
from gateway.own_query.process import Head, ReadQuery, Row
from gateway.own_query.text import in_order
from gateway.sparql.json_rows import decode, envelope_of
from gateway.sparql.sentinel import around, marker
from gateway.sparql.table import Table, integer, literal, read
from gateway.sparql.template import part
from gateway.transport.base import Format, RepeatedNameError, loads
from gateway.transport.http import Http

_LESS = "Ask for less, with LIMIT or a narrower pattern, or try again later."
_LONGEST_LINE = 300
_END, _COUNT = "bfsqlEnd", "bfsqlCount"
_ANY_NUMBER = 1_000_000_000
"""Of rows: only the size of an answer is bounded."""

_NO_PROOF_OF_GRAPHS = "no engine counts the triples of such an answer"


class Answer(NamedTuple):
    """What came of a query.

    Attributes:
        head: How the answer begins.
        rows: Its rows; none where it is a graph.
        rdf: The graph, not yet parsed, and its format; empty where there are rows.
        counted: How many rows the endpoint counts; None where that is not known.
        unproven: Why it is not known whether this is all; empty where it is.
    """

    head: Head
    rows: Sequence[Row] = ()
    rdf: tuple[bytes, Format] | tuple[()] = ()
    counted: int | None = None
    unproven: str = ""


async def ask(http: Http, query: ReadQuery, deadline: Deadline) -> Answer:
    """Send a query as it is, and for rows a second one that counts them.

    Args:
        http: The endpoint.
        query: The query.
        deadline: When both answers must be there.

    Raises:
        ConfigurationError: The query asks named graphs where the profile says which graphs are asked.
        Fault: The endpoint could not be asked, or sent no whole answer.
    """
    way = _over_graphs_of(http, query)
    try:
        match query.kind:
            case "ask":
                return Answer(Head("ask", is_true=_boolean(await way.select(query.sent, deadline))))
            case "select":
                sent, table = _rows(await way.select(query.sent, deadline))
            case _:
                body = await _graph(way, query.sent, deadline)
                return Answer(Head(query.kind, ("subject", "predicate", "object")), (), body, None, _NO_PROOF_OF_GRAPHS)
    except Fault as fault:
        raise _for_a_person(fault) from fault
    variables = [sent[place] for place in in_order(query.body, sent)]
    columns = [table.terms(name) for name in variables]
    rows = [*zip(*columns, strict=True)] if columns else [()] * len(table)
    head = Head("select", variables)
    if query.has_dataset:
        return Answer(head, rows, unproven="a query with FROM cannot be counted within another one")
    try:
        counted = await _count(way, query, deadline)
    except Fault as fault:
        return Answer(head, rows, unproven=f"its rows could not be counted: {fault.wrong.rstrip('.')}")
    if counted < len(rows):
        return Answer(head, rows, unproven=f"the endpoint counts {counted:,}, so it may have changed meanwhile")
    return Answer(head, rows, counted=counted)


def _over_graphs_of(http: Http, query: ReadQuery) -> Http:
    """Return the way to the endpoint by which the graphs are asked that the query is about."""
    if query.has_dataset:
        # The graphs that a request names go before those of the query (SPARQL 1.1 Protocol, 2.1.4).
        return http.over_all_graphs() if http.graphs else http
    if query.has_graph and http.graphs:
        raise ConfigurationError(
            "The profile says which graphs are asked (`graphs`), and beside these GRAPH finds none.",
            next_step="Say in the query which they are, with FROM and FROM NAMED, or use a profile without `graphs`.",
        )
    return http


async def _graph(http: Http, text: str, deadline: Deadline) -> tuple[bytes, Format]:
    try:
        return await http.select_in("ntriples", text, deadline), "ntriples"
    except WrongFormat:
        return await http.select_in("turtle", text, deadline), "turtle"


def _rows(body: bytes) -> tuple[list[str], Table]:
    try:
        envelope = envelope_of(body)
        before = b"" if envelope is None else body[: envelope.start] + b"[]" + body[envelope.end :]
        variables = loads(before)["head"]["vars"] if envelope is not None else []
    except RepeatedNameError:
        variables = []
    if len(set(variables)) < len(variables):
        raise EndpointFault("The endpoint names a column of its answer twice.", next_step="Name the columns apart.")
    return variables, decode(body, variables, _ANY_NUMBER)


def _boolean(body: bytes) -> bool:
    try:
        content = loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not isinstance(content.get("boolean"), bool):
        raise EndpointFault("The endpoint's answer is no whole SPARQL JSON.", next_step="Try again.")
    return bool(content["boolean"])


async def _count(http: Http, query: ReadQuery, deadline: Deadline) -> int:
    """Return how many rows the endpoint counts.

    Raises:
        Fault: It does not count them.
    """
    declared = query.sent.removesuffix(query.prologue + query.body) + query.prologue
    counting = around(part("count_of_any"), query.body, (), 0)
    found = decode(await http.select(f"{declared}\n{counting}", deadline), [_END, _COUNT])
    counts = [count for end, count in read(found, literal(_END), integer(_COUNT)) if end.value == marker(query.body)]
    if len(counts) != 1 or len(found) != 1:
        raise EndpointFault("The endpoint sent the answer to another query.")
    return counts[0]


def _for_a_person(fault: Fault) -> Fault:
    """Return a fault whose text speaks of a query and not of a call of a tool, with what the endpoint wrote."""
    line = getattr(fault, "first_line", "") if isinstance(fault, QueryRefused) else ""
    said = f"It says: {printable(line)[:_LONGEST_LINE].rstrip('.')}." if line else fault.valid
    next_step = _LESS if "seeds" in fault.next_step else fault.next_step
    return Fault(fault.wrong, valid=said, next_step="Change the query." if line else next_step)
