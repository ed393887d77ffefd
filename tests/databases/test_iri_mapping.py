"""Texts of a database become IRIs and come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.databases.iri_mapping import IriMapping
from gateway.errors import ConfigurationError
from gateway.terms.iri import is_iri

BASE = "urn:x-bfsql:id:"
PREFIXES = {"MeSH": "http://id.nlm.nih.gov/mesh/", "ex": "http://example.org/", "near": "http://example.org/near/"}
MAPPING = IriMapping(BASE, PREFIXES)

ANY_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
IDS = st.one_of(
    ANY_TEXT,
    st.builds(
        lambda prefix, rest: f"{prefix}:{rest}", st.sampled_from(["MeSH", "ex", "near", "other", "urn"]), ANY_TEXT
    ),
    st.builds(lambda begin, rest: begin + rest, st.sampled_from(["http://example.org/", BASE, "id%20"]), ANY_TEXT),
)


@given(IDS)
def test_every_text_has_an_iri_that_leads_back_to_it(text: str) -> None:
    iri = MAPPING.iri(text)
    assert is_iri(iri)
    assert text in MAPPING.texts(iri)


@given(IDS, IDS)
def test_two_texts_have_one_iri_only_where_one_is_a_curie_for_it(one: str, other: str) -> None:
    if one != other and MAPPING.iri(one) == MAPPING.iri(other):
        assert MAPPING.iri(one) in {one, other} or {one.partition(":")[0], other.partition(":")[0]} <= PREFIXES.keys()


@given(IDS)
def test_what_an_iri_leads_back_to_has_that_iri(text: str) -> None:
    assert all(MAPPING.iri(found) == text for found in MAPPING.texts(text))


@given(IDS)
def test_every_text_that_has_an_iri_is_found(text: str) -> None:
    iri = MAPPING.iri(text)
    curies = {f"{prefix}:{iri.removeprefix(begin)}" for prefix, begin in PREFIXES.items() if iri.startswith(begin)}
    assert set(MAPPING.texts(iri)) == {found for found in {text, iri, *curies} if MAPPING.iri(found) == iri}
    assert MAPPING.iri_by_text([iri]) == dict.fromkeys(MAPPING.texts(iri), iri)


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("MeSH:D003480", "http://id.nlm.nih.gov/mesh/D003480"),
        ("http://id.nlm.nih.gov/mesh/D003480", "http://id.nlm.nih.gov/mesh/D003480"),
        ("RxNorm:3251", f"{BASE}RxNorm%3A3251"),
        ("Cushing's disease", f"{BASE}Cushing%27s%20disease"),
        ("ex:not an IRI", f"{BASE}ex%3Anot%20an%20IRI"),
        (f"{BASE}a", f"{BASE}urn%3Ax-bfsql%3Aid%3Aa"),
        ("", BASE),
    ],
)
def test_iris_and_declared_curies_stay_and_other_ids_are_encoded(text: str, iri: str) -> None:
    assert MAPPING.iri(text) == iri


def test_an_iri_that_no_text_has_leads_to_none() -> None:
    assert MAPPING.texts(f"{BASE}%00") == MAPPING.texts(f"{BASE}%ff") == MAPPING.texts(f"{BASE}a%20b%2") == []


def test_a_namespace_begins_iris_and_the_curies_for_them() -> None:
    assert MAPPING.beginnings("http://example.org/") == ["http://example.org/", "ex:", "near:"]
    assert MAPPING.beginnings("http://example.org/near/") == ["http://example.org/near/", "ex:near/", "near:"]
    assert MAPPING.beginnings(f"{BASE}drug%3A") == ["drug:"]
    with pytest.raises(ConfigurationError, match="all names of the database"):
        MAPPING.beginnings("urn:")
