"""The names of the nodes on one page of a traversal."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from gateway.engine.arguments import TraversalArguments
from gateway.engine.presentation.page import PageNode
from gateway.engine.presentation.shape import Shape
from gateway.engine.presentation.size_limit import max_bytes
from gateway.errors import BudgetSpent, DeadlinePassed
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

_PART_OF_STUBS = 3
"""Of a page without metadata, stubs without their names take one part in so many, or less."""

_PART_OF_BUDGET = 4
"""Names that are read ahead may use one part in so many of what a call may still spend."""

_REQUESTS_A_BATCH = 2
_ROWS_A_NODE = 4
"""What is left for types at least: more than they mostly need, because answers with too many rows are split."""


class PageNames:
    """The names of nodes on one page, each asked for once.

    Attributes:
        are_wanted: Whether the page shows names beside nodes without metadata.
        known: What was read, by node; one that has no name, or whose name failed, is among them.
    """

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        arguments: TraversalArguments,
        shape: Shape,
        call: Call,
    ) -> None:
        self.are_wanted = profile.names.on_stubs or (shape.names_stubs and not arguments.topology_only)
        self.known: dict[Iri, NodeFacts] = {}
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._arguments = arguments
        self._shape = shape
        self._call = call

    async def read_ahead(self, nodes: Sequence[Iri]) -> None:
        """Read names of nodes that the page will probably show, while types are on their way.

        Nothing is read where filters may leave other nodes, where metadata may have the names, or where types may need
        what the call may still spend.

        Args:
            nodes: All nodes, in order.
        """
        if self.are_wanted and not self._arguments.removes_nodes and (shown := self._probably_shown(nodes)):
            requests, rows = self._call.requests // _PART_OF_BUDGET, self._call.rows // _PART_OF_BUDGET
            batches = math.ceil(len(nodes) / self._profile.limits.facts_batch)
            if not requests or self._call.requests - requests <= _REQUESTS_A_BATCH * batches:
                return
            if self._call.rows - rows <= _ROWS_A_NODE * len(nodes):
                return
            with self._call.part(requests=requests, rows=rows) as part, part.tally.stage("facts"):
                found = await self._store.nodes(shown, part, names=True)
            # There may be more left to spend when the page is made.
            self.known |= {node: facts for node, facts in found.items() if not _is_spent(facts)}

    def _probably_shown(self, nodes: Sequence[Iri]) -> Sequence[Iri]:
        """Return the nodes on the page without metadata; none where there may be room for metadata."""
        arguments = self._arguments
        limit, _ = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        room = limit // _PART_OF_STUBS
        end = len(nodes) if arguments.limit is None else min(arguments.offset + arguments.limit, len(nodes))
        for place in range(arguments.offset, end):
            room -= self._shape.measure(PageNode(nodes[place], self._prefixes.declared_form(nodes[place]), ""))
            if room < 0:
                return nodes[arguments.offset : place]
        return nodes[arguments.offset : end] if arguments.topology_only else ()

    async def read(self, nodes: Collection[Iri]) -> Mapping[Iri, NodeFacts]:
        """Return the names of some nodes, those that were not known among them."""
        unknown = [node for node in nodes if node not in self.known]
        if unknown:
            with self._call.tally.stage("facts"):
                self.known |= await self._store.nodes(unknown, self._call, names=True)
        return self.known


def _is_spent(facts: NodeFacts) -> bool:
    return isinstance(facts.mark.fault, BudgetSpent | DeadlinePassed)
