"""Values of the port as JSON for a database; `gateway.databases.json_values` reads the same values from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.databases.json_values import CUT, SOURCES
from gateway.errors import ConfigurationError
from gateway.graph.values import Assertion, BlankNode, Iri, Properties, Resource, Value
from gateway.terms.known_iris import XSD
from gateway.terms.literals import Literal

_DIGITS = 15
"""Characters of a number that every reader of JSON takes as it is."""


def encoded_properties(properties: Properties) -> dict[Iri, Any]:
    """Return values by predicate as a JSON object.

    Raises:
        ConfigurationError: A value has no form in JSON.
    """
    return {predicate: [_encoded(value) for value in values] for predicate, values in properties.items()}


def encoded_assertion(assertion: Assertion) -> Mapping[str, Any]:
    """Return what a statement says as a JSON object.

    Raises:
        ConfigurationError: A value has no form in JSON.
    """
    properties = encoded_properties(assertion.properties)
    return {**properties, SOURCES: list(assertion.sources)} if assertion.sources else properties


def _encoded(value: Value) -> Any:
    match value:
        case Literal():
            return _encoded_literal(value)
        case Resource():
            return {"@id": value.iri}
        case BlankNode():
            return {**encoded_properties(value.properties), **({CUT: True} if value.cut else {})}
    raise ConfigurationError(
        "The graph has a value of a Wikibase, with a unit or without a known value, which has no form in JSON.",
        next_step="Load it without `values.wikibase` in the profile.",
    )


def _encoded_literal(value: Literal) -> Any:
    """Return a literal as plain JSON if reading that gives the same literal, else as a value object of JSON-LD."""
    if value.language:
        return {"@value": value.value, "@language": value.language}
    if not value.datatype:
        return value.value
    number = _number(value)
    return {"@value": value.value, "@type": value.datatype} if number is None else number


def _number(value: Literal) -> int | float | None:
    """Return a number that JSON writes as the literal is written; None if there is none."""
    text = value.value
    try:
        if value.datatype == f"{XSD}integer" and len(text) <= _DIGITS:
            return int(text) if str(int(text)) == text else None
        if value.datatype == f"{XSD}decimal" and len(text) <= _DIGITS:
            return float(text) if "e" not in text and repr(float(text)) == text else None
    except ValueError:
        pass
    return None
