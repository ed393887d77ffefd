"""Values and shapes of small graphs, on every engine, are those of the triples."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gateway.graph.shapes import number_key
from gateway.settings.profile import Profile
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap
from tests.calls import asked, connected
from tests.columns import Column, declared_prefixes
from tests.graphs import read
from tests.shape_oracle import (
    Triple,
    kinds_by_value_predicate,
    nodes_by_value_predicate,
    number_range,
    shape,
    triples_of,
)

pytestmark = pytest.mark.anyio

GRAPHS = {
    "films": ("https://example.org/films/", ("Film", "Person")),
    "medical": ("https://example.org/medical/", ("Drug", "Disease", "Paper", "Protein", "Symptom")),
}
KINDS = {"number", "date", "boolean", "text", "language text"}


def facts(engine: Column, graph: str) -> tuple[list[Triple], PrefixMap, Profile]:
    """Return the triples of a graph that are no evidence, and the prefixes of its file."""
    (file,) = engine.files[graph]
    triples = triples_of(read(file))
    stating = {subject for subject, predicate, _ in triples if predicate.endswith(("#subject", "#reifies"))}
    prefixes = declared_prefixes(file)
    plain = [triple for triple in triples if triple[0] not in stating]
    return plain, PrefixMap(prefixes), Profile(prefixes=prefixes)


@pytest.mark.parametrize("graph", GRAPHS)
async def test_values_are_those_of_the_triples(engine: Column, graph: str) -> None:
    triples, prefixes, profile = facts(engine, graph)
    async with connected(engine.open(graph, profile)) as client:
        values = (await asked(client, "describe_schema"))["values"]
    expected = nodes_by_value_predicate(triples)
    found = {prefixes.expand(predicate): row for predicate, row in values.items()}
    assert {predicate: row[0] for predicate, row in found.items()} == expected
    for predicate, kinds in kinds_by_value_predicate(triples).items():
        # Tables and properties have no languages; names have none, either.
        told = {*found[predicate][1].split(", ")}
        assert told == kinds or told == {one.removeprefix("language ") for one in kinds}, predicate
        if (extremes := number_range(triples, predicate)) is not None:
            assert as_range(found[predicate][2]) == extremes, predicate


@pytest.mark.parametrize("graph", GRAPHS)
async def test_shapes_are_those_of_the_triples_and_counted(engine: Column, graph: str) -> None:
    triples, prefixes, profile = facts(engine, graph)
    namespace, names = GRAPHS[graph]
    async with connected(engine.open(graph, profile)) as client:
        shapes = (await asked(client, "describe_schema", node_types=names, all=True))["shapes"]
    assert {prefixes.expand(type_id) for type_id in shapes} == {f"{namespace}{name}" for name in names}
    for type_id, found in shapes.items():
        assert found["read"].startswith("counted: "), type_id
        check(found["predicates"], shape(triples, [prefixes.expand(type_id)]), prefixes)


def check(found: Mapping[str, Sequence[str]], expected: Mapping[str, Any], prefixes: PrefixMap) -> None:
    """Check every row of a shape."""
    by_iri = {f"{'^' * name.startswith('^')}{prefixes.expand(name.lstrip('^'))}": row for name, row in found.items()}
    assert by_iri.keys() == expected.keys()
    for name, (share, several, kinds, *texts) in by_iri.items():
        right = expected[name]
        assert share == written(right.share), name
        assert several == ("several" if right.has_several else "one"), name
        told = {*kinds.split(", ")}
        # A database has names without a language.
        assert {one for one in told if one in KINDS} <= right.kinds | {"text"}, name
        assert {prefixes.expand(one) for one in told - KINDS - {"untyped", "…"}} <= right.kinds, name
        assert texts, name


def written(share: float) -> str:
    return "100%" if share == 1 else "<1%" if share < 0.01 else f"{min(99, round(100 * share))}%"


def as_range(text: str) -> tuple[Any, Any]:
    """Return the ends of a range of numbers."""
    numbers = [number_key(Literal(part)) for part in re.split(" to ", text)]
    first, last = numbers[0], numbers[-1]
    assert first is not None
    assert last is not None
    return first[0], last[0]
