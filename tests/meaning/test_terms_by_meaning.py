"""Types and predicates that are near in meaning to a name that is none (docs/tools.md, "search_entities")."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.resources import folder
from gateway.settings.profile import Profile
from tests.cases import await_each
from tests.meaning.models import by_meaning, model_in, service_over

pytestmark = pytest.mark.anyio

FILMS = folder("fixtures") / "films.ttl"

UNKNOWN: tuple[tuple[str, Mapping[str, Any], str], ...] = (
    ("search_entities", {"node_types": ["Movie"]}, "types near to 'Movie': :Film"),
    ("describe_schema", {"node_types": ["Movie"]}, "types near to 'Movie': :Film"),
    (
        "bfs_query",
        {"seeds": ["Avatar"], "max_hops": 1, "only_predicates": [["^has been made by"]]},
        "predicates near to 'has been made by': :produced",
    ),
    (
        "bfs_query",
        {"seeds": ["Avatar"], "max_hops": 1, "exclude_node_types": ["Movie"]},
        "types near to 'Movie': :Film",
    ),
    (
        "search_entities",
        {"node_types": ["Film"], "where": ["year of release < 1980"]},
        "predicates near to 'year of release': :released",
    ),
    (
        "search_entities",
        {"node_types": ["Film"], "sort_by": "-release date"},
        "predicates near to 'release date': :released",
    ),
    (
        "search_entities",
        {"node_types": ["Film"], "values": ["release date"]},
        "predicates near to 'release date': :released",
    ),
)


async def error_of(profile: Profile, tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the error of a call."""
    async with open_gateway(FILMS, profile=profile) as gateway:
        with pytest.raises(InputError) as caught:
            await gateway.call(tool, arguments)
    return str(caught.value)


async def test_an_error_of_a_name_that_is_none_lists_what_is_near_in_meaning(tmp_path: Path) -> None:
    profile = by_meaning(model_in(tmp_path / "model"))

    async def is_listed(case: tuple[str, Mapping[str, Any], str]) -> None:
        tool, arguments, listed = case
        assert f"By their meaning, {listed}" in await error_of(profile, tool, arguments)
        assert "By their meaning" not in await error_of(Profile(), tool, arguments)

    await await_each(UNKNOWN, is_listed)


async def test_where_nothing_is_near_or_nothing_unknown_the_error_is_as_without_an_embedder(tmp_path: Path) -> None:
    profile = by_meaning(model_in(tmp_path / "model"))
    for tool, arguments in (
        ("search_entities", {"node_types": ["qzx"]}),
        ("search_entities", {"node_types": ["Film"], "where": ["released < soon"], "sort_by": "qzx"}),
        ("bfs_query", {"seeds": ["film:None"], "max_hops": 1, "only_predicates": ["directed"]}),
    ):
        assert await error_of(profile, tool, arguments) == await error_of(Profile(), tool, arguments)


async def test_a_service_that_fails_leaves_the_error_as_it_is(tmp_path: Path) -> None:
    async with service_over(model_in(tmp_path / "model")) as service:
        service.status = 500
        tool, arguments, _ = UNKNOWN[0]
        assert await error_of(by_meaning(service.url), tool, arguments) == await error_of(Profile(), tool, arguments)


async def test_the_names_of_terms_become_vectors_once(tmp_path: Path) -> None:
    async with (
        service_over(model_in(tmp_path / "model")) as service,
        open_gateway(FILMS, profile=by_meaning(service.url)) as gateway,
    ):
        for name in ("Movie", "Movies"):
            with pytest.raises(InputError, match="types near to"):
                await gateway.search_entities(node_types=[name])
        assert [texts for texts in service.asked if "Person" in texts] == [["Person", "Film"]]
