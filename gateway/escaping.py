"""Escapes for characters that hide, reorder or control text, without loss.

A terminal obeys control characters, a bidirectional control shows a text as another one, and a reader does not see
zero-width and tag characters although a model does. A spreadsheet runs a cell that begins like a formula. Text of a
graph may hold all of them.
"""

from __future__ import annotations

import json
import re
from typing import Any

_CONTROLS = "\x00-\x1f\x7f-\x9f"
_RANGES = (
    f"{_CONTROLS}"
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"  # soft hyphen, joiner, marks of Arabic and Syriac
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # fillers of Hangul, Khmer and Mongolian
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, separators of lines, bidirectional controls
    "\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"  # lone surrogates, private use, noncharacters
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff"  # variation selectors, byte order mark, annotations
    "\U000110bd\U000110cd\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of scripts
    "\U000e0000-\U0010ffff"  # tags, variation selectors, private use
)
_HIDDEN = re.compile(f"[{_RANGES}]")
_HIDDEN_IN_JSON = re.compile(f"[{_RANGES.removeprefix(_CONTROLS)}\x7f-\x9f]+")
_HIDDEN_OR_BACKSLASH = re.compile(rf"[\\{_RANGES}]")
_FORMULA = re.compile(r"""^(?=[\t\r\n])|(?:^|(?<=[;\t\r\n]))(?=[\s"\ufeff]*[-=+@\uff0b\uff0d\uff1d\uff20])""")
"""A place in a cell where a spreadsheet would begin to read a formula, behind blanks and quotation marks: the beginning
of the cell, or of a line or a part of it, because many take a semicolon for the end of a cell."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BREAKS = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\"}
_ABOVE_BMP = 0x10000
"""The first code point with more than four hexadecimal digits."""


_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""One encoder for all: an answer is measured part by part, and `json.dumps` makes one for each."""

_written_in_ascii = json.JSONEncoder().encode


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON, compact unless an indent is given, in which no character is hidden.

    Parsing returns the same value; only two lone surrogates that would make a pair come back as one character.
    """
    return in_json(_written(value) if indent is None else json.dumps(value, ensure_ascii=False, indent=indent))


def in_json(text: str) -> str:
    r"""Return JSON text with its hidden characters as `\uXXXX`, in surrogate pairs above U+FFFF.

    Below U+0020 there are only the line breaks between values: every writer of JSON escapes them in texts.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN_IN_JSON.sub(_as_json, text)


def visible(text: str) -> str:
    r"""Return text on one line with hidden characters as `\n`, `\uXXXX` or `\UXXXXXXXX`, and a backslash as two."""
    return _HIDDEN_OR_BACKSLASH.sub(_as_escape, text)


def printable(sentence: str) -> str:
    """Return a sentence of this program with hidden characters as escapes.

    Backslashes stay: what a sentence repeats of others is quoted in it, and so has its backslashes escaped.
    """
    return _HIDDEN.sub(_as_escape, sentence)


def without_formula(text: str) -> str:
    """Return the text of a cell with an apostrophe before what a spreadsheet would run; a number is as it was.

    These are `=`, `+`, `-` and `@`, also as full-width characters, and tabs and line breaks, which some drop (OWASP,
    "CSV Injection").
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub("'", text)


def _as_json(match: re.Match[str]) -> str:
    # Delete is no control character to `json`.
    return _written_in_ascii(match[0])[1:-1].replace("\x7f", r"\u007f")


def _as_escape(match: re.Match[str]) -> str:
    character = match[0]
    number = ord(character)
    return _BREAKS.get(character) or (f"\\u{number:04x}" if number < _ABOVE_BMP else f"\\U{number:08x}")
