"""Checks and takes apart IRIs.

The grammar is the one of SPARQL's IRIREF with a scheme in front (SPARQL 1.1 section 19.8, RFC 3987): what passes
here cannot end a ``<...>`` in a query. It is wider than some engines' own: those refuse ``%zz`` or private-use
characters, and then the endpoint decides (docs/notes/embedded-engines.md, "Terms").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\\x7f-\x9f\ud800-\udfff\ufffe\uffff]*")
"""What a query can contain: no character of it ends `<...>`."""

_PLAIN = r"[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
_PLAIN_IRI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:{_PLAIN})*(?::[0-9]*)?(?:/(?:{_PLAIN}|[:@/])*)?|(?!//)(?:{_PLAIN}|[:@/])*)"
    rf"(?:\?(?:{_PLAIN}|[:@/?])*)?(?:#(?:{_PLAIN}|[:@/?])*)?"
)
"""An IRI of RFC 3986 in which each percent sign begins an escape, without IPv6 hosts in brackets."""

_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:[/?#]|$)")

_ORDINARY = re.compile(r"https?://[^/A-Z]+(?:/|$)")
"""The beginning of almost all IRIs; engines rewrite none of these, unless a segment starts with a dot."""

_HIERARCHICAL = frozenset({"http", "https", "ftp", "ws", "wss"})
"""Schemes whose IRIs have an authority."""

_LOCAL_NAME = re.compile(r"[#/:]([^#/:]+)[#/]?$")


MAX_IRI = 998
"""Characters of an IRI in an answer; as `<IRI>` it is an argument of 1,000 characters."""

_SKOLEM = "/.well-known/genid/"
"""In the path of every IRI that replaces a blank node."""


def is_skolem(iri: str) -> bool:
    """Return whether an IRI stands for a blank node (RDF 1.1 Concepts 3.5), as unknown values of Wikibase do."""
    return _SKOLEM in iri


def is_iri(text: str) -> bool:
    """Return whether the whole text is an absolute IRI that a query can contain."""
    return _IRI.fullmatch(text) is not None


def is_sendable(text: str) -> bool:
    """Return whether a caller can send an IRI back as an ID: it is legal, and not too long."""
    return len(text) <= MAX_IRI and is_iri(text)


def not_sendable(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts that are not sendable."""
    is_legal = _IRI.fullmatch
    return frozenset(text for text in set(texts) if len(text) > MAX_IRI or is_legal(text) is None)


def is_plain_iri(text: str) -> bool:
    """Return whether every engine accepts this IRI unchanged.

    It is ASCII, every percent sign is an escape, and it is in the form that RFC 3986 section 6.2.2 calls normal.
    """
    return _PLAIN_IRI.fullmatch(text) is not None and not may_be_rewritten(text)


def may_be_rewritten(text: str) -> bool:
    """Return whether an engine may read this IRI in a query as another one.

    Fuseki resolves IRIs in queries, but not all that it loads: dot segments, ``http:x`` without an authority, and
    ``file:`` paths; an IRI that it then does not find may exist. Blazegraph sorts terms by a Unicode collation, so an
    IRI and its composed form (`composed`) are the same term.
    """
    if text.isascii() and "/." not in text and _ORDINARY.match(text):
        return False
    if composed(text) != text:
        return True
    scheme, _, rest = text.partition(":")
    authority = rest[2:].partition("/")[0] if rest.startswith("//") else ""
    return (
        _DOT_SEGMENT.search(rest) is not None
        or scheme != scheme.lower()
        or authority != authority.lower()
        or scheme == "file"
        or (scheme in _HIERARCHICAL and not authority)
    )


def composed(text: str) -> str:
    """Return an IRI in the composed form of Unicode (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def local_name(iri: str) -> str:
    """Return the part after the last ``#``, ``/`` or ``:``, or the whole IRI if that is empty."""
    found = _LOCAL_NAME.search(iri)
    return found.group(1) if found else iri
