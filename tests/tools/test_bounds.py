"""No answer and no error exceeds its bound, whatever the terms of the graph and the IDs of the call."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import messages
from gateway.errors import GatewayError
from gateway.escaping import json_text
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile, ServerSettings, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.examples import examples
from tests.hostile import LABEL, TEXTS, TRIPLES, hostile
from tests.small import X, over

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
        answer = await gateway.describe_entities(["x:a", *named])
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
