"""Texts of a database as IRIs, and back: an IRI or a declared CURIE stays what it is, another text is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, unquote

from gateway.errors import ConfigurationError, quoted
from gateway.terms.iri import is_iri

_SCHEMES = ("urn:", "tag:", "info:")
"""Schemes of IRIs without `//`; a text with another one may as well be a CURIE whose prefix nobody declared."""


class Names:
    """The IRIs of one kind of texts in a database: of IDs, or of types, predicates and names of properties.

    No two texts have the same IRI, except a CURIE and the IRI that it stands for.

    Args:
        base: Begins the IRIs of texts that are no IRIs.
        prefixes: Namespaces by prefix.
    """

    def __init__(self, base: str, prefixes: Mapping[str, str]) -> None:
        self._base = base
        self._prefixes = dict(prefixes)

    def iri(self, text: str) -> str:
        """Return the IRI of a text; one that is too long to be sent is no concern of this."""
        prefix, colon, local = text.partition(":")
        if colon and (namespace := self._prefixes.get(prefix)) is not None:
            whole = namespace + local
        elif "://" in text or text.startswith(_SCHEMES):
            whole = text
        else:
            whole = ""
        if whole and is_iri(whole) and not whole.startswith(self._base):
            return whole
        return self._base + quote(text, safe="")

    def texts(self, iri: str) -> list[str]:
        """Return the texts that have an IRI: one, and each CURIE that stands for it; none where no text has it."""
        return [text for text in dict.fromkeys(self._candidates(iri)) if "\0" not in text and self.iri(text) == iri]

    def texts_of(self, iris: Iterable[str]) -> list[str]:
        """Return the texts of all IRIs."""
        return [text for iri in iris for text in self.texts(iri)]

    def beginnings(self, namespace: str) -> list[str]:
        """Return how the texts begin whose IRIs begin with a namespace.

        Raises:
            ConfigurationError: Texts that are no IRIs are among them, which have no beginning in common.
        """
        if self._base.startswith(namespace):
            raise ConfigurationError(
                f"The namespace {quoted(namespace)} in [edges] of the profile has all names of the database.",
                valid="With a database, a namespace there is longer than its `base` and `vocabulary`.",
                next_step="Remove the entry.",
            )
        if namespace.startswith(self._base):
            return [unquote(namespace[len(self._base) :])]
        found = [namespace]
        for prefix, begin in self._prefixes.items():
            if begin.startswith(namespace):
                found.append(f"{prefix}:")
            elif namespace.startswith(begin):
                found.append(f"{prefix}:{namespace[len(begin) :]}")
        return found

    def _candidates(self, iri: str) -> Iterator[str]:
        if iri.startswith(self._base):
            yield unquote(iri[len(self._base) :], errors="replace")
            return
        yield iri
        for prefix, namespace in self._prefixes.items():
            if iri.startswith(namespace):
                yield f"{prefix}:{iri[len(namespace) :]}"
