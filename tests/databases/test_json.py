"""Values of the port become JSON and come back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.databases.terms import IriMapping, JsonEncoder, JsonValues, decoded, decoded_object
from gateway.errors import ConfigurationError, EndpointFault
from gateway.graph.values import Assertion, BlankNode, NoValue, Properties, Resource, Value
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal

PREFIXES = {"ex": "http://example.org/", "tel": "http://example.org/tel/"}
IDS, TERMS = (IriMapping(base, PREFIXES, bracketed=True) for base in ("urn:id:", "urn:term:"))
VALUES, ENCODER = JsonValues(IDS, TERMS), JsonEncoder(IDS, TERMS)

IRIS = st.sampled_from(
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
    return st.dictionaries(IRIS, listed, max_size=3)


FLAT: st.SearchStrategy[Value] = st.one_of(LITERALS, st.builds(Resource, IRIS))
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
