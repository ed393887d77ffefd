"""Metadata of nodes (docs/contract.md, "Values" and "Keys of metadata"), and whose names are read for a page."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import expand
from gateway.answers.metadata import MetadataBuilder
from gateway.answers.reference import node_metadata
from gateway.api import open_gateway
from gateway.errors import GaveUp
from gateway.graph.values import BlankNode, Properties, Resource, Schema, Value
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile, ShapeName
from gateway.settings.vocabulary import EdgeSettings, NameSettings, RoleSettings
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.small import PREFIXES, ROOM, Watched, X, engine, over

pytestmark = pytest.mark.anyio

BARE_KEYS = {"name", "types", "description", "synonyms", "total_mentions", "confidence", "source_documents"}

UNKNOWN = {"unknown": True}


async def described(turtle: str, profile: Profile | None = None) -> dict[str, Any]:
    """Describe x:a of a small graph, without what every entity has, and without its edges."""
    async with over(turtle, profile) as gateway:
        answer = (await gateway.describe_entity("x:a")).as_json()
    others = {"id", "iri", "entity_type", "complete", "edges", "blank_node_edges", "warnings"}
    return {key: value for key, value in answer.items() if key not in others}


def with_roles(**roles: Any) -> Profile:
    """Return a profile with roles of its own."""
    return Profile(size=ROOM, roles=RoleSettings(**roles))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("12", {"total_mentions": 12}),
        ("3.0", {"total_mentions": 3}),
        ("2.5e0", {"total_mentions": 2.5}),
        ("-1", {"total_mentions": -1}),
        ("9, 4", {"total_mentions": [4, 9]}),
        ("'many'", {"x:totalMentions": "many"}),
        ("'5'", {"x:totalMentions": "5"}),
        ("true", {"x:totalMentions": True}),
        ("'abc'^^xsd:integer", {"x:totalMentions": "abc"}),
        ("4, 'many'", {"x:totalMentions": [4, "many"]}),
        ("12345678901234567890", {"x:totalMentions": "12345678901234567890"}),
        ("x:iri", {}),
        ("[]", {"x:totalMentions": UNKNOWN}),
        ("4, []", {"total_mentions": 4, "x:totalMentions": UNKNOWN}),
    ],
)
async def test_total_mentions_is_a_number_or_several_and_anything_else_keeps_its_own_key(
    values: str, expected: dict[str, Any]
) -> None:
    assert await described(f"x:a x:totalMentions {values} .") == expected


@pytest.mark.parametrize(
    "predicate", ["x:totalMentions", "y:total_mentions", "x:TotalMentions", "y:mentions", "x:Total-Mentions"]
)
async def test_a_role_finds_its_predicate_by_local_name_in_any_namespace(predicate: str) -> None:
    assert await described(f"x:a {predicate} 4 .") == {"total_mentions": 4}


async def test_a_role_finds_its_predicate_by_iri_and_then_no_other() -> None:
    profile = with_roles(mentions=(f"{X}cited",), confidence=(f"{X}trust",), source=(f"{X}from",))
    turtle = "x:a x:cited 4 ; x:trust 0.5 ; x:from 'S1' ; x:totalMentions 9 ; y:trust 0.1 ; y:from 'S2' ."
    assert await described(turtle, profile) == {
        "total_mentions": 4,
        "confidence": 0.5,
        "source_documents": ["S1"],
        "x:totalMentions": 9,
        "y:from": "S2",
        "y:trust": 0.1,
    }


async def test_the_first_predicate_of_a_role_that_has_numbers_wins_and_the_others_stay() -> None:
    assert await described("x:a x:mentions 3 ; x:totalMentions 5 .") == {"total_mentions": 5, "x:mentions": 3}
    assert await described("x:a x:mentions 3 ; x:totalMentions 'no' .") == {
        "total_mentions": 3,
        "x:totalMentions": "no",
    }
    assert await described("x:a x:weight 0.1 ; x:score 0.2 ; x:confidence 'x' .") == {
        "confidence": 0.2,
        "x:confidence": "x",
        "x:weight": 0.1,
    }
    reverse = with_roles(confidence=("weight", "score"))
    assert await described("x:a x:weight 0.1 ; x:score 0.2 .", reverse) == {"confidence": 0.1, "x:score": 0.2}


async def test_of_two_predicates_with_one_local_name_the_first_iri_wins() -> None:
    assert await described("x:a y:score 0.2 ; x:score 0.1 .") == {"confidence": 0.1, "y:score": 0.2}


async def test_a_number_that_only_a_name_makes_a_confidence_is_one_only_between_0_and_1() -> None:
    assert await described("x:a x:weight 70 .") == {"x:weight": 70}
    pinned = with_roles(confidence=(f"{X}weight",))
    assert await described("x:a x:weight 70 .", pinned) == {"confidence": 70}


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ("x:source 'S1'", {"source_documents": ["S1"]}),
        ("x:source 'S2', 'S1' ; x:publications 'S3', 'S1'", {"source_documents": ["S1", "S2", "S3"]}),
        ("x:source 5", {"x:source": 5}),
        ("x:source 'S1', 5", {"x:source": [5, "S1"]}),
        ("x:source []", {"x:source": UNKNOWN}),
    ],
)
async def test_source_documents_is_always_a_list_of_texts(sources: str, expected: dict[str, Any]) -> None:
    assert await described(f"x:a {sources} .") == expected


async def test_a_source_text_becomes_an_id_where_the_profile_says_how_and_an_iri_stays_one() -> None:
    profile = Profile(
        size=ROOM,
        roles=RoleSettings(source_id="x:paper/{value}"),
        edges=EdgeSettings(also_excepted=(f"{PREFIXES['dct']}source",)),
    )
    assert await described("x:a dct:source 'P1', x:doc .", profile) == {"source_documents": ["x:doc", "x:paper/P1"]}


@pytest.mark.parametrize(
    ("languages", "texts", "name"),
    [
        ((), "'plain', 'English'@en, 'Deutsch'@de, 'all'@mul", "plain"),
        ((), "'English'@en, 'Deutsch'@de, 'all'@mul", "all"),
        ((), "'English'@en, 'Deutsch'@de", "English"),
        ((), "'English'@en-GB, 'Deutsch'@de", "English"),
        ((), "'Deutsch'@de, 'Čeština'@cs, '日本語'@ja", "Čeština"),
        (("ja", "de"), "'plain', 'English'@en, 'Deutsch'@de", "Deutsch"),
        (("ja", "de"), "'plain', '日本語'@ja, 'Deutsch'@de", "日本語"),
        (("DE",), "'plain', 'Österreichisch'@de-AT", "Österreichisch"),
        (("ja",), "'English'@en, 'all'@mul", "all"),
        ((), "'beta'@en, 'alpha'@en", "alpha"),
    ],
)
async def test_a_name_is_in_the_best_language_there_is(languages: tuple[str, ...], texts: str, name: str) -> None:
    profile = Profile(size=ROOM, names=NameSettings(languages=languages))
    assert (await described(f"x:a rdfs:label {texts} .", profile))["name"] == name


async def test_further_names_of_any_name_predicate_are_synonyms() -> None:
    assert await described(
        "x:a rdfs:label 'beta'@en, 'alpha'@en ; skos:prefLabel 'gamma'@en ; skos:altLabel 'delta'@en, 'alpha'@en ."
    ) == {"name": "alpha", "synonyms": ["beta", "delta", "gamma"]}


async def test_synonyms_and_descriptions_are_in_the_best_language_too() -> None:
    assert await described(
        "x:a skos:altLabel 'zwei'@de, 'two'@en, 'deux'@fr ; rdfs:comment 'Zahl'@de, 'number'@en ; skos:definition '2' ."
    ) == {"synonyms": ["two"], "description": ["number", "2"], "other_languages": {"de": 2, "fr": 1}}


async def test_a_name_that_is_a_number_is_text() -> None:
    assert await described("x:a rdfs:label 42 .") == {"name": "42"}


async def test_a_role_for_names_can_be_another_predicate() -> None:
    profile = with_roles(name=(f"{X}title",), synonym=(f"{X}alias",), description=(f"{X}about",))
    assert await described("x:a x:title 'T' ; x:alias 'A' ; x:about 'D' ; rdfs:label 'L' .", profile) == {
        "name": "T",
        "synonyms": ["A"],
        "description": "D",
        "rdfs:label": "L",
    }


async def test_several_types_are_listed_and_one_is_not() -> None:
    assert await described("x:a a x:T2, x:T1 ; rdfs:label 'A' .") == {"name": "A", "types": ["x:T1", "x:T2"]}
    assert await described("x:a a x:T1 ; rdfs:label 'A' .") == {"name": "A"}
    assert await described("x:a a x:T1, owl:Thing ; rdfs:label 'A' .") == {"name": "A"}


async def test_every_type_of_a_schema_term_is_in_its_record() -> None:
    turtle = "x:a a owl:TransitiveProperty, owl:ObjectProperty ; rdfs:label 'p' ."
    assert await described(turtle) == {"name": "p", "types": ["owl:ObjectProperty", "owl:TransitiveProperty"]}


async def test_one_value_is_a_scalar_and_several_are_a_sorted_list_of_distinct_ones() -> None:
    assert await described("x:a x:one 1 ; x:many 3, 1, 2 ; x:mixed 'b', 'a', 2, true ; x:same '1', 1 .") == {
        "x:one": 1,
        "x:many": [1, 2, 3],
        "x:mixed": [True, 2, "a", "b"],
        "x:same": [1, "1"],
    }


async def test_keys_that_a_graph_calls_like_the_protocols_do_not_collide() -> None:
    assert await described(
        "x:a x:id 'i' ; x:name 'n' ; x:types 't' ; x:iri 'r' ; x:entity_type 'e' ; x:metadata 'm' ."
    ) == {
        "x:entity_type": "e",
        "x:id": "i",
        "x:iri": "r",
        "x:metadata": "m",
        "x:name": "n",
        "x:types": "t",
    }


async def test_without_prefixes_a_key_is_a_whole_iri(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(f"<{X}a> <{X}name> 'n' ; <urn:k> 1 .", encoding="utf-8")
    profile = Profile(size=SizeSettings(coined_prefixes=False))
    async with open_gateway(path, profile=profile) as gateway:
        answer = (await gateway.describe_entity(f"{X}a")).as_json()
    expected = {"id": f"{X}a", "iri": f"{X}a", "entity_type": "untyped", f"{X}name": "n", "urn:k": 1}
    assert answer | expected == answer
    assert not {"name", "x:name"} & set(answer)


async def test_an_rdflib_graph_is_described_with_its_own_prefixes() -> None:
    graph = rdflib.Graph()
    graph.bind("ex", X)
    graph.parse(data=f"@prefix ex: <{X}> . ex:a a ex:T ; ex:note 'n' .", format="ox-turtle")
    async with open_gateway(graph) as gateway:
        answer = (await gateway.describe_entity("ex:a")).as_json()
    assert answer | {"id": "ex:a", "iri": f"{X}a", "entity_type": "ex:T", "ex:note": "n"} == answer


async def test_what_a_predicate_that_is_no_edge_points_to_is_metadata() -> None:
    profile = Profile(size=ROOM, edges=EdgeSettings(also_excepted=(f"{X}homepage",)))
    async with over("x:a x:homepage <https://example.com/>, x:page, 'text' ; x:knows x:b .", profile) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    assert [node.metadata for node in answer.nodes] == [
        {"x:homepage": ["https://example.com/", "text", "x:page"]},
        {},
    ]
    assert answer.edge_count == 1


@pytest.mark.parametrize("values", ["4", "4, 9", "'many'", "4, 'many'", "4, []"])
async def test_a_node_has_the_same_total_mentions_in_a_traversal_and_described_alone(values: str) -> None:
    async with over(f"x:a x:totalMentions {values} .") as gateway:
        alone = (await gateway.describe_entity("x:a")).as_json()
        (node,) = (await gateway.bfs_query(["x:a"], 1)).nodes
    assert node.metadata is not None
    assert node.metadata.get("total_mentions") == alone.get("total_mentions")


async def test_edges_are_no_metadata() -> None:
    assert await described("x:a x:knows x:b ; dct:source x:doc .") == {}


async def test_blank_nodes_are_shown_in_place_two_levels_deep() -> None:
    assert await described("x:a x:address [ x:street 'Main' ; x:city [ rdfs:label 'Town'@en ; x:in x:land ] ] .") == {
        "x:address": {"x:city": {"rdfs:label": "Town", "x:in": "x:land"}, "x:street": "Main"}
    }


async def test_what_is_below_two_levels_is_marked() -> None:
    assert await described("x:a x:one [ x:two [ x:three [ x:four 'deep' ] ; x:own 1 ] ] .") == {
        "x:one": {"x:two": {"x:own": 1, "more": True}}
    }


async def test_a_skolem_iri_is_an_unknown_value_and_no_id() -> None:
    skolem = "<http://x.example/.well-known/genid/0a1b>"
    profile = Profile(size=ROOM, edges=EdgeSettings(also_excepted=(f"{X}has", f"{X}source")))
    assert await described(f"x:a x:has {skolem} ; x:source {skolem} .", profile) == {
        "x:has": UNKNOWN,
        "x:source": UNKNOWN,
    }


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        ("x:a x:enters _:c . _:c x:self _:c .", {"x:enters": {"x:self": {"more": True}}}),
        (
            "x:a x:enters _:c . _:c x:next _:d . _:d x:next _:c ; x:n 1 .",
            {"x:enters": {"x:next": {"x:n": 1, "more": True}}},
        ),
        ("x:a x:has [] .", {"x:has": UNKNOWN}),
        ("x:a x:has [ x:n 1 ], [ x:n 2 ], 'text' .", {"x:has": ["text", {"x:n": 1}, {"x:n": 2}]}),
        ("x:a x:has [ x:to x:b, [], 3 ] .", {"x:has": {"x:to": [3, "x:b", UNKNOWN]}}),
        ("[] x:to x:a . x:a x:n 1 .", {"x:n": 1}),
    ],
    ids=["self loop", "cycle", "empty", "several", "mixed", "incoming"],
)
async def test_every_shape_of_blank_nodes_ends(turtle: str, expected: dict[str, Any]) -> None:
    assert await described(turtle) == expected


async def test_a_traversal_shows_no_content_of_blank_nodes_and_counts_them() -> None:
    async with over("x:a x:has [ x:n 1 ], [ x:n 2 ] ; x:knows x:b . [] x:to x:b .") as gateway:
        near = await gateway.bfs_query(["x:a"], 1)
        far = await gateway.bfs_query(["x:a"], 2)
    assert near.nodes[0].metadata == {}
    assert near.blank_node_edges == 2
    assert far.blank_node_edges == 3


async def test_the_name_of_a_full_node_is_the_name_of_its_stub() -> None:
    turtle = "x:a rdfs:label 'b'@en, 'a'@en, 'z' ; skos:prefLabel 'p' ; x:k x:b . x:b skos:prefLabel 'B' ; x:k x:c ."
    async with over(turtle, Profile(size=ROOM, names=NameSettings(on_stubs=True))) as gateway:
        full = await gateway.bfs_query(["x:a"], 2)
        bare = await gateway.bfs_query(["x:a"], 2, topology_only=True)
    assert [(node.metadata or {}).get("name") for node in full.nodes] == [node.name for node in bare.nodes]
    assert [node.name for node in bare.nodes] == [node.name for node in full.nodes] == ["z", "B", None]
    assert "name" not in full.as_json()["nodes"][0]


_words = st.text("abcXY_-.é1", min_size=1, max_size=8)
_iris = st.one_of(
    _words.map(lambda word: X + word),
    _words.map("urn:x:".__add__),
    _words.map("x:".__add__),
    st.sampled_from(["name", "types", "id", "mentions", "score", "source", "more"]).flatmap(
        lambda word: st.sampled_from([f"{X}{word}", f"urn:{word}", f"https://{word}", f"{word}:", f"x:{word}"])
    ),
    st.sampled_from([*RoleSettings().name, *RoleSettings().synonym, *RoleSettings().description]),
)
_literals = st.builds(
    Literal,
    st.one_of(st.text(max_size=6), st.sampled_from(["1", "0.5", "NaN", "true", "P1"])),
    st.sampled_from(["", "", f"{PREFIXES['xsd']}integer", f"{PREFIXES['xsd']}double", f"{PREFIXES['xsd']}boolean"]),
)
_leaves: st.SearchStrategy[Value] = _literals | _iris.map(Resource)


def _properties(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Mapping[str, tuple[Value, ...]]]:
    return st.dictionaries(_iris, st.lists(values, min_size=1, max_size=3).map(tuple), max_size=5)


_values: st.SearchStrategy[Value] = st.recursive(
    _leaves, lambda inner: st.builds(BlankNode, _properties(inner), st.booleans()), max_leaves=6
)
_prefix_maps = st.dictionaries(
    st.sampled_from(["x", "", "urn", "name", "types"]), st.sampled_from([X, "urn:", "urn:x:", "https://"])
).map(PrefixMap)


@settings(derandomize=True, deadline=None)
@given(properties=_properties(_values), types=st.lists(_iris, max_size=3, unique=True), prefixes=_prefix_maps)
def test_every_key_but_the_protocols_own_has_a_colon(
    properties: Properties, types: Sequence[str], prefixes: PrefixMap
) -> None:
    written = node_metadata(MetadataBuilder(Profile(), prefixes).node(properties, types, Schema()))
    assert all(":" in key or key in BARE_KEYS for key in written)
    assert all(":" in key or key in {"more", "unknown"} for value in written.values() for key in _keys(value))


@settings(derandomize=True, deadline=None)
@given(properties=_properties(_leaves), prefixes=_prefix_maps)
def test_every_value_of_a_node_is_listed_under_one_key(properties: Properties, prefixes: PrefixMap) -> None:
    written = node_metadata(MetadataBuilder(Profile(), prefixes).node(properties, [], Schema()))
    for predicate, values in properties.items():
        if any(predicate in role for role in (RoleSettings().name, RoleSettings().synonym, RoleSettings().description)):
            continue
        key = prefixes.shorten(predicate)
        roles = written.keys() & {"total_mentions", "confidence", "source_documents"}
        assert key in written or roles, (predicate, values)


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for inner in value.values() for key in _keys(inner))]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


NODES = 300
GRAPH = engine(
    'x:hub rdfs:label "The hub" .'
    + "".join(
        f'x:hub x:p x:n{n:03} . x:n{n:03} a x:{"Even" if n % 2 == 0 else "Odd"} ; rdfs:label "Name {n}" .'
        for n in range(NODES)
    )
)
OPAQUE = Profile(names=NameSettings(on_stubs=True), size=SizeSettings(max_tokens=3_000))
READABLE = Profile(size=SizeSettings(max_tokens=1_000))


class Asked:
    """Records which nodes are asked for their types alone, and which for their names."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.names: list[str] = []
        self.names_are_asked = asyncio.Event()

    def forget(self) -> None:
        """Forget what was asked."""
        self.types, self.names = [], []
        self.names_are_asked.clear()

    async def __call__(self, query: str) -> None:
        """Take a query."""
        nodes = re.findall(r"[:/](n\d{3}|hub)\b", query)
        if "SELECT ?n ?v" in query:
            self.types += nodes
        if "SELECT ?n ?p ?v" in query and "FILTER(?p IN (" in query:
            self.names += nodes
            self.names_are_asked.set()


def names_of(nodes: Sequence[Any]) -> dict[str, str | None]:
    return {node.id: node.name for node in nodes}


def right_name(node: str) -> str:
    return "The hub" if node == "x:hub" else f"Name {int(node[-3:])}"


async def test_each_page_has_the_names_of_its_nodes_and_no_others_are_read() -> None:
    asked = Asked()
    async with over(Watched(GRAPH, asked), OPAQUE) as gateway:
        await gateway.describe_schema()
        asked.forget()
        first = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
        assert len(asked.types) == NODES + 1
        assert sorted(asked.names) == sorted(node.id.removeprefix("x:") for node in first.nodes)
        second = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20, offset=first.next_offset or 0)
    for page in (first, second):
        assert len(page.nodes) == 20
        assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}


async def test_all_nodes_of_a_page_that_is_full_have_names() -> None:
    async with over(GRAPH, OPAQUE) as gateway:
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True)
    assert 50 < len(page.nodes) < NODES
    assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}


@pytest.mark.parametrize(("profile", "topology_only"), [(OPAQUE, True), (READABLE, False)], ids=["opaque", "readable"])
async def test_names_are_asked_for_while_types_are_on_their_way(profile: Profile, topology_only: bool) -> None:
    asked = Asked()

    async def types_come_last(query: str) -> None:
        await asked(query)
        if "SELECT ?n ?v" in query:
            async with asyncio.timeout(60):
                await asked.names_are_asked.wait()

    async with over(Watched(GRAPH, types_come_last), profile) as gateway:
        await gateway.describe_schema()
        asked.forget()
        answer = await compact(gateway, topology_only=topology_only)
    assert answer["complete"]
    assert "x:hub The hub" in json.dumps(answer)


async def compact(gateway: Gateway, **more: object) -> dict[str, Any]:
    arguments = {"seeds": ["x:hub"], "max_hops": 1, **more}
    return (await gateway.call("bfs_query", arguments, shape="compact")).as_json()


async def test_after_a_filter_the_nodes_that_it_leaves_have_names() -> None:
    asked = Asked()
    async with over(Watched(GRAPH, asked), OPAQUE) as gateway:
        await gateway.describe_schema()
        asked.forget()
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True, exclude_node_types=["x:Even"], limit=30)
    assert len(page.nodes) == 30
    assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}
    assert not any(int(node[1:]) % 2 == 0 for node in asked.names if node != "hub")


async def test_few_nodes_have_types_and_names_by_one_query() -> None:
    asked = Asked()
    few = engine("".join(f'x:hub x:p x:n{n:03} . x:n{n:03} a x:T ; rdfs:label "Name {n}" .' for n in range(100)))
    async with over(Watched(few, asked), OPAQUE) as gateway:
        await gateway.describe_schema()
        asked.forget()
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=5)
    assert asked.types == []
    assert [node.name for node in page.nodes] == [None, "Name 0", "Name 1", "Name 2", "Name 3"]
    assert len(set(asked.names)) == 101


async def test_names_that_cannot_be_read_are_told_and_types_stay() -> None:
    async def no_names(query: str) -> None:
        if "SELECT ?n ?p ?v" in query:
            raise GaveUp("The endpoint gave up.")

    watched = Watched(GRAPH, Asked())
    async with over(watched, OPAQUE) as gateway:
        await gateway.describe_schema()
        watched.hook = no_names
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
    assert {node.name for node in page.nodes} == {None}
    assert {node.entity_type for node in page.nodes} == {"untyped", "x:Even", "x:Odd"}
    assert page.complete
    assert (page.degraded or {}).get("metadata_failed") == 20


@pytest.mark.slow
async def test_a_node_that_was_to_have_details_has_its_name_where_there_is_no_room_for_them() -> None:
    for tokens in range(1_000, 3_000, 50):
        async with over(GRAPH, OPAQUE) as gateway:
            await gateway.bfs_query(["x:hub"], 1, limit=3)
            answer = await compact(gateway, node_types=["x:Even"], max_tokens=tokens)
            nodes = expand(answer)["nodes"]
            assert [node for node in nodes if "name" not in {**node.get("metadata", {}), **node}] == []


async def test_a_node_whose_metadata_cannot_be_read_keeps_its_name() -> None:
    async def no_literals(query: str) -> None:
        if "isLiteral(?v)" in query:
            raise GaveUp("The endpoint gave up.")

    watched = Watched(GRAPH, Asked())
    async with over(watched, Profile(names=NameSettings(on_stubs=True), size=ROOM)) as gateway:
        await gateway.bfs_query(["x:hub"], 1, limit=5)
        watched.hook = no_literals
        page = await gateway.bfs_query(["x:hub"], 1)
    assert (page.degraded or {}).get("metadata_failed") == NODES + 1
    assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}


@pytest.mark.parametrize("shape", ["compact", "reference"])
async def test_what_others_asked_before_brings_no_names_into_an_answer_without_names(shape: ShapeName) -> None:
    arguments = {"seeds": ["x:hub"], "max_hops": 1, "topology_only": True}
    async with over(GRAPH, READABLE) as gateway:
        before = (await gateway.call("bfs_query", arguments, shape=shape)).as_json()
    async with over(GRAPH, READABLE) as gateway:
        await compact(gateway)
        after = (await gateway.call("bfs_query", arguments, shape=shape)).as_json()
    assert after == before


async def test_names_are_not_asked_for_again_where_the_endpoint_fails() -> None:
    sent = 0

    async def no_names(query: str) -> None:
        nonlocal sent
        sent += 1
        if "SELECT ?n ?p ?v" in query:
            raise GaveUp("The endpoint gave up.")

    watched = Watched(GRAPH, Asked())
    async with over(watched, OPAQUE) as gateway:
        await gateway.describe_schema()
        watched.hook = no_names
        await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=64)
    # An answer that the endpoint gives up is asked for in halves, until it is clear that this does not help.
    assert sent <= 40


@pytest.mark.parametrize("requests", range(2, 12))
async def test_names_take_no_request_that_types_need(requests: int) -> None:
    limits = LimitSettings(requests=requests, facts_batch=50)
    profiles = (OPAQUE, OPAQUE.model_copy(update={"names": NameSettings(on_stubs=False)}))
    found = []
    for profile in profiles:
        async with over(GRAPH, profile.model_copy(update={"limits": limits})) as gateway:
            await gateway.describe_schema()
            answer = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
            found.append([(gap.cause, gap.count) for gap in answer.incomplete or ()])
    assert found[0] == found[1]


async def test_names_that_metadata_will_have_are_not_asked_for() -> None:
    asked = Asked()
    async with over(Watched(GRAPH, asked), Profile(size=ROOM)) as gateway:
        await gateway.describe_schema()
        asked.forget()
        answer = await compact(gateway)
    assert answer["complete"]
    assert asked.names == []


@pytest.mark.parametrize("batch", [50, 150, 500])
async def test_small_batches_read_no_more_names(batch: int) -> None:
    asked = Asked()
    profile = OPAQUE.model_copy(update={"limits": LimitSettings(facts_batch=batch)})
    async with over(Watched(GRAPH, asked), profile) as gateway:
        await gateway.describe_schema()
        asked.forget()
        await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
    assert len(asked.types) == NODES + 1
    assert len(asked.names) == 20
