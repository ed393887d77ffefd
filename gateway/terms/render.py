"""Renders IRIs and literals as SPARQL, or refuses them; no other module writes text into a query."""

from __future__ import annotations

import re

from gateway.errors import InputError, quoted
from gateway.terms.iri import is_iri

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

_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")


def iri(value: str) -> str:
    """Render an IRI as ``<...>``.

    Raises:
        InputError: The text is not a legal IRI (SPARQL 1.1 section 19.8, IRIREF).
    """
    if not is_iri(value):
        raise InputError(
            f"{quoted(value)} is not a legal IRI.",
            valid='An IRI has a scheme and none of the characters <, >, ", {, }, |, ^, `, \\ or blanks.',
        )
    return f"<{value}>"


def string(value: str) -> str:
    """Render a plain string literal (SPARQL 1.1 section 19.7, STRING_LITERAL2 and its escapes).

    Raises:
        InputError: The text has a character that no query can carry: NUL or half a surrogate pair.
    """
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
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


def integer(value: int) -> str:
    """Render an integer."""
    return str(int(value))


def boolean(value: bool) -> str:
    """Render a boolean."""
    return "true" if value else "false"
