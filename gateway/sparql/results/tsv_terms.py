"""The RDF terms that fields of TSV are (SPARQL 1.1 Query Results CSV and TSV Formats, section 4; Turtle, 6.5)."""

from __future__ import annotations

import re

import msgspec

from gateway.sparql.results.terms import BlankTerm, IriTerm, LiteralTerm, Term, TripleTerm
from gateway.terms.known_iris import XSD

_IRI = r'[^<>"{}|^`\\\x00-\x20]*'
_TERM = re.compile(
    rf"<({_IRI})>"
    r'|"([^"\\\n\r]*(?:\\.[^"\\\n\r]*)*)"'
    rf"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)(?:--(?:ltr|rtl))?|\^\^<({_IRI})>)?"
    r"|_:([^\s<>\"\\()]+)"
    r"|([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+|[+-]?[0-9]*\.[0-9]+|[+-]?[0-9]+|true|false)"
)
"""An IRI; a text with its language or datatype; a blank node; a number or a boolean."""

_OPENING = re.compile(r"<<(\(?)")
_CLOSING = {"(": re.compile(r" ?\)>>"), "": re.compile(r" ?>>")}

_MOST_NESTED = 32
"""Triple terms in one another; a deeper one is read in another format."""

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_SURROGATES = range(0xD800, 0xE000)
_MOST_CODE_POINT = 0x10FFFF

_QUOTED = re.compile(rf'"(?P<text>[A-Za-z][A-Za-z0-9+.\-]*:{_IRI})"')
_WORD = re.compile(r'"([A-Za-z]+)"')
_BLANK = "nodeID://"
"""How Virtuoso names blank nodes, also in JSON."""


class NoTermError(ValueError):
    """A field is not by the grammar."""


class Terms(dict[str, Term | None]):
    """The term of each field, read once: of thousands of rows, many have the same terms."""

    def __missing__(self, field: str) -> Term | None:
        """Read a field.

        Raises:
            NoTermError: It is not by the grammar.
        """
        found = _TERM.fullmatch(field)
        term = _term_of(found) if found is not None else _triple(field) if field else None
        self[field] = term
        return term


class QuotedTerms(dict[str, Term | None]):
    """The same as Virtuoso writes IRIs and blank nodes."""

    def __missing__(self, field: str) -> Term | None:
        """Read a field.

        Raises:
            NoTermError: It is no IRI and no blank node in quotation marks.
        """
        quoted = _QUOTED.fullmatch(field)
        if quoted is None and field:
            raise NoTermError
        found: Term | None = None
        if quoted is not None:
            text = quoted["text"]
            found = BlankTerm(text) if text.startswith(_BLANK) else IriTerm(text)
        self[field] = found
        return found


class QuotedWords(dict[str, Term | None]):
    """The same for words that a query binds itself; of a graph's own texts, Virtuoso hides language and datatype."""

    def __missing__(self, field: str) -> Term | None:
        """Read a field.

        Raises:
            NoTermError: It is no word in quotation marks.
        """
        quoted = _WORD.fullmatch(field)
        if quoted is None and field:
            raise NoTermError
        self[field] = found = None if quoted is None else LiteralTerm(quoted[1])
        return found


def _term_of(found: re.Match[str]) -> Term:
    iri, text, language, datatype, blank, number = found.groups()
    if iri is not None:
        return IriTerm(iri)
    if text is not None:
        return LiteralTerm(_ESCAPE.sub(_character, text) if "\\" in text else text, datatype, language)
    return BlankTerm(blank) if blank is not None else LiteralTerm(number, _bare_type(number))


def _bare_type(text: str) -> str:
    """Return the datatype of a literal that stands without quotation marks."""
    if text in {"true", "false"}:
        return f"{XSD}boolean"
    return f"{XSD}{'double' if 'e' in text.lower() else 'decimal' if '.' in text else 'integer'}"


def _triple(field: str) -> Term:
    term, end = _triple_at(field, 0, 0)
    if end != len(field):
        raise NoTermError
    return term


def _triple_at(field: str, start: int, depth: int) -> tuple[Term, int]:
    """Return the triple term that begins at a place, and where it ends."""
    opening = _OPENING.match(field, start)
    if opening is None or depth == _MOST_NESTED:
        raise NoTermError
    end = opening.end()
    terms: dict[str, Term] = {}
    for part in ("subject", "predicate", "object"):
        start = end + field.startswith(" ", end)
        if field.startswith("<<", start):
            terms[part], end = _triple_at(field, start, depth + 1)
        elif (found := _TERM.match(field, start)) is not None:
            terms[part], end = _term_of(found), found.end()
        else:
            raise NoTermError
    closing = _CLOSING[opening[1]].match(field, end)
    if closing is None:
        raise NoTermError
    return TripleTerm(msgspec.Raw(msgspec.json.encode(terms))), closing.end()


def _character(escape: re.Match[str]) -> str:
    if (character := escape[3]) is not None:
        if character not in _ESCAPED:
            raise NoTermError
        return _ESCAPED[character]
    code = int(escape[1] or escape[2], 16)
    if code in _SURROGATES or code > _MOST_CODE_POINT:
        raise NoTermError
    return chr(code)
