"""Which predicates carry names, by what they are called and by their values.

Rules: docs/profiles.md, "Names that a graph gives by predicates of its own".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal as OneOf

from gateway.terms.iri import FOAF, SCHEMA, VCARD, local_name
from gateway.terms.literals import Literal, best_text, is_date, is_number
from gateway.terms.names import one_line

Role = OneOf["name", "synonym"]

_CODE = re.compile(r"notation|code|symbol|identifier|(?:^|[^a-zA-Z]|[a-z])ID|(?:^|[^a-zA-Z])id|[a-z]Id")

_ENDINGS = ("name", "label", "title", "term", "heading", "lemma")
"""How names of predicates end whose values are names, the likeliest first."""

_FIRST = ("pref", "display")
"""What the name of a predicate has in it whose values are shown before those of others."""

_SUFFIX = re.compile(r"(?:string|text|value)$")
_SYNONYM = re.compile(r"alt|hidden|short|synonym|colloquial|historical")
_OF_A_PERSON = re.compile(r"(?:additional|middle)name$|honorific|job(?:title|label)$")
"""What is called a name or a title and is a further part of the name of a person, a form of address or a job."""

_OF_ANOTHER = re.compile(
    rf"file|class|family|given|attribution|template|first|last|surname|user|{_OF_A_PERSON.pattern}"
)
"""What is called a name and names something else, or a part of a name only."""

_NEVER = re.compile(
    r"comment|message|note|description|definition|abstract|identifier|notation|code|symbol|(?:^|[^a-z])id$|[a-z]ID$|Id$"
)
"""What comments, messages and identifiers are called, which differ more from node to node than names do."""

FORMS_OF_ADDRESS = frozenset({f"{FOAF}title", f"{VCARD}title"})
"""Predicates that are called a title and mean a form of address, or a position."""

_NUMBERED = re.compile(r"[A-Za-z]*[_-]?\d{2,}")
"""A local name that says nothing, such as `IAO_0000118` and `P1476`."""

_LONGEST = 160
_NOT_A_NAME = re.compile(r"\w+://\S+|\S+@\S+|[\d\W_]+|[0-9a-fA-F-]{16,}")
"""An address, a number, a date or a hash."""

_KEY = re.compile(r"\S*\w_\w\S*|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])\S{16,}")

_SHORTEST = 2


_MOST_JOINED = 1_000
"""Names of one node that are made of its given and family names."""

NAME_PARTS = (
    (f"{FOAF}givenName", f"{FOAF}familyName"),
    (f"{FOAF}firstName", f"{FOAF}lastName"),
    (f"{FOAF}givenname", f"{FOAF}family_name"),
    (f"{VCARD}given-name", f"{VCARD}family-name"),
    *((f"{namespace}givenName", f"{namespace}familyName") for namespace in SCHEMA),
)
"""Predicates of given and family names, which make one name. It is shown where there is no other, and found always."""


def parts_among(predicates: Collection[str]) -> tuple[str, ...]:
    """Return the predicates of given and family names of which some predicates have both."""
    return tuple(part for pair in NAME_PARTS if set(pair) <= set(predicates) for part in pair)


def pairs_among(parts: Collection[str]) -> list[tuple[str, str]]:
    """Return the predicates of a given and a family name that are both among some predicates, pair by pair."""
    return [pair for pair in NAME_PARTS if set(pair) <= set(parts)]


def joined_name(texts: Mapping[str, Collection[Literal]], order: Sequence[str]) -> str:
    """Return the given name and the family name as one; empty where there are not both."""
    for pair in NAME_PARTS:
        parts = [one_line(best_text(texts, [part], order)) for part in pair]
        if all(parts):
            return " ".join(parts)
    return ""


def joined_names(given: Iterable[tuple[str, str]], family: Iterable[tuple[str, str]]) -> list[str]:
    """Return each given name with each family name as one; where these are very many, the first of each language.

    Args:
        given: Given names, each with its language.
        family: Family names in the same way.

    >>> joined_names([("Dee", "en"), ("Di", "de")], [("Do", "de")])
    ['Di Do', 'Dee Do']
    """
    firsts, lasts = _by_language(given), _by_language(family)
    while len(firsts) * len(lasts) > _MOST_JOINED:
        max(firsts, lasts, key=len).pop()
    return list(dict.fromkeys(f"{first} {last}" for first in firsts for last in lasts))


def role_of(called: str) -> Role | None:
    """Return what the values of a predicate are by what it is called, in its IRI or by its own label; None for neither.

    >>> role_of("fullTitle"), role_of("alternative term"), role_of("fileName")
    ('name', 'synonym', None)
    """
    compact = _compact(called)
    if _SYNONYM.search(compact) is not None and compact.endswith((*_ENDINGS, "synonym", "synonyms")):
        return "synonym"
    if not compact.endswith(_ENDINGS) or _OF_ANOTHER.search(compact) is not None:
        return None
    return "name"


def is_code(called: str) -> bool:
    """Return whether the values of a predicate are notations, codes, symbols or identifiers by what it is called.

    >>> is_code("notation"), is_code("ucumCode"), is_code("id"), is_code("isValid")
    (True, True, True, False)
    """
    ends = (match.end() for match in _CODE.finditer(called))
    return len(called) in ends or called.lower().endswith(("notation", "code", "symbol", "identifier"))


def name_rank(called: str) -> tuple[bool, int, bool]:
    """Return the sort key of a predicate whose values are names, by what it is called: `name` before `brandName`."""
    compact = _compact(called)
    place = next((place for place, ending in enumerate(_ENDINGS) if compact.endswith(ending)), len(_ENDINGS))
    return (not any(word in compact for word in _FIRST), place, compact not in _ENDINGS)


def has_numbered_name(predicate: str) -> bool:
    """Return whether the local name of a predicate says nothing, so that its own label has to."""
    return _NUMBERED.fullmatch(local_name(predicate)) is not None


def is_never_a_name(called: str) -> bool:
    """Return whether a predicate is called as those of comments, messages, identifiers and jobs are.

    >>> is_never_a_name("errorMessage"), is_never_a_name("jobTitle"), is_never_a_name("jobName")
    (True, True, False)
    """
    return (
        _NEVER.search(called) is not None
        or _NEVER.search(called.lower()) is not None
        or _OF_A_PERSON.search(_compact(called)) is not None
    )


def may_be_name(literal: Literal) -> bool:
    """Return whether a literal reads as a name: a text that is not long, no address and no number."""
    text = one_line(literal.value)
    return (
        not (is_number(literal.datatype) or is_date(literal.datatype))
        and len(text) >= _SHORTEST
        and _NOT_A_NAME.fullmatch(text) is None
        and any(map(str.isalpha, text))
    )


def reads_as_key(text: str) -> bool:
    """Return whether a text reads as a key of a program or a column, and not as what people call something.

    >>> reads_as_key("arrival_time"), reads_as_key("1IedFN$LrDXxWafTVrdUfI"), reads_as_key("Bauteil 3_a")
    (True, True, False)
    """
    return _KEY.fullmatch(text) is not None


def is_short(length: int) -> bool:
    """Return whether texts of a length, the median of some, are as short as names."""
    return length <= _LONGEST


def _by_language(texts: Iterable[tuple[str, str]]) -> list[str]:
    """Return texts in one line: first that of each language which is shown, then others."""
    counts: Counter[str] = Counter()
    ranked = []
    for language, text in sorted({(language, one_line(text)) for text, language in texts}):
        ranked.append((counts[language], language, text))
        counts[language] += 1
    return [text for _, _, text in sorted(ranked) if text]


def _compact(called: str) -> str:
    letters = "".join(filter(str.isalnum, called)).lower()
    return _SUFFIX.sub("", letters)
