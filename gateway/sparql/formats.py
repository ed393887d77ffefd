"""Chooses the format in which answers are asked for (docs/decisions/0029-answers-in-tsv.md).

Virtuoso writes all terms alike in TSV, so it is asked for TSV only where the query binds nothing but IRIs and blank
nodes (docs/notes/endpoints.md, "Formats").
"""

from __future__ import annotations

import logging

from gateway.settings.endpoint import EngineName
from gateway.sparql.engines.traits import TRAITS
from gateway.sparql.template import Template
from gateway.transport.formats import Format

_log = logging.getLogger(__name__)


class FormatChoice:
    """The formats at one endpoint.

    Args:
        pinned: What the profile says (`endpoint.format`).
    """

    def __init__(self, pinned: str) -> None:
        self._pinned = pinned
        self._only_json: set[str] = set()

    def of(self, text: Template, engine: EngineName, *, is_proven: bool) -> Format:
        """Return the format for a query.

        Args:
            text: Its template.
            engine: The engine.
            is_proven: Whether the rows show that they are all. A body of TSV does not: it may end behind any line.
        """
        wants_tsv = self._pinned == "tsv" or (self._pinned == "auto" and TRAITS[engine].writes_tsv)
        if not (wants_tsv and is_proven) or text.name in self._only_json:
            return "json"
        return "tsv" if text.iris or engine != "virtuoso" else "json"

    def refuse_tsv(self, text: Template) -> None:
        """Ask for JSON from now on, because the TSV that came could not be read, but the JSON could."""
        _log.info("the endpoint's TSV for %s cannot be read; JSON is asked for from now on", text.name)
        self._only_json.add(text.name)
