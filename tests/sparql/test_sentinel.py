"""What the client does about the last row that proves the end of an answer."""

import json
from dataclasses import dataclass, field

import anyio
import pytest

from gateway.errors import AnswerCut
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Spend, unpaid
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EndpointSettings, Sentinel
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines.detector import EngineDetector
from gateway.sparql.results.rows import EndedEarly, Overflow
from tests.cases import check_each

pytestmark = pytest.mark.anyio

WITH_SENTINEL = [name for name in template.names() if template.load(name).end == "sentinel"]


@dataclass
class Ordered:
    """An endpoint with some rows, which writes the sentinel at a place and sends so many rows at most.

    Attributes:
        rows: The rows that there are.
        cap: The rows that it sends at most.
        place: Where the sentinel stands, from the end.
        sent: The queries that came.
    """

    rows: int = 3
    cap: int = 1_000_000
    place: int = 0
    sent: list[str] = field(default_factory=list)

    async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer a query."""
        await anyio.lowlevel.checkpoint()
        self.sent.append(query)
        *inner, outer = (int(part.split()[0]) for part in query.split("LIMIT ")[1:])
        found = [{"n": {"type": "uri", "value": f"http://example.org/{n}"}} for n in range(min([self.rows, *inner]))]
        variables = ["n"]
        if "?end" in query:
            variables.append("end")
            found.insert(len(found) - self.place, {"end": {"type": "literal", "value": "end"}})
        return json.dumps(
            {"head": {"vars": variables}, "results": {"bindings": found[: min(outer, self.cap)]}}
        ).encode()

    async def close(self) -> None:
        """Let go of nothing."""


def call() -> Call:
    return Call(Deadline.after(60), 100, 100_000, 1_000)


def client(endpoint: Ordered, sentinel: Sentinel = "united", rows: int = 100) -> SparqlClient:
    profile = Profile(endpoint=EndpointSettings(sentinel=sentinel), limits=LimitSettings(query_rows=rows))
    return SparqlClient(endpoint, profile, FlowControl(profile.endpoint.requests))


def nodes(number: int = 0) -> dict[str, list[str]]:
    return {"nodes": [f"http://example.org/{number}"]}


async def test_an_answer_that_ends_in_the_sentinel_is_whole_and_no_reader_sees_it() -> None:
    rows = (await client(Ordered(rows=3)).rows("existing", call(), nodes())).whole()
    assert len(rows) == 3
    assert None not in rows.terms("n")


async def test_an_answer_without_rows_is_whole_only_with_the_sentinel() -> None:
    assert len((await client(Ordered(rows=0)).rows("existing", call(), nodes())).whole()) == 0
    with pytest.raises(EndedEarly):
        (await client(Ordered(rows=0, cap=0)).rows("existing", call(), nodes())).whole()


@pytest.mark.parametrize("cap", range(4))
async def test_an_answer_that_is_cut_at_any_row_is_not_whole(cap: int) -> None:
    found = await client(Ordered(rows=3, cap=cap)).rows("existing", call(), nodes())
    rows, is_cut = found.part()
    assert (len(rows), is_cut) == (cap, True)
    with pytest.raises(AnswerCut):
        found.whole()


@pytest.mark.parametrize("cap", [101, 102, 200])
async def test_more_rows_than_asked_for_are_an_overflow_with_or_without_the_sentinel(cap: int) -> None:
    found = await client(Ordered(rows=500, cap=cap), rows=100).rows("existing", call(), nodes())
    assert not found.ended_early
    assert len(found.part()[0]) == 100
    with pytest.raises(Overflow):
        found.whole()


@pytest.mark.parametrize("place", [1, 2, 3])
async def test_a_sentinel_that_is_not_last_is_not_asked_for_again(place: int) -> None:
    endpoint = Ordered(rows=3, place=place)
    asked = client(endpoint)
    assert len((await asked.rows("existing", call(), nodes())).whole()) == 3
    assert ["?end" in query for query in endpoint.sent] == [True, False]
    assert len((await asked.rows("existing", call(), nodes())).whole()) == 3
    assert ["?end" in query for query in endpoint.sent] == [True, False, False]


async def test_answers_are_read_by_other_rules_once_the_sentinel_is_lost() -> None:
    endpoint = Ordered(rows=3, place=1)
    profile = Profile(endpoint=EndpointSettings(engine="fuseki", sentinel="united"))
    flow = FlowControl(profile.endpoint.requests)
    asked = SparqlClient(endpoint, profile, flow, EngineDetector(endpoint, profile, flow))
    before = asked.read_by
    await asked.rows("existing", call(), nodes())
    assert None not in {before, asked.read_by}
    assert before != asked.read_by


async def test_what_comes_without_it_asks_the_text_that_the_template_has() -> None:
    endpoint = Ordered()
    await client(endpoint, "none").rows("existing", call(), nodes())
    assert endpoint.sent == [template.load("existing").render({**nodes(), "rows": 101})]


async def test_the_text_is_the_same_in_every_request() -> None:
    endpoint = Ordered()
    asked = client(endpoint, "sorted")
    for _ in range(3):
        await asked.rows("existing", call(), nodes())
    assert len(endpoint.sent) == 3
    assert len(set(endpoint.sent)) == 1
    assert "ORDER BY ?end" in endpoint.sent[0]


async def test_two_answers_that_end_at_one_row_show_the_cap_and_less_is_asked_for() -> None:
    endpoint = Ordered(rows=100_000, cap=1_000)
    asked = client(endpoint, rows=5_000)
    assert (await asked.rows("existing", call(), nodes(1))).ended_early
    found = await asked.rows("existing", call(), nodes(2))
    assert not found.ended_early
    assert found.part()[1]
    assert asked.query_rows + 2 <= 1_000
    assert len(endpoint.sent) == 3


def test_every_template_with_a_sentinel_asks_for_it_and_keeps_its_own_query() -> None:
    def check(name: str) -> None:
        text = template.load(name)
        plain = text.sample()
        for is_sorted in (False, True):
            query = text.render_with_sentinel(text.samples(), is_sorted=is_sorted)
            prologue = "".join(line for line in plain.splitlines(keepends=True) if line.startswith("PREFIX"))
            assert query.startswith(f"{prologue}SELECT {' '.join(f'?{one}' for one in text.variables)} ?end WHERE")
            assert plain.removeprefix(prologue).rstrip() in query
            assert ("ORDER BY ?end" in query) is is_sorted

    check_each(WITH_SENTINEL, check)


def test_a_template_that_declares_none_is_not_rendered_with_one() -> None:
    for name in ("alive", "edges_page"):
        text = template.load(name)
        with pytest.raises(template.TemplateError):
            text.render_with_sentinel(text.samples())
