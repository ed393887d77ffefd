"""Calls with wrong arguments: an error that names the nearest, and a short traceback."""

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from bfsql_gateway import open_gateway
from bfsql_gateway.errors import EndpointFault, Fault, InputError, UsageError, WrongCallError
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
    (lambda graph: graph.wait_for_names(progres=print), r"Did you mean progress\?"),
]
PAGES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda graph: graph.pages("bfs_query", argument={}), r"Did you mean arguments\?"),
    (lambda graph: next(graph.search_pages("a", [], 3)), r"search_pages takes 2 arguments without a name.*limit"),
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
