"""How large an answer may be, in bytes as sent, and what it leaves out to stay so (docs/contract.md, "Size")."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyoxigraph
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from gateway import expand
from gateway.answers.models import Answer, BfsResult
from gateway.answers.page import PageNode
from gateway.answers.reference import REFERENCE, node_metadata
from gateway.answers.shape import size_of
from gateway.answers.size import Window, fitting
from gateway.answers.values import Nested, NodeMetadata, PageValue, Shortener
from gateway.escaping import json_text
from gateway.graph.call import Deadline
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.tools.gateway import Gateway
from tests.examples import examples
from tests.small import PREFIXES, X, engine, ids, over

LABEL = pyoxigraph.NamedNode(f"{PREFIXES['rdfs']}label")
TYPE = pyoxigraph.NamedNode(f"{PREFIXES['rdf']}type")
REIFIES = pyoxigraph.NamedNode(f"{PREFIXES['rdf']}reifies")
ALPHABET = 'aé日😀\u202e"\\\n\u0301 z'
CUT = "…"
NEVER = Deadline(math.inf)
VALUES: st.SearchStrategy[PageValue] = st.recursive(
    st.text(ALPHABET, max_size=40) | st.integers(),
    lambda inner: st.builds(
        Nested, st.dictionaries(st.sampled_from(["x:p", "x:q"]), st.lists(inner, min_size=1, max_size=6), min_size=1)
    ),
)


def bytes_of(answer: Answer) -> int:
    """Count the bytes of an answer as it is sent."""
    return len(json_text(answer.as_json()).encode())


def is_smallest(page: dict[str, Any]) -> bool:
    """Return whether a page has one node and one edge at most, each as small as it gets; their IDs may be too long."""
    items = [*page["nodes"], *page["edges"]]
    is_bare = not any(set(item.get("metadata", ())) - {"negated"} for item in items)
    return is_bare and len(page["nodes"]) <= 1 and len(page["edges"]) <= 1


@dataclass(frozen=True)
class Drawn:
    """A graph of any shape, its node IRIs, and a question about it."""

    store: pyoxigraph.Store
    nodes: tuple[str, ...]
    max_tokens: int


@st.composite
def drawn_graphs(draw: st.DrawFn) -> Drawn:
    """Draw a connected graph with texts, IRIs, types and evidence of any length."""
    store = pyoxigraph.Store()
    count = draw(st.integers(1, 24))
    # The length of texts is drawn apart from the texts: long ones are what this is about.
    lengths = st.sampled_from([0, 3, 40, 90, 250, 1_500, 6_000])
    padding = "é" if draw(st.booleans()) else "p"
    nodes = [
        pyoxigraph.NamedNode(f"{X}{number}{padding * draw(st.sampled_from([0, 0, 5, 300]))}") for number in range(count)
    ]
    types = [pyoxigraph.NamedNode(f"{X}T{number}{padding * draw(st.sampled_from([0, 120]))}") for number in range(4)]

    def text() -> pyoxigraph.Literal:
        unit = draw(st.text(ALPHABET, min_size=1, max_size=5))
        length = draw(lengths)
        return pyoxigraph.Literal((unit * (length // len(unit) + 1))[:length])

    def add(subject: Any, predicate: pyoxigraph.NamedNode, value: Any) -> None:
        store.add(pyoxigraph.Quad(subject, predicate, value))

    for number, node in enumerate(nodes):
        add(node, TYPE, draw(st.sampled_from(types)))
        if draw(st.booleans()):
            add(node, LABEL, text())
        for position in range(draw(st.integers(0, 3))):
            add(node, pyoxigraph.NamedNode(f"{X}note{position}"), text())
        if number:
            other = nodes[draw(st.integers(0, number - 1))]
            predicate = pyoxigraph.NamedNode(f"{X}p{draw(st.integers(0, 2))}")
            add(other, predicate, node)
            if draw(st.booleans()):
                reifier = pyoxigraph.BlankNode()
                add(reifier, REIFIES, pyoxigraph.Triple(other, predicate, node))
                add(reifier, pyoxigraph.NamedNode(f"{X}source"), text())
    tokens = draw(st.sampled_from([200, 250, 400, 1_000, 3_000, 8_000]))
    return Drawn(store, tuple(node.value for node in nodes), tokens)


drawn = settings(
    max_examples=examples(40),
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # making such a graph smaller takes longer than reading it
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


async def pages_of(gateway: Gateway, graph: Drawn, **arguments: Any) -> list[BfsResult]:
    """Read all pages of a question."""
    pages: list[BfsResult] = []
    offset: int | None = 0
    edge_offset = 0
    while offset is not None:
        page = await gateway.bfs_query(
            [graph.nodes[0]], 5, max_tokens=graph.max_tokens, offset=offset, edge_offset=edge_offset, **arguments
        )
        pages.append(page)
        offset, edge_offset = page.next_offset, page.next_edge or 0
    return pages


@drawn
@given(graph=drawn_graphs(), topology_only=st.booleans(), names=st.booleans(), explain=st.booleans())
def test_no_page_of_more_than_one_node_is_larger_than_was_asked_and_the_pages_have_every_node_once(
    graph: Drawn, topology_only: bool, names: bool, explain: bool
) -> None:
    async def read() -> list[BfsResult]:
        async with over(graph.store, Profile(names=NameSettings(on_stubs=names))) as gateway:
            return await pages_of(gateway, graph, topology_only=topology_only, explain=explain)

    pages = asyncio.run(read())
    event(f"{min(len(pages), 4)} pages")
    for page in pages:
        assert bytes_of(page) <= graph.max_tokens * 4 or is_smallest(page.as_json())
    found = [node for page in pages for node in ids(page)]
    assert len(found) == len(set(found)) == pages[0].node_count
    edges = [(edge.subject, edge.predicate, edge.object) for page in pages for edge in page.edges]
    assert len(edges) == len(set(edges)) == pages[0].edge_count


@drawn
@given(graph=drawn_graphs())
def test_an_intersection_is_no_larger_than_was_asked_either(graph: Drawn) -> None:
    async def read() -> Answer:
        async with over(graph.store, Profile()) as gateway:
            return await gateway.intersect_subgraphs(graph.nodes[:2], 5, max_tokens=graph.max_tokens)

    if len(graph.nodes) > 1:
        answer = asyncio.run(read())
        assert bytes_of(answer) <= graph.max_tokens * 4 or is_smallest(answer.as_json())


@pytest.mark.slow
@drawn
@given(graph=drawn_graphs())
def test_described_entities_fit_and_every_id_is_listed_exactly_once(graph: Drawn) -> None:
    absent = f"{X}absent"

    async def read() -> tuple[list[str], list[str], list[int]]:
        found: list[str] = []
        missing: list[str] = []
        too_large = []
        left: Sequence[str] | None = [*graph.nodes, absent]
        async with over(graph.store, Profile()) as gateway:
            while left:
                answer = await gateway.describe_entities(left, max_tokens=graph.max_tokens)
                found += [entity.iri or entity.id for entity in answer.result]
                missing += answer.not_found
                if len(answer.result) > 1 and bytes_of(answer) > graph.max_tokens * 4:
                    too_large.append(bytes_of(answer))
                left = answer.remaining_ids
                # Where the IDs that did not fit are themselves too long for the answer, the caller has them.
                if not_listed := (answer.degraded or {}).get("ids_not_listed"):
                    rest = [iri for iri in graph.nodes if iri not in found] + [absent] * (not missing)
                    assert len(answer.remaining_ids or ()) + not_listed == len(rest)
                    left = rest
        return found, missing, too_large

    found, missing, too_large = asyncio.run(read())
    assert found == [*graph.nodes]
    assert missing == ["x:absent"]
    assert too_large == []


@drawn
@given(graph=drawn_graphs())
def test_what_degraded_counts_is_what_the_page_shows(graph: Drawn) -> None:
    async def read() -> list[BfsResult]:
        async with over(graph.store, Profile()) as gateway:
            return await pages_of(gateway, graph)

    for page in asyncio.run(read()):
        degraded = page.degraded or {}
        stubs = sum(node.metadata is None for node in page.nodes)
        assert degraded.get("nodes_as_stubs", 0) == stubs
        assert degraded.get("edges_bare", 0) <= sum(edge.metadata is None for edge in page.edges)
        shown = [metadata for metadata in all_metadata(page) if metadata is not None]
        assert degraded.get("values_shortened", 0) == sum(map(cut_values, shown))


def all_metadata(answer: BfsResult) -> list[dict[str, Any] | None]:
    """Return the metadata of nodes and edges."""
    return [*(node.metadata for node in answer.nodes), *(edge.metadata for edge in answer.edges)]


def cut_values(value: Any) -> int:
    """Count the texts that were cut."""
    if isinstance(value, dict):
        return sum(map(cut_values, value.values()))
    if isinstance(value, list):
        return sum(map(cut_values, value))
    return isinstance(value, str) and value.endswith(CUT)


STAR = "x:hub rdfs:label 'hub' .\n" + "\n".join(
    f"x:hub x:rel x:n{number:02} {{| x:confidence 0.5 ; dct:source 'S{number}' |}} . "
    f"x:n{number:02} a x:Node ; rdfs:label 'node {number}' ; x:note '{'long ' * 300}' ."
    for number in range(20)
)


@pytest.mark.anyio
async def test_an_answer_that_fits_is_not_degraded() -> None:
    async with over(STAR) as gateway:
        answer = await gateway.bfs_query(["x:hub"], 1)
    assert answer.degraded is None
    assert answer.next_offset is None
    assert all(node.metadata for node in answer.nodes)
    assert all(edge.metadata for edge in answer.edges)


@pytest.mark.anyio
async def test_an_answer_loses_texts_first_then_the_farthest_nodes_then_edges_then_is_paged() -> None:
    async with over(STAR) as gateway:
        seen = [
            await gateway.bfs_query(["x:hub"], 1, max_tokens=tokens)
            for tokens in (8_000, 7_000, 4_000, 2_500, 1_800, 1_300, 1_000, 900, 800, 600, 400, 200)
        ]
    steps = ["values_shortened", "nodes_as_stubs", "edges_bare"]
    reached = []
    for answer in seen:
        degraded = answer.degraded or {}
        paged = answer.next_offset is not None
        reached.append(4 if paged else max((steps.index(step) + 1 for step in degraded), default=0))
        if degraded.get("edges_bare"):
            assert all(node.metadata is None for node in answer.nodes)
        if paged:
            assert set(map(str, all_metadata(answer))) == {"None"}
        assert answer.node_count == 21
        assert answer.edge_count == 20
        assert answer.complete is True
    assert reached == sorted(reached)
    assert {1, 2, 3, 4} <= set(reached)


@pytest.mark.anyio
async def test_the_nodes_that_become_stubs_are_the_last_ones() -> None:
    async with over(STAR) as gateway:
        answer = await gateway.bfs_query(["x:hub"], 1, max_tokens=1_300)
    full = [node.metadata is not None for node in answer.nodes]
    assert full == sorted(full, reverse=True)
    assert True in full
    assert False in full


@pytest.mark.anyio
async def test_texts_that_were_shortened_and_then_left_out_are_not_counted_as_shortened() -> None:
    async with over(STAR) as gateway:
        answer = await gateway.bfs_query(["x:hub"], 1, max_tokens=700)
    assert not [node for node in answer.nodes if node.metadata is not None]
    assert answer.degraded is not None
    assert "values_shortened" not in answer.degraded


@pytest.mark.anyio
async def test_metadata_that_nobody_asked_for_is_not_counted_as_left_out() -> None:
    async with over(f"{STAR} x:y x:unused x:z .") as gateway:
        answer = await gateway.bfs_query(["x:hub"], 1, max_tokens=400, topology_only=True)
        other = await gateway.bfs_query(["x:hub"], 1, max_tokens=400, node_types=["untyped"], predicates=["unused"])
    assert answer.next_offset is not None
    assert answer.degraded is None
    assert other.degraded == {"nodes_as_stubs": 1}


@pytest.mark.anyio
async def test_more_than_the_operators_ceiling_is_not_given_and_said() -> None:
    async with over(STAR, Profile(size=SizeSettings(max_tokens=300, ceiling_tokens=500))) as gateway:
        usual = await gateway.bfs_query(["x:hub"], 1)
        most = await gateway.bfs_query(["x:hub"], 1, max_tokens=500)
        more = await gateway.bfs_query(["x:hub"], 1, max_tokens=1_000_000)
        one = await gateway.describe_entity("x:n01", max_tokens=1_000_000)
        several = await gateway.describe_entities(["x:n01", "x:n02"], max_tokens=1_000_000)
    assert bytes_of(usual) <= 1_200
    assert bytes_of(most) <= 2_000
    assert bytes_of(more) <= 2_000
    assert usual.warnings is None
    assert most.warnings is None
    for answer in (more, one, several):
        assert answer.warnings is not None
        assert "1000000" in answer.warnings[0]
        assert "500" in answer.warnings[0]
    assert len(most.nodes) > len(usual.nodes)


@pytest.mark.anyio
async def test_a_long_text_of_one_entity_is_shortened_and_said() -> None:
    text = "é" * 20_000
    async with over(f"x:a x:note '{text}' ; x:short 'kept' .", Profile()) as gateway:
        answer = await gateway.describe_entity("x:a")
    note = answer.as_json()["x:note"]
    assert note.endswith(CUT)
    assert text.startswith(note.removesuffix(CUT))
    assert answer.as_json()["x:short"] == "kept"
    assert answer.degraded == {"values_shortened": 1}
    assert bytes_of(answer) <= 32_000


@pytest.mark.anyio
async def test_what_fits_is_not_shortened() -> None:
    async with over(f"x:a x:note '{'n' * 20_000}' .", Profile()) as gateway:
        answer = await gateway.describe_entity("x:a")
    assert answer.as_json()["x:note"] == "n" * 20_000
    assert answer.degraded is None


@pytest.mark.anyio
async def test_an_id_is_never_cut_because_it_would_name_nothing() -> None:
    long = "l" * 150
    notes = "; ".join(f"x:note{number} '{'n' * 500}'" for number in range(8))
    turtle = f"x:a a x:T1{long}, x:T2{long} ; {notes} ."
    async with over(turtle, Profile()) as gateway:
        entity = await gateway.describe_entity("x:a", max_tokens=500)
    assert entity.degraded is not None
    assert entity.as_json()["types"] == [f"x:T1{long}", f"x:T2{long}"]


@pytest.mark.anyio
async def test_a_search_answer_fits_into_the_usual_size() -> None:
    turtle = "\n".join(
        f"x:n{number}{'i' * 150} a x:T ; rdfs:label '{number} {'name ' * 60}' ; "
        f"skos:altLabel 'needle {number} {'other ' * 60}' ."
        for number in range(100)
    )
    async with over(turtle, Profile()) as gateway:
        answer = await gateway.search_entities("needle", limit=100)
    assert bytes_of(answer) <= 32_000


@pytest.mark.anyio
async def test_an_entity_with_very_many_predicates_fits_and_says_what_it_lost() -> None:
    values = " ; ".join(f"x:predicate{number} '{'v' * 60}'" for number in range(1_000))
    async with over(f"x:a {values} .", Profile()) as gateway:
        answer = await gateway.describe_entity("x:a")
    assert bytes_of(answer) <= 32_000
    assert answer.degraded


@pytest.mark.anyio
@pytest.mark.parametrize(("asked", "limit", "most"), [(False, 32_000, 40), (True, 15_000, 200)])
async def test_a_schema_of_many_terms_lists_as_many_as_fit_and_knows_all(asked: bool, limit: int, most: int) -> None:
    turtle = "\n".join(f"x:a{number} a x:Type{number} ; x:predicate{number} x:b ." for number in range(300))
    async with over(turtle, Profile()) as gateway:
        answer = await gateway.describe_schema(all=asked)
        filtered = await gateway.bfs_query(["x:b"], 1, node_types=["Type299"])
    assert bytes_of(answer) <= limit
    assert len(answer.entity_types) == len(answer.predicates) <= most
    assert bytes_of(answer) > limit - 1_000 or len(answer.predicates) == most
    assert (answer.entity_types_total, answer.predicates_total) == (300, 300)
    assert answer.comprehensive is True
    assert filtered.warnings is None


@settings(derandomize=True, deadline=None)
@given(
    nodes=st.lists(st.integers(25, 200), min_size=1, max_size=12),
    data=st.data(),
    room=st.integers(-50, 2_000),
)
def test_the_largest_page_is_the_longest_beginning_that_fits(nodes: list[int], data: st.DataObject, room: int) -> None:
    ends = st.integers(-1, len(nodes) - 1)
    edges = data.draw(st.lists(st.tuples(ends, st.integers(30, 200)), max_size=20))
    by_end = [[size for end, size in edges if end == node] for node in range(-1, len(nodes))]
    kept, places = fitting(range(len(nodes)), [end for end, _ in edges], nodes, by_end, room)
    size = sum(nodes[: len(kept)]) + sum(edges[place][1] for place in places)
    whole = [sum(nodes[:count]) + sum(size for end, size in edges if end < count) for count in range(len(nodes) + 1)]
    least = 0 if by_end[0] else 1
    fits = [count for count in range(least, len(nodes) + 1) if whole[count] <= room]
    ending = [place for place, (end, _) in enumerate(edges) if end < len(kept)]
    if fits:
        assert (list(kept), places) == (list(range(fits[-1])), ending)
    else:
        # The first node, or the edges left of the one before, are too large alone: as many edges as fit, in order.
        assert list(kept) == list(range(least))
        assert places == ending[: len(places)]
        assert size <= room or len(places) == min(1, len(ending))
        assert len(places) == len(ending) or size + edges[ending[len(places)]][1] > room


@settings(derandomize=True, deadline=None)
@given(values=st.lists(VALUES, min_size=1, max_size=6))
def test_shortening_counts_what_it_cuts_and_is_never_longer(values: list[PageValue]) -> None:
    shorter = Shortener(10, 3)
    whole = NodeMetadata(properties={"x:p": values})
    result = whole.shortened(shorter)
    assert size_of(node_metadata(result)) <= size_of(node_metadata(whole)) + 3 * shorter.shortened
    assert (result.properties == whole.properties) is (shorter.shortened == 0)


def test_each_text_and_each_list_that_is_cut_is_counted() -> None:
    shorter = Shortener(10, 3)
    long = NodeMetadata(
        name="n" * 50,
        synonyms=["s" * 50, "short"],
        properties={"x:p": ["p" * 50], "x:q": [1, 2, 3, 4], "x:r": [1, 2, 3, 4, 5], "x:s": [1, 2, 3]},
    )
    short = long.shortened(shorter)
    assert shorter.shortened == 5
    assert [len(text) for text in (short.name or "", *short.synonyms)] == [10, 10, 5]
    assert [len(values) for values in short.properties.values()] == [1, 3, 3, 3]


@settings(derandomize=True, deadline=None)
@given(values=st.lists(VALUES, min_size=1, max_size=3), name=st.none() | st.text(max_size=3), count=st.integers(0, 3))
def test_metadata_is_the_sum_of_its_parts(values: list[PageValue], name: str | None, count: int) -> None:
    whole = NodeMetadata(name=name, synonyms=["s"] * count, properties={"x:p": values, "x:q": values})
    assert NodeMetadata.of_parts(whole.parts) == replace(whole, synonyms=["s"] * count or ())
    assert len(whole.parts) == (name is not None) + bool(count) + 2


def window_of(metadata: NodeMetadata) -> Window:
    """Return a window of one node."""
    return Window([PageNode(f"{X}a", "x:a", "untyped", metadata=metadata)], [], [], [0, 0], REFERENCE, NEVER)


def test_a_page_that_has_room_is_left_alone() -> None:
    metadata = NodeMetadata(properties={"x:n": ["n" * 5_000]})
    window = window_of(metadata)
    window.shrink(6_000, names_on_stubs=False)
    window.cut(6_000)
    assert window.degraded == {}
    assert window.nodes[0].metadata == metadata


def test_a_stub_has_its_name_where_ids_are_opaque() -> None:
    for names, expected in ((True, "A"), (False, None)):
        window = window_of(NodeMetadata(name="A", properties={"x:n": [1]}))
        window.shrink(0, names_on_stubs=names)
        assert (window.nodes[0].name, window.nodes[0].metadata) == (expected, None)


@pytest.mark.anyio
async def test_a_topology_of_long_ids_is_paged_node_by_node_and_ends() -> None:
    store = engine("\n".join(f"x:a x:rel x:{number}{'l' * 900} ." for number in range(5)))
    async with over(store, Profile()) as gateway:
        pages = await pages_of(gateway, Drawn(store, (f"{X}a",), 200))
    assert sum(len(page.nodes) for page in pages) == 6


Json = dict[str, Any]


async def asked(gateway: Gateway, tool: str, arguments: Mapping[str, Any], shape: ShapeName = "compact") -> Json:
    """Return an answer as it is sent."""
    answer = await gateway.call(tool, arguments, shape=shape, explain=True)
    sent: Json = json.loads(json_text(answer.as_json()))
    return sent


def bytes_sent(answer: Json) -> int:
    return len(json_text(answer).encode())


async def pages_sent(gateway: Gateway, graph: Drawn, **arguments: Any) -> list[Json]:
    """Read all pages of a question."""
    given_always = {"seeds": [graph.nodes[0]], "max_hops": 5, "max_tokens": graph.max_tokens, **arguments}
    pages: list[Json] = []
    place: Json | None = {}
    while place is not None:
        page = await asked(gateway, "bfs_query", {**given_always, **place})
        pages.append(page)
        place = (
            {"offset": page["next_offset"], "edge_offset": page.get("next_edge", 0)} if "next_offset" in page else None
        )
    return pages


@drawn
@given(graph=drawn_graphs(), topology_only=st.booleans(), names=st.booleans(), explain=st.booleans())
def test_no_compact_page_is_larger_than_was_asked_and_the_pages_have_every_node_and_edge_once(
    graph: Drawn, topology_only: bool, names: bool, explain: bool
) -> None:
    async def read() -> list[Json]:
        async with over(graph.store, Profile(names=NameSettings(on_stubs=names))) as gateway:
            return await pages_sent(gateway, graph, topology_only=topology_only, explain=explain)

    sent = asyncio.run(read())
    pages = [expand(page) for page in sent]
    event(f"{min(len(pages), 4)} pages")
    for size, page in zip(map(bytes_sent, sent), pages, strict=True):
        assert size <= graph.max_tokens * 4 or is_smallest(page)
    found = [node["id"] for page in pages for node in page["nodes"]]
    assert len(found) == len(set(found)) == pages[0]["node_count"]
    edges = [(edge["subject"], edge["predicate"], edge["object"]) for page in pages for edge in page["edges"]]
    assert len(edges) == len(set(edges)) == pages[0]["edge_count"]


@drawn
@given(graph=drawn_graphs())
def test_described_entities_fit_in_the_compact_shape_too(graph: Drawn) -> None:
    async def read() -> Json:
        async with over(graph.store, Profile()) as gateway:
            arguments = {"ids": graph.nodes, "max_tokens": graph.max_tokens}
            return await asked(gateway, "describe_entities", arguments)

    sent = asyncio.run(read())
    assert bytes_sent(sent) <= graph.max_tokens * 4 or len(expand(sent)["result"]) == 1


@pytest.mark.anyio
async def test_entities_that_share_long_names_are_whole_where_the_page_fits() -> None:
    edges = " ; ".join(f"x:p{number} x:t{number}" for number in range(20))
    turtle = "".join(f"x:n{number} a x:T ; rdfs:label 'Node {number}' ; {edges} .\n" for number in range(10))
    turtle += "".join(f"x:t{number} rdfs:label '{'A long label of a target ' * 3}{number}' .\n" for number in range(20))
    arguments = {"ids": [f"x:n{number}" for number in range(10)]}
    async with over(turtle, Profile()) as gateway:
        whole = (await gateway.call("describe_entities", arguments, shape="compact")).as_json()
        # The estimate may be a little higher.
        tokens = len(json_text(whole)) * 11 // 40
        fitting = (
            await gateway.call("describe_entities", {**arguments, "max_tokens": tokens}, shape="compact")
        ).as_json()
    assert "degraded" not in whole
    assert fitting == whole


CHAIN = "".join(
    f"x:hub x:rel x:n{number} . x:n{number} a x:Node ; rdfs:label 'node {number}' .\n" for number in range(3_999)
)


@pytest.mark.anyio
async def test_a_compact_page_holds_more_and_is_nearly_full() -> None:
    async with over(CHAIN, Profile()) as gateway:
        # By default the first page of everything around a hub is smaller.
        arguments = {"seeds": ["x:hub"], "max_hops": 1, "topology_only": True, "max_tokens": 8_000}
        answers = {shape: await asked(gateway, "bfs_query", arguments, shape) for shape in ("compact", "reference")}
    compact, reference = expand(answers["compact"]), answers["reference"]
    assert len(compact["nodes"]) > 2 * len(reference["nodes"])
    assert 31_900 < bytes_sent(answers["compact"]) <= 32_000


@pytest.mark.anyio
async def test_names_outlive_metadata_when_room_is_short() -> None:
    async with over(STAR, Profile()) as gateway:
        arguments = {"seeds": ["x:hub"], "max_hops": 1, "max_tokens": 500}
        sent = await asked(gateway, "bfs_query", arguments)
    nodes = expand(sent)["nodes"]
    stubs = [node for node in nodes if "metadata" not in node]
    assert stubs
    assert all(node["name"].startswith("node ") for node in stubs if node["id"] != "x:hub")


@pytest.mark.anyio
async def test_stubs_have_names_unless_only_the_topology_is_asked_for_and_ids_are_readable() -> None:
    seeds = {"seeds": ["x:hub"], "max_hops": 1}
    async with over(STAR, Profile()) as gateway:
        filtered = expand(await asked(gateway, "bfs_query", {**seeds, "node_types": ["untyped"]}))
        bare = expand(await asked(gateway, "bfs_query", {**seeds, "topology_only": True}))
    async with over(STAR, Profile(names=NameSettings(on_stubs=True))) as gateway:
        opaque = expand(await asked(gateway, "bfs_query", {**seeds, "topology_only": True}))
    named = [sum("name" in node for node in answer["nodes"]) for answer in (filtered, bare, opaque)]
    # Of one relation, with evidence or without, the seed too stands with its name where its edges begin.
    assert named == [21, 0, 21]


@pytest.mark.anyio
async def test_a_page_of_one_node_with_very_many_properties_fits_and_its_edge_is_on_it() -> None:
    values = " ; ".join(f"x:a_property_with_a_long_name_{number} 'v{number}'" for number in range(1_000))
    async with over(f"x:a x:p x:b ; {values} .", Profile()) as gateway:
        arguments = {"seeds": ["x:b"], "max_hops": 1, "limit": 1}
        first = await asked(gateway, "bfs_query", arguments)
        second = await asked(gateway, "bfs_query", {**arguments, "offset": first["next_offset"]})
    assert bytes_sent(second) <= 32_000
    assert expand(second)["edges"] == [{"subject": "x:a", "predicate": "x:p", "object": "x:b"}]
    assert second["degraded"] == {"nodes_as_stubs": 1}


@pytest.mark.anyio
@pytest.mark.parametrize("max_tokens", [600, 2_000])
async def test_pages_of_many_predicates_and_types_are_at_least_half_full(max_tokens: int) -> None:
    turtle = "".join(
        f"x:hub x:p{number % 40} x:n{number} . x:n{number} a x:Type{number % 60} .\n" for number in range(1_200)
    )
    sizes, offsets = list[int](), [0]
    async with over(turtle, Profile()) as gateway:
        edge_offset = 0
        while True:
            arguments = {"seeds": ["x:hub"], "max_hops": 1, "max_tokens": max_tokens, "offset": offsets[-1]}
            page = await asked(gateway, "bfs_query", {**arguments, "edge_offset": edge_offset}, "compact")
            sizes.append(bytes_sent(page))
            if "next_offset" not in page:
                break
            offsets.append(page["next_offset"])
            edge_offset = page.get("next_edge", 0)
    assert max(sizes) <= max_tokens * 4
    assert min(sizes[:-1]) > max_tokens * 2


@pytest.mark.anyio
async def test_a_page_that_has_one_relation_of_several_tells_types_and_counts() -> None:
    turtle = "x:s a x:S ; x:q x:z ; x:p x:n0, x:n1, x:n2 . x:z a x:Z . x:n0 a x:A . x:n1 a x:A . x:n2 a x:A ."
    async with over(turtle, Profile()) as gateway:
        page = await asked(gateway, "bfs_query", {"seeds": ["x:s"], "max_hops": 1, "limit": 3}, "compact")
    assert (page["node_count"], page["types"], page["nodes"]) == (5, "x:A", {"x:S": [{"x:s": {}}]})


@pytest.mark.anyio
@pytest.mark.parametrize("asked_types", [{"show": "types"}, {"only_node_types": ["x:T", "x:U"]}])
async def test_chosen_edges_with_a_loop_leave_out_no_type_that_was_asked_for(asked_types: Json) -> None:
    arguments = {"seeds": ["x:a"], "max_hops": 2, "only_predicates": ["x:p"], **asked_types}
    async with over("x:a a x:T ; x:p x:b . x:b a x:U ; x:p x:b .", Profile()) as gateway:
        page = await asked(gateway, "bfs_query", arguments, "compact")
    assert {node["id"]: node["entity_type"] for node in expand(page)["nodes"]} == {"x:a": "x:T", "x:b": "x:U"}


@pytest.mark.anyio
@pytest.mark.parametrize("more", [{}, {"max_hops": 2}])
async def test_each_page_of_several_relations_that_were_chosen_tells_types_counts_and_seeds(more: Json) -> None:
    turtle = "".join(
        f"x:s x:p x:a{number} ; x:q x:b{number} . x:a{number} a x:A . x:b{number} a x:B . " for number in range(6)
    )
    arguments = {"seeds": ["x:s"], "max_hops": 1, "only_predicates": ["x:p", "x:q"], "limit": 4, **more}
    async with over(turtle, Profile()) as gateway:
        pages = [await asked(gateway, "bfs_query", arguments)]
        while "next_offset" in (last := pages[-1]):
            pages.append(await asked(gateway, "bfs_query", {**arguments, "offset": last["next_offset"]}))
    assert [(page["seeds"], page["node_count"], page["edge_count"]) for page in pages] == [(["x:s"], 13, 12)] * 4
    nodes = [node for page in pages for node in expand(page)["nodes"]]
    assert sum(node["entity_type"] == "x:A" for node in nodes if "entity_type" in node) == 6


@pytest.mark.anyio
async def test_a_page_without_edges_has_as_many_nodes_as_fit() -> None:
    arguments = {"seeds": ["x:hub"], "max_hops": 1, "edges": False, "max_tokens": 8_000}
    async with over(spokes(2_500), Profile()) as gateway:
        answer = (await gateway.call("bfs_query", arguments, shape="compact")).as_json()
    assert len(expand(answer)["nodes"]) > 1_000
    assert 24_000 < len(json_text(answer)) <= 32_000


def spokes(count: int) -> str:
    return " ".join(f"x:hub x:p{number % 7} x:spoke{number:04} ." for number in range(count))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "is_smaller"),
    [
        ({}, True),
        ({"topology_only": True}, True),
        ({"max_tokens": 8_000}, False),
        ({"limit": 5_000}, False),
        ({"only_predicates": [f"x:p{number}" for number in range(7)]}, False),
        ({"node_types": ["untyped"]}, False),
        ({"show": "types"}, False),
        ({"values": ["type"]}, False),
    ],
)
async def test_the_first_page_of_everything_around_a_hub_is_smaller_and_says_how_to_choose(
    arguments: Json, is_smaller: bool
) -> None:
    # All of it takes more than the usual size.
    async with over(spokes(2_500), Profile()) as gateway:
        first = (
            await gateway.call("bfs_query", {"seeds": ["x:hub"], "max_hops": 1, **arguments}, shape="compact")
        ).as_json()
    size = len(json_text(first))
    assert ("only_predicates" in "".join(first.get("warnings", []))) == is_smaller
    assert 10_000 < size <= 12_000 if is_smaller else 24_000 < size <= 32_000
    assert "next_offset" in first


@pytest.mark.anyio
async def test_what_fits_into_the_usual_size_is_given_whole_with_all_its_values() -> None:
    turtle = "".join(
        f"x:hub x:p{number % 3} x:n{number} . x:n{number} a x:T ; rdfs:label 'Node {number}' ; "
        f"rdfs:comment '{'Words about it. ' * 15}' .\n"
        for number in range(70)
    )
    arguments: Json = {"seeds": ["x:hub"], "max_hops": 1}
    async with over(turtle, Profile()) as gateway:
        usual = (await gateway.call("bfs_query", arguments, shape="compact")).as_json()
        asked_for = (await gateway.call("bfs_query", {**arguments, "max_tokens": 8_000}, shape="compact")).as_json()
    assert len(json_text(usual)) > 12_000
    assert "degraded" not in usual
    assert usual == asked_for


@pytest.mark.anyio
async def test_pages_after_a_smaller_first_one_have_the_usual_size_and_all_that_is_left() -> None:
    asked: Json = {"seeds": ["x:hub"], "max_hops": 1}
    async with over(spokes(2_500), Profile()) as gateway:
        pages = [(await gateway.call("bfs_query", asked, shape="compact")).as_json()]
        while "next_offset" in (last := pages[-1]):
            further = {"offset": last["next_offset"], "snapshot": last["snapshot"]}
            pages.append((await gateway.call("bfs_query", {**asked, **further}, shape="compact")).as_json())
        whole = (await gateway.call("bfs_query", asked)).as_json()
    assert len(json_text(pages[1])) > 24_000
    edges = [edge for page in pages for edge in expand(page)["edges"]]
    assert len(edges) == whole["edge_count"] == 2_500
    assert len({edge["object"] for edge in edges}) == 2_500


@pytest.mark.anyio
async def test_what_fits_into_a_smaller_first_page_is_all_there_and_has_no_advice() -> None:
    async with over(spokes(50), Profile()) as gateway:
        answer = (await gateway.call("bfs_query", {"seeds": ["x:hub"], "max_hops": 1}, shape="compact")).as_json()
    assert "warnings" not in answer
    assert "next_offset" not in answer
    assert len(expand(answer)["edges"]) == 50
