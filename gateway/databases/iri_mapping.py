"""Texts of a database as IRIs, and back: an IRI or a declared CURIE stays what it is, another text is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote, unquote

from gateway.errors import ConfigurationError, quoted
from gateway.terms.iri import are_ordinary, is_iri

_SCHEMES = ("urn:", "tag:", "info:")
"""Schemes of IRIs without `//`; a text with another one may as well be a CURIE whose prefix nobody declared."""

_MOST_STEMS = 1_000
"""Beginnings of IRIs that are remembered."""


class IriMapping:
    """The IRIs of one kind of texts in a database: of IDs, or of types, predicates and names of properties.

    No two texts have the same IRI, except a CURIE and the IRI that it stands for.

    Args:
        base: Begins the IRIs of texts that are no IRIs.
        prefixes: Namespaces by prefix.
    """

    def __init__(self, base: str, prefixes: Mapping[str, str]) -> None:
        self._base = base
        self._prefixes = dict(prefixes)
        # Most IRIs of a graph begin in one of few ways.
        self._ways = lru_cache(_MOST_STEMS)(self._ways_of)

    def iri(self, text: str) -> str:
        """Return the IRI of a text; one that is too long to be sent is no concern of this."""
        prefix, colon, local = text.partition(":")
        if colon and (namespace := self._prefixes.get(prefix)) is not None:
            whole = namespace + local
        elif _is_written_out(text):
            whole = text
        else:
            whole = ""
        if whole and is_iri(whole) and not whole.startswith(self._base):
            return whole
        return self._base + quote(text, safe="")

    def texts(self, iri: str) -> list[str]:
        """Return the texts that have an IRI: one, and each CURIE that stands for it; none where no text has it."""
        return self._texts_of_legal(iri) if is_iri(iri) else []

    def _texts_of_legal(self, iri: str) -> list[str]:
        if iri.startswith(self._base):
            text = unquote(iri[len(self._base) :], errors="replace")
            return [text] if "\0" not in text and self.iri(text) == iri else []
        written_out, curies = self._ways(iri[: iri.rfind("/") + 1] or iri[: iri.index(":") + 1])
        texts = [iri] if written_out else []
        texts += [begin + iri[len(namespace) :] for begin, namespace in curies if iri.startswith(namespace)]
        return texts

    def _ways_of(self, stem: str) -> tuple[bool, list[tuple[str, str]]]:
        """Return how an IRI may be written that begins with a stem and has no `/` after it.

        Args:
            stem: A scheme and its `:`, at least.

        Returns:
            Whether it may be written as it is, and how CURIEs for it may begin, each with the namespace.
        """
        # A text with a declared prefix stands for another IRI.
        written_out = stem.partition(":")[0] not in self._prefixes and _is_written_out(stem)
        curies = [
            (f"{prefix}:", namespace)
            for prefix, namespace in self._prefixes.items()
            if namespace.startswith(stem) or stem.startswith(namespace)
        ]
        return written_out, curies

    def texts_of(self, iris: Iterable[str]) -> list[str]:
        """Return the texts of all IRIs."""
        return list(self.iri_by_text(iris))

    def iri_by_text(self, iris: Iterable[str]) -> dict[str, str]:
        """Return the texts of all IRIs, each with its IRI."""
        distinct = list(iris)
        texts_of = self._texts_of_legal if are_ordinary(distinct) else self.texts
        return {text: iri for iri in distinct for text in texts_of(iri)}

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


def _is_written_out(text: str) -> bool:
    """Return whether a text without a declared prefix is an IRI, if it can be one, and no CURIE."""
    return "://" in text or text.startswith(_SCHEMES)
