"""How near two spellings are."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.terms.spelling import edits, is_near, is_one_edit_apart, may_be_near
from tests.examples import examples

_texts = st.text("abc", max_size=6)


def every_edit(text: str) -> set[str]:
    """Return all texts that one edit makes of a text, and the text."""
    cuts = [(text[:place], text[place:]) for place in range(len(text) + 1)]
    return {
        text,
        *(left + right[1:] for left, right in cuts),
        *(left + one + right for left, right in cuts for one in "abc"),
        *(left + one + right[1:] for left, right in cuts if right for one in "abc"),
        *(left + right[1] + right[0] + right[2:] for left, right in cuts if right[1:]),
    }


@settings(derandomize=True, deadline=None, max_examples=examples(300))
@given(one=_texts, other=_texts, most=st.integers(0, 6))
def test_edits_are_those_that_make_one_text_the_other(one: str, other: str, most: int) -> None:
    count = edits(one, other, 6)
    assert count == edits(other, one, 6)
    assert (count == 0) is (one == other)
    assert (count is not None and count <= 1) is is_one_edit_apart(one, other) is (other in every_edit(one))
    assert edits(one, other, most) == (count if count is not None and count <= most else None)


@settings(derandomize=True, deadline=None, max_examples=examples(300))
@given(one=_texts, first=st.data())
def test_two_edits_of_a_text_are_two_at_most(one: str, first: st.DataObject) -> None:
    between = first.draw(st.sampled_from(sorted(every_edit(one))))
    other = first.draw(st.sampled_from(sorted(every_edit(between))))
    count = edits(one, other, 9)
    # Neighbours that were swapped are not edited again.
    assert count is not None
    assert count <= 3


@settings(derandomize=True, deadline=None, max_examples=examples(300))
@given(one=st.text("abc", min_size=5, max_size=14), first=st.data())
def test_a_text_that_may_not_be_near_is_not_near(one: str, first: st.DataObject) -> None:
    other = one
    for _ in range(first.draw(st.integers(0, 3))):
        other = first.draw(st.sampled_from(sorted(every_edit(other))))
    assert may_be_near(one, other) or not is_near(one, other)
    assert not may_be_near("aspirin", "insulin")


def test_a_short_text_is_near_to_none_but_itself_and_a_long_one_with_more_edits() -> None:
    assert [is_near(*pair) for pair in (("tubb", "tuba"), ("tuba", "tuba"), ("koala", "kuala"))] == [False, True, True]
    assert is_near("insluin", "insulin")
    assert is_near("schwarzenneger", "schwarzenegger")
    assert not is_near("aspirin", "insulin")
    assert not is_near("tom", "tomorrow")
