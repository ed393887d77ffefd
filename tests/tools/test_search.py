"""Resolving names (`search_entities`; docs/contract.md, "Completeness"), and the order of hits."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway import messages
from gateway.answers.models import SearchResult
from gateway.api import open_gateway
from gateway.errors import DeadlinePassed, EndpointFault, GaveUp, InputError
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import in_thread
from gateway.graph.values import Hit
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings
from gateway.terms.names import has_symbol, words_of
from gateway.terms.render import string
from gateway.tools.gateway import Gateway
from gateway.tools.ranking import RankedHit, near_guesses, ordered_by_weight, ranked
from tests import name_oracle as oracle
from tests.examples import examples
from tests.name_oracle import Fit
from tests.searches import found_in, how, is_exhaustive, is_truncated
from tests.small import PREFIXES, ROOM, Watched, WatchedElsewhere, X, engine, over

pytestmark = pytest.mark.anyio

GRAPH = """
x:exact a x:Disease ; rdfs:label 'Cushing disease' .
x:synonym a x:Disease ; rdfs:label 'Pituitary hypercortisolism' ; skos:altLabel "cushing disease" .
x:prefix a x:Disease ; rdfs:label 'Cushing disease, recurrent' .
x:words a x:Paper ; rdfs:label 'The disease that Cushing saw' .
x:short a x:Paper ; rdfs:label 'A disease of Cushing' .
x:some rdfs:label 'Harvey Cushing' .
x:other a x:Disease ; rdfs:label 'Addison disease' .
x:nameless a x:Disease ; x:note 'Cushing disease' .
"""


async def found(
    query: str, turtle: str = GRAPH, types: Sequence[str] | None = None, limit: int = 10, profile: Profile | None = None
) -> SearchResult:
    """Search a small graph."""
    async with over(turtle, profile) as gateway:
        return await gateway.search_entities(query, types, limit=limit)


def hit_ids(answer: SearchResult) -> list[str]:
    """Return the IDs found in order."""
    return [hit.id for hit in answer.result]


def guess_ids(answer: SearchResult) -> list[str]:
    """Return the IDs of the guesses in order."""
    return [hit.id for hit in answer.guesses or ()]


async def test_hits_come_exact_name_exact_synonym_beginning_then_all_words_the_shortest_first() -> None:
    answer = await found("Cushing disease")
    assert hit_ids(answer) == ["x:exact", "x:synonym", "x:prefix", "x:short", "x:words"]
    assert found_in(answer) == 5
    assert not is_truncated(answer)


async def test_names_with_some_of_the_words_are_found_only_where_none_has_all() -> None:
    answer = await found("Harvey Cushing unheard")
    assert (answer.result, guess_ids(answer)) == ([], ["x:some", "x:exact", "x:synonym"])
    assert (await found("Harvey Cushing")).guesses is None


@pytest.mark.parametrize(
    ("query", "guesses"),
    [
        ("Basil the Great", ["x:basil"]),
        ("Great Basilica", []),
        ("Python programming language", ["x:python"]),
        ("Apple company", ["x:apple"]),
        ("nothing of a great deal", []),
    ],
)
async def test_a_guess_has_much_of_the_query_or_of_its_own_name(query: str, guesses: list[str]) -> None:
    turtle = """
    x:uk rdfs:label 'United Kingdom of Great Britain and Northern Ireland' . x:basil rdfs:label 'Basil II' .
    x:war rdfs:label 'The Great War' . x:python rdfs:label 'Python' . x:apple rdfs:label 'Apple Inc.' .
    """
    answer = await found(query, turtle)
    assert (answer.result, guess_ids(answer)) == ([], guesses)


@pytest.mark.parametrize(
    ("query", "guesses"),
    [
        ("koala", []),
        ("zebra", []),
        ("Tubb", []),
        ("toba", []),
        ("xyzzy", []),
        ("Alein", ["x:alien"]),
        ("Springfeld", ["x:rick"]),
        ("Tomm Hnaks", ["x:hanks"]),
        ("Predtor", ["x:versus"]),
        ("insluin", ["x:insulin"]),
    ],
)
async def test_a_guess_without_one_of_the_words_is_near_by_spelling(
    query: str, guesses: list[str], tmp_path: Path
) -> None:
    turtle = """
    x:kl rdfs:label 'Kuala Lumpur' . x:debra rdfs:label 'Debra Winger' . x:tuba rdfs:label 'tuba' .
    x:alien rdfs:label 'Alien' . x:versus rdfs:label 'Alien vs. Predator' . x:rick rdfs:label 'Rick Springfield' .
    x:hanks rdfs:label 'Tom Hanks' . x:insulin rdfs:label 'insulin' .
    x:diabetes rdfs:label 'non-insulin-dependent diabetes mellitus' . x:delon rdfs:label 'Alain Delon' .
    """
    async with indexed(turtle, tmp_path) as gateway:
        answer = await gateway.search_entities(query)
    assert (answer.result, guess_ids(answer)) == ([], guesses)


async def test_more_of_the_words_come_first_and_of_as_many_the_longer_ones() -> None:
    assert guess_ids(await found("zzz Cushing Harvey"))[0] == "x:some"
    turtle = "x:a rdfs:label 'Not Now' . x:b rdfs:label 'The Beatles of Liverpool' ."
    assert guess_ids(await found("not beatles", turtle)) == ["x:b", "x:a"]


@pytest.mark.parametrize("query", ["cushing disease", "CUSHING  DISEASE", " Cushing-disease ", "Cushing_disease"])
async def test_case_and_separators_do_not_matter(query: str) -> None:
    assert hit_ids(await found(query))[:2] == ["x:exact", "x:synonym"]


async def test_a_hit_shows_its_name_and_the_synonym_that_matched() -> None:
    answer = await found("cushing disease")
    assert [(hit.name, hit.matched) for hit in answer.result[:2]] == [
        ("Cushing disease", None),
        ("Pituitary hypercortisolism", "cushing disease"),
    ]
    assert "score" not in str(answer.as_json())


async def test_an_entity_with_a_synonym_only_is_found_and_has_no_name() -> None:
    answer = await found("alone", "x:a skos:altLabel 'alone' .")
    assert answer.as_json()["result"] == [
        {"id": "x:a", "entity_type": "untyped", "match": "alias", "edges": 0, "matched": "alone"}
    ]


async def test_an_entity_is_one_hit_however_many_of_its_names_match() -> None:
    answer = await found("one", "x:a rdfs:label 'one', 'one'@en, 'one two' ; skos:altLabel 'one', 'one three' .")
    assert hit_ids(answer) == ["x:a"]
    assert found_in(answer) == 1


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["Disease"], ["x:exact", "x:synonym", "x:prefix"]),
        (["x:Paper"], ["x:short", "x:words"]),
        (["paper", "Disease"], ["x:exact", "x:synonym", "x:prefix", "x:short", "x:words"]),
        ([], ["x:exact", "x:synonym", "x:prefix", "x:short", "x:words"]),
        (["unknown"], []),
    ],
)
async def test_types_restrict_what_is_found(types: list[str], expected: list[str]) -> None:
    assert hit_ids(await found("Cushing disease", types=types)) == expected


async def test_untyped_finds_those_without_a_type() -> None:
    assert hit_ids(await found("Cushing", types=["untyped"])) == ["x:some"]
    answer = await found("Cushing", types=["untyped", "Paper"])
    assert hit_ids(answer) == ["x:some", "x:short", "x:words"]
    assert found_in(answer) == 3


async def test_an_unknown_type_is_an_error_where_all_are_known_and_else_a_warning() -> None:
    with pytest.raises(InputError, match="Disease"):
        await found("Cushing", types=["Diseas"])
    answer = await found("Cushing", types=["Diseas"], profile=Profile(size=ROOM, limits=LimitSettings(scan_rows=1)))
    assert answer.result == []
    assert answer.warnings is not None
    assert "Diseas" in answer.warnings[0]
    assert how(answer)
    assert not answer.complete


@pytest.mark.parametrize(("types", "whole"), [(["x:A"], True), (["A"], False), (["x:A", "Rare"], False)])
async def test_a_filter_by_a_name_is_not_complete_while_another_type_of_that_name_may_be_unknown(
    types: list[str], whole: bool
) -> None:
    turtle = "x:a a x:A ; rdfs:label 'Alpha' . x:b a y:A ; rdfs:label 'Alpha' ."
    answer = await found("alpha", turtle, types, profile=Profile(size=ROOM, limits=LimitSettings(scan_rows=1)))
    assert answer.complete is whole
    assert (answer.warnings is None) is whole


@pytest.mark.parametrize("scan_rows", [1, 1_000])
async def test_where_no_predicate_gives_types_every_node_is_untyped_and_no_type_is_searched_for(scan_rows: int) -> None:
    profile = Profile(size=ROOM, edges=EdgeSettings(types=()), limits=LimitSettings(scan_rows=scan_rows))
    for named in ("x:Drug", "https://example.org/x/Disease", "Disease"):
        with pytest.raises(InputError, match="untyped"):
            await found("Cushing", types=[named], profile=profile)
    answer = await found("Cushing", types=["untyped"], profile=profile)
    assert {hit.entity_type for hit in answer.result} == {"untyped"}
    assert found_in(answer) == 6
    assert answer.complete


async def test_a_type_given_by_its_id_works_where_the_schema_is_not_known() -> None:
    profile = Profile(size=ROOM, limits=LimitSettings(scan_rows=1))
    assert hit_ids(await found("Cushing disease", types=["x:Paper"], profile=profile)) == ["x:short", "x:words"]


async def test_a_limit_cuts_the_list_and_not_the_count() -> None:
    answer = await found("Cushing disease", limit=2)
    assert hit_ids(answer) == ["x:exact", "x:synonym"]
    assert found_in(answer) == 5


async def test_ten_are_shown_where_no_limit_is_given() -> None:
    turtle = " ".join(f"x:n{number:02} rdfs:label 'name {number:02}' ." for number in range(25))
    async with over(turtle) as gateway:
        answer = await gateway.search_entities("name")
    assert hit_ids(answer) == [f"x:n{number:02}" for number in range(10)]
    assert found_in(answer) == 25


async def test_more_matches_than_are_read_are_reported_as_truncated() -> None:
    turtle = " ".join(f"x:n{number} rdfs:label 'name {number}' ." for number in range(5_001))
    answer = await found("name", turtle)
    assert is_truncated(answer)
    assert len(answer.result) == 10
    assert is_truncated(await found("name 4999", turtle)) is False


async def test_an_empty_answer_says_what_to_try() -> None:
    answer = await found("nonesuch")
    assert answer.as_json() == {
        "result": [],
        "complete": True,
        "next_steps": (f"No name has the word 'nonesuch'. {messages.NOTHING_NEAR}"),
    }
    of_type = await found("nonesuch", types=["Disease"])
    assert "leave node_types out" in (of_type.next_steps or "")
    assert (await found("nonesuch nowhere")).guesses is None


async def test_beside_hits_that_have_a_word_within_another_one_no_word_is_said_to_be_in_no_name() -> None:
    turtle = "x:a rdfs:label 'warfarin' . x:b rdfs:label 'war drum' ."
    assert (await found("arfar", turtle)).next_steps == (
        "No name has 'arfar' as a word of its own: the hits have it within other words."
    )
    several = await found("arfa fari", turtle)
    assert several.next_steps == (
        "No name has 'arfa', 'fari' as words of their own: the hits have them within other words."
    )
    assert (await found("war", turtle)).next_steps is None


async def test_an_answer_that_is_small_has_nothing_beside_its_hits() -> None:
    hit = {"id": "x:some", "entity_type": "untyped", "name": "Harvey Cushing", "match": "label", "edges": 0}
    assert (await found("harvey cushing")).as_json() == {"result": [hit], "complete": True}


async def test_an_endpoint_that_fails_is_an_error_and_no_empty_answer() -> None:
    async def hook(query: str) -> None:
        if "REGEX(?v" in query:
            raise EndpointFault("Down.")

    async with over(Watched(engine(GRAPH), hook)) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.search_entities("Cushing")


async def test_a_blank_node_with_a_name_is_not_found_because_it_has_no_id() -> None:
    answer = await found("thing", "_:b rdfs:label 'thing' . x:a rdfs:label 'thing' ; x:p _:b .")
    assert hit_ids(answer) == ["x:a"]


HOSTILE = [
    "'", '"', "\\", "{", "}", '") }', "' OR 1=1", '" . ?s ?p ?o . "', "\\u0022", "\\", "a\nb", "a\rb", "\t", "\x00",
    "?n", "$n", "#", "<x>", "x:exact", ".*", "a|b", "[a", "(a", "%", "*", "~2", "AND OR NOT", "\ud800", "😀", "שלום",
    "مرحبا", "\u202eabc", "n" * 1_000, " ".join(["word"] * 200), "SELECT * WHERE { ?s ?p ?o }", "}} UNION {{ ?s ?p ?o",
    "é", "e\u0301", "İ", "ß", "हिन्दी", "一", "...", "🏳️‍🌈",
]  # fmt: skip
NAMES = ["plain", 'it\'s "quoted"', "back\\slash", "two\nlines", "{braces}", "😀 smile", "שלום עולם", "select where"]


@pytest.mark.parametrize("query", HOSTILE)
async def test_hostile_text_is_found_where_it_stands_and_nowhere_else(query: str) -> None:
    turtle = " ".join(f"x:n{number} rdfs:label {string(name)} ." for number, name in enumerate(NAMES))
    if not has_symbol(query):
        with pytest.raises(InputError, match="query"):
            await found(query, turtle)
        return
    answer = await found(query, turtle)
    assert any(map(str.isalnum, query)) or answer.result == []
    wanted = [word for word in "".join(one if one.isalnum() else " " for one in query.lower()).split() if len(word) > 1]
    for hit in answer.result:
        assert hit.name is not None
        assert any(word in hit.name.lower() for word in wanted) or not wanted


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('it\'s "quoted"', "x:n1"),
        ("back\\slash", "x:n2"),
        ("two\nlines", "x:n3"),
        ("{braces}", "x:n4"),
        ("😀 smile", "x:n5"),
        ("שלום עולם", "x:n6"),
        ("SELECT WHERE", "x:n7"),
    ],
)
async def test_a_hostile_name_is_found_by_itself(query: str, expected: str) -> None:
    turtle = " ".join(f"x:n{number} rdfs:label {string(name)} ." for number, name in enumerate(NAMES))
    assert hit_ids(await found(query, turtle)) == [expected]


async def test_text_longer_than_a_thousand_characters_is_an_error() -> None:
    with pytest.raises(InputError, match="1000"):
        await found("n" * 1_001)


async def test_a_name_with_underscores_is_looked_for_by_its_words() -> None:
    answer = await found("type_2_diabetes", "x:d rdfs:label 'type 2 diabetes' . x:o rdfs:label 'type 1 diabetes' .")
    assert hit_ids(answer)[:1] == ["x:d"]


async def test_a_word_is_not_taken_apart_at_its_vowel_signs() -> None:
    answer = await found("हिन्दी", "x:hindi rdfs:label 'हिन्दी' . x:combustion rdfs:label 'दहन' .")
    assert hit_ids(answer) == ["x:hindi"]


async def test_underscores_alone_are_no_query() -> None:
    with pytest.raises(InputError, match="letter, digit or symbol"):
        await found("___")


async def test_an_unknown_id_is_answered_with_the_nearest_by_name() -> None:
    async with over("x:T2D rdfs:label 'type 2 diabetes' .") as gateway:
        with pytest.raises(InputError) as caught:
            await gateway.describe_entity("x:type_2_diabetes")
    assert "x:T2D" in caught.value.valid


async def test_an_unknown_id_without_any_likeness_names_none() -> None:
    async with over("x:T2D rdfs:label 'type 2 diabetes' .") as gateway:
        with pytest.raises(InputError) as caught:
            await gateway.describe_entity("x:zzz")
    assert caught.value.valid == ""
    assert "search_entities" in caught.value.next_step


_hits = st.lists(
    st.builds(Hit, st.sampled_from([f"{X}a", f"{X}b", f"{X}c"]), st.text("ab _AB", max_size=6), st.booleans()),
    max_size=8,
)


@settings(derandomize=True, deadline=None)
@given(hits=_hits, query=st.text("ab AB", min_size=1, max_size=5), order=st.randoms(use_true_random=False))
def test_the_order_of_hits_does_not_depend_on_the_engines(hits: list[Hit], query: str, order: object) -> None:
    best = ranked(hits, query)
    other = list(hits)
    order.shuffle(other)  # type: ignore[attr-defined]  # hypothesis hands out a random.Random
    assert ranked(other, query) == best
    assert len({one.hit.iri for one in best}) == len(best) == len({hit.iri for hit in hits})


@settings(derandomize=True, deadline=None)
@given(query=st.text(max_size=60))
@example(query="a_b")
@example(query="İstanbul")
def test_words_are_lower_case_letters_and_digits_and_few(query: str) -> None:
    words = words_of(query)
    assert len(words) <= 12
    assert len(set(words)) == len(words)
    for word in words:
        assert word == word.lower()
        assert "_" not in word
        assert word in query.lower()


def indexed(turtle: str, folder: Path) -> Gateway:
    """Open a gateway over a file, which has a label index."""
    path = folder / "graph.ttl"
    path.write_text("".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items()) + turtle, "utf-8")
    return open_gateway(path)


SYMBOLS = """
x:film rdfs:label 'Film' ; skos:altLabel '\U0001f3ac' .
x:both rdfs:label '\U0001f3ac\U0001f37f' .
x:band rdfs:label '!!!'@en .
x:empty rdfs:label '' .
"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("\U0001f3ac", ["x:film"]),
        (" \U0001f3ac\U0001f37f ", ["x:both"]),
        ("!!!", ["x:band"]),
        ("!!", []),
        ("\u2728", []),
    ],
)
async def test_a_name_of_symbols_is_found_by_the_same_symbols(query: str, expected: list[str], tmp_path: Path) -> None:
    answer = await found(query, SYMBOLS)
    assert hit_ids(answer) == expected
    assert ("others may have it" if expected else "equal to the text") in how(answer)
    assert not answer.complete
    async with indexed(SYMBOLS, tmp_path) as gateway:
        answer = await gateway.search_entities(query)
    assert hit_ids(answer) == expected
    # A name that has them beside something else is not looked for.
    assert (answer.complete, is_exhaustive(answer)) == (False, False)


@pytest.mark.parametrize("query", ["z", "q", "zz", "9"])
async def test_a_name_without_a_letter_is_no_typo_of_a_single_letter(query: str, tmp_path: Path) -> None:
    assert (await found(query, SYMBOLS)).result == []
    async with indexed(SYMBOLS, tmp_path) as gateway:
        assert (await gateway.search_entities(query)).result == []


@pytest.mark.parametrize(("limit", "shown"), [(None, 5), (8, 8)])
async def test_few_others_are_shown_where_a_name_is_the_query(limit: int | None, shown: int) -> None:
    graph = 'x:spain rdfs:label "Spain" .' + "".join(
        f'x:n{number} rdfs:label "Spain {number}" .' for number in range(9)
    )
    async with over(graph) as gateway:
        answer = await gateway.search_entities("spain", limit=limit)
        every = await gateway.search_entities("spai", limit=limit)
    assert answer.result[0].id == "x:spain"
    assert (len(answer.result), answer.found) == (shown, 10)
    assert len(every.result) == (limit or 10)


async def test_all_entities_whose_name_is_the_query_are_shown() -> None:
    graph = "".join(f'x:n{number} rdfs:label "Spain" .' for number in range(9)) + 'x:other rdfs:label "Spain 2" .'
    async with over(graph) as gateway:
        answer = await gateway.search_entities("spain")
    assert [hit.match for hit in answer.result] == ["label"] * 9


async def hits_of(query: str, turtle: str) -> SearchResult:
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
    answer = await hits_of("Heart failure", turtle)
    assert [(hit.id, hit.match, hit.matched) for hit in answer.result] == [
        ("x:label", "label", None),
        ("x:alias", "alias", "Heart-Failure"),
        ("x:prefix", "prefix", None),
        ("x:begins", "prefix", None),
        ("x:all", "all words", None),
    ]
    some = await hits_of("heart failure unheard", turtle)
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
    answer = await hits_of(
        "cushing",
        "x:a rdfs:label 'Cushing' ; x:mentions 2 . x:b rdfs:label 'Cushing' ; x:mentions 30 ."
        "x:c rdfs:label 'Cushing' ; x:p x:a, x:b, x:d . x:d rdfs:label 'Cushing disease' ; x:mentions 99 .",
    )
    assert ids(answer) == ["x:b", "x:a", "x:c", "x:d"]


async def test_without_mentions_the_one_with_more_edges_comes_first() -> None:
    answer = await hits_of(
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
    assert ids(await hits_of("résumé", turtle)) == ["x:a", "x:b"]
    assert ids(await hits_of("resume", turtle)) == ["x:b", "x:a"]


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

    elsewhere = WatchedElsewhere(engine("x:a rdfs:label 'Paris' . x:b rdfs:label 'Paris Hilton' ."), hook)
    async with over(elsewhere) as gateway:
        assert ids(await gateway.search_entities("paris")) == ["x:a", "x:b"]
    assert not any("?degree" in query for query in asked)


EDGES = "x:a rdfs:label 'Paris' ; x:p x:b, x:c . x:b rdfs:label 'Paris' ; x:p x:b . x:d rdfs:label 'Paris Hilton' ."


async def test_a_hit_says_how_many_edges_it_has() -> None:
    hub = f"x:hub rdfs:label 'hubert' ; x:p {', '.join(f'x:n{number}' for number in range(1_500))} ."
    async with over(EDGES + hub) as gateway:
        found = await gateway.search_entities("paris")
        assert {hit.id: hit.edges for hit in found.result} == {"x:a": 2, "x:b": 2, "x:d": 0}
        assert (await gateway.search_entities("hubert")).result[0].edges == ">=1000"
        assert [hit.edges for hit in (await gateway.search_entities("hubert zoo")).guesses or ()] == [">=1000"]


async def test_at_an_endpoint_edges_are_those_that_were_counted_to_order_the_hits() -> None:
    async def hook(_: str) -> None:
        return None

    async with over(WatchedElsewhere(engine(EDGES), hook)) as gateway:
        found = await gateway.search_entities("paris")
    assert {hit.id: hit.edges for hit in found.result} == {"x:a": 2, "x:b": 2, "x:d": None}


async def test_edges_that_could_not_be_counted_are_not_told() -> None:
    async def hook(query: str) -> None:
        if "AS ?degree" in query:
            raise GaveUp("Too much.")

    async with over(Watched(engine(EDGES), hook)) as gateway:
        found = await gateway.search_entities("paris")
    assert [hit.edges for hit in found.result] == [None, None, None]
    assert found.complete is True


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


def _near(query: str, *names: str) -> list[str]:
    hits = [Hit(f"urn:{number:06}", name, is_synonym=False) for number, name in enumerate(names)]
    return [one.hit.text for one in near_guesses(ranked(hits, query), query)]


@pytest.mark.slow
def test_of_very_many_names_the_first_are_compared_by_their_spelling_and_all_by_their_words() -> None:
    names = [f"insluin {number:05}" for number in range(10_500)]
    near = _near("insulin", *names)
    assert near == names[: len(near)]
    assert 5_000 < len(near) < len(names)
    alike = [f"insluin extract {number:05}" for number in range(10_500)]
    assert _near("insulin extract", *alike) == alike


def test_of_a_long_query_and_of_a_long_name_the_first_words_are_compared_by_their_spelling_and_all_as_they_are() -> (
    None
):
    fillers = " ".join(f"filler{letter}{letter}{number}" for letter in "abcdefg" for number in range(6))
    assert _near(f"shared insulin {fillers}", "shared insluin") == ["shared insluin"]
    assert _near(f"{fillers} shared insulin", "shared insluin") == []
    assert _near(f"{fillers} shared insulin", "shared insulin extract") == ["shared insulin extract"]
    assert _near("some insluin", f"{fillers} some insulin") == []
    assert _near("insulin extract unheard", f"{fillers} extract insulin") == [f"{fillers} extract insulin"]


def test_a_word_of_very_many_letters_is_compared_as_it_is() -> None:
    chains = [letters * 12 for letters in ("glycyl", "alanyl", "prolyl")]
    assert _near(" ".join(chains), " ".join(f"{chain}x" for chain in chains[:2]) + " acid") != []
    assert _near(" ".join(chains), " ".join(f"{chain[:30]}x{chain[30:]}" for chain in chains)) == []


@pytest.mark.slow
async def test_a_few_long_names_are_compared_in_a_thread_and_within_the_time_of_the_call() -> None:
    names = " ".join(f"x:n{number} rdfs:label 'shared {'insluin ' * 100}'." for number in range(20))
    names += " x:brief rdfs:label 'Brief insluin' ."
    began, go_on = threading.Event(), threading.Event()

    def busy(_: Deadline) -> bool:
        began.set()
        return go_on.wait(60)

    async with over(names, Profile(size=ROOM, limits=LimitSettings(deadline_seconds=3))) as gateway:
        # The names are read once.
        await gateway.search_entities("brief")
        running = asyncio.create_task(in_thread(Call(Deadline.after(60), requests=1, rows=1, nodes=1), busy))
        assert await asyncio.to_thread(began.wait, 60)
        try:
            assert guess_ids(await gateway.search_entities("brief insulin")) == ["x:brief"]
            with pytest.raises(DeadlinePassed):
                await gateway.search_entities("shared" + " extract" * 100)
        finally:
            go_on.set()
            await running


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
