"""What a database has as RDF terms, and back: texts as IRIs, and JSON as literals and properties.

A text that is an IRI or a declared CURIE stays what it is, another one is encoded.

Plain JSON is read as what it says: texts, numbers and truth values. An object may be a value object of JSON-LD 1.1
(section 4.2.4): `{"@value": ..., "@language": ...}`, `{"@value": ..., "@type": ...}` or `{"@id": ...}`. Any other
object is a nested value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final
from urllib.parse import quote, unquote

from gateway.errors import ConfigurationError, EndpointFault, quoted
from gateway.graph.values import Assertion, BlankNode, Iri, Properties, Resource, Value
from gateway.terms.iri import XSD, are_ordinary, is_iri
from gateway.terms.literals import Literal

_MOST_STEMS = 1_000
"""Beginnings of IRIs that are remembered."""

_SPECIAL = "<@"
"""Characters that begin texts which may mean something else: IRIs in brackets, and keys of JSON-LD."""


class IriMapping:
    """The IRIs of one kind of texts in a database: of IDs, or of types, predicates and names of properties.

    A text with a declared prefix is a CURIE, and any other that can be an IRI is that IRI. No two texts have the same
    IRI, except those that are CURIEs for it, are the IRI itself, or have it in brackets.

    Args:
        base: Begins the IRIs of texts that are no IRIs.
        prefixes: Namespaces by prefix.
        bracketed: Whether `<IRI>` is an IRI which as it is would be read as another one, as `load` writes it.
    """

    def __init__(self, base: str, prefixes: Mapping[str, str], *, bracketed: bool = False) -> None:
        self._base = base
        self._prefixes = dict(prefixes)
        self._bracketed = bracketed
        # Most IRIs of a graph begin in one of few ways.
        self._ways = lru_cache(_MOST_STEMS)(self._ways_of)

    def iri(self, text: str) -> str:
        """Return the IRI of a text; one that is too long to be sent is no concern of this."""
        return self._written(text) or self._encoded(text)

    def _written(self, text: str) -> str:
        """Return the IRI that a text is or stands for; empty where it is to be encoded."""
        prefix, colon, local = text.partition(":")
        if not colon:
            return ""
        if text[0] == "<":
            inner = text[1:-1]
            return inner if text[-1] == ">" and is_iri(inner) and self._stands_in_brackets(inner) else ""
        namespace = self._prefixes.get(prefix)
        whole = text if namespace is None or local.startswith("//") else namespace + local
        return whole if is_iri(whole) and not whole.startswith(self._base) else ""

    def namespace(self, text: str) -> str | None:
        """Return the namespace of a text that is a CURIE with a declared prefix; else None."""
        prefix, colon, local = text.partition(":")
        return self._prefixes.get(prefix) if colon and not local.startswith("//") else None

    def text(self, iri: str) -> str:
        """Return the text by which an IRI is written, so that it is read as this one."""
        if self._written(iri) == iri:
            return iri
        text = self._decoded(iri)
        return text if text is not None and _is_plain(text) else f"<{iri}>"

    def texts(self, iri: str) -> list[str]:
        """Return the texts that have an IRI: one, and each CURIE that stands for it; none where no text has it."""
        return self._texts_of_legal(iri) if is_iri(iri) else []

    def _texts_of_legal(self, iri: str) -> list[str]:
        if iri.startswith(self._base):
            text = self._decoded(iri)
            texts = [] if text is None or self._written(text) else [text]
        else:
            written_out, curies = self._ways(iri[: iri.rfind("/") + 1] or iri[: iri.index(":") + 1])
            texts = [iri] if written_out else []
            texts += [
                begin + iri[len(namespace) :]
                for begin, namespace in curies
                if iri.startswith(namespace) and not iri.startswith("//", len(namespace))
            ]
        return [*texts, f"<{iri}>"] if self._stands_in_brackets(iri) else texts

    def _ways_of(self, stem: str) -> tuple[bool, list[tuple[str, str]]]:
        """Return how an IRI may be written that begins with a stem and has no `/` after it.

        Args:
            stem: A scheme and its `:`, at least.

        Returns:
            Whether it may be written as it is, and how CURIEs for it may begin, each with the namespace.
        """
        # A text with a declared prefix stands for another IRI.
        written_out = self.namespace(stem) is None
        curies = [
            (f"{prefix}:", namespace)
            for prefix, namespace in self._prefixes.items()
            if namespace.startswith(stem) or stem.startswith(namespace)
        ]
        return written_out, curies

    def _encoded(self, text: str) -> str:
        return self._base + quote(text, safe="")

    def _decoded(self, iri: str) -> str | None:
        """Return the text whose encoding is an IRI; None if there is none, or none that a database takes."""
        text = unquote(iri.removeprefix(self._base), errors="replace")
        return text if "\0" not in text and self._encoded(text) == iri else None

    def _stands_in_brackets(self, iri: str) -> bool:
        """Return whether an IRI may stand in brackets: the same under all prefixes, since those may change."""
        if not self._bracketed:
            return False
        if iri.startswith(self._base):
            text = self._decoded(iri)
            return text is None or not _is_plain(text)
        return not iri.partition(":")[2].startswith("//")

    def texts_of(self, iris: Iterable[str]) -> list[str]:
        """Return the texts of all IRIs."""
        return list(self.iri_by_text(iris))

    def has_curie(self, iri: str) -> bool:
        """Return whether a text has an IRI beside one and, where that is allowed, one in brackets."""
        return is_iri(iri) and len(self._texts_of_legal(iri)) > 1 + self._stands_in_brackets(iri)

    def iri_by_text(self, iris: Iterable[str]) -> dict[str, str]:
        """Return the texts of all IRIs, each with its IRI."""
        distinct = list(iris)
        texts_of = self._texts_of_legal if are_ordinary(distinct) else self.texts
        return {text: iri for iri in distinct for text in texts_of(iri)}

    def beginnings(self, namespace: str) -> list[str]:
        """Return how the texts begin whose IRIs begin with a namespace.

        Raises:
            ConfigurationError: Texts that are no IRIs are among them, which have no beginning in common.
        """
        if self._base.startswith(namespace):
            raise ConfigurationError(
                f"The namespace {quoted(namespace)} in [edges] of the profile has all names of the database.",
                valid="With a database, a namespace there is longer than its `base` and `vocabulary`.",
                next_step="Remove the entry.",
            )
        bracketed = [f"<{namespace}"] if self._bracketed else []
        if namespace.startswith(self._base):
            return [unquote(namespace[len(self._base) :]), *bracketed]
        # With a declared prefix, a text that begins so stands for another IRI.
        found = [namespace] if self.namespace(namespace) is None else []
        for prefix, begin in self._prefixes.items():
            if begin.startswith(namespace):
                found.append(f"{prefix}:")
            elif namespace.startswith(begin):
                found.append(f"{prefix}:{namespace[len(begin) :]}")
        return [*found, *bracketed]


def _is_plain(text: str) -> bool:
    """Return whether a text can be written that is encoded, and read as nothing else under any prefixes."""
    return text != "" and ":" not in text and text[0] not in _SPECIAL


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
