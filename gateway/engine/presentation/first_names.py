"""Reads the names of the nodes on a page before the page is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.engine.arguments import TraversalArguments
from gateway.engine.presentation.page import PageNode
from gateway.engine.presentation.shape import Shape
from gateway.engine.presentation.size_limit import max_bytes
from gateway.engine.traversal.topology_builder import NAMED_AT_ONCE
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap

_PART_OF_STUBS = 3
"""Of a page without metadata, stubs without their names take one part in so many, or less."""


class FirstNames:
    """Reads the names that a page will show, as far as that is known before filters and metadata.

    A far endpoint is then asked while types are on their way, and not once more after them.
    """

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes

    async def read(
        self, nodes: Sequence[Iri], arguments: TraversalArguments, shape: Shape, call: Call
    ) -> Mapping[Iri, NodeFacts]:
        """Return names and types of some of the nodes, or of none.

        Args:
            nodes: All nodes, in order.
            arguments: What is asked for.
            shape: The shape of the page.
            call: The call, which pays for it.
        """
        is_named = self._profile.names.on_stubs or (shape.names_stubs and not arguments.topology_only)
        # Few nodes have metadata, or names that came with their types; filters leave other nodes than these.
        if not is_named or len(nodes) <= NAMED_AT_ONCE or arguments.removes_nodes or arguments.offset >= len(nodes):
            return {}
        room, _ = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        first = nodes[arguments.offset]
        count = room // (_PART_OF_STUBS * shape.measure(PageNode(first, self._prefixes.declared_form(first), "")))
        end = arguments.offset + min(count, arguments.limit or count)
        with call.tally.stage("facts"):
            return await self._store.nodes(nodes[arguments.offset : end], call, names=True)
