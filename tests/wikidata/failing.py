"""Stores a part of which fails, over stores that work: what no real endpoint does on demand."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.errors import EndpointFault
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Description, Iri, Mark, NodeFacts, Schema

DOWN = Mark(EndpointFault("The endpoint is down."))


class Failing:
    """A store that hands everything on."""

    def __init__(self, inner: GraphStore) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class WithoutMetadata(Failing):
    """A store that cannot tell the metadata of any node."""

    async def node_metadata(self, ids: Sequence[Iri], _: Call, **__: bool) -> Mapping[Iri, Description]:
        """Fail for each."""
        return {iri: Description(mark=DOWN) for iri in ids}


class WithoutPredicateNames(Failing):
    """A store that cannot tell the names of predicates."""

    async def predicates(self, ids: Sequence[Iri], _: Call) -> Mapping[Iri, NodeFacts]:
        """Fail for each."""
        return {iri: NodeFacts(mark=DOWN) for iri in ids}


class WithoutSchema(Failing):
    """A store whose schema a short look shows nothing of."""

    async def quick_schema(self, _: Call) -> Schema:
        """Return nothing."""
        return Schema(reason="nothing was read")


class WithoutNames(WithoutSchema):
    """A store that knows no schema, and cannot tell what wd:Q5 is called."""

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Fail for wd:Q5."""
        found = await self.inner.nodes(ids, call, names=names, descriptions=descriptions)
        return {iri: NodeFacts(mark=DOWN) if iri.endswith("/Q5") else facts for iri, facts in found.items()}
