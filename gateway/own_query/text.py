"""What a query of a person is, by its text: its kind, its prologue, and what it would reach beside the graph.

An engine's parser says whether the text is a query at all, and shows nothing of what is in it. So the words that matter
are looked for here, among the tokens of the grammar (SPARQL 1.1 Query, 19.8). Where `<` may begin an IRI or be an
operator, which only a whole parser knows, the text is read in both ways, and so is a prefix that contains such a word:
what is there in either of them is taken to be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

MOST_BYTES: Final = 1 << 20
"""Of a query."""

KINDS: Final = ("select", "ask", "construct", "describe")
UPDATES: Final = ("insert", "delete", "load", "clear", "drop", "create", "add", "move", "copy", "with")

_GAP = r"(?:[\s\ufeff]|\#[^\n\r]*)*"
_IRI = r"<(?:[^<>\"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>"
_VARIABLE = r"[?$][\w\u00b7\u203f\u2040]+"
_PREFIX = r"(?:[^\W\d_](?:[\w.\u00b7\u203f\u2040-]{0,200}[\w\u00b7\u203f\u2040-])?)?"
_LOCAL = r"(?:(?:[\w:%.\u00b7\u203f\u2040-]|\\.)*(?:[\w:%\u00b7\u203f\u2040-]|\\.))?"
_NAME = f"{_PREFIX}:{_LOCAL}"
# Engines take more characters into a name than `\w` has.
_LETTERS = r"[\w.\u0080-\U0010ffff-]"
_ANY_NAME = rf"{_LETTERS}*+:(?:[:%]|{_LETTERS}|\\.)*+(?<![^\\]\.)"
_TERM = rf"(?:[?$]{_LETTERS}++|{_IRI}|{_ANY_NAME})"

_DECLARATION = re.compile(
    rf"{_GAP}(?:BASE{_GAP}{_IRI}|PREFIX{_GAP}(?P<prefix>{_PREFIX}):{_GAP}{_IRI}"
    rf"|VERSION{_GAP}(?:\"[^\"\\\n\r]*\"|'[^'\\\n\r]*'))",
    re.IGNORECASE,
)
_ALL = re.compile(rf"{_GAP}SELECT{_GAP}(?:DISTINCT|REDUCED)?{_GAP}\*", re.IGNORECASE)
_VARIABLES = re.compile(r"[?$]([\w\u00b7\u203f\u2040]+)")
_FIRST_WORD = re.compile(f"{_GAP}([A-Za-z]+)")
_SKIPPED = re.compile(_GAP)
_TOKEN = re.compile(
    rf"""
      (?P<string>\"\"\"(?:(?:\"\"?)?(?:[^\"\\]|\\.))*\"\"\" | '''(?:(?:''?)?(?:[^'\\]|\\.))*'''
        | \"(?:[^\"\\\n\r]|\\.)*\" | '(?:[^'\\\n\r]|\\.)*')
    | (?P<iri>{_IRI})
    | (?P<variable>{_VARIABLE})
    | (?P<label>_:{_LOCAL})
    | (?P<name>(?P<prefix>{_PREFIX}):{_LOCAL})
    | (?P<tag>@[A-Za-z]+(?:-+[A-Za-z0-9]+)*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# An engine may read a word that follows another one without a blank, as in `trueSERVICE`, and one that a name follows,
# as in `SERVICEa:b`. Before FROM stands no word that ends nothing else, and what follows tells it from such a name.
_SERVICE, _GRAPH, _FROM = (re.compile(word, re.IGNORECASE) for word in ("SERVICE", "GRAPH", "FROM"))
_FROM_OF_NAME = re.compile(r"(?<!\w)FROM", re.IGNORECASE)
_GROUP_OF = re.compile(rf"(?>{_GAP})(?:SILENT(?>{_GAP}))?{_TERM}{_GAP}\{{", re.IGNORECASE)
_SOURCE = re.compile(rf"(?>{_GAP})(?:NAMED(?>{_GAP}))?(?:{_IRI}|{_ANY_NAME})", re.IGNORECASE)
_LAST_SOURCE = re.compile(
    rf"{_SOURCE.pattern}{_GAP}(?:\{{|\Z|(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|VALUES))", re.IGNORECASE
)
_OF_WORD = tuple(
    (re.compile(rf"{word.pattern}(?:SILENT|NAMED)?\Z", re.IGNORECASE), follows)
    for word, follows in ((_SERVICE, _GROUP_OF), (_GRAPH, _GROUP_OF), (_FROM, _SOURCE))
)
_OF_NAME = ((_SERVICE, _GROUP_OF), (_GRAPH, _GROUP_OF), (_FROM_OF_NAME, _LAST_SOURCE))
_NO_STEP = re.compile(rf"{_GAP}(?:\*|\?(?!\w))")
_NAMESPACE = re.compile(r"[^<>\"{}|^`\\\x00-\x20]*")
_ESCAPED_ASCII = re.compile(r"\\(?:u00|U000000)([0-7][0-9A-Fa-f])")


class QueryText(NamedTuple):
    """A query.

    Attributes:
        text: All of it.
        kind: Its first word behind the prologue in lower case: one of `KINDS`, or it is no query.
        prologue: Its declarations, with what stands between them.
        body: What follows.
        undeclared: The prefixes that it may use and does not declare.
        has_service: Whether it asks another endpoint, or may.
        has_dataset: Whether it says which graphs it is about (`FROM`), or may.
        has_graph: Whether it asks named graphs (`GRAPH`), or may.
        has_empty_path: Whether it has a path that may have no step (`p*`, `p?`), or may.
        has_hidden_syntax: Whether a character of the syntax may be written as an escape: some engines read these before
            anything else, and others in texts only.
    """

    text: str
    kind: str
    prologue: str
    body: str
    undeclared: frozenset[str]
    has_service: bool
    has_dataset: bool
    has_graph: bool
    has_empty_path: bool
    has_hidden_syntax: bool

    def with_prefixes(self, known: Mapping[str, str]) -> str:
        """Return the text with declarations before it of those known prefixes that it uses; mostly as it is."""
        used = sorted(name for name in self.undeclared & known.keys() if _NAMESPACE.fullmatch(known[name]))
        return "".join(f"PREFIX {name}: <{known[name]}>\n" for name in used) + self.text


def in_order(body: str, variables: Sequence[str]) -> list[int]:
    """Return the places of variables as people expect the columns: of `SELECT *` as they first occur.

    Args:
        body: A query without its declarations.
        variables: The variables of its answer.
    """
    places = range(len(variables))
    if not _ALL.match(body):
        return [*places]
    first = {name: found.start() for found in reversed([*_VARIABLES.finditer(body)]) for name in [found[1]]}
    return sorted(places, key=lambda place: first.get(variables[place], len(body)))


def read_query(text: str) -> QueryText:
    """Return what a text is, if it is a query by the grammar; any text can be read."""
    start, declared = 0, set()
    while (found := _DECLARATION.match(text, start)) is not None:
        start = found.end()
        if found["prefix"] is not None:
            declared.add(found["prefix"])
    word = _FIRST_WORD.match(text, start)
    used: set[str] = set()
    has_empty_path = False
    reaches: set[int] = set()
    for token in _tokens(text, start):
        ends_step = token["iri"] or token["name"] or token["word"] == "a" or token["other"] == ")"
        has_empty_path = has_empty_path or bool(ends_step and _NO_STEP.match(text, token.end()))
        if token["prefix"] is not None:
            used.add(token["prefix"])
            reaches.update(_reached(text, token.span("prefix"), _OF_NAME))
        elif token["word"] is not None:
            reaches.update(_reached(text, token.span(), _OF_WORD))
    has_service, has_graph, has_dataset = (place in reaches for place in range(3))
    return QueryText(
        text,
        "" if word is None else word[1].lower(),
        text[:start],
        text[start:],
        frozenset(used - declared),
        has_service=has_service,
        has_dataset=has_dataset,
        has_graph=has_graph,
        has_empty_path=has_empty_path,
        has_hidden_syntax=any(_is_syntax(found[1]) for found in _ESCAPED_ASCII.finditer(text)),
    )


def matches_in_order(text: str) -> Iterator[re.Match[str]]:
    """Yield the tokens of a text one after the other, where `<` begins an IRI if it can."""
    at = 0
    while (found := _TOKEN.match(text, at if (gap := _SKIPPED.match(text, at)) is None else gap.end())) is not None:
        at = found.end()
        yield found


def tokens_in_order(text: str) -> Iterator[str]:
    """Yield the texts of the tokens of `matches_in_order`."""
    for found in matches_in_order(text):
        yield found[0]


def _reached(
    text: str, span: tuple[int, int], sought: Sequence[tuple[re.Pattern[str], re.Pattern[str]]]
) -> Iterator[int]:
    """Yield the places of those words that are in a part of a text, if what must follow them does."""
    for place, (word, follows) in enumerate(sought):
        if any(follows.match(text, found.end()) for found in word.finditer(text, *span)):
            yield place


def _is_syntax(code_point: str) -> bool:
    """Return whether an escaped character may mean something to a parser; control characters of texts do not."""
    character = chr(int(code_point, 16))
    return character.isprintable() or character.isspace()


def _tokens(text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield the tokens of a text, read in every way that it can be."""
    seen: set[int] = set()
    ahead = [start]
    while ahead:
        found = _SKIPPED.match(text, ahead.pop())
        at = 0 if found is None else found.end()
        token = _TOKEN.match(text, at)
        if token is None or at in seen:
            continue
        seen.add(at)
        yield token
        ahead.append(token.end())
        if token["iri"] is not None:
            ahead.append(at + 1)
