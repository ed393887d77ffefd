"""Blank nodes of an endpoint of which only a sample was read: nothing is said to be all that there is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from gateway.answers.models import SearchResult
from gateway.api import open_gateway
from gateway.errors import EndpointFault
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import ValueSettings
from gateway.tools.gateway import Gateway
from tests.servers.fuseki import running_fuseki
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.small import PREFIXES, ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

_LARGE = """
x:ann a x:Person ; rdfs:label "Ann" ; x:knows [ a x:Person ; rdfs:label "Bob" ] .
[] a x:Assertion ; x:subject x:ann . x:ann x:likes x:tea .
x:rome a x:Place ; rdfs:label "Rome" . x:oslo a x:Place ; rdfs:label "Oslo" .
""" + "".join(f"x:ann x:likes x:thing{number} .\n" for number in range(40))
"""A graph of which these tests read a sample."""

_WITHOUT = _LARGE.replace('[ a x:Person ; rdfs:label "Bob" ]', "x:bob").replace(
    "[] a x:Assertion ; x:subject x:ann .", ""
)

_SAMPLE = OrientationSettings(glance_triples=10, enumeration_seconds=0)
_PROFILE = Profile(size=ROOM, orientation=_SAMPLE)

_SEARCHES = [
    ("Bob", None, False),
    ("Ann", None, False),
    (None, ["x:Person"], False),
    (None, ["x:Assertion"], False),
    ("Ann", ["x:Person"], False),
    (None, ["x:Place"], True),
    ("Rome", ["x:Place"], True),
]
"""What is asked, and whether nothing that fits is a blank node."""


async def _searched(gateway: Gateway, query: str | None, types: list[str] | None) -> SearchResult:
    given: dict[str, Any] = {"query": query, "node_types": types}
    answer = await gateway.call("search_entities", {name: value for name, value in given.items() if value is not None})
    assert isinstance(answer, SearchResult)
    return answer


@pytest.mark.parametrize(("query", "types", "complete"), _SEARCHES)
async def test_a_search_that_may_have_missed_a_blank_node_is_not_complete(
    query: str | None, types: list[str] | None, complete: bool
) -> None:
    async with over(_LARGE, _PROFILE) as gateway:
        answer = await _searched(gateway, query, types)
    assert answer.complete is complete
    assert complete or any("lank nodes" in warning for warning in answer.warnings or ())


@pytest.mark.parametrize(("query", "types", "complete"), [*_SEARCHES[1:3], *_SEARCHES[4:]])
async def test_where_there_are_no_blank_nodes_no_answer_warns_of_them(
    query: str | None, types: list[str] | None, complete: bool
) -> None:
    del complete
    async with over(_WITHOUT, _PROFILE) as gateway:
        answer = await _searched(gateway, query, types)
    assert (answer.complete, answer.warnings) == (True, None)


async def test_a_graph_that_cannot_be_asked_for_blank_nodes_may_have_some() -> None:
    async def refuse(query: str) -> None:
        if "isBlank(?n) &&" in query and "!isBlank" not in query:
            raise EndpointFault("It is not answered.")

    settings = Profile(size=ROOM, orientation=_SAMPLE)
    async with over(Watched(engine(_WITHOUT), refuse), settings) as gateway:
        answer = await _searched(gateway, "Rome", None)
    assert not answer.complete
    assert any("could not be found out" in warning for warning in answer.warnings or ())


async def test_blank_nodes_of_a_wikibase_are_unknown_values_and_nothing_is_missing() -> None:
    profile = Profile(size=ROOM, orientation=_SAMPLE, values=ValueSettings(wikibase=True))
    async with over(_LARGE, profile) as gateway:
        answer = await _searched(gateway, "Ann", None)
    assert answer.complete


async def test_no_type_or_predicate_that_only_blank_nodes_have_is_said_to_be_absent() -> None:
    async with over(_LARGE, _PROFILE) as gateway:
        schema = await gateway.describe_schema()
        along = await gateway.bfs_query(["x:ann"], 1, only_predicates=["x:subject"])
        among = await gateway.bfs_query(["x:ann"], 1, node_types=["x:Assertion"])
    assert (schema.comprehensive, schema.complete) == (False, False)
    assert (along.complete, along.blank_node_edges) == (False, 1)
    assert (among.complete, among.blank_node_edges) == (False, 2)


@pytest.fixture(scope="module", params=["oxigraph", "fuseki"])
def endpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server with the large graph and return its URL."""
    folder = tmp_path_factory.mktemp("endpoint")
    graph = _written(folder)
    try:
        if request.param == "oxigraph":
            with running_oxigraph([graph], workdir=folder) as oxigraph:
                yield oxigraph.endpoint
        else:
            with running_fuseki({"ds": [graph]}, workdir=folder) as fuseki:
                yield fuseki.endpoint("ds")
    except ServerUnavailable as error:
        skip_or_fail(error)


def _written(folder: Path) -> Path:
    graph = folder / "large.nt"
    engine(_LARGE).dump(str(graph), pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    return graph


@pytest.mark.server
@pytest.mark.parametrize(("query", "types", "complete"), _SEARCHES)
async def test_a_search_at_an_endpoint_that_may_have_missed_a_blank_node_is_not_complete(
    endpoint: str, query: str | None, types: list[str] | None, complete: bool
) -> None:
    profile = _PROFILE.model_copy(update={"endpoint": EndpointSettings(trusted=True)})
    async with open_gateway(endpoint=endpoint, profile=profile, prefixes=PREFIXES) as gateway:
        schema = await gateway.describe_schema()
        answer = await _searched(gateway, query, types)
    assert schema.basis.sampled_triples
    assert answer.complete is complete
