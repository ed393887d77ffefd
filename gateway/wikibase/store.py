"""A `GraphStore` that searches by the API of a Wikibase; the store below answers everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateway.graph.call import Call
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Hits, Iri, SearchTerms
from gateway.wikibase.search import ApiSearch

_PARTLY = "So there may be more that fit. Try again later."
_EXACT = "Only exact names were looked up, in the graph itself: others that fit are missing. Try again later."


class WikibaseStore(DelegatingStore):
    """A graph store that searches by an API; see `gateway.graph.store.GraphStore` for what each method promises."""

    def __init__(self, inner: GraphStore, api: ApiSearch) -> None:
        super().__init__(inner)
        self._api = api

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by the API; if it fails, by exact names in the graph.

        Raises:
            Fault: The API failed, and the graph has no name that equals the text; or the graph failed.
        """
        found = await self._api.find(terms, types, call)
        if found.fault is None:
            return found
        if found.hits:
            return replace(found, warnings=(f"{found.fault.wrong} {_PARTLY}",))
        exact = await self._inner.named(terms.text, types, call)
        if not exact.hits:
            raise found.fault
        how, warning = f"{found.how}; {exact.how}", f"{found.fault.wrong} {_EXACT}"
        return replace(exact, how=how, exhaustive=False, warnings=(warning,), fault=found.fault)

    async def close(self) -> None:
        """Close connections and stop threads."""
        await self._api.close()
        await super().close()
