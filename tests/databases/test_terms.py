"""Texts of a database become IRIs and come back, and values of the port become JSON and come back."""

import json
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.databases.selection import sought_by
from gateway.databases.terms import IriMapping, JsonEncoder, JsonValues, decoded, decoded_object
from gateway.errors import ConfigurationError, EndpointFault
from gateway.graph.values import Assertion, BlankNode, NoValue, Properties, Resource, Value
from gateway.graph.walks import Condition, Step
from gateway.members.sides import ValueText, literal_value
from gateway.terms.iri import XSD, is_iri
from gateway.terms.literals import Literal

BASE = "urn:x-bfsql:id:"
PREFIXES = {"MeSH": "http://id.nlm.nih.gov/mesh/", "ex": "http://example.org/", "near": "http://example.org/near/"}
MAPPING = IriMapping(BASE, PREFIXES)
BRACKETED = IriMapping(BASE, PREFIXES, bracketed=True)
MAPPINGS = st.sampled_from([MAPPING, BRACKETED])

ANY_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
IDS = st.one_of(
    ANY_TEXT,
    st.builds(
        lambda prefix, rest: f"{prefix}:{rest}", st.sampled_from(["MeSH", "ex", "near", "other", "urn"]), ANY_TEXT
    ),
    st.builds(lambda begin, rest: begin + rest, st.sampled_from(["http://example.org/", BASE, "id%20"]), ANY_TEXT),
)
IDS = st.one_of(IDS, IDS.map("<{}>".format))
SCHEMES = ["http", "ftp", "urn", "mailto", "doi", "tag", "MeSH", "ex", "a", "x.y+z-1", "Http"]
IRIS = st.one_of(
    st.builds(
        lambda scheme, slashes, rest: f"{scheme}:{slashes}{rest}",
        st.sampled_from(SCHEMES),
        st.sampled_from(["", "/", "//", "//example.org/", ":"]),
        ANY_TEXT,
    ),
    st.builds(lambda rest: BASE + rest, ANY_TEXT),
    st.builds(lambda rest: BASE + quote(rest, safe=""), ANY_TEXT),
).filter(is_iri)
DECLARED = st.dictionaries(
    st.sampled_from([*SCHEMES, "12"]), st.sampled_from([*PREFIXES.values(), BASE, "urn:", "mailto:"]), max_size=4
)


@given(MAPPINGS, IDS)
def test_every_text_has_an_iri_that_leads_back_to_it(mapping: IriMapping, text: str) -> None:
    iri = mapping.iri(text)
    assert is_iri(iri)
    assert text in mapping.texts(iri)


@given(IDS, IDS)
def test_two_texts_have_one_iri_only_where_one_is_a_curie_for_it(one: str, other: str) -> None:
    if one != other and MAPPING.iri(one) == MAPPING.iri(other):
        assert MAPPING.iri(one) in {one, other} or {one.partition(":")[0], other.partition(":")[0]} <= PREFIXES.keys()


@given(MAPPINGS, st.one_of(IDS, IRIS))
def test_what_an_iri_leads_back_to_has_that_iri(mapping: IriMapping, text: str) -> None:
    assert all(mapping.iri(found) == text for found in mapping.texts(text))


@given(MAPPINGS, IDS)
def test_every_text_that_has_an_iri_is_found(mapping: IriMapping, text: str) -> None:
    iri = mapping.iri(text)
    curies = {f"{prefix}:{iri.removeprefix(begin)}" for prefix, begin in PREFIXES.items() if iri.startswith(begin)}
    plain = unquote(iri.removeprefix(BASE), errors="replace")
    ways = {text, iri, plain, f"<{iri}>", *curies}
    assert set(mapping.texts(iri)) == {found for found in ways if "\0" not in found and mapping.iri(found) == iri}
    assert mapping.iri_by_text([iri]) == dict.fromkeys(mapping.texts(iri), iri)


@given(IRIS, DECLARED, DECLARED)
@example("urn:", {"urn": "urn:"}, {"urn": "http://example.org/"})
def test_an_iri_that_is_written_is_read_as_this_one(iri: str, before: dict[str, str], after: dict[str, str]) -> None:
    text = IriMapping(BASE, before, bracketed=True).text(iri)
    assert "\0" not in text
    prefix, _, _ = iri.partition(":")
    # A prefix that is declared later, or for another namespace, turns CURIEs into other IRIs, which is what it is for;
    # one that is gone does not, nor do other prefixes.
    for prefixes in (before, {**before, **after}, {}):
        mapping = IriMapping(BASE, prefixes, bracketed=True)
        if prefixes.get(prefix) in {None, before.get(prefix)} or text != iri:
            assert mapping.iri(text) == iri
            assert text in mapping.texts(iri)


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("MeSH:D003480", "http://id.nlm.nih.gov/mesh/D003480"),
        ("http://id.nlm.nih.gov/mesh/D003480", "http://id.nlm.nih.gov/mesh/D003480"),
        ("RxNorm:3251", "RxNorm:3251"),
        ("mailto:a@b.test", "mailto:a@b.test"),
        ("doi:10.1000/182", "doi:10.1000/182"),
        ("ex://host", "ex://host"),
        ("12:30", f"{BASE}12%3A30"),
        ("note: a text", f"{BASE}note%3A%20a%20text"),
        ("<doi:10.1000/182>", f"{BASE}%3Cdoi%3A10.1000%2F182%3E"),
        ("Cushing's disease", f"{BASE}Cushing%27s%20disease"),
        ("ex:not an IRI", f"{BASE}ex%3Anot%20an%20IRI"),
        (f"{BASE}a", f"{BASE}urn%3Ax-bfsql%3Aid%3Aa"),
        ("", BASE),
    ],
)
def test_iris_and_declared_curies_stay_and_other_ids_are_encoded(text: str, iri: str) -> None:
    assert MAPPING.iri(text) == iri


def test_what_begins_as_an_address_is_no_curie() -> None:
    assert MAPPING.iri("ex://a") == "ex://a"
    assert MAPPING.texts("http://example.org///a") == ["http://example.org///a"]


def test_an_iri_that_no_text_has_leads_to_none() -> None:
    assert MAPPING.texts(f"{BASE}%00") == MAPPING.texts(f"{BASE}%ff") == MAPPING.texts(f"{BASE}a%20b%2") == []


def test_a_namespace_begins_iris_and_the_curies_for_them() -> None:
    assert MAPPING.beginnings("http://example.org/") == ["http://example.org/", "ex:", "near:"]
    assert MAPPING.beginnings("http://example.org/near/") == ["http://example.org/near/", "ex:near/", "near:"]
    assert MAPPING.beginnings(f"{BASE}drug%3A") == ["drug:"]
    assert MAPPING.beginnings("ex:") == []
    assert BRACKETED.beginnings("ex:") == ["<ex:"]
    assert BRACKETED.beginnings("doi:10.") == ["doi:10.", "<doi:10."]
    with pytest.raises(ConfigurationError, match="all names of the database"):
        MAPPING.beginnings("urn:")


# JSON


EX_AND_TEL = {"ex": "http://example.org/", "tel": "http://example.org/tel/"}
OF_IDS, OF_TERMS = (IriMapping(base, EX_AND_TEL, bracketed=True) for base in ("urn:id:", "urn:term:"))
VALUES, ENCODER = JsonValues(OF_IDS, OF_TERMS), JsonEncoder(OF_IDS, OF_TERMS)

RESOURCES = st.sampled_from(
    [*(f"http://example.org/{name}" for name in "abc"), "mailto:a@b.test", "tel:5", "urn:term:%40type", "urn:id:x"]
)
LEXICAL = st.one_of(
    st.text(), st.integers().map(str), st.decimals(allow_nan=False).map(str), st.sampled_from(["0.80", "1e5", "-0.0"])
)
LITERALS = st.one_of(
    st.builds(Literal, st.text()),
    st.builds(Literal, LEXICAL, st.sampled_from([f"{XSD}{kind}" for kind in ("integer", "decimal", "double", "date")])),
    st.builds(Literal, st.text(), st.just(""), st.sampled_from(["en", "de-at"])),
)


def _nested(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    return st.builds(BlankNode, _properties(inner))


def _properties(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Properties]:
    listed = st.lists(values, min_size=1, max_size=3, unique_by=repr).map(tuple)
    return st.dictionaries(RESOURCES, listed, max_size=3)


FLAT: st.SearchStrategy[Value] = st.one_of(LITERALS, st.builds(Resource, RESOURCES))
PROPERTIES = _properties(st.one_of(FLAT, _nested(st.one_of(FLAT, _nested(FLAT)))))


@given(PROPERTIES)
def test_properties_come_back_from_json_as_they_were(properties: Properties) -> None:
    text = json.dumps(ENCODER.properties(properties), ensure_ascii=False, allow_nan=False)
    assert VALUES.properties(decoded_object(text)) == properties


def test_plain_json_is_read_as_what_it_says() -> None:
    text = '{"dose": 5, "share": 0.80, "is_old": true, "other names": ["a", null, "b"], "ex:p": {"unit": "mg"}}'
    assert VALUES.properties(decoded_object(text)) == {
        "urn:term:dose": (Literal("5", f"{XSD}integer"),),
        "urn:term:share": (Literal("0.80", f"{XSD}decimal"),),
        "urn:term:is_old": (Literal("true", f"{XSD}boolean"),),
        "urn:term:other%20names": (Literal("a"), Literal("b")),
        "http://example.org/p": (BlankNode({"urn:term:unit": (Literal("mg"),)}),),
    }


def test_an_object_with_an_id_keeps_its_other_members() -> None:
    assert VALUES.properties(decoded_object('{"by": {"@id": "ex:a", "since": "1932"}, "@unit": "mg"}')) == {
        "urn:term:by": (Resource("http://example.org/a"), BlankNode({"urn:term:since": (Literal("1932"),)})),
        "urn:term:%40unit": (Literal("mg"),),
    }


def test_an_object_that_is_nested_too_deeply_is_cut_and_says_so() -> None:
    (value,) = VALUES.properties(decoded_object('{"a": {"b": {"c": {"d": {"e": 1}}}}}'))["urn:term:a"]
    assert isinstance(value, BlankNode)
    assert value.cut


def test_lists_in_each_other_are_one_list_however_deep() -> None:
    deep: list[Any] = ["a"]
    for _ in range(10_000):
        deep = [deep, "b"]
    # Some versions of Python read such JSON.
    assert VALUES.properties({"x": deep}) == {"urn:term:x": (Literal("a"), Literal("b"))}


def test_what_is_no_json_is_a_fault() -> None:
    for text in ("{", "[" * 100_000, '{"a": NaN'):
        with pytest.raises(EndpointFault):
            decoded(text)


def test_the_sources_of_a_statement_stand_beside_its_properties() -> None:
    assertion = Assertion({"http://example.org/p": (Literal("x"),)}, ("http://example.org/paper",))
    assert ENCODER.assertion(assertion) == {"http://example.org/p": ["x"], "@graph": ["http://example.org/paper"]}


def test_a_value_without_a_form_in_json_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Wikibase"):
        ENCODER.properties({"http://example.org/p": (NoValue(unknown=True),)})


def test_a_duration_is_not_looked_for_by_its_text() -> None:
    walk = (Step(("http://example.org/runtime",)),)
    assert sought_by(Condition(walk, "=", literal_value(ValueText("PT60M")))) is None
    assert sought_by(Condition(walk, "=", literal_value(ValueText("PT60M", is_quoted=True)))) is not None
    assert sought_by(Condition(walk, "<", literal_value(ValueText("PT60M")))) is None


def test_what_is_looked_for_in_texts_may_be_written_as_a_duration() -> None:
    walk = (Step(("http://example.org/runtime",)),)
    for operator in ("contains", "starts"):
        sought = sought_by(Condition(walk, operator, literal_value(ValueText("PT60M"))))
        assert sought is not None
        assert (sought.texts, sought.texts_as) == (("pt60m",), operator)
