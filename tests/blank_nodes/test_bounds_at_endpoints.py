"""Blank nodes of endpoints at their bounds: an answer about them is right, or says that it is not complete."""

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pyoxigraph
import pytest

from gateway.settings.endpoint import EngineName
from gateway.settings.vocabulary import NodeSettings
from gateway.tools.gateway import Gateway
from tests.blank_nodes.judge import Judge, room
from tests.blank_nodes.oracle import expected_of, read_file
from tests.blank_nodes.small_endpoint import PREFIXES, answers, served
from tests.harness.report import Report, Verdict
from tests.harness.stores import store_with
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

WAYS: Final[Sequence[EngineName]] = ("oxigraph", "blazegraph")
"""By keys, and by walks."""

_LOOPS: Final = """
x:a x:p _:one . _:one x:next _:two . _:two x:next _:one ; x:size 2 .
x:b x:p _:self . _:self x:next _:self ; x:size 1 .
x:c x:p _:first . _:first x:next _:second . _:second x:next _:third . _:third x:next _:first ; x:last x:a .
"""

_NEST: Final = "x:a x:p " + "".join(f"[ x:depth {depth} ; x:in " for depth in range(10)) + "x:b" + " ]" * 10 + " ."

_SIBLINGS: Final = """
x:a x:p [ x:q [ x:q [ x:q [ x:size 1 ] ] ] ] , [ x:q [ x:q [ x:q [ x:size 2 ] ] ] ] .
x:b x:p [ x:q [ x:q [ x:with x:c ] ] ] , [ x:q [ x:q [ x:with x:d ] ] ] .
"""

GRAPHS: Final = {"loops": _LOOPS, "a nest of ten": _NEST, "siblings that differ three levels down": _SIBLINGS}


@pytest.mark.anyio
@pytest.mark.parametrize("engine", WAYS)
@pytest.mark.parametrize("graph", GRAPHS)
async def test_an_answer_is_right_or_not_complete(graph: str, engine: EngineName, tmp_path: Path) -> None:
    file, report = tmp_path / "graph.ttl", Report()
    file.write_text(PREFIXES + GRAPHS[graph], encoding="utf-8")
    async with served(GRAPHS[graph], engine=engine, renames=engine == "blazegraph") as (gateway, _):
        await gateway.wait_until_ready()
        judge = Judge(gateway, expected_of(read_file(file)), report, graph)
        await judge.learn()
        await judge.ask(random.Random(graph), 12)  # noqa: S311 - not for security
    wrong = [one for one in report.findings if one["verdict"] not in {"marked", "untrue"}]
    # What a graph is as a whole is no answer that says whether it is complete.
    assert [one for one in wrong if one["question"] != "hop by hop"] == []
    if engine == "oxigraph":
        assert report.findings == []
        assert report.count(Verdict.MARKED) == 0


def _rebuilt(store: pyoxigraph.Store, label: Callable[[str], str]) -> None:
    """Build a store anew with the same triples, of which each blank node has a label by that of before."""

    def renamed(term: Any) -> Any:
        return pyoxigraph.BlankNode(label(term.value)) if isinstance(term, pyoxigraph.BlankNode) else term

    quads = [pyoxigraph.Quad(renamed(q.subject), q.predicate, renamed(q.object)) for q in store]
    store.clear()
    store.extend(quads)


_READINGS: Final = "".join(f'x:a x:p [ x:size {size} ; rdfs:label "reading {size}" ] . ' for size in range(40))


async def _page(gateway: Gateway, offset: int = 0) -> dict[str, Any]:
    asked = {"seeds": ["x:a"], "max_hops": 1, "limit": 15, "offset": offset}
    return dict((await gateway.call("bfs_query", asked, shape="reference")).as_json())


def _sizes(answer: dict[str, Any]) -> list[int]:
    """Return what the blank nodes of a page say; those that a page says it could not read say nothing."""
    return [node["metadata"]["x:size"] for node in answer["nodes"] if "x:size" in node.get("metadata", {})]


@pytest.mark.anyio
@pytest.mark.parametrize("forgets", [False, True])
async def test_pages_around_a_restart_that_gives_new_labels_have_each_node_once_or_say_that_it_changed(
    *, forgets: bool
) -> None:
    async with served(_READINGS) as (gateway, store):
        pages = [await _page(gateway)]
        _rebuilt(store, lambda label: f"{label}f")
        if forgets:
            gateway.forget()
        while "next_offset" in pages[-1]:
            pages.append(await _page(gateway, pages[-1]["next_offset"]))
    told = any("degraded" in page or "incomplete" in page for page in pages)
    are_of_one = len({page["snapshot"] for page in pages}) == 1
    assert len(pages) == 3
    assert told or not are_of_one or sorted(size for page in pages for size in _sizes(page)) == list(range(40))


@pytest.mark.anyio
async def test_the_ids_of_before_are_missing_in_a_store_that_has_other_content_under_their_labels() -> None:
    async with served(_READINGS) as (gateway, store):
        ids = [node.id for node in (await gateway.bfs_subgraph(["x:a"], 1)).nodes if node.id.startswith("_:")]
        assert len(ids) == 40
        labels = sorted({quad.subject.value for quad in store if isinstance(quad.subject, pyoxigraph.BlankNode)})
        others = dict(zip(labels, [*labels[1:], labels[0]], strict=True))
        _rebuilt(store, others.__getitem__)
        gateway.forget()
        answer = (await gateway.call("bfs_query", {"seeds": ["x:a", *ids], "max_hops": 1}, shape="reference")).as_json()
        assert sorted(answer["missing_seeds"]) == sorted(ids)


_MANY: Final = 100_000


async def _asked_of_many(gateway: Gateway) -> list[dict[str, Any]]:
    """Return a traversal, a description and a search; in the place of one that cannot be given, its error."""
    questions: Sequence[tuple[str, dict[str, Any]]] = (
        ("bfs_query", {"seeds": ["<http://e.org/a>"], "max_hops": 1}),
        ("describe_entity", {"id": "<http://e.org/a>"}),
        ("search_entities", {"query": f"reading {_MANY - 1}"}),
    )
    async with gateway:
        await gateway.wait_until_ready()
        return await answers(gateway, questions)


@pytest.mark.server
@pytest.mark.large
@pytest.mark.parametrize("engine", ["oxigraph", "fuseki"])
def test_answers_about_an_anchor_of_a_hundred_thousand_blank_nodes_are_right_or_not_complete(
    engine: Any, tmp_path: Path
) -> None:
    file = tmp_path / "many.nt"
    with file.open("w", encoding="ascii") as lines:
        for number in range(_MANY):
            lines.write(f"<http://e.org/a> <http://e.org/p> _:n{number} .\n")
            lines.write(f'_:n{number} <http://www.w3.org/2000/01/rdf-schema#label> "reading {number}" .\n')
    profile = room().model_copy(update={"nodes": NodeSettings(blank="on")})
    try:
        with store_with(engine, tmp_path, {"many": [file]}) as column:
            found = asyncio.run(_asked_of_many(column.open("many", profile)))
    except ServerUnavailable as error:
        skip_or_fail(error)
    traversal, described, last = found
    assert "error" in traversal or not traversal["complete"] or traversal["node_count"] == _MANY + 1
    rows = described.get("edges", {}).values()
    assert "error" in described or not described["complete"] or _MANY in [row[0] for row in rows]
    assert "error" in last or not last["complete"] or last["results"][0]["name"] == f"reading {_MANY - 1}"
