"""Several linked graphs without `await`: each knows the others, all end with the block."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bfsql_gateway import AsyncGateway, SyncGateway, errors, link_graphs, load_profile, open_gateway, open_graphs
from gateway import resources
from gateway.settings.vocabulary import IdentitySettings

FIXTURES = resources.folder("fixtures")
SAME_AS = IdentitySettings(same_as=("http://www.w3.org/2002/07/owl#sameAs",))


def authors() -> AsyncGateway:
    profile = load_profile("local").model_copy(update={"identity": SAME_AS})
    return open_gateway(FIXTURES / "authors.ttl", profile=profile)


def library() -> AsyncGateway:
    return open_gateway(FIXTURES / "library.ttl")


def threads() -> int:
    return sum(thread.name == "bfsql-gateway" for thread in threading.enumerate())


def test_graphs_that_are_opened_together_know_each_other_and_end_together() -> None:
    before = threads()
    opened = {"authors": authors(), "library": library()}
    with open_graphs(opened) as graphs:
        assert threads() == before + 1
        answer = graphs["authors"].describe_entity("au:Joyce")
        assert answer.also_in == {"library": "lib:p-11"}
        assert graphs["library"].bfs_query(["lib:p-11"], 1).complete
    assert threads() == before
    with pytest.raises(errors.UsageError, match="is closed"):
        graphs["authors"].describe_schema()
    with pytest.raises(errors.UsageError, match="opened before"), open_graphs(opened):
        pass
    assert threads() == before


def test_a_file_of_graphs_is_opened_without_await_as_often_as_it_is_entered(tmp_path: Path) -> None:
    path = tmp_path / "graphs.toml"
    path.write_text(f"[graphs.library]\nabout = \"Books.\"\ngraph = '{FIXTURES / 'library.ttl'}'\n", encoding="utf-8")
    opening = open_graphs(path)
    for _ in range(2):
        with opening as graphs:
            assert graphs["library"].search_entities("Ulysses").result[0].id == "lib:b-101"


def test_one_that_cannot_be_opened_closes_those_before_it(tmp_path: Path) -> None:
    path = tmp_path / "graphs.toml"
    texts = {"library": FIXTURES / "library.ttl", "absent": tmp_path / "absent.ttl"}
    lines = [f"[graphs.{name}]\nabout = \"Books.\"\ngraph = '{file}'\n" for name, file in texts.items()]
    path.write_text("".join(lines), encoding="utf-8")
    before = threads()
    with pytest.raises(errors.ConfigurationError, match="absent"), open_graphs(path):
        pass
    assert threads() == before


def test_graphs_of_two_event_loops_cannot_be_linked_and_the_error_says_how_to_open_them() -> None:
    linking: Callable[[dict[str, SyncGateway]], None] = link_graphs  # type: ignore[assignment]
    with authors() as one, library() as other, pytest.raises(errors.UsageError, match="with open_graphs"):
        linking({"authors": one, "library": other})
