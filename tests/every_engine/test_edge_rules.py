"""Whatever a profile says is an edge, is one, on every engine; the naive oracle knows the same rule."""

import pytest

from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings
from gateway.terms.iri import RDF_TYPE
from tests.columns import Column
from tests.oracle import EdgeRule, OracleGraph, bfs

pytestmark = pytest.mark.anyio

FILMS = "https://example.org/films/"
SEED = f"{FILMS}film/Alien"
RULES = {
    "nothing is excepted": (EdgeSettings(types=(), excepted=()), EdgeRule(frozenset(), frozenset())),
    "types are edges": (
        EdgeSettings(types=(f"{FILMS}wrote",), excepted=()),
        EdgeRule(frozenset({f"{FILMS}wrote"}), frozenset()),
    ),
    "a namespace, all of whose predicates are edges": (
        EdgeSettings(allowed=(FILMS,)),
        EdgeRule(frozenset({RDF_TYPE}), allowed_namespaces=(FILMS,)),
    ),
    "a namespace, without some of its predicates": (
        EdgeSettings(allowed=(FILMS,), types=(RDF_TYPE, f"{FILMS}wrote")),
        EdgeRule(frozenset({RDF_TYPE, f"{FILMS}wrote"}), allowed_namespaces=(FILMS,)),
    ),
}


@pytest.mark.parametrize("name", RULES)
async def test_the_edges_are_those_that_the_profile_says(engine: Column, name: str) -> None:
    edges, rule = RULES[name]
    expected = bfs(OracleGraph.from_files(engine.files["films"], rule), [SEED], 2)
    profile = Profile(edges=edges, size=SizeSettings(max_tokens=1_000_000, ceiling_tokens=1_000_000))
    async with engine.open("films", profile) as gateway:
        answer = await gateway.bfs_query([SEED], 2)
        schema = await gateway.describe_schema()
        whole = gateway.prefixes.expand
    found = {(whole(edge.subject), whole(edge.predicate), whole(edge.object)) for edge in answer.edges}
    assert found == expected.edges
    assert {edge.predicate for edge in answer.edges} <= set(schema.predicates)
    assert answer.complete
