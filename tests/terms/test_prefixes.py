"""Prefixes, declared and coined: every ID means its IRI again, and a prefix means one namespace for ever."""

import difflib
import tracemalloc
from collections.abc import Iterable, Mapping
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
from gateway.terms.coined_prefixes import MOST_KNOWN, CoinedPrefixes, hashed, looks_coined, namespace_of, used_in
from gateway.terms.iri import is_iri
from gateway.terms.prefixes import PrefixConflict, PrefixMap, merge
from gateway.terms.well_known_prefixes import WELL_KNOWN
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


def coining(declared: Mapping[str, str] | None = None) -> PrefixMap:
    return PrefixMap(declared or {}, CoinedPrefixes(declared or {}))


@given(COINED_TABLES, st.lists(IRIS, max_size=8))
@settings(deadline=None, max_examples=examples(300))
def test_every_id_means_its_iri_again_from_the_first_answer_on(declared: Mapping[str, str], iris: list[str]) -> None:
    prefixes = coining(declared)
    written = {prefixes.shorten(iri): iri for iri in iris}
    assert len(written) == len(set(iris))
    assert {prefixes.shorten(iri): iri for iri in iris} == written
    assert {text: prefixes.expand(text) for text in written} == written


@given(COINED_TABLES, st.lists(IRIS, max_size=8), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=examples(200))
def test_an_id_does_not_depend_on_those_before_it(declared: Mapping[str, str], iris: list[str], order: Random) -> None:
    one, other = coining(declared), coining(declared)
    shuffled = order.sample(iris, len(iris))
    assert {iri: one.shorten(iri) for iri in iris} == {iri: other.shorten(iri) for iri in shuffled}


@given(COINED_TABLES, st.lists(IRIS, min_size=1, max_size=8), st.sampled_from([0, 1, 2]))
@settings(deadline=None, max_examples=examples(200))
def test_no_id_means_another_iri_when_hashes_collide(declared: Mapping[str, str], iris: list[str], digits: int) -> None:
    prefixes = PrefixMap(
        declared, CoinedPrefixes(declared, digest=lambda namespace: "aaaaa"[digits:] + hashed(namespace)[:digits])
    )
    for iri in iris:
        text = prefixes.shorten(iri)
        try:
            assert prefixes.expand(text) == iri
        except InputError:
            assert looks_coined(text.partition(":")[0])


@given(COINED_TABLES, IRIS)
@settings(deadline=None)
def test_a_coined_prefix_never_wins_over_a_declared_one(declared: Mapping[str, str], iri: str) -> None:
    prefixes, plain = coining(declared), PrefixMap(declared)
    if plain.shorten(iri) not in {iri, f"<{iri}>"}:
        assert prefixes.shorten(iri) == plain.shorten(iri)
    assert prefixes.declared_form(iri) == plain.shorten(iri)


def test_a_prefix_is_letters_of_the_last_segment_and_eight_digits_of_the_hash() -> None:
    assert coining().shorten(f"{DRUG}warfarin") == f"drug_{hashed(DRUG)[:8]}:warfarin"


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
    short = coining().shorten(f"{namespace}x")
    assert short == f"{word}_{hashed(namespace)[:8]}:x"
    assert looks_coined(short.partition(":")[0])


ALIKE = [f"http://data{number}.example.org/vocabulary/drug/" for number in range(2)]
"""Namespaces whose prefixes begin with the same letters."""


def with_one_name() -> PrefixMap:
    """Return prefixes that are the same for all namespaces with the same letters."""
    return PrefixMap({}, CoinedPrefixes(digest=lambda namespace: "aaaaaaaa" + hashed(namespace)[:2]))


def learn(prefixes: PrefixMap, namespaces: Iterable[str], *, are_all: bool = True) -> None:
    """Let prefixes know the namespaces of a graph."""
    prefixes.learn(prefixes.named(namespaces), are_all=are_all)


def test_of_two_namespaces_with_one_name_neither_has_it_once_both_are_known() -> None:
    prefixes = with_one_name()
    one, other = (f"{namespace}x" for namespace in ALIKE)
    with prefixes.one_answer():
        assert prefixes.shorten(one) == "drug_aaaaaaaa:x"
        assert prefixes.shorten(other) == other
        assert prefixes.coined_in_answer == {"drug_aaaaaaaa": one[:-1]}
    with pytest.raises(InputError, match="Send the whole IRI"):
        prefixes.expand("drug_aaaaaaaa:x")
    assert prefixes.shorten(one) == one


def test_what_an_answer_wrote_in_one_way_it_writes_and_reads_so_until_its_end() -> None:
    prefixes = with_one_name()
    one, other = (f"{namespace}x" for namespace in ALIKE)
    with prefixes.one_answer():
        written = [prefixes.shorten(iri) for iri in (one, other, one, other)]
        assert written == ["drug_aaaaaaaa:x", other, "drug_aaaaaaaa:x", other]
        assert [prefixes.expand(text) for text in written] == [one, other, one, other]


def test_of_two_namespaces_with_one_name_that_were_learned_neither_is_read() -> None:
    prefixes = with_one_name()
    assert prefixes.shorten(f"{ALIKE[0]}x") == "drug_aaaaaaaa:x"
    learn(prefixes, ALIKE)
    with pytest.raises(InputError, match="several namespaces have"):
        prefixes.expand("drug_aaaaaaaa:x")


def test_a_prefix_with_few_digits_is_read_only_where_all_namespaces_are_known() -> None:
    prefixes = coining()
    short = f"drug_{hashed(DRUG)[:5]}:x"
    learn(prefixes, [DRUG], are_all=False)
    with pytest.raises(InputError, match="Send the whole IRI"):
        prefixes.expand(short)
    learn(prefixes, [DRUG])
    assert prefixes.expand(short) == f"{DRUG}x"


def test_a_name_that_is_declared_for_another_namespace_is_not_coined() -> None:
    name = f"drug_{hashed(DRUG)[:8]}"
    prefixes = coining({name: "http://other.example.org/"})
    assert prefixes.shorten(f"{DRUG}x") == f"drug_{hashed(DRUG)[:9]}:x"
    assert prefixes.expand(f"drug_{hashed(DRUG)[:9]}:x") == f"{DRUG}x"
    assert prefixes.expand(f"{name}:x") == "http://other.example.org/x"


@pytest.mark.parametrize(
    "iri",
    [DRUG, "http://data.example.org", "http://a-host-without-any-path.example.org", "urn:a", "http://example.org/x"],
)
def test_an_iri_without_a_local_name_or_with_a_short_namespace_stays_whole(iri: str) -> None:
    assert coining().shorten(iri) == iri


def test_a_namespace_that_is_too_long_to_be_told_stays_whole() -> None:
    long = f"http://data.example.org/{'a' * 200}/x"
    assert coining().shorten(long) == long


def test_there_are_as_many_prefixes_as_namespaces() -> None:
    prefixes = coining()
    iris = [f"http://data{number}.example.org/vocabulary/x" for number in range(1_000)]
    written = [prefixes.shorten(iri) for iri in iris]
    assert all(looks_coined(text.partition(":")[0]) for text in written)
    assert [prefixes.expand(text) for text in written] == iris


@pytest.mark.slow
def test_an_iri_of_more_namespaces_than_are_remembered_stays_whole() -> None:
    prefixes = coining()
    learn(prefixes, (f"http://data.example.org/vocabulary/n{number}/" for number in range(MOST_KNOWN)), are_all=False)
    with prefixes.one_answer():
        assert prefixes.shorten(f"{DRUG}x") == f"{DRUG}x"
        assert prefixes.coined_in_answer == {}
    learn(prefixes, [DRUG])
    # An answer under way may have written it whole.
    assert prefixes.shorten(f"{DRUG}x") == f"{DRUG}x"


def test_an_answer_tells_the_prefixes_that_it_uses_and_no_others() -> None:
    prefixes, others = coining(), coining()
    prefixes.shorten("http://data.example.org/vocabulary/gene/x")
    with prefixes.one_answer():
        name = prefixes.shorten(f"{DRUG}y").partition(":")[0]
        with prefixes.one_answer(), others.one_answer():
            assert others.shorten(f"{DRUG}x") == f"{name}:x"
        assert prefixes.coined_in_answer == {name: DRUG}


def test_ids_are_in_order_without_their_coined_prefixes_and_words_stand_for_themselves() -> None:
    ant, zebra = "http://b.example.org/kept/in/order/ant/", "http://a.example.org/kept/in/order/zebra/"
    prefixes = coining({"m": "http://example.org/m#", "untyped": "http://example.org/u#"})
    terms = ["untyped", f"{ant}1", "http://example.org/m#T", f"{zebra}1"]
    written = prefixes.in_order(terms)
    assert [term.partition("_")[0] for term in written] == ["zebra", "ant", "m:T", "untyped"]


def test_a_prefix_of_another_run_is_an_error_that_says_to_send_the_whole_iri() -> None:
    with pytest.raises(InputError, match=r"drug_abc:x.* not known here.*Send the whole IRI"):
        coining({"d": DRUG}).expand("drug_abc:x")
    with pytest.raises(InputError, match="not known here"):
        PrefixMap({}).expand("drug_abc:x")


def test_the_next_run_takes_the_prefixes_that_one_run_stored() -> None:
    memory = Memory()
    prefixes = PrefixMap({}, CoinedPrefixes(storage=memory))
    with prefixes.one_answer():
        short = prefixes.shorten(f"{DRUG}x")
    assert PrefixMap({}, CoinedPrefixes(storage=memory)).expand(short) == f"{DRUG}x"


def test_what_another_process_coins_for_the_same_graph_is_understood() -> None:
    memory = Memory()
    here, there = (PrefixMap({}, CoinedPrefixes(storage=memory)) for _ in range(2))
    with there.one_answer():
        short = there.shorten(f"{DRUG}x")
    assert here.expand(short) == f"{DRUG}x"


@pytest.mark.parametrize("digits", [3, 4, 5, 9])
def test_a_prefix_of_another_length_that_was_coined_before_is_read_and_not_written(digits: int) -> None:
    before = f"drug_{hashed(DRUG)[:digits]}"
    stored = PrefixMap({}, CoinedPrefixes(storage=Memory({before: DRUG})))
    learned = coining()
    learn(learned, [DRUG, "http://data.example.org/vocabulary/gene/"])
    for prefixes in (stored, learned):
        assert prefixes.expand(f"{before}:x") == f"{DRUG}x"
        assert prefixes.shorten(f"{DRUG}x") == f"drug_{hashed(DRUG)[:8]}:x"


def test_a_prefix_that_two_namespaces_of_the_graph_may_have_had_is_an_error() -> None:
    prefixes = PrefixMap({}, CoinedPrefixes(digest=lambda namespace: "aaa" + hashed(namespace)))
    learn(prefixes, ALIKE)
    with pytest.raises(InputError, match="Send the whole IRI"):
        prefixes.expand("drug_aaa:x")


@given(st.dictionaries(st.text(max_size=8), st.one_of(STEMS, st.text(max_size=8)), max_size=5))
def test_what_no_gateway_coined_is_not_taken_from_a_file(stored: Mapping[str, str]) -> None:
    assert CoinedPrefixes(storage=Memory(stored)).namespaces == {}


def test_a_prefix_that_is_declared_now_means_what_is_declared() -> None:
    name = f"drug_{hashed(DRUG)[:8]}"
    declared = {name: "http://other.example.org/"}
    prefixes = PrefixMap(declared, CoinedPrefixes(declared, Memory({name: DRUG})))
    assert prefixes.expand(f"{name}:x") == "http://other.example.org/x"
    assert prefixes.expand(prefixes.shorten(f"{DRUG}x")) == f"{DRUG}x"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("GO:0005737", ["GO:0005737", "http://purl.obolibrary.org/obo/GO_0005737"]),
        ("schema:name", ["http://schema.org/name", "https://schema.org/name"]),
        ("rdfs:label", ["http://www.w3.org/2000/01/rdf-schema#label"]),
        ("urn:uuid", ["urn:uuid"]),
        ("mailto:a@example.org", ["mailto:a@example.org"]),
        ("http://example.org/x", ["http://example.org/x"]),
        ("d:1", [f"{DRUG}1"]),
    ],
)
def test_an_id_of_an_undeclared_prefix_may_mean_what_its_readers_mean(text: str, meant: list[str]) -> None:
    prefixes = PrefixMap({"d": DRUG}, CoinedPrefixes(), WELL_KNOWN)
    assert prefixes.meanings(text) == meant


def test_a_declared_schema_prefix_means_that_alone() -> None:
    prefixes = PrefixMap({"schema": "https://schema.org/"}, CoinedPrefixes(), WELL_KNOWN)
    assert prefixes.meanings("schema:name") == ["https://schema.org/name"]


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
