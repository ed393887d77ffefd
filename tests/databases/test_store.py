"""What a store makes of the answers of a database, which a test writes down."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.databases.client import Remembered, Row
from gateway.databases.store import DatabaseStore
from gateway.errors import NetworkFault, QueryRefused
from gateway.graph.call import Call, Deadline
from gateway.graph.counts import EdgeCount
from gateway.graph.values import Degree, Edge, NamelessNodes
from gateway.settings.load import load_profile
from gateway.terms.literals import Literal
from tests.clocks import Clock
from tests.databases.fakes import IDS, TERMS, Answers, call, client, store

pytestmark = pytest.mark.anyio


# The size of an answer


@pytest.mark.parametrize(
    ("row", "size"),
    [
        (["x" * 50_000, None], 50_008),
        ([["ab", "c"], {"key": Literal("1932", "urn:d"), "list": ["xy"]}], 3 + 3 + 4 + 4 + 2),
        ((True, 7, 0.5), 24),
    ],
)
async def test_the_size_of_an_answer_is_that_of_its_values(row: Any, size: int) -> None:
    asking = call()
    await client(lambda *_: [row, row]).rows("edges", asking)
    assert asking.tally.answered(complete=True).bytes == 2 * size


# What a graph is made of, which is looked up once in a while


class _LookedUp:
    """What is looked up: a number that grows; each look-up waits until it is let through."""

    def __init__(self) -> None:
        self.now = 0.0
        self.number = 0
        self.lets_through = asyncio.Event()
        self.lets_through.set()
        self.lookup: Remembered[int | None] = Remembered(300, lambda: self.now)

    async def _read(self) -> int | None:
        number = self.number
        await self.lets_through.wait()
        if number < 0:
            raise NetworkFault("The database could not be reached.")
        return number or None

    async def found(self) -> int | None:
        """Return what the look-up gives."""
        return await self.lookup.found(self._read)


async def test_what_was_found_is_used_for_its_time_and_then_looked_up_again() -> None:
    database = _LookedUp()
    assert await database.found() is None
    database.number, database.now = 1, 299.0
    assert await database.found() is None
    database.now = 300.0
    assert await database.found() == 1


async def test_what_is_forgotten_is_looked_up_again() -> None:
    database = _LookedUp()
    await database.found()
    database.number = 1
    database.lookup.forget()
    assert await database.found() == 1


async def test_what_is_forgotten_during_a_look_up_is_looked_up_again() -> None:
    database = _LookedUp()
    database.lets_through.clear()
    first = asyncio.create_task(database.found())
    await asyncio.sleep(0)
    database.number = 1
    database.lookup.forget()
    database.lets_through.set()
    assert await first is None
    assert await database.found() == 1


async def test_a_look_up_that_failed_is_made_again() -> None:
    database = _LookedUp()
    database.number = -1
    with pytest.raises(NetworkFault):
        await database.found()
    database.number = 2
    assert await database.found() == 2


# A node whose ID a database writes in two ways is one node, of whose edges no count claims too much


MESH = "http://id.nlm.nih.gov/mesh/"
TWICE, ONCE = f"{MESH}1", f"{MESH}2"
EDGES = [
    ("MeSH:1", "p", "b"),
    (f"{MESH}1", "p", "b"),
    (f"{MESH}1", "p", "c"),
    (f"{MESH}1", "q", "b"),
    ("MeSH:2", "p", "b"),
    ("MeSH:2", "p", "c"),
]


def _spelled_twice(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
    nodes, at_most = arguments[3], arguments[-2]
    if query == "edges":
        return [edge for edge in EDGES if edge[0] in nodes]
    if query == "degrees":
        found = {node: sum(edge[0] == node for edge in EDGES) for node in nodes}
        return [[node, min(count, at_most), count < at_most] for node, count in found.items()]
    groups: dict[tuple[str, str], list[str]] = {}
    for subject, predicate, target in EDGES:
        if subject in nodes:
            groups.setdefault((subject, predicate), []).append(target)
    return [[*of, False, len(targets), min(targets), max(targets)] for of, targets in groups.items()]


async def test_the_degree_of_a_node_whose_id_is_written_in_two_ways_is_a_lower_bound() -> None:
    opened = store(_spelled_twice, prefixes={"MeSH": MESH})
    around = await opened.edges([TWICE, ONCE], call())
    degrees = await opened.degrees([TWICE, ONCE], 10, call())
    assert [len(around[node].edges) for node in (TWICE, ONCE)] == [3, 2]
    assert (degrees[TWICE], degrees[ONCE]) == (Degree(3, exact=False), Degree(2))
    assert await opened.degrees([TWICE, ONCE], 1, call()) == dict.fromkeys((TWICE, ONCE), Degree(2, exact=False))


async def test_edges_of_a_node_whose_id_is_written_in_two_ways_have_one_count_for_each_predicate_and_direction() -> (
    None
):
    counts = await store(_spelled_twice, prefixes={"MeSH": MESH}).edge_counts([TWICE, ONCE], call())
    first, last = f"{IDS}b", f"{IDS}c"
    assert counts[TWICE].counts == (
        EdgeCount(f"{TERMS}p", False, 2, (first, last)),
        EdgeCount(f"{TERMS}q", False, 1, (first,)),
    )
    assert (counts[TWICE].mark.whole, counts[ONCE].mark.whole) == (False, True)
    assert counts[ONCE].counts == (EdgeCount(f"{TERMS}p", False, 2, (first, last)),)


# Rows with properties, which are asked for in parts that fit into an answer


def _small(answers: Answers) -> DatabaseStore:
    """Return a store whose answers have a megabyte at most: 4 nodes with properties, or 16 statements."""
    profile = load_profile("bfsql-postgres")
    limits = profile.limits.model_copy(update={"body_megabytes": 1})
    return store(answers, profile=profile.model_copy(update={"limits": limits}))


async def test_nodes_with_properties_are_asked_for_in_parts() -> None:
    asked: list[tuple[int, bool]] = []

    def answers(_: str, arguments: Sequence[Any]) -> Sequence[Row]:
        nodes, with_properties = arguments[:2]
        asked.append((len(nodes), with_properties))
        return [[node, '["T"]', "N", False, '{"x": "y"}', None, None] for node in nodes]

    iris = [f"{IDS}{number}" for number in range(10)]
    described = await _small(answers).node_metadata(iris, call(), blank_nodes=True)
    facts = await _small(answers).nodes(iris, call(), names=True)
    assert all(described[iri].properties and facts[iri].types for iri in iris)
    assert asked == [(4, True), (4, True), (2, True), (10, False)]


async def test_statements_are_asked_for_in_parts_and_too_many_of_one_edge_are_told() -> None:
    limits: list[int] = []

    def answers(_: str, arguments: Sequence[Any]) -> Sequence[Row]:
        *columns, _bytes, most = arguments
        limits.append(most)
        rows = [
            [subject, predicate, target, None, False, f'{{"x": "{number}"}}', None]
            for subject, predicate, target in zip(*columns, strict=True)
            for number in range(30 if target == "many" else 3)
        ]
        return rows[:most]

    edges = [Edge(f"{IDS}a", f"{TERMS}p", f"{IDS}{target}") for target in [*range(20), "many"]]
    found = await _small(answers).edge_metadata(edges, call())
    assert [len(found[edge].assertions) for edge in edges] == [*[3] * 20, 0]
    assert [found[edge].mark.whole for edge in edges] == [*[True] * 20, False]
    fault = found[edges[-1]].mark.fault
    assert fault is not None
    assert "more than 16 rows" in fault.wrong
    assert "limits.body_megabytes" in fault.next_step
    assert set(limits) == {17}


# Rows that cannot be read, which are missing in the answer about their node or edge, and in no other


A, B, C = (f"{IDS}{one}" for one in "abc")
UNREADABLE = ['{"x": oops', "7", '"a text"', '["a list"]', "[" * 100_000, 7, ["a list"]]


@pytest.mark.parametrize("sent", UNREADABLE)
async def test_properties_that_cannot_be_read_are_missing_of_their_node_alone(sent: Any) -> None:
    rows = [["a", '["T"]', "A", False, '{"x": "y"}', None, None], ["b", '["T"]', "B", False, sent, None, None]]
    found = await store(lambda *_: rows).node_metadata([A, B, C], call(), blank_nodes=True)
    assert [found[node].mark.whole for node in (A, B, C)] == [True, False, True]
    assert found[A].properties[f"{TERMS}x"] == (Literal("y"),)


@pytest.mark.parametrize("names", [True, False])
async def test_types_that_cannot_be_read_are_missing_of_their_node_alone(names: bool) -> None:
    rows = [["a", '["T"]', "A", False, None, None, None], ["b", "[" * 100_000, "B", False, None, None, None]]
    found = await store(lambda *_: rows).nodes([A, B], call(), names=names)
    assert [found[node].mark.whole for node in (A, B)] == [True, False]
    assert found[A].types == (f"{TERMS}T",)


@pytest.mark.parametrize("depth", [1, 800, 2_000, 9_000])
async def test_lists_that_are_nested_deeply_are_read_or_missing_of_their_node_alone(depth: int) -> None:
    deep = "[" * depth + '"T"' + "]" * depth
    rows = [
        ["a", '["T"]', "A", False, f'{{"x": {deep}}}', None, None],
        ["b", deep, "B", False, None, deep, None],
        ["c", '["T"]', "C", False, '{"x": "T"}', None, None],
    ]
    found = await store(lambda *_: rows).node_metadata([A, B, C], call(), blank_nodes=True)
    facts = await store(lambda *_: rows).nodes([A, B, C], call(), names=True)
    # How deep lists may be is a matter of Python's version.
    for node in (A, C):
        assert not found[node].mark.whole or found[node].properties[f"{TERMS}x"] == (Literal("T"),)
    assert not facts[B].mark.whole or facts[B].types == (f"{TERMS}T",)
    assert found[C].mark.whole
    assert depth > 800 or all(found[node].mark.whole and facts[node].mark.whole for node in (A, B, C))


@pytest.mark.parametrize("empty", [None, "null", "{}", "[]", {}])
async def test_properties_that_are_empty_are_none(empty: Any) -> None:
    rows = [["a", '["T"]', None, False, empty, None, None]]
    found = (await store(lambda *_: rows).node_metadata([A], call(), blank_nodes=True))[A]
    assert (found.mark.whole, found.properties) == (True, {})


@pytest.mark.parametrize("sent", UNREADABLE)
async def test_a_statement_that_cannot_be_read_is_missing_of_its_edge_alone(sent: Any) -> None:
    def answers(_: str, __: Sequence[Any]) -> Sequence[Row]:
        return [
            ["a", "p", "b", None, False, '{"x": "y"}', None],
            ["a", "p", "c", None, False, sent, None],
            ["a", "p", "c", None, False, '{"x": "z"}', None],
        ]

    first, second = Edge(A, f"{TERMS}p", B), Edge(A, f"{TERMS}p", C)
    found = await store(answers).edge_metadata([first, second], call())
    assert [found[edge].mark.whole for edge in (first, second)] == [True, False]
    assert [len(found[edge].assertions) for edge in (first, second)] == [1, 1]


# The nodes within some hops, which are read a part of a frontier at a time


class _Tree:
    """Nodes with `width` nodes below each, so many levels deep; `0.1` is the second node below the first one."""

    def __init__(self, *width: int) -> None:
        self.width = width
        self.sizes: list[int] = []

    def __call__(self, query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        """Return neighbours, as many as are asked for."""
        assert query == "neighbours"
        nodes, most = arguments[-2:]
        self.sizes.append(len(nodes))
        found: dict[str, None] = {}
        for node in nodes:
            level = node.count(".")
            below = self.width[level] if level < len(self.width) else 0
            found |= dict.fromkeys(f"{node}.{number}" for number in range(below))
            if level:
                found[node.rpartition(".")[0]] = None
        return [[node] for node in list(found)[:most]]


async def test_a_large_frontier_is_asked_about_in_parts() -> None:
    tree = _Tree(100, 50, 5)
    reach = (await store(tree).reach([f"{IDS}0"], 3, call()))[f"{IDS}0"]
    assert reach.mark.whole
    distances = list(reach.distances.values())
    assert [distances.count(hop) for hop in range(4)] == [1, 100, 5_000, 25_000]
    assert tree.sizes == [1, 100, 2_000, 2_000, 1_000]


@pytest.mark.slow
async def test_a_part_with_more_neighbours_than_a_query_returns_is_asked_about_in_smaller_ones() -> None:
    tree = _Tree(1_500, 100)
    reach = (await store(tree).reach([f"{IDS}0"], 2, call()))[f"{IDS}0"]
    assert reach.mark.whole
    assert len(reach.distances) == 1 + 1_500 + 150_000
    assert max(tree.sizes[2:]) <= 750


async def test_a_part_of_a_frontier_that_fails_leaves_a_set_that_is_not_whole() -> None:
    tree = _Tree(2_500, 1)

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if len(arguments[-2]) == 500:
            raise NetworkFault("The database could not be reached.")
        return tree(query, arguments)

    asking = call()
    asking.retries = False
    reach = (await store(answers).reach([f"{IDS}0"], 2, asking))[f"{IDS}0"]
    assert isinstance(reach.mark.fault, NetworkFault)
    assert len(reach.distances) == 1 + 2_500 + 2_000


# The schema, which says what it lacks


def _many_types(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
    match query:
        case "type_counts" | "sampled_types":
            return [[f"t{number}", 1] for number in range(min(arguments[-1], 30_000))]
        case "predicate_counts" | "sampled_predicates":
            return [["p", 7]]
    return []


@pytest.mark.parametrize("fails", [False, True])
async def test_a_schema_without_all_superclasses_is_to_be_read_again_soon(fails: bool) -> None:
    above = "http://www.w3.org/2000/01/rdf-schema#subClassOf"

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if query != "edges":
            return [["T", 2]] if query == "type_counts" else []
        if fails:
            raise QueryRefused("The database refused a query of this gateway.")
        return [["urn:x-bfsql:term:T", above, "urn:x-bfsql:term:U"]] if "urn:x-bfsql:term:T" in arguments[3] else []

    profile = load_profile("bfsql-postgres")
    types = profile.types.model_copy(update={"subclass_of": (above,)})
    schema = await store(answers, profile=profile.model_copy(update={"types": types})).schema(call())
    assert schema.exact
    assert schema.labelled is not fails
    assert bool(schema.superclasses) is not fails


async def test_labels_are_read_though_counting_took_the_time_for_a_quick_answer() -> None:
    clock = Clock()

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        match query:
            case "type_counts" | "predicate_counts":
                clock.now += 0.6
                return [["T" if query == "type_counts" else "p", 2]]
            case "hubs" | "edges":
                clock.now += 0.3
            case "nodes":
                return [[text, None, f"Name of {text[-1]}", *[None] * 4] for text in arguments[0]]
        return []

    asking = Call(Deadline.after(10, clock), 1_000, 1_000_000, 1_000_000)
    schema = await store(answers).quick_schema(asking)
    assert (schema.exact, schema.labelled) == (True, True)
    assert [term.label for term in (*schema.types, *schema.predicates)] == ["Name of T", "Name of p"]


@pytest.mark.parametrize("reading", ["quick_schema", "schema"])
async def test_more_types_than_are_listed_are_told_and_the_others_are_there(reading: str) -> None:
    schema = await getattr(store(_many_types), reading)(call())
    assert (len(schema.types), [(term.iri, term.count) for term in schema.predicates]) == (20_000, [(f"{TERMS}p", 7)])
    assert (schema.exact, schema.is_cut, schema.basis.triples) == (False, True, None)
    assert schema.reason == "the graph has more than 20,000 types or predicates"


@pytest.mark.parametrize(
    ("edges", "nameless", "asked", "found"),
    [
        (30_000, 5, [200], NamelessNodes(5, 9, exact=False)),
        (30_000, 0, [200, 200_000], NamelessNodes(0, 9, exact=True)),
        (300_000, 0, [200], NamelessNodes(0, 9, exact=False)),
        (2_000, 5, [200_000], NamelessNodes(5, 9, exact=True)),
    ],
)
async def test_the_ends_of_all_edges_are_looked_at_only_where_those_of_some_have_names(
    edges: int, nameless: int, asked: list[int], found: NamelessNodes
) -> None:
    looked_at: list[int] = []

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if query == "nameless":
            looked_at.append(arguments[3])
            return [[9, nameless]]
        return [["p", edges]] if query == "predicate_counts" else []

    database = store(answers)
    schema = await database.schema(call())
    assert await database.nameless(schema, call()) == found
    assert looked_at == asked
