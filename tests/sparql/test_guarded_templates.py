"""Every triple pattern that is asked under a policy has its conditions, in its own group."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest
from pyparsing import ParseResults
from rdflib import URIRef
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from gateway.errors import QueryRefused
from gateway.settings.endpoint import EngineName
from gateway.settings.hidden import Policy
from gateway.sparql import template
from gateway.sparql.engines import TRAITS
from gateway.sparql.markup import TriplePattern
from gateway.sparql.rule import EndpointPolicy
from tests.examples import are_all_tried

pytestmark = pytest.mark.anyio

NAMES = template.names()
GUARDED = "urn:guarded"

OF_EVIDENCE = ("markers", "associations", "singletons", "unmarked", "unassociated")
"""Parameters that are empty under a policy, because evidence is not read."""

POLICY = Policy(
    types=("urn:Secret",),
    predicates=("urn:secret",),
    graphs=(),
    literals=("urn:pay",),
    type_predicates=("urn:type",),
    subclass_predicates=("urn:below",),
)


def marked(pattern: TriplePattern) -> str:
    """Return triples that stand for the conditions of a pattern, so that a parser sees their group."""
    subject, predicate, value = pattern
    return f"{subject} <{GUARDED}> {predicate}, {value} .\n"


def renderings(name: str) -> Iterator[str]:
    """Yield a template with marks and without evidence, with and without each other part that it may leave out.

    All ways of doing so are tried; by the profile `quick`, as many as have every two parts in and out together.
    """
    text = template.load(name)
    samples = {key: () if key in OF_EVIDENCE else value for key, value in text.samples().items()}
    optional = [key for key in text.repeated if key not in OF_EVIDENCE]
    ways = list(product((False, True), repeat=len(optional)))
    for left_out in ways if are_all_tried() else with_every_pair(ways):
        without = {key: () for key, is_out in zip(optional, left_out, strict=True) if is_out}
        # rdflib does not know LATERAL.
        yield text.render({**samples, **without}, marked).replace("LATERAL {", "{")


def with_every_pair(ways: Sequence[tuple[bool, ...]]) -> Iterator[tuple[bool, ...]]:
    """Yield few ways, so that two parts of which some way has the one and not the other are so in one of them."""
    pairs = {way: frozenset(combinations(enumerate(way), min(2, len(way)))) for way in ways}
    unseen = frozenset[tuple[tuple[int, bool], ...]]().union(*pairs.values())
    while True:
        best = max(ways, key=lambda way: len(pairs[way] & unseen))
        yield best
        unseen -= pairs[best]
        if not unseen:
            return


def guarded(triples: Sequence[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Return the triple patterns whose marks are among these triples: two marks each, one after the other."""
    marks = [triple for triple in triples if triple[1] == f"<{GUARDED}>"]
    pairs = zip(marks[::2], marks[1::2], strict=True)
    return {(subject, predicate, value) for (subject, _, predicate), (_, _, value) in pairs}


def groups(parsed: Any) -> Iterator[list[tuple[str, str, str]]]:
    """Yield the triple patterns of every group of a query."""
    if isinstance(parsed, CompValue):
        parts = parsed.get("part") if parsed.name == "GroupGraphPatternSub" else None
        if parts is not None:
            blocks = [part for part in parts if isinstance(part, CompValue) and part.name == "TriplesBlock"]
            yield [triple for block in blocks for flat in block.triples for triple in in_threes(flat)]
        for value in parsed.values():
            yield from groups(value)
    elif isinstance(parsed, list | ParseResults):
        for value in parsed:
            yield from groups(value)


def in_threes(flat: Any) -> Iterator[tuple[str, str, str]]:
    terms = [term_of(term) for term in flat]
    for at in range(0, len(terms), 3):
        yield terms[at], terms[at + 1], terms[at + 2]


def term_of(term: Any) -> str:
    """Return a term, or the predicate that a path of one step is."""
    while isinstance(term, CompValue):
        parts = [term.part] if isinstance(term.part, URIRef) else term.part
        assert len(parts) == 1, "a path may lead through what is hidden"
        term = parts[0]
    return str(term.n3())


def asked_patterns(query: str) -> tuple[int, list[tuple[str, str, str]]]:
    """Return how many triple patterns a query has, and those without their conditions in their own group."""
    found = list(groups(parseQuery(query)))
    patterns = [(triples, triple) for triples in found for triple in triples if triple[1] != f"<{GUARDED}>"]
    return len(patterns), [triple for triples, triple in patterns if triple not in guarded(triples)]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if template.load(name).may_be_guarded])
def test_every_triple_pattern_that_is_asked_under_a_policy_has_its_conditions_in_its_group(name: str) -> None:
    reads = template.load(name).reads
    if reads == "hidden":
        return
    counts = []
    for query in dict.fromkeys(renderings(name)):
        count, bare = asked_patterns(query)
        assert not bare
        counts.append(count)
    assert (counts[0] > 0) == (reads == "graph")
    assert not any(counts) or reads == "graph"


@pytest.mark.parametrize(
    "bare",
    [
        "?s ?p ?o",
        f"?s ?p ?o . ?s <{GUARDED}> ?p, ?other",
        f"?s ?p ?o . FILTER EXISTS {{ ?s <{GUARDED}> ?p, ?o }}",
        f"?s <{GUARDED}> ?p, ?o . OPTIONAL {{ ?s ?p ?o }}",
        f"?s ?p ?a . ?s <{GUARDED}> ?p, ?o . ?a <{GUARDED}> ?q, ?a",
    ],
)
def test_conditions_of_another_pattern_or_in_another_group_are_none(bare: str) -> None:
    assert len(asked_patterns(f"SELECT * WHERE {{ {bare} }}")[1]) == 1


def policy() -> EndpointPolicy:
    return EndpointPolicy(POLICY, lambda: 0.0)


async def no_wikibase() -> bool:
    return False


async def test_what_has_no_place_for_conditions_is_not_asked() -> None:
    left = [name for name in NAMES if not template.load(name).may_be_guarded]
    assert {name.partition("/")[0] for name in left} == {
        *("blank_nodes", "check", "evidence", "schema", "search", "wikibase")
    }
    for name in left:
        with pytest.raises(QueryRefused, match="A part of this graph is hidden"):
            await policy().check(template.load(name), "oxigraph", no_wikibase)


@pytest.mark.parametrize("engine", [engine for engine in TRAITS if engine not in {"oxigraph", "fuseki"}])
async def test_an_engine_of_which_it_was_not_shown_is_asked_nothing_of_the_graph(engine: EngineName) -> None:
    with pytest.raises(QueryRefused, match="Tests have shown it of Apache Jena Fuseki and Oxigraph"):
        await policy().check(template.load("edges"), engine, no_wikibase)
    await policy().check(template.load("alive"), engine, no_wikibase)


async def test_nothing_is_asked_of_a_wikibase_and_that_is_looked_at_again() -> None:
    now, asked = 0.0, 0

    async def has_wikibase() -> bool:
        nonlocal asked
        asked += 1
        return asked == 2

    checked = EndpointPolicy(POLICY, lambda: now)
    for _ in range(2):
        await checked.check(template.load("edges"), "oxigraph", has_wikibase)
    assert asked == 1
    now = 301.0
    with pytest.raises(QueryRefused, match="of a Wikibase"):
        await checked.check(template.load("edges"), "oxigraph", has_wikibase)


def test_without_a_policy_no_query_says_a_word_of_one() -> None:
    assert not [name for name in NAMES if "hidden" in template.load(name).sample()]
    assert not [name for name in NAMES if "#visible" in template.load(name).sample()]
