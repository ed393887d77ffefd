import difflib
import tracemalloc
from collections.abc import Mapping

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
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
