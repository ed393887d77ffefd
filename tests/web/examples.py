"""Answers in both shapes, which the page's reader of compact answers must turn into each other."""

import json
from pathlib import Path
from typing import Any, Final

from gateway import expand
from gateway.api import open_gateway
from tests.graphs import fixture
from tests.web.build import SOURCES

FILE: Final = SOURCES / "tests" / "examples.json"

_DRUGS: Final = ["drug:metformin", "drug:warfarin"]
_BLANK: Final = ["a:blankObject", "a:blankDeep", "a:manyBlanks"]
_CALLS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("medical", "describe_schema", {}),
    ("medical", "search_entities", {"query": "warf"}),
    ("medical", "search_entities", {"query": "metfromin"}),
    ("medical", "bfs_query", {"seeds": _DRUGS[:1], "max_hops": 1}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 2, "limit": 10}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 1, "topology_only": True}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 2, "only_node_types": ["Author"], "topology_only": True}),
    ("medical", "describe_entity", {"id": "drug:warfarin"}),
    ("medical", "describe_entities", {"ids": [*_DRUGS, "drug:nothing"]}),
    ("medical", "intersect_subgraphs", {"seeds": _DRUGS, "k": 2, "via": True}),
    ("associations", "describe_schema", {}),
    ("films", "bfs_query", {"seeds": ["film:Alien"], "max_hops": 1}),
    ("awkward", "bfs_query", {"seeds": _BLANK, "max_hops": 1}),
    ("awkward", "bfs_query", {"seeds": _BLANK, "max_hops": 3}),
]


async def examples() -> list[dict[str, Any]]:
    """Return the calls' answers, compact and as `expand` reads them."""
    written = []
    for graph in dict.fromkeys(name for name, _, _ in _CALLS):
        async with open_gateway(_file(graph), wall_clock=lambda: 0.0) as gateway:
            for name, tool, arguments in _CALLS:
                if name == graph:
                    compact = (await gateway.call(tool, arguments, shape="compact")).as_json()
                    what = f"{tool} of {graph}: {json.dumps(arguments)}"
                    written.append({"what": what, "compact": compact, "reference": expand(compact)})
    return written


def _file(graph: str) -> Path:
    return fixture(graph)


def text_of(written: list[dict[str, Any]]) -> str:
    """Return the text of the file."""
    return json.dumps(written, ensure_ascii=False, indent=1) + "\n"
