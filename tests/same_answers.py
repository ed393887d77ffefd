"""The same drawn calls to two checkouts, in each way that users have, and whether all answers are equal to the byte.

`make same AGAINST=CHECKOUT` is for a change that nobody who asks is to notice.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
from argparse import ArgumentParser, Namespace
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal, get_args

from mcp import Client, StdioServerParameters

from tests.graphs import existing_nodes
from tests.harness.kind import Kind, Say
from tests.servers.loopback import HOST, free_port, listening

Shape = Literal["compact", "reference"]
Way = Literal["python", "http", "stdio", "terminal"]
CHECKOUT: Final = Path(__file__).parent.parent
GRAPHS: Final = ("films", "medical", "wikidata-slice", "awkward")
SHARES: Final[Mapping[Way, float]] = {"python": 0.45, "http": 0.25, "stdio": 0.15, "terminal": 0.15}

# In what rdflib writes, blank nodes and their order are others each time.
_FORMATS: Final = ("csv", "graphml", "dot", "svg")
_WORDS: Final = ("a", "the", "war", "adams", "film", "q42", "douglas", "drug", "no such name", "Ü", "1", "")
_AT_ONCE: Final = 2
_PRINTED: Final = 20
_CHARACTERS: Final = 400
_READ_AT: Final = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\dZ")

# It is run by the other checkout's packages, so it must not import anything of this one.
_IN_PYTHON: Final = """
import asyncio, json, sys
from gateway.api import open_gateway
from gateway.errors import GatewayError

async def main():
    gateways = {}
    for line in sys.stdin:
        graph, tool, arguments, shape = json.loads(line)
        if graph not in gateways:
            gateways[graph] = open_gateway(graph)
            await gateways[graph].wait_until_ready()
        try:
            answer = await gateways[graph].call(tool, arguments, shape=shape)
            told = json.dumps(answer.as_json() if hasattr(answer, "as_json") else answer, ensure_ascii=False)
        except GatewayError as error:
            told = f"{type(error).__name__}: {error}"
        print(json.dumps(told), flush=True)
    for gateway in gateways.values():
        await gateway.close()

asyncio.run(main())
"""


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """One call of a tool, or one command line."""

    way: Way
    graph: str
    tool: str
    arguments: Mapping[str, Any]
    shape: Shape = "reference"
    command: tuple[str, ...] = ()


class Drawn:
    """Draws calls about one graph."""

    def __init__(self, graph: str, dice: random.Random) -> None:
        self._graph, self._dice = graph, dice
        nodes = existing_nodes(CHECKOUT / "fixtures" / f"{graph}.ttl")
        self._nodes = [f"<{node}>" for node in nodes]
        self._known = [*self._nodes, "<http://example.org/nowhere>", "rdf:type", "no name at all", "x"]

    def call(self, way: Way) -> Asked:
        """Draw one."""
        if way == "terminal":
            return Asked(way, self._graph, "", {}, command=tuple(self._command()))
        tool, arguments = self._tool()
        return Asked(way, self._graph, tool, arguments, self._dice.choice(get_args(Shape)))

    def _tool(self) -> tuple[str, dict[str, Any]]:
        dice = self._dice
        tool = dice.choices(
            ("bfs_query", "intersect_subgraphs", "describe_entity", "describe_entities", "search_entities"),
            (10, 6, 3, 3, 4),
        )[0]
        if dice.random() < 1 / 50:
            return "describe_schema", {"all": dice.random() < 1 / 2}
        if tool == "describe_entity":
            return tool, {"id": self._id(), **self._now_and_then(max_tokens=dice.choice((200, 500)))}
        if tool == "describe_entities":
            return tool, {"ids": self._ids(12), **self._now_and_then(max_tokens=dice.choice((200, 1_000)))}
        if tool == "search_entities":
            return tool, {"query": dice.choice(_WORDS), **self._now_and_then(limit=dice.randint(1, 20))}
        distance = {"max_hops": dice.randint(1, 4)} if tool == "bfs_query" else {"k": dice.randint(1, 3)}
        seeds = self._ids(3) if tool == "bfs_query" else [self._id(), *self._ids(2)]
        return tool, {"seeds": seeds, **distance, **self._options()}

    def _options(self) -> dict[str, Any]:
        dice = self._dice
        return self._now_and_then(
            direction=dice.choice(("in", "out", "across")),
            topology_only=True,
            limit=dice.randint(0, 12),
            offset=dice.randint(0, 30),
            edge_offset=dice.randint(0, 4),
            max_tokens=dice.choice((50, 150, 400, 1_500)),
            max_degree=dice.randint(1, 8),
            max_edges_per_node=dice.randint(1, 4),
            min_mentions=dice.randint(1, 3),
            only_predicates=[dice.choice(("wdt:P31", "^wdt:P50", "rdfs:seeAlso", "starring", "treats", "nothing"))],
            exclude_node_types=[dice.choice(("Film", "wikibase:Item", "Person", "untyped"))],
            only_node_types=[dice.choice(("Film", "wikibase:Item", "Drug"))],
            node_types=[dice.choice(("Film", "wikibase:Item", "Drug"))],
            predicates=[dice.choice(("wdt:P31", "treats", "starring"))],
            snapshot=dice.choice(("0" * 16, "abc")),
            wrong=1,
        )

    def _now_and_then(self, **options: Any) -> dict[str, Any]:
        return {name: value for name, value in options.items() if self._dice.random() < 1 / 8}

    def _id(self) -> str:
        return self._dice.choice(self._nodes if self._dice.random() < 9 / 10 else self._known)

    def _ids(self, most: int) -> list[str]:
        return [self._id() for _ in range(self._dice.randint(1, most))]

    def _command(self) -> Iterable[str]:
        dice = self._dice
        command = dice.choice(("bfs", "bfs", "intersect", "describe", "search", "schema"))
        yield command
        if command == "search":
            yield dice.choice(_WORDS)
        elif command != "schema":
            yield from self._ids(3)
        if command in {"bfs", "intersect"}:
            yield from ("--hops", str(dice.randint(1, 3)))
            yield from ("--all",) if dice.random() < 1 / 4 else ()
            yield from ("--direction", "out") if dice.random() < 1 / 4 else ()
            if dice.random() < 1 / 4:
                yield from ("--format", dice.choice(_FORMATS))
                return
        yield from ("--json",) if dice.random() < 1 / 3 else ()
        if command not in {"search", "schema"} and dice.random() < 1 / 6:
            yield from ("--max-tokens", "300")


def drawn(count: int, seed: int) -> list[Asked]:
    """Draw so many calls, about all graphs and in all ways."""
    dice = random.Random(seed)  # noqa: S311  # calls, and no secrets
    graphs = [Drawn(graph, dice) for graph in GRAPHS]
    return [dice.choice(graphs).call(way) for way, share in SHARES.items() for _ in range(round(count * share))]


async def answers(checkout: Path, calls: Sequence[Asked]) -> dict[Asked, str]:
    """Return what whoever asks reads of the answer of a checkout to each call."""
    told: dict[Asked, str] = {}
    for way, ask in _WAYS.items():
        asked = [one for one in calls if one.way == way]
        told |= dict(zip(asked, await ask(checkout, asked), strict=True))
    # When a schema was read is no difference.
    return {one: _READ_AT.sub("", answer) for one, answer in told.items()}


async def _by_python(checkout: Path, calls: Sequence[Asked]) -> list[str]:
    lines = [json.dumps([_file(one), one.tool, one.arguments, one.shape]) for one in calls]
    status, out, err = await _run(checkout, ("-c", _IN_PYTHON), "\n".join(lines).encode())
    if status:
        raise RuntimeError(err)
    return out.splitlines()


async def _over_http(checkout: Path, calls: Sequence[Asked]) -> list[str]:
    return await _over_mcp(calls, lambda served: _at_a_server(checkout, served))


async def _over_stdio(checkout: Path, calls: Sequence[Asked]) -> list[str]:
    def client(served: Sequence[str]) -> Client:
        return Client(StdioServerParameters(command=sys.executable, args=[*served], env=_environment(checkout)))

    return await _over_mcp(calls, client)


async def _over_mcp(
    calls: Sequence[Asked], connect: Callable[[Sequence[str]], AbstractAsyncContextManager[Client]]
) -> list[str]:
    told: dict[Asked, str] = {}
    for graph in GRAPHS:
        for shape in get_args(Shape):
            serve = ["-m", "gateway", "serve", "--quiet", "--graph", f"fixtures/{graph}.ttl", "--shape", shape]
            async with connect(serve) as client:
                for one in calls:
                    if (one.graph, one.shape) == (graph, shape):
                        result = await client.call_tool(one.tool, dict(one.arguments))
                        told[one] = result.model_dump_json()
    return [told[one] for one in calls]


@asynccontextmanager
async def _at_a_server(checkout: Path, serve: Sequence[str]) -> AsyncIterator[Client]:
    port = free_port()
    command = (*serve, "--http", "--port", str(port))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=checkout, env=_environment(checkout), stdin=DEVNULL, stdout=DEVNULL
    )
    try:
        await listening(port)
        async with Client(f"http://{HOST}:{port}/mcp") as client:
            yield client
    finally:
        process.terminate()
        await process.wait()


async def _by_commands(checkout: Path, calls: Sequence[Asked]) -> list[str]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def told(one: Asked) -> str:
        async with slots:
            return json.dumps(await _run(checkout, ("-m", "gateway", *one.command, "--graph", _file(one)), b""))

    return list(await asyncio.gather(*map(told, calls)))


_WAYS: Final[Mapping[Way, Callable[[Path, Sequence[Asked]], Awaitable[list[str]]]]] = {
    "python": _by_python,
    "http": _over_http,
    "stdio": _over_stdio,
    "terminal": _by_commands,
}


def _file(one: Asked) -> str:
    return f"fixtures/{one.graph}.ttl"


def _environment(checkout: Path) -> dict[str, str]:
    """Return variables by which Python imports a checkout, and not the one that is installed."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(checkout), "COLUMNS": "100", "BFSQL_CACHE": "off"}


async def _run(checkout: Path, command: Sequence[str], sent: bytes) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=checkout, env=_environment(checkout), stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate(sent)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@dataclass(frozen=True)
class Compared:
    """What two checkouts answered.

    Attributes:
        calls: The calls.
        before: What the other checkout answered to each.
        now: What this one did.
    """

    calls: Sequence[Asked]
    before: Mapping[Asked, str]
    now: Mapping[Asked, str]

    @property
    def different(self) -> Sequence[Asked]:
        """The calls whose answers differ."""
        return [one for one in self.calls if self.before[one] != self.now[one]]

    @property
    def passed(self) -> bool:
        """Whether all answers are equal to the byte."""
        return not self.different

    def as_text(self) -> str:
        """Return how the first answers differ, and how many do."""
        lines = [f"{one}\n{_difference(self.before[one], self.now[one])}" for one in self.different[:_PRINTED]]
        for way in _WAYS:
            asked, others = (sum(one.way == way for one in listed) for listed in (self.calls, self.different))
            lines.append(f"{way}: {asked} calls, {others} answers differ")
        return "\n".join([*lines, ""])

    def as_json(self) -> Sequence[Mapping[str, Any]]:
        """Return the calls whose answers differ, with both."""
        return [{"call": str(one), "before": self.before[one], "now": self.now[one]} for one in self.different]


def _difference(before: str, now: str) -> str:
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
    start = max(0, same - _CHARACTERS // 2)
    return f"  before: {before[start : start + _CHARACTERS]}\n  now:    {now[start : start + _CHARACTERS]}"


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--against", type=Path, required=True, metavar="CHECKOUT")


def _compare(options: Namespace, say: Say) -> Compared:
    calls = drawn(options.questions, options.seed)
    before = asyncio.run(answers(options.against.resolve(), calls))
    say(f"{len(before)} answers of {options.against}")
    return Compared(calls, before, asyncio.run(answers(CHECKOUT, calls)))


KIND: Final = Kind(
    "the same calls to this checkout and another one, whose answers must be equal to the byte",
    _compare,
    questions=2_000,
    seed=1,
    options=_options,
)
