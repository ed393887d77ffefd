"""The schema of a database says what it lacks."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Row
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from tests.databases.fakes import TERMS, store

pytestmark = pytest.mark.anyio


def _many_types(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
    match query:
        case "type_counts" | "sampled_types":
            return [[f"t{number}", 1] for number in range(min(arguments[-1], 30_000))]
        case "predicate_counts" | "sampled_predicates":
            return [["p", 7]]
    return []


@pytest.mark.parametrize("reading", ["quick_schema", "schema"])
async def test_more_types_than_are_listed_are_told_and_the_others_are_there(reading: str) -> None:
    call = Call(Deadline.after(60), 1_000, 1_000_000, 1_000_000)
    schema = await getattr(store(_many_types), reading)(call)
    assert (len(schema.types), [(term.iri, term.count) for term in schema.predicates]) == (20_000, [(f"{TERMS}p", 7)])
    assert (schema.exact, schema.is_cut, schema.basis.triples) == (False, True, None)
    assert schema.reason == "the graph has more than 20,000 types or predicates"
