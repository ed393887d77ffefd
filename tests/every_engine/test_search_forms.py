"""Names in other Unicode forms, with other accents or in another case: found, or the search is not complete."""

import functools
import unicodedata
from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.graph.values import SearchTerms
from gateway.search_index.index import IndexedStore
from gateway.search_index.sources import InProcessIndexSource
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.profile import Profile, SearchSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.names import fold_accents, words_of
from gateway.terms.prefixes import PrefixMap
from gateway.terms.render import string
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests import name_oracle as oracle
from tests.columns import BEHIND_HTTP, Column
from tests.examples import examples
from tests.name_oracle import Fit
from tests.search_index.small_indexes import Listed, allowance
from tests.searches import is_exhaustive
from tests.servers.engines import ColumnName
from tests.small import PREFIXES, ROOM, X, engine

pytestmark = pytest.mark.anyio

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

NAMES = {
    "bjork": "Björk Guðmundsdóttir",
    "apart": "Bjo\u0308rk, decomposed",
    "wide": "\uff22\uff4a\uff4f\uff52\uff4b, full width",
    "styled": "\U0001d401jork, mathematical",
    "tagged": "Björk",
    "same": "Same Name",
    "accents": "Sàme Nãme",
    "street": "Lange Straße",
    "ligature": "oﬃce of ﬁne art",
    "sigma": "Σίσυφος",
    "breathing": "Ἀθῆναι",
    "iota": "Ἀγορᾷ",
    "short_i": "Йод",
    "hangul": "한글",
    "hangul_apart": unicodedata.normalize("NFD", "한국"),
    "arabic": "سَلام عليكم",
    "presented": "ﻻﻣﻊ",
    "hebrew": "שָׁלוֹם",
    "kana": "ガラス",
    "half_width": "ｶﾞﾗｽ窓",
    "dotted": "İstanbul",
    "square": "5㎏ bag",
    "roman": "Rocky Ⅳ",
    "lodz": "Łódź",
    "long": "x" * 2_000 + " Ångström",
    "year": "1984",
}
SEARCHES = [
    ("Bjork", {"bjork", "apart", "wide", "styled", "tagged"}),
    ("BJÖRK", {"bjork", "apart", "wide", "styled", "tagged"}),
    ("bjo\u0308rk", {"bjork", "apart", "wide", "styled", "tagged"}),
    ("Same Name", {"same", "accents"}),
    ("sáme nâme", {"same", "accents"}),
    ("STRASSE", {"street"}),
    ("office fine", {"ligature"}),
    ("ΣΙΣΥΦΟΣ", {"sigma"}),
    ("σισυφοσ", {"sigma"}),
    ("αθηναι", {"breathing"}),
    ("ΑΓΟΡΆΙ", {"iota"}),
    ("ИОД", {"short_i"}),
    ("и\u0306\u043eд", {"short_i"}),
    (unicodedata.normalize("NFD", "한글"), {"hangul"}),
    ("한국", {"hangul_apart"}),
    ("سلام", {"arabic"}),
    ("لامع", {"presented"}),
    ("שלום", {"hebrew"}),
    ("ガラス", {"kana", "half_width"}),
    ("istanbul", {"dotted"}),
    ("5kg", {"square"}),
    ("rocky iv", {"roman"}),
    ("łodz", {"lodz"}),
    ("angstrom", {"long"}),
    ("1984", {"year"}),
]
"""Queries, and which names have every word of them."""


def triples() -> str:
    """Return the names as N-Triples; one has a language, and one a datatype of its own."""
    tails = {"tagged": "@is", "year": "^^<http://www.w3.org/2001/XMLSchema#gYear>"}
    return "".join(f"<{X}{key}> <{LABEL}> {string(name)}{tails.get(key, '')} .\n" for key, name in NAMES.items())


Opened = Callable[[SearchSettings], Gateway]


@pytest.fixture(
    scope="module",
    params=["in-process", *BEHIND_HTTP],
)
def opened(request: pytest.FixtureRequest, small_graphs: Callable[[ColumnName], Column]) -> Opened:
    """Open gateways over the names in every engine, without a label index."""
    if request.param == "in-process":
        stored = engine(triples())

        def in_process(search: SearchSettings) -> Gateway:
            profile = Profile(size=ROOM, search=search)
            store = SparqlStore(InProcess(stored, max_bytes=1 << 24), profile)
            return Gateway(store, profile, PrefixMap(PREFIXES))

        return in_process
    asked = small_graphs(request.param).asked("forms")

    def over(search: SearchSettings) -> Gateway:
        endpoint = EndpointSettings(graphs=asked.graphs or "default")
        profile = Profile(size=ROOM, search=search, endpoint=endpoint, prefixes=PREFIXES)
        return open_gateway(endpoint=asked.endpoint, profile=profile)

    return over


async def test_every_engine_finds_names_in_any_form_and_says_that_these_are_all(opened: Opened) -> None:
    async with opened(SearchSettings(index="none")) as gateway:
        for query, expected in SEARCHES:
            answer = await gateway.search_entities(query)
            assert {hit.id for hit in answer.result} == {f"x:{key}" for key in expected}, query
            assert (answer.complete, is_exhaustive(answer), answer.warnings) == (True, True, None), query


async def test_a_part_of_the_words_is_found_in_any_form_too(opened: Opened) -> None:
    async with opened(SearchSettings(index="none")) as gateway:
        answer = await gateway.search_entities("Bjork unheard")
    guesses = {hit.id for hit in answer.guesses or ()}
    assert guesses < {"x:bjork", "x:apart", "x:wide", "x:styled", "x:tagged"}
    assert len(guesses) == 3
    assert answer.result == []
    assert answer.complete


# The fold is the oracle

ODD = "ßẞſøłđæıİΣσςάᾳΐйёЙﬁﬃŉǆŀⅣ½㎏①⑴ﻻｶﾞガー한가ㅎقَلہéÅǺñǘ𝐁𝟘Ⓑｊ²ªКम्हिผู้o\u0338"
TEXTS = st.text(
    st.one_of(st.sampled_from(f"{ODD}aAiIsSkKoO 0-'"), st.characters(exclude_categories=["Cs", "Cn", "Cc"])),
    min_size=1,
    max_size=10,
)
FORMS: dict[str, Callable[[str], str]] = {
    **{form: functools.partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "as it is": str,
    "upper": str.upper,
    "lower": str.lower,
    "without accents": fold_accents,
}
FORM = st.sampled_from(sorted(FORMS))


def held(names: Sequence[str]) -> InProcess:
    """Hold a graph of these names."""
    store = engine("".join(f"x:{number} rdfs:label {string(name)} .\n" for number, name in enumerate(names)))
    return InProcess(store, max_bytes=1 << 24)


async def compared(names: Sequence[str], query: str) -> tuple[set[int], bool]:
    """Search without an index; return which names are found, and whether these are said to be all."""
    profile = Profile(size=ROOM)
    async with Gateway(SparqlStore(held(names), profile), profile, PrefixMap(PREFIXES)) as one:
        answer = await one.search_entities(query, limit=100)
    return {int(hit.id.removeprefix("x:")) for hit in answer.result}, answer.complete


async def indexed(names: Sequence[str], query: str) -> tuple[set[int], bool]:
    """Search the label index; return which names are found, and whether these are said to be all."""
    below = SparqlStore(held(names), Profile())
    listed = Listed({f"{X}{number}": [name] for number, name in enumerate(names)})
    store = IndexedStore(below, InProcessIndexSource(listed, allowance))
    try:
        hits = await store.search(SearchTerms(query, tuple(words_of(query))), (), allowance())
    finally:
        await store.close()
    return {int(hit.iri.removeprefix(X)) for hit in hits.hits}, hits.exhaustive and not hits.truncated


@pytest.mark.slow
@pytest.mark.parametrize("search", [compared, indexed])
@settings(max_examples=examples(100))
@given(names=st.lists(TEXTS, min_size=1, max_size=4), form=FORM, part=st.tuples(st.integers(0, 9), st.integers(1, 10)))
@example(names=["fo\u0338o"], form="without accents", part=(0, 10))
@example(names=["é9x", "9"], form="as it is", part=(0, 2))
@example(names=["000000:10"], form="as it is", part=(1, 7))
@example(names=["Björk"], form="without accents", part=(0, 10))
async def test_what_the_fold_makes_equal_is_never_absent_from_an_answer_that_is_complete(
    search: Callable[[Sequence[str], str], object], names: list[str], form: str, part: tuple[int, int]
) -> None:
    query = FORMS[form](names[0][part[0] : part[0] + part[1]])
    assume(oracle.words(query))
    try:
        found, complete = await search(names, query)  # type: ignore[misc]  # both are coroutines
    except InputError:
        return
    expected = {number for number, name in enumerate(names) if oracle.fit(query, name) is not Fit.NOT}
    assert not complete or expected <= found
