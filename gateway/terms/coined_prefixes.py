"""Prefixes that the gateway coins for namespaces that nobody declared one for (docs/contract.md, "Canonical IDs")."""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Protocol

from gateway.terms.iri import is_iri

MOST_KNOWN = 100_000
"""Namespaces that are remembered, so that their prefixes are read back; IRIs of further ones stay whole."""

_LEAST_SAVED = 8
"""Characters that a prefix saves in each ID: below that, it is no easier to read and takes as many tokens."""

_LONGEST_NAMESPACE = 200
"""Characters of a namespace that is given a prefix: an answer tells each one that it uses."""

_LETTERS = 12
"""Letters of a prefix, at most."""

_DIGITS = 8
"""Digits of its hash: of 100,000 namespaces with the same letters, two have the same in one graph of two hundred."""

_FEWEST_DIGITS = 3
"""Digits that prefixes had before; of some thousand namespaces, two may have the same."""

_COINED = re.compile(rf"[A-Za-z]{{1,{_LETTERS}}}_[a-z2-7]{{{_FEWEST_DIGITS},52}}")
"""No scheme of an IRI has `_` (RFC 3986 section 3.1), so an ID with such a prefix is never an IRI."""

_IN_TEXT = re.compile(rf"(?<![A-Za-z0-9_]){_COINED.pattern}(?=:\S)")

_SEGMENTS = re.compile(r"[^/#:]+")

Digest = Callable[[str], str]

_IN_ANSWER: ContextVar[tuple[CoinedPrefixes, dict[str, str]] | None] = ContextVar(
    "namespaces in this answer", default=None
)
"""The namespaces that the answer under way has shortened, by prefix: those of the prefixes of one graph."""


class PrefixStorage(Protocol):
    """Stores coined prefixes between runs."""

    def load(self) -> Mapping[str, str]:
        """Return the namespaces that other runs stored, by prefix; those that it returned before may be left out."""
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


def names_in(text: str) -> set[str]:
    """Return what has the form of a coined prefix and stands before a colon and a local name in a text."""
    return set(_IN_TEXT.findall(text))


def used_in(text: str, coined: Mapping[str, str]) -> dict[str, str]:
    """Return those coined prefixes that a text uses, sorted; rather one too many than one too few."""
    used = coined.keys() & names_in(text) if coined else ()
    return {name: coined[name] for name in sorted(used)}


def hashed(namespace: str) -> str:
    """Return the hash of a namespace in the digits of a prefix."""
    return b32encode(hashlib.sha256(namespace.encode()).digest()).decode().rstrip("=").lower()


class NamedNamespaces:
    """Namespaces, and the prefixes that are coined for them.

    Attributes:
        names: The prefix of each; None for one that is given none.
    """

    def __init__(self) -> None:
        self.names: dict[str, str | None] = {}
        self._by_stem: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.names)

    def add(self, namespace: str, name: str | None) -> None:
        """Add a namespace that is not among them."""
        self.names[namespace] = name
        if name is not None:
            self._by_stem.setdefault(_stem(name), []).append(namespace)

    def alike(self, name: str) -> Sequence[str]:
        """Return the namespaces whose prefixes begin with the same letters and first digits."""
        return self._by_stem.get(_stem(name), ())


class CoinedPrefixes:
    """Coins prefixes, and says what they mean.

    A prefix depends on its namespace alone, and on what is declared.

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
        self._known = NamedNamespaces()
        self._knows_all = False
        self._stored: dict[str, str] = {}
        self._new: dict[str, str] = {}
        self._read_again()

    @property
    def namespaces(self) -> Mapping[str, str]:
        """All namespaces that are known, by prefix, sorted."""
        return dict(sorted((name, namespace) for namespace, name in self._known.names.items() if name is not None))

    @contextmanager
    def one_answer(self) -> Iterator[None]:
        """Note which prefixes an answer has until the end of the context, and store them then.

        Within another such context, they are noted for the outer one.
        """
        if self._written is not None:
            yield
            return
        token = _IN_ANSWER.set((self, {}))
        try:
            yield
        finally:
            _IN_ANSWER.reset(token)
            if self._new and self._storage is not None:
                self._storage.save(self._new)
            self._new = {}

    @property
    def _written(self) -> dict[str, str] | None:
        """The namespaces that the answer under way has written; None outside of an answer about this graph."""
        answer = _IN_ANSWER.get()
        return answer[1] if answer is not None and answer[0] is self else None

    @property
    def in_answer(self) -> dict[str, str]:
        """The namespaces, by prefix, that the answer under way has shortened; none outside of an answer."""
        return dict(self._written or {})

    def shortened(self, iri: str) -> str | None:
        """Return the ID of an IRI under its coined prefix; None where its namespace is given none."""
        namespace = namespace_of(iri)
        names = self._known.names
        name = names[namespace] if namespace in names else self._add(namespace)
        if name is None or not self._may_write(name, namespace):
            return None
        return f"{name}:{iri[len(namespace) :]}"

    def _may_write(self, name: str, namespace: str) -> bool:
        """Return whether a prefix means this namespace and no other one."""
        written = self._written
        if written is not None and name in written:
            # An answer that has begun to write an ID in one way goes on.
            return written[name] == namespace
        if self._is_of_several(name) or self._stored.get(name, namespace) != namespace:
            return False
        if written is not None:
            written[name] = namespace
        return True

    def namespace(self, name: str) -> str | None:
        """Return the namespace of a coined prefix; None where it is not known, or may be that of several."""
        if not looks_coined(name):
            return None
        found = self._meant(name)
        if found is None:
            # Another process over the same graph may have coined it.
            self._read_again()
            found = self._meant(name)
        return found

    def named(self, namespaces: Iterable[str]) -> NamedNamespaces:
        """Return the prefixes of namespaces, which takes some time and may be done in a thread."""
        named = NamedNamespaces()
        for namespace in namespaces:
            named.add(namespace, self._name(namespace))
        return named

    def learn(self, named: NamedNamespaces, *, are_all: bool) -> None:
        """Note namespaces, so that their prefixes are read.

        Args:
            named: The namespaces, which nothing else may change from now on.
            are_all: Whether the graph has no others.
        """
        # Once there were too many, an answer under way may have written IRIs of others whole.
        if len(self._known) >= MOST_KNOWN:
            return
        for namespace, name in self._known.names.items():
            if namespace not in named.names:
                named.add(namespace, name)
        self._known, self._knows_all = named, are_all

    def _meant(self, name: str) -> str | None:
        written = self._written
        if written is not None and name in written:
            return written[name]
        # What an earlier gateway gave away with fewer digits, or more, stays what it was.
        if name in self._stored:
            return self._stored[name]
        if not self._knows_all and len(name) - name.index("_") - 1 < _DIGITS:
            return None
        fitting = [one for one in self._known.alike(name) if self._longest_name(one).startswith(name)]
        return fitting[0] if len(fitting) == 1 else None

    def _is_of_several(self, name: str) -> bool:
        """Return whether several known namespaces would have a prefix."""
        alike = self._known.alike(name)
        return len(alike) > 1 and sum(self._known.names.get(one) == name for one in alike) > 1

    def _name(self, namespace: str) -> str | None:
        """Return the shortest name of a namespace that no declared prefix has; None where none is worth it."""
        if not namespace or len(namespace) > _LONGEST_NAMESPACE:
            return None
        longest = self._longest_name(namespace)
        shortest = longest.index("_") + 1 + _DIGITS
        lengths = range(min(shortest, len(longest)), len(longest) + 1)
        name = next((longest[:end] for end in lengths if longest[:end] not in self._declared), None)
        return None if name is None or len(namespace) - len(name) - 1 < _LEAST_SAVED else name

    def _longest_name(self, namespace: str) -> str:
        return f"{_word(namespace)}_{self._digest(namespace)}"

    def _add(self, namespace: str, *, is_new: bool = True) -> str | None:
        """Remember a namespace, and return its prefix; None where it has none, or too many are remembered."""
        if len(self._known) >= MOST_KNOWN:
            return None
        name = self._name(namespace)
        self._known.add(namespace, name)
        if name is not None and is_new:
            self._new[name] = namespace
        return name

    def _read_again(self) -> None:
        """Note what is stored, as far as a gateway coined it."""
        for name, namespace in self._storage.load().items() if self._storage is not None else ():
            if name not in self._stored and name not in self._declared and self._is_name_of(name, namespace):
                if namespace not in self._known.names:
                    self._add(namespace, is_new=False)
                if name != self._known.names.get(namespace):
                    self._stored[name] = namespace

    def _is_name_of(self, name: str, namespace: str) -> bool:
        """Return whether this is a prefix that a gateway coins for a namespace, or did before."""
        return is_iri(namespace) and looks_coined(name) and self._longest_name(namespace).startswith(name)


def _stem(name: str) -> str:
    """Return as much of a prefix as all prefixes of its namespace have."""
    return name[: name.index("_") + 1 + _FEWEST_DIGITS]


@lru_cache(maxsize=4096)
def _word(namespace: str) -> str:
    letters = ("".join(filter(_is_letter, segment)) for segment in reversed(_SEGMENTS.findall(namespace)))
    return next(filter(None, letters), "ns")[:_LETTERS]


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()
