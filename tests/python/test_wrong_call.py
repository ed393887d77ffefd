"""Calls with wrong arguments: an error that names the nearest, and a short traceback."""

import copy
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bfsql_gateway import open_gateway, open_graphs
from bfsql_gateway.errors import ConfigurationError, EndpointFault, Fault, InputError, UsageError, WrongCallError
from gateway.python.sync_gateway import without_frames

pytestmark = pytest.mark.anyio

SEEDS = ["drug:warfarin"]
WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda graph: graph.bfs_query(SEEDS, max_hop=2), r"bfs_query has no argument 'max_hop'. Did you mean max_hops\?"),
    (
        lambda graph: graph.bfs_query(SEEDS),
        r"bfs_query needs the argument max_hops\. Its arguments are seeds, max_hops",
    ),
    (lambda graph: graph.bfs_query(SEEDS, 1, 10), r"bfs_query takes 2 arguments without a name, and 3 were given"),
    (lambda graph: graph.bfs_query(SEEDS, 1, seeds=SEEDS), r"bfs_query has the argument seeds twice"),
    (lambda graph: graph.bfs_subgraph(SEEDS, max_hop=1), r"bfs_subgraph has no argument 'max_hop'.*only_predicates"),
    (lambda graph: graph.describe_entity(ids="x"), r"describe_entity has no argument 'ids'. Did you mean id\?"),
    (lambda graph: graph.describe_schema(node_type=["Drug"]), r"Did you mean node_types\?"),
    (lambda graph: graph.describe_schema(True), r"takes 0 arguments without a name.*Write the others with their names"),
    (lambda graph: graph.call("bfs_query"), r"call needs the argument arguments"),
    (
        lambda graph: graph.search_entities(node_type=["Drug"]),
        r"search_entities has no argument 'node_type'. Did you mean node_types\?",
    ),
    (
        lambda graph: graph.bfs_query(SEEDS, 1, node_type=["Drug"]),
        r"bfs_query has no argument 'node_type'. Did you mean node_types\?",
    ),
    (
        lambda graph: graph.intersect_subgraphs(SEEDS * 2, hops=1),
        r"intersect_subgraphs has no argument 'hops'. Did you mean k\?",
    ),
    (
        lambda graph: graph.intersection_subgraph(SEEDS * 2, 1, vai=True),
        r"intersection_subgraph has no argument 'vai'. Did you mean via\?",
    ),
    (lambda graph: graph.wait_for_names(progres=print), r"Did you mean progress\?"),
]
PAGES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda graph: graph.pages("bfs_query", argument={}), r"Did you mean arguments\?"),
    (lambda graph: graph.search_pages("a", [], 3), r"search_pages takes 2 arguments without a name.*limit"),
    (
        lambda graph: graph.search_pages(node_type=["Drug"]),
        r"search_pages has no argument 'node_type'. Did you mean node_types\?",
    ),
]
OPENED: list[tuple[Callable[[], Any], str]] = [
    (lambda: open_gateway(profil="demo"), r"open_gateway has no argument 'profil'. Did you mean profile\?"),  # type: ignore[call-arg]
    (lambda: open_gateway("a.ttl", "b.ttl"), "open_gateway takes 1 argument without a name, and 2 were given"),  # type: ignore[call-arg]
    (lambda: open_graphs("a.toml", contacts="a@b.example"), r"Did you mean contact\?"),  # type: ignore[call-arg]
    (open_graphs, "open_graphs needs the argument graphs"),  # type: ignore[list-item]
]


def test_a_wrong_call_says_what_the_call_takes() -> None:
    with open_gateway() as graph:
        for call, text in [*WRONG, *PAGES]:
            with pytest.raises(WrongCallError, match=text) as caught:
                list(call(graph))
            assert isinstance(caught.value, InputError)
            assert isinstance(caught.value, TypeError)


async def test_a_wrong_call_that_is_awaited_says_so_too() -> None:
    async with open_gateway() as graph:
        for call, text in WRONG:
            with pytest.raises(WrongCallError, match=text):
                await call(graph)
        for call, text in PAGES:
            with pytest.raises(WrongCallError, match=text):
                call(graph)


def test_opening_with_a_wrong_argument_says_so_too() -> None:
    for call, text in OPENED:
        with pytest.raises(WrongCallError, match=text):
            call()


@pytest.mark.parametrize("given", ["", " ", ["", "a.ttl"], [], ()])
def test_an_empty_path_opens_no_graph(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"empty.*Give"):
        open_gateway(given)


def test_the_current_folder_as_a_path_opens_its_graph_files_as_the_text_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"^\.: no file there has the suffix of an RDF format"):
        open_gateway(Path())
    (tmp_path / "a.nt").write_text("<http://x.example/a> <http://x.example/p> <http://x.example/b> .")
    for given in (Path(), ".", tmp_path, str(tmp_path)):
        with open_gateway(given) as graph:
            assert graph.bfs_query(["http://x.example/a"], 1).node_count == 2


@pytest.mark.parametrize("given", [3, b"a.ttl", [3], [None]])
def test_what_is_neither_a_path_nor_a_graph_says_what_a_graph_is(given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"is no path.*rdflib"):
        open_gateway(given)


def test_an_empty_url_is_not_the_demo_graph() -> None:
    with pytest.raises(ConfigurationError, match=r"URL of the endpoint is empty.*Give"):
        open_gateway(endpoint="")


def test_a_traceback_ends_where_the_program_made_the_call() -> None:
    wrong: list[Callable[[Any], Any]] = [
        lambda graph: graph.bfs_query(SEEDS, max_hop=2),
        lambda graph: graph.bfs_query(SEEDS, 1, limits=2),
        lambda graph: graph.bfs_query(SEEDS, 9),
        lambda graph: graph.search_entities(node_types=["Drugg"]),
        lambda graph: list(graph.search_pages(node_types=["Drugg"])),
    ]
    with open_gateway() as graph:
        for call in wrong:
            with pytest.raises(InputError) as caught:
                call(graph)
            frames = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
            assert len(frames) <= 3, frames
            assert frames[-1].endswith("sync_gateway.py")
            assert "During handling" not in "".join(traceback.format_exception(caught.value))
            assert "direct cause" not in "".join(traceback.format_exception(caught.value))


def test_what_an_answer_does_not_have_says_what_has_it_or_what_is_there() -> None:
    with open_gateway() as graph:
        page = graph.bfs_query(SEEDS, 1)
        both = graph.intersect_subgraphs([*SEEDS, "drug:aspirin"], 1)
        found = graph.search_entities("warfarin")
    missing: list[tuple[Any, str, str]] = [
        (page, "to_networkx", r"BfsResult has no to_networkx.*of 16 nodes in all.*graph\.bfs_subgraph takes the same"),
        (both, "to_rdflib", r"graph\.intersection_subgraph takes the same arguments"),
        (found, "to_networkx", r"A whole subgraph has to_networkx: graph\.bfs_subgraph\(ids, max_hops\) returns one"),
        (found, "results", r"SearchResult has no results\. Did you mean 'result'\?"),
        (found, "hits", r"SearchResult has no hits\. It has result, .*to_dataframe"),
        (page.nodes[0], "label", r"Node has no label\. It has id, "),
        (page, "to_pandas", r"BfsResult has no to_pandas\. It has .*to_dataframe"),
    ]
    for answer, name, text in missing:
        with pytest.raises(AttributeError, match=text) as caught:
            getattr(answer, name)
        assert (caught.value.name, caught.value.obj) == (name, answer)
        assert not hasattr(answer, name)


def test_an_answer_is_copied_and_pickled_as_it_was() -> None:
    with open_gateway() as graph:
        for answer in (graph.bfs_query(SEEDS, 1), graph.describe_entity(SEEDS[0])):
            assert copy.deepcopy(answer) == pickle.loads(pickle.dumps(answer)) == answer  # noqa: S301 - our own
            assert pickle.loads(pickle.dumps(answer)).to_dataframe().equals(answer.to_dataframe())  # noqa: S301


def test_what_made_the_graph_fail_stays_as_the_cause_of_a_fault() -> None:
    def raised(error: Exception, cause: Exception) -> None:
        try:
            raise cause
        except OSError as known:
            raise error from known

    cause = OSError("no route")
    for error, kept in ((EndpointFault("It failed."), cause), (UsageError("It is closed."), None)):
        with pytest.raises((Fault, UsageError)) as caught:
            raised(error, cause)
        assert cause.__traceback__ is not None
        assert without_frames(caught.value) is error
        assert (error.__cause__, error.__traceback__, error.__suppress_context__) == (kept, None, True)


@pytest.mark.parametrize("column", [pd.Series, pd.Index, np.array])
async def test_a_column_of_a_table_is_a_list_and_a_table_is_refused(column: Callable[[Any], Any]) -> None:
    seeds: Any = column([*SEEDS, "drug:aspirin"])
    types: Any = column(["Drug"])
    with open_gateway() as graph:
        assert graph.bfs_subgraph(seeds, 1) == graph.bfs_subgraph([*SEEDS, "drug:aspirin"], 1)
        assert graph.bfs_query(seeds, column([2])[0], node_types=types).seeds == [*SEEDS, "drug:aspirin"]
        assert graph.intersection_subgraph(seeds=seeds, k=1).nodes
        assert len(graph.describe_entities(seeds).result) == 2
        assert graph.search_entities(node_types=types) == graph.search_entities(node_types=["Drug"])
        assert [*graph.search_pages(node_types=types, values=column(["totalMentions"]))]
    async with open_gateway() as graph_of_loop:
        assert (await graph_of_loop.bfs_query(seeds, 1)).complete
        assert [page async for page in graph_of_loop.search_pages(node_types=types)]


def test_a_whole_table_is_neither_seeds_nor_files() -> None:
    table: Any = pd.DataFrame({"id": SEEDS})
    with (
        open_gateway() as graph,
        pytest.raises(WrongCallError, match=r'bfs_subgraph takes no table \(DataFrame\)\. .*table\["id"\]'),
    ):
        graph.bfs_subgraph(table, 1)
    sources: list[Any] = [table, {"id": SEEDS}]
    for source in sources:
        with pytest.raises(ConfigurationError, match=r"A (DataFrame|dict) is no path of a graph file"):
            open_gateway(source)
