"""The bytes of a part of an answer are those that it is written in."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.shape import size_of
from gateway.escaping import json_text

TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from('"\\\n\t\x7f\x00 aé\u200b'), max_size=8)


@given(TEXTS | st.lists(TEXTS, max_size=2) | st.none() | st.integers())
@settings(deadline=None)
def test_a_value_takes_the_bytes_of_its_json_and_a_comma(value: object) -> None:
    assert size_of(value) == len(f"{json_text(value)},".encode())
