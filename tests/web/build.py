"""Checks and builds the explorer page with npm packages (`python -m tests.web.build`), and answers for its tests."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from gateway import expand
from gateway.api import open_gateway
from gateway.export.subgraph import how_said
from gateway.resources import explorer_page
from gateway.terms.prefixes import local_form
from tests.graphs import fixture
from tests.servers.unavailable import ServerUnavailable
from tests.suites.packages import node, npm_modules

PAGE: Final = explorer_page()
SOURCES: Final = PAGE.parent.parent
_TIMEOUT_S: Final = 240
_CHECK: Final = ("typescript/bin/tsc", "--noEmit")
_TEST: Final = ("vitest/vitest.mjs", "run")
_BUILD: Final = ("vite/bin/vite.js", "build", "--logLevel=error")


class BuildError(Exception):
    """A tool refused the sources; the text is what it wrote."""


@contextmanager
def project() -> Iterator[Path]:
    """Give a copy of the sources with their packages beside them.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packages.
    """
    modules = npm_modules(SOURCES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "web"
        shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "built"))
        (folder / "node_modules").symlink_to(modules)
        yield folder


def checked(folder: Path) -> None:
    """Check the types of a project, and run its tests.

    Raises:
        BuildError: A type is wrong, or a test failed.
    """
    _run(folder, *_CHECK)
    _run(folder, *_TEST)


def built(folder: Path) -> bytes:
    """Return the page of a project.

    Raises:
        BuildError: The sources cannot be built.
    """
    _run(folder, *_BUILD)
    return (folder / "built" / PAGE.name).read_bytes()


def harness(folder: Path) -> str:
    """Return the page of a host of MCP Apps, which the browser test drives in the place of a chat.

    Raises:
        BuildError: The sources cannot be built.
    """
    _run(folder, *_BUILD, "--config", "vite.harness.config.ts")
    return (folder / "harness" / "host.html").read_text(encoding="utf-8")


def _run(folder: Path, script: str, *arguments: str) -> None:
    command = [str(node()), str(folder / "node_modules" / script), *arguments]
    # Node and the scripts that the lock file names by their hashes.
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise BuildError(f"{script} {' '.join(arguments)}:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Check the sources and write the page."""
    try:
        with project() as folder:
            checked(folder)
            page = built(folder)
    except (ServerUnavailable, BuildError) as error:
        sys.exit(str(error))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_bytes(page)


FILE: Final = SOURCES / "tests" / "examples.json"

_WD: Final = "http://www.wikidata.org/entity/"
_DRUGS: Final = ["drug:metformin", "drug:warfarin"]
_BLANK: Final = ["a:blankObject", "a:blankDeep", "a:manyBlanks"]
_CALLS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("medical", "describe_schema", {}),
    ("medical", "search_entities", {"query": "warf"}),
    ("medical", "search_entities", {"query": "metfromin"}),
    ("medical", "search_entities", {"queries": ["warfarin", "metfromin", "zebra"], "limit": 2}),
    ("medical", "bfs_query", {"seeds": _DRUGS[:1], "max_hops": 1}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 2, "limit": 10}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 1, "topology_only": True}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 2, "only_node_types": ["Author"], "topology_only": True}),
    ("medical", "bfs_query", {"seeds": _DRUGS, "max_hops": 1, "sort_by": "-totalMentions", "limit": 3}),
    ("medical", "search_entities", {"node_types": ["Drug"], "values": ["totalMentions"], "limit": 3}),
    ("medical", "describe_entity", {"id": "drug:warfarin"}),
    ("medical", "describe_entities", {"ids": [*_DRUGS, "drug:nothing"]}),
    ("medical", "intersect_subgraphs", {"seeds": _DRUGS, "k": 2, "via": True}),
    ("associations", "describe_schema", {}),
    ("films", "bfs_query", {"seeds": ["film:Alien"], "max_hops": 1}),
    ("films", "bfs_query", {"seeds": ["film:Alien"], "max_hops": 2, "topology_only": True}),
    ("films", "bfs_query", {"seeds": ["film:Alien"], "max_hops": 2, "topology_only": True, "offset": 3, "limit": 3}),
    ("films", "bfs_query", {"seeds": ["film:Alien"], "max_hops": 1, "topology_only": True, "show": "types"}),
    (
        "films",
        "bfs_query",
        {"seeds": ["film:Alien"], "max_hops": 1, "only_predicates": ["^actedIn"], "topology_only": True},
    ),
    ("wikidata-slice", "bfs_query", {"seeds": [f"{_WD}Q999999002"], "max_hops": 1, "topology_only": True}),
    ("awkward", "bfs_query", {"seeds": _BLANK, "max_hops": 1}),
    ("awkward", "bfs_query", {"seeds": _BLANK, "max_hops": 3}),
]


_TERMS: Final = [
    "ex:p",
    "<http://e.org/a#b>",
    "(ex:p)",
    "(rdfs:subClassOf/owl:complementOf)",
    "(owl:complementOf/:hasTopping)",
    "(^ex:p)",
    "ex:a/^<http://e.org/b/c>",
    "(<http://e.org/b/c>/ex:d)",
]
_EVIDENCE: Final[list[dict[str, Any]]] = [
    {},
    {"confidence": 0.5},
    {"negated": True},
    {"negated": True, "restriction": "not some"},
    {"restriction": "only", "one of": 2},
    {"restriction": "only", "closed": True},
    {"closed": False, "one of": 3},
    {"assertions": [{"negated": True}, {"sources": ["a"]}, {"restriction": "some"}]},
    {"assertions": [{"negated": True}, {"negated": True, "restriction": "min 2"}]},
    {"assertions": [{"restriction": "some"}, {"restriction": "only"}, {"restriction": "some"}]},
    {"assertions": []},
]


async def examples() -> list[dict[str, Any]]:
    """Return the calls' answers, compact and as `expand` reads them, and what is said of terms and of evidence."""
    written = []
    for graph in dict.fromkeys(name for name, _, _ in _CALLS):
        async with open_gateway(fixture(graph), wall_clock=lambda: 0.0) as gateway:
            for name, tool, arguments in _CALLS:
                if name == graph:
                    compact = (await gateway.call(tool, arguments, shape="compact")).as_json()
                    what = f"{tool} of {graph}: {json.dumps(arguments)}"
                    written.append({"what": what, "compact": compact, "reference": expand(compact)})
    written += [{"what": "local_form", "given": term, "said": local_form(term)} for term in _TERMS]
    written += [{"what": "how_said", "given": one, "said": how_said(one)} for one in _EVIDENCE]
    return written


def text_of(written: list[dict[str, Any]]) -> str:
    """Return the text of the file."""
    return json.dumps(written, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    main()
