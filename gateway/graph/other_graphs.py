"""The other graphs of a server, as a call about one graph sees them: it may ask which nodes they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from gateway.errors import Fault
from gateway.graph.values import Iri

if TYPE_CHECKING:
    from gateway.graph.call import Call


@dataclass(frozen=True, slots=True)
class KnownIds:
    """Which of some IRIs a graph has.

    Attributes:
        ids: The ID in that graph of each IRI that it has.
        failed: IRIs about which it could not be asked, and why.
    """

    ids: Mapping[Iri, str] = field(default_factory=dict)
    failed: Mapping[Iri, Fault] = field(default_factory=dict)


class OtherGraph(Protocol):
    """Another graph of the same server."""

    async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
        """Return which IRIs are nodes there.

        Raises:
            GatewayError: The graph is not open.
            Fault: It could not be asked.
        """
        ...


OtherGraphs = Mapping[str, OtherGraph]
"""Other graphs by name: those that the client may see."""
