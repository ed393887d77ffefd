"""The formats in which the answers to queries are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Format = Literal["json", "tsv"]

ACCEPT: Mapping[Format, str] = {"json": "application/sparql-results+json", "tsv": "text/tab-separated-values"}
"""The content type that is asked for (SPARQL 1.1 Protocol, 2.1.6)."""

BELIEVED: Mapping[Format, frozenset[str]] = {
    "json": frozenset({ACCEPT["json"], "application/json"}),
    "tsv": frozenset({ACCEPT["tsv"]}),
}
"""The content types that an answer may have."""
