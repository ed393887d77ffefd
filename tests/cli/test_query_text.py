"""What the text of a query says of it, however it is written."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.own_query.text import in_order, read_query
from tests.cases import check_each
from tests.examples import examples

GAPS = st.sampled_from([" ", "\n", "\t", " # a comment { } \" '\n", "\r\n#\n"])
AWAY = st.sampled_from(["<http://a.example/>", "?e", "$e", "a:b", ":", "<>"])
DECOYS = st.lists(
    st.sampled_from(
        [
            "'SERVICE <a:b> {'",
            '"""SERVICE ?e {"""',
            "<http://a.example/SERVICE>",
            "# SERVICE <a:b> {\n",
            "?service",
            ":service",
            "a:SERVICE",
            "'it''s'",
            r"'\''",
            '"<"',
            "?a<?b",
            "?a>?b",
            "@en",
            "_:SERVICE",
            "1",
        ]
    ),
    max_size=6,
)


def spelled(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from([letter.lower(), letter.upper()]) for letter in word)).map("".join)


@given(DECOYS, DECOYS, spelled("SERVICE"), GAPS, AWAY)
@settings(max_examples=examples(300))
def test_another_endpoint_is_found_wherever_it_stands(
    before: list[str], after: list[str], word: str, gap: str, away: str
) -> None:
    text = f"SELECT * {{ {' '.join(before)}\n{word}{gap}{away}{gap}{{ }} {' '.join(after)} }}"
    assert read_query(text).has_service


@given(DECOYS)
@settings(max_examples=examples(300))
def test_what_looks_like_another_endpoint_in_a_text_or_a_name_is_none(decoys: list[str]) -> None:
    whole = [decoy for decoy in decoys if decoy not in {"?a<?b", "?a>?b"}]
    read = read_query(f"SELECT * {{ {' '.join(whole)}\n }}")
    assert (read.has_service, read.has_dataset, read.has_graph) == (False, False, False)


def test_a_prefix_that_contains_a_word_that_reaches_elsewhere_is_a_prefix() -> None:
    def reaches_nothing(text: str) -> None:
        read = read_query(text)
        assert (read.has_service, read.has_dataset, read.has_graph) == (False, False, False)

    check_each(
        [
            "SELECT * { ?s service:of ?o ; a graph:Node , from:a . derivedfrom:b graph:c from:d }",
            "SELECT * { ?s from:p from:q . { ?s service:p graph:q . { ?s ?p ?o } } }",
            "SELECT * { ?s a:service ?o . { ?s a:graph :from } FILTER(?o = derivedfrom:a) }",
            "SELECT * { ?s ?p derivedfrom:a { ?s ?p ?o } }",
        ],
        reaches_nothing,
    )


@given(st.text(max_size=200))
@settings(max_examples=examples(300))
def test_any_text_is_read(text: str) -> None:
    read = read_query(text)
    assert read.prologue + read.body == text


def test_kind_prologue_and_prefixes_are_read() -> None:
    declared = "# c\nPREFIX a: <http://a.example/>\nbase <http://b.example/> VERSION '1.2'"
    text = f"{declared} select * {{ ?s a:b ex:c ; x:y 'z:z' }}"
    read = read_query(text)
    assert (read.kind, read.body.strip()[:8]) == ("select", "select *")
    assert read.undeclared == {"ex", "x"}
    assert read.with_prefixes({"ex": "http://e.example/", "x": "no> <IRI", "z": "http://z.example/"}) == (
        f"PREFIX ex: <http://e.example/>\n{text}"
    )


def test_columns_come_in_the_order_of_the_text() -> None:
    cases = [
        ("SELECT * { ?s ?p ?o }", ["o", "p", "s"], ["s", "p", "o"]),
        ("select distinct*{$b ?ab ?a}", ["a", "ab", "b"], ["b", "ab", "a"]),
        ("SELECT ?o ?s { ?s ?p ?o }", ["o", "s"], ["o", "s"]),
    ]

    def is_so(text: str, variables: list[str], expected: list[str]) -> None:
        assert [variables[place] for place in in_order(read_query(text).body, variables)] == expected

    check_each(cases, lambda case: is_so(*case))


def test_an_escape_that_may_be_syntax_is_found() -> None:
    assert read_query(r"SELECT * { ?s ?p '\u0027' }").has_hidden_syntax
    assert read_query(r"SELECT * { ?s ?p '\U0000007B' }").has_hidden_syntax
    assert not read_query(r"SELECT * { ?s ?p '\u00e9\u001b' }").has_hidden_syntax
