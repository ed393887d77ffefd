"""The section of a profile about evidence: in which ways the graph states something about an edge."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from gateway.settings.section import Section

EvidenceWay = Literal[
    "annotations",
    "statements",
    "wikibase",
    "singleton_properties",
    "oban",
    "biolink",
    "named_graphs",
    "nanopublications",
]


def _known(ways: Any) -> Any:
    """Say in one sentence what is wrong, where pydantic would list each alternative."""
    if ways == "auto":
        return ways
    known = get_args(EvidenceWay)
    if not isinstance(ways, list | tuple) or not set(map(str, ways)) <= set(known):
        raise ValueError(f'it is "auto" or a list of {", ".join(known)}')
    return tuple(ways)


class EvidenceSettings(Section):
    """How the graph states something about an edge."""

    ways: Annotated[Literal["auto"] | tuple[EvidenceWay, ...], BeforeValidator(_known)] = Field(
        default="auto",
        description=(
            "The ways that are read. `auto` detects with one query which of them the graph uses, and repeats that "
            "after 5 minutes. `named_graphs` and `nanopublications` are detected only if `endpoint.graphs` is "
            "`union` or lists two graphs or more."
        ),
    )
