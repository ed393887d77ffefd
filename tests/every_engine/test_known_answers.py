"""Known answers, computed without this software, by MCP tool calls on every engine.

The figures: `../shared/data/README.md`. Those of wd50k: `tests/wikidata/test_known_answers.py`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from gateway.settings.limits import HubSettings, LimitSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.calls import OF_EVIDENCE, Json, asked, connected, counts, patient
from tests.columns import Column, declared_prefixes
from tests.shared_data import shared_data

pytestmark = [pytest.mark.anyio, pytest.mark.data]

DESMOPRESSIN = "RxNorm:3251"
CUSHING_SYNDROME = "MeSH:D003480"
CUSHING_DISEASE = "DBPedia:Cushing's_disease"
THE_PAPER = "paper:PMC11128938"


def with_prefixes_of(file: str) -> Profile:
    """Return a profile that holds nothing but the prefixes a graph file declares."""
    return Profile(prefixes=declared_prefixes(shared_data(file)))


@pytest.mark.parametrize(
    ("seeds", "hops", "expected"),
    [
        ([DESMOPRESSIN], 1, (6, 6)),
        ([DESMOPRESSIN], 2, (84, 99)),
        ([DESMOPRESSIN], 3, (258, 309)),
        ([CUSHING_SYNDROME], 1, (33, 32)),
        ([CUSHING_SYNDROME], 2, (112, 132)),
        ([CUSHING_SYNDROME], 3, (266, 325)),
        ([DESMOPRESSIN, CUSHING_SYNDROME], 1, (35, 37)),
    ],
)
async def test_traversals_of_the_medical_literature(
    engine: Column, seeds: Sequence[str], hops: int, expected: tuple[int, int]
) -> None:
    async with connected(engine.open("medlit", with_prefixes_of("medlit.ttl.gz"))) as client:
        answer = await asked(client, "bfs_query", seeds=seeds, max_hops=hops, topology_only=True)
    assert counts(answer) == expected
    assert answer["complete"] is True


async def test_intersections_of_the_medical_literature(engine: Column) -> None:
    seeds = [DESMOPRESSIN, CUSHING_SYNDROME]
    async with connected(engine.open("medlit", with_prefixes_of("medlit.ttl.gz"))) as client:
        near = await asked(client, "intersect_subgraphs", seeds=seeds, k=1)
        far = await asked(client, "intersect_subgraphs", seeds=seeds, k=2)
    assert counts(near) == (4, 5)
    assert [node["id"] for node in near["nodes"]] == [*seeds, CUSHING_DISEASE, THE_PAPER]
    assert counts(far) == (70, 97)


async def test_the_schema_of_the_medical_literature_is_comprehensive_and_injected(engine: Column) -> None:
    async with connected(engine.open("medlit", with_prefixes_of("medlit.ttl.gz"))) as client:
        answer = await asked(client, "describe_schema")
        tools = {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}
    assert len(answer["entity_types"]) == answer["entity_types_total"] == 21
    assert len(answer["predicates"]) == answer["predicates_total"] == 16
    assert answer["comprehensive"] is True
    assert (answer["counts"]["m:paper"], answer["counts"]["m:author"], answer["counts"]["m:disease"]) == (958, 285, 119)
    # The last two are those of classes and properties.
    assert all(name in tools["bfs_query"] for name in (*list(answer["entity_types"])[:-2], *answer["predicates"]))


async def test_an_edge_has_its_confidence_and_source(engine: Column) -> None:
    async with connected(engine.open("medlit", with_prefixes_of("medlit.ttl.gz"))) as client:
        answer = await asked(client, "bfs_query", seeds=[DESMOPRESSIN], max_hops=1)
    edge = next(
        edge for edge in answer["edges"] if (edge["predicate"], edge["object"]) == ("m:TREATS", CUSHING_DISEASE)
    )
    if not engine.annotated:
        # It was given the graph without its annotations, so there is no evidence, and nothing claims that there is.
        assert "metadata" not in edge
        return
    assert edge["metadata"]["confidence"] == 0.95
    assert edge["metadata"]["source_documents"] == ["PMC11128938"]
    assert "m:quote" not in edge["metadata"]
    assert answer["omitted_texts"]["m:quote"] > 0


QUESTIONS: Sequence[tuple[str, Json]] = [
    ("describe_schema", {}),
    *(
        ("bfs_query", {"seeds": seeds, "max_hops": hops, "topology_only": topology_only})
        for seeds in ([DESMOPRESSIN], [CUSHING_SYNDROME], [DESMOPRESSIN, CUSHING_SYNDROME])
        for hops in (1, 2, 3)
        for topology_only in (False, True)
    ),
    ("bfs_query", {"seeds": [DESMOPRESSIN], "max_hops": 2, "node_types": ["drug"], "predicates": ["TREATS"]}),
    ("bfs_query", {"seeds": [DESMOPRESSIN], "max_hops": 2, "exclude_node_types": ["paper"], "min_mentions": 3}),
    ("bfs_query", {"seeds": [DESMOPRESSIN], "max_hops": 3, "limit": 20, "offset": 40}),
    ("intersect_subgraphs", {"seeds": [DESMOPRESSIN, CUSHING_SYNDROME], "k": 1}),
    ("intersect_subgraphs", {"seeds": [DESMOPRESSIN, CUSHING_SYNDROME], "k": 2}),
    ("describe_entity", {"id": CUSHING_SYNDROME}),
    ("describe_entities", {"ids": [DESMOPRESSIN, CUSHING_DISEASE, THE_PAPER, "RxNorm:nothing"]}),
    ("search_entities", {"query": "Cushing"}),
    ("search_entities", {"query": "syndrome cushing", "node_types": ["disease"]}),
]


ANSWERS: Final[dict[Sequence[Path], list[str]]] = {}
"""What this process answers, by the files of the graph, which several engines were given alike."""


async def answers_of(gateway: Gateway) -> list[str]:
    """Return the answers to the questions as they are sent."""
    async with connected(gateway) as client:
        results = [await client.call_tool(tool, arguments) for tool, arguments in QUESTIONS]
    assert not any(result.is_error for result in results)
    texts = [result.content[0].text for result in results]  # type: ignore[union-attr]  # one text each
    return [
        without_edges(text) if tool == "search_entities" else text
        for (tool, _), text in zip(QUESTIONS, texts, strict=True)
    ]


def without_edges(text: str) -> str:
    """Return a search without how many edges its hits have, which an endpoint is asked for less often."""
    answer = json.loads(text)
    for hit in answer["result"]:
        hit.pop("edges", None)
    return json.dumps(answer)


@pytest.mark.slow
async def test_every_engine_gives_the_same_answers_to_the_byte(engine: Column, reference: Column) -> None:
    # How much of the schema is counted depends on the time for it.
    limits = LimitSettings(schema_seconds=200, deadline_seconds=240)
    profile = with_prefixes_of("medlit.ttl.gz").model_copy(update={"limits": limits})
    here = await answers_of(engine.open("medlit", profile))
    files = tuple(reference.files["medlit"]) if "medlit" in reference.files else ()
    if files not in ANSWERS:
        ANSWERS[files] = await answers_of(reference.open("medlit", Profile(limits=limits)))
    without_a_profile = ANSWERS[files]
    for question, expected, given in zip(QUESTIONS, without_a_profile, here, strict=True):
        # Databases name no predicates of evidence (docs/tools.md).
        told = expected if type(engine) is Column else OF_EVIDENCE.sub("", expected)
        assert given == told, question


async def test_films_that_two_actors_share(engine: Column) -> None:
    seeds = ["person:Tom_Hanks", "person:Meg_Ryan"]
    async with connected(engine.open("movies", with_prefixes_of("movies.ttl.gz"))) as client:
        films = await asked(client, "intersect_subgraphs", seeds=seeds, k=1)
        people = await asked(client, "intersect_subgraphs", seeds=seeds, k=2)
        cast = await asked(
            client, "intersect_subgraphs", seeds=seeds, k=2, node_types=["Person"], predicates=["acted in"]
        )
    assert {node["metadata"]["name"] for node in films["nodes"]} == {
        "Joe Versus the Volcano",
        "Sleepless in Seattle",
        "You've Got Mail",
    }
    assert counts(people) == (16, 18)
    acting = [edge for edge in cast["edges"] if edge["predicate"] == "m:actedIn"]
    if engine.annotated:
        assert acting == [edge for edge in cast["edges"] if "metadata" in edge]
    actors = {edge["subject"] for edge in acting} - set(seeds)
    names = {node["id"]: node["metadata"]["name"] for node in cast["nodes"] if "metadata" in node}
    assert {names[actor] for actor in actors} == {
        "Bill Pullman",
        "Dave Chappelle",
        "Greg Kinnear",
        "Nathan Lane",
        "Parker Posey",
        "Rita Wilson",
        "Rosie O'Donnell",
        "Steve Zahn",
        "Victor Garber",
    }


@pytest.mark.large
async def test_two_hops_that_reach_half_of_a_graph_through_its_hubs(engine: Column) -> None:
    expected = {("wd:Q286525", 1): (13, 12), ("wd:Q286525", 2): (7389, 16855), ("wd:Q19810", 2): (8585, 19489)}
    async with connected(engine.open("codex-m", patient(load_profile("wikidata-local")))) as client:
        answers = {
            (seed, hops): await asked(client, "bfs_query", seeds=[seed], max_hops=hops, topology_only=True)
            for seed, hops in expected
        }
    assert {question: counts(answer) for question, answer in answers.items()} == expected
    assert all(answer["complete"] is True for answer in answers.values())


@pytest.mark.large
async def test_two_hops_that_stop_at_hubs_name_every_hub_with_its_degree(engine: Column) -> None:
    profile = patient(load_profile("wikidata-local"))
    assert profile.hubs == HubSettings(), "what the test before this one counts is without a hub rule"
    async with connected(engine.open("codex-m", profile)) as client:
        answer = await asked(client, "bfs_query", seeds=["wd:Q286525"], max_hops=2, topology_only=True, max_degree=100)
    assert counts(answer) == (66, 67)
    assert answer["complete"] is False
    (gap,) = answer["incomplete"]
    assert gap["cause"] == "hub_not_expanded"
    assert gap["count"] == len(set(gap["ids"])) == 10
    assert all(f"{hub} has " in gap["detail"] for hub in gap["ids"])
