"""The schema of a database says what it lacks."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Row
from gateway.errors import QueryRefused
from gateway.graph.call import Call, Deadline
from gateway.graph.values import NamelessNodes
from gateway.settings.load import load_profile
from tests.clocks import Clock
from tests.databases.fakes import TERMS, call, store

pytestmark = pytest.mark.anyio


def _many_types(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
    match query:
        case "type_counts" | "sampled_types":
            return [[f"t{number}", 1] for number in range(min(arguments[-1], 30_000))]
        case "predicate_counts" | "sampled_predicates":
            return [["p", 7]]
    return []


@pytest.mark.parametrize("fails", [False, True])
async def test_a_schema_without_all_superclasses_is_to_be_read_again_soon(fails: bool) -> None:
    above = "http://www.w3.org/2000/01/rdf-schema#subClassOf"

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if query != "edges":
            return [["T", 2]] if query == "type_counts" else []
        if fails:
            raise QueryRefused("The database refused a query of this gateway.")
        return [["urn:x-bfsql:term:T", above, "urn:x-bfsql:term:U"]] if "urn:x-bfsql:term:T" in arguments[3] else []

    profile = load_profile("bfsql-postgres")
    types = profile.types.model_copy(update={"subclass_of": (above,)})
    schema = await store(answers, profile=profile.model_copy(update={"types": types})).schema(call())
    assert schema.exact
    assert schema.labelled is not fails
    assert bool(schema.superclasses) is not fails


async def test_labels_are_read_though_counting_took_the_time_for_a_quick_answer() -> None:
    clock = Clock()

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        match query:
            case "type_counts" | "predicate_counts":
                clock.now += 0.6
                return [["T" if query == "type_counts" else "p", 2]]
            case "hubs" | "edges":
                clock.now += 0.3
            case "nodes":
                return [[text, None, f"Name of {text[-1]}", *[None] * 4] for text in arguments[0]]
        return []

    asking = Call(Deadline.after(10, clock), 1_000, 1_000_000, 1_000_000)
    schema = await store(answers).quick_schema(asking)
    assert (schema.exact, schema.labelled) == (True, True)
    assert [term.label for term in (*schema.types, *schema.predicates)] == ["Name of T", "Name of p"]


@pytest.mark.parametrize("reading", ["quick_schema", "schema"])
async def test_more_types_than_are_listed_are_told_and_the_others_are_there(reading: str) -> None:
    schema = await getattr(store(_many_types), reading)(call())
    assert (len(schema.types), [(term.iri, term.count) for term in schema.predicates]) == (20_000, [(f"{TERMS}p", 7)])
    assert (schema.exact, schema.is_cut, schema.basis.triples) == (False, True, None)
    assert schema.reason == "the graph has more than 20,000 types or predicates"


@pytest.mark.parametrize(
    ("edges", "nameless", "asked", "found"),
    [
        (30_000, 5, [200], NamelessNodes(5, 9, exact=False)),
        (30_000, 0, [200, 200_000], NamelessNodes(0, 9, exact=True)),
        (300_000, 0, [200], NamelessNodes(0, 9, exact=False)),
        (2_000, 5, [200_000], NamelessNodes(5, 9, exact=True)),
    ],
)
async def test_the_ends_of_all_edges_are_looked_at_only_where_those_of_some_have_names(
    edges: int, nameless: int, asked: list[int], found: NamelessNodes
) -> None:
    looked_at: list[int] = []

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if query == "nameless":
            looked_at.append(arguments[3])
            return [[9, nameless]]
        return [["p", edges]] if query == "predicate_counts" else []

    database = store(answers)
    schema = await database.schema(call())
    assert await database.nameless(schema, call()) == found
    assert looked_at == asked
