"""RDF4J ends an answer after its time limit without a sign: what was cut is asked for again, or told.

A limit that is reached before the answer begins is told by RDF4J itself.

Half of the cuts reach the gateway as RDF4J makes them, in the middle of a row. The other half are closed between two
rows on the way, so that only the missing sentinel shows them.
"""

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from rdflib import URIRef

from gateway.answers.models import Answer as Told
from gateway.api import open_gateway
from gateway.errors import GatewayError, GaveUp
from gateway.graph.call import Deadline
from gateway.settings.limits import LimitSettings, OrientationSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from gateway.transport.http import Http
from tests.drawn.judging import Truth, judge_under_faults
from tests.drawn.questions import Question
from tests.faults.catalogue import InjectedFault
from tests.faults.proxy import each, fault_proxy
from tests.faults.reply import Answer
from tests.harness.report import Verdict
from tests.oracle import BIOLINK, RDF, OracleGraph
from tests.servers.rdf4j import running_rdf4j
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.large, pytest.mark.server]

SAMPLE: Final = int(os.environ.get("BFSQL_SILENT_TIMEOUTS", "4"))
"""Questions. `make timeouts` asks 200, which takes some 15 minutes, most of them RDF4J's."""

PART: Final = 10
"""They are asked in parts, because a test that takes 300 s is taken for one that hangs."""

MORE: Final = 5
"""So many times as many are asked at most, until so many answers were cut as questions were wanted: an idle machine
answers most of them within the limit."""

LIMIT: Final = "?timeout=1"
"""RDF4J's own parameter, in whole seconds; less cannot be asked for."""

EX: Final = "https://example.org/wide/"
LEAVES: Final = 20_000
MIDDLES: Final = 60
MIDDLE_EDGES: Final = 1_000
HUB_EDGES: Final = (2_000, 4_000, 8_000)
"""Of each size so many hubs; the largest are more than RDF4J writes in a second."""

HUBS: Final = 4
SEEDS: Final = 60
STATED: Final = 40
"""Statements about edges. While there are some, each edge is looked up among them, which makes answers slow."""

PROFILE: Final = Profile(
    limits=LimitSettings(deadline_seconds=10, schema_seconds=1),
    size=SizeSettings(max_tokens=50_000_000, ceiling_tokens=50_000_000, coined_prefixes=False),
    prefixes={},
    orientation=OrientationSettings(enumeration_seconds=0),
)

Cut = Literal["between rows", "in a row", "empty"]


def triples() -> Iterator[tuple[str, str, str]]:
    """Yield a graph in which the second hop from a seed is thousands of edges around a few nodes."""
    dice = random.Random(16)  # noqa: S311 - test data, not a secret
    hubs = [(f"{EX}hub-{size}-{number}", size) for size in HUB_EDGES for number in range(HUBS)]
    middles = [(f"{EX}middle-{number}", MIDDLE_EDGES) for number in range(MIDDLES)]
    for node, size in (*hubs, *middles):
        for leaf in dice.sample(range(LEAVES), size):
            yield node, f"{EX}p{leaf % 7}", f"{EX}leaf-{leaf}"
    for number in range(SEEDS):
        near = [*dice.sample(middles, 4), hubs[number % len(hubs)]]
        for node, _ in near:
            yield f"{EX}seed-{number}", f"{EX}near", node
    for number in range(STATED):
        edge = (f"{EX}middle-{number}", f"{EX}stated", f"{EX}leaf-{number}")
        yield edge
        for name, term in zip(("subject", "predicate", "object"), edge, strict=True):
            yield f"{EX}statement-{number}", f"{RDF}{name}", term
            yield f"{EX}association-{number}", f"{BIOLINK}{name}", term


@dataclass
class Recorded:
    """What came from the server.

    Attributes:
        cuts: Answers that were cut, by how.
        answers: All answers.
    """

    cuts: Counter[Cut] = field(default_factory=Counter)
    answers: int = 0

    def as_came(self, answer: Answer) -> Answer:
        """Pass on an answer as it came."""
        self._note(answer)
        return answer

    def closed(self, answer: Answer) -> Answer:
        """Pass on the whole rows of an answer, well-formed, so that nothing but a missing sentinel shows a cut."""
        if self._note(answer) != "in a row":
            return answer
        head = _head(answer.body)
        return answer if head is None else Answer(_closed(answer.body, head), answer.status, answer.headers)

    def _note(self, answer: Answer) -> Cut | None:
        self.answers += 1
        cut = _cut(answer)
        if cut is not None:
            self.cuts[cut] += 1
        return cut


def _cut(answer: Answer) -> Cut | None:
    if answer.status != 200:
        return None
    if not answer.body:
        return "empty"
    if answer.results is None:
        return "in a row"
    asks_for_sentinel = "end" in answer.results["head"]["vars"]
    return "between rows" if asks_for_sentinel and "end" not in ([{}, *answer.rows][-1]) else None


def _head(body: bytes) -> dict[str, Any] | None:
    """Return the head of an answer that was cut; None where it was cut there."""
    start = body.find(b"{", 1)
    try:
        head, _ = json.JSONDecoder().raw_decode(body.decode(errors="replace"), start)
    except ValueError:
        return None
    return dict(head)


def _closed(body: bytes, head: dict[str, Any]) -> bytes:
    """Return the rows that came whole as an answer of its own."""
    text, decoder = body.decode(errors="replace"), json.JSONDecoder()
    rows, at = [], text.find("[", text.find('"bindings"'))
    while (at := text.find("{", at + 1)) > 0:
        try:
            row, end = decoder.raw_decode(text, at)
        except ValueError:
            break
        rows.append(row)
        at = end - 1
    return json.dumps({"head": head, "results": {"bindings": rows}}).encode()


@pytest.fixture(scope="module")
def truth() -> Truth:
    return Truth(OracleGraph((URIRef(s), URIRef(p), URIRef(o)) for s, p, o in triples()))


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("wide")
    file = folder / "wide.nt"
    file.write_text("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in triples()), encoding="utf-8")
    with ExitStack() as servers:
        try:
            server = servers.enter_context(running_rdf4j({"wide": [file]}, workdir=folder))
        except ServerUnavailable as error:
            skip_or_fail(error)
        yield server.endpoint("wide")


async def test_a_time_limit_that_is_reached_before_an_answer_begins_is_told_as_one(endpoint: str) -> None:
    transport = Http(f"{endpoint}{LIMIT}", max_bytes=1_000)
    # RDF4J looks for the first row of an ASK before it answers; of a SELECT, only while it answers.
    never = 'ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?a) = CONCAT(STR(?i), "x")) }'
    try:
        with pytest.raises(GaveUp, match="its own limit of time or memory"):
            await transport.select(never, Deadline.after(60))
    finally:
        await transport.close()


def drawn(number: int) -> Question:
    """Draw a question: a traversal, which may leave hubs out, or an intersection."""
    dice = random.Random(f"timeouts {number}")  # noqa: S311 - test data, not a secret
    seeds = tuple(f"{EX}seed-{seed}" for seed in dice.sample(range(SEEDS), 2))
    match dice.choices(("whole", "without hubs", "intersection"), (60, 20, 20))[0]:
        case "intersection":
            return Question("wide", "intersect_subgraphs", seeds, 2)
        case kind:
            return Question("wide", "bfs_query", seeds[:1], 2, max_degree=3_000 if kind == "without hubs" else None)


async def answered(gateway: Gateway, question: Question) -> Told | GatewayError:
    try:
        return await gateway.call(question.tool, question.arguments)
    except GatewayError as error:
        return error


@pytest.mark.parametrize("part", range(0, SAMPLE, PART))
async def test_what_a_time_limit_cut_without_a_sign_is_asked_for_again_or_told(
    endpoint: str, truth: Truth, part: int
) -> None:
    recorded, verdicts = Recorded(), Counter[str]()
    wanted = min(PART, SAMPLE - part)
    for number in range(part, part + wanted * MORE):
        if number >= part + wanted and recorded.cuts.total() >= wanted:
            break
        question, before = drawn(number), recorded.cuts.total()
        fault = InjectedFault("time-limit", "docs/notes/rdf4j.md", recorded.closed if number % 2 else recorded.as_came)
        async with (
            fault_proxy(f"{endpoint}{LIMIT}", each(fault)) as proxy,
            # A new one for each: a gateway learns from cuts to ask for less, and there would be few.
            open_gateway(endpoint=proxy.url(), profile=PROFILE) as gateway,
        ):
            answer = await answered(gateway, question)
        verdict, detail = judge_under_faults(question, truth, answer)
        assert verdict in {Verdict.RIGHT, Verdict.MARKED, Verdict.ERROR}, (question, detail)
        verdicts[f"{verdict.value}, {'cut' if recorded.cuts.total() > before else 'not cut'}"] += 1
    # `make timeouts` shows it.
    sys.stdout.write(f"{recorded.answers} answers, cut: {dict(recorded.cuts)}; {dict(verdicts)}\n")
    assert recorded.cuts.total() >= wanted, "too few answers were cut: the graph is too small for this machine"
