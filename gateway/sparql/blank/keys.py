"""What an engine knows a blank node by in another request, where it has such a key, and how queries state it.

A label in an answer holds for that answer only. Four engines have a key beside it (docs/notes/endpoints.md, "Blank
nodes"): Jena and Virtuoso take it as an IRI, Oxigraph as the argument of BNODE(), and RDF4J beside the query. No other
text about an engine's labels is here, and no key leaves the gateway but in the ID of its node.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice, product
from string import ascii_lowercase
from typing import Final, Literal
from urllib.parse import quote, unquote

from gateway.files.ntriples import literal, node
from gateway.graph.values import Iri
from gateway.sparql.table import (
    BlankTerm,
    IriTerm,
    LiteralTerm,
    Table,
    Term,
    TripleTerm,
    TypedLiteralTerm,
    UnexpectedRows,
    term,
)
from gateway.sparql.template import NO_IRI, Parameter
from gateway.terms.iri import BLANK_NODE, MAX_IRI, OWN, POSITION, XSD

Way = Literal["iris", "labels", "fields"]
"""How queries state keys: as IRIs, as arguments of BNODE(), or as variables that are bound beside the query."""

_ENDINGS: Mapping[Way, str] = {"iris": "", "labels": "_by_label", "fields": "_by_field"}
"""How the names of templates end."""

KEY = f"{OWN}key:"
"""Begins the IRI that stands for a key inside this package: a blank node of which the ID is not known yet."""

_JENA, _VIRTUOSO = "_:", "nodeID://"
"""How STR() of a blank node begins, where it is the key."""

_DIGEST = "~"
"""Between the key and the digest in an ID."""

WALK_STEP: Final = "!"
"""Between the steps of a walk, which an ID has where there is no key; no key has it in an ID."""

_HEX = re.compile("[1-9a-f][0-9a-f]{0,31}")
_SIXTEEN_BYTES = re.compile("[0-9a-f]{32}")
_OF_VIRTUOSO = "v"
_AS_IRIS = f"jk{_OF_VIRTUOSO}"
_FORMS = f"{_AS_IRIS}xl"
"""How the text of a key begins: Jena's labels of 16 bytes, and others of Jena; Virtuoso's; hexadecimal, and others."""


def template_of(name: str, way: Way) -> str:
    """Return the template of a name that states keys in a way."""
    return f"blank_nodes/{name}{_ENDINGS[way]}"


def parameters_of(way: Way, keys: Sequence[Iri]) -> dict[str, Parameter]:
    """Return how a query states some keys."""
    stated = [*map(_stated, keys)]
    match way:
        case "iris":
            # Virtuoso loses the only row of VALUES if that is a blank node.
            return {"keys": [*stated, NO_IRI]}
        case "labels":
            return {"keys": stated}
        case "fields":
            return {"keys": [*islice(_variables(), len(stated))]}


def beside_keys(way: Way, keys: Sequence[Iri]) -> dict[str, Parameter]:
    """Return whether answers about some keys have keys apart from labels, where a query can ask for them."""
    are_labels = all(key[len(KEY)] == _OF_VIRTUOSO for key in keys)
    return {"apart": not are_labels} if way == "iris" else {}


def bindings_of(way: Way, keys: Sequence[Iri]) -> Mapping[str, str]:
    """Return what is bound beside a query that states some keys: blank nodes by variable."""
    return dict(zip(_variables(), map(_stated, keys), strict=False)) if way == "fields" else {}


def _variables() -> Iterator[str]:
    for length in count(1):
        for letters in product(ascii_lowercase, repeat=length):
            yield f"k{''.join(letters)}"


_REMEMBERED: Final = 1 << 16
"""Keys of which it is remembered how an engine and an ID write them: each is met in many rows and questions."""


def is_key(end: Iri) -> bool:
    """Return whether an IRI stands for a key."""
    return end.startswith(KEY)


@lru_cache(_REMEMBERED)
def key_of(text: str) -> Iri:
    """Return the IRI that stands for a key, as an engine writes it."""
    return KEY + _written(text)


def _written(text: str) -> str:
    """Return a key as it stands in an ID: short, and without what an IRI or an ID cannot have."""
    if text.startswith(_JENA):
        label = text.removeprefix(_JENA)
        return f"j{_base32(bytes.fromhex(label))}" if _SIXTEEN_BYTES.fullmatch(label) else f"k{_quoted(label)}"
    if text.startswith(_VIRTUOSO):
        return f"{_OF_VIRTUOSO}{_quoted(text.removeprefix(_VIRTUOSO))}"
    if _HEX.fullmatch(text):
        number = int(text, 16)
        return f"x{_base32(number.to_bytes((number.bit_length() + 7) // 8))}"
    return f"l{_quoted(text)}"


@lru_cache(_REMEMBERED)
def _stated(key: Iri) -> str:
    """Return what an engine knows a node by, from the IRI that stands for its key."""
    form, text = key[len(KEY)], key[len(KEY) + 1 :]
    match form:
        case "j":
            return _JENA + _bytes_of(text).hex()
        case "k":
            return _JENA + unquote(text)
        case "v":
            return _VIRTUOSO + unquote(text)
        case "x":
            return f"{int.from_bytes(_bytes_of(text)):x}"
        case _:
            return unquote(text)


def _quoted(text: str) -> str:
    return quote(text, safe="").replace(_DIGEST, "%7E")


def _base32(content: bytes) -> str:
    return base64.b32encode(content).decode().rstrip("=").lower()


def _bytes_of(text: str) -> bytes:
    return base64.b32decode(text.upper() + "=" * (-len(text) % 8))


@dataclass(frozen=True, slots=True)
class NodeId:
    """What the ID of a blank node of an endpoint is made of.

    Attributes:
        key: Its key, or the walk to it and the digest by which that was made.
        digest: The digest of what it says; of a walk that of what lists say of it, empty where none do.
    """

    key: Iri
    digest: str

    @classmethod
    def of(cls, node: Iri) -> NodeId | None:
        """Return the parts of an ID; None where it is none of a blank node of an endpoint."""
        text, mark, digest = node.removeprefix(BLANK_NODE).partition(_DIGEST)
        if WALK_STEP in text and mark:
            # What has no key is known by a walk and the digest together.
            digest, _, of_lists = digest.partition(_DIGEST)
            return cls(KEY + text + mark + digest, of_lists)
        if not mark or not text or text[0] not in _FORMS:
            return None
        key = KEY + text
        return cls(key, digest) if is_statable(key) else None

    @property
    def iri(self) -> Iri:
        """The node, as it crosses the port; empty where it would be too long to be sent back."""
        digest = f"{_DIGEST}{self.digest}" if self.digest else ""
        iri = f"{BLANK_NODE}{self.key[len(KEY) :]}{digest}"
        return iri if len(iri) <= MAX_IRI else ""


_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:\-]*")


@lru_cache(_REMEMBERED)
def is_statable(key: Iri) -> bool:
    """Return whether a query can state a key, and an ID has it as it is written here."""
    try:
        stated = _stated(key)
    except ValueError:
        return False
    label = stated.removeprefix(_JENA).removeprefix(_VIRTUOSO)
    return _LABEL.fullmatch(label) is not None and key_of(stated) == key


def can_state(way: Way, key: Iri) -> bool:
    """Return whether a query can state a key in a way: as an IRI only one that looks like it."""
    return is_statable(key) and (way != "iris" or key[len(KEY)] in _AS_IRIS)


_ROUNDED = frozenset(f"{XSD}{name}" for name in ("boolean", "double", "float"))


def may_be_rounded(key: Iri, end: Term) -> bool:
    """Return whether the engine of a key may write a value in an answer otherwise than it is."""
    return key[len(KEY)] == _OF_VIRTUOSO and isinstance(end, LiteralTerm) and end.datatype in _ROUNDED


def made_up(key: Iri) -> Iri:
    """Return a key like another one that no node has."""
    stated = _stated(key)
    begun = next((begin for begin in (_JENA, _VIRTUOSO) if stated.startswith(begin)), "")
    return key_of(begun + ("b999999999" if begun == _VIRTUOSO else "f" * len(stated.removeprefix(begun))))


TRIPLE = IriTerm(f"{OWN}triple")
"""Stands for any triple term: the labels of blank nodes in one mean nothing in another answer."""

_AS_THEY_ARE = frozenset[type]({IriTerm, LiteralTerm, TypedLiteralTerm, type(None)})


def by_key(rows: Table, variable: str) -> Sequence[Term | None]:
    """Return the terms of a variable, with the IRI of its key in the place of each label of a blank node."""
    found = rows.terms(variable)
    if _AS_THEY_ARE.issuperset(map(type, found)):
        return found
    keys = rows.terms(f"{variable}key")
    return [one if type(one) in _AS_THEY_ARE else _end_by_key(one, key) for one, key in zip(found, keys, strict=True)]


def keys_in(rows: Table, variable: str) -> Sequence[Iri]:
    """Return the keys of a variable that is bound to nothing but blank nodes."""
    found = [one.value for one in by_key(rows, variable) if isinstance(one, BlankTerm)]
    if len(found) < len(rows):
        raise UnexpectedRows
    return found


def ends_in(rows: Table) -> Iterable[Term]:
    """Return the terms of ?v with keys of blank nodes, and of literals what ?text says."""
    return term("v", "text")(Table(len(rows), {"v": by_key(rows, "v"), "text": rows.terms("text")}))


def _end_by_key(end: Term | None, said: Term | None) -> Term | None:
    """Return the end of a triple with the IRI of its key in the place of the label of a blank node."""
    match end, said:
        case BlankTerm(), LiteralTerm(value=text) if text.startswith((_JENA, _VIRTUOSO)):
            return BlankTerm(key_of(text))
        case BlankTerm(value=label), _:
            return BlankTerm(key_of(label))
        case TripleTerm(), _:
            return TRIPLE
        case _:
            return end


_DIGEST_BYTES = 15
_DIGEST_CHARACTERS = 10
"""Of the digest in an ID: 50 bits."""


def hash_of(content: bytes) -> bytes:
    """Return the digest of what a blank node says."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def written(digest: bytes) -> str:
    """Return a digest as IDs have it."""
    return base64.b32encode(digest).decode().lower()[:_DIGEST_CHARACTERS]


def end_as_text(end: Term) -> str:
    """Return the end of a triple as digests of blank nodes have it: all blank nodes alike."""
    match end:
        case IriTerm():
            return f"<{end.value}>"
        case LiteralTerm():
            return repr((end.value, end.datatype or "", (end.language or "").lower()))
        case _:
            return "_"


def label_of(key: Iri) -> str:
    """Return the label that stands for a key; for an IRI its term."""
    return f"_:{key}" if is_key(key) else node(key)


def term_of(end: Term) -> str:
    """Return a term as N-Triples write it, with its key for the label of a blank node."""
    match end:
        case IriTerm():
            return node(end.value)
        case BlankTerm():
            return label_of(end.value)
        case LiteralTerm(language=str(language)):
            return f"{literal(end.value, '').removesuffix('^^<>')}@{language}" if language else _plain(end)
        case LiteralTerm():
            return _plain(end)
        case _:
            return node(POSITION)


def _plain(end: LiteralTerm) -> str:
    text = literal(end.value, end.datatype or f"{XSD}string")
    return text.removesuffix(f"^^<{XSD}string>")


def name_of(term: str) -> Iri:
    """Return the IRI, or the key, of a term."""
    return term[2:] if term.startswith("_:") else term[1:-1]
