"""Where else an entity is: in the other graphs of a server, by links and by identifiers."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import Any

import pyoxigraph
import pytest
import rdflib
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from gateway import expand, resources
from gateway.answers.crossing import MOST_IRIS
from gateway.api import link_graphs, open_gateway, open_graphs
from gateway.errors import ConfigurationError, EndpointFault, GatewayError
from gateway.graph.call import Call, KnownIds, OtherGraph, OtherGraphs
from gateway.graph.values import Iri
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import IdentitySettings
from gateway.tools.gateway import Gateway
from tests.cases import await_each
from tests.transport.fake_endpoint import JSON, fake_endpoint

pytestmark = pytest.mark.anyio

OWL = "http://www.w3.org/2002/07/owl#sameAs"
SKOS = "http://www.w3.org/2004/02/skos/core#exactMatch"
SHELF_MARK = "https://authors.example.org/terms/shelfMark"
LIBRARY = "https://library.example.org/item/"
IDENTITY = IdentitySettings(same_as=(OWL, SKOS), formatters={SHELF_MARK: f"{LIBRARY}$1"})

AUTHORS = Profile(identity=IDENTITY)


@asynccontextmanager
async def linked(profile: Profile = AUTHORS) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """Open both fixture graphs, which know of each other."""
    fixtures = resources.folder("fixtures")
    async with (
        open_gateway(fixtures / "authors.ttl", profile=profile) as authors,
        open_gateway(fixtures / "library.ttl") as library,
    ):
        link_graphs({"authors": authors, "library": library})
        yield authors, library


ALSO_IN: Mapping[str, object] = {
    "au:Joyce": {"library": "lib:p-11"},
    "au:Beckett": {"library": "lib:p-12"},
    "au:OBrien": {"library": ["lib:p-13", "lib:p-14"]},
    "au:Bowen": None,
    "au:Stoker": None,
    "bk:Ulysses": {"library": "lib:b-101"},
    "bk:Dubliners": {"library": "lib:b-102"},
    "bk:Molloy": None,
    "place:Dublin": {"library": "place:Dublin"},
    "v:Writer": None,
    # The other ends of links are nodes of this graph too.
    "lib:p-11": {"library": "lib:p-11"},
    "lib:p-12": {"library": "lib:p-12"},
    "lib:p-13": {"library": "lib:p-13"},
    "lib:p-14": {"library": "lib:p-14"},
    "lib:p-99": None,
}
"""What the cases of fixtures/authors.ttl come to, worked out by hand."""


async def test_an_entity_says_its_id_in_another_graph() -> None:
    async with linked() as (authors, _):

        async def check(case: tuple[str, object]) -> None:
            name, expected = case
            answer = await authors.describe_entity(name)
            assert answer.also_in == expected
            assert answer.complete

        await await_each(ALSO_IN.items(), check)


async def test_the_other_graph_takes_that_id() -> None:
    async with linked() as (authors, library):
        also_in = (await authors.describe_entity("bk:Ulysses")).also_in or {}
        answer = await library.bfs_query([str(also_in["library"])], 1)
    assert {node.id for node in answer.nodes} == {"lib:b-101", "lib:p-11", "lib:room-3"}
    assert answer.complete


async def test_both_shapes_say_the_same_and_the_compact_one_expands() -> None:
    ids = list(ALSO_IN)
    async with linked() as (authors, _):
        reference = (await authors.call("describe_entities", {"ids": ids})).as_json()
        compact = (await authors.call("describe_entities", {"ids": ids}, shape="compact")).as_json()
        one = (await authors.call("describe_entity", {"id": "au:Joyce"}, shape="compact")).as_json()
    said = {entity["id"]: entity.get("also_in") for entity in reference["result"]}
    assert said == ALSO_IN
    assert {entity["id"]: entity.get("also_in") for entity in expand(compact)["result"]} == ALSO_IN
    assert one["also_in"] == {"library": "lib:p-11"}
    assert all("also_in" not in entity["metadata"] for entity in expand(compact)["result"])


TRAVERSALS: Sequence[tuple[str, dict[str, Any]]] = [
    ("bfs_query", {"seeds": ["au:Joyce"], "max_hops": 1}),
    ("bfs_query", {"seeds": ["au:Joyce"], "max_hops": 2, "node_types": ["v:Book"]}),
    ("bfs_query", {"seeds": ["place:Dublin"], "max_hops": 2, "limit": 4, "offset": 3}),
    ("intersect_subgraphs", {"seeds": ["au:Joyce", "au:Beckett"], "k": 1}),
]


async def test_nodes_with_metadata_say_it_in_traversals_too_and_both_shapes_agree() -> None:
    async with linked() as (authors, _):

        async def check(case: tuple[str, dict[str, Any]]) -> None:
            tool, arguments = case
            reference = (await authors.call(tool, arguments)).as_json()
            compact = expand((await authors.call(tool, arguments, shape="compact")).as_json())
            full = {node["id"]: node["metadata"] for node in reference["nodes"] if "metadata" in node}
            assert {name: said.get("also_in") for name, said in full.items()} == {
                name: ALSO_IN.get(name) for name in full
            }
            assert full
            assert {node["id"]: node["metadata"] for node in compact["nodes"] if "metadata" in node} == full
            assert {gap["cause"] for gap in reference.get("incomplete", ())} <= {"blank_nodes"}

        await await_each(TRAVERSALS, check)


async def test_a_traversal_that_shows_no_metadata_asks_no_other_graph() -> None:
    class Unasked:
        async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
            raise AssertionError(iris, call)

    async with linked() as (authors, _):
        for more in ({"topology_only": True}, {"only_predicates": ["v:wrote"]}):
            arguments = {"seeds": ["au:Joyce"], "max_hops": 1, **more}
            answer = (await authors.call("bfs_query", arguments, others={"other": Unasked()})).as_json()
            assert answer["node_count"] > 1
            assert "also_in" not in str(answer)


async def test_a_traversal_counts_the_nodes_about_which_a_graph_could_not_be_asked() -> None:
    others = {"broken": Broken(EndpointFault("It is odd."), "p-11")}
    async with linked() as (authors, _):
        answer = (await authors.call("bfs_query", {"seeds": ["au:Joyce"], "max_hops": 1}, others=others)).as_json()
    # That of the library is a node here as well.
    assert answer["degraded"] == {"also_in_failed": 2}
    # Of the traversal itself nothing is missing.
    assert answer["complete"] is True


async def test_nothing_is_asked_where_no_predicate_identifies_or_there_is_no_other_graph() -> None:
    async with linked(Profile()) as (authors, _):
        plain = await authors.describe_entity("place:Dublin", explain=True)
    async with open_gateway(resources.folder("fixtures") / "authors.ttl", profile=AUTHORS) as alone:
        lonely = await alone.describe_entity("place:Dublin", explain=True)
    for answer in (plain, lonely):
        assert answer.also_in is None
        assert answer.explain is not None
        assert "identities" not in [query.template for query in answer.explain.sent]


async def test_each_other_graph_is_asked_once_whatever_the_number_of_entities() -> None:
    async with linked() as (authors, _):
        answer = await authors.describe_entities(list(ALSO_IN), explain=True)
    assert answer.explain is not None
    asked = [query.template for query in answer.explain.sent]
    assert asked.count("identities") == 1
    # One look is for the nodes of this graph without values or types.
    assert asked.count("existing") <= 2


class Broken:
    """Another graph that cannot be asked, or about some IRIs only."""

    def __init__(self, error: GatewayError, failing: str = "") -> None:
        self._error = error
        self._failing = failing

    async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:  # noqa: ARG002 - the port's shape
        """Fail."""
        if not self._failing:
            raise self._error
        assert isinstance(self._error, EndpointFault)
        ids = {iri: iri for iri in iris if self._failing not in iri}
        return KnownIds(ids, {iri: self._error for iri in iris if self._failing in iri})


async def test_a_graph_that_fails_is_no_absence() -> None:
    async with linked() as (authors, library):

        async def check(error: GatewayError) -> None:
            others: OtherGraphs = {"broken": Broken(error), "library": library}
            answer = (await authors.call("describe_entity", {"id": "au:Joyce"}, others=others)).as_json()
            assert answer["also_in"] == {"library": "lib:p-11"}
            assert answer["complete"] is False
            (warning,) = answer["warnings"]
            assert "whether the graph broken has au:Joyce could not be found out" in warning
            assert error.wrong in warning

        await await_each([EndpointFault("It is down."), ConfigurationError("It is not there.")], check)


async def test_only_entities_that_the_failure_is_about_are_in_doubt() -> None:
    ids = ["au:Joyce", "au:Beckett"]
    others = {"broken": Broken(EndpointFault("It is odd."), "p-11")}
    async with linked() as (authors, _):
        answer = (await authors.call("describe_entities", {"ids": ids}, others=others)).as_json()
    assert answer["complete"] is False
    (warning,) = answer["warnings"]
    assert "au:Joyce" in warning
    assert "au:Beckett" not in warning


async def test_another_graph_sends_one_request_at_most() -> None:
    class Counting:
        async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
            assert call.requests == 1
            assert call.deadline.seconds_left <= 0.25 * AUTHORS.limits.deadline_seconds
            assert not call.others
            return KnownIds({iri: iri for iri in iris})

    other: OtherGraph = Counting()
    async with linked() as (authors, _):
        answer = (await authors.call("describe_entity", {"id": "au:Joyce"}, others={"other": other})).as_json()
    assert answer["also_in"] == {
        "other": ["https://authors.example.org/person/Joyce", f"{LIBRARY}p-11"],
    }


async def test_what_one_client_may_see_is_not_told_to_another() -> None:
    async with linked() as (authors, library):
        asked: list[Any] = []
        for others in ({"library": library}, {}, {"library": library}):
            answer = await authors.call("describe_entity", {"id": "au:Joyce"}, shape="compact", others=others)
            asked.append(answer.as_json().get("also_in"))
    assert asked == [{"library": "lib:p-11"}, None, {"library": "lib:p-11"}]


async def test_many_iris_are_not_asked_about_silently() -> None:
    graph = rdflib.Graph()
    nodes = [rdflib.URIRef(f"http://a.example/{number}") for number in range(3)]
    for number, node in enumerate(nodes):
        for link in range(MOST_IRIS // 2):
            graph.add((node, rdflib.URIRef(OWL), rdflib.URIRef(f"http://b.example/{number}/{link}")))
    there = rdflib.Graph().add((nodes[0], rdflib.RDFS.label, rdflib.Literal("a")))
    async with open_gateway(graph, profile=AUTHORS) as here, open_gateway(there) as other:
        link_graphs({"here": here, "other": other})
        answer = await here.describe_entities([str(node) for node in nodes])
    assert not answer.complete
    assert [entity.also_in for entity in answer.result] == [{"other": str(nodes[0])}, None, None]
    assert any("other graphs were not asked about all IRIs of" in warning for warning in answer.warnings or [])


async def test_a_small_answer_drops_what_other_graphs_call_an_entity_last_and_says_so() -> None:
    graph = rdflib.Graph()
    node = rdflib.URIRef("http://a.example/node")
    there = rdflib.Graph()
    for number in range(100):
        other = rdflib.URIRef(f"http://b.example/{'long' * 10}/{number}")
        graph.add((node, rdflib.URIRef(OWL), other))
        there.add((other, rdflib.RDFS.label, rdflib.Literal("a")))
    async with open_gateway(graph, profile=AUTHORS) as here, open_gateway(there) as other_graph:
        link_graphs({"here": here, "other": other_graph})
        small = await here.describe_entity(str(node), max_tokens=300)
        large = await here.describe_entity(str(node))
    assert small.also_in is None
    assert small.degraded is not None
    assert small.degraded["also_in_left_out"] == 100
    assert len((large.also_in or {})["other"]) == 100


async def test_a_graph_that_is_slow_costs_no_more_than_its_share_of_the_time() -> None:
    class Slow:
        async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
            async with asyncio.timeout(call.deadline.seconds_left):
                await asyncio.Event().wait()
            raise AssertionError("unreachable", iris)

    class Late(Slow):
        async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
            try:
                return await super().known_ids(iris, call)
            except TimeoutError:
                raise EndpointFault("It is too late.") from None

    profile = AUTHORS.model_copy(update={"limits": AUTHORS.limits.model_copy(update={"deadline_seconds": 1.0})})
    async with linked(profile) as (authors, _):
        answer = (await authors.call("describe_entity", {"id": "au:Joyce"}, others={"late": Late()})).as_json()
    assert answer["complete"] is False
    assert "It is too late." in answer["warnings"][0]
    assert answer["edges"]


def _whole(said: Any) -> Any:
    """Return IDs of the library as IRIs, however they are nested."""
    if isinstance(said, dict):
        return {graph: _whole(ids) for graph, ids in said.items()}
    if isinstance(said, list):
        return [_whole(name) for name in said]
    return said and said.replace("lib:", LIBRARY).replace("place:", "https://places.example.org/")


class Endpoint:
    """An endpoint with a graph, which counts what it is asked, and may fail."""

    def __init__(self, file: str, refused: str = "") -> None:
        self._refused = refused
        self._store = pyoxigraph.Store()
        self._store.load(path=resources.folder("fixtures") / file)
        self.status = 200
        self.existence: list[str] = []

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        """Answer a query, or fail."""
        query = str((await request.post()).get("query", ""))
        if "FILTER(EXISTS" in query:
            self.existence.append(query)
            if self.status != HTTPStatus.OK:
                return web.Response(status=self.status)
            if self._refused and self._refused in query:
                return web.Response(status=HTTPStatus.BAD_REQUEST)
        if not query:
            return web.Response(status=HTTPStatus.BAD_REQUEST)
        results = self._store.query(query)
        assert isinstance(results, pyoxigraph.QuerySolutions)
        body = results.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
        return web.Response(body=body, headers={"Content-Type": JSON})


async def test_an_endpoint_is_asked_once_even_if_it_never_was_before() -> None:
    endpoint = Endpoint("library.ttl")
    fixtures = resources.folder("fixtures")
    async with (
        fake_endpoint(endpoint) as there,
        open_gateway(fixtures / "authors.ttl", profile=AUTHORS) as authors,
        open_gateway(endpoint=there.url) as library,
    ):
        link_graphs({"authors": authors, "library": library})
        answer = await authors.describe_entities([*ALSO_IN, "au:nobody"])
        again = await authors.describe_entities(list(ALSO_IN))
    # The endpoint has no prefixes, so IDs there are whole IRIs.
    assert {entity.id: entity.also_in for entity in answer.result} == {
        name: _whole(also_in) for name, also_in in ALSO_IN.items()
    }
    assert answer.complete
    assert [entity.also_in for entity in again.result] == [entity.also_in for entity in answer.result]
    # What is known of single IRIs is stored.
    assert len(endpoint.existence) == 1


async def test_an_endpoint_that_fails_is_asked_once_and_leaves_the_entity_in_doubt() -> None:
    endpoint = Endpoint("library.ttl")
    endpoint.status = HTTPStatus.SERVICE_UNAVAILABLE
    fixtures = resources.folder("fixtures")
    async with (
        fake_endpoint(endpoint) as there,
        open_gateway(fixtures / "authors.ttl", profile=AUTHORS) as authors,
        open_gateway(endpoint=there.url) as library,
    ):
        link_graphs({"authors": authors, "library": library})
        answer = await authors.describe_entity("au:Joyce")
        asked = len(endpoint.existence)
        endpoint.status = HTTPStatus.OK
        healed = await authors.describe_entity("au:Joyce")
    assert asked == 1
    assert answer.also_in is None
    assert not answer.complete
    assert answer.edges
    (warning,) = answer.warnings or []
    assert "whether the graph library has au:Joyce could not be found out" in warning
    assert "out of service" in warning
    assert healed.also_in == {"library": f"{LIBRARY}p-11"}
    assert healed.complete


ODD = ["[1]", "%zz", "a/../b", "\u00e9", "e\u0301", "%7e", "{1}", "a b", "x" * 2_000]
"""Identifiers from which some engine makes no IRI, or another one."""


def odd_links(odd: Iterable[str], plain: int) -> rdflib.Graph:
    """Return a graph of entities with a plain identifier each, and the first few with an odd one besides."""
    graph = rdflib.Graph()
    for number, code in enumerate([*odd, *[""] * plain]):
        node = rdflib.URIRef(f"http://a.example/{number}")
        graph.add((node, rdflib.URIRef(SHELF_MARK), rdflib.Literal(f"p-{11 + number % 4}")))
        if code:
            graph.add((node, rdflib.URIRef(SHELF_MARK), rdflib.Literal(code)))
    return graph


@pytest.mark.parametrize("odd", [[one] for one in ODD] + [ODD])
async def test_an_odd_identifier_leaves_no_other_in_doubt(odd: Sequence[str]) -> None:
    async with (
        open_gateway(odd_links(odd, plain=20), profile=AUTHORS) as here,
        open_gateway(resources.folder("fixtures") / "library.ttl") as library,
    ):
        link_graphs({"here": here, "library": library})
        answer = await here.describe_entities([f"http://a.example/{number}" for number in range(20 + len(odd))])
    found = [(entity.also_in or {}).get("library") for entity in answer.result]
    assert found == [f"lib:p-{11 + number % 4}" for number in range(20 + len(odd))]
    for warning in answer.warnings or ():
        assert "could not be found out" in warning
        assert not [number for number in range(len(odd), 20 + len(odd)) if f"http://a.example/{number}," in warning]
    assert answer.complete is (not answer.warnings)


async def test_an_identifier_that_an_endpoint_refuses_fails_alone_and_is_told() -> None:
    endpoint = Endpoint("library.ttl", refused="%zz")
    async with (
        fake_endpoint(endpoint) as there,
        open_gateway(odd_links(["%zz", "%41"], plain=20), profile=AUTHORS) as here,
        open_gateway(endpoint=there.url) as library,
    ):
        link_graphs({"here": here, "library": library})
        answer = await here.describe_entities([f"http://a.example/{number}" for number in range(22)])
    found = [(entity.also_in or {}).get("library") for entity in answer.result]
    assert found == [f"{LIBRARY}p-{11 + number % 4}" for number in range(22)]
    assert answer.complete is False
    (warning,) = answer.warnings or []
    assert "whether the graph library has http://a.example/0 could not be found out" in warning
    assert "refused" in warning


async def test_an_entity_with_very_many_identifiers_leaves_the_others_asked() -> None:
    graph = odd_links([], plain=3)
    for number in range(2 * MOST_IRIS):
        graph.add((rdflib.URIRef("http://a.example/0"), rdflib.URIRef(SHELF_MARK), rdflib.Literal(f"many-{number}")))
    async with (
        open_gateway(graph, profile=AUTHORS) as here,
        open_gateway(resources.folder("fixtures") / "library.ttl") as library,
    ):
        link_graphs({"here": here, "library": library})
        answer = await here.describe_entities([f"http://a.example/{number}" for number in range(3)])
    assert [(entity.also_in or {}).get("library") for entity in answer.result][1:] == ["lib:p-12", "lib:p-13"]
    (warning,) = answer.warnings or []
    assert "other graphs were not asked about all IRIs of http://a.example/0." in warning


IRIS = [f"http://example.org/{number}" for number in range(6)]
TRIPLES = st.sets(
    st.tuples(st.sampled_from(IRIS), st.sampled_from([OWL, SKOS, "http://example.org/p"]), st.sampled_from(IRIS))
)
CODES = st.sets(st.tuples(st.sampled_from(IRIS), st.sampled_from(["0", "1", "5", "9", "a b", ""])))
Triple = tuple[str, str, str]


def _graph(triples: Iterable[Triple], codes: Iterable[tuple[str, str]] = ()) -> rdflib.Graph:
    graph = rdflib.Graph()
    for s, p, o in triples:
        graph.add((rdflib.URIRef(s), rdflib.URIRef(p), rdflib.URIRef(o)))
    for s, code in codes:
        graph.add((rdflib.URIRef(s), rdflib.URIRef(SHELF_MARK), rdflib.Literal(code)))
    return graph


def _expected(node: str, here: set[Triple], codes: set[tuple[str, str]], there: set[Triple]) -> set[str]:
    """Return the IRIs of a node in another graph, by looking at every triple."""
    names = {node}
    for s, p, o in here:
        if p in {OWL, SKOS} and node in {s, o}:
            names |= {s, o}
    names |= {f"http://example.org/{code}" for subject, code in codes if subject == node and " " not in code}
    return names & {end for s, _, o in there for end in (s, o)}


@given(here=TRIPLES, codes=CODES, there=TRIPLES)
async def test_where_else_an_entity_is_follows_from_the_triples(
    here: set[Triple], codes: set[tuple[str, str]], there: set[Triple]
) -> None:
    identity = IdentitySettings(same_as=(OWL, SKOS), formatters={SHELF_MARK: "http://example.org/$1"})
    nodes = sorted({end for s, _, o in here for end in (s, o)} | {subject for subject, _ in codes})
    if not nodes:
        return
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(open_gateway(_graph(here, codes), profile=Profile(identity=identity)))
        other = await stack.enter_async_context(open_gateway(_graph(there)))
        link_graphs({"one": one, "other": other})
        answer = await one.describe_entities(nodes)
        found = {}
        for entity in answer.result:
            ids = (entity.also_in or {}).get("other", [])
            found[entity.iri] = {other.prefixes.expand(name) for name in ([ids] if isinstance(ids, str) else ids)}
    assert found == {node: _expected(node, here, codes, there) for node in nodes}


WRONG = [
    ('[identity]\nsame_as = ["sameAs"]', "identity.same_as"),
    ('[identity]\nsame_as = ["x:sameAs"]', "does not declare 'x'"),
    ('[identity.formatters]\ncode = "http://x/$1"', "neither an IRI nor a CURIE"),
    ('[identity.formatters]\n"x:code" = "http://x/$1"', "does not declare 'x'"),
    ('[identity.formatters]\n"urn:code" = "http://x/"', "must be an IRI with one $1"),
    ('[identity.formatters]\n"urn:code" = "http://x/$1/$1"', "must be an IRI with one $1"),
    ('[identity.formatters]\n"urn:code" = "http://x y/$1"', "must be an IRI with one $1"),
    ('[identity]\nsameas = ["urn:x"]', "did you mean 'same_as'?"),
]


async def test_a_profile_says_by_which_predicates(tmp_path: Any) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        '[prefixes]\nowl = "http://www.w3.org/2002/07/owl#"\nv = "https://authors.example.org/terms/"\n'
        f'[identity]\nsame_as = ["owl:sameAs", "{SKOS}"]\n[identity.formatters]\n"v:shelfMark" = "{LIBRARY}$1"\n',
        encoding="utf-8",
    )
    assert load_profile(str(path)).identity == IDENTITY

    async def check(case: tuple[str, str]) -> None:
        text, expected = case
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError) as raised:
            load_profile(str(path))
        assert expected in str(raised.value)

    await await_each(WRONG, check)


async def test_a_file_of_graphs_is_opened_from_python(tmp_path: Any) -> None:
    fixtures = resources.folder("fixtures")
    (tmp_path / "authors.toml").write_text(f'[identity]\nsame_as = ["{OWL}"]\n', encoding="utf-8")
    (tmp_path / "graphs.toml").write_text(
        f'[graphs.authors]\nabout = "Writers."\ngraph = "{fixtures / "authors.ttl"}"\nprofile = "authors.toml"\n'
        f'limits = {{ rows = 1234 }}\n[graphs.library]\nabout = "Books."\ngraph = "{fixtures / "library.ttl"}"\n'
        'prefixes = { l = "https://library.example.org/item/" }\n',
        encoding="utf-8",
    )
    async with open_graphs(tmp_path / "graphs.toml") as graphs:
        answer = await graphs["authors"].describe_entity("au:Joyce")
        crossed = await graphs["library"].bfs_query([str((answer.also_in or {})["library"])], 1)
    assert list(graphs) == ["authors", "library"]
    assert graphs["authors"].profile.limits.rows == 1234
    assert answer.also_in == {"library": "l:p-11"}
    assert crossed.complete


def test_the_fixtures_have_as_many_triples_as_their_description_says() -> None:
    for name, count in (("authors", 39), ("library", 28)):
        text = (resources.folder("fixtures") / f"{name}.ttl").read_bytes()
        assert len(set(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE))) == count
