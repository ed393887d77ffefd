"""Results in SPARQL JSON: decoded, as tables, as rows, and by columns."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp
from gateway.graph.values import Edge, Resource
from gateway.sparql.table import (
    EMPTY,
    BlankTerm,
    Column,
    EndedEarly,
    EndUnproven,
    IriTerm,
    LiteralTerm,
    Overflow,
    Rows,
    Table,
    Term,
    TripleTerm,
    TypedLiteralTerm,
    UnexpectedRows,
    binding,
    edge,
    integer,
    iri,
    literal,
    literal_of,
    optional,
    read,
    term,
    value,
)
from gateway.terms.iri import RDF, XSD
from gateway.terms.literals import Literal
from tests.tables import decoded, rows_of, table

NODE = IriTerm("urn:node")
ENGLISH_TEXT = LiteralTerm("text", language="EN")
TERMS: list[Term] = [NODE, BlankTerm("b0"), ENGLISH_TEXT, TypedLiteralTerm("7", f"{XSD}integer"), TripleTerm(b"{}")]


def test_a_column_of_iris_is_their_text() -> None:
    assert [*iri("n")(table({"n": NODE}, {"n": NODE}))] == ["urn:node", "urn:node"]


def test_a_column_of_literals_is_literals() -> None:
    assert [*literal("v")(table({"v": ENGLISH_TEXT}))] == [Literal("text", "", "en")]


def test_a_column_of_whole_numbers_is_numbers() -> None:
    assert [*integer("count")(table({"count": LiteralTerm("3")}, {"count": TypedLiteralTerm("4")}))] == [3, 4]


def test_a_column_of_terms_takes_any_kind() -> None:
    assert [*term("v")(table(*({"v": each} for each in TERMS)))] == TERMS


def test_an_optional_column_has_nothing_where_nothing_is_bound() -> None:
    assert [*optional("v")(table({"v": ENGLISH_TEXT}, {}))] == [ENGLISH_TEXT, None]


def test_an_edge_is_three_iris() -> None:
    assert [*edge(table({"s": NODE, "p": NODE, "o": NODE}))] == [Edge("urn:node", "urn:node", "urn:node")]


def test_several_columns_are_read_row_by_row() -> None:
    rows = table({"n": NODE, "count": LiteralTerm("1")}, {"n": NODE, "count": LiteralTerm("2")})
    assert [*read(rows, iri("n"), integer("count"))] == [("urn:node", 1), ("urn:node", 2)]


def test_rows_that_bind_a_variable_can_be_read_by_themselves() -> None:
    rows = table({"n": NODE}, {"v": ENGLISH_TEXT}, {"n": NODE, "v": ENGLISH_TEXT})
    assert rows_of(binding(rows, "n", "v"), ["n", "v"]) == [{"n": NODE, "v": ENGLISH_TEXT}]


@pytest.mark.parametrize("column", [iri, literal, integer, term], ids=lambda column: column.__name__)
def test_a_row_that_lacks_a_term_is_a_fault_before_any_row_is_read(column: Callable[[str], Column[object]]) -> None:
    with pytest.raises(UnexpectedRows):
        column("n")(table({"n": LiteralTerm("1")}, {}))


@pytest.mark.parametrize(
    ("column", "taken"),
    [(iri, {IriTerm}), (literal, {LiteralTerm, TypedLiteralTerm}), (integer, {TypedLiteralTerm})],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_term_of_another_kind_is_a_fault(column: Callable[[str], Column[object]], taken: set[type]) -> None:
    for bound in TERMS:
        if type(bound) not in taken:
            with pytest.raises(UnexpectedRows):
                column("n")(table({"n": bound}))


IRI = {"type": "uri", "value": "http://example.org/a"}
BLANK = {"type": "bnode", "value": "b0"}
TEXT_BINDING = {"type": "literal", "value": "caf\u00e9 \U0001f600", "xml:lang": "en-US"}
IRI_TERM = IriTerm("http://example.org/a")
BLANK_TERM = BlankTerm("b0")
TEXT_TERM = LiteralTerm("caf\u00e9 \U0001f600", language="en-US")
JSON_ROWS = [{"s": IRI, "o": TEXT_BINDING}, {"s": BLANK}, {}]
ROWS = [{"s": IRI_TERM, "o": TEXT_TERM}, {"s": BLANK_TERM}, {}]


def body(rows: object) -> bytes:
    return json.dumps({"head": {"vars": ["s", "o"]}, "results": {"bindings": rows}}).encode()


WHOLE = body(JSON_ROWS)
BEGUN = WHOLE[: WHOLE.index(b"]}}") - 4]

FUSEKI = (
    b"\n##  Query cancelled due to timeout during execution   ##"
    b"\n##  ****          Incomplete results           ****   ##\n"
)
OXIGRAPH = b"The SPARQL operation has been cancelled"
BLAZEGRAPH = (
    b"SPARQL-QUERY: queryStr=SELECT ?s ?p ?o WHERE { VALUES ?s { "
    + b"<http://example.org/a> " * 300
    + b"} ?s ?p ?o }\njava.util.concurrent.TimeoutException\n"
    + b"\tat java.base/java.util.concurrent.FutureTask.get(FutureTask.java:204)\n" * 20
)
BLAZEGRAPH_DEADLINE = b"Query deadline is expired.\n\t... 3 more\n"
QLEVER = b"\n !!!!>># An error has occurred while exporting the query result. The error message was:\nout of memory\n"
HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1>10.0.0.7:9999</body></html>"


def test_a_whole_body_becomes_its_rows() -> None:
    assert decoded(WHOLE) == ROWS


def test_a_body_without_rows_is_an_answer() -> None:
    assert decoded(body([])) == []


def test_layout_order_and_further_keys_do_not_matter() -> None:
    assert (
        decoded(
            json.dumps(
                {"y": [], "results": {"x": 1, "bindings": JSON_ROWS}, "head": {"vars": ["o", "s"], "link": []}},
                indent=4,
            ).encode()
        )
        == ROWS
    )
    assert decoded(b"\xef\xbb\xbf" + WHOLE) == ROWS
    assert decoded(WHOLE + b"\r\n \n") == ROWS


def test_a_body_cut_at_any_byte_is_no_answer() -> None:
    for end in range(len(WHOLE)):
        with pytest.raises(EndpointFault):
            decoded(WHOLE[:end])


@pytest.mark.parametrize(
    "marker",
    [FUSEKI, OXIGRAPH, BLAZEGRAPH, BLAZEGRAPH_DEADLINE, QLEVER],
    ids=["fuseki", "oxigraph", "blazegraph", "deadline", "qlever"],
)
@pytest.mark.parametrize("rows", [BEGUN, WHOLE, b'{"head":{"vars":["s"]},"results":{"bindings":[', b""])
def test_an_engine_that_gave_up_after_some_rows_is_reported_as_that(rows: bytes, marker: bytes) -> None:
    with pytest.raises(GaveUp, match="gave up in the middle") as caught:
        decoded(rows + marker)
    assert caught.value.next_step
    assert caught.value.smaller


@pytest.mark.parametrize(
    "answer",
    [
        HTML,
        b"null",
        b"true",
        b"5",
        b'"text"',
        b"[]",
        b"{}",
        b'{"head":{},"boolean":true}',
        b'{"results":null}',
        b'{"results":[]}',
        b'{"results":"bindings"}',
        b'{"results":{}}',
        b'{"results":{"bindings":null}}',
        b'{"results":{"bindings":{}}}',
        b'{"results":{"bindings":"rows"}}',
        b'{"results":{"bindings":[null]}}',
        b'{"results":{"bindings":[[]]}}',
        b'{"results":{"bindings":[{},5]}}',
        b's\tp\to\n<a:a>\t<a:b>\t"c"\n',
        b"<?xml version='1.0'?><sparql/>",
        b'{"results":{"bindings":' + b"9" * 5000 + b"}}",
        b"\xff\xfe\xfa",
        b"\x1f\x8b\x08\x00compressed",
    ],
)
def test_anything_else_is_no_answer(answer: bytes) -> None:
    with pytest.raises(EndpointFault, match="no whole SPARQL JSON") as caught:
        decoded(answer)
    assert type(caught.value) is EndpointFault
    assert "URL" in caught.value.next_step


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b" ",
        BEGUN,
        b"\xef\xbb\xbf\r\n" + BEGUN,
        WHOLE + WHOLE,
        WHOLE + b"x",
        WHOLE.replace(b"caf", b"\xe9\xe9\xe9"),
        BEGUN + b"SPARQL-QUERY: queryStr=SELECT\njava.lang.NullPointerException",
    ],
)
def test_an_answer_that_began_and_does_not_parse_is_broken_and_may_be_asked_for_again(answer: bytes) -> None:
    with pytest.raises(BrokenAnswer, match="broke off") as caught:
        decoded(answer)
    assert caught.value.again
    assert "URL" not in caught.value.next_step


@pytest.mark.parametrize("sent", [0, 1, 3])
def test_fewer_rows_than_the_engine_says_there_are_is_a_cut_answer(sent: int) -> None:
    answer = {
        "head": {"vars": ["s", "o"]},
        "results": {"bindings": JSON_ROWS[:sent]},
        "meta": {"result-size-total": sent},
    }
    assert len(decoded(json.dumps(answer).encode())) == sent
    answer["meta"] = {"result-size-total": sent + 1}
    with pytest.raises(AnswerCut) as caught:
        decoded(json.dumps(answer).encode())
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("beside", "within", "said"),
    [
        ({"warnings": ["hit complexity limit 500 times\u202e"]}, {}, "'hit complexity limit"),
        ({}, {"warnings": "cut"}, "'cut'"),
        ({"warnings": [{"code": 1}]}, {}, "'warnings'"),
        ({"warnings": ["x" * 500]}, {}, "characters"),
        ({}, {"truncated": True}, "'truncated'"),
        ({"truncated": True}, {}, "'truncated'"),
        ({"truncated": "after 100 rows"}, {}, "'truncated'"),
        ({"head": {"vars": ["s", "o"], "warnings": ["cut"]}}, {}, "'cut'"),
    ],
)
def test_a_server_that_warns_beside_the_rows_sent_a_part(
    beside: dict[str, Any], within: dict[str, Any], said: str
) -> None:
    answer = {"head": {"vars": ["s", "o"]}, "results": {"bindings": JSON_ROWS[:2], **within}, **beside}
    with pytest.raises(AnswerCut) as caught:
        decoded(json.dumps(answer).encode())
    assert said in caught.value.wrong
    assert "\u202e" not in caught.value.wrong
    assert len(caught.value.wrong) < 250


@pytest.mark.parametrize(("beside", "within"), [({"warnings": []}, {}), ({}, {"truncated": False, "distinct": True})])
def test_members_that_warn_of_nothing_change_nothing(beside: dict[str, Any], within: dict[str, Any]) -> None:
    answer = {"head": {"vars": ["s", "o"]}, "results": {"bindings": JSON_ROWS[:2], **within}, **beside}
    assert len(decoded(json.dumps(answer).encode())) == 2


@pytest.mark.parametrize("opening", [b"[", b'{"results":', b'{"results":{"bindings":['])
def test_a_body_nested_beyond_reason_is_no_answer(opening: bytes) -> None:
    with pytest.raises(EndpointFault):
        decoded(opening * 200_000)


@given(st.binary(max_size=60))
@settings(deadline=None)
def test_no_bytes_make_any_other_error(answer: bytes) -> None:
    for whole in (answer, BEGUN + answer, WHOLE + answer):
        try:
            rows = decoded(whole)
        except EndpointFault:
            continue
        assert rows == ROWS


@pytest.mark.parametrize("answer", [HTML, BEGUN + BLAZEGRAPH, BEGUN + FUSEKI])
def test_nothing_of_a_broken_body_reaches_the_reader(answer: bytes) -> None:
    with pytest.raises(EndpointFault) as caught:
        decoded(answer)
    assert not any(part in str(caught.value) for part in ("10.0.0.7", "java", "SELECT", "##", "<"))


@pytest.mark.parametrize(
    "binding",
    [
        "text",
        5,
        None,
        [],
        {},
        {"type": "uri"},
        {"value": "x"},
        {"type": "uri", "value": 5},
        {"type": [], "value": "x"},
        {"type": "iri", "value": "x"},
    ],
)
def test_a_binding_that_is_none_makes_the_body_no_answer(binding: object) -> None:
    with pytest.raises(EndpointFault):
        decoded(body([{"s": IRI}, {"s": binding}]))


def test_a_triple_term_is_a_binding_though_it_has_no_value_of_its_own() -> None:
    term = {"type": "triple", "value": {"subject": IRI, "predicate": IRI, "object": TEXT_BINDING}}
    (row,) = decoded(body([{"s": term}]))
    assert isinstance(row["s"], TripleTerm)
    assert json.loads(bytes(row["s"].value)) == term["value"]
    assert value(row["s"]) is None


def test_language_tags_are_folded_whatever_the_engine_stores() -> None:
    assert literal_of(TEXT_TERM) == Literal("caf\u00e9 \U0001f600", language="en-us")


@pytest.mark.parametrize("datatype", [f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString", ""])
def test_a_datatype_that_only_says_text_is_left_away(datatype: str) -> None:
    assert literal_of(LiteralTerm("x", datatype)) == Literal("x")
    assert literal_of(LiteralTerm("x", datatype, "DE")) == Literal("x", language="de")


@pytest.mark.parametrize("kind", ["literal", "typed-literal"])
def test_a_typed_literal_is_read_under_both_of_its_names(kind: str) -> None:
    (row,) = decoded(body([{"s": {"type": kind, "value": "5", "datatype": f"{XSD}integer"}}]))
    assert isinstance(row["s"], TypedLiteralTerm if kind == "typed-literal" else LiteralTerm)
    assert value(row["s"]) == Literal("5", f"{XSD}integer")


def test_an_iri_is_a_resource_and_a_blank_node_has_no_value_of_its_own() -> None:
    assert value(IRI_TERM) == Resource("http://example.org/a")
    assert value(BLANK_TERM) is None


ONE_ROW = table({"n": IriTerm("urn:one")})


def test_all_rows_of_a_whole_answer_are_returned() -> None:
    assert Rows(ONE_ROW).whole() == ONE_ROW


@pytest.mark.parametrize("missing", [Overflow(), EndedEarly(), EndUnproven()])
def test_an_answer_that_is_not_whole_cannot_be_taken_for_a_whole_one(missing: AnswerCut) -> None:
    rows = Rows(ONE_ROW, missing)
    with pytest.raises(type(missing)):
        rows.whole()
    assert rows.part() == (ONE_ROW, True)


def test_a_part_says_that_it_is_the_whole() -> None:
    assert Rows(ONE_ROW).part() == (ONE_ROW, False)


def test_rows_cannot_be_read_without_saying_which() -> None:
    for name in ("__iter__", "__len__", "__getitem__", "__dict__"):
        assert not hasattr(Rows(ONE_ROW), name)


A, B, TEXT = IriTerm("urn:a"), IriTerm("urn:b"), LiteralTerm("text")
SOME = table({"n": A, "v": TEXT}, {"n": B}, {"n": A, "v": B})
OF_IRIS = Table(2, {}, {"n": ["urn:a", "urn:b"]})


def test_a_variable_that_every_row_binds_to_an_iri_is_a_column_of_iris() -> None:
    for rows in (SOME.first(2), OF_IRIS):
        assert rows.iris("n") == ["urn:a", "urn:b"]
        assert rows.terms("n") == [A, B]


def test_a_column_with_another_term_or_none_is_no_column_of_iris() -> None:
    assert SOME.iris("v") is None
    assert table({"n": A}, {"n": BlankTerm("b0")}).iris("n") is None
    assert table({"n": A}, {}).iris("n") is None


def test_an_unknown_variable_is_bound_in_no_row() -> None:
    assert SOME.terms("x") == [None, None, None]
    assert SOME.iris("x") is None


def test_parts_of_the_rows_have_their_terms_in_their_order() -> None:
    for rows in (SOME.first(2), SOME.at([0, 1]), SOME.where([True, True, False])):
        assert rows_of(rows, "nv") == [{"n": A, "v": TEXT}, {"n": B}]
    assert rows_of(SOME.at([2, 0]), "nv") == [{"n": A, "v": B}, {"n": A, "v": TEXT}]
    assert len(SOME.first(9)) == 3
    assert OF_IRIS.at([1]).iris("n") == OF_IRIS.where([False, True]).iris("n") == ["urn:b"]


def test_no_rows_have_every_column_and_nothing_in_it() -> None:
    for rows in (EMPTY, SOME.first(0), OF_IRIS.at([])):
        assert len(rows) == 0
        assert not rows.terms("n")
        assert not rows.iris("n")
        assert rows.iris("n") is not None
