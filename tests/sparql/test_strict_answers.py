"""Answers that a lenient parser takes for other ones, and answers that are small to send and large to read."""

import json
import tracemalloc
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import AnswerCut, EndpointFault
from gateway.sparql import json_rows
from gateway.sparql.json_rows import decode, without_halves
from tests.examples import examples
from tests.tables import Row, decoded

HEAD = '"head":{"vars":["s","o"]}'
ROW = '{"s":{"type":"uri","value":"http://example.org/a"},"o":{"type":"literal","value":"b"}}'
RESULTS = f'"results":{{"bindings":[{ROW}]}}'
WHOLE = f"{{{HEAD},{RESULTS}}}"


def of_rows(*rows: str, variables: str = '["s","o"]') -> bytes:
    return f'{{"head":{{"vars":{variables}}},"results":{{"bindings":[{",".join(rows)}]}}}}'.encode()


def of_term(term: str) -> bytes:
    return of_rows(ROW, f'{{"s":{{{term}}}}}', ROW)


@pytest.mark.parametrize("body", [WHOLE, f"{{{HEAD},{RESULTS.replace(ROW, '')}}}"], ids=["a row", "no row"])
def test_a_body_that_ends_early_anywhere_is_no_answer_though_nothing_says_how_long_it_is(body: str) -> None:
    for length in range(len(body)):
        with pytest.raises(EndpointFault):
            decoded(body[:length].encode())
    assert decoded(body.encode()) is not None


REPEATED_AROUND = {
    "results, the last empty": f'{{{HEAD},{RESULTS},"results":{{"bindings":[]}}}}',
    "results, the first empty": f'{{{HEAD},"results":{{"bindings":[]}},{RESULTS}}}',
    "results, both with rows": f"{{{HEAD},{RESULTS},{RESULTS}}}",
    "results, one written with an escape": f'{{{HEAD},"result\\u0073":{{"bindings":[]}},{RESULTS}}}',
    "bindings, the last empty": f'{{{HEAD},"results":{{"bindings":[{ROW}],"bindings":[]}}}}',
    "bindings, the first empty": f'{{{HEAD},"results":{{"bindings":[],"bindings":[{ROW}]}}}}',
    "bindings, with rows between": f'{{{HEAD},"results":{{"bindings":[{ROW}],"x":[1],"bindings":[{ROW}]}}}}',
    "head": f'{{"head":{{"vars":[]}},{HEAD},{RESULTS}}}',
    "head behind the rows": f"{{{HEAD},{RESULTS},{HEAD}}}",
    "vars": f'{{"head":{{"vars":["s","o"],"vars":["s","o"]}},{RESULTS}}}',
    "meta": f'{{{HEAD},{RESULTS},"meta":{{"result-size-total":9}},"meta":{{"result-size-total":1}}}}',
    "a name of no meaning": f'{{{HEAD},"x":1,"x":1,{RESULTS}}}',
}


@pytest.mark.parametrize("answer", REPEATED_AROUND.values(), ids=REPEATED_AROUND.keys())
def test_an_answer_that_has_a_part_twice_is_no_answer(answer: str) -> None:
    assert json.loads(answer)
    with pytest.raises(EndpointFault, match="no whole SPARQL JSON"):
        decoded(answer.encode())


IRI = '"type":"uri","value":"http://example.org/a"'
NUMBER = '"type":"literal","value":"5"'
INTEGER = '"datatype":"http://www.w3.org/2001/XMLSchema#integer"'

REPEATED_IN_A_TERM = {
    "value": f'{IRI},"value":"http://example.org/b"',
    "value written with an escape": f'{IRI},"v\\u0061lue":"http://example.org/b"',
    "value beside a text with quotes": f'"type":"literal","value":"a \\"b\\"","value":"{"c" * 9}"',
    "type": f'{IRI},"type":"uri"',
    "datatype": f'{NUMBER},{INTEGER},"datatype":"http://example.org/other"',
    "language": f'{NUMBER},"xml:lang":"en","xml:lang":"de"',
    "a name of no meaning": f'{IRI},"x":1,"x":2',
    "value in a triple term": f'"type":"triple","value":{{"subject":{{{IRI},"value":"x"}}}}',
}


@pytest.mark.parametrize("term", REPEATED_IN_A_TERM.values(), ids=REPEATED_IN_A_TERM.keys())
def test_a_term_that_has_a_name_twice_makes_the_body_no_answer(term: str) -> None:
    assert json.loads(of_term(term))
    with pytest.raises(EndpointFault, match="a name occurs twice"):
        decoded(of_term(term))


def test_a_row_that_binds_a_variable_twice_makes_the_body_no_answer() -> None:
    with pytest.raises(EndpointFault, match="a name occurs twice"):
        decoded(of_rows(ROW, f'{{"s":{{{IRI}}},"s":{{{IRI}}}}}'))


@pytest.mark.parametrize("rows", [1, 100, 5000])
def test_an_engine_that_writes_a_name_twice_in_each_row_is_found_out_whatever_the_length(rows: int) -> None:
    with pytest.raises(EndpointFault, match="a name occurs twice"):
        decoded(of_rows(*[f'{{"s":{{{IRI},"value":"x"}}}}'] * rows))


CONTRADICTING = {
    "boolean": f'{{{HEAD},"boolean":true,{RESULTS}}}',
    "boolean behind": f'{{{HEAD},{RESULTS},"boolean":false}}',
    "error": f'{{"error":{{"code":500}},{HEAD},{RESULTS}}}',
    "exception": f'{{{HEAD},{RESULTS},"exception":"out of memory"}}',
    "error beside the rows": f'{{{HEAD},"results":{{"bindings":[{ROW}],"error":"out of memory"}}}}',
    "a second document": WHOLE + WHOLE,
    "a second document that is an error": WHOLE + '{"error":"x"}',
    "an error before it": '{"error":"x"}' + WHOLE,
    "an error around it": f'{{"error":"x","answer":{WHOLE}}}',
    "vars that lack what was asked for": f'{{"head":{{"vars":["s"]}},{RESULTS}}}',
    "vars that are no texts": f'{{"head":{{"vars":["s","o",5]}},{RESULTS}}}',
    "rows in the head": f'{{"head":{{"vars":["s","o"],"results":{{"bindings":[{ROW}]}}}}}}',
}


@pytest.mark.parametrize("answer", CONTRADICTING.values(), ids=CONTRADICTING.keys())
def test_rows_beside_something_that_contradicts_them_are_no_answer(answer: str) -> None:
    with pytest.raises(EndpointFault):
        decoded(answer.encode())


@pytest.mark.parametrize(
    "answer",
    [
        f"{{{RESULTS},{HEAD}}}",
        f'{{{RESULTS},"head":{{"vars":["s","o"],"link":[]}}}}',
        f'{{{HEAD},"results":{{"distinct":false,"ordered":true,"bindings":[{ROW}]}}}}',
        f'{{{HEAD},{RESULTS},"meta":{{"result-size-total":1,"x":[[1],[2]]}}}}',
        WHOLE.replace('":', '" :\n\t'),
        f'{{{HEAD},"results":{{"ordered":1,"bindings":[{ROW}]}},"meta":{{"x":[1],"ordered":1}}}}',
    ],
)
def test_the_order_of_the_parts_does_not_matter(answer: str) -> None:
    assert decoded(answer.encode()) == decoded(WHOLE.encode())


def test_rows_are_decoded_once_whatever_lists_stand_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    behind = "".join(f',"x{number}":[]' for number in range(7))
    lengths: list[int] = []
    really = json_rows._decoded  # noqa: SLF001 - how often it decodes is what a caller waits for

    def counted(text: memoryview, variables: tuple[str, ...]) -> object:
        lengths.append(len(text))
        return really(text, variables)

    monkeypatch.setattr(json_rows, "_decoded", counted)
    assert len(decode(f'{{{HEAD},"results":{{"bindings":[{ROW}]{behind}}}}}'.encode(), ("s", "o"))) == 1
    assert lengths == [len(ROW) + 2]
    lengths.clear()
    with pytest.raises(EndpointFault):
        decode(f'{{{HEAD},"results":{{"bindings":[{ROW},{ROW[:-1]}]{behind}}}}}'.encode(), ("s", "o"))
    assert len(lengths) == 1


names = st.sampled_from(["value", "type", "bindings", "results", "head", "vars", "s", "]", '"', "\\", "}},{", "\n"])
texts = st.one_of(names, st.text(max_size=8), st.lists(names, max_size=4).map("".join))
terms = st.one_of(
    st.fixed_dictionaries({"type": st.just("uri"), "value": texts}),
    st.fixed_dictionaries(
        {"type": st.just("literal"), "value": texts}, optional={"datatype": texts, "xml:lang": texts, "x": texts}
    ),
)


@given(st.lists(st.dictionaries(texts, terms, max_size=3), max_size=20), st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=examples(150), deadline=None)
def test_an_answer_of_any_texts_is_read_as_json_reads_it(
    rows: list[dict[str, dict[str, str]]], ascii_only: bool, indent: int | None
) -> None:
    names = {"s", *(name for row in rows for name in row)}
    answer = {"head": {"vars": [*names]}, "results": {"bindings": rows}}
    # No variable has a name that JSON writes with an escape.
    variables = {name for name in names if json.dumps(name, ensure_ascii=False) == f'"{name}"'}
    body = json.dumps(answer, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    found = [{name: without_nulls(term) for name, term in plain(row).items()} for row in decoded(body, *variables)]
    assert found == [{name: without_nulls(row[name]) for name in row.keys() & variables} for row in rows]


def plain(row: Row) -> Mapping[str, Mapping[str, str]]:
    """Return a row as it stands in JSON."""
    return {name: msgspec.to_builtins(term, str_keys=True) for name, term in row.items()}


def without_nulls(term: Mapping[str, str | None]) -> Mapping[str, str]:
    return {key: text for key, text in term.items() if text is not None and key != "x"}


# ----------------------------------------------------------------------------------------------------------------------
# Small to send, large to read


def most_memory_while_reading(body: bytes) -> int:
    """Return how many bytes were in use at once beyond the body itself."""
    tracemalloc.start()
    try:
        with pytest.raises(EndpointFault):
            decode(body, ("s",), 10)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


A_TERM = '"":{"type":"uri","value":""}'
LARGE = 9_000_000


@pytest.mark.parametrize(
    "answer",
    [
        of_rows(*["{}"] * (LARGE // 3)),
        of_rows(*["{" + A_TERM + "}"] * (LARGE // 30)),
        of_rows(ROW, variables="[" + ",".join(['""'] * (LARGE // 3)) + "]"),
        of_term(IRI + ',"x":[' + ",".join(["{}"] * (LARGE // 3)) + '],"x":0'),
        of_term('"type":"triple","value":[' + ",".join(["{}"] * (LARGE // 3)) + "]"),
    ],
    ids=["rows without terms", "short rows", "variables", "content that nobody reads", "a triple term"],
)
def test_an_answer_of_nothing_takes_no_more_memory_than_it_is_long(answer: bytes) -> None:
    assert most_memory_while_reading(answer) < 4 * len(answer)


def test_many_rows_without_terms_are_no_answer_and_one_is() -> None:
    assert decoded(of_rows("{}", ROW))[0] == {}
    with pytest.raises(EndpointFault):
        decoded(of_rows(*[ROW] * 500, "{}"))


def test_more_rows_than_asked_for_are_read_as_far_as_they_are_many_times_more() -> None:
    body = of_rows(*[ROW] * 120_000)
    assert len(decode(body, ("s", "o"), 40_000)) == 120_000
    with pytest.raises(AnswerCut, match="than were asked for") as caught:
        decode(body, ("s", "o"), 10)
    assert caught.value.smaller


# ----------------------------------------------------------------------------------------------------------------------
# Halves of surrogate pairs

HALVES = {
    r"\ud83d\ude00": "\U0001f600",
    r"\ud83d": "\ufffd",
    r"\ude00": "\ufffd",
    r"\ud83dx\uDE00": "\ufffdx\ufffd",
    r"\ud83d\ud83d\ude00": "\ufffd\U0001f600",
    r"\ud83d\ude00\ude00": "\U0001f600\ufffd",
    r"\\ud83d \ud83d": "\\ud83d \ufffd",
    r"\\\ud83d": "\\\ufffd",
    r"\uD83D\n\u00e9": "\ufffd\n\u00e9",
}


@pytest.mark.parametrize(("written", "read"), HALVES.items())
def test_half_a_surrogate_pair_is_read_as_the_replacement_character(written: str, read: str) -> None:
    rows = decoded(of_term(f'"type":"literal","value":"{written} and \\ud800"'))
    assert rows[1]["s"].value == f"{read} and \ufffd"
    assert len(rows) == 3


@given(st.text(st.sampled_from('\ud83d\ude00\udfff\ud800\\u"na\U0001f600'), max_size=30))
@settings(max_examples=examples(300), deadline=None)
def test_whatever_halves_a_text_has_the_rest_of_it_is_as_it_was(text: str) -> None:
    written = json.dumps(text)
    (row,) = decoded(of_rows(f'{{"s":{{"type":"literal","value":{written}}}}}'))
    assert row["s"].value == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.mark.parametrize(
    "text",
    [rb"\ud800" * 20_000, rb"\ud800" + b" " * (1 << 24), b"\\" * 201 + b"ud800"],
    ids=["mostly halves", "too long", "many backslashes"],
)
def test_text_that_is_mostly_halves_or_too_long_is_not_repaired(text: bytes) -> None:
    assert without_halves(text) is None
