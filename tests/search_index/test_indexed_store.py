import asyncio
import sqlite3
from pathlib import Path

import pyoxigraph
import pytest
from aiohttp import web

from gateway.api import open_gateway
from gateway.graph.call import Call, Deadline
from gateway.graph.store import NameReader, NamesPage
from gateway.graph.values import Iri, SearchTerms
from gateway.search_index.index import IndexedStore, LabelIndex
from gateway.search_index.partial_index import no_progress
from gateway.search_index.sources import InProcessIndexSource, StoredIndex
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.settings.storage import GraphIdentity
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import make_label_index
from gateway.stores.loaded import store_in_process
from gateway.transport.inprocess import InProcess
from tests.cache.fake_store import FakeStore
from tests.search_index.small_indexes import Listed, allowance
from tests.searches import how, is_exhaustive
from tests.small import PREFIXES, X, engine
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

SMALL_PAGES = Profile(limits=LimitSettings(query_rows=10))
TYPO = SearchTerms("warfrin", ("warfrin",))


def store() -> SparqlStore:
    return SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), SMALL_PAGES)


async def answering(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an engine does that holds the graph."""
    query = str((await request.post())["query"])
    solutions = engine(GRAPH).query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return web.Response(body=solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)


async def test_a_graph_in_a_file_is_searched_in_spite_of_typos(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text('<urn:w> a <urn:Drug> ; <http://www.w3.org/2000/01/rdf-schema#label> "warfarin" .', "utf-8")
    async with open_gateway(path) as gateway:
        answer = await gateway.search_entities("warfrin")
        assert (answer.result, [hit.id for hit in answer.guesses or ()]) == ([], ["urn:w"])
        assert (answer.complete, answer.searched) == (True, None)


@pytest.mark.parametrize("lists_names", [True, False])
async def test_a_store_that_speaks_no_sparql_has_a_label_index_if_it_lists_names(*, lists_names: bool) -> None:
    class WithNames(FakeStore):
        def name_reader(self) -> NameReader | None:
            return Listed({"urn:w": ["warfarin"]}) if lists_names else None

    below = WithNames()
    indexed = store_in_process(below, Profile(), None)
    await indexed.prepared(no_progress)
    hits = await indexed.search(TYPO, (), allowance())
    assert [hit.iri for hit in hits.hits] == ["urn:w" if lists_names else "urn:seen:0"]
    assert bool(below.asked) is not lists_names
    await indexed.close()


@pytest.mark.parametrize(
    ("query", "ids", "complete"),
    [
        ("C9", ["urn:d"], True),
        ("2C", [], True),
        ("P2C", ["urn:a", "urn:c"], True),
        ("vitamin c", ["urn:b"], True),
        ("京", ["urn:e"], True),
    ],
)
async def test_a_word_of_one_or_two_characters_is_not_looked_for_inside_words(
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


async def test_the_end_of_a_very_long_name_is_found_by_comparing_it(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    long = f"{'word ' * 300}needle"
    path.write_text(f'<urn:a> <http://www.w3.org/2000/01/rdf-schema#label> "{long}", "short" .', "utf-8")
    async with open_gateway(path) as gateway:
        answers = [await gateway.search_entities(query) for query in ("needle", "unheard", "short")]
    assert [len(answer.result) for answer in answers] == [1, 0, 1]
    assert [answer.complete for answer in answers] == [True, True, False]


async def test_while_the_index_is_being_made_the_graph_itself_is_searched() -> None:
    class Slow(Listed):
        async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
            await asyncio.Event().wait()
            return await super().page(predicate, after, call)

    indexed = IndexedStore(store(), InProcessIndexSource(Slow({}, uncounted=1_000_000), allowance, patience=0))
    for text, expected in (("node 7", {f"{X}n07"}), ("unheard", set())):
        hits = await indexed.search(SearchTerms(text, tuple(text.split())), (), allowance())
        assert {hit.iri for hit in hits.hits} == expected
        assert hits.how.startswith("names and synonyms")
        assert not hits.exhaustive
        assert "Ask again" in hits.warnings[-1]
    await indexed.close()


class Waiting(Listed):
    """Names whose first page comes when it is let through."""

    def wait(self) -> asyncio.Event:
        """Make the pages wait for an event."""
        self.let, self.reached = asyncio.Event(), asyncio.Event()
        return self.let

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return a page, once that is let through."""
        self.reached.set()
        await self.let.wait()
        return await super().page(predicate, after, call)


async def test_a_search_of_a_small_graph_waits_for_the_index() -> None:
    names = Waiting({"urn:a": ["some name"]})
    let = names.wait()
    indexed = IndexedStore(store(), InProcessIndexSource(names, allowance))
    searching = asyncio.create_task(indexed.search(SearchTerms("some nmae", ("some", "nmae")), (), allowance()))
    asyncio.get_running_loop().call_later(0, let.set)
    hits = await asyncio.wait_for(searching, 60)
    assert [hit.iri for hit in hits.hits] == ["urn:a"]
    assert (hits.exhaustive, hits.warnings) == (True, ())
    await indexed.close()


async def test_a_search_of_a_large_graph_does_not_wait_until_the_index_is_built() -> None:
    names = Waiting({"urn:a": ["a name"]}, uncounted=1_000_000)
    names.wait()
    labels = InProcessIndexSource(names, allowance, patience=0.01)
    indexed = IndexedStore(store(), labels)
    hits = await indexed.search(
        SearchTerms("warfarin", ("warfarin",)), (), Call(Deadline.after(3_600), 100, 100_000, 100)
    )
    assert [hit.iri for hit in hits.hits] == [f"{X}warfarin"]
    assert not hits.exhaustive
    assert labels.is_pending
    await indexed.close()


async def test_a_search_that_waits_for_an_index_that_is_replaced_gets_the_new_one() -> None:
    below = store()
    labels = InProcessIndexSource(below.name_reader(), allowance)
    indexed = IndexedStore(below, labels)
    indexed.prepare()
    coumadin = SearchTerms("coumadni", ("coumadni",))
    first = asyncio.create_task(indexed.search(coumadin, (), allowance()))
    await asyncio.sleep(0)
    below.name_predicates.use(["http://www.w3.org/2004/02/skos/core#altLabel"])
    for hits in await asyncio.gather(first, indexed.search(coumadin, (), allowance())):
        (hit,) = hits.hits
        assert not hit.is_synonym
        assert hits.exhaustive
    await indexed.close()


async def test_an_index_that_could_not_be_made_is_made_at_the_next_search() -> None:
    names = Listed({"urn:a": ["some name"]}, pages_left=0)
    indexed = IndexedStore(store(), InProcessIndexSource(names, allowance))
    without = await indexed.search(SearchTerms("some nmae", ("some", "nmae")), (), allowance())
    assert not without.exhaustive
    assert "Ask again" in without.warnings[-1]
    names.pages_left = None
    again = await indexed.search(SearchTerms("some nmae", ("some", "nmae")), (), allowance())
    assert [hit.iri for hit in again.hits] == ["urn:a"]
    assert (again.exhaustive, again.warnings) == (True, ())
    await indexed.close()


async def test_an_index_that_broke_is_rebuilt_for_the_same_search() -> None:
    labels = InProcessIndexSource(store().name_reader(), allowance)
    indexed = IndexedStore(store(), labels)
    assert (await indexed.search(TYPO, (), allowance())).hits
    index = await labels.index(Deadline.after(60))
    assert index is not None
    index.close()
    labels.discard(index)
    hits = await indexed.search(TYPO, (), allowance())
    assert [hit.iri for hit in hits.hits] == [f"{X}warfarin"]
    assert hits.exhaustive
    await indexed.close()


async def test_a_search_whose_index_was_closed_asks_the_one_that_took_its_place() -> None:
    class Replaced(InProcessIndexSource):
        closed = 0

        async def index(self, deadline: Deadline) -> LabelIndex | None:
            """Return an index that another search has just closed, once."""
            index = await super().index(deadline)
            if not self.closed and index is not None:
                self.closed = 1
                self.discard(index)
            return index

    indexed = IndexedStore(store(), Replaced(store().name_reader(), allowance))
    hits = await indexed.search(TYPO, (), allowance())
    assert [hit.iri for hit in hits.hits] == [f"{X}warfarin"]
    assert hits.exhaustive
    await indexed.close()


async def test_a_server_that_starts_has_the_index_made_before_anybody_searches() -> None:
    asked = asyncio.Event()

    class Watched(Listed):
        async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
            asked.set()
            return await super().page(predicate, after, call)

    indexed = IndexedStore(store(), InProcessIndexSource(Watched({"urn:a": ["a name"]}), allowance))
    indexed.prepare()
    await asyncio.wait_for(asked.wait(), 60)
    (hit,) = (await indexed.search(SearchTerms("a nmae", ("a", "nmae")), (), allowance())).hits
    assert hit.iri == "urn:a"
    await indexed.close()


async def test_when_other_predicates_turn_out_to_be_the_names_the_index_is_rebuilt() -> None:
    below = store()
    indexed = IndexedStore(below, InProcessIndexSource(below.name_reader(), allowance))
    coumadin = SearchTerms("coumadni", ("coumadni",))
    assert (await indexed.search(coumadin, (), allowance())).hits
    below.name_predicates.use(["http://www.w3.org/2004/02/skos/core#altLabel"])
    (hit,) = (await indexed.search(coumadin, (), allowance())).hits
    assert not hit.is_synonym
    assert not (await indexed.search(TYPO, (), allowance())).hits
    await indexed.close()


async def test_where_no_index_can_be_made_the_graph_itself_is_searched(caplog: pytest.LogCaptureFixture) -> None:
    indexed = IndexedStore(store(), InProcessIndexSource(Listed({"urn:a": ["a"]}, pages_left=0), allowance))
    found = [await indexed.search(SearchTerms("warfarin", ("warfarin",)), (), allowance()) for _ in range(5)]
    assert all(hits.hits for hits in found)
    assert caplog.text.count("there is no label index") == 3
    assert [hits.exhaustive for hits in found] == [False, False, True, True, True]
    await indexed.close()


async def test_an_index_that_is_no_part_of_what_is_searched_for_asks_the_graph_itself() -> None:
    part = InProcessIndexSource(Listed({"urn:a": ["a name"]}, uncounted=5), allowance)
    indexed = IndexedStore(store(), part)
    assert (await indexed.search(SearchTerms("a name", ("a", "name")), (), allowance())).truncated
    hits = await indexed.search(SearchTerms("coumadin", ("coumadin",)), (), allowance())
    assert [hit.iri for hit in hits.hits] == [f"{X}warfarin"]
    assert hits.how.startswith("names and synonyms")
    await indexed.close()


async def test_a_gateway_that_is_closed_while_its_index_is_made_closes() -> None:
    indexed = IndexedStore(store(), InProcessIndexSource(store().name_reader(), allowance))
    searching = asyncio.create_task(indexed.search(TYPO, (), allowance()))
    await asyncio.sleep(0)
    searching.cancel()
    await indexed.close()


async def test_a_search_that_waits_while_the_gateway_closes_begins_no_other_index() -> None:
    names = Waiting({"urn:a": ["some name"]})
    names.wait()
    labels = InProcessIndexSource(names, allowance)
    waiting = asyncio.create_task(labels.index(Deadline.after(100)))
    await asyncio.wait_for(names.reached.wait(), 60)
    await labels.close()
    assert await asyncio.wait_for(waiting, 60) is None
    assert not labels.is_pending


async def test_the_index_of_an_endpoint_is_made_on_request_and_used_from_then_on(tmp_path: Path) -> None:
    async with asyncio.timeout(100), fake_endpoint(answering) as endpoint:
        reported: list[tuple[int, int]] = []

        async def report(read: int, total: int) -> None:
            reported.append((read, total))

        async with open_gateway(
            endpoint=endpoint.url, profile=SMALL_PAGES, prefixes=PREFIXES, store=tmp_path
        ) as gateway:
            assert not (await gateway.search_entities("warfrin")).guesses
            info, place = await make_label_index(endpoint.url, SMALL_PAGES, store=tmp_path, on_progress=report)
            assert (info.names, info.entities, info.whole) == (40 + 2 + 35, 42, True)
            assert place.parent == tmp_path
            assert reported[-1] == (43, 43)
            asked = len(endpoint.queries)
            answer = await gateway.search_entities("warfrin", ["x:T0"])
            assert [hit.id for hit in answer.guesses or ()] == ["x:warfarin"]
            assert how(answer).startswith("the local label index of 20")
            assert not any("REGEX(?v" in query for query in endpoint.queries[asked:])
            assert not (await gateway.search_entities("warfrin", ["x:T1"])).guesses
            assert [hit.id for hit in (await gateway.search_entities("many names 34")).result][:1] == ["x:many"]


async def test_every_query_of_a_reading_has_a_limit(tmp_path: Path) -> None:
    async with asyncio.timeout(100), fake_endpoint(answering) as endpoint:
        await make_label_index(endpoint.url, SMALL_PAGES, store=tmp_path)
        assert all("LIMIT " in query for query in endpoint.queries)


async def test_an_index_that_breaks_while_it_is_used_is_logged_and_not_used_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with asyncio.timeout(100), fake_endpoint(answering) as endpoint:
        await make_label_index(endpoint.url, SMALL_PAGES, store=tmp_path)
        stored = StoredIndex.of(GraphIdentity.of(endpoint.url, SMALL_PAGES, {}), tmp_path)
        database = sqlite3.connect(stored.index)
        ((root,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'word'")
        ((page_size,),) = database.execute("PRAGMA page_size")
        database.close()
        content = bytearray(stored.index.read_bytes())
        content[(root - 1) * page_size : root * page_size] = b"\xff" * page_size
        stored.index.write_bytes(content)
        async with open_gateway(endpoint=endpoint.url, profile=SMALL_PAGES, store=tmp_path) as gateway:
            answer = await gateway.search_entities("node zebra")
            assert how(answer).startswith("names and synonyms")
            assert caplog.text.count("it is broken") == 1
            # All names of this endpoint are compared, which none of its index is called.
            assert is_exhaustive(await gateway.search_entities("node 7"))


async def test_the_index_of_an_endpoint_has_the_names_that_its_graph_has_by_a_predicate_of_its_own(
    tmp_path: Path,
) -> None:
    people = engine("".join(f'x:n{number} a x:T ; x:fullName "Person {number}" .' for number in range(20)))

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        solutions = people.query(str((await request.post())["query"]))
        assert isinstance(solutions, pyoxigraph.QuerySolutions)
        return web.Response(body=solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON), content_type=JSON)

    async with asyncio.timeout(100), fake_endpoint(answer) as endpoint:
        info, _ = await make_label_index(endpoint.url, Profile(), store=tmp_path)
        assert (info.names, info.whole) == (20, True)


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
