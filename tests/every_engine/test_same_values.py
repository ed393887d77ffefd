"""Every node of the fixtures is described alike, and explored alike, on every engine.

Engines that keep other values than they were given are listed here, each difference by name, and nowhere else.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NameSettings
from tests.columns import BEHIND_HTTP, Column, declared_prefixes
from tests.graphs import existing_nodes, fixture
from tests.servers.engines import ColumnName

pytestmark = pytest.mark.anyio

GRAPHS = ("medical", "films", "wikidata-slice", "awkward")
Json = str | int | list[Any]

AWKWARD = "https://example.org/awkward/"

# What the Oxigraph store (in this process, or its server) makes of a literal at load, and other engines do not.
CANONICAL_IN_OXIGRAPH: Mapping[tuple[str, str], Json] = {
    ("gDates", "a:midnight24"): "2026-02-28T24:00:00Z",
    ("gDurations", "a:dayTimeDuration"): "PT36H",
    ("gDurations", "a:yearMonthDuration"): "P14M",
}
# TDB2 keeps integers modulo 2**64 (docs/notes/endpoints.md, "Values that engines change"): lost before it is asked for.
LOST_IN_TDB2: Mapping[tuple[str, str], Json] = {("gIntegers", "a:huge"): "4807115922877859019"}

# Virtuoso keeps what it has a type of its own for as that type, and writes it as it writes that type.
KEPT_BY_VIRTUOSO: Mapping[tuple[str, str], Json] = {
    # Integers beyond 32 bits that are declared as such wrap around; a literal that is no number becomes one.
    ("gIntegers", "a:unsignedInt"): -1,
    ("gIllTyped", "a:badInteger"): 0,
    ("gIllTyped", "a:emptyInteger"): 0,
    ("gIllTyped", "a:floatInteger"): 1,
    # Microseconds; no offset of zero with a minus sign; three digits of a year before Christ.
    ("gDates", "a:dateTimeNanos"): "2026-02-28T12:30:00.123456Z",
    ("gDates", "a:dateTimeMinus0"): "2026-02-28T12:30:00",
    ("gDates", "a:dateBC"): "-044-03-15",
    ("gDates", "a:gYearBC"): "-044",
    ("gDates", "a:midnight24"): "2026-02-28T24:00:00Z",
    # Durations are numbers of seconds or months.
    ("gDurations", "a:minusDuration"): "-86400.0",
    ("gDurations", "a:dayTimeDuration"): "129600.0",
    ("gDurations", "a:yearMonthDuration"): "14",
    # XML is parsed, and written anew.
    ("gOthers", "a:xml"): '<n0:a xmlns:n0="x" />',
    # `true` is 1 where 1 is a value as well, and numbers that are equal are one.
    ("gSeveral", "a:mixed"): [1, "1", "one"],
    ("gSeveral", "a:equal"): 1,
}
# Blazegraph keeps a time as milliseconds of UTC, and loses whatever that cannot say.
KEPT_BY_BLAZEGRAPH: Mapping[tuple[str, str], Json] = {
    ("gDates", "a:dateTime"): "2026-02-28T12:30:00Z",
    ("gDates", "a:dateTimePlus2"): "2026-02-28T10:30:00Z",
    ("gDates", "a:dateTimeNanos"): "2026-02-28T12:30:00.123Z",
    ("gDates", "a:time"): "12:30:00Z",
    ("gDates", "a:dateZ"): "2026-02-28",
    ("gDates", "a:datePlus0"): "2026-02-28",
    ("gDates", "a:datePlus2"): "2026-02-27",
    ("gDates", "a:gYearZ"): "2026",
    ("gDates", "a:gYearFar"): "1202",
    ("gDurations", "a:dayTimeDuration"): "PT36H",
    ("gDurations", "a:yearMonthDuration"): "P14M",
}

# Fuseki resolves dot segments in Turtle and in queries: <.../x/../y> is <.../y> there, and cannot be asked for.
REWRITTEN: Mapping[ColumnName, Sequence[str]] = {"fuseki": [f"{AWKWARD}./y", f"{AWKWARD}x/../y"]}
DIFFERENT: Mapping[ColumnName, Mapping[tuple[str, str], Json]] = {
    "fuseki": {**CANONICAL_IN_OXIGRAPH, **LOST_IN_TDB2},
    "virtuoso": KEPT_BY_VIRTUOSO,
    "blazegraph": KEPT_BY_BLAZEGRAPH,
    # Literals stay as they are written.
    "rdf4j": CANONICAL_IN_OXIGRAPH,
}
# What an engine cannot even be given is in `tests/graphs.py`: annotations (Virtuoso, Blazegraph), and for Blazegraph
# two forms of one text.


def unlimited(graph: str) -> Profile:
    """Return a profile with the prefixes of a fixture and room and time for every answer."""
    size = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)
    # Virtuoso, of which two servers run beside other work, once thought about eleven rows for 15 seconds.
    limits = LimitSettings(deadline_seconds=240, schema_seconds=200)
    # The language that stands after all others is that of a sample, in which engines have other nodes.
    names = NameSettings(languages=("en", "de", "ja"))
    return Profile(prefixes=declared_prefixes(fixture(graph)), size=size, limits=limits, names=names)


async def described(column: Column, graph: str) -> dict[str, Any]:
    """Describe every node of a fixture, and explore around some; by IRI."""
    nodes = existing_nodes(*column.files[graph])
    answers: dict[str, Any] = {}
    failed: set[str] = set()
    async with column.open(graph, unlimited(graph)) as gateway:
        answers["schema"] = (await gateway.describe_schema()).as_json()
        for start in range(0, len(nodes), 100):
            asked = [f"<{iri}>" for iri in nodes[start : start + 100]]
            page = await gateway.describe_entities(asked)
            answers |= {node.iri or node.id: node.metadata | {"": node.entity_type} for node in page.result}
            failed |= {gateway.prefixes.expand(short) for short in page.failed or ()}
            assert page.not_found == []
        for iri in nodes[::9]:
            answers[f"around {iri}"] = (await gateway.bfs_query([f"<{iri}>"], 2)).as_json()
    assert failed == (set(REWRITTEN.get(column.name, ())) if graph == "awkward" else set())
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("graph", GRAPHS)
async def test_every_node_is_described_in_this_process(embedded: Column, graph: str) -> None:
    nodes = existing_nodes(*embedded.files[graph])
    assert {*nodes} <= (await described(embedded, graph)).keys()


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("engine", BEHIND_HTTP, indirect=True)
async def test_every_node_has_the_same_values_on_every_engine(engine: Column, reference: Column, graph: str) -> None:
    expected, given = await described(reference, graph), await described(engine, graph)
    if graph == "awkward":
        for iri in REWRITTEN.get(engine.name, ()):
            assert iri not in given
            del expected[iri]
            for answers in (expected, given):
                # It counts the nodes.
                answers["schema"].pop("next_steps", None)
        for (node, key), value in DIFFERENT.get(engine.name, {}).items():
            assert given[AWKWARD + node][key] == value
            assert expected[AWKWARD + node][key] != value
            expected[AWKWARD + node][key] = value
            for answers in (expected, given):
                answers["schema"]["values"].pop(key, None)
            for answer in expected.values():
                for shown in answer.get("nodes", ()):
                    if shown["id"] == f"a:{node}":
                        shown["metadata"][key] = value
        touched = {key for key in expected if key.startswith("around") and "/y" in key}
        expected, given = ({key: answers[key] for key in answers.keys() - touched} for answers in (expected, given))
    assert given.keys() == expected.keys()
    for iri in expected:
        assert given[iri] == expected[iri], iri
