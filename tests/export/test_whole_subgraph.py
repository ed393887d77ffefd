"""A whole subgraph is what all pages of a traversal hold together."""

from collections import deque
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import EndpointFault, InputError
from gateway.export.subgraph import Subgraph
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from gateway.tools import whole_subgraph
from tests.cli.conftest import Run, run

pytestmark = pytest.mark.anyio

__all__ = ["run"]

SEED = "drug:warfarin"


def distances(subgraph: Subgraph, seed: str) -> dict[str, int]:
    """Return the distance of each node, by a search over the edges of the subgraph."""
    found, waiting = {seed: 0}, deque([seed])
    while waiting:
        node = waiting.popleft()
        for edge in subgraph.edges:
            for one, other in ((edge.subject, edge.object), (edge.object, edge.subject)):
                if one == node and other not in found:
                    found[other] = found[node] + 1
                    waiting.append(other)
    return found


@pytest.mark.parametrize("nodes_a_page", [1, 3, 500])
async def test_pages_of_any_size_make_the_same_subgraph(monkeypatch: pytest.MonkeyPatch, nodes_a_page: int) -> None:
    async with open_gateway() as graph:
        whole = await graph.bfs_subgraph([SEED], 2)
        monkeypatch.setattr(whole_subgraph, "NODES_A_PAGE", nodes_a_page)
        assert await graph.bfs_subgraph([SEED], 2) == whole
        answer = await graph.bfs_query([SEED], 2, max_tokens=12_000)
    assert (len(whole.nodes), len(whole.edges)) == (answer.node_count, answer.edge_count)
    assert {node.id: node.distance for node in whole.nodes} == distances(whole, SEED)
    assert whole.complete
    assert whole.seeds == (SEED,)


@pytest.mark.slow
async def test_a_node_has_one_id_though_a_prefix_is_coined_for_it_on_a_later_page(tmp_path: Path) -> None:
    data, rare = "http://data.example.org/resources/", "http://data.example.org/another/first/"
    near = [f"<{data}hub> <{data}has> <{data}{number:04}> ." for number in range(1_100)]
    # So few are on the first page that no prefix is coined for them.
    far = [f"<{data}{1_000 + number}> <{data}to> <{rare}{number}> ." for number in range(9)]
    back = [f"<{rare}{number}> <{data}to> <{rare}0> ." for number in range(9)]
    (tmp_path / "graph.nt").write_text("\n".join([*near, f"<{data}hub> <{data}has> <{rare}0> .", *far, *back]))
    async with open_gateway(tmp_path / "graph.nt") as graph:
        whole = await graph.bfs_subgraph([f"{data}hub"], 2)
        assert rare in graph.prefixes.prefixes.values()
        await graph.bfs_subgraph([f"{data}hub"], 1)
    nodes = {node.id for node in whole.nodes}
    assert len({*map(graph.prefixes.expand, nodes)}) == len(nodes)
    assert {end for edge in whole.edges for end in (edge.subject, edge.object)} == nodes


async def test_every_node_has_its_name_and_every_edge_its_evidence() -> None:
    async with open_gateway() as graph:
        whole = await graph.bfs_subgraph([SEED], 1, node_types=["Gene"])
        (entity,) = [node for node in whole.nodes if node.id == SEED]
        assert entity.name == "warfarin"
        assert not entity.metadata
        assert any(edge.evidence for edge in whole.edges)
        assert whole.iris[SEED] == graph.prefixes.expand(SEED)


async def test_an_intersection_has_no_distances() -> None:
    async with open_gateway() as graph:
        whole = await graph.intersection_subgraph([SEED, "drug:glibenclamide"], 1)
        assert {node.id for node in whole.nodes} == {"drug:fluconazole", "protein:CYP2C9"}
        assert {node.distance for node in whole.nodes} == {None}


@pytest.mark.parametrize("given", [{"limit": 3}, {"offset": 1}, {"max_tokens": 500}, {"snapshot": "x"}])
async def test_arguments_about_pages_are_refused(given: dict[str, object]) -> None:
    async with open_gateway() as graph:
        with pytest.raises(InputError, match=f"has no pages, so it takes no {next(iter(given))}"):
            await graph.bfs_subgraph([SEED], 1, **given)  # type: ignore[arg-type]


async def test_an_answer_that_changes_between_two_pages_is_no_subgraph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_subgraph, "NODES_A_PAGE", 3)
    async with open_gateway() as graph:
        reading = graph.pages("bfs_query", {"seeds": [SEED], "max_hops": 1})
        page = await anext(reading)
        page.snapshot = "another"
        with pytest.raises(EndpointFault, match="changed while"):
            await anext(reading)


async def test_what_is_missing_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "blank.ttl"
    path.write_text("@prefix e: <http://e.org/> . e:a e:p e:b, [] .")
    async with open_gateway(path, profile=Profile(nodes=NodeSettings(blank="off"))) as graph:
        whole = await graph.bfs_subgraph(["e:a", "e:none"], 1)
    gap, *others = whole.notes
    assert gap.startswith("Not complete (blank_nodes, 1 node): edges of these lead to blank nodes")
    assert others == ["Not in the graph: e:none", "Edges left out because one end is a blank node: 1"]


def test_the_command_line_exports_to_a_file_and_says_what(run: Run, tmp_path: Path) -> None:
    ran = run("bfs", SEED, "--out", tmp_path / "x.graphml")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"Wrote 16 nodes and 15 edges, complete, to {tmp_path / 'x.graphml'}.\n"
    assert (tmp_path / "x.graphml").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--format", "doc"], "There is no format 'doc'. Formats: turtle,"),
        (["--out", "x"], "means no format."),
        (["--format", "csv", "--json"], "--json and --explain print an answer"),
        (["--format", "csv", "--limit", "5"], "takes no limit"),
    ],
)
def test_the_command_line_refuses_what_is_no_export(run: Run, options: list[str], error: str) -> None:
    ran = run("bfs", SEED, *options)
    assert (ran.status, ran.out) == (2, "")
    assert error in ran.err


def test_the_command_line_exports_an_intersection_but_no_paths(run: Run, tmp_path: Path) -> None:
    seeds, out = (SEED, "drug:glibenclamide"), ("--out", tmp_path / "x.nt")
    assert run("intersect", *seeds, *out).err.startswith("Wrote 2 nodes and 1 edge, complete")
    ran = run("intersect", *seeds, "--via", *out)
    assert (ran.status, ran.out) == (2, "")
    assert "--via shows paths" in ran.err
