"""Answers as bytes and back."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.cache import shared_codec
from gateway.errors import EndpointFault
from gateway.graph.counts import EdgeCount, EdgeCounts
from gateway.graph.values import (
    Assertion,
    BlankNode,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    Evidence,
    Existence,
    Identities,
    Mark,
    Neighbourhood,
    NodeFacts,
    NoValue,
    Quantity,
    Reach,
    Resource,
)
from gateway.terms.literals import Literal

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
IRIS = st.lists(TEXT, max_size=4).map(tuple)
LITERALS = st.builds(Literal, TEXT, TEXT, TEXT)
QUANTITIES = st.builds(Quantity, st.builds(Literal, TEXT, TEXT), TEXT)
LEAVES = LITERALS | QUANTITIES | st.builds(Resource, TEXT) | st.builds(NoValue, st.booleans())
PROPERTIES = st.recursive(
    st.dictionaries(TEXT, st.lists(LEAVES, max_size=3).map(tuple), max_size=3),
    lambda inner: st.dictionaries(
        TEXT, st.lists(LEAVES | st.builds(BlankNode, inner, st.booleans()), max_size=3).map(tuple), max_size=3
    ),
    max_leaves=5,
)
COUNTS = st.builds(EdgeCount, TEXT, st.booleans(), st.integers(0, 9), IRIS)
ANSWERS = st.one_of(
    st.builds(
        Neighbourhood, st.lists(st.builds(Edge, TEXT, TEXT, TEXT), max_size=5).map(tuple), st.integers(0, 99)
    ).map(lambda answer: (shared_codec.EDGES, answer)),
    st.builds(Degree, st.integers(0, 10**9), st.booleans()).map(lambda answer: (shared_codec.DEGREES, answer)),
    st.builds(EdgeCounts, st.lists(COUNTS, max_size=3).map(tuple), st.integers(0, 9)).map(
        lambda answer: (shared_codec.COUNTS, answer)
    ),
    st.builds(NodeFacts, IRIS, TEXT, description=TEXT, left_out=st.integers(0, 9)).map(
        lambda answer: (shared_codec.FACTS, answer)
    ),
    st.builds(Existence, st.booleans()).map(lambda answer: (shared_codec.EXISTENCE, answer)),
    st.builds(DirectSubclasses, IRIS).map(lambda answer: (shared_codec.SUBCLASSES, answer)),
    st.builds(Identities, IRIS).map(lambda answer: (shared_codec.IDENTITIES, answer)),
    st.builds(Reach, st.dictionaries(TEXT, st.integers(0, 5), max_size=4)).map(
        lambda answer: (shared_codec.REACH, answer)
    ),
    st.builds(Description, PROPERTIES, left_out=st.integers(0, 9)).map(
        lambda answer: (shared_codec.DESCRIPTIONS, answer)
    ),
    st.builds(
        Evidence, st.lists(st.builds(Assertion, PROPERTIES, IRIS), max_size=2).map(tuple), left_out=st.integers(0, 9)
    ).map(lambda answer: (shared_codec.EVIDENCE, answer)),
)


@given(ANSWERS)
def test_what_is_read_is_what_was_written(drawn: tuple[object, object]) -> None:
    kind, answer = drawn
    content = kind.write(answer)  # type: ignore[attr-defined]
    assert isinstance(content, bytes)
    assert kind.read(content) == answer  # type: ignore[attr-defined]


@given(st.binary(max_size=60) | ANSWERS.map(lambda drawn: drawn[0].write(drawn[1])))
def test_other_bytes_are_no_answer_or_a_whole_one(content: bytes) -> None:
    for kind in (
        shared_codec.EDGES,
        shared_codec.FACTS,
        shared_codec.DESCRIPTIONS,
        shared_codec.EVIDENCE,
        shared_codec.COUNTS,
        shared_codec.REACH,
    ):
        read = kind.read(content)
        assert read is None or read.mark.whole


def test_answers_that_are_not_whole_or_hold_hashes_of_this_process_are_not_written() -> None:
    fault = Mark(EndpointFault("Gone."))
    assert shared_codec.EDGES.write(Neighbourhood(mark=fault)) is None
    assert shared_codec.EDGES.write(Neighbourhood(left_out=frozenset({1}))) is None
    assert shared_codec.DESCRIPTIONS.write(Description(mark=fault)) is None
    assert shared_codec.DESCRIPTIONS.write(Description(refined=False)) is None
    assert shared_codec.EVIDENCE.write(Evidence(mark=fault)) is None
