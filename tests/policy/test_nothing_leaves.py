"""Under a policy, every answer is that over the graph without what is hidden, to the byte."""

from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError

from gateway.api import link_graphs, open_graphs
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graph_set import GraphSet, ServedGraph
from gateway.settings.profile import ShapeName
from tests.examples import examples
from tests.harness.report import Report, Verdict
from tests.policy.run import ask_file
from tests.server.graphs.conftest import connected, served_over_http


@pytest.mark.slow
@settings(max_examples=examples(10))
@given(st.integers(0, 1_000_000), st.sampled_from(("compact", "reference")))
def test_what_is_hidden_is_in_no_byte_of_any_answer(seed: int, shape: ShapeName) -> None:
    report = Report()
    # For each graph; `make policy` asks 2,000 in all.
    anyio.run(ask_file, seed, shape, 12, report)
    assert report.findings == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_token_for_the_graph_under_a_policy_is_told_nothing_of_the_whole_one() -> None:
    report = Report()
    await ask_file(41, "compact", 40, report, over_http=True)
    assert report.findings == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_server_that_hides_nothing_is_found_by_its_bytes_and_by_the_hidden_words() -> None:
    report = Report()
    await ask_file(41, "compact", 40, report, hides=False)
    assert report.count(Verdict.UNTRUE)
    assert report.count(Verdict.WRONG)


# One file served twice: whole, and with a policy for those who may not see all of it.

STAFF = """
PREFIX : <https://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:ada a :Person ; rdfs:label "Ada" ; :sits_with :bob ; :pay 7 .
:bob a :Person, :Informer ; rdfs:label "Bob" ; :sits_with :cyd .
:cyd a :Person ; rdfs:label "Cyd" .
"""
GRAPHS = """
[graphs.staff]
about = "All of it."
graph = "staff.ttl"
profile = "linked.toml"

[graphs.directory]
about = "What everybody may see."
graph = "staff.ttl"
profile = "linked.toml"

[graphs.directory.hidden]
types = ["https://example.org/Informer"]
predicates = ["https://example.org/pay"]
"""
LINKED = '[identity]\nsame_as = ["http://www.w3.org/2002/07/owl#sameAs"]\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for name, text in (("staff.ttl", STAFF), ("graphs.toml", GRAPHS), ("linked.toml", LINKED)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "graphs.toml"


@pytest.mark.anyio
async def test_each_client_is_told_of_what_its_graph_shows(file: Path) -> None:
    async with open_graphs(file) as graphs:
        served = [ServedGraph(name, "A graph.", GatewayOpener.over(gateway)) for name, gateway in graphs.items()]
        async with served_over_http(GraphSet(served), closing=False) as url:
            whole = await told(url, "staff")
            part = await told(url, "directory")
    assert "Informer" in whole
    assert "Bob" in whole
    assert "pay" in whole
    assert not [word for word in ("Informer", "Bob", "pay", "staff") if word in part]
    assert "Ada" in part
    assert "Cyd" in part


async def told(url: str, graph: str) -> str:
    """Return all that a client is told that may see one graph, which it asks about both."""
    said = []
    async with connected(f"{url}/mcp", "auto", f"only={graph}") as client:
        for tool, given in (
            ("describe_schema", {}),
            ("search_entities", {"query": "a"}),
            ("search_entities", {"query": "Ada"}),
            ("bfs_query", {"seeds": ["https://example.org/ada"], "max_hops": 3}),
            ("describe_entities", {"ids": ["https://example.org/ada", "https://example.org/cyd"]}),
        ):
            said.append(await asked(client, tool, {**given, "graph": graph}))
        said.append(await asked(client, "describe_schema", {}))
    return " ".join(said)


async def asked(client: Client, tool: str, given: dict[str, object]) -> str:
    try:
        return str((await client.call_tool(tool, given)).model_dump(mode="json"))
    except MCPError as error:
        return str(error)


@pytest.mark.anyio
async def test_the_whole_graph_is_not_told_of_a_node_that_the_other_hides(file: Path) -> None:
    async with open_graphs(file) as graphs:
        link_graphs(graphs)
        seen = await graphs["staff"].describe_entity("https://example.org/ada")
        hidden = await graphs["staff"].describe_entity("https://example.org/bob")
    assert dict(seen.also_in or {}).keys() == {"directory"}
    assert not hidden.also_in
