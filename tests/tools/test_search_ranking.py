"""The order of hits: how a name fits, then mentions or edges, then the shorter name, then the ID."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.answers.models import SearchResult
from gateway.errors import GaveUp
from gateway.graph.values import Hit
from gateway.tools.ranking import RankedHit, near_guesses, ordered_by_weight, ranked
from tests import name_oracle as oracle
from tests.examples import examples
from tests.name_oracle import Fit
from tests.small import Watched, engine, over

pytestmark = pytest.mark.anyio


async def found(query: str, turtle: str) -> SearchResult:
    """Search a small graph."""
    async with over(turtle) as gateway:
        return await gateway.search_entities(query)


def ids(answer: SearchResult) -> list[str]:
    """Return the IDs found in order."""
    return [hit.id for hit in answer.result]


async def test_a_hit_says_how_it_matched() -> None:
    turtle = """
    x:label rdfs:label 'heart failure' . x:alias rdfs:label 'HF' ; skos:altLabel 'Heart-Failure' .
    x:prefix rdfs:label 'heart failure, acute' . x:all rdfs:label 'failure of the heart' .
    x:begins rdfs:label 'heart failurelike' .
    """
    answer = await found("Heart failure", turtle)
    assert [(hit.id, hit.match, hit.matched) for hit in answer.result] == [
        ("x:label", "label", None),
        ("x:alias", "alias", "Heart-Failure"),
        ("x:prefix", "prefix", None),
        ("x:begins", "prefix", None),
        ("x:all", "all words", None),
    ]
    some = await found("heart failure unheard", turtle)
    assert (some.result, [hit.match for hit in some.guesses or ()]) == ([], ["some words"] * 3)


def test_a_name_with_a_word_in_the_singular_or_plural_fits_after_those_that_have_the_very_word() -> None:
    names = ["enzyme", "enzymes of the liver", "the city", "livers and cities", "enzima"]
    hits = [Hit(f"urn:{name}", name, is_synonym=False) for name in names]
    best = ranked(hits, "the enzymes")
    assert [(one.hit.text, one.match) for one in best][:1] == [("enzymes of the liver", "all words")]
    best = ranked(hits, "enzymes")
    assert [(one.hit.text, one.match) for one in best[:3]] == [
        ("enzymes of the liver", "prefix"),
        ("enzyme", "all words"),
        ("enzima", "similar"),
    ]
    assert not best[1].is_guess


def test_a_name_without_any_of_the_words_is_similar() -> None:
    hits = [Hit("urn:a", "desmopressin", is_synonym=False), Hit("urn:b", "desmopresin acetate", is_synonym=False)]
    assert [one.match for one in ranked(hits, "desmopresin")] == ["prefix", "similar"]


async def test_the_more_mentioned_comes_first_among_those_that_fit_equally_well() -> None:
    answer = await found(
        "cushing",
        "x:a rdfs:label 'Cushing' ; x:mentions 2 . x:b rdfs:label 'Cushing' ; x:mentions 30 ."
        "x:c rdfs:label 'Cushing' ; x:p x:a, x:b, x:d . x:d rdfs:label 'Cushing disease' ; x:mentions 99 .",
    )
    assert ids(answer) == ["x:b", "x:a", "x:c", "x:d"]


async def test_without_mentions_the_one_with_more_edges_comes_first() -> None:
    answer = await found(
        "paris",
        "x:a rdfs:label 'Paris' ; x:in x:texas . x:b rdfs:label 'Paris' ; x:in x:france, x:europe ."
        "x:c rdfs:label 'Paris' . x:d rdfs:label 'Paris Hilton' ; x:p x:e, x:f, x:g .",
    )
    assert ids(answer) == ["x:b", "x:a", "x:c", "x:d"]


async def test_accents_make_no_difference_but_the_very_name_comes_first() -> None:
    turtle = "x:a rdfs:label 'Résumé' ; x:p x:b, x:c . x:b rdfs:label 'Resume' . x:c rdfs:label 'other' ."
    hits = [Hit("x:a", "Résumé", is_synonym=False), Hit("x:b", "Resume", is_synonym=False)]
    for query, first in (("resume", "x:b"), ("RÉSUMÉ", "x:a")):
        best = ranked(hits, query)
        assert [one.match for one in best] == ["label", "label"]
        assert best[0].hit.iri == first
    assert ids(await found("résumé", turtle)) == ["x:a", "x:b"]
    assert ids(await found("resume", turtle)) == ["x:b", "x:a"]


async def test_what_cannot_be_weighed_is_ordered_by_name_and_not_by_a_fault() -> None:
    async def hook(query: str) -> None:
        if "AS ?degree" in query:
            raise GaveUp("Too much.")

    turtle = "x:z rdfs:label 'Paris' ; x:p x:q, x:r . x:b rdfs:label 'Paris' ; x:p x:q ."
    async with over(Watched(engine(turtle), hook)) as gateway:
        answer = await gateway.search_entities("paris")
    assert ids(answer) == ["x:b", "x:z"]
    assert answer.complete is True


async def test_one_that_fits_alone_is_not_weighed() -> None:
    asked: list[str] = []

    async def hook(query: str) -> None:
        asked.append(query)

    async with over(Watched(engine("x:a rdfs:label 'Paris' . x:b rdfs:label 'Paris Hilton' ."), hook)) as gateway:
        assert ids(await gateway.search_entities("paris")) == ["x:a", "x:b"]
    assert not any("?degree" in query for query in asked)


@given(
    st.lists(st.tuples(st.sampled_from(["ada", "ada b", "ada bc", "adam"]), st.integers(0, 9)), max_size=30), st.data()
)
def test_weights_order_those_that_fit_equally_well_and_nothing_else(
    names: list[tuple[str, int]], data: st.DataObject
) -> None:
    hits = [Hit(f"urn:{number}:{place}", name, is_synonym=False) for place, (name, number) in enumerate(names)]
    best = ranked(hits, "ada")
    some = data.draw(st.sets(st.sampled_from([one.hit.iri for one in best]))) if best else set()
    weights = {iri: float(len(iri) % 4) for iri in some}
    groups: dict[tuple[str, tuple[int, int]], list[RankedHit]] = {}
    for one in best:
        groups.setdefault((one.match, one.missing), []).append(one)
    expected = [
        one for group in groups.values() for one in sorted(group, key=lambda one: -weights.get(one.hit.iri, 0.0))
    ]
    assert ordered_by_weight(best, "ada", weights) == expected


_names = st.text("abé _-B", min_size=1, max_size=9).filter(str.strip)


@settings(derandomize=True, deadline=None, max_examples=examples(200))
@given(names=st.lists(_names, max_size=6), query=st.text("abe AB", min_size=1, max_size=7))
@example(names=["ab ab", "ba b", "a"], query="a b")
@example(names=["abb", "babb", "abb b", "b"], query="abb")
def test_a_name_fits_if_it_has_every_word_and_no_other_is_more_than_a_guess(names: list[str], query: str) -> None:
    assume(oracle.words(query))
    hits = [Hit(f"urn:{number}", name, is_synonym=False) for number, name in enumerate(names)]
    best = ranked(hits, query)
    fits = {hit.iri: oracle.fit(query, hit.text) for hit in hits}
    assert {one.hit.iri for one in best if not one.is_guess} == {iri for iri, fit in fits.items() if fit is not Fit.NOT}
    assert {one.hit.iri for one in best if one.match == "part"} == {iri for iri, fit in fits.items() if fit is Fit.PART}
    parts = [fits[one.hit.iri] in {Fit.PART, Fit.NOT} for one in best]
    assert parts == sorted(parts)
    near = near_guesses(best, query)
    assert all(one.is_guess for one in near)
    assert [one for one in best if one in near] == near
    for one in near:
        own = [oracle.has(word, one.hit.text) for word in oracle.words(query)]
        assert one.match == "similar" or Fit.WORDS in own
