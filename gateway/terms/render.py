"""Renders IRIs and literals as SPARQL, or refuses them; no other module writes text into a query."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from string import ascii_lowercase

from gateway.errors import InputError, quoted
from gateway.terms.iri import LEGAL_IRI, are_ordinary

_ESCAPES = str.maketrans(
    {
        "\\": "\\\\",
        '"': '\\"',
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\b": "\\b",
        "\f": "\\f",
    }
)
"""SPARQL 1.1, section 19.7, ECHAR."""

_CODE_POINT_LIKE = re.compile(r"(?<=\\)[uU](?=[0-9A-Fa-f]{4})")
"""The u of a text that looks like a code point escape: rdflib decodes these before it unescapes.

Source: docs/notes/embedded-engines.md, "Terms".
"""

_SHARED = 20
"""IRIs that share a namespace before it gets a prefix."""

_SAMPLES = 8
"""IRIs that are looked at to find namespaces."""

_NAMESPACE = re.compile(r".*[/#]")
_NAME = "[A-Za-z0-9_]{1,100}"
"""A local name that every engine takes; Virtuoso refuses those of 500 characters."""
_NAMES = re.compile(rf"(?: n[0-9]+:{_NAME})++")

_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")


def iri(value: str) -> str:
    """Render an IRI as ``<...>``.

    Raises:
        InputError: The text is not a legal IRI (SPARQL 1.1 section 19.8, IRIREF).
    """
    # Of a large query, this is asked for thousands of terms.
    if LEGAL_IRI.fullmatch(value) is None:
        raise InputError(
            f"{quoted(value)} is not a legal IRI.",
            valid='An IRI has a scheme and none of the characters <, >, ", {, }, |, ^, `, \\ or blanks.',
        )
    return f"<{value}>"


def iris(values: Iterable[str], prefixes: dict[str, str]) -> str:
    """Render IRIs, those of a namespace that many of them share as prefixed names.

    Fuseki spends a third of a query about a thousand nodes on reading their whole IRIs. Names are prefixed only where
    every engine reads the same IRI: in a namespace that none rewrites, of few ASCII letters, digits and underscores
    (SPARQL 1.1 section 19.8, PN_LOCAL).

    Args:
        values: The IRIs.
        prefixes: The prefixes of the query by namespace, for `prologue`; new ones are added.

    Raises:
        InputError: One is not a legal IRI.
    """
    others = list(values)
    written: list[str] = []
    samples = others[:: len(others) // _SAMPLES] if len(others) >= _SHARED else ()
    namespaces = dict.fromkeys(found[0] for found in map(_NAMESPACE.match, samples) if found)
    for namespace in (one for one in namespaces if are_ordinary([one])):
        prefix = prefixes.get(namespace, f"n{len(prefixes) + 1}")
        # Mostly all are in one namespace, and all at once takes a tenth of the time of one after the other.
        names = "\n".join(["", *others]).replace(f"\n{namespace}", f" {prefix}:")
        if len(others) >= _SHARED and _NAMES.fullmatch(names) and names.count(" ") == len(others):
            prefixes[namespace] = prefix
            return " ".join([*written, names[1:]])
        named = re.compile(rf"{re.escape(namespace)}({_NAME})").fullmatch
        found = [match[1] for match in map(named, others) if match]
        if len(found) >= _SHARED:
            prefixes[namespace] = prefix
            written += [f"{prefix}:{name}" for name in found]
            others = [value for value in others if not named(value)]
    return " ".join([*written, *map(iri, others)])


def prologue(prefixes: Mapping[str, str]) -> str:
    """Render the declarations of prefixes, a line for each."""
    return "".join(f"PREFIX {prefix}: {iri(namespace)}\n" for namespace, prefix in prefixes.items())


def string(value: str) -> str:
    """Render a plain string literal (SPARQL 1.1 section 19.7, STRING_LITERAL2 and its escapes).

    Raises:
        InputError: The text has a character that no query can carry: NUL or half a surrogate pair.
    """
    if "\x00" in value or (not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value)):
        raise InputError(
            f"{quoted(value)} contains a character that no query can contain.",
            valid="Text without NUL and unpaired surrogates.",
        )
    return f'"{_CODE_POINT_LIKE.sub(_as_code_point, value.translate(_ESCAPES))}"'


def literal(value: str, language: str) -> str:
    """Render a literal with a language tag, or a plain one where that is empty (section 19.8, LANGTAG).

    Raises:
        InputError: The text has a character that no query can carry, or the tag is none.
    """
    if not language:
        return string(value)
    if not _LANGUAGE.fullmatch(language):
        raise InputError(f"{quoted(language)} is not a language tag.", valid="A tag such as en or en-gb.")
    return f"{string(value)}@{language}"


def _as_code_point(letter: re.Match[str]) -> str:
    return f"\\U{ord(letter[0]):08X}"


_BLANK_KEY = re.compile(r"(?:_:|nodeID://)[A-Za-z0-9][A-Za-z0-9_.:\-]*")


def blank_key(text: str) -> str:
    """Render what an engine knows a blank node by as ``<...>``, or an IRI.

    Jena takes ``<_:label>`` and Virtuoso ``<nodeID://label>`` for the node.

    Raises:
        InputError: The text is neither.
    """
    return f"<{text}>" if _BLANK_KEY.fullmatch(text) else iri(text)


_VARIABLE = re.compile("[a-z]+")


def variable(name: str) -> str:
    """Render a variable.

    Raises:
        InputError: The name is none of a template's.
    """
    if _VARIABLE.fullmatch(name) is None:
        raise InputError(f"{quoted(name)} is not a variable.", valid="Letters a to z.")
    return f"?{name}"


_DIRECTIONS = re.compile("[+-]{1,16}")


def walk(directions: str) -> str:
    """Render a walk from ``?a`` to ``?n`` over blank nodes, by the direction of each triple: ``+`` along it.

    Raises:
        InputError: The text has something else than directions.
    """
    if _DIRECTIONS.fullmatch(directions) is None:
        raise InputError(f"{quoted(directions)} is no walk.", valid="A sign + or - for each triple.")
    inner = [f"?b{letter}" for letter in ascii_lowercase[: len(directions) - 1]]
    nodes = ["?a", *inner, "?n"]
    # With one filter for all, an engine may go through all that has an IRI before it leaves that out.
    return " ".join(
        f"{start} ?p{letter} {end} . FILTER(isBlank({end}))"
        if direction == "+"
        else f"{end} ?p{letter} {start} . FILTER(isBlank({end}))"
        for direction, letter, start, end in zip(directions, ascii_lowercase, nodes, nodes[1:], strict=False)
    )


def double(value: float) -> str:
    """Render a finite ``xsd:double`` (section 19.8, DOUBLE).

    Raises:
        InputError: The number is infinite, or none.
    """
    if not math.isfinite(value):
        raise InputError(f"{value} cannot stand in a query.", valid="A finite number.")
    mantissa, _, exponent = repr(float(value)).partition("e")
    return f"{mantissa}e{int(exponent or 0)}"


def integer(value: int) -> str:
    """Render an integer."""
    return str(int(value))


def boolean(value: bool) -> str:
    """Render a boolean."""
    return "true" if value else "false"
