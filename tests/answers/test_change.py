"""What changes, or fails and recovers, between two calls is told, and never remembered as an absence."""

import json
from collections.abc import Mapping, Sequence

import pyoxigraph
import pytest

from gateway.errors import EndpointFault, InputError
from gateway.graph.call import Deadline, Spend, unpaid
from tests.small import PREFIXES, Watched, engine, ids, over

pytestmark = pytest.mark.anyio

CITY = (
    b"<https://example.org/x/c> a <https://example.org/x/City> ; <https://example.org/x/in> <https://example.org/x/b> ."
)


class Switch:
    """A hook that fails the queries with a given text while it is on."""

    def __init__(self, text: str, *, on: bool) -> None:
        self.text = text
        self.on = on

    async def __call__(self, query: str) -> None:
        """Fail a query, or let it pass."""
        if self.on and self.text in query:
            raise EndpointFault("The endpoint failed.")


async def test_a_page_whose_mentions_could_not_be_fetched_does_not_fit_to_one_whose_could() -> None:
    graph = engine("x:a x:p x:b, x:c, x:d . x:b x:mentions 1 . x:c x:mentions 9 . x:d x:mentions 1 .")
    switch = Switch("mentions", on=True)
    async with over(Watched(graph, switch)) as gateway:
        first = await gateway.bfs_query(["x:a"], 1, min_mentions=5, limit=2)
        switch.on = False
        second = await gateway.bfs_query(
            ["x:a"], 1, min_mentions=5, limit=2, offset=first.next_offset or 0, snapshot=first.snapshot
        )
        again = await gateway.bfs_query(["x:a"], 1, min_mentions=5)
    assert "could not all be fetched" in " ".join(first.warnings or ())
    assert second.result_changed is True
    assert ids(again) == ["x:a", "x:c"]


async def test_a_label_that_could_not_be_fetched_does_not_make_a_filter_unknown() -> None:
    graph = engine("x:a a x:Q5 ; x:p x:b . x:Q5 rdfs:label 'human' .")
    # The labels of the schema, and not the names of hits: a question about the type itself.
    switch = Switch("<https://example.org/x/Q5>", on=True)
    now = 0.0
    async with over(Watched(graph, switch), clock=lambda: now) as gateway:
        unsure = await gateway.bfs_query(["x:a"], 1, node_types=["human"])
        switch.on = False
        now = 61.0
        sure = await gateway.bfs_query(["x:a"], 1, node_types=["human"])
    assert "'human'" in " ".join(unsure.warnings or ())
    assert sure.nodes[0].metadata is not None
    assert sure.warnings is None


async def test_a_type_that_came_into_the_graph_later_is_a_filter_after_a_minute() -> None:
    graph = engine("x:a a x:Town ; x:in x:b .")
    now = 0.0
    async with over(graph, clock=lambda: now) as gateway:
        await gateway.describe_schema()
        graph.load(CITY, pyoxigraph.RdfFormat.TURTLE)
        now = 61.0
        answer = await gateway.bfs_query(["x:b"], 1, node_types=["City"])
    assert [node.id for node in answer.nodes if node.metadata is not None] == ["x:c"]


async def test_describe_schema_answers_as_soon_as_the_endpoint_does() -> None:
    switch = Switch("COUNT", on=True)
    async with over(Watched(engine("x:a a x:T ; x:p x:b ."), switch)) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.describe_schema()
        switch.on = False
        assert (await gateway.describe_schema()).entity_types == ["x:T"]


class Saying:
    """An endpoint that answers everything with the same rows."""

    def __init__(self, variables: list[str], rows: Sequence[Mapping[str, object]], **more: object) -> None:
        self._body = json.dumps({"head": {"vars": variables}, "results": {"bindings": rows}, **more}).encode()

    async def select(self, _query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer."""
        return self._body

    async def close(self) -> None:
        """Let go of nothing."""


FOREIGN = {"x": {"type": "literal", "value": "1"}}
ALL = ["s", "p", "o", "n", "v", "t", "k", "r", "b", "q", "w", "kind", "count", "x"]


@pytest.mark.parametrize("endpoint", [Saying(["x"], []), Saying(["x"], [FOREIGN]), Saying(ALL, [FOREIGN])])
async def test_an_answer_to_another_question_is_no_schema_and_no_absence(endpoint: Saying) -> None:
    async with over(endpoint) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.describe_schema()
        with pytest.raises(EndpointFault):
            await gateway.describe_entity("x:a")
        with pytest.raises(EndpointFault):
            await gateway.bfs_query(["x:a"], 1)


async def test_an_engine_that_says_that_there_are_more_rows_is_believed() -> None:
    edge = {name: {"type": "uri", "value": PREFIXES["x"] + value} for name, value in zip("spo", "apb", strict=True)}
    async with over(Saying(ALL, [edge], meta={"result-size-total": 5})) as gateway:
        with pytest.raises(EndpointFault, match="only a part"):
            await gateway.bfs_query(["x:a"], 1)


async def test_a_filter_that_no_graph_ever_had_is_still_an_error() -> None:
    async with over("x:a a x:T ; x:p x:b .") as gateway:
        with pytest.raises(InputError, match="'Tee'"):
            await gateway.bfs_query(["x:a"], 1, node_types=["Tee"])
