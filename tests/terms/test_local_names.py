"""Whatever local name fits a text, the patterns that an engine compares IRIs with let through."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.databases.terms import IriMapping
from gateway.graph.reading import local_hits
from gateway.terms.iri import is_iri
from gateway.terms.local_names import local_patterns
from gateway.terms.names import MOST_WORDS, Fit, Sought
from tests.examples import examples

_WORDS = [
    "room",
    "rooms",
    "city",
    "cities",
    "shelf",
    "shelves",
    "woman",
    "women",
    "Köln",
    "koln",
    "straße",
    "комната",
    "x",
    "C180",
]
_SIGNS = ["/", "#", "?", "//", "_", "-", ".", ":", "%20", "%2F", "%C3%B6", "=", "@", ".ttl", "Sub", "12345", "q42"]
PARTS = st.lists(st.sampled_from([*_WORDS, *map(str.upper, _WORDS), *map(str.title, _WORDS), *_SIGNS]), max_size=7)
BEGINNINGS = st.sampled_from(
    ["http://ex.org/", "http://room.org", "http://room.org/room/", "urn:x:", "mailto:", "tag:"]
)
QUERIES = st.lists(st.sampled_from([*_WORDS, "Room", "%20", "ro", "oom", "hall"]), min_size=1, max_size=3)
IN_TEXTS = st.sampled_from([" ", "<", ">", '"', "/", "#", "pump", "room", ":", "x:", "http://", "é", "?"])


def _is_let_through(text: str, sought: Sought, *, every: bool, are_iris: bool) -> bool:
    found = local_patterns(sought.words[:MOST_WORDS], every=every, are_iris=are_iris)
    return all(re.search(one, text.lower(), re.DOTALL) for one in found)


def _check(text: str, node: str, query: str, *, are_iris: bool) -> None:
    sought = Sought.of(query)
    if not sought.words:
        return
    for hit in local_hits(node, query):
        if sought.is_in(hit.text):
            assert _is_let_through(text, sought, every=True, are_iris=are_iris)
        if min(sought.fits(hit.text)) <= Fit.FORM:
            assert _is_let_through(text, sought, every=False, are_iris=are_iris)


@given(BEGINNINGS, PARTS, QUERIES)
@example("http://ex.org/", ["old_", "city"], ["cities"])
@example("http://ex.org/", ["room", "?", "l=a", "/", "b", "#"], ["rooms"])
@example("http://ex.org/x", ["#", "room", "#", "b"], ["room"])
@settings(max_examples=examples(2_000))
def test_no_iri_of_a_local_name_that_fits_is_missed(beginning: str, parts: list[str], query: list[str]) -> None:
    iri = beginning + "".join(parts)
    if is_iri(iri):
        _check(iri, iri, " ".join(query), are_iris=True)


@given(
    st.one_of(st.just(""), BEGINNINGS, st.just("x:")), st.lists(IN_TEXTS | st.sampled_from(_WORDS), max_size=7), QUERIES
)
@example("", ["big", "room", "/", "50"], ["room"])
@example("<http://ex.org/", ["room", "/", ">"], ["rooms"])
@settings(max_examples=examples(2_000))
def test_no_id_of_a_local_name_that_fits_is_missed(beginning: str, parts: list[str], query: list[str]) -> None:
    text = beginning + "".join(parts)
    mapping = IriMapping("https://example.org/id/", {"x": "https://example.org/x/"}, bracketed=True)
    _check(text, mapping.iri(text), " ".join(query), are_iris=False)


def test_what_stands_before_the_local_name_lets_no_iri_through() -> None:
    (pattern,) = local_patterns(["building"], every=True)
    assert re.search(pattern, "http://example.org/building#room_c180") is None
    (pattern,) = local_patterns(["building"], every=True, are_iris=False)
    assert re.search(pattern, "http://example.org/building#room_c180") is None
