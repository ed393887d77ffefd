"""What the rows of a hop must have, which are read by hand and not by columns."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.values import Edge, Neighbourhood
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.sparql.table import UnexpectedRows

NODE = "urn:node"
IRI = {"type": "uri", "value": NODE}
OTHER = {"type": "uri", "value": "urn:other"}
BLANK = {"type": "bnode", "value": "b0"}
TEXT = {"type": "literal", "value": "a text"}
PLAIN = Profile.model_validate({"endpoint": {"lateral": False}, "edges": {"evidence_nodes": False}})


class OneRow:
    """A transport whose every answer has one row."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    async def select(self, _query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Return the row."""
        return json.dumps({"head": {"vars": [*"spo"]}, "results": {"bindings": [self._row]}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


def around(row: Mapping[str, Any]) -> Neighbourhood:
    async def ask() -> Neighbourhood:
        store = SparqlStore(OneRow(row), PLAIN)
        return (await store.edges([NODE], Call(Deadline.after(60), 100, 1_000, 1_000)))[NODE]

    return asyncio.run(ask())


def test_a_row_of_three_iris_is_an_edge() -> None:
    assert around({"s": IRI, "p": OTHER, "o": OTHER}) == Neighbourhood((Edge(NODE, "urn:other", "urn:other"),))


@pytest.mark.parametrize("row", [{"s": IRI, "p": OTHER, "o": BLANK}, {"s": BLANK, "p": OTHER, "o": IRI}])
def test_a_blank_node_at_an_end_is_counted(row: Mapping[str, Any]) -> None:
    assert around(row) == Neighbourhood((), blank_edges=1)


@pytest.mark.parametrize("missing", ["s", "p", "o"])
def test_a_row_that_lacks_a_term_is_a_fault(missing: str) -> None:
    answer = around({variable: IRI for variable in "spo" if variable != missing})
    assert isinstance(answer.mark.fault, UnexpectedRows)


@pytest.mark.parametrize("bound", [BLANK, TEXT], ids=["blank", "literal"])
def test_a_predicate_is_an_iri(bound: Mapping[str, str]) -> None:
    assert isinstance(around({"s": IRI, "p": bound, "o": IRI}).mark.fault, UnexpectedRows)


def test_a_row_about_another_node_is_a_fault() -> None:
    assert isinstance(around({"s": OTHER, "p": OTHER, "o": OTHER}).mark.fault, UnexpectedRows)
