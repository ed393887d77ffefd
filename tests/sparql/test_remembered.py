"""What was found out about a graph is remembered for no longer than its answers are."""

import unicodedata

import pytest

from gateway.graph.call import Deadline, Spend, unpaid
from gateway.graph.kept import KeptFacts
from gateway.settings.limits import CacheSettings
from gateway.settings.profile import Profile
from gateway.sparql.remembered import Remembered
from gateway.sparql.store import SparqlStore
from tests.cache.fake_store import call
from tests.clocks import Clock
from tests.small import Watched, X, engine


def _remembered(cache: CacheSettings, clock: Clock) -> Remembered:
    return Remembered(KeptFacts(None, cache, clock), clock)


@pytest.mark.parametrize(("ttl_seconds", "until"), [(60.0, 60.0), (3600.0, 300.0)])
def test_an_answer_is_remembered_for_as_long_as_the_cache_keeps_one_and_five_minutes_at_most(
    ttl_seconds: float, until: float
) -> None:
    clock = Clock()
    remembered = _remembered(CacheSettings(ttl_seconds=ttl_seconds), clock)
    remembered.add("lists", call(), answer=False)
    clock.now += until - 1
    assert remembered.answer("lists", call()) is False
    clock.now += 1
    assert remembered.answer("lists", call()) is None


def test_without_a_cache_an_answer_is_remembered_for_its_call_alone() -> None:
    remembered, own = _remembered(CacheSettings(megabytes=0), Clock()), call()
    remembered.add("lists", own, answer=True)
    assert remembered.answer("lists", own) is True
    assert remembered.answer("lists", call()) is None


def test_however_many_predicates_clients_name_no_more_than_some_are_remembered() -> None:
    remembered = _remembered(CacheSettings(), Clock())
    for number in range(25_000):
        remembered.add(number, call(), answer=False)
    assert sum(remembered.answer(number, call()) is False for number in range(25_000)) <= 10_000


def test_after_forgetting_nothing_is_known() -> None:
    remembered = _remembered(CacheSettings(), Clock())
    remembered.add("lists", call(), answer=False)
    remembered.forget()
    assert remembered.answer("lists", call()) is None


@pytest.mark.anyio
async def test_where_a_predicate_leads_is_asked_once_until_it_is_forgotten() -> None:
    queries: list[str] = []

    async def seen(query: str) -> None:
        queries.append(query)

    store = SparqlStore(Watched(engine('x:a x:p x:b ; x:q "b" .'), seen), Profile())
    for predicates, leading, asked in (
        (["p", "q"], ["p"], 1),
        (["q", "p"], ["p"], 1),
        (["q", "r"], [], 2),
        (["r"], [], 2),
    ):
        found = await store.leading_to_nodes([f"{X}{one}" for one in predicates], call())
        assert [*found] == [f"{X}{one}" for one in leading]
        assert len(queries) == asked
    assert f"{X}q" not in queries[-1]
    store.forget()
    assert [*await store.leading_to_nodes([f"{X}p"], call())] == [f"{X}p"]
    assert len(queries) == 3


class Composing(Watched):
    """An engine that takes two forms of a text for one, and sends the first that it met."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query with the composed forms of its texts."""
        return await super().select(unicodedata.normalize("NFC", query), deadline, spend)


@pytest.mark.anyio
async def test_a_predicate_that_the_engine_answers_in_another_form_may_lead_to_nodes() -> None:
    async def seen(_: str) -> None:
        return

    store = SparqlStore(Composing(engine(f"x:a <{X}caf\u00e9> x:b ."), seen), Profile())
    decomposed = f"{X}cafe\u0301"
    for _ in range(2):
        assert [*await store.leading_to_nodes([decomposed], call())] == [decomposed]
