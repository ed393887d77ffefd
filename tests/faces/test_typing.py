"""What type checkers know of both faces: mypy reads this file strictly, as it reads a program of a user."""

from collections.abc import Coroutine
from typing import Any, assert_type

import pytest

from bfsql_gateway import (
    AsyncGateway,
    BfsResult,
    CompactAnswer,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
    Subgraph,
    SyncGateway,
    ToolAnswer,
    open_gateway,
)

pytestmark = pytest.mark.anyio


def test_answers_of_calls_that_wait_have_their_types() -> None:
    with open_gateway() as graph:
        assert_type(graph, SyncGateway)
        assert_type(graph.describe_schema(all=True), SchemaResult)
        assert_type(graph.search_entities("warfarin", limit=3), SearchResult)
        assert_type(graph.bfs_query(["drug:warfarin"], max_hops=1, node_types=["Drug"]), BfsResult)
        told: list[str] = []
        seen = graph.bfs_query(["drug:warfarin"], 1, progress=lambda done, total, _: told.append(f"{done}/{total}"))
        assert_type(seen, BfsResult)
        assert_type(graph.describe_entity("drug:warfarin"), Entity)
        assert_type(graph.describe_entities(["drug:warfarin"]), EntitiesResult)
        assert_type(graph.intersect_subgraphs(["drug:warfarin", "drug:aspirin"], k=1), IntersectionResult)
        assert_type(graph.bfs_subgraph(["drug:warfarin"], 1), Subgraph)
        assert_type(graph.call("describe_schema", {}), ToolAnswer)
        assert_type(graph.call("describe_schema", {}, shape="compact"), ToolAnswer | CompactAnswer)
        for page in graph.search_pages(node_types=["Drug"], limit=50):
            assert_type(page, SearchResult)


async def test_answers_of_calls_that_are_awaited_have_their_types() -> None:
    async with open_gateway() as graph:
        assert_type(graph, AsyncGateway)
        call = graph.describe_schema()
        assert assert_type(call, Coroutine[Any, Any, SchemaResult]) is call
        assert_type(await call, SchemaResult)
        assert_type(await graph.search_entities("warfarin"), SearchResult)
        async for page in graph.search_pages(node_types=["Drug"], limit=50):
            assert_type(page, SearchResult)


async def test_wrong_arguments_are_found_by_type_checkers_and_when_they_are_run() -> None:
    with open_gateway() as graph, pytest.raises(TypeError):
        graph.bfs_query()  # type: ignore[call-arg]
    async with open_gateway() as awaited:
        with pytest.raises(TypeError):
            await awaited.bfs_query()  # type: ignore[call-arg]
        with pytest.raises(AttributeError):
            awaited.describe_schema().complete  # type: ignore[attr-defined]  # noqa: B018 - an error by itself
