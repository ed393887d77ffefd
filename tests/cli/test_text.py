import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.text import clean, counted, local_part, short_names


def test_plain_text_is_left_alone() -> None:
    text = "a  b — Zürich 東京 🤷🏽\u200d♀️ [x] \\x1b"
    assert clean(text) == text


def test_control_characters_are_written_out() -> None:
    assert clean("a\x1b[1mb\x07\x7f\x9b\u202e\ud800") == "a\\x1b[1mb\\x07\\x7f\\x9b\\u202e\\ud800"


def test_lines_become_one() -> None:
    assert clean(" a\r\n b\t\tc\u2028d\x85e ") == "a b c d e"


@given(st.text())
def test_no_text_holds_anything_that_a_terminal_obeys(text: str) -> None:
    assert not {unicodedata.category(character) for character in clean(text)} & {"Cc", "Cs", "Zl", "Zp"}


def test_a_local_part_is_what_follows_the_last_separator() -> None:
    told = {term: local_part(term) for term in ("m:TREATS", ":a", "http://e/x#y", "<http://e/x/>", "untyped", ":")}
    assert told == {
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
        "wd:Q6": "y\\x1b",
    }


def test_numbers_have_their_nouns() -> None:
    assert [counted(count, "node") for count in (0, 1, 1200)] == ["0 nodes", "1 node", "1,200 nodes"]
