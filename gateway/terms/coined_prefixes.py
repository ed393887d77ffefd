"""Prefixes that the gateway coins for namespaces that nobody declared one for (docs/contract.md, "Canonical IDs")."""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from gateway.terms.iri import is_iri

MOST = 200
"""Prefixes that one gateway coins."""

_FEW_WRITINGS = 3
"""Writings of a namespace in one answer that need no prefix."""

_LEAST_SAVED = 8
"""Characters that a prefix saves in each ID: below that, it is no easier to read and takes as many tokens."""

_LONGEST_NAMESPACE = 200
"""Characters of a namespace that is given a prefix: an answer tells each one that it uses."""

_LETTERS = 12
"""Letters of a prefix, at most."""

_DIGITS = 3
"""Digits of its hash, where no other namespace has the same."""

_AROUND = 6
"""Characters around a prefix and its namespace where an answer tells them: quotes, a colon and a comma."""

_COINED = re.compile(rf"[A-Za-z]{{1,{_LETTERS}}}_[a-z2-7]{{{_DIGITS},52}}")
"""No scheme of an IRI has `_` (RFC 3986 section 3.1), so an ID with such a prefix is never an IRI."""

_IN_TEXT = re.compile(rf"(?<![A-Za-z0-9_]){_COINED.pattern}(?=:)")

_SEGMENTS = re.compile(r"[^/#:]+")

Digest = Callable[[str], str]

# What one answer coins must not change the writing of another between its first and its last ID.
_IN_ANSWER: ContextVar[tuple[CoinedPrefixes, dict[str, str | None]] | None] = ContextVar(
    "namespaces in this answer", default=None
)
"""The namespaces that the answer under way has shortened or left whole: each with its prefix, or with None.

They are those of the prefixes of one graph.
"""


class PrefixStorage(Protocol):
    """Stores coined prefixes between runs."""

    def load(self) -> Mapping[str, str]:
        """Return the namespaces that earlier runs stored, by prefix."""
        ...

    def save(self, coined: Mapping[str, str]) -> None:
        """Store namespaces by prefix, beside those that are stored already."""
        ...


def namespace_of(iri: str) -> str:
    """Return an IRI up to its last `#` or `/`, or its last `:` where it has neither; empty where it has no local name.

    >>> namespace_of("http://example.org/drug/warfarin")
    'http://example.org/drug/'
    """
    end = max(iri.rfind("/"), iri.rfind("#")) + 1 or iri.rfind(":") + 1
    # What follows `//` is a host and no local name.
    return "" if end == len(iri) or iri.endswith("//", 0, end) else iri[:end]


def looks_coined(name: str) -> bool:
    """Return whether a name has the form of a coined prefix."""
    return _COINED.fullmatch(name) is not None


def used_in(text: str, coined: Mapping[str, str]) -> dict[str, str]:
    """Return those coined prefixes that a text uses, sorted; rather one too many than one too few."""
    used = coined.keys() & set(_IN_TEXT.findall(text)) if coined else ()
    return {name: coined[name] for name in sorted(used)}


def hashed(namespace: str) -> str:
    """Return the hash of a namespace in the digits of a prefix."""
    return b32encode(hashlib.sha256(namespace.encode()).digest()).decode().rstrip("=").lower()


class CoinedPrefixes:
    """Coins prefixes, and says which of them an answer writes.

    A prefix depends on its namespace alone, unless another namespace has it already; it is never given to another one.

    Args:
        declared: The declared prefixes; no coined one has the name of one of them.
        storage: Stores the prefixes between runs; None to forget them with this object.
        digest: Returns the digits of a namespace.
    """

    def __init__(
        self, declared: Container[str] = (), storage: PrefixStorage | None = None, digest: Digest = hashed
    ) -> None:
        self._declared = declared
        self._storage = storage
        self._digest = digest
        self._namespaces: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._read_again()

    @property
    def namespaces(self) -> Mapping[str, str]:
        """All namespaces by prefix, sorted."""
        return dict(sorted(self._namespaces.items()))

    @contextmanager
    def one_answer(self) -> Iterator[None]:
        """Write each namespace in one way until the end of the context, whatever is coined meanwhile.

        Within another such context, the way is that of the outer one.
        """
        if self._written is not None:
            yield
            return
        token = _IN_ANSWER.set((self, {}))
        try:
            yield
        finally:
            _IN_ANSWER.reset(token)

    @property
    def _written(self) -> dict[str, str | None] | None:
        """The namespaces that the answer under way has written; None outside of an answer about this graph."""
        answer = _IN_ANSWER.get()
        return answer[1] if answer is not None and answer[0] is self else None

    @property
    def in_answer(self) -> dict[str, str]:
        """The namespaces, by prefix, that the answer under way has shortened; outside of an answer all."""
        written = self._written
        if written is None:
            return dict(self._namespaces)
        return {name: namespace for namespace, name in written.items() if name is not None}

    def shortened(self, iri: str) -> str | None:
        """Return the ID of an IRI under its coined prefix; None where it has none, or this answer writes none."""
        namespace = namespace_of(iri)
        written = self._written
        if written is None:
            name = self._names.get(namespace)
        else:
            name = written.setdefault(namespace, self._names.get(namespace))
        return None if name is None else f"{name}:{iri[len(namespace) :]}"

    def namespace(self, name: str) -> str | None:
        """Return the namespace of a coined prefix; None where it was never coined, or is forgotten."""
        if name not in self._namespaces and looks_coined(name):
            # Another process over the same graph may have coined it.
            self._read_again()
        return self._namespaces.get(name)

    def coin(self, iris: Mapping[str, int]) -> None:
        """Coin a prefix for each namespace for which that makes an answer shorter.

        Args:
            iris: How often an answer writes each IRI that has no declared prefix.
        """
        counts: Counter[str] = Counter()
        for iri, count in iris.items():
            counts[namespace_of(iri)] += count
        # The most frequent first, while there is room.
        order = sorted(counts, key=lambda namespace: (-counts[namespace], namespace))
        wanted = [namespace for namespace in order if self._is_worth_one(namespace, counts[namespace])]
        if not wanted or len(self._namespaces) >= MOST:
            return
        # Another process over the same graph may have given a prefix away meanwhile.
        self._read_again()
        new = {}
        for namespace in wanted:
            name = self._free_name(namespace)
            if name and namespace not in self._names and len(self._namespaces) < MOST:
                self._add(name, namespace)
                new[name] = namespace
        if new and self._storage is not None:
            self._storage.save(new)

    def _is_worth_one(self, namespace: str, count: int) -> bool:
        """Return whether a namespace that an answer writes so often has no prefix, and one would make it shorter."""
        if count <= _FEW_WRITINGS or not namespace or namespace in self._names or len(namespace) > _LONGEST_NAMESPACE:
            return False
        name = _names_of(namespace, self._digest(namespace))[0]
        saved = len(namespace) - len(name) - 1
        return saved >= _LEAST_SAVED and count * saved > len(namespace) + len(name) + _AROUND

    def _free_name(self, namespace: str) -> str | None:
        """Return the shortest name of a namespace that nothing else has; None where a file declares all of them."""
        return next(filter(self._is_free, _names_of(namespace, self._digest(namespace))), None)

    def _is_free(self, name: str) -> bool:
        return name not in self._declared and name not in self._namespaces

    def _add(self, name: str, namespace: str) -> None:
        self._namespaces[name] = namespace
        self._names[namespace] = name

    def _read_again(self) -> None:
        """Add what is stored, as far as it says nothing else about a prefix or a namespace than is known here."""
        for name, namespace in self._storage.load().items() if self._storage is not None else ():
            is_new = self._is_free(name) and namespace not in self._names
            if is_new and len(self._namespaces) < MOST and self._is_name_of(name, namespace):
                self._add(name, namespace)

    def _is_name_of(self, name: str, namespace: str) -> bool:
        """Return whether this is a prefix that a gateway coins for a namespace."""
        return is_iri(namespace) and name in _names_of(namespace, self._digest(namespace))


def _names_of(namespace: str, digits: str) -> list[str]:
    """Return the names that a namespace may be given, the best first."""
    letters = ("".join(filter(_is_letter, segment)) for segment in reversed(_SEGMENTS.findall(namespace)))
    word = next(filter(None, letters), "ns")[:_LETTERS]
    return [f"{word}_{digits[:length]}" for length in range(min(_DIGITS, len(digits)), len(digits) + 1)]


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()
