"""The known answers of wd50k, computed without this software, by MCP tool calls on every engine.

The figures: `../shared/data/wd50k-known-answers.md`.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client

from gateway.settings.load import load_profile
from tests.calls import asked, connected, counts, patient
from tests.columns import Column
from tests.shared_data import shared_data
from tests.wikidata.readable import labelled, unreadable

pytestmark = [pytest.mark.anyio, pytest.mark.data, pytest.mark.large]

FAR_AT_A_SERVER = ("wd:Q83338", "wd:Q1025401")
"""Whence servers are asked for three hops. From any other seed that is the same half of the graph, in the same
queries; this process is asked for it."""

SEEDS = ("wd:Q83338", "wd:Q35", "wd:Q104791", "wd:Q1025401")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Keep the event loop for the whole module, whose client reads the schema once."""
    return "asyncio"


@pytest.fixture(scope="module")
async def client(engine: Column) -> AsyncIterator[Client]:
    profile = patient(load_profile("wikidata-local"))
    # Three hops are most of the graph; an engine that cuts at 10,000 rows is asked in many parts.
    limits = profile.limits.model_copy(update={"deadline_seconds": 250.0, "requests": 5_000, "rows": 2_000_000})
    async with connected(engine.open("wd50k", profile.model_copy(update={"limits": limits}))) as connection:
        yield connection


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        ("wd:Q83338", [(78, 91), (6_298, 14_777), (29_077, 149_864)]),
        ("wd:Q35", [(185, 279), (10_081, 22_823), (34_652, 175_789)]),
        ("wd:Q104791", [(47, 57), (4_762, 13_231), (21_869, 109_700)]),
        ("wd:Q1025401", [(2, 2), (130, 153), (2_091, 3_892)]),
    ],
)
async def test_traversals_of_one_two_and_three_hops(
    client: Client, engine: Column, seed: str, expected: list[tuple[int, int]]
) -> None:
    if not engine.is_here and seed not in FAR_AT_A_SERVER:
        expected = expected[:2]
    answers = [
        await asked(client, "bfs_query", seeds=[seed], max_hops=hops, topology_only=True, limit=1)
        for hops in range(1, len(expected) + 1)
    ]
    assert not [answer["incomplete"] for answer in answers if not answer["complete"]]
    assert [counts(answer) for answer in answers] == expected


async def test_two_hops_that_stop_at_hubs(client: Client) -> None:
    expected = {
        "wd:Q83338": ((1_012, 1_538), 16),
        "wd:Q35": ((1_363, 4_015), 80),
        "wd:Q104791": ((499, 787), 19),
        "wd:Q1025401": ((2, 2), 1),
    }
    found = {}
    for seed in SEEDS:
        answer = await asked(client, "bfs_query", seeds=[seed], max_hops=2, max_degree=100, topology_only=True, limit=1)
        (gap,) = answer["incomplete"]
        assert (gap["cause"], answer["complete"]) == ("hub_not_expanded", False)
        found[seed] = (counts(answer), gap["count"])
    assert found == expected


async def test_every_hub_is_reported_with_its_name_and_its_degree(client: Client) -> None:
    hubs = {
        "wd:Q62": ("San Francisco", 200),
        "wd:Q1297": ("Chicago", 273),
        "wd:Q1860": ("English", 4_017),
        "wd:Q28389": ("screenwriter", 1_158),
        "wd:Q103916": ("Academy Award for Best Actor", 543),
        "wd:Q106291": ("Academy Award for Best Supporting Actor", 559),
        "wd:Q123737": ("Emmy Award", 115),
        "wd:Q183387": ("Columbia Records", 165),
        "wd:Q215518": ("Aladdin", 189),
        "wd:Q245068": ("comedian", 178),
        "wd:Q518675": ("Screen Actors Guild Award for Outstanding Performance by a Cast in a Motion Picture", 287),
        "wd:Q1011547": ("Golden Globe Awards", 141),
        "wd:Q2259451": ("stage actor", 1_022),
        "wd:Q2405480": ("voice actor", 970),
        "wd:Q3282637": ("film producer", 1_221),
        "wd:Q6581097": ("male", 2_259),
    }
    first = await asked(
        client, "bfs_query", seeds=["wd:Q83338"], max_hops=2, max_degree=100, topology_only=True, limit=1
    )
    (gap,) = first["incomplete"]
    assert {*gap["ids"]} == {*hubs}
    for hub, (name, degree) in hubs.items():
        # Edges are counted up to a thousand.
        assert f"{hub} has {degree:,}" in gap["detail"] or (degree > 1_000 and f"{hub} has at least" in gap["detail"])
        around = await asked(client, "bfs_query", seeds=[hub], max_hops=1, topology_only=True, limit=1)
        assert (around["edge_count"], first["labels"][hub]) == (degree, name)


async def test_an_item_of_low_degree_stops_at_its_only_neighbour(client: Client) -> None:
    answer = await asked(client, "bfs_query", seeds=["wd:Q1025401"], max_hops=2, max_degree=100)
    assert {(edge["subject"], edge["predicate"], edge["object"]) for edge in answer["edges"]} == {
        ("wd:Q1025401", "wdt:P131", "wd:Q172"),
        ("wd:Q1025401", "wdt:P361", "wd:Q172"),
    }
    assert answer["labels"]["wdt:P131"] == "located in the administrative terroritorial entity"
    assert answer["labels"]["wdt:P361"] == "part of"


async def test_types_are_the_commonest_and_all_of_them(client: Client) -> None:
    answers = {seed: await asked(client, "describe_entity", id=seed) for seed in SEEDS}
    assert {seed: answer["entity_type"] for seed, answer in answers.items()} == {
        "wd:Q83338": "wd:Q5",
        # 108 items are countries, 51 sovereign states.
        "wd:Q35": "wd:Q6256",
        "wd:Q104791": "untyped",
        "wd:Q1025401": "wd:Q515",
    }
    denmark = answers["wd:Q35"]
    assert denmark["types"] == ["wd:Q20181813", "wd:Q3624078", "wd:Q6256", "wd:Q7275"]
    assert [denmark["labels"][kind] for kind in denmark["types"]] == [
        "colonial power",
        "sovereign state",
        "country",
        "state",
    ]


async def test_an_item_that_is_only_a_type_or_a_qualifiers_value_exists_and_has_no_edges(client: Client) -> None:
    for item in ("wd:Q6256", "wd:Q12206942"):
        answer = await asked(client, "bfs_query", seeds=[item], max_hops=3)
        assert (counts(answer), answer["complete"]) == ((1, 0), True)
        assert "missing_seeds" not in answer


async def test_an_intersection_is_named(client: Client) -> None:
    answer = await asked(client, "intersect_subgraphs", seeds=["wd:Q35", "wd:Q7085"], k=1, topology_only=True)
    far = await asked(client, "intersect_subgraphs", seeds=["wd:Q35", "wd:Q7085"], k=2, topology_only=True)
    assert counts(answer) == (7, 20)
    assert {node["name"] for node in answer["nodes"]} == {
        "Denmark",
        "Niels Bohr",
        "United States of America",
        "Sweden",
        "Copenhagen",
        "Danish",
        "University of Copenhagen",
    }
    assert answer["nodes"][0]["entity_type"] == "wd:Q6256"
    assert answer["labels"]["wd:Q6256"] == "country"
    assert (far.get("incomplete"), counts(far)) == (None, (5976, 37394))


async def test_a_session_names_whatever_it_mentions(client: Client) -> None:
    named = labelled(shared_data("wd50k.nt.gz"))
    session: list[tuple[str, dict[str, Any]]] = [
        ("describe_schema", {}),
        ("search_entities", {"query": "Robin Williams"}),
        ("describe_entities", {"ids": [*SEEDS, "wd:P161", "wd:Q180228"]}),
        ("bfs_query", {"seeds": ["wd:Q83338"], "max_hops": 1}),
        ("bfs_query", {"seeds": ["wd:Q180228", "wd:Q42786"], "max_hops": 1, "predicates": ["cast member"]}),
        ("bfs_query", {"seeds": ["wd:Q35"], "max_hops": 2, "max_degree": 50, "node_types": ["city"]}),
        (
            "bfs_query",
            {"seeds": ["wd:Q126599"], "max_hops": 1, "predicates": ["award received"], "node_types": ["human"]},
        ),
        ("intersect_subgraphs", {"seeds": ["wd:Q35", "wd:Q7085"], "k": 1}),
        ("intersect_subgraphs", {"seeds": ["wd:Q35", "wd:Q7085"], "k": 2, "via": True, "limit": 30}),
    ]
    for tool, arguments in session:
        answer = await asked(client, tool, **arguments)
        assert unreadable(answer, named) == set(), tool
