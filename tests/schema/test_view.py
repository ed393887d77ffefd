"""Which type a node shows (docs/contract.md, "Entity types"), and filters that mean the subclasses of a type."""

from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDFS

from gateway.errors import EndpointFault
from gateway.graph.values import Mark, NodeFacts, Schema, Term
from gateway.schema.types import TypeChooser
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, TypeSettings
from gateway.terms.iri import GENERIC_TYPES, SCHEMA_TERM_CLASSES
from gateway.terms.prefixes import PrefixMap
from tests.small import PREFIXES, ROOM, Watched, X, engine, metadata, over

pytestmark = pytest.mark.anyio

MAP = PrefixMap(PREFIXES)
GRAPH = """
x:a a x:Common, x:Rare, x:Middle . x:b a x:Common, x:Middle . x:c a x:Common . x:d a x:Alike, x:Zebra .
x:thing a owl:Thing . x:individual a owl:NamedIndividual, owl:Thing . x:resource a rdfs:Resource .
x:more a owl:Thing, owl:NamedIndividual, x:Common . x:bare x:p 1 . x:Class a rdfs:Class, owl:Class .
x:Mixed a owl:Class, x:Rank . x:property a rdf:Property . x:anonymous a [ a owl:Restriction ] .
"""


async def shown(turtle: str, ids: Sequence[str], profile: Profile | None = None) -> list[str]:
    """Return the entity types of some nodes."""
    async with over(turtle, profile) as gateway:
        return [entity.entity_type for entity in (await gateway.describe_entities(ids)).result]


async def test_of_several_types_the_rarest_is_shown_and_then_the_first_by_id() -> None:
    assert await shown(GRAPH, ["x:a", "x:b", "x:c", "x:d"]) == ["x:Rare", "x:Middle", "x:Common", "x:Alike"]


async def test_a_preferred_type_is_shown_before_the_rarest_the_strongest_first() -> None:
    profile = Profile(size=ROOM, types=TypeSettings(preferred=(f"{X}Common", f"{X}Zebra", f"{X}Middle")))
    assert await shown(GRAPH, ["x:a", "x:b", "x:d"], profile) == ["x:Common", "x:Common", "x:Zebra"]


CLASSES = """
x:spain a x:Country, x:SovereignState, x:MemberState . x:france a x:SovereignState . x:rome a x:City, x:Settlement .
x:SovereignState x:subclassOf x:State . x:State x:subclassOf x:Place . x:Place x:subclassOf x:Country .
x:City x:subclassOf x:Settlement . x:Settlement x:subclassOf x:City .
"""


async def test_a_type_that_is_a_superclass_of_another_type_of_the_node_is_not_shown() -> None:
    nodes = ["x:spain", "x:rome"]
    assert await shown(CLASSES, nodes) == ["x:Country", "x:City"]
    types = TypeSettings(subclass_of=(f"{X}subclassOf",), preferred=(f"{X}Country", f"{X}SovereignState"))
    # Two classes that are subclasses of each other are alike.
    assert await shown(CLASSES, nodes, Profile(size=ROOM, types=types)) == ["x:SovereignState", "x:City"]


async def test_the_superclasses_that_are_not_shown_stand_among_the_types_of_a_full_node() -> None:
    types = TypeSettings(subclass_of=(f"{X}subclassOf",))
    async with over(CLASSES, Profile(size=ROOM, types=types)) as gateway:
        spain = await gateway.describe_entity("x:spain")
    assert spain.entity_type == "x:MemberState"
    assert spain.as_json()["types"] == ["x:Country", "x:MemberState", "x:SovereignState"]


async def test_a_profile_shows_the_commonest_of_several_types() -> None:
    types = TypeSettings(shown="commonest")
    assert await shown(GRAPH, ["x:a", "x:b", "x:d"], Profile(size=ROOM, types=types)) == [
        "x:Common",
        "x:Common",
        "x:Alike",
    ]


async def test_superclasses_that_cannot_be_read_leave_more_types_to_choose_from() -> None:
    async def hook(query: str) -> None:
        if f"IN (<{X}subclassOf>)" in query:
            raise EndpointFault("No classes today.")

    types = TypeSettings(subclass_of=(f"{X}subclassOf",), preferred=(f"{X}Country",))
    async with over(Watched(engine(CLASSES), hook), Profile(size=ROOM, types=types)) as gateway:
        schema = await gateway.describe_schema()
        spain = await gateway.describe_entity("x:spain")
    assert (schema.comprehensive, spain.entity_type) == (True, "x:Country")


async def test_the_version_of_a_schema_changes_with_the_superclasses_of_its_types() -> None:
    versions = []
    for classes in ("", "x:A x:subclassOf x:B .", "x:B x:subclassOf x:A ."):
        types = TypeSettings(subclass_of=(f"{X}subclassOf",))
        edges = EdgeSettings(also_excepted=(f"{X}subclassOf",))
        async with over(f"x:a a x:A, x:B . {classes}", Profile(size=ROOM, types=types, edges=edges)) as gateway:
            versions.append((await gateway.describe_schema()).schema_version)
    assert len(set(versions)) == 3


async def test_without_an_exact_schema_the_first_by_id_is_shown() -> None:
    profile = Profile(size=ROOM, limits=LimitSettings(scan_rows=1))
    assert await shown(GRAPH, ["x:a", "x:b"], profile) == ["x:Common", "x:Common"]


async def test_a_type_that_says_nothing_is_shown_only_where_nothing_else_is_there() -> None:
    nodes = ["x:thing", "x:individual", "x:resource", "x:more"]
    assert await shown(GRAPH, nodes) == ["owl:Thing", "owl:NamedIndividual", "rdfs:Resource", "x:Common"]


async def test_a_node_without_a_type_that_counts_is_untyped() -> None:
    assert await shown(GRAPH, ["x:bare", "x:anonymous"]) == ["untyped"] * 2


async def test_a_schema_term_with_another_type_shows_that() -> None:
    assert await shown(GRAPH, ["x:Mixed"]) == ["x:Rank"]


async def test_types_of_schema_terms_stand_behind_all_others_and_are_said_to_be_such() -> None:
    async with over(GRAPH) as gateway:
        schema = await gateway.describe_schema()
    terms = [iri for iri in schema.entity_types if iri.startswith(("rdfs:Class", "owl:Class", "rdf:Property"))]
    assert terms
    assert list(schema.entity_types)[-len(terms) :] == terms
    assert any(warning.startswith("The last types are those of schema terms") for warning in schema.warnings or ())
    assert "owl:Restriction" not in schema.entity_types
    assert schema.counts["x:Common"] == 4
    assert {"owl:Thing", "x:Rank"} <= set(schema.entity_types)


async def test_types_of_a_full_node_are_all_that_say_something() -> None:
    async with over(f"{GRAPH} x:a x:knows x:more, x:individual .") as gateway:
        shown = metadata(await gateway.bfs_query(["x:a"], 1))
    assert shown == {
        "x:a": {"types": ["x:Common", "x:Middle", "x:Rare"]},
        "x:individual": {"types": ["owl:NamedIndividual", "owl:Thing"]},
        "x:more": {},
    }


async def test_types_that_could_not_be_fetched_are_unknown_and_not_untyped() -> None:
    failing = False

    async def hook(_query: str) -> None:
        if failing:
            raise EndpointFault("No types today.")

    transport = Watched(engine("x:a a x:T ; x:knows x:b ."), hook)
    async with over(transport) as gateway:
        await gateway.describe_schema()
        sent = 0

        async def after_the_edges(_query: str) -> None:
            nonlocal sent
            sent += 1
            if sent > 1:
                raise EndpointFault("No types today.")

        transport.hook = after_the_edges
        answer = await gateway.bfs_query(["x:a"], 1, topology_only=True)
        transport.hook = hook
        again = await gateway.bfs_query(["x:a"], 1, topology_only=True)
    assert [node.entity_type for node in answer.nodes] == ["unknown", "unknown"]
    assert answer.complete is False
    assert [gap.cause for gap in answer.incomplete or ()] == ["types_failed"]
    assert [node.entity_type for node in again.nodes] == ["x:T", "untyped"]
    assert again.complete is True


async def test_a_filter_on_unknown_matches_nodes_whose_types_could_not_be_fetched() -> None:
    sent = 0

    async def hook(query: str) -> None:
        nonlocal sent
        sent += 1
        if sent > 1 and PREFIXES["rdf"] + "type" in query and "VALUES ?n" in query:
            raise EndpointFault("No types today.")

    transport = Watched(engine("x:a a x:T ; x:knows x:b . x:b rdfs:label 'B' ."), hook)
    async with over(transport) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, exclude_node_types=["unknown"])
    assert [node.id for node in answer.nodes] == ["x:a"]
    assert answer.warnings is not None


def test_a_node_with_failed_types_is_unknown_whatever_was_read_of_them() -> None:
    chooser = TypeChooser(Schema(exact=True), TypeSettings(), MAP)
    facts = NodeFacts((f"{X}T",), mark=Mark(EndpointFault("No.")))
    assert chooser.shown(facts) == "unknown"
    assert chooser.filterable(facts) == ("unknown",)


_types = st.lists(
    st.sampled_from([f"{X}A", f"{X}B", f"{X}C", *sorted(GENERIC_TYPES), *sorted(SCHEMA_TERM_CLASSES)[:3]]),
    unique=True,
)


@settings(derandomize=True, deadline=None)
@given(types=_types, order=st.randoms(use_true_random=False), preferred=st.lists(st.sampled_from([f"{X}A", f"{X}C"])))
def test_the_choice_depends_on_nothing_but_the_set_of_types(
    types: list[str], order: object, preferred: list[str]
) -> None:
    schema = Schema(tuple(Term(f"{X}{name}", count) for name, count in zip("ABC", (3, 2, 2), strict=True)), exact=True)
    chooser = TypeChooser(schema, TypeSettings(preferred=tuple(preferred)), MAP)
    other = list(types)
    order.shuffle(other)  # type: ignore[attr-defined]  # hypothesis hands out a random.Random
    chosen = chooser.shown(NodeFacts(tuple(types)))
    assert chosen == chooser.shown(NodeFacts(tuple(other)))
    assert chosen == "untyped" or MAP.expand(chosen) in types
    telling = {f"{X}A", f"{X}B", f"{X}C"} & set(types)
    if telling:
        assert MAP.expand(chosen) in telling


_classes = st.sampled_from([f"{X}{name}" for name in "ABCDEF"])


def _all_above(pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return all pairs of a class and a superclass, direct or not."""
    above = set(pairs)
    while new := {(low, high) for low, middle in above for other, high in above if middle == other} - above:
        above |= new
    return above


@settings(derandomize=True, deadline=None)
@given(
    types=st.lists(_classes, unique=True, min_size=1),
    pairs=st.sets(st.tuples(_classes, _classes), max_size=12),
    counts=st.dictionaries(_classes, st.integers(1, 3)),
    commonest=st.booleans(),
)
def test_the_types_are_in_order_of_rarity_or_frequency_with_those_above_another_last(
    types: list[str], pairs: set[tuple[str, str]], counts: dict[str, int], commonest: bool
) -> None:
    superclasses = {low: tuple(high for child, high in sorted(pairs) if child == low) for low, _ in pairs}
    terms = tuple(Term(iri, count) for iri, count in counts.items())
    schema = Schema(terms, exact=True, superclasses=superclasses)
    type_settings = TypeSettings(shown="commonest" if commonest else "rarest", subclass_of=(str(RDFS.subClassOf),))
    chooser = TypeChooser(schema, type_settings, MAP)
    above = _all_above(pairs)

    def is_above_another(iri: str) -> bool:
        return any((other, iri) in above and (iri, other) not in above for other in types)

    sign = -1 if commonest else 1
    expected = sorted(types, key=lambda iri: (is_above_another(iri), sign * counts.get(iri, 0), iri))
    facts = NodeFacts(tuple(types))
    assert list(chooser.all_of(facts)) == expected
    assert MAP.expand(chooser.shown(facts)) == expected[0]
    assert chooser.selected(facts, types, ()) == expected[0]


class Counted(str):
    """An IRI that counts how often one of them is looked up."""

    __slots__ = ()
    lookups = 0

    def __hash__(self) -> int:
        Counted.lookups += 1
        return super().__hash__()


@pytest.mark.parametrize("shape", ["none", "chain", "cycle"])
def test_the_lookups_for_a_node_grow_with_its_types_and_not_with_their_square(shape: str) -> None:
    types = [Counted(f"{X}Kind{number}") for number in range(1_000)]
    above = {"none": [], "chain": types[1:], "cycle": [*types[1:], types[0]]}[shape]
    superclasses: dict[str, tuple[str, ...]] = {low: (high,) for low, high in zip(types, above, strict=False)}
    Counted.lookups = 0
    chooser = TypeChooser(Schema(exact=True, superclasses=superclasses), TypeSettings(), MAP)
    in_order = chooser.all_of(NodeFacts(tuple(types)))
    assert in_order[0] == types[0]
    assert Counted.lookups < 50 * len(types)


SUBCLASS_OF = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
WITH_SUBCLASSES = Profile(size=ROOM, types=TypeSettings(subclass_of=(SUBCLASS_OF,)))
PLACES = """
x:Town rdfs:subClassOf x:Place . x:Port rdfs:subClassOf x:Town . x:River rdfs:subClassOf x:Water .
x:a a x:Port ; rdfs:label 'Alpha' ; x:p x:b , x:c .
x:b a x:Town ; rdfs:label 'Beta' . x:c a x:River ; rdfs:label 'Gamma' .
"""


async def full(types: list[str], profile: Profile = WITH_SUBCLASSES) -> set[str]:
    """Return the nodes that come in full where these types are asked for."""
    async with over(PLACES, profile) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=types)
    return {node.id for node in answer.nodes if node.metadata is not None}


async def test_a_filter_by_a_type_means_its_subclasses_and_theirs() -> None:
    async with over(PLACES + "x:z a x:Place .", WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=["Place"])
    assert {node.id for node in answer.nodes if node.metadata is not None} == {"x:a", "x:b"}


async def test_without_the_profiles_word_it_means_the_subclasses_that_the_graph_states() -> None:
    assert await full(["Town"], Profile(size=ROOM)) == await full(["Town"]) == {"x:a", "x:b"}


async def test_what_is_excluded_is_excluded_with_its_subclasses() -> None:
    async with over(PLACES, WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:c"], 2, exclude_node_types=["Town"])
    assert [node.id for node in answer.nodes] == ["x:c"]


async def test_a_search_by_a_type_finds_what_has_a_subclass_of_it() -> None:
    async with over(PLACES, WITH_SUBCLASSES) as gateway:
        answer = await gateway.search_entities("alpha", ["Town"])
    assert [hit.id for hit in answer.result] == ["x:a"]


async def test_subclasses_that_cannot_be_read_are_reported() -> None:
    async def hook(query: str) -> None:
        if "?class" in query:
            raise EndpointFault("Down.")

    async with over(Watched(engine(PLACES), hook), WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=["Town"])
        search = await gateway.search_entities("alpha", ["Town"])
    assert answer.warnings is not None
    assert any("subclasses of x:Town" in warning for warning in answer.warnings)
    assert search.result == []
    assert not search.complete


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 8), st.integers(0, 8), max_size=9), st.integers(0, 8))
async def test_any_graph_of_classes_is_followed_down_to_its_end(above: Mapping[int, int], asked: int) -> None:
    turtle = "".join(f"x:C{one} rdfs:subClassOf x:C{other} . " for one, other in above.items())
    turtle += "".join(f"x:n{number} a x:C{number} ; x:p x:n0 . " for number in range(9))
    expected = {number for number in range(9) if asked in _upwards(number, above)}
    async with over(turtle, WITH_SUBCLASSES) as gateway:
        answer = await gateway.bfs_query(["x:n0"], 1, node_types=[f"C{asked}"])
    assert {node.id for node in answer.nodes if node.metadata is not None} == {f"x:n{number}" for number in expected}


def _upwards(start: int, above: Mapping[int, int]) -> set[int]:
    """Return a class and all above it."""
    seen = {start}
    while start in above and above[start] not in seen:
        start = above[start]
        seen.add(start)
    return seen
