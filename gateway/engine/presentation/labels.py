"""Names for the opaque IDs of an answer, once each (`labels`: docs/tools.md, "Fields of every subgraph")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from gateway.engine.presentation.size import Id
from gateway.engine.schema.view import LONGEST_LABEL, SchemaView
from gateway.engine.traversal.topology import Topology
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

Json = Any


@dataclass(slots=True)
class MentionedIds:
    """The IDs that stand in an answer.

    Attributes:
        predicates: IDs of predicates.
        nodes: IDs of nodes and types.
        named: The names that stand beside some of these already.
    """

    predicates: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    named: dict[str, str] = field(default_factory=dict)

    @property
    def unnamed(self) -> set[str]:
        """The IDs without a name beside them."""
        return (self.predicates | self.nodes) - self.named.keys()

    @classmethod
    def in_subgraph(cls, answer: Mapping[str, Json]) -> Self:
        """Return those of an answer of `bfs_query` or `intersect_subgraphs`."""
        found = cls()
        summary = answer["schema_summary"]
        found.predicates.update(summary["predicates_found"])
        found.nodes.update(answer["seeds"], summary["entity_types_found"])
        for gap in answer.get("incomplete", ()):
            found.nodes.update(gap["ids"])
        found.add_records(answer["nodes"])
        for edge in answer["edges"]:
            found.predicates.add(edge["predicate"])
            found.add_values(edge.get("metadata"))
        return found

    def add_records(self, nodes: Iterable[Mapping[str, Json]]) -> None:
        """Add what stands in nodes; those that have a name need no other."""
        for node in nodes:
            self.nodes.add(node["entity_type"])
            for path in node.get("via", ()):
                self.nodes.update(path)
            metadata = node.get("metadata", {})
            self.add_values(metadata)
            if name := node.get("name") or metadata.get("name"):
                self.named[node["id"]] = name

    def add_values(self, value: Json) -> None:
        """Add what stands in metadata: its keys that are predicates, and the IDs among its values."""
        if isinstance(value, dict):
            # Keys of the protocol have no colon.
            self.predicates.update(key for key in value if ":" in key)
            for below in value.values():
                self.add_values(below)
        elif isinstance(value, list):
            for below in value:
                self.add_values(below)
        elif isinstance(value, Id):
            self.nodes.add(value)


@dataclass(frozen=True, slots=True)
class Labels:
    """Names by ID.

    Attributes:
        by_id: Those that are known.
        failed: IDs whose name could not be fetched.
    """

    by_id: Mapping[str, str] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()

    def of(self, mentioned: MentionedIds) -> dict[str, str]:
        """Return the names of the IDs that are mentioned, sorted by ID."""
        return {name: self.by_id[name] for name in sorted(mentioned.unnamed & self.by_id.keys())}

    def degraded(self, mentioned: MentionedIds, degraded: Mapping[str, int]) -> dict[str, int]:
        """Return the steps that were told already, and how many names of what is mentioned could not be fetched."""
        missing = len(self.failed & mentioned.unnamed)
        return {**degraded, "labels_failed": missing} if missing else dict(degraded)


class Labeller:
    """Finds names, where the profile says that IDs are opaque."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._is_wanted = profile.names.on_stubs
        self._prefixes = prefixes

    async def named(self, topology: Topology, known: SchemaView, call: Call) -> tuple[Mapping[Iri, str], int]:
        """Return the labels of a topology's types and predicates that the schema does not tell, and how many failed."""
        if not self._is_wanted:
            return {}, 0
        facts: dict[Iri, NodeFacts] = {}
        with call.tally.stage("facts"):
            if unknown := sorted(iri for iri in topology.predicates if iri not in known.labels):
                facts |= await self._store.predicates(unknown, call)
            if unknown := sorted(iri for iri in topology.types if iri not in known.labels):
                facts |= await self._store.nodes(unknown, call, names=True)
        failed = sum(not fact.mark.whole for fact in facts.values())
        return {iri: fact.name for iri, fact in facts.items() if fact.name}, failed

    async def labels(self, mentioned: MentionedIds, known: SchemaView, call: Call) -> Labels:
        """Return the names of what is mentioned; what the schema does not tell is asked for."""
        if not self._is_wanted:
            return Labels()
        predicates = {self._prefixes.expand(name): name for name in mentioned.predicates if ":" in name}
        # What has its name beside it may have to be named all the same, once that node is cut off the page.
        unnamed = mentioned.nodes - mentioned.named.keys()
        nodes = {self._prefixes.expand(name): name for name in unnamed if ":" in name}
        facts = {iri: NodeFacts(name=label) for iri, label in known.labels.items() if iri in predicates or iri in nodes}
        with call.tally.stage("facts"):
            if unknown := [iri for iri in sorted(predicates) if iri not in facts]:
                facts |= await self._store.predicates(unknown, call)
            if unknown := [iri for iri in sorted(nodes) if iri not in facts]:
                facts |= await self._store.nodes(unknown, call, names=True)
        ids = predicates | nodes
        found = {ids[iri]: fact.name for iri, fact in facts.items() if fact.name}
        return Labels(
            {name: label[:LONGEST_LABEL] for name, label in (mentioned.named | found).items()},
            frozenset(ids[iri] for iri, fact in facts.items() if not fact.mark.whole),
        )
