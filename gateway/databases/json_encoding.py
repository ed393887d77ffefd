"""Values of the port as JSON for a database; `gateway.databases.json_values` reads the same values from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.databases.iri_mapping import IriMapping
from gateway.databases.json_values import CUT, SOURCES
from gateway.errors import ConfigurationError
from gateway.graph.values import Assertion, BlankNode, Properties, Resource, Value
from gateway.terms.known_iris import XSD
from gateway.terms.literals import Literal

_DIGITS = 15
"""Characters of a number that every reader of JSON takes as it is."""


class JsonEncoder:
    """Writes the values of one graph.

    Args:
        ids: The texts of IDs.
        terms: The texts of names of properties.
    """

    def __init__(self, ids: IriMapping, terms: IriMapping) -> None:
        self._ids = ids
        self._terms = terms

    def properties(self, properties: Properties) -> dict[str, Any]:
        """Return values by predicate as a JSON object.

        Raises:
            ConfigurationError: A value has no form in JSON.
        """
        return {self._terms.text(at): [self._encoded(value) for value in values] for at, values in properties.items()}

    def assertion(self, assertion: Assertion) -> Mapping[str, Any]:
        """Return what a statement says as a JSON object.

        Raises:
            ConfigurationError: A value has no form in JSON.
        """
        properties = self.properties(assertion.properties)
        sources = [*map(self._ids.text, assertion.sources)]
        return {**properties, SOURCES: sources} if sources else properties

    def _encoded(self, value: Value) -> Any:
        match value:
            case Literal():
                return _encoded_literal(value)
            case Resource():
                return {"@id": self._ids.text(value.iri)}
            case BlankNode():
                return {**self.properties(value.properties), **({CUT: True} if value.cut else {})}
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
