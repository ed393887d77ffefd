"""A `GraphStore` that answers searches from a label index; the store below answers everything else."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from gateway.errors import Fault
from gateway.graph.call import Call, Deadline
from gateway.graph.store import DelegatingStore, GraphStore, OnProgress
from gateway.graph.values import Hits, Iri, SearchTerms
from gateway.search_index.index import LabelIndex
from gateway.search_index.sqlite_worker import ClosedError

_log = logging.getLogger(__name__)

_CANDIDATES = 1_000
"""Names that the index returns for ranking; the nearest are among them."""

_ATTEMPTS = 3
"""Indexes that one search tries, if one was replaced or broke."""

_PENDING = (
    "The index of all names is not ready yet, so only names with these words were compared. Ask again in a minute: the "
    "index also finds plurals, typos and words in another order."
)


class LabelIndexSource(Protocol):
    """Provides the label index of one graph."""

    @property
    def is_pending(self) -> bool:
        """Whether there is no index yet, but will be: a later search may find more."""
        ...

    async def index(self, deadline: Deadline) -> LabelIndex | None:
        """Return the index; None if there is none, or none yet."""
        ...

    def start(self) -> None:
        """Start to build the index in the background, if this process builds it."""
        ...

    async def built(self, on_progress: OnProgress) -> None:
        """Wait until the index is built, if this process builds it; call a function after each page of names."""
        ...

    def discard(self, index: LabelIndex) -> None:
        """Never return that index again, because it is broken."""
        ...

    async def close(self) -> None:
        """Close the index, and stop building."""
        ...


class IndexedStore(DelegatingStore):
    """A graph store with a label index; see `gateway.graph.store.GraphStore` for what each method promises."""

    def __init__(self, inner: GraphStore, labels: LabelIndexSource) -> None:
        super().__init__(inner)
        self._labels = labels

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by the index; by the store below if there is none, or it finds nothing and may be outdated."""
        hits = await self._indexed(terms, types, call)
        if hits is not None and hits.exhaustive:
            return hits
        if hits is not None and hits.hits:
            return await self._with_new_names(hits, terms, types, call)
        is_pending = hits is None and self._labels.is_pending
        found = await self._inner.search(terms, types, call)
        if not is_pending:
            return found
        return replace(found, exhaustive=False, warnings=(*found.warnings, _PENDING))

    async def _indexed(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits | None:
        """Search the index; None if there is none."""
        for _ in range(_ATTEMPTS):
            index = await self._labels.index(call.deadline)
            if index is None:
                return None
            try:
                return await index.find(terms, types, _CANDIDATES, call.deadline)
            except ClosedError:
                _log.debug("a search found its label index closed, because another one replaced it")
            except sqlite3.Error as error:
                _log.warning("the label index is not used any more, because it is broken: %s", error)
                self._labels.discard(index)
        return None

    async def _with_new_names(self, hits: Hits, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Add entities that have got exactly this name since the index was built, if the index lacks the name."""
        wanted = terms.text.strip().casefold()
        if any(hit.text.casefold() == wanted for hit in hits.hits):
            return hits
        try:
            new = await self._inner.named(terms.text, types, call)
        except Fault as fault:
            _log.info("names that are newer than the label index could not be looked up: %s", fault)
            return hits
        known = dict.fromkeys((*hits.hits, *new.hits))
        return replace(hits, hits=tuple(known), how=f"{hits.how}; {new.how}")

    def prepare(self) -> None:
        """Start to build the index, and whatever the store below prepares."""
        self._labels.start()
        super().prepare()

    async def prepared(self, on_progress: OnProgress) -> None:
        """Wait until the index is built, and the store below is prepared."""
        await self._labels.built(on_progress)
        await super().prepared(on_progress)

    async def close(self) -> None:
        """Close the index and the store below."""
        await self._labels.close()
        await super().close()
