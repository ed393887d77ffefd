"""What `help` and an editor say of the calls: each argument with its type, its default and what it means."""

import inspect
import pydoc
from collections.abc import Callable
from typing import Any

import pytest

from bfsql_gateway import AsyncGateway, SearchOptions, SyncGateway, TraversalOptions, open_gateway
from bfsql_gateway.errors import InputError
from gateway.arguments import Arguments, BfsQuery, IntersectSubgraphs, SearchEntities
from gateway.tools.whole_subgraph import NOT_WHOLE

CALLS: list[tuple[str, type[Arguments], tuple[str, ...]]] = [
    ("search_entities", SearchEntities, ()),
    ("search_pages", SearchEntities, ()),
    ("bfs_query", BfsQuery, ()),
    ("intersect_subgraphs", IntersectSubgraphs, ()),
    ("bfs_subgraph", BfsQuery, NOT_WHOLE),
    ("intersection_subgraph", IntersectSubgraphs, NOT_WHOLE),
]


def helped(call: Callable[..., Any]) -> str:
    return pydoc.plain(pydoc.render_doc(call))


@pytest.mark.parametrize(("name", "model", "without"), CALLS)
def test_help_says_of_each_argument_its_type_default_and_meaning(
    name: str, model: type[Arguments], without: tuple[str, ...]
) -> None:
    for kind in (SyncGateway, AsyncGateway):
        call = getattr(kind, name)
        text = " ".join(helped(call).split())
        parameters = inspect.signature(call).parameters
        for argument, field in model.model_fields.items():
            assert (argument in parameters) == (argument not in without), argument
            if argument in without or field.is_required():
                continue
            assert parameters[argument].default in (field.default, False)
            assert parameters[argument].annotation != "Any"
            assert f" {argument} (" in text or f" {argument}: " in text
            assert "As there" not in text
        assert "**options" not in text


def test_help_of_the_options_describes_each() -> None:
    for options, first in ((TraversalOptions, "only_predicates"), (SearchOptions, "queries")):
        text = " ".join((inspect.getdoc(options) or "").split())
        assert f"Args: {first} (" in text
        for argument in options.__annotations__:
            assert f" {argument} (" in text
            assert "Default: " in text.partition(f" {argument} (")[2]


def test_what_help_does_not_show_of_a_whole_subgraph_says_why_it_is_refused() -> None:
    with open_gateway() as graph:
        with pytest.raises(InputError, match=r"A whole subgraph has no pages, so it takes no limit\. Leave it away"):
            graph.bfs_subgraph(["drug:warfarin"], 1, limit=3)
        with pytest.raises(InputError, match="it takes no group_by"):
            graph.bfs_subgraph(["drug:warfarin"], 1, group_by="type")
