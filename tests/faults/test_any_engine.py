"""An engine that nothing names, whose answers are cut, mixed up or sorted otherwise: none is wrong and complete.

The kinds were listed before the code that withstands them. Rows that are dropped in the middle by something that keeps
the last one are not among them: nothing shows that (docs/limits.md).
"""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import pytest

from gateway.api import open_gateway
from gateway.errors import GatewayError
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.faults.catalogue import InjectedFault, Spoil
from tests.faults.proxy import FaultProxy, each, fault_proxy
from tests.faults.reply import Answer
from tests.faults.small_server import X, small_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CALLS: Final = int(os.environ.get("BFSQL_ANY_ENGINE_CALLS", "6"))
"""Calls for each kind."""

LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"
END: Final = "end"
NODES: Final = 160


def graph() -> list[str]:
    """Return a graph with a node of 1,400 edges, others of a few, names, and nodes without any edge of some kind."""
    drawn = Random(1126)  # noqa: S311 - test data, not a secret
    triples = [f'<{X}n{n}> <{LABEL}> "node {n}" .' for n in range(NODES)]
    triples += [f"<{X}n0> <{X}p{n % 3}> <{X}leaf{n}> ." for n in range(1_400)]
    for n in range(1, NODES):
        triples += [f"<{X}n{n}> <{X}p{drawn.randrange(3)}> <{X}n{drawn.randrange(1, NODES)}> ." for _ in range(3)]
    return triples


@dataclass
class Kind:
    """What an engine, or something on the way from it, does to answers.

    Attributes:
        name: What it is.
        change: Makes of the rows of an answer those that are sent, given what was sent before; by chance, if at all.
        remembered: The last rows, and their variables, that were not changed.
    """

    name: str
    change: Callable[["Rows", Random, "Rows"], "Rows"]
    swaps: bool = False
    remembered: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the name, for the IDs of tests."""
        return self.name

    def spoil(self, drawn: Random) -> Spoil:
        """Return what a proxy does."""

        def spoiled(answer: Answer) -> Answer | None:
            if answer.results is None:
                return None
            before, self.remembered = self.remembered, answer.results
            if self.swaps:
                swapped = self.change([answer.results], drawn, [before or answer.results])[0]
                return Answer(json.dumps(swapped).encode(), answer.status, answer.headers)
            return answer.with_rows(self.change(answer.rows, drawn, []))

        return spoiled


Rows = list[dict[str, Any]]


def _at_most(cap: int) -> Callable[[Rows, Random, Rows], Rows]:
    return lambda rows, _, __: rows[:cap]


def _by_chance(one_in: int, change: Callable[[Rows, Random], Rows]) -> Callable[..., Rows]:
    return lambda rows, drawn, _: change(rows, drawn) if rows and not drawn.randrange(one_in) else rows


def _cut(rows: Rows, drawn: Random) -> Rows:
    return rows[: drawn.randrange(len(rows))]


def _unbound_last(rows: Rows) -> Rows:
    """Write our row first, as an engine that sorts the unbound last."""
    return sorted(rows, key=lambda row: END not in row)


def _moved(rows: Rows, drawn: Random) -> Rows:
    others = [row for row in rows if END not in row]
    at = drawn.randrange(len(others)) if others else 0
    return [*others[:at], *(row for row in rows if END in row), *others[at:]]


def _with_end_twice(rows: Rows, _: Random) -> Rows:
    return [*rows, *(row for row in rows if END in row)]


def _cut_with_end_twice(rows: Rows, drawn: Random) -> Rows:
    return _cut(_with_end_twice(rows, drawn), drawn)


def _doubled(rows: Rows, _: Random) -> Rows:
    return [*rows[:-1], *rows]


def _nothing(_: Rows, __: Random) -> Rows:
    return []


def _without_end(rows: Rows, _: Random) -> Rows:
    return [row for row in rows if END not in row]


def _another(one_in: int) -> Callable[..., Rows]:
    def change(own: Rows, drawn: Random, before: Rows) -> Rows:
        (mine,), (other,) = own, before
        # With the variables of the query, as a cache that confuses two queries of one kind.
        is_alike = mine["head"] == other["head"]
        return [other] if is_alike and not drawn.randrange(one_in) else [mine]

    return change


KINDS: Final = (
    Kind("a quarter cut at a row", _by_chance(4, _cut)),
    Kind("half cut at a row", _by_chance(2, _cut)),
    Kind("capped at 1 row", _at_most(1)),
    Kind("capped at 5 rows", _at_most(5)),
    Kind("capped at 100 rows", _at_most(100)),
    Kind("capped at 1,000 rows", _at_most(1_000)),
    Kind("unbound last", lambda rows, _, __: _unbound_last(rows)),
    Kind("unbound last, capped at 1 row", lambda rows, _, __: _unbound_last(rows)[:1]),
    Kind("unbound last, capped at 5 rows", lambda rows, _, __: _unbound_last(rows)[:5]),
    Kind("unbound last, a quarter cut", lambda rows, drawn, _: _by_chance(4, _cut)(_unbound_last(rows), drawn, [])),
    Kind("rows twice, 1 in 20", _by_chance(20, _doubled)),
    Kind("rows twice, always", _by_chance(1, _doubled)),
    Kind("the answer to another query, 1 in 20", _another(20), swaps=True),
    Kind("the answer to another query, always", _another(1), swaps=True),
    Kind("an empty answer, 1 in 20", _by_chance(20, _nothing)),
    Kind("an empty answer, 1 in 4", _by_chance(4, _nothing)),
    Kind("the last row elsewhere, 1 in 20", _by_chance(20, _moved)),
    Kind("the last row twice, 1 in 20", _by_chance(20, _with_end_twice)),
    Kind("the last row twice and cut, 1 in 4", _by_chance(4, _cut_with_end_twice)),
    Kind("the last row never", _by_chance(1, _without_end)),
)


@asynccontextmanager
async def asking() -> AsyncIterator[tuple[FaultProxy, Gateway]]:
    """Serve the graph through a proxy; nothing names the engine."""
    async with small_server(graph()) as server, fault_proxy({"": server.url}) as proxy:
        endpoint = EndpointSettings(requests=RequestSettings(retries=1))
        limits = LimitSettings(deadline_seconds=20, query_rows=3_000)
        # With a prefix of its own, an answer does not change with what is known of the schema.
        profile = Profile(endpoint=endpoint, limits=limits, prefixes={"x": X})
        async with open_gateway(endpoint=proxy.url(), profile=profile) as gateway:
            yield proxy, gateway


def questions(drawn: Random) -> tuple[str, dict[str, Any]]:
    """Draw a question."""
    nodes = [f"{X}n{n}" for n in drawn.sample(range(NODES), 2)]
    nodes[0] = drawn.choice([nodes[0], f"{X}n0", f"{X}leaf{drawn.randrange(1_400)}"])
    asked: list[tuple[str, dict[str, Any]]] = [
        ("bfs_query", {"seeds": nodes, "max_hops": drawn.randint(1, 2), "topology_only": True}),
        ("bfs_query", {"seeds": nodes[1:], "max_hops": 1}),
        ("intersect_subgraphs", {"seeds": nodes, "k": 1, "topology_only": True}),
        ("describe_entity", {"id": nodes[0]}),
        ("describe_entities", {"ids": nodes}),
        ("search_entities", {"query": f"node {drawn.randrange(NODES)}"}),
    ]
    return drawn.choice(asked)


async def answered(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what an answer says about the graph; None where it does not claim to be complete, or is an error."""
    gateway.forget()
    try:
        answer = dict((await gateway.call(tool, dict(arguments))).as_json())
    except GatewayError as error:
        # What is not there is an error by design, and says so.
        return {"error": str(error)} if "No entity" in str(error) or "not in the graph" in str(error) else None
    if answer.get("complete") is False or answer.get("degraded") or answer.get("exhaustive") is False:
        return None
    return {key: value for key, value in answer.items() if key not in {"cost", "snapshot", "warnings"}}


@pytest.mark.parametrize("kind", KINDS, ids=repr)
async def test_no_answer_of_an_engine_that_nothing_names_is_wrong_and_complete(kind: Kind) -> None:
    drawn = Random(kind.name)  # noqa: S311 - test data, not a secret
    async with asking() as (proxy, gateway):
        expected, wrong, complete = {}, [], 0
        asked = [questions(drawn) for _ in range(CALLS)]
        for number, (tool, arguments) in enumerate(asked):
            expected[number] = await answered(gateway, tool, arguments)
    async with asking() as (proxy, gateway):
        await proxy.begin(each(InjectedFault(kind.name, "any engine", kind.spoil(drawn))))
        for number, (tool, arguments) in enumerate(asked):
            found = await answered(gateway, tool, arguments)
            complete += found is not None
            if found is not None and expected[number] is not None and found != expected[number]:
                wrong.append((tool, arguments))
    print(f"{kind.name}: {len(wrong)} wrong and complete, {complete} complete of {CALLS}")  # noqa: T201 - for a reader
    assert not wrong


async def test_without_a_fault_an_engine_that_nothing_names_gives_complete_answers() -> None:
    drawn = Random(1126)  # noqa: S311 - test data, not a secret
    async with asking() as (_, gateway):
        asked = [questions(drawn) for _ in range(4 * CALLS)]
        complete = [await answered(gateway, tool, arguments) is not None for tool, arguments in asked]
    assert sum(complete) >= 0.99 * len(complete)
