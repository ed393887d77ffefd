"""Prefixes, declared and coined: every ID means its IRI again, and a prefix means one namespace for ever."""

import asyncio
import difflib
import re
import tracemalloc
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
from gateway.terms.coined_prefixes import MOST, CoinedPrefixes, hashed, looks_coined, namespace_of, used_in
from gateway.terms.iri import is_iri
from gateway.terms.prefixes import PrefixConflict, PrefixMap, merge
from tests.examples import examples

# Few parts, so that namespaces nest, names meet schemes, and local parts are empty or look like names.
NAMESPACES = st.lists(st.sampled_from(["/", "#", ":", "a", "b", "_", "//", "\u00e9", "%20"]), max_size=5).flatmap(
    lambda parts: st.sampled_from(["http:", "a:", "urn:", "x.y:"]).map(lambda scheme: scheme + "".join(parts))
)
NAMES = st.one_of(
    st.sampled_from(["", "a", "b", "aa", "http", "urn", "x.y", "a-b", "_"]),
    # An ID holds no blank, so no name does.
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=": "), max_size=3).filter(str.isprintable),
)
TABLES = st.dictionaries(NAMES, st.one_of(NAMESPACES, st.just("")), max_size=8)
LOCAL_PARTS = st.one_of(
    st.just(""),
    st.lists(st.sampled_from(["/", "#", ":", "a", "b", "?", "\u00e9", "http:", "urn:"]), max_size=4).map("".join),
    st.text(max_size=8),
)


@st.composite
def tables_and_iris(draw: st.DrawFn) -> tuple[dict[str, str], str]:
    table = draw(TABLES)
    stems = [namespace for namespace in table.values() if namespace]
    nearby = st.sampled_from(stems) if stems else NAMESPACES
    stem = draw(st.one_of(nearby, NAMESPACES))
    iri = stem + draw(LOCAL_PARTS)
    assume(is_iri(iri))
    return table, iri


def can_be_read_back(name: str) -> bool:
    return name != "_" and not name.startswith("(") and not any(mark in name for mark in "^: ")


def as_the_contract_says(table: Mapping[str, str], iri: str) -> str:
    fitting = [
        (-len(namespace), name == "", len(name), name)
        for name, namespace in table.items()
        if namespace and iri.startswith(namespace) and iri != namespace and can_be_read_back(name)
    ]
    if fitting:
        length, _, _, name = min(fitting)
        return f"{name}:{iri[-length:]}"
    return f"<{iri}>" if iri.partition(":")[0] in table else iri


@given(tables_and_iris())
@example(({"http": "http://example.org/"}, "http://other.org/a"))
@example(({"": "http://example.org/"}, "http://example.org/a:b"))
@example(({"urn": "urn:a:", "a": "urn:"}, "urn:a:"))
@settings(deadline=None, max_examples=examples(200))
def test_expanding_a_short_form_gives_the_iri_back(case: tuple[dict[str, str], str]) -> None:
    table, iri = case
    prefixes = PrefixMap(table)
    assert prefixes.expand(prefixes.shorten(iri)) == iri


@given(tables_and_iris())
@settings(deadline=None, max_examples=examples(200))
def test_the_short_form_is_the_one_that_the_contract_describes(case: tuple[dict[str, str], str]) -> None:
    table, iri = case
    assert PrefixMap(table).shorten(iri) == as_the_contract_says(table, iri)


@given(TABLES, NAMESPACES.filter(is_iri))
@settings(deadline=None)
def test_an_iri_in_angle_brackets_is_taken_as_it_stands(table: dict[str, str], iri: str) -> None:
    assert PrefixMap(table).expand(f"<{iri}>") == iri


@given(tables_and_iris())
@settings(deadline=None)
def test_different_iris_never_share_a_short_form(case: tuple[dict[str, str], str]) -> None:
    table, iri = case
    prefixes = PrefixMap(table)
    others = {f"{iri}a", f"{iri}:", f"{iri}/"}
    assert prefixes.shorten(iri) not in {prefixes.shorten(other) for other in others}


@pytest.mark.parametrize("name", ["a:b", "_", "(a", "^a"])
def test_a_prefix_whose_name_could_not_be_read_back_is_not_used(name: str) -> None:
    prefixes = PrefixMap({name: "http://example.org/"})
    for iri in ("http://example.org/c", "http://example.org/c)"):
        assert prefixes.expand(prefixes.shorten(iri)) == iri


def test_the_longest_namespace_wins_whichever_source_it_came_from() -> None:
    prefixes = PrefixMap({"e": "http://example.org/", "drug": "http://example.org/drug/"})
    assert prefixes.shorten("http://example.org/drug/x") == "drug:x"
    assert prefixes.shorten("http://example.org/gene") == "e:gene"


@pytest.mark.parametrize(
    ("names", "winner"),
    [(["", "long"], "long"), (["bb", "a"], "a"), (["ab", "aa"], "aa"), (["", "b", "a", "cc"], "a"), ([""], "")],
)
def test_of_several_names_a_non_empty_then_the_shortest_then_the_first_wins(names: list[str], winner: str) -> None:
    for order in (names, names[::-1]):
        table = dict.fromkeys(order, "http://example.org/")
        assert PrefixMap(table).shorten("http://example.org/x") == f"{winner}:x"


def test_an_empty_local_part_is_not_shortened() -> None:
    assert PrefixMap({"e": "http://example.org/"}).shorten("http://example.org/") == "http://example.org/"


def test_an_iri_that_would_read_as_a_short_form_is_bracketed() -> None:
    prefixes = PrefixMap({"urn": "http://example.org/"})
    assert prefixes.shorten("urn:isbn:1") == "<urn:isbn:1>"
    assert prefixes.expand("urn:isbn:1") == "http://example.org/isbn:1"
    assert prefixes.expand("<urn:isbn:1>") == "urn:isbn:1"


def test_every_name_of_a_namespace_is_understood_though_only_one_is_written() -> None:
    prefixes = PrefixMap({"short": "http://example.org/", "a": "http://example.org/"})
    assert prefixes.expand("short:x") == prefixes.expand("a:x") == prefixes.expand("http://example.org/x")


def test_shortening_stays_the_same_when_more_is_shortened_than_is_remembered() -> None:
    prefixes = PrefixMap({"e": "http://example.org/"})
    long = "x" * 900
    for _ in range(2):
        assert [prefixes.shorten(f"http://example.org/{n}{long}") for n in range(20_000)] == [
            f"e:{n}{long}" for n in range(20_000)
        ]


def test_a_sentence_lists_the_first_ids_and_counts_the_others() -> None:
    prefixes = PrefixMap({"ex": "http://example.org/"})
    iris = [f"http://example.org/{letter}" for letter in "gfedcba"]
    assert prefixes.listed(iris) == "ex:a, ex:b, ex:c, ex:d, ex:e and 2 more"
    assert prefixes.listed(iris[:2]) == "ex:f, ex:g"


def test_what_is_remembered_of_short_forms_is_bounded_in_bytes() -> None:
    prefixes = PrefixMap({"e": "http://example.org/"})
    tracemalloc.start()
    try:
        for number in range(1_000):
            prefixes.shorten(f"http://example.org/{number}{'x' * 100_000}")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 33 << 20


@pytest.mark.parametrize(
    "text",
    [
        "", "aspirin", "unknown prefix:x", "e:a b", "e:a>b", "<e:a", "<>", "<relative>", "e:a\nb", ":x", "e:\ud800",
        "http://example.org/{",
    ],
)  # fmt: skip
def test_what_is_no_legal_iri_is_refused_with_the_known_prefixes(text: str) -> None:
    with pytest.raises(InputError) as caught:
        PrefixMap({"e": "http://example.org/"}).expand(text)
    assert "is not an ID" in caught.value.wrong
    assert "e:" in caught.value.valid
    assert "search_entities" in caught.value.next_step


def test_few_prefixes_are_compared_with_one_that_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, list[str]]] = []

    def closest(word: str, known: list[str], n: int) -> list[str]:
        compared.append((word, known))
        return known[:n]

    monkeypatch.setattr(difflib, "get_close_matches", closest)
    short, long = [f"p{number}" for number in range(2_000)], [f"{'q' * 70}{number}" for number in range(2_000)]
    prefixes = PrefixMap({name: f"http://example.org/{name}/" for name in (*short, *long)})
    said = prefixes.undeclared([f"p{'x' * length}:a" for length in (2, 3, 4, 5, 500)])
    assert said.startswith("The prefixes 'pxx', 'pxxx', 'pxxxx' are not declared. Nearest declared: p0:")
    assert len(compared) == 3
    assert all(len(known) <= 500 and max(map(len, known)) <= 20 for _, known in compared)
    compared.clear()
    assert "is not declared" in prefixes.undeclared([f"{'q' * 200}:a"])
    assert compared == []


def test_the_table_is_returned_sorted_and_cannot_be_changed_from_outside() -> None:
    table = {"b": "http://b/", "a": "http://a/"}
    prefixes = PrefixMap(table)
    table["c"] = "http://c/"
    prefixes.prefixes["d"] = "http://d/"
    assert list(prefixes.prefixes.items()) == [("a", "http://a/"), ("b", "http://b/")]


def test_the_first_binding_of_a_name_wins_and_each_later_one_is_reported() -> None:
    merged, conflicts = merge(
        [
            ("--prefix", {"a": "http://1/"}),
            ("the profile", {"a": "http://2/", "b": "http://b/"}),
            ("graph.ttl", {"a": "http://1/", "b": "http://3/", "c": "http://c/"}),
        ]
    )
    assert merged == {"a": "http://1/", "b": "http://b/", "c": "http://c/"}
    assert conflicts == [
        PrefixConflict("a", "http://1/", "http://2/", "the profile"),
        PrefixConflict("b", "http://b/", "http://3/", "graph.ttl"),
    ]


def test_a_conflict_names_the_prefix_both_meanings_and_the_source() -> None:
    said = str(PrefixConflict("a", "http://first/", "http://ignored/", "graph.ttl"))
    assert all(part in said for part in ("'a'", "<http://first/>", "<http://ignored/>", "graph.ttl"))


@given(st.lists(TABLES, max_size=4))
@settings(deadline=None)
def test_merging_keeps_every_name_and_reports_every_binding_it_ignores(tables: list[dict[str, str]]) -> None:
    merged, conflicts = merge([(str(number), table) for number, table in enumerate(tables)])
    assert merged.keys() == {name for table in tables for name in table}
    for name, namespace in merged.items():
        assert namespace == next(table[name] for table in tables if name in table)
    ignored = [(str(n), name, ns) for n, table in enumerate(tables) for name, ns in table.items() if merged[name] != ns]
    assert sorted(ignored) == sorted((conflict.source, conflict.name, conflict.ignored) for conflict in conflicts)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("e:a", "e:a"),
        ("e:a A thing", "e:a"),
        ("e:a Batman: the movie", "e:a"),
        ("http://example.org/a A", "http://example.org/a"),
        ("e:a e:b", "e:a e:b"),
        ("e:a or <http://example.org/b>", "e:a or <http://example.org/b>"),
        ("<http://example.org/a> . } INSERT", "<http://example.org/a> . } INSERT"),
        ("unknown:a A", "unknown:a A"),
        ("A thing", "A thing"),
        ("e: a", "e: a"),
        ("e:a ", "e:a "),
        (" e:a", " e:a"),
    ],
)
def test_a_name_behind_an_id_is_left_out_unless_it_holds_another_id(text: str, alone: str) -> None:
    assert PrefixMap({"e": "http://example.org/"}).without_name(text) == alone


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
COINED_PARTS = st.one_of(
    st.just(""),
    st.lists(
        st.sampled_from(["a", "b", "?", ":", "^", "_", "%20", "\u00e9", "(", "'", "drug_abc:", "/"]), max_size=4
    ).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
IRIS = st.builds(lambda stem, end, local: stem + end + local, STEMS, ENDS, COINED_PARTS).filter(is_iri)
COINED_TABLES = st.dictionaries(
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


@given(COINED_TABLES, st.lists(IRIS, max_size=8))
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


@given(COINED_TABLES, st.lists(IRIS, min_size=1, max_size=8), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=examples(200))
def test_ids_mean_their_iris_again_when_hashes_collide(
    declared: Mapping[str, str], iris: list[str], digits: int
) -> None:
    prefixes = PrefixMap(
        declared, CoinedPrefixes(declared, digest=lambda namespace: "aaa" + hashed(namespace)[:digits])
    )
    prefixes.coin(iri for iri in iris for _ in range(OFTEN))
    assert [prefixes.expand(prefixes.shorten(iri)) for iri in iris] == iris


@given(COINED_TABLES, IRIS)
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
