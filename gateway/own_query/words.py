"""The words of SPARQL, and the first of a query that is none: a parser names neither it nor the one that is meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from gateway.own_query.text import matches_in_order

_LISTED = """
BASE PREFIX VERSION SELECT DISTINCT REDUCED AS CONSTRUCT DESCRIBE ASK FROM NAMED WHERE GROUP BY HAVING ORDER ASC DESC
LIMIT OFFSET VALUES OPTIONAL GRAPH SERVICE SILENT BIND UNDEF MINUS UNION FILTER NOT EXISTS IN SEPARATOR TRUE FALSE
COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT STR LANG LANGMATCHES LANGDIR DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR
ROUND CONCAT STRLEN UCASE LCASE ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS
MINUTES SECONDS TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF STRLANG STRLANGDIR STRDT
SAMETERM SAMEVALUE ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC HASLANG HASLANGDIR REGEX SUBSTR REPLACE ISTRIPLE TRIPLE
SUBJECT PREDICATE OBJECT INSERT DELETE DATA LOAD CLEAR DROP CREATE ADD MOVE COPY WITH USING DEFAULT ALL TO INTO
LATERAL ADJUST
"""
"""SPARQL 1.2 Query Language, 19.8; the last line has words that Oxigraph knows besides."""

_WORDS: Final = frozenset(_LISTED.split())

_LONGEST = 40
"""Characters of a word that an error names."""

_QUOTES = frozenset("\"'")


def mistake_in_words(text: str) -> str:
    """Return which word of a text is none of SPARQL, where it stands, and which is meant; empty if there is none.

    Behind a quotation mark or a `<` that is not closed, nothing is known to be a word.

    Args:
        text: A text that a parser refused.
    """
    for found in matches_in_order(text):
        other, word = found["other"], found["word"]
        if other in _QUOTES or (other == "<" and text[found.end() : found.end() + 1].isalpha()):
            return ""
        if word is None or word == "a" or word.upper() in _WORDS:
            continue
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        shown = word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
        return f"line {line}, column {column}: {shown} is no word of SPARQL{_meant(word)}"
    return ""


def _meant(word: str) -> str:
    if word == "A":
        return "; did you mean a?"
    nearest = get_close_matches(word.upper()[:_LONGEST], sorted(_WORDS), n=1, cutoff=0.7)
    if not nearest:
        return ": an IRI is <…> or has a prefix, a text has quotation marks"
    # Words of SPARQL are mostly written in capitals, and local names are not.
    or_a_name = "" if word.isupper() else ", or an IRI, which is <…> or has a prefix"
    return f"; did you mean {nearest[0]}{or_a_name}?"
