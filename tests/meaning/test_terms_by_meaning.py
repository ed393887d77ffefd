"""Types and predicates that are near in meaning to a name that is none (docs/tools.md, "search_entities")."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.api import open_gateway
from gateway.errors import Fault, InputError
from gateway.graph.call import Deadline
from gateway.meaning.embedder import Embedded
from gateway.meaning.static_model import StaticModel
from gateway.resources import folder
from gateway.settings.profile import Profile
from gateway.tools.terms_by_meaning import TermVectors
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


@pytest.mark.slow
async def test_an_error_of_a_name_that_is_none_lists_what_is_near_in_meaning(tmp_path: Path) -> None:
    profile = by_meaning(model_in(tmp_path / "model"))

    async def is_listed(case: tuple[str, Mapping[str, Any], str]) -> None:
        tool, arguments, listed = case
        assert f"By their meaning, {listed}" in await error_of(profile, tool, arguments)
        assert "By their meaning" not in await error_of(Profile(), tool, arguments)

    await await_each(UNKNOWN, is_listed)


async def test_a_question_about_the_schema_has_the_terms_that_are_near_in_meaning_beside_those_that_fit(
    tmp_path: Path,
) -> None:
    async with open_gateway(FILMS, profile=by_meaning(model_in(tmp_path / "model"))) as gateway:
        answer = await gateway.describe_schema(query="year of release")
        nothing = await gateway.describe_schema(query="qzx")
    warnings = " ".join(answer.warnings or ())
    assert "By their meaning, predicates near to 'year of release': :released" in warnings
    assert "By their meaning" not in " ".join(nothing.warnings or ())
    async with service_over(model_in(tmp_path / "other")) as service:
        service.status = 500
        async with open_gateway(FILMS, profile=by_meaning(service.url)) as gateway:
            away = await gateway.describe_schema(query="year of release")
    assert (away.predicates, away.values) == (answer.predicates, answer.values)


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


@dataclass
class Failing:
    """The model, which fails after some requests."""

    model: StaticModel
    requests_left: int
    at_once: int = 2
    seconds: float = 10.0
    name: str = "failing"
    version: str = ""
    asked: list[Sequence[str]] = field(default_factory=list)

    async def embed(self, texts: Sequence[str], deadline: Deadline) -> Embedded:
        """Embed, or fail."""
        if not self.requests_left:
            raise Fault("It is away.")
        self.requests_left -= 1
        self.asked.append(texts)
        embedded = await self.model.embed(texts, deadline)
        return replace(embedded, model=self.version or embedded.model)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()


NAMES = ("film", "person", "city", "award", "year")


async def test_after_a_failure_what_is_made_stays_and_for_a_minute_nothing_is_asked(tmp_path: Path) -> None:
    now = 0.0
    failing = Failing(StaticModel(model_in(tmp_path)), requests_left=3)
    vectors, deadline = TermVectors(failing, lambda: now), Deadline.after(60)
    asked = await vectors.embed(["movie"], deadline)
    with pytest.raises(Fault, match="away"):
        await vectors.of("types", NAMES, asked, deadline)
    failing.requests_left = 100
    now = 59
    with pytest.raises(Fault, match="a moment ago"):
        await vectors.of("types", NAMES, asked, deadline)
    with pytest.raises(Fault, match="a moment ago"):
        await vectors.embed(["movie"], deadline)
    now = 61
    known = await vectors.of("types", NAMES, asked, deadline)
    assert failing.asked == [["movie"], NAMES[:2], NAMES[2:4], NAMES[4:]]
    assert known.nearest(asked.vectors, 0.3)[0] == "film"
    assert await vectors.of("types", NAMES, asked, deadline) is known
    await failing.close()


async def test_two_calls_at_once_get_the_same_vectors(tmp_path: Path) -> None:
    failing = Failing(StaticModel(model_in(tmp_path)), requests_left=100)
    vectors, deadline = TermVectors(failing), Deadline.after(60)
    asked = await vectors.embed(["movie"], deadline)
    one, other = await asyncio.gather(*(vectors.of("types", NAMES, asked, deadline) for _ in range(2)))
    assert one.vectors.tolist() == other.vectors.tolist()
    await failing.close()


async def test_vectors_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    now = 0.0
    failing = Failing(StaticModel(model_in(tmp_path)), requests_left=2)
    vectors, deadline = TermVectors(failing, lambda: now), Deadline.after(60)
    asked = await vectors.embed(["movie"], deadline)
    with pytest.raises(Fault, match="away"):
        await vectors.of("types", NAMES, asked, deadline)
    failing.requests_left, failing.version, now = 100, "another", 61
    with pytest.raises(Fault, match="another model"):
        await vectors.of("types", NAMES, asked, deadline)
    now = 122
    known = await vectors.of("types", NAMES, await vectors.embed(["movie"], deadline), deadline)
    assert (known.model, len(known.vectors)) == ("another", len(NAMES))
    await failing.close()


async def test_the_names_of_terms_become_vectors_once(tmp_path: Path) -> None:
    async with (
        service_over(model_in(tmp_path / "model")) as service,
        open_gateway(FILMS, profile=by_meaning(service.url)) as gateway,
    ):
        for name in ("Movie", "Movies"):
            with pytest.raises(InputError, match="types near to"):
                await gateway.search_entities(node_types=[name])
        assert [texts for texts in service.asked if "Person" in texts] == [["Person", "Film"]]
