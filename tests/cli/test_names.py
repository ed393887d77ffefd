"""Commands with a name in the place of an ID, on files that were never opened before."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.cli.graph_source import GraphSource, needs_of
from gateway.cli.options import CommonOptions
from tests.cli.conftest import Run
from tests.search_index.many_names import ManyNames, over_names

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GRAPH = "".join(f'<urn:n{n}> <{LABEL}> "name {n}" ; <urn:p> <urn:n{(n + 1) % 60}> .\n' for n in range(60))

BY_NAME: Sequence[Sequence[str]] = [
    ["bfs", "name 7"],
    ["bfs", "name 7", "--all"],
    ["bfs", "name 7", "--format", "turtle"],
    ["describe", "name 7"],
    ["describe", "urn:n1", "name 7"],
    ["intersect", "name 7", "urn:n9"],
]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A profile under which the graph is too large for the quick reading of its schema."""
    path = tmp_path / "large.toml"
    path.write_text("[orientation]\nglance_triples = 20\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("command", BY_NAME, ids=" ".join)
def test_a_first_command_by_name_stores_names_and_schema_for_the_next_one(
    run: Run, graph: Path, large: Path, tmp_path: Path, command: Sequence[str]
) -> None:
    store = tmp_path / "store"
    assert run(*command, "-g", graph, "-p", large, "--store", store).status == 0
    for name in ("labels-*.sqlite", "schema.json"):
        assert len(list(store.glob(f"*/graph/store-*/derived/*/{name}"))) == 1


def test_names_and_schema_of_a_file_of_a_megabyte_are_there_for_the_second_command(run: Run, tmp_path: Path) -> None:
    graph, cache = tmp_path / "graph.ttl", tmp_path / "cache"
    graph.write_text(GRAPH + f'<urn:long> <urn:text> "{"long " * 210_000}" .\n', encoding="utf-8")
    assert run("bfs", "name 7", "-g", graph, "--cache", cache).status == 0
    stored = sorted(cache.glob("*/graph/store-*/derived/*/*.*"))
    assert {path.name for path in stored} > {"schema.json", "nameless.json"}
    stamps = [path.stat().st_mtime_ns for path in stored]
    assert run("bfs", "name 7", "-g", graph, "--cache", cache).status == 0
    assert [path.stat().st_mtime_ns for path in stored] == stamps


def test_a_command_by_id_reads_no_names(run: Run, graph: Path, large: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run("bfs", "urn:n7", "-g", graph, "-p", large, "--store", store).status == 0
    assert not list(store.glob("*/graph/store-*/derived/*/labels-*"))


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "waits"),
    [
        ("search_entities", {"query": "Ann"}, True),
        ("search_entities", {"query": "", "node_types": ["T"]}, False),
        ("bfs_query", {"seeds": ["x:ann", "Ann Ley"]}, True),
        ("bfs_query", {"seeds": ["x:ann"]}, False),
        ("describe_entity", {"id": "Ann: the film"}, True),
        ("describe_entity", {"id": "https://example.org/x/ann"}, False),
        ("describe_entities", {"ids": ["x:ann", "x:dee"]}, False),
        ("describe_schema", {}, False),
    ],
)
async def test_a_command_on_files_that_are_not_stored_waits_for_the_names_that_it_compares(
    tool: str, arguments: dict[str, object], waits: bool
) -> None:
    names, said = ManyNames(), list[str]()

    async def progress(_done: int, _total: int, message: str) -> None:
        said.append(message)
        names.seen.set()

    async with over_names("x:ann rdfs:label 'Ann Ley' .", names) as gateway:
        await GraphSource(CommonOptions()).wait(gateway, tool, arguments, progress)
    assert ("Reading names of 20,003 entities" in said) is waits


@pytest.mark.parametrize(
    ("tool", "arguments", "needed"),
    [
        ("describe_schema", {}, "schema.json"),
        ("search_entities", {"query": "Ann"}, "labels-*.sqlite"),
        ("bfs_query", {"seeds": ["x:ann", "Ann Ley"]}, "labels-*.sqlite"),
        ("intersect_subgraphs", {"seeds": ["x:ann Ann Ley", "x:dee"]}, ""),
        ("describe_entity", {"id": "Ann"}, "labels-*.sqlite"),
        ("describe_entities", {"ids": ["x:ann", "<https://example.org/x/dee>"]}, ""),
    ],
)
def test_a_stored_graph_is_in_memory_while_that_is_read_of_it_which_a_command_waits_for(
    tool: str, arguments: dict[str, object], needed: str
) -> None:
    assert needs_of(tool, arguments) == needed
