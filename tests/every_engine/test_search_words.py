"""A word is a word: which names a search finds by words and by parts of words, by a naive oracle, in every store."""

import random
import unicodedata
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.answers.models import SearchResult
from gateway.errors import InputError
from gateway.search_index.index import IndexedStore
from gateway.search_index.sources import InProcessIndexSource
from gateway.settings.profile import Profile, SearchSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.terms.render import string
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests import name_oracle as oracle
from tests.columns import Column
from tests.drawn.names import WORDS, spelling
from tests.drawn.questions import profile_for
from tests.drawn.run import truth_of
from tests.examples import examples
from tests.name_oracle import Fit
from tests.search_index.small_indexes import Listed, allowance
from tests.searches import compared_all, how, is_truncated, unknown_words, wrong_in
from tests.small import PREFIXES, ROOM, X
from tests.small import engine as stored

pytestmark = pytest.mark.anyio

Names = Mapping[str, Sequence[str]]
"""The names of each entity, by its IRI."""

_AT_MOST = 100


def named(texts: Sequence[str]) -> Names:
    """Return a name for each entity."""
    return {f"{X}n{number}": [text] for number, text in enumerate(texts)}


Opened = Callable[..., Gateway]
"""Open a gateway over names, and the types of some entities."""


def scanned(names: Names, types: Names | None = None) -> Gateway:
    """Open a gateway that compares all names at the engine of this process."""
    profile = Profile(size=ROOM)
    return Gateway(SparqlStore(_held(names, types or {}), profile), profile, PrefixMap(PREFIXES))


def indexed(names: Names, types: Names | None = None) -> Gateway:
    """Open a gateway with a label index."""
    profile = Profile(size=ROOM)
    source = InProcessIndexSource(Listed(names, kinds=types or {}, page_size=1_000), allowance)
    store = IndexedStore(SparqlStore(_held(names, types or {}), profile), source)
    return Gateway(store, profile, PrefixMap(PREFIXES))


def _held(names: Names, types: Names) -> InProcess:
    triples = [f"<{iri}> rdfs:label {string(text)} .\n" for iri, texts in names.items() for text in texts]
    triples += [f"<{iri}> a <{one}> .\n" for iri, some in types.items() for one in some]
    return InProcess(stored("".join(triples)), max_bytes=1 << 24)


STORES = pytest.mark.parametrize("opened", [scanned, indexed])


def unsaid(query: str, names: Names, answer: SearchResult) -> set[str]:
    """Return the words that no name has although no answer says so, where no name has all words."""
    every = [text for texts in names.values() for text in texts]
    if not compared_all(answer) or any(oracle.fit(query, name) in {Fit.WORDS, Fit.PLURAL} for name in every):
        return set()
    known = {Fit.WORDS, Fit.PLURAL}
    words = oracle.words(query)
    return {word for word in words if all(oracle.has(word, name) not in known for name in every)} - unknown_words(
        answer
    )


# Named cases

CASES: Sequence[tuple[str, dict[str, str], set[str]]] = [
    ("vitamin K", {"Vitamin K": "label", "Vitamin K2": "prefix", "K, the vitamin": "all words"}, set()),
    ("IL-1 signaling", {"IL-1 signaling": "label"}, set()),
    (
        "IL-1",
        {
            "IL-1 signaling": "prefix",
            "human IL 1 receptor": "all words",
            "IL-18 signaling pathway": "prefix",
            "IL-10": "prefix",
        },
        set(),
    ),
    ("il 1 signaling", {"IL-1 signaling": "label"}, set()),
    ("IL1", {"IL1 signaling": "prefix"}, set()),
    ("ove", {"Ove Arup": "prefix", "Ovens": "prefix", "Mike Love": "part", "Lovers of art": "part"}, set()),
    ("love", {"Mike Love": "all words", "Lovers of art": "prefix"}, set()),
    (
        "art",
        {
            "Art": "label",
            "artist": "prefix",
            "Lovers of art": "all words",
            "Party": "part",
            "Heart": "part",
            "heart attack": "part",
        },
        set(),
    ),
    ("attack art", {"heart attack": "part"}, set()),
    ("kilometre km", {}, set()),
    ("km/h", {"km/h": "label"}, set()),
    ("kubik metre", {}, {"kubik"}),
    ("6,0", {"6,0": "label", "0.6": "all words"}, set()),
    ("C++", {"C++": "label", "C#": "all words", "C": "all words", "vitamin C": "all words"}, set()),
    ("5-nucleotidase", {"5'-nucleotidase": "all words", "nucleotidase 5": "all words"}, set()),
    ("at&t", {"AT&T": "label", "At T": "all words"}, set()),
    ("O'Brien", {"O\u2019Brien": "all words"}, set()),
    ("brien", {"Brien": "label", "O\u2019Brien": "all words", "OBrien": "part"}, set()),
    ("total mentions", {"total_mentions": "label", "TotalMentions": "part"}, set()),
    ("mentions tota", {"total_mentions": "part", "TotalMentions": "part"}, {"tota"}),
    ("oxoglutarate", {"oxoglutarate": "label", "2-oxoglutarate": "all words"}, set()),
    ("p53", {"p53": "label", "p53-binding": "prefix"}, set()),
    ("53", {"53": "label"}, set()),
    ("\u4eac\u90fd", {"\u4eac\u90fdTower": "prefix", "\u6771\u4eac\u90fd": "all words"}, set()),
    ("tower", {"\u4eac\u90fdTower": "all words"}, set()),
    ("\u304b", {"\u304b\u304e": "prefix"}, set()),
    ("\u30ac\u30e9", {"\u30ac\u30e9\u30b9cup": "prefix"}, set()),
    ("\u0e40\u0e17\u0e1e", {"\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e": "all words"}, set()),
    ("\u0e88\u0eb1\u0e99", {"\u0ea7\u0ebd\u0e87\u0e88\u0eb1\u0e99": "all words"}, set()),
    ("\u1796\u17c1\u1789", {"\u1797\u17d2\u1793\u17c6\u1796\u17c1\u1789": "all words"}, set()),
    ("\u1000\u102f", {"\u101b\u1014\u103a\u1000\u102f\u1014\u103a": "all words"}, set()),
    ("\uc0ac\ub78c", {"\ud55c\uad6d \uc0ac\ub78c": "all words", "\ud55c\uad6d\uc0ac\ub78c": "part"}, set()),
    ("STRASSE", {"stra\u00dfe": "label", "strassen": "prefix"}, set()),
    ("\u0131s", {"\u0131s": "label"}, set()),
    (
        "\u0633\u0644\u0627\u0645",
        {"\u0633\u0644\u0627\u0645": "label", "\u0627\u0644\u0633\u0644\u0627\u0645": "part"},
        set(),
    ),
    (
        "\u05e9\u05dc\u05d5\u05dd",
        {"\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd": "prefix", "\u05d5\u05e9\u05dc\u05d5\u05dd": "part"},
        set(),
    ),
    ("2 cup", {"\u00bd cup": "all words"}, set()),
    ("vitamin xylo", {}, {"xylo"}),
    ("xylo", {}, {"xylo"}),
    ("cities", {"City of Oslo": "all words"}, set()),
    ("women oslo", {"Oslo, the woman": "all words"}, set()),
    ("wolf", {"Wolves": "all words"}, set()),
    ("knives", {"knife": "all words"}, set()),
    ("boxes rent", {"box rental": "part"}, {"rent"}),
]
"""Queries, the names that fit and how, and the words that no name has."""


@STORES
async def test_a_word_is_a_word_and_a_part_of_one_is_told_as_such(opened: Opened) -> None:
    names = named(WORDS)
    async with opened(names) as gateway:
        for query, expected, unknown in CASES:
            answer = await gateway.search_entities(query, limit=_AT_MOST)
            found = {names[gateway.prefixes.expand(hit.id)][0]: hit.match for hit in answer.result}
            assert found == expected, query
            assert (unknown_words(answer), answer.complete) == (unknown, True), query
            assert wrong_in(query, names, answer, gateway.prefixes.expand) == [], query


async def test_one_with_the_very_words_comes_before_one_that_begins_with_another_number() -> None:
    async with scanned(named(["IL-10", "IL-18", "human IL-1", "IL-1 beta"])) as gateway:
        answer = await gateway.search_entities("IL-1")
    assert [(hit.name, hit.match) for hit in answer.result] == [
        ("IL-1 beta", "prefix"),
        ("human IL-1", "all words"),
        ("IL-10", "prefix"),
        ("IL-18", "prefix"),
    ]


@STORES
async def test_a_word_that_a_name_without_the_others_has_is_not_said_to_be_unknown(
    opened: Opened,
) -> None:
    async with opened(named(["Vitamin Lovers", "Mike Love", "vitamin"])) as gateway:
        answers = [await gateway.search_entities(query) for query in ("vitamin love", "vitamin lov", "lov vit")]
    assert [[hit.match for hit in answer.result] for answer in answers] == [["prefix"], ["prefix"], ["part"]]
    assert [unknown_words(answer) for answer in answers] == [set(), {"lov"}, {"lov", "vit"}]


@STORES
async def test_of_types_it_is_said_what_no_name_of_theirs_has(opened: Opened) -> None:
    names, types = named(["Vitamin A", "carrot"]), {f"{X}n0": [f"{X}Drug"], f"{X}n1": [f"{X}Food"]}
    async with opened(names, types) as gateway:
        answer = await gateway.search_entities("vitamin carrot", ["x:Drug"])
    assert "No name of these types has the word 'carrot'." in (answer.next_steps or "")


@STORES
@pytest.mark.parametrize(("query", "inside", "whole"), [("art", "party", "fine art"), ("k", "kilo", "vitamin K")])
async def test_names_with_the_very_words_are_not_lost_among_thousands_with_parts(
    opened: Opened, query: str, inside: str, whole: str
) -> None:
    names = {f"{X}p{number:04}": [f"{inside} {number}"] for number in range(5_001)}
    async with opened({f"{X}a": [f"a long name of the {whole}"], **names}) as gateway:
        answer = await gateway.search_entities(query)
    assert (answer.result[0].id, answer.result[0].match) == ("x:a", "all words")
    assert is_truncated(answer)
    assert not answer.complete
    assert unknown_words(answer) == set()


async def test_where_not_every_name_was_compared_no_word_is_said_to_be_unknown() -> None:
    async with scanned(named(["vitamin K"])) as gateway:
        answer = await gateway.search_entities(" ".join(f"word{number}" for number in range(13)))
    assert (answer.result, answer.complete) == ([], False)
    assert unknown_words(answer) == set()
    assert how(answer)


# Drawn names and queries

TOKENS = (
    *("il", "1", "18", "k", "vitamin", "ove", "love", "km", "h", "the", "cat", "cats", "x", "p53", "53"),
    *("city", "cities", "wolf", "wolves", "woman", "women", "knife", "box", "boxes"),
    *(
        "\u6771",
        "\u4eac\u90fd",
        "\u304b",
        "\u304c",
        "\u30ac\u30e9",
        "\uff76\uff9e",
        "\u0e01\u0e34",
        "\u0e17\u0e35\u0e48",
        "\u1780\u17d2\u179a",
    ),
    *(
        "\u00df",
        "ss",
        "\ufb01",
        "fi",
        "\u00e9",
        "e",
        "\u0130",
        "\u0131",
        "i",
        "\ud55c\uad6d",
        "\ud558",
        "\u05e9\u05c1\u05dc\u05d5\u05dd",
        "\u0645\u064f",
    ),
    *(
        "\u00bd",
        "\u338f",
        "\u2474",
        "\u0414\u043e\u043c",
        "\u0439",
        "\u0939\u093f",
        "\u0928\u094d\u0926",
        "\u0300",
        "\u0e34",
        "\u3099",
    ),
)
SIGNS = ("", "", " ", " ", "-", "_", "/", "'", ", ", "+")
NAME = st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(SIGNS)), min_size=1, max_size=4).map(
    lambda pairs: "".join(token + sign for token, sign in pairs)
)
SPELT: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "upper": str.upper,
    "lower": str.lower,
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "apart": lambda text: unicodedata.normalize("NFKD", text),
    "turned": lambda text: " ".join(reversed(text.split())),
    "begun": lambda text: text[:-1],
    "inside": lambda text: text[1:],
}


@pytest.mark.slow
@STORES
@settings(max_examples=examples(150))
@given(
    names=st.lists(NAME, min_size=1, max_size=6, unique=True),
    query=st.one_of(NAME, st.none()),
    spelt=st.sampled_from(sorted(SPELT)),
)
@example(names=["vitamin-ove"], query="ove vitamin", spelt="as it is")
@example(names=["1\u00bd"], query="2", spelt="as it is")
@example(names=["\u00bd1"], query="1", spelt="as it is")
@example(names=["\u247418"], query="18", spelt="as it is")
@example(names=["\u304ck"], query="k", spelt="as it is")
async def test_what_fits_by_words_and_by_parts_is_found_and_told_apart(
    opened: Opened, names: list[str], query: str | None, spelt: str
) -> None:
    asked = SPELT[spelt](names[0] if query is None else query)
    assume(oracle.words(asked))
    given_names = named(names)
    async with opened(given_names) as gateway:
        try:
            answer = await gateway.search_entities(asked, limit=_AT_MOST)
        except InputError:
            return
    assert wrong_in(asked, given_names, answer, gateway.prefixes.expand) == []
    assert unsaid(asked, given_names, answer) == set()


@pytest.mark.slow
async def test_every_engine_finds_by_words_and_by_parts_what_the_oracle_does(engine: Column) -> None:
    names = {iri: sorted(texts) for iri, texts in truth_of("names", engine.files["names"], engine.name).names.items()}
    texts = sorted({text for some in names.values() for text in some})
    dice = random.Random(38)  # noqa: S311 - test data, not a secret
    queries = [query for query, _, _ in CASES]
    queries += [_drawn(dice.choice(texts), dice) for _ in range(60)]
    profile = profile_for("names").model_copy(update={"search": SearchSettings(index="none")})
    async with engine.open("names", profile) as gateway:
        # It says which predicates carry names; until that is known no search claims anything.
        assert (await gateway.describe_schema()).names
        for query in queries:
            if not any(map(str.isalnum, query)):
                continue
            answer = await gateway.search_entities(query, limit=_AT_MOST)
            assert wrong_in(query, names, answer, gateway.prefixes.expand) == [], query
            assert unsaid(query, names, answer) == set(), query
            assert compared_all(answer), query


async def test_a_miss_is_complete_where_every_node_has_a_name(engine: Column) -> None:
    async with engine.open("names", profile_for("names")) as gateway:
        assert (await gateway.describe_schema()).names
        answer = await gateway.search_entities("nothing like xyzzy")
    assert (answer.result, answer.complete) == ([], True)


def _drawn(name: str, dice: random.Random) -> str:
    """Return a part of a name as somebody may type it."""
    words = name.split()
    part = dice.choice((name, dice.choice(words), f"{dice.choice(words)} {name[: dice.randint(1, 4)]}", name[1:]))
    return spelling(part, dice)
