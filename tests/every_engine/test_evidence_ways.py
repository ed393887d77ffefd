"""Every way in which a graph states something about an edge, on every engine that can hold it.

What is returned: docs/contract.md, "Evidence". The fixtures number their cases; `fixtures/README.md` lists them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gateway.answers.models import BfsResult
from gateway.settings.limits import OrientationSettings, SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, RoleSettings
from gateway.terms.iri import RDF
from tests.columns import Column
from tests.graphs import SHARED
from tests.oracle import EdgeRule, OracleGraph, bfs
from tests.shared_data import shared_data
from tests.wikidata.readable import labelled, unreadable

pytestmark = pytest.mark.anyio

ROOM = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)
WB = "https://wb.example.org/"
WIKIBASE = Profile(
    size=ROOM,
    prefixes={
        "wd": f"{WB}entity/",
        "wdt": f"{WB}prop/direct/",
        "pq": f"{WB}prop/qualifier/",
        "pr": f"{WB}prop/reference/",
        "wikibase": "http://wikiba.se/ontology#",
        "prov": "http://www.w3.org/ns/prov#",
    },
    edges=EdgeSettings(allowed=(f"{WB}prop/direct/*",), evidence_nodes=False),
    roles=RoleSettings(source=(f"{WB}prop/reference/P3", f"{WB}prop/reference/P4")),
)
_SHARED = {"rdf": RDF, "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "dct": "http://purl.org/dc/terms/"}
MARRIAGES = Profile(
    size=ROOM,
    prefixes={
        "": "https://example.org/marriages/",
        "v": "https://example.org/marriages/vocabulary/",
        **_SHARED,
    },
)
ASSOCIATIONS = Profile(
    size=ROOM,
    prefixes={
        "": "https://example.org/associations/",
        "v": "https://example.org/associations/vocabulary/",
        "biolink": "https://w3id.org/biolink/vocab/",
        "infores": "https://w3id.org/biolink/infores/",
        "oban": "http://purl.org/oban/",
        **_SHARED,
    },
)

EdgeMetadata = Mapping[tuple[str, str, str], Any]


def metadata_of(answer: BfsResult) -> EdgeMetadata:
    """Return the metadata of each edge."""
    return {(edge.subject, edge.predicate, edge.object): edge.metadata for edge in answer.edges}


async def around(engine: Column, graph: str, profile: Profile, *seeds: str, hops: int = 1) -> BfsResult:
    """Ask for a neighbourhood, and for what it cost."""
    async with engine.open(graph, profile) as gateway:
        return await gateway.bfs_query(seeds, hops, explain=True)


def evidence_queries(answer: BfsResult) -> Counter[str]:
    """Count the queries that were sent for evidence, by template, without the probe."""
    assert answer.explain is not None
    sent = Counter(query.template for query in answer.explain.sent if query.template.startswith("evidence/"))
    del sent["evidence/in_use"]
    return sent


async def test_statements_of_a_wikibase_tell_rank_qualifiers_and_references(engine: Column) -> None:
    answer = await around(engine, "wikibase", WIKIBASE, "wd:Q1")
    reference = {"pr:P2": "2001-01-01T00:00:00Z", "pr:P3": "wd:Q6"}
    url = "https://choir.example.org/members"
    assert metadata_of(answer) == {
        ("wd:Q1", "wdt:P1", "wd:Q2"): {
            "source_documents": [url, "wd:Q6"],
            "pq:P1": ["wd:Q3", "wd:Q4"],
            "pq:P2": "1999-01-01T00:00:00Z",
            "pq:P99": "first row",
            "prov:wasDerivedFrom": [reference, {"pr:P4": url}],
            "wikibase:rank": "wikibase:NormalRank",
        },
        ("wd:Q1", "wdt:P1", "wd:Q3"): {
            "source_documents": ["wd:Q6"],
            "assertions": [
                {
                    "source_documents": ["wd:Q6"],
                    "pq:P2": "2003-01-01T00:00:00Z",
                    "prov:wasDerivedFrom": reference,
                    "wikibase:rank": "wikibase:PreferredRank",
                },
                {
                    "source_documents": ["wd:Q6"],
                    "prov:wasDerivedFrom": reference,
                    "wikibase:rank": "wikibase:DeprecatedRank",
                },
                {"wikibase:rank": "wikibase:NormalRank"},
                {"wikibase:rank": "wikibase:NormalRank"},
            ],
        },
        ("wd:Q1", "wdt:P1", "wd:Q4"): {
            "pq:P1": [{"unknown": True}, {"unknown": True}],
            "pq:P2": {"unknown": True},
            "pq:P5": {"no_value": True},
            "prov:wasDerivedFrom": [
                {"pr:P2": "2002-01-01T00:00:00Z", "pr:P3": {"no_value": True}},
                {"pr:P4": {"no_value": True}},
            ],
            "wikibase:rank": "wikibase:NormalRank",
        },
        ("wd:Q1", "wdt:P1", "wd:Q5"): None,
    }
    assert evidence_queries(answer) == {"evidence/wikibase": 1}
    assert answer.complete
    assert answer.degraded is None


async def test_a_slice_of_wikidata_returns_its_statements_under_the_profile_that_comes_with_the_gateway(
    engine: Column,
) -> None:
    profile = load_profile("wikidata-local").model_copy(update={"size": ROOM})
    answer = await around(engine, "wikidata-slice", profile, "wd:Q42", "wd:Q7251")
    edges = metadata_of(answer)
    normal = {"wikibase:rank": "wikibase:NormalRank"}
    book = {"pr:P248": "wd:Q36578", "pr:P813": "2024-01-15T00:00:00Z"}
    page = "https://example.org/a-page-about-douglas-adams"
    assert edges["wd:Q42", "wdt:P69", "wd:Q691283"] == {
        "source_documents": ["wd:Q36578"],
        "pq:P512": "wd:Q1765120",
        "pq:P580": "1971-01-01T00:00:00Z",
        "pq:P582": "1974",
        "prov:wasDerivedFrom": book,
        **normal,
    }
    assert edges["wd:Q42", "wdt:P106", "wd:Q36180"] == {
        "source_documents": [page, "wd:Q36578"],
        "prov:wasDerivedFrom": [book, {"pr:P854": page}],
        **normal,
    }
    assert edges["wd:Q42", "wdt:P27", "wd:Q145"] == normal
    assert edges["wd:Q42", "wdt:P19", "wd:Q350"] is None
    assert edges["wd:Q7251", "wdt:P69", "wd:Q35794"] == {
        "assertions": [
            {"pq:P101": "wd:Q395", "pq:P582": "1935-01-01T00:00:00Z", **normal},
            {"pq:P580": "1931-01-01T00:00:00Z", "pq:P582": "1934-01-01T00:00:00Z", **normal},
        ]
    }
    assert evidence_queries(answer) == {"evidence/wikibase": 1}


QUALIFIED: Sequence[tuple[tuple[str, str, str], Any]] = [
    (
        ("wd:Q126599", "wdt:P166", "wd:Q602866"),
        {"pq:P155": "wd:Q132952", "pq:P156": "wd:Q686301", "pq:P1686": ["wd:Q60487", "wd:Q624603"]},
    ),
    (
        ("wd:Q42786", "wdt:P1411", "wd:Q103618"),
        {
            "assertions": [
                {"pq:P1686": "wd:Q152493", "pq:P805": "wd:Q608130"},
                {"pq:P1686": "wd:Q193066", "pq:P805": "wd:Q917163"},
                {"pq:P1686": "wd:Q201293", "pq:P805": "wd:Q516479"},
                {"pq:P1686": "wd:Q781608", "pq:P805": "wd:Q917167"},
            ]
        },
    ),
    (("wd:Q180228", "wdt:P161", "wd:Q311613"), {"pq:P453": ["wd:Q6738319", "wd:Q735712"]}),
]
"""`wd50k-known-answers.md`, "Three edges with qualifiers"."""


@pytest.mark.data
@pytest.mark.large
@pytest.mark.parametrize("graph", ["wd50k", "wd50k-rdf12"])
async def test_qualified_edges_tell_all_their_qualifiers_one_entry_a_statement(engine: Column, graph: str) -> None:
    shared_data(SHARED[graph])
    if graph not in engine.files:
        assert not engine.annotated
        return
    profile = load_profile("wikidata-local").model_copy(update={"size": ROOM})
    seeds = [subject for (subject, _, _), _ in QUALIFIED]
    answer = await around(engine, graph, profile, *seeds)
    edges = metadata_of(answer)
    assert {edge: edges[edge] for edge, _ in QUALIFIED} == dict(QUALIFIED)
    assert unreadable(answer.as_json(), labelled(shared_data("wd50k.nt.gz"))) == set()
    assert answer.complete
    assert answer.degraded is None
    # The RDF 1.2 file has the entities of properties too, so statement nodes are looked for there in vain.
    expected = {"evidence/wikibase"} | ({"evidence/annotations"} if graph == "wd50k-rdf12" else set())
    assert evidence_queries(answer) == dict.fromkeys(expected, 1)


async def test_singleton_properties_tell_what_is_said_of_each_use_of_a_property(engine: Column) -> None:
    answer = await around(engine, "singletons", MARRIAGES, ":Bob_Dylan", ":Sara_Lownds")
    assert metadata_of(answer) == {
        (":Bob_Dylan", "v:marriedTo", ":Carolyn_Dennis"): {
            "source_documents": [":biography"],
            "assertions": [{"source_documents": [":biography"]}, {"source_documents": [":biography"]}],
        },
        (":Bob_Dylan", "v:marriedTo", ":Sara_Lownds"): {
            "source_documents": [":biography", ":register"],
            "assertions": [
                {"confidence": 0.9, "source_documents": [":register"], "v:from": 1965},
                {"source_documents": [":biography"], "v:from": 1965, "v:until": 1977},
            ],
        },
        (":Bob_Dylan", "v:wrote", ":Lay_Lady_Lay"): None,
        (":Sara_Lownds", "v:marriedTo", ":Hans_Lownds"): {"source_documents": [":register"]},
    }
    assert evidence_queries(answer) == {"evidence/singletons": 1}
    assert answer.complete


async def test_associations_tell_what_they_say_of_the_triple_that_they_name(engine: Column) -> None:
    answer = await around(engine, "associations", ASSOCIATIONS, ":metformin", ":TCF7L2")
    assert metadata_of(answer) == {
        (":TCF7L2", "v:associatedWith", ":diabetes"): {"confidence": 0.8, "source_documents": [":paper1"]},
        (":TCF7L2", "v:associatedWith", ":obesity"): {"source_documents": [":paper2"]},
        (":metformin", "biolink:affects", ":AMPK"): {"source_documents": [":paper2"], "biolink:negated": False},
        (":metformin", "biolink:affects", ":GLP1"): {"source_documents": [":paper1"]},
        (":metformin", "biolink:affects", ":mTOR"): {"source_documents": [":paper1"]},
        (":metformin", "biolink:causes", ":hypoglycemia"): {"negated": True, "source_documents": [":paper1"]},
        (":metformin", "biolink:causes", ":lactic_acidosis"): {
            "source_documents": [":paper1", ":paper2"],
            "assertions": [
                {"negated": True, "source_documents": [":paper2"]},
                {"source_documents": [":paper1"]},
            ],
        },
        (":metformin", "biolink:causes", ":nausea"): {
            "source_documents": [":paper1"],
            "assertions": [{"source_documents": [":paper1"]}, {"source_documents": [":paper1"]}],
        },
        (":metformin", "biolink:treats", ":diabetes"): {
            "source_documents": [":paper1", ":paper2"],
            "biolink:negated": False,
            "biolink:primary_knowledge_source": "infores:example",
            "rdf:type": "biolink:ChemicalToDiseaseOrPhenotypicFeatureAssociation",
        },
        (":metformin", "biolink:treats", ":obesity"): None,
        # The triples that these name are not asserted, so they are all that there is.
        (":a8", "biolink:subject", ":metformin"): None,
        (":o3", "oban:association_has_subject", ":TCF7L2"): None,
    }
    assert evidence_queries(answer) == {"evidence/reified": 3}
    (warning,) = answer.warnings or []
    assert warning.startswith("negated: 2 of the edges shown are denied")
    assert "1 of them by every assertion" in warning


async def test_an_association_whose_triple_is_not_asserted_still_connects_its_two_ends(engine: Column) -> None:
    answer = await around(engine, "associations", ASSOCIATIONS, ":migraine", hops=2)
    assert {":metformin", ":TCF7L2", ":a8", ":o3"} < {node.id for node in answer.nodes}
    assert not {node.id for node in answer.nodes} & {":a1", ":a2", ":a7", ":o1", ":o2"}


@pytest.mark.parametrize(("graph", "profile"), [("singletons", MARRIAGES), ("associations", ASSOCIATIONS)])
async def test_evidence_nodes_are_excluded_as_the_oracle_does_it(engine: Column, graph: str, profile: Profile) -> None:
    oracle = OracleGraph.from_files(engine.files[graph], EdgeRule())
    async with engine.open(graph, profile) as gateway:
        for seed in sorted(oracle.nodes):
            answer = await gateway.bfs_query([seed], 3, topology_only=True)
            expected = bfs(oracle, [seed], 3)
            assert (answer.node_count, answer.edge_count) == (len(expected.distance), len(expected.edges)), seed
            assert answer.levels == expected.levels
            assert (answer.blank_node_edges or 0) == expected.blank_node_edges
        schema = await gateway.describe_schema()
    assert schema.comprehensive
    assert schema.predicates_total == len({predicate for _, predicate, _ in oracle.edges})


AS_IF_LARGE = OrientationSettings(glance_triples=1, enumeration_seconds=0)


@pytest.mark.parametrize(
    ("graph", "profile"),
    [
        ("medical", Profile()),
        ("awkward", Profile()),
        ("wikibase", WIKIBASE),
        ("wikibase", Profile()),
        ("singletons", MARRIAGES),
        ("associations", ASSOCIATIONS),
    ],
)
async def test_a_sampled_schema_lists_no_type_and_no_predicate_that_evidence_alone_has(
    engine: Column, graph: str, profile: Profile
) -> None:
    async with engine.open(graph, profile) as gateway:
        whole = await gateway.describe_schema(all=True)
    async with engine.open(graph, profile.model_copy(update={"orientation": AS_IF_LARGE})) as gateway:
        sample = await gateway.describe_schema(all=True)
    # Blank nodes are not counted.
    has_blank_ends = graph == "awkward" or (graph == "wikibase" and profile == Profile())
    assert (whole.comprehensive, sample.comprehensive) == (not has_blank_ends, False)
    assert "sampled" in sample.basis.methods
    assert set(sample.entity_types) <= set(whole.entity_types)
    assert set(sample.predicates) <= set(whole.predicates)
    # The first sample has a thousand triples, which is most of each graph.
    assert len(sample.predicates) > len(whole.predicates) / 2
    if profile == Profile() and graph != "awkward":
        oracle = OracleGraph.from_files(engine.files[graph], EdgeRule())
        assert whole.predicates_total == len({predicate for _, predicate, _ in oracle.edges})
