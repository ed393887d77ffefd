"""Answers of a database that are cut in good order or damaged: none may be wrong and complete, or an internal error.

`CUT_ANSWERS=150` and `DAMAGED_ANSWERS=1000` try more.
"""

import os
import random
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.errors import GatewayError
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from gateway.tools.schema import VALUES_UNREAD
from tests.neo4j.proxy import Messages, Proxy
from tests.random_graphs import corpus

CALLS: Final = int(os.environ.get("CUT_ANSWERS", "60"))
"""Calls with an answer that is cut."""

DAMAGES: Final = int(os.environ.get("DAMAGED_ANSWERS", "60"))
"""Calls with a message that is damaged."""

HASTY: Final = Profile(limits=LimitSettings(deadline_seconds=2))
"""For calls with a damaged message: behind a length that is too large, the driver waits for the rest of it."""

_HOW_IT_WAS_READ: Final = frozenset({"cost", "snapshot", "warnings", "as_of", "searched", "read"})


_OF_VALUES: Final = frozenset({"values", "values_total"})
"""What a schema lacks, with a warning, where predicates of literals could not be read."""


@dataclass(slots=True)
class CutReport:
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
        if not _is_whole(answer):
            self.told += 1
        elif said != expected:
            self.believed.append(what)
        else:
            self.told += says_unread


async def cut_answers(open_: Callable[[], Gateway], proxy: Proxy, seed: str, calls: int = CALLS) -> CutReport:
    """Make calls of which one answer of the database, or each one, is cut, and compare them with what is right."""
    report, draw = CutReport(), random.Random(seed)  # noqa: S311 - a test that can be repeated
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


async def damaged_answers(
    open_: Callable[[], Gateway], proxy: Proxy, messages: type[Messages], seed: str, calls: int = DAMAGES
) -> CutReport:
    """Make calls of which one message of the database is damaged outside of values, and the same ones after it.

    No answer can tell that a byte of a value was changed: neither protocol has a checksum.
    """
    report, draw = CutReport(), random.Random(seed)  # noqa: S311 - a test that can be repeated
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
