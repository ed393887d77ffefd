"""The profiles of public endpoints: one hop by each, what `check` says of them, and where their facts are from."""

import tomllib
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from gateway import resources
from gateway.api import open_gateway
from gateway.check.check import check_endpoint
from gateway.check.report import Report
from gateway.errors import ConfigurationError
from gateway.settings.load import built_in, load_profile
from gateway.settings.profile import UNCHECKED, Profile
from gateway.stores.endpoints import connect
from tests.catalogue.shapes import SHAPES, prefixes_of, turtle_of
from tests.check.pretender import EX, Pretender
from tests.servers.fuseki import running_fuseki
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.transport.fake_endpoint import fake_endpoint

pytestmark = pytest.mark.anyio


def test_each_public_endpoint_but_those_of_wikidata_has_a_graph_in_its_shape() -> None:
    public = {name for name in built_in() if load_profile(name).endpoint.url}
    assert {name for name in public if not name.startswith("wikidata")} == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
async def test_one_hop_reaches_what_the_profile_calls_neighbours(name: str, tmp_path: Path) -> None:
    shape, profile = SHAPES[name], load_profile(name)
    graph = tmp_path / "graph.ttl"
    graph.write_text(turtle_of(shape, profile.prefixes), encoding="utf-8")
    async with open_gateway(graph, profile=profile) as gateway:
        found = await gateway.search_entities(shape.name)
        hop = await gateway.bfs_query([found.result[0].id], 1, topology_only=True)
        expand = gateway.prefixes.expand
    assert expand(found.result[0].id) == expand(shape.seed)
    assert {expand(node.id) for node in hop.nodes} == set(map(expand, [shape.seed, *shape.neighbours]))


_PATIENCE = 60.0
"""Seconds for one probe, as in tests/check."""

LOV_GRAPH = "https://lov.linkeddata.es/dataset/lov"


async def checked(url: str, profile: Profile) -> Report:
    http = connect(url, profile)
    try:
        return await check_endpoint(http, profile, seconds_each=_PATIENCE)
    finally:
        await http.close()


async def against(pretender: Pretender, text: str, folder: Path) -> Report:
    """Check a pretender against a profile with a text."""
    path = folder / "mine.toml"
    path.write_text(f'[prefixes]\nex = "{EX}"\nrdfs = "http://www.w3.org/2000/01/rdf-schema#"\n{text}\n')
    async with fake_endpoint(pretender) as endpoint:
        return await checked(endpoint.url, load_profile(str(path)))


def verdicts(report: Report) -> dict[str, bool | None]:
    return {check.setting: check.holds for check in report.profile}


@pytest.mark.slow
async def test_predicates_that_are_used_hold_and_one_that_is_not_is_named(tmp_path: Path) -> None:
    text = '[edges]\nalso_excepted = ["ex:q"]\n[roles]\nname = ["rdfs:label", "ex:title"]\nmentions = ["seen"]'
    report = await against(Pretender(), text, tmp_path)
    assert verdicts(report) == {"edges.also_excepted": True, "roles.name": False}
    wrong = report.profile[1]
    assert (wrong.stated, wrong.why) == ("rdfs:label, ex:title", "no triple has ex:title")
    assert report.agrees
    assert not report.holds


@pytest.mark.slow
async def test_a_profile_that_says_nothing_of_the_endpoint_has_nothing_that_could_be_wrong(tmp_path: Path) -> None:
    report = await against(Pretender(), '[hubs]\nmax_degree = 100\n[roles]\nmentions = ["seen"]\nsource = []', tmp_path)
    assert report.profile == ()
    assert report.holds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cap", "asked", "holds"), [(1_000, 900, True), (1_000, 1_000, False), (1_000, 5_000, False), (None, 5_000, True)]
)
async def test_as_many_rows_as_the_endpoint_sends_at_most_are_one_too_many(
    cap: int | None, asked: int, holds: bool, tmp_path: Path
) -> None:
    report = await against(Pretender(cap=cap), f"[limits]\nquery_rows = {asked}", tmp_path)
    assert verdicts(report) == {"limits.query_rows": holds}


@pytest.mark.slow
@pytest.mark.parametrize(("stated", "holds"), [("fuseki", True), ("virtuoso", False)])
async def test_the_engine_is_the_one_that_the_endpoint_shows(stated: str, holds: bool, tmp_path: Path) -> None:
    report = await against(Pretender({"Fuseki-Request-Id": "1"}), f'[endpoint]\nengine = "{stated}"', tmp_path)
    assert verdicts(report) == {"endpoint.engine": holds}


@pytest.mark.slow
async def test_what_the_endpoint_does_not_show_is_not_determined_and_counts_as_no_difference(tmp_path: Path) -> None:
    text = '[endpoint]\nurl = "http://127.0.0.1:1/"\nengine = "virtuoso"\n[endpoint.quota]\ntime_limit_seconds = 60'
    report = await against(Pretender(), text, tmp_path)
    undetermined = dict.fromkeys(("endpoint.url", "endpoint.engine", "endpoint.quota.time_limit_seconds"))
    assert verdicts(report) == undetermined
    assert report.holds
    assert [set(check.as_json()) for check in report.profile] == [{"stated", "not_determined"}] * 3


@pytest.mark.slow
async def test_a_query_that_fails_leaves_its_setting_undetermined(tmp_path: Path) -> None:
    text = '[edges]\nalso_excepted = ["ex:q"]\n[roles]\nname = ["rdfs:label"]'
    report = await against(Pretender(refused=(f"?s <{EX}q>",)), text, tmp_path)
    assert verdicts(report) == {"edges.also_excepted": None, "roles.name": True}


@pytest.mark.slow
async def test_of_a_long_list_some_are_looked_for(tmp_path: Path) -> None:
    used = ", ".join(["'ex:p'"] * 30)
    report = await against(Pretender(), f"[edges]\nalso_excepted = [{used}]", tmp_path)
    [check] = report.profile
    assert (check.holds, check.why) == (None, "the first 20 are there, the others were not tried")


async def against_shape(name: str, cap: int | None = None) -> dict[str, bool | None]:
    """Check a pretender with the graph in the shape of a public endpoint's against the profile of that."""
    profile, pretender = load_profile(name), Pretender(cap=cap)
    pretender.store.load(turtle_of(SHAPES[name], profile.prefixes).encode(), pyoxigraph.RdfFormat.TURTLE)
    async with fake_endpoint(pretender) as endpoint:
        return verdicts(await checked(endpoint.url, profile))


@pytest.mark.slow
async def test_the_profile_of_mesh_against_a_graph_in_its_shape_and_its_row_cap() -> None:
    assert await against_shape("mesh", cap=1_000) == {
        "endpoint.url": None,
        # The pretender takes LATERAL.
        "endpoint.lateral": False,
        "limits.query_rows": True,
        "edges.types": True,
        "roles.name": False,
        "roles.synonym": False,
        "roles.description": True,
    }


@pytest.mark.slow
async def test_the_profile_of_chembl_against_a_server_without_its_named_graph() -> None:
    assert await against_shape("chembl") == {
        "endpoint.url": None,
        "endpoint.engine": None,
        "endpoint.lateral": False,
        "endpoint.quota.time_limit_seconds": None,
        "limits.query_rows": True,
        "endpoint.graphs": False,
        "edges.types": True,
        "edges.also_excepted": True,
        "roles.name": False,
        "roles.synonym": True,
        "roles.description": False,
        "identity.same_as": False,
    }


@pytest.mark.slow
@pytest.mark.server
async def test_the_profile_of_lov_against_a_server_with_a_graph_in_its_shape(tmp_path: Path) -> None:
    profile = load_profile("lov")
    graph = tmp_path / "lov.trig"
    graph.write_text(f"{prefixes_of(profile.prefixes)}<{LOV_GRAPH}> {{ {SHAPES['lov'].turtle} }}\n", encoding="utf-8")
    try:
        with running_fuseki({"ds": [graph]}, workdir=tmp_path) as server:
            report = await checked(server.endpoint("ds"), profile)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert verdicts(report) == {
        "endpoint.url": None,
        "endpoint.engine": True,
        # LOV's own Fuseki is older than LATERAL.
        "endpoint.lateral": False,
        "limits.query_rows": True,
        "endpoint.graphs": True,
        "edges.types": True,
        "roles.name": False,
        "roles.synonym": True,
        "roles.description": False,
    }
    assert not report.holds


ABOUT_THE_GRAPH = ("endpoint", "edges", "types", "roles", "evidence", "names", "values", "search", "identity")
ABOUT_THE_ANSWERS = {"limits.query_rows", "limits.deadline_seconds"}
"""Tables and settings that state facts; the other limits are the gateway's own choice."""

PUBLIC = [name for name in built_in() if load_profile(name).endpoint.url]
DESCRIBED = [*PUBLIC, "wikidata-local"]


def stated(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the settings of a file that state a fact; an empty value states none."""
    for key, value in table.items():
        name = f"{above}{key}"
        if isinstance(value, dict) and name != "identity.formatters":
            if above or key in {*ABOUT_THE_GRAPH, "limits"}:
                yield from stated(value, f"{name}.")
        elif value not in ([], "") and (name in ABOUT_THE_ANSWERS or name.partition(".")[0] in ABOUT_THE_GRAPH):
            yield name


def written(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.folder("config") / f"{name}.toml").read_text(encoding="utf-8"))


def test_there_are_at_least_twelve_public_endpoints() -> None:
    assert len({load_profile(name).endpoint.url for name in PUBLIC}) >= 12


@pytest.mark.parametrize("name", DESCRIBED)
def test_each_fact_of_a_profile_has_its_source_in_the_same_file(name: str) -> None:
    table = written(name)
    assert set(stated(table)) == set(table["about"]["sources"])


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_source_is_that_of_a_setting(name: str) -> None:
    profile = load_profile(name)
    for setting in profile.about.sources:
        attrgetter(setting)(profile)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_url_of_an_endpoint_is_stated_somewhere(name: str) -> None:
    assert load_profile(name).about.sources["endpoint.url"] != UNCHECKED


def test_no_profile_claims_to_have_been_tried() -> None:
    assert [name for name in built_in() if load_profile(name).about.tried] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_endpoint_is_asked_with_care(name: str) -> None:
    profile = load_profile(name)
    assert profile.endpoint.requests.concurrency <= 2
    assert profile.orientation.enumeration_seconds == 0
    assert (profile.hubs.max_degree or 10_000) <= 200
    assert profile.description
    assert profile.next_steps


@pytest.mark.parametrize("name", PUBLIC)
def test_counting_the_edges_of_a_hub_stays_below_the_rows_of_an_answer(name: str) -> None:
    profile = load_profile(name)
    assert (profile.hubs.max_degree_ceiling or 0) < profile.limits.query_rows


@pytest.mark.parametrize("source", ["somewhere", "ftp://example.org/", "", "https://user:secret@example.org/"])
def test_a_source_is_a_page_or_unchecked(source: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[about.sources]\n"roles.name" = "{source}"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"'roles.name' is not `unchecked`"):
        load_profile(str(path))


def test_what_is_unchecked_can_be_read_by_a_program() -> None:
    assert "limits.query_rows" in load_profile("rhea").about.unchecked
    assert "endpoint.url" not in load_profile("rhea").about.unchecked
