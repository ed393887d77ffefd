"""TSV: what its grammar allows is read as the terms that were written, and what is cut is never read as whole."""

import json
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp, WrongFormat
from gateway.sparql import tsv_rows
from gateway.sparql.sentinel import marker
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Table, Term, TripleTerm
from gateway.sparql.tsv_rows import decode_tsv
from gateway.terms.iri import XSD
from tests.examples import examples
from tests.sparql.test_results import BLAZEGRAPH, FUSEKI, OXIGRAPH, QLEVER
from tests.tables import Row, rows_of, table

SPO = ("s", "p", "o")
IRI = IriTerm("http://example.org/a")
LINE = "<http://example.org/a>\t<http://example.org/p>\t<http://example.org/b>\n"
EDGE: Row = {"s": IRI, "p": IriTerm("http://example.org/p"), "o": IriTerm("http://example.org/b")}


def body(*lines: str, variables: Sequence[str] = SPO) -> bytes:
    return ("\t".join(f"?{name}" for name in variables) + "\n" + "".join(lines)).encode()


def of_term(field: str) -> Term | None:
    """Return the term of a field beside others."""
    (term,) = decode_tsv(body(f"{field}\n", variables=["x"]), ["x"]).terms("x")
    (_, beside, _) = decode_tsv(body(LINE, f"<urn:a>\t<urn:b>\t{field}\n", LINE), SPO).terms("o")
    assert beside == term
    return term


# ----------------------------------------------------------------------------------------------------------------------
# The grammar

FIELDS: dict[str, Term | None] = {
    "": None,
    "<http://example.org/a>": IRI,
    "<urn:\u00e9\U0001f600>": IriTerm("urn:\u00e9\U0001f600"),
    "_:b0": BlankTerm("b0"),
    "_:B1975c8186b8a325da05fbc427f52cdd1": BlankTerm("B1975c8186b8a325da05fbc427f52cdd1"),
    '""': LiteralTerm(""),
    '"text"': LiteralTerm("text"),
    '"text"@en-US': LiteralTerm("text", language="en-US"),
    '"text"@ar--rtl': LiteralTerm("text", language="ar"),
    f'"abc"^^<{XSD}decimal>': LiteralTerm("abc", f"{XSD}decimal"),
    r'"a\tb\nc\rd\"e\\f"': LiteralTerm('a\tb\nc\rd"e\\f'),
    r'"\b\f\'"': LiteralTerm("\b\f'"),
    r'"\u00e9\U0001F600"': LiteralTerm("\u00e9\U0001f600"),
    r'"\\u00e9"': LiteralTerm(r"\u00e9"),
    '"<http://example.org/a>"': LiteralTerm("<http://example.org/a>"),
    '"\u2028 \x85 \x0b \x1c"': LiteralTerm("\u2028 \x85 \x0b \x1c"),
    "5": LiteralTerm("5", f"{XSD}integer"),
    "-05": LiteralTerm("-05", f"{XSD}integer"),
    "+1.50": LiteralTerm("+1.50", f"{XSD}decimal"),
    ".5": LiteralTerm(".5", f"{XSD}decimal"),
    "1e6": LiteralTerm("1e6", f"{XSD}double"),
    "1.E-6": LiteralTerm("1.E-6", f"{XSD}double"),
    "-.5e+0": LiteralTerm("-.5e+0", f"{XSD}double"),
    "true": LiteralTerm("true", f"{XSD}boolean"),
    "false": LiteralTerm("false", f"{XSD}boolean"),
}


@pytest.mark.parametrize(("field", "term"), FIELDS.items())
def test_a_field_is_the_term_that_the_grammar_says(field: str, term: Term | None) -> None:
    assert of_term(field) == term


ODD_FIELDS = [
    "<http://example.org/a b>",
    "<http://example.org/a",
    "http://example.org/a>",
    "<http://example.org/a>x",
    "x<http://example.org/a>",
    "<http://example.org/<a>>",
    '<http://example.org/">',
    "<http://example.org/\\u0061>",
    "<a> <b>",
    '"text',
    'text"',
    "text",
    "'text'",
    '"a"b"',
    '"text"@',
    '"text"@en_US',
    '"text"^^xsd:string',
    r'"\x"',
    r'"\u12"',
    r'"\ud800"',
    r'"\ud83d\ude00"',
    r'"\U00110000"',
    '"text\\"',
    '"a\rb"',
    "_:",
    "_:a b",
    "1.",
    "1.5.2",
    "1e",
    "True",
    "NaN",
    "2026-02-28",
    "12:30:00",
    " ",
    "<urn:a>\r",
    "## Query cancelled",
    "<< >>",
    "<<( <urn:a> <urn:b> )>>",
    "<<( <urn:a> <urn:b> <urn:c> >>",
    "<< <urn:a> <urn:b> <urn:c> )>>",
    "<<( <urn:a> <urn:b> <urn:c> )>>x",
    "<<( " * 40 + "<urn:a>" + " <urn:b> <urn:c> )>>" * 40,
]


@pytest.mark.parametrize("field", ODD_FIELDS)
def test_a_finished_line_with_another_field_is_to_be_asked_for_in_another_format(field: str) -> None:
    for answer in (body(f"{field}\n", variables=["x"]), body(f"{field}\n", "<urn:a>\n" * 3, variables=["x"])):
        with pytest.raises(WrongFormat) as caught:
            decode_tsv(answer, ["x"])
        assert not caught.value.again
    with pytest.raises(WrongFormat):
        decode_tsv(body(LINE, f"{field}\t<urn:a>\t<urn:b>\n", LINE), SPO)


@pytest.mark.parametrize("written", ["<<( {} {} {} )>>", "<<({} {} {})>>", "<< {} {} {} >>", "<<{} {} {}>>"])
def test_a_triple_term_is_what_it_is_in_json(written: str) -> None:
    a, p = '{"type":"uri","value":"urn:a"}', '{"type":"uri","value":"urn:p"}'
    found = of_term(written.format("<urn:a>", "<urn:p>", r'"say \"x y\""@en'))
    assert isinstance(found, TripleTerm)
    text = r'{"type":"literal","value":"say \"x y\"","xml:lang":"en"}'
    assert json.loads(bytes(found.value)) == json.loads(f'{{"subject":{a},"predicate":{p},"object":{text}}}')
    nested = of_term(written.format("<urn:a>", "<urn:p>", written.format("_:b", "<urn:p>", "5")))
    assert isinstance(nested, TripleTerm)
    inner = json.loads(bytes(nested.value))["object"]
    assert inner["type"] == "triple"
    assert inner["value"]["subject"] == {"type": "bnode", "value": "b"}
    assert inner["value"]["object"] == {"type": "literal", "value": "5", "datatype": f"{XSD}integer"}


ODD_BODIES = {
    "another variable": b"?s\t?p\t?x\n",
    "another order": b"?p\t?s\t?o\n",
    "a variable more": b"?s\t?p\t?o\t?x\n",
    "a variable less": b"?s\t?p\n",
    "no question marks": b"s\tp\to\n",
    "a line end of its own": body(LINE).replace(b"\n", b"\r\n"),
    "a field less": body(LINE, "<urn:a>\t<urn:b>\n", LINE),
    "a field more": body(LINE, "<urn:a>\t<urn:b>\t<urn:c>\t\n", LINE),
    "a field that moved": body("<urn:a>\t<urn:b>\n", "<urn:c>\t<urn:a>\t<urn:b>\t<urn:c>\n"),
    "an empty line": body(LINE, "\n", LINE),
    "an empty line at the end": body(LINE, "\n"),
    "no UTF-8": body(LINE, "<urn:a>\t<urn:b>\t<urn:\u00e9>\n").replace("\u00e9".encode(), b"\xe9"),
    "no UTF-8 in a text": body(LINE, '<urn:a>\t<urn:b>\t"\u00e9"\n').replace("\u00e9".encode(), b"\xe9"),
    "JSON": b'{"head":{"vars":["s","p","o"]},\n"results":{"bindings":[]}}\n',
    "HTML": b"<!DOCTYPE html>\n<html><h1>502 Bad Gateway</h1></html>\n",
}


@pytest.mark.parametrize("answer", ODD_BODIES.values(), ids=ODD_BODIES.keys())
def test_finished_lines_of_another_form_are_to_be_asked_for_in_another_format(answer: bytes) -> None:
    with pytest.raises(WrongFormat):
        decode_tsv(answer, SPO)


def test_an_answer_without_rows_has_none() -> None:
    rows = decode_tsv(body(), SPO)
    assert len(rows) == 0
    assert rows_of(rows, SPO) == []


def test_lines_of_iris_are_columns_of_iris() -> None:
    rows = decode_tsv(body(LINE, LINE), SPO)
    assert rows.iris("o") == ["http://example.org/b"] * 2
    assert rows_of(rows, SPO) == [EDGE, EDGE]


def test_a_last_line_of_another_kind_does_not_change_the_columns_before_it() -> None:
    rows = decode_tsv(body("<urn:a>\t\n", "<urn:b>\t\n", '\t"end"\n', variables=["n", "end"]), ["n", "end"])
    assert rows.terms("end") == [None, None, LiteralTerm("end")]
    assert rows.iris("n") is None
    assert rows.first(2).iris("n") == ["urn:a", "urn:b"]
    assert rows.first(2).terms("end") == [None, None]


# ----------------------------------------------------------------------------------------------------------------------
# Cuts


@pytest.mark.parametrize("marker", [FUSEKI, OXIGRAPH, BLAZEGRAPH, QLEVER])
@pytest.mark.parametrize("before", [b"", body(), body(LINE), body(LINE)[:-30], body(LINE, '<urn:a>\t<urn:b>\t"te')])
def test_an_engine_that_gave_up_after_some_lines_is_reported_as_that(before: bytes, marker: bytes) -> None:
    with pytest.raises(GaveUp, match="gave up in the middle") as caught:
        decode_tsv(before + marker, SPO)
    assert caught.value.smaller


def test_a_text_of_the_graph_is_no_mark_of_an_engine() -> None:
    line = '<urn:a>\t<urn:b>\t"Query cancelled due to timeout"\n'
    assert len(decode_tsv(body(line, LINE), SPO)) == 2
    with pytest.raises(WrongFormat):
        decode_tsv(body(line, "<urn:a>\t<urn:b>\tNaN\n"), SPO)


WHOLE = body(
    LINE,
    '<urn:a>\t_:b0\t"caf\u00e9\\n\U0001f600"@en\n',
    "\t\t5\n",
    f'<urn:a>\t<<( <urn:a> <urn:p> "x" )>>\t"y"^^<{XSD}date>\n',
    LINE,
)


def test_a_body_that_ends_within_a_line_is_broken_and_may_be_asked_for_again() -> None:
    for end in range(len(WHOLE)):
        if WHOLE[:end].endswith(b"\n"):
            continue
        with pytest.raises(BrokenAnswer) as caught:
            decode_tsv(WHOLE[:end], SPO)
        assert caught.value.again


def test_a_body_that_ends_behind_a_line_has_the_lines_before_it() -> None:
    lines = WHOLE.split(b"\n")
    rows = rows_of(decode_tsv(WHOLE, SPO), SPO)
    for count in range(len(lines) - 1):
        assert rows_of(decode_tsv(b"\n".join([*lines[: count + 1], b""]), SPO), SPO) == rows[:count]


def test_far_more_rows_than_asked_for_are_a_cut_answer() -> None:
    answer = body(LINE * 120_000)
    assert len(decode_tsv(answer, SPO, 40_000)) == 120_000
    with pytest.raises(AnswerCut, match="than were asked for") as caught:
        decode_tsv(answer, SPO, 10)
    assert caught.value.smaller


@pytest.mark.parametrize("line", ["\t\t\n", LINE, '"x"\t"y"\t"z"\n'], ids=["empty", "IRIs", "texts"])
def test_an_answer_takes_little_more_memory_than_its_terms(line: str) -> None:
    answer = body(line * 30_000)
    tracemalloc.start()
    try:
        decode_tsv(answer, SPO)
        assert tracemalloc.get_traced_memory()[1] < 30_000 * 3 * 120 + (4 << 20)
    finally:
        tracemalloc.stop()


# ----------------------------------------------------------------------------------------------------------------------
# As Virtuoso writes it

QUOTED = '"http://example.org/a"\t"http://example.org/p"\t"http://example.org/b"\n'


def quoted(*lines: str, header: str = '"s"\t"p"\t"o"\n') -> bytes:
    return (header + "".join(lines)).encode()


def test_iris_in_quotation_marks_are_read_where_the_query_binds_nothing_else() -> None:
    assert rows_of(decode_tsv(quoted(QUOTED, QUOTED), SPO, iris=SPO), SPO) == [EDGE, EDGE]
    with pytest.raises(WrongFormat):
        decode_tsv(quoted(QUOTED), SPO)
    with pytest.raises(WrongFormat):
        decode_tsv(body(QUOTED), ["s", "p"], iris=["s", "p"])


def test_a_blank_node_in_quotation_marks_is_one() -> None:
    line = '"urn:a"\t"http://example.org/p"\t"nodeID://b10010"\n'
    rows = decode_tsv(quoted(QUOTED, line, QUOTED), SPO, iris=SPO)
    assert rows.terms("o")[1] == BlankTerm("nodeID://b10010")
    assert rows.iris("s") == ["http://example.org/a", "urn:a", "http://example.org/a"]


@pytest.mark.parametrize("field", ["5", '"a text"', '"text"', '""', '"http://e/\\"x"', "<http://e/x>", '"http://e/ "'])
def test_what_cannot_be_an_iri_in_quotation_marks_is_to_be_asked_for_in_another_format(field: str) -> None:
    with pytest.raises(WrongFormat):
        decode_tsv(quoted(QUOTED, f'"http://e/x"\t"http://e/x"\t{field}\n', QUOTED), SPO, iris=SPO)


def test_a_column_of_words_of_our_own_may_follow_the_iris() -> None:
    header = '"n"\t"end"\n'
    for word in ("end", marker("SELECT ?n WHERE { }")):
        answer = quoted('"http://e/x"\t\n', '"http://e/y"\t\n', f'\t"{word}"\n', header=header)
        rows = decode_tsv(answer, ["n", "end"], iris=["n"])
        assert rows.first(2).iris("n") == ["http://e/x", "http://e/y"]
        assert rows.terms("end") == [None, None, LiteralTerm(word)]
    for field in ('"http://e/x"', '"two words"', "5"):
        with pytest.raises(WrongFormat):
            decode_tsv(quoted(f'"http://e/x"\t{field}\n', header=header), ["n", "end"], iris=["n"])


# ----------------------------------------------------------------------------------------------------------------------
# Any terms

_IN_IRIS = st.characters(codec="utf-8", exclude_characters='<>"{}|^`\\', min_codepoint=0x21)
_IRIS = st.text(_IN_IRIS, max_size=12).map(lambda text: IriTerm(f"x:{text}"))
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["\t", "\n", "\\n", '"', "\\", "a\\", "##"]
)
_LITERALS = st.one_of(
    st.builds(LiteralTerm, _TEXTS),
    st.builds(LiteralTerm, _TEXTS, language=st.sampled_from(["en", "en-US", "x-1"])),
    st.builds(LiteralTerm, _TEXTS, _IRIS.map(lambda iri: iri.value)),
    st.builds(LiteralTerm, st.integers().map(str), st.just(f"{XSD}integer")),
)
_SIMPLE = st.one_of(_IRIS, st.integers(0, 99).map(lambda number: BlankTerm(f"b{number}")), _LITERALS)
_ROWS = st.lists(
    st.fixed_dictionaries({}, optional=dict.fromkeys(SPO, _SIMPLE)) | st.fixed_dictionaries(dict.fromkeys(SPO, _IRIS)),
    max_size=12,
)


def written(term: Term | None, dice: bool) -> str:
    """Write a term as the grammar allows: short or long, escapes where they need not be."""
    if term is None:
        return ""
    if isinstance(term, IriTerm):
        return f"<{term.value}>"
    if isinstance(term, BlankTerm):
        return f"_:{term.value}"
    assert isinstance(term, LiteralTerm)
    if term.datatype == f"{XSD}integer" and dice:
        return term.value
    plain = term.value.replace("\\", "\\\\").replace('"', '\\"')
    text = plain.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    if dice:
        text = "".join(f"\\U{ord(one):08x}" for one in term.value)
    language = f"@{term.language}" if term.language else ""
    return f'"{text}"{language}{"" if term.datatype is None else f"^^<{term.datatype}>"}'


def lines_of(rows: Sequence[Row], dice: bool) -> bytes:
    return body(*("\t".join(written(row.get(name), dice) for name in SPO) + "\n" for row in rows))


@given(_ROWS, st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_any_terms_are_read_as_they_were_written(rows: list[Row], dice: bool) -> None:
    answer = lines_of(rows, dice)
    assert rows_of(decode_tsv(answer, SPO), SPO) == rows


@given(_ROWS, st.booleans(), st.data())
@settings(max_examples=examples(200), deadline=None)
def test_no_part_of_a_body_has_a_row_that_the_whole_has_not(rows: list[Row], dice: bool, data: st.DataObject) -> None:
    answer = lines_of(rows, dice)
    part = answer[: data.draw(st.integers(0, len(answer) - 1))]
    try:
        found = rows_of(decode_tsv(part, SPO), SPO)
    except EndpointFault:
        return
    assert part.endswith(b"\n")
    assert found == rows[: len(found)]
    assert len(found) == part.count(b"\n") - 1 < len(rows)


@given(_ROWS, st.data())
@settings(max_examples=examples(300), deadline=None)
def test_a_changed_byte_is_another_term_or_a_fault_and_never_another_number_of_rows(
    rows: list[Row], data: st.DataObject
) -> None:
    answer = bytearray(lines_of(rows, dice=False))
    answer[data.draw(st.integers(0, len(answer) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = decode_tsv(bytes(answer), SPO)
    except EndpointFault:
        return
    assert len(found) == answer.count(b"\n") - 1


@given(st.lists(st.sampled_from([LINE, '<urn:a>\t\t"text"\n', "\t\t\n", "<urn:a>\t<urn:b>\t_:c\n"]), max_size=20))
@settings(max_examples=examples(50), deadline=None)
def test_a_long_answer_is_read_in_pieces_as_a_short_one(
    lines: list[str],
) -> None:
    many = [*lines, *[LINE] * 6_000, *lines, *['<urn:a>\t<urn:b>\t"x"\n'] * 6_000, *lines]
    found = rows_of(decode_tsv(body(*many), SPO, len(many)), SPO)
    each = {line: rows_of(decode_tsv(body(line), SPO), SPO)[0] for line in {*many}}
    assert found == [each[line] for line in many]


@given(st.binary(max_size=80))
@settings(max_examples=examples(300), deadline=None)
def test_no_bytes_make_any_other_error(rest: bytes) -> None:
    for answer in (rest, body() + rest, body(LINE) + rest, quoted(QUOTED) + rest):
        try:
            assert isinstance(decode_tsv(answer, SPO, iris=SPO), Table)
        except EndpointFault:
            continue


def test_a_column_that_is_bound_in_some_rows_has_nothing_in_the_others() -> None:
    rows = decode_tsv(body("<urn:a>\t\t\n", "\t<urn:p>\t_:b\n"), SPO)
    assert rows_of(rows, SPO) == rows_of(
        table({"s": IriTerm("urn:a")}, {"p": IriTerm("urn:p"), "o": BlankTerm("b")}), SPO
    )


_PARTS = ["<a>", "<b:c>", "<", ">", "\t", "\n", '"x"', '""', '"http://e/x"', '"nodeID://b1"', "_:b", "5", " ", "x"]
_LINES = ["<a>\t<b>\t<c>\n", "<a>\t<b>\t\n", '"http://e/a"\t"http://e/p"\t"http://e/b"\n', "\t\t\n"]


@given(st.lists(st.sampled_from([*_PARTS, *_LINES]), max_size=12), st.sampled_from([body(), quoted()]))
@settings(max_examples=examples(500), deadline=None)
def test_lines_of_iris_are_read_as_any_lines_are(parts: list[str], header: bytes) -> None:
    answer = header + "".join(parts).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        fast = found_in(answer)
        patch.setattr(tsv_rows, "_iris_in", lambda *_: None)
        assert found_in(answer) == fast


def found_in(answer: bytes) -> list[Row] | type[EndpointFault]:
    try:
        return rows_of(decode_tsv(answer, SPO, iris=SPO), SPO)
    except EndpointFault as fault:
        return type(fault)
