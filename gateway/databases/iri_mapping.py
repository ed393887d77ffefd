"""Texts of a database as IRIs, and back: an IRI or a declared CURIE stays what it is, another text is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote, unquote

from gateway.errors import ConfigurationError, quoted
from gateway.terms.iri import are_ordinary, is_iri

_MOST_STEMS = 1_000
"""Beginnings of IRIs that are remembered."""

_SPECIAL = "<@"
"""Characters that begin texts which may mean something else: IRIs in brackets, and keys of JSON-LD."""


class IriMapping:
    """The IRIs of one kind of texts in a database: of IDs, or of types, predicates and names of properties.

    A text with a declared prefix is a CURIE, and any other that can be an IRI is that IRI. No two texts have the same
    IRI, except those that are CURIEs for it, are the IRI itself, or have it in brackets.

    Args:
        base: Begins the IRIs of texts that are no IRIs.
        prefixes: Namespaces by prefix.
        bracketed: Whether `<IRI>` is an IRI which as it is would be read as another one, as `load` writes it.
    """

    def __init__(self, base: str, prefixes: Mapping[str, str], *, bracketed: bool = False) -> None:
        self._base = base
        self._prefixes = dict(prefixes)
        self._bracketed = bracketed
        # Most IRIs of a graph begin in one of few ways.
        self._ways = lru_cache(_MOST_STEMS)(self._ways_of)

    def iri(self, text: str) -> str:
        """Return the IRI of a text; one that is too long to be sent is no concern of this."""
        return self._written(text) or self._encoded(text)

    def _written(self, text: str) -> str:
        """Return the IRI that a text is or stands for; empty where it is to be encoded."""
        prefix, colon, local = text.partition(":")
        if not colon:
            return ""
        if text[0] == "<":
            inner = text[1:-1]
            return inner if text[-1] == ">" and is_iri(inner) and self._stands_in_brackets(inner) else ""
        namespace = self._prefixes.get(prefix)
        whole = text if namespace is None or local.startswith("//") else namespace + local
        return whole if is_iri(whole) and not whole.startswith(self._base) else ""

    def namespace(self, text: str) -> str | None:
        """Return the namespace of a text that is a CURIE with a declared prefix; else None."""
        prefix, colon, local = text.partition(":")
        return self._prefixes.get(prefix) if colon and not local.startswith("//") else None

    def text(self, iri: str) -> str:
        """Return the text by which an IRI is written, so that it is read as this one."""
        if self._written(iri) == iri:
            return iri
        text = self._decoded(iri)
        return text if text is not None and _is_plain(text) else f"<{iri}>"

    def texts(self, iri: str) -> list[str]:
        """Return the texts that have an IRI: one, and each CURIE that stands for it; none where no text has it."""
        return self._texts_of_legal(iri) if is_iri(iri) else []

    def _texts_of_legal(self, iri: str) -> list[str]:
        if iri.startswith(self._base):
            text = self._decoded(iri)
            texts = [] if text is None or self._written(text) else [text]
        else:
            written_out, curies = self._ways(iri[: iri.rfind("/") + 1] or iri[: iri.index(":") + 1])
            texts = [iri] if written_out else []
            texts += [
                begin + iri[len(namespace) :]
                for begin, namespace in curies
                if iri.startswith(namespace) and not iri.startswith("//", len(namespace))
            ]
        return [*texts, f"<{iri}>"] if self._stands_in_brackets(iri) else texts

    def _ways_of(self, stem: str) -> tuple[bool, list[tuple[str, str]]]:
        """Return how an IRI may be written that begins with a stem and has no `/` after it.

        Args:
            stem: A scheme and its `:`, at least.

        Returns:
            Whether it may be written as it is, and how CURIEs for it may begin, each with the namespace.
        """
        # A text with a declared prefix stands for another IRI.
        written_out = self.namespace(stem) is None
        curies = [
            (f"{prefix}:", namespace)
            for prefix, namespace in self._prefixes.items()
            if namespace.startswith(stem) or stem.startswith(namespace)
        ]
        return written_out, curies

    def _encoded(self, text: str) -> str:
        return self._base + quote(text, safe="")

    def _decoded(self, iri: str) -> str | None:
        """Return the text whose encoding is an IRI; None if there is none, or none that a database takes."""
        text = unquote(iri.removeprefix(self._base), errors="replace")
        return text if "\0" not in text and self._encoded(text) == iri else None

    def _stands_in_brackets(self, iri: str) -> bool:
        """Return whether an IRI may stand in brackets: the same under all prefixes, since those may change."""
        if not self._bracketed:
            return False
        if iri.startswith(self._base):
            text = self._decoded(iri)
            return text is None or not _is_plain(text)
        return not iri.partition(":")[2].startswith("//")

    def texts_of(self, iris: Iterable[str]) -> list[str]:
        """Return the texts of all IRIs."""
        return list(self.iri_by_text(iris))

    def has_curie(self, iri: str) -> bool:
        """Return whether a text has an IRI beside one and, where that is allowed, one in brackets."""
        return is_iri(iri) and len(self._texts_of_legal(iri)) > 1 + self._stands_in_brackets(iri)

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
        bracketed = [f"<{namespace}"] if self._bracketed else []
        if namespace.startswith(self._base):
            return [unquote(namespace[len(self._base) :]), *bracketed]
        # With a declared prefix, a text that begins so stands for another IRI.
        found = [namespace] if self.namespace(namespace) is None else []
        for prefix, begin in self._prefixes.items():
            if begin.startswith(namespace):
                found.append(f"{prefix}:")
            elif namespace.startswith(begin):
                found.append(f"{prefix}:{namespace[len(begin) :]}")
        return [*found, *bracketed]


def _is_plain(text: str) -> bool:
    """Return whether a text can be written that is encoded, and read as nothing else under any prefixes."""
    return text != "" and ":" not in text and text[0] not in _SPECIAL
