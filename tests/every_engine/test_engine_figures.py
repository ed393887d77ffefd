"""What an engine computes itself is what all rows say, or is not shown (docs/values.md, "Who computes")."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest

from gateway.answers.models import SearchResult
from gateway.cache.store import CachedStore
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.columns import Column
from tests.graphs import PRICED, RDF, priced_items
from tests.small import engine as holding

pytestmark = pytest.mark.anyio

PROVING = frozenset({"in-process", "fuseki", "oxigraph", "rdf4j"})
"""Engines whose own figures are shown."""

Ends = Mapping[tuple[str, str], Sequence[str]]


@pytest.fixture(scope="module")
def ends() -> Ends:
    """Return the objects of each subject and predicate, without prefix, datatype and quotes."""
    found = defaultdict[tuple[str, str], list[str]](list)
    for triple in priced_items():
        subject, predicate, end = triple.split(" ", 2)
        names = [one.strip("<>").removeprefix(PRICED).removeprefix(RDF) for one in (subject, predicate, end)]
        found[names[0], names[1]].append(names[2].partition('"^^')[0].strip('"'))
    return found


async def asked(engine: Column, **arguments: Any) -> Mapping[str, Any]:
    # Less than there are items: no figure could come from their rows.
    profile = Profile(prefixes={"": PRICED}, limits=LimitSettings(query_rows=20))
    async with engine.open("priced", profile) as gateway:
        answer = await gateway.call("search_entities", arguments, shape="compact")
    return answer.as_json()


def prices(ends: Ends, items: Sequence[str]) -> list[Decimal]:
    return [Decimal(price) for item in items for price in ends.get((item, "price"), ())]


def is_without_figures(answer: Mapping[str, Any]) -> bool:
    assert any("no answer of the engine proves" in warning for warning in answer["warnings"])
    return answer["complete"] is False and not answer.keys() & {"groups", "computed"}


async def test_figures_over_more_entities_than_are_read_are_whole_or_not_shown(engine: Column, ends: Ends) -> None:
    items = [node for (node, predicate), types in ends.items() if predicate == "type" and "Item" in types]
    all_prices = prices(ends, items)
    worths = [int(ends[maker, "worth"][0]) for item in items for maker in ends[item, "madeBy"]]
    compute = ["count", "avg price", "min price", "max price", "sum madeBy/worth"]
    answer = await asked(engine, node_types=["Item"], compute=compute)
    if engine.name not in PROVING:
        assert is_without_figures(answer)
        return
    assert (answer["complete"], answer["found"]) == (True, len(items))
    assert answer["computed"] == {
        "count": len(items),
        "avg :price": pytest.approx(float(sum(all_prices) / len(all_prices))),
        "min :price": float(min(all_prices)),
        "max :price": float(max(all_prices)),
        "sum :madeBy/:worth": sum(worths),
    }


@pytest.mark.parametrize("types", [["Item"], ["Item", "Sample"]])
async def test_groups_of_more_entities_than_are_read_have_the_one_without_a_value(
    engine: Column, ends: Ends, types: list[str]
) -> None:
    items = [node for node, predicate in ends if predicate == "type"]
    members = defaultdict[str | None, list[str]](list)
    for item in items:
        for category in ends.get((item, "category"), (None,)):
            members[category and f":{category}"].append(item)
    answer = await asked(engine, node_types=types, group_by="category", compute=["count", "sum price"], show="id")
    if engine.name not in PROVING:
        assert is_without_figures(answer)
        return
    assert (answer["complete"], answer["found"]) == (True, len(items))
    expected = {group: [len(some), float(sum(prices(ends, some)))] for group, some in members.items()}
    assert {group: figures for group, *figures in answer["groups"]} == expected
    assert None in expected
    counts = [count for _, count, _ in answer["groups"]]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("compute", ["avg note", "distinct price"])
async def test_a_figure_that_no_engine_proves_is_not_shown(engine: Column, compute: str) -> None:
    assert is_without_figures(await asked(engine, node_types=["Item"], compute=["count", compute]))


async def test_a_second_figure_over_the_same_groups_asks_for_that_figure_alone() -> None:
    profile = Profile(prefixes={"": PRICED}, limits=LimitSettings(query_rows=20))
    graph = "".join(f"{triple} .\n" for triple in priced_items())
    inner = SparqlStore(InProcess(holding(graph), max_bytes=1 << 24), profile)
    store = CachedStore(inner, megabytes=1, ttl_seconds=60)
    async with Gateway(store, profile, PrefixMap(profile.prefixes)) as gateway:

        async def figure(compute: str) -> SearchResult:
            return await gateway.search_entities(
                node_types=["Item"], group_by="category", compute=[compute], explain=True
            )

        await figure("count")
        answer = await figure("sum price")
    assert answer.complete
    assert answer.explain is not None
    assert {query.template for query in answer.explain.sent} == {"evidence/graphs_in_use", "figures/sums"}
