"""TSV becomes rows, where an engine writes it faster than JSON.

A body says nowhere that it is whole: it ends behind a line. So it is believed only where something else proves the
end. A line that is not finished, or an engine's own text at the end, shows a cut; a finished line that is not by the
grammar means that the engine writes TSV in a way of its own, and has to be asked in another format.

Virtuoso writes IRIs and blank nodes in quotation marks, as if they were literals, and says so by a header in quotation
marks. Its rows are read only where the query leaves nothing but IRIs and blank nodes in every column.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import msgspec

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault, GaveUp, WrongFormat
from gateway.graph.values import Iri
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Table, Term, TripleTerm
from gateway.terms.iri import XSD
from gateway.transport import engine_errors

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
_WORD = re.compile(r'"([A-Za-z]+(?: [0-9a-f]+)?)"')
"""A word, or the marker of a sentinel (`gateway.sparql.sentinel.marker`)."""

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
            NoTermError: It is no word and no marker in quotation marks.
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


_PIECE = 1 << 18
"""Bytes decoded at once, and as many more as the last line of them has: they stay in the processor's cache."""

_MOST_TERMS = 100_000
_MOST_TERMS_FOR_ONE = 4
"""Terms in an answer: at most so many, or so many for each that was asked for. One takes up to 300 bytes."""

_LESS = "Ask for fewer seeds or hops, or try again later."

_OF_IRIS = bytes(sorted({*range(0x21, 0x100)} - {*b'<>"{}|^`\\'}))
"""What an IRI consists of (SPARQL 1.1 Query, 19.8, IRIREF)."""


@dataclass(frozen=True, slots=True)
class _Delimiters:
    """What stands around every IRI."""

    before: bytes
    behind: bytes


_BRACKETS = _Delimiters(b"<", b">")
_QUOTES = _Delimiters(b'"', b'"')

_SURELY_IRI = b'"http'
"""How a field in quotation marks begins that needs no closer look: a blank node or a literal may be in others."""

_IRIS = frozenset[type]({IriTerm, type(None)})


def decode_tsv(body: bytes, variables: Sequence[str], at_most: int = 0, iris: Collection[str] = ()) -> Table:
    """Parse an answer.

    Args:
        body: SPARQL TSV.
        variables: What the query projects, in its order.
        at_most: The rows that the query asks for, where these are many.
        iris: Those of them that the query binds to nothing but IRIs and blank nodes; all or none, but for a last one
            that has words of our own.

    Raises:
        WrongFormat: A finished line is not by the grammar.
        BrokenAnswer: The last line is not finished.
        GaveUp: The engine says why it ends.
        AnswerCut: There are far more rows than asked for.
    """
    start = body.find(b"\n") + 1
    delimiters = _delimiters_of(body[: start - 1], variables) if start else None
    if delimiters is None or (delimiters is _QUOTES and not iris):
        raise _odd(body) if start else _cut(body)
    if not body.endswith(b"\n"):
        raise _cut(body)
    lines = body.count(b"\n", start)
    if lines * len(variables) > max(_MOST_TERMS, _MOST_TERMS_FOR_ONE * at_most * len(variables)):
        raise AnswerCut("One answer has more rows than were asked for.", next_step=_LESS)
    columns = _Columns([variable in iris for variable in variables], delimiters)
    for begin, end in _pieces(body, start):
        try:
            columns.add(body[begin:end])
        except NoTermError:
            # Raised below: this error holds the piece.
            break
    else:
        return columns.table(variables, lines)
    raise _odd(body[_first_odd(body, begin, end, columns) :])


def _first_odd(body: bytes, start: int, end: int, columns: _Columns) -> int:
    """Return where in a piece the first line begins that is not by the grammar."""
    while start < end:
        behind = body.index(b"\n", start) + 1
        try:
            columns.add(body[start:behind])
        except NoTermError:
            break
        start = behind
    return start


def _delimiters_of(header: bytes, variables: Sequence[str]) -> _Delimiters | None:
    """Return how IRIs are written below a header; None if it is not that of the variables."""
    if header == "\t".join(f"?{name}" for name in variables).encode():
        return _BRACKETS
    if header == "\t".join(f'"{name}"' for name in variables).encode():
        return _QUOTES
    return None


def _pieces(body: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Yield where pieces of whole lines begin and end; the last line, which may be one of another kind, is one."""
    last = body.rfind(b"\n", start - 1, -1) + 1
    while start < last:
        end = body.find(b"\n", min(start + _PIECE, last - 1)) + 1
        yield start, end
        start = end
    if start < len(body):
        yield start, len(body)


_Column = tuple[Sequence[Iri | None] | None, Sequence[Term | None]]
"""What one column has in a piece: where nothing but IRIs is bound, these, else the terms."""


class _Columns:
    """Collects the columns of an answer, piece by piece."""

    def __init__(self, iris: Sequence[bool], delimiters: _Delimiters) -> None:
        self._width = len(iris)
        self._delimiters = delimiters
        self._may_be_iris = self._width if delimiters is _BRACKETS else sum(iris)
        terms: Mapping[str, Term | None] = Terms() if delimiters is _BRACKETS else QuotedTerms()
        words = terms if delimiters is _BRACKETS else QuotedWords()
        self._terms = [terms if is_iri else words for is_iri in iris]
        self._pieces: list[Sequence[_Column]] = []

    def add(self, piece: bytes) -> None:
        """Take over the lines of a piece.

        Raises:
            NoTermError: Not all of them are by the grammar.
        """
        iris = _iris_in(piece, self._width, self._delimiters)
        if iris is None or len(iris) > self._may_be_iris:
            self._pieces.append(self._any_in(piece))
        else:
            empty: _Column = ([None] * len(iris[0]), ())
            self._pieces.append([*((column, ()) for column in iris), *[empty] * (self._width - len(iris))])

    def _any_in(self, piece: bytes) -> Sequence[_Column]:
        """Return the columns of lines of any terms."""
        try:
            # A line end is a field of its own, so that one at another place than behind the last field shows.
            fields = piece[:-1].decode().replace("\n", "\t\n\t").split("\t")
        except UnicodeDecodeError as error:
            raise NoTermError from error
        ends = fields[self._width :: self._width + 1]
        if len(fields) % (self._width + 1) != self._width or ends.count("\n") != len(ends):
            raise NoTermError
        return [self._column(fields[number :: self._width + 1], terms) for number, terms in enumerate(self._terms)]

    def _column(self, fields: Sequence[str], terms_of: Mapping[str, Term | None]) -> _Column:
        if fields[0] and fields[-1] and not isinstance(terms_of, QuotedWords):
            iris = _iris_in("\n".join([*fields, ""]).encode(), 1, self._delimiters)
            if iris is not None:
                return iris[0], ()
        terms = [*map(terms_of.__getitem__, fields)]
        if _IRIS.issuperset(map(type, terms)):
            return [term if term is None else term.value for term in terms], ()
        return None, terms

    def table(self, variables: Sequence[str], length: int) -> Table:
        """Return all rows."""
        terms: dict[str, Sequence[Term | None]] = {}
        iris: dict[str, Sequence[Iri | None]] = {}
        for variable, column in zip(variables, zip(*self._pieces, strict=True), strict=False):
            of_iris = [piece_iris for piece_iris, _ in column if piece_iris is not None]
            if len(of_iris) == len(column):
                iris[variable] = [*chain.from_iterable(of_iris)]
            else:
                terms[variable] = [*chain.from_iterable(map(_terms_of, column))]
        return Table(length, terms, iris)


def _terms_of(column: _Column) -> Sequence[Term | None]:
    iris, terms = column
    return terms if iris is None else [iri if iri is None else IriTerm(iri) for iri in iris]


def _iris_in(piece: bytes, width: int, delimiters: _Delimiters) -> Sequence[Sequence[Iri]] | None:
    """Return the columns of IRIs of lines in which all fields are IRIs, but for the last ones, which are empty.

    What remains without the characters of IRIs has to be the same for each line; then nothing but such characters is
    between the delimiters, and the number of pieces between them shows that none is beside them. Returns None for
    other lines.
    """
    rest = piece.translate(None, _OF_IRIS)
    line = rest[: rest.index(b"\n") + 1]
    field = delimiters.before + delimiters.behind
    count = line.count(field)
    lines = len(rest) // len(line)
    empty = b"\t" * (width - count)
    if not count or line != b"\t".join([field] * count) + empty + b"\n" or rest != line * lines:
        return None
    between, end = delimiters.behind + b"\t" + delimiters.before, delimiters.behind + empty + b"\n"
    if not (piece.startswith(delimiters.before) and piece.endswith(end)):
        return None
    if delimiters is _QUOTES and piece.count(_SURELY_IRI) != count * lines:
        return None
    inner = piece[len(delimiters.before) : -len(end)].replace(end + delimiters.before, between)
    try:
        texts = inner.decode().split(between.decode())
    except UnicodeDecodeError:
        return None
    if len(texts) != count * lines:
        return None
    return [texts[number::count] for number in range(count)]


def _odd(body: bytes) -> EndpointFault:
    """Say what a finished line means that is not by the grammar, by what stands from there on."""
    if engine_errors.gave_up_at_the_end(body):
        return _gave_up()
    return WrongFormat("The endpoint writes TSV in a way of its own.", next_step=_LESS)


def _cut(body: bytes) -> EndpointFault:
    """Say what a body means whose last line is not finished."""
    if engine_errors.gave_up_at_the_end(body):
        return _gave_up()
    return BrokenAnswer(
        "The endpoint's answer is no whole SPARQL TSV: it broke off, or was damaged on its way.", next_step=_LESS
    )


def _gave_up() -> GaveUp:
    return GaveUp("The endpoint gave up in the middle of an answer.", next_step=_LESS)
