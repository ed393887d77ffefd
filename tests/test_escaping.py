"""Characters that hide, reorder or control text are escaped, and come back as they were."""

import ast
import json
import tomllib
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.streams import clean
from gateway.errors import quoted
from gateway.escaping import in_json, json_text, printable, visible
from tests.hidden import HIDDEN, hidden_in

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(HIDDEN), st.sampled_from('\\"u0n')))
# Two lone surrogates side by side are one character to every reader of JSON.
PARSED = TEXTS.map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
VALUES = st.recursive(PARSED, lambda inner: st.lists(inner) | st.dictionaries(PARSED, inner), max_leaves=5)


def test_every_character_that_hides_or_controls_text_is_escaped_as_python_does_in_json() -> None:
    characters = map(chr, range(0x110000))
    hidden = [one for one in characters if unicodedata.category(one) in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}]
    text = "".join((*hidden, *HIDDEN))
    assert hidden_in(printable(text)) == []
    # Delete is no control character to Python's writer of JSON.
    assert json_text(text) == json.dumps(text).replace("\x7f", r"\u007f")


def test_letters_marks_and_emoji_are_left_alone() -> None:
    text = "a  b — Zürich Zu\u0308rich 東京 🤷🏽 ½ ﷺ नमस्ते עברית العربية \u00a0 [x]"
    assert visible(text) == printable(text) == text
    assert json_text(text) == f'"{text}"'


@given(VALUES)
def test_json_is_read_back_as_it_was_written(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert hidden_in(text) == []
    assert json.loads(json_text(value, indent=1)) == value


@given(TEXTS)
def test_json_of_another_writer_means_the_same_when_it_is_escaped(text: str) -> None:
    written = json.dumps({"key": text}, ensure_ascii=False)
    assert json.loads(in_json(written)) == json.loads(written)


@given(TEXTS)
def test_what_a_terminal_shows_of_a_value_can_be_read_back(text: str) -> None:
    shown = clean(text)
    assert hidden_in(shown) == []
    assert ast.literal_eval('"' + shown.replace('"', '\\"') + '"') == text


@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HIDDEN.replace("\ud800", "")))))
def test_what_is_shown_is_a_text_in_toml(text: str) -> None:
    written = visible(text).replace('"', r"\"")
    assert tomllib.loads(f'text = "{written}"')["text"] == text


@given(TEXTS.filter(lambda text: len(text) < 10))
def test_a_value_in_an_error_can_be_read_back(text: str) -> None:
    shown = quoted(text)
    if "…" not in shown:
        assert hidden_in(shown) == []
        assert ast.literal_eval(shown) == text
