"""Coined prefixes: every ID means its IRI again, and a prefix means one namespace for ever."""

import asyncio
import re
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
from gateway.terms.coined_prefixes import MOST, CoinedPrefixes, hashed, looks_coined, namespace_of, used_in
from gateway.terms.iri import is_iri
from gateway.terms.prefixes import PrefixMap
from tests.examples import examples

DRUG = "http://data.example.org/vocabulary/drug/"
OFTEN = 10

# Long enough that a prefix pays, and of few parts, so that namespaces nest and names meet.
STEMS = st.sampled_from(
    [
        *("http://data.example.org/vocabulary/drug", "http://data.example.org/vocabulary/Drug"),
        *("urn:example:a-rather-long-name", "http://data.example.org/2024/11/22/2025"),
        *("https://\u4f8b\u3048.example/\u00e9\u00e8\u00ea/\u540d\u524d\u540d\u524d", "doi:10.1000/182-a-long-name"),
        "http://example.org:8080/Averyverylongwordindeed_and_more",
    ]
)
ENDS = st.sampled_from(["", "/", "#", ":", "//", "/#", "?a=b/", "/a/b#"])
LOCAL_PARTS = st.one_of(
    st.just(""),
    st.lists(
        st.sampled_from(["a", "b", "?", ":", "^", "_", "%20", "\u00e9", "(", "'", "drug_abc:", "/"]), max_size=4
    ).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
IRIS = st.builds(lambda stem, end, local: stem + end + local, STEMS, ENDS, LOCAL_PARTS).filter(is_iri)
TABLES = st.dictionaries(
    st.sampled_from(["drug", "urn", "http", "d", ""]), STEMS.map(lambda stem: f"{stem}/"), max_size=3
)


class Memory:
    """What one run stores for the next."""

    def __init__(self, stored: Mapping[str, str] | None = None) -> None:
        self.stored = dict(stored or {})

    def load(self) -> Mapping[str, str]:
        """Return what is stored."""
        return self.stored

    def save(self, coined: Mapping[str, str]) -> None:
        """Store more."""
        self.stored = {**coined, **self.stored}


def coined_for(iris: Iterable[str], declared: Mapping[str, str] | None = None) -> PrefixMap:
    prefixes = PrefixMap(declared or {}, CoinedPrefixes(declared or {}))
    prefixes.coin(iri for iri in iris for _ in range(OFTEN))
    return prefixes


@given(TABLES, st.lists(IRIS, max_size=8))
@settings(deadline=None, max_examples=examples(300))
def test_every_id_means_its_iri_again_before_and_after_prefixes_are_coined(
    declared: Mapping[str, str], iris: list[str]
) -> None:
    prefixes = PrefixMap(declared, CoinedPrefixes(declared))
    before = {prefixes.shorten(iri): iri for iri in iris}
    prefixes.coin(iri for iri in iris for _ in range(OFTEN))
    after = {prefixes.shorten(iri): iri for iri in iris}
    assert len(after) == len(set(iris))
    assert {text: prefixes.expand(text) for text in before | after} == before | after


@given(TABLES, st.lists(IRIS, min_size=1, max_size=8), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=examples(200))
def test_ids_mean_their_iris_again_when_hashes_collide(
    declared: Mapping[str, str], iris: list[str], digits: int
) -> None:
    prefixes = PrefixMap(
        declared, CoinedPrefixes(declared, digest=lambda namespace: "aaa" + hashed(namespace)[:digits])
    )
    prefixes.coin(iri for iri in iris for _ in range(OFTEN))
    assert [prefixes.expand(prefixes.shorten(iri)) for iri in iris] == iris


@given(TABLES, IRIS)
@settings(deadline=None)
def test_a_coined_prefix_never_wins_over_a_declared_one(declared: Mapping[str, str], iri: str) -> None:
    prefixes, plain = coined_for([iri], declared), PrefixMap(declared)
    if plain.shorten(iri) not in {iri, f"<{iri}>"}:
        assert prefixes.shorten(iri) == plain.shorten(iri)
    assert prefixes.declared_form(iri) == plain.shorten(iri)


def test_a_prefix_is_letters_of_the_last_segment_and_three_digits_of_the_hash() -> None:
    assert coined_for([f"{DRUG}warfarin"]).shorten(f"{DRUG}warfarin") == f"drug_{hashed(DRUG)[:3]}:warfarin"


@pytest.mark.parametrize(
    ("namespace", "word"),
    [
        ("http://data.example.org/a/very/long/path/2024/", "path"),
        ("http://data.example.org/vocabulary/DrugsAndTheirInteractions#", "DrugsAndThei"),
        ("http://data.example.org/vocabulary/d-1_x.y#", "dxy"),
        ("http://a-host-without-any-path.example.org/", "ahostwithout"),
        ("urn:example:books-and-other-writings:", "booksandothe"),
        ("https://\u4f8b\u3048\u4f8b\u3048\u4f8b\u3048\u4f8b\u3048\u4f8b\u3048\u4f8b\u3048\u4f8b\u3048/", "https"),
    ],
)
def test_digits_and_signs_of_a_namespace_are_not_in_its_prefix(namespace: str, word: str) -> None:
    short = coined_for([f"{namespace}x"]).shorten(f"{namespace}x")
    assert short == f"{word}_{hashed(namespace)[:3]}:x"
    assert looks_coined(short.partition(":")[0])


def test_of_two_namespaces_with_one_name_the_second_gets_a_longer_name() -> None:
    prefixes = PrefixMap({}, CoinedPrefixes(digest=lambda namespace: "aaa" + hashed(namespace)[:2]))
    others = [f"http://data{number}.example.org/vocabulary/drug/x" for number in range(3)]
    prefixes.coin(iri for iri in others for _ in range(OFTEN))
    ids = [prefixes.shorten(iri) for iri in others]
    assert ids[0] == "drug_aaa:x"
    assert len({*ids}) == len(others)
    assert [prefixes.expand(text) for text in ids] == others


def test_a_name_that_is_declared_for_another_namespace_is_not_coined() -> None:
    name = f"drug_{hashed(DRUG)[:3]}"
    prefixes = coined_for([f"{DRUG}x"], {name: "http://other.example.org/"})
    assert prefixes.shorten(f"{DRUG}x") == f"drug_{hashed(DRUG)[:4]}:x"
    assert prefixes.expand(f"{name}:x") == "http://other.example.org/x"


@pytest.mark.parametrize(
    "iri", [DRUG, "http://data.example.org", "http://a-host-without-any-path.example.org", "urn:a"]
)
def test_an_iri_without_a_local_name_or_with_a_short_namespace_stays_whole(iri: str) -> None:
    assert coined_for([iri]).shorten(iri) == iri


def test_a_namespace_that_is_written_a_few_times_is_not_worth_a_prefix() -> None:
    prefixes = PrefixMap({}, CoinedPrefixes())
    prefixes.coin([f"{DRUG}x"] * 3)
    assert prefixes.prefixes == {}
    prefixes.coin([f"{DRUG}x"] * 4)
    assert list(prefixes.prefixes.values()) == [DRUG]


def test_a_prefix_is_coined_only_where_it_makes_the_answer_shorter() -> None:
    assert coined_for(["http://example.org/x"]).prefixes == {}
    long = f"http://data.example.org/{'a' * 200}/"
    assert coined_for([f"{long}x"]).prefixes == {}


def test_at_most_two_hundred_prefixes_are_coined_and_none_is_given_away() -> None:
    prefixes = PrefixMap({}, CoinedPrefixes())
    iris = [f"http://data{number}.example.org/vocabulary/x" for number in range(MOST + 50)]
    prefixes.coin(iri for iri in iris for _ in range(OFTEN))
    first = prefixes.prefixes
    prefixes.coin(iri for iri in iris for _ in range(OFTEN))
    assert prefixes.prefixes == first
    assert len(first) == MOST
    assert [prefixes.expand(prefixes.shorten(iri)) for iri in iris] == iris


def test_an_answer_writes_a_namespace_in_one_way_whatever_is_coined_meanwhile() -> None:
    prefixes = PrefixMap({}, CoinedPrefixes())
    with prefixes.one_answer():
        assert prefixes.shorten(f"{DRUG}x") == f"{DRUG}x"
        prefixes.coin([f"{DRUG}x"] * OFTEN)
        assert prefixes.shorten(f"{DRUG}y") == f"{DRUG}y"
        assert prefixes.coined_in_answer == {}
    with prefixes.one_answer():
        name = prefixes.shorten(f"{DRUG}y").partition(":")[0]
        assert prefixes.coined_in_answer == {name: DRUG}


def test_parts_of_an_answer_write_a_namespace_as_the_whole_does_and_other_graphs_as_they_do() -> None:
    prefixes, others = PrefixMap({}, CoinedPrefixes()), PrefixMap({}, CoinedPrefixes())
    others.coin([f"{DRUG}x"] * OFTEN)
    with prefixes.one_answer():
        with prefixes.one_answer():
            assert prefixes.shorten(f"{DRUG}x") == f"{DRUG}x"
            with others.one_answer():
                assert re.fullmatch(r"drug_...:x", others.shorten(f"{DRUG}x"))
        prefixes.coin([f"{DRUG}x"] * OFTEN)
        with prefixes.one_answer():
            assert prefixes.shorten(f"{DRUG}x") == f"{DRUG}x"
            assert prefixes.coined_in_answer == {}
    assert re.fullmatch(r"drug_...:x", prefixes.shorten(f"{DRUG}x"))


def test_ids_are_in_order_without_their_coined_prefixes_and_words_stand_for_themselves() -> None:
    ant, zebra = "http://b.example.org/kept/in/order/ant/", "http://a.example.org/kept/in/order/zebra/"
    prefixes = PrefixMap({"m": "http://example.org/m#", "untyped": "http://example.org/u#"}, CoinedPrefixes())
    terms = ["untyped", f"{ant}1", "http://example.org/m#T", f"{zebra}1"]
    before = prefixes.in_order(terms)
    prefixes.coin(one + str(number) for one in (ant, zebra) for number in range(OFTEN))
    after = prefixes.in_order(terms)
    assert [prefixes.expand(term) for term in before[:3]] == [prefixes.expand(term) for term in after[:3]]
    assert [term.partition("_")[0] for term in after] == ["zebra", "ant", "m:T", "untyped"]


@pytest.mark.anyio
async def test_two_answers_at_once_each_write_a_namespace_in_one_way() -> None:
    prefixes, other = PrefixMap({}, CoinedPrefixes()), "http://data.example.org/vocabulary/gene/"
    begun, coined = asyncio.Event(), asyncio.Event()

    async def first() -> list[str]:
        with prefixes.one_answer():
            ids = [prefixes.shorten(f"{DRUG}x")]
            begun.set()
            await coined.wait()
            return [*ids, prefixes.shorten(f"{DRUG}y"), prefixes.shorten(f"{other}z")]

    async def second() -> list[str]:
        await begun.wait()
        with prefixes.one_answer():
            prefixes.coin([f"{DRUG}x", f"{other}x"] * OFTEN)
            coined.set()
            return [prefixes.shorten(f"{DRUG}x")]

    early, late = await asyncio.gather(first(), second())
    assert early[:2] == [f"{DRUG}x", f"{DRUG}y"]
    assert re.fullmatch(r"gene_...:z", early[2])
    assert re.fullmatch(r"drug_...:x", late[0])


def test_a_prefix_of_another_run_is_an_error_that_says_to_send_the_whole_iri() -> None:
    with pytest.raises(InputError, match=r"drug_abc:x.* not known here.*Send the whole IRI"):
        PrefixMap({"d": DRUG}, CoinedPrefixes()).expand("drug_abc:x")
    with pytest.raises(InputError, match="not known here"):
        PrefixMap({}).expand("drug_abc:x")


def test_the_next_run_takes_the_prefixes_that_one_run_stored() -> None:
    memory = Memory()
    prefixes = PrefixMap({}, CoinedPrefixes(storage=memory))
    prefixes.coin([f"{DRUG}x"] * OFTEN)
    short = prefixes.shorten
    again = PrefixMap({}, CoinedPrefixes(storage=memory))
    assert again.shorten(f"{DRUG}x") == short(f"{DRUG}x") != f"{DRUG}x"
    assert again.expand(short(f"{DRUG}x")) == f"{DRUG}x"


def test_what_another_process_coins_for_the_same_graph_is_understood() -> None:
    memory = Memory()
    here, there = (PrefixMap({}, CoinedPrefixes(storage=memory)) for _ in range(2))
    there.coin([f"{DRUG}x"] * OFTEN)
    assert here.expand(there.shorten(f"{DRUG}x")) == f"{DRUG}x"


def test_a_longer_prefix_that_one_run_coined_stays_that_namespaces_in_the_next() -> None:
    longer = f"drug_{hashed(DRUG)[:5]}"
    prefixes = PrefixMap({}, CoinedPrefixes(storage=Memory({longer: DRUG})))
    prefixes.coin([f"{DRUG}x"] * OFTEN)
    assert prefixes.shorten(f"{DRUG}x") == f"{longer}:x"


@given(st.dictionaries(st.text(max_size=8), st.one_of(STEMS, st.text(max_size=8)), max_size=5))
def test_what_no_gateway_coined_is_not_taken_from_a_file(stored: Mapping[str, str]) -> None:
    assert CoinedPrefixes(storage=Memory(stored)).namespaces == {}


def test_a_prefix_that_is_declared_now_means_what_is_declared() -> None:
    name = f"drug_{hashed(DRUG)[:3]}"
    declared = {name: "http://other.example.org/"}
    prefixes = PrefixMap(declared, CoinedPrefixes(declared, Memory({name: DRUG})))
    prefixes.coin([f"{DRUG}x"] * OFTEN)
    assert prefixes.expand(f"{name}:x") == "http://other.example.org/x"
    assert prefixes.expand(prefixes.shorten(f"{DRUG}x")) == f"{DRUG}x"


@given(IRIS)
@settings(deadline=None)
def test_a_namespace_begins_its_iri_and_leaves_a_local_name(iri: str) -> None:
    namespace = namespace_of(iri)
    assert iri.startswith(namespace)
    assert namespace == "" or len(namespace) < len(iri)


def test_the_prefixes_of_a_text_are_those_before_a_colon() -> None:
    coined = {"drug_abc": "urn:a:", "gene_abc": "urn:b:", "e_abc": "urn:c:"}
    text = '{"drug_abc:x name":{"^gene_abc:p":"y gene_abcd:z gene_abc"}}'
    assert list(used_in(text, coined)) == ["drug_abc", "gene_abc"]
    assert used_in(text, {}) == {}
