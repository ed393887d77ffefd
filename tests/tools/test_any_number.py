"""Calls for programs about any number of entities: all of them, or an answer that says which not, and why."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bfsql_gateway import open_gateway
from bfsql_gateway.errors import EndpointFault, InputError, QueryRefused
from gateway.answers.models import EntitiesResult, FullNode
from gateway.arguments import MAX_WHOLE_SEEDS
from gateway.tools.whole_entities import whole_entities

pytestmark = pytest.mark.anyio

COUNT = 1_200
LONG = "long " * 400


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file with a ring of nodes, each with two edges and a long text."""
    lines = ["@prefix x: <http://x.example/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    for number in range(COUNT):
        following = f"x:n{(number + 1) % COUNT}"
        lines.append(
            f'x:n{number} a x:T{number % 2} ; rdfs:label "node {number}" ; x:next {following} ; x:says "{LONG}" .'
        )
    path = tmp_path_factory.mktemp("ring") / "ring.ttl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def nodes(count: int, start: int = 0) -> list[str]:
    return [f"x:n{number}" for number in range(start, start + count)]


async def test_a_description_of_1_000_entities_has_them_all_in_order_with_whole_texts(ring: str) -> None:
    told: list[tuple[int, int]] = []
    async with open_gateway(ring) as graph:
        answer = await graph.describe_entities(
            [*nodes(999), "x:absent"], progress=lambda done, total, _: told.append((done, total))
        )
        sized = await graph.describe_entities(nodes(200), max_tokens=2000)
    assert [entity.id for entity in answer.result] == nodes(999)
    assert (answer.complete, answer.not_found, answer.remaining_ids, answer.degraded) == (
        True,
        ["x:absent"],
        None,
        None,
    )
    assert all(LONG.strip() in str(entity.metadata) for entity in answer.result)
    assert told == [(done, 1_000) for done in range(200, 1_001, 200)]
    assert len(sized.result) + len(sized.remaining_ids or ()) == 200
    assert sized.remaining_ids


async def test_one_entity_by_two_names_is_described_once(ring: str) -> None:
    async with open_gateway(ring) as graph:
        answer = await graph.describe_entities([*nodes(300), *(f"http://x.example/n{number}" for number in range(300))])
    assert [entity.id for entity in answer.result] == nodes(300)


async def test_what_several_calls_cost_is_refused_with_what_to_do(ring: str) -> None:
    async with open_gateway(ring) as graph:
        with pytest.raises(InputError, match="on_record"):
            await graph.describe_entities(nodes(201), explain=True)
        assert (await graph.describe_entities(nodes(2), explain=True)).explain is not None


async def test_a_batch_that_fails_is_listed_with_the_reason_and_the_others_are_there() -> None:
    async def ask(given: object) -> EntitiesResult:
        assert isinstance(given, dict)
        ids: Sequence[str] = given["ids"]
        if "x:n250" in ids:
            raise EndpointFault("The endpoint was away.")
        return EntitiesResult(result=[], complete=True, not_found=[ids[0]])

    async def no_report(*_: object) -> None:
        pass

    answer = await whole_entities(ask, nodes(600), {}, no_report, bool)
    assert (answer.complete, answer.failed) == (False, nodes(200, 200))
    assert answer.warnings == ["The endpoint was away."]
    assert answer.not_found == ["x:n0", "x:n400"]


@pytest.mark.slow
async def test_many_names_that_nobody_has_hide_no_entity_after_them(ring: str) -> None:
    names = [f"no such name {number}" for number in range(45)]
    async with open_gateway(ring) as graph:
        answer = await graph.describe_entities(["x:n0", *names, "x:n1"])
        every = await graph.describe_entities(["x:n0", *names, "x:n1", "x:n0", "", "x" * 9_000, "node 7", "x:n9"])
    assert [entity.id for entity in answer.result] == ["x:n0", "x:n1"]
    assert (answer.complete, answer.not_found, answer.failed) == (True, names, None)
    assert [entity.id for entity in every.result] == ["x:n0", "x:n1", "x:n7", "x:n9"]
    assert (every.complete, every.not_found, every.failed) == (True, [*names, "", "x" * 9_000], None)
    places = [int(place) for text in every.warnings or () for place in re.findall(r"^\D*ids\[([0-9]+)\]", text)]
    assert {1, 20, 39, 48, 49} <= set(places)
    told = [text for text in every.warnings or () if "no such name" in text and text.startswith("ids[")]
    assert told
    assert all(repr(names[int(text[4 : text.index("]")]) - 1]) in text for text in told)


async def test_a_name_of_several_is_not_said_to_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "two.ttl"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    path.write_text(
        f"@prefix x: <http://x.example/> . x:a {label} 'one' . x:b {label} 'one' . x:c {label} 'two' .",
        encoding="utf-8",
    )
    async with open_gateway(path) as graph:
        for ids in (["two", "one", "three"], [*(f"x:absent{place}" for place in range(250)), "two", "one", "three"]):
            answer = await graph.describe_entities(ids)
            assert [entity.id for entity in answer.result] == ["x:c"]
            assert (answer.complete, answer.failed, answer.not_found[-1]) == (False, ["one"], "three")
            assert any(text.startswith(f"ids[{ids.index('one')}]: ") for text in answer.warnings or ())
        with pytest.raises(InputError, match=r"one.*three"):
            await graph.describe_entities(["one", "three"])


async def test_ids_come_from_anything_that_gives_texts_each_counted_once(ring: str) -> None:
    async with open_gateway(ring) as graph:
        for ids in (iter(nodes(201)), (name for name in nodes(201)), map(str, nodes(201)), dict.fromkeys(nodes(201))):
            assert len((await graph.describe_entities(ids)).result) == 201
        assert len((await graph.describe_entities(["x:n1"] * 300)).result) == 1
        assert len((await graph.describe_entities(iter(nodes(3)), max_tokens=2_000)).result) == 3
        wrong: Any
        for wrong in (None, 5, [*nodes(200), 5], [*nodes(2), None]):
            with pytest.raises(InputError, match=r"^ids.* is no (text|list of texts)\."):
                await graph.describe_entities(wrong)


async def test_an_id_whose_query_is_refused_stands_alone_in_what_failed() -> None:
    asked: list[int] = []

    async def ask(given: Mapping[str, Any]) -> EntitiesResult:
        ids: Sequence[str] = given["ids"]
        asked.append(len(ids))
        if "x:n250" in ids or any("x:all" in text for text in ids):
            raise QueryRefused("The endpoint refuses this query.")
        return EntitiesResult(
            result=[FullNode(id=text, entity_type="T", metadata={}) for text in ids], complete=True, not_found=[]
        )

    async def no_report(*_: object) -> None:
        pass

    answer = await whole_entities(ask, nodes(600), {}, no_report, bool)
    assert (answer.complete, answer.failed) == (False, ["x:n250"])
    assert answer.warnings == ["The endpoint refuses this query."]
    assert [entity.id for entity in answer.result] == [name for name in nodes(600) if name != "x:n250"]
    assert len(asked) < 3 + 2 * 8 + 1
    asked.clear()
    everything = [f"x:all{place}" for place in range(1_000)]
    answer = await whole_entities(ask, ["x:n1", *everything], {}, no_report, bool)
    assert answer.failed == everything
    assert len(asked) <= 6 + 2 * 100


async def test_another_argument_that_is_wrong_is_told_by_the_first_call(ring: str) -> None:
    calls: list[object] = []
    async with open_gateway(ring, on_record=calls.append) as graph:
        with pytest.raises(InputError, match="language is 'no tag!'"):
            await graph.describe_entities(nodes(1_000), language="no tag!")
    assert len(calls) == 1


async def test_one_text_is_one_entity_as_in_every_call(ring: str) -> None:
    async with open_gateway(ring) as graph:
        assert [entity.id for entity in (await graph.describe_entities("x:n7")).result] == ["x:n7"]
        with pytest.raises(InputError, match="ids"):
            await graph.describe_entities([])


async def test_if_no_batch_is_answered_it_is_an_error() -> None:
    async def ask(_: object) -> EntitiesResult:
        raise EndpointFault("The endpoint was away.")

    async def no_report(*_: object) -> None:
        pass

    with pytest.raises(EndpointFault, match="was away"):
        await whole_entities(ask, nodes(600), {}, no_report, bool)


async def test_a_subgraph_begins_at_any_number_of_seeds(ring: str) -> None:
    async with open_gateway(ring) as graph:
        whole = await graph.bfs_subgraph(nodes(1_000), 1)
        near = await graph.intersection_subgraph(nodes(60), 5)
        with pytest.raises(InputError, match="seeds"):
            await graph.bfs_query(nodes(1_000), 1)
        with pytest.raises(InputError, match="seeds"):
            await graph.bfs_subgraph(nodes(MAX_WHOLE_SEEDS + 1), 1)
    assert (len(whole.nodes), len(whole.edges), whole.complete) == (1_002, 1_001, True)
    assert (len(near.nodes), near.complete) == (0, True)


async def test_every_page_of_a_list_comes_by_iteration(ring: str) -> None:
    async with open_gateway(ring) as graph:
        listed = [hit.id async for page in graph.search_pages(node_types=["x:T1"]) for hit in page.result]
        rows = [
            row async for page in graph.search_pages(node_types=["x:T1"], values=["name"]) for row in page.rows or ()
        ]
        by_name = [page async for page in graph.search_pages("node 17")]
        few = [page async for page in graph.search_pages(node_types=["x:T1"], limit=50)]
    assert sorted(listed) == sorted(nodes(COUNT)[1::2])
    assert len(rows) == COUNT // 2
    assert by_name[0].result[0].id == "x:n17"
    assert len(by_name) == 1
    assert [len(page.result) for page in few] == [50] * (COUNT // 2 // 50)
