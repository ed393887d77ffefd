"""Which text is an IRI, and what its parts are.

The grammar is the one of SPARQL's IRIREF with a scheme in front (SPARQL 1.1 section 19.8, RFC 3987): what passes
here cannot end a ``<...>`` in a query. It is wider than some engines' own: those refuse ``%zz`` or private-use
characters, and then the endpoint's word decides (docs/notes/embedded-engines.md, "Terms").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\x00-\x20<>\"{}|^`\\\x7f-\x9f\ud800-\udfff\ufffe\uffff]*")

_PLAIN = r"[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
_PLAIN_IRI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:{_PLAIN})*(?::[0-9]*)?(?:/(?:{_PLAIN}|[:@/])*)?|(?!//)(?:{_PLAIN}|[:@/])*)"
    rf"(?:\?(?:{_PLAIN}|[:@/?])*)?(?:#(?:{_PLAIN}|[:@/?])*)?"
)

_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:[/?#]|$)")

_ORDINARY = re.compile(r"https?://[^/A-Z]+(?:/|$)")
"""How almost all IRIs begin; without a segment that starts with a dot, nobody rewrites these."""

_HIERARCHICAL = frozenset({"http", "https", "ftp", "ws", "wss"})

_LOCAL_NAME = re.compile(r"[#/:]([^#/:]+)[#/]?$")


MAX_IRI = 998
"""Characters of an IRI that may stand in answers: as `<IRI>` it is an argument of 1,000 characters."""

_SKOLEM = "/.well-known/genid/"


def is_skolem(iri: str) -> bool:
    """Tell whether an IRI stands for a blank node (RDF 1.1 Concepts 3.5); Wikibase writes unknown values so."""
    return _SKOLEM in iri


def is_iri(text: str) -> bool:
    """Tell whether the whole text is an absolute IRI that can stand in a query."""
    return _IRI.fullmatch(text) is not None


def is_sendable(text: str) -> bool:
    """Tell whether a caller can send this IRI back as an ID: it is one by the grammar, and not too long."""
    return len(text) <= MAX_IRI and is_iri(text)


def not_sendable(texts: Iterable[str]) -> frozenset[str]:
    """Return those of many texts that are not sendable, each looked at once."""
    is_legal = _IRI.fullmatch
    return frozenset(text for text in set(texts) if len(text) > MAX_IRI or is_legal(text) is None)


def is_plain_iri(text: str) -> bool:
    """Tell whether no engine has a reason to refuse or rewrite this IRI.

    It is ASCII, every percent sign is an escape, and it is in the form that RFC 3986 section 6.2.2 calls normal.
    """
    return _PLAIN_IRI.fullmatch(text) is not None and not may_be_rewritten(text)


def may_be_rewritten(text: str) -> bool:
    """Tell whether an engine may take this IRI in a query for another one.

    Fuseki resolves IRIs in queries, but not all that it loads: dot segments, ``http:x`` without an authority, and
    ``file:`` paths. What it then finds nothing for is not absent. Blazegraph sorts its terms by a Unicode collation, so
    that an IRI is the same term to it as the one in Unicode's composed form (`composed`).
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
    """Return an IRI in the form in which letters and their marks are one sign where there is one (Unicode's NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def local_name(iri: str) -> str:
    """Return what follows the last ``#``, ``/`` or ``:``, or the whole IRI where nothing does."""
    found = _LOCAL_NAME.search(iri)
    return found.group(1) if found else iri
