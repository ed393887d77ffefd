import asyncio
import sqlite3
from pathlib import Path

import pyoxigraph
import pytest
from aiohttp import web

from gateway.api import make_label_index, open_gateway
from gateway.graph.budget import Budget, Deadline
from gateway.graph.names import NamesPage
from gateway.graph.values import Iri, Sought
from gateway.labels.kept import Kept
from gateway.labels.loaded import LoadedLabels
from gateway.labels.store import IndexedStore
from gateway.settings.keeping import Identity
from gateway.settings.profile import Limits, Profile
from gateway.sparql.store import SparqlStore
from gateway.transport.inprocess import InProcess
from tests.engine.small import PREFIXES, X, engine
from tests.labels.making import Listed, allowance
from tests.transport.fake_endpoint import JSON, fake_endpoint

pytestmark = pytest.mark.anyio

GRAPH = "".join(
    [
        *(f'x:n{number:02} a x:T{number % 2} ; rdfs:label "node {number}" .\n' for number in range(40)),
        *(f'x:many rdfs:label "many names {number}"@en .\n' for number in range(35)),
        'x:warfarin a x:T0 ; rdfs:label "warfarin" ; skos:altLabel "Coumadin" .\n',
        '[] rdfs:label "of nobody" . x:n01 rdfs:label x:n02 .\n',
    ]
)
SMALL_PAGES = Profile(limits=Limits(query_rows=10))
TYPO = Sought("warfrin", ("warfrin",))


def store() -> SparqlStore:
    return SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), SMALL_PAGES)


async def answering(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an engine does that holds the graph."""
    query = str((await request.post())["query"])
    solutions = engine(GRAPH).query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return web.Response(body=solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)


async def test_a_graph_in_a_file_is_searched_in_spite_of_slips(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text('<urn:w> a <urn:Drug> ; <http://www.w3.org/2000/01/rdf-schema#label> "warfarin" .', "utf-8")
    async with open_gateway(path) as gateway:
        answer = await gateway.search_entities("warfrin")
        assert [hit.id for hit in answer.result] == ["urn:w"]
        assert answer.complete
        assert answer.searched.how == "the local label index: 1 names of 1 entities; names that are similar"


@pytest.mark.parametrize(
    ("query", "ids", "complete"),
    [
        ("C9", ["urn:d"], False),
        ("2C", ["urn:a", "urn:c"], True),
        ("vitamin c", ["urn:b"], True),
        ("京", ["urn:e"], True),
    ],
)
async def test_a_word_too_short_to_be_looked_for_inside_words_is_not_called_looked_for(
    query: str, ids: list[str], complete: bool, tmp_path: Path
) -> None:
    names = {"a": "CYP2C9", "b": "vitamin C", "c": "CYP2C19", "d": "C9 complement", "e": "東京"}
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    path = tmp_path / "graph.ttl"
    path.write_text("".join(f'<urn:{iri}> {label} "{name}" .' for iri, name in names.items()), "utf-8")
    async with open_gateway(path) as gateway:
        answer = await gateway.search_entities(query)
    assert [hit.id for hit in answer.result] == ids
    assert answer.complete is complete


async def test_while_the_index_is_being_made_the_graph_itself_is_searched() -> None:
    class Slow(Listed):
        async def page(self, predicate: Iri, after: Iri, budget: Budget) -> NamesPage:
            await asyncio.Event().wait()
            return await super().page(predicate, after, budget)

    indexed = IndexedStore(store(), LoadedLabels(Slow({}), allowance))
    brief = Budget(Deadline.after(2), 100, 100_000, 100)
    hits = await indexed.search(Sought("node 7", ("node", "7")), (), brief)
    assert f"{X}n07" in {hit.iri for hit in hits.hits}
    assert hits.how.startswith("names and synonyms")
    await indexed.close()


async def test_a_server_that_starts_has_the_index_made_before_anybody_searches() -> None:
    asked = asyncio.Event()

    class Watched(Listed):
        async def page(self, predicate: Iri, after: Iri, budget: Budget) -> NamesPage:
            asked.set()
            return await super().page(predicate, after, budget)

    indexed = IndexedStore(store(), LoadedLabels(Watched({"urn:a": ["a name"]}), allowance))
    indexed.prepare()
    await asyncio.wait_for(asked.wait(), 60)
    (hit,) = (await indexed.search(Sought("a nmae", ("a", "nmae")), (), allowance())).hits
    assert hit.iri == "urn:a"
    await indexed.close()


async def test_when_other_predicates_turn_out_to_be_the_names_the_index_is_made_anew() -> None:
    below = store()
    indexed = IndexedStore(below, LoadedLabels(below.names, allowance))
    coumadin = Sought("coumadni", ("coumadni",))
    assert (await indexed.search(coumadin, (), allowance())).hits
    below.naming.use(["http://www.w3.org/2004/02/skos/core#altLabel"])
    (hit,) = (await indexed.search(coumadin, (), allowance())).hits
    assert not hit.is_synonym
    assert not (await indexed.search(TYPO, (), allowance())).hits
    await indexed.close()


async def test_where_no_index_can_be_made_the_graph_itself_is_searched(caplog: pytest.LogCaptureFixture) -> None:
    indexed = IndexedStore(store(), LoadedLabels(Listed({"urn:a": ["a"]}, pages_left=0), allowance))
    for _ in range(2):
        assert (await indexed.search(Sought("warfarin", ("warfarin",)), (), allowance())).hits
    assert caplog.text.count("there is no label index") == 1
    await indexed.close()


async def test_an_index_that_is_no_part_of_what_is_sought_asks_the_graph_itself() -> None:
    part = LoadedLabels(Listed({"urn:a": ["a name"]}, uncounted=5), allowance)
    indexed = IndexedStore(store(), part)
    assert (await indexed.search(Sought("a name", ("a", "name")), (), allowance())).truncated
    hits = await indexed.search(Sought("coumadin", ("coumadin",)), (), allowance())
    assert [hit.iri for hit in hits.hits] == [f"{X}warfarin"]
    assert hits.how.startswith("names and synonyms")
    await indexed.close()


async def test_a_gateway_that_is_closed_while_its_index_is_made_closes() -> None:
    indexed = IndexedStore(store(), LoadedLabels(store().names, allowance))
    searching = asyncio.create_task(indexed.search(TYPO, (), allowance()))
    await asyncio.sleep(0)
    searching.cancel()
    await indexed.close()


async def test_the_index_of_an_endpoint_is_made_on_request_and_used_from_then_on(tmp_path: Path) -> None:
    async with asyncio.timeout(100), fake_endpoint(answering) as endpoint:
        told: list[tuple[int, int]] = []

        async def tell(read: int, total: int) -> None:
            told.append((read, total))

        async with open_gateway(
            endpoint=endpoint.url, profile=SMALL_PAGES, prefixes=PREFIXES, store=tmp_path
        ) as gateway:
            assert not (await gateway.search_entities("warfrin")).result
            about, place = await make_label_index(endpoint.url, SMALL_PAGES, store=tmp_path, told=tell)
            assert (about.names, about.entities, about.whole) == (40 + 2 + 35, 42, True)
            assert place.parent == tmp_path
            assert told[-1] == (43, 43)
            asked = len(endpoint.queries)
            answer = await gateway.search_entities("warfrin", ["x:T0"])
            assert [hit.id for hit in answer.result] == ["x:warfarin"]
            assert answer.searched.how.startswith("the local label index of 20")
            assert not any("CONTAINS" in query for query in endpoint.queries[asked:])
            assert not (await gateway.search_entities("warfrin", ["x:T1"])).result
            assert [hit.id for hit in (await gateway.search_entities("many names 34")).result][:1] == ["x:many"]


async def test_every_query_of_a_reading_has_a_limit(tmp_path: Path) -> None:
    async with asyncio.timeout(100), fake_endpoint(answering) as endpoint:
        await make_label_index(endpoint.url, SMALL_PAGES, store=tmp_path)
        assert all("LIMIT " in query for query in endpoint.queries)


async def test_an_index_that_breaks_while_it_is_used_is_told_and_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(100), fake_endpoint(answering) as endpoint:
        await make_label_index(endpoint.url, SMALL_PAGES, store=tmp_path)
        kept = Kept.of(Identity.of(endpoint.url, SMALL_PAGES), tmp_path)
        database = sqlite3.connect(kept.index)
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'word'")
        ((page_size,),) = database.execute("PRAGMA page_size")
        database.close()
        content = bytearray(kept.index.read_bytes())
        content[(root - 1) * page_size : root * page_size] = b"\xff" * page_size
        kept.index.write_bytes(content)
        async with open_gateway(endpoint=endpoint.url, profile=SMALL_PAGES, store=tmp_path) as gateway:
            answer = await gateway.search_entities("node zebra")
            assert answer.searched.how.startswith("names and synonyms")
            assert caplog.text.count("it is broken") == 1
            assert (await gateway.search_entities("node 7")).searched.how.startswith("names and synonyms")


async def test_the_index_of_an_endpoint_has_the_names_that_its_graph_has_by_a_predicate_of_its_own(
    tmp_path: Path,
) -> None:
    people = engine("".join(f'x:n{number} a x:T ; x:fullName "Person {number}" .' for number in range(20)))

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        solutions = people.query(str((await request.post())["query"]))
        assert isinstance(solutions, pyoxigraph.QuerySolutions)
        return web.Response(body=solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)

    async with asyncio.timeout(100), fake_endpoint(answer) as endpoint:
        about, _ = await make_label_index(endpoint.url, Profile(), store=tmp_path)
        assert (about.names, about.whole) == (20, True)


async def test_what_is_newer_than_the_index_is_found_by_its_name_and_what_is_gone_is_not_shown(tmp_path: Path) -> None:
    data = engine('x:old a x:T ; rdfs:label "Runner 2049" . x:other a x:T ; rdfs:label "Runner up" .')

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        solutions = data.query(str((await request.post())["query"]))
        assert isinstance(solutions, pyoxigraph.QuerySolutions)
        return web.Response(body=solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)

    async with asyncio.timeout(100), fake_endpoint(answer) as endpoint:
        await make_label_index(endpoint.url, Profile(), store=tmp_path)
        data.clear()
        data.extend(engine('x:new a x:T ; rdfs:label "Runner 2099" . x:other a x:T ; rdfs:label "Runner up" .'))
        async with open_gateway(endpoint=endpoint.url, profile=Profile(prefixes=PREFIXES), store=tmp_path) as gateway:
            new = await gateway.search_entities("runner 2099")
            gone = await gateway.search_entities("Runner 2049")
    assert new.result[0].id == "x:new"
    assert not new.complete
    assert "x:old" not in {hit.id for hit in gone.result}
    assert gone.warnings is not None
    assert any("not in the graph any more" in warning for warning in gone.warnings)
