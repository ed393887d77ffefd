"""Values of JSON columns, and JSON as databases take it.

Plain JSON is read as what it says: texts, numbers and truth values. An object may be a value object of JSON-LD 1.1
(section 4.2.4): `{"@value": ..., "@language": ...}`, `{"@value": ..., "@type": ...}` or `{"@id": ...}`. Any other
object is a nested value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Final

from gateway.databases.iri_mapping import IriMapping
from gateway.errors import ConfigurationError, EndpointFault
from gateway.graph.values import Assertion, BlankNode, Iri, Properties, Resource, Value
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal

TYPES: Final = "@type"
"""The key of further types of a node, as JSON-LD has it."""

SOURCES: Final = "@graph"
"""The key of the documents in which a statement stands, where no property names them."""

CUT: Final = "@cut"
"""The key of a nested value that says whether deeper content was left out of it."""

_DEEPEST = 3
"""Objects in each other; deeper content is left out, and the value is marked as cut."""


class JsonValues:
    """Reads JSON objects of one database.

    Args:
        ids: The IRIs of IDs.
        terms: The IRIs of names of properties.
    """

    def __init__(self, ids: IriMapping, terms: IriMapping) -> None:
        self._ids = ids
        self._terms = terms

    def properties(self, content: Mapping[str, Any], *, but: str = "") -> Properties:
        """Return values by predicate, but those of one key."""
        return self._nested({key: listed for key, listed in content.items() if key != but}, _DEEPEST).properties

    def _nested(self, content: Mapping[str, Any], levels: int) -> BlankNode:
        """Return the content of an object, with so many levels of objects below it."""
        found: dict[Iri, dict[Value | int, Value]] = {}
        is_cut = content.get(CUT) is True
        for key, listed in content.items():
            items = () if key == CUT and is_cut else without_lists(listed)
            for value in chain.from_iterable(self._values(item, levels) for item in items):
                if value is None:
                    is_cut = True
                else:
                    # A nested value has no hash.
                    at = id(value) if isinstance(value, BlankNode) else value
                    is_cut = is_cut or (isinstance(value, BlankNode) and value.cut)
                    found.setdefault(self._terms.iri(key), {})[at] = value
        return BlankNode({predicate: tuple(values.values()) for predicate, values in found.items()}, is_cut)

    def _values(self, item: Any, levels: int) -> Iterator[Value | None]:
        """Yield the value of what JSON has beside lists, None for one that is nested too deeply; null is no value."""
        match item:
            case Literal():
                yield item
            case bool():
                yield Literal(str(item).lower(), f"{XSD}boolean")
            case str():
                yield Literal(item)
            case {"@id": str(text), **others}:
                yield Resource(self._ids.iri(text))
                if others:
                    yield from self._values(others, levels)
            case {"@value": Literal() | str() | bool() as value}:
                yield _typed(value, item)
            case dict():
                yield self._nested(item, levels - 1) if levels else None


def without_lists(item: Any) -> Iterator[Any]:
    """Yield what JSON has in lists, however deep these are in each other; or what is no list."""
    rest = [item]
    while rest:
        last = rest.pop()
        if isinstance(last, list):
            rest += reversed(last)
        else:
            yield last


def merged(columns: Mapping[str, Any], properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of two objects, with the values of both where both have a key."""
    return {**columns, **{key: [columns[key], own] if key in columns else own for key, own in properties.items()}}


def _typed(value: Literal | str | bool, item: Mapping[str, Any]) -> Literal:
    """Return the literal that a value object of JSON-LD stands for."""
    datatype, language = item.get("@type"), item.get("@language")
    if isinstance(value, bool):
        return Literal(str(value).lower(), f"{XSD}boolean")
    if isinstance(value, Literal):
        return value
    if isinstance(datatype, str):
        return Literal(value, datatype)
    return Literal(value, "", language.lower()) if isinstance(language, str) else Literal(value)


def _number(text: str, datatype: str) -> Literal:
    return Literal(text, datatype)


def _real(text: str) -> Literal:
    return _number(text, f"{XSD}double" if "e" in text.lower() else f"{XSD}decimal")


# Numbers stay as they are written: Python would refuse long ones, and round others.
_decode = json.JSONDecoder(parse_int=partial(_number, datatype=f"{XSD}integer"), parse_float=_real).decode


def decoded(sent: str | Mapping[str, Any] | list[Any] | None) -> Any:
    """Return what a database sent: what a JSON text says, its numbers as literals; None for no text.

    What is an object or a list already stays as it is.

    Raises:
        EndpointFault: It is no JSON, or nested too deeply.
    """
    if not isinstance(sent, str):
        return sent
    try:
        return _decode(sent)
    except (ValueError, RecursionError) as error:
        raise EndpointFault("The database sent JSON that cannot be read.") from error


def decoded_object(sent: str | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the object that a database sent, as JSON or as it is; an empty one where it sent none.

    Raises:
        EndpointFault: It is no JSON, or no object.
    """
    found = decoded(sent)
    # Languages that write an empty list for an empty object mean the same.
    if found is None or found == []:
        return {}
    if not isinstance(found, dict):
        raise EndpointFault("The database has properties that are no JSON object.")
    return found


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
    number = _number_text(value)
    return {"@value": value.value, "@type": value.datatype} if number is None else number


def _number_text(value: Literal) -> int | float | None:
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
