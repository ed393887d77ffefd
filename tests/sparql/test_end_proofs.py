"""How the client proves that all rows of an answer came: the last row, the row cap, and a proof that does not hold."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import AnswerCut, BrokenAnswer, QueryRefused
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import EndpointSettings, RequestSettings, Sentinel
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.client import SparqlClient
from gateway.sparql.learned import RowCap
from gateway.sparql.sentinel import END, Place, marker, without_sentinel
from gateway.sparql.table import EndedEarly, EndUnproven, IriTerm, LiteralTerm, Overflow
from gateway.telemetry.tally import Clock
from tests.cases import check_each
from tests.tables import Row, rows_of, table

pytestmark = pytest.mark.anyio

Rows = list[dict[str, dict[str, str]]]
"""As SPARQL JSON has them."""

INTEGER: Final = "http://www.w3.org/2001/XMLSchema#integer"
TWO_ROWS: Final = "VALUES ?row { 1 2 }"
COUNTING: Final = " AS ?end) (COUNT(*) AS ?count)"
MARKER: Final = re.compile(r'"(end [0-9a-f]+)"')


@dataclass
class Ordered:
    """An endpoint with some rows, which writes the sentinel at a place and sends so many rows at most.

    Attributes:
        rows: The rows that there are, but for `two_rows`.
        variables: What they bind.
        cap: The rows that it sends at most.
        place: Where the sentinel stands, from the end.
        place_if_sorted: The same where the query sorts; as `place` where not given.
        counts: Whether it counts; it refuses to otherwise.
        sent: The queries that came.
    """

    rows: int = 3
    variables: tuple[str, ...] = ("n",)
    cap: int = 1_000_000
    place: int = 0
    place_if_sorted: int | None = None
    counts: bool = True
    sent: list[str] = field(default_factory=list)

    async def select(self, query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer a query."""
        await anyio.lowlevel.checkpoint()
        self.sent.append(query)
        *inner, outer = (int(part.split()[0]) for part in query.split("LIMIT ")[1:])
        is_of_two = TWO_ROWS in query
        there, variables = (2, ["row"]) if is_of_two else (self.rows, [*self.variables])
        numbers = range(min([there, *(inner or [outer])]))
        found: Rows = [{key: {"type": "uri", "value": f"http://example.org/{n}"} for key in variables} for n in numbers]
        if "?end" in query:
            variables.append("end")
            end = {"end": {"type": "literal", "value": MARKER.findall(query)[0]}}
            if COUNTING in query:
                if not self.counts:
                    raise QueryRefused("It counts nothing.")
                variables.append("count")
                found = [{**end, "count": {"type": "literal", "value": str(len(found)), "datatype": INTEGER}}]
            else:
                place = self.place_if_sorted if "ORDER BY ?end" in query else None
                found.insert(max(0, len(found) - (self.place if place is None else place)), end)
        return json.dumps(
            {"head": {"vars": variables}, "results": {"bindings": found[: min(outer, self.cap)]}}
        ).encode()

    def kinds(self) -> list[str]:
        """Return by what each query that came asks for a proof."""
        return [kind_of(query) for query in self.sent]

    async def close(self) -> None:
        """Let go of nothing."""


def kind_of(query: str) -> str:
    """Return by what a query asks for a proof of the end of its answer."""
    if "?end" not in query:
        return "none"
    if COUNTING in query:
        return "counted"
    of = "two " if TWO_ROWS in query else ""
    return of + ("sorted" if "ORDER BY ?end" in query else "united")


def call() -> Call:
    return Call(Deadline.after(60), 100, 100_000, 1_000)


def client(
    endpoint: Ordered, sentinel: Sentinel = "united", rows: int = 100, clock: Clock = time.monotonic
) -> SparqlClient:
    requests = RequestSettings(retries=0)
    profile = Profile(
        endpoint=EndpointSettings(sentinel=sentinel, requests=requests), limits=LimitSettings(query_rows=rows)
    )
    return SparqlClient(endpoint, profile, FlowControl(requests, clock=clock))


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
    assert not isinstance(found.missing, EndedEarly)
    assert len(found.part()[0]) == 100
    with pytest.raises(Overflow):
        found.whole()


@pytest.mark.parametrize("place", [1, 2, 3])
async def test_an_end_that_one_proof_does_not_show_is_shown_by_the_other(place: int) -> None:
    for first, endpoint in (
        ("united", Ordered(place=place, place_if_sorted=0)),
        ("sorted", Ordered(place=0, place_if_sorted=place)),
    ):
        asked = client(endpoint, cast("Sentinel", first))
        assert len((await asked.rows("existing", call(), nodes())).whole()) == 3
        other = "sorted" if first == "united" else "united"
        assert endpoint.kinds() == [first, first, other]


async def test_a_proof_is_given_up_for_a_template_after_different_queries_and_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    endpoint = Ordered(place=1, place_if_sorted=0)
    asked = client(endpoint, clock=lambda: now[0])

    async def kinds(number: int, name: str = "existing") -> list[str]:
        endpoint.sent.clear()
        assert len((await asked.rows(name, call(), nodes(number))).whole()) == 3
        return endpoint.kinds()

    for _ in range(3):
        assert await kinds(1) == ["united", "united", "sorted"]
    assert not caplog.records
    assert await kinds(2) == ["united", "united", "sorted"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert await kinds(3) == ["sorted"]
    # Of another template nothing is known, and after a while it is tried again.
    assert (await kinds(3, "subjects"))[0] == "united"
    now[0] += 901
    assert await kinds(3) == ["united", "united", "sorted"]


async def test_where_no_row_proves_the_end_as_many_rows_have_to_come_as_are_counted() -> None:
    endpoint = Ordered(place=1)
    assert len((await client(endpoint).rows("existing", call(), nodes())).whole()) == 3
    assert endpoint.kinds() == ["united", "united", "sorted", "sorted", "none", "counted"]


async def test_an_answer_with_fewer_rows_than_are_counted_is_not_whole() -> None:
    endpoint = Ordered(place=3, cap=2)
    with pytest.raises(EndedEarly):
        (await client(endpoint).rows("existing", call(), nodes())).whole()
    assert endpoint.kinds()[-2:] == ["none", "counted"]


@pytest.mark.parametrize("rows", [0, 3])
async def test_where_nothing_proves_the_end_no_answer_is_whole_and_little_is_asked(rows: int) -> None:
    endpoint = Ordered(rows=rows, place=1, counts=False)
    if not rows:
        # A sentinel that stands alone: what is behind it was cut.
        endpoint = Ordered(rows=3, place=3, cap=1, counts=False)
    asked = client(endpoint)
    for number in range(3):
        found = await asked.rows("existing", call(), nodes(number))
        with pytest.raises(EndUnproven):
            found.whole()
    assert endpoint.kinds()[-1] == "none"
    assert len(endpoint.sent) <= 17


@pytest.mark.parametrize("first", ["united", "sorted"])
async def test_the_last_row_alone_means_no_rows_only_after_it_was_last_behind_rows(first: Sentinel) -> None:
    endpoint = Ordered(rows=0)
    asked = client(endpoint, first)
    for number in range(2):
        assert len((await asked.rows("existing", call(), nodes(number))).whole()) == 0
    assert endpoint.kinds() == [first, f"two {first}", first]


async def test_no_more_is_asked_where_an_answer_with_rows_came_first() -> None:
    endpoint = Ordered(rows=3)
    asked = client(endpoint)
    await asked.rows("existing", call(), nodes(1))
    endpoint.rows = 0
    assert len((await asked.rows("existing", call(), nodes(2))).whole()) == 0
    assert endpoint.kinds() == ["united", "united"]


@pytest.mark.parametrize("cap", [1, 2])
async def test_an_engine_that_writes_the_last_row_first_and_cuts_has_no_whole_answer(cap: int) -> None:
    asked = client(Ordered(rows=3, place=3, cap=cap), "sorted")
    for number in range(3):
        with pytest.raises(AnswerCut):
            (await asked.rows("existing", call(), nodes(number))).whole()


async def test_an_engine_that_refuses_to_sort_is_asked_otherwise() -> None:
    class Unsorted(Ordered):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            if "ORDER BY" in query:
                self.sent.append(query)
                raise QueryRefused("It sorts nothing.")
            return await super().select(query, deadline, spend)

    endpoint = Unsorted()
    assert len((await client(endpoint, "sorted").rows("existing", call(), nodes())).whole()) == 3
    assert endpoint.kinds() == ["sorted", "two sorted", "united"]


async def test_a_query_that_is_refused_is_not_sent_otherwise_where_the_proof_holds() -> None:
    class Refusing(Ordered):
        async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
            if "/9>" in query:
                self.sent.append(query)
                raise QueryRefused("That IRI is odd.")
            return await super().select(query, deadline, spend)

    endpoint = Refusing()
    asked = client(endpoint)
    await asked.rows("existing", call(), nodes())
    with pytest.raises(QueryRefused):
        await asked.rows("existing", call(), nodes(9))
    assert endpoint.kinds() == ["united", "united"]


@dataclass
class Altered(Ordered):
    """An endpoint that sends, in place of an answer, what a change makes of it."""

    change: Callable[[Rows], Rows] = list

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Answer a query otherwise."""
        answer = json.loads(await super().select(query, deadline, spend))
        answer["results"]["bindings"] = self.change(answer["results"]["bindings"])
        return json.dumps(answer).encode()


def of_another_query(rows: Rows) -> Rows:
    """Return the rows of an answer to another query."""
    return [*rows[:-1], {"end": {"type": "literal", "value": "end 0123456789abcdef"}}]


def with_a_row_twice(rows: Rows) -> Rows:
    """Return the rows with the first one twice."""
    return [rows[0], *rows]


def doubled(rows: Rows) -> Rows:
    """Return all rows twice, but for the last."""
    return [*rows[:-1], *rows]


@pytest.mark.parametrize("change", [of_another_query, with_a_row_twice, doubled])
async def test_the_answer_to_another_query_and_rows_that_came_twice_are_faults(change: Callable[[Rows], Rows]) -> None:
    text = template.load("edge_counts")
    assert text.is_distinct
    given = {key: value for key, value in text.samples().items() if key != "rows"}
    asked = client(Altered(variables=text.variables, change=change))
    with pytest.raises(BrokenAnswer):
        await asked.rows("edge_counts", call(), given)


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
    assert isinstance((await asked.rows("existing", call(), nodes(1))).missing, EndedEarly)
    found = await asked.rows("existing", call(), nodes(2))
    assert not isinstance(found.missing, EndedEarly)
    assert found.part()[1]
    assert asked.query_rows + 2 <= 1_000
    assert len(endpoint.sent) == 3


MARKER_OF_ALL = marker("SELECT ?s ?o WHERE { ?s ?p ?o }")
SENTINEL: Row = {END: LiteralTerm(MARKER_OF_ALL)}
ROWS = st.lists(
    st.fixed_dictionaries(
        {"s": st.integers(0, 9).map(lambda n: IriTerm(f"https://example.org/{n}"))},
        optional={"o": st.text(max_size=3).map(LiteralTerm)},
    ),
    max_size=20,
)
VARIABLES = ("s", "o")


@given(ROWS)
def test_where_it_is_last_all_rows_before_it_are_the_answer(rows: list[Row]) -> None:
    answer, place = without_sentinel(table(*rows, SENTINEL), MARKER_OF_ALL)
    assert place is Place.LAST
    assert rows_of(answer, VARIABLES) == rows


@given(ROWS, st.data())
def test_an_answer_that_is_cut_anywhere_has_none(rows: list[Row], data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(rows)))
    answer, place = without_sentinel(table(*[*rows, SENTINEL][:left]), MARKER_OF_ALL)
    assert place is Place.MISSING
    assert rows_of(answer, VARIABLES) == rows[:left]


@given(ROWS.filter(bool), st.data())
def test_rows_behind_it_take_its_proof_away(rows: list[Row], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    assert without_sentinel(table(*rows[:at], SENTINEL, *rows[at:]), MARKER_OF_ALL)[1] is Place.ELSEWHERE


@given(ROWS)
def test_two_of_them_prove_nothing(rows: list[Row]) -> None:
    assert without_sentinel(table(SENTINEL, *rows, SENTINEL), MARKER_OF_ALL)[1] is Place.ELSEWHERE
    assert without_sentinel(table(*rows, SENTINEL, SENTINEL), MARKER_OF_ALL)[1] is Place.ELSEWHERE


@given(ROWS)
def test_what_else_an_engine_binds_in_it_is_not_looked_at(rows: list[Row]) -> None:
    odd = {**SENTINEL, "s": IriTerm("https://example.org/a")}
    answer, place = without_sentinel(table(*rows, odd), MARKER_OF_ALL)
    assert place is Place.LAST
    assert rows_of(answer, VARIABLES) == rows


@given(ROWS)
def test_the_answer_to_another_query_is_a_fault(rows: list[Row]) -> None:
    for other in (LiteralTerm("fin"), LiteralTerm(marker("ASK {}")), IriTerm(MARKER_OF_ALL)):
        for answer in (table(*rows, {END: other}), table({END: other}, *rows), table(*rows, {END: other}, SENTINEL)):
            with pytest.raises(BrokenAnswer, match="another query"):
                without_sentinel(answer, MARKER_OF_ALL)


def test_every_template_with_a_sentinel_asks_for_it_and_keeps_its_own_query() -> None:
    def check(name: str) -> None:
        text = template.load(name)
        plain = text.sample()
        for is_sorted in (False, True):
            query = text.with_sentinel(plain, 7, is_sorted=is_sorted)
            prologue = "".join(line for line in plain.splitlines(keepends=True) if line.startswith("PREFIX"))
            assert query.startswith(f"{prologue}SELECT {' '.join(f'?{one}' for one in text.variables)} ?end WHERE")
            assert plain.removeprefix(prologue).rstrip() in query
            assert f'BIND("{marker(plain)}" AS ?end)' in query
            assert query.rstrip().endswith("LIMIT 8")
            assert ("ORDER BY ?end" in query) is is_sorted

    check_each([name for name in template.names() if template.load(name).end == "sentinel"], check)


def test_a_template_that_declares_none_is_not_rendered_with_one() -> None:
    for name in ("alive", "edges_page"):
        text = template.load(name)
        with pytest.raises(template.TemplateError):
            text.with_sentinel(text.sample(), 7, is_sorted=False)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2, unique=True))
def test_two_queries_have_two_markers_and_one_has_one(queries: list[str]) -> None:
    one, other = queries
    assert marker(one) == marker(one)
    assert marker(one) != marker(other)


def test_two_different_queries_that_end_at_one_number_of_rows_show_a_cap() -> None:
    cap = RowCap()
    assert cap.saw_cut(10_000, "first") is None
    assert cap.saw_cut(10_000, "second") == 10_000


def test_a_query_that_ends_twice_at_the_same_row_shows_none() -> None:
    cap = RowCap()
    assert cap.saw_cut(10_000, "first") is None
    assert cap.saw_cut(10_000, "first") is None


def test_short_answers_show_none() -> None:
    cap = RowCap()
    assert cap.saw_cut(0, "first") is None
    assert cap.saw_cut(0, "second") is None
    assert cap.saw_cut(99, "first") is None
    assert cap.saw_cut(99, "second") is None


@given(whole=st.lists(st.integers(0, 20_000)), cuts=st.lists(st.tuples(st.integers(0, 20_000), st.text(max_size=2))))
def test_no_cap_is_below_what_an_answer_had(whole: list[int], cuts: list[tuple[int, str]]) -> None:
    cap = RowCap()
    for rows in whole:
        cap.saw_whole(rows)
    found = [caps for rows, query in cuts if (caps := cap.saw_cut(rows, query)) is not None]
    assert all(one >= max(whole, default=0) for one in found)
    assert len(found) <= len(cuts)
