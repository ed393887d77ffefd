"""What share of the edges has a blank node at an end, as a claim of a check."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from gateway.check.report import Claim
from gateway.errors import counted
from gateway.graph.values import Iri
from gateway.terms.prefixes import PrefixMap

_TYPES_SHOWN: Final = 5


def share_of_blank_nodes(
    blank: int, total: int, types: Sequence[tuple[Iri, int]], prefixes: PrefixMap, *, is_bound: bool, left_out: int = 0
) -> Claim:
    """Return the claim.

    Args:
        blank: Edges with a blank node at an end.
        total: Edges that were looked at.
        types: The types of blank nodes, with how many have each, in any order.
        prefixes: Shorten the types.
        is_bound: Whether there may be more edges than were looked at.
        left_out: Of the edges with a blank node, those that the graph only counts.
    """
    if not blank:
        return Claim("none", f"none of {total:,} edges has one at an end" if total else "there are no edges")
    share = f"{max(1, round(100 * blank / total))} % of the edges"
    in_order = sorted(types, key=lambda one: (-one[1], one[0]))
    typed = ", ".join(f"{prefixes.declared_form(name)} ({count:,})" for name, count in islice(in_order, _TYPES_SHOWN))
    of_types = f"; most are of the types {typed}" if typed else "; none has a type"
    not_read = f"; {counted(left_out, 'edge')} of these were left out by load" if left_out else ""
    return Claim(share, f"{blank:,} of {'the first ' * is_bound}{total:,} have one at an end{of_types}{not_read}")
