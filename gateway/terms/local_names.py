"""Local names that read as names, by which nodes without a name are found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from gateway.terms.names import inflections

_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
"""Of a file."""

_LETTERS = re.compile(r"[^\W\d_]{3}")
_DIGITS = re.compile(r"\d{5}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_HEX = re.compile(
    r"(?=[^\W_]*\d)(?=[^\W_]*[A-Za-z])[0-9a-fA-F]{12,}"
    r"|(?<![^\W_])(?=[0-9a-f]*[a-f]\d+[a-f])(?![0-9a-f]*[a-f]{5})[0-9a-f]{8,}(?![^\W_])"
)
"""In the second form without five letters in a row, which a word such as `facade` has."""

_LONG = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z0-9]{14,}")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
"""A word or a number of a local name that is written in camel case."""

_SHORT_PARTS = 2.5
"""Characters of a part on average, below which letters and digits are those of a hash and no words."""

_WORD = re.compile(r"(?:[A-Z]|(?<![A-Za-z0-9]))(?=[a-z]*[aeiouy]|(?<=[AEIOUY]))[a-z]{2,}")
_WORDS = 0.45
"""Share of the characters in words from which on short parts beside them are no hash: `Room2B3CFloor1`."""

_BETWEEN = re.compile(r"[_\-.\s]+|(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
"""Between two words of a local name."""

_MOST = 200
"""Characters of a local name that is searched."""


def local_part(iri: str) -> str:
    """Return what comes last in an IRI: its fragment, or the last segment of its path, as people read it.

    >>> local_part("http://example.org/building#room_C180"), local_part("http://example.org/K%C3%B6ln/?lang=de")
    ('room_C180', 'Köln')
    """
    before, _, fragment = iri.partition("#")
    if fragment:
        last = fragment.rstrip("/").rpartition("/")[2]
    else:
        path = before.partition("?")[0].rstrip("/")
        last = path.rpartition("/")[2] if "//" not in path or path.count("/") > 2 else ""  # noqa: PLR2004 - after the host
        last = last.rpartition(":")[2] if "//" not in path else last
        last = _ENDING.sub("", last)
    text = unquote(last)
    return text if text.isprintable() and len(text) <= _MOST else ""


def in_words(local: str) -> str:
    """Return a local name with a blank between its words.

    >>> in_words("wasWrittenBy"), in_words("release_date"), in_words("HTTPServer")
    ('was Written By', 'release date', 'HTTP Server')
    """
    return _BETWEEN.sub(" ", local)


def readable(local: str) -> str:
    """Return a local name as the words that it is made of; empty where it does not read as a name.

    >>> readable("room_C180"), readable("hasSubSystem"), readable("Q42"), readable("GO_0005737")
    ('room C180', 'has Sub System', '', '')
    >>> readable("physicalEntityParticipant122"), readable("form_dde0679b"), readable("RA5twh0DiuwjJH3FOFis")
    ('physical Entity Participant122', '', '')
    """
    if _LETTERS.search(local) is None or any(one.search(local) for one in (_DIGITS, _UUID, _HEX)) or _has_hash(local):
        return ""
    return " ".join(_BETWEEN.sub(" ", local).split())


_UNREAD = "[^!-$&-~]"
"""A character that stands for another one, as `%` does, or that some engines match by its bytes."""

_TO_THE_END = "[^/#?]*[/#]*(?:[?].*)?$"
"""From the last part of an IRI on, or from within the query behind its `?`."""

_TWO_MARKS = "#.*#"
"""A fragment with a `#` in it: each part of it may be the last."""

_NOT_IN_IRIS = '["<>{}|\\\\^` ]'


def local_patterns(words: Sequence[str], *, every: bool, are_iris: bool = True) -> list[str]:
    """Return patterns that IRIs in lower case match whose local names fit words; others may match, too.

    A letter beyond ASCII may be a form of any, and what is percent-encoded any: who asks reads these.

    Args:
        words: Words as `gateway.terms.names.folded_words` returns them.
        every: Whether a local name is to have all of them, which then have a pattern each.
        are_iris: Whether all texts are IRIs; otherwise some may be encoded as the last part of one.
    """
    forms = list(map(_in_any_form, words))
    found = [f"{one}{_TO_THE_END}" if are_iris else f"{one}{_TO_THE_END}|{_in_no_iri(one)}" for one in forms]
    if not every and found:
        found = ["|".join(found)]
    return [f"{pattern}|{_TWO_MARKS}" for pattern in found]


def _in_any_form(word: str) -> str:
    """Return alternatives of which each text has one that has a word, its singular or its plural."""
    forms = sorted({word, *inflections(word)}, key=lambda form: (len(form), form))
    shortest = [form for place, form in enumerate(forms) if not any(other in form for other in forms[:place])]
    return f"(?:{'|'.join([*shortest, _UNREAD])})"


def _in_no_iri(form: str) -> str:
    """Return a pattern of texts that do not begin as IRIs with a host do, or have a sign that no IRI has."""
    return f"^[^:]*{form}|:/?[^/].*{form}|{_NOT_IN_IRIS}.*{form}|{form}.*{_NOT_IN_IRIS}"


def _has_hash(local: str) -> bool:
    return any(
        len(run) < _SHORT_PARTS * len(_PART.findall(run)) and sum(map(len, _WORD.findall(run))) < _WORDS * len(run)
        for run in _LONG.findall(local)
    )
