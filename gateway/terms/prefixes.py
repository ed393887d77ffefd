"""Canonical IDs: IRIs shortened to CURIEs, and back without loss (contract, "Terms", Canonical ID).

Why not the `curies` package: decision record 0003.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from sys import getsizeof

from gateway.errors import InputError, quoted
from gateway.terms.iri import is_iri
from gateway.terms.remembered import Remembered

_SHOWN = 8

_REMEMBERED_BYTES = 32 << 20
"""Of short forms, so that a traversal shortens each IRI once: some 100,000 of ordinary length."""


@dataclass(frozen=True, slots=True)
class PrefixConflict:
    """A prefix that a later source bound to another namespace; the earlier binding stands.

    Attributes:
        name: The prefix.
        kept: The namespace it stands for.
        ignored: The namespace that the later source wanted.
        source: The later source, as its reader knows it.
    """

    name: str
    kept: str
    ignored: str
    source: str

    def __str__(self) -> str:
        """Say it as a warning."""
        return (
            f"The prefix {self.name!r} of {self.source} would mean <{self.ignored}>, "
            f"but it already means <{self.kept}>, which stands."
        )


def merge(sources: Iterable[tuple[str, Mapping[str, str]]]) -> tuple[dict[str, str], list[PrefixConflict]]:
    """Merge prefix tables by precedence: the first binding of a name wins.

    Args:
        sources: Pairs of a source's name (for the warning) and its prefixes, the strongest first.
    """
    merged: dict[str, str] = {}
    conflicts: list[PrefixConflict] = []
    for source, table in sources:
        for name, namespace in table.items():
            kept = merged.setdefault(name, namespace)
            if kept != namespace:
                conflicts.append(PrefixConflict(name, kept, namespace, source))
    return merged, conflicts


class PrefixMap:
    """Shortens IRIs to canonical IDs and expands IDs to IRIs; the two round-trip exactly."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        # A name with a colon could not be told from its own first part.
        self._namespaces = {name: namespace for name, namespace in prefixes.items() if ":" not in name}
        best: dict[str, str] = {}
        for name, namespace in self._namespaces.items():
            rival = best.get(namespace)
            if namespace and (rival is None or _preference(name) < _preference(rival)):
                best[namespace] = name
        self._names = best
        self._lengths = sorted({len(namespace) for namespace in best}, reverse=True)
        self._short: Remembered[str, str] = Remembered(_REMEMBERED_BYTES)

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes by name, sorted."""
        return dict(sorted(self._namespaces.items()))

    def used_by(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the prefixes that some IDs use, sorted."""
        used = {name for name, colon, _ in (text.partition(":") for text in ids) if colon}
        return {name: namespace for name, namespace in self.prefixes.items() if name in used}

    def shorten(self, iri: str) -> str:
        """Return the canonical ID of an IRI: a CURIE, the IRI itself, or ``<IRI>`` where it would read as a CURIE."""
        short = self._short.known.get(iri)
        if short is None:
            short = self._shorten(iri)
            self._short.keep(iri, short, getsizeof(iri) + getsizeof(short))
        return short

    def _shorten(self, iri: str) -> str:
        for length in self._lengths:
            name = self._names.get(iri[:length]) if len(iri) > length else None
            if name is not None:
                return f"{name}:{iri[length:]}"
        return f"<{iri}>" if iri.partition(":")[0] in self._namespaces else iri

    def expand(self, text: str) -> str:
        """Return the IRI that a caller means by an ID, a whole IRI or ``<IRI>``.

        Raises:
            InputError: What results is no legal IRI.
        """
        if text.startswith("<") and text.endswith(">"):
            iri = text[1:-1]
        else:
            name, colon, local = text.partition(":")
            namespace = self._namespaces.get(name) if colon else None
            iri = text if namespace is None else namespace + local
        if not is_iri(iri):
            names = [f"{name}:" for name in sorted(self._namespaces) if name]
            known = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            raise InputError(
                f"{quoted(text)} is not an ID.",
                valid=f"An ID is a prefix and a local name ({known or 'no prefix is known here'}), or a whole IRI.",
                next_step="Call search_entities to find the ID of a name.",
            )
        return iri


def _preference(name: str) -> tuple[bool, int, str]:
    """Order names of one namespace: a non-empty one first, then the shortest, then the first alphabetically."""
    return (not name, len(name), name)
