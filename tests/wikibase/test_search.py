"""Names that are found by the API of a Wikibase, from the tool down to both servers."""

import gzip
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlsplit

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.api import open_gateway
from gateway.errors import InputError, QueryRefused
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import SearchSettings
from gateway.settings.vocabulary import NameSettings
from tests.examples import examples
from tests.graphs import fixture
from tests.searches import found_in, how, is_exhaustive, is_truncated
from tests.shared_data import shared_data
from tests.wikibase.api_double import LONGEST_QUERY, Entity, Wiki
from tests.wikibase.wired import CONTACT, Wired, hit_ids, profile_for, sent, store_of, wired

pytestmark = pytest.mark.anyio

SLICE = pyoxigraph.Store()
SLICE.load(path=str(fixture("wikidata-slice")), format=pyoxigraph.RdfFormat.TURTLE)


@pytest.fixture
async def slice_() -> AsyncIterator[Wired]:
    """Both servers over the slice."""
    async with wired(SLICE) as both:
        yield both


async def test_a_usual_search_is_one_request_to_the_api_and_one_query(slice_: Wired) -> None:
    answer = await slice_.search("Douglas Adams")
    assert sent(answer) == ["api/wbsearchentities", "types"]
    assert len(slice_.endpoint.received) == 1
    (hit,) = answer.result
    assert (hit.id, hit.entity_type, hit.name, hit.match) == ("wd:Q42", "wd:Q5", "Douglas Adams", "label")
    assert hit.description is not None
    assert hit.description.startswith("English writer")
    assert answer.explain is not None
    # The API has told name and description, of which Wikidata has hundreds: the graph is asked for types alone.
    assert "http://www.w3.org/2000/01/rdf-schema#label" not in answer.explain.sent[1].sparql


async def test_the_same_search_again_asks_nobody(slice_: Wired) -> None:
    await slice_.search("Douglas Adams")
    again = await slice_.search("Douglas Adams")
    assert hit_ids(again) == ["wd:Q42"]
    assert sent(again) == []
    assert len(slice_.api.received) == 1


async def test_requests_are_those_of_the_documentation_and_say_whom_to_reach(slice_: Wired) -> None:
    await slice_.search("Adams Douglas")
    beginning = "action=wbsearchentities&search=Adams%20Douglas&language=en&uselang=en&type=item&limit=50&continue=0"
    words = "action=query&list=search&srsearch=adams%20douglas&srnamespace=0&srlimit=50&sroffset=0&srprop=&srinfo="
    names = "action=wbgetentities&ids=Q42%7CQ25169&props=labels%7Caliases%7Cdescriptions&languages=en%7Cmul"
    assert [request.path.removeprefix("/w/api.php?") for request in slice_.api.received] == [
        f"{beginning}&format=json",
        f"{words}&uselang=en&meta=siteinfo&siprop=general&format=json",
        f"{names}&languagefallback=1&format=json",
    ]
    for request in slice_.api.received:
        assert request.method == "GET"
        assert request.headers["User-Agent"].startswith("bfsql-gateway")
        assert CONTACT in request.headers["User-Agent"]


async def test_what_was_sent_to_the_api_is_explained_like_a_query(slice_: Wired) -> None:
    answer = await slice_.search("Adams Douglas")
    assert sent(answer) == ["api/wbsearchentities", "api/search", "api/wbgetentities", "types"]
    assert answer.explain is not None
    assert [query.sparql for query in answer.explain.sent[:3]] == [
        urlsplit(request.path).query for request in slice_.api.received
    ]
    assert answer.explain.queries == 4
    assert all(query.bytes > 0 for query in answer.explain.sent)
    assert CONTACT not in str(answer.as_json())


@pytest.mark.parametrize("query", ["HHGTTG", "hitchhiker's guide", "Ada Byron"])
async def test_an_alias_is_found_and_reported(slice_: Wired, query: str) -> None:
    (hit,) = (await slice_.search(query)).result
    assert hit.match == "alias"
    assert hit.matched is not None
    assert hit.matched.lower() == query.lower()


async def test_words_in_another_order_are_found_by_the_full_text(slice_: Wired) -> None:
    answer = await slice_.search("Adams, Douglas")
    assert [(hit.id, hit.match, hit.matched) for hit in answer.result] == [
        ("wd:Q42", "all words", None),
    ]
    # On the page of another, the words are elsewhere.
    assert answer.guesses is None
    assert "adams, douglas" in how(answer)
    assert found_in(answer) == 1


async def test_nothing_found_is_reported_as_no_proof(slice_: Wired) -> None:
    answer = await slice_.search("xyzzy")
    assert answer.result == []
    assert not answer.complete
    assert not is_exhaustive(answer)
    assert "Wikibase API" in how(answer)
    assert answer.warnings is not None
    assert "no proof" in answer.warnings[0]


@pytest.mark.parametrize("query", ["Q42", "q42", " wd:Q42 ", "http://www.wikidata.org/entity/Q42", "<wd:Q42>"])
async def test_an_item_is_found_by_its_id(slice_: Wired, query: str) -> None:
    answer = await slice_.search(query)
    assert [(hit.id, hit.name, hit.matched) for hit in answer.result] == [("wd:Q42", "Douglas Adams", query.strip())]
    assert [asked["search"] for asked in slice_.api.asked] == ["Q42"]


async def test_a_property_is_found_by_its_id_and_an_item_of_that_name_too() -> None:
    named = store_of('wd:Q9 rdfs:label "P31"@en ; wdt:P31 wd:Q5 . wd:P31 rdfs:label "instance of"@en .')
    async with wired(named) as both:
        assert sorted(hit_ids(await both.search("P31"))) == ["wd:P31", "wd:Q9"]
        assert hit_ids(await both.search("wd:P31")) == ["wd:P31"]
        assert [asked["type"] for asked in both.api.asked] == ["property", "item", "property"]


async def test_an_id_that_nobody_knows_is_not_looked_for_in_texts(slice_: Wired) -> None:
    answer = await slice_.search("wd:Q123456789")
    assert answer.result == []
    assert sent(answer) == ["api/wbsearchentities"]


async def test_a_search_by_name_offers_items_and_no_properties(slice_: Wired) -> None:
    answer = await slice_.search("place of birth")
    assert "wd:P19" not in hit_ids(answer)


async def test_types_are_applied_before_the_limit_and_cost_one_query_more() -> None:
    cities = "".join(f'wd:Q{n} rdfs:label "Paris {n}"@en ; wdt:P31 wd:Q515 .' for n in range(100, 140))
    graph = store_of(f'{cities} wd:Q900 rdfs:label "Paris Hilton"@en ; wdt:P31 wd:Q5 . wd:Q5 rdfs:label "human"@en .')
    async with wired(graph) as both:
        answer = await both.search("Paris", ["human"], limit=1)
        assert hit_ids(answer) == ["wd:Q900"]
        assert found_in(answer) == 1
        assert sent(answer) == ["narrower", "api/wbsearchentities", "types", "types"]


def many(names: int, of_type: range) -> pyoxigraph.Store:
    """Return items of one name, those of a range being of another type."""
    items = (
        f'wd:Q{n} rdfs:label "Alpha"@en ; wdt:P31 wd:{"Q5" if n in of_type else "Q515"} .'
        for n in range(1000, 1000 + names)
    )
    return store_of(" ".join(items))


async def test_a_second_page_is_read_where_the_filter_leaves_too_few() -> None:
    async with wired(many(80, range(1060, 1063))) as both:
        answer = await both.search("Alpha", ["wd:Q5"])
        assert hit_ids(answer) == ["wd:Q1060", "wd:Q1061", "wd:Q1062"]
        assert [asked["continue"] for asked in both.api.asked] == ["0", "50"]
        assert not is_truncated(answer)


async def test_enough_of_a_type_on_the_first_page_need_no_second() -> None:
    async with wired(many(80, range(1000, 1020))) as both:
        answer = await both.search("Alpha", ["wd:Q5"])
        assert len(answer.result) == 10
        assert found_in(answer) == 20
        assert len(both.api.received) == 1
        assert is_truncated(answer)


@pytest.mark.parametrize(("names", "truncated"), [(50, False), (51, True), (101, True)])
async def test_more_names_than_were_read_are_reported(names: int, truncated: bool) -> None:
    async with wired(many(names, range(0))) as both:
        answer = await both.search("Alpha")
        assert found_in(answer) == 50
        assert is_truncated(answer) is truncated


@pytest.mark.parametrize(("names", "truncated"), [(99, False), (150, True)])
async def test_names_beyond_the_second_page_are_reported_though_the_api_does_not_report_them(
    names: int, truncated: bool
) -> None:
    async with wired(many(names, range(1060, 1063))) as both:
        answer = await both.search("Alpha", ["wd:Q5"])
        assert [asked["continue"] for asked in both.api.asked] == ["0", "50"]
        assert found_in(answer) == 3
        assert is_truncated(answer) is truncated


async def test_names_that_fit_equally_well_stand_in_the_order_of_the_api() -> None:
    graph = store_of(
        'wd:Q7 rdfs:label "Paris"@en ; wdt:P31 wd:Q515 . wd:Q90 rdfs:label "Paris"@en ; wdt:P31 wd:Q515 .'
        'wd:Q8 rdfs:label "Paris, Texas"@en ; wdt:P31 wd:Q515 . wd:Q515 rdfs:label "city"@en .'
    )
    first = Wiki({})
    first.entities = {
        id_: Entity(labels={"en": name}) for id_, name in [("Q8", "Paris, Texas"), ("Q90", "Paris"), ("Q7", "Paris")]
    }
    async with wired(graph, first) as both:
        answer = await both.search("paris")
        assert hit_ids(answer) == ["wd:Q90", "wd:Q7", "wd:Q8"]
        assert sent(answer) == ["api/wbsearchentities", "types"]


async def test_an_item_that_the_endpoint_does_not_know_is_kept() -> None:
    newer = Wiki({"Q777": Entity(labels={"en": "Newest of all"})})
    async with wired(SLICE, newer) as both:
        (hit,) = (await both.search("newest")).result
        assert hit.as_json() == {"id": "wd:Q777", "entity_type": "untyped", "name": "Newest of all", "match": "prefix"}


async def test_an_item_that_the_endpoint_does_not_know_is_kept_also_where_it_has_no_label() -> None:
    async with wired(SLICE, Wiki({"Q777": Entity(aliases={"en": ["Nameless one"]})})) as both:
        (hit,) = (await both.search("nameless")).result
        assert (hit.id, hit.name, hit.matched) == ("wd:Q777", None, "Nameless one")


async def test_of_an_item_that_the_endpoint_does_not_know_the_api_tells_name_and_description() -> None:
    article = Entity({"en": "On sleep"}, {"en": ["Sleep paper"]}, {"en": "scholarly article of 1999. Of many pages."})
    async with wired(SLICE, Wiki({"Q778": article})) as both:
        for query, match in (("sleep paper", "alias"), ("paper sleep", "all words")):
            (hit,) = (await both.search(query)).result
            assert hit.as_json() == {
                "id": "wd:Q778",
                "entity_type": "untyped",
                "name": "On sleep",
                "description": "scholarly article of 1999.",
                "match": match,
                "matched": "Sleep paper",
            }


async def test_an_item_in_the_other_half_of_a_split_graph_is_kept_and_reported_as_being_there() -> None:
    split = profile_for("", EndpointSettings(contact=CONTACT, engine="unknown", other_graph="the other half"))
    known = Wiki({"Q778": Entity({"en": "Sleep"}), "Q779": Entity({"en": "Sleep"}), "Q42": Entity({"en": "Sleep"})})
    graph = store_of('wd:Q779 rdfs:label "Sleep"@en . wd:Q42 rdfs:label "Sleep"@en ; wdt:P50 wd:Q778 ; wdt:P31 wd:Q5 .')
    async with wired(graph, known, split) as both:
        answer = await both.search("sleep")
        assert hit_ids(answer) == ["wd:Q42", "wd:Q778", "wd:Q779"]
        assert answer.warnings == ["Nothing is said here about wd:Q778; it may be in the other half."]


async def test_what_the_api_finds_and_a_filter_by_type_leaves_out_is_not_called_nothing() -> None:
    known = Wiki({"Q778": Entity({"en": "Sleep"}), "Q42": Entity({"en": "Sleep"})})
    graph = store_of("wd:Q42 wdt:P31 wd:Q5 ; wdt:P50 wd:Q778 . wd:Q43 wdt:P31 wd:Q6 .")
    async with wired(graph, known) as both:
        answer = await both.search("sleep", ["wd:Q6"])
    assert (hit_ids(answer), answer.complete) == ([], False)
    assert answer.warnings is not None
    (warning,) = answer.warnings
    assert warning.startswith("node_types: the Wikibase API found 2 entities for this text")
    assert "with no type here at all: 1" in warning


async def test_where_the_api_tells_no_name_the_graph_is_asked_for_it() -> None:
    graph = store_of('wd:Q779 rdfs:label "東京"@ja ; skos:altLabel "Edo"@en .')
    async with wired(graph) as both:
        (hit,) = (await both.search("edo")).result
        assert (hit.name, hit.matched) == ("東京", "Edo")


async def test_an_entity_that_only_the_api_knows_is_not_offered_instead_of_itself() -> None:
    newer = Wiki({"Q777": Entity(labels={"en": "Newest of all"})})
    async with wired(SLICE, newer) as both:
        with pytest.raises(InputError) as caught:
            await both.gateway.describe_entity("wd:Q777")
        assert "Nearest" not in str(caught.value)


@pytest.mark.parametrize(
    ("languages", "asked"), [((), "en"), (("de", "en"), "de"), (("mul", "fr"), "fr"), (("mul",), "en")]
)
async def test_the_language_is_the_profiles_first(languages: tuple[str, ...], asked: str) -> None:
    profile = profile_for("http://127.0.0.1/").model_copy(
        update={"names": NameSettings(languages=languages, on_stubs=True)}
    )
    async with wired(SLICE, profile=profile) as both:
        answer = await both.search("Douglas Ad")
        assert [request["language"] for request in both.api.asked] == [asked]
        assert f'"{asked}"' in how(answer)


async def test_the_language_of_the_api_may_be_another() -> None:
    async with wired(SLICE, profile=profile_for("http://127.0.0.1/", language="de")) as both:
        assert hit_ids(await both.search("Per Anhalter")) == ["wd:Q25169"]
        assert both.api.asked[0]["uselang"] == "de"


async def test_a_language_that_the_wiki_does_not_know_is_told_and_the_profiles_is_searched() -> None:
    async with wired(SLICE) as both:
        for text in ("Douglas Ad", "Douglas A"):
            answer = await both.gateway.search_entities(text, language="fi", explain=True)
            assert hit_ids(answer) == ["wd:Q42"]
            assert answer.warnings == ['language: the wiki does not know "fi", so it was searched in "en".']
            assert '"en"' in how(answer)
        # What it does not know is asked for once.
        assert [request["language"] for request in both.api.asked] == ["fi", "en", "en"]
        assert (await both.gateway.search_entities("Douglas Ad", language="de")).warnings is None


async def test_where_the_profiles_language_is_refused_too_the_operator_is_told() -> None:
    async with wired(SLICE, profile=profile_for("http://127.0.0.1/", language="xx")) as both:
        with pytest.raises(QueryRefused, match=r"search\.api_language"):
            await both.gateway.search_entities("Douglas Ad", language="fi")


async def test_a_graph_in_a_file_is_not_looked_up_anywhere() -> None:
    profile = load_profile("wikidata-local").model_copy(
        update={
            "search": SearchSettings(api="http://127.0.0.1:9/w/api.php"),
            "endpoint": EndpointSettings(contact=CONTACT),
        }
    )
    async with open_gateway(fixture("wikidata-slice"), profile=profile) as gateway:
        answer = await gateway.search_entities("Douglas Adams")
        assert hit_ids(answer)[0] == "wd:Q42"
        # Nodes without a name are found by their local names.
        assert all("Douglas" in one or "douglas" in one for one in hit_ids(answer)[1:])
        assert is_exhaustive(answer)
        assert "asks the wiki" not in (await gateway.describe_schema()).next_steps


async def test_the_advice_for_the_graph_says_what_a_search_takes(slice_: Wired) -> None:
    advice = (await slice_.gateway.describe_schema()).next_steps
    assert "beginning of a name" in advice
    assert "compares names" not in advice


HOSTILE = [
    '"Douglas Adams"',
    "-Douglas !Adams",
    'insource:/x/ intitle:Douglas haswbstatement:P31=Q5 inlabel:"Adams"',
    "Douglas OR Adams AND NOT Byron",
    "Adams~2 Dou* Dougl?s \\\\ // ~",
    "a&action=query&list=users#fragment?x=y+z%00%26",
    "Douglas\x00\x1f\u0085 Adams\r\nHost: elsewhere",
    '}; DROP ALL # \' " """ > <',
    "\u202esmadA salguoD",
    "עברית العربية 東京都 नमस्ते",
    "🦣🦣 mammoth 🦣",
    "\x1fQ1|Q2|Q3",
    "x" * 1000,
    "word " * 200,
    "é" * 1000,
    "👩‍👩‍👧‍👦a" * 110,
]


def check_requests(both: Wired) -> None:
    """See that nothing of a text but its words, and the text itself, has come to the API."""
    assert both.api.syntax == []
    for request in both.api.received:
        assert len(request.path) < 7_000
        asked = dict(request.form)
        assert parse_qsl(urlsplit(request.path).query, keep_blank_values=True) == list(request.form)
        assert set(asked) <= {
            *("action", "format", "search", "language", "uselang", "type", "limit", "continue"),
            *("list", "srsearch", "srnamespace", "srlimit", "sroffset", "srprop", "srinfo", "meta", "siprop"),
            *("ids", "props", "languages", "languagefallback"),
        }
        assert asked["action"] in {"wbsearchentities", "query", "wbgetentities"}
        assert len(asked.get("search", "")) <= 250
        assert len(asked.get("srsearch", "")) <= LONGEST_QUERY
        assert not any(ord(character) < 0x20 for character in asked.get("search", ""))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_text_is_searched_for_as_text(slice_: Wired, text: str) -> None:
    answer = await slice_.search(text)
    assert not answer.complete
    assert slice_.api.received
    check_requests(slice_)


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=1000))
async def test_any_text_becomes_documented_requests_or_is_refused_before(slice_: Wired, text: str) -> None:
    slice_.api.received.clear()
    try:
        await slice_.search(text)
    except InputError:
        assert slice_.api.received == []
    check_requests(slice_)


@pytest.mark.data
@pytest.mark.large
async def test_a_larger_graph_is_searched_by_name_type_and_words() -> None:
    path = shared_data("wd50k.nt.gz")
    graph = pyoxigraph.Store()
    graph.bulk_load(gzip.decompress(path.read_bytes()), format=pyoxigraph.RdfFormat.N_TRIPLES)
    async with wired(graph, Wiki.of(path)) as both:
        answer = await both.search("Robin Williams")
        assert hit_ids(answer)[0] == "wd:Q83338"
        assert sent(answer) == ["api/wbsearchentities", "types"]
        people = await both.search("Robin", ["wd:Q5"])
        assert "wd:Q83338" in hit_ids(people)
        assert {hit.entity_type for hit in people.result} == {"wd:Q5"}
        assert hit_ids(await both.search("Bohr, Niels"))[0] == "wd:Q7085"
