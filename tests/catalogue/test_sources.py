"""The profiles of public endpoints: where each of their facts is from, and which are unchecked."""

import tomllib
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from gateway import resources
from gateway.errors import ConfigurationError
from gateway.settings.load import built_in, load_profile
from gateway.settings.profile import UNCHECKED

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
