import asyncio
import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import DeadlinePassed
from gateway.graph.call import Deadline
from gateway.graph.values import SearchTerms
from gateway.search_index.index_search import index_words
from tests.examples import examples
from tests.search_index.small_indexes import Listed, find, found, index_of

pytestmark = pytest.mark.anyio

CITIES = {
    "urn:boston": ["Boston"],
    "urn:austin": ["Austin"],
    "urn:university": ["Boston University"],
    "urn:new-york": ["New York"],
    "urn:meniere": ["Ménière's disease"],
    "urn:tokyo": ["東京都"],
    "urn:penicillin": ["penicillin G"],
    "urn:city": ["city"],
    "urn:inhibitor": ["kinase inhibitor"],
}
ALIASES = {"urn:boston": ["Beantown"], "urn:new-york": ["The Big Apple"]}


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("Boston", "urn:boston"),
        ("BOSTON", "urn:boston"),
        ("beantown", "urn:boston"),
        ("york new", "urn:new-york"),
        ("NEW_YORK", "urn:new-york"),
        ("newyork", "urn:new-york"),
        ("new yo", "urn:new-york"),
        ("Meniere's disease", "urn:meniere"),
        ("menieres disease", "urn:meniere"),
        ("bsoton", "urn:boston"),
        ("bostn", "urn:boston"),
        ("newxyork", "urn:new-york"),
        ("bigg aple", "urn:new-york"),
        ("boston universitt", "urn:university"),
        ("the university of boston", "urn:university"),
        ("cities", "urn:city"),
        ("kinase inhibitors", "urn:inhibitor"),
        ("cillin", "urn:penicillin"),
        ("京", "urn:tokyo"),
        ("boston zebra", "urn:boston"),
    ],
)
async def test_a_name_is_found_in_spite_of(text: str, entity: str) -> None:
    async with index_of(Listed(CITIES, ALIASES)) as index:
        assert entity in await found(index, text)


async def test_what_is_near_to_nothing_is_not_found_and_said_to_be_all() -> None:
    async with index_of(Listed(CITIES)) as index:
        nothing = await find(index, "zebra")
    assert (nothing.hits, nothing.truncated) == ((), False)
    assert nothing.how == "the local label index of 2026-11-21: 9 names of 9 entities; no name is near"


async def test_how_says_in_which_steps_names_were_found() -> None:
    async with index_of(Listed(CITIES)) as index:
        assert (await find(index, "boston")).how.endswith("names that are the same or begin so")
        assert (await find(index, "bostom")).how.endswith("names that are similar")


async def test_a_synonym_is_marked_as_one() -> None:
    async with index_of(Listed(CITIES, ALIASES)) as index:
        (hit,) = (await find(index, "beantown")).hits
    assert (hit.text, hit.is_synonym) == ("Beantown", True)


async def test_types_narrow_the_search_before_its_limit() -> None:
    many = {f"urn:{number:04}": ["Springfield"] for number in range(500)}
    kinds = {iri: ["urn:Town"] for iri in many} | {"urn:0499": ["urn:Town", "urn:Ship"]}
    names = Listed(many, kinds=kinds, page_size=99)
    async with index_of(names) as index:
        for text in ("springfield", "spring", "field", "springfeild"):
            hits = await find(index, text, "urn:Ship", at_most=5)
            assert [hit.iri for hit in hits.hits] == ["urn:0499"], text
            assert not hits.truncated


async def test_a_type_that_the_graph_has_not_finds_nothing() -> None:
    async with index_of(Listed(CITIES)) as index:
        assert await found(index, "boston", "urn:Ship") == set()


async def test_of_more_than_was_asked_for_the_shortest_are_returned_as_a_part() -> None:
    names = Listed({f"urn:{number:03}": ["star " + "x" * (100 - number)] for number in range(100)}, page_size=99)
    async with index_of(names) as index:
        hits = await find(index, "star", at_most=10)
        assert hits.truncated
        assert len(hits.hits) == 10
        assert "urn:099" in {hit.iri for hit in (await find(index, "star x", at_most=10)).hits}
        assert not (await find(index, "star", at_most=100)).truncated


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=40), st.text(string.punctuation + "ANDORT* ", max_size=40)), min_size=1),
    st.sampled_from([(), ("urn:T",)]),
)
async def test_no_text_is_syntax(texts: list[str], types: tuple[str, ...]) -> None:
    async with index_of(Listed(CITIES | {"urn:and": ["and or not near"]}, kinds={"urn:and": ["urn:T"]})) as index:
        for text in [*texts, *(f'{text}" OR words : "b' for text in texts), "NEAR(a b)", "words:a", "t1", "a*" * 5_000]:
            hits = await find(index, text, *types)
            assert types == () or {hit.iri for hit in hits.hits} <= {"urn:and"}


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text(max_size=60).filter(index_words), min_size=1, max_size=12, unique=True))
async def test_a_name_is_always_found_by_itself_however_it_is_written(texts: list[str]) -> None:
    names = {f"urn:{number}": [text] for number, text in enumerate(texts)}
    async with index_of(Listed(names, kinds={iri: ["urn:T"] for iri in names})) as index:
        for iri, (text,) in names.items():
            words = index_words(text)
            for written in (text, f" {text}…", unicodedata.normalize("NFD", text), " ".join(reversed(words))):
                # Of a text with very many words the first are looked for.
                if len(words) < 24:
                    assert iri in await found(index, written)
                    assert iri in await found(index, written, "urn:T")


async def test_many_searches_at_once_are_each_answered() -> None:
    async with index_of(Listed(CITIES)) as index:
        answers = await asyncio.gather(*(found(index, text) for text in ["boston", "austin"] * 50))
    assert all("urn:boston" in answer for answer in answers[::2])
    assert all("urn:austin" in answer for answer in answers[1::2])


async def test_a_search_ends_with_its_time() -> None:
    async with index_of(Listed(CITIES)) as index:
        with pytest.raises(DeadlinePassed):
            await index.find(SearchTerms("boston", ("boston",)), (), 10, Deadline.after(0))
