"""The API of a Wikibase fails, in every way; the tool's answer says so, and never that there is nothing."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.api import open_gateway
from gateway.errors import BrokenAnswer, ConfigurationError, Fault, NetworkFault, QueryRefused, Resting, Throttled
from gateway.flow.control import FAILURES_BEFORE_REST, REST_SECONDS
from gateway.graph.call import Call, Deadline, Spend
from gateway.graph.values import SearchTerms
from gateway.settings.endpoint import AccessSettings, EndpointSettings, RequestSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import SearchSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.iri import is_iri
from gateway.transport.credentials import access_without_credentials
from gateway.transport.inprocess import InProcess
from gateway.wikibase.api import ApiAnswer, ApiClient, Field, WikibaseApi, api_flow
from gateway.wikibase.search import ApiRequests, WikibaseStore
from tests.clocks import Clock
from tests.examples import examples
from tests.graphs import fixture
from tests.searches import how, is_exhaustive, is_truncated
from tests.servers.loopback import HOST, free_port
from tests.transport.fake_endpoint import Handler, Hanging, answering, fake_endpoint, sending
from tests.wikibase.api_double import BASE, ApiDouble, Throttle, Wiki, answer_of, api_double, error, maxlag
from tests.wikibase.wired import CONTACT, hit_ids, profile_for, sent, sparql_server, store_of, wired

pytestmark = pytest.mark.anyio

SLICE = pyoxigraph.Store()
SLICE.load(path=str(fixture("wikidata-slice")), format=pyoxigraph.RdfFormat.TURTLE)

FAILING: dict[str, tuple[Handler, str]] = {
    "throttled": (answering(b"", status=429, headers={"Retry-After": "0"}), "throttling"),
    "overloaded": (answering(b"", status=503), "throttling"),
    "lagging": (maxlag(0), "throttling"),
    "failing": (answering(b"", status=500), "500"),
    "gateway": (answering(b"", status=502), "502"),
    "late": (answering(b"", status=504), "gave up"),
    "forbidden": (answering(b"", status=403), "refuses"),
    "gone": (answering(b"", status=404), "search.api"),
    "elsewhere": (answering(b"", status=302, headers={"Location": "http://127.0.0.1:9/"}), "redirects"),
    "html": (answering(b"<html>", content_type="text/html"), "no JSON"),
    "cut": (answering(b'{"search": [{"id"', content_type="application/json"), "broke off"),
    "hung up": (sending(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), "API"),
    "told": (answer_of(error("readapidenied", "You need read permission to use this module.")), "refused"),
    "language": (answer_of(error("badvalue", 'Unrecognized value for parameter "language": xx.')), "language"),
    "another shape": (answer_of({"search": [{"id": 7}], "success": 1}), "documentation"),
    "another list": (answer_of({"search": "Q42", "success": 1}), "documentation"),
    "no iri": (
        answer_of({"search": [{"id": "Q1", "concepturi": "no> iri Q1", "match": {"type": "label", "text": "x"}}]}),
        "IRI",
    ),
}


@pytest.fixture(params=FAILING)
def failing(request: pytest.FixtureRequest) -> tuple[Handler, str]:
    """Each way to fail, and what is said of it."""
    return FAILING[request.param]


async def test_an_exact_name_is_found_in_the_graph_and_the_fault_is_reported(failing: tuple[Handler, str]) -> None:
    handler, said = failing
    async with wired(SLICE) as both:
        both.api.instead = [handler] * 3
        answer = await both.search("douglas adams")
        assert hit_ids(answer) == ["wd:Q42"]
        assert not answer.complete
        assert not is_exhaustive(answer)
        assert "did not answer" in how(answer)
        assert "equal to the text" in how(answer)
        assert answer.warnings is not None
        assert said in answer.warnings[0]
        assert "exact names" in answer.warnings[0]


async def test_where_no_name_is_exact_it_is_an_error_and_no_empty_answer(failing: tuple[Handler, str]) -> None:
    handler, said = failing
    async with wired(SLICE) as both:
        both.api.instead = [handler] * 3
        with pytest.raises(Fault, match=said) as caught:
            await both.search("Douglas Ada")
        assert "endpoint" not in str(caught.value).replace("endpoint.contact", "")
        both.api.instead = []
        assert hit_ids(await both.search("Douglas Ada")) == ["wd:Q42"]


async def test_an_answer_without_the_api_is_not_cached(failing: tuple[Handler, str]) -> None:
    async with wired(SLICE) as both:
        both.api.instead = [failing[0]] * 3
        await both.search("douglas adams")
        both.api.instead = []
        again = await both.search("douglas adams")
        assert again.warnings is None
        assert sent(again)[0] == "api/wbsearchentities"


async def test_an_api_that_is_not_there_is_reported() -> None:
    nobody = profile_for(f"http://{HOST}:{free_port()}/w/api.php")
    async with sparql_server(SLICE) as endpoint, open_gateway(endpoint=endpoint.url, profile=nobody) as gateway:
        answer = await gateway.search_entities("douglas adams")
        assert hit_ids(answer) == ["wd:Q42"]
        assert answer.warnings is not None
        assert "The Wikibase API could not be reached: the connection was refused." in answer.warnings[0]
        with pytest.raises(NetworkFault):
            await gateway.search_entities("Douglas Ada")


@pytest.mark.slow
async def test_an_api_that_hangs_leaves_time_for_the_graph() -> None:
    hasty = profile_for("http://127.0.0.1/").model_copy(update={"limits": LimitSettings(deadline_seconds=2)})
    async with wired(SLICE, profile=hasty) as both:
        both.api.instead = [Hanging()]
        answer = await both.search("Douglas Adams")
        assert hit_ids(answer) == ["wd:Q42"]
        assert answer.warnings is not None
        assert "did not answer in time" in answer.warnings[0]


async def test_a_graph_that_fails_too_is_an_error() -> None:
    async with wired(SLICE) as both:
        both.broken.append(answering(b"", status=403))
        both.api.instead = [answering(b"", status=403)]
        with pytest.raises(Fault, match="The endpoint refuses"):
            await both.search("Douglas Adams")


async def test_types_that_cannot_be_read_are_a_fault_and_leave_nobody_out() -> None:
    async with wired(SLICE) as both:
        # What is needed to understand the filter is read before.
        await both.search("London", ["human"])
        both.broken.append(answering(b"", status=403))
        with pytest.raises(Fault, match="The endpoint refuses"):
            await both.search("Douglas Adams", ["human"])


async def test_what_the_first_page_found_stays_when_the_second_fails() -> None:
    cities = " ".join(
        f'wd:Q{n} rdfs:label "Alpha"@en ; wdt:P31 wd:{"Q5" if n == 107 else "Q515"} .' for n in range(100, 170)
    )
    async with wired(store_of(cities)) as both:
        both.api.instead = [both.api.answering, answering(b"", status=403)]
        answer = await both.search("Alpha", ["wd:Q5"])
        assert hit_ids(answer) == ["wd:Q107"]
        assert is_truncated(answer)
        assert answer.warnings is not None
        assert "may be more" in answer.warnings[0]


async def test_hits_of_the_full_text_stay_when_their_names_cannot_be_had() -> None:
    async with wired(SLICE) as both:
        both.api.instead = [both.api.answering, both.api.answering, answering(b"", status=403)]
        answer = await both.search("Adams Douglas")
        # Without their names, nobody knows whether these fit.
        assert answer.result == []
        assert sorted(hit.id for hit in answer.guesses or ()) == ["wd:Q25169", "wd:Q42"]
        assert {hit.name for hit in answer.guesses or ()} == {"Douglas Adams", "The Hitchhiker's Guide to the Galaxy"}
        assert answer.warnings is not None
        assert "refuses" in answer.warnings[0]


async def test_an_api_that_does_not_say_what_its_iris_begin_with_finds_nothing_by_words() -> None:
    async with wired(SLICE) as both:
        both.api.instead = [both.api.answering, answer_of({"query": {"search": [{"title": "Q42"}]}})]
        with pytest.raises(Fault, match="IRIs"):
            await both.search("Adams Douglas")


KEYS = [
    *("search", "search-continue", "id", "concepturi", "match", "type", "text", "label", "query", "general", "title"),
    *(
        "wikibase-conceptbaseuri",
        "continue",
        "sroffset",
        "entities",
        "labels",
        "aliases",
        "descriptions",
        "en",
        "value",
        "Q1",
    ),
]
ATOMS = (
    st.none() | st.booleans() | st.integers() | st.sampled_from(["Q1", "P1", "label", BASE, f"{BASE}Q1"]) | st.text()
)
JSON_VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
)
ENTRIES = st.fixed_dictionaries(
    {"id": ATOMS, "concepturi": ATOMS, "match": st.fixed_dictionaries({"type": ATOMS, "text": ATOMS})}
)
ANSWERS = st.one_of(
    st.dictionaries(st.sampled_from(KEYS), JSON_VALUES),
    st.fixed_dictionaries({"search": st.lists(ENTRIES, max_size=3), "search-continue": ATOMS}),
    st.fixed_dictionaries(
        {
            "query": st.fixed_dictionaries(
                {
                    "search": st.lists(st.fixed_dictionaries({"title": ATOMS}), max_size=3),
                    "general": st.fixed_dictionaries({"wikibase-conceptbaseuri": ATOMS}),
                }
            )
        }
    ),
    st.fixed_dictionaries({"entities": st.dictionaries(st.sampled_from(["Q1", "Q2"]), JSON_VALUES)}),
)


class Saying:
    """An API that says what it is told to."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self._answers = answers

    async def get(self, _fields: Sequence[Field], _deadline: Deadline, _spend: Spend, /) -> ApiAnswer:
        """Say the next thing, and then nothing more than that there is nothing."""
        return ApiAnswer(self._answers.pop(0) if self._answers else {"search": [], "query": {"search": []}}, 2)

    async def close(self) -> None:
        """Let go of nothing."""


@settings(max_examples=examples(300))
@given(answers=st.lists(ANSWERS, min_size=1, max_size=3))
async def test_whatever_the_api_says_becomes_hits_with_whole_iris_or_a_fault(answers: list[dict[str, Any]]) -> None:
    store = SparqlStore(InProcess(SLICE, max_bytes=1 << 20), load_profile("wikidata-local"))
    requests = ApiRequests(ApiClient(Saying(answers), api_flow(RequestSettings(retries=0))), "en")
    found = await WikibaseStore(store, requests).search_by_api(SearchTerms("what", ("what",)), (), call())
    assert found.fault is None or "Wikibase API" in found.fault.wrong
    assert all(is_iri(hit.iri) for hit in found.hits)
    assert set(found.details) == {hit.iri for hit in found.hits}
    assert not found.exhaustive


async def test_titles_that_are_no_items_are_passed_over() -> None:
    pages = {
        "query": {"search": [{"title": "Main Page"}, {"title": "Property:P31"}, {"title": "Q42> <x"}, {"title": "Q07"}]}
    }
    async with wired(SLICE) as both:
        both.api.instead = [both.api.answering, answer_of(pages)]
        assert (await both.search("Adams Douglas")).result == []


async def test_a_fault_that_may_pass_is_asked_again() -> None:
    patient = profile_for("", EndpointSettings(contact=CONTACT, engine="unknown", requests=RequestSettings(retries=2)))
    async with wired(SLICE, profile=patient) as both:
        both.api.instead = [answering(b"", status=502), maxlag(0)]
        answer = await both.search("Douglas Adams")
        assert hit_ids(answer) == ["wd:Q42"]
        assert answer.warnings is None
        assert sent(answer) == ["api/wbsearchentities"] * 3 + ["types"]
        assert answer.explain is not None
        assert answer.explain.retries == 2
        assert [query.fault for query in answer.explain.sent] == ["BrokenAnswer", "Throttled", None, None]


def call(seconds: float = 600) -> Call:
    """Return the budget of one call."""
    return Call(Deadline.after(seconds), requests=1000, rows=1000, nodes=1000)


def client(api: ApiDouble, clock: Clock, retries: int = 5) -> ApiClient:
    """Return a way to a double that waits by a clock."""
    access = access_without_credentials(api.url, EndpointSettings(contact=CONTACT), "search.api")
    flow = api_flow(RequestSettings(retries=retries), clock=clock, sleep=clock.sleep)
    return ApiClient(WikibaseApi(api.url, max_bytes=1 << 20, access=access), flow)


FIELDS: list[Field] = [("action", "wbsearchentities"), ("search", "douglas"), ("language", "en")]


async def test_a_pause_that_the_api_asks_for_is_obeyed_by_all_calls() -> None:
    clock = Clock()
    async with api_double(Wiki.from_quads(SLICE)) as api:
        api.throttle = Throttle(requests=5, seconds=60, clock=clock)
        asking = client(api, clock)
        answers = await asyncio.gather(*(asking.ask("x", FIELDS, call()) for _ in range(30)))
        await asking.close()
    assert all(len(answer["search"]) == 1 for answer in answers)
    assert api.throttle.too_early == 0
    assert clock.now >= 1000 + 5 * 60
    # Five for each minute, and one for each time that it had to say so.
    assert len(api.received) == 35


async def test_a_pause_longer_than_a_call_is_reported_and_nothing_is_sent_before_its_end() -> None:
    clock = Clock()
    async with api_double(Wiki.from_quads(SLICE)) as api:
        api.instead = [answering(b"", status=429, headers={"Retry-After": "3000"})]
        asking = client(api, clock)
        for _ in range(3):
            with pytest.raises(Throttled, match="The Wikibase API"):
                await asking.ask("x", FIELDS, call(60))
        assert len(api.received) == 1
        clock.now += 3000
        assert await asking.ask("x", FIELDS, call(60))
        await asking.close()


async def test_one_request_is_under_way_at_a_time() -> None:
    class Counting:
        """An API that notes how many ask at once."""

        def __init__(self) -> None:
            self.now = self.most = 0

        async def get(self, fields: Sequence[Field], deadline: Deadline, _spend: Spend, /) -> ApiAnswer:
            # A call has ten minutes here; no answer is waited for so long.
            assert 0 < deadline.seconds_left <= 10
            assert ("format", "json") in fields
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.now -= 1
            return ApiAnswer({}, 2)

        async def close(self) -> None:
            """Let go of nothing."""

    counting = Counting()
    asking = ApiClient(counting, api_flow(RequestSettings(retries=0)))
    await asyncio.gather(*(asking.ask("x", FIELDS, call()) for _ in range(20)))
    assert counting.most == 1


async def test_requests_to_the_api_are_paid_for_by_the_call() -> None:
    spent = Call(Deadline.after(60), requests=0, rows=10, nodes=10)
    async with api_double(Wiki.from_quads(SLICE)) as api:
        asking = client(api, Clock())
        with pytest.raises(Fault, match="requests"):
            await asking.ask("x", FIELDS, spent)
        await asking.close()
    assert api.received == []


async def test_who_does_not_say_whom_to_reach_is_refused_by_the_double_itself() -> None:
    async with api_double(Wiki({})) as api:
        nameless = WikibaseApi(api.url, max_bytes=1000)
        with pytest.raises(Fault, match="refuses"):
            await nameless.get(FIELDS, Deadline.after(10))
        await nameless.close()


async def test_nothing_of_the_endpoints_credentials_goes_to_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_WIKIBASE_TOKEN", "s3cret-token")
    knowing = EndpointSettings(
        contact=CONTACT,
        engine="unknown",
        access=AccessSettings(
            token="env:TEST_WIKIBASE_TOKEN",  # noqa: S106 - a reference
            headers={"X-Tenant": "ours"},
            secret_headers={"X-Key": "env:TEST_WIKIBASE_TOKEN"},
        ),
    )
    async with wired(SLICE, profile=profile_for("", knowing)) as both:
        await both.search("Adams Douglas")
        assert {"Authorization", "X-Tenant", "X-Key"} <= set(both.endpoint.received[0].headers)
        for request in both.api.received:
            assert not {"Authorization", "X-Tenant", "X-Key", "Cookie"} & set(request.headers)
            assert "s3cret-token" not in str(request)


async def test_a_redirect_of_the_api_reaches_nobody() -> None:
    async with fake_endpoint(answer_of({"search": []})) as elsewhere, wired(SLICE) as both:
        both.api.instead = [answering(b"", status=302, headers={"Location": elsewhere.url})]
        await both.search("Douglas Adams")
        assert elsewhere.received == []


async def test_a_profile_for_wikidata_without_a_contact_is_refused_before_anything_is_sent() -> None:
    nameless = profile_for("", EndpointSettings(engine="unknown")).model_copy(
        update={"search": SearchSettings(api="https://www.wikidata.org/w/api.php")}
    )
    with pytest.raises(ConfigurationError, match="contact"):
        open_gateway(endpoint="http://127.0.0.1:9/sparql", profile=nameless)


async def test_words_of_a_search_stand_in_no_line_of_the_log_above_debug(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        async with wired(SLICE) as both:
            both.api.instead = [answer_of(error("readapidenied", "Douglas"))]
            await both.search("Douglas Adams")
    said = [record.getMessage() for record in caplog.records if record.name.startswith("gateway")]
    assert any("readapidenied" in line for line in said)
    assert not any("Douglas" in line for line in said)


async def test_a_refusal_is_not_asked_again() -> None:
    async with api_double(Wiki({})) as api:
        api.instead = [answer_of(error("badvalue", "x")), answer_of({})]
        asking = client(api, Clock())
        with pytest.raises(QueryRefused):
            await asking.ask("x", FIELDS, call())
        await asking.close()
    assert len(api.received) == 1


DOWN = EndpointSettings(contact=CONTACT, engine="unknown", requests=RequestSettings(retries=0))


def probes(api: ApiDouble) -> int:
    """Return how often a double was asked whether it answers at all."""
    return sum(asked.get("meta") == "siteinfo" for asked in api.asked)


async def test_an_api_that_fails_one_time_after_the_other_is_left_alone_and_names_are_found_in_the_graph() -> None:
    async with wired(SLICE, profile=profile_for("http://127.0.0.1/", DOWN)) as both:
        both.api.instead = [answering(b"", status=500)] * 100
        for _ in range(FAILURES_BEFORE_REST):
            await both.search("douglas adams")
        asked = len(both.api.received)
        resting = await both.search("douglas adams")
        assert len(both.api.received) == asked + probes(both.api) == asked + 1
        again = await both.search("douglas adams")
        assert len(both.api.received) == asked + 1
        for answer in (resting, again):
            assert hit_ids(answer) == ["wd:Q42"]
            assert not answer.complete
            assert answer.warnings is not None
            assert "The Wikibase API failed" in answer.warnings[0]
            assert "is left alone for" in answer.warnings[0]
        assert "api/siteinfo" in sent(resting)
        with pytest.raises(Resting, match="Wikibase API"):
            await both.search("Douglas Ada")


async def test_an_api_is_asked_again_after_its_rest_and_as_soon_as_a_probe_is_answered() -> None:
    clock = Clock()
    async with api_double(Wiki.from_quads(SLICE)) as api:
        access = access_without_credentials(api.url, DOWN, "search.api")
        flow = api_flow(DOWN.requests, clock=clock, sleep=clock.sleep)
        asking = ApiClient(WikibaseApi(api.url, max_bytes=1 << 20, access=access), flow)
        api.instead = [answering(b"", status=500)] * (FAILURES_BEFORE_REST + 1)
        for fault in (*[BrokenAnswer] * FAILURES_BEFORE_REST, Resting, Resting):
            with pytest.raises(fault):
                await asking.ask("x", FIELDS, call())
        assert (len(api.received), probes(api)) == (FAILURES_BEFORE_REST + 1, 1)
        clock.now += REST_SECONDS
        assert (await asking.ask("x", FIELDS, call()))["search"]
        assert (len(api.received), probes(api)) == (FAILURES_BEFORE_REST + 3, 2)
        await asking.close()


@pytest.mark.parametrize("handler", [FAILING["told"][0], FAILING["throttled"][0], FAILING["late"][0]])
async def test_an_api_that_refuses_or_throttles_is_not_taken_for_one_that_is_down(handler: Handler) -> None:
    async with wired(SLICE, profile=profile_for("http://127.0.0.1/", DOWN)) as both:
        both.api.instead = [handler] * (FAILURES_BEFORE_REST + 1)
        for _ in range(FAILURES_BEFORE_REST + 1):
            await both.search("douglas adams")
        answer = await both.search("douglas ada")
        assert hit_ids(answer) == ["wd:Q42"]
        assert probes(both.api) == 0
