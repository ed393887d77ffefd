"""What an answer says about an edge: its assertions, and nothing that is no evidence (docs/contract.md, "Evidence")."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.metadata import MetadataBuilder
from gateway.answers.models import BfsResult, Edge
from gateway.answers.reference import edge_metadata
from gateway.errors import EndpointFault
from gateway.graph.values import Assertion, BlankNode, Evidence, NoValue, Properties, Resource, Value
from gateway.messages import EVIDENCE_REFUSED
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings, EvidenceWay, RoleSettings
from gateway.terms.iri import BIOLINK
from gateway.terms.literals import Literal
from gateway.terms.prefixes import PrefixMap
from tests.small import PREFIXES, ROOM, Watched, X, engine, ids, over, triples

XSD = PREFIXES["xsd"]
STATEMENT = "rdf:subject x:a ; rdf:predicate x:rel ; rdf:object x:b"


async def around(turtle: str, seed: str = "x:a", hops: int = 1, profile: Profile | None = None) -> BfsResult:
    """Ask for a neighbourhood of a small graph."""
    async with over(turtle, profile) as gateway:
        return await gateway.bfs_query([seed], hops)


async def only_edge(turtle: str, profile: Profile | None = None) -> Edge:
    """Return the one edge of a small graph."""
    (edge,) = (await around(turtle, profile=profile)).edges
    return edge


pytestmark = pytest.mark.anyio


async def test_one_assertion_is_flat() -> None:
    edge = await only_edge("x:a x:rel x:b {| x:confidence 0.9 ; dct:source 'S1' ; x:method 'trial' |} .")
    assert edge.metadata == {"confidence": 0.9, "source_documents": ["S1"], "x:method": "trial"}


async def test_several_assertions_are_a_list_and_their_sources_a_sorted_union() -> None:
    edge = await only_edge(
        "x:a x:rel x:b {| x:confidence 0.9 ; dct:source 'S2', 'S3' |} {| x:confidence 0.5 ; dct:source 'S1', 'S2' |} ."
    )
    assert edge.metadata is not None
    assert edge.metadata["source_documents"] == ["S1", "S2", "S3"]
    assert "confidence" not in edge.metadata
    assert sorted(edge.metadata["assertions"], key=lambda assertion: float(assertion["confidence"])) == [
        {"confidence": 0.5, "source_documents": ["S1", "S2"]},
        {"confidence": 0.9, "source_documents": ["S2", "S3"]},
    ]


async def test_a_confidence_on_which_all_assertions_agree_stands_at_the_top() -> None:
    edge = await only_edge(
        "x:a x:rel x:b {| x:confidence 0.5 ; dct:source 'S1' |} {| x:confidence 0.5 ; dct:source 'S2' |} ."
    )
    assert edge.metadata is not None
    assert edge.metadata["confidence"] == 0.5


async def test_a_confidence_that_one_assertion_lacks_is_not_agreed_on() -> None:
    edge = await only_edge("x:a x:rel x:b {| x:confidence 0.5 |} {| dct:source 'S2' |} .")
    assert edge.metadata is not None
    assert set(edge.metadata) == {"assertions", "source_documents"}


async def test_identical_assertions_are_all_listed() -> None:
    edge = await only_edge(
        "x:a x:rel x:b {| x:confidence 0.5 ; dct:source 'S1' |} {| x:confidence 0.5 ; dct:source 'S1' |} ."
    )
    assert edge.metadata == {
        "confidence": 0.5,
        "source_documents": ["S1"],
        "assertions": [{"confidence": 0.5, "source_documents": ["S1"]}] * 2,
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.80", {"confidence": 0.8}),
        ("'0.95'^^xsd:double", {"confidence": 0.95}),
        ("1", {"confidence": 1}),
        ("'0.9'", {"x:confidence": "0.9"}),
        ("'high'", {"x:confidence": "high"}),
        ("'abc'^^xsd:decimal", {"x:confidence": "abc"}),
        ("'NaN'^^xsd:double", {"x:confidence": "NaN"}),
        ("true", {"x:confidence": True}),
        ("0.4, 0.6", {"confidence": [0.4, 0.6]}),
        ("0.4, 'low'", {"x:confidence": [0.4, "low"]}),
    ],
)
async def test_only_numbers_are_a_confidence(value: str, expected: dict[str, Any]) -> None:
    assert (await only_edge(f"x:a x:rel x:b {{| x:confidence {value} |}} .")).metadata == expected


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ("dct:source 'S1'", ["S1"]),
        ("dct:source x:doc1", ["x:doc1"]),
        ("dct:source 'S2', 'S1', x:doc1", ["S1", "S2", "x:doc1"]),
        ("dct:source 'S1' ; prov:wasDerivedFrom x:doc2 ; x:publications 'S1', 'S3'", ["S1", "S3", "x:doc2"]),
    ],
)
async def test_sources_are_texts_or_ids_of_every_predicate_of_the_role(sources: str, expected: list[str]) -> None:
    assert (await only_edge(f"x:a x:rel x:b {{| {sources} |}} .")).metadata == {"source_documents": expected}


async def test_a_source_text_becomes_the_id_of_its_node_where_the_profile_says_how() -> None:
    profile = Profile(size=ROOM, roles=RoleSettings(source_id="x:paper-{value}"))
    edge = await only_edge("x:a x:rel x:b {| dct:source 'S1', x:doc |} {| dct:source 'S2' |} .", profile)
    assert edge.metadata is not None
    assert edge.metadata["source_documents"] == ["x:doc", "x:paper-S1", "x:paper-S2"]


async def test_a_long_quote_is_left_out_and_counted() -> None:
    quote = "q" * 61
    answer = await around(
        f"x:a x:rel x:b {{| x:quote '{quote}', '{quote}2', 'short' ; x:confidence 0.5 |}} . "
        f"x:a x:rel x:c {{| x:quote '{quote}' |}} ."
    )
    assert [edge.metadata for edge in answer.edges] == [{"confidence": 0.5, "x:quote": "short"}, None]
    assert answer.omitted_texts == {"x:quote": 3}


async def test_a_text_of_just_the_length_that_the_profile_allows_is_listed() -> None:
    turtle = "x:a x:rel x:b {| x:quote '12345' |} {| x:quote '123456' |} ."
    answer = await around(turtle, profile=Profile(size=SizeSettings(evidence_text_characters=5)))
    assert answer.edges[0].metadata is not None
    assert answer.omitted_texts == {"x:quote": 1}
    assert "12345" in str(answer.edges[0].metadata)
    assert "123456" not in str(answer.edges[0].metadata)


async def test_quotes_that_nobody_asked_for_are_not_counted() -> None:
    async with over(f"x:a x:rel x:b {{| x:quote '{'q' * 99}' |}} . x:y x:unused x:z .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, topology_only=True)
        other = await gateway.bfs_query(["x:a"], 1, predicates=["unused"])
    assert answer.omitted_texts is None
    assert other.omitted_texts is None


async def test_a_source_is_no_quote_however_long_it_is() -> None:
    source = "https://example.org/journal/2024/volume/12/issue/3/article/0123456789"
    edge = await only_edge(f"x:a x:rel x:b {{| x:confidence 0.5 ; dct:source '{source}' |}} .")
    assert edge.metadata == {"confidence": 0.5, "source_documents": [source]}


@pytest.mark.parametrize(
    "statement",
    [
        f"[] a rdf:Statement ; {STATEMENT} ; x:confidence 0.6 ; dct:source 'S1' .",
        f"x:s a rdf:Statement ; {STATEMENT} ; x:confidence 0.6 ; dct:source 'S1' .",
        f"x:s {STATEMENT} ; x:confidence 0.6 ; dct:source 'S1' .",
        "x:s rdf:reifies <<( x:a x:rel x:b )>> ; x:confidence 0.6 ; dct:source 'S1' .",
        "[] rdf:reifies <<( x:a x:rel x:b )>> ; x:confidence 0.6 ; dct:source 'S1' .",
        f"x:s a rdf:Statement ; {STATEMENT} ; rdf:reifies <<( x:a x:rel x:b )>> ; x:confidence 0.6 ; dct:source 'S1' .",
    ],
    ids=["blank statement", "named statement", "untyped statement", "named reifier", "blank reifier", "both"],
)
async def test_every_way_to_state_evidence_is_read_and_one_node_is_one_assertion(statement: str) -> None:
    edge = await only_edge(f"x:a x:rel x:b . {statement}")
    assert edge.metadata == {"confidence": 0.6, "source_documents": ["S1"]}


async def test_a_blank_node_that_states_an_edge_in_both_ways_is_one_assertion() -> None:
    edge = await only_edge(
        f"x:a x:rel x:b . [] a rdf:Statement ; {STATEMENT} ; rdf:reifies <<( x:a x:rel x:b )>> ; x:confidence 0.5 ."
    )
    assert edge.metadata == {"confidence": 0.5}


@pytest.mark.parametrize(
    ("way", "statement"),
    [
        ("annotations", "rdf:reifies <<( x:a x:rel x:b )>>"),
        ("biolink", "biolink:subject x:a ; biolink:predicate x:rel ; biolink:object x:b"),
    ],
)
async def test_a_node_that_is_a_statement_too_is_listed_by_the_only_way_that_a_profile_names(
    way: EvidenceWay, statement: str
) -> None:
    turtle = f"@prefix biolink: <{BIOLINK}> . x:a x:rel x:b . x:s {STATEMENT} ; {statement} ; x:confidence 0.5 ."
    edge = await only_edge(turtle, Profile(size=ROOM, evidence=EvidenceSettings(ways=(way,))))
    assert edge.metadata == {"confidence": 0.5}


async def test_an_annotation_and_a_statement_are_two_assertions() -> None:
    edge = await only_edge(
        f"x:a x:rel x:b {{| x:confidence 0.5 |}} . [] a rdf:Statement ; {STATEMENT} ; x:confidence 0.6 . "
        f"[] a rdf:Statement ; {STATEMENT} ; x:confidence 0.7 ."
    )
    assert edge.metadata is not None
    assert [assertion["confidence"] for assertion in edge.metadata["assertions"]] == [0.5, 0.6, 0.7]


async def test_one_reifier_of_two_edges_is_evidence_of_both() -> None:
    answer = await around("x:a x:rel x:b ~ x:r . x:a x:rel x:c ~ x:r . x:r x:confidence 0.77 .")
    assert [edge.metadata for edge in answer.edges] == [{"confidence": 0.77}] * 2


async def test_evidence_belongs_to_its_triple_and_not_to_its_nodes() -> None:
    answer = await around("x:a x:rel x:b {| x:confidence 0.5 |} ; x:rel2 x:b . x:b x:rel x:a .")
    assert {(edge.subject, edge.predicate): edge.metadata for edge in answer.edges} == {
        ("x:a", "x:rel"): {"confidence": 0.5},
        ("x:a", "x:rel2"): None,
        ("x:b", "x:rel"): None,
    }


async def test_an_edge_without_evidence_has_no_metadata_key() -> None:
    answer = await around("x:a x:rel x:b . x:c x:rel x:d {| x:confidence 0.5 |} .")
    assert answer.as_json()["edges"] == [{"subject": "x:a", "predicate": "x:rel", "object": "x:b"}]


async def test_a_reifier_without_content_says_nothing() -> None:
    answer = await around("x:a x:rel x:b ~ . x:a x:rel x:c ~ x:r . x:a x:rel x:d ~ {| x:confidence 0.5 |} .")
    assert [edge.metadata for edge in answer.edges] == [None, None, {"confidence": 0.5}]


async def test_the_evidence_of_a_self_loop_is_listed() -> None:
    edge = await only_edge("x:a x:rel x:a {| x:confidence 0.5 |} .")
    assert edge.metadata == {"confidence": 0.5}


async def test_an_annotated_triple_that_is_not_asserted_is_no_edge() -> None:
    turtle = (
        "x:a rdfs:label 'A' . x:r rdf:reifies <<( x:a x:rel x:b )>> ; x:confidence 0.3 . "
        "[] a rdf:Statement ; rdf:subject x:a ; rdf:predicate x:rel2 ; rdf:object x:c ; x:confidence 0.6 . "
        "<< x:a x:rel3 x:d ~ x:r3 >> x:confidence 0.1 ."
    )
    answer = await around(turtle, hops=3)
    assert ids(answer) == ["x:a"]
    assert answer.edge_count == 0
    assert answer.schema_summary.predicates_found == []


WITH_EVIDENCE_NODES = f"""
x:a x:rel x:b ~ x:r {{| x:reviewedBy x:reviewer ; dct:source x:doc ; x:confidence 0.9 |}} .
x:s a rdf:Statement ; {STATEMENT} ; prov:wasDerivedFrom x:doc ; x:reviewedBy x:a .
[] a rdf:Statement ; {STATEMENT} ; dct:source x:doc .
x:note x:about x:s, x:r . x:witness x:saw x:r ; x:knows x:b .
x:doc x:cites x:other . x:reviewer x:knows x:b .
"""


async def test_evidence_nodes_are_never_nodes_of_a_traversal() -> None:
    answer = await around(WITH_EVIDENCE_NODES, hops=5)
    assert ids(answer) == ["x:a", "x:b", "x:reviewer", "x:witness"]
    assert triples(answer) == [
        ("x:a", "x:rel", "x:b"),
        ("x:reviewer", "x:knows", "x:b"),
        ("x:witness", "x:knows", "x:b"),
    ]
    assert answer.blank_node_edges is None
    assert answer.schema_summary.entity_types_found == ["untyped"]


async def test_what_points_at_evidence_or_is_pointed_at_by_it_gains_no_edge() -> None:
    assert ids(await around(WITH_EVIDENCE_NODES, "x:note", 2)) == ["x:note"]
    assert ids(await around(WITH_EVIDENCE_NODES, "x:doc", 2)) == ["x:doc", "x:other"]
    assert ids(await around(WITH_EVIDENCE_NODES, "x:s", 2)) == ["x:s"]
    assert ids(await around(WITH_EVIDENCE_NODES, "x:r", 2)) == ["x:r"]


async def test_an_intersection_finds_no_way_through_evidence() -> None:
    async with over(WITH_EVIDENCE_NODES) as gateway:
        answer = await gateway.intersect_subgraphs(["x:doc", "x:a"], 5)
    assert ids(answer) == []
    assert answer.complete is True


async def test_a_reader_learns_that_the_endpoint_refuses_to_be_asked_for_evidence() -> None:
    refusing = Profile(edges=EdgeSettings(evidence_nodes=False), evidence=EvidenceSettings(ways="refused"))
    async with over(WITH_EVIDENCE_NODES, refusing) as gateway:
        schema, around_a = await gateway.describe_schema(), await gateway.bfs_query(["x:a"], 1)
        common = await gateway.intersect_subgraphs(["x:a", "x:b"], 1)
    assert "x:s" in ids(around_a)
    assert all(edge.metadata is None for edge in around_a.edges)
    for answer in (schema, around_a, common):
        assert EVIDENCE_REFUSED in (answer.warnings or ())


async def test_the_schema_counts_no_evidence() -> None:
    async with over(WITH_EVIDENCE_NODES) as gateway:
        schema = await gateway.describe_schema()
    assert schema.counts == {"x:knows": 2, "x:cites": 1, "x:rel": 1}
    assert schema.entity_types == []


async def test_a_document_that_stands_as_a_source_can_be_described() -> None:
    async with over("x:a x:rel x:b {| dct:source x:doc |} . x:doc rdfs:label 'Document' .") as gateway:
        (edge,) = (await gateway.bfs_query(["x:a"], 1)).edges
        assert edge.metadata is not None
        (source,) = edge.metadata["source_documents"]
        assert (await gateway.describe_entity(source)).as_json()["name"] == "Document"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("true", {"negated": True}),
        ("'true'", {"negated": True}),
        ("'1'^^xsd:boolean", {"negated": True}),
        *((value, {"negated": True}) for value in ("'1'", "'yes'", "'YES '@en", "'Yes'^^x:flag", "' True'")),
        *((value, {"negated": True}) for value in ("1", "1.0", "1e0", "'01'^^xsd:byte", "true, 'yes', 1")),
        ("false", {"x:negated": False}),
        ("'no'", {"x:negated": "no"}),
        ("0", {"x:negated": 0}),
        ("2", {"x:negated": 2}),
        ("'1 source'", {"x:negated": "1 source"}),
        ("'yes', 'no'", {"x:negated": ["no", "yes"]}),
        ("true, false", {"x:negated": [False, True]}),
        ("x:claim", {"x:negated": "x:claim"}),
    ],
)
async def test_only_a_flag_that_is_set_denies_an_edge(value: str, expected: dict[str, Any]) -> None:
    edge = await only_edge(f"x:a x:rel x:b {{| x:negated {value} |}} .")
    assert edge.metadata == expected


async def test_an_answer_says_how_many_of_its_edges_are_denied() -> None:
    answer = await around(
        "x:a x:rel x:b {| x:negated true |} {| x:confidence 0.5 |} ; "
        "x:rel x:c {| x:negated true |} {| x:negated true |} ; x:rel x:d {| x:negated false |} ; x:rel x:e ."
    )
    assert {edge.object: edge.metadata for edge in answer.edges} == {
        "x:b": {"assertions": [{"negated": True}, {"confidence": 0.5}]},
        "x:c": {"negated": True, "assertions": [{"negated": True}] * 2},
        "x:d": {"x:negated": False},
        "x:e": None,
    }
    (warning,) = answer.warnings or []
    assert warning == (
        "negated: 2 of the edges shown are denied by an assertion that says the contrary, 1 of them by every assertion "
        "there is. Do not read these as facts."
    )


async def test_an_answer_without_denied_edges_does_not_warn_of_any() -> None:
    assert (await around("x:a x:rel x:b {| x:negated false |} .")).warnings is None


async def test_that_an_edge_is_denied_is_not_dropped_for_size() -> None:
    notes = "".join(f" ; x:note{number} 'some more words about it {number}'" for number in range(20))
    edges = "".join(f"x:a x:rel x:n{number} {{| x:negated true {notes} |}} . " for number in range(9))
    answer = await around(edges, profile=Profile(size=SizeSettings(max_tokens=600)))
    assert answer.degraded is not None
    assert answer.degraded["edges_bare"] > 0
    assert all(edge.metadata is not None and edge.metadata["negated"] is True for edge in answer.edges)
    assert answer.warnings is not None
    assert answer.warnings[0].startswith(f"negated: {len(answer.edges)} of the edges shown are denied")


async def test_that_an_edge_is_denied_is_said_where_not_even_bare_edges_fit_on_the_page() -> None:
    edges = "".join(f"x:a x:rel x:n{number} {{| x:negated true |}} . " for number in range(90))
    answer = await around(edges, profile=Profile(size=SizeSettings(max_tokens=600)))
    assert answer.next_offset is not None
    assert all(edge.metadata is not None and edge.metadata["negated"] is True for edge in answer.edges)
    assert answer.warnings is not None
    assert answer.warnings[0].startswith(f"negated: {len(answer.edges)} of the edges shown are denied")


@pytest.mark.parametrize(("stated", "counted"), [("", None), ("x:n0 x:rel x:a {| x:note 'once' |} .", 1)])
async def test_only_edges_about_which_something_is_stated_are_counted_as_bare(stated: str, counted: int | None) -> None:
    edges = "".join(f"x:a x:rel x:n{number} ; x:of x:n{number} . " for number in range(90))
    answer = await around(stated + edges, profile=Profile(size=SizeSettings(max_tokens=600)))
    assert answer.next_offset is not None
    assert (answer.degraded or {}).get("edges_bare") == counted


async def test_what_denies_an_edge_is_not_cut_off_with_the_end_of_a_long_list() -> None:
    doubts = "".join(f" {{| x:note '{number:03}' |}}" for number in range(150))
    edge = await only_edge(
        f"x:a x:rel x:b {doubts} {{| x:negated true ; x:note 'zzz' |}} .", Profile(size=SizeSettings(max_tokens=300))
    )
    assert edge.metadata is not None
    assert edge.metadata["assertions"][0] == {"negated": True, "x:note": "zzz"}


def written(assertions: Sequence[Assertion], profile: Profile | None = None) -> dict[str, Any]:
    """Return the metadata of an edge with these assertions, as an answer has it."""
    metadata = MetadataBuilder(profile or Profile(), PrefixMap(PREFIXES)).edge(Evidence(tuple(assertions)), {})
    return {} if metadata is None else edge_metadata(metadata)


async def test_a_source_in_a_role_of_its_own_names_graphs_and_references_beside_those_of_predicates() -> None:
    profile = Profile(roles=RoleSettings(source=(f"{X}from",)))
    reference = BlankNode({f"{X}from": (Resource(f"{X}book"), NoValue(unknown=True)), f"{X}page": (Literal("7"),)})
    assertion = Assertion({f"{X}from": (Resource(f"{X}paper"),), f"{X}ref": (reference,)}, (f"{X}graph",))
    assert written([assertion], profile) == {
        "source_documents": ["x:book", "x:graph", "x:paper"],
        "x:ref": {"x:from": ["x:book", {"unknown": True}], "x:page": "7"},
    }


async def test_evidence_that_could_not_be_fetched_is_counted_and_the_topology_is_whole() -> None:
    async def hook(query: str) -> None:
        if "rdf:reifies <<(" in query:
            raise EndpointFault("No evidence today.")

    async with over(Watched(engine("x:a x:rel x:b {| x:confidence 0.5 |} ; x:rel x:c ."), hook)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    assert answer.complete is True
    assert [edge.metadata for edge in answer.edges] == [None, None]
    assert answer.degraded == {"metadata_failed": 2}


_numbers = st.sampled_from(["0.1", "0.5", "1", "abc"]).map(lambda text: Literal(text, f"{XSD}decimal"))
_sources: st.SearchStrategy[Value] = st.sampled_from("PQR").map(Literal) | st.just(Resource(f"{X}doc"))
_assertions: st.SearchStrategy[Properties] = st.fixed_dictionaries(
    {},
    optional={
        f"{X}confidence": st.lists(_numbers, min_size=1, max_size=2, unique=True).map(tuple),
        f"{PREFIXES['dct']}source": st.lists(_sources, min_size=1, max_size=3, unique=True).map(tuple),
        f"{X}method": st.just((Literal("m"),)),
    },
).filter(bool)


@settings(derandomize=True, deadline=None)
@given(assertions=st.lists(_assertions, max_size=4))
def test_nothing_about_an_edge_is_averaged_invented_or_lost(assertions: Sequence[Properties]) -> None:
    alone = [written([Assertion(one)]) for one in assertions]
    together = written([Assertion(one) for one in assertions])
    if len(assertions) <= 1:
        assert together == (alone[0] if alone else {})
        return
    assert sorted(together["assertions"], key=repr) == sorted(alone, key=repr)
    confidences = [one.get("confidence") for one in alone]
    agreed = confidences[0] if all(one == confidences[0] for one in confidences) else None
    assert together.get("confidence") == agreed
    assert together.get("source_documents", []) == sorted(
        {name for one in alone for name in one.get("source_documents", [])}
    )
    assert set(together) <= {"assertions", "confidence", "source_documents"}


@settings(derandomize=True, deadline=None)
@given(order=st.permutations(range(4)))
def test_the_order_in_which_an_engine_returns_assertions_does_not_matter(order: Sequence[int]) -> None:
    assertions = [Assertion({f"{X}confidence": (Literal(f"0.{number}", f"{XSD}decimal"),)}) for number in range(4)]
    assert written([assertions[number] for number in order]) == written(assertions)
