"""Answers of a database that are cut in good order or damaged: none may be wrong and complete, or an internal error.

`CUT_ANSWERS=150` and `DAMAGED_ANSWERS=1000` try more.
"""

import os
import random
import re
import traceback
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from gateway.errors import GatewayError
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from gateway.tools.schema import VALUES_UNREAD
from tests.calls import OF_EVIDENCE
from tests.databases.proxy import BoltMessages, Messages, PostgresMessages, Proxy, running_proxy
from tests.neo4j.database import UNCLOSED, Neo4jColumn, address_at
from tests.postgres.database import Database, PostgresColumn
from tests.random_graphs import corpus

pytestmark = [pytest.mark.anyio, pytest.mark.server]

_CALLS: Final = int(os.environ.get("CUT_ANSWERS", "60"))
"""Calls with an answer that is cut."""

_DAMAGES: Final = int(os.environ.get("DAMAGED_ANSWERS", "60"))
"""Calls with a message that is damaged."""

_HASTY: Final = Profile(limits=LimitSettings(deadline_seconds=2))
"""For calls with a damaged message: behind a length that is too large, the driver waits for the rest of it."""

_HOW_IT_WAS_READ: Final = frozenset({"cost", "snapshot", "warnings", "as_of", "searched", "read"})


_NAMELESS: Final = re.compile(
    r" [\d,]+ of (?:the )?[\d,]+ nodes with edges (?:has|have) no name\.( Find such [^.]*\.)?"
)
"""How many nodes have no name is advice, which a schema leaves out where they could not be counted."""

_OF_VALUES: Final = frozenset({"values", "values_total"})
"""What a schema lacks, with a warning, where predicates of literals could not be read."""


_AT_LEAST = re.compile(r"at least ([0-9,]+)")


def _are_fewer(said: Any, expected: Any) -> bool:
    """Return whether predicates of literals were seen at fewer nodes, in a sample that says so."""
    if not said or not expected or not said.keys() <= expected.keys():
        return False
    counts = [[_AT_LEAST.fullmatch(str(values[key][0])) for key in said] for values in (said, expected)]
    numbers = [[int(found[1].replace(",", "")) if found else -1 for found in row] for row in counts]
    return all(0 <= one <= other for one, other in zip(*numbers, strict=True))


@dataclass(slots=True)
class _CutReport:
    """What came of the calls.

    Attributes:
        calls: Calls of which an answer of the database was cut or damaged.
        told: Those that failed or were not complete.
        believed: Those that were complete and wrong.
        crashed: Those that raised what is no error of the gateway's.
    """

    calls: int = 0
    told: int = 0
    believed: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)

    def judge(
        self,
        answer: Mapping[str, Any],
        right: Mapping[str, Any],
        what: str,
        content: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> None:
        """Count an answer, by what it says of the graph."""
        if "crash" in answer:
            self.crashed.append(f"{what}: {answer['crash']}")
            return
        said, expected = map(content or _content, (answer, right))
        says_unread = VALUES_UNREAD in answer.get("warnings", ())
        if says_unread:
            expected = {key: value for key, value in expected.items() if key not in _OF_VALUES or key in said}
        if _are_fewer(said.get("values"), expected.get("values")):
            expected = {**expected, "values": said["values"]}
        if "count" not in said.get("instances", {"count": 0}):
            # Of a schema that was not read, a type has no number of instances.
            expected = {**expected, "instances": {**expected["instances"], "count": None}}
            said = {**said, "instances": {**said["instances"], "count": None}}
        if not _is_whole(answer):
            self.told += 1
        elif said != expected:
            self.believed.append(what)
        else:
            self.told += says_unread


async def _cut_answers(open_: Callable[[], Gateway], proxy: Proxy, seed: str, calls: int = _CALLS) -> _CutReport:
    """Make calls of which one answer of the database, or each one, is cut, and compare them with what is right."""
    report, draw = _CutReport(), random.Random(seed)  # noqa: S311 - a test that can be repeated
    while report.calls < calls:
        tool, arguments = _question(draw)
        proxy.short, proxy.answers = None, 0
        right = await _asked(open_(), tool, arguments)
        if not _is_all_read(right):
            continue
        number, share = draw.randrange(proxy.answers), draw.choice([0.0, 0.5, 1.0])
        proxy.short, proxy.answers, proxy.cuts = _plan(number, share, is_each=draw.random() < 0.3), 0, 0
        answer = await _asked(open_(), tool, arguments)
        if not proxy.cuts:
            continue
        report.calls += 1
        report.judge(answer, right, f"{tool} {arguments}: answer {number}, {share}")
    return report


async def _damaged_answers(
    open_: Callable[[], Gateway], proxy: Proxy, messages: type[Messages], seed: str, calls: int = _DAMAGES
) -> _CutReport:
    """Make calls of which one message of the database is damaged outside of values, and the same ones after it.

    No answer can tell that a byte of a value was changed: neither protocol has a checksum.
    """
    report, draw = _CutReport(), random.Random(seed)  # noqa: S311 - a test that can be repeated
    while report.calls < calls:
        tool, arguments = _question(draw)
        proxy.damaged, proxy.messages = None, 0
        async with open_() as gateway:
            right = await _outcome(gateway, tool, arguments)
        if not _is_all_read(right):
            continue
        number, place, byte = (
            draw.randrange(proxy.messages),
            draw.random(),
            draw.choice([*_TELLING, draw.randrange(256)]),
        )
        proxy.damaged, proxy.messages, proxy.cuts = _damage(messages, number, place, byte), 0, 0
        async with open_() as gateway:
            answer = await _outcome(gateway, tool, arguments)
            proxy.damaged = None
            if not proxy.cuts:
                continue
            report.calls += 1
            what = f"{tool} {arguments}: message {number}, {place}, {byte}"
            report.judge(answer, right, what, _without_neighbours)
            gateway.forget()
            # Nothing that is left of the damaged answer may be read as that to another question.
            report.judge(await _outcome(gateway, tool, arguments), right, f"{what}, again", _without_neighbours)
    return report


_TELLING: Final = (0, 1, 0x7F, 0x80, 0xFF)
"""Bytes that make a length none, negative or huge."""


def _damage(messages: type[Messages], number: int, share: float, byte: int) -> Callable[[int, bytes], bytes]:
    """Return what changes one byte of one message."""

    def damaged(at: int, message: bytes) -> bytes:
        if at != number:
            return message
        places = messages.structure(message)
        place = places[int(share * len(places))]
        return message[:place] + bytes([byte]) + message[place + 1 :]

    return damaged


async def _outcome(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer, or the error as one that is not complete; `crash` if it is none of the gateway's."""
    try:
        return dict((await gateway.call(tool, arguments)).as_json())
    except GatewayError as error:
        return {"complete": False, "error": str(error)}
    except Exception as error:  # noqa: BLE001 - what else is raised is what is looked for
        return {"complete": False, "crash": "".join(traceback.format_exception(error))}


def _plan(number: int, share: float, *, is_each: bool) -> Callable[[int, int], int]:
    """Return how many rows of each answer are left: a share of them, but not the last one."""
    return lambda at, rows: min(int(share * rows), rows - 1) if is_each or at == number else rows


def _question(draw: random.Random) -> tuple[str, Mapping[str, Any]]:
    """Draw a question about a graph of the corpus."""
    nodes: Sequence[str] = draw.choice([graph for graph in corpus() if len(graph.nodes) > 1]).nodes
    some = [f"<{node}>" for node in draw.sample(nodes, 2)]
    questions: list[tuple[str, Mapping[str, Any]]] = [
        ("bfs_query", {"seeds": some[:1], "max_hops": 2}),
        ("bfs_query", {"seeds": some, "max_hops": 1, "topology_only": True}),
        ("intersect_subgraphs", {"seeds": some, "k": 2}),
        ("describe_entity", {"id": some[0]}),
        ("describe_entities", {"ids": some}),
        ("search_entities", {"query": draw.choice(["a", "the", "work", "person", "place"]) + "*"}),
        ("describe_schema", {}),
    ]
    return draw.choice(questions)


async def _asked(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer, or the error as one that is not complete."""
    async with gateway:
        try:
            return dict((await gateway.call(tool, arguments)).as_json())
        except GatewayError as error:
            return {"complete": False, "error": str(error)}


def _is_whole(answer: Mapping[str, Any]) -> bool:
    """Tell whether an answer says that nothing is missing."""
    return answer.get("complete", True) and not answer.get("degraded")


def _is_all_read(right: Mapping[str, Any]) -> bool:
    """Tell whether others can be compared with an answer: a schema takes longer than its time on a busy machine."""
    return _is_whole(right) and VALUES_UNREAD not in right.get("warnings", ())


def _content(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer says of the graph."""
    apart = {*_HOW_IT_WAS_READ, "schema_summary"}
    found: dict[str, Any] = _with_all_types({key: value for key, value in answer.items() if key not in apart})
    if "next_steps" in found:
        found["next_steps"] = OF_EVIDENCE.sub("", _NAMELESS.sub("", found["next_steps"]))
    if found.get("result") and "match" in found["result"][0]:
        # How many edges a hit has is left out where they could not be counted.
        found["result"] = [{key: value for key, value in hit.items() if key != "edges"} for hit in found["result"]]
    return found


def _without_neighbours(answer: Mapping[str, Any]) -> Any:
    """Return what an answer says, without the neighbours in surveys: one whose name was not read in time has none."""
    content = _content(answer)
    for entity in (content, *content.get("result", ())):
        if isinstance(entity.get("edges"), dict):
            entity["edges"] = {key.partition(" ")[0]: count for key, (count, *_) in entity["edges"].items()}
    return content


def _with_all_types(value: Any) -> Any:
    """Return a part of an answer without the choice of one type of several: it depends on whether a schema was read."""
    if isinstance(value, list):
        return [_with_all_types(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _with_all_types(one) for key, one in value.items()}
    metadata = value.get("metadata")
    if "entity_type" in value and ("types" in value or metadata is None or "types" in metadata):
        found["entity_type"] = value["entity_type"] != "untyped"
    return found


# The databases


@dataclass(frozen=True, slots=True)
class _Proxied:
    """A proxy before a database, and what opens a gateway over the random graphs through it."""

    proxy: Proxy
    messages: type[Messages]
    open: Callable[[Profile | None], Gateway]


@asynccontextmanager
async def _tables_behind_a_proxy(engine: PostgresColumn) -> AsyncIterator[_Proxied]:
    # Loaded without the proxy.
    await engine.open("random").close()
    database = engine.database
    async with running_proxy(database.server.port, PostgresMessages) as proxy:
        behind = Database(replace(database.server, port=proxy.port), database.schemas)
        column = replace(engine, database=behind)
        yield _Proxied(proxy, PostgresMessages, lambda profile: column.open("random", profile))


@asynccontextmanager
async def _nodes_behind_a_proxy(engine: Neo4jColumn) -> AsyncIterator[_Proxied]:
    async with running_proxy(urlsplit(engine.address.url).port or 0, BoltMessages) as proxy:
        column = replace(engine, address=address_at(proxy.port))
        yield _Proxied(proxy, BoltMessages, lambda profile: column.open("random", profile))


@pytest.fixture(
    params=[
        (_tables_behind_a_proxy, "postgresql_engine"),
        pytest.param((_nodes_behind_a_proxy, "neo4j_engine"), marks=UNCLOSED),
    ],
    ids=["postgresql", "neo4j"],
)
def behind_a_proxy(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[_Proxied]:
    """Each database behind a proxy."""
    behind, engine = request.param
    opened: AbstractAsyncContextManager[_Proxied] = behind(request.getfixturevalue(engine))
    return opened


async def test_no_answer_is_believed_of_which_rows_were_left_out(
    behind_a_proxy: AbstractAsyncContextManager[_Proxied],
) -> None:
    async with behind_a_proxy as one:
        report = await _cut_answers(lambda: one.open(None), one.proxy, "2026 cuts")
    assert report.calls == _CALLS
    assert report.told > _CALLS // 4
    assert report.believed == []


async def test_an_answer_is_believed_of_which_the_number_of_rows_was_changed_too(
    postgresql_engine: PostgresColumn,
) -> None:
    # docs/limits.md says so; and whoever compares the answers sees it.
    async with _tables_behind_a_proxy(postgresql_engine) as one:
        one.proxy.edited = PostgresMessages.with_number
        # Which answer is the one that is changed depends on which connection is the first to ask.
        for round_ in range(5):
            report = await _cut_answers(lambda: one.open(None), one.proxy, f"2026 cuts {round_}", 12)
            if report.believed:
                return
    raise AssertionError


async def test_no_damaged_message_is_believed_or_an_internal_error(
    behind_a_proxy: AbstractAsyncContextManager[_Proxied],
) -> None:
    async with behind_a_proxy as one:
        report = await _damaged_answers(lambda: one.open(_HASTY), one.proxy, one.messages, "2026 damages")
    assert report.calls == _DAMAGES
    # Most are asked again, and answered.
    assert report.told > 0
    assert report.believed == []
    assert report.crashed == []
