"""The result of checking a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gateway.checking.report import Claim
from gateway.databases.client import Row
from gateway.databases.iri_mapping import IriMapping
from gateway.errors import quoted
from gateway.terms.prefixes import is_scheme

BEGINNINGS_OF = 100_000
"""Texts whose beginnings are looked at."""

_SHOWN = 8
"""Beginnings that the report names."""


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The result of checking a database.

    Attributes:
        system: The name of its program.
        made_of: What the graph is made of there.
        place: What was checked: host, port and name of the database.
        claims: Its properties by name, in their order.
        warnings: Warnings for the operator.
        statements: Statements that make the indexes that are missing, for the operator to run.
    """

    system: str
    made_of: str
    place: str
    claims: Mapping[str, Claim]
    warnings: tuple[str, ...]
    statements: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "checked": self.place,
            "reachable": True,
            **{name: claim.as_json() for name, claim in self.claims.items()},
            "warnings": list(self.warnings),
            "statements": list(self.statements),
        }


@dataclass(frozen=True, slots=True)
class Beginnings:
    """How texts begin, and what they are read as.

    Args:
        what: What the texts are.
        rows: A beginning up to a colon, or None for all texts without one; how many have it; and one of them.
        mapping: Reads them.
    """

    what: str
    rows: Sequence[Row]
    mapping: IriMapping

    def claim(self) -> Claim:
        """Return what they are read as."""
        kinds = dict.fromkeys(kind for kind, *_ in self._read())
        shown = [
            f"{beginning or 'others'} {count:,}, such as {quoted(iri)}"
            for _, beginning, count, iri in islice(self._read(), _SHOWN)
        ]
        more = f", and {len(self.rows) - _SHOWN} more" if len(self.rows) > _SHOWN else ""
        return Claim(", ".join(kinds) or "none", f"of {BEGINNINGS_OF:,} at most: {'; '.join(shown)}{more}")

    def warnings(self) -> Iterator[str]:
        """Yield which of them may be prefixes that nobody declared."""
        names = [
            beginning
            for kind, beginning, _, iri in self._read()
            if kind == "IRIs" and beginning and not is_scheme(beginning[:-1]) and not iri.startswith(f"{beginning}//")
        ]
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield (
                f"Some {self.what} begin with {', '.join(names[:_SHOWN])}{more}, which no prefix declares: they are "
                "read as whole IRIs. Where it is a prefix, declare it in [prefixes] of the profile."
            )

    def _read(self) -> Iterator[tuple[str, str, int, str]]:
        """Yield what texts with a beginning are read as, the beginning, their number, and the IRI of one of them."""
        for beginning, count, text in self.rows:
            iri = self.mapping.iri(text)
            if iri in {text, text[1:-1]}:
                kind = "IRIs"
            else:
                namespace = self.mapping.namespace(text)
                kind = "CURIEs" if namespace is not None and iri.startswith(namespace) else "encoded texts"
            yield kind, f"{beginning}:" if beginning else "", count, iri
