"""Dates are as exact as a Wikibase knows them, quantities have their unit, and what could not be read is reported."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.errors import EndpointFault
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.stores.endpoints import store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from tests.small import ROOM, Watched, engine

pytestmark = pytest.mark.anyio

WIKIDATA = load_profile("wikidata-local").model_copy(update={"size": ROOM})
HEADER = "".join(
    f"@prefix {name}: <{namespace}> .\n"
    for name, namespace in {
        **WIKIDATA.prefixes,
        "psv": "http://www.wikidata.org/prop/statement/value/",
        "pqv": "http://www.wikidata.org/prop/qualifier/value/",
        "prv": "http://www.wikidata.org/prop/reference/value/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "v": "http://www.wikidata.org/value/",
        "ref": "http://www.wikidata.org/reference/",
    }.items()
)
PROPERTIES = "".join(
    f"wd:P{number} wikibase:directClaim wdt:P{number} ; wikibase:claim p:P{number} ; "
    f"wikibase:statementProperty ps:P{number} ; wikibase:statementValue psv:P{number} ; "
    f"wikibase:qualifier pq:P{number} ; wikibase:qualifierValue pqv:P{number} ; "
    f"wikibase:reference pr:P{number} ; wikibase:referenceValue prv:P{number} .\n"
    for number in (1, 2, 3)
)
METRE, NUMBER = "http://www.wikidata.org/entity/Q11573", "http://www.wikidata.org/entity/Q199"


def time(name: str, value: str, precision: int) -> str:
    return f'v:{name} wikibase:timeValue "{value}"^^xsd:dateTime ; wikibase:timePrecision {precision} .\n'


def statement(name: str, value: str, deep: str, *, best: bool = True) -> str:
    rank = "wikibase:Statement, wikibase:BestRank" if best else "wikibase:Statement"
    direct = f"wd:Q1 wdt:P2 {value} .\n" if best else ""
    return f"{direct}wd:Q1 p:P2 wds:{name} . wds:{name} a {rank} ; ps:P2 {value} ; psv:P2 v:{deep} .\n"


async def nothing(_: str) -> None:
    """Let every query pass."""


def opened(turtle: str, hook: Callable[[str], Awaitable[None]] = nothing, *, profile: Profile = WIKIDATA) -> Gateway:
    graph = engine(HEADER + PROPERTIES + turtle)
    transport: Transport = Watched(graph, hook)
    return Gateway(store_over(transport, profile), profile, PrefixMap(profile.prefixes))


async def told(turtle: str, profile: Profile = WIKIDATA) -> Any:
    async with opened(turtle, profile=profile) as gateway:
        answer = (await gateway.describe_entity("wd:Q1")).as_json()
    assert answer["complete"]
    return answer["wdt:P2"]


@pytest.mark.parametrize(
    ("value", "precision", "written"),
    [
        ("1952-03-11T00:00:00Z", 11, "1952-03-11"),
        ("1952-03-01T00:00:00Z", 10, "1952-03"),
        ("1952-01-01T00:00:00Z", 9, "1952"),
        ("-0043-01-01T00:00:00Z", 9, "-0043"),
        ("1950-01-01T00:00:00Z", 8, "1950 (precision: decade)"),
        ("1901-01-01T00:00:00Z", 7, "1901 (precision: century)"),
        ("-13798000000-01-01T00:00:00Z", 3, "-13798000000 (precision: million years)"),
        ("1952-03-11T10:00:00Z", 14, "1952-03-11T10:00:00Z"),
    ],
)
async def test_a_date_is_as_exact_as_it_is_known(value: str, precision: int, written: str) -> None:
    assert await told(statement("a", f'"{value}"^^xsd:dateTime', "1") + time("1", value, precision)) == written


@pytest.mark.parametrize(("unit", "written"), [(METRE, {"amount": 1.96, "unit": "wd:Q11573"}), (NUMBER, 1.96)])
async def test_a_quantity_has_its_unit_and_a_mere_number_has_none(unit: str, written: object) -> None:
    deep = f'v:1 wikibase:quantityAmount "+1.96"^^xsd:decimal ; wikibase:quantityUnit <{unit}> .\n'
    assert await told(statement("a", '"+1.96"^^xsd:decimal', "1") + deep) == written


async def test_only_statements_of_best_rank_say_how_exact_a_value_is_and_two_of_these_may_differ() -> None:
    value = "1952-01-01T00:00:00Z"
    date = f'"{value}"^^xsd:dateTime'
    nodes = time("1", value, 9) + time("2", value, 10) + time("3", value, 11)
    both = statement("a", date, "1") + statement("b", date, "2", best=False)
    assert await told(both + nodes) == "1952"
    assert await told(both + statement("c", date, "3") + nodes) == ["1952", "1952-01-01"]


async def test_a_value_without_a_value_node_and_a_graph_that_is_no_wikibase_stay_as_they_are() -> None:
    date = '"1952-01-01T00:00:00Z"^^xsd:dateTime'
    assert await told(f"wd:Q1 wdt:P2 {date} .") == "1952-01-01T00:00:00Z"
    plain = WIKIDATA.model_copy(update={"values": Profile().values})
    assert await told(statement("a", date, "1") + time("1", "1952-01-01T00:00:00Z", 9), plain) == "1952-01-01T00:00:00Z"


EDGE = (
    "wd:Q1 wdt:P1 wd:Q2 ; p:P1 wds:e . wds:e a wikibase:BestRank ; ps:P1 wd:Q2 ; prov:wasDerivedFrom ref:1 ;\n"
    '  pq:P2 "1971-01-01T00:00:00Z"^^xsd:dateTime ; pqv:P2 v:q ; pq:P3 "+7"^^xsd:decimal ; pqv:P3 v:n .\n'
    'ref:1 pr:P2 "1999-05-01T00:00:00Z"^^xsd:dateTime ; prv:P2 v:r .\n'
    f'v:n wikibase:quantityAmount "+7"^^xsd:decimal ; wikibase:quantityUnit <{METRE}> .\n'
    + time("q", "1971-01-01T00:00:00Z", 9)
    + time("r", "1999-05-01T00:00:00Z", 10)
)


async def test_qualifiers_and_references_are_as_exact_as_values() -> None:
    async with opened(EDGE) as gateway:
        answer = await gateway.bfs_query(["wd:Q1"], 1)
    said = answer.edges[0].metadata
    assert said is not None
    assert (said["pq:P2"], said["pq:P3"]) == ("1971", {"amount": 7, "unit": "wd:Q11573"})
    assert said["prov:wasDerivedFrom"] == {"pr:P2": "1999-05"}
    assert answer.degraded is None


class Counting:
    """A hook that counts the queries for value nodes, and fails them while it is told to.

    Attributes:
        asked: How many there were.
        fails: Whether they fail.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.fails = False

    async def __call__(self, query: str) -> None:
        """Count a query."""
        if "timePrecision" in query:
            self.asked += 1
            if self.fails:
                raise EndpointFault("The endpoint failed.")


async def test_a_page_takes_one_query_for_its_nodes_and_one_for_its_edges_and_none_without_dates() -> None:
    dated = "".join(
        f'wd:Q{number} wdt:P1 wd:Q1 ; wdt:P2 "1952-01-01T00:00:00Z"^^xsd:dateTime .\n' for number in range(2, 40)
    )
    counting = Counting()
    async with opened(EDGE + dated, counting) as gateway:
        await gateway.bfs_query(["wd:Q1"], 1, topology_only=True)
        # To find out whether the seed was merged takes none.
        before = counting.asked
        assert before == 0
        await gateway.bfs_query(["wd:Q1"], 1)
        assert counting.asked - before == 2
    async with opened("wd:Q1 wdt:P1 wd:Q2 ; wdt:P2 'text' .", counting) as gateway:
        before = counting.asked
        await gateway.bfs_query(["wd:Q1"], 1)
        await gateway.describe_entity("wd:Q1")
        assert counting.asked == before


async def test_value_nodes_that_could_not_be_read_are_reported_and_asked_for_again() -> None:
    date = statement("a", '"1952-01-01T00:00:00Z"^^xsd:dateTime', "1") + time("1", "1952-01-01T00:00:00Z", 9)
    counting = Counting()
    counting.fails = True
    async with opened(EDGE + date, counting) as gateway:
        rough = await gateway.describe_entity("wd:Q1")
        assert (rough.complete, rough.as_json()["wdt:P2"]) == (False, "1952-01-01T00:00:00Z")
        assert any("may be a year only" in warning for warning in rough.warnings or ())
        several = await gateway.describe_entities(["wd:Q1", "wd:Q2"])
        assert not several.complete
        page = await gateway.bfs_query(["wd:Q1"], 1)
        assert page.complete
        assert page.degraded == {"precision_failed": 2}
        counting.fails = False
        exact = await gateway.describe_entity("wd:Q1")
        assert (exact.complete, exact.as_json()["wdt:P2"]) == (True, "1952")
        assert (await gateway.bfs_query(["wd:Q1"], 1)).degraded is None


async def test_a_merged_item_with_several_targets_is_reported_with_all_of_them() -> None:
    async with opened("wd:Q1 owl:sameAs wd:Q2, wd:Q3 . wd:Q2 wdt:P1 wd:Q4 . wd:Q3 wdt:P1 wd:Q5 .") as gateway:
        around = await gateway.bfs_query(["wd:Q1"], 1, topology_only=True)
        described = await gateway.describe_entity("wd:Q1")
    assert around.seeds == ["wd:Q2"]
    for answer in (around, described):
        assert any("also merged into wd:Q3" in warning for warning in answer.warnings or ())


async def test_targets_of_a_merged_item_are_quoted_and_cut_in_warnings() -> None:
    speech = f"http://z.example/{chr(0xA0).join(['OBEY'] * 100)}"
    async with opened(f"wd:Q1 owl:sameAs wd:Q2, <{speech}> . wd:Q2 wdt:P1 wd:Q4 .") as gateway:
        around = await gateway.bfs_query(["wd:Q1"], 1, topology_only=True)
        described = await gateway.describe_entity("wd:Q1")
    for answer in (around, described):
        (warning,) = (one for one in answer.warnings or () if "also merged into" in one)
        assert chr(0xA0) not in warning
        assert len(warning) < 300


async def test_a_redirect_that_could_not_be_read_is_reported_for_an_item_with_edges_too() -> None:
    async def failing(query: str) -> None:
        if "isLiteral(?v)" in query:
            raise EndpointFault("The endpoint failed.")

    async with opened("wd:Q1 wdt:P1 wd:Q2 .", failing) as gateway:
        answer = await gateway.bfs_query(["wd:Q1"], 1, topology_only=True)
    assert any("whether wd:Q1 was merged into another node could not be read" in one for one in answer.warnings or ())
