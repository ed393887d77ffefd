"""No answer and no error exceeds its bound, and more edges than one query may return are read in pages."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import messages
from gateway.errors import EdgesCapped, GatewayError
from gateway.escaping import json_text
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile, ServerSettings, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.hostile import LABEL, TEXTS, TRIPLES, hostile
from tests.small import ROOM, Watched, X, engine, ids, over

pytestmark = pytest.mark.anyio

LEAST = 16_000
"""Bytes that an answer may have though `max_tokens` is less: one node and what is said about it."""

ERROR = 2_000
"""Characters of an error."""

TOKENS = st.sampled_from([200, 400, 1_000, 8_000])
IDS = st.lists(
    st.one_of(
        st.sampled_from(["x:n0", "x:n1", "x:n2"]),
        st.builds(lambda number, length: f"{X}{'字' * length}{number}", st.integers(0, 99), st.sampled_from([5, 970])),
    ),
    min_size=2,
    max_size=50,
    unique=True,
)


async def called(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as it is sent; an error is looked at here."""
    try:
        return (await gateway.call(tool, arguments)).as_json()
    except GatewayError as error:
        text = str(error)
    assert len(text) <= ERROR
    assert text.isprintable()
    return {}


def bytes_of(written: object) -> int:
    """Count the bytes of an answer as it is sent."""
    return len(json_text(written).encode())


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(100))
@given(st.lists(TRIPLES, max_size=8), st.lists(TEXTS, max_size=5), TOKENS, IDS, st.booleans(), st.booleans())
async def test_no_answer_and_no_error_of_any_tool_exceeds_its_bound(
    triples: list[tuple[str, str, str]],
    literals: list[tuple[str, str, str]],
    tokens: int,
    named: list[str],
    opaque: bool,
    explain: bool,
) -> None:
    profile = Profile(
        size=SizeSettings(max_tokens=tokens), names=NameSettings(on_stubs=opaque), server=ServerSettings(explain=True)
    )
    also = {"max_tokens": tokens, "explain": explain}
    async with over(hostile(triples, literals), profile) as gateway:
        for tool, arguments in (
            ("describe_schema", {"explain": explain}),
            ("search_entities", {"query": "OBEY", "limit": 100, "explain": explain}),
            ("search_entities", {"query": "n0", "node_types": named, "explain": explain}),
            ("bfs_query", {"seeds": named, "max_hops": 2, **also}),
            ("bfs_query", {"seeds": named, "max_hops": 1, "max_degree": 1, "exclude_node_types": named[:5], **also}),
            ("intersect_subgraphs", {"seeds": named, "k": 2, "via": True, **also}),
            ("intersect_subgraphs", {"seeds": ["x:n0", "x:n1"], "k": 3, "via": True, **also}),
            ("describe_entity", {"id": named[0], **also}),
            ("describe_entities", {"ids": named, **also}),
        ):
            answer = await called(gateway, tool, arguments)
            assert bytes_of(answer) <= max(4 * tokens, LEAST), tool
            if len(answer.get("nodes", ())) > 1 or len(answer.get("edges", ())) > 1:
                assert bytes_of(answer) <= 4 * tokens, tool


async def test_a_list_of_ids_that_is_too_large_for_an_answer_is_cut_and_counted() -> None:
    named = [f"{X}{'n' * 960}{number:02}" for number in range(40)]
    async with over("x:a a x:T .", Profile(size=SizeSettings(max_tokens=1_000))) as gateway:
        answer = await gateway.describe_entities(["x:a", *named], max_tokens=1_000)
        subgraph = await gateway.bfs_query(["x:a", *named], 1, max_tokens=1_000)
    assert answer.degraded is not None
    assert len(answer.not_found) + answer.degraded["ids_not_listed"] == 40
    # Nobody knows of those that are not listed whether they were found.
    assert answer.complete is False
    assert subgraph.degraded is not None
    # The missing ones stand in both lists.
    listed = len(subgraph.seeds) + len(subgraph.missing_seeds or ())
    assert listed + subgraph.degraded["ids_not_listed"] == 41 + 40
    assert [node.id for node in subgraph.nodes] == ["x:a"]


async def test_edges_of_a_node_with_itself_that_are_too_many_for_an_answer_go_on_on_further_pages() -> None:
    loops = "\n".join(f"x:a x:{'p' * 200}{number} x:a ." for number in range(50))
    async with over(loops, Profile(size=SizeSettings(max_tokens=500))) as gateway:
        pages = [await gateway.bfs_query(["x:a"], 1)]
        while (last := pages[-1]).next_offset is not None:
            pages.append(await gateway.bfs_query(["x:a"], 1, offset=last.next_offset, edge_offset=last.next_edge or 0))
    assert all(bytes_of(page.as_json()) <= 2_000 for page in pages)
    assert [node.id for page in pages for node in page.nodes] == ["x:a"]
    assert len({edge.predicate for page in pages for edge in page.edges}) == pages[0].edge_count == 50
    assert sum(len(page.edges) for page in pages) == 50


async def test_an_edge_that_is_too_long_for_an_answer_is_shown_and_the_answer_says_that_it_is_larger() -> None:
    edge = f"x:a x:{'p' * 900} x:{'n' * 900} ."
    async with over(edge, Profile(size=SizeSettings(max_tokens=300))) as gateway:
        first = await gateway.bfs_query(["x:a"], 1)
        second = await gateway.bfs_query(["x:a"], 1, offset=first.next_offset or 0)
    assert (first.edge_count, first.edges, len(second.edges)) == (1, [], 1)
    assert first.warnings is None
    assert second.next_offset is None
    assert bytes_of(second.as_json()) > 1_200
    assert second.warnings == [messages.LARGER_THAN_ASKED]


LONG = {kind: kind * 5_000 for kind in "nmtuvpqdsz"}
RUN = re.compile(r"(n|m|t|u|v|p|q|d|s|z)\1{40,}")
LONG_NAMES = f"""
x:a a x:T, x:U ; rdfs:label '{LONG["n"]}' ; skos:altLabel 'needle {LONG["s"]}' .
x:a x:p x:b {{| x:said x:d ; x:why '{LONG["z"]}' |}} .
x:b a x:T, x:V ; rdfs:label '{LONG["m"]}' ; rdfs:comment '{LONG["d"]}' ; x:k x:d .
x:T rdfs:label '{LONG["t"]}' . x:U rdfs:label '{LONG["u"]}' . x:V rdfs:label '{LONG["v"]}' .
x:p rdfs:label '{LONG["p"]}' . x:k rdfs:label '{LONG["q"]}' . x:d rdfs:label 'needle {LONG["d"]}' .
"""


def texts_of(written: object) -> Iterator[str]:
    """Yield every text of an answer, keys included."""
    if isinstance(written, dict):
        for key, value in written.items():
            yield key
            yield from texts_of(value)
    elif isinstance(written, list):
        for value in written:
            yield from texts_of(value)
    elif isinstance(written, str):
        yield written


@pytest.mark.parametrize("opaque", [True, False])
@pytest.mark.parametrize("shape", ["reference", "compact"])
async def test_a_text_that_is_cut_ends_in_an_ellipsis_wherever_it_stands(opaque: bool, shape: ShapeName) -> None:
    profile = Profile(names=NameSettings(on_stubs=opaque), size=SizeSettings(evidence_text_characters=10_000))
    cut_kinds = set()
    async with over(LONG_NAMES, profile) as gateway:
        for tool, arguments in (
            ("describe_schema", {}),
            ("search_entities", {"query": "needle"}),
            ("search_entities", {"query": LONG["n"][:900]}),
            ("search_entities", {"query": "", "node_types": ["x:T"]}),
            ("bfs_query", {"seeds": ["x:a"], "max_hops": 2}),
            ("bfs_query", {"seeds": ["x:a"], "max_hops": 2, "node_types": ["x:U"]}),
            ("bfs_query", {"seeds": ["x:a"], "max_hops": 2, "max_tokens": 1_000}),
            ("bfs_query", {"seeds": ["x:a"], "max_hops": 2, "limit": 1, "offset": 1}),
            ("intersect_subgraphs", {"seeds": ["x:a", "x:d"], "k": 2, "topology_only": True}),
            ("describe_entity", {"id": "x:a"}),
            ("describe_entities", {"ids": ["x:a", "x:b", "x:d"], "max_tokens": 2_000}),
        ):
            answer = await gateway.call(tool, arguments, shape=shape)
            for text in texts_of(answer.as_json()):
                for run in RUN.finditer(text):
                    if len(run[0]) < len(LONG[run[1]]):
                        assert text[run.end() :].startswith("…"), (tool, text)
                        cut_kinds.add(run[1])
    assert cut_kinds >= set("nmsd")
    assert not opaque or cut_kinds >= set("tup")


async def test_a_name_on_a_stub_is_cut() -> None:
    profile = Profile(names=NameSettings(on_stubs=True))
    async with over(hostile([], [("https://example.org/x/n1", LABEL, "n" * 50_000)]), profile) as gateway:
        answer = await gateway.bfs_query(["x:n0"], 1, topology_only=True)
    assert max(len(node.name or "") for node in answer.nodes) == 200


def test_a_prefix_that_makes_no_shorter_id_is_none() -> None:
    long = PrefixMap({"a" * 81: X, "a b": X, "n": f"{X}{'n' * 1_000}"})
    assert long.prefixes == {}
    assert long.shorten(f"{X}a") == f"{X}a"


LEAVES = 15
STAR = " ".join(f"x:hub x:p x:leaf{n:02} . x:leaf{n:02} x:q x:end{n:02} ." for n in range(LEAVES))


class Queries:
    """Counts queries by what they ask."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def __call__(self, query: str) -> None:
        """Remember a query."""
        self.sent.append(query)

    def with_text(self, pattern: str) -> list[str]:
        """Return the queries that a pattern is found in."""
        return [query for query in self.sent if re.search(pattern, query)]


def rows_at_most(rows: int) -> Profile:
    return Profile(size=ROOM, limits=LimitSettings(query_rows=rows))


async def test_a_batch_with_too_many_edges_is_packed_by_degree_after_one_count() -> None:
    queries = Queries()
    async with over(Watched(engine(STAR), queries), rows_at_most(20)) as gateway:
        answer = await gateway.bfs_query(["x:hub"], 2, topology_only=True)
    assert answer.complete
    assert answer.edge_count == 2 * LEAVES
    assert len(queries.with_text(r"AS \?degree")) == 1
    # Fifteen leaves of two edges each: ten, five, and the batch that was too much.
    parts = [
        query for query in queries.with_text(r"SELECT \?s \?p \?o WHERE") if "leaf" in query and "ORDER" not in query
    ]
    assert len(parts) == 3


async def test_an_intersection_asks_for_nodes_first_and_for_the_edges_of_what_is_common_alone() -> None:
    queries = Queries()
    graph = STAR + " x:other x:p x:leaf00 . x:other x:p x:leaf01 ."
    async with over(Watched(engine(graph), queries)) as gateway:
        answer = await gateway.intersect_subgraphs(["x:hub", "x:other"], 2, topology_only=True, via=False)
    assert answer.complete
    assert {"x:hub", "x:other", "x:leaf00", "x:leaf01"} <= set(ids(answer))
    assert len(queries.with_text(r"SELECT DISTINCT \?n WHERE")) == 4
    (edges,) = queries.with_text(r"^SELECT \?s \?p \?o")
    assert "x/end" not in edges or "x/end00" in edges
    assert "leaf14>" not in edges


async def test_an_intersection_through_blank_nodes_falls_back_to_edges_and_counts_them() -> None:
    queries = Queries()
    graph = "x:a x:p x:m, [] . x:b x:p x:m ; x:p [] ."
    async with over(Watched(engine(graph), queries)) as gateway:
        answer = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
        queries.sent.clear()
        gateway.forget()
        await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
        assert not queries.with_text(r"SELECT DISTINCT \?n WHERE")
    assert [(gap.cause, gap.ids) for gap in answer.incomplete or ()] == [("blank_nodes", ["x:a", "x:b"])]
    assert ids(answer) == ["x:a", "x:b", "x:m"]
    assert answer.blank_node_edges == 2


async def test_shared_literals_are_no_way_from_one_node_to_another() -> None:
    async with over("x:a x:born 1950 ; x:p x:m . x:b x:born 1950 ; x:p x:n .") as gateway:
        answer = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
    assert answer.complete
    assert answer.nodes == []


async def test_edges_from_a_node_with_too_many_to_few_others_are_asked_from_the_other_end() -> None:
    queries = Queries()
    graph = STAR + " x:left x:p x:mid . x:right x:p x:mid . x:mid x:p x:hub . x:hub x:r x:left ."
    async with over(Watched(engine(graph), queries), rows_at_most(10)) as gateway:
        answer = await gateway.intersect_subgraphs(["x:left", "x:right"], 2, topology_only=True, max_degree=5)
    assert ids(answer) == ["x:left", "x:right", "x:mid", "x:hub"]
    assert ("x:hub", "x:r", "x:left") in {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}
    assert [entry.cause for entry in answer.incomplete or ()] == ["hub_not_expanded"]


async def test_an_endpoint_that_is_not_trusted_never_gives_a_complete_answer() -> None:
    profile = Profile(size=ROOM, endpoint=EndpointSettings(trusted=False))
    async with over("x:a x:p x:b .", profile) as gateway:
        traversal = await gateway.bfs_query(["x:a"], 1, topology_only=True)
        common = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
    for answer in (traversal, common):
        assert answer.complete is False
        (gap,) = answer.incomplete or []
        assert gap.cause == "server_truncated"
        assert "cut answers without a sign" in gap.detail
        assert "x:a" in gap.ids


@pytest.mark.parametrize(
    ("cap", "shown", "complete"), [(9, 9, False), (10, 10, False), (11, 11, False), (15, 15, True)]
)
async def test_a_cap_above_the_rows_of_one_query_is_put_on_pages(cap: int, shown: int, complete: bool) -> None:
    graph = " ".join(f"x:a x:p x:b{number} ." for number in range(15))
    async with over(Watched(engine(graph), Queries()), rows_at_most(10)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, max_edges_per_node=cap, topology_only=True)
    assert (answer.edge_count, answer.complete) == (shown, complete)
    assert [gap.cause for gap in answer.incomplete or ()] == ([] if complete else ["edges_capped"])


@pytest.mark.parametrize(("cap", "pages"), [(10, 2), (19, 2), (20, 3), (59, 6), (60, 7)])
async def test_of_a_node_above_a_cap_no_page_is_read_that_its_shown_edges_do_not_need(cap: int, pages: int) -> None:
    queries = Queries()
    graph = " ".join(f"x:a x:p x:b{number:02} ." for number in range(61))
    async with over(Watched(engine(graph), queries), rows_at_most(10)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, max_edges_per_node=cap, topology_only=True)
    assert (answer.edge_count, answer.complete) == (cap, False)
    assert len(queries.with_text(r"ORDER BY STR")) == pages
    # Their number is asked for only where they are to be all.
    assert not queries.with_text(r"SELECT \?kind")


@given(
    outgoing=st.integers(0, 40),
    incoming=st.integers(0, 15),
    loops=st.integers(0, 1),
    blank=st.integers(0, 25),
    rows=st.integers(10, 20),
    most=st.integers(1, 60),
)
def test_some_edges_of_a_node_are_as_many_as_asked_for_or_all_however_few_rows_a_query_returns(
    outgoing: int, incoming: int, loops: int, blank: int, rows: int, most: int
) -> None:
    graph = " ".join(
        [
            *(f"x:a x:p x:b{number} ." for number in range(outgoing)),
            *(f"x:c{number} x:p x:a ." for number in range(incoming)),
            *(["x:a x:p x:a ."] * loops),
            *(["x:a x:p [] ."] * blank),
        ]
    )
    store = SparqlStore(InProcess(engine(graph), max_bytes=1 << 24), rows_at_most(rows))
    call = Call(Deadline.after(60), 1_000, 100_000, 100_000)
    found = asyncio.run(store.edges([f"{X}a"], call, per_id=most))[f"{X}a"]
    ends = [("a", f"b{number}") for number in range(outgoing)] + [(f"c{number}", "a") for number in range(incoming)]
    ends += [("a", "a")] * loops
    there = {Edge(f"{X}{subject}", f"{X}p", f"{X}{target}") for subject, target in ends}
    assert len(found.edges) == len(set(found.edges)) == min(most, len(there))
    assert set(found.edges) <= there
    if len(there) <= most:
        assert (found.mark.whole, found.blank_edges) == (True, blank)
    else:
        assert isinstance(found.mark.fault, EdgesCapped)
