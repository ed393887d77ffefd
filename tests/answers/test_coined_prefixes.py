"""Graphs that declare no prefixes: short IDs, each taken as input, and the same answers as without them."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gateway import expand
from gateway.answers.models import Subgraph, ToolAnswer
from gateway.api import Gateway, open_gateway
from gateway.errors import InputError
from gateway.settings.limits import SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.coined_prefixes import CoinedPrefixes, PrefixStorage, looks_coined, namespace_of
from gateway.terms.prefixes import PrefixMap
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.faults.small_server import NODES, small_server
from tests.small import ROOM

pytestmark = pytest.mark.anyio

DATA = "http://data.example.org/resources/"
TERMS = "http://data.example.org/vocabulary#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

HUB = f"{DATA}hub"
OTHER = f"{DATA}n1"


def statements() -> Iterator[str]:
    for number in range(12):
        node = f"{DATA}n{number}"
        yield f"<{HUB}> <{TERMS}has> <{node}> ."
        yield f"<{node}> <{TERMS}next> <{DATA}n{(number + 1) % 12}> ."
        yield f'<{node}> <{LABEL}> "Node number {number}" .'
        yield f"<{node}> <{RDF_TYPE}> <{TERMS}{'Odd' if number % 2 else 'Even'}> ."
        yield f'<{node}> <{TERMS}note> "see {DATA}n1" .'
    yield f'<{HUB}> <{LABEL}> "Hub" .'
    yield f"<{HUB}> <{TERMS}has> <http://elsewhere.example.org/things/alone> ."


def write(file: Path, *further: str) -> None:
    file.write_text("\n".join((*statements(), *further)), encoding="utf-8")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Write a graph without prefixes."""
    write(tmp_path / "graph.nt")
    return tmp_path / "graph.nt"


def without_coining() -> Profile:
    profile = load_profile("local")
    return profile.model_copy(update={"size": SizeSettings(coined_prefixes=False)})


def whole(answer: Subgraph, gateway: Gateway) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the nodes and edges of an answer as IRIs, in its order."""
    expand = gateway.prefixes.expand
    edges = [(edge.subject, edge.predicate, edge.object) for edge in answer.edges]
    return [expand(node.id) for node in answer.nodes], [tuple(map(expand, edge)) for edge in edges]


def strings(value: Any) -> Iterator[str]:
    """Return all texts in JSON, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def coined_in(answer: ToolAnswer) -> set[str]:
    """Return the prefixes of the form of coined ones that IDs in an answer have."""
    written = {key: value for key, value in answer.as_json().items() if key != "prefixes"}
    parts = (text.partition(":") for text in strings(written))
    return {name for name, colon, _ in parts if colon and looks_coined(name)}


async def test_a_traversal_writes_short_ids_and_tells_their_prefixes(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert answer.prefixes is not None
        assert sorted(answer.prefixes.values()) == [DATA, TERMS, "http://elsewhere.example.org/things/"]
        assert all(map(looks_coined, answer.prefixes))
        assert not [node.id for node in answer.nodes if "://" in node.id]
        texts = strings({**answer.as_json(), "prefixes": {}})
        assert [text for text in texts if DATA in text and not text.startswith("see ")] == []


async def test_coined_prefixes_change_neither_content_nor_order_nor_snapshot(graph: Path) -> None:
    async with open_gateway(graph) as coining, open_gateway(graph, profile=without_coining()) as plain:
        for limit, offset in [(None, 0), (5, 0), (5, 5)]:
            page: dict[str, Any] = {"limit": limit, "offset": offset}
            short = await coining.bfs_query([OTHER], 2, **page)
            long = await plain.bfs_query([OTHER], 2, **page)
            assert whole(short, coining) == whole(long, plain)
            assert short.snapshot == long.snapshot
            assert long.prefixes is None
            assert short.prefixes
        both = [await gateway.intersect_subgraphs([HUB, OTHER], 2) for gateway in (coining, plain)]
        assert whole(both[0], coining) == whole(both[1], plain)


async def test_every_id_of_every_tool_is_taken_as_input(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        traversal = await gateway.bfs_query([HUB], 2)
        ids = [node.id for node in traversal.nodes]
        described = await gateway.describe_entities(ids)
        assert [entity.id for entity in described.result] == ids
        assert not described.not_found
        assert coined_in(described) == {*(described.prefixes or {})}
        found = await gateway.search_entities("node number", limit=20)
        assert found.result
        assert coined_in(found) == {*(found.prefixes or {})}
        one = await gateway.describe_entity(found.result[0].id)
        assert one.id == found.result[0].id
        assert (one.iri or "").startswith(DATA)
        again = await gateway.bfs_query([hit.id for hit in found.result], 1, node_types=[found.result[0].entity_type])
        assert again.missing_seeds is None
        types = {node.entity_type for node in again.nodes}
        narrowed = await gateway.bfs_query(ids[:1], 1, exclude_node_types=sorted(types - {"untyped"}))
        assert narrowed.node_count < again.node_count
        edges = await gateway.bfs_query(ids[:1], 1, predicates=[traversal.edges[0].predicate])
        assert edges.warnings is None
        met = await gateway.intersect_subgraphs(ids[:2], 1)
        assert met.node_count


async def test_the_schema_is_told_with_its_prefixes(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        schema = await gateway.describe_schema()
        assert TERMS in schema.prefixes.values()
        assert all(looks_coined(text.partition(":")[0]) for text in (*schema.entity_types, *schema.predicates))
        await gateway.bfs_query([HUB], 1)
        assert (await gateway.describe_schema()).as_json() == schema.as_json()
        known = gateway.known_schema()
        assert known is not None
        assert {*known.entity_types} == {*schema.entity_types}
        assert coined_in(known) <= known.prefixes.keys()
        assert known.prefixes.items() >= {(name, schema.prefixes[name]) for name in coined_in(known)}
        assert "http://elsewhere.example.org/things/" not in known.prefixes.values()


async def test_the_operator_switches_coined_prefixes_off(graph: Path) -> None:
    async with open_gateway(graph, profile=without_coining()) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert answer.prefixes is None
        assert answer.nodes[0].id == HUB
        assert (await gateway.describe_schema()).prefixes == {}


async def test_a_declared_prefix_is_used_and_not_told_again(graph: Path) -> None:
    async with open_gateway(graph, prefixes={"r": DATA}) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert answer.nodes[0].id == "r:hub"
        assert {*(answer.prefixes or {}).values()} == {TERMS, "http://elsewhere.example.org/things/"}


async def test_a_restart_over_the_store_takes_the_ids_of_the_run_before(graph: Path, tmp_path: Path) -> None:
    async with open_gateway(graph, store=tmp_path / "store") as gateway:
        first = await gateway.bfs_query([HUB], 1)
    write(graph, f"<{HUB}> <{TERMS}has> <{DATA}new> .")
    async with open_gateway(graph, store=tmp_path / "store") as gateway:
        entity = await gateway.describe_entity(first.nodes[1].id)
        assert entity.iri == f"{DATA}n0"
        second = await gateway.bfs_query([first.nodes[0].id], 1)
        assert second.prefixes == first.prefixes
        assert {node.id for node in first.nodes} < {node.id for node in second.nodes}


@pytest.mark.parametrize("kept", ["store", "keep_schema"])
async def test_a_restart_takes_the_prefixes_that_were_coined_for_an_endpoint(kept: str, tmp_path: Path) -> None:
    stored: dict[str, Any] = {"store": tmp_path} if kept == "store" else {"keep_schema": True}
    async with small_server() as endpoint:
        async with open_gateway(endpoint=endpoint.url, **stored) as gateway:
            first = await gateway.bfs_query(NODES[:1], 1)
        assert first.prefixes
        async with open_gateway(endpoint=endpoint.url, **stored) as gateway:
            assert (await gateway.describe_entity(first.nodes[1].id)).iri == NODES[1]
            assert (await gateway.bfs_query([first.nodes[0].id], 1)).nodes == first.nodes


async def test_pages_of_one_question_fit_together_whatever_is_asked_between_them(graph: Path) -> None:
    async with open_gateway(graph, profile=without_coining()) as plain, open_gateway(graph) as gateway:
        expected = await plain.bfs_query([HUB], 2, limit=4)
        first = await gateway.bfs_query([HUB], 2, limit=4)
        assert first.snapshot == expected.snapshot
        await gateway.describe_entities([f"{DATA}n{number}" for number in range(12)])
        nodes, offset = list(first.nodes), first.next_offset
        while offset is not None:
            page = await gateway.bfs_query([HUB], 2, limit=4, offset=offset, snapshot=first.snapshot)
            assert page.result_changed is None
            nodes, offset = nodes + page.nodes, page.next_offset
        iris = [gateway.prefixes.expand(node.id) for node in nodes]
        assert iris == [node.id for node in (await plain.bfs_query([HUB], 2)).nodes]


async def test_an_rdflib_graph_without_prefixes_has_coined_ones() -> None:
    graph = rdflib.Graph(bind_namespaces="none")
    graph.parse(data="\n".join(statements()), format="nt")
    async with open_gateway(graph) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert DATA in (answer.prefixes or {}).values()
        assert (await gateway.describe_entity(answer.nodes[0].id)).iri == HUB


async def test_the_paths_and_lists_of_an_answer_have_the_same_ids_as_its_nodes(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        answer = await gateway.intersect_subgraphs([HUB, OTHER, f"{DATA}gone"], 2)
        assert answer.missing_seeds is not None
        assert [gateway.prefixes.expand(text) for text in answer.missing_seeds] == [f"{DATA}gone"]
        met = await gateway.intersect_subgraphs([HUB, OTHER], 1, via=True)
        names = {*(met.prefixes or {})}
        for node in met.nodes:
            for path in node.via or ():
                assert {text.strip("^").partition(":")[0] for text in path} <= names


async def test_without_a_store_ids_are_the_same_in_the_next_run(graph: Path) -> None:
    answers = []
    for _ in range(2):
        async with open_gateway(graph) as gateway:
            answers.append(await gateway.bfs_query([HUB], 1))
    assert answers[0] == answers[1]


async def test_a_forgotten_prefix_is_an_error_that_says_what_to_send(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        with pytest.raises(InputError, match=r"seeds\[0\]: 'resources_zzz:hub'.*Send the whole IRI"):
            await gateway.bfs_query(["resources_zzz:hub"], 1)


async def test_answers_at_the_same_time_are_each_written_in_one_way(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        questions = [gateway.describe_entity(HUB), gateway.bfs_query([HUB], 2), gateway.search_entities("node")]
        for answer in await asyncio.gather(*questions):
            text = json.dumps({**answer.as_json(), "prefixes": {}, "iri": ""})
            for name, namespace in (answer.as_json().get("prefixes") or {}).items():
                assert f"{name}:" in text
                assert f'"{namespace}' not in text


@pytest.mark.parametrize("tokens", [200, 300, 500, 1_000])
async def test_an_answer_that_tells_prefixes_is_no_larger_than_asked_for(graph: Path, tokens: int) -> None:
    async with open_gateway(graph) as gateway:
        ids = [node.id for node in (await gateway.bfs_query([HUB], 2)).nodes]
        answers = [
            await gateway.bfs_query([HUB], 2, max_tokens=tokens),
            await gateway.describe_entities(ids, max_tokens=tokens),
            await gateway.describe_entity(ids[1], max_tokens=tokens),
        ]
        for answer in answers:
            assert len(json.dumps(answer.as_json(), separators=(",", ":"))) <= 4 * tokens


ANTS, ZEBRAS = "http://b.example.org/kept/in/order/ant/", "http://a.example.org/kept/in/order/zebra/"
"""Namespaces whose coined prefixes are in another order than they are."""


def ways() -> Iterator[str]:
    """Return two paths to one goal, over an ant and over a zebra, and elsewhere more ants and zebras."""
    for one in (ANTS, ZEBRAS):
        yield f"<{DATA}start> <{TERMS}p> <{one}0> ."
        yield f"<{one}0> <{TERMS}p> <{DATA}goal> ."
        for number in range(6):
            yield f"<{HUB}> <{TERMS}p> <{one}{number}> ."
    yield f"<{DATA}goal> <{RDF_TYPE}> <{TERMS}Goal> ."


async def test_which_nodes_are_on_the_way_does_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    (tmp_path / "ways.nt").write_text("\n".join(ways()), encoding="utf-8")
    asked: dict[str, Any] = {"only_node_types": ["Goal"], "topology_only": True, "limit": 2}
    async with open_gateway(tmp_path / "ways.nt", store=tmp_path / "store") as gateway:
        first = await gateway.bfs_query([f"{DATA}start"], 2, **asked)
        await gateway.bfs_query([HUB], 1)
        second = await gateway.bfs_query([f"{DATA}start"], 2, offset=2, snapshot=first.snapshot, **asked)
        assert second.result_changed is None
        nodes = [gateway.prefixes.expand(node.id) for node in first.nodes + second.nodes]
    assert nodes == [f"{DATA}start", f"{ZEBRAS}0", f"{DATA}goal"]
    async with open_gateway(tmp_path / "ways.nt", store=tmp_path / "store") as gateway:
        again = await gateway.bfs_query([f"{DATA}start"], 2, **asked)
        assert whole(again, gateway) == whole(first, gateway)
        assert again.snapshot == first.snapshot


NAMESPACES = (
    "http://data.example.org/resources/",
    "http://data.example.org/resources/deeper/",
    "http://data.example.org/vocabulary#",
    "http://data.example.org/2024/11/22/",
    "http://data.example.org/r\u00e9sum\u00e9s-and-more/",
    "https://\u4f8b\u3048.example.org/\u540d\u524d/",
    "http://data.example.org/a%20b(c)/",
    "urn:example:a-long-namespace:",
    "http://e.org/",
)
LOCAL_NAMES = ("a", "b", "", "c:d", "1", "_x", "?q=1", "(y)", "%20", "\u00fc", "^p", "Drug_abc:x")
IRIS = st.builds(
    lambda namespace, local: namespace + local.replace("^", "%5E"), *map(st.sampled_from, (NAMESPACES, LOCAL_NAMES))
)
PREDICATES = st.builds(
    lambda namespace, local: namespace + local, st.sampled_from(NAMESPACES), st.sampled_from(["p", "q"])
)
TRIPLES = st.lists(st.tuples(IRIS, PREDICATES, IRIS), min_size=1, max_size=40)
TYPES = st.dictionaries(IRIS, IRIS, max_size=8)
LABEL_NODE = pyoxigraph.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
TYPE = pyoxigraph.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

thorough = settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def opened(
    triples: Sequence[tuple[str, str, str]], types: Mapping[str, str], *, coins: bool, size: SizeSettings
) -> Gateway:
    """Open a gateway over a graph whose literals and properties have the same namespaces."""
    store = pyoxigraph.Store()
    node = pyoxigraph.NamedNode
    for subject, predicate, target in triples:
        store.add(pyoxigraph.Quad(node(subject), node(predicate), node(target)))
        store.add(pyoxigraph.Quad(node(subject), node(f"{predicate}note"), pyoxigraph.Literal(f"see {target}")))
        store.add(pyoxigraph.Quad(node(target), LABEL_NODE, pyoxigraph.Literal(f"name of {len(target)}")))
    for subject, type_ in types.items():
        store.add(pyoxigraph.Quad(node(subject), TYPE, node(type_)))
    profile = Profile(size=size)
    prefixes = PrefixMap({}, CoinedPrefixes() if coins else None)
    return Gateway(SparqlStore(InProcess(store, max_bytes=1 << 24), profile), profile, prefixes)


def ids(answer: Mapping[str, Any]) -> Iterator[str]:
    """Return the IDs of nodes, types and edges in an answer of the reference shape."""
    for node in answer.get("nodes", answer.get("result", ())):
        yield node["id"]
        if ":" in node["entity_type"]:
            yield node["entity_type"]
        yield from (key for key in node.get("metadata", ()) if ":" in key)
    for edge in answer.get("edges", ()):
        yield from (edge["subject"], edge["predicate"], edge["object"])


def written_in_one_way(answer: Mapping[str, Any]) -> bool:
    """Return whether no namespace stands with a prefix and whole, and the prefixes told are those that are used."""
    coined = {name for name in (text.partition(":")[0] for text in ids(answer)) if looks_coined(name)}
    told = answer.get("prefixes", {})
    whole = {namespace_of(text.strip("<>")) for text in ids(answer) if not looks_coined(text.partition(":")[0])}
    return coined <= told.keys() and whole.isdisjoint(told.values())


def as_whole(answer: Mapping[str, Any], prefixes: PrefixMap) -> tuple[list[Any], list[Any]]:
    named = [(node["id"], node.get("metadata", {}).get("name", node.get("name"))) for node in answer["nodes"]]
    nodes = [(prefixes.expand(name_id), name) for name_id, name in named]
    edges = [
        tuple(prefixes.expand(edge[end]) for end in ("subject", "predicate", "object")) for edge in answer["edges"]
    ]
    return nodes, edges


@given(TRIPLES, TYPES, st.integers(1, 3))
@thorough
def test_a_traversal_is_the_same_with_coined_prefixes(
    triples: list[tuple[str, str, str]], types: dict[str, str], hops: int
) -> None:
    async def ask() -> None:
        async with (
            opened(triples, types, coins=True, size=ROOM) as coining,
            opened(triples, types, coins=False, size=ROOM) as plain,
        ):
            seed = triples[0][0]
            for again in range(2):
                short = (await coining.bfs_query([seed], hops)).as_json()
                long = (await plain.bfs_query([seed], hops)).as_json()
                assert as_whole(short, coining.prefixes) == as_whole(long, plain.prefixes), again
                assert written_in_one_way(short)
                compact = (
                    await coining.call("bfs_query", {"seeds": [seed], "max_hops": hops}, shape="compact")
                ).as_json()
                for mine, others in zip(
                    as_whole(expand(compact), coining.prefixes), as_whole(long, plain.prefixes), strict=True
                ):
                    assert sorted(mine, key=repr) == sorted(others, key=repr)
            named = (await coining.bfs_query([seed], hops)).nodes
            iris = [coining.prefixes.expand(node.id) for node in named]
            described = (await coining.describe_entities([node.id for node in named])).as_json()
            # A namespace may be written with its prefix from one answer to the next.
            assert [coining.prefixes.expand(entity["id"]) for entity in described["result"]] == iris
            assert written_in_one_way(described)
            assert [(await coining.describe_entity(node.id)).iri for node in named] == iris

    asyncio.run(ask())


@given(TRIPLES, TYPES)
@thorough
def test_answers_made_at_the_same_time_are_each_written_in_one_way(
    triples: list[tuple[str, str, str]], types: dict[str, str]
) -> None:
    async def ask() -> None:
        async with opened(triples, types, coins=True, size=ROOM) as gateway:
            seeds = list(dict.fromkeys(subject for subject, _, _ in triples))[:6]
            questions = [gateway.bfs_query([seed], hops) for seed in seeds for hops in (1, 2)]
            answers = await asyncio.gather(
                *questions, gateway.describe_entities(seeds), gateway.search_entities("name")
            )
            assert all(written_in_one_way(answer.as_json()) for answer in answers)

    asyncio.run(ask())


@given(TRIPLES, TYPES, st.integers(200, 600), st.sampled_from(["reference", "compact"]))
@thorough
def test_what_prefixes_take_is_part_of_the_size(
    triples: list[tuple[str, str, str]], types: dict[str, str], tokens: int, shape: Any
) -> None:
    async def ask() -> None:
        size = SizeSettings(max_tokens=tokens, ceiling_tokens=tokens)
        async with opened(triples, types, coins=True, size=size) as gateway:
            nodes = [subject for subject, _, _ in triples][:50]
            for tool, given_ in (
                ("bfs_query", {"seeds": nodes[:1], "max_hops": 2}),
                ("describe_entities", {"ids": nodes}),
                ("describe_entity", {"id": nodes[0]}),
            ):
                answer = await gateway.call(tool, given_, shape=shape)
                assert (
                    len(json.dumps(answer.as_json(), separators=(",", ":"), ensure_ascii=False).encode()) <= 4 * tokens
                )

    asyncio.run(ask())


def test_an_unknown_prefix_is_refused_in_every_argument_that_takes_ids() -> None:
    async def ask() -> None:
        async with opened([("urn:a:b", "urn:a:p", "urn:a:c")], {}, coins=True, size=ROOM) as gateway:
            for tool, given_ in (
                ("bfs_query", {"seeds": ["drug_abc:x"], "max_hops": 1}),
                ("bfs_query", {"seeds": ["urn:a:b"], "max_hops": 1, "only_predicates": ["drug_abc:x"]}),
                ("describe_entity", {"id": "drug_abc:x"}),
                ("describe_entities", {"ids": ["drug_abc:x", "drug_abc:y"]}),
                ("intersect_subgraphs", {"seeds": ["urn:a:b", "drug_abc:x"], "k": 1}),
            ):
                with pytest.raises(InputError, match="drug_abc:x"):
                    await gateway.call(tool, given_)
            described = await gateway.describe_entities(["urn:a:b", "drug_abc:x"])
            assert "drug_abc:x" in (described.warnings or [""])[0]

    asyncio.run(ask())


# --- whatever was asked before ---

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TERM_FORM = f"{NAMESPACES[2]}%s"
SEVERAL_TYPES = st.dictionaries(IRIS, st.lists(IRIS, min_size=1, max_size=3, unique=True), max_size=8)
FEW = st.lists(IRIS, max_size=2)
DECLARED: Mapping[str, Mapping[str, str]] = {
    "none": {},
    "a short one": {"e": "http://e.org/"},
    "one like a scheme": {"urn": "http://data.example.org/2024/"},
}
_ID = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]{1,12}_[a-z2-7]{3,52}):")
_BRACKETED = re.compile(r"<((?:urn|http)[^<>]*)>")


class SharedStorage:
    """Holds what the sessions over one store have coined."""

    def __init__(self) -> None:
        self._namespaces: dict[str, str] = {}

    def load(self) -> Mapping[str, str]:
        """Return all of it."""
        return self._namespaces

    def save(self, coined: Mapping[str, str]) -> None:
        """Add what is new."""
        self._namespaces = {**coined, **self._namespaces}


class Graph:
    """A drawn graph: edges, several types of a node, evidence that agrees and differs, blank nodes, and long texts."""

    def __init__(self, triples: Sequence[tuple[str, str, str]], types: Mapping[str, Sequence[str]]) -> None:
        self.triples = triples
        self.types = types
        self.store = pyoxigraph.Store()
        for place, (subject, predicate, target) in enumerate(triples):
            self._add(subject, predicate, target)
            self._add(subject, f"{predicate}note", pyoxigraph.Literal(f"see {target}"))
            self._add(target, LABEL_NODE.value, pyoxigraph.Literal(f"name of {len(target)}"))
            content = pyoxigraph.BlankNode()
            self._add(target, TERM_FORM % "content", content)
            self._add(content, predicate, target)
            self._add(content, f"{predicate}of", subject)
            for source in (subject, predicate, triples[place - 1][2])[: place % 4]:
                statement = pyoxigraph.BlankNode()
                for part, term in (("subject", subject), ("predicate", predicate), ("object", target)):
                    self._add(statement, f"{RDF}{part}", term)
                self._add(statement, TERM_FORM % "source", source)
                self._add(statement, f"{predicate}by", triples[place - 1][0])
                self._add(statement, f"{predicate}quote", pyoxigraph.Literal("long " * 200))
        for subject, several in types.items():
            for one in several:
                self._add(subject, TYPE.value, one)

    def _add(self, subject: Any, predicate: str, target: Any) -> None:
        node = pyoxigraph.NamedNode
        first, last = (node(end) if isinstance(end, str) else end for end in (subject, target))
        self.store.add(pyoxigraph.Quad(first, node(predicate), last))

    def opened(
        self, declared: Mapping[str, str], storage: PrefixStorage | None, *, coins: bool, opaque: bool
    ) -> Gateway:
        """Open a gateway over it."""
        profile = Profile(size=ROOM)
        profile = profile.model_copy(update={"names": profile.names.model_copy(update={"on_stubs": opaque})})
        prefixes = PrefixMap(declared, CoinedPrefixes(declared, storage) if coins else None)
        return Gateway(SparqlStore(InProcess(self.store, max_bytes=1 << 24), profile), profile, prefixes)


@st.composite
def questions(draw: st.DrawFn, graph: Graph) -> tuple[str, dict[str, Any]]:
    """Draw a call with any filters."""
    nodes = st.sampled_from(sorted({end for subject, _, target in graph.triples for end in (subject, target)}))
    predicates = st.sampled_from(sorted({predicate for _, predicate, _ in graph.triples}))
    types = st.sampled_from(sorted({*(one for several in graph.types.values() for one in several), "untyped"}))
    tool = draw(st.sampled_from(["bfs_query", "intersect_subgraphs", "describe_entities", "search_entities"]))
    if tool == "describe_entities":
        return tool, {"ids": draw(st.lists(nodes, min_size=1, max_size=6))}
    if tool == "search_entities":
        return tool, {"query": "name", "node_types": draw(st.lists(types, max_size=2))}
    hops = draw(st.integers(1, 3))
    followed = st.lists(st.builds(str.__add__, st.sampled_from(["", "^"]), predicates), max_size=2)
    drawn: dict[str, st.SearchStrategy[Any]] = {
        "only_node_types": st.lists(types, min_size=1, max_size=2),
        "exclude_node_types": st.lists(types, min_size=1, max_size=1),
        "node_types": st.lists(types, min_size=1, max_size=2),
        "predicates": st.lists(predicates, min_size=1, max_size=2),
        "only_predicates": followed | st.lists(followed, min_size=hops, max_size=hops)
        if tool == "bfs_query"
        else followed,
        "direction": st.sampled_from(["both", "out", "in"]),
        "topology_only": st.booleans(),
        "limit": st.integers(1, 6),
        "max_degree": st.integers(1, 6),
    }
    # What is on the way to some types is chosen among many.
    chosen = draw(st.sets(st.sampled_from([*drawn, "only_node_types"]), max_size=4))
    filters = {name: draw(drawn[name]) for name in sorted(chosen)}
    if tool == "bfs_query":
        return tool, {"seeds": draw(st.lists(nodes, min_size=1, max_size=2)), "max_hops": hops, **filters}
    via = draw(st.sampled_from([None, True, False]))
    seeds = draw(st.lists(nodes, min_size=2, max_size=3))
    return tool, {"seeds": seeds, "k": hops, "via": via, **filters}


def in_whole(value: Any, known: Mapping[str, str]) -> Any:
    """Return JSON with the coined prefixes of its texts replaced, and IRIs without brackets."""
    if isinstance(value, dict):
        return {in_whole(key, known): in_whole(inner, known) for key, inner in value.items() if key != "prefixes"}
    if isinstance(value, list):
        return [in_whole(inner, known) for inner in value]
    if isinstance(value, str):
        value = _ID.sub(lambda found: known.get(found[1], found[0]), value)
        return _BRACKETED.sub(r"\1", value)
    return value


async def all_pages(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> list[str]:
    """Return the pages of an answer in both shapes, or its error, as texts in which the order of everything shows."""
    pages: list[str] = []
    place: dict[str, Any] = {}
    while True:
        try:
            answer = (await gateway.call(tool, {**arguments, **place})).as_json()
            compact: Any = (await gateway.call(tool, {**arguments, **place}, shape="compact")).as_json()
        except InputError as error:
            return [*pages, json.dumps(in_whole(str(error), gateway.prefixes.prefixes))]
        assert "result_changed" not in answer, (tool, arguments, place)
        pages.append(json.dumps(in_whole(answer, gateway.prefixes.prefixes), indent=1))
        # Columns depend on what is shorter, so the keys of a node stand in any order.
        read = in_whole(expand(compact), gateway.prefixes.prefixes)
        pages.append(json.dumps(read, indent=1, sort_keys=True))
        if "next_offset" not in answer:
            return pages
        place = {"offset": answer["next_offset"]}
        if tool != "search_entities":
            place |= {"edge_offset": answer.get("next_edge", 0), "snapshot": answer["snapshot"]}


@pytest.mark.slow
@given(st.data())
# What is drawn is small, and to make it smaller takes longer than a test may.
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck), phases=set(Phase) - {Phase.shrink})
def test_no_answer_depends_on_what_was_asked_before(data: st.DataObject) -> None:
    graph = Graph(data.draw(TRIPLES), data.draw(SEVERAL_TYPES))
    declared = DECLARED[data.draw(st.sampled_from(sorted(DECLARED)))]
    opaque = data.draw(st.booleans())
    asked = data.draw(st.lists(questions(graph), min_size=2, max_size=5))
    orders = [data.draw(st.permutations(range(len(asked)))) for _ in range(2)]

    async def ask() -> None:
        expected = []
        for tool, arguments in asked:
            async with graph.opened(declared, None, coins=False, opaque=opaque) as plain:
                expected.append(await all_pages(plain, tool, arguments))
        storage = SharedStorage()
        for order in orders:
            async with graph.opened(declared, storage, coins=True, opaque=opaque) as gateway:
                for place in order:
                    assert await all_pages(gateway, *asked[place]) == expected[place]

    asyncio.run(ask())
