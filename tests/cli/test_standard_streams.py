from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.streams import clean, line
from gateway.cli.subgraph import short_names
from tests.hidden import hidden_in


def test_a_value_is_on_one_line_and_can_be_read_back() -> None:
    assert clean("a  b\n\x1b[1m\x9b\u202e\ud800\U000e0041 \\x1b") == (
        r"a  b\n\u001b[1m\u009b\u202e\ud800\U000e0041 \\x1b"
    )


def test_a_sentence_is_on_one_line_and_its_backslashes_stay() -> None:
    assert line(" a\r\n b\t\tc\u2028d\x85e  \x1b f\\n ") == r"a b c d e  \u001b f\n"


@given(st.text())
def test_no_sentence_holds_anything_that_a_terminal_obeys(text: str) -> None:
    assert hidden_in(line(text)) == []


def test_a_short_name_is_what_follows_the_last_separator() -> None:
    terms = ("m:TREATS", ":a", "http://e/x#y", "<http://e/x/>", "untyped", ":")
    assert short_names(terms, None) == {
        "m:TREATS": "TREATS",
        ":a": "a",
        "http://e/x#y": "y",
        "<http://e/x/>": "x",
        "untyped": "untyped",
        ":": ":",
    }


def test_names_are_short_where_that_is_clear() -> None:
    assert short_names(["a:x", "b:x", "a:y", "wd:Q5", "wd:Q6"], {"wd:Q5": "human", "wd:Q6": "y\x1b"}) == {
        "a:x": "a:x",
        "b:x": "b:x",
        "a:y": "y",
        "wd:Q5": "human",
        "wd:Q6": r"y\u001b",
    }
