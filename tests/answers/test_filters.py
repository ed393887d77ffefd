"""What filters mean and what they leave (docs/contract.md, "Names of filters" and "Traversal")."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.models import BfsResult
from gateway.answers.shape import size_of
from gateway.errors import InputError
from gateway.graph.values import Term
from gateway.schema.view import TermLookup
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.small import PREFIXES, ROOM, X, ids, metadata, over, triples

GRAPH = """
x:seed a x:Person ; rdfs:label 'Seed' ; x:totalMentions 1 ; x:knows x:p1, x:p2 ; x:INCREASES_RISK x:e1 ; x:wrote x:b1 .
x:p1 a x:Person, x:Author ; x:totalMentions 5 ; x:knows x:p3 .
x:p2 a x:Person ; x:totalMentions 2 ; x:wrote x:b2 .
x:p3 a x:Person ; x:totalMentions 1 .
x:e1 a x:Side_Effect ; rdfs:label 'an effect' .
x:b1 a x:Book ; x:totalMentions 9 . x:b2 a x:Book ; x:totalMentions 'many' .
x:Side_Effect rdfs:label 'Adverse event' . x:Book a rdfs:Class ; rdfs:label 'Printed work' .
x:wrote rdfs:label 'is the author of' .
y:one a y:Same . y:two a x:Same . y:one y:knows y:two .
"""
OPEN = Profile(size=ROOM, limits=LimitSettings(scan_rows=8))
"""A profile under which not all types of the graph are read."""
UNREAD = Profile(size=ROOM, limits=LimitSettings(scan_rows=1))
"""A profile under which next to nothing is known beforehand."""

pytestmark = pytest.mark.anyio


def full_nodes(answer: BfsResult) -> list[str]:
    """Return the IDs of nodes that came with metadata."""
    return [node.id for node in answer.nodes if node.metadata is not None]


async def asked(gateway: Gateway, **filters: object) -> BfsResult:
    """Ask for two hops around the seed."""
    answer = await gateway.call("bfs_query", {"seeds": ["x:seed"], "max_hops": 2, **filters})
    assert isinstance(answer, BfsResult)
    return answer


ALL = ["x:seed", "x:b1", "x:e1", "x:p1", "x:p2", "x:b2", "x:p3"]


@pytest.mark.parametrize(
    "name",
    [
        "x:Side_Effect",
        f"{X}Side_Effect",
        f"<{X}Side_Effect>",
        "Side_Effect",
        "side effect",
        "SIDE-EFFECT",
        " side  effect ",
        "X:side-effect",
    ],
)
@pytest.mark.parametrize("profile", [Profile(size=ROOM), OPEN, UNREAD], ids=["exact", "not exact", "unread"])
async def test_a_type_goes_by_id_iri_local_name_and_label(name: str, profile: Profile) -> None:
    async with over(GRAPH, profile) as gateway:
        detailed = await asked(gateway, node_types=[name])
        excluded = await asked(gateway, exclude_node_types=[name])
    assert full_nodes(detailed) == ["x:e1"]
    assert ids(detailed) == ALL
    assert detailed.warnings is None
    assert ids(excluded) == [node for node in ALL if node != "x:e1"]


@pytest.mark.parametrize("name", ["Adverse event", "adverse_EVENT"])
async def test_a_type_goes_by_its_label_where_the_schema_is_known(name: str) -> None:
    async with over(GRAPH) as gateway:
        assert full_nodes(await asked(gateway, node_types=[name])) == ["x:e1"]


@pytest.mark.parametrize(
    "name", ["x:wrote", f"{X}wrote", f"<{X}wrote>", "WROTE", "is the author of", "Is-The_author OF"]
)
async def test_a_predicate_goes_by_id_iri_local_name_and_label(name: str) -> None:
    turtle = "x:seed x:wrote x:b1 {| x:confidence 0.5 |} ; x:knows x:p1 {| x:confidence 0.6 |} ."
    async with over(f"{turtle} x:wrote rdfs:label 'is the author of' .") as gateway:
        answer = await asked(gateway, predicates=[name])
    assert {edge.predicate: edge.metadata for edge in answer.edges} == {
        "x:wrote": {"confidence": 0.5},
        "x:knows": None,
    }
    assert all(node.metadata is not None for node in answer.nodes)


async def test_filters_of_detail_leave_every_item_in_place() -> None:
    async with over(GRAPH) as gateway:
        whole = await asked(gateway)
        filtered = await asked(gateway, node_types=["Book"], predicates=["x:knows"])
    assert ids(filtered) == ids(whole) == ALL
    assert triples(filtered) == triples(whole)
    assert (filtered.node_count, filtered.edge_count) == (whole.node_count, whole.edge_count)
    assert full_nodes(filtered) == ["x:b1", "x:b2"]


async def test_a_stub_is_an_id_and_a_type_and_nothing_else() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, node_types=["Book"])
    assert answer.as_json()["nodes"][0] == {"id": "x:seed", "entity_type": "x:Person"}


async def test_a_filter_matches_any_type_of_a_node() -> None:
    async with over(GRAPH) as gateway:
        by_rare = await asked(gateway, node_types=["Author"])
        by_frequent = await asked(gateway, node_types=["Person"])
        excluded = await asked(gateway, exclude_node_types=["Author"])
    assert full_nodes(by_rare) == ["x:p1"]
    assert full_nodes(by_frequent) == ["x:seed", "x:p1", "x:p2", "x:p3"]
    assert "x:p1" not in ids(excluded)


async def test_topology_only_overrides_the_filters_of_detail() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, topology_only=True, node_types=["Book"], predicates=["knows"])
    assert set(metadata(answer).values()) == {None}
    assert all(edge.metadata is None for edge in answer.edges)
    assert ids(answer) == ALL


async def test_a_name_that_means_several_means_all_and_warns() -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.bfs_query(["y:one"], 1, node_types=["same"])
        one = await gateway.bfs_query(["y:one"], 1, node_types=["y:Same"])
    assert full_nodes(answer) == ["y:one", "y:two"]
    assert answer.warnings is not None
    assert "x:Same, y:Same" in answer.warnings[0]
    assert full_nodes(one) == ["y:one"]
    assert one.warnings is None


@pytest.mark.parametrize(
    ("argument", "name", "nearest"),
    [("node_types", "Persn", "Person"), ("exclude_node_types", "Boook", "Book"), ("predicates", "knowz", "knows")],
)
async def test_an_unknown_name_is_an_error_that_names_the_nearest(argument: str, name: str, nearest: str) -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError) as caught:
            await asked(gateway, **{argument: [name]})
    assert argument in caught.value.wrong
    assert name in caught.value.wrong
    assert nearest in caught.value.valid
    assert caught.value.next_step


@pytest.mark.parametrize("argument", ["node_types", "exclude_node_types", "predicates"])
@pytest.mark.parametrize("profile", [OPEN, UNREAD], ids=["not exact", "unread"])
async def test_an_unknown_name_is_a_warning_where_the_schema_is_not_whole(profile: Profile, argument: str) -> None:
    async with over(GRAPH, profile) as gateway:
        assert (await gateway.describe_schema()).comprehensive is False
        answer = await asked(gateway, **{argument: ["Persnickety"]})
    assert ids(answer) == ALL
    assert answer.warnings is not None
    assert argument in answer.warnings[0]
    assert "Persnickety" in answer.warnings[0]


async def test_one_unknown_name_beside_a_known_one_leaves_the_known_one_working() -> None:
    async with over(GRAPH, OPEN) as gateway:
        answer = await asked(gateway, exclude_node_types=["Book", "Nonsense"])
    assert ids(answer) == [node for node in ALL if node not in {"x:b1", "x:b2"}]
    assert answer.warnings is not None
    assert len(answer.warnings) == 1


async def test_a_filter_takes_the_type_of_schema_terms() -> None:
    async with over("x:seed a x:Person ; x:knows x:Thing . x:Thing a owl:Class .") as gateway:
        answer = await asked(gateway, only_node_types=["owl:Class"])
    assert ids(answer) == ["x:seed", "x:Thing"]


async def test_untyped_is_a_name_of_its_own() -> None:
    async with over("x:seed a x:Person ; x:knows x:bare . x:bare x:knows x:end .") as gateway:
        detailed = await asked(gateway, node_types=["untyped"])
        excluded = await asked(gateway, exclude_node_types=["Untyped"])
    assert full_nodes(detailed) == ["x:bare", "x:end"]
    assert ids(excluded) == ["x:seed"]


@pytest.mark.parametrize("word", ["unknown", "untyped"])
async def test_a_class_that_is_called_like_a_word_of_the_protocol_is_meant_too(word: str) -> None:
    async with over(f"x:seed a x:{word} ; x:knows x:b .") as gateway:
        answer = await asked(gateway, node_types=[word])
    assert "x:seed" in full_nodes(answer)
    assert answer.warnings is not None


async def test_many_unknown_names_do_not_fill_the_answer_with_warnings() -> None:
    names = [f"{'n' * 50}{number}" for number in range(200)]
    async with over(GRAPH, Profile(limits=LimitSettings(scan_rows=8))) as gateway:
        answer = await asked(gateway, node_types=names)
    assert ids(answer) == ALL
    assert size_of(answer.as_json()) <= 32_000


async def test_excluding_removes_nodes_and_the_edges_that_touch_them_and_nothing_else() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, exclude_node_types=["Book"])
    assert ids(answer) == ["x:seed", "x:e1", "x:p1", "x:p2", "x:p3"]
    assert triples(answer) == [
        ("x:p1", "x:knows", "x:p3"),
        ("x:seed", "x:INCREASES_RISK", "x:e1"),
        ("x:seed", "x:knows", "x:p1"),
        ("x:seed", "x:knows", "x:p2"),
    ]
    assert (answer.node_count, answer.edge_count, answer.levels) == (5, 4, [1, 3, 1])
    assert answer.schema_summary.entity_types_found == ["x:Author", "x:Book", "x:Person", "x:Side_Effect"]
    assert "x:wrote" in answer.schema_summary.predicates_found
    assert answer.complete is True


async def test_excluding_works_on_the_result_and_a_node_left_without_edges_stays() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, exclude_node_types=["Author"])
    assert "x:p3" in ids(answer)
    assert not [edge for edge in triples(answer) if "x:p3" in edge]
    assert answer.levels == [1, 3, 2]


async def test_a_seed_of_an_excluded_type_stays_and_a_warning_says_so() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, exclude_node_types=["Person"])
    assert ids(answer) == ["x:seed", "x:b1", "x:e1", "x:b2"]
    assert answer.warnings is not None
    assert "x:seed" in answer.warnings[0]
    assert "exclude_node_types" in answer.warnings[0]
    assert answer.levels == [1, 2, 1]


async def test_min_mentions_removes_the_rarely_mentioned_and_keeps_seeds_and_those_without_a_number() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, min_mentions=3)
    assert ids(answer) == ["x:seed", "x:b1", "x:e1", "x:p1", "x:b2"]
    assert (answer.node_count, answer.edge_count) == (5, 3)
    assert answer.levels == [1, 3, 1]
    assert answer.warnings is not None
    assert "x:seed" in answer.warnings[0]


@pytest.mark.parametrize("least", [0, 1])
async def test_a_threshold_of_one_or_less_removes_nothing(least: int) -> None:
    async with over("x:seed x:knows x:zero . x:zero x:totalMentions 0 .") as gateway:
        answer = await asked(gateway, min_mentions=least)
    assert ids(answer) == ["x:seed", "x:zero"]


@pytest.mark.parametrize(
    ("value", "stays"),
    [
        ("3", True),
        ("3.0", True),
        ("2", False),
        ("2.5", False),
        ("-1", False),
        ("'2'", True),
        ("'many'", True),
        ("x:iri", True),
        ("1, 9", True),
        ("1, 2", False),
        ("'NaN'^^xsd:double", True),
        ("'abc'^^xsd:integer", True),
        ("2, 'many'", True),
    ],
)
async def test_a_node_is_removed_only_for_the_total_mentions_that_it_shows(value: str, stays: bool) -> None:
    async with over(f"x:seed x:knows x:n . x:n x:totalMentions {value} .") as gateway:
        shown = metadata(await gateway.bfs_query(["x:seed"], 1))["x:n"]
        answer = await gateway.bfs_query(["x:seed"], 1, min_mentions=3)
    assert shown is not None
    number = shown.get("total_mentions")
    assert stays is (number is None or (max(number) if isinstance(number, list) else number) >= 3)
    assert ("x:n" in ids(answer)) is stays


async def test_both_removing_filters_count_before_a_page_is_cut() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, exclude_node_types=["Book"], min_mentions=2, limit=2)
    assert ids(answer) == ["x:seed", "x:e1"]
    assert (answer.node_count, answer.edge_count, answer.levels) == (4, 3, [1, 3])
    assert answer.removed == {"exclude_node_types": 2, "min_mentions": 1}
    assert (answer.page, answer.next_offset) == ("1-2 of 4", 2)


async def test_an_answer_without_a_removed_node_does_not_speak_of_removing() -> None:
    async with over(GRAPH) as gateway:
        answer = await asked(gateway, exclude_node_types=["y:Same"])
    assert answer.removed is None
    assert answer.page is None


@pytest.mark.parametrize(("seeds", "warned"), [(["x:Book"], True), (["x:seed", "x:Book"], True), (["x:seed"], False)])
async def test_a_seed_that_is_a_type_is_warned_of_with_what_to_do(seeds: list[str], warned: bool) -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.bfs_query(seeds, 1)
    sentences = [warning for warning in answer.warnings or () if "x:Book is a type" in warning]
    assert len(sentences) == warned
    assert all("entity_type" in sentence and "search_entities" in sentence for sentence in sentences)


async def test_a_type_that_edges_lead_to_is_not_warned_of() -> None:
    by_occupation = "x:ann a x:Politician ; x:occupation x:Politician ; x:from x:spain . x:bob x:from x:spain ."
    async with over(by_occupation) as gateway:
        answers = [
            await gateway.bfs_query(["x:Politician"], 1),
            await gateway.bfs_query(["x:Politician"], 1, only_predicates=["^x:occupation"]),
            await gateway.bfs_query(["x:Politician"], 1, only_node_types=["untyped"]),
            await gateway.intersect_subgraphs(["x:Politician", "x:spain"], 1),
        ]
        nowhere = [
            await gateway.bfs_query(["x:Politician"], 1, only_predicates=["x:from"]),
            await gateway.intersect_subgraphs(["x:Politician", "x:bob"], 1),
        ]
    assert [answer.warnings for answer in answers] == [None] * 4
    assert ["x:Politician is a type" in str(answer.warnings) for answer in nowhere] == [True, True]


async def test_the_types_among_the_seeds_of_an_intersection_are_warned_of_in_one_sentence() -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.intersect_subgraphs(["x:Book", "x:Person"], 1)
    assert [warning[:32] for warning in answer.warnings or ()] == ["x:Book, x:Person are types: a no"]


async def test_filters_of_an_intersection_remove_and_detail_alike() -> None:
    turtle = "x:a a x:T ; x:p x:m1, x:m2 . x:b a x:T ; x:p x:m1, x:m2 . x:m1 a x:M ; x:totalMentions 1 . x:m2 a x:N ."
    async with over(turtle) as gateway:
        whole = await gateway.intersect_subgraphs(["x:a", "x:b"], 2)
        some = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, exclude_node_types=["M", "T"], node_types=["N"])
        often = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, min_mentions=2)
    assert ids(whole) == ["x:a", "x:b", "x:m1", "x:m2"]
    assert metadata(some) == {"x:a": None, "x:b": None, "x:m2": {}}
    assert ids(often) == ["x:a", "x:b", "x:m2"]
    assert some.schema_summary == whole.schema_summary
    assert some.warnings is not None
    assert len(some.warnings) == 2


_names = st.sampled_from(["Drug", "side effect", "Side_Effect", "SIDE-EFFECT", "INCREASES_RISK", "a b c", "Größe"])


@settings(derandomize=True, deadline=None)
@given(name=_names, separator=st.sampled_from(["_", "-", " ", "  ", "_-"]), upper=st.booleans())
def test_case_and_separators_never_decide_what_a_name_means(name: str, separator: str, upper: bool) -> None:
    vocabulary = TermLookup("type", [Term(f"{X}1", 1, name)], PrefixMap(PREFIXES), comprehensive=True)
    written = separator.join(name.replace("_", " ").replace("-", " ").split())
    assert vocabulary.choose("node_types", [written.upper() if upper else written.lower()]).iris == {f"{X}1"}


@settings(derandomize=True, deadline=None)
@given(text=st.text(max_size=30))
def test_any_text_as_a_filter_is_a_match_or_an_error_that_is_short(text: str) -> None:
    vocabulary = TermLookup("type", [Term(f"{X}Drug", 1, "drug")], PrefixMap(PREFIXES), comprehensive=True)
    try:
        chosen = vocabulary.choose("node_types", [text]).iris
    except InputError as error:
        shown = str(error)
    else:
        shown = "".join(chosen)
        assert chosen == {f"{X}Drug"}
    assert 0 < len(shown) < 500
