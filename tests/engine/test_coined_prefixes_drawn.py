"""Drawn graphs in odd namespaces, asked with and without coined prefixes: the same answers in other words."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway import expand
from gateway.engine.gateway import Gateway
from gateway.errors import InputError
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.sparql_store import SparqlStore
from gateway.terms.coined_prefixes import CoinedPrefixes, looks_coined, namespace_of
from gateway.terms.prefixes import PrefixMap
from gateway.transport.inprocess import InProcess
from tests.engine.small import ROOM
from tests.examples import examples

NAMESPACES = (
    "http://data.example.org/resources/",
    "http://data.example.org/resources/deeper/",
    "http://data.example.org/vocabulary#",
    "http://data.example.org/2024/11/22/",
    "http://data.example.org/r\u00e9sum\u00e9s-and-more/",
    "https://\u4f8b\u3048.example.org/\u540d\u524d/",
    "http://data.example.org/a%20b(c)/",
    "urn:example:a-long-namespace:",
    "http://e.org/",
)
LOCAL_NAMES = ("a", "b", "", "c:d", "1", "_x", "?q=1", "(y)", "%20", "\u00fc", "^p", "Drug_abc:x")
IRIS = st.builds(
    lambda namespace, local: namespace + local.replace("^", "%5E"), *map(st.sampled_from, (NAMESPACES, LOCAL_NAMES))
)
PREDICATES = st.builds(
    lambda namespace, local: namespace + local, st.sampled_from(NAMESPACES), st.sampled_from(["p", "q"])
)
TRIPLES = st.lists(st.tuples(IRIS, PREDICATES, IRIS), min_size=1, max_size=40)
TYPES = st.dictionaries(IRIS, IRIS, max_size=8)
LABEL = pyoxigraph.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
TYPE = pyoxigraph.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

thorough = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def opened(
    triples: Sequence[tuple[str, str, str]], types: Mapping[str, str], *, coins: bool, size: SizeSettings
) -> Gateway:
    """Open a gateway over a graph whose literals and properties have the same namespaces."""
    store = pyoxigraph.Store()
    node = pyoxigraph.NamedNode
    for subject, predicate, target in triples:
        store.add(pyoxigraph.Quad(node(subject), node(predicate), node(target)))
        store.add(pyoxigraph.Quad(node(subject), node(f"{predicate}note"), pyoxigraph.Literal(f"see {target}")))
        store.add(pyoxigraph.Quad(node(target), LABEL, pyoxigraph.Literal(f"name of {len(target)}")))
    for subject, type_ in types.items():
        store.add(pyoxigraph.Quad(node(subject), TYPE, node(type_)))
    profile = Profile(size=size)
    prefixes = PrefixMap({}, CoinedPrefixes() if coins else None)
    return Gateway(SparqlStore(InProcess(store, max_bytes=1 << 24), profile), profile, prefixes)


def ids(answer: Mapping[str, Any]) -> Iterator[str]:
    """Return the IDs of nodes, types and edges in an answer of the reference shape."""
    for node in answer.get("nodes", answer.get("result", ())):
        yield node["id"]
        if ":" in node["entity_type"]:
            yield node["entity_type"]
        yield from (key for key in node.get("metadata", ()) if ":" in key)
    for edge in answer.get("edges", ()):
        yield from (edge["subject"], edge["predicate"], edge["object"])


def written_in_one_way(answer: Mapping[str, Any]) -> bool:
    """Return whether no namespace stands with a prefix and whole, and the prefixes told are those that are used."""
    coined = {name for name in (text.partition(":")[0] for text in ids(answer)) if looks_coined(name)}
    told = answer.get("prefixes", {})
    whole = {namespace_of(text.strip("<>")) for text in ids(answer) if not looks_coined(text.partition(":")[0])}
    return coined <= told.keys() and whole.isdisjoint(told.values())


def as_whole(answer: Mapping[str, Any], prefixes: PrefixMap) -> tuple[list[Any], list[Any]]:
    nodes = [(prefixes.expand(node["id"]), node.get("metadata", {}).get("name")) for node in answer["nodes"]]
    edges = [
        tuple(prefixes.expand(edge[end]) for end in ("subject", "predicate", "object")) for edge in answer["edges"]
    ]
    return nodes, edges


@given(TRIPLES, TYPES, st.integers(1, 3))
@thorough
def test_a_traversal_is_the_same_with_coined_prefixes(
    triples: list[tuple[str, str, str]], types: dict[str, str], hops: int
) -> None:
    async def ask() -> None:
        async with (
            opened(triples, types, coins=True, size=ROOM) as coining,
            opened(triples, types, coins=False, size=ROOM) as plain,
        ):
            seed = triples[0][0]
            for again in range(2):
                short = (await coining.bfs_query([seed], hops)).as_json()
                long = (await plain.bfs_query([seed], hops)).as_json()
                assert as_whole(short, coining.prefixes) == as_whole(long, plain.prefixes), again
                assert written_in_one_way(short)
                compact = (
                    await coining.call("bfs_query", {"seeds": [seed], "max_hops": hops}, shape="compact")
                ).as_json()
                for mine, others in zip(
                    as_whole(expand(compact), coining.prefixes), as_whole(long, plain.prefixes), strict=True
                ):
                    assert sorted(mine, key=repr) == sorted(others, key=repr)
            named = (await coining.bfs_query([seed], hops)).nodes
            iris = [coining.prefixes.expand(node.id) for node in named]
            described = (await coining.describe_entities([node.id for node in named])).as_json()
            # A namespace may be written with its prefix from one answer to the next.
            assert [coining.prefixes.expand(entity["id"]) for entity in described["result"]] == iris
            assert written_in_one_way(described)
            assert [(await coining.describe_entity(node.id)).iri for node in named] == iris

    asyncio.run(ask())


@given(TRIPLES, TYPES)
@thorough
def test_answers_made_at_the_same_time_are_each_written_in_one_way(
    triples: list[tuple[str, str, str]], types: dict[str, str]
) -> None:
    async def ask() -> None:
        async with opened(triples, types, coins=True, size=ROOM) as gateway:
            seeds = list(dict.fromkeys(subject for subject, _, _ in triples))[:6]
            questions = [gateway.bfs_query([seed], hops) for seed in seeds for hops in (1, 2)]
            answers = await asyncio.gather(
                *questions, gateway.describe_entities(seeds), gateway.search_entities("name")
            )
            assert all(written_in_one_way(answer.as_json()) for answer in answers)

    asyncio.run(ask())


@given(TRIPLES, TYPES, st.integers(200, 600), st.sampled_from(["reference", "compact"]))
@thorough
def test_what_prefixes_take_is_part_of_the_size(
    triples: list[tuple[str, str, str]], types: dict[str, str], tokens: int, shape: Any
) -> None:
    async def ask() -> None:
        size = SizeSettings(max_tokens=tokens, ceiling_tokens=tokens)
        async with opened(triples, types, coins=True, size=size) as gateway:
            nodes = [subject for subject, _, _ in triples][:50]
            for tool, given_ in (
                ("bfs_query", {"seeds": nodes[:1], "max_hops": 2}),
                ("describe_entities", {"ids": nodes}),
                ("describe_entity", {"id": nodes[0]}),
            ):
                answer = await gateway.call(tool, given_, shape=shape)
                assert (
                    len(json.dumps(answer.as_json(), separators=(",", ":"), ensure_ascii=False).encode()) <= 4 * tokens
                )

    asyncio.run(ask())


def test_an_unknown_prefix_is_refused_in_every_argument_that_takes_ids() -> None:
    async def ask() -> None:
        async with opened([("urn:a:b", "urn:a:p", "urn:a:c")], {}, coins=True, size=ROOM) as gateway:
            for tool, given_ in (
                ("bfs_query", {"seeds": ["drug_abc:x"], "max_hops": 1}),
                ("bfs_query", {"seeds": ["urn:a:b"], "max_hops": 1, "only_predicates": ["drug_abc:x"]}),
                ("describe_entity", {"id": "drug_abc:x"}),
                ("describe_entities", {"ids": ["urn:a:b", "drug_abc:x"]}),
                ("intersect_subgraphs", {"seeds": ["urn:a:b", "drug_abc:x"], "k": 1}),
            ):
                with pytest.raises(InputError, match="drug_abc:x"):
                    await gateway.call(tool, given_)

    asyncio.run(ask())
